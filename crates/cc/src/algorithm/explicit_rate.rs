//! An endpoint that routers tell its fair rate: the sender of the fair-queueing reference of PCP (Anderson et al., NSDI 2006,
//! section 4: "ideal bit-sliced round robin"; a control packet each round trip brings a flow's fair rate and its own queue, and the
//! endpoint sends at that rate with compensation for its own queue).
//!
//! The congestion header of its packets is filled in by queues of kind `fq`: the smallest fair rate of the way and the bytes of
//! this flow that wait there. ACKs bring both back:
//!
//! ```text
//! rate = fair + (target - queue) / (drain_rtts RTT)          target = queue_rtts RTT fair;  RTT: the smallest measured
//!        at least one segment in an RTT
//! cwnd = window_rtts SRTT fair                               a cap, not what steers
//! ```
//!
//! The SYN asks already, so that the first data leaves at the fair rate: a response takes one round trip for the handshake, the
//! transfer, and half a round trip. While no router has answered (a path without one) the congestion control is Reno's, unpaced.
//!
//! The paper does not say how compensation works: `queue_rtts`, `drain_rtts` and `window_rtts` are assumed. Why a queue at all: a
//! change of the fair rate takes a round trip to show at the link. When one of n flows leaves, the others each send
//! 1 / (n (n - 1)) of the link less than they may for an RTT; a queue of RTT fair / (n - 1) bridges that, one RTT for n = 2.
//! 0 keeps queues empty and leaves the link idle then.
//!
//! Loss says nothing about the rate here: a cut keeps the window; after a timeout one segment is sent until an ACK comes.

use super::{CongestionControl, Pacing, Routers};
use crate::declare::{parameters, states};
use crate::registry::Model;
use crate::{Ack, MAX_WINDOW_BYTES, Needs, Signal, Traits, Window};
use elephan_units::Span;

/// RFC 5681 equation 4.
const BETA: f64 = 0.5;

parameters! {
    /// Own queue that is aimed at, in round trips of the fair rate.
    queue_rtts: f64 = 1.0, "assumption: bridges the departure of one of two flows" [min = 0, max = 100];
    /// Round trips in which what the own queue is off is made good.
    drain_rtts: f64 = 2.0, "assumption: a delayed integrator of gain 1/2 settles without ringing" above [min = 0, max = 100];
    /// Most that is in flight, in round trips of the fair rate.
    window_rtts: f64 = 4.0, "assumption" [min = 1, max = 1000];
}

#[derive(Clone, Debug)]
pub struct ExplicitRate {
    p: Parameters,
    /// Fair rate in bit/s and own queue in bytes, once a router has answered.
    fair_bps: f64,
    queue_bytes: f64,
    rtt_min: Span,
    srtt: Span,
}

impl Model for ExplicitRate {
    type Parameters = Parameters;
    const NEEDS: Needs = Needs::RATE_OF_ROUTERS.and(Needs::PACES_PACKETS);

    fn new(p: &Parameters) -> ExplicitRate {
        ExplicitRate { p: p.clone(), fair_bps: 0.0, queue_bytes: 0.0, rtt_min: Span::ZERO, srtt: Span::ZERO }
    }

    fn traits(_: &Parameters) -> Traits {
        Traits { own_start: true, minds_loss: false, minds_marks: false, sets_its_window: true, ..Traits::default() }
    }
}

states! {
    ExplicitRate, cc, value;
    "fair" ["bit/s"] "fair rate that routers have told last, 0 until then":
        cc.fair_bps, value >= 0.0 => cc.fair_bps = value;
    "queue" ["B"] "own queue that routers have told last": cc.queue_bytes, value >= 0.0 => cc.queue_bytes = value;
}

impl ExplicitRate {
    fn is_told(&self) -> bool {
        self.fair_bps > 0.0
    }

    /// The cap of what is in flight; none while no round-trip time is known.
    fn open(&self, w: &mut Window) {
        if self.is_told() {
            let bytes = self.p.window_rtts * self.srtt.seconds() * self.fair_bps / 8.0;
            w.cwnd = if self.srtt > Span::ZERO { bytes.max(2.0 * w.mss) } else { MAX_WINDOW_BYTES };
            w.leave_slow_start();
        }
    }
}

impl CongestionControl for ExplicitRate {
    fn on_establish(&mut self, w: &mut Window) {
        self.open(w);
    }

    fn grows_by_ack(&self) -> bool {
        !self.is_told()
    }

    fn on_delivery(&mut self, w: &mut Window, ack: &Ack) {
        self.rtt_min = ack.min_rtt.or(ack.rtt).unwrap_or(self.rtt_min);
        self.srtt = ack.srtt.or(ack.rtt).unwrap_or(self.srtt);
        let before = w.cwnd;
        self.open(w);
        w.cwnd = if ack.app_limited { w.cwnd.min(before) } else { w.cwnd };
    }

    fn on_ack(&mut self, w: &mut Window, ack: &Ack) {
        w.grow(w.mss, ack);
    }

    fn on_congestion(&mut self, w: &mut Window, signal: &Signal) {
        if self.is_told() {
            w.cut(signal, w.cwnd);
        } else {
            w.cut(signal, BETA * w.cwnd);
        }
    }
}

