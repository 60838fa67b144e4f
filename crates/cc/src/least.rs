//! The smallest round-trip time of a sliding time: exactly, or in quarters of a long one.

use std::collections::VecDeque;

use elephan_units::{Span, Time};

/// The smallest of a sliding time, exactly: samples that no earlier and larger one outlives, smallest first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sliding(VecDeque<(Time, Span)>);

impl Sliding {
    /// Takes in `rtt`; what is older than `time` is forgotten.
    pub fn add(&mut self, now: Time, rtt: Span, time: Span) {
        while self.0.back().is_some_and(|&(_, last)| last >= rtt) {
            self.0.pop_back();
        }
        self.0.push_back((now, rtt));
        while self.0.front().is_some_and(|&(at, _)| now.since(at) > time) {
            self.0.pop_front();
        }
    }

    pub fn get(&self) -> Option<Span> {
        self.0.front().map(|&(_, rtt)| rtt)
    }

    /// Zero while there is none.
    pub fn seconds(&self) -> f64 {
        self.get().map_or(0.0, Span::seconds)
    }

    /// Forgets all but this one: for tests.
    pub fn only(&mut self, seconds: f64) {
        self.0 = [(Time::ZERO, Span::from_seconds(seconds))].into();
    }
}

/// The smallest of a sliding time, in quarters of it: this one and the four before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Least {
    quarters: [Span; 5],
    since: Time,
}

impl Least {
    pub const NONE: Least = Least { quarters: [Span::MAX; 5], since: Time::ZERO };

    /// Takes in `rtt`, of which the smallest of the last `time` is kept.
    pub fn add(&mut self, now: Time, rtt: Span, time: Span) {
        let quarter = (time.ps() / 4).max(1);
        let passed = now.since(self.since).ps() / quarter;
        if passed > 0 {
            let gone = passed.min(5) as usize;
            self.quarters.rotate_right(gone);
            self.quarters[..gone].fill(Span::MAX);
            self.since += Span(passed * quarter);
        }
        self.quarters[0] = self.quarters[0].min(rtt);
    }

    pub fn get(&self) -> Option<Span> {
        self.quarters.into_iter().min().filter(|least| *least != Span::MAX)
    }

    /// Zero while there is none.
    pub fn seconds(&self) -> f64 {
        self.get().map_or(0.0, Span::seconds)
    }

    /// Forgets all but this one: for tests.
    pub fn only(&mut self, seconds: f64) {
        self.quarters = [Span::MAX; 5];
        self.quarters[0] = Span::from_seconds(seconds);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sample counts for 100 ms and not longer, and a smaller one takes its place at once.
    #[test]
    fn a_sliding_minimum_is_exact() {
        let mut least = Sliding::default();
        assert_eq!((least.get(), least.seconds()), (None, 0.0));
        for (at_ms, rtt_ms, expected) in [(0, 5, 5), (40, 9, 5), (60, 7, 5), (100, 8, 5), (101, 8, 7), (110, 6, 6)] {
            least.add(Time::ZERO + Span::from_ms(at_ms), Span::from_ms(rtt_ms), Span::from_ms(100));
            assert_eq!(least.get(), Some(Span::from_ms(expected)), "{at_ms}");
        }
    }

    /// A sample of 5 ms counts for 100 ms and up to a quarter more; then the next smallest is 7 ms.
    #[test]
    fn a_sample_leaves_after_its_time() {
        let mut least = Least::NONE;
        assert_eq!((least.get(), least.seconds()), (None, 0.0));
        for (at_ms, rtt_ms, expected) in [(1000, 5, 5), (1025, 9, 5), (1100, 7, 5), (1125, 8, 7), (1300, 6, 6)] {
            least.add(Time::ZERO + Span::from_ms(at_ms), Span::from_ms(rtt_ms), Span::from_ms(100));
            assert_eq!(least.get(), Some(Span::from_ms(expected)), "{at_ms}");
        }
    }
}
