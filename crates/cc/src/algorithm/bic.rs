//! BIC (Xu, Harfoush and Rhee 2004): a binary search for the window that met congestion, then probing beyond it.
//!
//! Windows in segments, x = |cwnd - W_max|.
//!
//! ```text
//! d     = x / 2 below W_max, x beyond it;   Smin where x <= near;   between Smin and Smax
//! cwnd += d / cwnd per acknowledged segment, at most 1 (slow start);   1 / cwnd where cwnd <= low_window
//! event:  W_max = cwnd, or cwnd (1 + beta) / 2 if cwnd < W_max (fast convergence)
//!         ssthresh = max(beta cwnd, 2), beta = 1/2 where cwnd <= low_window;   cwnd = ssthresh
//! timer:  the same ssthresh, cwnd = 1, W_max forgotten
//! ```
//!
//! Below W_max that is half the way a round trip, at most Smax; beyond it the distance doubles a round trip until the
//! step is Smax. While no event has set W_max it is 0, so the step is Smax.
//! Smax = 32, Smin = 0.01, beta = 0.875, low_window = 14, near = 0 (only the limit Smin). Preset `linux` (tcp_bic.c):
//! Smax = 16, beta = 819/1024, a quarter of the way below W_max and a third beyond, 1/5 of a segment a round trip within
//! four segments of it, at least 5 % a round trip while there is no W_max, and all of it times the segments that an ACK acknowledges in
//! the mean (two with delayed ACKs); an undone event keeps the W_max that it set.
//!
//! Chosen where the paper is silent: the timer forgets W_max (Linux), probing keeps it, an event up to low_window sets
//! it, a window of exactly low_window is Reno's (Linux). Left out: integer windows of kernels.

use super::CongestionControl;
use crate::declare::{loss_based, states};
use crate::registry::Model;
use crate::{Ack, Signal, Traits, Window};
use elephan_units::{InvalidParameter, Time};

/// Segments that an ACK is taken to acknowledge before any has come, and the weight of each (Linux `tcp_bic.c`).
const RATIO_FIRST: f64 = 2.0;
const RATIO_WEIGHT: f64 = 1.0 / 16.0;
/// What an event leaves up to `low_window`, as of Reno (RFC 5681 equation 4).
const RENO_BETA: f64 = 0.5;

loss_based! {
    reduce_from: Cwnd, "Xu 2004; Linux tcp_bic.c (cwnd)";
    /// Smax: most segments a round trip.
    s_max: f64 = 32.0, "Xu 2004: 32; Linux tcp_bic.c max_increment 16" (min = 0);
    /// Smin: fewest segments a round trip.
    s_min: f64 = 0.01, "Xu 2004: 0.01; Linux tcp_bic.c BICTCP_B / smooth_part: 4/20" (min = 0);
    /// Segments from W_max within which the step is Smin.
    near: f64 = 0.0, "Xu 2004: none; Linux tcp_bic.c BICTCP_B 4" [min = 0];
    /// Divisor of the distance to W_max that gives the step below it.
    search_divisor: f64 = 2.0, "Xu 2004: 2; Linux tcp_bic.c BICTCP_B 4" [min = 1];
    /// Divisor of the distance from W_max that gives the step beyond it.
    probe_divisor: f64 = 1.0, "Xu 2004: 1; Linux tcp_bic.c BICTCP_B - 1" [min = 1];
    /// Least growth in a round trip while no event has set W_max, as a share of the window.
    first_growth: f64 = 0.0, "Linux tcp_bic.c: 20 ACKs a segment" below [min = 0, max = 1];
    /// Beyond `low_window` the step is for each ACK as if it acknowledged so many segments as ACKs do in the mean (a weight of 1/16 for
    /// each ACK, two segments to begin with), so that delayed ACKs do not slow the congestion control down.
    ack_ratio: bool = false, "Linux tcp_bic.c delayed_ack, ACK_RATIO_SHIFT 4; Xu 2004: no";
    /// The share of the window that a congestion event leaves.
    beta: f64 = 0.875, "Xu 2004: 0.875; Linux tcp_bic.c beta 819/1024" (min = 0, max = 1);
    /// Window in segments up to which the congestion control is Reno; 0 switches that off.
    low_window: f64 = 14.0, "Xu 2004; Linux tcp_bic.c low_window" [min = 0];
    /// An event below the last W_max lowers W_max further, so that new flows find room sooner.
    fast_convergence: bool = true, "Xu 2004; Linux tcp_bic.c fast_convergence";
    /// An undone event gives W_max back, not the window alone.
    undo_restores: bool = true, "assumption, as RFC 9438 section 4.9; Linux tcp_reno_undo_cwnd: the window alone";
}

