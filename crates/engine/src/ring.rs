//! A growing ring of `Copy` values: push at the back, pop at the front. Capacity is a power of two, so a place is a mask.

/// A queue of values in order.
pub struct Ring<T: Copy> {
    /// Empty, or a power of two of places.
    places: Box<[T]>,
    head: u32,
    len: u32,
}

impl<T: Copy> Default for Ring<T> {
    fn default() -> Self {
        Ring { places: Box::default(), head: 0, len: 0 }
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

    #[inline]
    fn place(&self, i: u32) -> usize {
        (self.head.wrapping_add(i) & (self.places.len() as u32).wrapping_sub(1)) as usize
    }

    #[inline]
    pub fn front(&self) -> Option<T> {
        if self.len == 0 {
            return None;
        }
        // SAFETY: the ring is not empty, so there are places, and a masked index is below their number.
        Some(unsafe { *self.places.get_unchecked(self.place(0)) })
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
        // SAFETY: the ring is not empty, so there are places, and a masked index is below their number.
        Some(unsafe { *self.places.get_unchecked(self.place(i)) })
    }

    #[inline]
    pub fn push_back(&mut self, value: T) {
        if self.len as usize == self.places.len() {
            self.grow(value);
        }
        let place = self.place(self.len);
        // SAFETY: `grow` has made places, and a masked index is below their number.
        unsafe { *self.places.get_unchecked_mut(place) = value };
        self.len += 1;
    }

    #[inline]
    pub fn pop_front(&mut self) -> Option<T> {
        let value = self.front()?;
        self.head = self.head.wrapping_add(1);
        self.len -= 1;
        Some(value)
    }

    pub fn iter(&self) -> impl Iterator<Item = T> + '_ {
        (0..self.len).map(|i| self.places[self.place(i)])
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, filler: T) {
        let old = self.places.len();
        let mut places: Vec<T> = self.iter().collect();
        places.resize((old * 2).max(4), filler);
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
