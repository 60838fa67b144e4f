//! CUBIC with windows in whole segments, as `tcp_cubic.c` of Linux computes.
//!
//! The window grows by one for each n segments acknowledged. Windows in segments, `[x]` the largest whole number up to x:
//!
//! ```text
//! target = W_max + [C (t + R - K)^3], rounded towards W_max
//! n      = [cwnd / (target - cwnd)], or 100 cwnd where target <= cwnd;  at most 1 / first_growth while no event has set W_max
//! W_est += 1 for each [a cwnd / 8] segments acknowledged, a = [8 (1 + beta) / 3 (1 - beta)];   n <= [cwnd / (W_est - cwnd)]
//! n     >= 1 / growth_max
//! ```
//!
//! n is computed again when the window has changed, and otherwise once in 1/32 s.

use super::{Cubic, CurvesFrom, S_MAX_S, SECONDS_PER_PS};
use crate::{Ack, Window};
use elephan_units::{Span, Time};

/// How long n holds while the window does not change (Linux: HZ / 32).
const HOLDS: Span = Span(1_000_000_000_000 / 32);
/// Windows acknowledged for one more segment where the curve asks for none.
const STILL: f64 = 100.0;
/// What a quotient of windows may miss of a whole number.
const ROUNDING: f64 = 1e-6;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Whole {
    /// W_est in segments, 0 before the first ACK of an epoch, and the segments acknowledged since it last grew.
    w_est: f64,
    acked: f64,
    /// n, and window and time that it was computed for.
    per: f64,
    cwnd: f64,
    at: Time,
}

/// Whole segments of `bytes`, in bytes.
pub(super) fn of(bytes: f64, mss: f64) -> f64 {
    (bytes / mss + ROUNDING).floor() * mss
}

impl Cubic {
    /// Congestion avoidance by one segment for each n acknowledged.
    pub(super) fn grow_whole(&mut self, w: &mut Window, ack: &Ack) {
        let Some(mut whole) = self.whole.take() else { return };
        let (cwnd, acked) = ((w.cwnd / w.mss).round(), ack.acked as f64 / w.mss);
        whole.acked += acked;
        let holds = whole.cwnd == cwnd && ack.now.since(whole.at) <= HOLDS;
        if !holds {
            (whole.cwnd, whole.at) = (cwnd, ack.now);
            whole.per = self.segments_for_one(&mut whole, w.mss);
        }
        w.cwnd += acked / whole.per * w.mss;
        self.whole = Some(whole);
    }

    /// n.
    fn segments_for_one(&self, whole: &mut Whole, mss: f64) -> f64 {
        let (p, curve, cwnd) = (&self.p, &self.curve, whole.cwnd);
        let rtt = self.rtt.ps() as f64 * SECONDS_PER_PS;
        let t = curve.t.ps() as f64 * SECONDS_PER_PS;
        let ahead = t + rtt - curve.k;
        let target = (curve.w_max / mss).round() + (p.c * ahead * ahead * ahead + ROUNDING.copysign(ahead)).trunc();
        let mut per = if target > cwnd { (cwnd / (target - cwnd)).floor() } else { STILL * cwnd };
        if curve.first && p.first_growth > 0.0 {
            per = per.min((1.0 / p.first_growth).round());
        }
        let est = self.whole_w_est(whole, mss, t, rtt);
        if est > cwnd {
            per = per.min((cwnd / (est - cwnd)).floor());
        }
        if p.s_max > 0.0 && t >= curve.k && rtt > 0.0 {
            per = per.max((cwnd * S_MAX_S / (p.s_max * rtt)).floor());
        }
        per.max((1.0 / p.growth_max).round())
    }

    /// W_est in whole segments.
    fn whole_w_est(&self, whole: &mut Whole, mss: f64, t: f64, rtt: f64) -> f64 {
        let (p, curve, cwnd) = (&self.p, &self.curve, whole.cwnd);
        if p.curves_from == CurvesFrom::WMax {
            let bytes = curve.cwnd_epoch + if rtt > 0.0 { self.alpha * mss * t / rtt } else { 0.0 };
            return (bytes / mss).floor();
        }
        if whole.w_est == 0.0 {
            whole.w_est = cwnd;
        }
        let catches_up = p.reno_catches_up && whole.w_est * mss >= curve.cwnd_prior;
        let scale = (8.0 * (1.0 + p.beta) / (3.0 * (1.0 - p.beta)) + ROUNDING).floor().max(8.0);
        let per = if catches_up { cwnd } else { (cwnd * scale / 8.0).floor() };
        let more = ((whole.acked - ROUNDING) / per).floor().max(0.0);
        whole.acked -= more * per;
        whole.w_est += more;
        whole.w_est
    }
}
