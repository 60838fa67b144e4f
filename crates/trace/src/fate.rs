//! What became of each transmission of one direction, as its sender can know it.
//!
//! A capture may show segments that the host's NIC cuts later, so each is taken apart into pieces of at most one segment: what the
//! wire carries. A piece is covered by the first answer that acknowledges it or reports it in a SACK block (RFC 2018). Of several
//! transmissions of a piece the one that arrived is the last that left a least round trip or more before that answer; those before
//! it are lost. What was transmitted after it arrived as often as D-SACK (RFC 2883) says so, or is lost.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound::{Excluded, Unbounded};

use crate::listen::{Answer, Heard, Sent};

/// Round trips vary by the clocks of hosts: an answer may be early by such a share of the least one.
const EARLY: f64 = 0.02;

/// What became of a transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Arrived,
    Lost,
    /// Nothing answered it until the end.
    Unknown,
}

/// A piece of at most one segment on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmission {
    pub time_ns: u64,
    pub begin: i64,
    pub end: i64,
    pub again: bool,
    /// It carries a mark of congestion (CE).
    pub marked: bool,
    /// When an answer first covered its bytes.
    pub covered_ns: Option<u64>,
    pub fate: Fate,
}

/// An answer, and what it says that was not known before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acknowledgement {
    pub time_ns: u64,
    pub ack: i64,
    pub window: u64,
    /// Bytes and pieces that it is the first to cover.
    pub bytes: i64,
    pub pieces: u64,
    /// From the piece that left last among these; nothing if one of them was sent twice.
    pub rtt_ns: Option<u64>,
    pub sacked: bool,
    /// Marks of congestion that it reports (AccECN), or whether it has ECE.
    pub marks: u64,
}

struct Piece {
    end: i64,
    tries: Vec<usize>,
    covered: Option<u64>,
    duplicates: usize,
}

/// Follows the segments of a direction and the answers to them.
pub struct Fates {
    most: i64,
    pieces: BTreeMap<i64, Piece>,
    open: BTreeSet<i64>,
    highest: i64,
    duplicates: bool,
    pub transmissions: Vec<Transmission>,
    pub acknowledgements: Vec<Acknowledgement>,
}

impl Fates {
    /// `most`: payload bytes of the largest segment on the wire.
    pub fn new(most: u32) -> Fates {
        Fates {
            most: i64::from(most.max(1)),
            pieces: BTreeMap::new(),
            open: BTreeSet::new(),
            highest: i64::MIN,
            duplicates: false,
            transmissions: Vec::new(),
            acknowledgements: Vec::new(),
        }
    }

    pub fn heard(&mut self, heard: Heard) {
        match heard {
            Heard::Sent(sent) => self.sent(&sent),
            Heard::Answer(answer) => self.answered(&answer),
        }
    }

    fn sent(&mut self, sent: &Sent) {
        let mut begin = sent.begin;
        while begin < sent.end {
            let end = sent.end.min(begin + self.most);
            let transmission = Transmission {
                time_ns: sent.time_ns,
                begin,
                end,
                again: begin < self.highest,
                marked: sent.marked,
                covered_ns: None,
                fate: Fate::Unknown,
            };
            let number = self.transmissions.len();
            self.transmissions.push(transmission);
            if end > self.highest || self.pieces.range(..end).next_back().is_none_or(|(_, piece)| piece.end <= begin) {
                // What overlaps older bytes in part begins a piece of its own with the rest.
                self.pieces.insert(begin.max(self.highest.min(end - 1)), Piece::new(end, number));
                self.open.insert(begin.max(self.highest.min(end - 1)));
            } else {
                for (_, piece) in self.pieces.range_mut(..end).rev().take_while(|(_, piece)| piece.end > begin) {
                    piece.tries.push(number);
                }
            }
            self.highest = self.highest.max(end);
            begin = end;
        }
    }

    fn answered(&mut self, answer: &Answer) {
        let mut told = Acknowledgement {
            time_ns: answer.time_ns,
            ack: answer.ack,
            window: answer.window,
            bytes: 0,
            pieces: 0,
            rtt_ns: None,
            sacked: false,
            marks: answer.marks,
        };
        let mut last = None;
        self.cover(i64::MIN, answer.ack, answer.time_ns, &mut told, &mut last);
        for (place, &(left, right)) in answer.sacks.iter().enumerate() {
            let within = answer.sacks.get(1).is_some_and(|&(low, high)| low <= left && right <= high);
            if place == 0 && (right <= answer.ack || within) {
                self.duplicates = true;
                let pieces = self.pieces.range_mut(..right).rev().take_while(|(_, piece)| piece.end > left);
                pieces.for_each(|(_, piece)| piece.duplicates += 1);
            } else {
                let before = told.pieces;
                self.cover(left, right, answer.time_ns, &mut told, &mut last);
                told.sacked |= told.pieces > before;
            }
        }
        told.rtt_ns = last.flatten().map(|sent: u64| answer.time_ns.saturating_sub(sent));
        self.acknowledgements.push(told);
    }

