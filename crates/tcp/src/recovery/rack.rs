//! RACK (RFC 8985 section 6): a segment is lost when one sent after it was delivered and it is out for longer than
//! RACK.rtt + reo_wnd; a timer does what no ACK does. The search itself is in the scoreboard's `times.rs`.
//!
//! ```text
//! reo_wnd = min(mult * min_RTT / 4, SRTT)
//!         = 0 as long as no reordering was seen and (in recovery, or DupThresh segments are SACKed)
//! mult    = 1; + 1 for a D-SACK, once a round trip; 1 again after 16 recoveries without
//! ```
//!
//! Linux adds 1 on the ACK after the D-SACK that delivers something, if what it delivers was sent after the last such ACK.
//!
//! A timeout takes only the first segment and the overdue for lost (section 6.3). `NextSeg`'s rules 3 and 4 of RFC 6675 are
//! not used: what is not lost is not retransmitted. Without proportional rate reduction a lost retransmission is a congestion
//! signal of its own, once a window (section 9.3), and goes out at once.

use super::Mode;
use crate::options::{LossDetection, Options, RackRule, Reduction};
use crate::sender::Sender;
use crate::stats::Stats;
use elephan_cc::Signal;
use elephan_units::Time;

/// Recoveries that a larger multiplier outlives (RFC 8985 section 6.2 step 4).
const PERSIST: u32 = 16;
/// The largest multiplier (Linux `tcp_rack_update_reo_wnd`: `min_t(u32, 0xFF, ...)`).
const LINUX_MULT: u32 = 255;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Rack {
    reo_wnd_mult: u32,
    reo_wnd_persist: u32,
    /// Where the round trip of the last D-SACK that widened the window ends, an offset.
    dsack_round: Option<u64>,
    /// Linux: a D-SACK has come since the last ACK that delivered something.
    dsack_waits: bool,
    /// Linux: when the window was last widened, ps.
    widened_at: u64,
    /// When the reordering timer expires.
    pub deadline: Time,
    /// When the window was last reduced in this recovery.
    reduced_at: u64,
}

impl Default for Rack {
    fn default() -> Rack {
        Rack {
            reo_wnd_mult: 1,
            reo_wnd_persist: PERSIST,
            dsack_round: None,
            dsack_waits: false,
            widened_at: 0,
            deadline: Time::NEVER,
            reduced_at: 0,
        }
    }
}

/// What the reordering window depends on beside the multiplier. Times are ps.
#[derive(Clone, Copy, Debug)]
struct Path {
    min_rtt: u64,
    srtt: u64,
    reordering_seen: bool,
    recovering: bool,
    segs_sacked: u64,
    dup_threshold: u64,
}

impl Rack {
    /// An ACK with or without D-SACK.
    fn on_dsack(&mut self, dsack: bool, una: u64, nxt: u64) {
        if self.dsack_round.is_some_and(|round| una >= round) {
            self.dsack_round = None;
        }
        if dsack && self.dsack_round.is_none() {
            self.dsack_round = Some(nxt);
            self.reo_wnd_mult = self.reo_wnd_mult.saturating_add(1);
            self.reo_wnd_persist = PERSIST;
        }
    }

    /// An ACK with or without D-SACK, as Linux takes it (`tcp_rack_update_reo_wnd`): the next ACK that delivers something widens the window.
    /// The latest segment that this ACK delivers was sent at `delivered`. If that was before the window was last widened, the D-SACKs that
    /// wait do not count.
    fn on_dsack_as_linux(&mut self, dsack: bool, delivered: Option<u64>, now: Time) {
        self.dsack_waits |= dsack;
        let Some(sent) = delivered.filter(|_| self.dsack_waits) else { return };
        self.dsack_waits = false;
        if sent >= self.widened_at {
            self.widened_at = now.0;
            self.reo_wnd_mult = (self.reo_wnd_mult + 1).min(LINUX_MULT);
            self.reo_wnd_persist = PERSIST;
        }
    }

