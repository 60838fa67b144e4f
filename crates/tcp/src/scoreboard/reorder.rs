//! How far segments are reordered, as Linux measures it (`tcp_check_sack_reordering`).
//!
//! ```text
//! low      where the lowest segment begins that an ACK delivers below the highest SACKed one, although it was sent once only
//! distance highest SACKed offset - low; more than `degree` full segments: degree = ceil(distance / SMSS), `most` at most
//! ```
//!
//! The degree stands for the threshold of duplicate ACKs. It never falls but at a timeout while nothing recovers and so much is
//! SACKed that it may have been too large (`tcp_timeout_mark_lost`).

use super::Scoreboard;

const NONE: u64 = u64::MAX;

/// Nothing is measured while `most` is 0.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reordering {
    /// Segments that may arrive before one that was sent before them.
    degree: u32,
    most: u32,
    /// Times that reordering was seen.
    seen: u64,
    /// What this ACK delivers, by SACK and cumulatively.
    low_sacked: u64,
    low_acked: u64,
}

impl Default for Reordering {
    fn default() -> Reordering {
        Reordering { degree: 0, most: 0, seen: 0, low_sacked: NONE, low_acked: NONE }
    }
}

impl Reordering {
    pub fn of(degree: u32, most: u32) -> Reordering {
        Reordering { degree, most, ..Reordering::default() }
    }

    /// A segment that begins at `start` was delivered late.
    #[inline]
    pub fn note(&mut self, start: u64, sacked: bool) {
        let low = if sacked { &mut self.low_sacked } else { &mut self.low_acked };
        *low = start.min(*low);
    }

    /// The ACK has been taken in; `fack` is the highest SACKed offset.
    fn end_ack(&mut self, fack: u64, mss: u64) {
        for low in [std::mem::replace(&mut self.low_sacked, NONE), std::mem::replace(&mut self.low_acked, NONE)] {
            if low < fack {
                self.seen += 1;
                if self.most > 0 && fack - low > u64::from(self.degree) * mss {
                    self.degree = (fack - low).div_ceil(mss).min(u64::from(self.most)) as u32;
                }
            }
        }
    }
}

impl Scoreboard {
    /// A packet that begins at `start` was only late, or there twice, below what was SACKed.
    pub fn note_reordering(&mut self, start: u64) {
        if let Some(times) = self.times_mut() {
            times.reordered = true;
            times.reordering.note(start, true);
        }
    }

    /// What the ACK has shown is measured.
    pub fn measure_reordering(&mut self) {
        let (fack, mss) = (self.high_sacked_offset(), u64::from(self.mss));
        if let Some(times) = self.times_mut()
            && (times.reordering.low_sacked, times.reordering.low_acked) != (NONE, NONE)
        {
            times.reordering.end_ack(fack, mss);
        }
    }

    /// Segments that reordering may displace; `least` unless it was measured to be more.
    pub fn reordering(&self, least: u32) -> u32 {
        self.times().map_or(least, |times| times.reordering.degree.max(least))
    }

    /// Times that reordering was seen.
    pub fn reorderings(&self) -> u64 {
        self.times().map_or(0, |times| times.reordering.seen)
    }

    /// A timeout while nothing recovers: if `least` segments are SACKed, the degree was too large.
    pub fn distrust_reordering(&mut self, least: u32) {
        if let Some(times) = self.times_mut()
            && times.sacked >= u64::from(least)
        {
            times.reordering.degree = times.reordering.degree.min(least);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Linux `tcp_check_sack_reordering`: 9001 is the highest SACKed offset; 3001 comes late, 6 segments; 8001 later still, which
    /// changes nothing; `tcp_max_reordering` bounds all.
    #[test]
    fn the_degree_is_the_largest_distance() {
        let mut r = Reordering::of(3, 300);
        r.end_ack(9001, 1000);
        assert_eq!((r.degree, r.seen), (3, 0));
        r.note(4001, true);
        r.note(3001, true);
        r.end_ack(9001, 1000);
        assert_eq!((r.degree, r.seen), (6, 1));
        r.note(8001, false);
        r.end_ack(9001, 1000);
        assert_eq!((r.degree, r.seen), (6, 2));
        r.note(2000, true);
        r.end_ack(9001, 1000);
        assert_eq!(r.degree, 8);
        r.note(1, true);
        r.note(2, false);
        r.end_ack(1_000_001, 1000);
        assert_eq!((r.degree, r.seen), (300, 5));
        // What is not below the highest SACKed offset is in order.
        r.note(9001, true);
        r.end_ack(9001, 1000);
        assert_eq!(r.seen, 5);
        // Without a largest degree reordering is seen and not measured.
        let mut r = Reordering::of(3, 0);
        r.note(1, true);
        r.end_ack(9001, 1000);
        assert_eq!((r.degree, r.seen), (3, 1));
    }
}
