//! `messages`: an application writes messages of random size at random times into one connection.
//!
//! By `load` the mean gap is mean size x 8 / load, so that load counts application bytes and no headers. What happens
//! when the send buffer is full is `when_full` ([`WhenFull`]). With `destinations = "uniform"` a sender has one generator for
//! all its connections ([`Destinations`]): the open loop goes on while a connection is full, whose messages wait before it.

use elephan_random::Stream;
use elephan_units::{Bytes, InvalidParameter, PS_PER_S, Rate, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::gaps::mean_gap;
use crate::quantity::Quantity;
use crate::{
    Carrier, Destinations, Distribution, Gap, GapDistribution, Gaps, Generate, Offer, Part, Sampler, Setting, Shared,
    Spec, WhenFull,
};

/// Keys of `kind = "messages"`. Exactly one of `load`, `rate_per_s` and `gap`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Messages {
    /// Size of a message.
    pub size: Distribution<Bytes>,
    /// Application bytes per second offered by each connection (with uniform destinations: by each sender), headers not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Rate")]
    pub load: Option<Rate>,
    /// Messages per second offered by each connection (with uniform destinations: by each sender).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "f64", extend("exclusiveMinimum" = 0))]
    pub rate_per_s: Option<f64>,
    /// Time between messages: a distribution of times, or `{ bernoulli = 0.85 }`, in each slot one with this probability.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Gap")]
    pub gap: Option<Gap>,
    /// Length of a slot; without it the wire time of a full packet on the sender's first link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Span")]
    pub slot: Option<Span>,
    /// Distribution of the gaps, with `load` or `rate_per_s`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "GapDistribution", extend("default" = "exponential"))]
    pub gaps: Option<GapDistribution>,
    /// What a message does that finds the send buffer full.
    #[serde(default)]
    pub when_full: WhenFull,
    /// Where a sender's messages go.
    #[serde(default)]
    pub destinations: Destinations,
}

/// Sizes, gaps and, of a sender with uniform destinations, connections.
#[derive(Clone, Debug)]
pub struct Source {
    sizes: Sampler,
    stream: Stream,
    gaps: Gaps,
    connections: Option<Box<(Stream, u64)>>,
}

impl Spec for Messages {
    type Source = Source;

    fn validate(&self) -> Result<(), InvalidParameter> {
        self.size.validate("size")?;
        if self.destinations == Destinations::Uniform && self.when_full == WhenFull::PauseClock {
            let message = "pause-clock would stop the messages to all because one is slow; say block or drop";
            return Err(InvalidParameter::new("when_full", message));
        }
        if self.slot.is_some() && self.gap.is_none() {
            return Err(InvalidParameter::new("slot", "only gap = { bernoulli = ... } has slots"));
        }
        match (&self.gap, self.load.is_some(), self.rate_per_s) {
            (Some(gap), false, None) => {
                gap.validate(self.slot)?;
                match self.gaps {
                    Some(_) => Err(InvalidParameter::new(
                        "gaps",
                        "goes with load or rate_per_s; with gap the distribution is in gap",
                    )),
                    None => Ok(()),
                }
            }
            (None, true, None) | (None, false, Some(_)) => {
                mean_gap(&self.size, self.load, ("rate_per_s", self.rate_per_s))
                    .and_then(|interval| self.gaps.as_ref().map_or(Ok(()), |gaps| gaps.validate(interval)))
            }
            _ => Err(InvalidParameter::new("", "messages need exactly one of load, rate_per_s, gap")),
        }
    }

    fn carrier(&self) -> Carrier {
        Carrier::Messages(self.when_full)
    }

