//! Loss recovery: when a loss is detected, what is sent to repair it, how much may be sent meanwhile. One rule a file;
//! this file holds what all share.
//!
//! - open: new data, and limited transmit on the first duplicate ACKs (RFC 3042, RFC 5681 section 3.2 step 1);
//! - recovery: entered by the rule, one congestion signal for one episode;
//! - CWR: the window comes down for an ECN-Echo or a local drop ([`reducer`]);
//! - loss: after a timeout all that is not SACKed is lost and is retransmitted in order, in slow start, until all that had
//!   been sent is acknowledged (RFC 5681 section 3.1; go-back-N that skips what was SACKed).
//!
//! [`watch`] holds what detects losses and needless reductions by time and by duplicates, beside these.
//!
//! A loss of data that was sent during an episode begins a new episode when the old one ends.

mod counted;
mod dsack;
mod frto;
mod halving;
mod linux;
mod newreno;
mod rack;
mod reducer;
mod reno;
mod sack;
mod tlp;
mod undo;
mod watch;

use crate::options::{Options, RecoveryRule, Reduction};
use crate::scoreboard::Range;
use crate::sender::{AckEvent, Sender};
use crate::stats::Stats;
use elephan_cc::Signal;
use elephan_units::Time;
use reducer::Reducer;
pub(crate) use watch::{Alarm, Watch};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Open,
    Recovery,
    /// The window comes down without a loss.
    Cwr,
    Loss,
}

/// The state of loss recovery as Linux names it (`TCP_CA_Open` and so on).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CaState {
    #[default]
    Open,
    /// Duplicate ACKs, SACKs or a probe, and no loss yet.
    Disorder,
    /// The window comes down without a loss.
    Cwr,
    Recovery,
    Loss,
}

impl CaState {
    pub const fn name(self) -> &'static str {
        match self {
            CaState::Open => "open",
            CaState::Disorder => "disorder",
            CaState::Cwr => "cwr",
            CaState::Recovery => "recovery",
            CaState::Loss => "loss",
        }
    }
}

/// State of loss recovery.
#[derive(Clone, Debug)]
pub(crate) struct Recovery {
    pub rule: RecoveryRule,
    mode: Mode,
    /// The first unacknowledged segment is to be retransmitted, whatever the window says.
    head_due: bool,
    /// NewReno: a partial ACK was seen in this episode.
    partial_seen: bool,
    dup_acks: u16,
    /// Without SACK, duplicates that count for a segment delivered each (Linux `sacked_out` of a connection without SACK).
    duplicates: u16,
    /// RFC 6582 `recover`, RFC 6675 `RecoveryPoint`: the offset after all that had been sent.
    point: u64,
    /// Window inflation of RFC 5681 section 3.2 in bytes; partial ACKs may make it negative.
    inflation: i64,
    /// Bytes sent beyond the window by limited transmit.
    extra: u64,
    /// RFC 6675 `RescueRxt`, the offset after it.
    rescue: u64,
    /// RFC 6582 section 4.1 `prev_highest_ack`.
    previous_ack: u64,
    /// What brings the window down, if not at once, and what it lets out now.
    reducer: Option<Box<Reducer>>,
    allowed: u64,
    /// RACK, tail loss probe, F-RTO, undo; none if the stack has none of them.
    pub watch: Option<Box<Watch>>,
}

/// A segment to send again, and whether `pipe` counts it once more.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Resend {
    pub range: Range,
    pub counted: bool,
}

/// What an ACK means to the window and the timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// The window may grow.
    pub grow: bool,
    /// The retransmission timer starts anew.
    pub restart_timer: bool,
}

impl Recovery {
    pub fn new(rule: RecoveryRule, reduction: Reduction) -> Recovery {
        Recovery {
            rule,
            reducer: Reducer::of(reduction),
            allowed: 0,
            watch: None,
            mode: Mode::Open,
            head_due: false,
            partial_seen: false,
            dup_acks: 0,
            duplicates: 0,
            point: 0,
            inflation: 0,
            extra: 0,
            rescue: 0,
            previous_ack: 0,
        }
    }

    /// New data was acknowledged; the acknowledgement before was `from`.
    #[inline]
    pub fn advance(&mut self, from: u64) {
        self.dup_acks = 0;
        self.extra = 0;
        self.previous_ack = from;
    }

