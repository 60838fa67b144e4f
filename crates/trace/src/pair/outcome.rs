//! What two captures of one transfer say together.

use super::offset::Offset;

/// The place that is nearer to the sender of most data, and the other one. What goes there passes the near place first.
pub const NEAR: usize = 0;
pub const FAR: usize = 1;

/// What packets of one direction took. Nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OneWay {
    pub packets: u64,
    pub least: i64,
    pub median: i64,
    pub p95: i64,
    pub most: i64,
}

/// What two captures of one transfer say together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pair {
    /// The names of the near and of the far capture.
    pub names: [String; 2],
    pub offset: Option<Offset>,
    /// Of what goes there, and of what comes back; only with an offset.
    pub delays: [Option<OneWay>; 2],
    /// Packets that both have.
    pub matched: u64,
    pub retransmitted: u64,
    pub lost_between: u64,
    pub lost_before: u64,
    pub lost_behind: u64,
    pub needless: u64,
    pub acks_lost: u64,
    /// Segments that a capture has dropped.
    pub missed: [u64; 2],
    /// Of the direction with most data, median and 95th percentile: from data to its ACK at the place nearer to the receiver, and from
    /// an ACK to new data at the other one.
    pub receiver: Option<[u64; 2]>,
    pub sender: Option<[u64; 2]>,
    pub lines: Vec<String>,
}
