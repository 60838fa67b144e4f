//! The times of packets, made to run forwards.
//!
//! A packet whose time lies before that of the packet before it counts at that one's time. A packet whose time leaps, forwards by
//! more than a second or backwards by more than half a second, is held until the packets after it show what happened: if they go on
//! where the time was before, the packet has an odd time and counts where the file has it; if they go on from the packet, the network
//! was silent, or somebody set the clock: then time goes on from the packet before.

use std::collections::VecDeque;

/// A leap forwards, or backwards, beyond this holds the packet.
const AHEAD_NS: i64 = 1_000_000_000;
const BEHIND_NS: i64 = 500_000_000;
/// So many packets in a row are no odd ones: time has leapt.
const HELD_MAX: usize = 16;
/// A silence beyond this is no silence but a clock that was set: a year.
const SILENCE_MAX_NS: i64 = 366 * 86_400 * 1_000_000_000;

/// When a packet came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tick {
    /// Nanoseconds since the first packet.
    pub now: u64,
    /// Whether that is the packet's own time.
    pub own: bool,
}

/// Gives packets their times, in the order of the file.
#[derive(Debug)]
pub struct Clock<T> {
    /// Time of the first packet, and what stands for it since the clock was set.
    begin: Option<u64>,
    origin: u64,
    last: i64,
    held: VecDeque<(u64, T)>,
    /// Packets that count at another time than their own, packets without a time, and settings of the clock.
    pub odd: u64,
    pub timeless: u64,
    pub sets: u64,
    /// Sum of the steps by which the clock was set.
    pub set_ns: i64,
}

impl<T> Default for Clock<T> {
    fn default() -> Clock<T> {
        let held = VecDeque::new();
        Clock { begin: None, origin: 0, last: 0, held, odd: 0, timeless: 0, sets: 0, set_ns: 0 }
    }
}

impl<T> Clock<T> {
    /// Time of the first packet, nanoseconds since 1970, and of the last, since the first.
    pub fn span(&self) -> (u64, u64) {
        (self.begin.unwrap_or(0), self.last as u64)
    }

    /// Takes a packet and gives those whose time is known by now to `put`.
    pub fn take(&mut self, time_ns: Option<u64>, item: T, put: &mut impl FnMut(Tick, T)) {
        let Some(time_ns) = time_ns else {
            self.settle(true, put);
            self.timeless += 1;
            return put(self.tick(false), item);
        };
        if self.begin.is_none() {
            (self.begin, self.origin) = (Some(time_ns), time_ns);
        }
        let since = self.since(time_ns);
        if self.held.is_empty() && since >= self.last && since - self.last <= AHEAD_NS {
            self.last = since;
            return put(self.tick(true), item);
        }
        self.held.push_back((time_ns, item));
        self.settle(false, put);
    }

    /// Gives what is still held to `put`: no more packets come.
    pub fn finish(&mut self, put: &mut impl FnMut(Tick, T)) {
        self.settle(true, put);
    }

    fn tick(&self, own: bool) -> Tick {
        Tick { now: self.last as u64, own }
    }

    /// Nanoseconds since the origin; differences beyond 292 years wrap.
    fn since(&self, time_ns: u64) -> i64 {
        time_ns.wrapping_sub(self.origin) as i64
    }

    fn settle(&mut self, over: bool, put: &mut impl FnMut(Tick, T)) {
        while let (Some(front), Some(newest)) = (self.held.front(), self.held.back()) {
            let (front, newest) = (self.since(front.0), self.since(newest.0));
            let full = over || self.held.len() > HELD_MAX;
            let (ahead, back) = (front.saturating_sub(self.last), newest.saturating_sub(self.last));
            let goes_on = (-BEHIND_NS..=AHEAD_NS).contains(&back);
            if (0..=AHEAD_NS).contains(&ahead) {
                self.give(front, true, put);
            } else if (-BEHIND_NS..0).contains(&ahead) {
                self.give(self.last, false, put);
            } else if goes_on && front.abs_diff(newest) > back.unsigned_abs() {
                // Those before the newest leap, and it does not.
                for _ in 1..self.held.len() {
                    self.give(self.last, false, put);
                }
            } else if !full {
                return;
            } else if ahead > 0 && ahead <= SILENCE_MAX_NS {
                self.give(front, true, put);
            } else if self.held.len() > 1 {
                self.sets += 1;
                self.set_ns = self.set_ns.saturating_add(ahead);
                self.origin = self.origin.wrapping_add(ahead as u64);
                self.give(self.last, true, put);
            } else {
                self.give(self.last, false, put);
            }
        }
    }

    /// Gives the packet that has been held longest, at `now`.
    fn give(&mut self, now: i64, own: bool, put: &mut impl FnMut(Tick, T)) {
        if let Some((_, item)) = self.held.pop_front() {
            self.last = now;
            self.odd += u64::from(!own);
            put(self.tick(own), item);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Milliseconds that packets with these times get, and whether they are their own.
    fn ticks(times_ms: &[u64]) -> Vec<(u64, bool)> {
        let (mut clock, mut found) = (Clock::default(), Vec::new());
        let mut put = |tick: Tick, place: usize| {
            assert_eq!(place, found.len(), "the order is that of the file");
            found.push((tick.now / 1_000_000, tick.own));
        };
        for (place, &time) in times_ms.iter().enumerate() {
            clock.take(Some(1_000_000_000_000 + time * 1_000_000), place, &mut put);
        }
        clock.finish(&mut put);
        found
    }

    #[test]
    fn a_packet_that_is_a_minute_late_counts_where_it_is() {
        let found = ticks(&[0, 10, 60_020, 30, 40]);
        assert_eq!(found, [(0, true), (10, true), (10, false), (30, true), (40, true)]);
        assert_eq!(ticks(&[10_000, 10_010, 20, 10_030])[2..], [(10, false), (30, true)], "a minute early");
    }

    #[test]
    fn a_clock_that_is_set_back_goes_on() {
        let times: Vec<u64> = (0..50).map(|i| if i < 25 { 10_000 + 10 * i } else { 8_000 + 10 * i }).collect();
        let expected: Vec<(u64, bool)> = (0..50).map(|i| (10 * i - if i < 25 { 0 } else { 10 }, true)).collect();
        assert_eq!(ticks(&times), expected);
    }

    #[test]
    fn a_silence_is_a_silence() {
        let found = ticks(&[0, 10, 3_600_000, 3_600_010, 3_600_009, 3_600_020]);
        assert_eq!(found[2..], [(3_600_000, true), (3_600_010, true), (3_600_010, false), (3_600_020, true)]);
        assert_eq!(ticks(&[0, 10, 3_600_000])[2], (3_600_000, true), "at the end of the file too");
    }
}
