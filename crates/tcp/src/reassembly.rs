//! Reassembly: which bytes beyond the next expected one have arrived, as intervals, and which of them the next ACK
//! reports.
//!
//! RFC 2018 section 4: the first SACK block holds the segment that caused the ACK, the others repeat the blocks
//! reported most recently, as many as fit. RFC 2883: a duplicate is reported once, in front, followed by the block that
//! holds it.
//!
//! Intervals are sorted and disjoint, and do not touch. Arrivals extend the last interval or fill the first hole most
//! of the time, which is constant work in a double-ended queue; anything else is a binary search.

use std::collections::VecDeque;

/// `[left, right)` in offsets.
pub(crate) type Interval = (u64, u64);

/// Blocks that are remembered, RFC 2018's most.
const RECENT: usize = 4;

#[derive(Clone, Debug, Default)]
pub(crate) struct Reassembly {
    intervals: VecDeque<Interval>,
    /// Blocks in the order in which they were last reported, newest first; each is an interval as it is now.
    recent: [Interval; RECENT],
    recent_len: usize,
    /// What the next report says instead of what is known by then.
    frozen: Option<Box<([Interval; RECENT], usize)>>,
    /// Bytes in all intervals.
    held: u64,
}

/// What an arrival beyond the next expected byte did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Arrival {
    /// Part of it that had arrived before.
    pub duplicate: Option<Interval>,
    /// Bytes that are new.
    pub fresh: u64,
    /// How many blocks were reported more recently than the one that it extends; than all, if it extends none.
    pub rank: usize,
}

impl Reassembly {
    pub fn is_empty(&self) -> bool {
        self.intervals.is_empty()
    }

    /// Bytes that have arrived beyond the next expected one.
    pub fn held(&self) -> u64 {
        self.held
    }

    /// The end of the last interval.
    pub fn end(&self) -> Option<u64> {
        self.intervals.back().map(|interval| interval.1)
    }

    /// `[left, right)` arrived, beyond the next expected byte.
    pub fn insert(&mut self, left: u64, right: u64) -> Arrival {
        // Intervals `[from, to)` overlap or touch the arrival.
        let from = match self.intervals.back() {
            None => 0,
            Some(last) if last.1 < left => self.intervals.len(),
            Some(last) if last.0 <= left => self.intervals.len() - 1,
            Some(_) => self.intervals.partition_point(|interval| interval.1 < left),
        };
        let mut to = from;
        let mut merged = (left, right);
        let (mut overlap, mut duplicate) = (0, None);
        while let Some(&(l, r)) = self.intervals.get(to).filter(|interval| interval.0 <= right) {
            let common = (l.max(left), r.min(right));
            if common.0 < common.1 {
                overlap += common.1 - common.0;
                duplicate.get_or_insert(common);
            }
            merged = (merged.0.min(l), merged.1.max(r));
            to += 1;
        }
        match to - from {
            0 => self.intervals.insert(from, merged),
            1 => self.intervals[from] = merged,
            _ => {
                self.intervals[from] = merged;
                self.intervals.drain(from + 1..to);
            }
        }
        let rank = self.remember(merged);
        let fresh = right - left - overlap;
        self.held += fresh;
        Arrival { duplicate, fresh, rank }
    }

    /// How many blocks were reported more recently than the one that `[left, right)` would extend; than all, if it would extend none.
    pub fn rank(&self, left: u64, right: u64) -> usize {
        let recent = &self.recent[..self.recent_len];
        recent.iter().position(|block| block.0 <= right && left <= block.1).unwrap_or(self.recent_len)
    }

    /// The next report says what is known now.
    pub fn freeze(&mut self) {
        self.refill(RECENT);
        self.frozen = Some(Box::new((self.recent, self.recent_len)));
    }

    pub fn is_frozen(&self) -> bool {
        self.frozen.is_some()
    }

    /// `block` becomes the most recent; what it has swallowed is forgotten. Returns how many were more recent than the first of
    /// those.
    fn remember(&mut self, block: Interval) -> usize {
        let mut kept = [(0, 0); RECENT];
        kept[0] = block;
        let (mut count, mut rank) = (1, self.recent_len);
        for (index, &(l, r)) in self.recent[..self.recent_len].iter().enumerate() {
            if block.0 <= l && r <= block.1 {
                rank = rank.min(index);
            } else if count < RECENT {
                kept[count] = (l, r);
                count += 1;
            }
        }
        (self.recent, self.recent_len) = (kept, count);
        rank
    }

    /// Everything before `next` has been received in order; returns where the contiguous data ends now, and the first part of what
    /// lies before `next` that had come before.
    pub fn advance(&mut self, next: u64) -> (u64, Option<Interval>) {
        let (mut end, mut covered) = (next, None);
        while let Some(&(left, right)) = self.intervals.front() {
            if left > end {
                break;
            }
            if left < next {
                covered.get_or_insert((left, right.min(next)));
            }
            end = end.max(right);
            self.held -= right - left;
            self.intervals.pop_front();
        }
        let mut count = 0;
        for i in 0..self.recent_len {
            if self.recent[i].0 > end {
                self.recent[count] = self.recent[i];
                count += 1;
            }
        }
        self.recent_len = count;
        (end, covered)
    }