#[derive(Clone, Debug)]
pub struct Bic {
    p: Parameters,
    /// Bytes; 0 while no event has set it.
    w_max: f64,
    /// W_max and `ratio` before the last event.
    prior: (f64, f64),
    /// Segments that an ACK acknowledges in the mean.
    ratio: f64,
}

impl Model for Bic {
    type Parameters = Parameters;
    const PRESETS: &'static [&'static str] = &["paper", "linux"];

    fn new(p: &Parameters) -> Bic {
        Bic { p: p.clone(), w_max: 0.0, prior: (0.0, RATIO_FIRST), ratio: RATIO_FIRST }
    }

    fn preset(name: &str) -> Parameters {
        let paper = Parameters::default();
        match name {
            "linux" => Parameters {
                s_max: 16.0,
                s_min: 0.2,
                near: 4.0,
                search_divisor: 4.0,
                probe_divisor: 3.0,
                first_growth: 0.05,
                ack_ratio: true,
                beta: 819.0 / 1024.0,
                undo_restores: false,
                ..paper
            },
            _ => paper,
        }
    }

    fn check(p: &Parameters) -> Result<(), InvalidParameter> {
        InvalidParameter::between("s_min", p.s_min, 0.0, p.s_max)
    }

    fn traits(p: &Parameters) -> Traits {
        Traits { undoes_internals: p.undo_restores, counts_segments: true, ..Traits::default() }
    }
}

impl Bic {
    fn is_reno(&self, w: &Window) -> bool {
        w.cwnd <= self.p.low_window * w.mss
    }

    /// Bytes by which the window grows in a round trip.
    fn step(&self, w: &Window) -> f64 {
        if self.is_reno(w) {
            return w.mss;
        }
        let p = &self.p;
        let beyond = w.cwnd - self.w_max;
        let divisor = if beyond < 0.0 { p.search_divisor } else { p.probe_divisor };
        let distance = beyond.abs() / w.mss;
        let segments = if distance <= p.near { p.s_min } else { (distance / divisor).clamp(p.s_min, p.s_max) };
        let least = if self.w_max == 0.0 { p.first_growth * w.cwnd } else { 0.0 };
        let ratio = if p.ack_ratio { self.ratio } else { 1.0 };
        (ratio * (segments * w.mss).max(least)).min(w.cwnd)
    }
}

states! {
    Bic, cc, value;
    "w_max" ["B"] "window that is searched for (W_max); 0 while there is none": cc.w_max, value >= 0.0 => cc.w_max = value;
    "ack_ratio" ["segments"] "segments that an ACK acknowledges in the mean": cc.ratio, value > 0.0 => cc.ratio = value;
}

impl CongestionControl for Bic {
    #[inline]
    fn on_ack(&mut self, w: &mut Window, ack: &Ack) {
        w.grow(self.step(w), ack);
    }

    /// Outside recovery, in slow start too (Linux `bictcp_acked`).
    #[inline]
    fn on_delivery(&mut self, w: &mut Window, ack: &Ack) {
        self.ratio += RATIO_WEIGHT * (ack.acked as f64 / w.mss - self.ratio);
    }

    fn on_ack_in_recovery(&mut self, _w: &mut Window, _ack: &Ack) {}

    fn on_congestion(&mut self, w: &mut Window, signal: &Signal) {
        let p = &self.p;
        let left = if self.is_reno(w) { RENO_BETA } else { p.beta };
        let reduced = left * p.reduce_from.bytes(w, signal.inflight());
        let converge = p.fast_convergence && w.cwnd < self.w_max;
        self.prior = (self.w_max, self.ratio);
        self.w_max = if converge { 0.5 * (1.0 + p.beta) * w.cwnd } else { w.cwnd };
        w.cut(signal, reduced);
        if matches!(signal, Signal::Rto { .. }) {
            (self.w_max, self.ratio) = (0.0, RATIO_FIRST);
        }
    }

