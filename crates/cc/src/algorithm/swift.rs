//! Swift (Kumar et al., SIGCOMM 2020): a window for data centres that keeps the delay at a target, below one segment too.
//!
//! Windows in segments; delay is the round-trip time of an ACK:
//!
//! ```text
//! target = base_target + hops per_hop + clamp(A / sqrt(cwnd) + B, 0, fs_range)
//!          A = fs_range / (1 / sqrt(fs_min) - 1 / sqrt(fs_max)),   B = -A / sqrt(fs_max)
//! delay < target:  cwnd += ai acked / cwnd;   cwnd < 1: cwnd += ai acked
//! else, once a round trip:  cwnd *= max(1 - beta (delay - target) / delay, 1 - max_mdf)
//! loss, timer:     cwnd *= 1 - max_mdf, once a round trip;   timers_max timers and no ACK between them: cwnd = min_segments
//! cwnd < 1:        one segment in flight, paced at cwnd / RTT;   cwnd >= 1: not paced
//! ```
//!
//! The controller's window is a segment at least: below it the congestion control keeps the fraction itself and asks for pacing.
//! The paper's base target is configured for a data centre and contains its propagation. Without `base_target` it is the round trip of
//! a full segment in the empty network, which the simulator knows, and 20 us; where nobody tells it, the smallest one seen. The paper
//! subtracts the time for which the receiver holds an acknowledgement; over TCP the receiver acknowledges each segment at once instead, so
//! that there is nothing to subtract and a window of one segment does not wait for the delayed ACK.
//!
//! With `endpoint_target` there are two windows, one for the delay of the fabric and one for that of the end hosts (`endpoint.rs`).
//! Without it the whole round-trip time counts as the fabric's.
//!
//! Chosen: slow start ends at the first delay above a target. Left out: counting hops by the packet's TTL (`hops` is set).

mod endpoint;

use super::{CongestionControl, EndpointDelays, Pacing, Rdma};
use crate::declare::{LIMIT, parameters, states};
use crate::registry::Model;
use crate::round::known_s;
use crate::{Ack, Needs, Nic, Signal, Traits, Transport, Window};
use elephan_units::{InvalidParameter, Span, Time};
use endpoint::{Rules, Seen, Windows};

/// What the target leaves above the round trip of the empty path where no base target is given (public simulators: a base target of
/// 20 us for a path of a few).
const MARGIN: Span = Span::from_us(20);

parameters! {
    /// Target of the delay on a path without hops for a large window; if not given, the round trip of the path when nothing queues, and 20 us.
    base_target: Option<Span> = None, "Kumar et al. 2020: configured for a data centre, its propagation included; 20 us: public simulators";
    /// Target for each hop of the path.
    per_hop: Span = Span::from_us(3), "assumption: public simulators, base_target / 6.55";
    /// Hops of the path.
    hops: u32 = 4, "assumption: a path through two tiers of switches" [min = 0, max = 255];
    /// Most that a small window adds to the target; 0 switches that off.
    fs_range: Span = Span::from_us(100), "assumption: public simulators, five times the base target";
    /// Window in segments up to which a small window adds all of it.
    fs_min: f64 = 0.1, "Kumar et al. 2020, fs_min_cwnd" (min = 0);
    /// Window in segments from which it adds nothing.
    fs_max: f64 = 100.0, "Kumar et al. 2020, fs_max_cwnd" (min = 0);
    /// The target counts from the smallest round-trip time that the flow has seen: a flow that comes late sees the queue of others in it.
    over_min: bool = false, "assumption: not in Kumar et al. 2020";
    /// Segments by which the window grows in a round trip.
    ai: f64 = 1.0, "assumption: public simulators" (min = 0);
    /// Weight of the excess of the delay in a cut.
    beta: f64 = 0.8, "assumption: public simulators" (min = 0);
    /// Most that one cut takes of the window, as a share.
    max_mdf: f64 = 0.5, "assumption: public simulators" (min = 0, max = 1);
    /// Retransmission timers without an ACK between them after which the window is the smallest.
    timers_max: u32 = 5, "Kumar et al. 2020, RETX_RESET_THRESHOLD; the number: public simulators" [min = 1];
    /// Smallest window in segments.
    min_segments: f64 = 0.001, "Kumar et al. 2020" above [min = 0, max = 1];
    /// Target of the delay in the end hosts, which then have a window of their own; if not given, the whole round-trip time is compared
    /// with the target of the fabric.
    endpoint_target: Option<Span> = None, "Kumar et al. 2020 section 3.3, endpoint-delay-target; the paper gives no number";
    /// Weight of the newest delay in the moving mean of the delay in the end hosts.
    endpoint_weight: f64 = 0.125, "Kumar et al. 2020 section 3.3: a moving mean; the weight: assumption" above [min = 0, max = 1];
}

