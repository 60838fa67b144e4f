//! The steps that Linux takes on an ACK (`recovery_steps = "linux"`): one machine, with and without SACK.
//!
//! - An ACK at or beyond `point` (Linux `high_seq`) ends an episode, and the window may grow by the same ACK. CWR lasts one byte longer.
//!   Without SACK the state stays until something beyond `point` is acknowledged.
//! - A reduction proves needless by D-SACK or by an echo from before the first retransmission: window and threshold come back.
//!   The threshold that comes back is three quarters of the window at least.
//! - After a timeout everything that was sent once and is acknowledged or SACKed shows that the timeout was needless (F-RTO), with SACK
//!   already the first ACK. Otherwise new data goes first on the first ACK that advances.
//! - Losses are looked for after that: by time with SACK; without, the third duplicate and each partial ACK mark the first segment. What is
//!   lost begins a recovery. So does the loss of a retransmission after a timeout.
//! - A timeout leaves one segment more than what it does not take for lost. It lowers the threshold once for the data that is out.
//! - Without SACK a duplicate ACK stands for one segment that has arrived (`tcp_add_reno_sack`).
//!
//! Sources: Linux 6.18 `tcp_fastretrans_alert`, `tcp_process_loss`, `tcp_enter_loss`, `tcp_enter_recovery`, `tcp_try_undo_*`,
//! `tcp_newreno_mark_lost`, `tcp_rack_reo_timeout`. Left out: a receiver that forgets what it has SACKed ends in a timeout.

mod undo;
mod window;

use super::{Mode, Verdict};
use crate::options::Options;
use crate::sender::{AckEvent, Sender};
use crate::stats::Stats;
use elephan_cc::Signal;
use elephan_units::Time;

/// What these steps keep besides.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Steps {
    /// The timer has expired and no ACK has advanced since.
    retried: bool,
    /// When it last expired.
    lost_at: Time,
    /// The threshold that an undo gives back, bytes; 0 for none.
    prior_ssthresh: f64,
    /// The window while it comes down, bytes.
    pub held: u64,
    /// Nothing is retransmitted before the next ACK or timer (Linux `REXMIT_NONE`).
    pub silent: bool,
    /// Segments that reordering may displace without SACK, 0 as long as it is not measured.
    degree: u16,
}

pub(super) fn on_ack(tx: &mut Sender, e: &AckEvent, o: &Options, stats: &mut Stats) -> Verdict {
    if e.acked > 0 {
        tx.end_disorder(e.acked, stats);
        tx.rec.advance(tx.board.una() - e.acked);
        if let Some(watch) = &mut tx.rec.watch {
            watch.steps.retried = false;
        }
    }
    if e.duplicate {
        tx.rec.dup_acks = tx.rec.dup_acks.saturating_add(1);
    }
    if e.alert.echoed {
        tx.forget_window();
    }
    tx.alert(e, o, stats);
    let reducing = matches!(tx.rec.mode, Mode::Recovery | Mode::Cwr);
    if reducing {
        let safe = e.acked > 0 && tx.board.lost_total() == e.lost_before;
        tx.reduce(e, safe);
    }
    // Linux `tcp_may_raise_cwnd`: while segments are known to be reordered, what is SACKed opens the window too.
    let raises = e.acked > 0 || e.alert.sacked && tx.degree(o) > u64::from(o.dup_ack_threshold);
    Verdict { grow: raises && !reducing, restart_timer: e.alert.rearms }
}

/// RACK's reordering timer has expired.
pub(super) fn on_alarm(tx: &mut Sender, now: Time, o: &Options, stats: &mut Stats) {
    let (pipe, lost) = (tx.board.pipe(), tx.board.lost_total());
    tx.change_steps(|steps| steps.silent = false);
    tx.find_losses(now, o, stats);
    if let Some(rack) = tx.rec.watch.as_mut().and_then(|watch| watch.rack.as_mut()) {
        rack.deadline = Time::NEVER;
    }
    if tx.board.pipe() == pipe {
        return;
    }
    if tx.rec.mode == Mode::Recovery {
        // What is lost has left the network, and the window stays.
        return;
    }
    let e = AckEvent::none(now, pipe, lost);
    tx.begin_recovery(&e, stats);
    tx.reduce_by_alarm(&e);
}

