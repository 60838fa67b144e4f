//! The scoreboard: what was sent and not yet acknowledged (RFC 6675 section 3).
//!
//! A ring of sent segments by ordinal, 16 bytes each, with the bitmaps of [`marks`] beside it. Everything that an ACK
//! asks is answered by counters kept incrementally or by cursors that only move forward, so that a segment costs a
//! constant amount of work from its sending to its acknowledgement, however many are in flight:
//!
//! - `pipe` (SetPipe) = sent - SACKed - lost + retransmitted, in bytes;
//! - `IsLost` is monotone in the sequence number, so one cursor separates what is lost from what is not, with the
//!   SACKed bytes and the SACKed runs above it counted;
//! - `HighRxt` is a cursor over lost segments;
//! - the last SACK blocks are remembered with their ordinals: a block seen before costs nothing, one that has grown
//!   costs what it has grown by.
//!
//! Sequence numbers are offsets in the stream (the SYN is 0), 64 bits wide.

mod loss;
mod marks;
mod reorder;
mod sack;
mod times;

use marks::{Marks, span};

/// The segment was sent more than once.
const RETRANSMITTED: u32 = 1 << 30;
/// The segment ends with a FIN, which takes one of its sequence numbers.
pub(crate) const FIN: u32 = 1 << 31;
/// The segment ends what the application has written: it carries PSH.
pub(crate) const PUSH: u32 = 1 << 29;
const LEN: u32 = (1 << 24) - 1;
/// Segments that the ring keeps free, so that its oldest and newest never share a word of the bitmaps.
const SPARE: u64 = 64;
const CAPACITY_MIN: usize = 128;

/// A sent segment.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
struct Sent {
    /// Low half of its offset.
    seq: u32,
    /// Sequence length in the low 24 bits, then flags.
    meta: u32,
    /// When it was last sent, ps.
    at: u64,
}

/// What an ACK removed from the scoreboard or marked in it. Times are of segments sent once only, `u64::MAX` if none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taken {
    /// Bytes that had not been SACKed before.
    pub delivered: u64,
    /// When the first and the last of the segments sent once were sent.
    pub first_at: u64,
    pub last_at: u64,
    /// A segment among them was sent more than once.
    pub retransmitted: bool,
    /// The segment that was sent last, and when; `u64::MAX` and 0 if none.
    pub newest: u64,
    pub newest_at: u64,
}

impl Default for Taken {
    fn default() -> Taken {
        Taken {
            delivered: 0,
            first_at: u64::MAX,
            last_at: u64::MAX,
            retransmitted: false,
            newest: u64::MAX,
            newest_at: 0,
        }
    }
}

impl Taken {
    /// Karn: whether transmission times give a round-trip time.
    #[inline]
    pub fn has_sample(&self) -> bool {
        self.first_at != u64::MAX && !self.retransmitted
    }

    /// The round-trip sample of an ACK as Linux takes it: the cumulative one, or that of what is SACKed and was sent once; the newest of
    /// both for the smallest.
    pub fn timed_with(&self, sacked: &Taken) -> Taken {
        if sacked.first_at == u64::MAX {
            return *self;
        }
        let first_at = if self.has_sample() { self.first_at } else { sacked.first_at };
        Taken { first_at, last_at: sacked.last_at, retransmitted: false, delivered: self.delivered, ..*self }
    }

    #[inline]
    fn note(&mut self, sent: &Sent) {
        if sent.meta & RETRANSMITTED != 0 {
            self.retransmitted = true;
        } else {
            self.first_at = self.first_at.min(sent.at);
            self.last_at = sent.at;
        }
    }

    /// As [`Taken::note`], where segments are not noted in the order in which they were sent.
    #[inline]
    fn note_any(&mut self, sent: &Sent, ordinal: u64) {
        self.note(sent);
        if sent.at >= self.newest_at {
            (self.newest, self.newest_at) = (ordinal, sent.at);
        }
    }

    /// The segment sent last of those that either took.
    pub fn newest_of(&self, other: &Taken) -> Option<u64> {
        let newest = if other.newest_at > self.newest_at { other.newest } else { self.newest };
        (newest != u64::MAX).then_some(newest)
    }
}

/// A segment to send again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    pub ordinal: u64,
    pub seq: u64,
    /// Sequence length, FIN included.
    pub len: u32,
    pub fin: bool,
    pub push: bool,
}

/// Segments in the scoreboard: all, SACKed, lost, retransmitted and not known to have arrived or to be lost again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub out: u64,
    pub sacked: u64,
    pub lost: u64,
    pub resent: u64,
}

/// Whether losses are detected by time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Timed {
    No,
    Yes,
    /// They are, and a segment may be hidden from it.
    Hiding,
}

