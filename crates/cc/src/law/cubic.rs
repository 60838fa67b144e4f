//! CUBIC (RFC 9438): the window is a cubic function of the time since the last congestion event.
//!
//! Windows in segments, times in seconds, R the smoothed round-trip time; sections are those of RFC 9438.
//!
//! ```text
//! W_cubic(t) = C (t - K)^3 + W_max,   K = cbrt((W_max - cwnd_epoch) / C)                      section 4.2
//! target     = W_cubic(t + R), at least cwnd and at most 1.5 cwnd                              section 4.2
//! cwnd      += (target - cwnd) / cwnd                       per acknowledged segment           sections 4.4, 4.5
//! W_est     += alpha / cwnd per acknowledged segment, alpha = 3 (1 - beta) / (1 + beta),
//!              1 once W_est >= cwnd_prior; where W_cubic(t) < W_est: cwnd = W_est              section 4.3
//! event:       W_max = cwnd, or cwnd (1 + beta) / 2 if cwnd < W_max (fast convergence)         section 4.7
//!              ssthresh = max(beta cwnd, 2), cwnd = ssthresh; at an ECN-Echo max(beta cwnd, 1) section 4.6
//! timer:       the same ssthresh, cwnd = 1                                                     section 4.8
//! ```
//!
//! The congestion avoidance that follows a timer or a slow start left without an event has K = 0 and
//! W_max = cwnd_prior = cwnd at its beginning (sections 4.8 and 4.10). An epoch begins with the first ACK in
//! congestion avoidance. t does not run while the application limits the flow or while it is idle (sections 4.2 and
//! 5.8): time counts between two ACKs that both grew the window. An undone event restores all variables (section 4.9).
//!
//! Mean window with a loss every 1/p segments and without fast convergence (section 5):
//! (C (3 + beta) / (4 (1 - beta)))^(1/4) (R/p)^(3/4) = 1.0538 (R/p)^(3/4), or that of Reno where it is larger.
//!
//! Chosen where the RFC leaves a choice: the cut is taken from `cwnd` (section 4.6 allows it beside FlightSize), every
//! rule per ACK is weighted by the bytes acknowledged. Left out: HyStart++ (an axis of its own, `slow_start`), integer
//! arithmetic of kernels, and Linux's growth of 5 % a round trip before the first event.

use super::Law;
use crate::registry::{Invalid, Model, State};
use crate::{Ack, ReduceFrom, Signal, Window};
use elephan_units::{Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Most that the window may grow in one round trip, as a share of it (RFC 9438 section 4.2: target <= 1.5 cwnd).
const GROWTH_MAX: f64 = 0.5;
/// Smallest `ssthresh`, and smallest `cwnd` after a loss, in segments (RFC 9438 section 4.6).
const SSTHRESH_MIN_SEGMENTS: f64 = 2.0;
const SECONDS_PER_PS: f64 = 1e-12;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Parameters {
    /// C in segments/s^3: how fast the window leaves and regains W_max.
    #[schemars(extend("x-source" = "RFC 9438 section 5.1"), range(min = 0))]
    pub c: f64,
    /// The share of the window that a congestion event leaves.
    #[schemars(extend("x-source" = "RFC 9438 section 4.6"), range(min = 0, max = 1))]
    pub beta: f64,
    /// An event below the last W_max lowers W_max further, so that new flows find room sooner.
    #[schemars(extend("x-source" = "RFC 9438 section 4.7"))]
    pub fast_convergence: bool,
    /// The window that is cut: `flight` (what was in flight) or `cwnd`.
    #[schemars(extend("x-source" = "RFC 9438 section 4.6; Linux tcp_cubic.c (cwnd)"))]
    pub reduce_from: ReduceFrom,
}

impl Default for Parameters {
    fn default() -> Parameters {
        Parameters { c: 0.4, beta: 0.7, fast_convergence: true, reduce_from: ReduceFrom::Cwnd }
    }
}

/// How the running or the next epoch gets its curve.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Stage {
    /// The next epoch begins at the window it finds: no event since slow start, or a timer.
    Fresh,
    /// The next epoch aims at W_max of the last event.
    AfterEvent,
    Running,
}

