//! What is lost, and what to send again: `IsLost`, `HighRxt` and `NextSeg` of RFC 6675 section 4 as cursors.

use super::marks::{Marks, span};
use super::{FIN, LEN, PUSH, RETRANSMITTED, Range, Scoreboard, Timed};

impl Scoreboard {
    /// Keeps the SACKed bytes and runs above the loss cursor as the segments `base + fresh` become SACKed.
    pub(super) fn count_above(&mut self, marks: &Marks, base: u64, fresh: u64) {
        let above = if self.loss_cursor <= base {
            u64::MAX
        } else if self.loss_cursor >= base + 64 {
            0
        } else {
            u64::MAX << (self.loss_cursor - base)
        };
        let fresh = fresh & above;
        if fresh == 0 {
            return;
        }
        self.sacked_above += self.bytes_of(base, fresh);
        // A run starts at a SACKed segment whose predecessor, if not below the cursor, is not SACKed.
        let old = marks.word(base).sacked & above;
        let before = u64::from(base > self.loss_cursor && marks.is_sacked(base - 1));
        let starts = |bits: u64| u64::from((bits & !(bits << 1 | before)).count_ones());
        self.runs_above = self.runs_above + starts(old | fresh) - starts(old);
        // The run that starts the next word no longer does when the segment before it becomes SACKed.
        if fresh >> 63 == 1 && base + 64 < self.tail && marks.is_sacked(base + 64) {
            self.runs_above -= 1;
        }
    }

    /// Moves the loss cursor to `end`: SACKed bytes and runs below it no longer count.
    pub(super) fn pass(&mut self, marks: &Marks, end: u64) {
        let mut at = self.loss_cursor;
        while at < end {
            let (bits, next) = span(at, end);
            let word = marks.word(at).sacked;
            let sacked = word & bits;
            if sacked != 0 {
                self.sacked_above -= self.bytes_of(at & !63, sacked);
                let after = u64::from((at | 63) + 1 < self.tail && marks.is_sacked((at | 63) + 1));
                let ends = sacked & !(word >> 1 | after << 63);
                self.runs_above -= u64::from(ends.count_ones());
            }
            at = next;
        }
        self.loss_cursor = self.loss_cursor.max(end);
    }

    /// The bitmaps, which come into being with the first mark. The caller puts them back.
    pub(super) fn take_marks(&mut self) -> Box<Marks> {
        self.marks.take().unwrap_or_else(|| Box::new(Marks::new(self.ring.len())))
    }

    /// The cursors follow the head while nothing is marked.
    #[inline]
    pub(super) fn raise_cursors(&mut self) {
        self.loss_cursor = self.head;
        self.resend_cursor = self.resend_cursor.max(self.head);
        self.high_sacked = self.high_sacked.max(self.head);
    }

    /// Marks as lost what RFC 6675's `IsLost` says: `dup_threshold` SACKed runs, or more than `dup_threshold - 1` full
    /// segments of SACKed bytes, lie above.
    pub fn detect_losses(&mut self, dup_threshold: u32) {
        let bytes = u64::from(dup_threshold - 1) * u64::from(self.mss);
        let runs = u64::from(dup_threshold);
        if self.sacked_above <= bytes && self.runs_above < runs {
            return;
        }
        let Some(mut marks) = self.marks.take() else { return };
        while self.sacked_above > bytes || self.runs_above >= runs {
            let sacked = marks.next_sacked(self.loss_cursor, self.high_sacked);
            self.mark_lost(&mut marks, self.loss_cursor, sacked);
            self.loss_cursor = sacked;
            let open = marks.next_open(sacked, self.high_sacked);
            self.pass(&marks, open);
        }
        self.marks = Some(marks);
        self.settle();
    }

    /// Marks as lost what lies more than `reordering` segments below the highest SACKed one, that one counted (FACK: Linux
    /// 2.4 `tcp_update_scoreboard`).
    pub fn detect_below_highest(&mut self, reordering: u64) {
        let end = self.high_sacked.saturating_sub(reordering);
        if end <= self.loss_cursor.max(self.head) {
            return;
        }
        let Some(mut marks) = self.marks.take() else { return };
        while self.loss_cursor < end {
            let sacked = marks.next_sacked(self.loss_cursor, end);
            self.mark_lost(&mut marks, self.loss_cursor, sacked);
            let open = marks.next_open(sacked, end);
            self.pass(&marks, open);
        }
        self.marks = Some(marks);
        self.settle();
    }

