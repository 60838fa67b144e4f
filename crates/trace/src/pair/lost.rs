//! What became of packets, packet by packet and in all.

use super::outcome::{FAR, NEAR};
use super::side::Waiting;
use crate::rtts::Rtts;

/// Where a packet went that one of two places lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Lost on the path between the places.
    Between,
    /// Lost before the first place, as in the queue of the sender's host.
    Before,
    /// Lost behind the second place.
    Behind,
    /// It passed, and the near capture has dropped it.
    MissedNear,
    MissedFar,
}

impl Fate {
    pub fn name(self) -> &'static str {
        match self {
            Fate::Between => "between",
            Fate::Before => "before",
            Fate::Behind => "behind",
            Fate::MissedNear => "missed_near",
            Fate::MissedFar => "missed_far",
        }
    }
}

/// A packet that one of two places lacks.
#[derive(Clone, Copy, Debug)]
pub struct Lost {
    pub time: i64,
    pub connection: Option<i64>,
    /// The place that it comes to first.
    pub first: usize,
    pub fate: Fate,
    pub seq: Option<i64>,
    pub bytes: u64,
    pub again: u64,
    pub frame: u64,
}

impl Lost {
    pub fn of(own: &Waiting, range: (u64, u64), fate: Fate, first: usize, connection: Option<i64>, again: u64) -> Lost {
        let bytes = range.1 - range.0;
        let seq = (bytes > 0).then(|| own.place + (range.0 - own.begin) as i64);
        Lost { time: own.aligned, connection, first, fate, seq, bytes, again, frame: own.frame }
    }
}

/// The counts of a direction.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    pub numbers: [Option<i64>; 2],
    /// Segments with data at each place.
    pub segments: [u64; 2],
    pub matched_bytes: u64,
    pub retransmitted: u64,
    pub lost_between: u64,
    pub lost_before: u64,
    pub lost_behind: u64,
    pub needless: u64,
    pub acks_lost: u64,
    pub missed: [u64; 2],
    pub first: usize,
    pub turns: Rtts,
    pub replies: Rtts,
}

impl Tally {
    /// The row of the direction at a place; answers the counts so far if they are of another row.
    pub fn number(&mut self, at: usize, number: Option<i64>) -> Option<Tally> {
        let is_other = at == NEAR && self.numbers[NEAR].is_some() && number.is_some() && self.numbers[NEAR] != number;
        let done = is_other.then(|| std::mem::take(self));
        self.numbers[at] = number.or(self.numbers[at]);
        done
    }

    pub fn number_at(&self, at: usize) -> Option<i64> {
        self.numbers[at]
    }

    /// The count of retransmissions whose copy before was lost so.
    pub fn count_again(&mut self, fate: Fate) -> &mut u64 {
        match fate {
            Fate::Before => &mut self.lost_before,
            Fate::Behind => &mut self.lost_behind,
            Fate::Between | Fate::MissedNear | Fate::MissedFar => &mut self.lost_between,
        }
    }

    pub fn count_lost(&mut self, fate: Fate) {
        match fate {
            Fate::MissedNear => self.missed[NEAR] += 1,
            Fate::MissedFar => self.missed[FAR] += 1,
            Fate::Between | Fate::Before | Fate::Behind => {}
        }
    }
}
