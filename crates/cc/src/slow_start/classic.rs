//! Classic slow start with appropriate byte counting.
//!
//! ```text
//! cwnd += min(acked, L * SMSS)         RFC 3465 section 2.2; L = 1 is RFC 5681 equation 2
//! ```
//!
//! L = 1 after a retransmission timeout whatever L is (RFC 3465 section 2.3), until the next other event. Without a
//! limit (the default) an ACK opens the window by all it acknowledges: doubling per round trip however the receiver
//! delays its ACKs.

use super::SlowStart;
use crate::registry::{Invalid, Model, State};
use crate::{Ack, Signal, Window};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Parameters {
    /// Most segments that one ACK may add (L), or `"none"`.
    #[schemars(extend("x-source" = "RFC 3465 section 2.2 (L); no limit: whole acknowledged bytes"))]
    pub limit: Limit,
}

/// A limit in segments, written as a number or `"none"`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Limit(pub Option<f64>);

#[derive(Clone, Debug)]
pub struct Classic {
    /// L in segments, infinite without a limit.
    limit: f64,
    after_rto: bool,
}

impl Model for Classic {
    type Parameters = Parameters;
    const STATES: &'static [State] = &[];

    fn new(parameters: &Parameters) -> Classic {
        Classic { limit: parameters.limit.0.unwrap_or(f64::INFINITY), after_rto: false }
    }

    fn check(parameters: &Parameters) -> Result<(), Invalid> {
        match parameters.limit.0 {
            Some(limit) if !(1.0..=1e9).contains(&limit) => {
                Err(Invalid { parameter: "limit", reason: format!("must be from 1 to 1e9 segments, not {limit}") })
            }
            _ => Ok(()),
        }
    }
}

impl SlowStart for Classic {
    #[inline]
    fn on_ack(&mut self, w: &mut Window, ack: &Ack) -> u64 {
        let limit = if self.after_rto { self.limit_after_rto() } else { self.limit };
        let growth = (ack.acked as f64).min(limit * w.mss);
        let room = w.ssthresh - w.cwnd;
        if growth <= room {
            w.cwnd += growth;
            return 0;
        }
        w.cwnd = w.ssthresh;
        ack.acked - room as u64
    }

    fn on_congestion(&mut self, signal: &Signal) {
        self.after_rto = matches!(signal, Signal::Rto { .. });
    }
}

impl Classic {
    fn limit_after_rto(&self) -> f64 {
        if self.limit.is_finite() { 1.0 } else { self.limit }
    }
}

impl Serialize for Limit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Some(limit) => serializer.serialize_f64(limit),
            None => serializer.serialize_str("none"),
        }
    }
}

impl<'de> Deserialize<'de> for Limit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Limit, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "must be a number of segments or \"none\"")]
        enum Text {
            Segments(f64),
            Word(None),
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "lowercase")]
        enum None {
            None,
        }
        Ok(match Text::deserialize(deserializer)? {
            Text::Segments(limit) => Limit(Some(limit)),
            Text::Word(None::None) => Limit(Option::None),
        })
    }
}

impl JsonSchema for Limit {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Limit".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [{ "type": "number", "minimum": 1 }, { "type": "string", "enum": ["none"] }] })
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{MSS, ack, ack_limited};
    use crate::{Controller, Signal, Spec, slow_start};
    use elephan_units::Time;

    const S: f64 = MSS as f64;

    fn with_limit(limit: serde_json::Value) -> Controller {
        let table = serde_json::json!({ "limit": limit });
        let slow_start = slow_start::Spec::with("classic", table.as_object().unwrap()).unwrap();
        Controller::with_slow_start(&Spec::named("reno").unwrap(), &slow_start, MSS, 10 * MSS)
    }

    /// RFC 3465 section 2.2: min(acked, L * SMSS).
    #[test]
    fn an_ack_adds_at_most_l_segments() {
        for (limit, expected) in [(1.into(), 11.0), (2.into(), 12.0), ("none".into(), 14.0)] {
            let mut c = with_limit(limit);
            c.on_ack(&ack(0.0, 4 * MSS, 0.1));
            assert_eq!(c.window(), expected * S);
        }
    }

    #[test]
    fn growth_stops_while_the_application_limits() {
        let mut c = with_limit("none".into());
        c.on_ack(&ack_limited(0.0, MSS, 0.1));
        assert_eq!(c.window(), 10.0 * S);
    }

    /// RFC 3465 section 2.3: L = 1 in the slow start after a timeout.
    #[test]
    fn the_limit_is_one_after_a_timeout() {
        let mut c = with_limit(2.into());
        c.on_congestion(&Signal::Rto { now: Time::ZERO, inflight: 10 * MSS });
        c.on_ack(&ack(1.0, 3 * MSS, 0.1));
        assert_eq!(c.window(), 2.0 * S);
    }

    /// The ACK that crosses ssthresh: slow start takes 1 of 3 segments, Reno grows by 2 / 10 of a segment.
    #[test]
    fn the_rest_of_the_ack_that_crosses_ssthresh_grows_by_the_law() {
        let mut c = with_limit("none".into());
        c.poke("cwnd", 9.0 * S);
        c.poke("ssthresh", 10.0 * S);
        c.on_ack(&ack(0.0, 3 * MSS, 0.1));
        assert!((c.window() - 10.2 * S).abs() < 1e-9);
        assert!(!c.in_slow_start());
    }
}
