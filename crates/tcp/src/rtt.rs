//! The round-trip estimator and the retransmission timeout: pure arithmetic on samples.
//!
//! RFC 6298 section 2, with R the first and R' a later sample, alpha = 1/8, beta = 1/4, K = 4:
//!
//! ```text
//! SRTT = R, RTTVAR = R/2                                             (2.2)
//! RTTVAR = (1 - beta) RTTVAR + beta |SRTT - R'|                      (2.3)
//! SRTT   = (1 - alpha) SRTT + alpha R'
//! RTO    = max(rto_min, SRTT + max(G, K RTTVAR)), at most rto_max    (2.3, 2.4, 2.5)
//! ```
//!
//! With several samples a round trip RFC 7323 appendix G divides both gains by the number expected.
//! Linux (`tcp_rtt_estimator`, `tcp_set_rto`) keeps `rttvar`, four mean deviations, as a per-round maximum that rises
//! at once and falls by a quarter of the difference a round; it never lies below rto_min, a sample that falls below
//! SRTT by more than the deviation enters with gain 1/32, and RTO = SRTT + rttvar.
//!
//! FreeBSD (`TCPT_RANGESET`) adds 200 ms of slop: RTO = max(rto_min, SRTT + max(G, K RTTVAR) + 200 ms); its back-off
//! leaves the slop single, which is not modelled.
//!
//! Each expiry doubles the timeout (5.5) up to rto_max; the next sample takes the doubling back (5.7, Karn).

use crate::options::{Options, RtoRule};
use elephan_units::{Span, Time};

/// alpha and beta of RFC 6298 section 2.3.
const ALPHA: f64 = 0.125;
const BETA: f64 = 0.25;
/// K of RFC 6298 section 2.
const K: f64 = 4.0;
/// FreeBSD net.inet.tcp.rexmit_slop.
const FREEBSD_SLOP: Span = Span::from_ms(200);
/// The timeout for data after a SYN that was retransmitted (RFC 6298 section 5.7).
pub const RTO_AFTER_SYN_LOSS: Span = Span::from_s(3);

/// The nearest span to `ps`, which is not negative (by way of i64, which is one instruction).
#[inline]
fn nearest(ps: f64) -> Span {
    Span((ps + 0.5) as i64 as u64)
}

/// The estimator of one connection's round-trip time and retransmission timeout.
///
/// ```
/// use elephan_tcp::rtt::Estimator;
/// use elephan_units::{Span, Time};
///
/// let mut estimator = Estimator::of(&elephan_tcp::stack("rfc").unwrap());
/// // RFC 6298 section 2: without a sample 1 s; after R = 500 ms, SRTT = R, RTTVAR = R / 2, RTO = SRTT + 4 RTTVAR.
/// assert_eq!(estimator.rto(), Span::from_s(1));
/// estimator.sample(Time::ZERO + Span::from_ms(500), Span::from_ms(500));
/// assert_eq!(estimator.srtt(), Some(Span::from_ms(500)));
/// assert_eq!(estimator.rto(), Span::from_ms(1500));
/// // Section 5.5: an expiry doubles it.
/// estimator.backoff();
/// assert_eq!(estimator.rto(), Span::from_s(3));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Estimator {
    /// Picoseconds; meaningless before the first sample.
    srtt: f64,
    /// RTTVAR; under the Linux rule a quarter of `rttvar_us`.
    rttvar: f64,
    /// Linux: mean deviation, its maximum in this round, and when the round began.
    mdev: f64,
    mdev_max: f64,
    round: Time,
    /// RTO in force.
    rto: Span,
    /// Samples expected in a round trip, and the gains' divisor that follows: a division saved.
    expected: f64,
    scale: f64,
    min: Span,
    max: Span,
    /// Picoseconds.
    granularity: f64,
    rule: RtoRule,
    sampled: bool,
    backoffs: u32,
}

