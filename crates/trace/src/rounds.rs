//! The rounds of a direction: how much was in flight in each, and how evenly its segments left.

use crate::rtts::Rtts as Spread;

/// A round is even if no gap between its new segments is longer than so many of its mean gaps. Linux paces pairs of segments.
const EVEN_GAPS: u64 = 4;
/// With fewer new segments a round is neither even nor uneven.
const EVEN_SEGMENTS_MIN: u64 = 4;

/// Slow start is over after so many rounds without such growth.
const STANDS_MAX: u32 = 3;

/// Half of the rounds of a steady rate differ by less than this part of it.
const STEADY_PART: u64 = 6;

/// A round ends when all that was outstanding at its beginning is acknowledged.
#[derive(Clone, Debug, Default)]
pub struct Rounds {
    end: u64,
    began: u64,
    from: u64,
    most: u64,
    /// A fixed window keeps one level in flight: the level, the rounds at it, and all rounds.
    pub level: u64,
    pub at_level: u32,
    pub count: u32,
    /// The most in flight of any round, and when the last round ended that had a quarter more than all before it: slow start.
    pub top: u64,
    pub grown_until: u64,
    pub grown: u32,
    stands: u32,
    /// New segments of this round, when the last one was sent, and the longest gap before one of them.
    fresh: u64,
    last: Option<u64>,
    longest: u64,
    /// Rounds whose segments left evenly.
    pub even: u32,
    /// Bits a second of new data, a sample for each round.
    rates: Spread,
}

impl Rounds {
    pub fn sent(&mut self, inflight: u64) {
        self.most = self.most.max(inflight);
    }

    /// A new segment is sent.
    pub fn fresh(&mut self, now: u64) {
        self.longest = self.longest.max(self.last.map_or(0, |last| now.saturating_sub(last)));
        (self.last, self.fresh) = (Some(now), self.fresh + 1);
    }

    pub fn acked(&mut self, now: u64, (acked, highest): (u64, u64), segment: u64) {
        if acked < self.end || self.most == 0 {
            return;
        }
        self.count += 1;
        if self.most.abs_diff(self.level) <= segment {
            self.at_level += 1;
        } else if self.most > self.level {
            (self.level, self.at_level) = (self.most, 1);
        }
        if self.most > self.top + self.top / 4 && self.stands < STANDS_MAX {
            (self.grown_until, self.grown, self.stands) = (now, self.grown + 1, 0);
        } else {
            self.stands += 1;
        }
        self.top = self.top.max(self.most);
        let lasted = now.saturating_sub(self.began);
        if self.fresh >= EVEN_SEGMENTS_MIN && self.longest.saturating_mul(self.fresh) <= EVEN_GAPS * lasted {
            self.even += 1;
        }
        let bits = u128::from(highest.saturating_sub(self.from)) * 8_000_000_000;
        if let Some(rate) = bits.checked_div(u128::from(lasted)) {
            self.rates.add(rate as u64);
        }
        (self.end, self.most, self.began, self.fresh, self.longest) = (highest + 1, 0, now, 0, 0);
        self.from = highest;
    }

    /// The rate that at least half of the rounds kept, if they did.
    pub fn steady(&self) -> Option<u64> {
        let (low, high) = self.rates.quantile(0.25).zip(self.rates.quantile(0.75))?;
        (high - low <= low / STEADY_PART).then(|| (low + high) / 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten segments a round of 100: sent one after the other, or one each 10.
    #[test]
    fn segments_that_leave_together_are_not_even() {
        let even = |gap: u64| {
            let mut rounds = Rounds::default();
            for round in 0..20u64 {
                for segment in 0..10 {
                    rounds.sent(10_000);
                    rounds.fresh(100 * round + gap * segment);
                }
                rounds.acked(100 * (round + 1), (10_000 * (round + 1), 10_000 * (round + 1)), 1000);
            }
            (rounds.count, rounds.even, rounds.at_level, rounds.grown_until)
        };
        // In the first round nothing was sent before.
        assert_eq!((even(1), even(10)), ((20, 1, 20, 100), (20, 20, 20, 100)));
    }
}
