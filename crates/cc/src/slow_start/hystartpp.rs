//! HyStart++ (RFC 9406): when a round's round trips are longer than the last round's, growth slows to a quarter for some
//! rounds (conservative slow start, CSS) before slow start ends; if the delay goes away, slow start resumes.
//!
//! ```text
//! slow start:  cwnd += min(acked, L SMSS)                                                     section 4.2
//! to CSS:      8 samples, min of this round >= min of the last + clamp(it / 8, 4 ms, 16 ms); baseline = this min
//! CSS:         cwnd += min(acked, L SMSS) / 4
//! back:        8 samples and min of this round < baseline
//! end:         after 5 rounds in CSS (the one it begins in counts): ssthresh = cwnd
//! ```
//!
//! For the initial slow start only (section 4.3): after its end, or the first congestion event that was not needless, it is classic.

use super::SlowStart;
use crate::declare::{Internals, parameters};
use crate::registry::Model;
use crate::round::Round;
use crate::{Ack, Signal, Window};
use elephan_units::{InvalidParameter, Span};

parameters! {
    /// Smallest rise of the round-trip time that counts.
    rtt_thresh_min: Span = Span::from_ms(4), "RFC 9406 section 4.3, MIN_RTT_THRESH";
    /// Largest rise that is waited for.
    rtt_thresh_max: Span = Span::from_ms(16), "RFC 9406 section 4.3, MAX_RTT_THRESH";
    /// Divisor of the last round's round-trip time that gives the rise.
    rtt_divisor: f64 = 8.0, "RFC 9406 section 4.3, MIN_RTT_DIVISOR" [min = 1];
    /// Samples of a round before its smallest is believed.
    rtt_samples: u32 = 8, "RFC 9406 section 4.3, N_RTT_SAMPLE" [min = 1];
    /// How much slower conservative slow start grows.
    css_growth_divisor: f64 = 4.0, "RFC 9406 section 4.3, CSS_GROWTH_DIVISOR" [min = 2];
    /// Rounds of conservative slow start.
    css_rounds: u32 = 5, "RFC 9406 section 4.3, CSS_ROUNDS" [min = 1];
    /// Most segments that one ACK may add (L); takes the place of the stack's limit. 0 is no limit, as for paced flows.
    limit: f64 = 8.0, "RFC 9406 section 4.3, L for flows that are not paced" [min = 0];
}

#[derive(Clone, Debug)]
pub struct Hystartpp {
    parameters: Parameters,
    round: Round,
    last_rtt: Span,
    round_rtt: Span,
    sampled: u32,
    /// In CSS: the round-trip time at its beginning, and its rounds so far.
    css: Option<(Span, u32)>,
    /// The initial slow start has ended by itself or by a congestion event.
    over: bool,
}

impl Internals for Hystartpp {}

impl Model for Hystartpp {
    type Parameters = Parameters;

    fn new(p: &Parameters) -> Hystartpp {
        Hystartpp {
            parameters: p.clone(),
            round: Round::default(),
            last_rtt: Span::MAX,
            round_rtt: Span::MAX,
            sampled: 0,
            css: None,
            over: false,
        }
    }

    fn check(p: &Parameters) -> Result<(), InvalidParameter> {
        if p.rtt_thresh_max < p.rtt_thresh_min {
            let reason = format!("must not be below rtt_thresh_min, {}", p.rtt_thresh_min);
            return Err(InvalidParameter::new("rtt_thresh_max", reason));
        }
        Ok(())
    }
}

impl Hystartpp {
    fn begin_round(&mut self) {
        (self.last_rtt, self.round_rtt, self.sampled) = (self.round_rtt, Span::MAX, 0);
        if let Some((_, rounds)) = &mut self.css {
            *rounds += 1;
        }
    }

    fn look(&mut self, rtt: Span) {
        self.round_rtt = self.round_rtt.min(rtt);
        self.sampled += 1;
        let p = &self.parameters;
        if self.sampled < p.rtt_samples {
            return;
        }
        match self.css {
            Some((baseline, _)) if self.round_rtt < baseline => self.css = None,
            None if self.last_rtt != Span::MAX => {
                let rise = Span((self.last_rtt.0 as f64 / p.rtt_divisor) as u64);
                let rise = rise.clamp(p.rtt_thresh_min, p.rtt_thresh_max);
                if self.round_rtt >= self.last_rtt + rise {
                    self.css = Some((self.round_rtt, 0));
                }
            }
            _ => {}
        }
    }
}

impl SlowStart for Hystartpp {
    fn ends_by_delay(&self) -> bool {
        true
    }

    fn growth(&mut self, w: &mut Window, ack: &Ack, allowed: f64) -> f64 {
        if self.over && w.ssthresh.is_finite() {
            return allowed;
        }
        if self.round.advance(ack) {
            self.begin_round();
        }
        if let Some(rtt) = ack.rtt {
            self.look(rtt);
        }
        let p = &self.parameters;
        let acked = ack.acked as f64;
        let growth = if p.limit > 0.0 { acked.min(p.limit * w.mss) } else { acked };
        match self.css {
            None => growth,
            Some((_, rounds)) if rounds >= p.css_rounds => {
                w.ssthresh = w.cwnd;
                self.over = true;
                growth
            }
            Some(_) => growth / p.css_growth_divisor,
        }
    }

