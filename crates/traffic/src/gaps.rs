//! Gaps between arrivals: exact fixed gaps, exponential gaps, or any distribution of times.
//!
//! A fixed mean is a fraction of picoseconds, `mean size x 8 x 10^12 / load`; the remainder is carried from gap to gap,
//! so that n gaps last floor(n x mean) exactly and a constant rate never drifts. With fixed gaps the first arrival is
//! at the start; with random gaps it is one gap later (for exponential gaps: the stationary Poisson process).
//!
//! A Bernoulli process has slots: in each one arrival with probability p, so that gaps are k slots with the geometric
//! probability p (1 - p)^(k - 1), k = 1, 2 ..., and 1 / p slots in the mean. It is drawn by inversion,
//! k = 1 + floor(ln U / ln(1 - p)) (Devroye, Non-Uniform Random Variate Generation, section X.2); slots carry their remainder.

use std::borrow::Cow;
use std::fmt;

use elephan_random::Stream;
use elephan_units::{Bytes, InvalidParameter, PS_PER_S, Rate, Span, stop};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, DeserializeSeed, IntoDeserializer, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::quantity::Quantity;
use crate::{Distribution, Sampler};

/// Less than the smallest frame takes at 400 Gb/s: shorter slots only fill the memory.
const SLOT_MIN: Span = Span::from_ns(1);

/// The distribution of gaps whose mean is given by a load or a rate.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GapDistribution {
    /// Poisson arrivals.
    #[default]
    Exponential,
    /// Equal gaps.
    Fixed,
    /// Poisson arrivals in ON periods, none in OFF periods.
    Bursts(Bursts),
}

/// Times between arrivals: a distribution of times, or slots in each of which something arrives or nothing does.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Gap {
    /// An arrival in each slot with this probability.
    Bernoulli(f64),
    #[serde(untagged)]
    Drawn(Distribution<Span>),
}

impl Gap {
    /// What is wrong with it, if anything is; `slot` is what goes with slots.
    pub(crate) fn validate(&self, slot: Option<Span>) -> Result<(), InvalidParameter> {
        match (self, slot) {
            (Gap::Bernoulli(p), _) if !(*p > 0.0 && *p <= 1.0) => {
                Err(InvalidParameter::new("gap.bernoulli", format!("a probability above 0, at most 1, not {p}")))
            }
            (Gap::Bernoulli(_), Some(slot)) if slot < SLOT_MIN => {
                Err(InvalidParameter::new("slot", format!("{slot}: a slot lasts {SLOT_MIN} at least")))
            }
            (Gap::Bernoulli(_), _) => Ok(()),
            (Gap::Drawn(_), Some(_)) => Err(InvalidParameter::new("slot", "only gap = { bernoulli = ... } has slots")),
            (Gap::Drawn(distribution), None) => distribution.validate("gap"),
        }
    }

    /// Its generator; `slot` is the length of a slot.
    pub(crate) fn gaps(&self, slot: Interval, stream: Stream) -> Gaps {
        match self {
            Gap::Bernoulli(p) => Gaps::Slots(Box::new(Slots { log_miss: libm::log1p(-p), slot, carry: 0, stream })),
            Gap::Drawn(distribution) => Gaps::drawn(distribution.sampler(), stream),
        }
    }

    /// Whether two gaps may differ.
    pub(crate) fn is_random(&self) -> bool {
        match self {
            Gap::Bernoulli(p) => *p < 1.0,
            Gap::Drawn(distribution) => distribution.is_random(),
        }
    }

    /// The mean in picoseconds, if the length of slots is known.
    pub(crate) fn mean_ps(&self, slot: Option<Span>) -> Option<f64> {
        match self {
            Gap::Bernoulli(p) => slot.map(|slot| slot.0 as f64 / p),
            Gap::Drawn(distribution) => Some(distribution.mean()),
        }
    }
}