impl Estimator {
    /// Returns an estimator without samples. Its first timeout is `initial`; later ones lie between `min` and `max`.
    pub fn new(rule: RtoRule, initial: Span, min: Span, max: Span, granularity: Span) -> Estimator {
        let rto = initial.min(max);
        Estimator {
            srtt: 0.0,
            rttvar: 0.0,
            mdev: 0.0,
            mdev_max: 0.0,
            round: Time::ZERO,
            rto,
            expected: 1.0,
            scale: 1.0,
            min,
            max,
            granularity: granularity.0 as f64,
            rule,
            sampled: false,
            backoffs: 0,
        }
    }

    /// Returns the estimator that the options of a stack describe.
    pub fn of(o: &Options) -> Estimator {
        Estimator::new(o.rto_rule, o.rto_initial, o.rto_min, o.rto_max, o.clock_granularity)
    }

    /// Returns the timeout without back-off, and how long the timeouts since the first that expired have lasted.
    pub fn waited(&self) -> (Span, Span) {
        let first = if self.sampled { self.compute() } else { Span(self.rto.0 >> self.backoffs.min(63)) };
        let nth = |n: u32| Span(first.0.saturating_mul(1 << n.min(40))).min(self.max);
        (first, (1..=self.backoffs).fold(Span::ZERO, |sum, n| Span(sum.0.saturating_add(nth(n).0))))
    }

    /// Takes a sample that was finished at `now`.
    pub fn sample(&mut self, now: Time, rtt: Span) {
        self.sample_of(now, rtt, 1.0);
    }

    /// Takes one of `expected` samples of a round trip (RFC 7323 appendix G; the Linux rule does not scale).
    #[inline]
    pub fn sample_of(&mut self, now: Time, rtt: Span, expected: f64) {
        let r = rtt.0 as f64;
        match (self.sampled, self.rule) {
            (false, _) => self.first(now, r),
            (true, RtoRule::Rfc6298 | RtoRule::Freebsd) => {
                if expected != self.expected {
                    (self.expected, self.scale) = (expected, 1.0 / expected);
                }
                self.rttvar += BETA * self.scale * ((self.srtt - r).abs() - self.rttvar);
                self.srtt += ALPHA * self.scale * (r - self.srtt);
            }
            (true, RtoRule::Linux) => self.linux(now, r),
        }
        self.backoffs = 0;
        self.rto = self.compute();
    }

    fn first(&mut self, now: Time, r: f64) {
        self.sampled = true;
        self.srtt = r;
        self.rttvar = r / 2.0;
        self.mdev = r / 2.0;
        if self.rule == RtoRule::Linux {
            self.rttvar = self.rttvar.max(self.min.0 as f64 / K);
        }
        self.mdev_max = self.rttvar;
        self.round = now;
    }

    fn linux(&mut self, now: Time, r: f64) {
        let error = r - self.srtt;
        self.srtt += ALPHA * error;
        let excess = error.abs() - self.mdev;
        self.mdev += if error < 0.0 && excess > 0.0 { BETA * excess / 8.0 } else { BETA * excess };
        self.mdev_max = self.mdev_max.max(self.mdev);
        self.rttvar = self.rttvar.max(self.mdev_max);
        // A round ends with the first sample of a segment sent after the round began.
        if now.0.saturating_sub(r as u64) > self.round.0 {
            self.rttvar -= (self.rttvar - self.mdev_max) / 4.0;
            self.round = now;
            self.mdev_max = self.min.0 as f64 / K;
        }
    }

    #[inline]
    fn compute(&self) -> Span {
        let rto = match self.rule {
            RtoRule::Rfc6298 | RtoRule::Freebsd => self.srtt + (K * self.rttvar).max(self.granularity),
            RtoRule::Linux => self.srtt + K * self.rttvar,
        };
        let rto = nearest(rto);
        match self.rule {
            RtoRule::Rfc6298 => rto.max(self.min).min(self.max),
            RtoRule::Linux => rto.min(self.max),
            RtoRule::Freebsd => (rto + FREEBSD_SLOP).max(self.min).min(self.max),
        }
    }

