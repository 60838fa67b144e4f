//! What losses and marks say of the path: bounds of rate and flight for now (`lo`) and of flight for good (`hi`).

use super::{Bbr3, Mode, left};
use crate::{Ack, Window};

/// Probing for more doubles its step each round, at most so often (draft-ietf-ccwg-bbr, BBRRaiseInflightLongtermSlope).
const UP_ROUNDS_MAX: i32 = 30;

/// Infinite while nothing bounds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// bit/s.
    pub bw_lo: f64,
    /// Bytes.
    pub inflight_lo: f64,
    pub inflight_hi: f64,
}

impl Bounds {
    pub const NONE: Bounds = Bounds { bw_lo: f64::INFINITY, inflight_lo: f64::INFINITY, inflight_hi: f64::INFINITY };

    /// To those of before, where they were higher.
    pub fn raise(&mut self, other: &Bounds) {
        self.bw_lo = self.bw_lo.max(other.bw_lo);
        self.inflight_lo = self.inflight_lo.max(other.inflight_lo);
        self.inflight_hi = self.inflight_hi.max(other.inflight_hi);
    }

    pub fn forget_low(&mut self) {
        (self.bw_lo, self.inflight_lo) = (f64::INFINITY, f64::INFINITY);
    }
}

/// The bound, or what is now where there is none.
fn or(bound: f64, now: f64) -> f64 {
    if bound.is_finite() { bound } else { now }
}

/// How UP raises the upper bound.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Climb {
    rounds: i32,
    acked: f64,
}

impl Bbr3 {
    /// Whether this round loses more than the path is meant to.
    pub(super) fn loses_too_much(&self) -> bool {
        self.tally.loses(self.p.loss_thresh)
    }

    /// Whether this round puts more into the path than it takes.
    pub(super) fn is_too_much(&self) -> bool {
        self.loses_too_much() || self.is_marked_too_much()
    }

    /// Acts upon what the tally says of losses; to be called before a new round's begins.
    pub(super) fn look_at_losses(&mut self, w: &Window, ack: &Ack, new_round: bool) {
        if self.judging && self.is_too_much() {
            self.judging = false;
            let target = self.bdp(1.0).unwrap_or(f64::INFINITY).min(w.cwnd);
            if !self.path.limited(ack) {
                self.bounds.inflight_hi = (self.tally.inflight as f64).max(self.p.beta * target);
            }
            if self.mode == Mode::Up {
                self.begin_down(ack.now, left(ack));
            }
        } else if self.bounds.inflight_hi.is_finite() && !self.tally.too_much && !self.is_too_much() {
            self.bounds.inflight_hi = self.bounds.inflight_hi.max(ack.inflight as f64).max(w.mss);
            self.climb(w, ack, new_round);
        }
        if new_round {
            self.lower(w, ack);
            self.tally.begin(ack, self.is_too_much());
        }
    }

    /// A round with losses or marks outside a probe lowers the bounds for now.
    fn lower(&mut self, w: &Window, ack: &Ack) {
        if matches!(self.mode, Mode::Startup | Mode::Refill | Mode::Up) {
            return;
        }
        let left = self.left_by_marks();
        let marked = left * or(self.bounds.inflight_lo, w.cwnd);
        if self.tally.lost > 0 {
            self.lower_by_losses(w, ack);
        }
        if left < 1.0 {
            self.bounds.inflight_lo = self.bounds.inflight_lo.min(marked.max(w.mss));
        }
    }

    fn lower_by_losses(&mut self, w: &Window, ack: &Ack) {
        let bounds = &mut self.bounds;
        let delivered = ack.delivered.saturating_sub(self.tally.delivered) as f64;
        bounds.bw_lo = (self.p.beta * or(bounds.bw_lo, self.path.bw())).max(self.tally.rate).max(1.0);
        bounds.inflight_lo = (self.p.beta * or(bounds.inflight_lo, w.cwnd)).max(delivered).max(w.mss);
    }

    /// UP raises the upper bound by 1, 2, 4 ... segments a round while the window is at it.
    fn climb(&mut self, w: &Window, ack: &Ack, new_round: bool) {
        if self.mode != Mode::Up {
            self.climb = Climb::default();
            return;
        }
        if !ack.app_limited && w.cwnd >= self.bounds.inflight_hi {
            self.climb.acked += ack.acked as f64;
            let step = libm::ldexp(w.mss, self.climb.rounds).min(w.cwnd);
            let share = (self.climb.acked / w.cwnd).min(1.0);
            self.climb.acked = 0.0;
            self.bounds.inflight_hi += step * share;
        }
        if new_round {
            self.climb.rounds = (self.climb.rounds + 1).min(UP_ROUNDS_MAX);
        }
    }
}
