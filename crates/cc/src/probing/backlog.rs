//! What the delays of a flow's base packets say of the queue before them: whether it grows, and whether it stands.
//!
//! Looked at once a round trip. `s` is the slope of the one-way delays over that round trip, which is (load - C) / C at a
//! FIFO with capacity C; `q` is the smallest delay of the round trip less the smallest of the last 10 s.

use super::probe::Line;
use crate::least::Least;
use crate::train::Arrival;
use elephan_units::{Span, Time};

/// Trains whose packets' neighbours may still be under way.
const TRAINS: usize = 2;
/// A queue stands when it takes so many packet times, and in any case `standing_min`.
const STANDING_PACKETS: f64 = 2.0;

/// The numbers of the rule.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rule {
    /// The smallest slope that counts.
    pub slope_min: f64,
    /// The time over which the smallest delay is that of an empty queue.
    pub base_window: Span,
    pub standing_min_s: f64,
    /// The largest share of the rate that draining takes.
    pub drain_max: f64,
    /// Round trips without effect before the other flows are taken for TCP, and what the reaction is divided by then.
    pub patience: u32,
    pub divisor: f64,
}

/// What a round trip says.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Reaction {
    /// The rate is divided by 1 + this.
    pub excess: f64,
    /// Share of the rate to leave free for a round trip.
    pub drain: f64,
}

#[derive(Clone, Debug)]
pub(crate) struct Backlog {
    least: Least,
    line: Line,
    /// Seconds of the smallest delay of the round trip, infinite without any.
    round_s: f64,
    since: Time,
    /// Times within which base packets are not looked at.
    trains: [(Time, Time); TRAINS],
    /// The smallest time between two arrivals, and the last arrival.
    spacing_s: f64,
    last_came: Option<Time>,
    /// The standing queues in seconds to which the last two round trips have reacted, the later one first.
    reacted_to_s: [Option<f64>; 2],
    pub in_vain: u32,
}

impl Backlog {
    pub fn new() -> Backlog {
        Backlog {
            least: Least::NONE,
            line: Line::default(),
            round_s: f64::INFINITY,
            since: Time::ZERO,
            trains: [(Time::NEVER, Time::ZERO); TRAINS],
            spacing_s: f64::INFINITY,
            last_came: None,
            reacted_to_s: [None; 2],
            in_vain: 0,
        }
    }

    /// Base packets sent from `from` to `to` see one's own train.
    pub fn exclude(&mut self, from: Time, to: Time) {
        self.trains.rotate_right(1);
        self.trains[0] = (from, to);
    }

    /// Takes in an arrival, whose acknowledgement is here at `now`.
    pub fn add(&mut self, now: Time, arrival: &Arrival, rule: &Rule) {
        let (left, came) = (arrival.departure.at, arrival.at);
        self.least.add(now, came.since(left), rule.base_window);
        if let Some(last) = self.last_came.filter(|last| *last < came) {
            self.spacing_s = self.spacing_s.min(came.since(last).seconds());
        }
        self.last_came = Some(came);
        let beside = self.trains.iter().any(|(from, to)| (*from..=*to).contains(&left));
        if !arrival.departure.in_train && !beside {
            self.line.add(left.seconds(), arrival.delay_s());
            self.round_s = self.round_s.min(came.since(left).seconds());
        }
    }

    /// At the end of a round trip of `rtt`: what it says.
    pub fn round(&mut self, now: Time, rtt: Span, rule: &Rule) -> Option<Reaction> {
        if now.since(self.since) < rtt {
            return None;
        }
        self.since = now;
        let line = std::mem::take(&mut self.line);
        let round_s = std::mem::replace(&mut self.round_s, f64::INFINITY);
        if !round_s.is_finite() {
            return Some(Reaction::default());
        }
        let standing_s = (round_s - self.least.seconds()).max(0.0);
        self.look_for_effect(standing_s, rule);
        let amount = if self.in_vain >= rule.patience { 1.0 / rule.divisor } else { 1.0 };
        let mut reaction = Reaction::default();
        if let Some((slope, Some(error))) = line.slope()
            && slope > rule.slope_min
            && slope > error
        {
            reaction.excess = slope.min(1.0) * amount;
        }
        if standing_s > self.theta_s(rule) {
            reaction.drain = (standing_s / rtt.seconds()).min(rule.drain_max) * amount;
        }
        let reacted_to_s = (reaction != Reaction::default()).then_some(standing_s);
        self.reacted_to_s = [reacted_to_s, self.reacted_to_s[0]];
        Some(reaction)
    }

    /// Seconds of queue that count as standing.
    fn theta_s(&self, rule: &Rule) -> f64 {
        let packets = if self.spacing_s.is_finite() { STANDING_PACKETS * self.spacing_s } else { 0.0 };
        rule.standing_min_s.max(packets)
    }