/// The variables of RFC 9438 section 4.1.2 that an undone event restores. Windows in bytes.
#[derive(Clone, Copy, Debug)]
struct Curve {
    stage: Stage,
    w_max: f64,
    /// Seconds.
    k: f64,
    w_est: f64,
    cwnd_prior: f64,
    cwnd_epoch: f64,
    /// Time in the epoch so far, without application-limited and idle time.
    t: Span,
    /// The ACK up to which `t` counts.
    counted: Time,
    /// An application-limited ACK came after it.
    limited: bool,
}

#[derive(Clone, Debug)]
pub struct Cubic {
    c: f64,
    beta: f64,
    /// Additive increase in the Reno-friendly region (RFC 9438 section 4.3).
    alpha: f64,
    fast_convergence: bool,
    reduce_from: ReduceFrom,
    curve: Curve,
    /// The curve before the last event.
    prior: Curve,
    rtt: Span,
    /// The last ACK, or the end of the last idle period.
    active: Time,
}

impl Model for Cubic {
    type Parameters = Parameters;
    const STATES: &'static [State] = &[
        State { name: "w_max", unit: "B", doc: "window before the last cut (W_max)" },
        State { name: "k", unit: "s", doc: "time from the beginning of the epoch to W_max (K)" },
        State { name: "t", unit: "s", doc: "time in the epoch so far, without application-limited time" },
        State { name: "w_est", unit: "B", doc: "the window that Reno would have (W_est)" },
        State { name: "cwnd_prior", unit: "B", doc: "window when ssthresh was last set" },
        State { name: "cwnd_epoch", unit: "B", doc: "window at the beginning of the epoch" },
    ];

    fn new(p: &Parameters) -> Cubic {
        let curve = Curve {
            stage: Stage::Fresh,
            w_max: 0.0,
            k: 0.0,
            w_est: 0.0,
            cwnd_prior: 0.0,
            cwnd_epoch: 0.0,
            t: Span::ZERO,
            counted: Time::NEVER,
            limited: false,
        };
        Cubic {
            c: p.c,
            beta: p.beta,
            alpha: 3.0 * (1.0 - p.beta) / (1.0 + p.beta),
            fast_convergence: p.fast_convergence,
            reduce_from: p.reduce_from,
            curve,
            prior: curve,
            rtt: Span::ZERO,
            active: Time::ZERO,
        }
    }

    fn check(p: &Parameters) -> Result<(), Invalid> {
        Invalid::unless_between("c", p.c, 0.0, 1e9)?;
        Invalid::unless_between("beta", p.beta, 0.0, 1.0)
    }
}

impl Law for Cubic {
    #[inline]
    fn on_sent(&mut self, _w: &Window, now: Time, _bytes: u64, inflight: u64) {
        if inflight == 0 {
            self.curve.counted = self.curve.counted.saturating_add(now.since(self.active));
            self.active = now;
        }
    }

    #[inline]
    fn on_ack(&mut self, w: &mut Window, ack: &Ack) {
        self.rtt = ack.srtt.or(ack.rtt).unwrap_or(self.rtt);
        self.active = ack.now;
        if self.curve.stage != Stage::Running {
            self.begin_epoch(w, ack.now);
        }
        if ack.app_limited {
            self.curve.limited = true;
            return;
        }
        self.curve.count(ack.now);
        self.grow(w, ack.acked as f64);
    }

    fn on_congestion(&mut self, w: &mut Window, signal: &Signal) {
        if matches!(signal, Signal::Undo { .. }) {
            self.curve = self.prior;
            return;
        }
        self.prior = self.curve;
        let reduced = self.beta * self.reduce_from.bytes(w, signal.inflight());
        self.remember(w.cwnd);
        w.ssthresh = reduced.max(SSTHRESH_MIN_SEGMENTS * w.mss);
        (w.cwnd, self.curve.stage) = match signal {
            Signal::Rto { .. } => (w.mss, Stage::Fresh),
            Signal::Ecn { .. } => (reduced.max(w.mss), Stage::AfterEvent),
            _ => (w.ssthresh, Stage::AfterEvent),
        };
        self.aim(w);
    }

    fn on_shrink(&mut self, w: &Window) {
        if w.in_slow_start() && self.curve.stage == Stage::Running {
            self.curve.stage = Stage::Fresh;
        }
    }

