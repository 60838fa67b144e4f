//! Lanes: events that are made nearly in the order in which they happen, because the same time lies between cause and effect.
//! A new event goes to the end of its lane or a few places before it; the rare one that would have to
//! go further waits in a heap beside it. Putting and taking cost a few instructions whatever waits, and what comes next is known.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::Event;

/// As many lanes as are compared at once.
pub const LANES: usize = 4;
/// Behind a new event lie so many of its lane at most; then a heap is quicker.
const STEPS: u32 = 16;
/// After all events.
const NEVER: u128 = u128::MAX;

/// Ordered by falling keys, as the heap of the standard library has the greatest first.
#[derive(Clone, Copy, Default)]
struct Entry<T> {
    key: u128,
    value: T,
}

impl<T> PartialEq for Entry<T> {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl<T> Eq for Entry<T> {}

impl<T> PartialOrd for Entry<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Entry<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        other.key.cmp(&self.key)
    }
}

#[derive(Clone)]
struct Lane<T> {
    /// A power of two of places, or none; the events in them are in order.
    places: Box<[Entry<T>]>,
    head: u32,
    len: u32,
    strays: BinaryHeap<Entry<T>>,
}

impl<T: Copy + Default> Lane<T> {
    #[inline]
    fn place(&self, i: u32) -> usize {
        (self.head.wrapping_add(i) & (self.places.len() as u32).wrapping_sub(1)) as usize
    }

    /// The entry `i` places behind the first in order.
    #[inline]
    fn get(&self, i: u32) -> Option<Entry<T>> {
        // SAFETY: there are at least `len` places, and a masked index is below their number.
        (i < self.len).then(|| unsafe { *self.places.get_unchecked(self.place(i)) })
    }

    #[inline(always)]
    fn push(&mut self, entry: Entry<T>) {
        if self.len as usize == self.places.len() {
            self.grow();
        }
        let mut place = self.len;
        while let Some(before) = place.checked_sub(1).and_then(|i| self.get(i))
            && before.key > entry.key
        {
            place -= 1;
            if self.len - place > STEPS {
                return self.stray(entry.key, entry.value);
            }
        }
        for i in (place..self.len).rev() {
            self.places[self.place(i + 1)] = self.places[self.place(i)];
        }
        let at = self.place(place);
        self.places[at] = entry;
        self.len += 1;
    }

    /// Takes the parts of an entry, and [`Lane::grow`] none: to hand over a whole one, each push would put it together in memory.
    #[cold]
    #[inline(never)]
    fn stray(&mut self, key: u128, value: T) {
        self.strays.push(Entry { key, value });
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let mut places: Vec<Entry<T>> = (0..self.len).filter_map(|i| self.get(i)).collect();
        places.resize((places.len() * 2).max(16), Entry::default());
        self.places = places.into_boxed_slice();
        self.head = 0;
    }

    /// Takes the first, if there is one; answers the key of the one that follows beside it.
    #[inline(always)]
    fn pop(&mut self) -> Option<(T, u128)> {
        if !self.strays.is_empty() {
            return self.pop_either();
        }
        let first = self.get(0)?;
        self.head = self.head.wrapping_add(1);
        self.len -= 1;
        Some((first.value, self.get(0).map_or(NEVER, |next| next.key)))
    }

    #[cold]
    fn pop_either(&mut self) -> Option<(T, u128)> {
        let in_order = self.get(0).map_or(NEVER, |first| first.key);
        let entry = match self.strays.peek().filter(|stray| stray.key < in_order) {
            Some(_) => self.strays.pop()?,
            None => {
                let first = self.get(0)?;
                self.head = self.head.wrapping_add(1);
                self.len -= 1;
                first
            }
        };
        let next = self.get(0).into_iter().chain(self.strays.peek().copied()).map(|entry| entry.key).min();
        Some((entry.value, next.unwrap_or(NEVER)))
    }
}

/// Some lanes of events, each with a value.
#[derive(Clone)]
pub struct Lanes<T> {
    lanes: [Lane<T>; LANES],
    /// The key of each lane's first event.
    firsts: [u128; LANES],
}