    pub fn is_recovery(&self) -> bool {
        self.mode == Mode::Recovery
    }

    pub fn is_loss(&self) -> bool {
        self.mode == Mode::Loss
    }

    /// Without SACK, bytes that have left the network by the duplicates, and the segment that is lost and not yet retransmitted.
    pub fn left_by_duplicates(&self, mss: u64) -> u64 {
        match self.mode {
            Mode::Recovery => u64::try_from(self.inflation).unwrap_or(0) + if self.head_due { mss } else { 0 },
            _ => u64::from(self.duplicates) * mss,
        }
    }
}

impl Sender {
    /// An ACK was taken into the scoreboard.
    #[inline]
    pub fn recover(&mut self, e: &AckEvent, o: &Options, stats: &mut Stats) -> Verdict {
        if self.linux {
            return linux::on_ack(self, e, o, stats);
        }
        if self.rec.mode == Mode::Open && !e.duplicate && self.rec.watch.is_none() {
            if e.acked > 0 {
                self.end_disorder(e.acked, stats);
                self.rec.advance(self.board.una() - e.acked);
            }
            return Verdict { grow: e.acked > 0, restart_timer: e.acked > 0 };
        }
        self.recover_slow(e, o, stats)
    }

    #[inline]
    fn recover_slow(&mut self, e: &AckEvent, o: &Options, stats: &mut Stats) -> Verdict {
        if self.rec.watch.is_some() && self.needless(e, stats) {
            self.rec.advance(self.board.una() - e.acked);
            return Verdict { grow: false, restart_timer: e.acked > 0 };
        }
        if self.rec.mode == Mode::Recovery {
            return match self.rec.rule {
                RecoveryRule::Reno => reno::on_ack(self, e),
                RecoveryRule::Newreno => newreno::on_ack(self, e, o),
                RecoveryRule::Sack => sack::on_ack(self, e, o, stats),
            };
        }
        if e.acked > 0 {
            self.end_disorder(e.acked, stats);
            self.rec.advance(self.board.una() - e.acked);
        }
        if e.duplicate {
            self.rec.dup_acks = self.rec.dup_acks.saturating_add(1);
        }
        let entered = match self.rec.rule {
            RecoveryRule::Reno => reno::detect(self, e, o, stats),
            RecoveryRule::Newreno => newreno::detect(self, e, o, stats),
            RecoveryRule::Sack => sack::detect(self, e, o, stats),
        };
        if self.rec.mode == Mode::Loss && self.board.una() >= self.rec.point {
            self.recovered();
        }
        let cwr = self.rec.mode == Mode::Cwr;
        if cwr {
            self.on_ack_in_cwr(e);
        }
        // Linux `tcp_may_raise_cwnd`: while segments are known to be reordered, what is SACKed opens the window too.
        let delivers =
            e.acked > 0 || e.delivered > 0 && self.board.reordering(o.dup_ack_threshold) > o.dup_ack_threshold;
        Verdict { grow: delivers && !entered && !cwr, restart_timer: e.acked > 0 }
    }

    /// `acked` bytes were acknowledged: duplicate ACKs before, if any, started nothing.
    #[inline]
    fn end_disorder(&mut self, acked: u64, stats: &mut Stats) {
        if self.rec.dup_acks > 0 && self.rec.mode == Mode::Open {
            let rare = stats.rare();
            rare.non_recov_da_episodes += 1;
            rare.non_recov_da += u64::from(self.rec.dup_acks);
            rare.sum_octets_reordered += acked;
        }
    }

    /// Whether the window has come down without a loss for the data that is now acknowledged (RFC 3168 section 6.1.2).
    fn has_reduced(&self) -> bool {
        self.cwr_suffices && self.board.una() < self.cwr_point
    }

    /// Begins an episode of fast recovery: one signal to the controller, none if the window has come down for this data.
    fn enter(&mut self, now: Time, lost: u64, stats: &mut Stats) {
        let reduced = self.has_reduced();
        let inflight = self.board.flight().saturating_sub(self.rec.extra);
        if self.board.lost_bytes() == 0 {
            self.board.count_lost(lost);
        }
        self.rec.mode = Mode::Recovery;
        self.rec.point = self.board.nxt();
        self.rec.head_due = true;
        self.rec.partial_seen = false;
        self.rec.inflation = 0;
        self.rec.extra = 0;
        stats.fast_retran += 1;
        if reduced {
            // A retransmission that proves needless says nothing about the mark.
            self.cc.confirm();
        } else {
            self.signal(&Signal::Loss { now, lost, inflight }, stats);
        }
        if self.rec.watch.is_some() {
            self.watch_reduction(now, false);
        }
    }

