//! TCP-Illinois (Liu, Basar and Srikant 2008; Linux `tcp_illinois.c`): the queueing delay sets growth and cut.
//!
//! Once a round trip, da = mean RTT of the round - baseRTT, dm = largest RTT ever - baseRTT, windows in segments:
//!
//! ```text
//! d1 = dm / 100, d2 = dm / 10, d3 = 0.8 dm
//! da <= d1:  alpha = 10, after theta = 5 such round trips in a row if the delay had been above d1
//! else       alpha = 10 (dm - d1) / ((dm - d1) + (da - d1) (10 - 0.3) / 0.3)                       0.3 at da = dm
//! beta = 0.125 for da <= d2, 0.5 for da >= d3, linear between
//! cwnd < 15: alpha = 1, beta = 0.5
//! growth:  cwnd += alpha / cwnd per acknowledged segment
//! event:   ssthresh = max((1 - beta) cwnd, 2), cwnd = ssthresh
//! timer:   the same ssthresh, cwnd = 1; alpha = 1 and beta = 0.5 until the next round trip is measured
//! ```
//!
//! Before the first round trip is measured alpha is 10 and beta 0.5, as in Linux. The mean of the round of what an event
//! found in flight is not looked at. Slow start is untouched; an ACK adds at most what it acknowledges.

use super::CongestionControl;
use crate::declare::{LIMIT, loss_based, states};
use crate::registry::Model;
use crate::round::{Delay, Measured};
use crate::{Ack, Signal, Traits, Window};
use elephan_units::{InvalidParameter, Span, Time};

loss_based! {
    /// Growth in segments a round trip when nothing waits.
    alpha_max: f64 = 10.0, "Linux tcp_illinois.c ALPHA_MAX; Liu, Basar and Srikant 2008" (min = 0);
    /// Growth in segments a round trip at the largest delay.
    alpha_min: f64 = 0.3, "Linux tcp_illinois.c ALPHA_MIN; Liu, Basar and Srikant 2008" (min = 0);
    /// The share of the window that an event takes at a small delay.
    beta_min: f64 = 0.125, "Linux tcp_illinois.c BETA_MIN; Liu, Basar and Srikant 2008" (min = 0, max = 1);
    /// The share of the window that an event takes at a large delay.
    beta_max: f64 = 0.5, "Linux tcp_illinois.c BETA_MAX; Liu, Basar and Srikant 2008" (min = 0, max = 1);
    /// Window in segments below which the congestion control is Reno's.
    win_thresh: f64 = 15.0, "Linux tcp_illinois.c win_thresh" [min = 0];
    /// Round trips of small delay in a row before growth is largest again.
    theta: u32 = 5, "Linux tcp_illinois.c theta" [min = 1];
    /// Share of the largest delay up to which growth is largest.
    d1: f64 = 0.01, "Linux tcp_illinois.c: dm / 100; Liu, Basar and Srikant 2008 eta_1" below [min = 0, max = 1];
    /// Share of the largest delay up to which an event takes `beta_min`.
    d2: f64 = 0.1, "Linux tcp_illinois.c: dm / 10; Liu, Basar and Srikant 2008 eta_2" below [min = 0, max = 1];
    /// Share of the largest delay from which it takes `beta_max`.
    d3: f64 = 0.8, "Linux tcp_illinois.c: 8 dm / 10; Liu, Basar and Srikant 2008 eta_3" above [min = 0, max = 1];
    /// Growth in segments a round trip below `win_thresh`, and after a timer.
    alpha_base: f64 = 1.0, "Linux tcp_illinois.c ALPHA_BASE: Reno's" (min = 0);
    /// The share of the window that an event takes below `win_thresh`, and after a timer.
    beta_base: f64 = 0.5, "Linux tcp_illinois.c BETA_BASE: Reno's" (min = 0, max = 1);
}

/// What an undone event restores.
#[derive(Clone, Copy, Debug)]
struct Shape {
    alpha: f64,
    beta: f64,
    /// The delay has been above d1 since growth was largest.
    above: bool,
    /// Round trips in a row with a delay up to d1.
    low: u32,
}

#[derive(Clone, Debug)]
pub struct Illinois {
    p: Parameters,
    delay: Delay,
    rtt_max: Span,
    shape: Shape,
    prior: Shape,
}

impl Model for Illinois {
    type Parameters = Parameters;

