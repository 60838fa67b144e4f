//! What disciplines are made of: they use these by composition.

pub mod codel;
pub mod pie;
pub mod store;
pub mod ticks;

use super::{Item, is_ect};

/// Least that counts as the largest packet: a full frame of Ethernet as Linux counts it (1500 + 14 B). Larger ones that come
/// raise it (`maxpacket` of RFC 8289).
pub const MTU_BYTES: u32 = 1514;

/// Whether a packet that a discipline picks out is marked instead of dropped.
#[inline]
pub fn can_mark(ecn: bool, item: &Item) -> bool {
    ecn && is_ect(item.ecn)
}
