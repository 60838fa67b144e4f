//! Rare events of the network: what its log says.

use crate::ids::LinkId;
use elephan_units::Time;

/// Something rare that happened in the network, for the `events` table.
#[derive(Clone, Copy, Debug)]
pub struct Occurrence {
    pub time: Time,
    pub kind: Kind,
    pub link: LinkId,
    /// Flow, or [`crate::target::NONE`].
    pub flow: u32,
    /// The packet's, 0 if it is not about one.
    pub bytes: u32,
    /// Sequence number of a dropped packet, quanta of a PAUSE, the feedback of a notification, the new timeout of an `rto` in seconds, what a link has changed to (bit/s, seconds, bytes ...).
    pub value: Option<f64>,
    pub reason: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Drop,
    Mark,
    Pause,
    Resume,
    FastRetransmit,
    Timeout,
    /// A link changes.
    Change,
    /// A flow changes its congestion control.
    CongestionControl,
    /// A packet arrives a second time.
    Duplicate,
    /// A packet arrives after one that was sent later.
    Reorder,
    /// A congestion point tells a source.
    Notification,
    /// A packet loses its payload at a queue that trims.
    Trim,
    /// A receiver of RoCE notifies of a marked packet.
    Cnp,
    /// Ports that wait for each other's buffers in a cycle.
    Deadlock,
    /// A priority was paused for too long.
    Watchdog,
    /// A host drops what has come in.
    Refused,
    /// The logger of a host was silent.
    LoggerGap,
    /// A host's own queue refuses a segment.
    SendStall,
    /// A connection is given up.
    GiveUp,
}

impl Kind {
    pub const ALL: [Kind; 19] = [
        Kind::Drop,
        Kind::Mark,
        Kind::Pause,
        Kind::Resume,
        Kind::FastRetransmit,
        Kind::Timeout,
        Kind::Change,
        Kind::CongestionControl,
        Kind::Duplicate,
        Kind::Reorder,
        Kind::Notification,
        Kind::Trim,
        Kind::Cnp,
        Kind::Deadlock,
        Kind::Watchdog,
        Kind::Refused,
        Kind::LoggerGap,
        Kind::SendStall,
        Kind::GiveUp,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Kind::Drop | Kind::Refused => "drop",
            Kind::Mark => "mark",
            Kind::Pause => "pause",
            Kind::Resume => "resume",
            Kind::FastRetransmit => "fast_retransmit",
            Kind::Timeout => "rto",
            Kind::Change | Kind::CongestionControl => "change",
            Kind::Duplicate => "duplicate",
            Kind::Reorder => "reorder",
            Kind::Notification => "cnm",
            Kind::Trim => "trimmed",
            Kind::Cnp => "cnp",
            Kind::Deadlock => "deadlock",
            Kind::Watchdog => "watchdog",
            Kind::LoggerGap => "logger_gap",
            Kind::SendStall => "send_stall",
            Kind::GiveUp => "give_up",
        }
    }
}

/// A cycle of paused ports.
#[derive(Clone, Debug)]
pub struct Deadlock {
    /// When its last pause began.
    pub closed: Time,
    /// That of the first port, others may have others; none: PAUSE, which stops all priorities.
    pub priority: Option<u8>,
    /// The ports, each waiting for the buffer of the next.
    pub links: Vec<LinkId>,
}
