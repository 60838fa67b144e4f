//! LEDBAT (RFC 6817): a background flow that adds at most a target to the delay and gives way to others.
//!
//! Section 2.4.2, per ACK, with q the queueing delay:
//!
//! ```text
//! q    = min(last 4 delays) - min(delays of the last 10 minutes, one minimum a minute)
//! cwnd += GAIN (TARGET - q) / TARGET * acked * MSS / cwnd,   at most flightsize + 1 MSS,   at least 2 MSS
//! loss: cwnd = cwnd / 2, at least 2 MSS;   timer: cwnd = 1 MSS
//! ```
//!
//! so that the window grows by at most a segment a round trip, as Reno's, and stands still where q = TARGET.
//!
//! The delay is that of the way there, by timestamps; the round-trip time, in which queues on the way back count too, where there are
//! none or with `delay = "round-trip"`.
//! Slow start ends where q reaches `slow_start_until` of the target; by default, as in the RFC, there is none.
//! Left out: randomised backoff of the estimate and everything that section 4 leaves to implementations.

use super::{CongestionControl, OneWayDelays};
use crate::declare::{LIMIT, parameters, states};
use crate::delay::{Delay, OneWay};
use crate::event::SSTHRESH_MIN_SEGMENTS;
use crate::registry::Model;
use crate::round::known_s;
use crate::{Ack, Needs, Signal, Window};
use elephan_units::{InvalidParameter, PS_PER_S, Span};

/// The time that one entry of the base history stands for (RFC 6817 section 2.4.2).
const MINUTE_PS: u64 = 60 * PS_PER_S;

parameters! {
    /// Queueing delay that the flow aims at.
    target: Span = Span::from_ms(100), "RFC 6817 section 2.5, TARGET, at most 100 ms";
    /// Growth in segments per round trip where nothing queues.
    gain: f64 = 1.0, "RFC 6817 section 2.5, GAIN, at most 1" above [min = 0, max = 1];
    /// Segments by which the window may exceed what is in flight.
    allowed_increase: f64 = 1.0, "RFC 6817 section 2.5, ALLOWED_INCREASE" (min = 0);
    /// Smallest window in segments, but for a timer.
    min_segments: f64 = 2.0, "RFC 6817 section 2.5, MIN_CWND" [min = 1];
    /// The share of the window that a loss leaves.
    beta: f64 = 0.5, "RFC 6817 section 2.4.2" (min = 0, max = 1);
    /// Minutes over which the smallest delay is that of the path.
    base_history: u32 = 10, "RFC 6817 section 2.5, BASE_HISTORY" [min = 1, max = 1000];
    /// Delays whose smallest is that of now.
    current_filter: u32 = 4, "RFC 6817 section 2.5, CURRENT_FILTER" [min = 1, max = 1000];
    /// Which delay queues are seen by.
    delay: Delay = Delay::OneWay, "RFC 6817 section 2.1";
    /// Share of the target at which slow start ends; 0 for none, 0.75 for that of LEDBAT++.
    slow_start_until: f64 = 0.0, "RFC 6817 section 2.4.2 (none); draft-irtf-iccrg-ledbat-plus-plus (0.75)" [min = 0];
}

#[derive(Clone, Debug)]
pub struct Ledbat {
    p: Parameters,
    /// Smallest delay of each of the last minutes in which there was one, the newest at `minute_at`.
    minutes: Vec<Span>,
    minute_at: usize,
    minute: u64,
    /// The last delays, the newest before `recent_at`.
    recent: Vec<Span>,
    recent_at: usize,
    base: Span,
    current: Span,
    one_way: OneWay,
}

impl Model for Ledbat {
    type Parameters = Parameters;
    const NEEDS: Needs = Needs::ALL_ACKED;

    fn new(p: &Parameters) -> Ledbat {
        Ledbat {
            minutes: vec![Span::MAX; p.base_history as usize],
            minute_at: 0,
            minute: 0,
            recent: vec![Span::MAX; p.current_filter as usize],
            recent_at: 0,
            base: Span::MAX,
            current: Span::MAX,
            one_way: OneWay::default(),
            p: p.clone(),
        }
    }

    fn check(p: &Parameters) -> Result<(), InvalidParameter> {
        InvalidParameter::between("target", p.target.seconds(), 0.0, LIMIT)
    }

    fn needs(p: &Parameters) -> Needs {
        Self::NEEDS.and_if(p.delay == Delay::OneWay, Needs::ONE_WAY_DELAY)
    }
}

states! {
    Ledbat, cc, value;
    "base_delay" ["s"] "delay of the path without queues, 0 until it is measured":
        known_s(cc.base), value >= 0.0 => cc.set_base(Span::from_seconds(value));
    "current_delay" ["s"] "delay of now, 0 until it is measured":
        known_s(cc.current), value >= 0.0 => cc.set_current(Span::from_seconds(value));
}

