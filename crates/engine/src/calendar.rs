//! A calendar queue (R. Brown, CACM 1988) whose days are so short that few hold two events, kept in order like a hash table with linear
//! probing whose hash is the time (Celis, Larson and Munro, Robin Hood hashing, FOCS 1985; Bender, Farach-Colton and Mosteiro, library sort, 2006).
//!
//! What is due within a year lies in the place of its day, `day = time >> shift`, or behind it if that is taken: the lesser of two that
//! meet stays, the other goes on to the next place. So the places from `today` on are in order, with gaps: a place is free only if no
//! event of its day, or of one before it, lies behind it. A push takes a place, a pop the next that is taken, which a bit for
//! each place shows: the only branch that cannot be predicted is whether a place is taken.
//!
//! The first few events lie in `near`, so that what comes next is known and its data can be asked for in time. Events beyond the year
//! lie in the heap, and those for which there was no room where many come at once. The heap may hold any event: the first is the lesser of
//! the two.
//!
//! The constants were tried on fat-trees (`docs/performance.md`); none changes what happens.

use std::hint::select_unpredictable;

use crate::heap::Heap;

/// Events that are known ahead: a power of two.
const AHEAD: u32 = 8;
/// Places that an event may have to go on, at most, and where many meet, as events of one instant do: then the heap is the better place.
/// Assumption: half after each overflow; it saved 5 to 10 % of a fat-tree's time, whose hosts start at one instant.
const STEPS: u64 = 24;
const STEPS_MIN: u64 = 2;
/// Least and most days of a year.
const DAYS: (usize, usize) = (256, 1 << 17);
/// What stands where there is no event: it comes after all.
const EMPTY: u128 = u128::MAX;

#[derive(Clone)]
pub struct Calendar {
    /// A ring of the first, least first, from `first` on: all there are, or [`AHEAD`].
    near: [u128; AHEAD as usize],
    first: u32,
    known: u32,
    /// The day of the event taken last, from which on a year is counted.
    now: u64,
    /// All other events are on the days from this one on.
    today: u64,
    shift: u32,
    /// Days of a year, less one.
    mask: u64,
    /// The place of each day of the year, a power of two of them, and whether it is taken.
    places: Box<[u128]>,
    taken: Box<[u64]>,
    /// Events on their days.
    count: usize,
    /// Places that an event may have to go on now: half as many after each for which there was no room, one more after each other.
    steps: u64,
}

/// The shift of days of at most `width` picoseconds, and how many of them a year of about `days` has.
fn shape(width: u64, days: usize) -> (u32, usize) {
    (width.max(1).ilog2(), days.next_power_of_two().clamp(DAYS.0, DAYS.1))
}

impl Calendar {
    /// From `now` on, with days of `width` picoseconds, or a little less, and a year of about `days` days.
    pub fn new(now: u64, width: u64, days: usize) -> Calendar {
        let (shift, days) = shape(width, days);
        Calendar {
            near: [EMPTY; AHEAD as usize],
            first: 0,
            known: 0,
            now: now >> shift,
            today: 0,
            shift,
            mask: days as u64 - 1,
            places: vec![EMPTY; days].into_boxed_slice(),
            taken: vec![0; days / 64].into_boxed_slice(),
            count: 0,
            steps: STEPS,
        }
    }

    /// Whether days and year are what they should be: days may be a little shorter, in longer ones too many events would meet.
    pub fn fits(&self, width: u64, days: usize) -> bool {
        let (shift, days) = shape(width, days);
        (shift.saturating_sub(1)..=shift).contains(&self.shift)
            && self.places.len() >= days
            && self.places.len() <= days * 4
    }

    /// Events here, without those in the heap.
    pub fn len(&self) -> usize {
        self.known as usize + self.count
    }

    /// The event `n` places behind the first, if it is known.
    #[inline]
    pub fn ahead(&self, n: u32) -> Option<u128> {
        (n < self.known).then(|| self.near[near_place(self.first.wrapping_add(n))])
    }

    #[inline]
    fn day_of(&self, key: u128) -> u64 {
        (key >> 64) as u64 >> self.shift
    }

    #[inline(never)]
    pub fn push(&mut self, key: u128, heap: &mut Heap) {
        if self.known > 0 && key < self.near[near_place(self.first.wrapping_add(self.known).wrapping_sub(1))] {
            return self.insert(key, heap);
        }
        self.put_on_its_day(key, heap);
        if self.known < AHEAD && self.count > 0 {
            self.look_ahead();
        }
    }

