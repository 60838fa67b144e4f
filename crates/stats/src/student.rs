//! Student's t distribution, central and noncentral.
//!
//! T = (Z + d) / S, where Z is normal and S the square root of a chi-squared variable over its degrees of freedom f. So P(T > t) is
//! the integral of Q(t s - d) over the density of S, with Q the tail of the normal distribution. In u = ln s the integrand is smooth
//! and vanishes at both ends, where the trapezoidal rule converges faster than any power of its step.

/// Steps of the trapezoidal rule for each of the scales on which the integrand varies.
const STEPS: f64 = 4.0;
/// The integrand is left off where it is smaller than this many powers of e.
const FAR: f64 = 40.0;
const HALVINGS: usize = 200;

/// Returns how many standard errors half of a t interval is; NaN unless `freedom` is 1 or more and `level` between 0 and 1.
pub fn student(freedom: f64, level: f64) -> f64 {
    if !(freedom >= 1.0 && level > 0.0 && level < 1.0) {
        return f64::NAN;
    }
    let known = T_95.get(freedom as usize - 1).filter(|_| level == 0.95 && libm::trunc(freedom) == freedom);
    known.copied().unwrap_or_else(|| {
        let wanted = (1.0 - level) / 2.0;
        root(1.0, &|t| tail(t, freedom, 0.0) - wanted)
    })
}

/// Returns the smallest mean difference that a paired t test of as many pairs as these differences finds with probability `power`.
///
/// The differences give the standard deviation s. The answer is d with `P(T > t(level)) = power`, where T has the noncentral t
/// distribution of n - 1 degrees of freedom and noncentrality `d sqrt(n) / s`. NaN for fewer than two pairs, or if one is infinite.
pub fn detectable(differences: &[f64], power: f64, level: f64) -> f64 {
    let known: Vec<f64> = differences.iter().copied().filter(|v| !v.is_nan()).collect();
    let n = known.len() as f64;
    if known.len() < 2 || known.iter().any(|v| v.is_infinite()) {
        return f64::NAN;
    }
    let mean = known.iter().sum::<f64>() / n;
    let square = known.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / (n - 1.0);
    if square == 0.0 {
        return 0.0;
    }
    apart(n - 1.0, power, level) * libm::sqrt(square / n)
}

/// The noncentrality at which T exceeds the bound of the test with probability `power`; the far tail is beyond all digits.
fn apart(freedom: f64, power: f64, level: f64) -> f64 {
    let bound = student(freedom, level);
    root(bound, &|d| power - tail(bound, freedom, d))
}

/// The place above 0 at which a falling function is 0. `near`: where the search begins.
fn root(near: f64, falling: &dyn Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (0.0, near.max(1e-3));
    while falling(high) > 0.0 && high < 1e300 {
        (low, high) = (high, 2.0 * high);
    }
    for _ in 0..HALVINGS {
        let middle = low + (high - low) / 2.0;
        if middle <= low || middle >= high {
            break;
        }
        if falling(middle) > 0.0 { low = middle } else { high = middle }
    }
    low
}

/// P(T > t) for t above 0, with `f` degrees of freedom and noncentrality `d`.
fn tail(t: f64, f: f64, d: f64) -> f64 {
    let half = f / 2.0;
    let scale = half * libm::log(half) - libm::lgamma(half) + core::f64::consts::LN_2;
    // The density of u is exp(scale + f u - f/2 exp(2 u)): as narrow as 1/sqrt(2 f). Q falls within 1/(1 + d) of ln(d/t).
    let step = (1.0 / libm::sqrt(2.0 * f)).min(1.0 / (1.0 + d.abs())).min(0.25) / STEPS;
    let first = -FAR / f - libm::log(t.max(1.0));
    let last = libm::log(1.0 + FAR / libm::sqrt(f));
    let count = libm::ceil((last - first) / step) as usize;
    let at = |k: usize| {
        let u = first + step * k as f64;
        let s = libm::exp(u);
        libm::exp(scale + f * u - half * s * s) * 0.5 * libm::erfc((t * s - d) * core::f64::consts::FRAC_1_SQRT_2)
    };
    (0..=count).map(at).sum::<f64>() * step
}

