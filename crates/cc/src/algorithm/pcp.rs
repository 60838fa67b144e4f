//! PCP (Anderson, Collins, Krishnamurthy and Zahorjan, NSDI 2006): the rate is found by probing, not by filling the queue.
//!
//! ```text
//! base packets are paced at B; a probe is a short train of packets spaced at D beside them
//! delays of the train flat:    B += D,  D = 2 D, neither above the rate of the host's interface;    rising, lost or reordered: D = max(D / 2, D0 / 4)
//! first:                       D = D0 = 2 packets per round trip; with history a third of the last rate
//! next probe:                  at once until the first failure; then after T U[0.5, 1.5], T = rtt, doubled by failures to 32 rtt
//! once a round trip:           queue grows by s per second: B /= 1 + s;  stands at q: pace at B (1 - min(q / rtt, 0.5)) for one rtt
//!                              three times in vain (TCP fills it): a tenth of that
//! loss of a base packet:       B /= 2 once a round trip      timer: B = D = D0
//! ```
//!
//! The mechanisms are the paper's; the text of its section 3.2 and the numbers of others were not to be had, so most numbers
//! are assumed, and each is a parameter that says so. The window is a cap of 2 B rtt + 4 packets.
//!
//! Chosen: a train is shorter when no data is left; one packet says nothing and goes only while nothing else is sent. A probe
//! whose last packets are lost fails after `probe_timeout` round trips. Left out: padding, the variance of the history.

use super::{CongestionControl, Drawing, Pacing, Probing, Rdma, Timer};
use crate::declare::{LIMIT, parameters, states};
use crate::probing::{Prober, RATE_MAX, Remembered, Test};
use crate::registry::Model;
use crate::train::{Arrival, Memory, Start, Train};
use crate::{Ack, Needs, Nic, Signal, Traits, Window};
use elephan_units::{InvalidParameter, Span, Time};

parameters! {
    /// How the slope of a probe's delays is judged: `hard` or `prob` (by chance, with the probability that it is flat).
    test: Test = Test::Prob, "Anderson et al. 2006, table 2; both formulas assumed";
    /// Packets of a probe.
    probe_packets: u32 = 5, "assumed" [min = 2, max = 100];
    /// Relative slope (delay per time) that is still flat.
    slope_max: f64 = 0.05, "assumed" [min = 0, max = 1];
    /// The largest standard error of the slope that `hard` allows for.
    error_max: f64 = 0.25, "assumed" [min = 0];
    /// The smallest standard error of the slope that `prob` believes in.
    error_min: f64 = 0.01, "assumed" above [min = 0, max = 1];
    /// Rise of the delay that a probe of two packets may show.
    pair_rise: Span = Span::from_ms(1), "assumed";
    /// The smallest tested increase over the first.
    floor: f64 = 0.25, "assumed" above [min = 0, max = 1];
    /// The longest mean time between probes, in round trips.
    interval_max: f64 = 32.0, "assumed" [min = 1];
    /// Half the width of the interval in which the next probe begins, over its mean.
    jitter: f64 = 0.5, "Anderson et al. 2006, section 3.1, says random; width assumed" [min = 0, max = 1];
    /// Round trips after its end at which a probe without an answer has failed.
    probe_timeout: f64 = 3.0, "assumed" [min = 1];
    /// Whether a growing or standing queue lowers the rate.
    compensation: bool = true, "Anderson et al. 2006, table 2 and section 3.5";
    /// The smallest growth of the queueing delay, per time, that lowers the rate.
    growth_min: f64 = 0.01, "assumed" [min = 0, max = 1];
    /// Time over which the smallest delay is that without a queue.
    base_window: Span = Span::from_s(10), "assumed";
    /// The smallest queueing delay that is drained (two packet times at least).
    standing_min: Span = Span::from_ms(1), "assumed";
    /// The largest share of the rate that is left free to drain the queue.
    drain_max: f64 = 0.5, "assumed" (min = 0, max = 1);
    /// Round trips in vain after which the reaction to queues is divided.
    patience: u32 = 3, "Anderson et al. 2006, section 3.5, says several; number assumed" [min = 1];
    /// What the reaction to queues is divided by when it is in vain.
    tit_for_tat: f64 = 10.0, "Anderson et al. 2006, section 3.5" [min = 1];
    /// Whether the rate of the last connection to the same host is remembered.
    history: bool = true, "Anderson et al. 2006, section 3.4";
    /// Which rate of that connection is remembered: `last`, `largest`, or `mean` (over its packets).
    remembered: Remembered = Remembered::Last, "assumed: section 3.4 says the base rates previously used";
    /// The first rate that is probed with history, over the rate remembered.
    history_share: f64 = 1.0 / 3.0, "Anderson et al. 2006, section 3.4" above [min = 0, max = 1];
    /// Share of the rate that the loss of a base packet leaves.
    beta: f64 = 0.5, "assumed" (min = 0, max = 1);
    /// The longest time between two base packets; the round-trip time where none is known.
    rtt_max: Span = Span::from_s(1), "assumed";
    /// Rounds of data that the window holds, and packets beside them.
    window_rounds: f64 = 2.0, "assumed" [min = 1];
    /// Packets that the window holds beside them.
    window_packets: f64 = 4.0, "assumed" [min = 1];
}