    /// Puts an event that is after all of `near` on its day, or into the heap if that is not within a year.
    #[inline(always)]
    fn put_on_its_day(&mut self, mut key: u128, heap: &mut Heap) {
        let mut day = self.day_of(key);
        let most = self.mask - STEPS;
        if day.saturating_sub(self.now) > most {
            return heap.push(key);
        }
        if self.count == 0 {
            self.today = day;
        }
        // Where days before today are over, the place of today will do.
        day = day.max(self.today);
        if day - self.today > most {
            return heap.push(key);
        }
        for day in day..day + self.steps {
            let at = (day & self.mask) as usize;
            let there = self.places[at];
            if there == EMPTY {
                self.places[at] = key;
                self.taken[at >> 6] |= 1 << (at & 63);
                self.count += 1;
                self.steps = (self.steps + 1).min(STEPS);
                return;
            }
            let less = key < there;
            self.places[at] = select_unpredictable(less, key, there);
            key = select_unpredictable(less, there, key);
        }
        self.steps = (self.steps / 2).max(STEPS_MIN);
        heap.push(key);
    }

    /// Takes the first event if it comes before `bound`.
    #[inline(always)]
    pub fn pop_before(&mut self, bound: u128, heap: &mut Heap) -> Option<u128> {
        let key = self.near[near_place(self.first)];
        if self.known == 0 || heap.first().is_some_and(|other| other < key) {
            let key = heap.pop_before(bound)?;
            self.now = self.day_of(key);
            return Some(key);
        }
        if key >= bound {
            return None;
        }
        self.now = self.day_of(key);
        self.first = self.first.wrapping_add(1);
        self.known -= 1;
        if self.count > 0 {
            self.look_ahead();
        }
        Some(key)
    }

    /// Puts an event among those that are known, of which the last goes back to its day if they are enough.
    #[cold]
    #[inline(never)]
    fn insert(&mut self, key: u128, heap: &mut Heap) {
        let first = self.first;
        let place = |n: u32| near_place(first.wrapping_add(n));
        if self.known == AHEAD {
            self.known -= 1;
            self.put_on_its_day(self.near[place(self.known)], heap);
        }
        let mut n = self.known;
        while n > 0 && self.near[place(n - 1)] > key {
            self.near[place(n)] = self.near[place(n - 1)];
            n -= 1;
        }
        self.near[place(n)] = key;
        self.known += 1;
    }

    /// The next event of the year, of which there is one, is known from now on.
    #[inline(always)]
    fn look_ahead(&mut self) {
        let place = (self.today & self.mask) as usize;
        let mut word = place >> 6;
        let mut bits = self.taken[word] & u64::MAX << (place & 63);
        while bits == 0 {
            word = (word + 1) & (self.taken.len() - 1);
            bits = self.taken[word];
        }
        let at = word << 6 | bits.trailing_zeros() as usize;
        self.taken[word] &= !(1 << (at & 63));
        self.today += (at.wrapping_sub(place) as u64 & self.mask) + 1;
        self.near[near_place(self.first.wrapping_add(self.known))] = std::mem::replace(&mut self.places[at], EMPTY);
        self.known += 1;
        self.count -= 1;
    }

    /// All events, in no order.
    pub fn into_keys(self) -> Vec<u128> {
        let near = (0..self.known).map(|n| self.near[near_place(self.first.wrapping_add(n))]);
        near.chain(self.places.iter().copied().filter(|&key| key != EMPTY)).collect()
    }
}

#[inline]
fn near_place(n: u32) -> usize {
    (n & (AHEAD - 1)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::cmp::Reverse;
    use std::collections::BinaryHeap;

    proptest! {
        /// Pushes a few days ahead, a year and more, with what comes first taken in between: the order is that of a heap.
        #[test]
        fn in_order(
            shift in 0u32..20,
            ops in proptest::collection::vec(prop_oneof![
                1 => (0..4u64).prop_map(Some),
                4 => (0..40u64).prop_map(Some),
                2 => (0..400u64).prop_map(Some),
                6 => Just(None),
            ], 0..1500),
            parts in 1u64..8,
        ) {
            let (mut heap, mut calendar) = (Heap::default(), Calendar::new(0, 1 << shift, 1));
            let (mut reference, mut now) = (BinaryHeap::new(), 0u128);
            for (n, op) in (0u128..).zip(ops) {
                match op {
                    Some(days) => {
                        let after = (u128::from(days) << shift) / u128::from(parts);
                        let key = ((now >> 64) + after) << 64 | n;
                        calendar.push(key, &mut heap);
                        reference.push(Reverse(key));
                    }
                    None => {
                        let first = reference.pop().map(|Reverse(key)| key);
                        prop_assert_eq!(calendar.pop_before(EMPTY, &mut heap), first);
                        now = first.unwrap_or(now);
                    }
                }
                prop_assert_eq!(calendar.len() + heap.len(), reference.len());
                prop_assert!(reference.len() < AHEAD as usize || calendar.known == AHEAD || calendar.count == 0);
            }
        }
    }
}
