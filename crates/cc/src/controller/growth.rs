//! How ACKs open the window: slow start below `ssthresh`, the congestion control beyond it, in bytes or in whole segments.
//!
//! Linux keeps `snd_cwnd` in segments and counts acknowledged segments in `snd_cwnd_cnt` (`tcp_cong_avoid_ai`). Where a congestion control
//! grows by one segment for each w that are acknowledged:
//!
//! ```text
//! count >= w:  cwnd += 1, count = 0                    w has become smaller
//! count += acked;  cwnd += count div w, count = count mod w
//! ```
//!
//! w follows from what the congestion control adds for an ACK; CUBIC computes it from whole segments too. A segment counts as soon as a
//! part of it is acknowledged, for Linux counts packets. A cut leaves whole segments and begins to count anew (`tcp_enter_loss`,
//! `tcp_init_cwnd_reduction`).

use super::Controller;
use crate::algorithm::CongestionControl;
use crate::slow_start::SlowStart;
use crate::{Ack, Needs};

/// What a quotient of windows may miss of a whole number.
const ROUNDING: f64 = 1e-6;

/// What is counted towards the next whole segment.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Segments {
    /// Acknowledged segments.
    count: u32,
    /// Share of a segment by which the window is to grow, or to fall if it is below 0, where that does not go by acknowledged segments.
    part: f32,
}

/// The largest whole number that is not above `value`, which is finite and not negative.
#[inline]
fn whole(value: f64) -> f64 {
    (value + ROUNDING) as i64 as f64
}

impl Segments {
    /// Returns the segments that are due for `acked` acknowledged ones, of which `basis` bring `change` segments.
    #[inline]
    fn due(&mut self, acked: f64, basis: f64, change: f64) -> f64 {
        if change <= 0.0 {
            self.part += change as f32;
            let due = -whole(f64::from(-self.part.min(0.0)));
            self.part -= due as f32;
            return due;
        }
        let per = whole(basis / change);
        if per < 1.0 {
            return change;
        }
        let per = per as u32;
        let mut due = 0;
        if self.count >= per {
            (due, self.count) = (1, 0);
        }
        self.count = self.count.saturating_add(acked as u32);
        if self.count >= per {
            due += self.count / per;
            self.count %= per;
        }
        f64::from(due)
    }
}

impl Controller {
    /// Is called with each ACK of new data outside fast recovery.
    #[inline]
    pub fn on_ack(&mut self, ack: &Ack) {
        self.backed_off = false;
        let before = self.w.cwnd;
        self.algorithm.on_delivery(&mut self.w, ack);
        if self.algorithm.grows_by_ack() {
            self.open(ack);
        }
        if self.segments.is_some() && self.w.cwnd != before {
            self.keep_part(before);
        }
        self.bound();
    }

    /// Opens the window by what an ACK acknowledges.
    #[inline]
    fn open(&mut self, ack: &Ack) {
        if self.w.in_slow_start() {
            self.on_ack_in_slow_start(ack);
        } else if self.counts_acks {
            self.avoid_by_acks(ack);
        } else {
            self.avoid(ack);
        }
    }

    #[inline(never)]
    fn avoid_by_acks(&mut self, ack: &Ack) {
        let acked = self.counted(ack.acked);
        self.avoid(&Ack { acked, ..*ack });
    }

    /// Congestion avoidance.
    #[inline]
    fn avoid(&mut self, ack: &Ack) {
        if self.segments.is_some() {
            self.avoid_in_segments(ack);
        } else {
            self.algorithm.on_ack(&mut self.w, ack);
        }
    }

    #[inline(never)]
    fn avoid_in_segments(&mut self, ack: &Ack) {
        let Some(segments) = &mut self.segments else { return };
        let (before, mss) = (self.w.cwnd, self.w.mss);
        let acked = (ack.acked as f64 / mss).ceil();
        // A congestion control looks at one window at most; Linux counts the rest too.
        let basis = acked.min(before / mss);
        if basis * mss == ack.acked as f64 {
            self.algorithm.on_ack(&mut self.w, ack);
        } else {
            self.algorithm.on_ack(&mut self.w, &Ack { acked: (basis * mss) as u64, ..*ack });
        }
        self.w.cwnd = before + mss * segments.due(acked, basis, (self.w.cwnd - before) / mss);
    }

    /// What the congestion control sees of the bytes that an ACK acknowledges.
    fn counted(&self, acked: u64) -> u64 {
        if self.counts_acks && self.goes_by_acks() { acked.min(self.w.mss as u64) } else { acked }
    }

    #[inline(never)]
    fn on_ack_in_slow_start(&mut self, ack: &Ack) {
        if self.needs.has(Needs::OWN_SLOW_START) {
            self.algorithm.on_ack(&mut self.w, ack);
            return;
        }
        if ack.app_limited {
            return;
        }
        let mut acked = ack.acked;
        if self.segments.is_some() {
            acked = acked.div_ceil(self.w.mss as u64) * self.w.mss as u64;
            self.w.ssthresh = self.in_whole(self.w.ssthresh);
        }
        let limit = if self.after_rto && self.abc_limit.is_finite() { 1.0 } else { self.abc_limit };
        let allowed = (acked as f64).min(limit * self.w.mss);
        let growth = self.slow_start.growth(&mut self.w, ack, allowed);
        let room = self.w.ssthresh - self.w.cwnd;
        if growth <= room {
            self.w.cwnd += growth;
            return;
        }
        self.w.cwnd = self.w.ssthresh;
        let rest = self.counted(acked).saturating_sub(room as u64);
        if rest > 0 {
            self.avoid(&Ack { acked: rest, ..*ack });
        }
    }

    /// Whole segments of `bytes`, which may be infinite.
    fn in_whole(&self, bytes: f64) -> f64 {
        if bytes.is_finite() { whole(bytes / self.w.mss) * self.w.mss } else { bytes }
    }

    /// Leaves whole segments of a window that an ACK has changed. A share of a segment that it grew by waits.
    fn keep_part(&mut self, before: f64) {
        let window = self.in_whole(self.w.cwnd);
        let part = (self.w.cwnd - window) / self.w.mss;
        self.w.cwnd = window;
        if window < before {
            // A threshold that was to follow the window stays no higher than it.
            self.w.ssthresh = self.in_whole(self.w.ssthresh);
            return;
        }
        let Some(segments) = self.segments.as_mut().filter(|_| part > 0.0) else { return };
        segments.part += part as f32;
        if segments.part >= 1.0 {
            segments.part -= 1.0;
            self.w.cwnd += self.w.mss;
        }
    }

    /// Leaves whole segments of window and threshold, if segments are counted.
    pub(super) fn cut_to_whole(&mut self) {
        if self.segments.is_some() {
            (self.w.cwnd, self.w.ssthresh) = (self.in_whole(self.w.cwnd), self.in_whole(self.w.ssthresh));
        }
    }

    /// Forgets what was counted, as after a cut.
    pub(super) fn count_anew(&mut self) {
        if let Some(segments) = &mut self.segments {
            *segments = Segments::default();
            self.cut_to_whole();
        }
    }
}

#[cfg(test)]
mod tests;