    /// No loss was one: what was lost is in flight. What was retransmitted stays so, and by time what was lost again stays lost,
    /// because it is no longer in the order of sending. With `hide` nothing stays lost, and what time had found lost it does not find lost
    /// once more before it is retransmitted (Linux `tcp_rack_detect_loss` takes it out of the order of sending; a timeout does not).
    pub fn unmark_lost(&mut self, hide: bool) {
        let Some(mut marks) = self.marks.take() else { return };
        let mut at = self.head;
        let (mut runs, mut before) = (0, 0);
        self.lost_bytes = 0;
        if let Some(times) = &mut marks.times {
            times.restart(self.head);
        }
        while at < self.tail {
            let (bits, next) = span(at, self.tail);
            let lost = marks.word(at).lost & bits;
            let kept = if self.keeps_times() && !hide { self.keep_lost_again(&mut marks, at & !63, lost) } else { 0 };
            let word = marks.word_mut(at);
            word.lost = word.lost & !bits | kept;
            word.hidden &= if hide { lost | !bits } else { !bits };
            if word.hidden & bits != 0 {
                self.timed = Timed::Hiding;
            }
            let sacked = word.sacked & bits;
            runs += u64::from((sacked & !(sacked << 1 | before)).count_ones());
            before = sacked >> 63;
            at = next;
        }
        self.loss_cursor = self.head;
        self.sacked_above = self.sacked_bytes;
        self.runs_above = runs;
        self.resend_cursor = self.head;
        self.marks = Some(marks);
        self.settle();
    }

    pub(super) fn add_lost_ranges(&mut self, ranges: u32) {
        self.lost_ranges = self.lost_ranges.wrapping_add(ranges as u16);
    }

    /// Whether the segment before `ordinal` is lost.
    pub(super) fn follows_lost(&self, marks: &Marks, ordinal: u64) -> bool {
        ordinal > self.head && marks.word(ordinal - 1).lost >> ((ordinal - 1) & 63) & 1 == 1
    }

    /// Marks `[from, to)`, of which nothing is SACKed or lost.
    fn mark_lost(&mut self, marks: &mut Marks, from: u64, to: u64) {
        self.add_lost_ranges(u32::from(from < to && !self.follows_lost(marks, from)));
        let mut at = from;
        while at < to {
            let (bits, next) = span(at, to);
            let lost = self.bytes_of(at & !63, bits);
            self.lost_bytes += lost;
            self.lost_total += lost;
            marks.word_mut(at).lost |= bits;
            at = next;
        }
    }

    /// A timeout: all that is not SACKed is lost, what was retransmitted included.
    pub fn lose_all(&mut self) {
        if self.head == self.tail {
            return;
        }
        let mut marks = self.take_marks();
        if marks.is_sacked(self.head) {
            // The receiver dropped what it had SACKed (RFC 2018 section 8).
            marks.forget_sacks();
            if let Some(times) = &mut marks.times {
                times.sacked = 0;
            }
            self.sacked_bytes = 0;
            self.high_sacked = self.head;
        }
        let (mut at, mut before) = (self.head, 0);
        while at < self.tail {
            let (bits, next) = span(at, self.tail);
            let word = marks.word(at);
            // What was lost already and not retransmitted is not lost once more.
            let fresh = bits & !word.sacked & (!word.lost | word.resent);
            self.lost_total += self.bytes_of(at & !63, fresh);
            self.add_lost_ranges((fresh & !(fresh << 1 | before)).count_ones());
            before = fresh >> 63;
            let word = marks.word_mut(at);
            word.lost |= bits & !word.sacked;
            word.resent &= !bits;
            at = next;
        }
        if let Some(times) = &mut marks.times {
            times.restart(self.head);
        }
        self.marks = Some(marks);
        self.lost_bytes = self.flight() - self.sacked_bytes;
        self.resent_bytes = 0;
        self.loss_cursor = self.tail;
        self.sacked_above = 0;
        self.runs_above = 0;
        self.resend_cursor = self.head;
        self.settle();
    }

    /// The first segment is lost, and its retransmission too if there was one.
    pub fn lose_first(&mut self) {
        if self.head == self.tail {
            return;
        }
        let mut marks = self.take_marks();
        let head = self.head;
        if marks.word(head).lost >> (head & 63) & 1 == 0 {
            self.mark_one_lost(&mut marks, head);
            self.pass(&marks, head + 1);
            self.resend_cursor = head;
            self.sacked_bytes = self.sacked_bytes.min(self.flight() - self.lost_bytes);
        }
        self.marks = Some(marks);
        self.settle();
    }

    /// `NextSeg` rule 1: the first lost segment not retransmitted yet.
    #[inline]
    pub fn next_lost(&mut self) -> Option<Range> {
        if self.lost_bytes == 0 {
            return None;
        }
        let again = if self.keeps_times() { self.next_lost_again() } else { None };
        if self.resend_cursor >= self.loss_cursor {
            return again;
        }
        let Some(marks) = self.marks.as_ref() else { return again };
        let found = marks.next(self.resend_cursor, self.loss_cursor, |word| word.lost & !word.resent);
        self.resend_cursor = found;
        match again {
            Some(range) if range.ordinal <= found => again,
            _ if found < self.loss_cursor => Some(self.range(found)),
            _ => again,
        }
    }

    /// Whether the segment is lost and not retransmitted.
    pub fn is_due(&self, ordinal: u64) -> bool {
        let word = self.marks.as_ref().filter(|_| ordinal < self.tail).map(|marks| marks.word(ordinal));
        word.is_some_and(|word| (word.lost & !word.resent & !word.sacked) >> (ordinal & 63) & 1 == 1)
    }