#[derive(Clone, Debug)]
pub(crate) struct Scoreboard {
    ring: Vec<Sent>,
    /// Ordinals of the oldest segment and of the next one.
    head: u64,
    tail: u64,
    /// Offset of the first unacknowledged byte and of the next to send.
    una: u64,
    nxt: u64,
    sacked_bytes: u64,
    lost_bytes: u64,
    /// Bytes ever found lost.
    lost_total: u64,
    /// Ranges of segments that they were found in, modulo 2^16: an idle connection stays small.
    lost_ranges: u16,
    resent_bytes: u64,
    /// resent - SACKed - lost, modulo 2^64, and whether any of them is not zero.
    adjustment: u64,
    marked: bool,
    /// Losses are detected by time.
    timed: Timed,
    mss: u32,
    /// Ordinal after the last segment in the ring whose length is not `mss`.
    uneven: u64,
    marks: Option<Box<Marks>>,
    /// Everything below is lost or SACKed; SACKed bytes and runs at or above.
    loss_cursor: u64,
    sacked_above: u64,
    runs_above: u64,
    /// Ordinal after the highest SACKed segment.
    high_sacked: u64,
    /// Lost segments below have been retransmitted (HighRxt).
    resend_cursor: u64,
}

impl Scoreboard {
    /// An empty scoreboard whose next byte is at `offset`.
    pub fn new(offset: u64, mss: u32) -> Scoreboard {
        Scoreboard {
            ring: Vec::new(),
            head: 0,
            tail: 0,
            una: offset,
            nxt: offset,
            sacked_bytes: 0,
            lost_bytes: 0,
            lost_total: 0,
            lost_ranges: 0,
            resent_bytes: 0,
            adjustment: 0,
            marked: false,
            timed: Timed::No,
            mss,
            uneven: 0,
            marks: None,
            loss_cursor: 0,
            sacked_above: 0,
            runs_above: 0,
            high_sacked: 0,
            resend_cursor: 0,
        }
    }

    /// Ordinals of the first segment in flight and of the next to be sent.
    #[inline]
    pub fn ordinals(&self) -> (u64, u64) {
        (self.head, self.tail)
    }

    #[inline]
    pub fn una(&self) -> u64 {
        self.una
    }

    #[inline]
    pub fn nxt(&self) -> u64 {
        self.nxt
    }

    /// Sent and not cumulatively acknowledged (FlightSize).
    #[inline]
    pub fn flight(&self) -> u64 {
        self.nxt - self.una
    }

    /// Bytes believed to be in the network (RFC 6675 SetPipe).
    #[inline]
    pub fn pipe(&self) -> u64 {
        self.flight().wrapping_add(self.adjustment)
    }

