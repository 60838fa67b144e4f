//! What a connection keeps that watches time and duplicates: RACK, the tail loss probe, F-RTO, undo. A stack with none of
//! them has no [`Watch`], and pays nothing.
//!
//! RFC 8985 section 8: the retransmission timer, RACK's reordering timer and the probe timer are one timer that is set to
//! what comes first; the probe never comes after the timeout.

use super::dsack::{Missing, Report};
use super::frto::Frto;
use super::linux::Steps;
use super::rack::Rack;
use super::tlp::Tlp;
use super::undo::Episode;
use super::{Mode, Recovery};
use crate::options::{DsackRule, LossDetection, Options, RackRule, RecoveryRule, Undo};
use crate::segment::{SackBlocks, Segment};
use crate::sender::{AckEvent, Sender};
use crate::stats::Stats;
use elephan_cc::Signal;
use elephan_units::{Span, Time};

/// What the one timer means when it does not mean a timeout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Alarm {
    #[default]
    Rto,
    /// Segments are overdue.
    Reordering,
    /// A tail loss probe is due.
    Probe,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Watch {
    pub rack: Option<Rack>,
    pub tlp: Option<Tlp>,
    pub frto: Option<Frto>,
    /// Which reduction may be taken back, and by what.
    pub episode: Episode,
    pub by_timestamps: bool,
    pub by_dsack: bool,
    pub dsack_rule: DsackRule,
    pub rack_rule: RackRule,
    /// The duplicate that the present ACK reports.
    pub dsack: Option<Report>,
    /// Duplicates reported so far, in segments.
    pub duplicates: u64,
    /// What the present ACK echoes was sent before; 0 without timestamps.
    pub echoed_before: u64,
    /// The timeout, and what the timer means now.
    pub rto_at: Time,
    pub alarm: Alarm,
    pub steps: Steps,
    /// A tail loss probe has left and sending has not stopped since.
    pub probing: bool,
}

impl Watch {
    /// What `options` ask for; none if that is nothing. Without SACK there is no RACK and no probe.
    pub fn of(o: &Options, rule: RecoveryRule, sack: bool) -> Option<Box<Watch>> {
        let rack = sack && rule == RecoveryRule::Sack && o.loss_detection == LossDetection::Rack;
        let tlp = sack && o.tail_loss_probe;
        if !rack && !tlp && !o.frto && o.undo == Undo::Off {
            return None;
        }
        Some(Box::new(Watch {
            rack: rack.then(Rack::default),
            tlp: tlp.then(Tlp::default),
            frto: o.frto.then(Frto::default),
            by_timestamps: matches!(o.undo, Undo::Timestamps | Undo::Both),
            by_dsack: matches!(o.undo, Undo::Dsack | Undo::Both),
            episode: Episode::new(Missing::of(o.dsack_rule)),
            dsack_rule: o.dsack_rule,
            rack_rule: o.rack_rule,
            rto_at: Time::NEVER,
            ..Watch::default()
        }))
    }
}

impl Watch {
    /// Whether the present ACK acknowledges an original that was only late.
    pub fn is_late(&self, sack: bool) -> bool {
        self.by_timestamps && self.episode.is_late(self.echoed_before, sack)
    }
}

impl Sender {
    /// An ACK of `ack` has arrived and is not taken in yet. What it echoes was sent before `echoed_before`; `retransmitted`
    /// segments were sent more than once so far.
    pub fn watch_ack(
        &mut self,
        now: Time,
        (seg, sack): (&Segment, &SackBlocks),
        ack: u64,
        echoed_before: Option<u64>,
        retransmitted: u64,
    ) {
        let report = self.report(seg, sack, ack, retransmitted);
        let Some(watch) = &mut self.rec.watch else { return };
        watch.dsack = report;
        watch.echoed_before = echoed_before.unwrap_or(0);
        // Linux compares microseconds.
        let grain = if watch.rack_rule == RackRule::Linux { Span::from_us(1).0 } else { 1 };
        // RFC 8985 section 6.2 step 2: retransmitted less than min_RTT ago, or later than what is echoed. TSecr speaks of
        // the segment at the left edge (RFC 7323 section 4.3), so of SACKed segments it says nothing.
        let early = if self.min_rtt == Span::MAX { u64::MAX } else { (now.0 + grain).saturating_sub(self.min_rtt.0) };
        self.board.begin_ack(early, echoed_before.map_or(early, |at| at.min(early)));
    }

    /// The ACK has been taken in, whether or not it moves anything else. `bare` is a duplicate ACK without SACK blocks,
    /// `advanced` says that it acknowledges new data.
    pub fn watched_ack(&mut self, now: Time, bare: bool, advanced: bool, stats: &mut Stats) {
        let delivered = self.board.end_ack(now.0);
        self.board.measure_reordering();
        let Some(watch) = &mut self.rec.watch else { return };
        if let Some(report) = watch.dsack {
            stats.rare().dsack_dups += report.segments;
            watch.episode.reported(&report);
        }
        self.note_dsack(now, delivered);
        self.probe_answered(now, bare, stats);
        if !self.linux {
            self.undo_by_dsack(now, advanced, stats);
        }
    }

