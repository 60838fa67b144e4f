//! Copa (Arun and Balakrishnan, NSDI 2018): the rate aimed at is the inverse of the queueing delay.
//!
//! Windows in segments; standing is the smallest round-trip time of the last srtt/2, min that of the last 10 s:
//!
//! ```text
//! dq     = standing - min,   target = 1 / (delta dq) segments/s,   rate = cwnd / standing
//! cwnd  += v / (delta cwnd) per acknowledged segment while rate <= target, -= otherwise
//! v      = 1, doubled each round once the window has gone the same way for three rounds, 1 when it turns
//! pacing = 2 cwnd / standing
//! ```
//!
//! Slow start ends when the rate exceeds the target. When the queue was not nearly empty (dq < 0.1 (max - min), max that
//! of four rounds) for 5 srtt, others fill it: 1 / delta then grows by 1 a round and is halved by a loss, at least
//! 1 / `delta` (competitive mode).
//!
//! The paper's senders run over UDP, where each packet is acknowledged at once. So is each segment here: a held acknowledgement would
//! count as a queue.
//!
//! A loss changes nothing else but that slow start ends; a timer leaves one segment. Chosen: v never more than doubles
//! the window in a round, and is 1 at once where the next step goes the other way (as mvfst's Copa), or what it has become
//! for the way up would throw the window down; the smallest of 10 s is kept in quarters of them, so a sample counts for up to a quarter longer.

use super::{CongestionControl, Pacing};
use crate::declare::{parameters, states};
use crate::event::SSTHRESH_MIN_SEGMENTS;
use crate::least::{Least, Sliding};
use crate::registry::Model;
use crate::round::Round;
use crate::{Ack, Needs, Signal, Traits, Window};
use elephan_units::{Span, Time};

parameters! {
    /// Weight of delay against rate: 1.25 / delta segments stand in the queue in the mean.
    delta: f64 = 0.5, "Arun and Balakrishnan 2018" (min = 0);
    /// Rounds in one direction before the velocity doubles.
    velocity_rounds: u32 = 3, "Arun and Balakrishnan 2018" [min = 1];
    /// Time over which the smallest round-trip time is that of the path.
    min_rtt_window: Span = Span::from_s(10), "Arun and Balakrishnan 2018";
    /// Pacing rate over window per round-trip time.
    pacing_gain: f64 = 2.0, "Arun and Balakrishnan 2018" [min = 1];
    /// Whether the flow competes with flows that fill the queue.
    competitive: bool = true, "Arun and Balakrishnan 2018, competitive mode";
    /// Share of the range of round-trip times below which the queue is nearly empty.
    empty_share: f64 = 0.1, "Arun and Balakrishnan 2018, competitive mode" (min = 0, max = 1);
    /// Round-trip times without a nearly empty queue that begin competitive mode.
    empty_rtts: u32 = 5, "Arun and Balakrishnan 2018, competitive mode" [min = 1];
    /// Rounds whose largest round-trip time is that of the range.
    max_rtt_rounds: u32 = 4, "Arun and Balakrishnan 2018, competitive mode" [min = 1, max = 1000];
    /// What a loss leaves of 1 / delta in competitive mode, and a timer of the window as `ssthresh`.
    beta: f64 = 0.5, "Arun and Balakrishnan 2018, competitive mode; RFC 5681 equation 4" (min = 0, max = 1);
}

/// What an undone event restores.
#[derive(Clone, Copy, Debug)]
struct Steer {
    velocity: f64,
    /// 1 / delta in force.
    inverse: f64,
    /// The window grew in the last round.
    up: bool,
    /// Rounds in that direction.
    same: u32,
}

#[derive(Clone, Debug)]
pub struct Copa {
    p: Parameters,
    standing: Sliding,
    least: Least,
    /// Largest round-trip time of each of the last rounds, the newest first.
    largest: Vec<Span>,
    round: Round,
    /// The window when the round began.
    round_cwnd: f64,
    srtt: Span,
    /// When the queue was last nearly empty.
    empty_at: Time,
    steer: Steer,
    prior: Steer,
}

