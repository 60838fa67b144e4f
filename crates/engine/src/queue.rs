//! The event queue: a heap while few events are pending, a calendar of fitting days while many are. Both give the same order.

use crate::Event;
use crate::calendar::Calendar;
use crate::heap::Heap;
use elephan_units::{Span, Time};

/// From so many events pending for the next year of a calendar it takes over, below half of them the heap: where most events go through
/// the queue, as in a fat-tree of 16 hosts, the calendar takes a fifth off a run; a dumbbell of 10 or 100 flows, whose frames are in lanes, is as fast with either.
const MANY: usize = 32;
/// Days of the calendar for each event that happens: with 2 or 4, fat-trees of 16 to 432 hosts take as long.
const DAYS_PER_EVENT: u64 = 3;
/// Days of a year for each pending event: those pushed lie a few mean distances ahead.
const DAYS_PER_PENDING: usize = 12;

/// Pending events, least first.
#[derive(Clone, Default)]
pub struct EventQueue {
    /// All events, or those that lie beyond the calendar.
    heap: Heap,
    calendar: Option<Box<Calendar>>,
}

impl EventQueue {
    pub fn len(&self) -> usize {
        self.heap.len() + self.calendar.as_ref().map_or(0, |c| c.len())
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    #[inline(always)]
    pub fn push(&mut self, event: Event) {
        match &mut self.calendar {
            None => self.heap.push(event.0),
            Some(calendar) => calendar.push(event.0, &mut self.heap),
        }
    }

    /// Takes the first event if it comes before `bound`.
    #[inline(always)]
    pub fn pop_before(&mut self, bound: Event) -> Option<Event> {
        match &mut self.calendar {
            None => self.heap.pop_before(bound.0).map(Event),
            Some(calendar) => calendar.pop_before(bound.0, &mut self.heap).map(Event),
        }
    }

    /// The event `n` places behind the first, as a rule, if it is known: of 8 at most. One that is pushed later may come before it.
    #[inline]
    pub fn ahead(&self, n: u32) -> Option<Event> {
        self.calendar.as_ref()?.ahead(n).map(Event)
    }

    /// Fits the queue to what it holds: to be called now and then, when about `done` events have happened in the `elapsed` time up to
    /// `now`, and none that is pending is before that.
    #[cold]
    pub fn tune(&mut self, now: Time, elapsed: Span, done: u64) {
        let width = elapsed.0 / (done * DAYS_PER_EVENT).max(1);
        let days = self.len() * DAYS_PER_PENDING;
        let wanted =
            if self.is_busy(now, width.saturating_mul(days as u64)) && width > 0 { Some((width, days)) } else { None };
        match (&self.calendar, wanted) {
            (None, None) => return,
            (Some(calendar), Some((width, days))) if calendar.fits(width, days) => return,
            _ => {}
        }
        let mut keys: Vec<u128> = std::mem::take(&mut self.heap).keys().collect();
        keys.extend(self.calendar.take().map(|calendar| calendar.into_keys()).unwrap_or_default());
        // A calendar is filled from its beginning.
        keys.sort_unstable();
        self.calendar = wanted.map(|(width, days)| Box::new(Calendar::new(now.0, width, days)));
        for key in keys {
            self.push(Event(key));
        }
    }

    /// Whether many events are pending for the next `year`: timers beyond it cost a calendar nothing, and bring it nothing.
    fn is_busy(&self, now: Time, year: u64) -> bool {
        match &self.calendar {
            Some(calendar) => calendar.len() >= MANY / 2,
            None => {
                let end = now.0.saturating_add(year);
                self.heap.len() >= MANY && self.heap.keys().filter(|key| (key >> 64) as u64 <= end).count() >= MANY
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Class;
    use proptest::prelude::*;
    use std::cmp::Reverse;
    use std::collections::BinaryHeap;

    #[test]
    fn a_limit_keeps_later_events() {
        for days in [None, Some(8), Some(1 << 30)] {
            let mut q =
                EventQueue { calendar: days.map(|width| Box::new(Calendar::new(0, width, 1))), ..Default::default() };
            q.push(Event::new(Time(10), Class::Timer, 0, 7));
            q.push(Event::new(Time::NEVER, Class::Timer, 0, 8));
            assert!(q.pop_before(Event::bound(Time(9))).is_none());
            assert_eq!(q.pop_before(Event::bound(Time(10))).map(Event::id), Some(7));
            assert!(q.pop_before(Event::bound(Time::NEVER)).is_none());
            assert_eq!(q.len(), 1);
        }
    }

    #[test]
    fn many_events_get_a_calendar_and_few_a_heap() {
        let mut q = EventQueue::default();
        for n in 0..1000u32 {
            q.push(Event::new(Time(u64::from(n) * 1000), Class::Timer, n, n));
        }
        q.tune(Time::ZERO, Span(1_000_000), 1000);
        assert!(q.calendar.is_some());
        let order: Vec<u32> = std::iter::from_fn(|| q.pop_before(Event::bound(Time(989_500)))).map(Event::id).collect();
        assert_eq!(order, Vec::from_iter(0..990));
        q.tune(Time(989_500), Span(1_000_000), 1000);
        assert!(q.calendar.is_none());
        assert_eq!(q.len(), 10);
    }

    /// What happens to a queue: an event is pushed so long after the present, the first is taken, or it is fitted.
    #[derive(Clone, Debug)]
    enum Op {
        Push(u64, u32),
        Pop,
        Tune(u64),
    }

    fn op() -> impl Strategy<Value = Op> {
        let after = prop_oneof![0..50u64, 0..300u64, 0..20_000u64, 0..1u64 << 40, Just(u64::MAX >> 1)];
        prop_oneof![
            6 => (after, 0..40u32).prop_map(|(after, id)| Op::Push(after, id)),
            5 => Just(Op::Pop),
            1 => (0..40u32).prop_map(|log| Op::Tune(1 << log)),
        ]
    }

    proptest! {
        /// Any mix of pushes and pops gives what a sorted reference gives, whatever the days.
        #[test]
        fn sorted(ops in proptest::collection::vec(op(), 0..900), width in proptest::option::of((0..30u32).prop_map(|log| 1 << log))) {
            let mut q = EventQueue { calendar: width.map(|w| Box::new(Calendar::new(0, w, 1))), ..Default::default() };
            let mut reference = BinaryHeap::new();
            let mut now = 0;
            for op in ops {
                match op {
                    Op::Push(after, id) => {
                        let e = Event::new(Time(now).saturating_add(Span(after)), Class::Arrival, id, id);
                        if e.time() < Time::NEVER {
                            q.push(e);
                            reference.push(Reverse(e));
                        }
                    }
                    Op::Pop => {
                        let first = reference.pop().map(|Reverse(e)| e);
                        prop_assert_eq!(q.pop_before(Event::bound(Time::NEVER)), first);
                        now = first.map_or(now, |e: Event| e.time().0);
                    }
                    Op::Tune(width) => q.tune(Time(now), Span(width), 1),
                }
                prop_assert_eq!(q.len(), reference.len());
                prop_assert!(q.ahead(3).is_none_or(|known| reference.iter().any(|&Reverse(e)| e == known)));
            }
            while let Some(Reverse(e)) = reference.pop() {
                prop_assert_eq!(q.pop_before(Event::bound(Time::NEVER)), Some(e));
            }
            prop_assert!(q.is_empty());
        }
    }
}
