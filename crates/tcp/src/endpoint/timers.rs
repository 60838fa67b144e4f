//! Timers: one retransmission timer that is also persist, SYN and TIME-WAIT timer, the delayed ACK, the pacing gap and
//! what the congestion control asks for. Callers see the earliest of them.

use super::{Endpoint, State, work};
use crate::recovery::Alarm;
use elephan_units::Time;

impl Endpoint {
    /// Returns when [`Endpoint::on_timer`] is due, or `Time::NEVER`.
    #[inline]
    pub fn next_timer(&self) -> Time {
        self.rtx_at.min(self.ack_at).min(self.pace_wake).min(self.tx.cc_timer)
    }

    /// Does what is due at `now`. A call that comes too early does nothing.
    pub fn on_timer(&mut self, now: Time) {
        if now >= self.ack_at {
            self.ack_at = Time::NEVER;
            self.work |= work::ACK;
            if let Some(adaptive) = &mut self.rx.adaptive {
                adaptive.on_timer(self.tx.rtt.rto());
            }
        }
        if now >= self.pace_wake {
            self.pace_wake = Time::NEVER;
            self.reconsider();
        }
        if now >= self.tx.cc_timer {
            self.tx.cc.on_timer(now);
            self.tx.refresh();
            self.reconsider();
        }
        if now >= self.rtx_at {
            self.tx.note_most();
            self.on_retransmission_timer(now);
        }
    }

    fn on_retransmission_timer(&mut self, now: Time) {
        match self.state {
            State::Closed | State::Listen => self.rtx_at = Time::NEVER,
            State::SynSent | State::SynReceived if self.tires_of_handshake(now) => self.give_up(now),
            State::SynSent | State::SynReceived => {
                self.backoffs = self.backoffs.saturating_add(1);
                self.doubt_timeouts(u32::from(self.backoffs));
                // Linux sends the first SYNs at equal times; a SYN-ACK backs off from the first.
                let linear =
                    self.state == State::SynSent && u32::from(self.backoffs) <= self.options.syn_linear_timeouts;
                if !linear {
                    self.tx.rtt.backoff();
                }
                self.rtx_at = now.saturating_add(self.tx.rtt.rto());
                self.work |= work::CONTROL;
            }
            State::TimeWait => self.finish(now),
            // No application waits for the peer's FIN.
            State::FinWait2 if self.tx.board.flight() == 0 => self.finish(now),
            _ if self.persist => self.on_persist_timer(now),
            _ if self.tx.rec.alarm() != Alarm::Rto => self.on_alarm(now),
            _ if self.tires_of_retransmitting(now) => self.give_up(now),
            _ => {
                self.tx.timeout(now, &self.options, &mut self.stats);
                self.doubt_timeouts(self.tx.rtt.backoffs());
                self.rtx_at = self.timeout_at(now);
                if self.tx.linux {
                    self.tx.rec.set_rto(self.rtx_at);
                } else {
                    self.watch_timer(now, true, false, false);
                }
                self.reconsider();
            }
        }
    }

    /// Probes a closed window; the interval doubles (RFC 9293 section 3.8.6.1). A window too small for a full segment
    /// is used after all.
    fn on_persist_timer(&mut self, now: Time) {
        if self.tires_of_probing(now) {
            return self.give_up(now);
        }
        self.backoffs = self.backoffs.saturating_add(1);
        let interval = self.tx.rtt.rto().saturating_mul(1 << self.backoffs.min(20));
        self.rtx_at = now.saturating_add(self.probe_interval(now, interval.min(self.options.rto_max)));
        if self.tx.usable() == 0 {
            self.work |= work::CONTROL;
        } else {
            self.small_due = true;
            // It is pushed (Linux tcp_write_wakeup).
            self.set_more(false);
            self.reconsider();
        }
    }
}