    /// Fast recovery or recovery from a timeout has ended.
    pub fn recovered(&mut self) {
        self.reo_wnd_persist = self.reo_wnd_persist.saturating_sub(1);
        if self.reo_wnd_persist == 0 {
            self.reo_wnd_mult = 1;
        }
    }

    /// A recovery was taken back by D-SACK: it does not count among those after which the window is small again (Linux
    /// `tcp_try_undo_dsack`).
    pub fn keep_window(&mut self) {
        self.reo_wnd_persist = (self.reo_wnd_persist + 1).min(PERSIST);
    }

    /// Recovery begins, with its reduction.
    pub fn reduced(&mut self, now: Time) {
        self.reduced_at = now.0;
    }

    fn reo_wnd(&self, path: &Path) -> u64 {
        if !path.reordering_seen && (path.recovering || path.segs_sacked >= path.dup_threshold) {
            return 0;
        }
        (path.min_rtt / 4).saturating_mul(u64::from(self.reo_wnd_mult)).min(path.srtt)
    }
}

impl Sender {
    /// Marks what `loss_detection` takes for lost.
    #[inline]
    pub(super) fn find_losses(&mut self, now: Time, o: &Options, stats: &mut Stats) {
        if self.board.keeps_times() {
            return self.find_overdue(now, o, stats);
        }
        match o.loss_detection {
            LossDetection::Fack => self.board.detect_below_highest(u64::from(o.dup_ack_threshold)),
            LossDetection::Dupack | LossDetection::Rack => self.board.detect_losses(o.dup_ack_threshold),
        }
    }

    /// The D-SACK of the present ACK and the reordering window that follows, ps.
    fn reo_wnd(&mut self, o: &Options) -> u64 {
        let path = Path {
            min_rtt: if self.min_rtt == elephan_units::Span::MAX { 0 } else { self.min_rtt.0 },
            srtt: self.rtt.srtt().map_or(0, |srtt| srtt.0),
            reordering_seen: self.board.saw_reordering(),
            recovering: matches!(self.rec.mode, Mode::Recovery | Mode::Loss),
            segs_sacked: self.board.segments_sacked(),
            dup_threshold: u64::from(self.board.reordering(o.dup_ack_threshold)),
        };
        self.rec.watch.as_ref().and_then(|watch| watch.rack).map_or(0, |rack| rack.reo_wnd(&path))
    }

    /// `RACK_detect_loss_and_arm_timer`.
    #[inline(never)]
    fn find_overdue(&mut self, now: Time, o: &Options, stats: &mut Stats) {
        let window = self.reo_wnd(o);
        let overdue = self.board.detect_overdue(now.0, window);
        let Some(rack) = self.rec.watch.as_mut().and_then(|watch| watch.rack.as_mut()) else { return };
        rack.deadline = overdue.deadline.map_or(Time::NEVER, Time);
        let again = self.rec.mode == Mode::Recovery && o.reduction == Reduction::Immediate;
        if again && overdue.lost_again.is_some_and(|at| at >= rack.reduced_at) {
            rack.reduced(now);
            self.rec.head_due = true;
            let (lost, inflight) = (self.board.lost_bytes(), self.board.pipe());
            self.signal(&Signal::Loss { now, lost, inflight }, stats);
        }
    }

    /// The D-SACK of the present ACK widens the window. The latest segment that the ACK delivers was sent at `delivered`.
    #[inline]
    pub(super) fn note_dsack(&mut self, now: Time, delivered: Option<u64>) {
        let (una, nxt) = (self.board.una(), self.board.nxt());
        if let Some(watch) = &mut self.rec.watch
            && let Some(rack) = &mut watch.rack
        {
            let dsack = watch.dsack.is_some_and(|report| report.widens);
            match watch.rack_rule {
                RackRule::Linux => rack.on_dsack_as_linux(dsack, delivered, now),
                RackRule::Rfc8985 => rack.on_dsack(dsack, una, nxt),
            }
        }
    }

