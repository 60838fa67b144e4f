//! Policers: a token bucket that drops what exceeds its rate shows as intervals from loss to loss that lose much and deliver at the
//! same rate, which is then that of the path (Linux `tcp_bbr.c`, `bbr_lt_bw_sampling`, "long-term bandwidth").

use crate::Ack;
use crate::algorithm::bbr::Parameters;
use elephan_units::{Span, Time};

/// An interval is not shorter (Linux counts it in whole milliseconds).
const INTERVAL_MIN: Span = Span::from_ms(1);

/// What has become of the connection until an ACK.
#[derive(Clone, Copy, Debug, Default)]
struct Totals {
    at: Time,
    delivered: u64,
    lost: u64,
}

#[derive(Clone, Copy, Debug, Default)]
enum State {
    /// Nothing is lost yet: what a full bucket lets through is not its rate.
    #[default]
    Idle,
    /// An interval is under way; `before` is the rate of the one before it, bit/s.
    Sampling { since: Totals, rounds: u32, before: Option<f64> },
    /// A policer of this rate, bit/s.
    Seen { bps: f64, rounds: u32 },
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Policer {
    state: State,
    /// At the last ACK.
    last: Totals,
    timed_out: bool,
}

/// What an ACK means to an interval.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    pub new_round: bool,
    /// Something was lost since the ACK before.
    pub lost: bool,
    /// The application may have limited what was sent.
    pub limited: bool,
    /// The path is being probed, so that rounds of belief in a policer count.
    pub probing: bool,
}

impl Policer {
    /// The rate of the policer that was seen, bit/s.
    pub fn bps(&self) -> Option<f64> {
        match self.state {
            State::Seen { bps, .. } => Some(bps),
            _ => None,
        }
    }

    /// A policer of `bps`, or none.
    pub fn set(&mut self, bps: f64) {
        self.state = if bps > 0.0 { State::Seen { bps, rounds: 0 } } else { State::Idle };
    }

    /// The retransmission timer has expired: what it takes for lost, the next ACK tells.
    pub fn time_out(&mut self) {
        self.timed_out = true;
    }

    /// The last loss was none, or the last timeout.
    pub fn undo(&mut self) {
        (self.state, self.timed_out) = (State::Idle, false);
    }

    /// Takes in an ACK; answers whether the policer is no longer believed in, so that the path is to be probed.
    ///
    /// A timer that has expired since the last ACK ended a round and an interval then (Linux `bbr_set_state`).
    pub fn watch(&mut self, p: &Parameters, ack: &Ack, mut m: Moment) -> bool {
        let now = Totals { at: ack.now, delivered: ack.delivered, lost: ack.lost };
        let mut over = false;
        if self.timed_out {
            self.timed_out = false;
            let then = Totals { lost: now.lost.saturating_sub(ack.newly_lost), ..self.last };
            over = self.sample(p, &then, Moment { new_round: true, lost: true, limited: false, ..m });
            m.lost = ack.newly_lost > 0;
        }
        self.last = now;
        self.sample(p, &now, m) || over
    }

    fn sample(&mut self, p: &Parameters, now: &Totals, m: Moment) -> bool {
        if let State::Seen { rounds, .. } = &mut self.state {
            *rounds += u32::from(m.probing && m.new_round);
            let over = *rounds >= p.policer_kept_rounds;
            if over {
                self.state = State::Idle;
            }
            return over;
        }
        if m.lost && matches!(self.state, State::Idle) {
            self.state = State::Sampling { since: *now, rounds: 0, before: None };
        }
        let State::Sampling { since, rounds, before } = &mut self.state else { return false };
        *rounds += u32::from(m.new_round);
        if m.limited || *rounds > p.policer_rounds_max {
            self.state = State::Idle;
        } else if *rounds >= p.policer_rounds
            && m.lost
            && let Some(bps) = rate(p, since, now)
        {
            self.state = match *before {
                Some(before)
                    if (bps - before).abs() <= (p.policer_share * before).max(p.policer_difference.0 as f64) =>
                {
                    State::Seen { bps: (bps + before) / 2.0, rounds: 0 }
                }
                _ => State::Sampling { since: *now, rounds: 0, before: Some(bps) },
            };
        }
        false
    }
}