    fn observe(&self, out: &mut Vec<(&'static str, f64)>) {
        let curve = &self.curve;
        out.extend([
            ("w_max", curve.w_max),
            ("k", curve.k),
            ("t", curve.t.seconds()),
            ("w_est", curve.w_est),
            ("cwnd_prior", curve.cwnd_prior),
            ("cwnd_epoch", curve.cwnd_epoch),
        ]);
    }

    /// W_max of an epoch to come gives its K; setting what only a running epoch has makes it run from the next ACK.
    fn poke(&mut self, name: &str, value: f64) -> bool {
        if value < 0.0 {
            return false;
        }
        let curve = &mut self.curve;
        match name {
            "w_max" => curve.w_max = value,
            "cwnd_prior" => curve.cwnd_prior = value,
            "k" => curve.k = value,
            "t" => curve.t = Span::from_seconds(value),
            "w_est" => curve.w_est = value,
            "cwnd_epoch" => curve.cwnd_epoch = value,
            _ => return false,
        }
        curve.stage = match (name, curve.stage) {
            ("w_max", Stage::Fresh) => Stage::AfterEvent,
            ("k" | "t" | "w_est", Stage::Fresh | Stage::AfterEvent) => {
                curve.counted = Time::NEVER;
                Stage::Running
            }
            (_, stage) => stage,
        };
        true
    }
}

impl Cubic {
    /// Notes the window that met congestion (RFC 9438 sections 4.6 and 4.7).
    fn remember(&mut self, cwnd: f64) {
        let below = self.fast_convergence && cwnd < self.curve.w_max;
        self.curve.w_max = if below { 0.5 * (1.0 + self.beta) * cwnd } else { cwnd };
        self.curve.cwnd_prior = cwnd;
    }

    /// Sets the curve that leads from the window of now to W_max; none leads there after a timer.
    fn aim(&mut self, w: &Window) {
        let curve = &mut self.curve;
        let gap = if curve.stage == Stage::Fresh { 0.0 } else { curve.w_max - w.cwnd };
        curve.cwnd_epoch = w.cwnd;
        curve.w_est = w.cwnd;
        curve.k = libm::cbrt(gap.max(0.0) / (self.c * w.mss));
        curve.t = Span::ZERO;
    }

    #[cold]
    fn begin_epoch(&mut self, w: &Window, now: Time) {
        if self.curve.stage == Stage::Fresh {
            self.curve.cwnd_prior = w.cwnd;
            self.curve.w_max = w.cwnd;
        }
        self.curve.w_max = self.curve.w_max.max(w.cwnd);
        self.aim(w);
        self.curve.stage = Stage::Running;
        self.curve.counted = now;
        self.curve.limited = false;
    }

