//! Mahimahi's chances, and a port that takes them.

use std::sync::Arc;

use elephan_units::{PS_PER_S, Time};

use super::words::After;

const PS_PER_MS: u64 = PS_PER_S / 1000;
/// The largest packet of a TUN device with its packet information, which Mahimahi's code gives each chance.
pub(super) const CHANCE_BYTES: u64 = 1504;
/// The packet information that its code counts with each packet.
pub(super) const OVERHEAD_BYTES: u64 = 4;

/// A trace of chances.
#[derive(Clone, Debug, PartialEq)]
pub struct Chances {
    /// Milliseconds since the start, not decreasing; the last one is above 0.
    times: Vec<u32>,
    chance: u32,
    overhead: u32,
    after: After,
    /// How many chances the last millisecond has.
    last: u64,
}

impl Chances {
    pub(super) fn new(times: Vec<u32>, chance: u32, overhead: u32, after: After) -> Chances {
        let end = times.last().copied().unwrap_or(0);
        let last = times.len() - times.partition_point(|&time| time < end);
        Chances { times, chance, overhead, after, last: last as u64 }
    }

    pub fn overhead(&self) -> u32 {
        self.overhead
    }

    fn count(&self) -> u64 {
        self.times.len() as u64
    }

    /// The length of a pass, in ms.
    fn period(&self) -> u64 {
        u64::from(self.times.last().copied().unwrap_or(1))
    }

    /// When the chance of an ordinal comes, in ms, if it comes.
    fn time(&self, ordinal: u64) -> Option<u64> {
        let (pass, place) = (ordinal / self.count(), (ordinal % self.count()) as usize);
        match (pass, self.after) {
            (0, _) => Some(u64::from(self.times[place])),
            (_, After::Repeat) => Some(pass * self.period() + u64::from(self.times[place])),
            (_, After::Hold) => Some(self.period() + 1 + (ordinal - self.count()) / self.last),
            (_, After::End) => None,
        }
    }

    /// The ordinal of the first chance at or after a millisecond.
    fn first_at(&self, ms: u64) -> u64 {
        let place = |from: u64| self.times.partition_point(|&time| u64::from(time) < from) as u64;
        let period = self.period();
        if ms <= period {
            return place(ms);
        }
        match self.after {
            After::Repeat => {
                let pass = ms.div_ceil(period) - 1;
                pass * self.count() + place(ms - pass * period)
            }
            After::Hold => self.count() + (ms - period - 1) * self.last,
            After::End => self.count(),
        }
    }

    /// Returns the mean rate over one pass, in bit/s.
    pub fn mean(&self) -> f64 {
        8.0 * f64::from(self.chance) * self.count() as f64 / (self.period() as f64 / 1000.0)
    }

    /// Returns the bits of the chances after `from`, up to `to` and with it.
    pub fn capacity(&self, from: Time, to: Time) -> f64 {
        let upto = |time: Time| self.first_at(time.0 / PS_PER_MS + 1);
        8.0 * f64::from(self.chance) * upto(to).saturating_sub(upto(from)) as f64
    }
}

/// A port's place among its chances.
#[derive(Clone, Debug)]
pub(super) struct OfChances {
    of: Arc<Chances>,
    /// The chance that comes next.
    next: u64,
    /// Its place in its pass, and when the pass began, in ms.
    place: usize,
    base: u64,
    /// What is left of the one before it, which came at `at`.
    left: u32,
    at: Time,
    idle: bool,
    never: Time,
}

impl OfChances {
    pub fn new(of: Arc<Chances>, never: Time) -> OfChances {
        OfChances { of, next: 0, place: 0, base: 0, left: 0, at: Time::ZERO, idle: true, never }
    }

    pub fn send(&mut self, start: Time, bytes: u32) -> Time {
        if self.idle {
            self.skip(start.0 / PS_PER_MS + 1);
            (self.left, self.idle) = (0, false);
        }
        let mut need = bytes.saturating_add(self.of.overhead);
        while need > 0 {
            if self.left == 0 && !self.take() {
                return self.never;
            }
            let taken = need.min(self.left);
            need -= taken;
            self.left -= taken;
        }
        self.at
    }

    /// Goes on to the first chance at or after a millisecond: those of the millisecond itself come before what is sent within it.
    fn skip(&mut self, ms: u64) {
        while self.coming().is_some_and(|at| at < ms) {
            self.step();
            // As a rule it is one of the next; after a long silence it is looked for.
            if self.next & 15 == 0 {
                self.next = self.next.max(self.of.first_at(ms));
                self.place = (self.next % self.of.count()) as usize;
                self.base = self.next / self.of.count() * self.of.period();
            }
        }
    }

    /// When the next chance comes, in ms, if one comes.
    fn coming(&self) -> Option<u64> {
        if self.of.after == After::Repeat || self.next < self.of.count() {
            Some(self.base + u64::from(self.of.times[self.place]))
        } else {
            self.of.time(self.next)
        }
    }

    fn step(&mut self) {
        self.next += 1;
        self.place += 1;
        if self.place == self.of.times.len() {
            (self.place, self.base) = (0, self.base + self.of.period());
        }
    }

    /// Takes the next chance; returns whether there is one.
    fn take(&mut self) -> bool {
        let Some(ms) = self.coming() else { return false };
        self.at = Time(ms.saturating_mul(PS_PER_MS));
        if self.at >= self.never {
            return false;
        }
        self.step();
        self.left = self.of.chance;
        true
    }

    pub fn idle(&mut self) {
        self.idle = true;
    }
}