    /// `NextSeg` rule 3: the first segment above `HighRxt` and below the highest SACK that is neither SACKed nor lost.
    pub fn next_hole(&self) -> Option<Range> {
        let marks = self.marks.as_ref()?;
        let from = self.resend_cursor.max(self.loss_cursor);
        let found = marks.next(from, self.high_sacked, |word| !(word.sacked | word.resent));
        (found < self.high_sacked).then(|| self.range(found))
    }

    /// `NextSeg` rule 4: the last segment that is not SACKed.
    pub fn last_open(&self) -> Option<Range> {
        let sacked = |ordinal: u64| self.marks.as_ref().is_some_and(|marks| marks.is_sacked(ordinal));
        (self.head..self.tail).rev().find(|&ordinal| !sacked(ordinal)).map(|ordinal| self.range(ordinal))
    }

    /// The first unacknowledged segment.
    pub fn first(&self) -> Option<Range> {
        (self.head < self.tail).then(|| self.range(self.head))
    }

    /// How many segments in flight within `[left, right)` were sent more than once, and whether one of them is SACKed already
    /// below the highest SACKed one.
    pub fn retransmitted_in(&self, left: u64, right: u64) -> (u64, bool) {
        let (first, inside) = self.ordinal_at(left.max(self.una));
        let (mut count, mut late) = (0, false);
        for ordinal in first + u64::from(inside > 0)..self.tail {
            if self.seq_of(ordinal) + self.len_of(ordinal) > right {
                break;
            }
            if self.sent(ordinal).meta & RETRANSMITTED != 0 {
                count += 1;
                let sacked = self.marks.as_ref().is_some_and(|marks| marks.is_sacked(ordinal));
                late |= sacked && ordinal + 1 < self.high_sacked;
            }
        }
        (count, late)
    }

    /// Whether the first unacknowledged segment was retransmitted and not lost since.
    pub fn first_is_resent(&self) -> bool {
        self.marks.as_ref().is_some_and(|marks| marks.word(self.head).resent >> (self.head & 63) & 1 == 1)
    }

    /// `HighRxt` goes back to the cumulative acknowledgement.
    pub fn restart_resend(&mut self) {
        self.resend_cursor = self.head;
        let below = self.loss_cursor;
        if let Some(times) = self.marks.as_mut().and_then(|marks| marks.times.as_mut()) {
            times.rescan(below);
        }
    }

    pub(super) fn range(&self, ordinal: u64) -> Range {
        let meta = self.sent(ordinal).meta;
        Range { ordinal, seq: self.seq_of(ordinal), len: meta & LEN, fin: meta & FIN != 0, push: meta & PUSH != 0 }
    }

    /// The segment is retransmitted and counted in `pipe` once more.
    pub fn resend(&mut self, ordinal: u64, now: u64) {
        let at = if self.keeps_times() { self.time_of_again(now) } else { now };
        let len = self.len_of(ordinal);
        let capacity = self.ring.len();
        let word = self.marks.get_or_insert_with(|| Box::new(Marks::new(capacity))).word_mut(ordinal);
        let bit = 1 << (ordinal & 63);
        word.hidden &= !bit;
        if word.resent & bit == 0 {
            word.resent |= bit;
            self.resent_bytes += len;
            self.settle();
        }
        // What was lost again may lie above lost segments that the cursor has not come to.
        if !self.keeps_times() || !self.log_again(ordinal, at) {
            self.resend_cursor = self.resend_cursor.max(ordinal + 1);
        }
        self.note_again(ordinal, at);
    }

    /// The segment is retransmitted without being counted twice.
    pub fn touch(&mut self, ordinal: u64, now: u64) {
        let at = if self.keeps_times() { self.time_of_probe(ordinal, now) } else { now };
        if let Some(marks) = &mut self.marks {
            marks.word_mut(ordinal).hidden &= !(1 << (ordinal & 63));
        }
        self.note_again(ordinal, at);
    }

    fn note_again(&mut self, ordinal: u64, at: u64) {
        let slot = self.slot(ordinal);
        self.ring[slot].meta |= RETRANSMITTED;
        self.ring[slot].at = at;
    }

    /// The segment `[seq, seq + len)` was not sent after all. The newest one, sent once, leaves the ring (true); one that
    /// was retransmitted is as before that.
    pub fn take_back(&mut self, seq: u64, len: u32) -> bool {
        let newest = seq + u64::from(len) == self.nxt;
        if newest && self.sent(self.tail - 1).meta & RETRANSMITTED == 0 {
            self.tail -= 1;
            self.nxt = seq;
            return true;
        }
        let (ordinal, _) = self.ordinal_at(seq);
        let bytes = self.len_of(ordinal);
        if let Some(marks) = &mut self.marks {
            let word = marks.word_mut(ordinal);
            let bit = 1 << (ordinal & 63);
            if word.resent & bit != 0 {
                word.resent &= !bit;
                self.resent_bytes -= bytes;
            }
        }
        self.resend_cursor = self.resend_cursor.min(ordinal);
        self.settle();
        false
    }
}