    fn on_undo(&mut self, _w: &mut Window, _now: Time) {
        if self.p.undo_restores {
            (self.w_max, self.ratio) = self.prior;
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{MSS, ack, ack_limited, loss, state};
    use crate::{Controller, Signal, Spec};
    use elephan_units::Time;
    use serde_json::json;

    const S: f64 = MSS as f64;

    fn bic(table: serde_json::Value) -> Controller {
        Controller::new(&Spec::with("bic", table.as_object().unwrap()).unwrap(), MSS, 10 * MSS)
    }

    /// In congestion avoidance at a window of `segments`, searching for `w_max`.
    fn at(preset: &str, segments: f64, w_max: f64) -> Controller {
        let mut c = bic(json!({ "preset": preset, "ack_ratio": false }));
        c.poke("cwnd", segments * S);
        c.poke("ssthresh", segments * S);
        c.poke("w_max", w_max * S);
        c
    }

    fn near(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-9 * expected.max(1.0), "{value} is not {expected}");
    }

    #[test]
    fn the_default_is_the_papers() {
        let paper = Spec::with("bic", json!({ "preset": "paper" }).as_object().unwrap()).unwrap();
        assert_eq!(Spec::named("bic").unwrap(), paper);
    }

    /// Growth by ACKs of one window. Paper: half the way up to W_max, at most 32; from there the distance, 0.01 to 32.
    /// Linux: a quarter of the way, at most 16; 0.2 within four segments; a third of the distance, at most 16; at least
    /// 5 % without W_max; one segment up to and with 14 (`bictcp_update`).
    #[test]
    fn growth_in_a_round_trip() {
        for (segments, w_max, paper, linux) in [
            (875.0, 1000.0, 32.0, 16.0),
            (980.0, 1000.0, 10.0, 5.0),
            (998.0, 1000.0, 1.0, 0.2),
            (999.99, 1000.0, 0.01, 0.2),
            (1000.0, 1000.0, 0.01, 0.2),
            (1003.0, 1000.0, 3.0, 0.2),
            (1010.0, 1000.0, 10.0, 10.0 / 3.0),
            (1047.0, 1000.0, 32.0, 47.0 / 3.0),
            (1100.0, 1000.0, 32.0, 16.0),
            (1000.0, 0.0, 32.0, 50.0),
            (100.0, 0.0, 32.0, 16.0),
            (30.0, 0.0, 30.0, 10.0),
            (20.0, 1000.0, 20.0, 16.0),
            (15.0, 1000.0, 15.0, 15.0),
            (14.0, 1000.0, 1.0, 1.0),
            (13.0, 1000.0, 1.0, 1.0),
        ] {
            for (preset, expected) in [("paper", paper), ("linux", linux)] {
                let mut c = at(preset, segments, w_max);
                c.on_ack(&ack(0.0, (segments * S).round() as u64, 0.1));
                near(c.window() / S - segments, expected);
                let mut c = at(preset, segments, w_max);
                c.on_ack(&ack_limited(0.0, MSS, 0.1));
                assert_eq!(c.window(), segments * S);
            }
        }
    }

    /// `bictcp_update`: cnt = cwnd / 16 divided by the ratio, which begins at two segments an ACK. With ACKs of two segments the window
    /// grows by 32 a round trip; an ACK of one makes the ratio 2 - 1/16. Up to 14 segments it counts for nothing, and a timeout forgets it.
    #[test]
    fn linux_grows_by_the_segments_of_an_ack() {
        let mut c = bic(json!({ "preset": "linux" }));
        for (name, value) in [("cwnd", 800.0 * S), ("ssthresh", 800.0 * S), ("w_max", 1000.0 * S)] {
            c.poke(name, value);
        }
        c.on_ack(&ack(0.0, 2 * MSS, 0.1));
        near(c.window() / S, 800.0 + 2.0 * 32.0 / 800.0);
        assert_eq!(state(&c, "ack_ratio"), 2.0);
        c.poke("cwnd", 800.0 * S);
        c.on_ack(&ack(0.0, MSS, 0.1));
        near(c.window() / S, 800.0 + 1.9375 * 16.0 / 800.0);
        c.poke("cwnd", 10.0 * S);
        c.poke("ssthresh", 10.0 * S);
        c.on_ack(&ack(0.0, MSS, 0.1));
        near(c.window() / S, 10.1);
        c.on_congestion(&Signal::Rto { now: Time::ZERO, inflight: 10 * MSS });
        assert_eq!(state(&c, "ack_ratio"), 2.0);
    }

    /// Half of 125 and of 93 segments is more than 32, half of 61 is not. Beyond W_max the distance doubles.
    #[test]
    fn the_search_halves_the_way_and_the_probe_doubles_it() {
        let mut c = at("paper", 1000.0, 0.0);
        c.on_congestion(&loss(0.0, 1000.0));
        for expected in [907.0, 939.0, 969.5, 984.75, 992.375, 996.1875] {
            c.on_ack(&ack(0.0, c.window().round() as u64 + 1, 0.1));
            near(c.window() / S, expected);
        }
        let mut c = at("paper", 1001.0, 1000.0);
        for expected in [1002.0, 1004.0, 1008.0, 1016.0, 1032.0, 1064.0, 1096.0] {
            c.on_ack(&ack(0.0, c.window() as u64, 0.1));
            near(c.window() / S, expected);
        }
    }

    /// 1000 to 875 (Linux 799.8); up to and with 14 segments to a half (Linux `bictcp_recalc_ssthresh`), 15 to 13.125. An event at 900 below W_max: 900 * 1.875 / 2 = 843.75.
    #[test]
    fn the_cut_and_fast_convergence() {
        let (now, inflight) = (Time::ZERO, 10 * MSS);
        for signal in [loss(0.0, 10.0), Signal::Ecn { now, inflight }, Signal::LocalDrop { now, inflight }] {
            for (preset, segments, expected) in [
                ("paper", 1000.0, 875.0),
                ("linux", 1000.0, 799.8046875),
                ("paper", 15.0, 13.125),
                ("paper", 14.0, 7.0),
                ("linux", 14.0, 7.0),
                ("paper", 12.0, 6.0),
                ("linux", 3.0, 2.0),
            ] {
                let mut c = at(preset, segments, 0.0);
                c.on_congestion(&signal);
                near(c.window() / S, expected);
                assert_eq!((c.window(), state(&c, "w_max")), (c.ssthresh(), segments * S));
            }
        }
        let mut c = at("paper", 900.0, 1000.0);
        c.on_congestion(&loss(0.0, 900.0));
        assert_eq!((c.window(), state(&c, "w_max")), (787.5 * S, 843.75 * S));
        let mut c = bic(json!({ "fast_convergence": false }));
        c.poke("w_max", 1000.0 * S);
        c.poke("cwnd", 900.0 * S);
        c.on_congestion(&loss(0.0, 900.0));
        assert_eq!((c.window(), state(&c, "w_max")), (787.5 * S, 900.0 * S));
    }

    #[test]
    fn a_timeout_forgets_w_max_and_undo_restores_it() {
        let mut c = at("paper", 900.0, 1000.0);
        c.on_congestion(&Signal::Rto { now: Time::ZERO, inflight: 900 * MSS });
        assert_eq!((c.window(), c.ssthresh(), state(&c, "w_max")), (S, 787.5 * S, 0.0));
        c.on_congestion(&Signal::Undo { now: Time::ZERO });
        assert_eq!((c.window(), c.ssthresh(), state(&c, "w_max")), (900.0 * S, 900.0 * S, 1000.0 * S));
    }

    /// Linux `tcp_reno_undo_cwnd` gives the window back alone.
    #[test]
    fn linux_keeps_w_max_of_an_undone_event() {
        let mut c = at("linux", 900.0, 0.0);
        c.on_congestion(&loss(0.0, 900.0));
        c.on_congestion(&Signal::Undo { now: Time::ZERO });
        assert_eq!((c.window(), state(&c, "w_max")), (900.0 * S, 900.0 * S));
    }

    #[test]
    fn parameters_are_checked() {
        for table in [json!({ "s_min": 33 }), json!({ "beta": 1 }), json!({ "s_max": 0 }), json!({ "near": -1 })] {
            assert!(Spec::with("bic", table.as_object().unwrap()).is_err(), "{table}");
        }
    }
}
