//! PIE's controller (Pan et al. 2013, RFC 8033), as Linux sch_pie.c has it: the probability of one queue.
//!
//! Each `tupdate`, with the delay `q` of the queue and that of the update before:
//!
//! ```text
//! p += scale(p) (alpha (q - target) + beta (q - q_old))        alpha = 2/16, beta = 20/16 per second
//! p    < 1e-6   < 1e-5  < 1e-4  < 1e-3  < 1e-2  < 1e-1  else
//! scale  1/2048   1/512   1/128   1/32    1/8     1/2     1
//! ```
//!
//! From p = 0.1 on a step is 0.02 at most; q above 250 ms adds 0.02; p *= 63/64 when q = q_old = 0 (RFC 8033: 0.98). A packet
//! that comes adds p to a sum; below 0.85 it is let pass, from 8.5 on it is picked, between with probability p; a drop sets the
//! sum to zero. Nothing is picked during the burst allowance of 150 ms of departures, which begins anew when p = 0 and q
//! and q_old are below target / 2; nor when q is below target / 2 and p below 0.2; nor when less than two full packets wait.
//!
//! The delay is that of the last packet that left, by timestamps, 0 if it left nothing behind: the default of Linux; its
//! estimator of the departure rate is left out. The first update comes `tupdate` after the start of the run.

use elephan_random::Stream;
use elephan_units::{Span, Time};

use super::ticks::Ticks;

/// Why it drops.
pub const REASON: &str = "pie";
/// Burst allowance (RFC 8033 section 4.4).
const BURST: Span = Span::from_ms(150);
/// Above this the probability grows faster (Linux sch_pie.c).
const DELAY_HIGH: Span = Span::from_ms(250);
/// Largest step of the probability from [`STEP_BOUNDED_FROM`] on, and what a high delay adds.
const STEP_MAX: f64 = 0.02;
const STEP_BOUNDED_FROM: f64 = 0.1;
/// Below this a short queue is left alone.
const LENIENT_BELOW: f64 = 0.2;
/// Bounds of the accumulated probability (RFC 8033 section 5.4).
const ACCUMULATED: [f64; 2] = [0.85, 8.5];
/// Up to this probability a packet may be marked instead of dropped (RFC 8033 section 5.1).
pub const MARK_UP_TO: f64 = 0.1;
const DECAY: f64 = 63.0 / 64.0;
/// A probability that decays is zero from here on: no packet would notice it.
const PROBABILITY_MIN: f64 = 1e-12;

/// The parameters.
#[derive(Clone, Copy, Debug)]
pub struct Tuning {
    pub target: Span,
    /// Per second.
    pub alpha: f64,
    pub beta: f64,
    pub ecn: bool,
    /// Probability up to which packets are marked.
    pub mark_up_to: f64,
    /// Whether small packets are picked less often.
    pub bytemode: bool,
}

/// The state of one queue under the algorithm.
#[derive(Clone, Copy, Debug)]
pub struct Pie {
    probability: f64,
    delay: Span,
    delay_old: Span,
    accumulated: f64,
    burst_left: Span,
    /// The last departure, since the burst allowance began.
    departed: Option<Time>,
    ticks: Ticks,
}

/// The factor of alpha and beta at probability `p`.
fn scale(p: f64) -> f64 {
    let steps = [(1e-6, 2048.0), (1e-5, 512.0), (1e-4, 128.0), (1e-3, 32.0), (1e-2, 8.0), (1e-1, 2.0)];
    steps.iter().find(|(below, _)| p < *below).map_or(1.0, |(_, divisor)| 1.0 / divisor)
}

impl Pie {
    pub fn new(tupdate: Span) -> Pie {
        Pie {
            probability: 0.0,
            delay: Span::ZERO,
            delay_old: Span::ZERO,
            accumulated: 0.0,
            burst_left: BURST,
            departed: None,
            ticks: Ticks::every(tupdate),
        }
    }

    /// Whether what is picked is marked, if it can be.
    pub fn marks(&self, tuning: &Tuning) -> bool {
        tuning.ecn && self.probability <= tuning.mark_up_to
    }

    /// Whether a packet of `bytes` that comes to `backlog` waiting bytes is picked out; `mtu_bytes` is the largest packet.
    /// Updates must have been made.
    #[inline]
    pub fn picks(&mut self, tuning: &Tuning, stream: &mut Stream, bytes: u32, backlog: u64, mtu_bytes: u32) -> bool {
        if self.burst_left > Span::ZERO
            || (self.delay.0 < tuning.target.0 / 2 && self.probability < LENIENT_BELOW)
            || backlog < 2 * u64::from(mtu_bytes)
        {
            return false;
        }
        let share = if tuning.bytemode { f64::from(bytes) / f64::from(mtu_bytes) } else { 1.0 };
        let p = self.probability * share;
        self.accumulated = if p == 0.0 { 0.0 } else { self.accumulated + p };
        let [never, always] = ACCUMULATED;
        if self.accumulated < never {
            return false;
        }
        let picked = self.accumulated >= always || stream.bernoulli(p);
        if picked {
            self.accumulated = 0.0;
        }
        picked
    }