    /// Covers what is open from `left` to `right`. `last`: when the latest of these pieces left, nothing inside if one was sent twice.
    fn cover(&mut self, left: i64, right: i64, now: u64, told: &mut Acknowledgement, last: &mut Option<Option<u64>>) {
        let mut from = if left == i64::MIN { Unbounded } else { std::ops::Bound::Included(left) };
        while let Some(begin) = self.open.range((from, Excluded(right))).next().copied() {
            from = Excluded(begin);
            let Some(piece) = self.pieces.get_mut(&begin).filter(|piece| piece.end <= right) else { continue };
            piece.covered = Some(now);
            told.bytes += piece.end - begin;
            told.pieces += 1;
            let sent = (piece.tries.len() == 1).then(|| self.transmissions[piece.tries[0]].time_ns);
            *last = Some(match *last {
                None => sent,
                Some(before) => before.zip(sent).map(|(before, sent)| before.max(sent)),
            });
            self.open.remove(&begin);
        }
    }

    /// Says what became of each transmission.
    pub fn finish(mut self) -> (Vec<Transmission>, Vec<Acknowledgement>) {
        let least = self.acknowledgements.iter().filter_map(|told| told.rtt_ns).min().unwrap_or(0);
        let least = (least as f64 * (1.0 - EARLY)) as u64;
        for piece in self.pieces.values() {
            let Some(covered) = piece.covered else { continue };
            let times = piece.tries.iter().map(|&number| self.transmissions[number].time_ns);
            let arrived = times.clone().rposition(|time| time + least <= covered).unwrap_or(0);
            let mut twice = piece.duplicates;
            for (place, &number) in piece.tries.iter().enumerate().rev() {
                let transmission = &mut self.transmissions[number];
                transmission.covered_ns = Some(covered);
                let again = place != arrived && (twice > 0 || (place > arrived && !self.duplicates));
                twice -= usize::from(again && twice > 0);
                transmission.fate = if place == arrived || again { Fate::Arrived } else { Fate::Lost };
            }
        }
        (self.transmissions, self.acknowledgements)
    }
}

impl Piece {
    fn new(end: i64, number: usize) -> Piece {
        Piece { end, tries: vec![number], covered: None, duplicates: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(ms: u64, begin: i64, end: i64) -> Heard {
        Heard::Sent(Sent { time_ns: ms * 1_000_000, begin, end, kind: "first", marked: false })
    }

    fn answer(ms: u64, ack: i64, sacks: &[(i64, i64)]) -> Heard {
        Heard::Answer(Answer { time_ns: ms * 1_000_000, ack, window: 65_535, sacks: sacks.to_vec(), marks: 0 })
    }

    fn fates(heard: Vec<Heard>) -> (Vec<Fate>, Vec<Acknowledgement>) {
        let mut fates = Fates::new(1000);
        heard.into_iter().for_each(|one| fates.heard(one));
        let (transmissions, acknowledgements) = fates.finish();
        (transmissions.iter().map(|one| one.fate).collect(), acknowledgements)
    }

    /// RFC 2018 section 3: the second of four segments is lost, SACK reports the others, the retransmission fills the hole.
    #[test]
    fn a_lost_segment_and_its_retransmission() {
        let (fates, acknowledgements) = fates(vec![
            sent(0, 0, 4000),
            answer(50, 1000, &[]),
            answer(51, 1000, &[(2000, 3000)]),
            answer(52, 1000, &[(2000, 4000)]),
            sent(60, 1000, 2000),
            answer(110, 4000, &[]),
        ]);
        assert_eq!(fates, [Fate::Arrived, Fate::Lost, Fate::Arrived, Fate::Arrived, Fate::Arrived]);
        let rtts: Vec<_> = acknowledgements.iter().map(|one| one.rtt_ns.map(|rtt| rtt / 1_000_000)).collect();
        assert_eq!(rtts, [Some(50), Some(51), Some(52), None]);
        assert_eq!(acknowledgements.iter().map(|one| one.bytes).collect::<Vec<_>>(), [1000, 1000, 1000, 1000]);
    }

    /// RFC 2883 section 4: the original was late, and D-SACK reports its retransmission.
    #[test]
    fn a_needless_retransmission_arrives_too() {
        let (fates, _) = fates(vec![
            sent(0, 0, 1000),
            sent(0, 1000, 2000),
            answer(50, 1000, &[]),
            sent(100, 1000, 2000),
            answer(110, 2000, &[]),
            answer(150, 2000, &[(1000, 2000)]),
        ]);
        assert_eq!(fates, [Fate::Arrived; 3]);
    }

    /// A retransmission is lost too; what nothing answers is unknown.
    #[test]
    fn twice_lost_and_unanswered() {
        let (fates, _) = fates(vec![
            sent(0, 0, 1000),
            answer(50, 1000, &[]),
            sent(50, 1000, 2000),
            sent(300, 1000, 2000),
            sent(700, 1000, 2000),
            answer(750, 2000, &[]),
            sent(760, 2000, 3000),
        ]);
        assert_eq!(fates, [Fate::Arrived, Fate::Lost, Fate::Lost, Fate::Arrived, Fate::Unknown]);
    }
}
