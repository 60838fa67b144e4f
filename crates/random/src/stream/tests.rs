//! Expectations are the generators' published vectors, closed forms, and draws worked out by an independent
//! implementation of the recipe in Python (random draws as literals: they must never change).

use proptest::prelude::*;

use super::*;

/// First outputs of xoshiro256plusplus.c (Blackman, Vigna) from the state 1, 2, 3, 4.
#[test]
fn reference_vector() {
    let mut s = Stream::from_state([1, 2, 3, 4]);
    let expected: [u64; 10] = [
        41_943_041,
        58_720_359,
        3_588_806_011_781_223,
        3_591_011_842_654_386,
        9_228_616_714_210_784_205,
        9_973_669_472_204_895_162,
        14_011_001_112_246_962_877,
        12_406_186_145_184_390_807,
        15_849_039_046_786_891_736,
        10_450_023_813_501_588_000,
    ];
    assert_eq!([(); 10].map(|()| s.next_u64()), expected);
}

fn gaps() -> Stream {
    Stream::new(1, "traffic.upload/client[2]", "gaps")
}

fn draws<T, const N: usize>(mut draw: impl FnMut(&mut Stream) -> T) -> [T; N] {
    let mut s = gaps();
    [(); N].map(|()| draw(&mut s))
}

#[test]
fn draws_never_change() {
    assert_eq!(
        draws(Stream::next_u64),
        [8_266_179_005_251_531_384, 8_191_253_798_962_707_681, 9_933_476_998_127_978_320, 5_693_677_259_372_105_263]
    );
    assert_eq!(draws(Stream::uniform), [0.4481104617823888, 0.4440487582107754, 0.538494867085257]);
    assert_eq!(draws(|s| s.exponential(8000.0)), [6421.72408384899, 6494.5672543135215, 4951.818514449803]);
    assert_eq!(draws(|s| s.pareto(1.5, 1000.0)), [1707.6935752058516, 1718.0912527863195, 1510.818478729943]);
    assert_eq!(draws(Stream::normal), [-0.13043671091817235, -0.1407119346500782, 0.09664254846649226]);
    assert_eq!(draws(|s| s.lognormal(2.0, 0.5)), [6.922532317613935, 6.887058237492328, 7.754871869883299]);
    assert_eq!(draws(|s| s.index(100)), [44, 44, 53, 30, 97, 88, 62, 9]);
    // Three quarters of the range: one draw in four is rejected.
    assert_eq!(
        draws(|s| s.index(3 << 62)),
        [6_143_440_349_222_030_760, 4_270_257_944_529_078_947, 13_460_133_261_515_934_790, 12_187_691_468_199_935_402]
    );
}

#[test]
fn streams_are_independent() {
    let alone: [u64; 64] = draws(Stream::next_u64);
    let mut s = gaps();
    let among = [(); 64].map(|()| {
        Stream::new(1, "host.probe[7]", "phase").next_u64();
        s.next_u64()
    });
    assert_eq!(alone, among);

    // The first draws of 4000 neighbouring names all differ, and each of their bits is fair.
    let first: Vec<u64> = (0..10)
        .flat_map(|seed| (0..200).map(move |i| (seed, i)))
        .flat_map(|(seed, i)| ["sizes", "gaps"].map(|p| Stream::new(seed, &format!("flow[{i}]"), p).next_u64()))
        .collect();
    let mut sorted = first.clone();
    sorted.sort_unstable();
    sorted.dedup();
    assert_eq!(sorted.len(), 4000);
    for bit in 0..64 {
        let ones = first.iter().filter(|&&x| x >> bit & 1 == 1).count() as f64;
        // Standard deviation sqrt(4000) / 2 = 31.6; 4.5 of them.
        assert!((ones - 2000.0).abs() < 143.0, "bit {bit}: {ones}");
    }
    // Correlation of neighbours in the list of names, standard deviation 1 / sqrt(4000) = 0.016.
    let centred: Vec<f64> = first.iter().map(|&x| x as f64 / 2f64.powi(64) - 0.5).collect();
    let product: f64 = centred.windows(2).map(|w| w[0] * w[1]).sum();
    assert!((product * 12.0 / 4000.0).abs() < 0.06);
}

/// The Kolmogorov-Smirnov statistic sqrt(n) D of `n` draws against the distribution function `cdf`.
fn kolmogorov(n: usize, purpose: &str, mut draw: impl FnMut(&mut Stream) -> f64, cdf: impl Fn(f64) -> f64) -> f64 {
    let mut s = Stream::new(7, "kolmogorov", purpose);
    let mut values: Vec<f64> = (0..n).map(|_| draw(&mut s)).collect();
    values.sort_unstable_by(f64::total_cmp);
    let n = n as f64;
    let d = values.iter().enumerate().map(|(i, &x)| {
        let f = cdf(x);
        ((i as f64 + 1.0) / n - f).max(f - i as f64 / n)
    });
    d.fold(0.0, f64::max) * n.sqrt()
}