impl<T: Copy + Default> Default for Lanes<T> {
    fn default() -> Self {
        let lane = || Lane { places: Box::default(), head: 0, len: 0, strays: BinaryHeap::new() };
        Lanes { lanes: std::array::from_fn(|_| lane()), firsts: [NEVER; LANES] }
    }
}

impl<T: Copy + Default> Lanes<T> {
    #[inline(always)]
    pub fn push(&mut self, lane: usize, event: Event, value: T) {
        self.lanes[lane].push(Entry { key: event.0, value });
        self.firsts[lane] = self.firsts[lane].min(event.0);
    }

    /// The lane whose event is first, and that event; one after all others if there is none.
    #[inline(always)]
    pub fn first(&self) -> (usize, Event) {
        let [a, b, c, d] = &self.firsts;
        // Places are compared, not keys, which are two words each.
        let i = usize::from(b < a);
        let j = 2 + usize::from(d < c);
        let lane = if self.firsts[j] < self.firsts[i] { j } else { i };
        (lane, self.first_of(lane))
    }

    /// The first event of a lane; one after all others if there is none.
    #[inline]
    pub fn first_of(&self, lane: usize) -> Event {
        Event(self.firsts[lane])
    }

    /// Takes the first event of a lane, if it has one: its value.
    #[inline(always)]
    pub fn pop(&mut self, lane: usize) -> Option<T> {
        let (value, next) = self.lanes[lane].pop()?;
        self.firsts[lane] = next;
        Some(value)
    }

    /// The value `n` places behind the first of a lane, as a rule, if it is known.
    #[inline]
    pub fn ahead(&self, lane: usize, n: u32) -> Option<T> {
        self.lanes[lane].get(n).map(|entry| entry.value)
    }

    /// Events in all lanes.
    pub fn len(&self) -> usize {
        self.lanes.iter().map(|lane| lane.len as usize + lane.strays.len()).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Class;
    use elephan_units::Time;
    use proptest::prelude::*;

    fn event(time: u64, id: u32) -> Event {
        Event::new(Time(time), Class::Arrival, id, id)
    }

    #[test]
    fn the_first_of_all_lanes() {
        let mut lanes = Lanes::default();
        assert!(lanes.first().1 >= Event::bound(Time::NEVER));
        for (lane, time) in [(0, 30), (1, 20), (2, 10), (3, 40)] {
            lanes.push(lane, event(time, 7), time);
        }
        let order = std::iter::from_fn(|| {
            let (lane, first) = lanes.first();
            lanes.pop(lane).map(|time| (lane, first.time().0, time))
        });
        assert_eq!(order.collect::<Vec<_>>(), [(2, 10, 10), (1, 20, 20), (0, 30, 30), (3, 40, 40)]);
    }

    proptest! {
        /// Any mix of pushes and pops, near the end of a lane and far from it, against a sorted list.
        #[test]
        fn as_a_sorted_list(ops in prop::collection::vec(prop::option::of((0usize..LANES, prop_oneof![0u64..5, 0u64..400])), 0..600)) {
            let mut lanes = Lanes::default();
            let mut lists: [Vec<Event>; LANES] = Default::default();
            for (n, op) in (0u32..).zip(ops) {
                match op {
                    Some((lane, back)) => {
                        let new = event(400 + u64::from(n) - back, n);
                        lanes.push(lane, new, n);
                        let place = lists[lane].partition_point(|&other| other < new);
                        lists[lane].insert(place, new);
                    }
                    None => {
                        let expected = (0..LANES).filter_map(|l| lists[l].first().map(|&e| (e, l))).min();
                        let (lane, first) = lanes.first();
                        prop_assert_eq!(expected.map(|(e, _)| e.id()), lanes.pop(lane));
                        if let Some((e, l)) = expected {
                            prop_assert_eq!((e, l), (first, lane));
                            lists[l].remove(0);
                        }
                    }
                }
                prop_assert_eq!(lanes.len(), lists.iter().map(Vec::len).sum::<usize>());
            }
        }
    }
}