impl Model for Copa {
    type Parameters = Parameters;
    const NEEDS: Needs = Needs::ALL_ACKED.and(Needs::EACH_DELAY).and(Needs::ACKNOWLEDGED_EACH);

    fn new(p: &Parameters) -> Copa {
        let steer = Steer { velocity: 1.0, inverse: 1.0 / p.delta, up: true, same: 0 };
        Copa {
            p: p.clone(),
            standing: Sliding::default(),
            least: Least::NONE,
            largest: vec![Span::ZERO; p.max_rtt_rounds as usize],
            round: Round::default(),
            round_cwnd: 0.0,
            srtt: Span::ZERO,
            empty_at: Time::ZERO,
            steer,
            prior: steer,
        }
    }

    fn traits(_: &Parameters) -> Traits {
        Traits { own_start: true, minds_loss: false, minds_marks: false, ..Traits::default() }
    }
}

states! {
    Copa, cc, value;
    "rtt_standing" ["s"] "smallest round-trip time of half a round, 0 if unknown":
        cc.standing.seconds(), value > 0.0 => cc.standing.only(value);
    "rtt_min" ["s"] "smallest round-trip time of 10 s, 0 if unknown":
        cc.least.seconds(), value > 0.0 => cc.least.only(value);
    "velocity" ["1"] "factor of the steps of the window": cc.steer.velocity, value > 0.0 => cc.steer.velocity = value;
    "delta" ["1"] "weight of delay in force":
        1.0 / cc.steer.inverse, value > 0.0 => cc.steer.inverse = 1.0 / value;
}

impl CongestionControl for Copa {
    fn on_delivery(&mut self, w: &mut Window, ack: &Ack) {
        self.srtt = ack.srtt.or(ack.rtt).unwrap_or(self.srtt);
        if let Some(rtt) = ack.rtt {
            self.standing.add(ack.now, rtt, Span(self.srtt.ps() / 2));
            self.least.add(ack.now, rtt, self.p.min_rtt_window);
            self.largest[0] = self.largest[0].max(rtt);
        }
        self.look_at_queue(ack.now);
        if self.round.advance(ack) {
            self.begin_round(w, ack.now);
        }
        if w.in_slow_start() && w.cwnd >= SSTHRESH_MIN_SEGMENTS * w.mss && self.too_fast(w) {
            w.ssthresh = w.cwnd;
        }
    }

    fn on_ack(&mut self, w: &mut Window, ack: &Ack) {
        let acked = (ack.acked as f64).min(w.cwnd);
        self.turn_at_once(w);
        let step = (self.steer.velocity * self.steer.inverse * w.mss * acked / w.cwnd).min(acked);
        if self.too_fast(w) {
            w.cwnd -= step;
            // Or slow start would raise again what was lowered.
            w.leave_slow_start();
        } else if !ack.app_limited {
            w.cwnd += step;
        }
    }

    fn on_congestion(&mut self, w: &mut Window, signal: &Signal) {
        self.prior = self.steer;
        self.steer.inverse = (self.p.beta * self.steer.inverse).max(1.0 / self.p.delta);
        if matches!(signal, Signal::Rto { .. }) {
            w.cut(signal, self.p.beta * w.cwnd);
            (self.steer.velocity, self.steer.same) = (1.0, 0);
        } else {
            w.leave_slow_start();
        }
    }

    fn on_undo(&mut self, _w: &mut Window, _now: Time) {
        self.steer = self.prior;
    }
}

impl Pacing for Copa {
    fn pacing_rate(&self, w: &Window) -> Option<f64> {
        let rtt = self.standing.get()?.max(Span::from_ns(1));
        Some(self.p.pacing_gain * w.cwnd * 8.0 / rtt.seconds())
    }
}

