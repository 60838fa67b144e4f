//! When a flow starts: at a fixed time, or uniformly within a range.

use std::borrow::Cow;

use elephan_random::Stream;
use elephan_units::{InvalidParameter, Span};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de;
use serde::{Deserialize, Deserializer, Serialize};

use crate::Distribution;

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

    /// Whether two flows may start at different times.
    pub fn is_random(&self) -> bool {
        self.earliest() < self.latest()
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

    pub fn validate(&self, key: &str) -> Result<(), InvalidParameter> {
        match *self {
            Start::Uniform(low, high) if low > high => Err(InvalidParameter::new(
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

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Start, String> {
        serde_json::from_str(text).map_err(|e: serde_json::Error| e.to_string())
    }

    #[test]
    fn text() {
        assert_eq!(parse(r#""5 ms""#), Ok(Start::At(Span::from_ms(5))));
        let range = Start::Uniform(Span::ZERO, Span::from_ms(100));
        assert_eq!(parse(r#"{"uniform": ["0 s", "100 ms"]}"#), Ok(range));
        assert_eq!(serde_json::to_string(&range).unwrap(), r#"{"uniform":["0 s","100 ms"]}"#);
        assert_eq!(serde_json::to_string(&Start::default()).unwrap(), r#""0 s""#);
        assert!(parse(r#"{"exponential": "5 ms"}"#).unwrap_err().starts_with("a start is a time such as"));
        assert!(parse("0").unwrap_err().contains("expected a time such as"));
        let backwards = parse(r#"{"uniform": ["2 s", "1 s"]}"#).unwrap().validate("start").unwrap_err();
        assert_eq!(backwards.to_string(), "start.uniform: 2 s is above 1 s; write the earlier time first");
        assert_eq!(range.validate("start"), Ok(()));
    }

    #[test]
    fn range() {
        let mut stream = Stream::new(1, "upload", "start");
        let start = Start::Uniform(Span(10), Span(13));
        let draws: Vec<u64> = (0..100).map(|_| start.sample(&mut stream).0).collect();
        assert_eq!((draws.iter().min(), draws.iter().max()), (Some(&10), Some(&13)));
        assert_eq!((start.earliest(), start.latest()), (Span(10), Span(13)));
        assert_eq!(Start::At(Span(7)).sample(&mut stream), Span(7));
    }
}
