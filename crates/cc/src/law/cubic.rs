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
mod tests;
