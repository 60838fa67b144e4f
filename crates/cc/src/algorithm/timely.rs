//! TIMELY (Mittal et al., SIGCOMM 2015): the rate of an RDMA sender follows the gradient of the round-trip time.
//!
//! For each segment that is complete, with `rtt` its round-trip time and `diff` a moving mean of its changes:
//!
//! ```text
//! diff = (1 - alpha) diff + alpha (rtt - rtt before),     gradient = diff / rtt_min
//! rtt < t_low:     rate += delta
//! rtt > t_high:    rate *= 1 - beta (1 - t_high / rtt)
//! gradient <= 0:   rate += N delta            N = 5 from the fifth such segment in a row on, else 1
//! gradient > 0:    rate *= 1 - beta gradient
//! ```
//!
//! With `once_a_round_trip` no second change comes before what was sent after the last is acknowledged, as in public simulators of
//! HPCC. The paper changes the rate for each segment: flows that begin together at the line rate cut many times for one queue and
//! take some 100 ms to come back. Presets: `paper` (the default) and `simulator` (that of HPCC's authors: `once_a_round_trip`).
//!
//! A segment is `segment` bytes of the stream. Its round-trip time is that of its last packet, which is the paper's time of the
//! whole segment less the time to put it on the wire. Packets are paced one by one. A flow begins at the line rate.
//!
//! With `in_flight` no packet leaves while a window is out, which HPCC's authors add (TIMELY+win): the line rate (`bdp`) or the rate
//! (`rate`) times the base round-trip time, a packet at least.
//!
//! Chosen: one cut takes no more than `beta` (a gradient above 1 counts as 1); only the two last rules count a row.
//! Left out: bursts of a whole segment (the paper's engine sent 16 to 64 KB at once), the larger increase of a new flow.

use elephan_units::{Bytes, InvalidParameter, Rate, Span};

use super::{CongestionControl, Pacing, Rdma};
use crate::declare::{parameters, states};
use crate::flight::FlightWindow;
use crate::rdma::InFlight;
use crate::registry::Model;
use crate::round::{Round, known_s};
use crate::{Ack, Nic, Traits, Window};

/// Line rate until a port tells it: the paper's testbed.
const LINE_BPS: f64 = 10e9;

parameters! {
    /// Weight of the newest change of the round-trip time.
    alpha: f64 = 0.875, "public simulators of HPCC" above [min = 0, max = 1];
    /// Weight of a gradient, and of what is above `t_high`, in a cut.
    beta: f64 = 0.8, "Mittal et al. 2015" (min = 0, max = 1);
    /// Round-trip time below which the rate always grows.
    t_low: Span = Span::from_us(50), "Mittal et al. 2015";
    /// Round-trip time above which it always falls.
    t_high: Span = Span::from_us(500), "Mittal et al. 2015";
    /// By what changes of the round-trip time are divided.
    rtt_min: Span = Span::from_us(20), "public simulators of HPCC";
    /// Step of the increase.
    delta: Rate = Rate(10_000_000), "Mittal et al. 2015";
    /// Segments in a row without a rising gradient from which the increase is `hai_factor` times as large.
    hai_threshold: u32 = 5, "Mittal et al. 2015 section 4.3: five completion events" [min = 1];
    /// N: by how much the increase is larger then.
    hai_factor: f64 = 5.0, "Mittal et al. 2015 section 4.3: N = 5" [min = 1];
    /// Bytes between two changes of the rate.
    segment: Bytes = Bytes(16_000), "Mittal et al. 2015: 16 KB";
    /// Whether the rate changes at most once a round trip.
    once_a_round_trip: bool = false, "Mittal et al. 2015: for each segment; public simulators of HPCC (true)";
    /// Least rate.
    rate_min: Rate = Rate(10_000_000), "assumption";
    /// What bounds the bytes in flight beside the rate: `unbounded`, `bdp` (the line rate times `base_rtt`) or `rate` (the current rate
    /// times `base_rtt`).
    in_flight: InFlight = InFlight::Unbounded, "Mittal et al. 2015: unbounded; Li et al. 2019: a window (DCQCN+win, TIMELY+win); public simulators of HPCC: rate";
    /// Base round-trip time of `in_flight`; 0 s: that of the flow.
    base_rtt: Span = Span::ZERO, "assumption: Li et al. 2019 has one for a whole network";
}

#[derive(Clone, Debug)]
pub struct Timely {
    p: Parameters,
    line: f64,
    rate: f64,
    /// Of the segment before.
    rtt: Span,
    diff_s: f64,
    /// Segments in a row whose gradient did not rise.
    row: u32,
    /// Bytes acknowledged of the running segment.
    acked: u64,
    round: Round,
    /// A round trip has begun since the last change.
    due: bool,
    window: FlightWindow,
}

