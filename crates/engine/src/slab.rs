//! Values behind `u32` handles; a freed slot is used again, last freed first.

use crate::prefetch_place;

/// A growing array with a free list. A handle is valid from `take` to `free`.
#[derive(Clone)]
pub struct Slab<T> {
    slots: Vec<T>,
    free: Vec<u32>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Slab { slots: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slab<T> {
    /// A slot's handle; `make` fills it only when the slot is new, otherwise it still holds its last value.
    #[inline]
    pub fn take(&mut self, make: impl FnOnce() -> T) -> u32 {
        if let Some(handle) = self.free.pop() {
            return handle;
        }
        self.slots.push(make());
        (self.slots.len() - 1) as u32
    }

    #[inline]
    pub fn free(&mut self, handle: u32) {
        self.free.push(handle);
    }

    /// Asks for the first cache line of a value.
    #[inline]
    pub fn prefetch(&self, handle: u32) {
        prefetch_place(&self.slots, handle as usize);
    }

    /// Handles taken and not freed.
    pub fn live(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}

impl<T> std::ops::Index<u32> for Slab<T> {
    type Output = T;
    #[inline]
    fn index(&self, handle: u32) -> &T {
        &self.slots[handle as usize]
    }
}

impl<T> std::ops::IndexMut<u32> for Slab<T> {
    #[inline]
    fn index_mut(&mut self, handle: u32) -> &mut T {
        &mut self.slots[handle as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_reused() {
        let mut slab = Slab::default();
        let a = slab.take(|| 1);
        let b = slab.take(|| 2);
        slab.free(a);
        assert_eq!((slab.take(|| 3), slab[a], slab[b], slab.live()), (a, 1, 2, 2));
    }
}
