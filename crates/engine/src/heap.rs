//! The event queue: a 4-ary heap whose sibling groups are cache lines.
//!
//! The root is slot 3; the children of slot `p` are the four slots of group `p - 2`. Empty slots hold the largest key,
//! so choosing the least child needs no bounds. A popped root stays a hole until the next push fills it: most events
//! schedule their successor, and one sift then does the work of two.

use crate::Event;

const EMPTY: u128 = u128::MAX;
/// The time of an empty slot, at which nothing happens.
const EMPTY_TIME: u64 = u64::MAX;
const ROOT: usize = 3;

#[derive(Clone, Copy)]
#[repr(align(64))]
struct Group([u128; 4]);

/// Pending events, least first.
pub struct EventQueue {
    groups: Vec<Group>,
    /// One past the last occupied slot.
    end: usize,
    hole: bool,
}

impl Default for EventQueue {
    fn default() -> Self {
        EventQueue { groups: vec![Group([EMPTY; 4])], end: ROOT, hole: false }
    }
}

impl EventQueue {
    pub fn len(&self) -> usize {
        self.end - ROOT - usize::from(self.hole)
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    #[inline(always)]
    pub fn push(&mut self, event: Event) {
        if self.hole {
            self.hole = false;
            self.sift_down(event.0);
        } else {
            self.append(event);
        }
    }

    #[inline(never)]
    fn append(&mut self, event: Event) {
        let slot = self.end;
        if slot >> 2 == self.groups.len() {
            self.groups.push(Group([EMPTY; 4]));
        }
        self.end += 1;
        self.sift_up(slot, event.0);
    }

    /// The first event, if it is known without work.
    #[inline]
    pub fn peek(&self) -> Option<Event> {
        let first = self.groups[0].0[ROOT];
        (!self.hole && first != EMPTY).then_some(Event(first))
    }

    /// Takes the first event if it happens no later than `limit`.
    #[inline]
    pub fn pop_until(&mut self, limit: elephan_units::Time) -> Option<Event> {
        if self.hole {
            self.hole = false;
            self.fill_hole();
        }
        let first = self.groups[0].0[ROOT];
        let time = (first >> 64) as u64;
        if time > limit.0 || time == EMPTY_TIME {
            return None;
        }
        self.hole = true;
        Some(Event(first))
    }

    #[cold]
    #[inline(never)]
    fn fill_hole(&mut self) {
        self.end -= 1;
        let last = std::mem::replace(&mut self.groups[self.end >> 2].0[self.end & 3], EMPTY);
        if self.end > ROOT {
            self.sift_down(last);
        }
    }

    /// Puts `key` in the place of the root.
    #[inline]
    fn sift_down(&mut self, key: u128) {
        let mut slot = ROOT;
        // The children of the root are group 1; group 0 holds the root alone.
        while let Some(Group(keys)) = self.groups.get(slot - 2) {
            // Places are compared, not keys, which are two words each.
            let i = usize::from(keys[1] < keys[0]);
            let j = 2 + usize::from(keys[3] < keys[2]);
            let k = if keys[j] < keys[i] { j } else { i };
            let least = keys[k];
            if least >= key {
                break;
            }
            self.set(slot, least);
            slot = (slot - 2) * 4 + k;
        }
        self.set(slot, key);
    }

    #[inline]
    fn set(&mut self, slot: usize, key: u128) {
        debug_assert!(slot >> 2 < self.groups.len());
        // SAFETY: a slot is the root, in group 0 which always exists, or was found in, or pushed into, an existing group.
        unsafe { self.groups.get_unchecked_mut(slot >> 2).0[slot & 3] = key };
    }

    #[inline]
    fn sift_up(&mut self, mut slot: usize, key: u128) {
        while slot > ROOT {
            let parent = (slot >> 2) + 2;
            let above = self.groups[parent >> 2].0[parent & 3];
            if above <= key {
                break;
            }
            self.set(slot, above);
            slot = parent;
        }
        self.set(slot, key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Class;
    use elephan_units::Time;
    use proptest::prelude::*;
    use std::cmp::Reverse;
    use std::collections::BinaryHeap;

    #[test]
    fn a_limit_keeps_later_events() {
        let mut q = EventQueue::default();
        q.push(Event::new(Time(10), Class::Timer, 0, 7));
        assert!(q.pop_until(Time(9)).is_none());
        assert_eq!(q.pop_until(Time(10)).map(Event::id), Some(7));
        assert!(q.pop_until(Time::NEVER).is_none());
        assert!(q.is_empty());
    }

    proptest! {
        /// Any mix of pushes and pops gives what a sorted reference gives.
        #[test]
        fn sorted(ops in proptest::collection::vec((0u64..50, 0u32..40, any::<bool>()), 0..600)) {
            let mut q = EventQueue::default();
            let mut reference = BinaryHeap::new();
            for (time, id, pop) in ops {
                if pop {
                    prop_assert_eq!(q.pop_until(Time::NEVER), reference.pop().map(|Reverse(e)| e));
                } else {
                    let e = Event::new(Time(time), Class::Arrival, id, id);
                    q.push(e);
                    reference.push(Reverse(e));
                }
                prop_assert_eq!(q.len(), reference.len());
            }
            while let Some(Reverse(e)) = reference.pop() {
                prop_assert_eq!(q.pop_until(Time::NEVER), Some(e));
            }
            prop_assert!(q.is_empty());
        }
    }
}
