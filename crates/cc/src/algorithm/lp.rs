//! TCP-LP (Kuzmanovic and Knightly 2003; Linux `tcp_lp.c`): a background flow that leaves at the first sign of a queue.
//!
//! Delays are smoothed; d_min and d_max are the smallest and largest seen:
//!
//! ```text
//! d      = 7/8 d + 1/8 sample
//! early  = d > d_min + delta (d_max - d_min)                                                         delta = 0.15
//! growth: as Reno, but none while inferring
//! early:  cwnd = max(cwnd / 2, 1), and infer for 3 round trips; when it comes while inferring: cwnd = 1, infer anew
//! loss:   ssthresh = max(cwnd / 2, 2), cwnd = ssthresh                                           timer: cwnd = 1
//! ```
//!
//! ssthresh comes down with the window of an early sign, so that it grows back additively, as the paper has it. Preset `linux` leaves
//! ssthresh alone: below that of the last loss the window comes back by slow start. It also forgets the extremes at an early sign,
//! d_min = d, d_max = 2 d, and counts in whole milliseconds (`resolution`), each term rounded down: a spread of less than 7 ms
//! makes only a whole millisecond an early sign.
//!
//! The delay is that of the way there, by timestamps; where there are none, or with `delay = "round-trip"`, it is the round-trip time:
//! queues on the way back count too then, and the flow gives way more often. The round that follows a cut still measures the queue of before it; as in Linux nothing
//! is done about that, so an early sign is usually followed by a window of one. Left out: Linux's d_max, which skips a
//! single outlier, and its guess of the peer's clock.

use super::{CongestionControl, OneWayDelays};
use crate::declare::{parameters, states};
use crate::delay::{Delay, OneWay};
use crate::registry::Model;
use crate::{Ack, Needs, Signal, Traits, Window};
use elephan_units::{Span, Time};

parameters! {
    /// The share of the window that an event or an early sign leaves.
    beta: f64 = 0.5, "Kuzmanovic and Knightly 2003; RFC 5681 equation 4" (min = 0, max = 1);
    /// Share of the range of delays above which congestion is near.
    delta: f64 = 0.15, "Kuzmanovic and Knightly 2003; Linux tcp_lp.c: 15 / 100" (min = 0, max = 1);
    /// Weight of a sample in the smoothed delay.
    gain: f64 = 0.125, "Kuzmanovic and Knightly 2003; Linux tcp_lp.c: 1/8" above [min = 0, max = 1];
    /// Round trips after an early sign in which the window does not grow.
    inference: f64 = 3.0, "Kuzmanovic and Knightly 2003; Linux tcp_lp.c: 3 round trips" [min = 0];
    /// Which delay queues are seen by.
    delay: Delay = Delay::OneWay, "Kuzmanovic and Knightly 2003; Linux tcp_lp.c: owd";
    /// An early sign forgets the extremes: from then on the smoothed delay and twice it.
    forgets: bool = false, "Linux tcp_lp.c; Kuzmanovic and Knightly 2003: no";
    /// What delays are counted in when they are compared; 0 s: exactly.
    resolution: Span = Span::ZERO, "Kuzmanovic and Knightly 2003: none; Linux tcp_lp.c: LP_RESOL, 1 ms";
    /// An early sign lowers ssthresh as well: the window grows back additively, not by slow start.
    lowers_ssthresh: bool = true, "Kuzmanovic and Knightly 2003: additive increase; Linux tcp_lp.c: no";
}

#[derive(Clone, Debug)]
pub struct Lp {
    p: Parameters,
    /// Smoothed, smallest and largest delay in seconds, 0 before the first.
    delay: f64,
    least: f64,
    most: f64,
    /// No growth before it.
    inferring_until: Time,
    inferring: bool,
    one_way: OneWay,
}

impl Model for Lp {
    type Parameters = Parameters;
    const PRESETS: &'static [&'static str] = &["paper", "linux"];
    const NEEDS: Needs = Needs::EACH_DELAY;

    fn new(p: &Parameters) -> Lp {
        let (inferring_until, one_way) = (Time::ZERO, OneWay::default());
        Lp { p: p.clone(), delay: 0.0, least: 0.0, most: 0.0, inferring_until, inferring: false, one_way }
    }

    fn preset(name: &str) -> Parameters {
        let linux = name == "linux";
        let resolution = Span::from_ms(u64::from(linux));
        Parameters { forgets: linux, lowers_ssthresh: !linux, resolution, ..Parameters::default() }
    }

    fn traits(_: &Parameters) -> Traits {
        Traits { counts_segments: true, ..Traits::default() }
    }

    fn needs(p: &Parameters) -> Needs {
        Self::NEEDS.and_if(p.delay == Delay::OneWay, Needs::ONE_WAY_DELAY)
    }
}

