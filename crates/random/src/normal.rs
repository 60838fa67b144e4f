//! The quantile of the standard normal distribution, by rational approximation to about 1 part in 10^16.
//!
//! Algorithm AS 241, PPND16: Wichura, "The percentage points of the normal distribution", Applied Statistics 37
//! (1988) 477-484. Preferred to Box-Muller because it is monotone in, and takes exactly one, uniform.

#![expect(clippy::excessive_precision, reason = "coefficients as printed in the paper")]

/// Coefficients of AS 241, highest power first: centre |p - 1/2| <= 0.425.
const A: [f64; 8] = [
    2.5090809287301226727e3,
    3.3430575583588128105e4,
    6.7265770927008700853e4,
    4.5921953931549871457e4,
    1.3731693765509461125e4,
    1.9715909503065514427e3,
    1.3314166789178437745e2,
    3.3871328727963666080e0,
];
const B: [f64; 8] = [
    5.2264952788528545610e3,
    2.8729085735721942674e4,
    3.9307895800092710610e4,
    2.1213794301586595867e4,
    5.3941960214247511077e3,
    6.8718700749205790830e2,
    4.2313330701600911252e1,
    1.0,
];
/// Tails with sqrt(-ln p) <= 5.
const C: [f64; 8] = [
    7.74545014278341407640e-4,
    2.27238449892691845833e-2,
    2.41780725177450611770e-1,
    1.27045825245236838258e0,
    3.64784832476320460504e0,
    5.76949722146069140550e0,
    4.63033784615654529590e0,
    1.42343711074968357734e0,
];
const D: [f64; 8] = [
    1.05075007164441684324e-9,
    5.47593808499534494600e-4,
    1.51986665636164571966e-2,
    1.48103976427480074590e-1,
    6.89767334985100004550e-1,
    1.67638483018380384940e0,
    2.05319162663775882187e0,
    1.0,
];
/// Tails beyond.
const E: [f64; 8] = [
    2.01033439929228813265e-7,
    2.71155556874348757815e-5,
    1.24266094738807843860e-3,
    2.65321895265761230930e-2,
    2.96560571828504891230e-1,
    1.78482653991729133580e0,
    5.46378491116411436990e0,
    6.65790464350110377720e0,
];
const F: [f64; 8] = [
    2.04426310338993978564e-15,
    1.42151175831644588870e-7,
    1.84631831751005468180e-5,
    7.86869131145613259100e-4,
    1.48753612908506148525e-2,
    1.36929880922735805310e-1,
    5.99832206555887937690e-1,
    1.0,
];

fn ratio(numerator: &[f64; 8], denominator: &[f64; 8], r: f64) -> f64 {
    let horner = |c: &[f64; 8]| c[1..].iter().fold(c[0], |sum, &k| sum * r + k);
    horner(numerator) / horner(denominator)
}

/// The x with P(N(0,1) <= x) = `p`, for 0 < p < 1.
pub(crate) fn quantile(p: f64) -> f64 {
    let q = p - 0.5;
    if q.abs() <= 0.425 {
        return q * ratio(&A, &B, 0.180625 - q * q);
    }
    let tail = if q < 0.0 { p } else { 1.0 - p };
    let r = libm::sqrt(-libm::log(tail));
    let x = if r <= 5.0 { ratio(&C, &D, r - 1.6) } else { ratio(&E, &F, r - 5.0) };
    if q < 0.0 { -x } else { x }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Test values of the paper (p = 0.25, 0.001, 1e-20) and of statistical tables.
    #[test]
    fn percentage_points() {
        let table = [
            (0.5, 0.0),
            (0.25, -0.674_489_750_196_081_7),
            (0.75, 0.674_489_750_196_081_7),
            (0.001, -3.090_232_306_167_813_5),
            (0.975, 1.959_963_984_540_054),
            (1e-20, -9.262_340_089_798_408),
        ];
        for (p, x) in table {
            assert!((quantile(p) - x).abs() <= 4e-15 * x.abs().max(1.0), "{p}: {} {x}", quantile(p));
        }
    }

    /// Phi(quantile(p)) = p, with Phi(x) = erfc(-x / sqrt 2) / 2, over every branch and its borders.
    #[test]
    fn inverts_the_distribution_function() {
        let mut p: f64 = 1e-16;
        while p < 0.5 {
            let x = quantile(p);
            let back = 0.5 * libm::erfc(-x / core::f64::consts::SQRT_2);
            assert!((back / p - 1.0).abs() < 1e-13, "{p}: {back}");
            p *= 1.07;
        }
    }
    #[test]
    fn symmetric() {
        for k in 1..=53 {
            let p = 1.0 / (1u64 << k) as f64;
            assert_eq!(quantile(1.0 - p), -quantile(p));
        }
    }
}
