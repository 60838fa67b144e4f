//! A timer that nobody schedules: its instants are taken one by one when something else looks, as if it had rung at each.

use elephan_units::{Span, Time};

/// Multiples of a period.
#[derive(Clone, Copy, Debug)]
pub struct Ticks {
    period: Span,
    next: Time,
}

impl Ticks {
    /// `period` must be above zero.
    pub fn every(period: Span) -> Ticks {
        Ticks { period, next: Time::ZERO.saturating_add(period) }
    }

    /// The next instant that has come and was not taken yet.
    #[inline]
    pub fn due(&mut self, now: Time) -> Option<Time> {
        (self.next <= now && self.next != Time::NEVER).then(|| {
            let due = self.next;
            self.next = due.saturating_add(self.period);
            due
        })
    }

    /// Takes all instants that have come: nothing would happen at them.
    pub fn skip(&mut self, now: Time) {
        if self.next <= now && self.next != Time::NEVER {
            let missed = now.since(self.next).0 / self.period.0 + 1;
            self.next = self.next.saturating_add(self.period.saturating_mul(missed));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_multiples_of_the_period() {
        let mut ticks = Ticks::every(Span(10));
        let mut due = |now| std::iter::from_fn(|| ticks.due(Time(now)).map(|t| t.0)).collect::<Vec<u64>>();
        assert_eq!((due(9), due(10), due(10), due(35)), (vec![], vec![10], vec![], vec![20, 30]));
        ticks.skip(Time(40));
        assert_eq!(ticks.due(Time(49)), None);
        assert_eq!(ticks.due(Time(50)), Some(Time(50)));
    }
}
