//! When a flow starts: at a fixed time, or uniformly within a range.

use std::borrow::Cow;

use elephan_random::Stream;
use elephan_units::Span;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de;
use serde::{Deserialize, Deserializer, Serialize};

use crate::{Distribution, Invalid};

/// `"0 s"` or `{ uniform = ["0 s", "100 ms"] }`, since the start of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Start {
    /// Both ends included.
    Uniform(Span, Span),
    #[serde(untagged)]
    At(Span),
}

impl Default for Start {
    fn default() -> Start {
        Start::At(Span::ZERO)
    }
}

impl Start {
    /// When this flow starts; `stream` has the purpose "start".
    pub fn sample(&self, stream: &mut Stream) -> Span {
        match *self {
            Start::At(at) => at,
            Start::Uniform(low, high) => Span(stream.between(low.0, high.0)),
        }
    }

    /// The earliest start.
    pub fn earliest(&self) -> Span {
        match *self {
            Start::At(at) | Start::Uniform(at, _) => at,
        }
    }

    /// The latest start.
    pub fn latest(&self) -> Span {
        match *self {
            Start::At(at) | Start::Uniform(_, at) => at,
        }
    }

    pub fn validate(&self, key: &str) -> Result<(), Invalid> {
        match *self {
            Start::Uniform(low, high) if low > high => Err(Invalid::new(
                format!("{key}.uniform"),
                format!("{low} is above {high}; write the earlier time first"),
            )),
            _ => Ok(()),
        }
    }
}

impl<'de> Deserialize<'de> for Start {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Distribution::<Span>::deserialize(deserializer)? {
            Distribution::Fixed(at) => Ok(Start::At(at)),
            Distribution::Uniform(low, high) => Ok(Start::Uniform(low, high)),
            _ => Err(de::Error::custom(
                "a start is a time such as \"0 s\", or uniform: { uniform = [\"0 s\", \"100 ms\"] }",
            )),
        }
    }
}

impl JsonSchema for Start {
    fn schema_name() -> Cow<'static, str> {
        "Start".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let time = generator.subschema_for::<Span>();
        json_schema!({
            "description": "A time, or uniformly within a range: one draw per connection.",
            "anyOf": [
                time,
                {
                    "type": "object",
                    "properties": {
                        "uniform": {
                            "description": "Uniform between two times, both included.",
                            "type": "array", "items": time, "minItems": 2, "maxItems": 2
                        }
                    },
                    "required": ["uniform"],
                    "additionalProperties": false
                }
            ]
        })
    }
}
