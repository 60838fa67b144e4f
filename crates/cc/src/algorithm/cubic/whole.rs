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
//! The curve's n is computed once a jiffy at most, when the window has changed or 7 jiffies (HZ / 32) have gone; a jiffy is 4 ms (HZ 250).
//! W_est bounds it at every such ACK.

use super::{Cubic, CurvesFrom, S_MAX_S};
use crate::{Ack, Window};
use elephan_units::Span;

/// A tick of Linux's clock at HZ 250, which most distributions have.
const JIFFY: Span = Span::from_ms(4);
/// Jiffies for which n holds while the window does not change (Linux: HZ / 32).
const HOLDS: u64 = 7;
/// Windows acknowledged for one more segment where the curve asks for none.
const STILL: f64 = 100.0;
/// What a quotient of windows may miss of a whole number.
const ROUNDING: f64 = 1e-6;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Whole {
    /// W_est in segments, 0 before the first ACK of an epoch, and the segments acknowledged since it last grew.
    w_est: f64,
    acked: f64,
    /// n, 0 before the first ACK of an epoch, and the window and the jiffy that the curve's was computed for.
    per: f64,
    cwnd: f64,
    jiffy: u64,
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
        let jiffy = ack.now.0 / JIFFY.0;
        let since = if whole.per == 0.0 { u64::MAX } else { jiffy - whole.jiffy };
        if whole.cwnd != cwnd || since > HOLDS {
            if since > 0 {
                (whole.cwnd, whole.jiffy, whole.per) = (cwnd, jiffy, self.by_curve(cwnd, w.mss));
            }
            whole.per = self.by_reno(&mut whole, cwnd, w.mss);
        }
        w.cwnd += acked / whole.per * w.mss;
        self.whole = Some(whole);
    }

    /// The n of the curve.
    fn by_curve(&self, cwnd: f64, mss: f64) -> f64 {
        let (p, curve, (t, rtt)) = (&self.p, &self.curve, self.times());
        let ahead = t + rtt - curve.k;
        let target = (curve.w_max / mss).round() + (p.c * ahead * ahead * ahead + ROUNDING.copysign(ahead)).trunc();
        let per = if target > cwnd { (cwnd / (target - cwnd)).floor() } else { STILL * cwnd };
        if curve.first && p.first_growth > 0.0 { per.min((1.0 / p.first_growth).round()) } else { per }
    }

    /// The n of the curve as W_est and the limits of growth bound it.
    fn by_reno(&self, whole: &mut Whole, cwnd: f64, mss: f64) -> f64 {
        let (p, (t, rtt), est) = (&self.p, self.times(), self.whole_w_est(whole, cwnd, mss));
        let mut per = if est > cwnd { whole.per.min((cwnd / (est - cwnd)).floor()) } else { whole.per };
        if p.s_max > 0.0 && t >= self.curve.k && rtt > 0.0 {
            per = per.max((cwnd * S_MAX_S / (p.s_max * rtt)).floor());
        }
        per.max((1.0 / p.growth_max).round())
    }

    /// W_est in whole segments.
    fn whole_w_est(&self, whole: &mut Whole, cwnd: f64, mss: f64) -> f64 {
        let (p, curve) = (&self.p, &self.curve);
        if p.curves_from == CurvesFrom::WMax {
            let (t, rtt) = self.times();
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
