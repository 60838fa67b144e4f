//! Reductions that prove needless are taken back (Linux `tcp_try_undo_*`).

use super::Mode;
use crate::options::Options;
use crate::recovery::tlp::Tlp;
use crate::sender::{AckEvent, Sender};
use crate::stats::Stats;
use elephan_cc::Signal;
use elephan_units::Time;

impl Sender {
    /// A hole was filled by a packet that was late: whether what is retransmitted already has to be waited for.
    pub(super) fn undo_partial(&mut self, e: &AckEvent, o: &Options, stats: &mut Stats) -> bool {
        if !self.rec.watch.as_ref().is_some_and(|watch| watch.is_late(self.sack)) {
            return false;
        }
        if self.sack {
            self.board.note_reordering(self.board.una() - e.acked);
            self.board.measure_reordering();
        } else if e.acked > self.degree(o) * u64::from(self.mss) {
            let degree = e.acked.div_ceil(u64::from(self.mss)).min(u64::from(o.max_reordering)) as u16;
            self.change_steps(|steps| steps.degree = degree);
        }
        if self.board.resent_bytes() > 0 {
            self.change_steps(|steps| steps.silent = true);
            return true;
        }
        if !self.board.any_again() {
            self.forget_stamp();
        }
        self.undo(e.now, true, stats);
        self.rec.mode = Mode::Open;
        false
    }

    /// All retransmissions were reported as duplicates.
    pub(super) fn undo_by_duplicates(&mut self, now: Time, stats: &mut Stats) -> bool {
        let Some(watch) = &mut self.rec.watch else { return false };
        if !watch.by_dsack || !watch.episode.all_reported() {
            return false;
        }
        if let Some(rack) = &mut watch.rack {
            rack.keep_window();
        }
        self.undo(now, false, stats);
        true
    }

    /// From now on a needless reduction may be taken back, to `prior` as the threshold.
    pub(super) fn begin_episode(&mut self, rto: bool, prior: f64) {
        let una = self.board.una();
        let resent = self.board.resent_bytes().div_ceil(u64::from(self.mss));
        let Some(watch) = &mut self.rec.watch else { return };
        let probes = watch.tlp.as_ref().map_or(0, Tlp::out);
        watch.episode.begin(rto, una, resent + probes);
        watch.steps.prior_ssthresh = prior;
    }

    /// The reduction was needless: window and threshold are as before it, and nothing is lost if `unmark`.
    pub(super) fn undo(&mut self, now: Time, unmark: bool, stats: &mut Stats) {
        let rto = self.rec.mode == Mode::Loss;
        if unmark {
            self.board.unmark_lost(true);
        }
        self.enforce_window();
        self.cc.on_congestion(&Signal::Undo { now });
        let Some(watch) = &mut self.rec.watch else { return };
        watch.episode.taken_back();
        let prior = std::mem::take(&mut watch.steps.prior_ssthresh);
        if prior > 0.0 {
            if self.cc.ssthresh() < prior {
                self.cc.poke("ssthresh", prior);
            }
            self.cwr_due = false;
        }
        self.refresh();
        self.rec.head_due = false;
        self.board.advance_again();
        stats.rare().spurious_rto_detected += u64::from(rto);
        stats.rare().spurious_fr_detected += u64::from(!rto);
    }

    /// Whether the last reduction has proved needless (Linux `tcp_may_undo`).
    pub(super) fn is_needless(&self) -> bool {
        let Some(watch) = &self.rec.watch else { return false };
        watch.by_dsack && watch.episode.all_reported() || watch.is_late(self.sack)
    }

    /// Window and threshold of before do not come back.
    pub(super) fn forget_window(&mut self) {
        self.cc.confirm();
        if let Some(watch) = &mut self.rec.watch {
            watch.steps.prior_ssthresh = 0.0;
        }
    }

    pub(super) fn forget_stamp(&mut self) {
        if let Some(watch) = &mut self.rec.watch {
            watch.episode.forget_stamp();
        }
    }
}
