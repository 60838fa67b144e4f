//! The controller of PI2 and DualPI2 (De Schepper et al., CoNEXT 2016; RFC 9332 appendix A; Linux sch_dualpi2.c): a linear PI
//! controller whose output is used as it is for scalable senders and squared for classic ones.
//!
//! ```text
//! each tupdate:  p' += alpha (q - target) + beta (q - q_old)         0 <= p' <= 1
//! classic:       p_C = p'^2: two draws, both below p'
//! scalable:      p_CL = k p'
//! overload:      k p' > 1: what is picked is dropped, even if it is ECN-capable
//! ```
//!
//! `q` is how long the first waiting packet has waited at that instant, by timestamps; 0 if none waits. The first update
//! comes `tupdate` after the start of the run.

use elephan_random::Stream;
use elephan_units::{Span, Time};

use super::ticks::Ticks;
use crate::queue::Item;

/// Why it drops.
pub const REASON: &str = "pi2";

/// The parameters.
#[derive(Clone, Copy, Debug)]
pub struct Tuning {
    pub target: Span,
    /// Per second.
    pub alpha: f64,
    pub beta: f64,
    /// k.
    pub coupling_factor: f64,
}

/// What becomes of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pick {
    Passes,
    IsMarked,
    IsDropped,
}

/// The state.
#[derive(Clone, Copy, Debug)]
pub struct Pi2 {
    /// p'.
    probability: f64,
    delay_old: Span,
    ticks: Ticks,
}

impl Pi2 {
    pub fn new(tupdate: Span) -> Pi2 {
        Pi2 { probability: 0.0, delay_old: Span::ZERO, ticks: Ticks::every(tupdate) }
    }

    #[cfg(test)]
    pub fn with(probability: f64) -> Pi2 {
        Pi2 { probability, ..Pi2::new(Span::MAX) }
    }

    /// Makes the updates that have come due; `delay_at` is the delay of the queue, which has not changed since the last call.
    #[inline]
    pub fn update(&mut self, tuning: &Tuning, now: Time, most: f64, delay_at: impl Fn(Time) -> Span) {
        while let Some(due) = self.ticks.due(now) {
            let (delay, old) = (delay_at(due), self.delay_old);
            let (q, q_old) = (delay.seconds(), old.seconds());
            let step = tuning.alpha * (q - tuning.target.seconds()) + tuning.beta * (q - q_old);
            let before = self.probability;
            self.probability = (before + step).clamp(0.0, most);
            self.delay_old = delay;
            if self.probability == before && delay == Span::ZERO && old == Span::ZERO {
                self.ticks.skip(now);
            }
        }
    }

    fn is_overload(&self, tuning: &Tuning) -> bool {
        self.probability * tuning.coupling_factor > 1.0
    }

    /// The probability with which a packet of a scalable sender is picked.
    pub fn coupled(&self, tuning: &Tuning) -> f64 {
        (self.probability * tuning.coupling_factor).min(1.0)
    }

    /// A packet of a classic sender; `marks` says whether it may be marked.
    #[inline]
    pub fn classic(&self, tuning: &Tuning, stream: &mut Stream, marks: bool) -> Pick {
        let p = self.probability;
        if p == 0.0 || !(stream.bernoulli(p) && stream.bernoulli(p)) {
            return Pick::Passes;
        }
        if marks && !self.is_overload(tuning) { Pick::IsMarked } else { Pick::IsDropped }
    }

    /// A packet of a scalable sender; `drops` says whether an overload drops.
    #[inline]
    pub fn scalable(&self, tuning: &Tuning, stream: &mut Stream, item: &Item, drops: bool) -> Pick {
        debug_assert!(crate::queue::is_ect(item.ecn));
        let p = self.probability;
        if self.is_overload(tuning) {
            let dropped = drops && stream.bernoulli(p) && stream.bernoulli(p);
            return if dropped { Pick::IsDropped } else { Pick::IsMarked };
        }
        let picked = p > 0.0 && stream.bernoulli(p * tuning.coupling_factor);
        if picked { Pick::IsMarked } else { Pick::Passes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TUNING: Tuning = Tuning { target: Span::from_ms(15), alpha: 0.16, beta: 3.2, coupling_factor: 2.0 };

    fn at_ms(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    fn near(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-12, "{value} is not {expected}");
    }

    /// A head that came at 6 ms: 10, 26 and 42 ms at 16, 32 and 48 ms. 0.16 (0.010 - 0.015) + 3.2 * 0.010 = 0.0312, then 0.16 * 0.011
    /// + 3.2 * 0.016 = 0.05296, then 0.16 * 0.027 + 0.0512 = 0.05552.
    #[test]
    fn the_first_steps() {
        let mut p = Pi2::new(Span::from_ms(16));
        let delay_at = |now: Time| now.since(at_ms(6));
        p.update(&TUNING, at_ms(15), 1.0, delay_at);
        near(p.probability, 0.0);
        p.update(&TUNING, at_ms(16), 1.0, delay_at);
        near(p.probability, 0.0312);
        let mut late = p;
        p.update(&TUNING, at_ms(32), 1.0, delay_at);
        near(p.probability, 0.084_16);
        p.update(&TUNING, at_ms(48), 1.0, delay_at);
        near(p.probability, 0.139_68);
        late.update(&TUNING, at_ms(60), 1.0, delay_at);
        assert_eq!(late.probability.to_bits(), p.probability.to_bits());
        // Empty from then on: 3.2 * (0 - 0.042) takes all of it but 0.00288, of which 0.0024 goes each update.
        p.update(&TUNING, at_ms(64), 1.0, |_| Span::ZERO);
        near(p.probability, 0.139_68 - 0.0024 - 0.1344);
        p.update(&TUNING, at_ms(100_000), 1.0, |_| Span::ZERO);
        near(p.probability, 0.0);
    }

    fn share(of: impl FnMut() -> Pick, pick: Pick) -> f64 {
        std::iter::repeat_with(of).take(100_000).filter(|&p| p == pick).count() as f64 / 1e5
    }

    /// p' = 0.25, k = 2: a classic packet with 0.0625, a scalable one with 0.5; four standard errors of 1e5 draws are 0.003 and
    /// 0.0063. p' = 0.6 is an overload: 0.36 dropped, ECN-capable or not, the other scalable ones marked.
    #[test]
    fn the_square_and_the_coupling() {
        let mut stream = Stream::new(1, "test", "queue");
        let item = Item { ecn: 1, ..Item::default() };
        let p = Pi2::with(0.25);
        for (marks, pick) in [(true, Pick::IsMarked), (false, Pick::IsDropped)] {
            let off = share(|| p.classic(&TUNING, &mut stream, marks), pick) - 0.0625;
            assert!(off.abs() < 0.003, "{off}");
        }
        let off = share(|| p.scalable(&TUNING, &mut stream, &item, true), Pick::IsMarked) - 0.5;
        assert!(off.abs() < 0.0063, "{off}");
        let p = Pi2::with(0.6);
        let off = share(|| p.classic(&TUNING, &mut stream, true), Pick::IsDropped) - 0.36;
        assert!(off.abs() < 0.006, "{off}");
        let off = share(|| p.scalable(&TUNING, &mut stream, &item, true), Pick::IsDropped) - 0.36;
        assert!(off.abs() < 0.006, "{off}");
        assert_eq!(share(|| p.scalable(&TUNING, &mut stream, &item, false), Pick::IsMarked), 1.0);
    }
}
