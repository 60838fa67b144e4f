//! The smallest round-trip time of a sliding time.

use elephan_units::{Span, Time};

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
        let passed = now.since(self.since).ps() / (time.ps() / 4).max(1);
        if passed > 0 {
            let gone = passed.min(5) as usize;
            self.quarters.rotate_right(gone);
            self.quarters[..gone].fill(Span::MAX);
            self.since = now;
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
