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
//! W_max = cwnd at its beginning (sections 4.8 and 4.10); cwnd_prior too, unless it is known from an event (section 4.1.2). An epoch begins with the first ACK in
//! congestion avoidance. t does not run while the application limits the flow or while it is idle (sections 4.2 and
//! 5.8): time counts between two ACKs that both grew the window. An undone event restores all variables (section 4.9).
//!
//! Mean window with a loss every 1/p segments and without fast convergence (section 5):
//! (C (3 + beta) / (4 (1 - beta)))^(1/4) (R/p)^(3/4) = 1.0538 (R/p)^(3/4), or that of Reno where it is larger.
//!
//! Presets of other versions (`rfc9438` is the default):
//! - `rfc8312`: curves from beta W_max instead of cwnd_epoch, so K = cbrt(W_max (1 - beta) / C), and Reno's as a function
//!   of time, W_est(t) = beta W_max + alpha t / R; no limit of growth but that of slow start (an ACK adds what it acknowledges).
//! - `linux`: C = 410/1024, beta = 717/1024, alpha stays below 1, the smallest round-trip time in t + R, at least 5 % a
//!   round trip while no event has set W_max (a timer forgets it), two segments at least after an ECN-Echo; an undone
//!   event gives the window back and keeps its W_max, so that growth is slow around it.
//! - `linux-2.6`: as `linux`, but beta = 819/1024, up to one segment per acknowledged segment, from K on at most 16
//!   segments per 100 ms, at least 2 % a round trip before the first event.
//!
//! With `beta_ecn`, ABE (RFC 8511): beta_ecn takes the place of beta at an ECN-Echo; 0.85 is recommended.
//!
//! Chosen where the RFC leaves a choice: the cut is taken from `cwnd` (section 4.6 allows it beside FlightSize), every
//! rule per ACK is weighted by the bytes acknowledged. Where the stack counts in whole segments, target and W_est are whole
//! ([`whole`]). Left out: HyStart++ (an axis of its own, `slow_start`), the jiffies in which a kernel measures t, and the initial ssthresh
//! of 100 segments of Linux 2.6.

use super::{CongestionControl, WholeSegments};
use crate::declare::{parameters, states};
use crate::event::SSTHRESH_MIN_SEGMENTS;
use crate::registry::Model;
use crate::{Ack, Needs, ReduceFrom, Signal, Traits, Window};
use elephan_units::{Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use whole::Whole;

mod whole;

const SECONDS_PER_PS: f64 = 1e-12;
/// The time that `s_max` is for.
const S_MAX_S: f64 = 0.1;

/// Where the curves of an epoch start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CurvesFrom {
    /// At the window after the cut; Reno's then grows by ACKs.
    Cwnd,
    /// At the cut share of W_max, which fast convergence has lowered; Reno's then grows with time.
    WMax,
}

/// The round-trip time in t + R.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RoundTrip {
    /// The smoothed one.
    Smoothed,
    /// The smallest so far.
    Min,
}

