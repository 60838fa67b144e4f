//! DCQCN (Zhu et al., SIGCOMM 2015): the rate of an RDMA sender, cut by notifications of marked packets.
//!
//! A receiver that gets a marked packet sends a congestion notification packet (CNP), at most one in 50 us for a flow. With
//! R_C the rate, R_T the target, C the line rate:
//!
//! ```text
//! CNP:                         R_T = R_C;  R_C = R_C (1 - alpha / 2);  alpha = (1 - g) alpha + g;  cycles, timer, bytes from 0
//! K without a CNP:             alpha = (1 - g) alpha
//! end of a cycle (time T, or B bytes sent):    R_C = (R_C + R_T) / 2    after
//!     R_T stays                both counters up to F cycles (fast recovery)
//!     R_T += R_AI              one of them past F (additive increase)
//!     R_T += i R_HAI           both past F, the smaller by i (hyper increase)
//! ```
//!
//! A flow begins at the line rate, without slow start. R_T may pass C, R_C may not; a flow at C has no cycles until its next
//! CNP. With `hold_target` a CNP leaves R_T where it is unless a cycle of the timer has ended since the cut before, and R_T does
//! not pass C. The cycles are those of QCN (802.1Qau) without its jitter, its half cycles and the rule for targets above ten rates, so
//! little more than a comparison is common with it.
//!
//! Presets: `paper` (the defaults; R_HAI, which it does not give, is ten times R_AI, and so is \[assumed] the least rate),
//! `rdma-sample` (the configuration of the authors' ns-3 model), `mellanox-cx4` (the model of a ConnectX-4 in the simulator of
//! HPCC: alpha each 1 us, no second cut within 4 us, a timer alone, increases for 25 Gb/s and in proportion for other lines,
//! `hold_target`, 1 Gb/s at least),
//! `dcqcn_paper` (the set of that name in the same simulator: as `mellanox-cx4` with alpha each 50 us, no second cut within 50 us
//! and the timer of 55 us).
//!
//! With `in_flight` no packet leaves while a window is out, which HPCC's authors add (DCQCN+win):
//!
//! ```text
//! bdp: W = C T      rate: W = R_C T        T the base round-trip time, a packet at least
//! ```
//!
//! Left out: what losses do (the paper's network has none: the rate stays).

use elephan_units::{Bytes, InvalidParameter, Rate, Span, Time};

use super::{CongestionControl, Pacing, Rdma, Timer};
use crate::declare::{parameters, states};
use crate::flight::FlightWindow;
use crate::rdma::InFlight;
use crate::registry::Model;
use crate::{Nic, Traits, Window};

/// Line rate until a port tells it: the paper's testbed.
const LINE_BPS: f64 = 40e9;