    #[inline]
    fn grow(&mut self, w: &mut Window, acked: f64) {
        let curve = &mut self.curve;
        let c = self.c * w.mss;
        let since_k = curve.t.ps() as f64 * SECONDS_PER_PS - curve.k;
        let ahead = since_k + self.rtt.ps() as f64 * SECONDS_PER_PS;
        let w_cubic = c * (since_k * since_k * since_k) + curve.w_max;
        let target = c * (ahead * ahead * ahead) + curve.w_max;

        // An ACK acknowledges at most one window, so the share of a round trip that it stands for is at most one.
        let share = acked.min(w.cwnd) / w.cwnd;
        let alpha = if curve.w_est >= curve.cwnd_prior { 1.0 } else { self.alpha };
        curve.w_est += alpha * w.mss * share;

        let most = GROWTH_MAX * w.cwnd;
        let growth = if w_cubic < curve.w_est {
            (curve.w_est - w.cwnd).min(most * share)
        } else {
            (target - w.cwnd).min(most) * share
        };
        w.cwnd += growth.max(0.0);
    }
}

impl Curve {
    /// Lets `t` run up to `now` unless the application limited the flow since it last ran.
    #[inline]
    fn count(&mut self, now: Time) {
        if !self.limited {
            self.t = self.t.saturating_add(now.since(self.counted));
        }
        self.limited = false;
        self.counted = now;
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{self, MSS, ack, ack_limited, loss, state};
    use crate::{Controller, Signal, Spec};
    use elephan_units::{Span, Time};
    use serde_json::json;

    const S: f64 = MSS as f64;

    fn cubic(table: serde_json::Value) -> Controller {
        let spec = Spec::with("cubic", table.as_object().unwrap()).unwrap();
        Controller::new(&spec, MSS, 10 * MSS)
    }

    /// In congestion avoidance after an event at a window of `segments`, at time zero.
    fn after_loss_at(segments: f64) -> Controller {
        let mut c = cubic(json!({}));
        c.poke("cwnd", segments * S);
        c.on_congestion(&loss(0.0, segments));
        c
    }

    /// ACKs segment by segment, a window per round trip, until `until_s`; returns the window in segments.
    fn run(c: &mut Controller, from_s: f64, until_s: f64, rtt_s: f64) -> f64 {
        let mut now = from_s;
        while now < until_s {
            c.on_ack(&ack(now, MSS, rtt_s));
            now += rtt_s * S / c.window();
        }
        c.window() / S
    }

    fn near(value: f64, expected: f64, tolerance: f64) {
        assert!((value / expected - 1.0).abs() <= tolerance, "{value} is not {expected} within {tolerance}");
    }

    /// RFC 9438 sections 4.2 and 4.6: W_max 1000 is cut to 700, and K = cbrt(300 / 0.4).
    #[test]
    fn a_loss_at_1000_segments_gives_k_of_9_086_s() {
        let mut c = after_loss_at(1000.0);
        assert_eq!((c.window(), c.ssthresh()), (700.0 * S, 700.0 * S));
        assert_eq!(state(&c, "w_max"), 1000.0 * S);
        near(state(&c, "k"), 9.0856, 1e-5);
        c.on_ack(&ack(0.05, MSS, 0.01));
        near(state(&c, "k"), 9.0856, 1e-5);
    }

    /// W_cubic(K - 5) = 1000 - 0.4 * 125, W_cubic(K) = W_max, W_cubic(K + 5) = 1050, W_cubic(2 K) = 1300.
    #[test]
    fn the_window_follows_the_cubic_curve() {
        let mut c = after_loss_at(1000.0);
        // The RTT is small beside the curve's own times and large enough to stay out of the Reno-friendly region.
        let rtt = 0.1;
        near(run(&mut c, 0.0, 4.0856, rtt), 950.0, 2e-3);
        near(run(&mut c, 4.0856, 9.0856, rtt), 1000.0, 1e-3);
        near(run(&mut c, 9.0856, 14.0856, rtt), 1050.0, 2e-3);
        near(run(&mut c, 14.0856, 18.1712, rtt), 1300.0, 1e-2);
    }

    /// RFC 9438 section 4.2: target = W_cubic(t + RTT). One ACK of the whole window reaches it.
    #[test]
    fn the_target_is_one_round_trip_ahead() {
        let mut c = after_loss_at(1000.0);
        c.on_ack(&ack(0.0, 0, 0.0856));
        c.on_ack(&ack(1.0, 700 * MSS, 0.0856));
        // 0.4 * (1 + 0.0856 - 9.0856)^3 + 1000 = 1000 - 0.4 * 512
        near(c.window() / S, 795.2, 1e-5);
    }

    /// RFC 9438 section 4.2: the target is at most 1.5 cwnd and at least cwnd.
    #[test]
    fn growth_is_at_most_half_a_window_per_round_trip() {
        let mut c = after_loss_at(1000.0);
        c.poke("w_max", 1e6 * S);
        c.poke("k", 0.0);
        c.on_ack(&ack(0.0, 700 * MSS, 0.1));
        near(c.window() / S, 1050.0, 1e-9);
        c.poke("cwnd", 700.0 * S);
        c.on_ack(&ack(0.0, 70_000 * MSS, 0.1));
        near(c.window() / S, 1050.0, 1e-9);
        c.poke("cwnd", 700.0 * S);
        c.poke("w_est", 1e7 * S);
        c.on_ack(&ack(0.0, 700 * MSS, 0.1));
        near(c.window() / S, 1050.0, 1e-9);
        c.poke("w_est", 0.0);
        c.poke("w_max", 0.0);
        c.on_ack(&ack(0.0, MSS, 0.1));
        assert!(c.window() >= 1050.0 * S * (1.0 - 1e-9));
    }

    /// RFC 9438 section 4.3: alpha_cubic = 3 (1 - 0.7) / (1 + 0.7) = 0.5294 per round trip below cwnd_prior, then 1.
    #[test]
    fn the_reno_friendly_window_grows_by_alpha_then_by_one() {
        let mut c = after_loss_at(10.0);
        c.on_ack(&ack(0.0, 7 * MSS, 0.001));
        near(state(&c, "w_est") / S, 7.5294, 1e-5);
        near(c.window() / S, 7.5294, 1e-5);
        c.poke("w_est", 10.0 * S);
        c.poke("cwnd", 10.0 * S);
        c.on_ack(&ack(0.001, 10 * MSS, 0.001));
        near(c.window() / S, 11.0, 1e-9);
    }

    /// RFC 9438 section 4.7: an event at 900 below W_max of 1000 gives W_max = 900 * 0.85 = 765.
    #[test]
    fn fast_convergence_lowers_w_max_to_0_85_of_the_window() {
        for (table, w_max) in [(json!({}), 765.0), (json!({ "fast_convergence": false }), 900.0)] {
            let mut c = cubic(table);
            c.poke("cwnd", 1000.0 * S);
            c.on_congestion(&loss(0.0, 1000.0));
            c.poke("cwnd", 900.0 * S);
            c.on_congestion(&loss(1.0, 900.0));
            near(state(&c, "w_max") / S, w_max, 1e-12);
            near(c.window() / S, 630.0, 1e-12);
        }
    }

    #[test]
    fn the_cut_is_taken_from_the_window_or_from_what_was_in_flight() {
        for (from, expected) in [("cwnd", 700.0), ("flight", 350.0)] {
            let mut c = cubic(json!({ "reduce_from": from }));
            c.poke("cwnd", 1000.0 * S);
            c.on_congestion(&loss(0.0, 500.0));
            near(c.window() / S, expected, 1e-12);
            near(state(&c, "w_max") / S, 1000.0, 1e-12);
        }
    }

    /// RFC 9438 section 4.8: ssthresh by beta, one segment, then K = 0 and W_max = the window at the beginning.
    #[test]
    fn a_timeout_restarts_and_the_next_epoch_begins_where_slow_start_ends() {
        let mut c = cubic(json!({}));
        c.poke("cwnd", 1000.0 * S);
        c.on_congestion(&Signal::Rto { now: Time::ZERO, inflight: 1000 * MSS });
        assert_eq!((c.window(), c.ssthresh(), state(&c, "k")), (S, 700.0 * S, 0.0));
        for i in 0..10 {
            c.on_ack(&ack(1.0 + 0.1 * f64::from(i), c.window() as u64, 0.1));
        }
        assert!(!c.in_slow_start());
        assert_eq!((state(&c, "k"), state(&c, "w_max"), state(&c, "cwnd_prior")), (0.0, 700.0 * S, 700.0 * S));
    }

    /// RFC 9438 section 4.10: a slow start left without a loss.
    #[test]
    fn the_first_epoch_without_an_event_has_k_zero_and_the_window_as_w_max() {
        let mut c = cubic(json!({}));
        c.poke("cwnd", 100.0 * S);
        c.poke("ssthresh", 100.0 * S);
        c.on_ack(&ack(5.0, MSS, 0.1));
        assert_eq!((state(&c, "k"), state(&c, "w_max"), state(&c, "t")), (0.0, 100.0 * S, 0.0));
        // W_cubic(5) = 100 + 0.4 * 125; Reno would have 150 too, after 50 round trips of 0.1 s.
        near(run(&mut c, 5.0, 10.0, 0.1), 150.0, 2e-2);
    }

    /// RFC 9438 section 4.6: at an ECN-Echo the window may fall to one segment, ssthresh stays at two.
    #[test]
    fn floors_after_loss_and_after_ecn() {
        let mut c = after_loss_at(1.0);
        assert_eq!((c.window(), c.ssthresh()), (2.0 * S, 2.0 * S));
        c.on_ack(&ack_limited(0.0, MSS, 0.1));
        assert_eq!((state(&c, "w_max"), state(&c, "k")), (2.0 * S, 0.0));
        c.on_congestion(&Signal::Ecn { now: Time::ZERO, inflight: 2 * MSS });
        assert_eq!((c.window(), c.ssthresh()), (1.4 * S, 2.0 * S));
        c.on_congestion(&Signal::Ecn { now: Time::ZERO, inflight: 2 * MSS });
        assert_eq!((c.window(), c.ssthresh()), (S, 2.0 * S));
    }

    /// RFC 9438 sections 4.2 and 5.8: t does not run while the application limits the flow, nor while it is idle.
    #[test]
    fn the_epoch_stands_still_while_the_application_limits_or_the_flow_is_idle() {
        let mut c = after_loss_at(1000.0);
        run(&mut c, 0.0, 2.0, 0.1);
        let (before, t) = (c.window(), state(&c, "t"));
        for i in 0..100 {
            c.on_ack(&ack_limited(2.0 + f64::from(i), 10 * MSS, 0.1));
        }
        assert_eq!(c.window(), before);
        c.on_ack(&ack(102.0, MSS, 0.1));
        assert_eq!(state(&c, "t"), t);
        c.on_ack(&ack(102.1, MSS, 0.1));
        near(state(&c, "t"), t + 0.1, 1e-9);

        c.on_sent(Time::from_seconds(502.1), MSS, 0);
        c.on_sent(Time::from_seconds(602.1), MSS, 0);
        c.on_sent(Time::from_seconds(602.1), MSS, MSS);
        c.on_ack(&ack(602.2, MSS, 0.1));
        near(state(&c, "t"), t + 0.2, 1e-9);
        assert!(c.window() < before * 1.01);
    }

    /// RFC 9438 section 4.9.
    #[test]
    fn undo_restores_window_threshold_and_curve() {
        let mut c = after_loss_at(1000.0);
        run(&mut c, 0.0, 2.0, 0.1);
        let before = (c.window(), c.ssthresh(), c.observe());
        c.on_congestion(&Signal::Rto { now: Time::from_seconds(2.1), inflight: 0 });
        c.on_congestion(&Signal::Undo { now: Time::from_seconds(2.2) });
        assert_eq!((c.window(), c.ssthresh(), c.observe()), before);
    }

    /// A restart after idle (RFC 5681 section 4.1) ends the epoch.
    #[test]
    fn after_a_restart_the_epoch_begins_anew() {
        let mut c = after_loss_at(1000.0);
        run(&mut c, 0.0, 2.0, 0.1);
        c.shrink_to(10.0 * S);
        c.on_ack(&ack(100.0, 700 * MSS, 0.1));
        assert_eq!((state(&c, "k"), state(&c, "w_max")), (0.0, 700.0 * S));
    }

    /// RFC 9438 section 5, tables 1 and 2 (C = 0.4): mean windows under periodic loss, without fast convergence. The
    /// period begins at the curve's peak, 4 / (3 + beta) times the mean.
    #[test]
    fn the_response_function_is_that_of_the_rfc() {
        let spec = Spec::with("cubic", json!({ "fast_convergence": false }).as_object().unwrap()).unwrap();
        let mean = |period, rtt, start, discarded| testing::mean_window(&spec, period, rtt, start, discarded);
        // 1.0538 (R/p)^(3/4): 187.4 and 1053.8 segments.
        near(mean(10_000, 0.1, 187.4 * 1.0811, 60), 187.4, 1.2e-2);
        near(mean(100_000, 0.1, 1053.8 * 1.0811, 10), 1053.8, 1e-2);
        // Neighbouring windows move towards it, ever more slowly because the curve is flat where it is cut.
        for start in [0.9, 1.1] {
            let distance = |discarded| (mean(10_000, 0.1, start * 187.4 * 1.0811, discarded) / 187.4 - 1.0).abs();
            assert!(distance(60) < 0.9 * distance(0), "{start}: {} to {}", distance(0), distance(60));
        }
        // The Reno-friendly region: 1.2247 / sqrt(p), 38.7 and 122.5 segments.
        near(mean(1_000, 0.01, 50.0, 60), 38.7, 2e-2);
        near(mean(10_000, 0.01, 150.0, 60), 122.5, 2e-2);
    }

    /// The same C in other units: K = cbrt(300 / 4) = 4.2172 s.
    #[test]
    fn parameters_take_effect() {
        let mut c = cubic(json!({ "c": 4, "beta": 0.5 }));
        c.poke("cwnd", 600.0 * S);
        c.on_congestion(&loss(0.0, 600.0));
        assert_eq!(c.window(), 300.0 * S);
        near(state(&c, "k"), 4.2172, 1e-5);
        assert_eq!(c.next_timer(), None);
        assert_eq!(c.pacing_rate(), None);
    }

    /// The smoothed round-trip time is used where there is one (RFC 9438 section 4.1.2).
    #[test]
    fn the_smoothed_rtt_goes_before_the_sample() {
        let mut c = after_loss_at(1000.0);
        c.on_ack(&ack(0.0, 0, 0.1));
        c.on_ack(&crate::Ack { srtt: Some(Span::from_seconds(0.0856)), ..ack(1.0, 700 * MSS, 0.1) });
        near(c.window() / S, 795.2, 1e-5);
    }
}