#[derive(Clone, Debug)]
pub struct Swift {
    p: Parameters,
    /// The window over one segment while the controller's is one segment, else 1; and before the last event.
    fraction: f64,
    prior: f64,
    rtt: Span,
    rtt_min: Span,
    /// Round trip of the empty path, as the simulator tells it.
    path_rtt: Option<Span>,
    /// No cut before it.
    rests_until: Time,
    /// Timers since the last ACK.
    timers: u32,
    /// This ACK may open the window by a share of it.
    grows: bool,
    /// Both windows, if the end hosts have one.
    two: Option<Box<Windows>>,
}

impl Model for Swift {
    type Parameters = Parameters;
    const NEEDS: Needs = Needs::EACH_DELAY.and(Needs::ACKNOWLEDGED_EACH);

    fn new(p: &Parameters) -> Swift {
        let (rtt, rests_until) = (Span::MAX, Time::ZERO);
        Swift {
            p: p.clone(),
            fraction: 1.0,
            prior: 1.0,
            rtt,
            rtt_min: rtt,
            path_rtt: None,
            rests_until,
            timers: 0,
            grows: true,
            two: p.endpoint_target.map(|target| Box::new(Windows::new(target, p.endpoint_weight))),
        }
    }

    fn check(p: &Parameters) -> Result<(), InvalidParameter> {
        if let Some(target) = p.base_target {
            InvalidParameter::between("base_target", target.seconds(), 0.0, LIMIT)?;
        }
        if let Some(target) = p.endpoint_target {
            InvalidParameter::between("endpoint_target", target.seconds(), 0.0, LIMIT)?;
        }
        InvalidParameter::between("fs_max", p.fs_max, p.fs_min, LIMIT)
    }

    fn traits(p: &Parameters) -> Traits {
        let transports = &[Transport::Tcp, Transport::Roce];
        Traits { own_start: true, sets_its_window: p.endpoint_target.is_some(), transports, ..Traits::default() }
    }

    fn needs(p: &Parameters) -> Needs {
        let needs = Self::NEEDS.and_if(p.base_target.is_none(), Needs::NIC);
        needs.and_if(p.endpoint_target.is_some(), Needs::ENDPOINT_DELAY)
    }
}

states! {
    Swift, cc, value;
    "rtt" ["s"] "last round-trip time, 0 until it is measured":
        known_s(cc.rtt), value > 0.0 => cc.rtt = Span::from_seconds(value);
    "rtt_min" ["s"] "smallest round-trip time, 0 until it is measured":
        known_s(cc.rtt_min), value > 0.0 => cc.rtt_min = Span::from_seconds(value);
    "fraction" ["1"] "the window over one segment where it is smaller, else 1":
        cc.fraction, value > 0.0 && value <= 1.0 => cc.fraction = value;
    "endpoint_delay" ["s"] "moving mean of the delay in the end hosts, 0 without one":
        cc.two.as_ref().and_then(|two| two.mean_s).unwrap_or(0.0), value >= 0.0 =>
            if let Some(two) = &mut cc.two { two.mean_s = Some(value) };
    "fabric_window" ["1"] "window of the fabric in segments, 0 without two windows":
        cc.two.as_ref().map_or(0.0, |two| two.sizes[0]), value > 0.0 => if let Some(two) = &mut cc.two { two.sizes[0] = value };
    "endpoint_window" ["1"] "window of the end hosts in segments, 0 without two windows":
        cc.two.as_ref().map_or(0.0, |two| two.sizes[1]), value > 0.0 => if let Some(two) = &mut cc.two { two.sizes[1] = value };
}

