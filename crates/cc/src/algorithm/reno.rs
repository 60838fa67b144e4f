//! Reno: additive increase, multiplicative decrease (RFC 5681, byte counting as RFC 3465 asks).
//!
//! Congestion avoidance, RFC 5681 equation 3 with every ACK weighted by the bytes that it acknowledges:
//!
//! ```text
//! cwnd += SMSS * acked / cwnd          (acked counts at most cwnd, so at most one SMSS per ACK)
//! ```
//!
//! which is one segment a round trip however the receiver delays its ACKs, and equal to RFC 3465's accumulator
//! (`bytes_acked >= cwnd: cwnd += SMSS`) up to the fraction of a segment that the accumulator holds back. Where a stack counts
//! ACKs (`abc = false`, RFC 2581 equation 2), acked is one SMSS at most: half a segment a round trip behind delayed ACKs.
//! At a loss, an ECN-Echo (RFC 3168 section 6.1.2) or a local drop, RFC 5681 equation 4:
//!
//! ```text
//! ssthresh = max(FlightSize / 2, 2 * SMSS),   cwnd = ssthresh       (timer: cwnd = 1 SMSS, section 3.1)
//! ```
//!
//! With `beta_ecn`, ABE (RFC 8511): at an ECN-Echo ssthresh = max(beta_ecn * FlightSize, 2 * SMSS) instead; 0.8 is
//! recommended. Losses are not touched.
//!
//! Mean window under a loss every 1/p segments: sqrt(3/2) / sqrt(p) = 1.2247 / sqrt(p) segments (Mathis et al. 1997).
//! Left out: integer counters of kernels (up to one segment per round trip less).

use super::CongestionControl;
use crate::declare::{Internals, loss_based};
use crate::registry::Model;
use crate::{Ack, ReduceFrom, Signal, Traits, Window};

/// RFC 5681 equation 4.
const BETA: f64 = 0.5;

loss_based! {
    reduce_from: Flight, "RFC 5681 equation 4";
}

#[derive(Clone, Debug)]
pub struct Reno {
    reduce_from: ReduceFrom,
}

impl Model for Reno {
    type Parameters = Parameters;
    const PRESETS: &'static [&'static str] = &["rfc5681", "linux"];

    fn preset(name: &str) -> Parameters {
        let reduce_from = if name == "linux" { ReduceFrom::Cwnd } else { ReduceFrom::Flight };
        Parameters { reduce_from, ..Parameters::default() }
    }

    fn new(p: &Parameters) -> Reno {
        Reno { reduce_from: p.reduce_from }
    }

    fn traits(_: &Parameters) -> Traits {
        Traits { loss_leaves: Some(BETA), counts_segments: true, ..Traits::default() }
    }
}

impl Internals for Reno {}

impl CongestionControl for Reno {
    #[inline]
    fn on_ack(&mut self, w: &mut Window, ack: &Ack) {
        w.grow(w.mss, ack);
    }

