//! The way out of a host: TCP -> qdisc (pfifo of `txqueuelen` packets) -> driver ring -> device -> wire.

use elephan_units::{Bytes, Packets, Rate, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The transmit side of a host: what its ports hold, and how its devices send.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Transmit {
    /// Packets that the queue in front of the driver holds (Linux `ip link set txqueuelen`): 100 in Linux 2.4, 1000 since 2.6.
    pub txqueuelen: Packets,
    /// Packets that the ring of the driver holds (`ethtool -G tx`). \[assumed: that of an e1000]
    pub ring: Packets,
    /// The device sends no faster than this: between the starts of two frames is the time of the first at this rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Rate")]
    pub pacing: Option<Rate>,
    /// The device leaves the wire idle for so long after each frame, beyond the gap of Ethernet.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Span")]
    pub gap: Option<Span>,
    /// Segments leave TCP in bursts of up to so many bytes, and a burst is one packet to queue and ring (TSO, 64 KiB at most).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Bytes")]
    pub burst: Option<Bytes>,
    /// From the ring to the wire, beyond the transmission.
    pub delay: Span,
}

impl Default for Transmit {
    fn default() -> Transmit {
        Transmit {
            txqueuelen: Packets(1000),
            ring: Packets(256),
            pacing: None,
            gap: None,
            burst: None,
            delay: Span::ZERO,
        }
    }
}

impl Transmit {
    /// Packets that queue and ring hold together, without the frame on the wire.
    pub fn room(&self) -> u64 {
        self.txqueuelen.0.saturating_add(self.ring.0)
    }
}
