//! Hybla (Caini and Firrincieli 2004): the growth that Reno would have on a path with a round-trip time of RTT0.
//!
//! Windows in segments, rho = max(SRTT / RTT0, 1) with the smallest SRTT so far, RTT0 = 25 ms.
//!
//! ```text
//! slow start:            cwnd += 2^rho - 1       per ACK, at most to ssthresh
//! congestion avoidance:  cwnd += rho^2 / cwnd    per ACK (`per_ack`; per acknowledged segment without it)
//! event:                 ssthresh = max(cwnd / 2, 2),   cwnd = ssthresh           (timer: cwnd = 1)
//! ```
//!
//! so that the rate cwnd / RTT grows in time alike at every RTT above RTT0. Mean window with a loss every 1/p segments:
//! rho sqrt(3/2) / sqrt(p) segments.
//!
//! Slow start is an axis of its own: the slow start that is chosen adds its part (one per acknowledged segment without a
//! limit) and says when it ends; Hybla adds the 2^rho - 2 that are missing before it. So HyStart and HyStart++ work with
//! it, and with rho = 1 nothing is added.
//!
//! Presets: `linux` (the default) and `ns-3`, where RTT0 is 50 ms, segments count instead of ACKs and the smallest sample
//! instead of the smallest SRTT.
//!
//! The smallest, as in Linux and ns-3: with the queue in it, growth would rise with the square of the queue that it makes.
//! Chosen: an acknowledged segment opens the window by 2^16 - 1 at most, as Linux's slow start does. Left out: the initial window and ssthresh times rho, pacing, the estimate of the
//! channel's bandwidth, integer windows of kernels.

use super::CongestionControl;
use crate::declare::{LIMIT, loss_based, states};
use crate::registry::Model;
use crate::{Ack, Signal, Traits, Window};
use elephan_units::{InvalidParameter, Span};

/// RFC 5681 equation 4.
const BETA: f64 = 0.5;
/// Most bytes per acknowledged byte: 2^rho - 1 with rho at most 16 (Linux tcp_hybla.c).
const GAIN_MAX: f64 = 65_535.0;

loss_based! {
    reduce_from: Cwnd, "Linux tcp_hybla.c tcp_reno_ssthresh (cwnd)";
    /// RTT0: round-trip time of the path whose growth is the model.
    rtt0: Span = Span::from_ms(25), "Caini 2004; Linux tcp_hybla.c rtt0 25 ms; ns-3 TcpHybla RRTT 50 ms";
    /// The smallest smoothed round-trip time counts, not the smallest sample.
    smoothed: bool = true, "Linux tcp_hybla.c; ns-3 TcpHybla: no";
    /// An ACK counts as one segment, however many it acknowledges.
    per_ack: bool = true, "Caini 2004; Linux tcp_hybla.c hybla_cong_avoid; ns-3 TcpHybla: no";
}

#[derive(Clone, Debug)]
pub struct Hybla {
    p: Parameters,
    smallest_s: f64,
    rho: f64,
}

impl Model for Hybla {
    type Parameters = Parameters;
    const PRESETS: &'static [&'static str] = &["linux", "ns-3"];

    fn preset(name: &str) -> Parameters {
        match name {
            "ns-3" => Parameters { rtt0: Span::from_ms(50), smoothed: false, per_ack: false, ..Parameters::default() },
            _ => Parameters::default(),
        }
    }

    fn new(p: &Parameters) -> Hybla {
        Hybla { p: p.clone(), smallest_s: f64::INFINITY, rho: 1.0 }
    }

    fn check(p: &Parameters) -> Result<(), InvalidParameter> {
        InvalidParameter::between("rtt0", p.rtt0.seconds(), 0.0, LIMIT)
    }

    fn traits(_: &Parameters) -> Traits {
        // 2^16 times as fast, and one ACK may be slow start and congestion avoidance.
        Traits { slow_start_times: f64::from(1 << 17), counts_segments: true, ..Traits::default() }
    }
}

states! {
    Hybla, cc, value;
    "rho" ["1"] "smallest smoothed round-trip time in units of RTT0, at least 1": cc.rho, value >= 1.0 => cc.rho = value;
}