    /// Fills `blocks` with at most `room` blocks to report; returns how many. `duplicate` goes in front.
    pub fn report(&mut self, duplicate: Option<Interval>, room: usize, blocks: &mut [Interval; RECENT]) -> usize {
        let mut count = 0;
        if let Some(block) = duplicate.filter(|_| room > 0) {
            blocks[0] = block;
            count = 1;
        }
        self.refill(room);
        let frozen = self.frozen.take();
        let known = match frozen.as_deref() {
            Some((recent, len)) => &recent[..*len],
            None => &self.recent[..self.recent_len],
        };
        for &block in known {
            if count == room {
                break;
            }
            blocks[count] = block;
            count += 1;
        }
        count
    }

    /// Blocks that have dropped out of memory come back when there is room for them.
    fn refill(&mut self, room: usize) {
        if self.recent_len >= room.min(self.intervals.len()) {
            return;
        }
        for &interval in &self.intervals {
            if self.recent_len == room.min(RECENT) {
                break;
            }
            if !self.recent[..self.recent_len].contains(&interval) {
                self.recent[self.recent_len] = interval;
                self.recent_len += 1;
            }
        }
    }

    /// Makes the block that holds `at` the first to be reported.
    pub fn bring_forward(&mut self, at: u64) {
        let index = self.intervals.partition_point(|interval| interval.1 <= at);
        if let Some(&interval) = self.intervals.get(index).filter(|interval| interval.0 <= at) {
            self.remember(interval);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn report(r: &mut Reassembly, duplicate: Option<Interval>, room: usize) -> Vec<Interval> {
        let mut blocks = [(0, 0); RECENT];
        let count = r.report(duplicate, room, &mut blocks);
        blocks[..count].to_vec()
    }

    /// RFC 2018 section 6, case 2: 8 segments of 500 bytes from 5000, the first is lost.
    #[test]
    fn rfc_2018_first_segment_lost() {
        let mut r = Reassembly::default();
        for i in 1..8 {
            r.insert(5000 + 500 * i, 5500 + 500 * i);
            assert_eq!(report(&mut r, None, 4), [(5500, 6000 + 500 * (i - 1))]);
        }
        assert_eq!(r.advance(5500), (9000, None));
        assert!(r.is_empty());
    }

    /// RFC 2018 section 6, case 3: the 2nd, 4th, 6th and 8th segments are lost; then the 4th and the 2nd arrive.
    #[test]
    fn rfc_2018_alternate_segments_lost() {
        let mut r = Reassembly::default();
        r.insert(6000, 6500);
        assert_eq!(report(&mut r, None, 4), [(6000, 6500)]);
        r.insert(7000, 7500);
        assert_eq!(report(&mut r, None, 4), [(7000, 7500), (6000, 6500)]);
        r.insert(8000, 8500);
        assert_eq!(report(&mut r, None, 4), [(8000, 8500), (7000, 7500), (6000, 6500)]);
        r.insert(6500, 7000);
        assert_eq!(report(&mut r, None, 4), [(6000, 7500), (8000, 8500)]);
        assert_eq!(r.advance(6000), (7500, None));
        assert_eq!(report(&mut r, None, 4), [(8000, 8500)]);
    }

    /// RFC 2883 section 4.1.1 and 4.2.1: a duplicate below the next expected byte; one inside a block.
    #[test]
    fn rfc_2883_duplicates_in_front() {
        let mut r = Reassembly::default();
        assert_eq!(report(&mut r, Some((3000, 3500)), 4), [(3000, 3500)]);
        r.insert(4500, 5000);
        assert_eq!(r.insert(4500, 5000), Arrival { duplicate: Some((4500, 5000)), fresh: 0, rank: 0 });
        assert_eq!(report(&mut r, Some((4500, 5000)), 4), [(4500, 5000), (4500, 5000)]);
    }

    #[test]
    fn room_for_three() {
        let mut r = Reassembly::default();
        for i in 0..6 {
            r.insert(100 + 20 * i, 110 + 20 * i);
        }
        assert_eq!(report(&mut r, None, 3), [(200, 210), (180, 190), (160, 170)]);
        // Four are remembered; when they are gone the rest is reported, lowest first.
        assert_eq!(r.advance(100), (110, None));
        r.insert(150, 200);
        assert_eq!(report(&mut r, None, 3), [(140, 210), (120, 130)]);
    }

    proptest! {
        /// Against a bitmap: same bytes held, same contiguous prefix, blocks are maximal runs of the bitmap.
        #[test]
        fn agrees_with_a_bitmap(arrivals in prop::collection::vec((0u64..200, 1u64..20), 1..80)) {
            let mut r = Reassembly::default();
            let mut have = vec![false; 256];
            let mut next = 0u64;
            for &(left, len) in &arrivals {
                let (left, right) = (left.max(next), left + len);
                if right <= next { continue }
                if left == next {
                    have[left as usize..right as usize].fill(true);
                    next = r.advance(right).0;
                    let expected = have.iter().position(|&h| !h).unwrap() as u64;
                    prop_assert_eq!(next, expected);
                } else {
                    let fresh = have[left as usize..right as usize].iter().filter(|&&h| !h).count() as u64;
                    have[left as usize..right as usize].fill(true);
                    prop_assert_eq!(r.insert(left, right).fresh, fresh);
                    let first = report(&mut r, None, 4)[0];
                    prop_assert!(first.0 <= left && right <= first.1);
                }
                let held = have[next as usize..].iter().filter(|&&h| h).count() as u64;
                prop_assert_eq!(r.intervals.iter().map(|(left, right)| right - left).sum::<u64>(), held);
                for (l, r) in report(&mut r, None, 4) {
                    prop_assert!(l > next && have[l as usize..r as usize].iter().all(|&h| h));
                    prop_assert!(!have[l as usize - 1] && !have[r as usize]);
                }
            }
        }
    }
}
