//! STARTUP doubles the rate each round until the bandwidth stops growing; DRAIN then empties the queue that this built.

use super::{Bbr, Mode};
use crate::event::SSTHRESH_MIN_SEGMENTS;
use crate::{Ack, Window};

/// How long the bandwidth has not grown.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Plateau {
    /// bit/s when it last grew.
    bw: f64,
    rounds: u32,
}


impl Bbr {
    /// At the beginning of a round that was not limited: has the bandwidth grown?
    pub(super) fn look_for_plateau(&mut self) {
        if self.full {
            return;
        }
        let plateau = &mut self.repair.plateau;
        if self.path.bw() >= plateau.bw * self.p.full_growth {
            (plateau.bw, plateau.rounds) = (self.path.bw(), 0);
            return;
        }
        plateau.rounds += 1;
        self.full = plateau.rounds >= self.p.full_rounds;
    }

    pub(super) fn drain(&mut self, w: &mut Window, ack: &Ack) {
        let pipe = self.inflight(w, 1.0).unwrap_or(f64::INFINITY);
        if self.mode == Mode::Startup && self.full {
            self.mode = Mode::Drain;
            // Nothing reads it here; others see by it that slow start is over.
            w.ssthresh = pipe.max(SSTHRESH_MIN_SEGMENTS * w.mss);
        }
        if self.mode == Mode::Drain && ack.inflight.saturating_sub(ack.acked) as f64 <= pipe {
            self.begin_probe_bw(ack.now);
        }
    }
}
