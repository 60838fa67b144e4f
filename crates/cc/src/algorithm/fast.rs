//! FAST TCP (Jin, Wei and Low 2004; Wei et al. 2006): the window goes to where `alpha` segments stand in queues.
//!
//! Windows in segments; baseRTT is the smallest round-trip time, RTT a moving mean, every second round trip:
//!
//! ```text
//! w = min(2 w, (1 - gamma) w + gamma (baseRTT / RTT w + alpha))
//! RTT: weight min(3 / w, 1/4) per sample
//! loss: ssthresh = max(w / 2, 2), w = ssthresh       (timer: w = 1)
//! ```
//!
//! In equilibrium w (1 - baseRTT / RTT) = alpha: each flow has alpha segments queued and a rate of
//! alpha / (RTT - baseRTT), whatever its round-trip time. The change is spread over the ACKs of one round trip; the window
//! rests in the next.
//!
//! Presets by the rate of the path: `1-gbps` (the default, alpha = 200), `100-mbps` (20), `10-mbps` (8).
//!
//! Slow start ends at a round whose smallest round-trip time stands for more than `slow_start_queue` queued segments.
//! Left out: the control of bursts and of the queueing estimate at 20 ms, and the reaction to loss by the rate of loss.

use super::CongestionControl;
use crate::declare::{parameters, states};
use crate::event::SSTHRESH_MIN_SEGMENTS;
use crate::registry::Model;
use crate::round::{Round, known_s};
use crate::{Ack, Needs, Signal, Traits, Window};
use elephan_units::{Span, Time};

parameters! {
    /// Segments that the flow keeps in queues; 8, 20, 200 for 10, 100, 1000 Mbit/s.
    alpha: f64 = 200.0, "Jin, Wei and Low 2004 (1 Gbit/s)" (min = 0);
    /// How much of the way the window goes in one change.
    gamma: f64 = 0.5, "Jin, Wei and Low 2004" above [min = 0, max = 1];
    /// Samples of a window that the mean of the round-trip time reaches back, as its weight `samples` / w of one.
    samples: f64 = 3.0, "Jin, Wei and Low 2004: min(3 / w, 1/4)" (min = 0);
    /// Most that one sample weighs.
    weight_max: f64 = 0.25, "Jin, Wei and Low 2004: min(3 / w, 1/4)" above [min = 0, max = 1];
    /// The share of the window that a loss leaves.
    beta: f64 = 0.5, "Jin, Wei and Low 2004; RFC 5681 equation 4" (min = 0, max = 1);
    /// Queued segments beyond which slow start ends.
    slow_start_queue: f64 = 1.0, "assumption: as Vegas ends it (gamma = 1)" (min = 0);
}

/// The change under way: bytes of window per acknowledged byte, for so many acknowledged bytes.
#[derive(Clone, Copy, Debug, Default)]
struct Change {
    slope: f64,
    left: f64,
}

#[derive(Clone, Debug)]
pub struct Fast {
    p: Parameters,
    base_rtt: Span,
    /// Seconds, 0 before the first sample.
    mean_rtt: f64,
    round: Round,
    round_rtt: Span,
    new_round: bool,
    /// The window changed in the last round and rests in this one.
    rests: bool,
    change: Change,
    /// As it was before the last event.
    prior: Change,
}

impl Model for Fast {
    type Parameters = Parameters;
    const PRESETS: &'static [&'static str] = &["1-gbps", "100-mbps", "10-mbps"];
    const NEEDS: Needs = Needs::ALL_ACKED.and(Needs::EACH_DELAY);

    fn preset(name: &str) -> Parameters {
        let default = Parameters::default();
        let alpha = [("10-mbps", 8.0), ("100-mbps", 20.0)].iter().find(|(rate, _)| *rate == name);
        Parameters { alpha: alpha.map_or(default.alpha, |(_, alpha)| *alpha), ..default }
    }

    fn new(p: &Parameters) -> Fast {
        Fast {
            p: p.clone(),
            base_rtt: Span::MAX,
            mean_rtt: 0.0,
            round: Round::default(),
            round_rtt: Span::MAX,
            new_round: false,
            rests: false,
            change: Change::default(),
            prior: Change::default(),
        }
    }

    fn traits(_: &Parameters) -> Traits {
        Traits { own_start: true, ..Traits::default() }
    }
}