    /// Sets the longest timeout; the timeout in force stays.
    pub fn set_most(&mut self, most: Span) {
        self.max = most;
    }

    /// Doubles the timeout. Call it when the timer has expired.
    pub fn backoff(&mut self) {
        self.backoffs += 1;
        self.rto = self.rto.saturating_mul(2).min(self.max);
    }

    /// Returns how often the timer has expired since the last sample.
    pub fn backoffs(&self) -> u32 {
        self.backoffs
    }

    /// Is called when the SYN was retransmitted. If the handshake gave no sample, data begins with the `initial` timeout and 3 s at least (RFC
    /// 6298 section 5.7).
    pub fn after_syn_loss(&mut self, initial: Span) {
        self.backoffs = 0;
        if !self.sampled {
            self.rto = initial.max(RTO_AFTER_SYN_LOSS).min(self.max);
        }
    }

    /// Returns the timeout in force, with its back-off.
    #[inline]
    pub fn rto(&self) -> Span {
        self.rto
    }

    /// Returns the smoothed round-trip time, `None` before the first sample.
    #[inline]
    pub fn srtt(&self) -> Option<Span> {
        self.sampled.then_some(nearest(self.srtt))
    }

    /// Returns RTTVAR, `None` before the first sample. Under the Linux rule it is a quarter of the kernel's `rttvar_us`, floor included.
    pub fn rttvar(&self) -> Option<Span> {
        self.sampled.then_some(nearest(self.rttvar))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rfc(min: Span) -> Estimator {
        Estimator::new(RtoRule::Rfc6298, Span::from_s(1), min, Span::from_s(60), Span::from_ms(1))
    }

    fn ms(estimator: &Estimator) -> (f64, f64, f64) {
        let of = |span: Span| span.0 as f64 / 1e9;
        (of(estimator.srtt().unwrap()), of(estimator.rttvar().unwrap()), of(estimator.rto()))
    }

    #[test]
    fn rfc_6298_first_and_later_samples() {
        let mut e = rfc(Span(1000));
        assert_eq!((e.srtt(), e.rto()), (None, Span::from_s(1)));
        e.sample(Time(0), Span::from_ms(100));
        // R = 100: SRTT 100, RTTVAR 50, RTO 100 + 4*50.
        assert_eq!(ms(&e), (100.0, 50.0, 300.0));
        e.sample(Time(0), Span::from_ms(180));
        // RTTVAR = 0.75*50 + 0.25*80 = 57.5; SRTT = 0.875*100 + 0.125*180 = 110; RTO = 110 + 230.
        assert_eq!(ms(&e), (110.0, 57.5, 340.0));
    }

    #[test]
    fn rfc_6298_bounds() {
        let mut e = rfc(Span::from_s(1));
        e.sample(Time(0), Span::from_ms(100));
        assert_eq!(e.rto(), Span::from_s(1));
        // Without variance the granularity takes its place: RTO -> SRTT + G.
        let mut e = rfc(Span(1000));
        for _ in 0..400 {
            e.sample(Time(0), Span::from_ms(10));
        }
        assert_eq!(e.rto(), Span::from_ms(11));
    }

    /// R = 100: 100 + 4 * 50 + 200; a path without variance and delay stays at 30 + 200.
    #[test]
    fn freebsd_adds_its_slop() {
        let freebsd = || {
            let (min, max) = (Span::from_ms(230), Span::from_s(64));
            Estimator::new(RtoRule::Freebsd, Span::from_s(1), min, max, Span::from_ms(1))
        };
        let mut e = freebsd();
        e.sample(Time(0), Span::from_ms(100));
        assert_eq!(ms(&e), (100.0, 50.0, 500.0));
        let mut e = freebsd();
        for _ in 0..400 {
            e.sample(Time(0), Span::from_ms(10));
        }
        assert_eq!(e.rto(), Span::from_ms(230));
    }

    #[test]
    fn backoff_doubles_to_the_cap_and_a_sample_ends_it() {
        let mut e = rfc(Span::from_s(1));
        e.sample(Time(0), Span::from_ms(100));
        let seen: Vec<u64> = (0..8)
            .map(|_| {
                e.backoff();
                e.rto().0 / 1_000_000_000_000
            })
            .collect();
        assert_eq!(seen, [2, 4, 8, 16, 32, 60, 60, 60]);
        e.sample(Time(0), Span::from_ms(100));
        assert_eq!((e.rto(), e.backoffs()), (Span::from_s(1), 0));
    }

    #[test]
    fn appendix_g_scales_the_gains() {
        let mut e = rfc(Span(1000));
        e.sample(Time(0), Span::from_ms(100));
        e.sample_of(Time(0), Span::from_ms(180), 10.0);
        // alpha' = 1/80, beta' = 1/40: RTTVAR = 50 + 30/40, SRTT = 100 + 80/80.
        assert_eq!(ms(&e), (101.0, 50.75, 304.0));
    }

    #[test]
    fn linux_minimum_is_on_the_variance() {
        let mut e = Estimator::new(RtoRule::Linux, Span::from_s(1), Span::from_ms(200), Span::from_s(120), Span(0));
        e.sample(Time(100_000_000_000), Span::from_ms(100));
        // rttvar_us = max(2*100, 200) = 200 ms.
        assert_eq!(e.rto(), Span::from_ms(300));
        for i in 2..2000u64 {
            e.sample(Time(i * 100_000_000_001), Span::from_ms(100));
        }
        assert_eq!(e.rto(), Span::from_ms(300));
        assert_eq!(Estimator::rttvar(&e), Some(Span::from_ms(50)));
    }

    #[test]
    fn linux_falling_samples_enter_slowly() {
        let mut e = Estimator::new(RtoRule::Linux, Span::from_s(1), Span::from_ms(200), Span::from_s(120), Span(0));
        e.sample(Time(1_000_000_000_000), Span::from_s(1));
        // mdev = 500 ms. A sample of 0.1 s: error -900, excess 400: mdev = 500 + 400/32 = 512.5, SRTT 887.5,
        // rttvar = max(500, 512.5), RTO = 887.5 + 4*512.5.
        e.sample(Time(1_000_000_000_001), Span::from_ms(100));
        assert_eq!(e.rto(), Span(2_937_500_000_000));
    }

    #[test]
    fn syn_loss_starts_data_at_three_seconds() {
        let mut e = rfc(Span::from_s(1));
        e.backoff();
        e.after_syn_loss(Span::from_s(1));
        assert_eq!(e.rto(), Span::from_s(3));
        let mut sampled = rfc(Span::from_s(1));
        sampled.sample(Time(0), Span::from_ms(10));
        sampled.after_syn_loss(Span::from_s(1));
        assert_eq!(sampled.rto(), Span::from_s(1));
    }

    proptest! {
        #[test]
        fn always_within_bounds(samples in prop::collection::vec((1u64..10_000_000_000_000, 0u8..4), 1..60)) {
            for rule in [RtoRule::Rfc6298, RtoRule::Linux, RtoRule::Freebsd] {
                let mut e = Estimator::new(rule, Span::from_s(1), Span::from_ms(10), Span::from_s(60), Span::from_ms(1));
                let mut now = Time(20_000_000_000_000);
                for &(rtt, backoffs) in &samples {
                    now += Span(rtt);
                    e.sample(now, Span(rtt));
                    for _ in 0..backoffs { e.backoff(); }
                    prop_assert!(e.rto() >= Span::from_ms(10) && e.rto() <= Span::from_s(60));
                    prop_assert!(e.srtt().unwrap() <= Span(10_000_000_000_000));
                }
            }
        }
    }
}