/// Critical value of the Kolmogorov distribution at 1 % is 1.628.
#[test]
fn distributions_against_their_closed_forms() {
    const N: usize = 20_000;
    let normal_cdf = |z: f64| 0.5 * libm::erfc(-z / std::f64::consts::SQRT_2);
    let statistics = [
        ("uniform", kolmogorov(N, "uniform", Stream::uniform, |x| x)),
        ("uniform_open", kolmogorov(N, "uniform_open", Stream::uniform_open, |x| x)),
        ("exponential", kolmogorov(N, "exponential", |s| s.exponential(3.0), |x| 1.0 - libm::exp(-x / 3.0))),
        ("pareto", kolmogorov(N, "pareto", |s| s.pareto(1.4, 2.0), |x| 1.0 - libm::pow(2.0 / x, 1.4))),
        (
            "lognormal",
            kolmogorov(N, "lognormal", |s| s.lognormal(1.0, 2.0), |x| normal_cdf((libm::log(x) - 1.0) / 2.0)),
        ),
        ("normal", kolmogorov(N, "normal", Stream::normal, normal_cdf)),
    ];
    for (name, statistic) in statistics {
        assert!(statistic < 1.628, "{name}: {statistic}");
        assert!(statistic > 0.3, "{name} fits too well: {statistic}");
    }
}

fn mean_and_variance(n: u32, purpose: &str, mut draw: impl FnMut(&mut Stream) -> f64) -> (f64, f64) {
    let mut s = Stream::new(11, "moments", purpose);
    let (mut sum, mut squares) = (0.0, 0.0);
    for _ in 0..n {
        let x = draw(&mut s);
        sum += x;
        squares += x * x;
    }
    let mean = sum / f64::from(n);
    (mean, squares / f64::from(n) - mean * mean)
}

/// Means within 4 standard errors, variances within 4 standard errors from the fourth moment.
#[test]
fn moments() {
    const N: u32 = 200_000;
    let root_n = f64::from(N).sqrt();
    let check = |name: &str, (m, v): (f64, f64), mean: f64, variance: f64, kurtosis: f64| {
        assert!((m - mean).abs() < 4.0 * variance.sqrt() / root_n, "{name}: mean {m}");
        assert!((v - variance).abs() < 4.0 * variance * (kurtosis - 1.0).sqrt() / root_n, "{name}: variance {v}");
    };
    check("uniform", mean_and_variance(N, "uniform", Stream::uniform), 0.5, 1.0 / 12.0, 1.8);
    check("exponential", mean_and_variance(N, "exponential", |s| s.exponential(5.0)), 5.0, 25.0, 9.0);
    check("normal", mean_and_variance(N, "normal", Stream::normal), 0.0, 1.0, 3.0);
    // Shape 6, scale 5: mean 6, variance 25 x 6 / (5^2 x 4) = 1.5, kurtosis 38.67.
    check("pareto", mean_and_variance(N, "pareto", |s| s.pareto(6.0, 5.0)), 6.0, 1.5, 38.67);
    // mu 0, sigma 0.5: mean e^(1/8), variance e^(1/4) (e^(1/4) - 1), kurtosis 8.898.
    check("lognormal", mean_and_variance(N, "lognormal", |s| s.lognormal(0.0, 0.5)), 1.1331485, 0.3646959, 8.898);
    check("bernoulli", mean_and_variance(N, "bernoulli", |s| f64::from(s.bernoulli(0.3))), 0.3, 0.21, 1.762);
    // (n^2 - 1) / 12 for a die.
    check("index", mean_and_variance(N, "index", |s| s.index(6) as f64), 2.5, 35.0 / 12.0, 1.7314);
}

/// Chi-squared over 10 cells, 9 degrees of freedom: 21.67 at 1 %.
#[test]
fn index_is_fair() {
    let mut s = Stream::new(3, "index", "fair");
    let mut cells = [0u32; 10];
    for _ in 0..100_000 {
        cells[s.index(10) as usize] += 1;
    }
    let chi: f64 = cells.iter().map(|&c| (f64::from(c) - 10_000.0).powi(2) / 10_000.0).sum();
    assert!(chi < 21.67, "{chi}");
}

#[test]
fn edges() {
    let mut s = gaps();
    assert_eq!(s.index(0), 0);
    assert_eq!(s.index(1), 0);
    assert_eq!(s.between(5, 5), 5);
    assert_eq!(s.between(5, 4), 5);
    s.between(0, u64::MAX);
    assert!((0..1000).all(|_| !s.bernoulli(0.0) && s.bernoulli(1.0)));
    // The largest and the smallest uniform of the open interval.
    let largest = (((u64::MAX >> 12) as f64) + 0.5) * (1.0 / (1u64 << 52) as f64);
    assert!(largest < 1.0 && libm::log(largest) < 0.0);
    assert_eq!(0.5 * (1.0 / (1u64 << 52) as f64), 2f64.powi(-53));
}

proptest! {
    #[test]
    fn ranges(seed: u64, path in ".{0,20}", n in 1u64.., low: u64, high: u64) {
        let mut s = Stream::new(seed, &path, "ranges");
        for _ in 0..8 {
            prop_assert!((0.0..1.0).contains(&s.uniform()));
            let u = s.uniform_open();
            prop_assert!(0.0 < u && u < 1.0);
            prop_assert!(s.index(n) < n);
            let (a, b) = (low.min(high), low.max(high));
            prop_assert!((a..=b).contains(&s.between(a, b)));
            prop_assert!(s.exponential(1.0) > 0.0);
            prop_assert!(s.pareto(1.1, 3.0) >= 3.0);
        }
    }

    #[test]
    fn a_name_is_a_stream(seed: u64, path in ".{0,20}", purpose in ".{0,10}") {
        let (mut a, mut b) = (Stream::new(seed, &path, &purpose), Stream::new(seed, &path, &purpose));
        for _ in 0..16 {
            prop_assert_eq!(a.next_u64(), b.next_u64());
        }
        let mut other = Stream::new(seed.wrapping_add(1), &path, &purpose);
        prop_assert_ne!(Stream::new(seed, &path, &purpose).next_u64(), other.next_u64());
    }
}
