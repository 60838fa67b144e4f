//! A growing ring of `Copy` values: push at the back, pop at the front. Capacity is a power of two, so a place is a mask.
//! The first value is kept beside the ring's own fields: who looks at the front of one ring among many reads one cache line, not two.

use crate::prefetch_place;

/// A queue of values in order.
#[derive(Clone)]
pub struct Ring<T: Copy> {
    /// The front, if there is one.
    first: T,
    /// Of all others: empty, or a power of two of places.
    places: Box<[T]>,
    head: u32,
    len: u32,
}

impl<T: Copy + Default> Default for Ring<T> {
    fn default() -> Self {
        Ring { first: T::default(), places: Box::default(), head: 0, len: 0 }
    }
}

impl<T: Copy> Ring<T> {
    #[inline]
    pub fn len(&self) -> usize {
        self.len as usize
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The place of the value `i` behind the second.
    #[inline]
    fn place(&self, i: u32) -> usize {
        (self.head.wrapping_add(i) & (self.places.len() as u32).wrapping_sub(1)) as usize
    }

    #[inline]
    pub fn front(&self) -> Option<T> {
        (self.len > 0).then_some(self.first)
    }

    #[inline]
    pub fn back(&self) -> Option<T> {
        self.get(self.len.checked_sub(1)?)
    }

    /// The value `i` places behind the front.
    #[inline]
    pub fn get(&self, i: u32) -> Option<T> {
        if i >= self.len {
            return None;
        }
        if i == 0 {
            return Some(self.first);
        }
        // SAFETY: there is a second value, so there are places, and a masked index is below their number.
        Some(unsafe { *self.places.get_unchecked(self.place(i - 1)) })
    }

    #[inline]
    pub fn push_back(&mut self, value: T) {
        let Some(others) = self.len.checked_sub(1) else {
            self.first = value;
            self.len = 1;
            return;
        };
        if others as usize == self.places.len() {
            self.grow();
        }
        let place = self.place(others);
        // SAFETY: `grow` has made places, and a masked index is below their number.
        unsafe { *self.places.get_unchecked_mut(place) = value };
        self.len += 1;
    }

    #[inline]
    pub fn pop_front(&mut self) -> Option<T> {
        let value = self.front()?;
        self.len -= 1;
        if self.len > 0 {
            // SAFETY: there is a second value, so there are places, and a masked index is below their number.
            self.first = unsafe { *self.places.get_unchecked(self.place(0)) };
            self.head = self.head.wrapping_add(1);
        }
        Some(value)
    }

    /// Keeps the first `len` values.
    pub fn truncate(&mut self, len: u32) {
        self.len = self.len.min(len);
    }

    /// Asks for the value behind the front, which the next pop will read.
    #[inline]
    pub fn prefetch_second(&self) {
        prefetch_place(&self.places, self.place(0));
    }

    pub fn iter(&self) -> impl Iterator<Item = T> + '_ {
        (0..self.len).filter_map(|i| self.get(i))
    }

    /// Fills new places with the front: a value handed over here would be put together in memory for every push.
    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let old = self.places.len();
        let mut places: Vec<T> = self.iter().skip(1).collect();
        places.resize((old * 2).max(4), self.first);
        self.places = places.into_boxed_slice();
        self.head = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn as_a_deque(ops in proptest::collection::vec(proptest::option::of(0u32..1000), 0..300)) {
            let (mut ring, mut deque) = (Ring::default(), VecDeque::new());
            for op in ops {
                match op {
                    Some(value) => {
                        ring.push_back(value);
                        deque.push_back(value);
                    }
                    None => prop_assert_eq!(ring.pop_front(), deque.pop_front()),
                }
                prop_assert_eq!(ring.front(), deque.front().copied());
                prop_assert_eq!(ring.len(), deque.len());
                prop_assert_eq!(ring.get(2), deque.get(2).copied());
                prop_assert!(ring.iter().eq(deque.iter().copied()));
            }
        }
    }
}
