//! Ranges of a stream that have not been seen: the holes below the highest byte.

/// Holes that are remembered; the oldest are forgotten beyond it.
const HOLES_MAX: usize = 4096;

/// A hole, and since when it is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hole {
    pub begin: u64,
    pub end: u64,
    pub since_ns: u64,
}

/// Disjoint holes in ascending order.
#[derive(Clone, Debug, Default)]
pub struct Holes(Vec<Hole>);

impl Holes {
    /// `[begin, end)` was skipped; it lies above all holes.
    pub fn skip(&mut self, begin: u64, end: u64, now_ns: u64) {
        if self.0.len() == HOLES_MAX {
            self.0.drain(..HOLES_MAX / 4);
        }
        self.0.push(Hole { begin, end, since_ns: now_ns });
    }

    /// `[begin, end)` is seen: answers how much of it had been missing, and since when at the latest.
    pub fn fill(&mut self, begin: u64, end: u64) -> (u64, Option<u64>) {
        let first = self.0.partition_point(|hole| hole.end <= begin);
        let mut last = first;
        let (mut filled, mut since) = (0, None);
        let mut rest = [None, None];
        while let Some(&hole) = self.0.get(last).filter(|hole| hole.begin < end) {
            filled += hole.end.min(end) - hole.begin.max(begin);
            since = since.max(Some(hole.since_ns));
            if hole.begin < begin {
                rest[0] = Some(Hole { end: begin, ..hole });
            }
            if hole.end > end {
                rest[1] = Some(Hole { begin: end, ..hole });
            }
            last += 1;
        }
        self.0.splice(first..last, rest.into_iter().flatten());
        (filled, since)
    }

    /// Since when the youngest hole in `[begin, end)` is there; nothing if there is none.
    pub fn youngest(&self, begin: u64, end: u64) -> Option<u64> {
        let first = self.0.partition_point(|hole| hole.end <= begin);
        self.0[first..].iter().take_while(|hole| hole.begin < end).map(|hole| hole.since_ns).max()
    }

    /// Moves what lies below `edge` to `other`, whose holes all lie below it; answers how much was missing there.
    pub fn move_below(&mut self, edge: u64, other: &mut Holes) -> u64 {
        if self.0.first().is_none_or(|hole| hole.begin >= edge) {
            return 0;
        }
        for hole in self.0.iter().take_while(|hole| hole.begin < edge) {
            other.skip(hole.begin, hole.end.min(edge), hole.since_ns);
        }
        self.fill(0, edge).0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn holes() {
        let mut holes = Holes::default();
        holes.skip(100, 200, 5);
        holes.skip(300, 400, 7);
        assert_eq!(holes.fill(150, 160), (10, Some(5)), "in the middle");
        assert_eq!(holes.fill(150, 160), (0, None), "again");
        assert_eq!(holes.fill(190, 350), (60, Some(7)), "the end of one and the beginning of another");
        let mut below = Holes::default();
        assert_eq!(holes.move_below(390, &mut below), 50 + 30 + 40);
        assert_eq!(holes.move_below(500, &mut below), 10);
        assert_eq!(holes.fill(0, 1000), (0, None));
        assert_eq!(
            (below.youngest(0, 160), below.youngest(180, 400), below.youngest(195, 300)),
            (Some(5), Some(7), None)
        );
        assert_eq!(below.fill(0, 1000), (130, Some(7)));
    }

    proptest! {
        /// Against a set of bytes.
        #[test]
        fn as_a_set_of_bytes(steps in prop::collection::vec((0u64..200, 1u64..40), 1..60)) {
            let (mut holes, mut missing, mut top) = (Holes::default(), std::collections::BTreeSet::new(), 0);
            for (begin, length) in steps {
                let end = begin + length;
                if begin > top {
                    holes.skip(top, begin, 0);
                    missing.extend(top..begin);
                } else {
                    let filled = (begin..end).filter(|byte| missing.remove(byte)).count() as u64;
                    prop_assert_eq!(holes.fill(begin, end).0, filled);
                }
                top = top.max(end);
            }
            prop_assert_eq!(holes.move_below(u64::MAX, &mut Holes::default()), missing.len() as u64);
        }
    }
}
