//! Three bitmaps over the ring of sent segments: SACKed, lost, retransmitted. One word holds 64 segments; a second level
//! remembers which words are wholly SACKed, so that a block that covers thousands of segments is walked 4096 at a time.

use super::times::Times;

/// 64 segments.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Word {
    pub sacked: u64,
    pub lost: u64,
    pub resent: u64,
    /// Time found it lost and looks at it no more, though that be taken back, before it is sent again (Linux takes it off
    /// `tsorted_sent_queue`).
    pub hidden: u64,
}

/// A SACK block of the last ACK that had any, as on the wire, and the ordinal after its last segment (0: it was void).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cached {
    pub wire: (u32, u32),
    pub end: u64,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Marks {
    pub cache: [Cached; 4],
    words: Vec<Word>,
    /// Bit i: word i is SACKed in all its 64 segments.
    full: Vec<u64>,
    /// Kept when losses are detected by time.
    pub times: Option<Box<Times>>,
}

/// The part of ordinals `[from, to)` that lies in the word of `from`: its bits, and where the next word begins.
#[inline]
pub(super) fn span(from: u64, to: u64) -> (u64, u64) {
    let next = (from | 63) + 1;
    let mask = u64::MAX << (from & 63);
    if to >= next { (mask, next) } else { (mask & !(u64::MAX << (to & 63)), to) }
}

impl Marks {
    /// Bitmaps for a ring of `capacity` segments, a power of two and at least 64.
    pub fn new(capacity: usize) -> Marks {
        let words = capacity / 64;
        Marks {
            cache: [Cached::default(); 4],
            words: vec![Word::default(); words],
            full: vec![0; words.div_ceil(64)],
            times: None,
        }
    }

    #[inline]
    fn index(&self, ordinal: u64) -> usize {
        (ordinal >> 6) as usize & (self.words.len() - 1)
    }

    #[inline]
    pub fn word(&self, ordinal: u64) -> Word {
        self.words[self.index(ordinal)]
    }

    #[inline]
    pub fn word_mut(&mut self, ordinal: u64) -> &mut Word {
        let index = self.index(ordinal);
        &mut self.words[index]
    }

    #[inline]
    pub fn is_sacked(&self, ordinal: u64) -> bool {
        self.word(ordinal).sacked >> (ordinal & 63) & 1 == 1
    }

    /// Sets SACKed bits; a SACKed segment is neither lost nor retransmitted.
    #[inline]
    pub fn sack(&mut self, ordinal: u64, bits: u64) {
        let index = self.index(ordinal);
        let word = &mut self.words[index];
        word.sacked |= bits;
        word.lost &= !bits;
        word.resent &= !bits;
        if word.sacked == u64::MAX {
            self.full[index >> 6] |= 1 << (index & 63);
        }
    }

    /// Clears all marks of `bits`, because the segments have left the ring.
    #[inline]
    pub fn clear(&mut self, ordinal: u64, bits: u64) {
        let index = self.index(ordinal);
        let word = &mut self.words[index];
        word.sacked &= !bits;
        word.lost &= !bits;
        word.resent &= !bits;
        word.hidden &= !bits;
        self.full[index >> 6] &= !(1 << (index & 63));
    }

    /// Forgets every SACKed bit.
    pub fn forget_sacks(&mut self) {
        self.cache = [Cached::default(); 4];
        self.words.iter_mut().for_each(|word| word.sacked = 0);
        self.full.fill(0);
    }

    /// First ordinal at or after `from`, a word's first, whose word is not wholly SACKed; at most `to`.
    pub fn skip_full(&self, from: u64, to: u64) -> u64 {
        let mut at = from;
        while at < to {
            let index = self.index(at);
            let run = (!(self.full[index >> 6] >> (index & 63))).trailing_zeros().min(64 - (index as u32 & 63));
            let run = u64::from(run).min((self.words.len() - index) as u64);
            if run == 0 {
                return at;
            }
            at += run * 64;
        }
        to
    }

    /// First SACKed ordinal in `[from, to)`, or `to`.
    pub fn next_sacked(&self, from: u64, to: u64) -> u64 {
        self.next(from, to, |word| word.sacked)
    }

    /// First ordinal in `[from, to)` that is not SACKed, or `to`.
    pub fn next_open(&self, from: u64, to: u64) -> u64 {
        self.next(from, to, |word| !word.sacked)
    }

    /// First ordinal in `[from, to)` whose bit is set in what `pick` makes of its word, or `to`.
    #[inline]
    pub fn next(&self, from: u64, to: u64, pick: impl Fn(Word) -> u64) -> u64 {
        let mut at = from;
        while at < to {
            let (bits, next) = span(at, to);
            let found = pick(self.word(at)) & bits;
            if found != 0 {
                return (at & !63) + u64::from(found.trailing_zeros());
            }
            at = next;
        }
        to
    }

    /// Last ordinal in `[from, to)` whose bit is set in what `pick` makes of its word.
    pub fn last(&self, from: u64, to: u64, pick: impl Fn(Word) -> u64) -> Option<u64> {
        let mut end = to;
        while end > from {
            let start = from.max((end - 1) & !63);
            let found = pick(self.word(start)) & span(start, end).0;
            if found != 0 {
                return Some((start | 63) - u64::from(found.leading_zeros()));
            }
            end = start;
        }
        None
    }
}
