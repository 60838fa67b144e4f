//! Packets that a capture saw twice: on two interfaces of a host, or on both sides of a router.
//!
//! A retransmission has an identification of its own in the IPv4 header (RFC 6864 section 4), a copy has that of the packet. Packets
//! without one, as of IPv6, are copies if they carry the same data within less time than any retransmission takes, and pure ACKs
//! among them only where most of the data is there twice.

use crate::packet::Segment;

/// Packets that are remembered.
const SLOTS: usize = 4096;
/// A copy comes so soon; of packets without an identification within so little.
const SOON_NS: u64 = 100_000_000;
const AT_ONCE_NS: u64 = 20_000;

/// The packets that came last.
#[derive(Debug)]
pub struct Copies {
    /// Prints of packets with their times.
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
        let slot = &mut self.last[segment.print as usize % SLOTS];
        let (print, at) = *slot;
        let twin = print == segment.print && print != 0;
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
            *slot = (segment.print, now);
        }
        is_copy
    }
}
