//! Distributions of sizes and times: what a scenario writes, their means, and how to draw from them.
//!
//! A plain quantity is a fixed value; the others are tables with one distribution: `{ exponential = "8000 B" }` (by its mean),
//! `{ uniform = ["1 KB", "9 KB"] }` (both ends included), `{ pareto = { shape = 1.5, mean = "50 KB" } }` (or `scale`),
//! `{ lognormal = { median = "10 KB", sigma = 1.0 } }` (or `mean`), `{ cdf = "web-search" }` (a published distribution, a
//! file, or points; see `cdf.rs`). A draw is rounded to the nearest byte or picosecond; a size is at least 1 byte and at
//! most 2^53.
//!
//! Means: Pareto shape scale / (shape - 1) for shape > 1, else infinite; log-normal median exp(sigma^2 / 2)
//! (Johnson, Kotz, Balakrishnan, Continuous Univariate Distributions 1, chapters 20 and 14).

use elephan_units::InvalidParameter;
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use elephan_random::Stream;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::cdf::{self, Cdf, Points};
use crate::quantity::Quantity;

/// A Pareto distribution by its shape and either its mean or its scale, the least value.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, bound = "Q: Quantity")]
#[schemars(rename = "Pareto_of_{Q}")]
pub struct Pareto<Q: Quantity> {
    /// Tail exponent: P(X > x) = (scale / x)^shape. Above 1 for a finite mean, above 2 for a finite variance.
    pub shape: f64,
    /// The mean; needs shape > 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Q")]
    pub mean: Option<Q>,
    /// The least value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Q")]
    pub scale: Option<Q>,
}

/// A log-normal distribution by its median or mean and the deviation of its logarithm.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, bound = "Q: Quantity")]
#[schemars(rename = "Lognormal_of_{Q}")]
pub struct Lognormal<Q: Quantity> {
    /// The median.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Q")]
    pub median: Option<Q>,
    /// The mean.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Q")]
    pub mean: Option<Q>,
    /// Standard deviation of the natural logarithm.
    pub sigma: f64,
}

/// The distribution of a size or a time.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase", bound = "Q: Quantity")]
pub enum Distribution<Q: Quantity> {
    /// By its mean.
    Exponential(Q),
    /// Both ends included.
    Uniform(Q, Q),
    Pareto(Pareto<Q>),
    Lognormal(Lognormal<Q>),
    /// Empirical.
    Cdf(Cdf<Q>),
    #[serde(untagged)]
    Fixed(Q),
}

/// A distribution with its parameters worked out, in base units.
#[derive(Clone, Debug, PartialEq)]
pub enum Sampler {
    Fixed(u64),
    Exponential { mean: f64 },
    Uniform { low: u64, high: u64 },
    Pareto { shape: f64, scale: f64 },
    Lognormal { mu: f64, sigma: f64 },
    Empirical(Points),
}

impl Sampler {
    /// One draw in base units, rounded to nearest and clamped to `range`.
    #[inline]
    pub fn sample(&self, stream: &mut Stream, range: (u64, u64)) -> u64 {
        let real = match *self {
            Sampler::Fixed(value) => return value.clamp(range.0, range.1),
            Sampler::Uniform { low, high } => return stream.between(low, high).clamp(range.0, range.1),
            Sampler::Exponential { mean } => stream.exponential(mean),
            Sampler::Pareto { shape, scale } => stream.pareto(shape, scale),
            Sampler::Lognormal { mu, sigma } => stream.lognormal(mu, sigma),
            Sampler::Empirical(ref points) => cdf::quantile(points, stream.uniform()),
        };
        ((real + 0.5) as u64).clamp(range.0, range.1)
    }

    /// What is left, at a random instant, of a period whose lengths follow this distribution: a uniform part of a length that is drawn
    /// in proportion to itself (renewal theory: Feller, An Introduction to Probability Theory 2, section XI.4).
    pub fn residual(&self, stream: &mut Stream) -> f64 {
        let length = match *self {
            Sampler::Fixed(value) => value as f64,
            Sampler::Uniform { low, high } => {
                let (low, high) = (low as f64, high as f64);
                (low * low + stream.uniform() * (high * high - low * low)).sqrt()
            }
            // The sum of two exponential draws has the density x exp(-x).
            Sampler::Exponential { mean } => stream.exponential(mean) + stream.exponential(mean),
            Sampler::Pareto { shape, scale } => stream.pareto(shape - 1.0, scale),
            Sampler::Lognormal { mu, sigma } => stream.lognormal(mu + sigma * sigma, sigma),
            Sampler::Empirical(ref points) => cdf::length_biased(points, stream),
        };
        length * stream.uniform()
    }
}

