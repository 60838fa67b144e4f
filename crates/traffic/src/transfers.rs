//! `transfers`: whole transfers arrive, each a new connection of a uniformly random pair that sends its bytes and
//! closes. One generator serves all pairs of the traffic entry.

use elephan_random::Stream;
use elephan_units::{Bytes, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::distribution::Quantity;
use crate::gaps::mean_gap;
use crate::{Carrier, Distribution, GapLaw, Gaps, Generate, Invalid, Offer, Sampler, Setting, Spec};

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
    /// Law of the gaps between arrivals.
    #[serde(default)]
    pub gaps: GapLaw,
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

    fn validate(&self) -> Result<(), Invalid> {
        self.size.validate("size")?;
        if self.load.is_some() == self.arrivals_per_s.is_some() {
            return Err(Invalid::new("", "transfers need exactly one of arrivals_per_s, load"));
        }
        mean_gap(&self.size, self.load, ("arrivals_per_s", self.arrivals_per_s)).map(|_| ())
    }

    fn carrier(&self) -> Carrier {
        Carrier::Transfers
    }

    fn source(&self, setting: &Setting<'_>) -> Source {
        let stream = (setting.stream)("gaps");
        let gaps = match mean_gap(&self.size, self.load, ("arrivals_per_s", self.arrivals_per_s)) {
            Ok(interval) => Gaps::new(self.gaps, interval, stream),
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
}

impl Generate for Source {
    #[inline]
    fn next_offer(&mut self) -> Option<Offer> {
        let bytes = self.sizes.sample(&mut self.size_stream, Bytes::RANGE);
        Some(Offer { gap: self.gaps.next_gap(), bytes, pair: self.pair_stream.index(self.pairs) })
    }
}