    /// What a timeout takes for lost.
    pub(super) fn lose_at_timeout(&mut self, now: Time, o: &Options) {
        if self.board.keeps_times() {
            let window = self.reo_wnd(o);
            self.board.lose_overdue(now.0, window);
        } else {
            self.board.lose_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000_000;

    fn path() -> Path {
        Path {
            min_rtt: 40 * MS,
            srtt: 60 * MS,
            reordering_seen: true,
            recovering: false,
            segs_sacked: 0,
            dup_threshold: 3,
        }
    }

    /// RFC 8985 section 6.2 step 4: min(mult * min_RTT / 4, SRTT), and when it is 0.
    #[test]
    fn the_reordering_window() {
        let rack = Rack::default();
        assert_eq!(rack.reo_wnd(&path()), 10 * MS);
        let unseen = Path { reordering_seen: false, ..path() };
        assert_eq!(rack.reo_wnd(&unseen), 10 * MS);
        assert_eq!(rack.reo_wnd(&Path { segs_sacked: 2, ..unseen }), 10 * MS);
        assert_eq!(rack.reo_wnd(&Path { segs_sacked: 3, ..unseen }), 0);
        assert_eq!(rack.reo_wnd(&Path { recovering: true, ..unseen }), 0);
        // Once reordering was seen neither matters.
        assert_eq!(rack.reo_wnd(&Path { segs_sacked: 30, recovering: true, ..path() }), 10 * MS);
        // SRTT is the most: 60 ms are reached with the multiplier 6.
        for (mult, window) in [(2, 20), (5, 50), (6, 60), (7, 60), (1000, 60)] {
            assert_eq!(Rack { reo_wnd_mult: mult, ..rack }.reo_wnd(&path()), window * MS);
        }
    }

    /// Linux `tcp_rack_update_reo_wnd`: a D-SACK that delivers nothing waits for an ACK that does; what was sent before the window was last
    /// widened does not widen it.
    #[test]
    fn linux_widens_on_the_next_delivery() {
        let mut rack = Rack::default();
        rack.on_dsack_as_linux(true, None, Time(100 * MS));
        assert_eq!(rack.reo_wnd_mult, 1);
        rack.on_dsack_as_linux(false, Some(50 * MS), Time(110 * MS));
        assert_eq!(rack.reo_wnd_mult, 2);
        rack.on_dsack_as_linux(true, Some(109 * MS), Time(170 * MS));
        rack.on_dsack_as_linux(false, Some(120 * MS), Time(180 * MS));
        assert_eq!(rack.reo_wnd_mult, 2);
        rack.on_dsack_as_linux(true, Some(110 * MS), Time(190 * MS));
        assert_eq!(rack.reo_wnd_mult, 3);
    }

    /// One more a round trip that sees a D-SACK, and back to one after 16 recoveries without.
    #[test]
    fn the_multiplier() {
        let mut rack = Rack::default();
        rack.on_dsack(true, 1000, 5000);
        rack.on_dsack(true, 2000, 6000);
        assert_eq!(rack.reo_wnd_mult, 2);
        rack.on_dsack(false, 5000, 9000);
        rack.on_dsack(true, 5000, 9000);
        assert_eq!(rack.reo_wnd_mult, 3);
        for _ in 0..15 {
            rack.recovered();
        }
        assert_eq!(rack.reo_wnd_mult, 3);
        rack.recovered();
        assert_eq!(rack.reo_wnd_mult, 1);
        rack.on_dsack(true, 9000, 10_000);
        for _ in 0..15 {
            rack.recovered();
        }
        rack.on_dsack(true, 10_000, 11_000);
        rack.recovered();
        assert_eq!(rack.reo_wnd_mult, 3);
    }
}
