//! Reno: additive increase, multiplicative decrease (RFC 5681, byte counting as RFC 3465 asks).
//!
//! Congestion avoidance, RFC 5681 equation 3 with every ACK weighted by the bytes that it acknowledges:
//!
//! ```text
//! cwnd += SMSS * acked / cwnd          (acked counts at most cwnd, so at most one SMSS per ACK)
//! ```
//!
//! which is one segment a round trip however the receiver delays its ACKs, and equal to RFC 3465's accumulator
//! (`bytes_acked >= cwnd: cwnd += SMSS`) up to the fraction of a segment that the accumulator holds back.
//! At a loss, an ECN-Echo (RFC 3168 section 6.1.2) or a local drop, RFC 5681 equation 4:
//!
//! ```text
//! ssthresh = max(FlightSize / 2, 2 * SMSS),   cwnd = ssthresh       (timer: cwnd = 1 SMSS, section 3.1)
//! ```
//!
//! Mean window under a loss every 1/p segments: sqrt(3/2) / sqrt(p) = 1.2247 / sqrt(p) segments (Mathis et al. 1997).
//! Left out: integer counters of kernels (up to one segment per round trip less).

use super::Law;
use crate::registry::{Model, State};
use crate::{Ack, ReduceFrom, Signal, Window};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// RFC 5681 equation 4.
const BETA: f64 = 0.5;
/// Smallest `ssthresh` in segments (RFC 5681 equation 4).
const SSTHRESH_MIN_SEGMENTS: f64 = 2.0;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Parameters {
    /// The window that is halved: `flight` (what was in flight) or `cwnd`.
    #[schemars(extend("x-source" = "RFC 5681 equation 4"))]
    pub reduce_from: ReduceFrom,
}

impl Default for Parameters {
    fn default() -> Parameters {
        Parameters { reduce_from: ReduceFrom::Flight }
    }
}

#[derive(Clone, Debug)]
pub struct Reno {
    reduce_from: ReduceFrom,
}

impl Model for Reno {
    type Parameters = Parameters;
    const STATES: &'static [State] = &[];

    fn new(parameters: &Parameters) -> Reno {
        Reno { reduce_from: parameters.reduce_from }
    }
}

impl Law for Reno {
    #[inline]
    fn on_ack(&mut self, w: &mut Window, ack: &Ack) {
        if !ack.app_limited {
            w.cwnd += w.mss * (ack.acked as f64).min(w.cwnd) / w.cwnd;
        }
    }

    fn on_congestion(&mut self, w: &mut Window, signal: &Signal) {
        if matches!(signal, Signal::Undo { .. }) {
            return;
        }
        let half = BETA * self.reduce_from.bytes(w, signal.inflight());
        w.ssthresh = half.max(SSTHRESH_MIN_SEGMENTS * w.mss);
        w.cwnd = if matches!(signal, Signal::Rto { .. }) { w.mss } else { w.ssthresh };
    }
}
