//! What several disciplines are made of: they use it by composition.

pub mod askers;
pub mod classes;
pub mod cobalt;
pub mod codel;
pub mod flows;
pub mod gps;
pub mod index;
pub mod pi2;
pub mod pie;
pub mod store;
pub mod tags;
pub mod ticks;

use elephan_units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de};

use super::{Item, Limit, is_ect};

/// Least that counts as the largest packet: a full frame of Ethernet as Linux counts it (1500 + 14 B). Larger ones that come
/// raise it (`maxpacket` of RFC 8289).
pub const MTU_BYTES: u32 = 1514;

/// Whether a packet that a discipline picks out is marked instead of dropped.
#[inline]
pub fn can_mark(ecn: bool, item: &Item) -> bool {
    ecn && is_ect(item.ecn)
}

/// Which packet a queue without room for one more gives up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum Overflow {
    /// The last one of the flow that keeps most bytes waiting.
    #[default]
    Longest,
    /// The one that comes.
    Arriving,
}

impl Overflow {
    /// Whether a packet may come in beside what waits (bytes, packets), if need be at the cost of others.
    pub fn lets_in(self, limit: Limit, (bytes, packets): (u64, u64), packet: u32) -> bool {
        match self {
            Overflow::Longest => limit.admits(0, 0, packet),
            Overflow::Arriving => limit.admits(bytes, packets, packet),
        }
    }
}

/// A number of bytes that must not be zero.
pub fn some_bytes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Bytes, D::Error> {
    let bytes = Bytes::deserialize(deserializer)?;
    if bytes.0 == 0 {
        Err(de::Error::custom("a quantum, burst or mtu of \"0 B\": must be at least 1 B"))
    } else {
        Ok(bytes)
    }
}