impl CongestionControl for Ledbat {
    fn on_delivery(&mut self, w: &mut Window, ack: &Ack) {
        if let Some(delay) = self.one_way.take(ack) {
            self.measure(delay, ack.now.ps() / MINUTE_PS);
        }
        let floor = self.p.min_segments.max(SSTHRESH_MIN_SEGMENTS) * w.mss;
        if w.in_slow_start() && w.cwnd >= floor && self.queueing() >= self.p.slow_start_until {
            w.ssthresh = w.cwnd;
        }
    }

    fn on_ack(&mut self, w: &mut Window, ack: &Ack) {
        let acked = ack.acked as f64;
        let growth = self.p.gain * (1.0 - self.queueing()) * w.mss * acked.min(w.cwnd) / w.cwnd;
        let growth = if ack.app_limited { growth.min(0.0) } else { growth };
        let most = ack.inflight as f64 + self.p.allowed_increase * w.mss;
        let floor = (self.p.min_segments * w.mss).min(if ack.app_limited { w.cwnd } else { w.cwnd + acked });
        w.cwnd = (w.cwnd + growth).min(most).max(floor);
        // Or slow start would raise again what was lowered.
        w.leave_slow_start();
    }

    /// The delays are measurements: no event changes them, so none has to be undone.
    fn on_congestion(&mut self, w: &mut Window, signal: &Signal) {
        let least = self.p.min_segments * w.mss;
        let reduced = w.cwnd.min((self.p.beta * w.cwnd).max(least));
        w.ssthresh = reduced.max(SSTHRESH_MIN_SEGMENTS * w.mss);
        w.cwnd = if matches!(signal, Signal::Rto { .. }) { w.mss } else { reduced };
    }
}

impl OneWayDelays for Ledbat {
    fn on_one_way_delay(&mut self, delay: Span) {
        self.one_way.tell(delay);
    }
}

impl Ledbat {
    fn measure(&mut self, delay: Span, minute: u64) {
        if minute != self.minute {
            self.minute = minute;
            self.minute_at = (self.minute_at + 1) % self.minutes.len();
            self.minutes[self.minute_at] = Span::MAX;
        }
        let newest = &mut self.minutes[self.minute_at];
        *newest = (*newest).min(delay);
        self.recent[self.recent_at] = delay;
        self.recent_at = (self.recent_at + 1) % self.recent.len();
        let least = |delays: &[Span]| delays.iter().copied().min().unwrap_or(Span::MAX);
        (self.base, self.current) = (least(&self.minutes), least(&self.recent));
    }

    fn set_base(&mut self, delay: Span) {
        self.minutes.fill(Span::MAX);
        (self.minutes[self.minute_at], self.base) = (delay, delay);
    }

    fn set_current(&mut self, delay: Span) {
        self.recent.fill(delay);
        self.current = delay;
    }

    /// Queueing delay in targets; none is assumed before a delay is measured.
    fn queueing(&self) -> f64 {
        let current = if self.current == Span::MAX { self.base } else { self.current };
        current.ps().saturating_sub(self.base.ps()) as f64 / self.p.target.ps() as f64
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{MSS, loss, state};
    use crate::{Ack, Controller, Signal, Spec};
    use elephan_units::{Span, Time};
    use serde_json::json;

    const S: f64 = MSS as f64;

    fn ledbat(table: serde_json::Value, segments: u64) -> Controller {
        let spec = Spec::with("ledbat", table.as_object().unwrap()).unwrap();
        Controller::new(&spec, MSS, segments * MSS)
    }

    /// The ACK of `segments`, all that is in flight.
    fn ack(now_s: f64, segments: u64, rtt_ms: u64) -> Ack {
        let now = Time::from_seconds(now_s);
        let acked = segments * MSS;
        Ack { now, acked, rtt: Some(Span::from_ms(rtt_ms)), inflight: acked, ..Ack::default() }
    }

    fn near(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-9, "{value} is not {expected}");
    }

    /// Base delay 50 ms, target 100 ms, a window of 20 segments: + 1 at no queue, + 0.5 at half the target, nothing at
    /// the target, - 1 at twice the target.
    #[test]
    fn the_window_moves_by_the_distance_from_the_target() {
        for (rtt_ms, segments) in [(50, 21.0), (100, 20.5), (150, 20.0), (200, 19.5), (250, 19.0)] {
            let mut c = ledbat(json!({}), 20);
            c.poke("base_delay", 0.05);
            c.poke("current_delay", rtt_ms as f64 / 1e3);
            c.on_ack(&ack(0.0, 20, rtt_ms));
            near(c.window() / S, segments);
        }
        let mut c = ledbat(json!({ "gain": 0.5, "target": "25ms" }), 20);
        c.on_ack(&ack(0.0, 20, 50));
        near(c.window() / S, 20.5);
    }

