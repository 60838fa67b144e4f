//! Packets that a capture saw twice: on two interfaces of a host, or on both sides of a router.
//!
//! A retransmission has an identification of its own in the IPv4 header (RFC 6864 section 4), a copy has that of the packet. Packets
//! without one, as of IPv6, are copies if they carry the same data within less time than any retransmission takes, and pure ACKs
//! among them only where most of the data is there twice.

use crate::packet::Segment;

/// Packets that are remembered at first, and at most; each has its place within a bucket of so many.
const SLOTS: usize = 4096;
const SLOTS_MAX: usize = 1 << 20;
const BUCKET: usize = 4;
/// A copy comes so soon; of packets without an identification within so little.
const SOON_NS: u64 = 100_000_000;
const AT_ONCE_NS: u64 = 20_000;

/// The packets that came last.
#[derive(Debug)]
pub struct Copies {
    /// Prints of packets with their times. There are more slots when one was forgotten that could still have had a copy.
    last: Vec<(u64, u64)>,
    /// Segments with data and without an identification, and copies among them.
    nameless: u64,
    nameless_copies: u64,
}

impl Default for Copies {
    fn default() -> Copies {
        Copies { last: vec![(0, 0); SLOTS], nameless: 0, nameless_copies: 0 }
    }
}

impl Copies {
    /// Whether this segment is a copy. `varies`: identifications of its sender are known to differ between packets, or may.
    pub fn is_copy(&mut self, segment: &Segment, varies: bool, now: u64) -> bool {
        let bucket = bucket_of(&mut self.last, segment.print);
        let twin = segment.print != 0 && bucket.iter().any(|(print, _)| *print == segment.print);
        let at = bucket.iter().find(|(print, _)| *print == segment.print).map_or(0, |(_, at)| *at);
        let after = now.saturating_sub(at);
        let is_copy = if segment.ident.is_some() && varies {
            twin && after <= SOON_NS
        } else {
            let has_data = segment.len > 0;
            let is_copy = twin && after <= AT_ONCE_NS && (has_data || 3 * self.nameless_copies >= self.nameless.max(1));
            self.nameless += u64::from(has_data);
            self.nameless_copies += u64::from(has_data && is_copy);
            is_copy
        };
        if !is_copy {
            self.remember(segment.print, now);
        }
        is_copy
    }

    fn remember(&mut self, print: u64, now: u64) {
        let bucket = bucket_of(&mut self.last, print);
        // The same print, or else the oldest.
        let place = bucket.iter().position(|(known, _)| *known == print);
        let oldest = || (0..BUCKET).min_by_key(|&place| bucket[place].1).unwrap_or(0);
        let place = place.unwrap_or_else(oldest);
        let (forgotten, at) = std::mem::replace(&mut bucket[place], (print, now));
        let young = forgotten != 0 && forgotten != print && now.saturating_sub(at) <= SOON_NS;
        if young && self.last.len() < SLOTS_MAX {
            self.grow();
            self.remember(forgotten, at);
        }
    }

    #[inline(never)]
    fn grow(&mut self) {
        let slots = 2 * self.last.len();
        let before = std::mem::replace(&mut self.last, vec![(0, 0); slots]);
        for (print, at) in before.into_iter().filter(|(print, _)| *print != 0) {
            let bucket = bucket_of(&mut self.last, print);
            // What shared a bucket of four shares one of two now: there is room.
            if let Some(slot) = bucket.iter_mut().find(|slot| slot.0 == 0) {
                *slot = (print, at);
            }
        }
    }
}

fn bucket_of(slots: &mut [(u64, u64)], print: u64) -> &mut [(u64, u64)] {
    let buckets = slots.len() / BUCKET;
    let first = (print >> 32) as usize % buckets * BUCKET;
    &mut slots[first..first + BUCKET]
}