/// The retransmission timer has expired.
pub(super) fn on_timeout(tx: &mut Sender, now: Time, o: &Options, stats: &mut Stats) {
    let una = tx.board.una();
    let retried = tx.rec.watch.as_ref().is_some_and(|watch| watch.steps.retried);
    let calm = matches!(tx.rec.mode, Mode::Open | Mode::Cwr);
    let reduces = match tx.rec.mode {
        Mode::Open => true,
        Mode::Loss => una >= tx.rec.point || !retried,
        Mode::Cwr | Mode::Recovery => una >= tx.rec.point,
    };
    if tx.rec.mode == Mode::Open {
        tx.board.distrust_reordering(o.dup_ack_threshold);
        if u32::from(tx.rec.duplicates) >= o.dup_ack_threshold {
            tx.change_steps(|steps| steps.degree = 0);
        }
    }
    let inflight = tx.board.flight();
    tx.rtt.backoff();
    tx.max_rto = tx.max_rto.max(tx.rtt.rto());
    tx.count_as_arrived(0);
    if tx.board.keeps_times() {
        tx.board.lose_overdue(now.0, 0);
    } else {
        tx.board.lose_all();
    }
    tx.enforce_window();
    let prior = tx.current_ssthresh();
    tx.congested(&Signal::Rto { now, inflight }, !reduces, stats);
    if reduces {
        tx.begin_episode(true, prior);
    }
    let pipe = tx.board.pipe();
    let left = (pipe + u64::from(tx.mss)) as f64;
    if tx.cc.steers_recovery() {
        tx.cc.leave_after_timeout(left);
    } else if pipe > 0 {
        tx.cc.poke("cwnd", left);
    }
    tx.refresh();
    if let Some(watch) = &mut tx.rec.watch {
        if let Some(tlp) = &mut watch.tlp {
            tlp.reset();
        }
        if let Some(frto) = &mut watch.frto {
            frto.start(!(calm || retried && tx.rec.mode == Mode::Loss));
        }
        (watch.steps.retried, watch.steps.lost_at) = (true, now);
    }
    tx.rec.mode = Mode::Loss;
    tx.rec.point = tx.board.nxt();
    tx.rec.head_due = true;
    tx.change_steps(|steps| steps.silent = false);
    tx.rec.dup_acks = 0;
    tx.rec.extra = 0;
    tx.sample_at = una + 1;
}

impl Sender {
    /// What an ACK changes of the state (Linux `tcp_fastretrans_alert`).
    fn alert(&mut self, e: &AckEvent, o: &Options, stats: &mut Stats) {
        let una = self.board.una();
        self.change_steps(|steps| steps.silent = false);
        match self.rec.mode {
            Mode::Open if !self.is_disordered() && !self.board.any_again() => self.forget_stamp(),
            Mode::Cwr if una > self.rec.point => self.rec.mode = Mode::Open,
            Mode::Recovery if una >= self.rec.point => {
                self.count_as_arrived(0);
                if self.end_episode(e.now, stats) {
                    return;
                }
            }
            _ => {}
        }
        match self.rec.mode {
            Mode::Recovery => {
                if e.acked > 0 && self.undo_partial(e, o, stats) {
                    return;
                }
                if self.undo_by_duplicates(e.now, stats) {
                    self.try_to_open(e, stats);
                }
                self.identify(e, o, stats);
                if self.rec.mode != Mode::Recovery && self.board.lost_bytes() > 0 {
                    self.begin_recovery(e, stats);
                }
                return;
            }
            Mode::Loss => {
                self.process_loss(e, stats);
                let lost_again = self.identify(e, o, stats);
                if self.rec.mode != Mode::Open && !lost_again {
                    return;
                }
            }
            Mode::Open | Mode::Cwr => {}
        }
        if self.rec.mode == Mode::Open {
            self.undo_by_duplicates(e.now, stats);
        }
        self.identify(e, o, stats);
        if self.board.lost_bytes() > 0 {
            self.begin_recovery(e, stats);
        } else {
            self.try_to_open(e, stats);
        }
    }

    /// After a timeout (Linux `tcp_process_loss`).
    fn process_loss(&mut self, e: &AckEvent, stats: &mut Stats) {
        let (una, nxt, point) = (self.board.una(), self.board.nxt(), self.rec.point);
        if e.acked > 0 && self.is_needless() {
            self.undo(e.now, true, stats);
            if self.sack {
                self.rec.mode = Mode::Open;
            }
            return;
        }
        let Some(watch) = &mut self.rec.watch else { return };
        let original = e.alert.original_at <= watch.steps.lost_at.0;
        if let Some(frto) = watch.frto.as_mut().filter(|frto| frto.is_on()) {
            frto.unblock();
            if original {
                self.undo(e.now, true, stats);
                if self.sack || una != point {
                    self.rec.mode = Mode::Open;
                }
                return;
            }
            if nxt > point {
                if e.alert.sacked || e.alert.repeated {
                    frto.stop();
                }
            } else if e.acked > 0 && una < point {
                frto.block();
                return;
            }
        }
        if una >= point {
            self.end_episode(e.now, stats);
        }
    }

