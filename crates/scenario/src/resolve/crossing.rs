//! What crosses a link: how many flows, their round trips, their largest packet.

use elephan_tcp::{IpVersion, TCP_HEADER_MAX_BYTES};
use elephan_units::Span;

/// What the largest pure ACK has beside the IP header: 60 bytes.
const ACK_BYTES: u64 = TCP_HEADER_MAX_BYTES as u64;

/// What crosses one direction of a link.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Crossing {
    data: Sum,
    acks: Sum,
    pub packets: Packets,
}

/// The packets of some flows: the largest, and how large they are.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Packets {
    /// Largest IP packet, and the traffic entry that has it.
    pub ip_bytes: u64,
    pub entry: usize,
    /// Whether any of them is IPv6.
    pub v6: bool,
}

impl Packets {
    /// Takes in those of other flows.
    pub fn join(&mut self, other: Packets) {
        if other.ip_bytes > self.ip_bytes {
            (self.ip_bytes, self.entry) = (other.ip_bytes, other.entry);
        }
        self.v6 |= other.v6;
    }

    /// Those that go back where these packets carry data.
    fn acks(self) -> Packets {
        let ip = if self.v6 { IpVersion::V6 } else { IpVersion::V4 };
        Packets { ip_bytes: self.ip_bytes.min(u64::from(ip.header_bytes()) + ACK_BYTES), ..self }
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    flows: u64,
    rtt_ps: u128,
}

impl Sum {
    fn add(&mut self, flows: u64, rtt_ps: u128) {
        self.flows += flows;
        self.rtt_ps += rtt_ps;
    }
}

impl Crossing {
    pub fn add(&mut self, data: bool, flows: u64, rtt_ps: u128, packets: Packets) {
        let sum = if data { &mut self.data } else { &mut self.acks };
        sum.add(flows, rtt_ps);
        self.packets.join(if data { packets } else { packets.acks() });
    }

    pub fn mean_rtt(&self) -> Option<Span> {
        let of = if self.data.flows > 0 { self.data } else { self.acks };
        let mean = of.rtt_ps.checked_div(u128::from(of.flows))?;
        Some(Span(u64::try_from(mean).unwrap_or(u64::MAX)))
    }
}