impl<Q: Quantity> Distribution<Q> {
    /// The mean in base units (bytes or picoseconds) before rounding; infinite for a Pareto distribution with shape <= 1.
    pub fn mean(&self) -> f64 {
        match *self {
            Distribution::Fixed(q) | Distribution::Exponential(q) => q.raw() as f64,
            Distribution::Uniform(low, high) => (low.raw() as f64 + high.raw() as f64) / 2.0,
            Distribution::Pareto(Pareto { mean: Some(mean), .. }) => mean.raw() as f64,
            Distribution::Pareto(Pareto { shape, .. }) if shape <= 1.0 => f64::INFINITY,
            Distribution::Pareto(Pareto { shape, scale, .. }) => raw(scale) * shape / (shape - 1.0),
            Distribution::Lognormal(Lognormal { mean: Some(mean), .. }) => mean.raw() as f64,
            Distribution::Lognormal(Lognormal { median, sigma, .. }) => raw(median) * libm::exp(sigma * sigma / 2.0),
            Distribution::Cdf(ref cdf) => cdf.mean(),
        }
    }

    /// Twice the mean, where that is an integer by definition.
    pub fn twice_mean(&self) -> Option<u128> {
        match *self {
            Distribution::Fixed(q) | Distribution::Exponential(q) => Some(2 * u128::from(q.raw())),
            Distribution::Uniform(low, high) => Some(u128::from(low.raw()) + u128::from(high.raw())),
            Distribution::Pareto(Pareto { mean, .. }) | Distribution::Lognormal(Lognormal { mean, .. }) => {
                mean.map(|q| 2 * u128::from(q.raw()))
            }
            Distribution::Cdf(_) => None,
        }
    }

    /// Whether two draws may differ.
    pub fn is_random(&self) -> bool {
        match self {
            Distribution::Fixed(_) => false,
            Distribution::Uniform(low, high) => low.raw() < high.raw(),
            Distribution::Lognormal(Lognormal { sigma, .. }) => *sigma > 0.0,
            Distribution::Exponential(_) | Distribution::Pareto(_) | Distribution::Cdf(_) => true,
        }
    }

    pub fn sampler(&self) -> Sampler {
        match *self {
            Distribution::Fixed(q) => Sampler::Fixed(q.raw()),
            Distribution::Exponential(q) => Sampler::Exponential { mean: q.raw() as f64 },
            Distribution::Uniform(low, high) => Sampler::Uniform { low: low.raw(), high: high.raw() },
            Distribution::Pareto(Pareto { shape, mean: Some(mean), .. }) => {
                Sampler::Pareto { shape, scale: mean.raw() as f64 * (shape - 1.0) / shape }
            }
            Distribution::Pareto(Pareto { shape, scale, .. }) => Sampler::Pareto { shape, scale: raw(scale) },
            Distribution::Lognormal(Lognormal { mean: Some(mean), sigma, .. }) => {
                Sampler::Lognormal { mu: libm::log(mean.raw() as f64) - sigma * sigma / 2.0, sigma }
            }
            Distribution::Lognormal(Lognormal { median, sigma, .. }) => {
                Sampler::Lognormal { mu: libm::log(raw(median)), sigma }
            }
            Distribution::Cdf(ref cdf) => Sampler::Empirical(cdf.points()),
        }
    }

    /// One draw. A loop keeps the [`Sampler`] instead.
    pub fn sample(&self, stream: &mut Stream) -> Q {
        Q::from_raw(self.sampler().sample(stream, Q::RANGE))
    }