impl CongestionControl for Swift {
    fn grows_by_ack(&self) -> bool {
        self.grows
    }

    /// Nothing grows at a delay above the target. An ACK without a delay is taken for one below it.
    fn on_delivery(&mut self, w: &mut Window, ack: &Ack) {
        self.timers = 0;
        let small = self.segments(w) < 1.0;
        self.grows = !small;
        if let Some(rtt) = ack.rtt {
            self.rtt = rtt.max(Span::from_ns(1));
            self.rtt_min = self.rtt_min.min(self.rtt);
            if self.two.is_some() {
                return self.follow_both(w, ack);
            }
            let (delay, target) = (self.rtt.seconds(), self.target(self.segments(w)));
            if delay >= target {
                self.grows = false;
                self.cut(w, ack.now, self.rules().left(delay, target));
                w.leave_slow_start();
                return;
            }
        }
        if small && !ack.app_limited {
            // Slow start would begin with a whole segment.
            self.set(w, (self.fraction + self.p.ai * ack.acked as f64 / w.mss).min(2.0));
        }
    }

    fn on_ack(&mut self, w: &mut Window, ack: &Ack) {
        if !ack.app_limited {
            w.cwnd += w.per_round(self.p.ai * w.mss, ack.acked).min(ack.acked as f64);
        }
    }

    fn on_congestion(&mut self, w: &mut Window, signal: &Signal) {
        self.prior = self.fraction;
        self.two.iter_mut().for_each(|two| two.keep());
        match signal {
            Signal::Rto { now, .. } => self.on_timeout_again(w, *now),
            _ => self.cut(w, signal.now(), 1.0 - self.p.max_mdf),
        }
        w.leave_slow_start();
    }

    /// Each counts, the first too.
    fn on_timeout_again(&mut self, w: &mut Window, now: Time) {
        self.timers += 1;
        match self.timers >= self.p.timers_max {
            true => {
                let least = self.p.min_segments;
                self.set(w, least);
                self.two.iter_mut().for_each(|two| two.both(least));
            }
            false => self.cut(w, now, 1.0 - self.p.max_mdf),
        }
    }

    fn on_undo(&mut self, _w: &mut Window, _now: Time) {
        self.fraction = self.prior;
        self.two.iter_mut().for_each(|two| two.undo());
    }

    fn on_shrink(&mut self, w: &Window) {
        let segments = self.segments(w);
        if let Some(two) = &mut self.two {
            two.sizes = two.sizes.map(|size| size.min(segments));
        }
    }
}

impl Pacing for Swift {
    /// bit/s of a window below a segment.
    fn pacing_rate(&self, w: &Window) -> Option<f64> {
        let paced = self.segments(w) < 1.0 && self.rtt != Span::MAX;
        paced.then(|| self.segments(w) * w.mss * 8.0 / self.rtt.seconds())
    }
}

impl EndpointDelays for Swift {
    fn on_endpoint_delay(&mut self, delay: Span) {
        if let Some(two) = &mut self.two {
            two.on_endpoint_delay(delay);
        }
    }
}

impl Rdma for Swift {
    fn on_nic(&mut self, _w: &mut Window, nic: &Nic) {
        self.path_rtt = Some(nic.base_rtt);
    }
}

impl Swift {
    fn segments(&self, w: &Window) -> f64 {
        let segments = w.cwnd / w.mss;
        if segments > 1.0 { segments } else { self.fraction }
    }

    fn set(&mut self, w: &mut Window, segments: f64) {
        let segments = segments.max(self.p.min_segments);
        (w.cwnd, self.fraction) = (segments.max(1.0) * w.mss, segments.min(1.0));
    }

    fn rules(&self) -> Rules {
        let p = &self.p;
        Rules { ai: p.ai, beta: p.beta, max_mdf: p.max_mdf, least: p.min_segments }
    }

