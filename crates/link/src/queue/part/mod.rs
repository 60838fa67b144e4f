//! What several disciplines are made of.

pub mod askers;
pub mod flows;
pub mod gps;
pub mod index;
pub mod tags;

use super::Limit;
use elephan_units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de};

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
