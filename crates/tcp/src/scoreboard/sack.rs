//! SACK blocks into the bitmaps (RFC 6675 `Update`).

use super::marks::{Cached, Marks, span};
use super::{LEN, Scoreboard, Taken};
use crate::segment::SackBlocks;
use std::cmp::Ordering;

impl Scoreboard {
    /// Takes in the first `count` SACK blocks of an ACK, in sequence numbers that count from `origin`; returns what they
    /// newly covered.
    pub fn sack(&mut self, wire: &SackBlocks, count: u8, origin: u32) -> Taken {
        let mut taken = Taken::default();
        if self.head == self.tail {
            return taken;
        }
        let mut marks = self.take_marks();
        let before = marks.cache;
        for (i, &block) in wire.iter().take(usize::from(count)).enumerate() {
            // Most blocks are those of the last ACK, in their place or one further back behind a new one.
            marks.cache[i] = if block == before[i].wire {
                before[i]
            } else if i > 0 && block == before[i - 1].wire {
                before[i - 1]
            } else {
                let end = self.sack_block(&mut marks, &before, block, origin, &mut taken);
                Cached { wire: block, end }
            };
        }
        self.marks = Some(marks);
        self.settle();
        taken
    }

    /// Takes in a block that the last ACK did not have; returns the ordinal after it.
    #[inline(never)]
    fn sack_block(
        &mut self,
        marks: &mut Marks,
        before: &[Cached; 4],
        block: (u32, u32),
        origin: u32,
        taken: &mut Taken,
    ) -> u64 {
        let base = origin.wrapping_add(self.una as u32);
        let ahead = |seq: u32| u64::from((seq.wrapping_sub(base) as i32).max(0) as u32);
        let (left, right) = (self.una + ahead(block.0), (self.una + ahead(block.1)).min(self.nxt));
        if left >= right {
            return 0;
        }
        // Of a block that has grown only what it has grown by is new.
        let grown =
            before.iter().find(|c| c.wire.0 == block.0 && c.end != 0 && (block.1.wrapping_sub(c.wire.1) as i32) > 0);
        let start = match grown {
            Some(c) => c.end.max(self.head),
            None => {
                let (ordinal, partial) = self.ordinal_at(left);
                ordinal + u64::from(partial > 0)
            }
        };
        let end = self.end_at(start, right);
        if end == start + 1 {
            self.sack_one(marks, start, taken);
        } else if end > start {
            self.mark_sacked(marks, start, end, taken);
        }
        end.max(start)
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

    /// Marks one segment, what most ACKs bring.
    #[inline]
    fn sack_one(&mut self, marks: &mut Marks, ordinal: u64, taken: &mut Taken) {
        let (word, bit) = (marks.word(ordinal), 1 << (ordinal & 63));
        if word.sacked & bit != 0 {
            return;
        }
        let sent = *self.sent(ordinal);
        let bytes = u64::from(sent.meta & LEN);
        taken.delivered += bytes;
        taken.note_any(&sent, ordinal);
        self.sacked_bytes += bytes;
        self.lost_bytes -= if word.lost & bit != 0 { bytes } else { 0 };
        self.resent_bytes -= if word.resent & bit != 0 { bytes } else { 0 };
        if ordinal >= self.loss_cursor {
            // A run of its own unless it touches one; two become one when it fills the gap.
            let joins = ordinal > self.loss_cursor && marks.is_sacked(ordinal - 1);
            let meets = ordinal + 1 < self.tail && marks.is_sacked(ordinal + 1);
            self.sacked_above += bytes;
            self.runs_above = self.runs_above + 1 - u64::from(joins) - u64::from(meets);
        }
        if self.keeps_times() {
            self.time(marks, ordinal, true);
        }
        marks.sack(ordinal, bit);
        self.high_sacked = self.high_sacked.max(ordinal + 1);
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
        taken.note_any(self.sent(first), first);
        taken.note_any(self.sent(last), last);
        self.count_above(marks, base, fresh);
        if self.keeps_times() {
            let mut rest = fresh;
            while rest != 0 {
                self.time(marks, base + u64::from(rest.trailing_zeros()), true);
                rest &= rest - 1;
            }
        }
        marks.sack(base, fresh);
    }
}
