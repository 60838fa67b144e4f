//! A 4-ary heap of keys whose sibling groups are cache lines.
//!
//! The root is slot 3; the children of slot `p` are the four slots of group `p - 2`. Empty slots hold the largest key,
//! so choosing the least child needs no bounds. A popped root stays a hole until the next push fills it: most events
//! schedule their successor, and one sift then does the work of two.

const EMPTY: u128 = u128::MAX;
const ROOT: usize = 3;

#[derive(Clone, Copy)]
#[repr(align(64))]
struct Group([u128; 4]);

/// Keys, least first.
#[derive(Clone)]
pub struct Heap {
    groups: Vec<Group>,
    /// One past the last occupied slot.
    end: usize,
    hole: bool,
}

impl Default for Heap {
    fn default() -> Self {
        Heap { groups: vec![Group([EMPTY; 4])], end: ROOT, hole: false }
    }
}

impl Heap {
    pub fn len(&self) -> usize {
        self.end - ROOT - usize::from(self.hole)
    }

    #[inline(always)]
    pub fn push(&mut self, key: u128) {
        if self.hole {
            self.hole = false;
            self.sift_down(key);
        } else {
            self.append(key);
        }
    }

    #[inline(never)]
    fn append(&mut self, key: u128) {
        let slot = self.end;
        if slot >> 2 == self.groups.len() {
            self.groups.push(Group([EMPTY; 4]));
        }
        self.end += 1;
        self.sift_up(slot, key);
    }

    /// The least key.
    #[inline]
    pub fn first(&mut self) -> Option<u128> {
        if self.hole {
            self.hole = false;
            self.fill_hole();
        }
        let first = self.groups[0].0[ROOT];
        (first != EMPTY).then_some(first)
    }

    /// Takes the least key if it is below `bound`.
    #[inline(always)]
    pub fn pop_before(&mut self, bound: u128) -> Option<u128> {
        if self.hole {
            self.hole = false;
            self.fill_hole();
        }
        let first = self.groups[0].0[ROOT];
        if first >= bound {
            return None;
        }
        self.hole = true;
        Some(first)
    }

    /// All keys, in no order.
    pub fn keys(&self) -> impl Iterator<Item = u128> + '_ {
        // Group 0 holds the root alone.
        let groups = if self.hole { &self.groups[1..] } else { &self.groups[..] };
        groups.iter().flat_map(|group| group.0).filter(|&key| key != EMPTY)
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