    /// Both windows follow their delays. Until one is at its target, slow start grows them together.
    fn follow_both(&mut self, w: &mut Window, ack: &Ack) {
        let Some(mut two) = self.two.take() else { return };
        let (rules, segments) = (self.rules(), self.segments(w));
        two.join(segments, w.in_slow_start());
        let acked = if ack.app_limited { 0.0 } else { ack.acked as f64 / w.mss };
        let seen = Seen { now: ack.now, acked, rtt: self.rtt, fabric_target: self.target(two.sizes[0]) };
        let (delays, targets, full) = two.delays(&seen);
        if full || !w.in_slow_start() || segments < 1.0 {
            let least = two.follow(&rules, &seen, (delays, targets));
            self.grows = false;
            self.set(w, least);
        }
        self.two = Some(two);
        if full {
            w.leave_slow_start();
        }
    }

    /// Leaves `share` of the window, once a round trip.
    fn cut(&mut self, w: &mut Window, now: Time, share: f64) {
        if let Some(mut two) = self.two.take() {
            two.join(self.segments(w), w.in_slow_start());
            let least = two.cut_both(&self.rules(), (now, self.rtt), share);
            self.two = Some(two);
            return self.set(w, least);
        }
        if now >= self.rests_until {
            self.set(w, share * self.segments(w));
            self.rests_until = now.saturating_add(if self.rtt == Span::MAX { Span::ZERO } else { self.rtt });
        }
    }

