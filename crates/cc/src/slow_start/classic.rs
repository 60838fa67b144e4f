//! Classic slow start (RFC 5681 section 3.1): `cwnd += allowed`, doubling every round trip when every byte counts.

use super::SlowStart;
use crate::declare::{Internals, Ranges};
use crate::registry::Model;
use crate::{Ack, Window};
use elephan_units::InvalidParameter;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Parameters {}

impl Ranges for Parameters {
    fn in_range(&self) -> Result<(), InvalidParameter> {
        Ok(())
    }
}

#[derive(Clone, Debug)]
pub struct Classic;

impl Internals for Classic {}

impl Model for Classic {
    type Parameters = Parameters;

    fn new(_: &Parameters) -> Classic {
        Classic
    }
}

impl SlowStart for Classic {
    #[inline]
    fn growth(&mut self, _w: &mut Window, _ack: &Ack, allowed: f64) -> f64 {
        allowed
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{MSS, ack, ack_limited};
    use crate::{Controller, Signal, Spec, slow_start};
    use elephan_units::Time;

    const S: f64 = MSS as f64;

    fn with_limit(limit: Option<f64>) -> Controller {
        let reno = Spec::named("reno").unwrap();
        Controller::with_slow_start(&reno, &slow_start::Spec::default(), limit, MSS, 10 * MSS)
    }

    /// RFC 3465 section 2.2: min(acked, L * SMSS).
    #[test]
    fn an_ack_adds_at_most_l_segments() {
        for (limit, expected) in [(Some(1.0), 11.0), (Some(2.0), 12.0), (None, 14.0)] {
            let mut c = with_limit(limit);
            c.on_ack(&ack(0.0, 4 * MSS, 0.1));
            assert_eq!(c.window(), expected * S);
        }
    }

    #[test]
    fn growth_stops_while_the_application_limits() {
        let mut c = with_limit(None);
        c.on_ack(&ack_limited(0.0, MSS, 0.1));
        assert_eq!(c.window(), 10.0 * S);
    }

    /// RFC 3465 section 2.3: L = 1 in the slow start after a timeout.
    #[test]
    fn the_limit_is_one_after_a_timeout() {
        let mut c = with_limit(Some(2.0));
        c.on_congestion(&Signal::Rto { now: Time::ZERO, inflight: 10 * MSS });
        c.on_ack(&ack(1.0, 3 * MSS, 0.1));
        assert_eq!(c.window(), 2.0 * S);
    }

    /// The ACK that crosses ssthresh: slow start takes 1 of 3 segments, Reno grows by 2 / 10 of a segment.
    #[test]
    fn the_rest_of_the_ack_that_crosses_ssthresh_grows_in_congestion_avoidance() {
        let mut c = with_limit(None);
        c.poke("cwnd", 9.0 * S);
        c.poke("ssthresh", 10.0 * S);
        c.on_ack(&ack(0.0, 3 * MSS, 0.1));
        assert!((c.window() - 10.2 * S).abs() < 1e-9);
        assert!(!c.in_slow_start());
    }
}
