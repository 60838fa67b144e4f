//! The states of a connection, and what its sender is doing.

/// The connection states of RFC 9293 section 3.3.2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    #[default]
    Closed,
    Listen,
    SynSent,
    SynReceived,
    Established,
    FinWait1,
    FinWait2,
    CloseWait,
    Closing,
    LastAck,
    TimeWait,
}

impl State {
    /// Returns the name of the state as RFC 9293 writes it.
    pub const fn name(self) -> &'static str {
        match self {
            State::Closed => "closed",
            State::Listen => "listen",
            State::SynSent => "syn_sent",
            State::SynReceived => "syn_received",
            State::Established => "established",
            State::FinWait1 => "fin_wait_1",
            State::FinWait2 => "fin_wait_2",
            State::CloseWait => "close_wait",
            State::Closing => "closing",
            State::LastAck => "last_ack",
            State::TimeWait => "time_wait",
        }
    }
}

/// What a sender is doing, as samples record it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    Closed,
    Handshake,
    SlowStart,
    CongestionAvoidance,
    /// Fast recovery.
    Recovery,
    /// After a timeout, until what was lost has been retransmitted and acknowledged.
    Loss,
}

impl Phase {
    pub const fn name(self) -> &'static str {
        match self {
            Phase::Closed => "closed",
            Phase::Handshake => "handshake",
            Phase::SlowStart => "slow_start",
            Phase::CongestionAvoidance => "congestion_avoidance",
            Phase::Recovery => "recovery",
            Phase::Loss => "loss",
        }
    }
}
