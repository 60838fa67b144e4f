//! PROBE_BW: eight phases of about one round-trip time; the first probes for more, the second drains what that queued.

use super::{Bbr, Mode};
use crate::draw::Draw;
use crate::{Ack, Window};
use elephan_units::{Span, Time};

pub(super) const PHASES: u32 = 8;
pub(super) const PROBING: u32 = 0;
pub(super) const DRAINING: u32 = 1;

/// Any phase but the draining one, of which nothing would be there to drain (Linux `bbr_reset_probe_bw_mode`).
fn first_phase(draw: &mut Draw) -> u32 {
    let phase = (draw.uniform() * f64::from(PHASES - 1)) as u32;
    if phase < DRAINING { phase } else { phase + 1 }
}

impl Bbr {
    pub(super) fn begin_probe_bw(&mut self, now: Time) {
        let phase = self.p.phase.unwrap_or_else(|| first_phase(&mut self.draw));
        self.mode = Mode::ProbeBw { phase, since: now };
    }

    pub(super) fn phase_gain(&self, phase: u32) -> f64 {
        match phase {
            PROBING => self.p.probe_gain,
            DRAINING => self.p.drain_gain,
            _ => 1.0,
        }
    }

    /// Moves on to the next phase when this one has lasted a round-trip time; but probing lasts until what it asks for is
    /// in flight or lost, and draining no longer than needed. Behind a policer all phases are alike.
    pub(super) fn cycle(&mut self, w: &Window, ack: &Ack) {
        let Mode::ProbeBw { phase, since } = self.mode else { return };
        let elapsed = ack.now.since(since) > self.path.min_rtt().unwrap_or(Span::ZERO);
        let holds = |gain| self.inflight(w, self.path.bw(), gain, 0.0).unwrap_or(f64::INFINITY);
        let inflight = ack.inflight as f64;
        let done = match phase {
            _ if self.policer.bps().is_some() => elapsed,
            PROBING => elapsed && (self.lost || inflight >= holds(self.p.probe_gain)),
            DRAINING => elapsed || inflight <= holds(1.0),
            _ => elapsed,
        };
        if done {
            self.mode = Mode::ProbeBw { phase: (phase + 1) % PHASES, since: ack.now };
        }
    }
}
