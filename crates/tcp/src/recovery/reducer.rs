//! How the window comes down over a reduction instead of at once: in SACK recovery, and in CWR, the reduction without a
//! loss (an ECN-Echo, a segment that the host's own queue refused; Linux `TCP_CA_CWR`).
//!
//! CWR lasts until all that had been sent when it began is acknowledged. A loss found meanwhile goes on with the same
//! reduction and is no further congestion event, unless the controller yields less to a mark than to a loss. (Linux leaves CWR one byte
//! later.) Without SACK, or with `reduction = "immediate"`, an ECN-Echo and a local drop cut the window at once and there is no such
//! state; a loss of the same data is no further event either (RFC 3168 section 6.1.2).

use super::counted::Counted;
use super::halving::RateHalving;
use super::{Mode, Recovery};
use crate::options::{RecoveryRule, Reduction};
use crate::prr::{Prr, Variant};
use crate::sender::{AckEvent, Sender};
use crate::stats::Stats;
use elephan_cc::Signal;

/// What lets segments out while the window comes down.
#[derive(Clone, Debug)]
enum Rule {
    Prr(Prr),
    Counted(Counted),
    Halving(RateHalving),
}

#[derive(Clone, Debug)]
pub(crate) struct Reducer {
    rule: Rule,
    /// In this episode the controller's own window rules instead.
    idle: bool,
}

impl Reducer {
    /// None if the window comes down at once.
    pub fn of(reduction: Reduction) -> Option<Box<Reducer>> {
        let rule = match reduction {
            Reduction::Immediate => return None,
            Reduction::RateHalving => Rule::Halving(RateHalving::default()),
            Reduction::PrrRfc9937 => Rule::Prr(Prr::new(Variant::Rfc9937)),
            Reduction::PrrRfc6937 => Rule::Prr(Prr::new(Variant::Rfc6937)),
            Reduction::PrrLinux => Rule::Counted(Counted::start(1, 0)),
        };
        Some(Box::new(Reducer { rule, idle: false }))
    }

    /// A reduction from `window` to `ssthresh` begins with `inflight` bytes in flight.
    fn start(&mut self, mss: u64, window: u64, ssthresh: u64, inflight: u64) {
        match &mut self.rule {
            Rule::Prr(prr) => prr.start(mss, ssthresh, inflight),
            Rule::Counted(prr) => *prr = Counted::start(window / mss, ssthresh / mss),
            Rule::Halving(halving) => halving.start(mss, window, ssthresh),
        }
    }

    /// `bytes` were sent, one segment; returns how much less may be sent.
    fn on_sent(&mut self, bytes: u64, mss: u64) -> u64 {
        match &mut self.rule {
            Rule::Prr(prr) => prr.on_sent(bytes),
            Rule::Counted(prr) => {
                prr.on_sent();
                return mss;
            }
            Rule::Halving(_) => {}
        }
        bytes
    }

    fn take_back(&mut self, bytes: u64) {
        match &mut self.rule {
            Rule::Prr(prr) => prr.take_back(bytes),
            Rule::Counted(prr) => prr.take_back(),
            Rule::Halving(_) => {}
        }
    }
}

impl Recovery {
    /// What brings the window down in this episode.
    fn reducer(&mut self) -> Option<&mut Reducer> {
        self.reducer.as_deref_mut().filter(|reducer| !reducer.idle)
    }

    /// Whether it says in recovery what may be sent, and not the window.
    pub(super) fn is_reducing(&self) -> bool {
        self.reducer.as_ref().is_some_and(|reducer| !reducer.idle)
    }
}

impl Sender {
    /// The reduction to the controller's new threshold begins, from `window`. `delivered` bytes of what is SACKed came
    /// with the ACK that begins it (RFC 9937 section 5 does not count what was SACKed before).
    pub(super) fn start_reduction(&mut self, window: u64, delivered: u64) {
        let ssthresh = self.cc.ssthresh();
        if self.linux && !self.cc.steers_recovery() && ssthresh.is_finite() && self.cc.window() < ssthresh {
            // Linux `tcp_end_cwnd_reduction`: the least threshold is the window then, and raises one of one segment.
            self.cc.poke("cwnd", ssthresh);
            self.refresh();
        }
        let sacked = self.board.sacked_bytes();
        let inflight = self.board.flight() - (sacked - delivered.min(sacked));
        if let Some(reducer) = &mut self.rec.reducer {
            reducer.idle = self.cc.steers_recovery();
            reducer.start(u64::from(self.mss), window, ssthresh as u64, inflight);
        }
    }