states! {
    Fast, cc, value;
    "base_rtt" ["s"] "smallest round-trip time, 0 until it is measured":
        known_s(cc.base_rtt), value > 0.0 => cc.base_rtt = Span::from_seconds(value);
    "mean_rtt" ["s"] "moving mean of the round-trip time, 0 until it is measured":
        cc.mean_rtt, value > 0.0 => cc.mean_rtt = value;
}

impl CongestionControl for Fast {
    fn on_delivery(&mut self, w: &mut Window, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            self.measure(rtt, w.cwnd / w.mss);
        }
        self.new_round = self.round.advance(ack);
        if self.new_round {
            let round_rtt = std::mem::replace(&mut self.round_rtt, Span::MAX);
            let known = round_rtt != Span::MAX && w.cwnd >= SSTHRESH_MIN_SEGMENTS * w.mss;
            if known && w.in_slow_start() && self.queued(w, round_rtt.seconds()) > self.p.slow_start_queue * w.mss {
                w.ssthresh = w.cwnd;
            }
        }
    }

    fn on_ack(&mut self, w: &mut Window, ack: &Ack) {
        if std::mem::take(&mut self.new_round) {
            self.change = if self.rests { Change::default() } else { self.plan(w) };
            self.rests = !self.rests;
        }
        let acked = (ack.acked as f64).min(self.change.left);
        self.change.left -= acked;
        if !ack.app_limited || self.change.slope < 0.0 {
            w.cwnd += self.change.slope * acked;
            // Or slow start would raise again what was lowered.
            w.leave_slow_start();
        }
    }

    fn on_congestion(&mut self, w: &mut Window, signal: &Signal) {
        self.prior = std::mem::take(&mut self.change);
        w.cut(signal, self.p.beta * w.cwnd);
    }

    fn on_undo(&mut self, _w: &mut Window, _now: Time) {
        self.change = self.prior;
    }
}

impl Fast {
    fn measure(&mut self, rtt: Span, segments: f64) {
        self.base_rtt = self.base_rtt.min(rtt);
        self.round_rtt = self.round_rtt.min(rtt);
        let weight = if self.mean_rtt > 0.0 { (self.p.samples / segments).min(self.p.weight_max) } else { 1.0 };
        self.mean_rtt += weight * (rtt.seconds() - self.mean_rtt);
    }

    /// Bytes of the window that stand in queues when a round trip takes `rtt` seconds.
    fn queued(&self, w: &Window, rtt: f64) -> f64 {
        let share = if rtt > 0.0 { self.base_rtt.seconds() / rtt } else { 1.0 };
        w.cwnd * (1.0 - share.min(1.0))
    }