states! {
    Lp, cc, value;
    "delay" ["s"] "smoothed delay, 0 until it is measured": cc.delay, value >= 0.0 => cc.delay = value;
    "delay_min" ["s"] "smallest delay, 0 until it is measured": cc.least, value >= 0.0 => cc.least = value;
    "delay_max" ["s"] "largest delay, 0 until it is measured": cc.most, value >= 0.0 => cc.most = value;
}

impl CongestionControl for Lp {
    fn grows_by_ack(&self) -> bool {
        !self.inferring
    }

    fn on_delivery(&mut self, w: &mut Window, ack: &Ack) {
        self.inferring = ack.now < self.inferring_until;
        if let Some(delay) = self.one_way.take(ack)
            && self.shows_queue(delay.seconds())
        {
            self.give_way(w, ack.now, ack.rtt.unwrap_or(delay));
        }
    }

    #[inline]
    fn on_ack(&mut self, w: &mut Window, ack: &Ack) {
        w.grow(w.mss, ack);
    }

    /// The delays are measurements: no event changes them, so none has to be undone.
    fn on_congestion(&mut self, w: &mut Window, signal: &Signal) {
        w.cut(signal, self.p.beta * w.cwnd);
    }
}

impl OneWayDelays for Lp {
    fn on_one_way_delay(&mut self, delay: Span) {
        self.one_way.tell(delay);
    }
}

impl Lp {
    /// A delay has been measured; whether a queue shows in those so far.
    fn shows_queue(&mut self, sample: f64) -> bool {
        self.delay = if self.delay == 0.0 { sample } else { self.delay + self.p.gain * (sample - self.delay) };
        self.least = if self.least == 0.0 { sample } else { self.least.min(sample) };
        self.most = self.most.max(sample);
        let unit = self.p.resolution.seconds();
        // A ten-thousandth of a unit more: what is a whole number of them may be a little less in seconds.
        let whole = |seconds: f64| if unit > 0.0 { (seconds / unit + 1e-4).floor() } else { seconds };
        whole(self.delay) > whole(self.least) + whole(self.p.delta * (self.most - self.least))
    }

