//! An empirical distribution: points of a cumulative distribution function, by the name of a published one, as a list, or
//! (in a scenario file) as the name of a CSV file that whoever reads the scenario puts in as a list.
//!
//! Between two points the function is linear, so a draw between them is uniform: with u uniform on [0, 1) and p_i the
//! first value above u,
//!
//! ```text
//! x = x_(i-1) + (u - p_(i-1)) / (p_i - p_(i-1)) (x_i - x_(i-1));    x = x_0 if u < p_0
//! mean = p_0 x_0 + sum of (p_i - p_(i-1)) (x_(i-1) + x_i) / 2
//! ```
//!
//! What the first point has of probability is at its value; two points of one value are a jump there. A file has a header
//! `size_bytes, cdf` (for times `time_s`, `time_ms`, `time_us` or `time_ns`) and a line per point; empty lines and those that
//! begin with `#` do not count. The published ones are such files in the folder `data` of this crate, each naming its source.

use elephan_units::InvalidParameter;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use elephan_random::Stream;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::quantity::Quantity;
use crate::trace::{TraceError, cells, picoseconds, units_of_time};

/// The published distributions of sizes: name and text.
const PUBLISHED: [(&str, &str); 5] = [
    ("web-search", include_str!("../data/web-search.csv")),
    ("data-mining", include_str!("../data/data-mining.csv")),
    ("hadoop", include_str!("../data/hadoop.csv")),
    ("cache-follower", include_str!("../data/cache-follower.csv")),
    ("web-server", include_str!("../data/web-server.csv")),
];

/// Names of the published distributions of sizes.
pub fn published() -> impl Iterator<Item = &'static str> {
    PUBLISHED.iter().map(|(name, _)| *name)
}

/// Points of a cumulative distribution function, both coordinates rising or equal, up to a probability of 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Cdf<Q: Quantity> {
    name: Option<&'static str>,
    points: Arc<[(Q, f64)]>,
}

/// The same in base units.
pub(crate) type Points = Arc<[(f64, f64)]>;

impl<Q: Quantity> Cdf<Q> {
    fn published(name: &str) -> Result<Cdf<Q>, String> {
        let found = if Q::WHAT == "size" { PUBLISHED.iter().find(|(known, _)| *known == name) } else { None };
        let Some((name, text)) = found else {
            let known: Vec<&str> = published().collect();
            let (what, known) = (Q::WHAT, known.join(", "));
            return Err(format!("{name:?}: no published distribution of a {what} has this name (of sizes: {known})"));
        };
        let lines = parse_cdf(text).map_err(|e| e.to_string())?;
        let point = |(value, p): (String, f64)| Q::parse(&value).map(|q| (q, p)).map_err(|e| e.to_string());
        Ok(Cdf { name: Some(name), points: lines.into_iter().map(point).collect::<Result<_, String>>()? })
    }

    pub fn mean(&self) -> f64 {
        let mean = |a: f64, b: f64, p: f64| p * (a + b) / 2.0;
        let pairs = self.points.windows(2);
        let first = self.points.first().map_or(0.0, |(q, p)| q.raw() as f64 * p);
        first + pairs.map(|w| mean(w[0].0.raw() as f64, w[1].0.raw() as f64, w[1].1 - w[0].1)).sum::<f64>()
    }

    pub(crate) fn points(&self) -> Points {
        self.points.iter().map(|(q, p)| (q.raw() as f64, *p)).collect()
    }

    pub(crate) fn validate(&self, key: &str) -> Result<(), InvalidParameter> {
        let fail = |message: String| Err(InvalidParameter::new(key.to_owned(), message));
        for (i, (q, p)) in self.points.iter().enumerate() {
            if !(0.0..=1.0).contains(p) {
                return fail(format!("{p}: a cumulative probability is from 0 to 1"));
            }
            let Some((before, less)) = i.checked_sub(1).map(|i| self.points[i]) else { continue };
            if before.raw() > q.raw() || less > *p {
                return fail(format!("[{q}, {p}] after [{before}, {less}]: both must rise"));
            }
        }
        match self.points.last() {
            Some((_, p)) if *p < 1.0 => fail(format!("ends at {p}: the last point has the probability 1")),
            None => fail("has no point".into()),
            _ if self.mean() <= 0.0 => fail(format!("a {} here must be above zero", Q::WHAT)),
            _ => Ok(()),
        }
    }
}

/// The value below which a share `u` of the draws is.
pub(crate) fn quantile(points: &Points, u: f64) -> f64 {
    let i = points.partition_point(|(_, p)| *p <= u);
    match (i.checked_sub(1).and_then(|before| points.get(before)), points.get(i)) {
        (Some((x0, p0)), Some((x1, p1))) => x0 + (u - p0) / (p1 - p0) * (x1 - x0),
        (None, Some((x, _))) | (Some((x, _)), None) => *x,
        (None, None) => 0.0,
    }
}

