//! Scalable TCP (Kelly 2003): growth and cut are shares of the window, so recovery takes a fixed number of round trips.
//!
//! Windows in segments.
//!
//! ```text
//! cwnd >= lwnd:  cwnd += a         per acknowledged segment;   event: cwnd -= b cwnd
//! cwnd <  lwnd:  cwnd += 1 / cwnd  per acknowledged segment;   event: cwnd -= cwnd / 2
//! ssthresh = the window after the event, at least 2            timer: the same ssthresh, cwnd = 1
//! ```
//!
//! a = 0.01, b = 0.125, lwnd = 16. Presets, where kernels differ (tcp_scalable.c): `linux` adds 1 / min(cwnd, 100) per
//! acknowledged segment, which is a = 0.01 or Reno's increase where that is larger, and cuts by 1/8 at every size;
//! `linux-2.6` adds 1 / min(cwnd, 50) per ACK, whatever it acknowledges.
//!
//! Recovery takes ln(1 / (1 - b)) / ln(1 + a) = 13.4 round trips at any rate. Mean window with a loss every 1/p segments:
//! ln(1 + a) / (-ln(1 - b)) / p = 0.0745 / p segments. Kelly's 0.08 / p = (a / b) / p is the peak, and the mean over
//! segments instead of time.

use super::CongestionControl;
use crate::declare::{Internals, loss_based};
use crate::registry::Model;
use crate::{Ack, Signal, Traits, Window};

/// The cut below `low_window`, as Reno's (RFC 5681 equation 4).
const RENO_B: f64 = 0.5;

loss_based! {
    reduce_from: Cwnd, "Kelly 2003 (cwnd)";
    /// Segments by which an acknowledged segment opens the window (an ACK, with `per_ack`).
    a: f64 = 0.01, "Kelly 2003; Linux 2.6 tcp_scalable.c TCP_SCALABLE_AI_CNT 50" (min = 0, max = 1);
    /// The share of the window that a congestion event takes away.
    b: f64 = 0.125, "Kelly 2003; Linux tcp_scalable.c TCP_SCALABLE_MD_SCALE 3" (min = 0, max = 1);
    /// lwnd in segments: below it the congestion control is Reno; 1 switches that off.
    low_window: f64 = 16.0, "Kelly 2003; none in Linux" [min = 1];
    /// Never slower than Reno, which adds 1 / cwnd per acknowledged segment.
    at_least_reno: bool = false, "Linux tcp_scalable.c: min(cwnd, TCP_SCALABLE_AI_CNT)";
    /// An ACK counts as one segment, however many it acknowledges.
    per_ack: bool = false, "Linux 2.6 tcp_scalable.c";
}

#[derive(Clone, Debug)]
pub struct Scalable {
    parameters: Parameters,
}

impl Model for Scalable {
    type Parameters = Parameters;
    const PRESETS: &'static [&'static str] = &["kelly", "linux", "linux-2.6"];

    fn new(p: &Parameters) -> Scalable {
        Scalable { parameters: p.clone() }
    }

    fn preset(name: &str) -> Parameters {
        let linux = Parameters { low_window: 1.0, at_least_reno: true, ..Parameters::default() };
        match name {
            "linux" => linux,
            "linux-2.6" => Parameters { a: 0.02, per_ack: true, ..linux },
            _ => Parameters::default(),
        }
    }

    fn traits(_: &Parameters) -> Traits {
        Traits { counts_segments: true, ..Traits::default() }
    }
}

impl Scalable {
    fn is_reno(&self, w: &Window) -> bool {
        w.cwnd < self.parameters.low_window * w.mss
    }
}

impl Internals for Scalable {}

impl CongestionControl for Scalable {
    #[inline]
    fn on_ack(&mut self, w: &mut Window, ack: &Ack) {
        if ack.app_limited {
            return;
        }
        let p = &self.parameters;
        let reno = w.mss / w.cwnd;
        let gain = if self.is_reno(w) { reno } else { p.a.max(if p.at_least_reno { reno } else { 0.0 }) };
        w.cwnd += gain * w.counted(ack, p.per_ack);
    }