parameters! {
    /// C in segments/s^3: how fast the window leaves and regains W_max.
    c: f64 = 0.4, "RFC 9438 section 5.1" (min = 0);
    /// The share of the window that a congestion event leaves.
    beta: f64 = 0.7, "RFC 9438 section 4.6" (min = 0, max = 1);
    /// An event below the last W_max lowers W_max further, so that new flows find room sooner.
    fast_convergence: bool = true, "RFC 9438 section 4.7";
    /// The window that is cut: `flight` (what was in flight) or `cwnd`.
    reduce_from: ReduceFrom = ReduceFrom::Cwnd, "RFC 9438 section 4.6; Linux tcp_cubic.c (cwnd)";
    /// The share of the window that an ECN-Echo leaves (ABE; 0.85 is recommended). 0 is as at a loss.
    beta_ecn: f64 = 0.0, "RFC 8511 section 3" below [min = 0, max = 1];
    /// An ECN-Echo leaves two segments at least, as a loss does, not one.
    two_after_ecn: bool = false, "RFC 9438 section 4.6: one; Linux cubictcp_recalc_ssthresh: two";
    /// Where the curves of an epoch start: `cwnd` (after the cut) or `w_max` (its cut share).
    curves_from: CurvesFrom = CurvesFrom::Cwnd, "RFC 9438 section 4.2 (cwnd); RFC 8312 equations 2 and 4 (w_max)";
    /// W_est grows by a whole segment a round trip once it has reached the window before the cut.
    reno_catches_up: bool = true, "RFC 9438 section 4.3; not in Linux";
    /// The round-trip time in t + R: `smoothed` or `min`.
    round_trip: RoundTrip = RoundTrip::Smoothed, "RFC 9438 section 4.2; Linux tcp_cubic.c delay_min";
    /// Most growth in a round trip, as a share of the window; 1 is that of slow start.
    growth_max: f64 = 0.5, "RFC 9438 section 4.2: target <= 1.5 cwnd" above [min = 0, max = 1];
    /// Most segments per 100 ms from K on; 0 is no limit.
    s_max: f64 = 0.0, "Linux 2.6 tcp_cubic.c max_increment 16" [min = 0];
    /// Idle time that lowers the window does not end the epoch: afterwards the window returns to the curve.
    idle_keeps_epoch: bool = false, "RFC 9438 section 4.2: another stage begins; Linux bictcp_cwnd_event: kept";
    /// Least growth in a round trip while no event has set W_max, as a share of the window.
    first_growth: f64 = 0.0, "Linux tcp_cubic.c: 20 ACKs a segment; Linux 2.6: 50" below [min = 0, max = 1];
    /// An undone event gives W_max and the running epoch back, not the window alone.
    undo_restores: bool = true, "RFC 9438 section 4.9; Linux tcp_reno_undo_cwnd: the window alone";
}

/// How the running or the next epoch gets its curve.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Stage {
    /// The next epoch begins at the window it finds: no event since slow start, or a timer.
    #[default]
    Fresh,
    /// The next epoch aims at W_max of the last event.
    AfterEvent,
    Running,
}

/// The variables of RFC 9438 section 4.1.2 that an undone event restores. Windows in bytes.
#[derive(Clone, Copy, Debug, Default)]
struct Curve {
    stage: Stage,
    w_max: f64,
    /// Seconds.
    k: f64,
    w_est: f64,
    cwnd_prior: f64,
    cwnd_epoch: f64,
    /// The last event was an ECN-Echo.
    marked: bool,
    /// No event has set W_max: none yet, or none since a timer.
    first: bool,
    /// Time in the epoch so far, without application-limited and idle time.
    t: Span,
    /// The ACK up to which `t` counts.
    counted: Time,
    /// An application-limited ACK came after it.
    limited: bool,
}

#[derive(Clone, Debug)]
pub struct Cubic {
    p: Parameters,
    /// Additive increase in the Reno-friendly region (RFC 9438 section 4.3).
    alpha: f64,
    curve: Curve,
    /// The curve before the last event.
    prior: Curve,
    rtt: Span,
    /// The last ACK, or the end of the last idle period.
    active: Time,
    /// What is computed with whole segments, where the stack counts so.
    whole: Option<Box<Whole>>,
}

impl Model for Cubic {
    type Parameters = Parameters;

    const PRESETS: &'static [&'static str] = &["rfc9438", "rfc8312", "linux", "linux-2.6"];
    const NEEDS: Needs = Needs::ALL_ACKED;

    fn preset(name: &str) -> Parameters {
        let rfc9438 = Parameters::default();
        let linux = Parameters {
            c: 410.0 / 1024.0,
            beta: 717.0 / 1024.0,
            two_after_ecn: true,
            idle_keeps_epoch: true,
            reno_catches_up: false,
            round_trip: RoundTrip::Min,
            first_growth: 0.05,
            undo_restores: false,
            ..rfc9438
        };
        match name {
            "rfc8312" => {
                Parameters { curves_from: CurvesFrom::WMax, reno_catches_up: false, growth_max: 1.0, ..rfc9438 }
            }
            "linux" => linux,
            "linux-2.6" => {
                Parameters { beta: 819.0 / 1024.0, growth_max: 1.0, s_max: 16.0, first_growth: 0.02, ..linux }
            }
            _ => rfc9438,
        }
    }

    fn new(p: &Parameters) -> Cubic {
        let curve = Curve { first: true, counted: Time::NEVER, ..Curve::default() };
        let unless_0 = |value: f64, otherwise: f64| if value > 0.0 { value } else { otherwise };
        let p = Parameters { beta_ecn: unless_0(p.beta_ecn, p.beta), ..p.clone() };
        let alpha = 3.0 * (1.0 - p.beta) / (1.0 + p.beta);
        Cubic { alpha, p, curve, prior: curve, rtt: Span::ZERO, active: Time::ZERO, whole: None }
    }

    fn traits(p: &Parameters) -> Traits {
        Traits {
            brings_hystart: true,
            loss_leaves: Some(p.beta),
            undoes_internals: p.undo_restores,
            counts_segments: true,
            ..Traits::default()
        }
    }

    fn needs(p: &Parameters) -> Needs {
        Self::NEEDS.and_if(p.beta_ecn > p.beta, Needs::LOSS_AFTER_MARK)
    }
}

