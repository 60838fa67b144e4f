//! PROBE_RTT: when the smallest round-trip time is old, the flow drains its queue to see whether the path has a smaller one.

use super::{Bbr, Mode};
use crate::repair::Stay;
use crate::{Ack, Window};

impl Bbr {
    pub(super) fn watch_min_rtt(&mut self, w: &Window, ack: &Ack, new_round: bool) {
        let expired = self.path.sample_rtt(ack, self.p.min_rtt_window);
        if expired && !self.path.restarted && !self.probing_rtt() {
            self.mode = Mode::ProbeRtt(Stay::default());
            self.repair.save(w, false);
        }
        let Mode::ProbeRtt(mut stay) = self.mode else { return };
        let most = self.p.min_segments * w.mss;
        let over = stay.over(&mut self.path, ack, new_round, most, self.p.probe_rtt_time);
        self.mode = Mode::ProbeRtt(stay);
        if over {
            self.repair.probed();
            match self.full {
                true => self.begin_probe_bw(ack.now),
                false => self.mode = Mode::Startup,
            }
        }
    }
}
