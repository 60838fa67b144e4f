//! DCTCP (RFC 8257): the cut follows how many bytes met congestion; everything else is Reno's (RFC 5681).
//!
//! Once per window of data, F being the share of the acknowledged bytes that were marked, section 3.3:
//!
//! ```text
//! alpha = (1 - g) alpha + g F,   g = 1/16, alpha = 1 at the beginning
//! ```
//!
//! At an ECN-Echo, at most once per window of data (section 3.3), and at a loss (section 3.5):
//!
//! ```text
//! ECN-Echo:  cwnd = cwnd (1 - alpha / 2),               ssthresh = cwnd
//! loss:      ssthresh = max(FlightSize / 2, 2 SMSS),    cwnd = ssthresh       (timer: cwnd = 1 SMSS)
//! ```
//!
//! A loss counts although an ECN-Echo has cut the window in the same window of data: section 3.5 asks for the reaction of
//! conventional TCP to losses, once for all of them.
//!
//! The window does not fall below 2 SMSS by an ECN-Echo. Growth is Reno's, `cwnd += SMSS * acked / cwnd` (section 3.4).
//! The ACK that crosses the end of a window of data counts in that window, as in section 3.3; the first ACK ends one.
//!
//! Left out: what the receiver does (an ACK whenever the mark changes, section 3.2) belongs to TCP; Linux's
//! fixed-point alpha.

use super::CongestionControl;
use crate::declare::{parameters, states};
use crate::marks::Marks;
use crate::registry::Model;
use crate::round::Round;
use crate::{Ack, NeededMarks, Needs, ReduceFrom, Signal, Traits, Window};

parameters! {
    /// Weight of the newest window of data in alpha.
    g: f64 = 0.0625, "RFC 8257 section 4.2" (min = 0, max = 1);
    /// alpha before the first window of data: 1 takes the first mark for a loss.
    alpha_initial: f64 = 1.0, "RFC 8257 section 3.3" [min = 0, max = 1];
    /// The share of the window that a loss leaves.
    beta: f64 = 0.5, "RFC 8257 section 3.5, RFC 5681 equation 4" (min = 0, max = 1);
    /// The window that is cut at a loss: `flight` (what was in flight) or `cwnd`.
    reduce_from: ReduceFrom = ReduceFrom::Flight, "RFC 8257 section 3.5, RFC 5681 equation 4; Linux tcp_dctcp.c (cwnd)";
}

#[derive(Clone, Debug)]
pub struct Dctcp {
    p: Parameters,
    marks: Marks,
    round: Round,
}

impl Model for Dctcp {
    type Parameters = Parameters;
    const NEEDS: Needs = Needs::LOSS_AFTER_MARK;

    fn new(p: &Parameters) -> Dctcp {
        Dctcp { p: p.clone(), marks: Marks::new(p.alpha_initial), round: Round::default() }
    }

    fn traits(_: &Parameters) -> Traits {
        let by = &["dctcp", "classic", "accurate"];
        Traits {
            needs_marks: Some(NeededMarks { by, without: "without marks dctcp is Reno" }),
            counts_segments: true,
            ..Traits::default()
        }
    }
}

states! {
    Dctcp, cc, value;
    "alpha" ["1"] "moving share of the bytes that met congestion":
        cc.marks.alpha, (0.0..=1.0).contains(&value) => cc.marks.alpha = value;
}

impl CongestionControl for Dctcp {
    #[inline]
    fn on_delivery(&mut self, _w: &mut Window, ack: &Ack) {
        self.marks.count(ack);
        if self.round.advance(ack) {
            self.marks.end_round(self.p.g);
        }
    }

    #[inline]
    fn on_ack(&mut self, w: &mut Window, ack: &Ack) {
        w.grow(w.mss, ack);
    }

