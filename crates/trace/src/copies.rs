//! Packets that a capture saw twice: on two interfaces of a host, or on both sides of a router.
//!
//! A retransmission has an identification of its own in the IPv4 header (RFC 6864 section 4), a copy has that of the packet. Packets
//! without one, as of IPv6, are copies if they carry the same data within less time than any retransmission takes, and pure ACKs
//! among them only where most of the data is there twice.

use crate::packet::Segment;

/// A packet has its place in either of two buckets of so many: the table is nearly full before a packet finds none.
const BUCKET: usize = 4;
/// Buckets at first, and at most.
const BUCKETS: usize = 1 << 10;
const BUCKETS_MAX: usize = 1 << 18;
/// A copy comes so soon; of packets without an identification within so little.
const SOON_NS: u64 = 100_000_000;
const AT_ONCE_NS: u64 = 20_000;

/// Prints of packets with their times.
type Bucket = [(u64, u64); BUCKET];
const EMPTY: Bucket = [(0, 0); BUCKET];

/// The packets that came last.
#[derive(Debug)]
pub struct Copies {
    last: Vec<Bucket>,
    /// Segments with data and without an identification, and copies among them.
    nameless: u64,
    nameless_copies: u64,
}

impl Default for Copies {
    fn default() -> Copies {
        Copies { last: vec![EMPTY; BUCKETS], nameless: 0, nameless_copies: 0 }
    }
}

impl Copies {
    /// Whether this segment is a copy. `varies`: identifications of its sender are known to differ between packets, or may.
    pub fn is_copy(&mut self, segment: &Segment, varies: bool, now: u64) -> bool {
        let known = self.known(segment.print).map(|at| *at);
        let twin = segment.print != 0 && known.is_some();
        let after = now.saturating_sub(known.unwrap_or(0));
        let is_copy = if segment.ident.is_some() && varies {
            twin && after <= SOON_NS
        } else {
            let has_data = segment.len > 0;
            let is_copy = twin && after <= AT_ONCE_NS && (has_data || 3 * self.nameless_copies >= self.nameless.max(1));
            self.nameless += u64::from(has_data);
            self.nameless_copies += u64::from(has_data && is_copy);
            is_copy
        };
        match known {
            _ if is_copy => {}
            None => self.remember(segment.print, now),
            Some(_) => self.known(segment.print).into_iter().for_each(|at| *at = now),
        }
        is_copy
    }

    /// When the packet with this print came.
    fn known(&mut self, print: u64) -> Option<&mut u64> {
        let [one, other] = buckets_of(print, self.last.len());
        let has = |bucket: &Bucket| bucket.iter().any(|slot| slot.0 == print);
        let bucket = if has(&self.last[one]) { one } else { other };
        self.last[bucket].iter_mut().find(|slot| slot.0 == print).map(|slot| &mut slot.1)
    }

    /// A slot for a packet with this print, in the emptier one of its buckets; nothing if both are full of young packets.
    fn free(&mut self, print: u64, now: u64) -> Option<&mut (u64, u64)> {
        let [one, other] = buckets_of(print, self.last.len());
        let young = |bucket: usize| self.last[bucket].iter().filter(|slot| is_young(slot, now)).count();
        let bucket = if young(one) <= young(other) { one } else { other };
        self.last[bucket].iter_mut().find(|slot| !is_young(slot, now))
    }

    fn remember(&mut self, print: u64, now: u64) {
        match self.free(print, now) {
            Some(slot) => *slot = (print, now),
            None => self.make_room(print, now),
        }
    }

    /// A packet that has room in its other bucket moves there; if none has, there are more buckets or the oldest packet is forgotten.
    #[inline(never)]
    fn make_room(&mut self, print: u64, now: u64) {
        let buckets = buckets_of(print, self.last.len());
        for (bucket, slot) in buckets.into_iter().flat_map(|bucket| (0..BUCKET).map(move |slot| (bucket, slot))) {
            let moved = self.last[bucket][slot];
            if let Some(free) = self.free(moved.0, now) {
                *free = moved;
                self.last[bucket][slot] = (print, now);
                return;
            }
        }
        if self.last.len() < BUCKETS_MAX {
            self.grow(now);
            self.remember(print, now);
        } else if let Some(oldest) = self.last[buckets[0]].iter_mut().min_by_key(|slot| slot.1) {
            *oldest = (print, now);
        }
    }

    fn grow(&mut self, now: u64) {
        let buckets = 2 * self.last.len();
        let before = std::mem::replace(&mut self.last, vec![EMPTY; buckets]);
        for packet in before.into_iter().flatten().filter(|slot| is_young(slot, now)) {
            // With twice the room hardly a packet finds none.
            self.free(packet.0, now).into_iter().for_each(|slot| *slot = packet);
        }
    }
}

/// Whether a copy of the packet may yet come.
fn is_young(&(print, at): &(u64, u64), now: u64) -> bool {
    print != 0 && now.saturating_sub(at) <= SOON_NS
}

/// The two of `buckets`, a power of two, that a packet with this print can be in.
fn buckets_of(print: u64, buckets: usize) -> [usize; 2] {
    [print >> 32, print].map(|half| half as usize & (buckets - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A print as a packet has it: the bits of the numbers are mixed (SplitMix64).
    fn print(number: u64) -> u64 {
        let mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB)
    }

    /// 100 packets a millisecond: a copy comes within 100 ms, so 10 000 of 500 000 packets are remembered, in 16 384 slots.
    #[test]
    fn the_table_is_nearly_full_before_it_grows() {
        let mut copies = Copies::default();
        for number in 1..=500_000 {
            copies.remember(print(number), number * 10_000);
        }
        assert!((490_000..=500_000).all(|number| copies.known(print(number)).map(|at| *at) == Some(number * 10_000)));
        assert!(copies.last.len() * BUCKET <= 16_384, "{}", copies.last.len());
    }
}