#[derive(Clone, Debug)]
pub struct Pcp {
    prober: Prober,
}

impl Model for Pcp {
    type Parameters = Parameters;
    const NEEDS: Needs = Needs::TRAINS.and(Needs::ACKNOWLEDGED_EACH).and(Needs::NIC).and(Needs::PACES_PACKETS);

    fn new(p: &Parameters) -> Pcp {
        Pcp { prober: Prober::new(p) }
    }

    fn check(p: &Parameters) -> Result<(), InvalidParameter> {
        InvalidParameter::between("rtt_max", p.rtt_max.seconds(), 0.0, LIMIT)
    }

    fn traits(_: &Parameters) -> Traits {
        Traits { is_random: Some(true), own_start: true, ..Traits::default() }
    }
}

states! {
    Pcp, cc, value;
    "base" ["bit/s"] "rate at which base packets are paced, before compensation":
        cc.prober.steer.base_bps, (0.0..=RATE_MAX).contains(&value) => cc.prober.steer.base_bps = value;
    "delta" ["bit/s"] "increase that the next probe tests, or the one under way":
        cc.prober.steer.delta_bps, value > 0.0 && value <= RATE_MAX => cc.prober.steer.delta_bps = value;
    "interval" ["s"] "mean time from a result to the next probe":
        cc.prober.steer.interval_s, value > 0.0 => cc.prober.steer.interval_s = value;
    "drain" ["1"] "share of the rate left free to drain the queue":
        cc.prober.drain, (0.0..=1.0).contains(&value) => cc.prober.drain = value;
    "in_vain" ["1"] "round trips in which the reaction to queues had no effect":
        f64::from(cc.prober.backlog.in_vain), value >= 0.0 => cc.prober.backlog.in_vain = value as u32;
    "trains" ["1"] "probes sent": f64::from(cc.prober.trains), value >= 0.0 => cc.prober.trains = value as u32;
}

impl CongestionControl for Pcp {
    fn begin(&mut self, w: &mut Window, start: &Start) {
        self.prober.begin(w, start);
    }

    fn grows_by_ack(&self) -> bool {
        false
    }

    fn on_delivery(&mut self, w: &mut Window, ack: &Ack) {
        self.prober.on_delivery(w, ack);
    }

    fn on_congestion(&mut self, w: &mut Window, signal: &Signal) {
        self.prober.on_congestion(w, signal);
    }

    fn on_undo(&mut self, _w: &mut Window, _now: Time) {
        self.prober.on_undo();
    }
}

impl Pacing for Pcp {
    fn pacing_rate(&self, _w: &Window) -> Option<f64> {
        Some(self.prober.pacing_rate())
    }
}

