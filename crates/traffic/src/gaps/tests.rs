//! Literals by hand; the no-drift rule as a property.

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
    let mut gaps = Gaps::new(GapDistribution::Fixed, Interval::from_ps(2.5), stream(), Span::MAX);
    assert_eq!([(); 6].map(|()| gaps.next_gap().0), [0, 2, 3, 2, 3, 2]);
}

#[test]
fn a_fixed_distribution_of_times_is_exact() {
    let mut gaps = Gaps::drawn(Sampler::Fixed(7), stream());
    assert_eq!([(); 4].map(|()| gaps.next_gap().0), [0, 7, 7, 7]);
}

proptest! {
    /// n gaps last floor(n x numerator / denominator), whatever the fraction, also near the top of the range.
    #[test]
    fn no_drift(numerator in 0u128..1 << 60, denominator in 1u64.., n in 1usize..300) {
        let mut gaps = Gaps::new(GapDistribution::Fixed, Interval::ratio(numerator, denominator), stream(), Span::MAX);
        prop_assert_eq!(gaps.next_gap(), Span::ZERO);
        let total: u128 = (0..n).map(|_| u128::from(gaps.next_gap().0)).sum();
        prop_assert_eq!(total, n as u128 * numerator / u128::from(denominator));
    }

    #[test]
    fn time_passes(seed: u64, mean in 1f64..1e6) {
        let mut gaps = Gaps::new(GapDistribution::Exponential, Interval::from_ps(mean), Stream::new(seed, "x", "gaps"), Span::MAX);
        for _ in 0..50 {
            prop_assert!(gaps.next_gap().0 >= 1);
        }
    }
}

/// An interrupted Poisson process keeps its mean rate, is silent in the OFF periods, and has more variance than Poisson: with ON
/// and OFF exponential of 1 s and 3 s and 8 arrivals/s in the mean, 32 in a second of ON.
#[test]
fn on_and_off() {
    let span = |s: u64| Distribution::Exponential(Span::from_s(s));
    let distribution = GapDistribution::Bursts(Bursts { on: span(1), off: span(3) });
    let mut gaps = Gaps::new(distribution, Interval::of_rate(8.0), stream(), Span::MAX);
    let drawn: Vec<f64> = (0..200_000).map(|_| gaps.next_gap().0 as f64 / 1e12).collect();
    let n = drawn.len() as f64;
    let mean = drawn.iter().sum::<f64>() / n;
    // About 6250 cycles with a standard deviation of sqrt(1 + 9) s in 4 s: 1 % of the mean, four times that.
    assert!((mean / 0.125 - 1.0).abs() < 0.04, "{mean}");
    // A gap holds an OFF period with probability 1 / (1 + 32), the exponential race.
    let long = drawn.iter().filter(|&&gap| gap > 0.5).count() as f64 / n;
    let expected = (1.0 / 33.0) * libm::exp(-0.5 / 3.0);
    assert!((long / expected - 1.0).abs() < 0.08, "{long} {expected}");
}

/// From the start on: the mean number of arrivals in the first second is that of any other.
#[test]
fn bursts_begin_stationary() {
    let span = |ms: u64| Distribution::Fixed(Span::from_ms(ms));
    let first = |seed: u64| {
        let distribution = GapDistribution::Bursts(Bursts { on: span(500), off: span(1500) });
        let mut gaps = Gaps::new(distribution, Interval::of_rate(10.0), Stream::new(seed, "x", "gaps"), Span::MAX);
        let (mut time, mut count) = (0.0, 0);
        while time < 0.25 {
            time += gaps.next_gap().0 as f64 / 1e12;
            count += usize::from(time < 0.25);
        }
        count as f64
    };
    let mean = (0..20_000).map(first).sum::<f64>() / 2e4;
    // 10/s for a quarter of a second; a quarter of the runs begin ON, so the deviation of a count is near 5.
    assert!((mean - 2.5).abs() < 4.0 * 5.0 / 141.4, "{mean}");
}

#[test]
fn bursts_refused() {
    let distribution = |on: &str| {
        serde_json::from_str::<GapDistribution>(&format!(r#"{{"bursts": {{"on": {on}, "off": "1 ns"}}}}"#)).unwrap()
    };
    let interval = Interval::of_rate(1.0);
    assert_eq!(
        distribution(r#"{"pareto": {"shape": 1, "scale": "1 s"}}"#).validate(interval).unwrap_err().to_string(),
        "gaps.bursts.on: has no finite mean, so a load cannot be met"
    );
    assert!(
        distribution(r#""1 ns""#)
            .validate(interval)
            .unwrap_err()
            .to_string()
            .starts_with("gaps.bursts: more than 1000 periods")
    );
    assert_eq!(
        distribution(r#""0 s""#).validate(interval).unwrap_err().to_string(),
        "gaps.bursts.on: a time here must be above zero"
    );
}

/// Slots of 10/3 ps, one arrival in each: after 3 n of them 10 n ps have passed. The text comes back as it was.
#[test]
fn slots_carry_their_remainder() {
    let gap: Gap = serde_json::from_str(r#"{"bernoulli": 1.0}"#).unwrap();
    let mut gaps = gap.gaps(Interval::ratio(10, 3), Stream::new(1, "x", "gaps"));
    let all: Vec<u64> = (0..6000).map(|_| gaps.next_gap().0).collect();
    assert_eq!((&all[..4], all.iter().sum::<u64>()), (&[3, 3, 4, 3][..], 20_000));
    let mut rare = Gap::Bernoulli(0.001).gaps(Interval::ratio(10, 3), Stream::new(1, "x", "gaps"));
    // 1000 slots of 10/3 ps in the mean, deviation as large: four standard errors of 10,000 are 4 %.
    let mean = (0..10_000).map(|_| rare.next_gap().0).sum::<u64>() as f64 / 1e4;
    assert!((mean / (10_000.0 / 3.0) - 1.0).abs() < 0.04, "{mean}");
    for text in [r#"{"bernoulli":0.85}"#, r#"{"exponential":"5 us"}"#, r#""10 us""#] {
        assert_eq!(serde_json::to_string(&serde_json::from_str::<Gap>(text).unwrap()).unwrap(), text);
    }
    assert!(
        serde_json::from_str::<Gap>(r#"{"bernouli": 0.5}"#).unwrap_err().to_string().contains("unknown distribution")
    );
}
