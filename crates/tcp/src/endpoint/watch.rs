//! The timer that is timeout, reordering timer and probe timer in one (RFC 8985 section 8), and what an ACK says about the
//! time at which segments were sent. Everything here is for stacks with a [`crate::recovery::Watch`] alone.

use super::Endpoint;
use crate::recovery::{Alarm, Resend};
use crate::scoreboard::Taken;
use crate::segment::{OPTION_TIMESTAMPS, SackBlocks, Segment};
use elephan_units::Time;

impl Endpoint {
    /// An ACK has arrived and is not taken in yet.
    #[cold]
    #[inline(never)]
    pub(super) fn watch_ack(&mut self, now: Time, seg: &Segment, sack: &SackBlocks, ack: u64) {
        let echoes = self.timestamps && seg.options & OPTION_TIMESTAMPS != 0 && seg.tsecr != 0;
        let echoed_before = echoes.then(|| {
            // The clock counts from 1: value v is shown before v ticks have passed.
            let tick = self.options.timestamp_granularity.0;
            let shown = now.0 / tick + 1;
            let age = (shown as u32).wrapping_sub(seg.tsecr);
            shown.saturating_sub(u64::from(age)).saturating_mul(tick)
        });
        self.tx.watch_ack(now, (seg, sack), ack, echoed_before, self.stats.segs_retrans);
    }

    /// After an ACK of the clean path, which neither SACKs nor reports a duplicate.
    #[cold]
    #[inline(never)]
    pub(super) fn watch_clean_ack(&mut self, now: Time, taken: Taken, sampled: bool) {
        self.tx.board.begin_ack(0, 0);
        self.tx.board.time_unmarked(&taken);
        self.tx.watched_clean_ack(now, &mut self.stats);
        self.watch_timer(now, true, true, sampled);
    }

    /// After an ACK: `restarted` says that `rtx_at` is the timeout anew (or off), `advanced` that new data was acknowledged,
    /// `sampled` that it gave a round-trip time.
    #[cold]
    #[inline(never)]
    pub(super) fn watch_timer(&mut self, now: Time, restarted: bool, advanced: bool, sampled: bool) {
        if self.tx.linux {
            return self.time_ack(now, restarted);
        }
        let empty = self.tx.board.flight() == 0;
        let Some(watch) = &mut self.tx.rec.watch else { return };
        if let Some(tlp) = &mut watch.tlp {
            tlp.sampled |= sampled;
        }
        if restarted || empty {
            (watch.rto_at, watch.alarm) = (self.rtx_at, Alarm::Rto);
        }
        if empty {
            if let Some(rack) = &mut watch.rack {
                rack.deadline = Time::NEVER;
            }
            return;
        }
        if advanced {
            self.tx.restart_probe(now, &self.options);
        }
        self.aim_timer();
    }

    /// Sending has stopped: new data that has just left starts the probe's time anew.
    #[cold]
    #[inline(never)]
    pub(super) fn watch_sent(&mut self, now: Time) {
        if self.tx.linux {
            return self.time_sent(now);
        }
        if self.tx.last_sent == now && self.tx.board.flight() > 0 && !self.sends_early() {
            self.tx.restart_probe(now, &self.options);
            self.aim_timer();
        }
    }

    /// The retransmission timer starts anew.
    pub(super) fn rearm(&mut self, now: Time) {
        self.rtx_at = self.timeout_at(now);
        self.tx.rec.set_rto(self.rtx_at);
        if !self.tx.linux {
            self.aim_timer();
        }
    }

    /// The timer is set to what comes first.
    fn aim_timer(&mut self) {
        let probe = self.tx.probe_at();
        let Some(watch) = &mut self.tx.rec.watch else { return };
        let reordering = watch.rack.map_or(Time::NEVER, |rack| rack.deadline.saturating_add(self.options.timer_slack));
        (watch.alarm, self.rtx_at) = if reordering < watch.rto_at {
            (Alarm::Reordering, reordering)
        } else if probe != Time::NEVER {
            (Alarm::Probe, probe.min(watch.rto_at))
        } else {
            (Alarm::Rto, watch.rto_at)
        };
    }

    /// The timer has expired and means no timeout.
    #[cold]
    pub(super) fn on_alarm(&mut self, now: Time) {
        if self.tx.linux {
            return self.ring(now);
        }
        if self.tx.rec.alarm() == Alarm::Reordering {
            self.tx.reordering_timeout(now, &self.options, &mut self.stats);
        } else if let Some(watch) = &mut self.tx.rec.watch {
            if let Some(tlp) = &mut watch.tlp {
                tlp.due = true;
            }
            watch.rto_at = now.saturating_add(self.tx.rtt.rto());
        }
        self.aim_timer();
        self.reconsider();
    }

    fn set_probing(&mut self, probing: bool) {
        if let Some(watch) = self.tx.rec.watch.as_mut().filter(|_| self.tx.linux) {
            watch.probing = probing;
        }
    }

    /// Before data leaves, with `budget` bytes of the window: F-RTO without new data ends; a probe that is due gets room for a
    /// new segment, or is the last segment again. Returns the budget and what is retransmitted.
    #[cold]
    #[inline(never)]
    pub(super) fn watch_data(&mut self, mut budget: u64) -> (u64, Option<Resend>) {
        if self.tx.new_segments().is_some() && self.next_piece(budget).is_err() && self.tx.no_new_segments() {
            budget = self.tx.budget(self.options.limited_transmit);
        }
        if !self.tx.probe_due() {
            return (budget, None);
        }
        let (flight, nxt) = (self.tx.board.flight(), self.tx.board.nxt());
        let room = budget.max(u64::from(self.tx.mss));
        self.set_probing(true);
        let piece = self.next_piece(room).ok();
        let last = if piece.is_none() { self.tx.board.last_open() } else { None };
        // What lies beyond the window would not be taken (Linux `__tcp_retransmit_skb`).
        let last = last.filter(|range| !self.tx.linux || self.tx.may_arrive(range.seq));
        let end = nxt + piece.map_or(0, |piece| piece.sequence_len());
        let sent = piece.is_some() || last.is_some();
        if let Some(tlp) = self.tx.rec.watch.as_mut().and_then(|watch| watch.tlp.as_mut()) {
            if sent { tlp.sent(end, last.is_some(), flight) } else { tlp.reset() }
        }
        self.set_probing(sent);
        self.stats.rare().tail_loss_probes += u64::from(sent);
        (room, last.map(|range| Resend { range, counted: false }))
    }
}