impl Copa {
    /// Queueing delay in seconds, 0 before a round-trip time is measured.
    fn queueing(&self) -> f64 {
        let (standing, least) = (self.standing.get(), self.least.get());
        standing.zip(least).map_or(0.0, |(standing, least)| standing.ps().saturating_sub(least.ps()) as f64 * 1e-12)
    }

    /// cwnd / standing > 1 / (delta dq), with nothing divided by what may be zero.
    fn too_fast(&self, w: &Window) -> bool {
        let standing = self.standing.seconds();
        w.cwnd / w.mss * self.queueing() > standing * self.steer.inverse
    }

    /// A high velocity is meant for one direction only.
    fn turn_at_once(&mut self, w: &Window) {
        let up = !self.too_fast(w);
        if up != self.steer.up && self.steer.velocity > 1.0 {
            (self.steer.velocity, self.steer.same, self.steer.up) = (1.0, 0, up);
        }
    }

    fn look_at_queue(&mut self, now: Time) {
        let largest = self.largest.iter().copied().max().unwrap_or_default().seconds();
        let least = self.least.seconds();
        if self.queueing() <= self.p.empty_share * (largest - least) {
            self.empty_at = now;
        }
    }

    fn begin_round(&mut self, w: &Window, now: Time) {
        self.largest.rotate_right(1);
        self.largest[0] = Span::ZERO;
        let competes =
            self.p.competitive && now.since(self.empty_at) > self.srtt.saturating_mul(u64::from(self.p.empty_rtts));
        let steer = &mut self.steer;
        // More than a window a round means nothing.
        let most = w.cwnd / w.mss;
        steer.inverse = if competes { (steer.inverse + 1.0).min(most) } else { 0.0 }.max(1.0 / self.p.delta);
        let up = w.cwnd > self.round_cwnd;
        self.round_cwnd = w.cwnd;
        if w.in_slow_start() || up != steer.up {
            (steer.velocity, steer.same, steer.up) = (1.0, 0, up);
            return;
        }
        steer.same = steer.same.saturating_add(1);
        if steer.same >= self.p.velocity_rounds {
            steer.velocity = (2.0 * steer.velocity).min(most / steer.inverse).max(1.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::pipe::Pipe;
    use crate::testing::{MSS, loss, state};
    use crate::{Ack, Controller, Signal, Spec};
    use elephan_units::{Span, Time};

    const S: f64 = MSS as f64;

    /// In congestion avoidance at 100 segments and a smallest round-trip time of 100 ms.
    fn copa(standing_ms: f64) -> Controller {
        let mut c = Controller::new(&Spec::named("copa").unwrap(), MSS, 100 * MSS);
        c.poke("ssthresh", 2.0 * S);
        c.poke("rtt_min", 0.1);
        c.poke("rtt_standing", standing_ms / 1e3);
        c
    }

    fn ack(now_s: f64, acked: u64) -> Ack {
        let now = Time::from_seconds(now_s);
        Ack { now, acked: acked * MSS, inflight: 100 * MSS, ..Ack::default() }
    }

    fn near(value: f64, expected: f64) {
        assert!((value / expected - 1.0).abs() < 1e-9, "{value} is not {expected}");
    }

    /// delta 1/2, 100 segments: 1 ms queued allows 2000 segments/s, 990 are sent; 2 ms 1000, 980; 3 ms 667, 971.
    #[test]
    fn the_window_steps_towards_the_inverse_of_the_queueing_delay() {
        for (standing_ms, after) in [(100.0, 100.02), (101.0, 100.02), (102.0, 100.02), (103.0, 99.98), (110.0, 99.98)]
        {
            let mut c = copa(standing_ms);
            c.on_ack(&ack(0.0, 1));
            near(c.window() / S, after);
            c.poke("cwnd", 100.0 * S);
            c.poke("velocity", 4.0);
            c.on_ack(&ack(0.0, 1));
            // What the way up has made of the velocity is not for the way down.
            let velocity = if after > 100.0 { 4.0 } else { 1.0 };
            near(c.window() / S, 100.0 + velocity * (after - 100.0));
        }
        let mut c = copa(100.0);
        c.on_ack(&Ack { app_limited: true, ..ack(0.0, 1) });
        near(c.window() / S, 100.0);
    }

    /// 2 * 100 segments of 8000 bits in 110 ms.
    #[test]
    fn it_paces_at_twice_the_window_per_round_trip_time() {
        near(copa(110.0).pacing_rate().unwrap(), 1.6e6 / 0.11);
        assert_eq!(Controller::new(&Spec::named("copa").unwrap(), MSS, MSS).pacing_rate(), None);
    }

    /// Three rounds upwards, then 2, 4, 8; a turn makes it 1.
    #[test]
    fn the_velocity_doubles_after_three_rounds_in_one_direction() {
        let mut c = copa(100.0);
        let mut velocities = Vec::new();
        for n in 0..5 {
            c.on_ack(&Ack { inflight: 0, ..ack(0.1 * f64::from(n), 1) });
            velocities.push(state(&c, "velocity"));
        }
        assert_eq!(velocities, [1.0, 1.0, 2.0, 4.0, 8.0]);
        c.poke("rtt_standing", 0.15);
        c.on_ack(&Ack { inflight: 0, ..ack(0.6, 1) });
        c.on_ack(&Ack { inflight: 0, ..ack(0.7, 1) });
        assert_eq!(state(&c, "velocity"), 1.0);
    }

    /// On a pipe of 8 Mbit/s and 50 ms (50 segments) 1.25 / delta = 2.5 segments more are in flight in the mean, and the
    /// one that the link sends.
    #[test]
    fn it_fills_the_pipe_with_a_short_queue() {
        let mut pipe = Pipe::new("copa");
        pipe.run(5.0);
        let (_, flight) = pipe.run(20.0);
        assert!((51.0..56.0).contains(&flight), "{flight}");
        assert!(!pipe.c.in_slow_start() && state(&pipe.c, "rtt_min") < 0.0515);
    }

    /// The queue is full for five round-trip times: 1 / delta grows by 1 a round from 2; a loss halves it.
    #[test]
    fn a_standing_queue_brings_competitive_mode() {
        let mut c = copa(100.0);
        let full = |n: u32| Ack { inflight: 0, rtt: Some(Span::from_ms(200)), ..ack(0.2 * f64::from(n), 1) };
        c.on_ack(&Ack { inflight: 0, rtt: Some(Span::from_ms(100)), ..ack(0.0, 1) });
        let inverses: Vec<f64> = (1..=10)
            .map(|n| {
                c.on_ack(&full(n));
                1.0 / state(&c, "delta")
            })
            .collect();
        assert_eq!(inverses[..3], [2.0, 2.0, 2.0]);
        let last = inverses[9];
        assert!(last >= 4.0 && last == inverses[8] + 1.0, "{inverses:?}");
        let window = c.window();
        c.on_congestion(&loss(2.0, 100.0));
        near(1.0 / state(&c, "delta"), (last / 2.0).max(2.0));
        assert_eq!(c.window(), window);
        c.on_congestion(&Signal::Rto { now: Time::from_seconds(2.1), inflight: 100 * MSS });
        c.on_congestion(&Signal::Undo { now: Time::from_seconds(2.1) });
        near(1.0 / state(&c, "delta"), (last / 2.0).max(2.0));
        c.on_ack(&Ack { inflight: 0, rtt: Some(Span::from_ms(100)), ..ack(2.2, 1) });
        near(1.0 / state(&c, "delta"), 2.0);
    }

    #[test]
    fn a_timer_leaves_a_segment() {
        let mut c = copa(100.0);
        c.on_congestion(&Signal::Rto { now: Time::ZERO, inflight: 100 * MSS });
        assert_eq!((c.window(), c.ssthresh()), (S, 50.0 * S));
    }
}
