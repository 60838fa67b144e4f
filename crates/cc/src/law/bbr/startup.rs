//! STARTUP doubles the rate each round until the bandwidth stops growing; DRAIN then empties the queue that this built.

use super::{Bbr, Mode};
use crate::path::drained;
use crate::{Ack, Window};

impl Bbr {
    pub(super) fn drain(&mut self, w: &mut Window, ack: &Ack) {
        let begins = self.mode == Mode::Startup && self.full;
        if begins {
            self.mode = Mode::Drain;
        }
        if self.mode == Mode::Drain && drained(ack, self.inflight(w, 1.0).unwrap_or(f64::INFINITY), w, begins) {
            self.begin_probe_bw(ack.now);
        }
    }
}