    fn on_congestion(&mut self, w: &mut Window, signal: &Signal) {
        let b = if self.is_reno(w) { RENO_B } else { self.parameters.b };
        let reduced = (1.0 - b) * self.parameters.reduce_from.bytes(w, signal.inflight());
        w.cut(signal, reduced);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{self, MSS, ack, ack_limited, loss};
    use crate::{Controller, Signal, Spec};
    use elephan_units::Time;
    use serde_json::json;

    const S: f64 = MSS as f64;

    fn spec(preset: &str) -> Spec {
        Spec::with("scalable", json!({ "preset": preset }).as_object().unwrap()).unwrap()
    }

    /// In congestion avoidance at a window of `segments`.
    fn at(preset: &str, segments: f64) -> Controller {
        let mut c = Controller::new(&spec(preset), MSS, 10 * MSS);
        c.poke("cwnd", segments * S);
        c.poke("ssthresh", segments * S);
        c
    }

    #[test]
    fn the_default_is_kellys() {
        assert_eq!(Spec::named("scalable").unwrap(), spec("kelly"));
    }

    /// 0.01 per segment from 16 on, Reno below; Linux: 1 / min(cwnd, 100) per segment; Linux 2.6: 1 / min(cwnd, 50) per
    /// ACK.
    #[test]
    fn growth_of_one_ack() {
        for (preset, segments, acked, growth) in [
            ("kelly", 1000.0, 1, 0.01),
            ("kelly", 1000.0, 2, 0.02),
            ("kelly", 16.0, 2, 0.02),
            ("kelly", 10.0, 2, 0.2),
            ("linux", 1000.0, 2, 0.02),
            ("linux", 50.0, 2, 0.04),
            ("linux", 10.0, 2, 0.2),
            ("linux-2.6", 1000.0, 2, 0.02),
            ("linux-2.6", 1000.0, 1, 0.02),
            ("linux-2.6", 50.0, 2, 0.02),
            ("linux-2.6", 10.0, 2, 0.1),
        ] {
            let mut c = at(preset, segments);
            c.on_ack(&ack(0.0, acked * MSS, 0.1));
            assert!((c.window() / S - segments - growth).abs() < 1e-9, "{preset} {segments}: {}", c.window());
            let before = c.window();
            c.on_ack(&ack_limited(0.0, MSS, 0.1));
            assert_eq!(c.window(), before);
        }
    }

    /// An eighth; Kelly's below 16 segments a half.
    #[test]
    fn the_cut() {
        let (now, inflight) = (Time::ZERO, 10 * MSS);
        for signal in [loss(0.0, 10.0), Signal::Ecn { now, inflight }, Signal::LocalDrop { now, inflight }] {
            for (preset, segments, expected) in [
                ("kelly", 1000.0, 875.0),
                ("kelly", 16.0, 14.0),
                ("kelly", 15.0, 7.5),
                ("kelly", 3.0, 2.0),
                ("linux", 1000.0, 875.0),
                ("linux", 8.0, 7.0),
                ("linux-2.6", 8.0, 7.0),
                ("linux", 2.0, 2.0),
            ] {
                let mut c = at(preset, segments);
                c.on_congestion(&signal);
                assert_eq!((c.window(), c.ssthresh()), (expected * S, expected * S), "{preset} {segments}");
            }
        }
        let mut c = at("kelly", 1000.0);
        c.on_congestion(&Signal::Rto { now, inflight });
        assert_eq!((c.window(), c.ssthresh()), (S, 875.0 * S));
    }

    /// ln(1 / 0.875) / ln(1.01) = 13.42 round trips, at 100 segments as at 100000.
    #[test]
    fn recovery_takes_13_round_trips_at_any_rate() {
        for segments in [100.0, 1000.0, 100_000.0] {
            let mut c = at("kelly", segments);
            c.on_congestion(&loss(0.0, segments));
            let mut windows = Vec::new();
            for _ in 0..14 {
                c.on_ack(&ack(0.0, c.window() as u64, 0.1));
                windows.push(c.window() / S / segments);
            }
            assert!(windows[12] < 1.0 && windows[13] > 1.0, "{windows:?}");
        }
    }

    /// 0.0745 / p: ln(1.01) / -ln(0.875) = 0.0745. Kelly's own 0.08 / p is 7 % above it.
    #[test]
    fn the_response_function_is_inverse_to_the_loss_rate() {
        for (preset, period, expected) in
            [("kelly", 1_000, 74.5), ("kelly", 10_000, 745.0), ("kelly", 100_000, 7450.0), ("linux", 10_000, 745.0)]
        {
            let mean = testing::mean_window(&spec(preset), period, 0.1, expected, 20);
            assert!((mean / expected - 1.0).abs() < 0.01, "{mean} is not {expected}");
        }
    }
}