    fn new(p: &Parameters) -> Illinois {
        let shape = Shape { alpha: p.alpha_max, beta: p.beta_base, above: false, low: 0 };
        Illinois { p: p.clone(), delay: Delay::new(), rtt_max: Span::ZERO, shape, prior: shape }
    }

    fn check(p: &Parameters) -> Result<(), InvalidParameter> {
        InvalidParameter::above("d3", p.d3, p.d2, 1.0)?;
        InvalidParameter::within("alpha_max", p.alpha_max, p.alpha_min, LIMIT)?;
        InvalidParameter::within("beta_max", p.beta_max, p.beta_min, 1.0)
    }

    fn traits(_: &Parameters) -> Traits {
        Traits { counts_segments: true, ..Traits::default() }
    }
}

states! {
    Illinois, cc, value;
    "alpha" ["segments"] "growth in a round trip, for windows of win_thresh or more":
        cc.shape.alpha, value > 0.0 => cc.shape.alpha = value;
    "beta" ["1"] "share that an event takes, for windows of win_thresh or more":
        cc.shape.beta, (0.0..=1.0).contains(&value) => cc.shape.beta = value;
    "base_rtt" ["s"] "smallest round-trip time (baseRTT)": cc.delay.base_s(), value > 0.0 => cc.delay.set_base(value);
    "rtt_max" ["s"] "largest round-trip time": cc.rtt_max.seconds(), value >= 0.0 => cc.rtt_max = Span::from_seconds(value);
}

impl CongestionControl for Illinois {
    fn on_delivery(&mut self, _w: &mut Window, ack: &Ack) {
        self.rtt_max = self.rtt_max.max(ack.rtt.unwrap_or(Span::ZERO));
        match self.delay.advance(ack) {
            Some(measured) if measured.samples > 0 => self.reshape(&measured),
            _ => {}
        }
    }

    #[inline]
    fn on_ack(&mut self, w: &mut Window, ack: &Ack) {
        if ack.app_limited {
            return;
        }
        let alpha = if self.is_small(w) { self.p.alpha_base } else { self.shape.alpha };
        w.cwnd += w.per_round(alpha * w.mss, ack.acked).min(ack.acked as f64);
    }

    fn on_congestion(&mut self, w: &mut Window, signal: &Signal) {
        self.delay.restart();
        self.prior = self.shape;
        let beta = if self.is_small(w) { self.p.beta_base } else { self.shape.beta };
        w.cut(signal, (1.0 - beta) * w.cwnd);
        if matches!(signal, Signal::Rto { .. }) {
            self.shape = Shape { alpha: self.p.alpha_base, beta: self.p.beta_base, above: false, low: 0 };
        }
    }

    fn on_undo(&mut self, _w: &mut Window, _now: Time) {
        self.delay.restart();
        self.shape = self.prior;
    }
}

impl Illinois {
    fn is_small(&self, w: &Window) -> bool {
        w.cwnd < self.p.win_thresh * w.mss
    }

