//! What a congestion control of RDMA over Ethernet learns beside ACKs: the network interface of its sender (congestion controls
//! of TCP that probe learn it too), and what its packets met on their way (in-band network telemetry, INT).

use elephan_units::{Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What carries a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Transport {
    #[default]
    Tcp,
    /// RDMA over converged Ethernet, version 2: go-back-N, no handshake, the line rate from the start.
    Roce,
    /// Ultra Ethernet transport: packets take many paths, trimmed packets are answered at once.
    Uec,
}

impl Transport {
    pub fn name(self) -> &'static str {
        match self {
            Transport::Tcp => "tcp",
            Transport::Roce => "roce",
            Transport::Uec => "uec",
        }
    }

    /// Returns whether it takes TCP's place.
    pub fn is_rdma(self) -> bool {
        self != Transport::Tcp
    }

    /// Returns the name as people write it.
    pub fn title(self) -> &'static str {
        match self {
            Transport::Tcp => "TCP",
            Transport::Roce => "RoCE",
            Transport::Uec => "Ultra Ethernet",
        }
    }
}

/// A packet of Ultra Ethernet that lost its payload on the way, as its sender learns of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trim {
    pub now: Time,
    /// The whole packet on the wire.
    pub bytes: u64,
    /// Bytes in flight before it, this packet among them.
    pub inflight: u64,
    /// From the packet to the answer to its header, if that says anything.
    pub rtt: Option<Span>,
    /// The receiver already sees to it: it grants credits, and the packet was trimmed at its last hop.
    pub spared: bool,
}

/// The network interface of a sender, and the path behind it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nic {
    /// Rate of its port, bit/s on the wire.
    pub rate_bps: f64,
    /// Round-trip time of a full packet and its acknowledgement in an empty network.
    pub base_rtt: Span,
}

/// What bounds the bytes in flight of a congestion control that sets a rate and no window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InFlight {
    /// Nothing: only the rate holds back a packet.
    #[default]
    Unbounded,
    /// The bandwidth-delay product: the line rate times the base round-trip time.
    Bdp,
    /// The current rate times the base round-trip time.
    Rate,
}

/// Hops of switches that one packet can tell of.
pub const HOPS_MAX: usize = 8;

/// What the egress port of a switch wrote into a packet as it left.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Hop {
    /// Which port it is.
    pub port: u32,
    /// Bytes on the wire that the port has sent before this packet.
    pub tx_bytes: u64,
    /// Bytes that waited behind it.
    pub queue_bytes: u64,
    pub at: Time,
    /// bit/s.
    pub rate_bps: f64,
}

/// What an acknowledgement brings back of the way of its packet.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Telemetry {
    hops: [Hop; HOPS_MAX],
    len: u8,
}

impl Telemetry {
    /// A port adds what it knows; what more than [`HOPS_MAX`] ports say is not kept.
    pub fn push(&mut self, hop: Hop) {
        if let Some(place) = self.hops.get_mut(usize::from(self.len)) {
            *place = hop;
            self.len += 1;
        }
    }

    pub fn hops(&self) -> &[Hop] {
        &self.hops[..usize::from(self.len)]
    }
}

/// Where the stream stands when [`Telemetry`] comes, in bytes since it began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Acknowledged, with this ACK.
    pub acked: u64,
    /// Sent so far.
    pub sent: u64,
}