/// t at 97.5 % for 1 to 100 degrees of freedom, as `scipy.special.stdtrit` has it.
const T_95: [f64; 100] = [
    12.706204736174694,
    4.302652729749462,
    3.1824463052837078,
    2.7764451051977934,
    2.5705818356363146,
    2.4469118511449786,
    2.364624251592784,
    2.306004135204166,
    2.262157162798205,
    2.228138851986274,
    2.200985160091639,
    2.1788128296672284,
    2.1603686564627913,
    2.144786687917804,
    2.131449545559776,
    2.1199052992212546,
    2.1098155778333156,
    2.1009220402410382,
    2.0930240544083087,
    2.085963447265864,
    2.0796138447276795,
    2.0738730679040254,
    2.0686576104190486,
    2.0638985616280245,
    2.0595385527532972,
    2.0555294386428735,
    2.0518305164802846,
    2.0484071417952454,
    2.045229642132703,
    2.0422724563012378,
    2.039513446396408,
    2.0369333434601016,
    2.0345152974493383,
    2.0322445093177186,
    2.030107928250343,
    2.0280940009804502,
    2.0261924630291093,
    2.0243941639119694,
    2.022690920036761,
    2.021075390306273,
    2.019540970441376,
    2.0180817028184443,
    2.016692199227824,
    2.0153675744437636,
    2.014103388880846,
    2.012895598919429,
    2.0117405137297655,
    2.010634757624232,
    2.0095752371292392,
    2.008559112100761,
    2.007583770315836,
    2.006646805061688,
    2.0057459953178687,
    2.0048792881880564,
    2.0040447832891455,
    2.003240718847872,
    2.002465459291007,
    2.0017174841452356,
    2.000995378088267,
    2.0002978220142604,
    1.999623584994939,
    1.9989715170333788,
    1.998340542520741,
    1.997729654317693,
    1.9971379083920038,
    1.9965644189523117,
    1.996008354025296,
    1.9954689314298435,
    1.9949454151072374,
    1.994437111771186,
    1.9939433678456255,
    1.9934635666618719,
    1.992997125889855,
    1.992543495180932,
    1.9921021540022417,
    1.9916726096446642,
    1.9912543953883846,
    1.9908470688116906,
    1.9904502102301285,
    1.990063421254446,
    1.9896863234569029,
    1.989318557136572,
    1.9889597801751624,
    1.9886096669757083,
    1.9882679074772216,
    1.98793420623902,
    1.9876082815890708,
    1.9872898648311692,
    1.986978699506281,
    1.9866745407037683,
    1.9863771544186177,
    1.98608631695113,
    1.9858018143458227,
    1.985523441866604,
    1.9852510035054978,
    1.984984311522457,
    1.9847231860139845,
    1.9844674545084815,
    1.9842169515864174,
    1.9839715185235518,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_the_tables() {
        for (f, known) in (1..).zip(T_95) {
            let wanted = 0.025;
            let found = root(1.0, &|t| tail(t, f64::from(f), 0.0) - wanted);
            assert!((found / known - 1.0).abs() < 1e-11, "{f}: {found} {known}");
        }
        // R: qt(0.975, 120), qt(0.995, 4), qt(0.9, 1), and the normal quantile that it comes to.
        for (f, level, known) in [
            (120.0, 0.95, 1.979_930_405_082_42),
            (4.0, 0.99, 4.604_094_871_349_99),
            (1.0, 0.8, 3.077_683_537_175_25),
            (1e6, 0.95, 1.959_966_356_978_04),
        ] {
            assert!((student(f, level) / known - 1.0).abs() < 1e-9, "{f} {level}: {}", student(f, level));
        }
        assert!(student(0.0, 0.95).is_nan() && student(3.0, 1.0).is_nan());
    }

    /// n values with a standard deviation of 1.
    fn spread(n: usize) -> Vec<f64> {
        let values: Vec<f64> = (0..n).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
        let mean = values.iter().sum::<f64>() / n as f64;
        let sd = libm::sqrt(values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / (n as f64 - 1.0));
        values.iter().map(|v| v / sd).collect()
    }

    #[test]
    fn the_difference_that_a_test_finds() {
        // R: power.t.test(delta = 0.5, sd = 1, power = 0.8, type = "paired") asks for n = 33.36713 pairs, delta = 1 for 9.93785.
        let seen = |n| detectable(&spread(n), 0.8, 0.95);
        assert!(seen(34) < 0.5 && seen(33) > 0.5 && seen(10) < 1.0 && seen(9) > 1.0);
        assert_eq!(detectable(&[3.0; 3], 0.8, 0.95), 0.0);
        assert!(detectable(&[3.0], 0.8, 0.95).is_nan() && detectable(&[1.0, f64::INFINITY], 0.8, 0.95).is_nan());
    }
}