    fn reshape(&mut self, measured: &Measured) {
        let (p, shape) = (&self.p, &mut self.shape);
        let da = measured.mean.ps().saturating_sub(measured.base.ps()) as f64;
        let dm = self.rtt_max.ps().saturating_sub(measured.base.ps()) as f64;
        if da > p.d1 * dm {
            (shape.above, shape.low) = (true, 0);
            let (dm, da) = ((1.0 - p.d1) * dm, da - p.d1 * dm);
            shape.alpha = dm * p.alpha_max / (dm + da * (p.alpha_max - p.alpha_min) / p.alpha_min);
        } else {
            shape.low += 1;
            if !shape.above || shape.low >= p.theta {
                (shape.above, shape.low, shape.alpha) = (false, 0, p.alpha_max);
            }
        }
        let along = if dm > 0.0 { (da / dm - p.d2) / (p.d3 - p.d2) } else { 0.0 };
        shape.beta = p.beta_min + (p.beta_max - p.beta_min) * along.clamp(0.0, 1.0);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{MSS, ack_limited, loss, round, state};
    use crate::{Controller, Signal, Spec};
    use elephan_units::Time;
    use serde_json::json;

    const S: f64 = MSS as f64;

    /// 14 segments are below `win_thresh`, where growth and cut are Reno's unless others are given.
    #[test]
    fn small_windows_have_a_growth_and_a_cut_of_their_own() {
        for (table, grown, left) in
            [(json!({}), 15.0, 7.0), (json!({ "alpha_base": 2, "beta_base": 0.25 }), 16.0, 10.5)]
        {
            let mut c = Controller::new(&Spec::with("illinois", table.as_object().unwrap()).unwrap(), MSS, 14 * MSS);
            c.poke("ssthresh", 2.0 * S);
            let mut cut = c.clone();
            c.on_ack(&crate::testing::ack(0.0, 14 * MSS, 0.1));
            cut.on_congestion(&loss(0.0, 14.0));
            assert_eq!((c.window() / S, cut.window() / S), (grown, left));
        }
        let bad = json!({ "d2": 0.5, "d3": 0.5 });
        assert!(Spec::with("illinois", bad.as_object().unwrap()).is_err());
    }

    /// In congestion avoidance at 100 segments; round trips have been between 100 and 200 ms.
    fn illinois() -> Controller {
        let mut c = Controller::new(&Spec::named("illinois").unwrap(), MSS, 10 * MSS);
        c.poke("cwnd", 100.0 * S);
        c.poke("ssthresh", 100.0 * S);
        c.poke("base_rtt", 0.1);
        c.poke("rtt_max", 0.2);
        c
    }

    /// Round trips of `rtt_s` without growth; the ACK that begins a round tells what the one before it measured.
    fn rounds(c: &mut Controller, n: u32, rtt_s: f64) {
        for _ in 0..n {
            c.on_ack(&ack_limited(0.0, 100 * MSS, rtt_s));
        }
    }

    /// dm = 100 ms. alpha: 10 up to 1 ms, 0.3 at 100 ms, 99 * 10 / (99 + 49 * 97 / 3) = 0.5881 at 50 ms. beta: 0.125 up to
    /// 10 ms, 0.5 from 80 ms, 0.125 + 0.375 * 35 / 70 = 0.3125 at 45 ms.
    #[test]
    fn delay_sets_growth_and_cut() {
        for (delay_ms, alpha, beta) in [
            (0.0, 10.0, 0.125),
            (1.0, 10.0, 0.125),
            (10.0, 2.538_5, 0.125),
            (45.0, 0.650_6, 0.3125),
            (50.0, 0.588_1, 0.339_3),
            (80.0, 0.373_1, 0.5),
            (100.0, 0.3, 0.5),
        ] {
            let mut c = illinois();
            rounds(&mut c, 2, 0.1 + delay_ms / 1e3);
            assert!((state(&c, "alpha") - alpha).abs() < 1e-4, "{delay_ms}: {}", state(&c, "alpha"));
            assert!((state(&c, "beta") - beta).abs() < 1e-4, "{delay_ms}: {}", state(&c, "beta"));
        }
    }

    /// Linux theta = 5: the fifth round trip in a row.
    #[test]
    fn growth_returns_after_five_round_trips_without_delay() {
        let mut c = illinois();
        rounds(&mut c, 1, 0.2);
        rounds(&mut c, 5, 0.1);
        assert!((state(&c, "alpha") - 0.3).abs() < 1e-9, "{}", state(&c, "alpha"));
        rounds(&mut c, 1, 0.1);
        assert_eq!(state(&c, "alpha"), 10.0);
    }

    #[test]
    fn a_round_trip_adds_alpha() {
        let mut c = illinois();
        round(&mut c, 0.0, 0.1);
        assert!((c.window() / S - 110.0).abs() < 0.5, "{}", c.window());
        let mut c = illinois();
        c.poke("cwnd", 14.0 * S);
        c.poke("ssthresh", 14.0 * S);
        round(&mut c, 0.0, 0.1);
        assert!((c.window() / S - 15.0).abs() < 0.05, "{}", c.window());
    }

    #[test]
    fn an_event_takes_beta_and_half_of_a_small_window() {
        for (cwnd, beta, left) in [(100.0, 0.125, 87.5), (100.0, 0.5, 50.0), (14.0, 0.125, 7.0), (3.0, 0.5, 2.0)] {
            let mut c = illinois();
            c.poke("cwnd", cwnd * S);
            c.poke("beta", beta);
            c.on_congestion(&loss(0.0, cwnd));
            assert_eq!((c.window(), c.ssthresh()), (left * S, left * S));
        }
        let mut c = illinois();
        c.poke("beta", 0.125);
        c.on_congestion(&Signal::Rto { now: Time::ZERO, inflight: 100 * MSS });
        assert_eq!((c.window(), c.ssthresh()), (S, 87.5 * S));
        assert_eq!((state(&c, "alpha"), state(&c, "beta")), (1.0, 0.5));
    }
}
