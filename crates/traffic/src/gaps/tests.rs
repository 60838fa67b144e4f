//! Literals by hand; the no-drift law as a property.

use proptest::prelude::*;

use super::*;

fn stream() -> Stream {
    Stream::new(1, "x", "gaps")
}

#[test]
fn intervals() {
    // 8000 B at 3.6 Gb/s: 160/9 us = 17,777,777 7/9 ps.
    let gap = Interval::of_bytes(8000, Rate(3_600_000_000));
    assert_eq!((gap.whole, gap.part * 9, gap.of * 7), (17_777_777, gap.of * 7, gap.of * 7));
    assert!((Interval::of_rate(56_250.0).ps() - 17_777_777.777_777_78).abs() < 1e-8);
    assert_eq!(Interval::of_rate(0.5), Interval::from_ps(2e12));
    assert_eq!(Interval::from_ps(2.5), Interval { whole: 2, part: 1 << 52, of: 1 << 53 });
    assert_eq!(Interval::of_rate(1e-9).whole, u64::MAX);
    assert_eq!(Interval::ratio(1, 0).whole, u64::MAX);
    assert!(!Interval::of_rate(1e13).is_positive() && Interval::of_rate(1e12).is_positive());
}

#[test]
fn half_a_picosecond_is_carried() {
    let mut gaps = Gaps::new(GapLaw::Fixed, Interval::from_ps(2.5), stream());
    assert_eq!([(); 6].map(|()| gaps.next_gap().0), [0, 2, 3, 2, 3, 2]);
}

#[test]
fn a_fixed_law_of_times_is_exact() {
    let mut gaps = Gaps::drawn(Sampler::Fixed(7), stream());
    assert_eq!([(); 4].map(|()| gaps.next_gap().0), [0, 7, 7, 7]);
}

proptest! {
    /// n gaps last floor(n x numerator / denominator), whatever the fraction, also near the top of the range.
    #[test]
    fn no_drift(numerator in 0u128..1 << 60, denominator in 1u64.., n in 1usize..300) {
        let mut gaps = Gaps::new(GapLaw::Fixed, Interval::ratio(numerator, denominator), stream());
        prop_assert_eq!(gaps.next_gap(), Span::ZERO);
        let total: u128 = (0..n).map(|_| u128::from(gaps.next_gap().0)).sum();
        prop_assert_eq!(total, n as u128 * numerator / u128::from(denominator));
    }

    #[test]
    fn time_passes(seed: u64, mean in 1f64..1e6) {
        let mut gaps = Gaps::new(GapLaw::Exponential, Interval::from_ps(mean), Stream::new(seed, "x", "gaps"));
        for _ in 0..50 {
            prop_assert!(gaps.next_gap().0 >= 1);
        }
    }
}