    /// Counts the segments by what is known of them.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts { out: self.tail - self.head, ..Counts::default() };
        let Some(marks) = &self.marks else { return counts };
        let mut at = self.head;
        while at < self.tail {
            let (bits, next) = span(at, self.tail);
            let word = marks.word(at);
            counts.sacked += u64::from((word.sacked & bits).count_ones());
            counts.lost += u64::from((word.lost & bits).count_ones());
            counts.resent += u64::from((word.resent & bits).count_ones());
            at = next;
        }
        counts
    }

    /// Duplicate ACKs without SACK stand for so many bytes that have arrived, as if they were SACKed.
    pub fn presume(&mut self, bytes: u64) {
        self.sacked_bytes = bytes.min(self.flight().saturating_sub(self.lost_bytes));
        self.settle();
    }

    /// When the first segment in flight was last sent, ps.
    pub fn first_at(&self) -> Option<u64> {
        (self.head < self.tail).then(|| self.sent(self.head).at)
    }

    /// Something in flight was sent again (Linux `tcp_any_retrans_done`).
    pub fn any_again(&self) -> bool {
        self.resent_bytes > 0 || self.head < self.tail && self.sent(self.head).meta & RETRANSMITTED != 0
    }

    /// Segments that have arrived, cumulatively acknowledged or SACKed.
    pub fn delivered_segments(&self) -> u64 {
        self.head + if self.keeps_times() { self.segments_sacked() } else { self.counts().sacked }
    }

    /// Whether a segment that is not acknowledged may be smaller than a full one.
    #[inline]
    pub fn is_uneven(&self) -> bool {
        self.uneven > self.head
    }

    /// Segments in the network, however small.
    pub fn pipe_segments(&self) -> u64 {
        let counts = self.counts();
        (counts.out + counts.resent).saturating_sub(counts.sacked + counts.lost)
    }

    /// Something is SACKed, lost or retransmitted.
    #[inline]
    pub fn is_marked(&self) -> bool {
        self.marked
    }

    /// The marks have changed.
    fn settle(&mut self) {
        self.adjustment = self.resent_bytes.wrapping_sub(self.sacked_bytes).wrapping_sub(self.lost_bytes);
        self.marked = self.timed == Timed::Hiding || self.sacked_bytes | self.lost_bytes | self.resent_bytes != 0;
    }

    #[inline]
    pub fn sacked_bytes(&self) -> u64 {
        self.sacked_bytes
    }

    /// Retransmitted and not known to be lost or delivered.
    pub fn resent_bytes(&self) -> u64 {
        self.resent_bytes
    }

    /// The offset after the highest SACKed segment; the cumulative acknowledgement if there is none.
    pub fn high_sacked_offset(&self) -> u64 {
        if self.high_sacked <= self.head {
            return self.una;
        }
        self.seq_of(self.high_sacked - 1) + self.len_of(self.high_sacked - 1)
    }

    #[inline]
    pub fn lost_bytes(&self) -> u64 {
        self.lost_bytes
    }

    /// Bytes found lost since the connection began, those retransmitted and lost again once more.
    #[inline]
    pub fn lost_total(&self) -> u64 {
        self.lost_total
    }

    /// Ranges of segments that they were found in, modulo 2^16; what a lost range grows by is none.
    #[inline]
    pub fn lost_ranges(&self) -> u16 {
        self.lost_ranges
    }

    /// Counts `bytes` that recovery without SACK takes for lost: nothing marks them here.
    pub fn count_lost(&mut self, bytes: u64) {
        self.lost_total += bytes;
        self.add_lost_ranges(1);
    }

    #[inline]
    fn slot(&self, ordinal: u64) -> usize {
        ordinal as usize & (self.ring.len() - 1)
    }

    #[inline]
    fn sent(&self, ordinal: u64) -> &Sent {
        &self.ring[self.slot(ordinal)]
    }

    #[inline]
    fn len_of(&self, ordinal: u64) -> u64 {
        u64::from(self.sent(ordinal).meta & LEN)
    }

    /// The whole offset of a segment in the ring.
    #[inline]
    fn seq_of(&self, ordinal: u64) -> u64 {
        self.una + u64::from(self.sent(ordinal).seq.wrapping_sub(self.una as u32))
    }

    /// A new segment of `len` sequence numbers (a FIN included) is sent.
    #[inline]
    pub fn push(&mut self, len: u32, flags: u32, at: u64) {
        if self.tail - self.head + SPARE >= self.ring.len() as u64 {
            self.grow();
        }
        let slot = self.slot(self.tail);
        self.ring[slot] = Sent { seq: self.nxt as u32, meta: len | flags, at };
        self.tail += 1;
        self.nxt += u64::from(len);
        if len != self.mss {
            self.uneven = self.tail;
        }
    }

    #[cold]
    fn grow(&mut self) {
        let old = self.ring.len();
        let capacity = (old * 2).max(CAPACITY_MIN);
        let mut ring = vec![Sent::default(); capacity];
        for ordinal in self.head..self.tail {
            ring[ordinal as usize & (capacity - 1)] = *self.sent(ordinal);
        }
        self.ring = ring;
        if let Some(mut old) = self.marks.take() {
            let mut marks = Box::new(Marks::new(capacity));
            marks.cache = old.cache;
            marks.times = old.times.take();
            let mut at = self.head;
            while at < self.tail {
                let (bits, next) = span(at, self.tail);
                let word = old.word(at);
                marks.sack(at, word.sacked & bits);
                marks.word_mut(at).lost |= word.lost & bits;
                marks.word_mut(at).resent |= word.resent & bits;
                marks.word_mut(at).hidden |= word.hidden & bits;
                at = next;
            }
            self.marks = Some(marks);
        }
    }

    /// Everything before `ack` has arrived.
    #[inline]
    pub fn acknowledge(&mut self, ack: u64) -> Taken {
        let mut taken = Taken { delivered: ack - self.una, ..Taken::default() };
        if self.marked {
            self.acknowledge_marked(ack, &mut taken);
        } else {
            let (base, first) = (self.una as u32, self.head);
            let advance = (ack - self.una) as u32;
            while self.head < self.tail {
                let slot = self.slot(self.head);
                let sent = &mut self.ring[slot];
                let start = sent.seq.wrapping_sub(base);
                let len = sent.meta & LEN;
                if start + len > advance {
                    if start < advance {
                        sent.seq = ack as u32;
                        sent.meta -= advance - start;
                        self.uneven = self.uneven.max(self.head + 1);
                    }
                    break;
                }
                taken.note(sent);
                taken.newest_at = sent.at;
                self.head += 1;
            }
            if taken.newest_at != 0 {
                taken.newest = self.head - 1;
            }
            if taken.retransmitted {
                self.find_newest(first, &mut taken);
            }
            if self.loss_cursor < self.head {
                self.raise_cursors();
            }
        }
        self.una = ack;
        // A peer that accepted a window probe acknowledges a byte that is in no segment.
        self.nxt = self.nxt.max(ack);
        taken
    }

    /// The segment sent last of those from `first` that were just acknowledged, one of which was retransmitted.
    #[cold]
    fn find_newest(&self, first: u64, taken: &mut Taken) {
        taken.newest_at = 0;
        for ordinal in first..self.head {
            let at = self.sent(ordinal).at;
            if at >= taken.newest_at {
                (taken.newest, taken.newest_at) = (ordinal, at);
            }
        }
    }

    /// [`Scoreboard::acknowledge`] when segments are marked: word by word, touching only what was not SACKed.
    fn acknowledge_marked(&mut self, ack: u64, taken: &mut Taken) {
        let (end, partial) = self.ordinal_at(ack);
        let mut marks = self.take_marks();
        self.pass(&marks, end);
        let mut at = self.head;
        while at < end {
            let (bits, next) = span(at, end);
            let word = marks.word(at);
            let base = at & !63;
            let sacked = self.bytes_of(base, word.sacked & bits);
            taken.delivered -= sacked;
            self.sacked_bytes -= sacked;
            self.lost_bytes -= self.bytes_of(base, word.lost & bits);
            self.resent_bytes -= self.bytes_of(base, word.resent & bits);
            let mut open = bits & !word.sacked;
            while open != 0 {
                let ordinal = base + u64::from(open.trailing_zeros());
                taken.note_any(self.sent(ordinal), ordinal);
                if self.keeps_times() {
                    self.time(&mut marks, ordinal, false);
                }
                open &= open - 1;
            }
            if let Some(times) = &mut marks.times {
                times.sacked -= u64::from((word.sacked & bits).count_ones());
            }
            marks.clear(at, bits);
            at = next;
        }
        self.head = end;
        if partial > 0 {
            self.trim_head(&marks, ack, partial, taken);
        }
        self.resend_cursor = self.resend_cursor.max(end);
        self.high_sacked = self.high_sacked.max(end);
        if self.timed == Timed::Hiding && marks.next(end, self.tail, |word| word.hidden) >= self.tail {
            self.timed = Timed::Yes;
        }
        self.settle();
        if !self.marked {
            // Blocks of an earlier turn of the sequence numbers must not be taken for known.
            marks.cache = Default::default();
        }
        self.marks = Some(marks);
    }

    /// The head keeps what follows `ack`, which lies `partial` bytes inside it.
    fn trim_head(&mut self, marks: &Marks, ack: u64, partial: u32, taken: &mut Taken) {
        let (head, cut) = (self.head, u64::from(partial));
        let word = marks.word(head);
        let bit = 1 << (head & 63);
        if word.sacked & bit != 0 {
            self.sacked_bytes -= cut;
            taken.delivered -= cut;
            if head >= self.loss_cursor {
                self.sacked_above -= cut;
            }
        }
        self.lost_bytes -= if word.lost & bit != 0 { cut } else { 0 };
        self.resent_bytes -= if word.resent & bit != 0 { cut } else { 0 };
        let slot = self.slot(head);
        self.ring[slot].seq = ack as u32;
        self.ring[slot].meta -= partial;
        self.uneven = self.uneven.max(head + 1);
    }

    /// Bytes of the segments `base + bit`.
    #[inline]
    fn bytes_of(&self, base: u64, bits: u64) -> u64 {
        if bits == 0 {
            return 0;
        }
        if base >= self.uneven {
            return u64::from(bits.count_ones()) * u64::from(self.mss);
        }
        let mut bytes = 0;
        let mut rest = bits;
        while rest != 0 {
            bytes += self.len_of(base + u64::from(rest.trailing_zeros()));
            rest &= rest - 1;
        }
        bytes
    }

    /// The ordinal of the segment that holds offset `at`, and how far inside it `at` is; `(tail, 0)` at the end.
    /// The guess is arithmetic (all segments full), a binary search where that fails.
    fn ordinal_at(&self, at: u64) -> (u64, u32) {
        if at >= self.nxt || self.head == self.tail {
            return (self.tail, 0);
        }
        let inside = |ordinal: u64| {
            let seq = self.seq_of(ordinal);
            (seq <= at && at < seq + self.len_of(ordinal)).then(|| (at - seq) as u32)
        };
        let guess = self.head + (at - self.seq_of(self.head)) / u64::from(self.mss);
        if guess < self.tail
            && let Some(partial) = inside(guess)
        {
            return (guess, partial);
        }
        let (mut low, mut high) = (self.head, self.tail);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if self.seq_of(middle) <= at { low = middle } else { high = middle }
        }
        (low, inside(low).unwrap_or(0))
    }
}

#[cfg(test)]
mod rack_tests;
#[cfg(test)]
mod tests;