    /// A reaction after which a queue stands that is no shorter was in vain. The packets that leave under a reaction are
    /// acknowledged in the second round trip after it: those of the first had left before.
    fn look_for_effect(&mut self, standing_s: f64, rule: &Rule) {
        self.in_vain = match self.reacted_to_s[1] {
            Some(before) if standing_s >= before && standing_s > self.theta_s(rule) => self.in_vain.saturating_add(1),
            _ => 0,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::Departure;

    const RTT: Span = Span::from_ms(25);

    fn rule() -> Rule {
        Rule {
            slope_min: 0.01,
            base_window: Span::from_s(10),
            standing_min_s: 1e-3,
            drain_max: 0.5,
            patience: 3,
            divisor: 10.0,
        }
    }

    /// A round of base packets every millisecond from `from_ms`, the delay of the n-th being `delay_ms(n)`.
    fn round(b: &mut Backlog, from_ms: u64, delay_ms: impl Fn(u64) -> f64) -> Reaction {
        let ms = |ms: u64| Time::ZERO + Span::from_ms(ms);
        for n in 0..25 {
            let at = ms(from_ms + n);
            let departure = Departure { at, ..Departure::default() };
            b.add(at + RTT, &Arrival { departure, at: at + Span::from_seconds(delay_ms(n) * 1e-3) }, &rule());
        }
        b.round(ms(from_ms) + RTT + RTT, RTT, &rule()).unwrap()
    }

    /// 44 Mbit/s into 40 let the delay grow by 0.1 s/s, and 44 / 1.1 = 40.
    #[test]
    fn growth_is_the_excess_over_the_capacity() {
        let reaction = round(&mut Backlog::new(), 0, |n| 12.5 + 0.1 * n as f64);
        assert!((reaction.excess - 0.1).abs() < 1e-9, "{reaction:?}");
        assert!(44.0 / (1.0 + reaction.excess) - 40.0 < 1e-6);
        // Below 0.01, and not above its own error: nothing.
        assert_eq!(round(&mut Backlog::new(), 0, |n| 12.5 + 0.009 * n as f64).excess, 0.0);
        assert_eq!(round(&mut Backlog::new(), 0, |n| if n == 12 { 30.0 } else { 12.5 }).excess, 0.0);
    }

    /// 5 ms of queue and 25 ms of round trip: a fifth of the rate for a round trip; more than half of it never.
    #[test]
    fn a_standing_queue_is_drained_in_a_round_trip() {
        for (queue_ms, drain) in [(0.9, 0.0), (5.0, 0.2), (10.0, 0.4), (20.0, 0.5)] {
            let mut b = Backlog::new();
            assert_eq!(round(&mut b, 0, |_| 12.5), Reaction::default());
            let reaction = round(&mut b, 25, |_| 12.5 + queue_ms);
            assert!((reaction.drain - drain).abs() < 1e-9 && reaction.excess == 0.0, "{queue_ms} ms: {reaction:?}");
        }
    }

    /// Ten seconds later (and up to half of that, when packets are rare) a queue that never went is the path.
    #[test]
    fn the_smallest_delay_is_forgotten() {
        let mut b = Backlog::new();
        round(&mut b, 0, |_| 12.5);
        assert!(round(&mut b, 9_000, |_| 17.5).drain > 0.0);
        assert_eq!(round(&mut b, 15_000, |_| 17.5).drain, 0.0);
    }

    /// What a reaction to each of these queues (ms) leaves free, round trip after round trip.
    fn drains(queues_ms: &[f64]) -> Vec<f64> {
        let mut b = Backlog::new();
        round(&mut b, 0, |_| 12.5);
        queues_ms.iter().zip(1..).map(|(queue, n)| round(&mut b, 25 * n, |_| 12.5 + queue).drain).collect()
    }

    fn near(found: &[f64], expected: &[f64]) {
        assert!(
            found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9) && found.len() == expected.len(),
            "{found:?}"
        );
    }

    /// Effects show two round trips later. A queue that stands still is reacted to in full until three of them have not shown,
    /// then by a tenth, and in full again when it falls.
    #[test]
    fn tit_for_tat() {
        let found = drains(&[5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 4.0, 4.0]);
        near(&found, &[0.2, 0.2, 0.2, 0.2, 0.02, 0.02, 0.02, 0.16, 0.16]);
    }

    /// One's own overshoot grows for as long as the first reaction is under way; that it has not shown says nothing of others.
    #[test]
    fn an_effect_takes_a_round_trip_to_show() {
        near(&drains(&[3.0, 4.0, 6.0, 6.6, 5.0, 3.0]), &[0.12, 0.16, 0.24, 0.264, 0.2, 0.12]);
    }

    /// Delays that grow from nothing in each round trip anew: no queue stands, so none is left.
    #[test]
    fn without_a_queue_nothing_is_in_vain() {
        let mut b = Backlog::new();
        for n in 0..8 {
            let reaction = round(&mut b, 25 * n, |n| 12.5 + 0.1 * n as f64);
            assert!((reaction.excess - 0.1).abs() < 1e-9 && b.in_vain == 0, "{n}: {reaction:?}");
        }
    }

    #[test]
    fn packets_beside_a_train_are_not_looked_at() {
        let ms = |ms: u64| Time::ZERO + Span::from_ms(ms);
        let mut b = Backlog::new();
        round(&mut b, 0, |_| 12.5);
        b.exclude(ms(40), ms(49));
        assert_eq!(round(&mut b, 25, |n| if n < 15 { 12.5 } else { 14.5 }), Reaction::default());
        // Packets of trains and whole rounds of nothing say nothing either.
        assert_eq!(b.round(ms(200), RTT, &rule()), Some(Reaction::default()));
        assert_eq!(b.round(ms(210), RTT, &rule()), None);
    }
}
