//! How much can still arrive after a switch has decided to send PAUSE.
//!
//! `vendor_sum` is the common sum per ingress port (Cisco c11-542809): a full frame in the reverse direction, the PAUSE,
//! twice the propagation, the response time and a full frame just started.
//! `exact_need` is the need above XOFF of `n` ingress ports without drain in a store-and-forward switch: with `F` the
//! charged and `W` the wire bytes of the largest frame and `D` the wire bytes that can still start after the decision,
//! `(F-1) + ceil(D/W) F + (n-1) (floor(D/W)+2) F`: the frame that crosses XOFF, those of its own port, and on every
//! other port also the one half received and the one just complete.

use elephan_units::{Rate, Span};

use crate::{pause, spec::Framing};

/// Wire bytes that can still start at the far end after the decision to pause it.
fn after_decision(rate: Rate, propagation: Span, mtu_wire: u64, response_quanta: u16) -> u64 {
    let response = u64::from(response_quanta) * 512 / 8;
    mtu_wire + u64::from(pause::FRAME_WIRE_BYTES) + rate.bytes_in(propagation.saturating_mul(2)) + response
}

/// The vendors' headroom of one ingress port, bytes; `propagation` is one way, `mtu_wire` a full frame on the wire.
pub fn vendor_sum(rate: Rate, propagation: Span, mtu_wire: u64, response_quanta: u16) -> u64 {
    after_decision(rate, propagation, mtu_wire, response_quanta) + mtu_wire
}

/// The strict need above XOFF, bytes of switch memory, for `ports` ingress ports and Ethernet frames of `mtu` IP bytes.
pub fn exact_need(rate: Rate, propagation: Span, mtu: u32, response_quanta: u16, ports: u64) -> u64 {
    let wire = u64::from(Framing::Ethernet.wire_bytes(mtu));
    let charged = u64::from(Framing::Ethernet.charged_bytes(mtu));
    let still = after_decision(rate, propagation, wire, response_quanta);
    (charged - 1) + still.div_ceil(wire) * charged + ports.saturating_sub(1) * (still / wire + 2) * charged
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEN_GIG: Rate = Rate(10_000_000_000);
    const HUNDRED_METRES: Span = Span::from_ns(500);

    #[test]
    fn vendor_literal() {
        // facts l2.md section 6 item 7
        assert_eq!(vendor_sum(TEN_GIG, HUNDRED_METRES, 1538, 60), 8250);
    }

    #[test]
    fn exact_literal() {
        // facts l2.md 3.1: 21 829 is the largest lossless XOFF for three ports in 48 KiB with 60 quanta.
        assert_eq!(49_152 - exact_need(TEN_GIG, HUNDRED_METRES, 1500, 60, 3), 21_829);
    }
}
