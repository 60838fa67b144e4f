//! GridDT: Reno whose increase and decrease are set by the user (Ravot et al., PFLDnet 2003).
//!
//! ```text
//! cwnd += A * SMSS * acked / cwnd                                 A segments a round trip
//! event:  ssthresh = max((1 - B) cwnd, 2 SMSS),   cwnd = ssthresh     (timer: cwnd = 1 SMSS)
//! ```
//!
//! A = 1 and B = 1/2 are Reno. A = n and B = 1/(2n) stand for n streams of Reno. Flows that share their losses get equal
//! rates where A * SMSS / RTT^2 is equal. Mean window with a loss every 1/p segments: sqrt(A (2 - B) / (2 B p)).
//!
//! Chosen where the source leaves a choice: growth is weighted by the bytes acknowledged, as in Reno. Left out: the
//! growth in slow start that the patch lets the user set (slow start is an axis of its own).

use super::CongestionControl;
use crate::declare::{Internals, loss_based};
use crate::registry::Model;
use crate::{Ack, Signal, Window};

loss_based! {
    reduce_from: Cwnd, "Linux 2.4 tcp.h tcp_recalc_ssthresh (cwnd)";
    /// A: segments by which the window grows in a round trip.
    a: f64 = 1.0, "Ravot 2003: set by the user; 1 is RFC 5681" (min = 0);
    /// B: the share of the window that a congestion event takes away.
    b: f64 = 0.5, "Ravot 2003: set by the user; 0.5 is RFC 5681" (min = 0, max = 1);
}

#[derive(Clone, Debug)]
pub struct Griddt {
    parameters: Parameters,
}

impl Model for Griddt {
    type Parameters = Parameters;

    fn new(p: &Parameters) -> Griddt {
        Griddt { parameters: p.clone() }
    }
}

impl Internals for Griddt {}

impl CongestionControl for Griddt {
    #[inline]
    fn on_ack(&mut self, w: &mut Window, ack: &Ack) {
        w.grow(self.parameters.a * w.mss, ack);
    }

    fn on_congestion(&mut self, w: &mut Window, signal: &Signal) {
        let reduced = (1.0 - self.parameters.b) * self.parameters.reduce_from.bytes(w, signal.inflight());
        w.cut(signal, reduced);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{self, MSS, ack, ack_limited, loss};
    use crate::{Controller, Signal, Spec};
    use elephan_units::Time;
    use serde_json::json;

    const S: f64 = MSS as f64;

    fn spec(a: f64, b: f64) -> Spec {
        Spec::with("griddt", json!({ "a": a, "b": b }).as_object().unwrap()).unwrap()
    }

    /// In congestion avoidance at a window of `segments`.
    fn at(spec: &Spec, segments: f64) -> Controller {
        let mut c = Controller::new(spec, MSS, 10 * MSS);
        c.poke("cwnd", segments * S);
        c.poke("ssthresh", segments * S);
        c
    }

    #[test]
    fn a_window_of_acks_adds_a_segments() {
        for (a, acked, expected) in [(1.0, 1, 100.01), (6.0, 1, 100.06), (6.0, 100, 106.0), (2.39, 5000, 102.39)] {
            let mut c = at(&spec(a, 0.5), 100.0);
            c.on_ack(&ack(0.0, acked * MSS, 0.1));
            assert!((c.window() / S - expected).abs() < 1e-9, "{a}: {}", c.window());
            let before = c.window();
            c.on_ack(&ack_limited(0.0, MSS, 0.1));
            assert_eq!(c.window(), before);
        }
    }

    #[test]
    fn an_event_takes_the_share_b_and_leaves_two_segments() {
        let (now, inflight) = (Time::ZERO, 50 * MSS);
        for signal in [loss(0.0, 50.0), Signal::Ecn { now, inflight }, Signal::LocalDrop { now, inflight }] {
            for (b, segments, expected) in
                [(0.5, 100.0, 50.0), (0.05, 100.0, 95.0), (0.125, 1000.0, 875.0), (0.5, 3.0, 2.0)]
            {
                let mut c = at(&spec(1.0, b), segments);
                c.on_congestion(&signal);
                assert!((c.window() / S - expected).abs() < 1e-9, "{b}: {}", c.window());
                assert_eq!(c.window(), c.ssthresh());
            }
        }
        let mut c = at(&spec(1.0, 0.25), 100.0);
        c.on_congestion(&Signal::Rto { now, inflight });
        assert_eq!((c.window(), c.ssthresh()), (S, 75.0 * S));
    }

    /// sqrt(A (2 - B) / (2 B p)): sqrt(1.5/p) for Reno, sqrt(7/p) for A = 2 and B = 1/4, sqrt(195/p) for ten streams of
    /// Reno.
    #[test]
    fn the_response_function_is_that_of_aimd() {
        for (a, b, period, expected) in [
            (1.0, 0.5, 1_000, 38.73),
            (1.0, 0.5, 10_000, 122.47),
            (2.0, 0.25, 10_000, 264.58),
            (10.0, 0.05, 1_000, 441.59),
            (10.0, 0.05, 10_000, 1396.4),
        ] {
            let mean = testing::mean_window(&spec(a, b), period, 0.1, expected, 30);
            assert!((mean / expected - 1.0).abs() < 0.015, "{mean} is not {expected}");
        }
    }
}
