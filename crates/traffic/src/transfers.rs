//! `transfers`: whole transfers arrive, each a new connection of a uniformly random pair that sends its bytes and
//! closes. One generator serves all pairs of the traffic entry.

use elephan_random::Stream;
use elephan_units::{Bytes, InvalidParameter, Rate, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::gaps::mean_gap;
use crate::quantity::Quantity;
use crate::{Carrier, Distribution, GapDistribution, Gaps, Generate, Offer, Sampler, Setting, Spec};

/// Keys of `kind = "transfers"`. Exactly one of `arrivals_per_s` and `load`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Transfers {
    /// Size of a transfer.
    pub size: Distribution<Bytes>,
    /// Transfers per second over all pairs together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "f64", extend("exclusiveMinimum" = 0))]
    pub arrivals_per_s: Option<f64>,
    /// Application bytes per second over all pairs together, headers not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Rate")]
    pub load: Option<Rate>,
    /// Distribution of the gaps between arrivals.
    #[serde(default)]
    pub gaps: GapDistribution,
}

/// Sizes, gaps and pairs.
#[derive(Clone, Debug)]
pub struct Source {
    sizes: Sampler,
    size_stream: Stream,
    gaps: Gaps,
    pairs: u64,
    pair_stream: Stream,
}

impl Spec for Transfers {
    type Source = Source;

    fn validate(&self) -> Result<(), InvalidParameter> {
        self.size.validate("size")?;
        if self.load.is_some() == self.arrivals_per_s.is_some() {
            return Err(InvalidParameter::new("", "transfers need exactly one of arrivals_per_s, load"));
        }
        mean_gap(&self.size, self.load, ("arrivals_per_s", self.arrivals_per_s))
            .and_then(|interval| self.gaps.validate(interval))
    }

    fn carrier(&self) -> Carrier {
        Carrier::Transfers
    }

    fn pace(&self) -> Option<&'static str> {
        [("load", self.load.is_some()), ("arrivals_per_s", self.arrivals_per_s.is_some())]
            .into_iter()
            .find_map(|(key, given)| given.then_some(key))
    }

    fn is_random(&self, pairs: u64) -> bool {
        pairs > 1 || self.size.is_random() || self.gaps.is_random()
    }

    fn source(&self, setting: &Setting<'_>) -> Source {
        let stream = (setting.stream)("gaps");
        let gaps = match mean_gap(&self.size, self.load, ("arrivals_per_s", self.arrivals_per_s)) {
            Ok(interval) => Gaps::new(self.gaps.clone(), interval, stream, setting.lasts),
            Err(_) => Gaps::drawn(Sampler::Fixed(u64::MAX), stream),
        };
        Source {
            sizes: self.size.sampler(),
            size_stream: (setting.stream)("sizes"),
            gaps,
            pairs: setting.pairs,
            pair_stream: (setting.stream)("pairs"),
        }
    }

    fn offered_bps(&self) -> Option<f64> {
        let by_rate = self.arrivals_per_s.map(|rate| rate * self.size.mean() * 8.0);
        self.load.map(|load| load.0 as f64).or(by_rate)
    }

    fn expected_flows(&self, span: Span) -> Option<(f64, &'static str)> {
        let per_s = self.offered_bps()? / (self.size.mean() * 8.0);
        Some((per_s * span.seconds(), if self.load.is_some() { "load" } else { "arrivals_per_s" }))
    }
}

impl Generate for Source {
    #[inline]
    fn next_offer(&mut self) -> Option<Offer> {
        let bytes = self.sizes.sample(&mut self.size_stream, Bytes::RANGE);
        Some(Offer { gap: self.gaps.next_gap(), bytes, pair: self.pair_stream.index(self.pairs) })
    }
}

#[cfg(test)]
mod tests {
    use elephan_units::PS_PER_S;

    use super::*;
    use crate::Kind;