parameters! {
    /// Weight of a notification in alpha.
    g: f64 = 0.003_906_25, "Zhu et al. 2015: 1/256" (min = 0, max = 1);
    /// alpha before the first notification.
    alpha_initial: f64 = 1.0, "Zhu et al. 2015" [min = 0, max = 1];
    /// Time without a notification after which alpha falls (K).
    alpha_interval: Span = Span::from_us(55), "Zhu et al. 2015";
    /// No second cut within this time of the last; 0 s: each notification cuts.
    decrease_interval: Span = Span::ZERO, "Zhu et al. 2015: the receiver spaces notifications";
    /// Time of a cycle (T).
    timer: Span = Span::from_us(55), "Zhu et al. 2015";
    /// Bytes of a cycle (B); 0 B: there are no such cycles.
    byte_counter: Bytes = Bytes(10_000_000), "Zhu et al. 2015";
    /// Cycles of fast recovery (F).
    fast_recovery: u32 = 5, "Zhu et al. 2015" [min = 1, max = 1000];
    /// Step of additive increase (R_AI).
    additive_increase: Rate = Rate(40_000_000), "Zhu et al. 2015";
    /// Step of hyper increase (R_HAI).
    hyper_increase: Rate = Rate(400_000_000), "assumption: ten times R_AI";
    /// Whether the step of hyper increase grows with each of its cycles.
    hyper_multiplies: bool = true, "IEEE 802.1Qau-2010: as QCN";
    /// Whether both steps are for a line of 25 Gb/s, and in proportion for others.
    steps_for_25g: bool = false, "Zhu et al. 2015: as they are";
    /// Whether a cut leaves the target alone while no cycle of the timer has ended since the cut before, and the target stays within the
    /// line rate.
    hold_target: bool = false, "run script of HPCC's simulator: CLAMP_TARGET_RATE 0";
    /// Least rate.
    rate_min: Rate = Rate(10_000_000), "assumption";
    /// What bounds the bytes in flight beside the rate: `unbounded`, `bdp` (the line rate times `base_rtt`) or `rate` (the current rate
    /// times `base_rtt`).
    in_flight: InFlight = InFlight::Unbounded, "Zhu et al. 2015: unbounded; Li et al. 2019: a window (DCQCN+win, TIMELY+win); public simulators of HPCC: rate";
    /// Base round-trip time of `in_flight`; 0 s: that of the flow.
    base_rtt: Span = Span::ZERO, "assumption: Li et al. 2019 has one for a whole network";
}

#[derive(Clone, Debug)]
pub struct Dcqcn {
    p: Parameters,
    line: f64,
    current: f64,
    target: f64,
    alpha: f64,
    /// Up to here alpha has fallen; none before the first notification. It falls further when it is needed.
    alpha_at: Option<Time>,
    /// The last time that the congestion control was told of.
    seen: Time,
    cut_at: Option<Time>,
    /// Bytes left of the running cycle, and the cycles that have ended.
    left: f64,
    byte_cycles: u32,
    timer_cycles: u32,
    /// End of the running cycle; none at the line rate.
    timer: Option<Time>,
    window: FlightWindow,
}

impl Model for Dcqcn {
    type Parameters = Parameters;
    const PRESETS: &'static [&'static str] = &["paper", "rdma-sample", "mellanox-cx4", "dcqcn_paper"];

    fn preset(name: &str) -> Parameters {
        let paper = Parameters::default();
        match name {
            "rdma-sample" => Parameters {
                alpha_initial: 0.5,
                timer: Span::from_us(60),
                byte_counter: Bytes(300_000_000),
                hyper_increase: Rate(200_000_000),
                ..paper
            },
            "mellanox-cx4" => Parameters {
                alpha_interval: Span::from_us(1),
                decrease_interval: Span::from_us(4),
                timer: Span::from_us(300),
                byte_counter: Bytes(0),
                fast_recovery: 1,
                additive_increase: Rate(5_000_000),
                hyper_increase: Rate(50_000_000),
                hyper_multiplies: false,
                steps_for_25g: true,
                hold_target: true,
                rate_min: Rate(1_000_000_000),
                ..paper
            },
            "dcqcn_paper" => Parameters {
                alpha_interval: Span::from_us(50),
                decrease_interval: Span::from_us(50),
                timer: Span::from_us(55),
                ..Dcqcn::preset("mellanox-cx4")
            },
            _ => paper,
        }
    }

    fn new(p: &Parameters) -> Dcqcn {
        Dcqcn {
            p: p.clone(),
            line: LINE_BPS,
            current: LINE_BPS,
            target: LINE_BPS,
            alpha: p.alpha_initial,
            alpha_at: None,
            seen: Time::ZERO,
            cut_at: None,
            left: 0.0,
            byte_cycles: 0,
            timer_cycles: 0,
            timer: None,
            window: FlightWindow::new(p.in_flight, p.base_rtt),
        }
    }

    fn check(p: &Parameters) -> Result<(), InvalidParameter> {
        InvalidParameter::between("alpha_interval", p.alpha_interval.seconds(), 0.0, 1e9)?;
        InvalidParameter::between("timer", p.timer.seconds(), 0.0, 1e9)?;
        InvalidParameter::between("rate_min", p.rate_min.0 as f64, 0.0, f64::INFINITY)
    }

    fn traits(p: &Parameters) -> Traits {
        // Notifications of marked packets cut its rate.
        Traits { minds_marks: true, ..Traits::rdma().bounded(p.in_flight) }
    }
}