    fn on_congestion(&mut self, _: &Signal) {
        (self.css, self.over) = (None, true);
    }

    /// L is infinite for what is paced (RFC 9406 section 4.2).
    fn on_pacing(&mut self) {
        self.parameters.limit = 0.0;
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::MSS;
    use crate::{Ack, Controller, Signal, Spec, slow_start};
    use elephan_units::{Span, Time};

    fn windows(rtts_ms: &[f64]) -> (Vec<f64>, bool) {
        windows_below(f64::INFINITY, rtts_ms)
    }

    /// The window in segments at the beginning of each round, of `rtts_ms`, one ACK a segment, from a threshold of so many bytes.
    fn windows_below(ssthresh: f64, rtts_ms: &[f64]) -> (Vec<f64>, bool) {
        let slow = slow_start::Spec::named("hystartpp").unwrap();
        let mut c = Controller::with_slow_start(&Spec::named("reno").unwrap(), &slow, None, MSS, 10 * MSS);
        assert!(c.poke("ssthresh", ssthresh));
        let mut out = Vec::new();
        for (round, rtt) in rtts_ms.iter().enumerate() {
            out.push(c.window() / MSS as f64);
            let window = (c.window() / MSS as f64) as u64;
            for _ in 0..window {
                let rtt = Some(Span::from_seconds(rtt / 1e3));
                let now = Time::from_seconds(round as f64);
                c.on_ack(&Ack { now, acked: MSS, rtt, inflight: window * MSS, ..Ack::default() });
            }
        }
        (out, c.in_slow_start())
    }

    /// RFC 9406: 100 ms + clamp(12.5 ms, 4, 16): 112.4 ms goes on, 112.5 ms does not. The eighth sample of round 2 begins
    /// CSS: 7 segments, then a quarter of 33, a quarter a round for five rounds with the one it begins in.
    #[test]
    fn a_rise_brings_conservative_slow_start_and_then_its_end() {
        let (goes_on, still) = windows(&[100.0, 100.0, 112.4, 112.4, 112.4]);
        assert_eq!((goes_on, still), (vec![10.0, 20.0, 40.0, 80.0, 160.0], true));
        let (w, still) = windows(&[100.0, 100.0, 112.5, 112.5, 112.5, 112.5, 112.5, 112.5, 112.5]);
        assert_eq!(w[..4], [10.0, 20.0, 40.0, 40.0 + 7.0 + 33.0 / 4.0]);
        for n in 4..7 {
            assert!((w[n] / w[n - 1] - 1.25).abs() < 0.02, "{w:?}");
        }
        assert!((w[8] - w[7] - 1.0).abs() < 0.1 && !still, "{w:?}");
        // A stack's finite threshold at the start changes nothing below it; after a loss slow start is classic.
        assert_eq!(windows_below(1e9, &[100.0, 100.0, 112.5, 112.5]).0, w[..4]);
    }

    #[test]
    fn after_a_loss_it_is_classic() {
        let slow = slow_start::Spec::named("hystartpp").unwrap();
        let mut c = Controller::with_slow_start(&Spec::named("reno").unwrap(), &slow, Some(2.0), MSS, 100 * MSS);
        c.on_congestion(&Signal::Rto { now: Time::ZERO, inflight: 100 * MSS });
        for (round, rtt) in [100, 100, 200, 300].into_iter().enumerate() {
            let window = (c.window() / MSS as f64) as u64;
            for _ in 0..window {
                let now = Time::from_seconds(round as f64);
                let inflight = window * MSS;
                c.on_ack(&Ack { now, acked: MSS, rtt: Some(Span::from_ms(rtt)), inflight, ..Ack::default() });
            }
        }
        assert_eq!(c.window(), 16.0 * MSS as f64);
    }

    /// Delays that go away resume slow start: 7 samples at a quarter, the rest whole.
    #[test]
    fn it_resumes_when_the_delay_goes_away() {
        let (w, still) = windows(&[100.0, 100.0, 130.0, 101.0, 101.0]);
        assert!(still);
        let before = w[3];
        assert!((w[4] - (before + 7.0 / 4.0 + (before.floor() - 7.0))).abs() < 1e-9, "{w:?}");
    }

    /// Section 4.3: L = 8 for a flow that is not paced.
    #[test]
    fn an_ack_adds_at_most_eight_segments() {
        let slow = slow_start::Spec::named("hystartpp").unwrap();
        let mut c = Controller::with_slow_start(&Spec::named("reno").unwrap(), &slow, Some(2.0), MSS, 20 * MSS);
        c.on_ack(&Ack { acked: 20 * MSS, inflight: 20 * MSS, ..Ack::default() });
        assert_eq!(c.window(), 28_000.0);
    }
}
