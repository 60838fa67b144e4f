//! SACK blocks into the bitmaps (RFC 6675 `Update`).

use super::marks::{Cached, Marks, span};
use super::{Scoreboard, Taken};
use crate::segment::SackBlocks;
use std::cmp::Ordering;

impl Scoreboard {
    /// Offsets of wire blocks, of which the first `count` are meant.
    pub fn unwrap_blocks(&self, wire: &SackBlocks, count: u8, origin: u32) -> [(u64, u64); 4] {
        let una = self.una;
        let offset = |seq: u32| {
            let ahead = seq.wrapping_sub(origin.wrapping_add(una as u32)) as i32;
            una.saturating_add_signed(i64::from(ahead))
        };
        let mut blocks = [(0, 0); 4];
        for (block, &(left, right)) in blocks.iter_mut().zip(wire).take(usize::from(count)) {
            *block = (offset(left), offset(right));
        }
        blocks
    }

    /// Takes in the SACK blocks of an ACK, given as offsets; returns what they newly covered.
    pub fn sack(&mut self, blocks: &[(u64, u64)]) -> Taken {
        let mut taken = Taken::default();
        if self.head == self.tail {
            return taken;
        }
        let mut marks = self.take_marks();
        let mut fresh = [Cached::default(); 4];
        for (slot, &(left, right)) in fresh.iter_mut().zip(blocks) {
            let (left, right) = (left.max(self.una), right.min(self.nxt));
            if left >= right {
                continue;
            }
            // Of a block seen before only what it has grown by is new.
            let known = marks.cache.iter().find(|c| c.left == left && c.right > left && c.right <= right);
            let start = match known {
                Some(c) if c.right == right => {
                    *slot = *c;
                    continue;
                }
                Some(c) => c.end.max(self.head),
                None => {
                    let (ordinal, partial) = self.ordinal_at(left);
                    ordinal + u64::from(partial > 0)
                }
            };
            let end = self.end_at(start, right);
            if end > start {
                self.mark_sacked(&mut marks, start, end, &mut taken);
            }
            *slot = Cached { left, right, end: end.max(start) };
        }
        marks.cache = fresh;
        self.marks = Some(marks);
        self.settle();
        taken
    }

    /// The ordinal after the last segment that ends at or before `right`, which is often the one at `start`.
    #[inline]
    fn end_at(&self, start: u64, right: u64) -> u64 {
        let mut at = start;
        for _ in 0..3 {
            if at >= self.tail {
                return self.tail;
            }
            match (self.seq_of(at) + self.len_of(at)).cmp(&right) {
                Ordering::Less => at += 1,
                Ordering::Equal => return at + 1,
                Ordering::Greater => return at,
            }
        }
        self.ordinal_at(right).0
    }

    fn mark_sacked(&mut self, marks: &mut Marks, start: u64, end: u64, taken: &mut Taken) {
        let mut at = start;
        while at < end {
            if at & 63 == 0 {
                at = marks.skip_full(at, end);
                if at >= end {
                    break;
                }
            }
            let (bits, next) = span(at, end);
            let fresh = bits & !marks.word(at).sacked;
            if fresh != 0 {
                self.sack_word(marks, at & !63, fresh, taken);
            }
            at = next;
        }
        self.high_sacked = self.high_sacked.max(end);
    }

    /// Marks the segments `base + fresh`, none of them SACKed before.
    fn sack_word(&mut self, marks: &mut Marks, base: u64, fresh: u64, taken: &mut Taken) {
        let word = marks.word(base);
        let bytes = self.bytes_of(base, fresh);
        taken.delivered += bytes;
        self.sacked_bytes += bytes;
        self.lost_bytes -= self.bytes_of(base, word.lost & fresh);
        self.resent_bytes -= self.bytes_of(base, word.resent & fresh);
        let first = base + u64::from(fresh.trailing_zeros());
        let last = base + 63 - u64::from(fresh.leading_zeros());
        taken.note(self.sent(first));
        taken.note(self.sent(last));
        self.count_above(marks, base, fresh);
        marks.sack(base, fresh);
    }
}
