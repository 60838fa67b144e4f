//! HyStart (Ha and Rhee, "Taming the elephants: new TCP slow start", Computer Networks 2011; Linux `tcp_cubic.c`).
//!
//! A window of at least `low_window` leaves slow start (`ssthresh = cwnd`) at the first of two signs within a round trip:
//!
//! ```text
//! train:  ACKs that follow each other within ack_delta have lasted longer than train_share * RTTmin
//! delay:  min of the round (8 samples and more) > RTTmin + clamp(RTTmin / rtt_divisor, delay_min, delay_max)
//! ```
//!
//! A train of half the smallest round trip has filled half the path at the rate of the bottleneck, and doubling would
//! fill it. Once one is seen, only a timeout lets it look again. Paced segments come over the whole round trip, so their train has to last twice as long. Left out: Linux's
//! allowance for ACKs delayed by offloading (`hystart_ack_delay`).

use super::SlowStart;
use crate::declare::{Internals, parameters};
use crate::registry::Model;
use crate::round::Round;
use crate::{Ack, Signal, Window};
use elephan_units::{InvalidParameter, Span, Time};

parameters! {
    /// Smallest window in segments that is looked at.
    low_window: f64 = 16.0, "Linux tcp_cubic.c hystart_low_window";
    /// Longest gap between ACKs of one train.
    ack_delta: Span = Span::from_ms(2), "Linux tcp_cubic.c hystart_ack_delta_us";
    /// Length of a train that ends slow start, as a share of the smallest round-trip time; of paced segments twice as much.
    train_share: f64 = 0.5, "Linux tcp_cubic.c: delay_min >> 1" (min = 0);
    /// Divisor of the smallest round-trip time that gives the increase which ends slow start.
    rtt_divisor: f64 = 8.0, "Linux tcp_cubic.c HYSTART_DELAY_THRESH: delay_min >> 3" [min = 1];
    /// Smallest increase of the round-trip time that ends slow start.
    delay_min: Span = Span::from_ms(4), "Linux tcp_cubic.c HYSTART_DELAY_MIN";
    /// Largest increase that is waited for.
    delay_max: Span = Span::from_ms(16), "Linux tcp_cubic.c HYSTART_DELAY_MAX";
    /// Samples of a round before its smallest is believed.
    samples: u32 = 8, "Linux tcp_cubic.c HYSTART_MIN_SAMPLES" [min = 1];
}

#[derive(Clone, Debug)]
pub struct Hystart {
    parameters: Parameters,
    round: Round,
    round_start: Time,
    /// The last ACK of the train that the round began with.
    train_end: Time,
    /// Smallest round-trip time of the connection, and of this round.
    rtt_min: Span,
    round_rtt: Span,
    sampled: u32,
    /// Slow start was ended; it looks again after a timeout only.
    found: bool,
}

impl Internals for Hystart {}

impl Model for Hystart {
    type Parameters = Parameters;

    fn new(p: &Parameters) -> Hystart {
        Hystart {
            parameters: p.clone(),
            round: Round::default(),
            round_start: Time::ZERO,
            train_end: Time::ZERO,
            rtt_min: Span::MAX,
            round_rtt: Span::MAX,
            sampled: 0,
            found: false,
        }
    }

    fn check(p: &Parameters) -> Result<(), InvalidParameter> {
        if p.delay_max < p.delay_min {
            let reason = format!("must not be below delay_min, {}", p.delay_min);
            return Err(InvalidParameter::new("delay_max", reason));
        }
        Ok(())
    }
}

impl Hystart {
    /// Whether the ACK shows a train or a delay that ends slow start.
    fn congested(&mut self, now: Time, rtt: Option<Span>) -> bool {
        let p = &self.parameters;
        if now.since(self.train_end) <= p.ack_delta {
            self.train_end = now;
            if now.since(self.round_start).0 as f64 > p.train_share * self.rtt_min.0 as f64 {
                return true;
            }
        }
        let Some(rtt) = rtt else { return false };
        // Later samples count as well, for a path that gets shorter in the round is no queue (Linux tcp_cubic.c, "fix spurious
        // HYSTART_DELAY exit upon drop in min RTT").
        self.round_rtt = self.round_rtt.min(rtt);
        if self.sampled < p.samples {
            self.sampled += 1;
            return false;
        }
        let rise = Span((self.rtt_min.0 as f64 / p.rtt_divisor) as u64).clamp(p.delay_min, p.delay_max);
        self.round_rtt.0 > self.rtt_min.0.saturating_add(rise.0)
    }
}

impl SlowStart for Hystart {
    fn ends_by_delay(&self) -> bool {
        true
    }

    fn growth(&mut self, w: &mut Window, ack: &Ack, allowed: f64) -> f64 {
        self.rtt_min = self.rtt_min.min(ack.rtt.unwrap_or(Span::MAX));
        if self.round.advance(ack) {
            (self.round_start, self.train_end) = (ack.now, ack.now);
            (self.round_rtt, self.sampled) = (Span::MAX, 0);
        }
        let looks = w.cwnd >= self.parameters.low_window * w.mss && self.rtt_min != Span::MAX;
        if looks && !self.found && self.congested(ack.now, ack.rtt) {
            self.found = true;
            w.ssthresh = w.cwnd;
        }
        allowed
    }