impl Pacing for ExplicitRate {
    fn pacing_rate(&self, w: &Window) -> Option<f64> {
        let boost = self.fair_bps * self.p.queue_rtts / self.p.drain_rtts;
        let rtt = self.rtt_min.seconds();
        let (drain, least) = if rtt > 0.0 {
            (self.queue_bytes * 8.0 / (self.p.drain_rtts * rtt), w.mss * 8.0 / rtt)
        } else {
            (0.0, 0.0)
        };
        self.is_told().then(|| (self.fair_bps + boost - drain).max(least.min(self.fair_bps)))
    }
}

impl Routers for ExplicitRate {
    fn on_fair_rate(&mut self, w: &mut Window, rate_bps: f64, queue_bytes: f64) {
        if rate_bps.is_finite() && rate_bps > 0.0 {
            (self.fair_bps, self.queue_bytes) = (rate_bps, queue_bytes);
            self.open(w);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{MSS, ack, loss, state};
    use crate::{Ack, Controller, MAX_WINDOW_BYTES, Question, Signal, Spec};
    use elephan_units::{Span, Time};

    const S: f64 = MSS as f64;
    const FAIR: f64 = 8e6;

    fn cc(more: &str) -> Controller {
        let spec = format!(r#"{{ "kind": "explicit_rate"{more} }}"#);
        Controller::new(&serde_json::from_str::<Spec>(&spec).unwrap(), MSS, 10 * MSS)
    }

    /// An ACK of a segment with both round-trip times of 100 ms.
    fn settled() -> Ack {
        let rtt = Some(Span::from_ms(100));
        Ack { min_rtt: rtt, srtt: rtt, ..ack(0.0, MSS, 0.1) }
    }

    fn near(value: Option<f64>, expected: f64) {
        assert!((value.unwrap() - expected).abs() < 1e-6 * expected, "{value:?} is not {expected}");
    }

    /// 8 Mbit/s is 100 000 bytes in 100 ms. Target 100 000, over two round trips: an empty queue lets the rate be 12 Mbit/s, the
    /// target 8, twice the target 4; three times would be 0, but a segment goes in each RTT.
    #[test]
    fn the_own_queue_is_compensated() {
        let mut c = cc("");
        assert_eq!((c.asks_routers(), c.pacing_rate()), (Some(Question::Rate), None));
        c.on_fair_rate(FAIR, 0.0);
        c.on_ack(&settled());
        near(c.pacing_rate(), 12e6);
        for (queue, rate) in [(100_000.0, 8e6), (200_000.0, 4e6), (300_000.0, S * 80.0), (1e9, S * 80.0)] {
            c.on_fair_rate(FAIR, queue);
            near(c.pacing_rate(), rate);
        }
        // Four round trips of the fair rate may be in flight.
        assert_eq!(c.window(), 400_000.0);
        let mut c = cc(r#", "queue_rtts": 0, "drain_rtts": 1"#);
        c.on_fair_rate(FAIR, 0.0);
        c.on_ack(&settled());
        near(c.pacing_rate(), 8e6);
        c.on_fair_rate(FAIR, 25_000.0);
        near(c.pacing_rate(), 6e6);
    }

    /// What the SYN was told holds for the first data: paced, and no initial window stands in the way.
    #[test]
    fn the_handshake_brings_the_rate() {
        let mut c = cc(r#", "queue_rtts": 0"#);
        c.on_fair_rate(FAIR, 0.0);
        c.establish(MSS, 10 * MSS);
        assert!(c.window() > 1e9);
        near(c.pacing_rate(), FAIR);
        // Nor does a timeout before the first round-trip time leave a threshold that no counter holds.
        c.on_congestion(&Signal::Rto { now: Time::ZERO, inflight: MSS });
        assert_eq!(c.ssthresh(), MAX_WINDOW_BYTES);
    }

    /// Losses leave the rate alone; after a timeout one segment, until an ACK comes.
    #[test]
    fn losses_are_not_congestion() {
        let mut c = cc("");
        c.on_fair_rate(FAIR, 100_000.0);
        c.on_ack(&settled());
        c.on_congestion(&loss(0.0, 20.0));
        assert_eq!(c.window(), 400_000.0);
        near(c.pacing_rate(), 8e6);
        c.on_congestion(&Signal::Rto { now: Time::ZERO, inflight: 11 * MSS });
        assert_eq!(c.window(), S);
        c.on_ack(&settled());
        assert_eq!((c.window(), state(&c, "fair")), (400_000.0, FAIR));
    }

    /// No router: slow start and Reno's growth, half the window on loss.
    #[test]
    fn without_routers_it_is_reno() {
        let mut c = cc("");
        c.on_fair_rate(f64::INFINITY, 0.0);
        c.on_ack(&ack(0.0, 10 * MSS, 0.1));
        assert_eq!((c.window(), c.pacing_rate()), (20.0 * S, None));
        c.on_congestion(&loss(0.0, 20.0));
        c.on_ack(&ack(0.0, 10 * MSS, 0.1));
        assert_eq!(c.window(), 11.0 * S);
    }
}
