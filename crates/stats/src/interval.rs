//! A mean with its interval.

use crate::student::student;

/// Values that differ by less than this share of themselves are equal: sums in another order are no spread.
const ROUNDING: f64 = 1e-14;

/// A mean of independent values with Student's t interval. With one value the bounds are NaN: no spread is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Values that are not NaN.
    pub n: usize,
    pub mean: f64,
    pub low: f64,
    pub high: f64,
    /// The smallest and the largest value.
    pub least: f64,
    pub most: f64,
}

impl Interval {
    /// Returns whether the values show a spread from which an interval follows.
    pub fn is_spread(&self) -> bool {
        self.n > 1 && self.high > self.low
    }

    /// Returns whether the interval leaves out 0. Equal values claim nothing: no interval follows from them.
    pub fn is_clear(&self) -> bool {
        self.is_spread() && (self.low > 0.0 || self.high < 0.0)
    }

    /// Returns number of values, mean, low, high, least, most, spread, and 1 if the interval leaves out 0, else 0.
    pub fn row(&self) -> [f64; 8] {
        let clear = f64::from(u8::from(self.is_clear()));
        [self.n as f64, self.mean, self.low, self.high, self.least, self.most, self.spread(), clear]
    }

    /// Returns the distance of the smallest from the largest value over the mean; NaN without a mean other than 0.
    pub fn spread(&self) -> f64 {
        if self.n > 1 && self.mean != 0.0 { (self.most - self.least) / self.mean.abs() } else { f64::NAN }
    }
}

/// Returns the mean of values with its interval, cut off at the bounds of the quantity. NaN values are left out; of none all is NaN.
///
/// A bound never stands between the mean and its side of the interval.
pub fn interval(values: &[f64], level: f64, (low, top): (f64, f64)) -> Interval {
    let known = || values.iter().copied().filter(|v| !v.is_nan());
    let n = known().count();
    let count = n as f64;
    let (least, most) = known().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
    let Some(first) = known().next() else {
        return Interval { n, mean: f64::NAN, low: f64::NAN, high: f64::NAN, least: f64::NAN, most: f64::NAN };
    };
    if n == 1 {
        return Interval { n, mean: first, low: f64::NAN, high: f64::NAN, least, most };
    }
    if most == least || (most - least).is_finite() && most - least <= ROUNDING * least.abs().max(most.abs()) {
        return Interval { n, mean: first, low: first, high: first, least, most };
    }
    // Around a value near the mean the sums keep their digits.
    let near = known().sum::<f64>() / count;
    let mean = near + known().map(|v| v - near).sum::<f64>() / count;
    let mean = if mean.is_nan() { near } else { mean };
    let square = known().map(|v| (v - mean) * (v - mean)).sum::<f64>() / (count - 1.0);
    let half = student(count - 1.0, level) * libm::sqrt(square / count);
    // In results of older versions a port counts as busy for whole packets, which may be a little more than the run.
    Interval {
        n,
        mean,
        low: at_least(mean - half, low.min(mean)),
        high: at_most(mean + half, top.max(mean)),
        least,
        most,
    }
}

/// Not `f64::max`, which would make a bound of what is not known.
fn at_least(value: f64, bound: f64) -> f64 {
    if value < bound { bound } else { value }
}

fn at_most(value: f64, bound: f64) -> f64 {
    if value > bound { bound } else { value }
}

/// Returns `a[i] - b[i]` of runs with the same seeds; 0 where both are equal but for rounding.
pub fn differences(a: &[f64], b: &[f64]) -> Vec<f64> {
    let one = |(&a, &b): (&f64, &f64)| {
        let apart = a - b;
        if apart.is_finite() && apart.abs() <= ROUNDING * a.abs().max(b.abs()) { 0.0 } else { apart }
    };
    a.iter().zip(b).map(one).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ANY: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

    #[test]
    fn three_values() {
        // Mean 5, s/sqrt(3) = 0.577350, t(0.975, 2) = 4.302653.
        let found = interval(&[4.0, f64::NAN, 5.0, 6.0], 0.95, ANY);
        assert_eq!((found.n, found.mean, found.least, found.most), (3, 5.0, 4.0, 6.0));
        assert!((found.low - 2.515_863).abs() < 1e-6 && (found.high - 7.484_137).abs() < 1e-6);
    }

    #[test]
    fn a_share_ends_at_0_and_at_1() {
        // 0.9 and 1: the upper bound would be 1.59.
        let found = interval(&[0.9, 1.0], 0.95, (0.0, 1.0));
        assert_eq!((found.high, found.is_clear()), (1.0, true));
        assert!((found.low - (0.95 - 12.706_204_736 * 0.05)).abs() < 1e-9);
        assert_eq!(interval(&[1.25, 1.75], 0.95, (0.0, 1.0)).high, 1.5, "the mean stays inside");
    }

    #[test]
    fn equal_runs_claim_nothing() {
        let same = [18.8e6; 20];
        let found = interval(&same, 0.95, (0.0, f64::INFINITY));
        assert_eq!((found.mean, found.low, found.high, found.is_clear()), (18.8e6, 18.8e6, 18.8e6, false));
        let almost = interval(&[0.3, 0.1 + 0.2], 0.95, ANY);
        assert_eq!((almost.low, almost.high), (0.3, 0.3));
        assert_eq!(differences(&[0.3, 2.0], &[0.1 + 0.2, 1.0]), [0.0, 1.0]);
        assert_eq!(differences(&[f64::INFINITY], &[1.0]), [f64::INFINITY]);
    }

    #[test]
    fn few_and_infinite_values() {
        assert!(interval(&[], 0.95, ANY).mean.is_nan());
        let one = interval(&[7.0], 0.95, ANY);
        assert!(one.mean == 7.0 && one.low.is_nan() && !one.is_clear());
        let endless = interval(&[1.0, f64::INFINITY], 0.95, (0.0, f64::INFINITY));
        assert!(endless.mean == f64::INFINITY && endless.low.is_nan());
    }

    proptest! {
        #[test]
        fn no_interval_reaches_beyond_its_quantity(values in prop::collection::vec(0.0..=1.0f64, 0..30)) {
            let found = interval(&values, 0.95, (0.0, 1.0));
            prop_assert!(found.n < 2 || (found.low >= 0.0 && found.high <= 1.0 && found.low <= found.mean && found.mean <= found.high));
        }
    }
}