    /// Seconds, for a window of so many segments.
    fn target(&self, segments: f64) -> f64 {
        let p = &self.p;
        let inverse_root = |segments: f64| 1.0 / segments.sqrt();
        let (range, end) = (p.fs_range.seconds(), inverse_root(p.fs_max));
        let a = range / (inverse_root(p.fs_min) - end);
        let flows = (a * (inverse_root(segments) - end)).clamp(0.0, range);
        let seen = known_s(self.rtt_min);
        let base = match p.base_target {
            Some(base) if p.over_min => seen + base.seconds(),
            Some(base) => base.seconds(),
            None if p.over_min => seen + MARGIN.seconds(),
            None => self.path_rtt.map_or(seen, Span::seconds) + MARGIN.seconds(),
        };
        base + f64::from(p.hops) * p.per_hop.seconds() + flows
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{MSS, ack, loss, state};
    use crate::{Ack, Controller, Nic, Signal, Spec};
    use elephan_units::{Span, Time};
    use serde_json::json;

    const S: f64 = MSS as f64;

    /// In congestion avoidance at `segments`. Target: 25 us + 5 * 1 us, and up to 90 us more for windows from 100 segments
    /// down to a tenth: A = 90 / (sqrt(10) - 0.1) us = 29.39 us.
    fn swift(segments: f64) -> Controller {
        let table = json!({
            "base_target": "25 us", "per_hop": "1 us", "hops": 5, "fs_range": "90 us", "over_min": false,
        });
        let mut c = Controller::new(&Spec::with("swift", table.as_object().unwrap()).unwrap(), MSS, 10 * MSS);
        c.poke("ssthresh", 2.0 * S);
        c.poke("cwnd", segments.max(1.0) * S);
        c.poke("fraction", segments.min(1.0));
        c.poke("rtt", 1e-6);
        c
    }

    fn near(value: f64, expected: f64) {
        assert!((value / expected - 1.0).abs() < 1e-6, "{value} is not {expected}");
    }

    /// At 100 segments and more the target is 30 us; at 16 it is 30 + A (1/4 - 1/10) = 34.4084 us; at a tenth and below 120.
    #[test]
    fn small_windows_have_a_larger_target() {
        for (segments, below_us, above_us) in [
            (400.0, 29.99, 30.01),
            (100.0, 29.99, 30.01),
            (16.0, 34.40, 34.42),
            (0.1, 119.9, 120.1),
            (0.01, 119.9, 120.1),
        ] {
            let grows = |delay_us: f64| {
                let mut c = swift(segments);
                c.on_ack(&ack(1.0, MSS, delay_us * 1e-6));
                c.window() * state(&c, "fraction") > segments.max(1.0) * S * segments.min(1.0)
            };
            assert!(grows(below_us) && !grows(above_us), "{segments}");
        }
    }

    /// A segment a round trip; below one segment, a segment for each acknowledged.
    #[test]
    fn below_the_target_it_grows_by_a_segment_a_round_trip() {
        let mut c = swift(100.0);
        c.on_ack(&ack(1.0, 100 * MSS, 2e-5));
        near(c.window() / S, 101.0);
        let mut c = swift(0.25);
        c.on_ack(&ack(1.0, MSS, 2e-5));
        near(c.window() / S, 1.25);
        assert_eq!((state(&c, "fraction"), c.pacing_rate()), (1.0, None));
    }

    /// Target 30 us: a delay of 40 us takes 0.8 * 10 / 40 = 0.2, one of 120 us the most, 0.5; once in a round trip.
    #[test]
    fn above_the_target_it_cuts_by_the_excess_once_a_round_trip() {
        let mut c = swift(200.0);
        c.on_ack(&ack(1.0, MSS, 4e-5));
        near(c.window() / S, 160.0);
        c.on_ack(&ack(1.000_039, MSS, 4e-5));
        near(c.window() / S, 160.0);
        c.on_ack(&ack(1.000_041, MSS, 12e-5));
        near(c.window() / S, 80.0);
    }

    /// A long delay leaves half of half a segment: a quarter of 1000 bytes in 200 us is 10 Mbit/s.
    #[test]
    fn below_a_segment_it_paces() {
        let mut c = swift(0.5);
        c.on_ack(&ack(1.0, MSS, 4e-4));
        c.poke("rtt", 2e-4);
        near(state(&c, "fraction"), 0.25);
        assert_eq!(c.window(), S);
        near(c.pacing_rate().unwrap(), 1e7);
    }

    #[test]
    fn losses_and_timers_take_the_most_once_a_round_trip() {
        let mut c = swift(100.0);
        c.on_congestion(&loss(1.0, 100.0));
        near(c.window() / S, 50.0);
        c.on_congestion(&Signal::Rto { now: Time::from_seconds(2.0), inflight: 100 * MSS });
        near(c.window() / S, 25.0);
        c.on_congestion(&Signal::Undo { now: Time::from_seconds(2.0) });
        near(c.window() / S, 50.0);
    }

    /// Algorithm 1 of the paper: each timer is a cut, the fifth leaves the smallest window, a thousandth of a segment; an ACK between
    /// begins the count anew, and what is undone gives back the window of before the first.
    #[test]
    fn five_timers_in_a_row_leave_the_smallest_window() {
        let timer = |c: &mut Controller, n: u32| {
            c.on_congestion(&Signal::Rto { now: Time::from_seconds(f64::from(n)), inflight: 16 * MSS });
            c.window() / S * state(c, "fraction")
        };
        let mut c = swift(16.0);
        let windows: Vec<f64> = (1..=5).map(|n| timer(&mut c, n)).collect();
        assert_eq!(windows, [8.0, 4.0, 2.0, 1.0, 0.001]);
        c.on_congestion(&Signal::Undo { now: Time::from_seconds(6.0) });
        assert_eq!((c.window(), state(&c, "fraction")), (16.0 * S, 1.0));

        let mut c = swift(16.0);
        (1..=4).for_each(|n| _ = timer(&mut c, n));
        c.on_ack(&Ack { app_limited: true, ..ack(5.0, MSS, 2e-5) });
        assert_eq!(timer(&mut c, 6), 0.5);
    }

    /// Fabric 30 us, end hosts 100 us, both windows at 200 segments, and an ACK of one segment. End hosts of 200 us take
    /// 0.8 * 100 / 200 = 0.4 of their window; the fabric's 25 us add 1 / 200 to its own. A fabric of 40 us takes 0.2; end hosts at their target
    /// take nothing. Without the second window the whole round trip counts, and takes the most, half.
    #[test]
    fn end_hosts_have_a_window_of_their_own() {
        let windows = |two: bool, rtt_us: f64, endpoint_us: u64| {
            let mut table = json!({
                "base_target": "25 us", "per_hop": "1 us", "hops": 5, "fs_range": "90 us", "endpoint_weight": 1.0,
            });
            if two {
                table["endpoint_target"] = json!("100 us");
            }
            let mut c = Controller::new(&Spec::with("swift", table.as_object().unwrap()).unwrap(), MSS, 10 * MSS);
            c.poke("ssthresh", 2.0 * S);
            c.poke("cwnd", 200.0 * S);
            c.poke("fabric_window", 200.0);
            c.poke("endpoint_window", 200.0);
            c.on_endpoint_delay(Span::from_us(endpoint_us));
            c.on_ack(&ack(1.0, MSS, rtt_us * 1e-6));
            [c.window() / S, state(&c, "fabric_window"), state(&c, "endpoint_window")]
        };
        let close = |found: [f64; 3], expected: [f64; 3]| {
            assert!(found.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-6), "{found:?} {expected:?}");
        };
        close(windows(true, 225.0, 200), [120.0, 200.005, 120.0]);
        close(windows(true, 140.0, 100), [160.0, 160.0, 200.0]);
        close(windows(true, 45.0, 20), [200.005; 3]);
        close(windows(false, 225.0, 200), [100.0, 0.0, 0.0]);
    }