impl Model for Timely {
    type Parameters = Parameters;
    const PRESETS: &'static [&'static str] = &["paper", "simulator"];

    fn preset(name: &str) -> Parameters {
        Parameters { once_a_round_trip: name == "simulator", ..Parameters::default() }
    }

    fn new(p: &Parameters) -> Timely {
        let (line, rate) = (LINE_BPS, LINE_BPS);
        Timely {
            p: p.clone(),
            line,
            rate,
            rtt: Span::MAX,
            diff_s: 0.0,
            row: 0,
            acked: 0,
            round: Round::default(),
            due: true,
            window: FlightWindow::new(p.in_flight, p.base_rtt),
        }
    }

    fn check(p: &Parameters) -> Result<(), InvalidParameter> {
        InvalidParameter::between("rtt_min", p.rtt_min.seconds(), 0.0, 1e9)?;
        InvalidParameter::between("t_high", p.t_high.seconds(), p.t_low.seconds(), 1e9)?;
        InvalidParameter::between("segment", p.segment.0 as f64, 0.0, f64::INFINITY)?;
        InvalidParameter::between("rate_min", p.rate_min.0 as f64, 0.0, f64::INFINITY)
    }

    fn traits(p: &Parameters) -> Traits {
        Traits::rdma().bounded(p.in_flight)
    }
}

states! {
    Timely, cc, value;
    "rate" ["bit/s"] "rate": cc.rate, value > 0.0 => cc.rate = value;
    "rtt" ["s"] "round-trip time of the last segment, 0 before the first":
        known_s(cc.rtt), value > 0.0 => cc.rtt = Span::from_seconds(value);
    "gradient" ["1"] "moving mean of its changes over rtt_min":
        cc.diff_s / cc.p.rtt_min.seconds(), true => cc.diff_s = value * cc.p.rtt_min.seconds();
    "row" ["1"] "segments in a row whose round-trip time did not rise":
        f64::from(cc.row), (0.0..1e9).contains(&value) => cc.row = value as u32;
    "line" ["bit/s"] "rate of the sender's port": cc.line, value > 0.0 => cc.line = value;
}

impl Timely {
    fn update(&mut self, rtt: Span) {
        let p = &self.p;
        let before = std::mem::replace(&mut self.rtt, rtt);
        if before == Span::MAX {
            return;
        }
        self.diff_s += p.alpha * (rtt.seconds() - before.seconds() - self.diff_s);
        let gradient = self.diff_s / p.rtt_min.seconds();
        let delta = p.delta.0 as f64;
        if rtt < p.t_low {
            self.row = 0;
            self.rate += delta;
        } else if rtt > p.t_high {
            self.row = 0;
            self.rate *= 1.0 - p.beta * (1.0 - p.t_high.seconds() / rtt.seconds());
        } else if gradient <= 0.0 {
            self.row = self.row.saturating_add(1);
            self.rate += if self.row >= p.hai_threshold { p.hai_factor * delta } else { delta };
        } else {
            self.row = 0;
            self.rate *= 1.0 - p.beta * gradient.min(1.0);
        }
        self.rate = self.rate.max(p.rate_min.0 as f64).min(self.line);
    }
}

impl CongestionControl for Timely {
    fn on_establish(&mut self, w: &mut Window) {
        self.window.begin(w, self.line, self.rate);
    }

    fn on_delivery(&mut self, w: &mut Window, ack: &Ack) {
        self.acked = self.acked.saturating_add(ack.acked);
        self.due |= self.round.advance(ack) || !self.p.once_a_round_trip;
        if let Some(rtt) = ack.rtt.filter(|_| self.due && self.acked >= self.p.segment.0) {
            (self.acked, self.due) = (0, false);
            self.update(rtt);
            self.window.follow(w, self.line, self.rate);
        }
    }

    fn grows_by_ack(&self) -> bool {
        false
    }
}

impl Pacing for Timely {
    fn pacing_rate(&self, _w: &Window) -> Option<f64> {
        Some(self.rate)
    }
}

