//! The one timer as Linux keeps it (`icsk_pending`): timeout, reordering timer or tail loss probe, whichever was set last.
//!
//! - An ACK sets it that acknowledges something, or that SACKs what was sent before the first segment was last sent: for a probe, or
//!   else for the timeout (`tcp_set_xmit_timer`). RACK's timer takes the place of both.
//! - After a probe or RACK's timer the timeout counts from the last transmission of the first segment (`tcp_rearm_rto`).
//! - New data sets it for a probe, which comes no later than the timeout would (`tcp_schedule_loss_probe`). One probe is out at most.

use super::Endpoint;
use crate::recovery::{Alarm, CaState};
use elephan_units::{Span, Time};

/// A timer that should have rung rings as soon as it can.
const SOONEST: Span = Span::from_us(1);
/// How long a probe waits without a round-trip sample (Linux `TCP_TIMEOUT_INIT`).
const PROBE_INITIAL: Span = Span::from_s(1);

impl Endpoint {
    /// After an ACK; `restart` if it sets the timer.
    pub(super) fn time_ack(&mut self, now: Time, restart: bool) {
        let Some(watch) = &mut self.tx.rec.watch else { return };
        let deadline =
            watch.rack.as_mut().map_or(Time::NEVER, |rack| std::mem::replace(&mut rack.deadline, Time::NEVER));
        if self.tx.board.flight() == 0 {
            watch.alarm = Alarm::Rto;
        } else if deadline != Time::NEVER {
            watch.alarm = Alarm::Reordering;
            let rto = now.saturating_add(self.tx.rtt.rto());
            self.rtx_at = deadline.saturating_add(self.options.timer_slack).min(rto);
        } else if restart && !self.schedule_probe(now, true) {
            self.set_timeout(now);
        }
    }

    /// Sending has stopped.
    pub(super) fn time_sent(&mut self, now: Time) {
        let fresh = std::mem::take(&mut self.tx.fresh) && !self.sends_early();
        let Some(watch) = &mut self.tx.rec.watch else { return };
        if self.tx.board.flight() == 0 {
            return;
        }
        if std::mem::take(&mut watch.probing) {
            watch.alarm = Alarm::Rto;
            self.set_timeout(now);
        } else if fresh {
            if watch.alarm == Alarm::Probe {
                self.set_timeout(now);
            }
            self.schedule_probe(now, false);
        }
    }

    /// RACK's timer or that of the probe has rung.
    pub(super) fn ring(&mut self, now: Time) {
        if self.tx.rec.alarm() == Alarm::Reordering {
            self.tx.reordering_timeout(now, &self.options, &mut self.stats);
        } else if let Some(tlp) = self.tx.rec.watch.as_mut().and_then(|watch| watch.tlp.as_mut()) {
            tlp.due = !tlp.is_out();
        }
        self.set_timeout(now);
        self.reconsider();
    }

    /// The timer is set for the timeout.
    fn set_timeout(&mut self, now: Time) {
        self.rtx_at = match self.tx.rec.alarm() {
            Alarm::Rto => self.timeout_at(now),
            Alarm::Reordering | Alarm::Probe => self.timeout_of_first(now).max(now.saturating_add(SOONEST)),
        };
        self.tx.rec.set_rto(self.rtx_at);
    }

    /// The timeout counted from the last transmission of the first segment.
    fn timeout_of_first(&self, now: Time) -> Time {
        Time(self.tx.board.first_at().unwrap_or(now.0)).saturating_add(self.tx.rtt.rto())
    }

    /// Sets the timer for a probe, if one may be waited for; `anew` if the timeout would start anew.
    fn schedule_probe(&mut self, now: Time, anew: bool) -> bool {
        let waits = matches!(self.tx.ca_state(), CaState::Open | CaState::Cwr);
        if !waits || self.tx.rec.watch.as_ref().is_none_or(|watch| watch.tlp.is_none()) {
            return false;
        }
        let (first, next) = self.tx.board.ordinals();
        let more = if next - first == 1 { self.options.max_ack_delay } else { self.options.timer_slack };
        let wait = self.tx.rtt.srtt().map_or(PROBE_INITIAL, |srtt| srtt.saturating_mul(2).saturating_add(more));
        let timeout = if anew { now.saturating_add(self.tx.rtt.rto()) } else { self.timeout_of_first(now) };
        let probe = now.saturating_add(wait);
        self.rtx_at = if timeout > now { probe.min(timeout) } else { probe };
        if let Some(watch) = &mut self.tx.rec.watch {
            watch.alarm = Alarm::Probe;
        }
        true
    }
}
