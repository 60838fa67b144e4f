//! What one of two places saw of a direction: segments that the other place has not shown yet, holes, answers.

use std::collections::{BTreeMap, VecDeque};

use super::sketch::mark;
use crate::ranges::Holes;
use crate::rtts::Rtts;
use crate::seen::Seen;

/// Segments that wait for their ACK and are remembered.
const ARRIVALS_MAX: usize = 1 << 16;
/// An answer so soon after a segment may have left before the host had read it.
const CROSSED_NS: i64 = 1_000_000;

/// A segment that only one place has shown so far.
#[derive(Clone, Debug)]
pub struct Waiting {
    /// By the clock of its place, and by the near clock as far as that is known.
    pub time: i64,
    pub aligned: i64,
    /// Whether `time` is the packet's own.
    pub own: bool,
    /// Ranges of the stream that the other place lacks; empty without payload.
    pub missing: Vec<(u64, u64)>,
    pub begin: u64,
    /// Place of `begin` in the sender's stream, as its capture counts.
    pub place: i64,
    pub frame: u64,
    pub is_ack: bool,
    pub length: u64,
    /// Retransmissions that left while it was not known to have come through.
    pub again: u64,
    stamps: Option<(u32, u32)>,
    ack: Option<u32>,
    ident: Option<u16>,
}

/// Times by which candidates are compared: what a match would make of the difference of the clocks must be possible.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    pub keeps_idents: bool,
    /// The least and the largest possible difference, far less near.
    pub possible: (i64, i64),
}

impl Waiting {
    pub fn of(seen: &Seen, begin: u64, time: i64, aligned: i64) -> Waiting {
        let s = &seen.segment;
        let length = u64::from(s.len);
        Waiting {
            time,
            aligned,
            own: seen.tick.own,
            missing: if length > 0 { vec![(begin, begin + length)] } else { Vec::new() },
            begin,
            place: seen.place,
            frame: s.frame,
            is_ack: length == 0 && s.ack.is_some() && !(s.syn || s.fin || s.rst),
            length,
            again: 0,
            stamps: s.options.timestamps,
            ack: s.ack,
            ident: s.ident,
        }
    }

    fn overlaps(&self, begin: u64, end: u64) -> bool {
        self.missing.iter().any(|range| range.0 < end && begin < range.1)
    }

    /// Whether the other can be the same packet, a part of it, or what offloading made of it and its neighbours.
    fn may_be(&self, other: &Waiting, rules: &Rules) -> bool {
        let named = self.ident.is_some() && other.ident.is_some();
        let is_whole = (self.begin, self.length) == (other.begin, other.length);
        let renamed = named && rules.keeps_idents && is_whole && self.ident != other.ident;
        self.stamps == other.stamps && self.ack == other.ack && !renamed
    }

    /// Takes what both have out of both; answers how many bytes that is.
    fn meet(&mut self, other: &mut Waiting) -> u64 {
        let mut met = 0;
        let theirs = other.missing.clone();
        for (begin, end) in theirs {
            let shared: Vec<(u64, u64)> = self
                .missing
                .iter()
                .map(|own| (own.0.max(begin), own.1.min(end)))
                .filter(|(begin, end)| begin < end)
                .collect();
            for range in shared {
                met += range.1 - range.0;
                cut(&mut self.missing, range);
                cut(&mut other.missing, range);
            }
        }
        met
    }
}

fn cut(ranges: &mut Vec<(u64, u64)>, (begin, end): (u64, u64)) {
    let rest = |own: &(u64, u64)| [(own.0, own.1.min(begin)), (own.0.max(end), own.1)];
    *ranges = ranges.iter().flat_map(rest).filter(|(begin, end)| begin < end).collect();
}

/// What became of a segment whose bytes are sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Before {
    /// It passed here, and the receiver has not got it though it has answered since.
    Refused,
    /// It passed here, and nothing says that the receiver lacks it.
    Passed,
    /// It did not pass here.
    Unseen,
}

/// A place.
#[derive(Debug, Default)]
pub struct Side {
    data: BTreeMap<(u64, u64), Waiting>,
    bare: BTreeMap<(u64, u64), Waiting>,
    longest: u64,
    highest: Option<u64>,
    holes: Holes,
    /// What the answers that were seen here acknowledge, when the last one passed, and its SACK blocks.
    pub acked: Option<u64>,
    answered_at: i64,
    sacks: Vec<(u64, u64)>,
    /// When an ACK of new data passed that no new data has followed.
    opened_at: Option<i64>,
    arrivals: VecDeque<(u64, u64, i64)>,
    /// From data to its ACK, and from an ACK of new data to the next new data.
    pub turns: Rtts,
    pub replies: Rtts,
}

impl Side {
    /// A range of the stream passes; answers how much of it fills holes.
    pub fn pass(&mut self, begin: u64, end: u64, time: i64) -> u64 {
        let at = time.max(0) as u64;
        self.longest = self.longest.max(end - begin);
        let highest = *self.highest.get_or_insert(begin);
        if begin > highest {
            self.holes.skip(highest, begin, at);
        }
        let filled = self.holes.fill(begin, end.min(highest).max(begin)).0;
        if end > highest {
            self.highest = Some(end);
            if let Some(since) = self.opened_at.take() {
                self.replies.add(time.saturating_sub(since).max(0) as u64);
            }
        }
        if self.arrivals.len() == ARRIVALS_MAX {
            self.arrivals.pop_front();
        }
        self.arrivals.push_back((begin, end, time));
        filled
    }

