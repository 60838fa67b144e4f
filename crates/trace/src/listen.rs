//! The segments of one row of the table of connections, one by one, for whoever looks at single packets.

use crate::context::Note;
use crate::half::Half;
use crate::packet::Segment;
use crate::recovery::Kind;

/// A segment of the direction, or an answer to it. Times are as in the tables, places are bytes of the stream from its first one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Heard {
    Sent(Sent),
    Answer(Answer),
}

/// A segment with payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    pub time_ns: u64,
    pub begin: i64,
    pub end: i64,
    /// `first`, `fast`, `rto` or `tlp` for what retransmitted it, `late` where the network has changed the order.
    pub kind: &'static str,
    /// It carries a mark of congestion (CE).
    pub marked: bool,
}

/// What the receiver said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    pub time_ns: u64,
    pub ack: i64,
    /// The receive window in bytes.
    pub window: u64,
    pub sacks: Vec<(i64, i64)>,
    /// Marks of congestion that it reports beyond those before (AccECN), or 1 where it has ECE.
    pub marks: u64,
}

/// Returns what a segment is for the direction whose sender sent it; `note`: what was rare about it.
pub fn sent(half: &Half, time_ns: u64, segment: &Segment, note: Option<Note>) -> Option<Heard> {
    if segment.len == 0 {
        return None;
    }
    let begin = half.origin.place(segment.seq.wrapping_add(u32::from(segment.syn)), half.highest);
    let kind = match (note.map(|note| note.kind), half.recovery.kind) {
        (Some("retransmission"), Kind::Fast) => "fast",
        (Some("retransmission"), Kind::Timeout) => "rto",
        (Some("retransmission"), Kind::Probe) => "tlp",
        (Some("out_of_order"), _) => "late",
        _ => "first",
    };
    Some(Heard::Sent(Sent { time_ns, begin, end: begin + i64::from(segment.len), kind, marked: segment.ce }))
}

/// Returns what a segment says about the direction to whose sender it went.
pub fn answer(half: &Half, time_ns: u64, segment: &Segment, marks: u64) -> Option<Heard> {
    let ack = segment.ack.filter(|_| !segment.rst)?;
    let ack = half.origin.place(ack, half.acked);
    // It acknowledges what nobody sent: it is of another connection.
    if ack > half.highest as i64 + 1 {
        return None;
    }
    let blocks = &segment.options.sacks[..segment.options.sacks.len().min(usize::from(segment.options.sack_blocks))];
    let place = |number: u32| half.origin.place(number, half.highest);
    let sacks = blocks.iter().map(|&(left, right)| (place(left), place(right))).collect();
    Some(Heard::Answer(Answer { time_ns, ack, window: half.window.unwrap_or(0), sacks, marks }))
}