/// A draw with weights in proportion to the values: between two points with the density of a rising line.
pub(crate) fn length_biased(points: &Points, stream: &mut Stream) -> f64 {
    let pieces = || {
        let first = points.first().map(|(x, p)| (*x, *x, *p));
        first.into_iter().chain(points.windows(2).map(|w| (w[0].0, w[1].0, w[1].1 - w[0].1)))
    };
    let weight = |(a, b, p): (f64, f64, f64)| p * (a + b) / 2.0;
    let mut left = stream.uniform() * pieces().map(weight).sum::<f64>();
    for (a, b, p) in pieces() {
        let own = weight((a, b, p));
        if left < own {
            return (a * a + left / own * (b * b - a * a)).sqrt();
        }
        left -= own;
    }
    points.last().map_or(0.0, |(x, _)| *x)
}

/// Reads the CSV text of a distribution: each point as a quantity with its unit, and its cumulative probability.
pub fn parse_cdf(text: &str) -> Result<Vec<(String, f64)>, TraceError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = text.lines().enumerate().map(|(i, line)| (i + 1, line.trim()));
    let mut lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    const COLUMNS: &str = "size_bytes (or time_s, time_ms, time_us, time_ns), cdf";
    let Some((line, header)) = lines.next() else {
        return Err(TraceError::of_header(1, format!("no header; the columns are {COLUMNS}"), COLUMNS));
    };
    let names: Vec<&str> = cells(header).collect();
    let unit_ps = match names[..] {
        ["size_bytes", "cdf"] => None,
        [time, "cdf"] if units_of_time(time, "time_").is_some() => units_of_time(time, "time_"),
        _ => return Err(TraceError::of_header(line, format!("{header:?}: the columns are {COLUMNS}"), COLUMNS)),
    };
    let points: Result<Vec<_>, TraceError> =
        lines.map(|(line, row)| point(row, unit_ps).map_err(|message| TraceError::new(line, message))).collect();
    let points = points?;
    if points.is_empty() { Err(TraceError::new(line, "no point after the header".into())) } else { Ok(points) }
}

fn point(row: &str, unit_ps: Option<u64>) -> Result<(String, f64), String> {
    let cells: Vec<&str> = cells(row).collect();
    let [value, p] = cells[..] else { return Err(format!("{} values under 2 columns", cells.len())) };
    let number = |cell: &str| {
        let number = cell.parse::<f64>().ok().filter(|x| x.is_finite() && *x >= 0.0);
        number.ok_or_else(|| format!("{cell:?} is not a number from 0"))
    };
    let value = match unit_ps {
        Some(unit) => format!("{} ps", picoseconds(value, unit)?),
        None => format!("{} B", libm::round(number(value)?) as u64),
    };
    Ok((value, number(p)?))
}

impl<Q: Quantity> Serialize for Cdf<Q> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.name {
            Some(name) => serializer.serialize_str(name),
            None => serializer.collect_seq(self.points.iter()),
        }
    }
}

impl<'de, Q: Quantity> Deserialize<'de> for Cdf<Q> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Form<Q>(PhantomData<Q>);
        impl<'de, Q: Quantity> Visitor<'de> for Form<Q> {
            type Value = Cdf<Q>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "the name of a published distribution, or points such as [\"{}\", 0.5]", Q::EXAMPLE)
            }
            fn visit_str<E: de::Error>(self, name: &str) -> Result<Self::Value, E> {
                Cdf::published(name).map_err(E::custom)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut points = Vec::new();
                while let Some(point) = seq.next_element()? {
                    points.push(point);
                }
                Ok(Cdf { name: None, points: points.into() })
            }
        }
        deserializer.deserialize_any(Form(PhantomData))
    }
}

impl<Q: Quantity> JsonSchema for Cdf<Q> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        format!("Cdf_of_{}", Q::WHAT).into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let quantity = generator.subschema_for::<Q>();
        let names = published().collect::<Vec<_>>().join(", ");
        json_schema!({
            "description": format!("Points such as [\"8 KB\", 0.5], up to 1; a CSV file with the columns `size_bytes` \
                (of times `time_s`, `time_ms`, `time_us`, `time_ns`) and `cdf`; or, of sizes, a published one: {names}."),
            "anyOf": [
                { "type": "string", "description": "Name of a published distribution or of a file." },
                {
                    "type": "array",
                    "minItems": 1,
                    "items": {
                        "type": "array",
                        "prefixItems": [quantity, { "type": "number", "minimum": 0, "maximum": 1 }],
                        "minItems": 2,
                        "maxItems": 2
                    }
                }
            ]
        })
    }
}

#[cfg(test)]
mod tests;
