//! STARTUP doubles the rate each round until the bandwidth stops growing; DRAIN then empties the queue that this built.

use super::{Bbr, Mode};
use crate::event::SSTHRESH_MIN_SEGMENTS;
use crate::{Ack, Window};

impl Bbr {
    pub(super) fn drain(&mut self, w: &mut Window, ack: &Ack) {
        let begins = self.mode == Mode::Startup && self.full;
        if !begins && self.mode != Mode::Drain {
            return;
        }
        let pipe = self.inflight(w, 1.0).unwrap_or(f64::INFINITY);
        if begins {
            self.mode = Mode::Drain;
            // Nothing reads it here; others see by it that slow start is over.
            w.ssthresh = pipe.max(SSTHRESH_MIN_SEGMENTS * w.mss);
        }
        if ack.inflight.saturating_sub(ack.acked) as f64 <= pipe {
            self.begin_probe_bw(ack.now);
        }
    }
}