    /// A moving mean of weight 1/8: 100 us, then 112.5 us. A loss takes half of both windows, and the larger one is at most twice the other.
    #[test]
    fn the_delay_of_the_end_hosts_is_a_moving_mean() {
        let table = json!({ "base_target": "25 us", "endpoint_target": "1 ms" });
        let mut c = Controller::new(&Spec::with("swift", table.as_object().unwrap()).unwrap(), MSS, 200 * MSS);
        c.on_endpoint_delay(Span::from_us(100));
        c.on_endpoint_delay(Span::from_us(200));
        near(state(&c, "endpoint_delay"), 112.5e-6);
        c.poke("ssthresh", 2.0 * S);
        c.poke("fabric_window", 200.0);
        c.poke("endpoint_window", 900.0);
        c.on_congestion(&loss(1.0, 200.0));
        assert_eq!([c.window() / S, state(&c, "fabric_window"), state(&c, "endpoint_window")], [100.0, 100.0, 200.0]);
    }

    /// Without a base target: the 8 us of the path, 20 us and four hops of 3 us. What the flow has seen itself (15 us with the queue
    /// of others) counts only where nobody tells the path.
    #[test]
    fn without_a_base_target_it_is_the_paths() {
        let grows = |nic: bool, delay_us: f64| {
            let mut c = Controller::new(&Spec::named("swift").unwrap(), MSS, 200 * MSS);
            c.poke("ssthresh", 2.0 * S);
            c.poke("rtt_min", 15e-6);
            if nic {
                c.on_nic(&Nic { rate_bps: 10e9, base_rtt: Span::from_us(8) });
            }
            c.on_ack(&ack(1.0, MSS, delay_us * 1e-6));
            c.window() > 200.0 * S
        };
        assert!(grows(true, 39.9) && !grows(true, 40.1));
        assert!(grows(false, 46.9) && !grows(false, 47.1));
    }

    /// From the smallest round-trip time: 10 ms and 30 us, plus what a window of 100 segments adds, nothing.
    #[test]
    fn the_target_may_count_from_the_smallest_round_trip_time() {
        let mut table = json!({ "base_target": "25 us", "per_hop": "1 us", "hops": 5, "fs_range": "90 us" });
        table["over_min"] = json!(true);
        let mut c = Controller::new(&Spec::with("swift", table.as_object().unwrap()).unwrap(), MSS, 200 * MSS);
        c.poke("ssthresh", 2.0 * S);
        c.poke("rtt_min", 0.01);
        c.on_ack(&ack(1.0, MSS, 0.01 + 29e-6));
        assert!(c.window() > 200.0 * S);
        c.on_ack(&ack(1.0, MSS, 0.01 + 31e-6));
        assert!(c.window() < 200.0 * S);
    }
}