    /// What the reduction lets out on this ACK, which `e` describes.
    pub(super) fn reduce(&mut self, e: &AckEvent, safe: bool) {
        let (pipe, mss) = (self.board.pipe(), u64::from(self.mss));
        let linux = self.linux;
        let flight = match e.segments {
            0 => 0,
            _ if linux => self.segments_in_flight(),
            _ => pipe.div_ceil(mss),
        };
        let allowed = self.rec.allowed;
        let Some(reducer) = self.rec.reducer() else { return };
        self.rec.allowed = match &mut reducer.rule {
            Rule::Prr(prr) => prr.on_ack(e.delivered, pipe, safe),
            Rule::Counted(prr) if e.segments > 0 => prr.on_ack(e.segments, flight, safe) * mss,
            // The window stays: what has left the network leaves room.
            Rule::Counted(_) => allowed + e.pipe_before.saturating_sub(pipe) / mss * mss,
            Rule::Halving(halving) => halving.on_ack(pipe),
        };
        if linux && e.segments > 0 {
            let held = flight * mss + self.rec.allowed;
            self.change_steps(|steps| steps.held = held);
        }
    }

    /// Recovery begins without an ACK: Linux counts the alarm for one that delivers a segment (`tcp_rack_reo_timeout`).
    pub(super) fn reduce_by_alarm(&mut self, e: &AckEvent) {
        match self.rec.reducer().map(|reducer| &reducer.rule) {
            Some(Rule::Counted(_)) => self.reduce(&AckEvent { segments: 1, ..*e }, false),
            _ => self.rec.allowed = 0,
        }
    }

    /// Whether the reduction counts segments.
    #[inline]
    pub fn counts_segments(&self) -> bool {
        matches!(self.rec.reducer.as_deref(), Some(Reducer { rule: Rule::Counted(_), .. }))
    }

    /// The reduction is over: rate halving may have gone below ssthresh.
    pub(super) fn finish_reduction(&mut self) {
        if let Some(Reducer { rule: Rule::Halving(halving), idle: false }) = self.rec.reducer.as_deref() {
            let window = halving.window() as f64;
            self.cc.shrink_to(window);
            self.refresh();
        }
    }

    /// A congestion event without a loss, on an ACK that delivered something or on none.
    pub fn reduce_without_loss(&mut self, signal: &Signal, ack: Option<&AckEvent>, stats: &mut Stats) {
        let window = self.cwnd;
        self.signal(signal, stats);
        self.cwr_suffices = self.cwnd < window && self.cc.suffices(signal);
        let reduces = self.rec.reducer.is_some()
            && self.rec.rule == RecoveryRule::Sack
            && self.cwnd < window
            && !self.cc.steers_recovery();
        if !reduces || self.rec.mode != Mode::Open || self.board.flight() == 0 {
            return;
        }
        self.rec.mode = Mode::Cwr;
        self.rec.point = self.board.nxt();
        self.rec.allowed = 0;
        self.start_reduction(window, ack.map_or(0, |e| e.delivered));
        if let Some(e) = ack.filter(|e| e.delivered > 0) {
            self.reduce(e, true);
        }
    }

    /// An ACK in CWR that found no loss.
    pub(super) fn on_ack_in_cwr(&mut self, e: &AckEvent) {
        if self.board.una() >= self.rec.point {
            self.rec.mode = Mode::Open;
            self.finish_reduction();
        } else {
            self.reduce(e, e.acked > 0);
        }
    }

    /// `bytes` leave while the window comes down.
    #[inline]
    pub fn spend(&mut self, bytes: u64) {
        let mss = u64::from(self.mss);
        if matches!(self.rec.mode, Mode::Recovery | Mode::Cwr)
            && let Some(reducer) = self.rec.reducer()
        {
            let spent = reducer.on_sent(bytes, mss);
            self.rec.allowed = self.rec.allowed.saturating_sub(spent);
        }
    }

    /// `bytes` taken for sent were not; nothing more leaves before the next ACK.
    pub fn unspend(&mut self, bytes: u64) {
        if matches!(self.rec.mode, Mode::Recovery | Mode::Cwr)
            && let Some(reducer) = self.rec.reducer()
        {
            reducer.take_back(bytes);
        }
    }
}
