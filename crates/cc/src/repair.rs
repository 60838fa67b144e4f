//! What interrupts the BBR family: losses, after which packets are conserved and the window of before comes back, and stays in
//! PROBE_RTT.

use crate::path::Path;
use crate::{Ack, Signal, Window};
use elephan_units::{Span, Time};

/// How long the bandwidth has not grown.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Plateau {
    /// bit/s when it last grew.
    bw: f64,
    rounds: u32,
}

impl Plateau {
    /// At the beginning of a round: whether `bw` has grown by less than the factor `growth` for `rounds` rounds.
    pub fn reached(&mut self, bw: f64, growth: f64, rounds: u32) -> bool {
        if bw >= self.bw * growth {
            (self.bw, self.rounds) = (bw, 0);
            return false;
        }
        self.rounds += 1;
        self.rounds >= rounds
    }

    /// The same of the rate that each ACK has measured, whose rounds count when they begin (draft-ietf-ccwg-bbr, CheckFullBWReached).
    pub fn watched(&mut self, rate: Option<f64>, new_round: bool, growth: f64, rounds: u32) -> bool {
        let grown = rate.filter(|rate| *rate > 0.0 && *rate >= self.bw * growth);
        if let Some(rate) = grown {
            *self = Plateau::since(rate);
        }
        self.rounds += u32::from(new_round && grown.is_none());
        self.rounds >= rounds
    }

    /// The bandwidth has just grown to `bw`.
    pub fn since(bw: f64) -> Plateau {
        Plateau { bw, rounds: 0 }
    }
}

/// What a loss changes and an undone one restores (Linux `tcp_bbr.c`, `bbr_save_cwnd` and
/// `bbr_set_cwnd_to_recover_or_restore`).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Repair {
    /// Packets are conserved in the first round of recovery, as in version 1.
    conserves: bool,
    /// Recovery, or what follows a timeout, is under way.
    recovering: bool,
    /// The first ACK of recovery is still to come; recovery is over with the next ACK.
    begins: bool,
    ends: bool,
    /// The first round of recovery is not over: the window is what is in flight.
    pub conserving: bool,
    /// The window to return to after recovery or PROBE_RTT, and whether it is time, with the next ACK for which the window is the limit.
    before: f64,
    returns: bool,
    /// Bytes to be delivered until all is that was in flight at the last mark.
    marked_for: u64,
    pub plateau: Plateau,
}

impl Repair {
    /// With packet conservation.
    pub fn conserving() -> Repair {
        Repair { conserves: true, ..Repair::default() }
    }

    /// Remembers the window to return to; while it is low already, the larger one.
    pub fn save(&mut self, w: &Window, probing_rtt: bool) {
        self.before = if self.recovering || self.returns || probing_rtt { self.before.max(w.cwnd) } else { w.cwnd };
    }

    /// A congestion event; answers whether something is lost.
    pub fn event(&mut self, w: &mut Window, signal: &Signal, probing_rtt: bool) -> bool {
        match *signal {
            Signal::Loss { .. } => self.lose(w, probing_rtt),
            Signal::Rto { .. } => self.time_out(w, probing_rtt),
            Signal::Ecn { inflight, .. } if self.conserves => {
                self.save(w, probing_rtt);
                self.marked_for = inflight;
                return false;
            }
            _ => return false,
        }
        true
    }

    /// A loss begins recovery. One that follows the last without an ACK between goes on with it.
    fn lose(&mut self, w: &Window, probing_rtt: bool) {
        // A mark has saved the window for this data (Linux `tcp_enter_recovery` from `TCP_CA_CWR`).
        if self.marked_for == 0 {
            self.save(w, probing_rtt);
        }
        if self.ends {
            self.ends = false;
            return;
        }
        (self.recovering, self.begins, self.returns) = (true, self.conserves, false);
    }

    /// The retransmission timer has expired.
    fn time_out(&mut self, w: &mut Window, probing_rtt: bool) {
        self.save(w, probing_rtt);
        *self = Repair {
            recovering: true,
            conserves: self.conserves,
            conserving: self.conserving,
            before: self.before,
            ..Repair::default()
        };
        w.cwnd = w.mss;
    }