    /// A packet was dropped because the queue was full.
    pub fn overflow(&mut self) {
        self.accumulated = 0.0;
    }

    /// A packet that has waited for `sojourn` leaves `backlog` bytes behind.
    #[inline]
    pub fn departs(&mut self, now: Time, sojourn: Span, backlog: u64) {
        self.delay = if backlog == 0 { Span::ZERO } else { sojourn };
        let since = self.departed.map_or(Span::ZERO, |last| now.since(last));
        self.departed = Some(now);
        self.burst_left = Span(self.burst_left.0.saturating_sub(since.0));
    }

    /// Makes the updates that have come due; `backlog` bytes have waited since the last call.
    #[inline]
    pub fn update(&mut self, tuning: &Tuning, now: Time, backlog: u64) {
        while self.ticks.due(now).is_some() {
            self.step(tuning, backlog);
            let at_rest = self.probability == 0.0 && self.burst_left == BURST && self.delay == self.delay_old;
            if at_rest && (self.delay == Span::ZERO || self.delay.0 < tuning.target.0 / 2) {
                self.ticks.skip(now);
            }
        }
    }

    /// One update.
    fn step(&mut self, tuning: &Tuning, backlog: u64) {
        let (q, old) = (self.delay.seconds(), self.delay_old.seconds());
        let mut step =
            scale(self.probability) * (tuning.alpha * (q - tuning.target.seconds()) + tuning.beta * (q - old));
        if self.probability >= STEP_BOUNDED_FROM {
            step = step.min(STEP_MAX);
        }
        if self.delay > DELAY_HIGH {
            step += STEP_MAX;
        }
        self.probability = (self.probability + step).clamp(0.0, 1.0);
        // No delay with packets waiting is a delay too short to see.
        if self.delay == Span::ZERO && self.delay_old == Span::ZERO && backlog == 0 {
            self.probability *= DECAY;
            if self.probability < PROBABILITY_MIN {
                self.probability = 0.0;
            }
        }
        let half = tuning.target.0 / 2;
        let short = |delay: Span| delay == Span::ZERO || delay.0 < half;
        if short(self.delay) && short(self.delay_old) && self.probability == 0.0 {
            (self.accumulated, self.burst_left, self.departed) = (0.0, BURST, None);
        }
        self.delay_old = self.delay;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TUNING: Tuning = Tuning {
        target: Span::from_ms(15),
        alpha: 0.125,
        beta: 1.25,
        ecn: false,
        mark_up_to: MARK_UP_TO,
        bytemode: false,
    };

    fn pie() -> Pie {
        Pie::new(Span::from_ms(15))
    }

    fn at_ms(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    fn near(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-12 + 1e-9 * expected.abs(), "{value} is not {expected}");
    }

    /// From p = 0 with q = 25 ms, q_old = 0: (0.125 * 0.01 + 1.25 * 0.025) / 2048 = 0.0325 / 2048 = 1.586914e-5; then q_old = q:
    /// 0.00125 / 128 = 9.765625e-6 more.
    #[test]
    fn the_first_steps() {
        let mut p = pie();
        p.delay = Span::from_ms(25);
        p.update(&TUNING, at_ms(14), 10_000);
        near(p.probability, 0.0);
        p.update(&TUNING, at_ms(15), 10_000);
        near(p.probability, 1.586_914_062_5e-5);
        p.update(&TUNING, at_ms(30), 10_000);
        near(p.probability, 2.563_476_562_5e-5);
    }

    /// q = q_old = 23 ms: 0.125 * 0.008 = 0.001 scaled by what RFC 8033 section 5.2 has for each decade of p.
    #[test]
    fn steps_are_scaled_by_the_probability() {
        for (p_before, divisor) in [
            (5e-7, 2048.0),
            (5e-6, 512.0),
            (5e-5, 128.0),
            (5e-4, 32.0),
            (5e-3, 8.0),
            (5e-2, 2.0),
            (0.1, 1.0),
            (0.5, 1.0),
        ] {
            let mut p = pie();
            (p.probability, p.delay, p.delay_old) = (p_before, Span::from_ms(23), Span::from_ms(23));
            p.update(&TUNING, at_ms(15), 10_000);
            near(p.probability, p_before + 0.001 / divisor);
        }
    }

    /// From 0.1 on at most 0.02 a step: q from 0 to 100 ms would be 0.010625 + 0.125. Above 250 ms 0.02 more. Below 0.1 the
    /// step is not bounded: (0.010625 + 0.125) / 2 = 0.0678125. And p never leaves 0 .. 1.
    #[test]
    fn steps_are_bounded() {
        for (before, q_ms, after) in
            [(0.1, 100, 0.12), (0.1, 251, 0.14), (0.09, 100, 0.157_812_5), (0.99, 251, 1.0), (0.0001, 0, 0.0)]
        {
            let mut p = pie();
            (p.probability, p.delay) = (before, Span::from_ms(q_ms));
            p.delay_old = Span::from_ms(if q_ms == 0 { 100 } else { 0 });
            p.update(&TUNING, at_ms(15), 10_000);
            near(p.probability, after);
        }
    }

    /// An empty queue, q = q_old = 0: -0.125 * 0.015 = -0.001875 and then 63/64 of the rest, each update: from 0.5 that is
    /// 0.498125 * 63/64 = 0.490341796875. Missed updates are made up for.
    #[test]
    fn an_empty_queue_forgets() {
        let mut p = pie();
        p.probability = 0.5;
        p.update(&TUNING, at_ms(15), 0);
        near(p.probability, 0.490_341_796_875);
        let mut late = pie();
        late.probability = 0.5;
        (2..=40).for_each(|n| p.update(&TUNING, at_ms(15 * n), 0));
        late.update(&TUNING, at_ms(15 * 40 + 7), 0);
        assert_eq!(late.probability.to_bits(), p.probability.to_bits());
        assert!(p.probability > 0.15);
        // Packets that wait too short to be seen keep it from falling faster.
        let mut p = pie();
        p.probability = 0.5;
        p.update(&TUNING, at_ms(15), 100);
        near(p.probability, 0.498_125);
    }

    /// The allowance is spent by 150 ms between departures, and begins anew when the queue has been short and p is 0.
    #[test]
    fn the_burst_allowance() {
        let mut p = pie();
        let (delay, backlog) = (Span::from_ms(30), 100_000);
        let mut stream = Stream::new(1, "test", "queue");
        p.probability = 1.0;
        for ms in [1000, 1100, 1149] {
            p.departs(at_ms(ms), delay, backlog);
            for _ in 0..20 {
                assert!(!p.picks(&TUNING, &mut stream, 1500, backlog, 1514), "{ms}");
            }
        }
        p.departs(at_ms(1150), delay, backlog);
        assert!(p.picks(&TUNING, &mut stream, 1500, backlog, 1514));
        (p.probability, p.delay) = (0.0, Span::ZERO);
        p.update(&TUNING, at_ms(2000), 0);
        assert_eq!(p.burst_left, BURST);
    }

    /// p = 0.125: 6 packets pass (0.75 < 0.85), the seventh may be picked. Gaps are at least 7 and at most 68 (8.5 / 0.125).
    #[test]
    fn drops_are_neither_close_nor_far() {
        let mut p = pie();
        (p.probability, p.delay, p.burst_left) = (0.125, Span::from_ms(20), Span::ZERO);
        let mut stream = Stream::new(1, "test", "queue");
        let (mut gap, mut gaps) = (0, Vec::new());
        for _ in 0..200_000 {
            gap += 1;
            if p.picks(&TUNING, &mut stream, 1500, 100_000, 1514) {
                gaps.push(std::mem::take(&mut gap));
            }
        }
        let (least, most) = (*gaps.iter().min().unwrap(), *gaps.iter().max().unwrap());
        assert!(least == 7 && most <= 68, "{least} .. {most}");
        // Six pass, then a geometric gap of mean 8: 14 in the mean, to within 4 of 7.5 / sqrt(14 286).
        let mean = 200_000.0 / gaps.len() as f64;
        assert!((mean - 14.0).abs() < 0.25, "{mean}");
        // Where the draw never comes: p = 0.01, the 850th is picked at the latest.
        (p.probability, p.accumulated) = (0.0, 8.49);
        assert!(!p.picks(&TUNING, &mut stream, 1500, 100_000, 1514));
        (p.probability, p.accumulated) = (0.01, 8.495);
        assert!(p.picks(&TUNING, &mut stream, 1500, 100_000, 1514));
    }

    /// No pick with a delay below half the target unless p >= 0.2, nor with less than two full packets waiting.
    #[test]
    fn a_short_queue_is_left_alone() {
        let mut stream = Stream::new(1, "test", "queue");
        for (probability, delay_us, backlog, expected) in [
            (1.0, 0, 3028, true),
            (1.0, 20_000, 3027, false),
            (0.199, 7_499, 100_000, false),
            (0.199, 7_500, 100_000, true),
        ] {
            let mut p = pie();
            (p.probability, p.delay, p.burst_left) = (probability, Span::from_us(delay_us), Span::ZERO);
            p.accumulated = 8.4;
            assert_eq!(
                p.picks(&TUNING, &mut stream, 1500, backlog, 1514),
                expected,
                "{probability} {delay_us} {backlog}"
            );
        }
    }
}
