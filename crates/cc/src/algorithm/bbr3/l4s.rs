//! What marks of a queue of L4S say of the path (Google's tcp_bbr.c of version 3, whose constants these are):
//!
//! ```text
//! once a round:     alpha = (1 - g) alpha + g F,   F the share of what the round has delivered that was marked
//! STARTUP:          the pipe is full after two rounds in which F >= 1/2
//! UP, and after it: marks on more than half of what was in flight are too much, as losses of 2 % are
//! other modes:      a round with a mark leaves inflight_lo (1 - alpha / 3)
//! ```

use super::{Bbr3, Mode};
use crate::marks::Marks;
use crate::{Ack, Window};
use elephan_units::Span;

#[derive(Clone, Copy, Debug)]
pub(super) struct L4s {
    pub marks: Marks,
    /// Accurate ECN was negotiated.
    pub accurate: bool,
    /// Rounds on end with too many marks.
    full_rounds: u32,
}

impl L4s {
    pub fn new(alpha: f64) -> L4s {
        L4s { marks: Marks::new(alpha), accurate: true, full_rounds: 0 }
    }
}

impl Bbr3 {
    /// Whether marks count.
    pub(super) fn heeds_marks(&self) -> bool {
        let most = self.p.ecn_max_rtt;
        self.p.l4s && self.l4s.accurate && (most == Span::ZERO || self.min_rtt.get().is_some_and(|rtt| rtt <= most))
    }

    /// Counts the marks of an ACK; a round that is over changes alpha, and may end STARTUP.
    pub(super) fn look_at_marks(&mut self, w: &Window, ack: &Ack, new_round: bool) {
        if !self.heeds_marks() {
            return;
        }
        self.l4s.marks.count(ack);
        if !new_round {
            return;
        }
        let share = self.l4s.marks.end_round(self.p.ecn_alpha_gain);
        if self.mode == Mode::Startup && !self.full {
            self.l4s.full_rounds = if share >= self.p.ecn_thresh { self.l4s.full_rounds + 1 } else { 0 };
            if self.l4s.full_rounds >= self.p.full_marked_rounds {
                self.fill(w);
            }
        }
    }

    /// Whether this round is marked more than the path is meant to be.
    pub(super) fn is_marked_too_much(&self) -> bool {
        self.heeds_marks() && self.tally.marked as f64 > self.p.ecn_thresh * self.tally.inflight as f64
    }

    /// What a round with marks leaves of the bound of the flight; everything if it had none.
    pub(super) fn left_by_marks(&self) -> f64 {
        if self.tally.marked > 0 && self.heeds_marks() { 1.0 - self.p.ecn_factor * self.l4s.marks.alpha } else { 1.0 }
    }
}
