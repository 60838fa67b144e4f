//! Giving up: when a peer that does not answer is answer enough (RFC 1122 section 4.2.3.5, RFC 9293 section 3.8.3).
//!
//! ```text
//! model(n) = (2^(n+1) - 1) base                  while doubling stays below most
//!          = (2^(t+1) - 1) base + (n - t) most   beyond t doublings
//! ```
//!
//! `base` and `most` are the timeouts of the standard, whatever `rto_min` and `rto_max` are: 1 s and 60 s (RFC 6298). On Linux they are 200 ms
//! (`TCP_RTO_MIN`) and `rto_max` (`tcp_model_timeout`). Of a SYN `base` is 1 s.
//!
//! - Data: the timer expires, something was retransmitted before, and `model(data_retries)` has passed since (Linux
//!   `retransmits_timed_out`: 924.6 s for 15 retries). Elsewhere the time counts from when nothing more was acknowledged, and
//!   `data_retries` makes RFC 1122's R2 of 100 s at least.
//! - SYN: the model's time of `syn_retries`; on Linux also that number, and the linear ones besides. A SYN-ACK: `syn_ack_retries`, and the endpoint
//!   listens again; one more if data has flowed (Fast Open).
//! - `user_timeout` takes the place of the model (RFC 9293 section 3.8.3); a backed-off timer then expires with it at the latest (Linux
//!   `tcp_clamp_rto_to_user_timeout`).
//! - A closed window is probed as long as the peer answers; after `data_retries` probes without an answer the connection is over.
//! - Without an application (`orphan`) `orphan_retries` take the place of `data_retries`, 8 if they are 0 and the timeout still grows; and
//!   FIN-WAIT-2 lasts for `fin_timeout` (Linux).
//!
//! Who gives up is silent: no reset goes out, the application learns of a timeout.

use super::{Endpoint, Opening, State, work};
use elephan_units::{Span, Time};

/// The timeouts that the model goes by: the least and the most.
const STANDARD: (Span, Span) = (Span::from_s(1), Span::from_s(60));
const LINUX_LEAST: Span = Span::from_ms(200);
/// The first timeout of a SYN.
const INITIAL: Span = Span::from_s(1);
/// Linux `tcp_orphan_retries`: what 0 stands for while the timeout grows.
const ORPHAN_RETRIES: u32 = 8;
/// Soonest that a timer expires after the user timeout has passed: a jiffy of Linux.
const SOONEST: Span = Span::from_ms(4);

/// What is to become of FIN-WAIT-2 when there is no application (TCP_LINGER2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Linger {
    /// It lasts for `fin_timeout`.
    #[default]
    Default,
    For(Span),
    /// There is none: a reset goes out.
    Never,
}

/// What a connection keeps of it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Patience {
    /// The application is gone.
    orphan: bool,
    pub linger: Linger,
    gave_up: bool,
    /// Probes in a row without an answer, and how many segments had arrived before the last.
    unanswered: u32,
    heard: u64,
    /// When the first probe of this closed window was due.
    probing_since: Time,
}

impl Endpoint {
    /// Returns whether the connection is over because the peer did not answer (ETIMEDOUT).
    pub fn gave_up(&self) -> bool {
        self.aside.as_ref().is_some_and(|aside| aside.patience.gave_up)
    }

    /// Is called when the application is gone: nobody reads, and this end need not wait for long.
    pub fn orphan(&mut self, now: Time) {
        self.aside().patience.orphan = true;
        if self.state == State::FinWait2 {
            self.wait_for_fin(now, false);
        }
    }

    /// Sets how long FIN-WAIT-2 lasts without an application.
    pub fn set_linger(&mut self, linger: Linger) {
        self.aside().patience.linger = linger;
    }

    fn is_orphan(&self) -> bool {
        self.aside.as_ref().is_some_and(|aside| aside.patience.orphan)
    }

    /// FIN-WAIT-2 has begun with an ACK (`acked`), or the application has gone in it.
    pub(super) fn wait_for_fin(&mut self, now: Time, acked: bool) {
        let Some(aside) = self.aside.as_ref().filter(|aside| aside.patience.orphan) else { return };
        let span = match aside.patience.linger {
            Linger::Default => self.options.fin_timeout,
            Linger::For(span) => span,
            Linger::Never => return self.reset_lingering(now, acked),
        };
        // Linux tcp_fin_time.
        let rto = self.tx.rtt.rto().0;
        self.rtx_at = now.saturating_add(span.max(Span(rto.saturating_mul(4) - rto / 2)));
    }

    /// There is no FIN-WAIT-2: a reset answers the ACK, or is the last word of the application.
    fn reset_lingering(&mut self, now: Time, acked: bool) {
        if !acked {
            return self.abort(now);
        }
        let next = self.isn.wrapping_add(self.tx.board.nxt() as u32);
        self.finish(now);
        (self.answer, self.work) = (next.into(), work::RESET);
    }

