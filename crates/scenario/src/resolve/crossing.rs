//! What crosses a link: how many flows, their round trips, their largest packet.

use elephan_units::Span;

/// The largest pure ACK: both headers and 40 bytes of options.
const ACK_BYTES: u64 = 80;

/// What crosses one direction of a link.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Crossing {
    data: Sum,
    acks: Sum,
    /// Largest IP packet.
    pub ip_bytes: u64,
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
    pub fn add(&mut self, data: bool, flows: u64, rtt_ps: u128, ip_bytes: u64) {
        let sum = if data { &mut self.data } else { &mut self.acks };
        sum.add(flows, rtt_ps);
        self.ip_bytes = self.ip_bytes.max(if data { ip_bytes } else { ip_bytes.min(ACK_BYTES) });
    }

    pub fn mean_rtt(&self) -> Option<Span> {
        let of = if self.data.flows > 0 { self.data } else { self.acks };
        let mean = of.rtt_ps.checked_div(u128::from(of.flows))?;
        Some(Span(u64::try_from(mean).unwrap_or(u64::MAX)))
    }
}