    /// What is wrong with the parameters, if anything is; `key` is where the distribution stands.
    pub fn validate(&self, key: &str) -> Result<(), InvalidParameter> {
        let positive = |name: &str, q: Q| match q.raw() {
            0 => Err(InvalidParameter::new(format!("{key}{name}"), format!("a {} here must be above zero", Q::WHAT))),
            _ => Ok(()),
        };
        match *self {
            Distribution::Fixed(q) => positive("", q),
            Distribution::Exponential(q) => positive(".exponential", q),
            Distribution::Uniform(low, high) if low.raw() > high.raw() => Err(InvalidParameter::new(
                format!("{key}.uniform"),
                format!("{low} is above {high}; write the lower end first"),
            )),
            Distribution::Uniform(_, high) => positive(".uniform", high),
            Distribution::Pareto(Pareto { shape, mean, scale }) => {
                let key_of_shape = format!("{key}.pareto.shape");
                if !(shape.is_finite() && shape > 0.0) {
                    return Err(InvalidParameter::new(
                        key_of_shape,
                        format!("the shape must be a number above 0, not {shape}"),
                    ));
                }
                match (mean, scale) {
                    (Some(_), None) if shape <= 1.0 => {
                        Err(InvalidParameter::new(key_of_shape, format!("a mean needs a shape above 1, not {shape}")))
                    }
                    (Some(mean), None) => positive(".pareto.mean", mean),
                    (None, Some(scale)) => positive(".pareto.scale", scale),
                    _ => Err(InvalidParameter::new(format!("{key}.pareto"), "needs exactly one of mean, scale")),
                }
            }
            Distribution::Lognormal(Lognormal { median, mean, sigma }) => {
                // exp(sigma^2 / 2) would overflow beyond 37; nothing real is near 10.
                if !(0.0..=10.0).contains(&sigma) {
                    let message = format!("sigma must be between 0 and 10, not {sigma}");
                    return Err(InvalidParameter::new(format!("{key}.lognormal.sigma"), message));
                }
                match (median, mean) {
                    (Some(median), None) => positive(".lognormal.median", median),
                    (None, Some(mean)) => positive(".lognormal.mean", mean),
                    _ => Err(InvalidParameter::new(format!("{key}.lognormal"), "needs exactly one of median, mean")),
                }
            }
            Distribution::Cdf(ref cdf) => cdf.validate(&format!("{key}.cdf")),
        }
    }
}

fn raw<Q: Quantity>(q: Option<Q>) -> f64 {
    q.map_or(0.0, |q| q.raw() as f64)
}

impl<'de, Q: Quantity> Deserialize<'de> for Distribution<Q> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Written<Q>(PhantomData<Q>);
        impl<'de, Q: Quantity> Visitor<'de> for Written<Q> {
            type Value = Distribution<Q>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "a {0} such as \"{1}\", or a table such as {{ exponential = \"{1}\" }}", Q::WHAT, Q::EXAMPLE)
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
                Q::parse(text).map(Distribution::Fixed).map_err(E::custom)
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                const KINDS: &[&str] = &["fixed", "exponential", "uniform", "pareto", "lognormal", "cdf"];
                let Some(distribution) = map.next_key::<Cow<'de, str>>()? else {
                    return Err(de::Error::custom(format!("an empty table; give one of {}", KINDS.join(", "))));
                };
                let value = match distribution.as_ref() {
                    "fixed" => Distribution::Fixed(map.next_value()?),
                    "exponential" => Distribution::Exponential(map.next_value()?),
                    "uniform" => map.next_value().map(|[low, high]: [Q; 2]| Distribution::Uniform(low, high))?,
                    "pareto" => Distribution::Pareto(map.next_value()?),
                    "lognormal" => Distribution::Lognormal(map.next_value()?),
                    "cdf" => Distribution::Cdf(map.next_value()?),
                    other => {
                        let known = KINDS.join(", ");
                        return Err(de::Error::custom(format!(
                            "unknown distribution \"{other}\"; a {} takes {known}",
                            Q::WHAT
                        )));
                    }
                };
                match map.next_key::<Cow<'de, str>>()? {
                    Some(second) => Err(de::Error::custom(format!(
                        "one distribution is enough: \"{distribution}\" or \"{second}\""
                    ))),
                    None => Ok(value),
                }
            }
        }
        deserializer.deserialize_any(Written(PhantomData))
    }
}

impl<Q: Quantity> JsonSchema for Distribution<Q> {
    fn schema_name() -> Cow<'static, str> {
        format!("Distribution_of_{}", Q::WHAT).into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let quantity = generator.subschema_for::<Q>();
        let pair = json_schema!({ "type": "array", "items": quantity, "minItems": 2, "maxItems": 2 });
        let distributions = [
            ("fixed", "Always this value.", quantity.clone()),
            ("exponential", "Exponential with this mean.", quantity.clone()),
            ("uniform", "Uniform between two values, both included.", pair),
            ("pareto", "Pareto: heavy tail.", generator.subschema_for::<Pareto<Q>>()),
            ("lognormal", "Log-normal.", generator.subschema_for::<Lognormal<Q>>()),
            ("cdf", "Empirical, linear between its points.", generator.subschema_for::<Cdf<Q>>()),
        ];
        let mut any = vec![quantity];
        any.extend(distributions.into_iter().map(|(name, about, schema)| {
            json_schema!({
                "type": "object",
                "description": about,
                "properties": { name: schema },
                "required": [name],
                "additionalProperties": false
            })
        }));
        json_schema!({
            "description": format!("A fixed {}, or a table with one distribution.", Q::WHAT),
            "x-distribution": Q::WHAT,
            "anyOf": any
        })
    }
}

#[cfg(test)]
mod tests;