    /// An episode has ended with all acknowledged that had been sent when it began.
    fn recovered(&mut self) {
        self.rec.mode = Mode::Open;
        self.rec.duplicates = 0;
        if let Some(rack) = self.rec.watch.as_mut().and_then(|watch| watch.rack.as_mut()) {
            rack.recovered();
        }
        self.cc.on_recovered();
    }

    /// A congestion event for the controller.
    pub fn signal(&mut self, signal: &Signal, stats: &mut Stats) {
        self.congested(signal, false, stats);
    }

    /// The same; `again` for a timeout that leaves the threshold where its episode has put it.
    fn congested(&mut self, signal: &Signal, again: bool, stats: &mut Stats) {
        let before = self.cwnd;
        if let Some(watch) = &mut self.rec.watch
            && !matches!(signal, Signal::Rto { .. })
        {
            watch.episode.forget();
        }
        if again {
            self.cc.on_timeout_in_episode(signal);
        } else {
            self.cc.on_congestion(signal);
        }
        self.refresh();
        self.cwr_point = self.board.nxt();
        self.cwr_suffices = false;
        self.cwr_due = true;
        if self.cwnd < before {
            stats.cong_signals += 1;
            let rare = stats.rare();
            rare.pre_cong_sum_cwnd += before;
            rare.pre_cong_sum_rtt_ns += self.sample_rtt.0 / 1000;
            self.after_signal = true;
        }
        let ssthresh = self.cc.ssthresh();
        if ssthresh.is_finite() {
            let ssthresh = ssthresh as u64;
            stats.max_ssthresh = stats.max_ssthresh.max(ssthresh);
            stats.min_ssthresh = if stats.min_ssthresh == 0 { ssthresh } else { stats.min_ssthresh.min(ssthresh) };
        }
    }

    /// The retransmission timer expired.
    pub fn timeout(&mut self, now: Time, o: &Options, stats: &mut Stats) {
        if self.rtt.backoffs() == 0 {
            stats.timeouts += 1;
            stats.rare().abrupt_timeouts += u64::from(self.is_open() && !self.is_disordered());
        } else {
            stats.subsequent_timeouts += 1;
        }
        if self.linux {
            return linux::on_timeout(self, now, o, stats);
        }
        // FlightSize; in an episode that is already under way what is really out there, so that the threshold falls.
        let inflight = match self.rec.mode {
            Mode::Open => self.board.flight().saturating_sub(self.rec.extra),
            _ => self.outstanding(),
        };
        let again = match self.rec.mode {
            Mode::Recovery => self.board.una() < self.rec.point,
            Mode::Cwr => self.board.una() < self.cwr_point,
            Mode::Open | Mode::Loss => false,
        };
        self.rtt.backoff();
        if matches!(self.rec.mode, Mode::Open) {
            self.board.distrust_reordering(o.dup_ack_threshold);
        }
        if self.rec.watch.is_some() {
            self.watch_reduction(now, true);
        }
        self.max_rto = self.max_rto.max(self.rtt.rto());
        self.lose_at_timeout(now, o);
        self.rec.mode = Mode::Loss;
        self.rec.point = self.board.nxt();
        // What is not taken for lost may fill the window.
        self.rec.head_due = self.board.keeps_times();
        self.rec.dup_acks = 0;
        self.rec.duplicates = 0;
        self.rec.inflation = 0;
        self.rec.extra = 0;
        self.sample_at = self.board.una() + 1;
        self.congested(&Signal::Rto { now, inflight }, again && !o.timeout_cuts_again, stats);
        self.cc.leave_after_timeout((self.board.pipe() + u64::from(self.mss)) as f64);
        self.refresh();
    }