    /// alpha is a measurement: no event changes it, so none has to be undone.
    fn on_congestion(&mut self, w: &mut Window, signal: &Signal) {
        let reduced = match signal {
            Signal::Ecn { .. } => w.cwnd * (1.0 - self.marks.alpha / 2.0),
            _ => self.p.beta * self.p.reduce_from.bytes(w, signal.inflight()),
        };
        w.cut(signal, reduced);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{MSS, loss, state};
    use crate::{Ack, Controller, Signal, Spec};
    use elephan_units::Time;
    use serde_json::json;

    const S: f64 = MSS as f64;

    /// In congestion avoidance at a window of 20 segments.
    fn dctcp(table: serde_json::Value) -> Controller {
        let spec = Spec::with("dctcp", table.as_object().unwrap()).unwrap();
        let mut c = Controller::new(&spec, MSS, 20 * MSS);
        c.poke("ssthresh", 20.0 * S);
        c
    }

    /// A window of data of 20 segments, `marked` of them marked; the window of the controller does not grow.
    fn window_of_data(c: &mut Controller, marked: u64) {
        for n in 0..20 {
            let ce = if n < marked { MSS } else { 0 };
            c.on_ack(&Ack { acked: MSS, ce, inflight: 20 * MSS, app_limited: true, ..Ack::default() });
        }
    }

    fn ecn() -> Signal {
        Signal::Ecn { now: Time::ZERO, inflight: 20 * MSS }
    }

    fn near(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-12, "{value} is not {expected}");
    }

    /// Section 3.3 with F = 0: 1, 15/16, 225/256, ... (15/16)^10 = 15^10 / 2^40.
    #[test]
    fn without_marks_alpha_falls_by_a_sixteenth_per_window() {
        let mut c = dctcp(json!({}));
        assert_eq!(state(&c, "alpha"), 1.0);
        // The first ACK ends the empty window before it (WindowEnd begins at SND.UNA).
        c.on_ack(&Ack { acked: MSS, inflight: 20 * MSS, app_limited: true, ..Ack::default() });
        assert_eq!(state(&c, "alpha"), 0.9375);
        window_of_data(&mut c, 0);
        assert_eq!(state(&c, "alpha"), 0.87890625);
        for _ in 0..8 {
            window_of_data(&mut c, 0);
        }
        near(state(&c, "alpha"), 576_650_390_625.0 / 1_099_511_627_776.0);
    }

    /// Half of the bytes marked: alpha = 15/16 * 0 + 1/16 * 1/2, and then 1/32 (1 + 15/16); it tends to 1/2.
    #[test]
    fn alpha_follows_the_share_of_marked_bytes() {
        let mut c = dctcp(json!({ "alpha_initial": 0.0 }));
        c.on_ack(&Ack { acked: MSS, inflight: 20 * MSS, app_limited: true, ..Ack::default() });
        window_of_data(&mut c, 10);
        near(state(&c, "alpha"), 0.03125);
        window_of_data(&mut c, 10);
        near(state(&c, "alpha"), 0.060_546_875);
        for _ in 0..500 {
            window_of_data(&mut c, 10);
        }
        near(state(&c, "alpha"), 0.5);
    }

    /// cwnd (1 - alpha / 2): half at 1, 0.9 at 0.2, nothing at 0.
    #[test]
    fn an_ecn_echo_cuts_by_half_of_alpha() {
        for (alpha, expected) in [(1.0, 10.0), (0.5, 15.0), (0.2, 18.0), (0.0, 20.0)] {
            let mut c = dctcp(json!({}));
            c.poke("alpha", alpha);
            c.on_congestion(&ecn());
            assert_eq!((c.window(), c.ssthresh()), (expected * S, expected * S));
        }
    }

    /// Section 3.5: a loss halves whatever alpha is; a timer leaves a segment. alpha stays.
    #[test]
    fn losses_are_those_of_reno() {
        let mut c = dctcp(json!({ "alpha_initial": 0.25 }));
        c.on_congestion(&loss(0.0, 20.0));
        assert_eq!((c.window(), c.ssthresh()), (10.0 * S, 10.0 * S));
        c.on_congestion(&Signal::Rto { now: Time::ZERO, inflight: 8 * MSS });
        assert_eq!((c.window(), c.ssthresh()), (S, 4.0 * S));
        assert_eq!(state(&c, "alpha"), 0.25);
        let mut c = dctcp(json!({ "reduce_from": "cwnd" }));
        c.on_congestion(&loss(0.0, 12.0));
        assert_eq!(c.window(), 10.0 * S);
    }

    /// RFC 5681 equation 3, a segment a round trip; and no ACK without data can spoil alpha.
    #[test]
    fn growth_is_that_of_reno() {
        let mut c = dctcp(json!({}));
        c.on_ack(&Ack { acked: 20 * MSS, inflight: 20 * MSS, ..Ack::default() });
        assert_eq!(c.window(), 21.0 * S);
        c.on_ack(&Ack::default());
        assert_eq!((c.window(), state(&c, "alpha")), (21.0 * S, 0.9375));
    }
}