/// What an interval delivered, bit/s, if it lost as much as behind a policer.
fn rate(p: &Parameters, since: &Totals, now: &Totals) -> Option<f64> {
    let delivered = now.delivered.saturating_sub(since.delivered) as f64;
    let lost = now.lost.saturating_sub(since.lost) as f64;
    let interval = now.at.since(since.at);
    let counts = delivered > 0.0 && lost >= p.policer_loss * delivered && interval >= INTERVAL_MIN;
    counts.then(|| delivered * 8.0 / interval.seconds())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::bbr::{Bbr, Parameters};
    use crate::algorithm::{CongestionControl, Pacing};
    use crate::{Internals, Model, Signal, Window};

    /// A flow in PROBE_BW, told ACKs a tenth of a second apart, each of which is a round.
    struct Flow {
        cc: Bbr,
        w: Window,
        told: Ack,
    }

    impl Flow {
        fn new(policer: bool) -> Flow {
            Flow::with(&Parameters { policer, ..Parameters::default() })
        }

        fn with(p: &Parameters) -> Flow {
            let mut cc = Bbr::new(p);
            cc.poke("mode", 2.0);
            cc.poke("bw", 1e6);
            cc.poke("min_rtt", 0.1);
            let w = Window { cwnd: 1e5, ssthresh: f64::INFINITY, mss: 1000.0 };
            Flow { cc, w, told: Ack { inflight: 1 << 20, ..Ack::default() } }
        }

        /// `n` rounds that deliver `delivered` bytes and lose `lost` each.
        fn rounds(&mut self, n: u32, delivered: u64, lost: u64) -> &mut Flow {
            for _ in 0..n {
                let told = &mut self.told;
                told.now = told.now.saturating_add(Span::from_ms(100));
                (told.acked, told.newly_lost, told.prior_delivered) = (delivered, lost, Some(told.delivered));
                told.rate_bps = Some(1.0);
                told.delivered += delivered;
                told.lost += lost;
                self.cc.on_delivery(&mut self.w, &self.told);
            }
            self
        }

        fn state(&self, name: &str) -> f64 {
            let mut states = Vec::new();
            self.cc.observe(&mut states);
            states.into_iter().find(|(n, _)| *n == name).unwrap().1
        }

        fn seen(&self) -> Option<f64> {
            Some(self.state("policer").round()).filter(|&bps| bps > 0.0)
        }
    }

    /// The first loss begins the first round of four; four more are the second interval. Both deliver 2560 bytes in 100 ms, 204.8
    /// kbit/s, and lose 500 of 2560 bytes, 50/256: at a byte less nothing is seen.
    #[test]
    fn two_intervals_of_four_rounds_that_lose_a_fifth_show_a_policer() {
        let mut flow = Flow::new(true);
        flow.rounds(20, 2560, 0).rounds(7, 2560, 500);
        assert_eq!(flow.seen(), None);
        flow.rounds(1, 2560, 500);
        assert_eq!(flow.seen(), Some(204_800.0));
        assert_eq!(Flow::new(true).rounds(100, 2560, 499).seen(), None);
        assert_eq!(Flow::new(false).rounds(100, 2560, 500).seen(), None);
    }

    /// Three rounds and a tenth lost are enough where that is asked for, and the rate is kept for two rounds.
    #[test]
    fn what_a_policer_is_known_by_are_parameters() {
        let p = Parameters { policer_rounds: 3, policer_loss: 0.1, policer_kept_rounds: 2, ..Parameters::default() };
        let mut flow = Flow::with(&p);
        assert_eq!(flow.rounds(5, 2560, 256).seen(), None);
        assert_eq!(flow.rounds(1, 2560, 256).seen(), Some(204_800.0));
        assert_eq!(flow.rounds(1, 2560, 256).seen(), Some(204_800.0));
        assert_eq!(flow.rounds(1, 2560, 256).seen(), None);
    }

    /// A second rate of 9/8 of the first is the same, and the mean of both is the policer's; at more, the next interval decides. Small
    /// rates are the same up to 4 kbit/s apart: 8 and 12 kbit/s are.
    #[test]
    fn both_intervals_deliver_at_the_same_rate() {
        let seen = |first: u64, second: u64| {
            let mut flow = Flow::new(true);
            flow.rounds(4, first, first).rounds(4, second, second);
            let two = flow.seen();
            (two, flow.rounds(4, second, second).seen())
        };
        assert_eq!(seen(2560, 2880), (Some(217_600.0), Some(217_600.0)));
        assert_eq!(seen(2560, 2240), (Some(192_000.0), Some(192_000.0)));
        assert_eq!(seen(2560, 2881), (None, Some(230_480.0)));
        assert_eq!(seen(2560, 2239), (None, Some(179_120.0)));
        assert_eq!(seen(100, 150), (Some(10_000.0), Some(10_000.0)));
        assert_eq!(seen(100, 151), (None, Some(12_080.0)));
    }

    /// The interval ends with a loss; one that comes after the 16th round is too late, and so is what was measured before.
    #[test]
    fn an_interval_is_no_longer_than_sixteen_rounds() {
        let second =
            |rounds| Flow::new(true).rounds(4, 2560, 2560).rounds(rounds, 2560, 0).rounds(1, 2560, 1 << 16).seen();
        assert_eq!((second(2), second(3), second(15), second(16)), (None, Some(204_800.0), Some(204_800.0), None));
    }

    /// 0.99 of the rate, with a gain of 1 in all phases, and two windows of what it carries in 100 ms (2560 bytes: 6 segments with
    /// a burst of one segment thrice, rounded up to even, and 2 in the probing phase); after 48 rounds the path is probed again.
    #[test]
    fn the_flow_paces_at_the_rate_for_48_rounds() {
        let mut flow = Flow::new(true);
        flow.rounds(8, 2560, 500);
        for _ in 0..47 {
            flow.rounds(1, 2560, 0);
            assert_eq!(flow.seen(), Some(204_800.0));
            assert_eq!(flow.state("pacing_gain"), 1.0);
            assert!((flow.cc.pacing_rate(&flow.w).unwrap() - 0.99 * 204_800.0).abs() < 1.0);
            // What ACKs bring beyond the rate is 100 ms of it at most, 2560 bytes.
            assert!((10_000.0..=14_560.0).contains(&flow.w.cwnd), "{}", flow.w.cwnd);
        }
        flow.rounds(1, 2560, 0);
        assert_eq!(flow.seen(), None);
    }

    /// An application that had nothing to send, and a loss that was none, begin all anew.
    #[test]
    fn a_limit_and_an_undone_loss_forget_what_was_measured() {
        let mut flow = Flow::new(true);
        flow.rounds(7, 2560, 500).told.rate_app_limited = true;
        flow.rounds(1, 2560, 500).told.rate_app_limited = false;
        assert_eq!(flow.rounds(7, 2560, 500).seen(), None);
        flow.cc.on_undo(&mut flow.w, flow.told.now);
        assert_eq!(flow.rounds(7, 2560, 500).seen(), None);
        assert_eq!(flow.rounds(1, 2560, 500).seen(), Some(204_800.0));
        flow.cc.on_undo(&mut flow.w, flow.told.now);
        assert_eq!(flow.seen(), None);
    }

    /// A timer ends a round and the interval at the last ACK before it, with what it takes for lost: the second interval is the three
    /// rounds of its ACKs, not the second of silence.
    #[test]
    fn a_timeout_ends_an_interval() {
        let mut flow = Flow::new(true);
        flow.rounds(4, 2560, 500).rounds(3, 2560, 0);
        flow.cc.on_congestion(&mut flow.w, &Signal::Rto { now: flow.told.now, inflight: 2560 });
        flow.told.now = flow.told.now.saturating_add(Span::from_s(1));
        flow.told.lost += 2560;
        assert_eq!(flow.rounds(1, 2560, 0).seen(), Some(204_800.0));
    }
}
