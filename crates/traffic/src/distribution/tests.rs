//! Means are the closed forms of the module's head; the messages are part of what a user meets.

use proptest::prelude::*;

use super::*;
use elephan_units::Bytes;

type Sizes = Distribution<Bytes>;

fn parse(text: &str) -> Result<Sizes, String> {
    serde_json::from_str(text).map_err(|e: serde_json::Error| e.to_string())
}

fn valid(text: &str) -> Sizes {
    let distribution = parse(text).unwrap();
    assert_eq!(distribution.validate("size"), Ok(()), "{text}");
    distribution
}

#[test]
fn text_round_trips() {
    let distributions = [
        (r#""8 KB""#, Distribution::Fixed(Bytes(8000))),
        (r#"{"exponential":"8 KB"}"#, Distribution::Exponential(Bytes(8000))),
        (r#"{"uniform":["1 KB","9 KB"]}"#, Distribution::Uniform(Bytes(1000), Bytes(9000))),
        (
            r#"{"pareto":{"shape":1.5,"mean":"50 KB"}}"#,
            Distribution::Pareto(Pareto { shape: 1.5, mean: Some(Bytes(50_000)), scale: None }),
        ),
        (
            r#"{"lognormal":{"median":"10 KB","sigma":1.0}}"#,
            Distribution::Lognormal(Lognormal { median: Some(Bytes(10_000)), mean: None, sigma: 1.0 }),
        ),
    ];
    for (text, distribution) in distributions.clone() {
        assert_eq!(parse(text), Ok(distribution.clone()));
        assert_eq!(serde_json::to_string(&distribution).unwrap(), text);
    }
    assert_eq!(parse(r#"{"fixed": "8 KB"}"#), Ok(distributions[0].1.clone()));
}

#[test]
fn one_line_errors() {
    for (text, message) in [
        ("8000", "expected a size such as \"8 KB\", or a table such as { exponential = \"8 KB\" }"),
        (r#""8000""#, "has no unit"),
        ("{}", "an empty table; give one of fixed, exponential, uniform, pareto, lognormal, cdf"),
        (
            r#"{"gamma": "1 KB"}"#,
            "unknown distribution \"gamma\"; a size takes fixed, exponential, uniform, pareto, lognormal, cdf",
        ),
        (r#"{"fixed": "1 KB", "exponential": "1 KB"}"#, "one distribution is enough: \"fixed\" or \"exponential\""),
        (r#"{"uniform": ["1 KB"]}"#, "invalid length 1, expected an array of length 2"),
        (r#"{"uniform": ["1 KB", "2 KB", "3 KB"]}"#, "trailing characters"),
        (r#"{"pareto": {"shape": 2, "men": "1 KB"}}"#, "unknown field `men`, expected one of `shape`, `mean`, `scale`"),
        (r#"{"lognormal": {"median": "1 KB"}}"#, "missing field `sigma`"),
        (r#"{"exponential": "5 ms"}"#, "unknown unit \"ms\""),
    ] {
        let error = parse(text).unwrap_err();
        assert!(error.contains(message), "{text}: {error}");
    }
    for (text, message) in [
        (r#""0 B""#, "size: a size here must be above zero"),
        (r#"{"exponential": "0 B"}"#, "size.exponential: a size here must be above zero"),
        (r#"{"uniform": ["2 KB", "1 KB"]}"#, "size.uniform: 2 KB is above 1 KB; write the lower end first"),
        (r#"{"uniform": ["0 B", "0 B"]}"#, "size.uniform: a size here must be above zero"),
        (r#"{"pareto": {"shape": 1.5}}"#, "size.pareto: needs exactly one of mean, scale"),
        (r#"{"pareto": {"shape": 1, "mean": "1 KB"}}"#, "size.pareto.shape: a mean needs a shape above 1, not 1"),
        (
            r#"{"pareto": {"shape": 0, "scale": "1 KB"}}"#,
            "size.pareto.shape: the shape must be a number above 0, not 0",
        ),
        (r#"{"lognormal": {"sigma": 1}}"#, "size.lognormal: needs exactly one of median, mean"),
        (
            r#"{"lognormal": {"sigma": -1, "mean": "1 KB"}}"#,
            "size.lognormal.sigma: sigma must be between 0 and 10, not -1",
        ),
    ] {
        assert_eq!(parse(text).unwrap().validate("size").unwrap_err().to_string(), message);
    }
}

#[test]
fn means() {
    assert_eq!(valid(r#""8 KB""#).mean(), 8000.0);
    assert_eq!(valid(r#"{"uniform": ["1 KB", "2001 B"]}"#).mean(), 1500.5);
    assert_eq!(valid(r#"{"uniform": ["1 KB", "2001 B"]}"#).twice_mean(), Some(3001));
    // shape scale / (shape - 1), and infinite from shape 1 down.
    assert_eq!(valid(r#"{"pareto": {"shape": 1.5, "scale": "1 KB"}}"#).mean(), 3000.0);
    assert_eq!(valid(r#"{"pareto": {"shape": 1, "scale": "1 KB"}}"#).mean(), f64::INFINITY);
    // median e^(1/2) = 16,487.2 B.
    let lognormal = valid(r#"{"lognormal": {"median": "10 KB", "sigma": 1}}"#);
    assert!((lognormal.mean() - 16_487.212_707).abs() < 1e-5);
    assert_eq!(lognormal.twice_mean(), None);
}

/// Sample means of 100,000 draws within 4 standard errors; the deviations are those of the distributions.
#[test]
fn sampled_means() {
    for (text, mean, deviation) in [
        (r#"{"exponential": "8 KB"}"#, 8000.0, 8000.0),
        (r#"{"uniform": ["1 KB", "9 KB"]}"#, 5000.0, 2309.7),
        // scale 2/3 of the mean; deviation mean / sqrt(shape (shape - 2)) = mean / sqrt 3.
        (r#"{"pareto": {"shape": 3, "mean": "9 KB"}}"#, 9000.0, 5196.2),
        (r#"{"pareto": {"shape": 3, "scale": "6 KB"}}"#, 9000.0, 5196.2),
        // deviation mean sqrt(e^(sigma^2) - 1) = 0.532940 mean.
        (r#"{"lognormal": {"mean": "10 KB", "sigma": 0.5}}"#, 10_000.0, 5329.4),
        (r#"{"lognormal": {"median": "10 KB", "sigma": 0.5}}"#, 11_331.485, 6038.9),
    ] {
        let (distribution, mut stream) = (valid(text), Stream::new(4, text, "sizes"));
        assert!((distribution.mean() / mean - 1.0).abs() < 1e-6, "{text}");
        let sampled = (0..100_000).map(|_| distribution.sample(&mut stream).0 as f64).sum::<f64>() / 1e5;
        assert!((sampled - mean).abs() < 4.0 * deviation / 316.2, "{text}: {sampled}");
    }
}

/// Half of the draws of a log-normal distribution are below its median; a Pareto distribution with shape 1.5 and mean 50 KB begins at
/// 16,666.67 B and exceeds four times that with probability 1/8.
#[test]
fn quantiles() {
    let mut stream = Stream::new(4, "quantiles", "sizes");
    let mut share = |text: &str, above: u64| {
        let distribution = valid(text);
        (0..40_000).filter(|_| distribution.sample(&mut stream).0 > above).count() as f64 / 4e4
    };
    assert!((share(r#"{"lognormal": {"median": "10 KB", "sigma": 2}}"#, 10_000) - 0.5).abs() < 0.01);
    let pareto = r#"{"pareto": {"shape": 1.5, "mean": "50 KB"}}"#;
    assert_eq!(share(pareto, 16_665), 1.0);
    assert!((share(pareto, 66_667) - 0.125).abs() < 0.007);
}

/// Rounding is to nearest and to 1 at least: an exponential distribution with mean 4 B gives 1 with probability
/// 1 - e^(-1.5 / 4) = 0.31271 and 2 with e^(-1.5 / 4) - e^(-2.5 / 4) = 0.15203.
#[test]
fn rounded_to_nearest() {
    let (distribution, mut stream) = (valid(r#"{"exponential": "4 B"}"#), Stream::new(4, "rounding", "sizes"));
    let draws: Vec<u64> = (0..100_000).map(|_| distribution.sample(&mut stream).0).collect();
    let share = |bytes| draws.iter().filter(|&&b| b == bytes).count() as f64 / 1e5;
    assert!((share(1) - 0.312_71).abs() < 0.006 && (share(2) - 0.152_03).abs() < 0.005);
}

#[test]
fn a_size_is_a_byte_at_least() {
    let mut stream = Stream::new(4, "small", "sizes");
    let small = valid(r#"{"exponential": "1 B"}"#);
    let draws: Vec<u64> = (0..1000).map(|_| small.sample(&mut stream).0).collect();
    assert_eq!(draws.iter().min(), Some(&1));
    // Without a mean, the tail reaches any size; it is cut at 2^53.
    let wild = valid(r#"{"pareto": {"shape": 0.01, "scale": "1 B"}}"#);
    assert!((0..1000).any(|_| wild.sample(&mut stream) == Bytes(1 << 53)));
}

proptest! {
    #[test]
    fn uniform_ends(low in 1u64..1_000_000, width in 0u64..1000, seed: u64) {
        let mut stream = Stream::new(seed, "uniform", "sizes");
        let distribution = Sizes::Uniform(Bytes(low), Bytes(low + width));
        for _ in 0..20 {
            prop_assert!((low..=low + width).contains(&distribution.sample(&mut stream).0));
        }
    }

    /// A stream stays in step whatever the distribution is.
    #[test]
    fn one_draw_each(seed: u64, shape in 1.1f64..5.0, sigma in 0f64..3.0, mean in 1u64..1_000_000) {
        let mean = Bytes(mean);
        let distributions = [
            Sizes::Exponential(mean),
            Sizes::Pareto(Pareto { shape, mean: Some(mean), scale: None }),
            Sizes::Lognormal(Lognormal { median: None, mean: Some(mean), sigma }),
        ];
        let mut reference = Stream::new(seed, "x", "sizes");
        reference.next_u64();
        for distribution in distributions {
            let mut stream = Stream::new(seed, "x", "sizes");
            distribution.sample(&mut stream);
            prop_assert_eq!(&stream, &reference);
        }
    }
}
