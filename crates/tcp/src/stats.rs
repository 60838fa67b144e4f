//! What a connection counts: the instruments of RFC 4898 (TCP Extended Statistics MIB), in snake case.
//!
//! Time is attributed to one of three states (RFC 4898 `tcpEStatsPerfSndLim*`): limited by the receiver's window, by
//! congestion control (the wait for a timeout included), or by the sender, which has nothing to send.

use elephan_units::{Span, Time};
use serde::Serialize;

/// A snapshot of a connection's statistics. Times are nanoseconds, sizes bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Stats {
    /// Segments sent, retransmissions and pure ACKs included.
    pub segs_out: u64,
    pub segs_in: u64,
    /// Segments sent with payload, retransmissions included.
    pub data_segs_out: u64,
    pub data_segs_in: u64,
    /// Payload bytes sent, retransmissions included.
    pub data_octets_out: u64,
    pub data_octets_in: u64,
    pub segs_retrans: u64,
    pub octets_retrans: u64,
    /// Times that fast recovery was entered.
    pub fast_retran: u64,
    /// Timer expirations without back-off.
    pub timeouts: u64,
    /// Timer expirations with the timer backed off.
    pub subsequent_timeouts: u64,
    /// Reductions of the window for congestion of any kind.
    pub cong_signals: u64,
    /// Reductions for ECN-Echo.
    pub ecn_signals: u64,
    pub dup_acks_in: u64,
    /// ACKs that carried SACK blocks.
    pub sacks_rcvd: u64,
    pub sack_blocks_rcvd: u64,
    /// Times that the window was grown by slow start / by congestion avoidance.
    pub slow_start: u64,
    pub cong_avoid: u64,
    pub max_ss_cwnd: u64,
    pub max_ca_cwnd: u64,
    /// Smallest and largest ssthresh since the first reduction, 0 before it.
    pub min_ssthresh: u64,
    pub max_ssthresh: u64,
    pub cur_mss: u64,
    /// Round-trip times, 0 before the first sample.
    pub min_rtt_ns: u64,
    pub max_rtt_ns: u64,
    pub smoothed_rtt_ns: u64,
    pub rtt_var_ns: u64,
    pub cur_rto_ns: u64,
    /// Transitions into, and time spent, limited by the receiver's window, by congestion control, by the sender.
    pub snd_lim_trans_rwin: u64,
    pub snd_lim_trans_cwnd: u64,
    pub snd_lim_trans_snd: u64,
    pub snd_lim_time_rwin_ns: u64,
    pub snd_lim_time_cwnd_ns: u64,
    pub snd_lim_time_snd_ns: u64,
    pub cur_rwin_rcvd: u64,
    pub max_rwin_rcvd: u64,
    /// ACKs that closed the window.
    pub zero_rwin_rcvd: u64,
    /// Segments that the host's own transmit queue refused.
    pub send_stall: u64,
}

impl Stats {
    /// Every figure under its name.
    pub fn named(&self) -> Vec<(String, u64)> {
        let Ok(serde_json::Value::Object(figures)) = serde_json::to_value(self) else { return Vec::new() };
        figures.into_iter().map(|(name, figure)| (name, figure.as_u64().unwrap_or_default())).collect()
    }
}

/// Why sending has stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Limit {
    Rwin,
    Cwnd,
    Snd,
}

/// The clock of the three states. It starts as limited by the sender when the connection is established.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LimitClock {
    state: Limit,
    since: Time,
    running: bool,
    spent: [Span; 3],
    entered: [u64; 3],
}

impl LimitClock {
    pub const fn new() -> LimitClock {
        LimitClock { state: Limit::Snd, since: Time::ZERO, running: false, spent: [Span::ZERO; 3], entered: [0; 3] }
    }

    pub fn start(&mut self, now: Time) {
        (self.running, self.since) = (true, now);
    }

    /// The connection is over.
    pub fn stop(&mut self, now: Time) {
        self.credit(now);
        self.running = false;
    }

    fn credit(&mut self, now: Time) {
        if self.running {
            let spent = &mut self.spent[self.state as usize];
            *spent = spent.saturating_add(now.since(self.since));
            self.since = now;
        }
    }

    #[inline]
    pub fn set(&mut self, now: Time, state: Limit) {
        if self.state != state {
            self.credit(now);
            self.state = state;
            self.entered[state as usize] += 1;
        }
    }

    /// Writes transitions and times up to `now` into a snapshot.
    pub fn fill(mut self, now: Time, stats: &mut Stats) {
        self.credit(now);
        let ns = |limit: Limit| self.spent[limit as usize].0 / 1000;
        [stats.snd_lim_trans_rwin, stats.snd_lim_trans_cwnd, stats.snd_lim_trans_snd] = self.entered;
        stats.snd_lim_time_rwin_ns = ns(Limit::Rwin);
        stats.snd_lim_time_cwnd_ns = ns(Limit::Cwnd);
        stats.snd_lim_time_snd_ns = ns(Limit::Snd);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_add_up_to_the_life_of_the_connection() {
        let mut clock = LimitClock::new();
        clock.set(Time(500), Limit::Cwnd);
        clock.start(Time(1_000));
        clock.set(Time(3_000), Limit::Rwin);
        clock.set(Time(7_000), Limit::Rwin);
        clock.set(Time(9_000), Limit::Snd);
        let mut stats = Stats::default();
        clock.fill(Time(20_000), &mut stats);
        let times = (stats.snd_lim_time_cwnd_ns, stats.snd_lim_time_rwin_ns, stats.snd_lim_time_snd_ns);
        assert_eq!(times, (2, 6, 11));
        let entered = (stats.snd_lim_trans_cwnd, stats.snd_lim_trans_rwin, stats.snd_lim_trans_snd);
        assert_eq!(entered, (1, 1, 1));
    }
}