    /// All that had been sent when recovery began is acknowledged. A recovery that no ACK has seen changes nothing.
    pub fn over(&mut self) {
        if self.begins {
            (self.begins, self.recovering) = (false, false);
        }
        self.ends = self.recovering;
    }

    /// What an ACK makes of the window before the congestion control does; answers whether packets are conserved, so that the
    /// congestion control does not.
    pub fn steer(&mut self, w: &mut Window, ack: &Ack, path: &mut Path) -> bool {
        if self.conserves && ack.newly_lost > 0 {
            w.cwnd = (w.cwnd - ack.newly_lost as f64).max(w.mss);
        }
        self.marked_for = self.marked_for.saturating_sub(ack.acked);
        let kept = (ack.left() + ack.acked) as f64;
        if self.begins {
            (self.begins, self.conserving) = (false, true);
            path.restart_round(ack.left());
            w.cwnd = kept;
        } else if self.ends {
            (self.recovering, self.ends, self.conserving) = (false, false, false);
            self.returns = true;
        }
        if self.returns && (self.conserves || !ack.app_limited) {
            self.returns = false;
            w.cwnd = w.cwnd.max(self.before);
        }
        if self.conserving {
            w.cwnd = w.cwnd.max(kept);
        }
        self.conserving
    }

    /// What an ACK means for PROBE_RTT, which begins where the smallest round-trip time has `expired` and ends when no more than `most` bytes
    /// have been in flight for `time` and a round.
    pub fn visit(
        &mut self,
        (stay, expired): (Option<Stay>, bool),
        (w, path, ack): (&Window, &mut Path, &Ack),
        new_round: bool,
        (most, time): (f64, Span),
    ) -> Visit {
        let begins = expired && !path.restarted && stay.is_none();
        if begins {
            self.save(w, false);
        }
        let Some(mut stay) = stay.or(begins.then(Stay::default)) else { return Visit::None };
        if !stay.over(path, ack, new_round, most, time) {
            return Visit::Stays(stay);
        }
        self.returns = true;
        Visit::Over
    }

    /// Sending begins again in PROBE_RTT with nothing in flight: whether the stay is over by the clock, for which no round needs to pass.
    /// The window of before is back at once (Linux `bbr_cwnd_event`, draft-ietf-ccwg-bbr HandleRestartFromIdle).
    pub fn leaves_in_silence(&mut self, w: &mut Window, path: &mut Path, stay: Stay, now: Time) -> bool {
        let over = stay.until.is_some_and(|until| now > until);
        if over {
            path.confirm_min_rtt(now);
            w.cwnd = w.cwnd.max(self.before);
        }
        over
    }

    /// The loss or the timeout was none: recovery is over, and whether the pipe is full is found out anew.
    pub fn undo(&mut self) {
        if self.recovering {
            let returns = !self.begins;
            *self = Repair { conserves: self.conserves, before: self.before, returns, ..Repair::default() };
        }
    }
}

/// See [`Repair::visit`].
pub(crate) enum Visit {
    None,
    Stays(Stay),
    Over,
}

/// A stay in PROBE_RTT.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Stay {
    /// Since so little is in flight as is meant to be: when it has been so for long enough.
    until: Option<Time>,
    /// A round has passed since.
    round_done: bool,
}

impl Stay {
    /// Takes in an ACK; answers whether no more than `most` bytes have been in flight for `time` and a round.
    fn over(&mut self, path: &mut Path, ack: &Ack, new_round: bool, most: f64, time: Span) -> bool {
        path.limit();
        let inflight = ack.left();
        match self.until {
            None if inflight as f64 <= most => {
                self.until = Some(ack.now.saturating_add(time));
                path.restart_round(inflight);
            }
            None => {}
            Some(_) => self.round_done |= new_round,
        }
        let over = self.round_done && self.until.is_some_and(|until| ack.now > until);
        if over {
            path.confirm_min_rtt(ack.now);
        }
        over
    }
}
