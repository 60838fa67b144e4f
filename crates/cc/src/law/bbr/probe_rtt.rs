//! PROBE_RTT: when the smallest round-trip time is old, the flow drains its queue to see whether the path has a smaller one.

use super::{Bbr, Mode};
use crate::{Ack, Window};
use elephan_units::Time;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Stay {
    /// Since so little is in flight as is meant to be: when it has been so for long enough.
    until: Option<Time>,
    /// A round has passed since.
    round_done: bool,
}

impl Bbr {
    pub(super) fn watch_min_rtt(&mut self, w: &Window, ack: &Ack, new_round: bool) {
        let expired = self.path.sample_rtt(ack, self.p.min_rtt_window);
        if expired && !self.restarted && !self.probing_rtt() {
            self.mode = Mode::ProbeRtt(Stay::default());
            self.repair.restore = self.repair.restore.max(w.cwnd);
        }
        let Mode::ProbeRtt(mut stay) = self.mode else { return };
        self.path.limit();
        let inflight = ack.inflight.saturating_sub(ack.acked);
        match stay.until {
            None if inflight as f64 <= self.p.min_segments * w.mss => {
                stay.until = Some(ack.now.saturating_add(self.p.probe_rtt_time));
                self.path.restart_round(inflight);
            }
            None => {}
            Some(_) => stay.round_done |= new_round,
        }
        self.mode = Mode::ProbeRtt(stay);
        if stay.round_done && stay.until.is_some_and(|until| ack.now > until) {
            self.path.confirm_min_rtt(ack.now);
            match self.full {
                true => self.begin_probe_bw(ack.now),
                false => self.mode = Mode::Startup,
            }
        }
    }
}