impl Rdma for Timely {
    fn on_nic(&mut self, w: &mut Window, nic: &Nic) {
        self.line = nic.rate_bps;
        self.rate = if self.rtt == Span::MAX { self.line } else { self.rate.min(self.line) };
        self.window.on_nic(nic);
        self.window.begin(w, self.line, self.rate);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{MSS, ack, state};
    use crate::{Ack, Controller, Nic, Spec};
    use elephan_units::Span;
    use serde_json::json;

    /// A gradient that is the last change alone, for figures by hand; each ACK is a segment; 10 Gb/s, now at 5.
    fn timely(rtt_us: f64) -> Controller {
        let table = json!({ "alpha": 1.0, "segment": "1000 B" });
        let mut c = Controller::new(&Spec::with("timely", table.as_object().unwrap()).unwrap(), MSS, 10 * MSS);
        c.on_nic(&Nic { rate_bps: 10e9, base_rtt: Span::from_us(10) });
        c.on_ack(&ack(0.0, MSS, rtt_us * 1e-6));
        assert_eq!(c.pacing_rate(), Some(10e9));
        c.poke("rate", 5e9);
        c
    }

    fn after(c: &mut Controller, rtt_us: f64) -> f64 {
        c.on_ack(&ack(0.0, MSS, rtt_us * 1e-6));
        c.pacing_rate().unwrap()
    }

    fn near(value: f64, expected: f64) {
        assert!((value / expected - 1.0).abs() < 1e-9, "{value} is not {expected}");
    }

    /// Below 50 us +10 Mb/s even when it rises; above 500 us, at 1000, 1 - 0.8 / 2 = 0.6 even when it falls.
    #[test]
    fn thresholds() {
        let mut c = timely(20.0);
        near(after(&mut c, 49.0), 5.01e9);
        let mut c = timely(2000.0);
        near(after(&mut c, 1000.0), 3e9);
    }

    /// Between them: from 100 to 105 us the gradient is 5 / 20, 1 - 0.8 / 4 = 0.8. A rise of more than rtt_min leaves 0.2. A fall
    /// adds 10 Mb/s, from the fifth in a row on 50.
    #[test]
    fn the_gradient() {
        let mut c = timely(100.0);
        near(after(&mut c, 105.0), 4e9);
        near(after(&mut c, 305.0), 0.8e9);
        let added: Vec<f64> = [300.0, 300.0, 290.0, 280.0, 280.0, 270.0].map(|rtt| after(&mut c, rtt)).to_vec();
        for (rate, mbps) in added.into_iter().zip([810.0, 820.0, 830.0, 840.0, 890.0, 940.0]) {
            near(rate, mbps * 1e6);
        }
        near(after(&mut c, 275.0), 0.8 * 940e6);
        near(after(&mut c, 270.0), 0.8 * 940e6 + 1e7);
    }

    /// From the second fall in a row on three times 10 Mb/s.
    #[test]
    fn the_row_of_a_larger_increase() {
        let table = json!({ "alpha": 1.0, "segment": "1000 B", "hai_threshold": 2, "hai_factor": 3 });
        let mut c = Controller::new(&Spec::with("timely", table.as_object().unwrap()).unwrap(), MSS, 10 * MSS);
        c.on_ack(&ack(0.0, MSS, 1e-4));
        c.poke("rate", 5e9);
        near(after(&mut c, 90.0), 5.01e9);
        near(after(&mut c, 80.0), 5.04e9);
    }

    /// Ten packets in flight: the first ACK of each ten changes the rate.
    #[test]
    fn once_a_round_trip() {
        let table = json!({ "segment": "1000 B", "preset": "simulator" });
        let mut c = Controller::new(&Spec::with("timely", table.as_object().unwrap()).unwrap(), MSS, 10 * MSS);
        c.on_ack(&ack(0.0, MSS, 2e-5));
        c.poke("rate", 5e9);
        let rates: Vec<f64> = (0..21)
            .map(|_| {
                c.on_ack(&Ack { inflight: 10 * MSS, ..ack(0.0, MSS, 2e-5) });
                c.pacing_rate().unwrap()
            })
            .collect();
        assert_eq!([rates[0], rates[9], rates[10], rates[19], rates[20]], [5.01e9, 5.01e9, 5.02e9, 5.02e9, 5.03e9]);
    }

    /// 10 Gb/s and 10 us are 12 500 B, whatever the rate is; at 5 and 5.01 Gb/s 10 us are 6250 and 6262.5 B. 4 us given are 5000 and 2505 B.
    #[test]
    fn a_window_bounds_what_is_in_flight() {
        let windows = |table: serde_json::Value, expected: [f64; 2]| {
            let mut c = Controller::new(&Spec::with("timely", table.as_object().unwrap()).unwrap(), MSS, 10 * MSS);
            c.on_nic(&Nic { rate_bps: 10e9, base_rtt: Span::from_us(10) });
            let first = c.window();
            c.on_ack(&ack(0.0, MSS, 2e-5));
            c.poke("rate", 5e9);
            c.on_ack(&ack(0.0, MSS, 2e-5));
            near(first, expected[0]);
            near(c.window(), expected[1]);
        };
        windows(json!({ "segment": "1000 B", "in_flight": "bdp" }), [12_500.0; 2]);
        windows(json!({ "segment": "1000 B", "in_flight": "rate" }), [12_500.0, 6262.5]);
        windows(json!({ "segment": "1000 B", "in_flight": "rate", "base_rtt": "4 us" }), [5000.0, 2505.0]);
        windows(json!({ "segment": "1000 B" }), [crate::MAX_WINDOW_BYTES; 2]);
    }

    /// alpha 0.875: changes of +8 us and -8 us leave 7, then 7 / 8 - 7 = -6.125 us; over 20 us -0.30625.
    #[test]
    fn the_gradient_is_a_moving_mean() {
        let mut c = Controller::new(&Spec::named("timely").unwrap(), MSS, 10 * MSS);
        for rtt_us in [100.0, 108.0, 100.0] {
            // A segment is 16 ACKs; the last one's round-trip time counts.
            for _ in 0..15 {
                c.on_ack(&ack(0.0, MSS, 1.0));
            }
            c.on_ack(&ack(0.0, MSS, rtt_us * 1e-6));
        }
        assert!((state(&c, "gradient") + 0.306_25).abs() < 1e-9);
    }
}
