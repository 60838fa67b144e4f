//! Expectations from the papers; the arithmetic of the short lists by hand.

use elephan_units::{Bytes, Span};

use super::*;
use crate::{Distribution, Sampler};

type Sizes = Distribution<Bytes>;

fn sizes(text: &str) -> Sizes {
    let distribution: Sizes = serde_json::from_str(text).unwrap();
    assert_eq!(distribution.validate("size"), Ok(()), "{text}");
    distribution
}

fn points(name: &str) -> Points {
    match sizes(&format!(r#"{{"cdf": "{name}"}}"#)).sampler() {
        Sampler::Empirical(points) => points,
        other => panic!("{other:?}"),
    }
}

/// Share of the draws at most `x`, and of the bytes in them.
fn shares(points: &Points, x: f64) -> (f64, f64) {
    let (mut count, mut bytes, mut total) = (0.0, 0.0, 0.0);
    let mut before = (points[0].0, 0.0);
    for &(value, p) in points.iter() {
        let (own, mean) = (p - before.1, (before.0 + value) / 2.0);
        total += own * mean;
        let part = if value <= before.0 {
            f64::from(value <= x)
        } else {
            ((x - before.0) / (value - before.0)).clamp(0.0, 1.0)
        };
        count += own * part;
        bytes += own * part * (before.0 + (before.0 + (value - before.0) * part)) / 2.0;
        before = (value, p);
    }
    (count, bytes / total)
}

/// The means that pFabric's simulations were run with: 1138 packets of 1460 B (web search, to 0.3 %: it had been drawn) and
/// 5117 (data mining).
#[test]
fn published_means() {
    let mean = |name: &str| sizes(&format!(r#"{{"cdf": "{name}"}}"#)).mean() / 1460.0;
    assert!((mean("web-search") / 1138.0 - 1.0).abs() < 0.003, "{}", mean("web-search"));
    assert!((mean("data-mining") - 5117.0).abs() < 1.0, "{}", mean("data-mining"));
}

/// pFabric section 5.1: in web search about 95 % of all bytes are from the 30 % of the flows that are 1 to 20 MB or so; in data
/// mining more than 80 % of the flows are less than 10 KB, and 95 % of all bytes are in the 3.6 % that are larger than 35 MB.
#[test]
fn what_pfabric_says() {
    let (count, bytes) = shares(&points("web-search"), 1e6);
    assert!((count - 0.70).abs() < 0.005 && (bytes - 0.05).abs() < 0.003, "{count} {bytes}");
    let mining = points("data-mining");
    assert!((shares(&mining, 10e3).0 - 0.80).abs() < 0.005);
    let (count, bytes) = shares(&mining, 35e6);
    assert!((1.0 - count - 0.036).abs() < 0.001 && (bytes - 0.05).abs() < 0.002, "{count} {bytes}");
}

/// Roy and others, section 5.1: the median flow of Hadoop is below 1 KB, and less than 5 % of the flows are larger than 1 MB.
#[test]
fn what_roy_says() {
    let hadoop = points("hadoop");
    assert_eq!(quantile(&hadoop, 0.5), 700.0);
    assert!(1.0 - shares(&hadoop, 1e6).0 < 0.05);
}

/// Roy and others, figure 6, as read off: half of the flows of a cache follower are below 23 KB and a fifth above 1 MB, half of those of a
/// web server below 1.5 KB and 1 % above 600 KB. The means are sums of trapezia, by a program of its own.
#[test]
fn flows_of_caches_and_web_servers() {
    let of = |name: &str| (points(name), sizes(&format!(r#"{{"cdf": "{name}"}}"#)).mean());
    let (cache, mean) = of("cache-follower");
    assert!((quantile(&cache, 0.5) / 23_154.0 - 1.0).abs() < 1e-3, "{}", quantile(&cache, 0.5));
    assert!((1.0 - shares(&cache, 1e6).0 - 0.217).abs() < 1e-3 && (mean - 602_935.0).abs() < 1.0, "{mean}");
    let (web, mean) = of("web-server");
    assert!((quantile(&web, 0.5) / 1433.0 - 1.0).abs() < 1e-3, "{}", quantile(&web, 0.5));
    assert!((1.0 - shares(&web, 6e5).0 - 0.0103).abs() < 1e-3 && (mean - 91_505.6).abs() < 1.0, "{mean}");
}

/// Half at 1000 B, a quarter even between 1000 and 3000 B, a quarter at 5000 B.
const LIST: &str = r#"{"cdf":[["1 KB",0.5],["3 KB",0.75],["5 KB",0.75],["5 KB",1.0]]}"#;

#[test]
fn linear_between_points() {
    let distribution = sizes(LIST);
    assert_eq!(distribution.mean(), 0.5 * 1000.0 + 0.25 * 2000.0 + 0.25 * 5000.0);
    let Sampler::Empirical(points) = distribution.sampler() else { panic!() };
    for (u, x) in [(0.0, 1000.0), (0.499, 1000.0), (0.625, 2000.0), (0.75, 5000.0), (0.999, 5000.0)] {
        assert_eq!(quantile(&points, u), x, "{u}");
    }
    assert_eq!(serde_json::to_string(&distribution).unwrap(), LIST);
    assert_eq!(serde_json::to_string(&sizes(r#"{"cdf": "hadoop"}"#)).unwrap(), r#"{"cdf":"hadoop"}"#);
}

/// In proportion to the value: weights 500, 500 and 1250 of 2250, so the mean is E[x^2] / E[x]; E[x^2] = 0.5 + 0.25 x 13/3 +
/// 0.25 x 25 = 7.8333 in KB^2, over 2.25 KB. A residual is half of that in the mean.
#[test]
fn residual() {
    let mut stream = Stream::new(3, "residual", "sizes");
    let sampler = sizes(LIST).sampler();
    let mean = (0..40_000).map(|_| sampler.residual(&mut stream)).sum::<f64>() / 4e4;
    assert!((mean / (3481.48 / 2.0) - 1.0).abs() < 0.02, "{mean}");
}

#[test]
fn files() {
    let text = "# mine\n\nsize_bytes, cdf\n0, 0\n1e3, 0.5\n2000.4, 1\n";
    let expected = [("0 B", 0.0), ("1000 B", 0.5), ("2000 B", 1.0)].map(|(q, p)| (q.to_owned(), p));
    assert_eq!(parse_cdf(text).unwrap(), expected);
    let times = parse_cdf("time_ms,cdf\n1.5,1\n").unwrap();
    assert_eq!(times, [("1500000000 ps".to_owned(), 1.0)]);
    for (text, message) in [
        ("", "1: no header; the columns are size_bytes (or time_s, time_ms, time_us, time_ns), cdf"),
        ("size, cdf\n", "1: \"size, cdf\": the columns are size_bytes (or time_s, time_ms, time_us, time_ns), cdf"),
        ("size_bytes,cdf\n", "1: no point after the header"),
        ("size_bytes,cdf\n1,2,3\n", "2: 3 values under 2 columns"),
        ("size_bytes,cdf\n\n-1,0\n", "3: \"-1\" is not a number from 0"),
    ] {
        assert_eq!(parse_cdf(text).unwrap_err().to_string(), message);
    }
}

#[test]
fn refused() {
    for (text, message) in [
        (r#"{"cdf": []}"#, "size.cdf: has no point"),
        (r#"{"cdf": [["1 KB", 0.5]]}"#, "size.cdf: ends at 0.5: the last point has the probability 1"),
        (
            r#"{"cdf": [["1 KB", 0.5], ["2 KB", 0.4], ["3 KB", 1]]}"#,
            "size.cdf: [2 KB, 0.4] after [1 KB, 0.5]: both must rise",
        ),
        (r#"{"cdf": [["2 KB", 0.5], ["1 KB", 1]]}"#, "size.cdf: [1 KB, 1] after [2 KB, 0.5]: both must rise"),
        (r#"{"cdf": [["2 KB", 1.5]]}"#, "size.cdf: 1.5: a cumulative probability is from 0 to 1"),
        (r#"{"cdf": [["0 B", 1]]}"#, "size.cdf: a size here must be above zero"),
    ] {
        let distribution: Sizes = serde_json::from_str(text).unwrap();
        assert_eq!(distribution.validate("size").unwrap_err().to_string(), message);
    }
    let error = serde_json::from_str::<Distribution<Span>>(r#"{"cdf": "hadoop"}"#).unwrap_err().to_string();
    assert!(error.starts_with("\"hadoop\": no published distribution of a time has this name"), "{error}");
}