    fn on_congestion(&mut self, signal: &Signal) {
        self.round = Round::default();
        // A slow start that a timeout does not begin, as after silence, leads to a threshold that is known (Linux `bictcp_reset`).
        self.found &= !matches!(signal, Signal::Rto { .. });
    }

    /// Paced ACKs come over the whole round trip (Linux: the threshold is halved for `SK_PACING_NONE` only).
    fn on_pacing(&mut self) {
        self.parameters.train_share *= 2.0;
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::MSS;
    use crate::{Ack, Controller, Spec, slow_start};
    use elephan_units::{Span, Time};
    use serde_json::json;

    /// The window in segments and the time at which slow start ended; every round's ACKs come `gap_ms` apart, and
    /// each round's round-trip times are `rtt_ms(round)`.
    fn leaves(parameters: serde_json::Value, gap_ms: f64, rtt_ms: impl Fn(u32) -> f64) -> Option<(u32, f64)> {
        let slow = slow_start::Spec::with("hystart", parameters.as_object().unwrap()).unwrap();
        let reno = Spec::named("reno").unwrap();
        left(Controller::with_slow_start(&reno, &slow, None, MSS, 10 * MSS), gap_ms, rtt_ms)
    }

    fn left(mut c: Controller, gap_ms: f64, rtt_ms: impl Fn(u32) -> f64) -> Option<(u32, f64)> {
        let mut begin = 0.0;
        for round in 0..12 {
            let window = (c.window() / MSS as f64) as u64;
            begin += rtt_ms(round) / 1e3;
            for n in 0..window {
                let now = Time::from_seconds(begin + n as f64 * gap_ms / 1e3);
                let rtt = Some(Span::from_seconds(rtt_ms(round) / 1e3));
                c.on_ack(&Ack { now, acked: MSS, rtt, inflight: window * MSS, ..Ack::default() });
                if !c.in_slow_start() {
                    return Some((round, c.window() / MSS as f64));
                }
            }
        }
        None
    }

    /// Half of 100 ms in steps of 1 ms: the train of the first round with more than 51 ACKs, which finds 80 segments. The
    /// 52nd ACK finds 131 and is Reno's.
    #[test]
    fn a_train_of_half_the_round_trip_ends_it() {
        let (round, window) = leaves(json!({}), 1.0, |_| 100.0).unwrap();
        assert!(round == 3 && (window - 131.0 - 1.0 / 131.0).abs() < 1e-9, "{window}");
        // Gaps beyond 2 ms are no train.
        assert_eq!(leaves(json!({}), 2.5, |_| 1e4), None);
    }

    /// Paced, the train has to last the whole 100 ms: the 102nd ACK of the round of 160 segments finds 261.
    #[test]
    fn a_paced_train_lasts_the_whole_round_trip() {
        let (reno, slow) = (Spec::named("reno").unwrap(), slow_start::Spec::named("hystart").unwrap());
        let paced = Controller::with_slow_start(&reno, &slow, None, MSS, 10 * MSS).pacing(200, 120);
        let (round, window) = left(paced, 1.0, |_| 100.0).unwrap();
        assert!(round == 4 && (window - 261.0 - 1.0 / 261.0).abs() < 1e-9, "{window}");
    }

    /// min of 8 samples > 100 + clamp(100 / 8, 4, 16) = 112.5 ms; with at most 4 ms already beyond 104.
    #[test]
    fn a_later_round_ends_it() {
        let rises = |to: f64| move |round: u32| if round < 4 { 100.0 } else { to };
        let long = |delay_max: &str| json!({ "train_share": 100.0, "delay_max": delay_max });
        assert_eq!(leaves(long("16 ms"), 0.1, rises(112.4)), None);
        // 160 segments at the beginning of round 4, eight samples, and the ninth ACK is Reno's.
        let (round, window) = leaves(long("16 ms"), 0.1, rises(112.6)).unwrap();
        assert!(round == 4 && (window - 168.0).abs() < 0.01, "{window}");
        assert_eq!(leaves(long("4 ms"), 0.1, rises(104.1)).map(|(round, _)| round), Some(4));
    }

    /// The path gets shorter in the middle of a round, 100 to 80 ms after 20 ACKs: the round's smallest falls with it.
    #[test]
    fn a_shorter_path_is_no_queue() {
        let slow = slow_start::Spec::with("hystart", json!({ "train_share": 100.0 }).as_object().unwrap()).unwrap();
        let mut c = Controller::with_slow_start(&Spec::named("reno").unwrap(), &slow, None, MSS, 40 * MSS);
        for n in 0..40 {
            let rtt = Some(Span::from_ms(if n < 20 { 100 } else { 80 }));
            c.on_ack(&Ack { acked: MSS, rtt, inflight: 40 * MSS, ..Ack::default() });
        }
        assert!(c.in_slow_start() && c.window() == 80.0 * MSS as f64);
    }

    #[test]
    fn a_small_window_is_left_alone() {
        assert_eq!(leaves(json!({ "low_window": 1e6 }), 1.0, |_| 10.0), None);
    }
}