states! {
    Dcqcn, cc, value;
    "rate" ["bit/s"] "rate (R_C)": cc.current, value > 0.0 => cc.current = value;
    "target" ["bit/s"] "target rate (R_T)": cc.target, value > 0.0 => cc.target = value;
    "alpha" ["1"] "moving share of the times with a notification, as of the last time that the congestion control was told of":
        cc.alpha_by(cc.seen), (0.0..=1.0).contains(&value) =>
            (cc.alpha, cc.alpha_at) = (value, cc.alpha_at.map(|_| cc.seen));
    "line" ["bit/s"] "rate of the sender's port": cc.line, value > 0.0 => cc.line = value;
    "byte_cycles" ["1"] "cycles of bytes since the last notification":
        f64::from(cc.byte_cycles), (0.0..1e9).contains(&value) => cc.byte_cycles = value as u32;
    "timer_cycles" ["1"] "cycles of the timer since the last notification":
        f64::from(cc.timer_cycles), (0.0..1e9).contains(&value) => cc.timer_cycles = value as u32;
}

impl Dcqcn {
    /// alpha falls once for each interval without a notification.
    fn alpha_by(&self, now: Time) -> f64 {
        let Some(since) = self.alpha_at else { return self.alpha };
        let intervals = now.since(since).ps() / self.p.alpha_interval.ps().max(1);
        self.alpha * libm::pow(1.0 - self.p.g, intervals as f64)
    }

    fn increase(&mut self, w: &mut Window) {
        let p = &self.p;
        let scale = if p.steps_for_25g { self.line / 25e9 } else { 1.0 };
        // Without cycles of bytes, additive increase is the one cycle of the timer before hyper increase.
        let bytes = if p.byte_counter.0 == 0 { self.timer_cycles.saturating_sub(1) } else { self.byte_cycles };
        let (low, high) = (bytes.min(self.timer_cycles), bytes.max(self.timer_cycles));
        if low > p.fast_recovery {
            let times = if p.hyper_multiplies { low - p.fast_recovery } else { 1 };
            self.target += scale * p.hyper_increase.0 as f64 * f64::from(times);
        } else if high > p.fast_recovery {
            self.target += scale * p.additive_increase.0 as f64;
        }
        self.target = self.target.min(if p.hold_target { self.line } else { f64::INFINITY });
        self.current = (self.current + self.target) / 2.0;
        if self.current >= self.line {
            (self.current, self.target, self.timer) = (self.line, self.line, None);
        }
        self.window.follow(w, self.line, self.current);
    }
}

impl CongestionControl for Dcqcn {
    fn on_establish(&mut self, w: &mut Window) {
        self.window.begin(w, self.line, self.current);
    }

    fn on_sent(&mut self, w: &mut Window, now: Time, bytes: u64, _inflight: u64) {
        self.seen = now;
        if self.timer.is_none() || self.p.byte_counter.0 == 0 {
            return;
        }
        self.left -= bytes as f64;
        if self.left <= 0.0 {
            self.left = self.p.byte_counter.0 as f64;
            self.byte_cycles = self.byte_cycles.saturating_add(1);
            self.increase(w);
        }
    }

    fn grows_by_ack(&self) -> bool {
        false
    }
}

impl Pacing for Dcqcn {
    fn pacing_rate(&self, _w: &Window) -> Option<f64> {
        Some(self.current)
    }
}

impl Timer for Dcqcn {
    fn next_timer(&self) -> Option<Time> {
        self.timer
    }