states! {
    Cubic, cc, value;
    "w_max" ["B"] "window before the last cut (W_max)": cc.curve.w_max, value >= 0.0 => cc.curve.set_w_max(value);
    "k" ["s"] "time from the beginning of the epoch to W_max (K)":
        cc.curve.k, value >= 0.0 => cc.curve.running().k = value;
    "t" ["s"] "time in the epoch so far, without application-limited time":
        cc.curve.t.seconds(), value >= 0.0 => cc.curve.running().t = Span::from_seconds(value);
    "w_est" ["B"] "the window that Reno would have (W_est)":
        cc.curve.w_est, value >= 0.0 => cc.curve.running().w_est = value;
    "cwnd_prior" ["B"] "window when ssthresh was last set":
        cc.curve.cwnd_prior, value >= 0.0 => cc.curve.cwnd_prior = value;
    "cwnd_epoch" ["B"] "window at the beginning of the epoch":
        cc.curve.cwnd_epoch, value >= 0.0 => cc.curve.cwnd_epoch = value;
}

impl CongestionControl for Cubic {
    #[inline]
    fn on_sent(&mut self, _w: &mut Window, now: Time, _bytes: u64, inflight: u64) {
        if inflight == 0 {
            self.curve.counted = self.curve.counted.saturating_add(now.since(self.active));
            self.active = now;
        }
    }

    #[inline]
    fn on_ack(&mut self, w: &mut Window, ack: &Ack) {
        let min = ack.min_rtt.filter(|_| self.p.round_trip == RoundTrip::Min);
        self.rtt = min.or(ack.srtt).or(ack.rtt).unwrap_or(self.rtt);
        self.active = ack.now;
        if self.curve.stage != Stage::Running {
            self.begin_epoch(w, ack.now);
        }
        if ack.app_limited {
            self.curve.limited = true;
            return;
        }
        self.curve.count(ack.now);
        if self.whole.is_some() {
            self.grow_whole(w, ack);
        } else {
            self.grow(w, ack.acked as f64);
        }
    }

    fn on_congestion(&mut self, w: &mut Window, signal: &Signal) {
        self.prior = self.curve;
        self.curve.marked = matches!(signal, Signal::Ecn { .. });
        let reduced = self.left() * self.p.reduce_from.bytes(w, signal.inflight());
        self.remember(w.cwnd, w.mss);
        w.ssthresh = reduced.max(SSTHRESH_MIN_SEGMENTS * w.mss);
        (w.cwnd, self.curve.stage) = match signal {
            Signal::Rto { .. } => (w.mss, Stage::Fresh),
            Signal::Ecn { .. } if !self.p.two_after_ecn => (reduced.max(w.mss), Stage::AfterEvent),
            _ => (w.ssthresh, Stage::AfterEvent),
        };
        self.curve.first = self.curve.stage == Stage::Fresh;
        self.aim(w);
    }

    fn on_undo(&mut self, _w: &mut Window, _now: Time) {
        if self.p.undo_restores {
            self.curve = self.prior;
        }
    }

    fn on_shrink(&mut self, w: &Window) {
        if w.in_slow_start() && self.curve.stage == Stage::Running && !self.p.idle_keeps_epoch {
            self.curve.stage = if self.curve.first { Stage::Fresh } else { Stage::AfterEvent };
        }
    }
}

impl WholeSegments for Cubic {
    fn on_counting(&mut self, segments: bool) {
        self.whole = segments.then(Box::default);
    }
}

impl Cubic {
    /// The share of the window that the last event left.
    fn left(&self) -> f64 {
        if self.curve.marked { self.p.beta_ecn } else { self.p.beta }
    }