    /// All that was out when the episode began is acknowledged: whether its state stays all the same.
    fn end_episode(&mut self, now: Time, stats: &mut Stats) -> bool {
        if self.is_needless() {
            self.undo(now, false, stats);
        } else if let Some(rack) = self.rec.watch.as_mut().and_then(|watch| watch.rack.as_mut()) {
            rack.recovered();
        }
        if !self.sack && self.board.una() == self.rec.point {
            if !self.board.any_again() {
                self.forget_stamp();
            }
            return true;
        }
        self.rec.mode = Mode::Open;
        self.rec.head_due = false;
        self.cc.on_recovered();
        self.refresh();
        false
    }

    /// Nothing is lost: an ECN-Echo brings the window down, and every other episode than that ends.
    fn try_to_open(&mut self, e: &AckEvent, stats: &mut Stats) {
        if !self.board.any_again() {
            self.forget_stamp();
        }
        // A controller that steers recovery is not held in CWR: one signal for each window of data all the same.
        let again = self.cc.steers_recovery() && self.board.una() <= self.cwr_point;
        if e.alert.echoed && self.rec.mode == Mode::Open && !again {
            self.begin_cwr(e, stats);
        }
        if self.rec.mode != Mode::Cwr {
            self.rec.mode = Mode::Open;
        }
    }

    fn begin_cwr(&mut self, e: &AckEvent, stats: &mut Stats) {
        let window = self.cwnd;
        stats.ecn_signals += 1;
        let signal = Signal::Ecn { now: e.now, inflight: self.board.flight() + e.acked };
        self.signal(&signal, stats);
        self.cwr_suffices = self.cwnd < window && self.cc.suffices(&signal);
        self.forget_window();
        let lowers = self.cwnd < window || window <= 2 * u64::from(self.mss);
        if lowers && !self.cc.steers_recovery() {
            self.rec.mode = Mode::Cwr;
            self.rec.point = self.board.nxt();
            self.change_steps(|steps| steps.held = window);
            self.start_reduction(window, e.delivered);
        }
    }

    /// Something is lost (Linux `tcp_enter_recovery`): in CWR the reduction that is under way goes on.
    fn begin_recovery(&mut self, e: &AckEvent, stats: &mut Stats) {
        // Who yields less to a mark than to a loss reacts to the loss too (Linux `dctcp_react_to_loss`).
        let reducing = self.rec.mode == Mode::Cwr && self.cwr_suffices;
        let lost = self.board.lost_bytes().max(u64::from(self.mss));
        if !self.board.any_again() {
            self.forget_stamp();
        }
        let mut prior = 0.0;
        if !reducing {
            self.enforce_window();
            let (window, inflight) = (self.cwnd, self.board.flight());
            prior = self.current_ssthresh();
            self.signal(&Signal::Loss { now: e.now, lost, inflight }, stats);
            self.start_reduction(window, e.delivered);
            self.rec.point = self.board.nxt();
            self.change_steps(|steps| steps.held = window);
        }
        self.begin_episode(false, prior);
        if reducing || e.alert.echoed {
            self.forget_window();
        }
        if let Some(tlp) = self.rec.watch.as_mut().and_then(|watch| watch.tlp.as_mut()).filter(|_| !reducing) {
            tlp.reset();
        }
        self.rec.mode = Mode::Recovery;
        self.rec.head_due = self.cc.steers_recovery();
        self.rec.rescue = u64::MAX;
        self.rec.extra = 0;
        self.board.restart_resend();
        stats.fast_retran += 1;
    }

    /// Marks what is lost: whether a retransmission is.
    fn identify(&mut self, e: &AckEvent, o: &Options, stats: &mut Stats) -> bool {
        let resent = self.board.resent_bytes();
        if self.board.keeps_times() {
            if self.board.take_advanced() {
                self.find_losses(e.now, o, stats);
            }
        } else if match self.rec.mode {
            Mode::Open | Mode::Cwr => u64::from(self.rec.duplicates) >= self.degree(o),
            Mode::Recovery => e.acked > 0,
            Mode::Loss => false,
        } {
            self.board.lose_first();
        }
        self.board.resent_bytes() < resent
    }

    /// Whether nothing is sent again before the next ACK.
    #[inline]
    pub(super) fn is_silent(&self) -> bool {
        self.rec.watch.as_ref().is_some_and(|watch| watch.steps.silent)
    }

    /// What these steps keep; what they begin with where they do not rule.
    pub(super) fn steps(&self) -> Steps {
        self.rec.watch.as_ref().map_or_else(Steps::default, |watch| watch.steps)
    }

    pub(super) fn change_steps(&mut self, change: impl FnOnce(&mut Steps)) {
        if let Some(watch) = &mut self.rec.watch {
            change(&mut watch.steps);
        }
    }

    /// Segments that reordering may displace.
    fn degree(&self, o: &Options) -> u64 {
        let degree = u32::from(self.steps().degree);
        let least = if degree > 0 { degree } else { o.dup_ack_threshold };
        u64::from(self.board.reordering(least))
    }
}
