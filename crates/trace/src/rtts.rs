//! Round-trip times of a direction, in memory that does not grow with their number.

use std::collections::{BTreeMap, VecDeque};

use crate::context::{Context, OUTSTANDING_MAX};

/// The fastest clock of time stamps ticks once a microsecond; by so much more one may be ahead.
const TICK_NS: u64 = 1000;
const TICKS_SPARE: u64 = 1 << 16;

/// Round-trip times: a sum, the extremes, and a histogram of 32 bins to an octave.
#[derive(Clone, Debug, Default)]
pub struct Rtts {
    pub count: u64,
    pub sum: u64,
    pub min: Option<u64>,
    pub max: Option<u64>,
    /// With the weights of RFC 6298.
    pub smoothed: Option<u64>,
    recent: Recent,
    bins: BTreeMap<u16, u64>,
}

/// The least of the last samples, of those before them, and how many samples are the last ones.
#[derive(Clone, Copy, Debug, Default)]
pub struct Recent(u64, u64, u32);

impl Recent {
    /// Samples among which the least is a recent one.
    const SAMPLES: u32 = 8;

    pub fn add(&mut self, rtt: u64) {
        let Recent(least, before, count) = *self;
        *self = match count {
            0 => Recent(rtt, rtt, 1),
            Recent::SAMPLES => Recent(rtt, least, 1),
            _ => Recent(least.min(rtt), before, count + 1),
        };
    }

    /// The least of the last 8 to 16 samples: a queue that stands makes it longer, a single delay does not.
    pub fn least(self) -> Option<u64> {
        (self.2 > 0).then(|| self.0.min(self.1))
    }
}

impl Rtts {
    pub fn add(&mut self, rtt: u64) {
        self.count += 1;
        self.sum += rtt;
        self.min = Some(self.min.map_or(rtt, |min| min.min(rtt)));
        self.max = self.max.max(Some(rtt));
        self.smoothed = Some(self.smoothed.map_or(rtt, |smoothed| smoothed - smoothed / 8 + rtt / 8));
        *self.bins.entry(bin_of(rtt)).or_default() += 1;
        self.recent.add(rtt);
    }

    pub fn recent(&self) -> Option<u64> {
        self.recent.least()
    }

    /// The middle of the bin that the `share`-quantile is in.
    pub fn quantile(&self, share: f64) -> Option<u64> {
        let wanted = (share * self.count as f64).ceil() as u64;
        let mut seen = 0;
        let found = self.bins.iter().find(|(_, count)| {
            seen += **count;
            seen >= wanted
        });
        let (low, high) = found.map(|(&bin, _)| (edge(bin), edge(bin + 1)))?;
        Some(((low + high) / 2).clamp(self.min?, self.max?))
    }
}

/// Time stamps of one end that wait for their echo (RFC 7323).
#[derive(Clone, Debug, Default)]
pub struct Echoes {
    /// TSvals, and when they were seen first.
    waiting: VecDeque<(u32, u64)>,
    last: Option<(u32, u64)>,
}

impl Echoes {
    /// A segment with this TSval was seen. A leap that no clock makes is damage.
    pub fn stamped(&mut self, context: &Context, value: u32) {
        let now = context.now;
        let steps = self.last.map_or(1, |(last, _)| i64::from(value.wrapping_sub(last) as i32));
        let most = self.last.map_or(1, |(_, at)| (now.saturating_sub(at) / TICK_NS + TICKS_SPARE) as i64);
        if (1..=most).contains(&steps) {
            self.last = Some((value, now));
            if context.own_time && self.waiting.len() < OUTSTANDING_MAX {
                self.waiting.push_back((value, now));
            }
        }
    }

    /// A segment echoes this TSval: when was it seen first?
    pub fn echoed(&mut self, echo: u32) -> Option<u64> {
        let mut found = None;
        while let Some(&(value, at)) = self.waiting.front().filter(|(value, _)| (echo.wrapping_sub(*value) as i32) >= 0)
        {
            self.waiting.pop_front();
            found = (value == echo).then_some(at);
        }
        found
    }
}

/// 32 bins to an octave: the five bits after the leading one. Smaller values have a bin each.
fn bin_of(value: u64) -> u16 {
    if value < 32 {
        return value as u16;
    }
    let octave = value.ilog2();
    (octave * 32 + (value >> (octave - 5)) as u32 - 32) as u16
}

fn edge(bin: u16) -> u64 {
    if bin < 32 {
        return u64::from(bin);
    }
    let (octave, part) = (u32::from(bin) / 32, u64::from(bin) % 32);
    (32 + part) << octave.saturating_sub(5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_to_three_per_cent() {
        let mut rtts = Rtts::default();
        (1..=1000u64).for_each(|ms| rtts.add(ms * 1_000_000));
        for (share, exact) in [(0.5, 500e6), (0.99, 990e6), (0.01, 10e6)] {
            let found = rtts.quantile(share).unwrap() as f64;
            assert!((found / exact - 1.0).abs() < 0.03, "{share}: {found}");
        }
        assert_eq!((rtts.min, rtts.max, rtts.sum), (Some(1_000_000), Some(1_000_000_000), 500_500_000_000));
        assert_eq!(Rtts::default().quantile(0.5), None);
    }

    /// A clock of 10 ms gives most round trips of 2 ms the length 0.
    #[test]
    fn a_quantile_of_zeros_is_zero() {
        let mut rtts = Rtts::default();
        [0, 0, 0, 10_000_000].into_iter().for_each(|rtt| rtts.add(rtt));
        (0..32).for_each(|value| assert_eq!(edge(bin_of(value)), value));
        assert_eq!((rtts.quantile(0.5), rtts.quantile(1.0)), (Some(0), Some(10_000_000)));
    }
}
