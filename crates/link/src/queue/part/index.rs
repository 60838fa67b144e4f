//! Where the queue of a flow is: an open-addressed table from flow number to slot, for disciplines with a queue per flow.
//! It holds only flows that have something there, so it does not grow with the number of flows of a run, and its order is
//! never seen.

/// An empty place of the table.
const FREE: u32 = u32::MAX;

/// Spreads a word over 64 bits (the finaliser of SplitMix64: Steele, Lea and Flood, OOPSLA 2014).
#[inline]
pub fn spread(word: u64) -> u64 {
    let mut z = word.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Slots by flow number. A slot is a small number that is used again after its flow has left.
#[derive(Clone, Debug, Default)]
pub struct FlowIndex {
    /// (flow, slot); the length is a power of two, at least twice the number of flows.
    table: Vec<(u32, u32)>,
    flows: usize,
    /// Slots that are free, and the first that never was used.
    unused: Vec<u32>,
    next: u32,
}

impl FlowIndex {
    #[inline]
    fn home(&self, flow: u32) -> usize {
        spread(u64::from(flow)) as usize & (self.table.len() - 1)
    }

    /// The place of `flow`, or the free one where it belongs.
    #[inline]
    fn place(&self, flow: u32) -> usize {
        let mut at = self.home(flow);
        while self.table[at].1 != FREE && self.table[at].0 != flow {
            at = (at + 1) & (self.table.len() - 1);
        }
        at
    }

    /// The slot of `flow`, and whether it has just got it.
    #[inline]
    pub fn enter(&mut self, flow: u32) -> (u32, bool) {
        if self.table.len() < 2 * (self.flows + 1) {
            self.grow();
        }
        let at = self.place(flow);
        if self.table[at].1 != FREE {
            return (self.table[at].1, false);
        }
        let slot = self.unused.pop().unwrap_or_else(|| {
            self.next += 1;
            self.next - 1
        });
        self.table[at] = (flow, slot);
        self.flows += 1;
        (slot, true)
    }

    /// `flow` gives its slot back. The places after it are closed up (Knuth, TAOCP 3, 6.4, algorithm R).
    pub fn leave(&mut self, flow: u32) {
        if self.table.is_empty() {
            return;
        }
        let mask = self.table.len() - 1;
        let mut hole = self.place(flow);
        if self.table[hole].1 == FREE {
            return;
        }
        self.unused.push(self.table[hole].1);
        self.flows -= 1;
        let mut at = (hole + 1) & mask;
        while self.table[at].1 != FREE {
            let home = self.home(self.table[at].0);
            if (at.wrapping_sub(home) & mask) >= (at.wrapping_sub(hole) & mask) {
                self.table[hole] = self.table[at];
                hole = at;
            }
            at = (at + 1) & mask;
        }
        self.table[hole].1 = FREE;
    }

    fn grow(&mut self) {
        let length = (2 * self.table.len()).max(16);
        let old = std::mem::replace(&mut self.table, vec![(0, FREE); length]);
        for (flow, slot) in old.into_iter().filter(|&(_, slot)| slot != FREE) {
            let at = self.place(flow);
            self.table[at] = (flow, slot);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        /// Against a map: a flow keeps its slot while it is in, no two share one, and no more slots are used than flows
        /// were ever in at once.
        #[test]
        fn as_a_map(steps in prop::collection::vec((any::<bool>(), 0u32..40), 1..400)) {
            let (mut index, mut map, mut most) = (FlowIndex::default(), BTreeMap::new(), 0);
            for (enters, flow) in steps {
                if enters {
                    let (slot, new) = index.enter(flow);
                    prop_assert_eq!(new, !map.contains_key(&flow));
                    if new {
                        prop_assert!(map.values().all(|&other| other != slot));
                        map.insert(flow, slot);
                    }
                    prop_assert_eq!(map[&flow], slot);
                } else {
                    index.leave(flow);
                    map.remove(&flow);
                }
                most = most.max(map.len());
                prop_assert!(map.values().all(|&slot| (slot as usize) < most));
            }
        }
    }
}
