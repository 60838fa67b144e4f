//! What the window lets out while it comes down, and what has arrived by duplicates where there is no SACK, both in segments.

use super::Mode;
use crate::options::Options;
use crate::sender::Sender;

impl Sender {
    /// A tail loss probe has repaired a loss: the window comes down at once, from what it is now.
    pub(in crate::recovery) fn leave_cwr(&mut self) {
        if self.linux && self.rec.mode == Mode::Cwr {
            self.enforce_window();
            self.rec.mode = Mode::Open;
        }
    }

    /// The controller goes on from the window that rules while a reduction is under way.
    pub(in crate::recovery) fn enforce_window(&mut self) {
        if matches!(self.rec.mode, Mode::Recovery | Mode::Cwr) && self.rec.is_reducing() {
            let window = self.window_in_force();
            self.cc.poke("cwnd", window.max(u64::from(self.mss)) as f64);
            self.refresh();
        }
    }

    /// The threshold that an undo gives back (Linux `tcp_current_ssthresh`), in whole segments.
    pub(super) fn current_ssthresh(&self) -> f64 {
        let (mss, ssthresh) = (u64::from(self.mss), self.cc.ssthresh());
        if matches!(self.rec.mode, Mode::Recovery | Mode::Cwr) {
            return ssthresh;
        }
        let window = self.cwnd / mss;
        ssthresh.max(((window / 2 + window / 4) * mss) as f64)
    }

    /// Segments in flight, as Linux counts them.
    pub(crate) fn segments_in_flight(&self) -> u64 {
        if !self.board.is_uneven() {
            return self.board.pipe().div_ceil(u64::from(self.mss));
        }
        self.board.pipe_segments().saturating_sub(u64::from(self.rec.duplicates))
    }

    /// Bytes that the window lets out, in whole segments.
    pub(in crate::recovery) fn room(&self) -> u64 {
        if matches!(self.rec.mode, Mode::Recovery | Mode::Cwr) && self.rec.is_reducing() {
            return (self.steps().held / u64::from(self.mss)).saturating_sub(self.segments_in_flight())
                * u64::from(self.mss);
        }
        if !self.board.is_uneven() {
            return self.cwnd.saturating_sub(self.board.pipe());
        }
        let mss = u64::from(self.mss);
        (self.cwnd / mss).saturating_sub(self.segments_in_flight()) * mss
    }

    /// So many segments count as arrived, where there is no SACK.
    pub(super) fn count_as_arrived(&mut self, segments: u64) {
        if !self.sack {
            self.rec.duplicates = segments.min(u64::from(u16::MAX)) as u16;
            self.board.presume(segments * u64::from(self.mss));
        }
    }

    /// Counts what an ACK without SACK delivers (Linux `tcp_add_reno_sack`, `tcp_remove_reno_sacks`): a duplicate stands for one segment that
    /// came out of order; an ACK of `segments` for what the duplicates before it have not stood for, one segment at least. After a timeout
    /// duplicates come of what is retransmitted, and count only when new data is out. Once all is acknowledged that was out when recovery
    /// began they do not count before something new is. Returns segments.
    #[cold]
    pub fn count_arrived(&mut self, segments: u64, repeated: bool, o: &Options) -> u64 {
        let known = u64::from(self.rec.duplicates);
        if segments == 0 {
            if self.rec.mode == Mode::Recovery && self.board.una() >= self.rec.point {
                return 0;
            }
            if !repeated || self.rec.mode == Mode::Loss && self.board.nxt() <= self.rec.point {
                return 0;
            }
            let now = self.limit_arrived(known + 1, 0, o);
            self.count_as_arrived(now);
            return now.saturating_sub(known);
        }
        let left = self.limit_arrived(known.saturating_sub(segments - 1), segments, o);
        self.count_as_arrived(if self.rec.mode == Mode::Recovery { left } else { 0 });
        segments.saturating_sub(known).max(1)
    }

    /// No more than what is out and not missing can have arrived. More duplicates than that show reordering.
    pub(super) fn limit_arrived(&mut self, arrived: u64, acked: u64, o: &Options) -> u64 {
        let counts = self.board.counts();
        let most = counts.out - counts.lost.max(1).min(counts.out);
        if arrived > most {
            let degree = (counts.out + acked).min(u64::from(o.max_reordering)) as u16;
            self.change_steps(|steps| steps.degree = degree);
        }
        arrived.min(most)
    }
}
