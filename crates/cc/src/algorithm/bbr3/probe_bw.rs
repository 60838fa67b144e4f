//! PROBE_BW: DOWN empties the queue, CRUISE keeps it empty, REFILL fills the pipe again, UP probes for more.

use super::{Bbr3, Mode, left};
use crate::repair::Plateau;
use crate::{Ack, Window};
use elephan_units::{Span, Time};

impl Bbr3 {
    /// A round begins with `inflight` bytes in flight, and what was lost before is forgotten (draft, BBRResetCongestionSignals and
    /// BBRStartRound).
    pub(super) fn begin_down(&mut self, now: Time, inflight: u64) {
        self.path.restart_round(inflight);
        let too_much = self.tally.too_much || self.is_too_much();
        self.tally.restart(inflight, self.path.delivered(), too_much);
        (self.mode, self.since, self.rounds) = (Mode::Down, now, 0);
        self.pick_wait();
    }

    /// Decides how long to wait for the next probe, by the clock and by rounds, so that flows do not probe in step
    /// (draft-ietf-ccwg-bbr, BBRPickProbeWait).
    pub(super) fn pick_wait(&mut self) {
        let (p, draw) = (&self.p, &mut self.draw);
        let mut random = || Span::from_seconds(p.probe_wait_random.seconds() * draw.uniform());
        let wait = p.probe_wait.unwrap_or_else(|| p.probe_wait_min.saturating_add(random()));
        let over = self.p.probe_rounds_over.unwrap_or_else(|| u32::from(draw.uniform() < 0.5));
        self.wait = (wait, over);
    }

    /// Moves on where the mode is over.
    pub(super) fn cycle(&mut self, w: &Window, ack: &Ack, new_round: bool) {
        self.rounds += u64::from(new_round);
        let inflight = ack.inflight.saturating_sub(ack.acked) as f64;
        match self.mode {
            Mode::Down | Mode::Cruise if self.is_time_to_probe(w, ack.now) => {
                self.bounds.forget_low();
                (self.mode, self.rounds) = (Mode::Refill, 0);
                self.path.restart_round(ack.inflight.saturating_sub(ack.acked));
            }
            Mode::Down | Mode::Cruise => {
                if self.rounds == 1 && new_round {
                    // What the probe has sent is acknowledged: its largest rate is one of the cycle that ends here.
                    self.judging = false;
                    self.cycles += u64::from(!self.path.limited(ack));
                }
                if self.mode == Mode::Down && inflight <= self.headroom(w).min(self.inflight(w, 1.0)) {
                    self.mode = Mode::Cruise;
                }
            }
            Mode::Refill if self.rounds > 0 => {
                self.judging = true;
                (self.mode, self.since) = (Mode::Up, ack.now);
                self.repair.plateau = Plateau::since(ack.rate_bps.unwrap_or(0.0));
            }
            Mode::Up => self.leave_full_pipe(w, ack, new_round),
            _ => {}
        }
    }

    /// As Reno would with this window, a flow probes no later than after so many rounds as it has segments.
    fn is_time_to_probe(&self, w: &Window, now: Time) -> bool {
        let reno = (self.bdp(1.0).unwrap_or(f64::INFINITY).min(w.cwnd) / w.mss).min(self.p.probe_rounds);
        let (wait, over) = self.wait;
        now.since(self.since) > wait || (self.rounds + u64::from(over)) as f64 >= reno.max(1.0)
    }

    /// UP is over where the bandwidth no longer grows and it is not the upper bound that keeps it from growing.
    fn leave_full_pipe(&mut self, w: &Window, ack: &Ack, new_round: bool) {
        if !ack.app_limited && w.cwnd >= self.bounds.inflight_hi {
            self.repair.plateau = Plateau::since(ack.rate_bps.unwrap_or(0.0));
        } else if self.stops_growing(ack, new_round) {
            self.begin_down(ack.now, left(ack));
        }
    }

    /// Whether the delivery rate has not grown for some rounds; samples that say nothing about the path do not count.
    pub(super) fn stops_growing(&mut self, ack: &Ack, new_round: bool) -> bool {
        let p = &self.p;
        !self.path.limited(ack) && self.repair.plateau.watched(ack.rate_bps, new_round, p.full_growth, p.full_rounds)
    }
}
