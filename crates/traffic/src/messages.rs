//! `messages`: an application writes messages of random size at random times into one connection.
//!
//! By `load` the mean gap is mean size x 8 / load, so that load counts application bytes and no headers. What happens
//! when the send buffer is full is `when_full` ([`WhenFull`]).

use elephan_units::{Bytes, PS_PER_S, Rate, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::distribution::Quantity;
use crate::gaps::mean_gap;
use crate::{Carrier, Distribution, GapLaw, Gaps, Generate, Invalid, Offer, Sampler, Setting, Spec, WhenFull};

/// Keys of `kind = "messages"`. Exactly one of `load`, `rate_per_s` and `gap`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Messages {
    /// Size of a message.
    pub size: Distribution<Bytes>,
    /// Application bytes per second offered by each connection, headers not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Rate")]
    pub load: Option<Rate>,
    /// Messages per second offered by each connection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "f64", extend("exclusiveMinimum" = 0))]
    pub rate_per_s: Option<f64>,
    /// Time between messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Distribution<Span>")]
    pub gap: Option<Distribution<Span>>,
    /// Law of the gaps, with `load` or `rate_per_s`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "GapLaw", extend("default" = "exponential"))]
    pub gaps: Option<GapLaw>,
    /// What a message does that finds the send buffer full.
    #[serde(default)]
    pub when_full: WhenFull,
}

/// Sizes and gaps.
#[derive(Clone, Debug)]
pub struct Source {
    sizes: Sampler,
    stream: elephan_random::Stream,
    gaps: Gaps,
}

impl Spec for Messages {
    type Source = Source;

    fn validate(&self) -> Result<(), Invalid> {
        self.size.validate("size")?;
        match (&self.gap, self.load.is_some(), self.rate_per_s) {
            (Some(gap), false, None) => {
                gap.validate("gap")?;
                match self.gaps {
                    Some(_) => Err(Invalid::new("gaps", "goes with load or rate_per_s; with gap the law is in gap")),
                    None => Ok(()),
                }
            }
            (None, true, None) | (None, false, Some(_)) => {
                mean_gap(&self.size, self.load, ("rate_per_s", self.rate_per_s)).map(|_| ())
            }
            _ => Err(Invalid::new("", "messages need exactly one of load, rate_per_s, gap")),
        }
    }

    fn carrier(&self) -> Carrier {
        Carrier::Messages(self.when_full)
    }

    fn source(&self, setting: &Setting<'_>) -> Source {
        let stream = (setting.stream)("gaps");
        let gaps = match (&self.gap, mean_gap(&self.size, self.load, ("rate_per_s", self.rate_per_s))) {
            (None, Ok(interval)) => Gaps::new(self.gaps.unwrap_or_default(), interval, stream),
            (Some(gap), _) => Gaps::drawn(gap.sampler(), stream),
            (None, Err(_)) => Gaps::drawn(Sampler::Fixed(u64::MAX), stream),
        };
        Source { sizes: self.size.sampler(), stream: (setting.stream)("sizes"), gaps }
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
            (Some(gap), ..) => Some(bits * PS_PER_S as f64 / gap.mean()),
            _ => None,
        }
    }
}

impl Generate for Source {
    #[inline]
    fn next_offer(&mut self) -> Option<Offer> {
        let bytes = self.sizes.sample(&mut self.stream, Bytes::RANGE);
        Some(Offer { gap: self.gaps.next_gap(), bytes, pair: 0 })
    }
}