impl<'de> Deserialize<'de> for Gap {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Written;
        impl<'de> Visitor<'de> for Written {
            type Value = Gap;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a time such as \"10 us\", or a table such as { bernoulli = 0.85 }")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Gap, E> {
                Distribution::deserialize(text.into_deserializer()).map(Gap::Drawn)
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Gap, A::Error> {
                match map.next_key::<String>()? {
                    Some(key) if key == "bernoulli" => map.next_value().map(Gap::Bernoulli),
                    first => {
                        Distribution::deserialize(MapAccessDeserializer::new(Again { first, map })).map(Gap::Drawn)
                    }
                }
            }
        }
        deserializer.deserialize_any(Written)
    }
}

/// A map whose first key has been read.
#[derive(Clone)]
struct Again<A> {
    first: Option<String>,
    map: A,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Again<A> {
    type Error = A::Error;
    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        match self.first.take() {
            Some(key) => seed.deserialize(key.into_deserializer()).map(Some),
            None => self.map.next_key_seed(seed),
        }
    }
    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.map.next_value_seed(seed)
    }
}

impl JsonSchema for Gap {
    fn schema_name() -> Cow<'static, str> {
        "Gap".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A distribution of times, or slots in each of which there is an arrival with a fixed probability.",
            "anyOf": [
                generator.subschema_for::<Distribution<Span>>(),
                {
                    "type": "object",
                    "properties": {
                        "bernoulli": {
                            "description": "Probability of an arrival in each slot.",
                            "type": "number", "exclusiveMinimum": 0, "maximum": 1
                        }
                    },
                    "required": ["bernoulli"],
                    "additionalProperties": false
                }
            ]
        })
    }
}

/// Periods of arrivals and silences; the load or rate is the mean of both together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bursts {
    /// Length of an ON period.
    pub on: Distribution<Span>,
    /// Length of an OFF period.
    pub off: Distribution<Span>,
}

impl GapDistribution {
    /// Whether the gaps are drawn; equal ones are not.
    pub(crate) fn is_random(&self) -> bool {
        match self {
            GapDistribution::Fixed => false,
            GapDistribution::Exponential | GapDistribution::Bursts(_) => true,
        }
    }

    /// What is wrong with the distribution for gaps of this mean, if anything is.
    pub(crate) fn validate(&self, interval: Interval) -> Result<(), InvalidParameter> {
        let GapDistribution::Bursts(Bursts { on, off }) = self else { return Ok(()) };
        for (key, distribution) in [("gaps.bursts.on", on), ("gaps.bursts.off", off)] {
            distribution.validate(key)?;
            if !distribution.mean().is_finite() {
                return Err(InvalidParameter::new(key, "has no finite mean, so a load cannot be met"));
            }
        }
        if on.mean() + off.mean() < interval.ps() / PERIODS_PER_GAP_MAX {
            let message = format!("more than {PERIODS_PER_GAP_MAX} periods between two arrivals; make them longer");
            return Err(InvalidParameter::new("gaps.bursts", message));
        }
        Ok(())
    }
}

/// So many periods may pass between two arrivals in the mean: more is a mistake in a unit.
const PERIODS_PER_GAP_MAX: f64 = 1000.0;

/// A positive span as a fraction: `whole + part / of` picoseconds, `part < of`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    whole: u64,
    part: u64,
    of: u64,
}

impl Interval {
    /// `numerator / denominator` picoseconds, saturating; a denominator of 0 gives the longest.
    pub fn ratio(numerator: u128, denominator: u64) -> Interval {
        let of = u128::from(denominator);
        match numerator.checked_div(of).map(u64::try_from) {
            Some(Ok(whole)) => Interval { whole, part: (numerator % of) as u64, of: denominator },
            _ => Interval { whole: u64::MAX, part: 0, of: 1 },
        }
    }

    /// To 2^-53 of a picosecond.
    pub fn from_ps(ps: f64) -> Interval {
        let of = 1u64 << 53;
        let whole = ps as u64;
        let part = ((ps - whole as f64).max(0.0) * of as f64) as u64;
        Interval { whole, part: part.min(of - 1), of }
    }

