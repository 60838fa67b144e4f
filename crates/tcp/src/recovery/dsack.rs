//! Which of the duplicates that a receiver reports (D-SACK, RFC 2883) speak for needless retransmissions. The network makes
//! duplicates too, and those say nothing about a reduction.
//!
//! - RFC 3708: a report counts if its segment was retransmitted, once for a retransmission.
//! - Linux (`tcp_check_dsack`, `tcp_sacktag_one`): above the cumulative acknowledgement the report of a retransmitted segment
//!   counts; below it, where Linux has forgotten the segments, any report of what the episode may have retransmitted. A report is
//!   ignored if it is longer than the largest window, or if more duplicates were reported than segments retransmitted since
//!   the connection began (`tcp_dsack_seen`).
//!
//! RFC 8985 widens RACK's window for any D-SACK, Linux for one that it does not ignore, once reordering was seen, and not for
//! that of a tail loss probe.

use crate::options::{DsackRule, RackRule};
use crate::segment::{SackBlocks, Segment};
use crate::sender::Sender;
use std::collections::BTreeMap;

/// The duplicate that an ACK reports, in offsets of the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Report {
    pub left: u64,
    pub right: u64,
    /// Segments that it makes.
    pub segments: u64,
    /// It lies below what was acknowledged before the ACK.
    below: bool,
    /// Segments in flight that it covers and that were retransmitted.
    again: u64,
    /// The sender may have caused it.
    pub counts: bool,
    /// It widens RACK's window.
    pub widens: bool,
}

/// Retransmissions that were not reported as duplicates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    /// Where the segments begin, where they end, and how many retransmissions of each are missing.
    Segments(BTreeMap<u64, (u64, u32)>),
    /// How many there are (Linux `undo_retrans`).
    Sum(u64),
}

impl Default for Missing {
    fn default() -> Missing {
        Missing::Sum(0)
    }
}

impl Missing {
    pub fn of(rule: DsackRule) -> Missing {
        match rule {
            DsackRule::Rfc3708 => Missing::Segments(BTreeMap::new()),
            DsackRule::Linux => Missing::Sum(0),
        }
    }

    /// A reduction begins at `start`, while `pending` retransmissions may still be out.
    pub fn begin(&mut self, start: u64, pending: u64) {
        match self {
            Missing::Segments(segments) => drop_before(segments, start),
            Missing::Sum(sum) => *sum = pending,
        }
    }

    /// The segment `[seq, end)` was retransmitted; what ends at `from` or before does not matter any more.
    pub fn sent(&mut self, seq: u64, end: u64, from: u64) {
        match self {
            Missing::Segments(segments) => {
                drop_before(segments, from);
                let entry = segments.entry(seq).or_insert((end, 0));
                *entry = (entry.0.max(end), entry.1 + 1);
            }
            Missing::Sum(sum) => *sum += 1,
        }
    }

    /// A duplicate of what the episode may have retransmitted was reported.
    pub fn reported(&mut self, report: &Report) {
        match self {
            Missing::Segments(segments) => {
                let mut gone = Vec::new();
                for (seq, (end, missing)) in segments.range_mut(report.left..report.right) {
                    if *end <= report.right {
                        *missing -= 1;
                        if *missing == 0 {
                            gone.push(*seq);
                        }
                    }
                }
                for seq in gone {
                    segments.remove(&seq);
                }
            }
            Missing::Sum(sum) if report.counts => {
                *sum = sum.saturating_sub(if report.below { report.segments } else { report.again });
            }
            Missing::Sum(_) => {}
        }
    }

    /// Nothing is missing.
    pub fn is_none(&self) -> bool {
        match self {
            Missing::Segments(segments) => segments.is_empty(),
            Missing::Sum(sum) => *sum == 0,
        }
    }
}

fn drop_before(segments: &mut BTreeMap<u64, (u64, u32)>, from: u64) {
    while let Some(first) = segments.first_entry()
        && first.get().0 <= from
    {
        first.remove();
    }
}