impl Timer for Pcp {
    fn next_timer(&self) -> Option<Time> {
        self.prober.next_timer()
    }

    fn on_timer(&mut self, w: &mut Window, now: Time) {
        self.prober.on_timer(w, now);
    }
}

impl Drawing for Pcp {
    fn set_seed(&mut self, seed: u64) {
        self.prober.set_seed(seed);
    }
}

impl Rdma for Pcp {
    fn on_nic(&mut self, _w: &mut Window, nic: &Nic) {
        self.prober.on_nic(nic);
    }
}

impl Probing for Pcp {
    fn recall(&mut self, memory: &Memory) {
        self.prober.recall(memory);
    }

    fn remember(&self) -> Option<Memory> {
        self.prober.remember()
    }

    fn on_arrival(&mut self, w: &mut Window, now: Time, arrival: &Arrival) {
        self.prober.on_arrival(w, now, arrival);
    }

    fn next_train(&mut self, now: Time, segments: u64) -> Option<Train> {
        self.prober.next_train(now, segments)
    }

    fn on_train_cut(&mut self, w: &mut Window, now: Time, packets: u32) {
        self.prober.on_train_cut(w, now, packets);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{loss, state};
    use crate::train::{Arrival, Departure, Memory, Start, Train};
    use crate::{Controller, Nic, Signal, Spec};
    use elephan_units::{Span, Time};
    use serde_json::{Value, json};

    const MSS: u64 = 1210;
    const MBPS: f64 = 1e6;

    fn ms(ms: f64) -> Time {
        Time::from_seconds(ms * 1e-3)
    }

    fn pcp(parameters: Value) -> Controller {
        Controller::new(&Spec::with("pcp", parameters.as_object().unwrap()).unwrap(), MSS, 10 * MSS)
    }

    fn begin(c: &mut Controller, rtt_ms: u64) {
        c.begin(&Start {
            now: ms(25.0),
            rtt: Some(Span::from_ms(rtt_ms)),
            packet_bytes: 1250,
            takes_over: false,
            accurate_ecn: false,
        });
    }

    /// Packets of 1250 bytes, 25 ms.
    fn begun(parameters: Value) -> Controller {
        let mut c = pcp(parameters);
        begin(&mut c, 25);
        c
    }

    /// The next train, and its arrivals with delays that rise by `slope` of a gap each.
    fn probe(c: &mut Controller, now_ms: f64, slope: f64) -> Train {
        c.on_timer(ms(now_ms));
        let train = c.next_train(ms(now_ms), 100).unwrap();
        for n in 0..train.packets {
            let left = ms(now_ms) + train.gap.saturating_mul(u64::from(n));
            let departure = Departure { at: left, train: train.id, sent: n + 1, in_train: true, bases: 0 };
            let delay = Span::from_seconds(0.0125 + slope * train.gap.seconds() * f64::from(n));
            c.on_arrival(left + Span::from_ms(25), &Arrival { departure, at: left + delay });
        }
        train
    }

    fn base(c: &mut Controller, now_ms: f64, delay_ms: f64, bases: u32) {
        let departure = Departure { at: ms(now_ms - 25.0), bases, ..Departure::default() };
        c.on_arrival(ms(now_ms), &Arrival { departure, at: ms(now_ms - 25.0 + delay_ms) });
    }

    fn rate(c: &Controller) -> f64 {
        c.pacing_rate().unwrap() / MBPS
    }

    fn near(a: f64, b: f64) -> bool {
        (a / b - 1.0).abs() < 1e-9
    }

    /// 2 * 1250 bytes in 25 ms are 0.8 Mbit/s; 0.8 + 1.6 + 3.2 + 6.4 + 12.8 = 24.8. In half a round trip of 25 ms fit two packets
    /// at 0.8 Mbit/s (12.5 ms apart), three at 1.6, five at 3.2 and above. Until the first success one packet a second is sent.
    #[test]
    fn probes_double_and_add_up() {
        let mut c = begun(json!({}));
        assert_eq!((state(&c, "delta"), rate(&c), c.window()), (0.8 * MBPS, 0.01, 4.0 * MSS as f64));
        let mut sum = 0.0;
        for (n, packets) in [2, 3, 5, 5, 5].into_iter().enumerate() {
            let tested = 0.8 * f64::from(1 << n);
            let train = probe(&mut c, 100.0 * (n + 1) as f64, 0.0);
            sum += tested;
            assert_eq!((train.packets, train.id), (packets, n as u32 + 1));
            assert!(near(train.gap.seconds(), 1e4 / (tested * MBPS)) && near(rate(&c), sum), "{train:?}");
        }
        assert!(near(rate(&c), 24.8) && c.ssthresh() == f64::INFINITY);
        // 2 * 24.8 Mbit/s * 25 ms are 124 packets, and 4 more.
        assert!(near(c.window(), 128.0 * MSS as f64));
    }

    /// B_max is the rate of the host's interface: 0.8 + 1.6 + 3.2 + 6.4 = 12 is 10 there, and nothing above it is probed.
    #[test]
    fn no_rate_is_above_that_of_the_interface() {
        let mut c = pcp(json!({}));
        c.on_nic(&Nic { rate_bps: 10.0 * MBPS, base_rtt: Span::from_ms(25) });
        begin(&mut c, 25);
        for (n, (sum, next)) in [(0.8, 1.6), (2.4, 3.2), (5.6, 6.4), (10.0, 10.0), (10.0, 10.0)].into_iter().enumerate()
        {
            probe(&mut c, 100.0 * (n + 1) as f64, 0.0);
            assert!(near(rate(&c), sum) && near(state(&c, "delta"), next * MBPS), "{n}");
        }
    }

    /// 25.6 fails: 12.8 is next, after 2 round trips +- half of them; then 6.4 after 4, and so on to 32, and to a quarter of 0.8.
    /// A success tests twice as much after one round trip.
    #[test]
    fn failures_halve_and_back_off() {
        let mut c = begun(json!({}));
        for n in 1..=5 {
            probe(&mut c, 100.0 * f64::from(n), 0.0);
        }
        let (mut now, mut waits) = (600.0, Vec::new());
        for n in 0..9 {
            probe(&mut c, now, 0.5);
            assert!(near(state(&c, "delta"), MBPS * (25.6 / f64::from(2 << n)).max(0.2)), "{n}");
            let trips = f64::from(2 << n).min(32.0);
            assert!(near(state(&c, "interval"), 0.025 * trips) && !c.in_slow_start());
            let ended = now + 25.0;
            assert_eq!(c.next_train(ms(ended), 100), None);
            now = c.next_timer().unwrap().seconds() * 1e3;
            waits.push((now - ended) / 25.0 / trips);
        }
        // The result came after the train, which is longer at low rates.
        assert!(waits.iter().all(|wait| *wait >= 0.5 && *wait <= 1.6), "{waits:?}");
        probe(&mut c, now, 0.0);
        assert!(near(state(&c, "delta"), 0.4 * MBPS) && near(state(&c, "interval"), 0.025) && near(rate(&c), 25.0));
    }

    /// Waits are uniform on half to one and a half of their mean, by the seed alone.
    #[test]
    fn probe_times_are_drawn_from_the_seed() {
        let wait = |seed: u64| {
            let mut c = begun(json!({ "probe_packets": 2 }));
            c.set_seed(seed);
            probe(&mut c, 50.0, 0.5);
            (c.next_timer().unwrap().seconds() - 0.0875) / 0.05
        };
        let waits: Vec<f64> = (0..200).map(wait).collect();
        assert_eq!(waits[7], wait(7));
        assert!(waits.iter().all(|w| (0.5..=1.5).contains(w)));
        let (mean, low) = (waits.iter().sum::<f64>() / 200.0, waits.iter().filter(|w| **w < 0.75).count());
        assert!((mean - 1.0).abs() < 0.1 && (25..75).contains(&low), "{mean} {low}");
    }

    /// A third of the rate of before: 30 / 3 = 10 Mbit/s. If it succeeds it is trusted twice as much, up to that third; if not, half.
    #[test]
    fn history() {
        let first = |trust: f64, slope: f64| {
            let mut c = pcp(json!({}));
            c.recall(&Memory { rate_bps: 30.0 * MBPS, trust });
            begin(&mut c, 25);
            let tested = state(&c, "delta") / MBPS;
            probe(&mut c, 50.0, slope);
            c.poke("base", 20.0 * MBPS);
            let memory = c.remember().unwrap();
            assert!(near(memory.rate_bps, 20.0 * MBPS));
            (tested, memory.trust)
        };
        for (trust, slope, tested, after) in
            [(1.0, 0.0, 10.0, 1.0), (1.0, 0.5, 10.0, 0.5), (0.5, 0.5, 5.0, 0.25), (0.25, 0.0, 2.5, 0.5)]
        {
            let (was, is) = first(trust, slope);
            assert!(near(was, tested) && near(is, after), "{trust} {slope}: {was} {is}");
        }
        // It never makes a start slower than none, and it may be switched off.
        for (parameters, rate_bps) in [(json!({}), MBPS), (json!({ "history": false }), 30.0 * MBPS)] {
            let mut c = pcp(parameters);
            c.recall(&Memory { rate_bps, trust: 1.0 });
            begin(&mut c, 25);
            assert_eq!(state(&c, "delta"), 0.8 * MBPS);
        }
        assert_eq!(begun(json!({})).remember(), None);
        let mut c = begun(json!({ "history": false }));
        probe(&mut c, 50.0, 0.0);
        assert_eq!(c.remember(), None);
        // A timer says that the rate was wrong.
        let mut c = begun(json!({}));
        probe(&mut c, 50.0, 0.0);
        c.on_congestion(&Signal::Rto { now: ms(300.0), inflight: MSS });
        assert_eq!(c.remember().unwrap().trust, 0.5);
    }

    /// Base packets whose delay grows by 0.1 s/s: 22 becomes 20 Mbit/s. A standing queue of 5 ms: 0.8 of that for a round trip.
    #[test]
    fn compensation() {
        let growing = |c: &mut Controller, from: f64| {
            (0..=25).for_each(|n| base(c, from + f64::from(n), 12.5 + 0.1 * f64::from(n), n as u32));
        };
        let mut c = begun(json!({}));
        base(&mut c, 70.0, 12.5, 0);
        c.poke("base", 22.0 * MBPS);
        growing(&mut c, 71.0);
        assert!(near(rate(&c), 20.0), "{}", rate(&c));
        let mut c = begun(json!({}));
        base(&mut c, 70.0, 12.5, 0);
        c.poke("base", 20.0 * MBPS);
        (71..=95).for_each(|n| base(&mut c, f64::from(n), 17.5, n));
        assert!(near(state(&c, "base"), 20.0 * MBPS) && (rate(&c) - 16.0).abs() < 1e-6, "{}", rate(&c));
        let until = c.next_timer().unwrap();
        c.on_timer(until);
        assert!(near(rate(&c), 20.0));
        let mut c = begun(json!({ "compensation": false }));
        base(&mut c, 70.0, 12.5, 0);
        c.poke("base", 22.0 * MBPS);
        growing(&mut c, 71.0);
        assert!(near(rate(&c), 22.0));
    }

    /// A base packet is lost: half, once a round trip. The loss of a train's packet costs the probe alone.
    #[test]
    fn losses() {
        let mut c = begun(json!({ "compensation": false }));
        c.poke("base", 20.0 * MBPS);
        c.on_timer(ms(90.0));
        c.on_congestion(&loss(0.1, 100.0));
        assert!(near(rate(&c), 10.0));
        c.on_congestion(&loss(0.12, 50.0));
        assert!(near(rate(&c), 10.0));
        c.on_congestion(&loss(0.13, 50.0));
        assert!(near(rate(&c), 5.0));
        c.on_congestion(&Signal::Undo { now: ms(131.0) });
        assert!(near(rate(&c), 10.0));
        // Base packets 1 and 2 have come, the second packet of the train has not.
        (1..=2).for_each(|n| base(&mut c, 200.0 + f64::from(n), 12.5, n));
        let train = c.next_train(ms(203.0), 100).unwrap();
        for sent in [1, 3] {
            let departure = Departure { at: ms(203.0), bases: 2, train: train.id, sent, in_train: true };
            c.on_arrival(ms(230.0), &Arrival { departure, at: ms(216.0) });
        }
        c.on_congestion(&loss(0.231, 50.0));
        assert!(near(rate(&c), 10.0) && near(state(&c, "delta"), 0.4 * MBPS));
        // Packet 4 has come, packet 3 has not.
        base(&mut c, 260.0, 12.5, 4);
        c.on_congestion(&loss(0.261, 50.0));
        assert!(near(rate(&c), 5.0));
        // A timer: two packets a round trip, as at the beginning.
        c.on_congestion(&Signal::Rto { now: ms(600.0), inflight: MSS });
        assert!(near(rate(&c), 0.8) && near(state(&c, "delta"), 0.8 * MBPS) && near(state(&c, "interval"), 0.025));
    }

    /// Trains are as long as there is data; one packet goes only while nothing else does, and says nothing.
    #[test]
    fn short_data() {
        let mut c = begun(json!({}));
        assert_eq!(c.next_train(ms(30.0), 0), None);
        let train = c.next_train(ms(30.0), 1).unwrap();
        assert_eq!(train.packets, 1);
        let departure = Departure { at: ms(30.0), train: 1, sent: 1, in_train: true, bases: 0 };
        c.on_arrival(ms(55.0), &Arrival { departure, at: ms(42.5) });
        assert_eq!((rate(&c), state(&c, "delta")), (0.01, 0.8 * MBPS));
        probe(&mut c, 60.0, 0.0);
        assert_eq!(c.next_train(ms(110.0), 1), None);
        assert_eq!(c.next_train(ms(110.0), 2).map(|train| train.packets), Some(2));
        // Of three packets one could be sent: no result, and the same again.
        let mut c = begun(json!({}));
        let train = c.next_train(ms(30.0), 100).unwrap();
        let departure = Departure { at: ms(30.0), train: train.id, sent: 1, in_train: true, bases: 0 };
        c.on_arrival(ms(55.0), &Arrival { departure, at: ms(42.5) });
        c.on_train_cut(ms(60.0), 1);
        assert_eq!(state(&c, "delta"), 0.8 * MBPS);
        assert!(c.next_train(ms(61.0), 100).is_some());
    }

    /// A probe of which nothing comes back has failed three round trips after its end.
    #[test]
    fn a_probe_without_an_answer_fails() {
        let mut c = begun(json!({}));
        c.next_train(ms(30.0), 100).unwrap();
        assert_eq!(c.next_timer(), Some(ms(30.0 + 12.5 + 75.0)));
        c.on_timer(ms(117.5));
        assert!(near(state(&c, "delta"), 0.4 * MBPS) && c.next_timer().is_some());
    }

    /// A longest time of nothing would be a smallest rate without end.
    #[test]
    fn the_longest_round_trip_time_takes_time() {
        let parameters = json!({ "rtt_max": "0 s" });
        let refused = Spec::with("pcp", parameters.as_object().unwrap()).unwrap_err();
        assert!(refused.to_string().contains("rtt_max"), "{refused}");
    }

    /// A congestion control that takes over goes on at the rate that it finds: 50 packets in 100 ms.
    #[test]
    fn it_takes_over_at_the_rate_it_finds() {
        let mut c = pcp(json!({}));
        c.poke("cwnd", 50.0 * MSS as f64);
        c.on_ack(&crate::testing::ack(1.0, MSS, 0.1));
        assert!(near(rate(&c), 50.0 * 8.0 * 1250.0 / 0.1 / MBPS), "{}", rate(&c));
        assert!(c.next_train(ms(1000.0), 9).is_some());
    }
}