    /// Between sends of `bytes` each that make up `rate`.
    pub fn of_bytes(bytes: u64, rate: Rate) -> Interval {
        Interval::ratio(u128::from(bytes) * u128::from(8 * PS_PER_S), rate.0)
    }

    /// Between arrivals, `per_s` of them in a second; exact for a whole number.
    pub fn of_rate(per_s: f64) -> Interval {
        let whole = per_s as u64;
        if whole as f64 == per_s {
            return Interval::ratio(u128::from(PS_PER_S), whole);
        }
        Interval::from_ps(PS_PER_S as f64 / per_s)
    }

    pub fn ps(&self) -> f64 {
        self.whole as f64 + self.part as f64 / self.of as f64
    }

    /// So many of them, at least one picosecond together; `carry / of` picoseconds are owed.
    fn times(&self, count: u64, carry: &mut u64) -> Span {
        let parts = u128::from(self.part) * u128::from(count) + u128::from(*carry);
        *carry = (parts % u128::from(self.of)) as u64;
        let ps = u128::from(self.whole) * u128::from(count) + parts / u128::from(self.of);
        Span(u64::try_from(ps).unwrap_or(u64::MAX).max(1))
    }

    /// At least one picosecond: shorter gaps would never let time pass.
    pub(crate) fn is_positive(&self) -> bool {
        self.whole >= 1
    }
}

/// A generator of gaps.
#[derive(Clone, Debug)]
pub enum Gaps {
    /// `carry / of` picoseconds are owed; `begun` is false before the first arrival, which has no gap.
    Fixed {
        interval: Interval,
        carry: u64,
        begun: bool,
    },
    Exponential {
        mean_ps: f64,
        stream: Stream,
    },
    Bursts(Box<Interrupted>),
    Slots(Box<Slots>),
    Drawn {
        sampler: Sampler,
        stream: Stream,
    },
}

/// A Bernoulli process.
#[derive(Clone, Debug)]
pub struct Slots {
    /// ln(1 - p), minus infinity for an arrival in every slot.
    log_miss: f64,
    slot: Interval,
    /// `carry / of` picoseconds are owed.
    carry: u64,
    stream: Stream,
}

impl Slots {
    fn next_gap(&mut self) -> Span {
        let every = self.log_miss == f64::NEG_INFINITY;
        let empty = if every { 0.0 } else { libm::log(self.stream.uniform_open()) / self.log_miss };
        self.slot.times(1 + empty as u64, &mut self.carry)
    }
}

/// An interrupted Poisson process (Kuczura 1973), from its stationary state.
#[derive(Clone, Debug)]
pub struct Interrupted {
    /// While ON.
    mean_ps: f64,
    on: Sampler,
    off: Sampler,
    /// Of the ON period that is running.
    left_ps: f64,
    /// Of an OFF period that was running at the start.
    silent_ps: f64,
    /// Length of the run: no gap needs to be longer.
    lasts_ps: f64,
    stream: Stream,
}

impl Interrupted {
    fn new(Bursts { on, off }: &Bursts, interval: Interval, mut stream: Stream, lasts: Span) -> Interrupted {
        let duty = on.mean() / (on.mean() + off.mean());
        let (on, off) = (on.sampler(), off.sampler());
        let (left_ps, silent_ps) =
            if stream.uniform() < duty { (on.residual(&mut stream), 0.0) } else { (0.0, off.residual(&mut stream)) };
        Interrupted { mean_ps: interval.ps() * duty, on, off, left_ps, silent_ps, lasts_ps: lasts.0 as f64, stream }
    }

    fn next_ps(&mut self) -> f64 {
        let mut busy = self.stream.exponential(self.mean_ps);
        let mut gap = busy;
        if self.silent_ps > 0.0 {
            gap += std::mem::take(&mut self.silent_ps);
            self.left_ps = self.on.sample(&mut self.stream, Span::RANGE) as f64;
        }
        // Exponential gaps do not remember, so what is left of one goes on after the silence.
        while busy > self.left_ps && gap <= self.lasts_ps {
            stop::look();
            busy -= self.left_ps;
            gap += self.off.sample(&mut self.stream, Span::RANGE) as f64;
            self.left_ps = self.on.sample(&mut self.stream, Span::RANGE) as f64;
        }
        self.left_ps -= busy;
        gap
    }
}