    /// Notes the window that met congestion (RFC 9438 sections 4.6 and 4.7).
    fn remember(&mut self, cwnd: f64, mss: f64) {
        let below = self.p.fast_convergence && cwnd < self.curve.w_max;
        self.curve.w_max = if below { 0.5 * (1.0 + self.p.beta) * cwnd } else { cwnd };
        if self.whole.is_some() {
            self.curve.w_max = whole::of(self.curve.w_max, mss);
        }
        self.curve.cwnd_prior = cwnd;
    }

    /// Sets the curve that leads from where it starts to W_max; none leads there after a timer.
    fn aim(&mut self, w: &Window) {
        let (left, curve) = (self.left(), &mut self.curve);
        let of_w_max = self.p.curves_from == CurvesFrom::WMax && curve.stage != Stage::Fresh;
        let start = if of_w_max { left * curve.w_max } else { w.cwnd };
        let gap = if curve.stage == Stage::Fresh { 0.0 } else { curve.w_max - start };
        (curve.cwnd_epoch, curve.w_est) = (start, start);
        curve.k = libm::cbrt(gap.max(0.0) / (self.p.c * w.mss));
        curve.t = Span::ZERO;
    }

    #[cold]
    fn begin_epoch(&mut self, w: &Window, now: Time) {
        if self.curve.stage == Stage::Fresh {
            // What a timeout has cut is still the window before the last reduction (RFC 9438 section 4.1.2).
            self.curve.cwnd_prior = if self.curve.cwnd_prior > 0.0 { self.curve.cwnd_prior } else { w.cwnd };
            self.curve.w_max = w.cwnd;
        }
        self.curve.w_max = self.curve.w_max.max(w.cwnd);
        self.aim(w);
        if let Some(whole) = &mut self.whole {
            **whole = Whole::default();
        }
        self.curve.stage = Stage::Running;
        (self.curve.counted, self.curve.limited) = (now, false);
    }

    /// Seconds in the epoch, and the round-trip time.
    #[inline]
    fn times(&self) -> (f64, f64) {
        (self.curve.t.ps() as f64 * SECONDS_PER_PS, self.rtt.ps() as f64 * SECONDS_PER_PS)
    }

    #[inline]
    fn grow(&mut self, w: &mut Window, acked: f64) {
        let (t, rtt) = self.times();
        let (p, curve) = (&self.p, &mut self.curve);
        let c = p.c * w.mss;
        let since_k = t - curve.k;
        let ahead = since_k + rtt;
        let w_cubic = c * (since_k * since_k * since_k) + curve.w_max;
        let target = c * (ahead * ahead * ahead) + curve.w_max;

        // An ACK acknowledges at most one window, so the share of a round trip that it stands for is at most one.
        let share = acked.min(w.cwnd) / w.cwnd;
        if p.curves_from == CurvesFrom::Cwnd {
            let alpha = if p.reno_catches_up && curve.w_est >= curve.cwnd_prior { 1.0 } else { self.alpha };
            curve.w_est += alpha * w.mss * share;
        } else if rtt > 0.0 {
            curve.w_est = curve.cwnd_epoch + self.alpha * w.mss * t / rtt;
        }

        let most = p.growth_max * w.cwnd;
        let growth = if w_cubic < curve.w_est {
            (curve.w_est - w.cwnd).min(most * share)
        } else {
            let slowed = p.s_max > 0.0 && since_k >= 0.0;
            let most = if slowed { most.min(p.s_max * w.mss * rtt / S_MAX_S) } else { most };
            (target - w.cwnd).min(most) * share
        };
        let least = if curve.first { p.first_growth * w.cwnd * share } else { 0.0 };
        w.cwnd += growth.max(least);
    }
}

impl Curve {
    /// W_max of an epoch to come gives its K.
    fn set_w_max(&mut self, bytes: f64) {
        self.w_max = bytes;
        if self.stage == Stage::Fresh {
            (self.first, self.stage) = (false, Stage::AfterEvent);
        }
    }

    /// Setting what only a running epoch has makes it run from the next ACK.
    fn running(&mut self) -> &mut Curve {
        if self.stage != Stage::Running {
            (self.counted, self.stage) = (Time::NEVER, Stage::Running);
        }
        self
    }

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