/// The duplicate that the first SACK block reports, if it does (RFC 2883 section 4): it lies below the cumulative
/// acknowledgement or inside the second block.
fn duplicate(seg: &Segment, sack: &SackBlocks, ack: u64) -> Option<(u64, u64)> {
    if seg.sack_len == 0 {
        return None;
    }
    let offset = |seq: u32| ack.checked_add_signed(i64::from(seq.wrapping_sub(seg.ack) as i32));
    let (left, right) = (offset(sack[0].0)?, offset(sack[0].1)?);
    let second = if seg.sack_len > 1 { Some((offset(sack[1].0)?, offset(sack[1].1)?)) } else { None };
    let inside = second.is_some_and(|(from, to)| from <= left && right <= to);
    (left < right && (right <= ack || inside)).then_some((left, right))
}

impl Sender {
    /// The duplicate that an ACK reports which is not taken in yet; `retransmitted` segments were sent more than once so far.
    pub(super) fn report(&mut self, seg: &Segment, sack: &SackBlocks, ack: u64, retransmitted: u64) -> Option<Report> {
        let (left, right) = duplicate(seg, sack, ack).filter(|_| self.sack)?;
        let watch = self.rec.watch.as_mut()?;
        let segments = (right - left).div_ceil(u64::from(self.mss));
        let (mut counts, mut again, mut widens) = (true, 0, true);
        let linux = watch.dsack_rule == DsackRule::Linux;
        if linux {
            counts = right - left <= self.window_max;
            if counts {
                watch.duplicates += segments;
                counts = watch.duplicates <= retransmitted;
            }
        }
        if watch.rack_rule == RackRule::Linux {
            let probe = watch.tlp.is_some_and(|tlp| tlp.ends_at(right)) && segments == 1;
            widens = counts && !probe && self.board.saw_reordering();
        }
        if linux && counts && right > self.board.una() {
            let found = self.board.retransmitted_in(left, right);
            again = found.0;
            // What was retransmitted is there twice below what is there: the original was only late.
            if found.1 && watch.rack_rule == RackRule::Linux {
                self.board.note_reordering(left);
            }
        }
        Some(Report { left, right, segments, below: right <= self.board.una(), again, counts, widens })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(left: u64, right: u64, below: bool, again: u64, counts: bool) -> Report {
        Report { left, right, segments: (right - left).div_ceil(1000), below, again, counts, widens: true }
    }

    /// RFC 3708: of two retransmitted segments both must be reported, each as often as it was retransmitted; what was not
    /// retransmitted says nothing.
    #[test]
    fn each_retransmission_is_reported() {
        let mut missing = Missing::of(DsackRule::Rfc3708);
        missing.begin(1000, 0);
        missing.sent(1000, 2000, 1000);
        missing.sent(4000, 5000, 1000);
        missing.sent(4000, 5000, 1000);
        for other in [(2000, 3000), (3000, 4000), (1500, 2000)] {
            missing.reported(&report(other.0, other.1, true, 0, true));
        }
        missing.reported(&report(1000, 2000, true, 0, true));
        missing.reported(&report(1000, 2000, true, 0, true));
        missing.reported(&report(4000, 5000, true, 0, true));
        assert!(!missing.is_none());
        missing.reported(&report(4000, 5000, true, 0, true));
        assert!(missing.is_none());
        // A reduction at 6000 forgets what ended before.
        missing.sent(5000, 6000, 1000);
        missing.begin(6000, 0);
        assert!(missing.is_none());
    }

    /// Linux: below the acknowledgement a report counts as it is, above it the retransmitted segments that it covers; one
    /// that is ignored not at all.
    #[test]
    fn linux_counts_below_and_looks_above() {
        let mut missing = Missing::of(DsackRule::Linux);
        missing.begin(1000, 1);
        missing.sent(1000, 2000, 1000);
        missing.sent(4000, 5000, 1000);
        missing.reported(&report(2000, 3000, false, 0, true));
        missing.reported(&report(2000, 3000, true, 0, false));
        assert_eq!(missing, Missing::Sum(3));
        missing.reported(&report(4000, 5000, false, 1, true));
        missing.reported(&report(2000, 4000, true, 0, true));
        assert!(missing.is_none());
    }
}