    /// All retransmissions of the last reduction were reported as duplicates. Linux goes by a timeout's when an ACK advances, and
    /// leaves what is lost beside them lost, so that a recovery of its own begins (`tcp_try_undo_loss`, `tcp_try_undo_dsack`).
    fn undo_by_dsack(&mut self, now: Time, advanced: bool, stats: &mut Stats) {
        let Some(watch) = &mut self.rec.watch else { return };
        if !watch.by_dsack || !watch.episode.all_reported() {
            return;
        }
        let linux = watch.dsack_rule == DsackRule::Linux;
        let timeout = self.rec.mode == Mode::Loss;
        if linux && timeout && !advanced {
            return;
        }
        if let Some(rack) = watch.rack.as_mut().filter(|_| linux && !timeout) {
            rack.keep_window();
        }
        self.undo_reduction(now, !linux || timeout, stats);
    }

    /// An ACK has been taken in that advances, while nothing is marked and nothing recovers.
    pub fn watched_clean_ack(&mut self, now: Time, stats: &mut Stats) {
        let delivered = self.board.end_ack(now.0);
        if let Some(watch) = &mut self.rec.watch {
            watch.dsack = None;
            if delivered.is_some() {
                self.note_dsack(now, delivered);
            }
            self.probe_answered(now, false, stats);
        }
    }

    /// Whether the ACK shows that the reduction was needless, which is taken back then; and the steps of F-RTO.
    #[cold]
    pub(super) fn needless(&mut self, e: &AckEvent, stats: &mut Stats) -> bool {
        let una = self.board.una();
        let Some(watch) = &self.rec.watch else { return false };
        // A hole was filled by a packet that was late. While others are still retransmitted recovery goes on: it would find the same
        // holes at once (Linux `tcp_try_undo_partial`).
        let repairs = self.rec.mode == Mode::Recovery && una < self.rec.point && self.board.resent_bytes() > 0;
        let late = e.acked > 0 && watch.echoed_before != 0 && watch.episode.echoes(una, watch.echoed_before);
        let eifel = late && watch.by_timestamps && !repairs;
        if late && self.rec.mode == Mode::Recovery && una < self.rec.point && watch.rack_rule == RackRule::Linux {
            self.board.note_reordering(una - e.acked);
            self.board.measure_reordering();
        }
        let needless = eifel || (self.rec.mode == Mode::Loss && self.try_new_data(e));
        needless && self.undo_reduction(e.now, true, stats)
    }

    /// A reduction for a loss or for a timeout.
    pub(super) fn watch_reduction(&mut self, now: Time, rto: bool) {
        let (una, point) = (self.board.una(), self.rec.point);
        let again = self.rec.mode == Mode::Loss && una < point;
        let resent = self.board.resent_bytes().div_ceil(u64::from(self.mss));
        let Some(watch) = &mut self.rec.watch else { return };
        let probes = watch.tlp.as_ref().map_or(0, Tlp::out);
        if !rto || !watch.episode.goes_on(una) {
            watch.episode.begin(rto, una, resent + probes);
        }
        if let Some(tlp) = &mut watch.tlp {
            tlp.reset();
        }
        if let Some(rack) = &mut watch.rack {
            rack.reduced(now);
        }
        if let Some(frto) = watch.frto.as_mut().filter(|_| rto) {
            frto.start(again);
        }
    }

    /// The last reduction is taken back: window and threshold are as before it, and nothing is lost if `unmark`.
    fn undo_reduction(&mut self, now: Time, unmark: bool, stats: &mut Stats) -> bool {
        let Some(watch) = &mut self.rec.watch else { return false };
        let Some(rto) = watch.episode.taken_back() else { return false };
        if let Some(frto) = &mut watch.frto {
            frto.stop();
        }
        stats.rare().spurious_rto_detected += u64::from(rto);
        stats.rare().spurious_fr_detected += u64::from(!rto);
        self.cc.on_congestion(&Signal::Undo { now });
        self.refresh();
        if self.rec.mode != Mode::Open {
            self.rec.mode = Mode::Open;
            self.rec.head_due = false;
            self.rec.dup_acks = 0;
            self.rec.inflation = 0;
            if unmark {
                self.board.unmark_lost(false);
            }
        }
        true
    }
}

impl Recovery {
    /// What the timer means.
    pub fn alarm(&self) -> Alarm {
        self.watch.as_ref().map_or(Alarm::Rto, |watch| watch.alarm)
    }

    /// The timer means a timeout at `at` and nothing else yet.
    pub fn set_rto(&mut self, at: Time) {
        if let Some(watch) = &mut self.watch {
            (watch.rto_at, watch.alarm) = (at, Alarm::Rto);
        }
    }
}