    fn on_congestion(&mut self, w: &mut Window, signal: &Signal) {
        w.cut(signal, BETA * self.reduce_from.bytes(w, signal.inflight()));
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{self, MSS, ack, ack_limited, loss};
    use crate::{Controller, Signal, Spec};
    use elephan_units::Time;
    use serde_json::json;

    const S: f64 = MSS as f64;

    /// In congestion avoidance at a window of `segments`.
    fn reno(segments: f64) -> Controller {
        let mut c = Controller::new(&Spec::named("reno").unwrap(), MSS, 10 * MSS);
        c.poke("cwnd", segments * S);
        c.poke("ssthresh", segments * S);
        c
    }

    /// RFC 5681 equation 3: cwnd += SMSS * SMSS / cwnd per segment; an ACK of two segments counts for two.
    #[test]
    fn congestion_avoidance_adds_a_segment_per_window() {
        for (acked, expected) in [(1, 10.1), (2, 10.2), (10, 11.0), (500, 11.0)] {
            let mut c = reno(10.0);
            c.on_ack(&ack(0.0, acked * MSS, 0.1));
            assert!((c.window() - expected * S).abs() < 1e-9, "{acked}: {}", c.window());
        }
        let mut c = reno(10.0);
        c.on_ack(&ack_limited(0.0, MSS, 0.1));
        assert_eq!(c.window(), 10.0 * S);
    }

    /// RFC 5681 equation 4: half of FlightSize, at least two segments.
    #[test]
    fn a_loss_halves_what_was_in_flight() {
        for (cwnd, flight, expected) in [(20.0, 20.0, 10.0), (20.0, 12.0, 6.0), (20.0, 22.0, 10.0), (3.0, 3.0, 2.0)] {
            let mut c = reno(cwnd);
            c.on_congestion(&loss(0.0, flight));
            assert_eq!((c.window(), c.ssthresh()), (expected * S, expected * S));
        }
        let spec = Spec::with("reno", json!({ "reduce_from": "cwnd" }).as_object().unwrap()).unwrap();
        let mut c = Controller::new(&spec, MSS, 20 * MSS);
        c.on_congestion(&loss(0.0, 12.0));
        assert_eq!(c.window(), 10.0 * S);
    }

    /// RFC 3168 section 6.1.2: as a single loss; so a local drop.
    #[test]
    fn ecn_and_a_local_drop_halve_too() {
        let (now, inflight) = (Time::ZERO, 20 * MSS);
        for signal in [Signal::Ecn { now, inflight }, Signal::LocalDrop { now, inflight }] {
            let mut c = reno(20.0);
            c.on_congestion(&signal);
            assert_eq!((c.window(), c.ssthresh()), (10.0 * S, 10.0 * S));
            // A window of one segment is not raised to the least threshold, two.
            c.on_congestion(&Signal::Rto { now, inflight });
            c.on_congestion(&signal);
            assert_eq!(c.window(), S);
        }
    }

    /// RFC 8511: an ECN-Echo leaves 0.8 of FlightSize, at least two segments; a loss and a timer a half.
    #[test]
    fn abe_cuts_less_at_an_ecn_echo_and_as_before_at_a_loss() {
        let spec = |beta_ecn: f64| Spec::with("reno", json!({ "beta_ecn": beta_ecn }).as_object().unwrap());
        let (now, inflight) = (Time::ZERO, 20 * MSS);
        for (signal, window, ssthresh) in [
            (Signal::Ecn { now, inflight }, 16.0, 16.0),
            (Signal::Ecn { now, inflight: 2 * MSS }, 2.0, 2.0),
            (Signal::LocalDrop { now, inflight }, 10.0, 10.0),
            (Signal::Rto { now, inflight }, 1.0, 10.0),
            (loss(0.0, 20.0), 10.0, 10.0),
        ] {
            let mut c = Controller::new(&spec(0.8).unwrap(), MSS, 20 * MSS);
            c.on_congestion(&signal);
            assert_eq!((c.window(), c.ssthresh()), (window * S, ssthresh * S), "{signal:?}");
        }
        assert!(spec(0.0).is_ok() && spec(1.0).is_err() && spec(-0.1).is_err());
    }

    /// RFC 5681 section 3.1: one segment; expiring again for the same segment holds ssthresh.
    #[test]
    fn a_timeout_leaves_one_segment_and_a_backed_off_timer_holds_ssthresh() {
        let rto = |inflight| Signal::Rto { now: Time::ZERO, inflight };
        let mut c = reno(20.0);
        c.on_congestion(&rto(20 * MSS));
        assert_eq!((c.window(), c.ssthresh()), (S, 10.0 * S));
        c.on_congestion(&rto(MSS));
        assert_eq!((c.window(), c.ssthresh()), (S, 10.0 * S));
        c.on_ack(&ack(1.0, MSS, 0.1));
        assert_eq!(c.window(), 2.0 * S);
        c.on_congestion(&rto(2 * MSS));
        assert_eq!((c.window(), c.ssthresh()), (S, 2.0 * S));
    }

    /// Mathis et al. 1997, periodic loss: 1.2247 / sqrt(p) segments; 122.5 at 1e-4, 387.3 at 1e-5.
    #[test]
    fn the_response_function_is_mathis() {
        let spec = Spec::named("reno").unwrap();
        for (segments, expected) in [(1_000, 38.73), (10_000, 122.47), (100_000, 387.3)] {
            let mean = testing::mean_window(&spec, segments, 0.1, 100.0, 20);
            assert!((mean / expected - 1.0).abs() < 0.015, "{mean} is not {expected}");
        }
    }
}