impl Gaps {
    /// `lasts` is the length of the run.
    pub fn new(distribution: GapDistribution, interval: Interval, stream: Stream, lasts: Span) -> Gaps {
        match distribution {
            GapDistribution::Bursts(bursts) => {
                Gaps::Bursts(Box::new(Interrupted::new(&bursts, interval, stream, lasts)))
            }
            GapDistribution::Fixed => Gaps::Fixed { interval, carry: 0, begun: false },
            GapDistribution::Exponential => Gaps::Exponential { mean_ps: interval.ps(), stream },
        }
    }

    /// Gaps from any distribution of times.
    pub fn drawn(sampler: Sampler, stream: Stream) -> Gaps {
        match sampler {
            Sampler::Fixed(ps) => Gaps::Fixed { interval: Interval::ratio(u128::from(ps), 1), carry: 0, begun: false },
            sampler => Gaps::Drawn { sampler, stream },
        }
    }

    /// The next gap: at least 1 ps, but 0 before the first arrival of fixed gaps.
    #[inline]
    pub fn next_gap(&mut self) -> Span {
        match self {
            Gaps::Fixed { begun: begun @ false, .. } => {
                *begun = true;
                Span::ZERO
            }
            Gaps::Fixed { interval, carry, .. } => {
                let short = interval.of - interval.part;
                if *carry >= short {
                    *carry -= short;
                    return Span(interval.whole.saturating_add(1));
                }
                *carry += interval.part;
                Span(interval.whole)
            }
            Gaps::Exponential { mean_ps, stream } => Span(((stream.exponential(*mean_ps) + 0.5) as u64).max(1)),
            Gaps::Slots(slots) => slots.next_gap(),
            Gaps::Bursts(interrupted) => Span(((interrupted.next_ps() + 0.5) as u64).max(1)),
            Gaps::Drawn { sampler, stream } => Span(sampler.sample(stream, (1, u64::MAX))),
        }
    }
}

/// The mean gap for sizes at a `load`, or for a number of arrivals per second (with its key).
pub(crate) fn mean_gap(
    size: &Distribution<Bytes>,
    load: Option<Rate>,
    (rate_key, per_s): (&'static str, Option<f64>),
) -> Result<Interval, InvalidParameter> {
    let (key, interval) = match (load, per_s) {
        (Some(Rate(0)), _) => return Err(InvalidParameter::new("load", "a load cannot be zero")),
        (Some(load), _) => ("load", interval_of_load(size, load)?),
        (None, Some(rate)) if rate.is_finite() && rate > 0.0 => (rate_key, Interval::of_rate(rate)),
        (None, rate) => {
            let text = rate.map_or("nothing".to_owned(), |r| r.to_string());
            return Err(InvalidParameter::new(rate_key, format!("must be a number above 0, not {text}")));
        }
    };
    if interval.is_positive() {
        Ok(interval)
    } else {
        Err(InvalidParameter::new(key, "arrivals less than a picosecond apart"))
    }
}

/// Mean size x 8 / load; exact wherever the mean is an integer or a half.
fn interval_of_load(size: &Distribution<Bytes>, load: Rate) -> Result<Interval, InvalidParameter> {
    if let (Some(twice), Some(twice_load)) = (size.twice_mean(), load.0.checked_mul(2)) {
        return Ok(Interval::ratio(twice.saturating_mul(u128::from(8 * PS_PER_S)), twice_load));
    }
    let mean = size.mean();
    if !mean.is_finite() {
        return Err(InvalidParameter::new(
            "size",
            "has no finite mean, so a load cannot be met; give a rate of arrivals",
        ));
    }
    Ok(Interval::from_ps(mean * 8.0 * PS_PER_S as f64 / load.0 as f64))
}

#[cfg(test)]
mod tests;