    fn pace(&self) -> Option<&'static str> {
        [
            ("slot", self.slot.is_some()),
            ("load", self.load.is_some()),
            ("rate_per_s", self.rate_per_s.is_some()),
            ("gap", self.gap.is_some()),
        ]
        .into_iter()
        .find_map(|(key, given)| given.then_some(key))
    }

    fn is_random(&self, pairs: u64) -> bool {
        let gaps = match &self.gap {
            Some(gap) => gap.is_random(),
            None => self.gaps.clone().unwrap_or_default().is_random(),
        };
        gaps || self.size.is_random() || (pairs > 1 && self.shared().is_some())
    }

    fn source(&self, setting: &Setting<'_>) -> Source {
        let stream = (setting.stream)("gaps");
        let silent = Sampler::Fixed(u64::MAX);
        let gaps = match (&self.gap, mean_gap(&self.size, self.load, ("rate_per_s", self.rate_per_s))) {
            _ if setting.part == Part::Sizes => Gaps::drawn(silent, stream),
            (None, Ok(interval)) => Gaps::new(self.gaps.clone().unwrap_or_default(), interval, stream, setting.lasts),
            (Some(gap), _) => gap.gaps(setting.slot(self.slot, setting.full_wire_bytes), stream),
            (None, Err(_)) => Gaps::drawn(silent, stream),
        };
        let clock = setting.part == Part::Clock;
        Source {
            sizes: if clock { Sampler::Fixed(1) } else { self.size.sampler() },
            stream: (setting.stream)("sizes"),
            gaps,
            connections: clock.then(|| Box::new(((setting.stream)("pairs"), setting.pairs))),
        }
    }

    fn shared(&self) -> Option<Shared> {
        self.destinations.shared()
    }

    fn resolve(&mut self) {
        if self.gap.is_none() {
            self.gaps.get_or_insert_default();
        }
    }

    fn offered_bps(&self) -> Option<f64> {
        let bits = self.size.mean() * 8.0;
        match (&self.gap, self.load, self.rate_per_s) {
            (_, Some(load), _) => Some(load.0 as f64),
            (_, _, Some(rate)) => Some(bits * rate),
            (Some(gap), ..) => gap.mean_ps(self.slot).map(|gap| bits * PS_PER_S as f64 / gap),
            _ => None,
        }
    }
}