impl CongestionControl for Hybla {
    #[inline]
    fn on_delivery(&mut self, w: &mut Window, ack: &Ack) {
        let smoothed = ack.srtt.filter(|_| self.p.smoothed);
        if let Some(rtt) = smoothed.or(ack.rtt).map(Span::seconds).filter(|&rtt_s| rtt_s < self.smallest_s) {
            self.smallest_s = rtt;
            self.rho = (rtt / self.p.rtt0.seconds()).max(1.0);
        }
        if ack.app_limited || self.rho == 1.0 || !w.in_slow_start() {
            return;
        }
        // What the slow start itself adds keeps its room below ssthresh.
        let room = (w.ssthresh - w.cwnd - ack.acked as f64).max(0.0);
        let gain = (libm::exp2(self.rho) - 1.0).min(GAIN_MAX);
        w.cwnd += (gain * w.counted(ack, self.p.per_ack) - ack.acked as f64).clamp(0.0, room);
    }

    #[inline]
    fn on_ack(&mut self, w: &mut Window, ack: &Ack) {
        if !ack.app_limited {
            let gain = (self.rho * self.rho * w.mss / w.cwnd).min(GAIN_MAX);
            w.cwnd += gain * w.counted(ack, self.p.per_ack);
        }
    }

    fn on_congestion(&mut self, w: &mut Window, signal: &Signal) {
        w.cut(signal, BETA * self.p.reduce_from.bytes(w, signal.inflight()));
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{self, MSS, ack, ack_limited, loss, state};
    use crate::{Ack, Controller, Signal, Spec, slow_start};
    use elephan_units::{Span, Time};
    use serde_json::json;

    const S: f64 = MSS as f64;

    fn spec(rtt0: &str) -> Spec {
        Spec::with("hybla", json!({ "rtt0": rtt0 }).as_object().unwrap()).unwrap()
    }

    fn at(segments: f64, ssthresh: f64) -> Controller {
        let mut c = Controller::new(&spec("25 ms"), MSS, 10 * MSS);
        c.poke("cwnd", segments * S);
        c.poke("ssthresh", ssthresh * S);
        c
    }

    /// W(t) = rho 2^(rho t / RTT): with rho = 2 from 2 segments on 8, 32 and 128 after one, two and three round trips.
    #[test]
    fn slow_start_is_as_fast_in_time_as_on_the_reference_path() {
        let mut c = Controller::new(&spec("50 ms"), MSS, 2 * MSS);
        for expected in [8.0, 32.0, 128.0] {
            for _ in 0..(c.window() / S) as u64 {
                c.on_ack(&ack(0.0, MSS, 0.1));
            }
            assert_eq!((c.window(), state(&c, "rho")), (expected * S, 2.0));
        }
    }

    /// Linux: smoothed 200 ms over 25 ms; ns-3: a sample of 100 ms over 50 ms.
    #[test]
    fn presets_differ_in_the_reference() {
        for (preset, rho) in [("linux", 8.0), ("ns-3", 2.0)] {
            let spec = Spec::with("hybla", json!({ "preset": preset }).as_object().unwrap()).unwrap();
            let mut c = Controller::new(&spec, MSS, 2 * MSS);
            c.on_ack(&Ack { srtt: Some(Span::from_ms(200)), ..ack(0.0, MSS, 0.1) });
            assert_eq!(state(&c, "rho"), rho, "{preset}");
        }
    }

    /// rho = 4 at 100 ms: 15 per ACK in slow start, 16 / cwnd in congestion avoidance; rho = 1 up to 25 ms, where slow start adds what
    /// is acknowledged.
    #[test]
    fn growth_of_one_ack() {
        for (rtt_s, segments, ssthresh, acked, expected) in [
            (0.1, 10.0, 1e6, 1, 25.0),
            (0.1, 10.0, 1e6, 2, 25.0),
            (0.025, 10.0, 1e6, 2, 12.0),
            (0.1, 10.0, 20.0, 1, 20.0),
            (0.1, 10.0, 24.5, 1, 24.5),
            (0.025, 10.0, 1e6, 1, 11.0),
            (0.001, 10.0, 1e6, 1, 11.0),
            (0.1, 100.0, 100.0, 1, 100.16),
            (0.1, 100.0, 100.0, 100, 100.16),
            (0.001, 100.0, 100.0, 1, 100.01),
        ] {
            let mut c = at(segments, ssthresh);
            c.on_ack(&ack_limited(0.0, acked * MSS, rtt_s));
            assert_eq!(c.window(), segments * S);
            c.on_ack(&ack(0.0, acked * MSS, rtt_s));
            assert!((c.window() / S - expected).abs() < 1e-9, "{rtt_s} {segments}: {}", c.window());
        }
    }

    /// ns-3 counts segments: with rho = 2 at 100 ms 3 for each in slow start, 4 / cwnd in congestion avoidance.
    #[test]
    fn ns3_counts_segments() {
        for (segments, ssthresh, expected) in [(10.0, 1e6, 16.0), (100.0, 100.0, 100.08)] {
            let spec = Spec::with("hybla", json!({ "preset": "ns-3" }).as_object().unwrap()).unwrap();
            let mut c = Controller::new(&spec, MSS, 10 * MSS);
            c.poke("cwnd", segments * S);
            c.poke("ssthresh", ssthresh * S);
            c.on_ack(&ack(0.0, 2 * MSS, 0.1));
            assert!((c.window() / S - expected).abs() < 1e-9, "{segments}: {}", c.window());
        }
    }

    /// 2^16 - 1 segments.
    #[test]
    fn growth_has_a_limit_however_long_the_round_trip() {
        let mut c = at(10.0, 1e9);
        c.on_ack(&ack(0.0, MSS, 100.0));
        assert_eq!((c.window(), state(&c, "rho")), (65_545.0 * S, 4000.0));
    }

    #[test]
    fn the_smoothed_rtt_goes_before_the_sample() {
        let mut c = at(100.0, 100.0);
        c.on_ack(&Ack { srtt: Some(Span::from_ms(50)), ..ack(0.0, MSS, 0.1) });
        assert_eq!(state(&c, "rho"), 2.0);
        c.on_ack(&Ack { rtt: None, ..ack(0.0, MSS, 0.1) });
        assert_eq!(state(&c, "rho"), 2.0);
    }

    /// A queue that doubles the round trip leaves 16 / cwnd at 100 ms; a shorter path brings 4 / cwnd.
    #[test]
    fn a_queue_does_not_speed_growth_up() {
        let mut c = at(100.0, 100.0);
        for (rtt_s, rho, expected) in [(0.1, 4.0, 100.16), (0.2, 4.0, 100.16), (0.05, 2.0, 100.04), (0.1, 2.0, 100.04)]
        {
            c.poke("cwnd", 100.0 * S);
            c.on_ack(&ack(0.0, MSS, rtt_s));
            assert!((c.window() / S - expected).abs() < 1e-9 && state(&c, "rho") == rho, "{rtt_s}: {}", c.window());
        }
    }

    /// HyStart's end of slow start, here by the delay that grew, ends it for Hybla too.
    #[test]
    fn another_slow_start_still_decides_when_it_ends() {
        let hystart = slow_start::Spec::named("hystart").unwrap();
        let mut c = Controller::with_slow_start(&spec("25 ms"), &hystart, None, MSS, 20 * MSS);
        for round in 0..2 {
            for i in 0..10 {
                let acked = ack(f64::from(round) + 0.01 * f64::from(i), MSS, 0.05 + 0.05 * f64::from(round));
                c.on_ack(&Ack { inflight: 10 * MSS, ..acked });
            }
        }
        assert!(!c.in_slow_start() && c.ssthresh() < 200.0 * S, "{}", c.ssthresh());
    }

    #[test]
    fn events_halve() {
        let (now, inflight) = (Time::ZERO, 10 * MSS);
        for signal in [loss(0.0, 10.0), Signal::Ecn { now, inflight }, Signal::LocalDrop { now, inflight }] {
            let mut c = at(100.0, 100.0);
            c.on_congestion(&signal);
            assert_eq!((c.window(), c.ssthresh()), (50.0 * S, 50.0 * S));
        }
        let mut c = at(100.0, 100.0);
        c.on_congestion(&Signal::Rto { now, inflight });
        assert_eq!((c.window(), c.ssthresh()), (S, 50.0 * S));
        assert!(Spec::with("hybla", json!({ "rtt0": "0 s" }).as_object().unwrap()).is_err());
    }

    /// Additive increase of rho^2 = 16: 4 * 1.2247 / sqrt(p); Reno's at 25 ms.
    #[test]
    fn the_response_function_is_rho_times_that_of_reno() {
        for (rtt_s, period, expected) in [(0.1, 10_000, 489.9), (0.1, 100_000, 1549.2), (0.025, 10_000, 122.47)] {
            let mean = testing::mean_window(&spec("25 ms"), period, rtt_s, expected, 15);
            assert!((mean / expected - 1.0).abs() < 0.015, "{mean} is not {expected}");
        }
    }
}