    /// The stream begins here with a SYN.
    pub fn open(&mut self, first: u64) {
        self.highest = Some(first);
        (self.holes, self.acked, self.opened_at) = (Holes::default(), None, None);
        self.arrivals.clear();
    }

    /// An answer passes.
    pub fn answer(&mut self, ack: u64, sacks: Vec<(u64, u64)>, time: i64) {
        (self.answered_at, self.sacks) = (time, sacks);
        if self.acked.is_some_and(|acked| ack <= acked) {
            return;
        }
        self.acked = Some(ack);
        let mut latest = None;
        while let Some(&(.., at)) = self.arrivals.front().filter(|(_, end, _)| *end <= ack) {
            latest = latest.max(Some(at));
            self.arrivals.pop_front();
        }
        if let Some(latest) = latest {
            self.turns.add(time.saturating_sub(latest).max(0) as u64);
            self.opened_at = Some(time);
        }
    }

    /// Whether a range has not passed here, although what was sent after it or its ACK has.
    pub fn lacks(&self, begin: u64, end: u64) -> bool {
        self.highest.is_none_or(|highest| end > highest) || self.holes.youngest(begin, end).is_some()
    }

    /// What became here of a range that is sent again.
    pub fn before(&self, begin: u64, end: u64) -> Before {
        let told = self.acked.is_some_and(|acked| end <= acked);
        let told = told || self.sacks.iter().any(|sack| sack.0 <= begin && end <= sack.1);
        let arrived = self.arrivals.iter().find(|own| own.0 < end && begin < own.1).map(|own| own.2);
        match arrived {
            _ if self.lacks(begin, end) => Before::Unseen,
            Some(at) if !told && self.answered_at > at + CROSSED_NS => Before::Refused,
            _ => Before::Passed,
        }
    }

    /// The youngest segment with bytes of the range that still waits: it was sent again.
    pub fn youngest(&mut self, begin: u64, end: u64) -> Option<&mut Waiting> {
        let from = begin.saturating_sub(self.longest);
        let within = self.data.range_mut((from, 0)..(end, 0)).map(|(_, waiting)| waiting);
        within.filter(|waiting| waiting.overlaps(begin, end)).max_by_key(|waiting| waiting.aligned)
    }

    /// Segments that wait here and can be `own`, which the other place shows; each with its bytes in common. `far`: `own` was seen
    /// by the far place.
    pub fn find(&mut self, own: &mut Waiting, seen: &Seen, far: bool, rules: &Rules) -> Vec<(Waiting, u64)> {
        let difference = |waiting: &Waiting| if far { own.time - waiting.time } else { waiting.time - own.time };
        let is_possible = |waiting: &Waiting| {
            let difference = difference(waiting);
            rules.possible.0 <= difference && difference <= rules.possible.1
        };
        // Of several the one with the same identification, else the youngest that can have come by now, else the oldest.
        let rank = |waiting: &Waiting| {
            let named = waiting.ident.is_some() && waiting.ident == own.ident;
            let possible = is_possible(waiting);
            (!named, !possible, if possible { -waiting.aligned } else { waiting.aligned })
        };
        if own.missing.is_empty() {
            let hash = mark(&seen.segment);
            let all = self.bare.range((hash, 0)..=(hash, u64::MAX)).filter(|(_, waiting)| waiting.may_be(own, rules));
            let best = all.min_by_key(|(_, waiting)| rank(waiting)).map(|(place, _)| *place);
            return best.and_then(|place| self.bare.remove(&place)).map(|waiting| (waiting, 0)).into_iter().collect();
        }
        let from = own.begin.saturating_sub(self.longest);
        let end = own.begin + own.length;
        let within = self.data.range((from, 0)..(end, 0));
        let mut places: Vec<_> = within
            .filter(|(_, waiting)| waiting.overlaps(own.begin, end) && waiting.may_be(own, rules))
            .map(|(place, waiting)| (rank(waiting), *place))
            .collect();
        places.sort_unstable();
        let mut found = Vec::new();
        for (_, place) in places {
            let Some(waiting) = self.data.get_mut(&place).filter(|_| !own.missing.is_empty()) else { break };
            let met = waiting.meet(own);
            if met > 0 {
                found.push((waiting.clone(), met));
                waiting.again = 0;
            }
            if waiting.missing.is_empty() {
                self.data.remove(&place);
            }
        }
        found
    }

    /// Keeps a segment until the other place shows it.
    pub fn keep(&mut self, waiting: Waiting, seen: &Seen, order: u64) {
        if waiting.length > 0 {
            self.longest = self.longest.max(waiting.length);
            self.data.insert((waiting.begin, order), waiting);
        } else {
            self.bare.insert((mark(&seen.segment), order), waiting);
        }
    }

    /// Segments that have waited since before `limit`.
    pub fn give_up(&mut self, limit: i64) -> Vec<Waiting> {
        let mut given = Vec::new();
        for kept in [&mut self.data, &mut self.bare] {
            let old: Vec<_> = kept.iter().filter(|(_, own)| own.aligned < limit).map(|(place, _)| *place).collect();
            given.extend(old.into_iter().filter_map(|place| kept.remove(&place)));
        }
        given.sort_by_key(|waiting| waiting.aligned);
        given
    }

    /// Whether another copy of a range waits that was sent after `aligned`.
    pub fn has_later(&self, begin: u64, end: u64, aligned: i64) -> bool {
        let from = begin.saturating_sub(self.longest);
        let mut within = self.data.range((from, 0)..(end, 0));
        within.any(|(_, waiting)| waiting.aligned > aligned && waiting.overlaps(begin, end))
    }

    pub fn waits(&self) -> usize {
        self.data.len() + self.bare.len()
    }
}