    fn give_way(&mut self, w: &mut Window, now: Time, rtt: Span) {
        if self.p.forgets {
            (self.least, self.most) = (self.delay, 2.0 * self.delay);
        }
        w.cwnd = if self.inferring { w.mss } else { (self.p.beta * w.cwnd).max(w.mss) };
        if self.p.lowers_ssthresh {
            w.leave_slow_start();
        }
        self.inferring_until = now.saturating_add(Span::from_seconds(self.p.inference * rtt.seconds()));
        self.inferring = true;
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{MSS, ack, loss, round, state};
    use crate::{Controller, Signal, Spec};
    use elephan_units::{Span, Time};
    use serde_json::json;

    const S: f64 = MSS as f64;

    /// In congestion avoidance at 100 segments; delays have been between 100 and 200 ms, and are 100 ms now.
    fn lp(table: serde_json::Value) -> Controller {
        let mut c = Controller::new(&Spec::with("lp", table.as_object().unwrap()).unwrap(), MSS, 100 * MSS);
        c.poke("ssthresh", 100.0 * S);
        for (name, value) in [("delay", 0.1), ("delay_min", 0.1), ("delay_max", 0.2)] {
            assert!(c.poke(name, value));
        }
        c
    }

    /// 7/8 * 100 + 1/8 * 180 = 110 ms, then 7/8 * 110 + 1/8 * 230 = 125 ms of at most 230: 100 + 0.15 * 130 = 119.5.
    #[test]
    fn delays_are_smoothed_by_an_eighth() {
        let mut c = lp(json!({}));
        c.on_ack(&ack(0.0, 0, 0.18));
        assert!((state(&c, "delay") - 0.11).abs() < 1e-12);
        assert_eq!(c.window(), 100.0 * S);
        c.on_ack(&ack(0.0, 0, 0.23));
        assert!((state(&c, "delay") - 0.125).abs() < 1e-12);
        assert_eq!((state(&c, "delay_max"), c.window()), (0.23, 50.0 * S));
    }

    /// Linux: 15 % of a spread of 6 ms are no whole millisecond, so that 100.9 ms are none above 100 and 101 are; of 7 ms it is one.
    #[test]
    fn linux_counts_whole_milliseconds() {
        for (most, sample, early) in
            [(0.106, 0.1009, false), (0.106, 0.101, true), (0.107, 0.1019, false), (0.107, 0.102, true)]
        {
            let mut c = lp(json!({ "preset": "linux", "gain": 1.0 }));
            c.poke("delay_max", most);
            c.on_ack(&ack(1.0, MSS, sample));
            assert_eq!(c.window() < 100.0 * S, early, "{most} {sample}");
            let mut c = lp(json!({ "gain": 1.0 }));
            c.poke("delay_max", most);
            c.on_ack(&ack(1.0, MSS, sample));
            assert_eq!(c.window() < 100.0 * S, sample > 0.1 + 0.15 * (most - 0.1));
        }
    }

    /// The threshold is 115 ms: below it a segment a round trip, above it half, and one segment when it comes again within
    /// three round trips; nothing grows in them.
    #[test]
    fn an_early_sign_halves_and_a_second_one_leaves_a_segment() {
        let mut c = lp(json!({ "gain": 1.0 }));
        round(&mut c, 0.0, 0.114);
        assert!((c.window() / S - 101.0).abs() < 0.01, "{}", c.window());
        let mut c = lp(json!({ "gain": 1.0 }));
        c.on_ack(&ack(1.0, MSS, 0.116));
        assert_eq!((c.window(), c.ssthresh()), (50.0 * S, 50.0 * S));
        // 3 * 116 ms = 348 ms of inference.
        for now_s in [1.1, 1.3, 1.347] {
            c.on_ack(&ack(now_s, MSS, 0.1));
            assert_eq!(c.window(), 50.0 * S);
        }
        c.on_ack(&ack(1.349, MSS, 0.1));
        assert_eq!(c.window(), 50.02 * S);
        c.on_ack(&ack(2.0, MSS, 0.2));
        c.on_ack(&ack(2.1, MSS, 0.2));
        assert_eq!((c.window(), c.ssthresh()), (S, 2.0 * S));
    }

    /// A queue on the way back, 100 ms more of round trip at the same one-way delay, is no sign; with `round-trip` it is. Inference
    /// lasts three round trips either way.
    #[test]
    fn queues_on_the_way_back_do_not_count() {
        for (delay, window) in [("one-way", 100.0), ("round-trip", 50.0)] {
            let mut c = lp(json!({ "gain": 1.0, "delay": delay }));
            c.on_one_way_delay(Span::from_ms(100));
            c.on_ack(&ack(1.0, 0, 0.2));
            assert_eq!(c.window(), window * S, "{delay}");
        }
        let mut c = lp(json!({ "gain": 1.0 }));
        for (now_s, delay_ms, segments) in [(1.0, 190, 50.0), (1.599, 100, 50.0), (1.601, 100, 50.02)] {
            c.on_one_way_delay(Span::from_ms(delay_ms));
            c.on_ack(&ack(now_s, MSS, 0.2));
            assert_eq!(c.window(), segments * S);
        }
    }

    /// Linux `tcp_lp.c`: owd_min = sowd, owd_max = 2 sowd.
    #[test]
    fn linux_forgets_the_extremes() {
        let mut c = lp(json!({ "preset": "linux", "gain": 1.0 }));
        c.on_ack(&ack(0.0, MSS, 0.15));
        assert_eq!((state(&c, "delay_min"), state(&c, "delay_max")), (0.15, 0.3));
    }

    /// Linux `tcp_lp_pkts_acked` sets snd_cwnd alone: after two signs and 3 * 200 ms of inference a segment becomes two in one round
    /// trip, then four; with ssthresh lowered to two it becomes two, then three.
    #[test]
    fn linux_comes_back_by_slow_start() {
        for (preset, ssthresh, third) in [("linux", 100.0, 4.0), ("paper", 2.0, 3.0)] {
            let mut c = lp(json!({ "preset": preset, "gain": 1.0 }));
            c.on_ack(&ack(1.0, 0, 0.2));
            c.on_ack(&ack(1.1, 0, 0.5));
            assert_eq!((c.window(), c.ssthresh()), (S, ssthresh * S), "{preset}");
            c.on_ack(&ack(3.0, MSS, 0.1));
            assert_eq!(c.window(), 2.0 * S);
            c.on_ack(&ack(3.1, MSS, 0.1));
            c.on_ack(&ack(3.1, MSS, 0.1));
            assert!((c.window() / S - third).abs() < 0.11, "{preset}: {}", c.window() / S);
        }
    }

    #[test]
    fn losses_are_those_of_reno() {
        let mut c = lp(json!({}));
        c.on_congestion(&loss(0.0, 100.0));
        assert_eq!((c.window(), c.ssthresh()), (50.0 * S, 50.0 * S));
        c.on_congestion(&Signal::Rto { now: Time::ZERO, inflight: 50 * MSS });
        assert_eq!((c.window(), c.ssthresh()), (S, 25.0 * S));
    }
}