    /// The current delay is the smallest of four: one late ACK means nothing, four do.
    #[test]
    fn a_single_late_ack_is_filtered() {
        let mut c = ledbat(json!({}), 20);
        c.on_ack(&ack(0.0, 0, 50));
        for (n, current) in [(1, 0.05), (2, 0.05), (3, 0.05), (4, 0.15)] {
            c.on_ack(&ack(0.1 * f64::from(n), 0, 150));
            near(state(&c, "current_delay"), current);
        }
        near(state(&c, "base_delay"), 0.05);
    }

    /// A path that became longer is believed after ten minutes, one that became shorter at once.
    #[test]
    fn the_base_delay_is_the_smallest_of_ten_minutes() {
        let mut c = ledbat(json!({}), 20);
        c.on_ack(&ack(0.0, 0, 50));
        for minute in 1..10 {
            c.on_ack(&ack(60.0 * f64::from(minute), 0, 80));
            near(state(&c, "base_delay"), 0.05);
        }
        c.on_ack(&ack(600.0, 0, 80));
        near(state(&c, "base_delay"), 0.08);
        c.on_ack(&ack(601.0, 0, 40));
        near(state(&c, "base_delay"), 0.04);
    }

    /// At most flightsize and one segment; at least two segments.
    #[test]
    fn the_window_stays_near_the_flight_and_above_two_segments() {
        let mut c = ledbat(json!({}), 20);
        c.on_ack(&ack(0.0, 10, 50));
        near(c.window() / S, 11.0);
        c.poke("current_delay", 100.0);
        c.on_ack(&Ack { rtt: None, ..ack(0.1, 11, 50) });
        near(c.window() / S, 2.0);
        let mut c = ledbat(json!({}), 20);
        c.on_ack(&Ack { app_limited: true, ..ack(0.0, 20, 50) });
        near(c.window() / S, 20.0);
    }

    /// Half the window, at least two segments; a timer leaves one, and the next segment that arrives makes it two.
    #[test]
    fn losses_halve_the_window() {
        for (before, after) in [(20, 10.0), (3, 2.0), (2, 2.0)] {
            let mut c = ledbat(json!({}), before);
            c.on_congestion(&loss(0.0, 1.0));
            assert_eq!(c.window(), after * S);
        }
        let mut c = ledbat(json!({}), 20);
        c.on_ack(&ack(0.0, 0, 50));
        c.on_congestion(&Signal::Rto { now: Time::ZERO, inflight: 20 * MSS });
        assert_eq!(c.window(), S);
        for segments in [2.0, 3.0, 4.0] {
            let window = (c.window() / S) as u64;
            c.on_ack(&ack(1.0, window, 50));
            near(c.window() / S, segments);
        }
    }

    /// No slow start by default; with 0.75 it doubles until 75 ms of 100 ms are queued.
    #[test]
    fn slow_start_is_an_option() {
        let mut c = ledbat(json!({}), 10);
        c.on_ack(&ack(0.0, 10, 50));
        near(c.window() / S, 11.0);
        let mut c = ledbat(json!({ "slow_start_until": 0.75, "current_filter": 1 }), 10);
        c.on_ack(&ack(0.0, 10, 50));
        c.on_ack(&ack(0.1, 20, 124));
        near(c.window() / S, 40.0);
        c.on_ack(&ack(0.2, 40, 125));
        near(c.window() / S, 40.25);
        // Above the target it falls, and slow start does not raise it again when the queue is gone.
        c.on_ack(&ack(0.3, 41, 250));
        near(c.window() / S, 39.25);
        c.on_ack(&ack(0.4, 39, 50));
        assert!(c.window() < 40.3 * S && !c.in_slow_start());
    }

    /// A round trip of 300 ms, 200 of them on the way back: by the way there nothing queues, and the window of 10 grows by a segment a
    /// round trip. Clocks apart by an hour show the same.
    #[test]
    fn queues_on_the_way_back_do_not_count() {
        for (delay, apart_s, window) in [("one-way", 0, 11.0), ("one-way", 3600, 11.0), ("round-trip", 0, 9.0)] {
            let mut c = ledbat(json!({ "delay": delay, "current_filter": 1 }), 10);
            c.poke("ssthresh", 2.0 * S);
            for (rtt_ms, segments) in [(100, 0), (300, 10)] {
                c.on_one_way_delay(Span::from_s(apart_s) + Span::from_ms(50));
                c.on_ack(&Ack { acked: segments * MSS, ..ack(1.0, 10, rtt_ms) });
            }
            near(c.window() / S, window);
        }
    }
}