impl Generate for Source {
    #[inline]
    fn next_offer(&mut self) -> Option<Offer> {
        let bytes = self.sizes.sample(&mut self.stream, Bytes::RANGE);
        let pair = self.connections.as_mut().map_or(0, |drawn| drawn.0.index(drawn.1));
        Some(Offer { gap: self.gaps.next_gap(), bytes, pair })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind;

    /// The study of section 3.1: 3.6 Gb/s in messages of 8000 B are 56,250 messages/s, 17.777... us apart.
    const STUDY: &str = r#"{"kind": "messages", "size": {"exponential": "8000 B"}, "load": "3.6 Gbps"}"#;

    fn kind(text: &str) -> Kind {
        let kind: Kind = serde_json::from_str(text).unwrap();
        assert_eq!(kind.validate(), Ok(()));
        kind
    }

    fn offers(kind: &Kind, n: usize) -> Vec<Offer> {
        let setting = Setting {
            part: crate::Part::Whole,
            stream: &|p| Stream::new(9, "upload", p),
            pairs: 1,
            wire_bytes: &|b| b,
            full_wire_bytes: 1538,
            rate: elephan_units::Rate(10_000_000_000),
            lasts: Span::MAX,
        };
        let mut source = kind.source(&setting);
        (0..n).map(|_| source.next_offer().unwrap()).collect()
    }

    #[test]
    fn load_makes_the_gap() {
        let fixed = kind(&STUDY.replace(r#""load""#, r#""gaps": "fixed", "load""#));
        let gaps: Vec<u64> = offers(&fixed, 56_251).iter().map(|o| o.gap.0).collect();
        // The fraction is 7/9: two of nine gaps are rounded down.
        assert_eq!(gaps[..6], [0, 17_777_777, 17_777_778, 17_777_778, 17_777_778, 17_777_777]);
        assert_eq!(gaps.iter().sum::<u64>(), PS_PER_S);
        assert_eq!(fixed.offered_bps(), Some(3.6e9));
        let same = kind(r#"{"kind": "messages", "size": "8 KB", "rate_per_s": 56250, "gaps": "fixed"}"#);
        assert_eq!(offers(&same, 1000).iter().map(|o| o.gap.0).collect::<Vec<_>>(), gaps[..1000]);
        assert_eq!(same.offered_bps(), Some(3.6e9));
    }

    #[test]
    fn poisson_with_exponential_sizes() {
        let offers = offers(&kind(STUDY), 100_000);
        let mean = |f: &dyn Fn(&Offer) -> u64| offers.iter().map(|o| f(o) as f64).sum::<f64>() / 1e5;
        // Four standard errors: 4 / sqrt(100,000) = 1.26 %.
        assert!((mean(&|o| o.gap.0) / 17_777_777.8 - 1.0).abs() < 0.0126);
        assert!((mean(&|o| o.bytes) / 8000.0 - 1.0).abs() < 0.0126);
        assert!(offers.iter().all(|o| o.bytes >= 1 && o.gap.0 >= 1 && o.pair == 0));
    }

    /// Whatever the arrivals are, the k-th message has the same size; and the same name gives the same offers.
    #[test]
    fn sizes_do_not_depend_on_gaps() {
        let sizes = |text: &str| offers(&kind(text), 500).iter().map(|o| o.bytes).collect::<Vec<_>>();
        let poisson = sizes(STUDY);
        let drawn = r#"{"kind": "messages", "size": {"exponential": "8 KB"}, "gap": {"lognormal": {"mean": "1 ms", "sigma": 1}}}"#;
        assert_eq!(poisson, sizes(drawn));
        assert_eq!(poisson, sizes(&STUDY.replace("3.6 Gbps", "1 Mbps")));
        assert_eq!(offers(&kind(STUDY), 500), offers(&kind(STUDY), 500));
    }

    #[test]
    fn gaps_of_any_distribution() {
        let fixed = kind(r#"{"kind": "messages", "size": "1 KB", "gap": "10 us"}"#);
        assert_eq!(offers(&fixed, 3).iter().map(|o| o.gap.0).collect::<Vec<_>>(), [0, 10_000_000, 10_000_000]);
        assert_eq!(fixed.offered_bps(), Some(800e6));
        let uniform = kind(r#"{"kind": "messages", "size": "1 KB", "gap": {"uniform": ["1 us", "2 us"]}}"#);
        assert!(offers(&uniform, 500).iter().all(|o| (1_000_000..=2_000_000).contains(&o.gap.0)));
    }

    #[test]
    fn resolved() {
        let mut spec = kind(STUDY);
        spec.resolve();
        let text = serde_json::to_string(&spec).unwrap();
        let full = r#"{"kind":"messages","size":{"exponential":"8 KB"},"load":"3.6 Gbps","gaps":"exponential","when_full":"block","destinations":"each"}"#;
        assert_eq!(text, full);
        assert_eq!(kind(&text), spec);
        assert_eq!(spec.carrier(), Carrier::Messages(WhenFull::Block));
        let pause = kind(&STUDY.replace(r#""load""#, r#""when_full": "pause-clock", "load""#));
        assert_eq!(pause.carrier(), Carrier::Messages(WhenFull::PauseClock));
    }

    #[test]
    fn refused() {
        for (text, message) in [
            (r#"{"size": "1 KB"}"#, ": messages need exactly one of load, rate_per_s, gap"),
            (
                r#"{"size": "1 KB", "load": "1 Gbps", "gap": "1 s"}"#,
                ": messages need exactly one of load, rate_per_s, gap",
            ),
            (
                r#"{"size": "1 KB", "gap": "1 s", "gaps": "fixed"}"#,
                "gaps: goes with load or rate_per_s; with gap the distribution is in gap",
            ),
            (r#"{"size": "1 KB", "gap": "0 s"}"#, "gap: a time here must be above zero"),
            (
                r#"{"size": {"exponential": "0 B"}, "load": "1 Gbps"}"#,
                "size.exponential: a size here must be above zero",
            ),
            (r#"{"size": "1 B", "load": "10 Tbps"}"#, "load: arrivals less than a picosecond apart"),
        ] {
            let spec: Messages = serde_json::from_str(text).unwrap();
            assert_eq!(spec.validate().unwrap_err().to_string(), message);
        }
    }
}