    /// How long nothing has been answered: on Linux since the first retransmission.
    fn unanswered_for(&self, now: Time) -> Span {
        let stalled = if self.progress_at == Time::NEVER { Span::ZERO } else { now.since(self.progress_at) };
        if !self.accepts_as_linux() {
            return stalled;
        }
        let (first, since) = self.tx.rtt.waited();
        Span(stalled.0.saturating_sub(first.0)).min(since)
    }

    /// How long nothing may be answered: the user timeout, or what so many retries take.
    fn limit(&self, retries: u32, syn: bool) -> Span {
        if self.options.user_timeout > Span::ZERO {
            return self.options.user_timeout;
        }
        let (least, Span(most)) = if self.accepts_as_linux() { (LINUX_LEAST, self.options.rto_max) } else { STANDARD };
        let Span(base) = if syn { INITIAL } else { least };
        let doublings = (most / base).max(1).ilog2();
        Span(base * ((2 << retries.min(doublings)) - 1) + most * u64::from(retries.saturating_sub(doublings)))
    }

    fn retries(&self) -> u32 {
        if !self.is_orphan() {
            return self.options.data_retries;
        }
        let grows = self.tx.rtt.rto() < self.options.rto_max;
        if self.options.orphan_retries == 0 && grows { ORPHAN_RETRIES } else { self.options.orphan_retries }
    }

    /// The retransmission timer has expired in a handshake: whether that is the end.
    pub(super) fn tires_of_handshake(&self, now: Time) -> bool {
        let o = &self.options;
        let sent = u32::from(self.backoffs);
        let (retries, linear) = match self.opening {
            Opening::Passive => (o.syn_ack_retries, 0),
            Opening::Early => (o.syn_ack_retries + 1, 0),
            Opening::Active if self.state == State::SynSent => (o.syn_retries, o.syn_linear_timeouts),
            Opening::Active => (o.syn_retries, 0),
        };
        let (linux, known) = (self.accepts_as_linux(), self.progress_at != Time::NEVER);
        // Of a SYN-ACK Linux counts alone; elsewhere the number counts where the time is not known.
        let counts = linux || !known;
        let timed = known && sent > 0 && !(linux && self.is_passive());
        counts && sent >= retries + linear || timed && now.since(self.progress_at) >= self.limit(retries, true)
    }

    /// The timer has expired with data in flight: whether that is the end.
    pub(super) fn tires_of_retransmitting(&self, now: Time) -> bool {
        let retried = self.tx.rtt.backoffs() > 0;
        retried && self.unanswered_for(now) >= self.limit(self.retries(), false)
    }

    /// A probe of a closed window is due: whether too many had no answer.
    #[cold]
    pub(super) fn tires_of_probing(&mut self, now: Time) -> bool {
        let (heard, first) = (self.stats.segs_in, self.backoffs == 0);
        let (retries, timeout) = (self.retries(), self.options.user_timeout);
        let patience = &mut self.aside().patience;
        if patience.heard != heard {
            patience.unanswered = 0;
        }
        if first {
            patience.probing_since = now;
        }
        // The user does not wait for a window that stays closed either.
        let late = timeout > Span::ZERO && !first && now.since(patience.probing_since) >= timeout;
        let over = patience.unanswered >= retries || late;
        (patience.heard, patience.unanswered) = (heard, patience.unanswered + 1);
        over
    }

    /// When the retransmission timer expires next.
    pub(super) fn timeout_at(&self, now: Time) -> Time {
        let (rto, timeout) = (self.tx.rtt.rto(), self.options.user_timeout);
        if timeout == Span::ZERO || self.tx.rtt.backoffs() == 0 {
            return now.saturating_add(rto);
        }
        let left = Span(timeout.0.saturating_sub(self.unanswered_for(now).0)).max(SOONEST);
        now.saturating_add(rto.min(left))
    }

    /// The interval until the next probe of a closed window.
    pub(super) fn probe_interval(&self, now: Time, interval: Span) -> Span {
        let timeout = self.options.user_timeout;
        match &self.aside {
            Some(aside) if timeout > Span::ZERO => {
                let passed = now.since(aside.patience.probing_since);
                interval.min(Span(timeout.0.saturating_sub(passed.0)).max(SOONEST))
            }
            _ => interval,
        }
    }

    /// The connection is over. A SYN-ACK that nobody has acknowledged leaves a listener.
    #[cold]
    pub(super) fn give_up(&mut self, now: Time) {
        if self.state == State::SynReceived && self.opening == Opening::Passive {
            return self.relisten();
        }
        self.doubt_fast_open();
        self.finish(now);
        self.aside().patience.gave_up = true;
    }
}
