//! What is known when a packet comes, beside what its direction keeps, and what is noted.

use crate::Vantage;

/// Segments whose round-trip time is measured at the same time.
pub const OUTSTANDING_MAX: usize = 1 << 16;

/// Something rare, for the table of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Note {
    pub kind: &'static str,
    pub place: u64,
    pub bytes: u64,
    pub at: u64,
}

/// What both directions share.
#[derive(Clone, Copy, Debug)]
pub struct Context {
    pub now: u64,
    /// Whether `now` is the packet's own time.
    pub own_time: bool,
    pub vantage: Vantage,
    pub handshake_rtt: Option<u64>,
    pub burst_gap: u64,
    /// The connection has agreed on ECN (RFC 3168).
    pub ecn: bool,
    /// The connection has agreed on AccECN (RFC 9768).
    pub acc_ecn: bool,
    pub every: Option<u64>,
    /// Number of the packet in the capture.
    pub frame: u64,
    /// The round trips from here to the sender of the direction and to its receiver, as far as they are known.
    pub to_sender: Option<u64>,
    pub to_receiver: Option<u64>,
    /// The peer of the direction sent data last.
    pub asked: bool,
    /// The sender of the direction opened the connection.
    pub opened: bool,
}
