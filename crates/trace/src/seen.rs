//! Segments that count, for whoever compares two captures.

use crate::clock::Tick;
use crate::packet::{Key, Segment};

/// A segment that counts, as one capture saw it.
#[derive(Clone, Debug)]
pub struct Seen {
    pub key: Key,
    pub tick: Tick,
    /// Rows of the direction of the segment, and of the other one.
    pub rows: [Option<i64>; 2],
    /// Where its payload begins in the sender's stream.
    pub place: i64,
    /// It is a retransmission.
    pub again: bool,
    pub segment: Segment,
}