    /// All that is out is lost for a reason that says nothing of congestion: it is retransmitted while window and threshold stay (Linux
    /// `tcp_non_congestion_loss_retransmit`).
    #[cold]
    pub fn lose_without_congestion(&mut self) {
        self.board.lose_all();
        self.rec.mode = Mode::Loss;
        self.rec.point = self.board.nxt();
        self.rec.head_due = self.board.keeps_times();
    }

    /// RACK's reordering timer expired.
    pub fn reordering_timeout(&mut self, now: Time, o: &Options, stats: &mut Stats) {
        if self.linux { linux::on_alarm(self, now, o, stats) } else { sack::on_alarm(self, now, o, stats) }
    }

    /// Bytes out there: pipe, less the segments whose duplicate ACKs inflate the window.
    fn outstanding(&self) -> u64 {
        self.board.pipe().saturating_add_signed(-self.rec.inflation)
    }

    /// Bytes that congestion control lets out now.
    #[inline]
    pub fn budget(&self, limited_transmit: bool) -> u64 {
        if self.rec.dup_acks == 0 && self.rec.mode == Mode::Open && !(self.linux && self.board.is_uneven()) {
            return self.cwnd.saturating_sub(self.board.pipe());
        }
        self.budget_slow(limited_transmit)
    }

    fn budget_slow(&self, limited_transmit: bool) -> u64 {
        if self.linux && (limited_transmit || self.rec.mode != Mode::Open) {
            return self.room();
        }
        if let Some(left) = self.new_segments() {
            return if left > 0 { u64::from(self.mss) } else { 0 };
        }
        let cwnd = self.cwnd.saturating_add_signed(self.rec.inflation);
        match (self.rec.mode, self.rec.rule) {
            (Mode::Open, _) if !limited_transmit => cwnd.saturating_sub(self.board.flight()),
            (Mode::Open, RecoveryRule::Reno | RecoveryRule::Newreno) => {
                // RFC 3042: two segments beyond the window at most.
                let extra = u64::from(self.rec.dup_acks.min(2)) * u64::from(self.mss);
                (cwnd + extra).saturating_sub(self.board.flight())
            }
            (Mode::Cwr, _) => self.rec.allowed,
            (Mode::Recovery, RecoveryRule::Sack) if self.rec.is_reducing() => self.rec.allowed,
            _ => cwnd.saturating_sub(self.board.pipe()),
        }
    }

    /// The state of recovery as Linux names it.
    pub fn ca_state(&self) -> CaState {
        match self.rec.mode {
            Mode::Open if self.is_disordered() || self.board.resent_bytes() > 0 => CaState::Disorder,
            Mode::Open => CaState::Open,
            Mode::Cwr => CaState::Cwr,
            Mode::Recovery => CaState::Recovery,
            Mode::Loss => CaState::Loss,
        }
    }

    /// The window that rules now: while it comes down, what is in flight and what may be sent besides.
    pub fn window_in_force(&self) -> u64 {
        match self.rec.mode {
            Mode::Cwr | Mode::Recovery if self.linux && self.rec.is_reducing() => self.steps().held,
            Mode::Cwr => self.board.pipe() + self.rec.allowed,
            Mode::Recovery if self.rec.rule == RecoveryRule::Sack && self.rec.is_reducing() => {
                self.board.pipe() + self.rec.allowed
            }
            // What duplicates stand for is not in the network then, instead of beyond the window.
            _ if self.cc.steers_recovery() => self.cwnd,
            _ => self.cwnd.saturating_add_signed(self.rec.inflation),
        }
    }

    /// Segments that duplicate ACKs stand for where there is no SACK.
    pub fn presumed(&self) -> u64 {
        if self.linux { u64::from(self.rec.duplicates) } else { 0 }
    }

    /// Duplicate ACKs since the last ACK of new data.
    pub fn duplicates(&self) -> u64 {
        u64::from(self.rec.dup_acks)
    }

    /// No episode is under way.
    pub fn is_open(&self) -> bool {
        self.rec.mode == Mode::Open
    }

    /// Duplicate ACKs or SACKs have come since the last ACK in order.
    pub fn is_disordered(&self) -> bool {
        self.board.sacked_bytes() > 0 || if self.linux { self.rec.duplicates } else { self.rec.dup_acks } > 0
    }

    /// Nothing is marked, nothing recovers and no duplicate ACKs have come.
    #[inline]
    pub fn is_clean(&self) -> bool {
        self.rec.mode == Mode::Open && self.rec.dup_acks == 0 && !self.board.is_marked()
    }