    fn source(text: &str, pairs: u64) -> (Kind, crate::Source) {
        let kind: Kind = serde_json::from_str(text).unwrap();
        assert_eq!((kind.validate(), kind.carrier()), (Ok(()), Carrier::Transfers));
        let setting = Setting {
            part: crate::Part::Whole,
            stream: &|p| Stream::new(2, "web", p),
            pairs,
            wire_bytes: &|b| b,
            full_wire_bytes: 1538,
            rate: elephan_units::Rate(10_000_000_000),
            lasts: Span::MAX,
        };
        let source = kind.source(&setting);
        (kind, source)
    }

    /// 60 % of 40 Mb/s in transfers of 250 kB are 24e6 / (8 x 250,000) = 12 arrivals/s.
    #[test]
    fn twelve_a_second() {
        let by_load = r#"{"kind": "transfers", "size": "250 KB", "load": "24 Mbps", "gaps": "fixed"}"#;
        let by_rate = r#"{"kind": "transfers", "size": "250 KB", "arrivals_per_s": 12, "gaps": "fixed"}"#;
        for text in [by_load, by_rate] {
            let (kind, mut s) = source(text, 100);
            assert_eq!(kind.offered_bps(), Some(24e6));
            assert_eq!(s.next_offer().unwrap().gap.0, 0);
            // 83,333,333,333 ps and a third; twelve make up a second.
            let gaps: Vec<u64> = (0..12).map(|_| s.next_offer().unwrap().gap.0).collect();
            assert_eq!(gaps[..3], [83_333_333_333, 83_333_333_333, 83_333_333_334]);
            assert_eq!(gaps.iter().sum::<u64>(), PS_PER_S);
        }
    }

    /// Poisson: in 10,000 arrivals the mean is within 4 standard errors (1 % each), the coefficient of variation 1.
    #[test]
    fn poisson_over_pairs() {
        let (_, mut s) = source(r#"{"kind": "transfers", "size": "250 KB", "arrivals_per_s": 12}"#, 100);
        let offers: Vec<Offer> = (0..10_000).map(|_| s.next_offer().unwrap()).collect();
        let gaps: Vec<f64> = offers.iter().map(|o| o.gap.0 as f64 * 12e-12).collect();
        let mean = gaps.iter().sum::<f64>() / 1e4;
        let variance = gaps.iter().map(|g| (g - mean) * (g - mean)).sum::<f64>() / 1e4;
        assert!((mean - 1.0).abs() < 0.04 && (variance - 1.0).abs() < 0.12, "{mean} {variance}");

        let mut hits = [0u32; 100];
        offers.iter().for_each(|o| hits[o.pair as usize] += 1);
        // Chi-squared with 99 degrees of freedom: 134.6 at 1 %.
        let chi: f64 = hits.iter().map(|&h| (f64::from(h) - 100.0).powi(2) / 100.0).sum();
        assert!(chi < 134.6, "{chi}");
        assert!(offers.iter().all(|o| o.bytes == 250_000));
    }

    #[test]
    fn refused() {
        for (text, message) in [
            (r#"{"size": "1 KB"}"#, ": transfers need exactly one of arrivals_per_s, load"),
            (
                r#"{"size": "1 KB", "load": "1 Mbps", "arrivals_per_s": 1}"#,
                ": transfers need exactly one of arrivals_per_s, load",
            ),
            (r#"{"size": "1 KB", "arrivals_per_s": 0}"#, "arrivals_per_s: must be a number above 0, not 0"),
            (r#"{"size": "1 KB", "arrivals_per_s": -3.5}"#, "arrivals_per_s: must be a number above 0, not -3.5"),
            (r#"{"size": "1 KB", "arrivals_per_s": 1e13}"#, "arrivals_per_s: arrivals less than a picosecond apart"),
            (r#"{"size": "0 B", "arrivals_per_s": 1}"#, "size: a size here must be above zero"),
            (
                r#"{"size": {"pareto": {"shape": 0.9, "scale": "1 KB"}}, "load": "1 Mbps"}"#,
                "size: has no finite mean, so a load cannot be met; give a rate of arrivals",
            ),
        ] {
            let spec: Transfers = serde_json::from_str(text).unwrap();
            assert_eq!(spec.validate().unwrap_err().to_string(), message);
        }
    }
}