    fn on_timer(&mut self, w: &mut Window, now: Time) {
        self.seen = now;
        if self.timer.is_some_and(|at| at <= now) {
            self.timer = Some(now.saturating_add(self.p.timer));
            self.timer_cycles = self.timer_cycles.saturating_add(1);
            self.increase(w);
        }
    }
}

impl Rdma for Dcqcn {
    fn on_nic(&mut self, w: &mut Window, nic: &Nic) {
        self.line = nic.rate_bps;
        self.current = if self.timer.is_none() { self.line } else { self.current.min(self.line) };
        self.target = if self.timer.is_none() { self.line } else { self.target };
        self.window.on_nic(nic);
        self.window.begin(w, self.line, self.current);
    }

    fn on_notification(&mut self, w: &mut Window, now: Time) {
        self.alpha = self.alpha_by(now);
        self.seen = now;
        let rests = self.cut_at.is_some_and(|at| now.since(at) < self.p.decrease_interval);
        if !rests {
            self.target = if self.p.hold_target && self.timer_cycles == 0 { self.target } else { self.current };
            self.current = (self.current * (1.0 - self.alpha / 2.0)).max(self.p.rate_min.0 as f64).min(self.line);
            (self.byte_cycles, self.timer_cycles) = (0, 0);
            self.left = self.p.byte_counter.0 as f64;
            (self.cut_at, self.timer) = (Some(now), Some(now.saturating_add(self.p.timer)));
            self.window.follow(w, self.line, self.current);
        }
        self.alpha = (1.0 - self.p.g) * self.alpha + self.p.g;
        self.alpha_at = Some(now);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{MSS, loss, state};
    use crate::{Controller, Nic, Spec};
    use elephan_units::{Span, Time};
    use serde_json::json;

    fn dcqcn(table: serde_json::Value) -> Controller {
        let mut c = Controller::new(&Spec::with("dcqcn", table.as_object().unwrap()).unwrap(), MSS, 10 * MSS);
        c.on_nic(&Nic { rate_bps: 40e9, base_rtt: Span::from_us(10) });
        c
    }

    fn us(us: f64) -> Time {
        Time::from_seconds(us * 1e-6)
    }

    fn near(value: f64, expected: f64) {
        assert!((value / expected - 1.0).abs() < 1e-9, "{value} is not {expected}");
    }

    fn rates(c: &Controller) -> [f64; 2] {
        [state(c, "rate"), state(c, "target")]
    }

    /// alpha 1: half of 40 Gb/s. Five cycles of fast recovery halve the gap to 40: 30, 35, 37.5, 38.75, 39.375. Then R_T is 40.04,
    /// and 40.08 ..., R_C half way to it: 39.7075, 39.89375.
    #[test]
    fn a_notification_halves_and_the_timer_recovers() {
        let mut c = dcqcn(json!({}));
        assert_eq!((c.pacing_rate(), c.next_timer()), (Some(40e9), None));
        c.on_notification(us(100.0));
        assert_eq!((rates(&c), state(&c, "alpha")), ([20e9, 40e9], 1.0));
        let expected = [(30e9, 40e9), (35e9, 40e9), (37.5e9, 40e9), (38.75e9, 40e9), (39.375e9, 40e9)];
        let additive = [(39.7075e9, 40.04e9), (39.893_75e9, 40.08e9)];
        let mut at = 100.0;
        for (rate, target) in expected.into_iter().chain(additive) {
            at += 55.0;
            assert_eq!(c.next_timer(), Some(us(at)));
            c.on_timer(us(at));
            near(rates(&c)[0], rate);
            near(rates(&c)[1], target);
        }
        // (39.89375 + 40.12) / 2 is past the line: the flow is free.
        c.on_timer(us(at + 55.0));
        assert_eq!((c.pacing_rate(), c.next_timer()), (Some(40e9), None));
    }

    /// 40 Gb/s and 10 us are 50 000 B, whatever the rate is. A notification leaves 20 Gb/s, 25 000 B, the first cycle 30. A rate of
    /// 100 Mb/s is 125 B in 10 us: a packet may leave all the same.
    #[test]
    fn a_window_bounds_what_is_in_flight() {
        let windows = |table: serde_json::Value, expected: [f64; 4]| {
            let mut c = dcqcn(table);
            let first = c.window();
            c.on_notification(us(100.0));
            let second = c.window();
            c.on_timer(us(155.0));
            let third = c.window();
            c.poke("rate", 0.2e9);
            c.on_notification(us(500.0));
            let found = [first, second, third, c.window()];
            found.into_iter().zip(expected).for_each(|(window, expected)| near(window, expected));
        };
        windows(json!({ "in_flight": "bdp" }), [50_000.0; 4]);
        windows(json!({ "in_flight": "rate" }), [50_000.0, 25_000.0, 37_500.0, MSS as f64]);
        windows(json!({}), [crate::MAX_WINDOW_BYTES; 4]);
    }

    /// g = 1/256. 110 us after the first CNP alpha has fallen twice: (255/256)^2 = 0.992202759; the cut leaves
    /// 1 - 0.49610138 of 35 Gb/s, R_T is 35, and alpha is 255/256 of it and 1/256.
    #[test]
    fn alpha_falls_without_notifications() {
        let mut c = dcqcn(json!({}));
        c.on_notification(us(0.0));
        c.on_timer(us(55.0));
        c.on_timer(us(110.0));
        near(rates(&c)[0], 35e9);
        c.on_notification(us(110.0));
        near(rates(&c)[0], 35e9 * (1.0 - 0.992_202_758_789_062_5 / 2.0));
        near(rates(&c)[1], 35e9);
        near(state(&c, "alpha"), 0.992_202_758_789_062_5 * 255.0 / 256.0 + 1.0 / 256.0);
        assert_eq!((state(&c, "timer_cycles"), c.next_timer()), (0.0, Some(us(165.0))));
    }

    /// Six cycles of bytes beside six of the timer: hyper increase by 400, then 800 Mb/s.
    #[test]
    fn both_counters_make_hyper_increase() {
        let mut c = dcqcn(json!({ "byte_counter": "1 MB" }));
        c.on_notification(us(0.0));
        c.poke("rate", 1e9);
        c.poke("target", 1e9);
        for n in 1..=5 {
            c.on_timer(us(55.0 * f64::from(n)));
            c.on_sent(us(55.0 * f64::from(n)), 1_000_000, 0);
        }
        assert_eq!(rates(&c), [1e9, 1e9]);
        // The timer is the first past F: additive; then bytes too.
        c.on_timer(us(330.0));
        near(rates(&c)[1], 1.04e9);
        c.on_sent(us(330.0), 999_999, 0);
        near(rates(&c)[1], 1.04e9);
        c.on_sent(us(330.0), 1, 0);
        near(rates(&c)[1], 1.44e9);
        c.on_timer(us(385.0));
        near(rates(&c)[1], 1.84e9);
        c.on_sent(us(385.0), 1_000_000, 0);
        near(rates(&c)[1], 2.64e9);
    }

    /// A second notification within 4 us moves alpha alone. One cycle of fast recovery, one of R_AI, then R_HAI each: for 100 Gb/s
    /// four times 5 and 50 Mb/s.
    #[test]
    fn a_connectx_4() {
        let mut c = dcqcn(json!({ "preset": "mellanox-cx4", "g": 0.5 }));
        c.on_nic(&Nic { rate_bps: 100e9, base_rtt: Span::from_us(10) });
        c.on_notification(us(0.0));
        assert_eq!(rates(&c), [50e9, 100e9]);
        // alpha falls to 1/8 in 3 us; half of it and a half.
        c.on_notification(us(3.0));
        assert_eq!((rates(&c), state(&c, "alpha")), ([50e9, 100e9], 0.5625));
        c.on_notification(us(4.0));
        near(rates(&c)[0], 50e9 * (1.0 - 0.281_25 / 2.0));
        // No cycle has ended since the first cut: the target is still the line rate.
        assert_eq!(rates(&c)[1], 100e9);
        c.poke("rate", 10e9);
        c.poke("target", 10e9);
        for (n, target) in [(1, 10e9), (2, 10.02e9), (3, 10.22e9), (4, 10.42e9)] {
            c.on_timer(us(4.0 + 300.0 * f64::from(n)));
            near(rates(&c)[1], target);
        }
    }

    /// The run script of HPCC's simulator: 1 Gb/s at least, and a target that is the line rate at most; a cut after a cycle of the timer
    /// does take the target along.
    #[test]
    fn a_connectx_4_holds_its_target() {
        let mut c = dcqcn(json!({ "preset": "mellanox-cx4" }));
        c.on_nic(&Nic { rate_bps: 25e9, base_rtt: Span::from_us(10) });
        (0..100).for_each(|n| c.on_notification(us(5.0 * f64::from(n))));
        assert_eq!(rates(&c), [1e9, 25e9]);
        let mut at = 495.0;
        for rate in [13e9, 19e9, 22e9] {
            at += 300.0;
            c.on_timer(us(at));
            assert_eq!(rates(&c), [rate, 25e9]);
        }
        c.on_notification(us(at + 1.0));
        assert_eq!(rates(&c)[1], 22e9);
    }

    /// 50 / 50 / 55 us: a second notification within 50 us moves alpha alone, which has fallen once after 50 us; the timer is 55 us.
    #[test]
    fn the_papers_timers_in_the_simulator_of_hpcc() {
        let mut c = dcqcn(json!({ "preset": "dcqcn_paper", "g": 0.5 }));
        c.on_notification(us(0.0));
        c.on_notification(us(49.0));
        assert_eq!((rates(&c), state(&c, "alpha"), c.next_timer()), ([20e9, 40e9], 1.0, Some(us(55.0))));
        c.on_timer(us(55.0));
        near(rates(&c)[0], 30e9);
        // 51 us after the last notification alpha is a half: a quarter goes, and alpha is half of it and a half.
        c.on_notification(us(100.0));
        near(rates(&c)[0], 22.5e9);
        assert_eq!((state(&c, "alpha"), c.next_timer()), (0.75, Some(us(155.0))));
    }

    /// The rate stays above the least, and losses say nothing.
    #[test]
    fn least_rate_and_losses() {
        let mut c = dcqcn(json!({}));
        for n in 0..50 {
            c.on_notification(us(50.0 * f64::from(n)));
        }
        assert_eq!(rates(&c)[0], 1e7);
        c.on_congestion(&loss(1.0, 10.0));
        assert_eq!(rates(&c)[0], 1e7);
    }

    /// Zhu et al. 2015: alpha = (1 - g) alpha for each 55 us without a notification. After the first notification it is 1; 550 us later
    /// (255/256)^10 whoever tells the time, a packet or a timer; and the next notification goes on from there.
    #[test]
    fn alpha_is_of_now() {
        let at = |us| Time::ZERO + Span::from_us(us);
        let fallen = (255.0f64 / 256.0).powi(10);
        for told in [true, false] {
            let mut c = dcqcn(json!({}));
            c.on_notification(at(100));
            assert_eq!(state(&c, "alpha"), 1.0);
            if told {
                c.on_sent(at(650), 1000, 0)
            } else {
                c.on_timer(at(650))
            }
            assert!((state(&c, "alpha") - fallen).abs() < 1e-12);
            c.on_notification(at(650));
            assert!((state(&c, "alpha") - (fallen * 255.0 / 256.0 + 1.0 / 256.0)).abs() < 1e-12);
        }
    }
}