    /// The change to the new window, over the ACKs of one window.
    fn plan(&self, w: &Window) -> Change {
        let step = self.p.gamma * (self.p.alpha * w.mss - self.queued(w, self.mean_rtt));
        Change { slope: (step / w.cwnd).min(1.0), left: w.cwnd }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{MSS, loss, state};
    use crate::{Ack, Controller, Signal, Spec};
    use elephan_units::{Span, Time};
    use serde_json::json;

    const S: f64 = MSS as f64;

    /// In congestion avoidance at a window of `segments`; a round-trip time of 100 ms, `mean_ms` in the mean.
    fn fast(table: serde_json::Value, segments: u64, mean_ms: u64) -> Controller {
        let spec = Spec::with("fast", table.as_object().unwrap()).unwrap();
        let mut c = Controller::new(&spec, MSS, segments * MSS);
        c.poke("ssthresh", 2.0 * S);
        c.poke("base_rtt", 0.1);
        c.poke("mean_rtt", mean_ms as f64 / 1e3);
        c
    }

    fn ack(acked: u64, inflight: u64, rtt_ms: Option<u64>) -> Ack {
        let rtt = rtt_ms.map(Span::from_ms);
        Ack { acked: acked * MSS, inflight: inflight * MSS, rtt, ..Ack::default() }
    }

    fn near(value: f64, expected: f64) {
        assert!((value / expected - 1.0).abs() < 1e-9, "{value} is not {expected}");
    }

    /// Where nothing queues half of alpha is added: 100, 10 and 4 segments for 1000, 100 and 10 Mbit/s.
    #[test]
    fn presets_are_alpha_by_the_rate_of_the_path() {
        for (preset, after) in [("1-gbps", 1100.0), ("100-mbps", 1010.0), ("10-mbps", 1004.0)] {
            let mut c = fast(json!({ "preset": preset }), 1000, 100);
            (0..1000).for_each(|_| c.on_ack(&ack(1, 1000, None)));
            near(c.window() / S, after);
        }
    }

    /// alpha 20, gamma 1/2, baseRTT 100 ms. At 125 ms a fifth of the window is queued: 1/2 (1000 + 800 + 20) = 910; at
    /// 100 ms nothing: 1010; with 100 of 20 segments queued in equilibrium nothing moves; from 8 no more than double.
    #[test]
    fn the_window_goes_half_the_way_to_alpha_queued_segments() {
        for (segments, mean_ms, after) in
            [(1000, 125, 910.0), (1000, 100, 1010.0), (100, 125, 100.0), (8, 100, 16.0), (80, 125, 82.0)]
        {
            let mut c = fast(json!({ "alpha": 20.0 }), segments, mean_ms);
            for _ in 0..segments {
                c.on_ack(&ack(1, segments, None));
            }
            near(c.window() / S, after);
        }
        let mut c = fast(json!({ "alpha": 20.0, "gamma": 1.0 }), 1000, 125);
        c.on_ack(&ack(1000, 1000, None));
        near(c.window() / S, 820.0);
    }

    /// Half of the change comes with half of the ACKs; the round after rests; the next changes again.
    #[test]
    fn the_window_changes_in_one_round_and_rests_in_the_next() {
        let mut c = fast(json!({ "alpha": 20.0 }), 1000, 100);
        c.on_ack(&ack(500, 1000, None));
        near(c.window() / S, 1005.0);
        c.on_ack(&ack(500, 500, None));
        near(c.window() / S, 1010.0);
        c.on_ack(&ack(1, 1000, None));
        c.on_ack(&ack(999, 999, None));
        near(c.window() / S, 1010.0);
        c.on_ack(&ack(1010, 1010, None));
        near(c.window() / S, 1020.0);
    }

    /// Weight 3 / w, at most 1/4: 100 ms and then 140 ms are 110 ms at 4 segments, 101.2 ms at 100.
    #[test]
    fn the_mean_round_trip_time_follows_the_window() {
        for (segments, mean) in [(4, 0.11), (100, 0.1012)] {
            let mut c = fast(json!({}), segments, 100);
            c.on_ack(&Ack { app_limited: true, ..ack(1, segments, Some(140)) });
            near(state(&c, "mean_rtt"), mean);
            near(state(&c, "base_rtt"), 0.1);
        }
    }

    /// A pipe of 1000 segments a second and 100 ms (100 segments): alpha = 20 more are queued, 120 ms.
    #[test]
    fn alpha_segments_stand_in_the_queue() {
        let spec = Spec::with("fast", json!({ "alpha": 20.0 }).as_object().unwrap()).unwrap();
        let mut c = Controller::new(&spec, MSS, 10 * MSS);
        for _ in 0..100 {
            let segments = (c.window() / S) as u64;
            let rtt = Span::from_seconds((c.window() / S / 1000.0).max(0.1));
            for n in 0..segments {
                c.on_ack(&Ack { acked: MSS, inflight: (segments - n) * MSS, rtt: Some(rtt), ..Ack::default() });
            }
        }
        assert!((c.window() / S - 120.0).abs() < 1.0, "{}", c.window());
        assert!((state(&c, "mean_rtt") - 0.12).abs() < 0.001 && !c.in_slow_start());
    }

    #[test]
    fn losses_halve_the_window() {
        let mut c = fast(json!({}), 20, 100);
        c.on_congestion(&loss(0.0, 20.0));
        assert_eq!((c.window(), c.ssthresh()), (10.0 * S, 10.0 * S));
        c.on_congestion(&Signal::Rto { now: Time::ZERO, inflight: 10 * MSS });
        assert_eq!((c.window(), c.ssthresh()), (S, 5.0 * S));
    }

    /// A loss ends the change under way; undone, it goes on.
    #[test]
    fn an_undone_loss_lets_the_change_go_on() {
        let mut c = fast(json!({ "alpha": 20.0 }), 1000, 100);
        c.on_ack(&ack(500, 1000, None));
        let mut cut = c.clone();
        cut.on_congestion(&loss(0.0, 1000.0));
        cut.on_ack(&ack(1, 500, None));
        near(cut.window() / S, 502.5);
        c.on_congestion(&loss(0.0, 1000.0));
        c.on_congestion(&Signal::Undo { now: Time::ZERO });
        c.on_ack(&ack(500, 500, None));
        near(c.window() / S, 1010.0);
    }
}