    /// Nothing is lost, paced or measured: windows alone decide what goes out.
    #[inline]
    pub fn is_plain(&self) -> bool {
        self.rec.mode == Mode::Open
            && self.rec.dup_acks == 0
            && self.board.lost_bytes() == 0
            && self.pacing_bps == 0.0
            && self.log.is_none()
    }

    /// A tail loss probe leaves, which waits for nothing (Linux `TCP_NAGLE_OFF`).
    pub fn is_probing(&self) -> bool {
        self.rec.watch.as_ref().is_some_and(|watch| watch.probing)
    }

    /// Whether the peer's window takes what begins at `seq`, or it may serve as a probe of the window.
    pub fn may_arrive(&self, seq: u64) -> bool {
        seq < self.window_edge || seq == self.board.una()
    }

    /// A segment to send again now, within `budget` unless it must go out at once.
    #[inline]
    pub fn next_resend(&mut self, budget: u64) -> Option<Resend> {
        if !self.rec.head_due && self.board.lost_bytes() == 0 {
            return None;
        }
        if self.new_segments().is_some() || self.is_silent() {
            return None;
        }
        if self.rec.head_due {
            self.rec.head_due = false;
            let due = if self.board.keeps_times() { self.board.next_lost() } else { self.board.first() };
            if let Some(range) = due {
                // Without SACK what is out is FlightSize less the inflation, whether retransmitted or not.
                let counted = self.rec.rule == RecoveryRule::Sack || self.board.lost_bytes() > 0;
                return Some(Resend { range, counted });
            }
        }
        // RFC 6675 step C: nothing while less than one SMSS is free.
        if budget < u64::from(self.mss) {
            return None;
        }
        let range = self.board.next_lost()?;
        (!self.linux || self.may_arrive(range.seq)).then_some(Resend { range, counted: true })
    }

    /// Whether [`Sender::next_resend`] has one.
    pub fn has_resend(&self, budget: u64) -> bool {
        let lost = self.board.lost_bytes() > 0 && budget >= u64::from(self.mss);
        (self.rec.head_due || lost) && self.new_segments().is_none() && !self.is_silent()
    }

    /// What to send when neither lost nor new data can be (RFC 6675 `NextSeg` rules 3 and 4).
    pub fn next_extra(&mut self, budget: u64) -> Option<Resend> {
        if self.rec.mode != Mode::Recovery || self.rec.rule != RecoveryRule::Sack || budget < u64::from(self.mss) {
            return None;
        }
        sack::next_extra(self)
    }

    /// A segment is retransmitted.
    pub fn resend(&mut self, resend: &Resend, now: Time) {
        if resend.counted {
            self.board.resend(resend.range.ordinal, now.0);
        } else {
            self.board.touch(resend.range.ordinal, now.0);
        }
        // Linux does not note the probe (`__tcp_retransmit_skb`).
        if let Some(watch) = self.rec.watch.as_mut().filter(|_| !self.linux || resend.counted) {
            let (seq, end) = (resend.range.seq, resend.range.seq + u64::from(resend.range.len));
            watch.episode.sent_again(now.0, seq, end, self.board.una());
        }
        self.log_sent(now, resend.range.ordinal, false);
        self.spend(u64::from(resend.range.len));
    }

    /// New data was sent: what exceeds the window was limited transmit.
    #[inline]
    pub fn sent_new(&mut self, len: u64) {
        self.spend(len);
        if let Some(frto) = self.rec.watch.as_mut().and_then(|watch| watch.frto.as_mut()) {
            frto.sent_new();
        }
        if self.rec.dup_acks > 0 && self.rec.mode == Mode::Open && self.board.flight() > self.cwnd {
            self.rec.extra += len;
        }
    }

    /// The segment `[seq, seq + len)` was not sent after all: as new data it leaves the scoreboard (true), as one sent
    /// again it is due again.
    pub fn take_back(&mut self, seq: u64, len: u32) -> bool {
        self.unspend(u64::from(len));
        if self.board.take_back(seq, len) {
            self.rec.extra = self.rec.extra.saturating_sub(u64::from(len));
            return true;
        }
        self.rec.head_due |= seq == self.board.una() && self.rec.mode == Mode::Recovery;
        false
    }
}
