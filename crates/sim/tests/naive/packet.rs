//! A packet, and what it takes on the wire and in a buffer.

use std::rc::Rc;

use elephan_link::Framing;

/// A packet on its way.
#[derive(Clone, Debug)]
pub struct Packet {
    pub flow: usize,
    /// Its number in its stream.
    pub number: u32,
    pub payload: u64,
    /// When its sender handed it to its port.
    pub left: u64,
    pub ip_bytes: u64,
    pub ecn: u8,
    /// Whether it carries data, and whether that was sent before.
    pub has_data: bool,
    pub is_retransmission: bool,
    /// The sequence number of a TCP segment.
    pub sequence: Option<u32>,
    /// The links of its way, and which of them it is on.
    pub route: Rc<[usize]>,
    pub hop: usize,
    /// The port through which it came into the switch that holds it, and what it takes of the memory there.
    pub ingress: usize,
    pub charged: u64,
    /// The link that it is on will lose it.
    pub is_lost: bool,
}

impl Packet {
    /// Returns the link after the one that it is on, if there is one.
    pub fn next_link(&self) -> Option<usize> {
        self.route.get(self.hop + 1).copied()
    }

    pub fn is_ect(&self) -> bool {
        self.ecn != 0
    }
}

/// Congestion Experienced.
pub const CE: u8 = 3;

/// Returns the bytes of wire time of an IP packet.
pub fn wire_bytes(framing: Framing, ip_bytes: u64) -> u64 {
    match framing {
        Framing::Ethernet => (ip_bytes + 38).max(84),
        Framing::Ppp => ip_bytes + 2,
        Framing::None => ip_bytes,
    }
}

/// Returns what an IP packet takes of a queue or a memory: no preamble, no gap.
pub fn charged_bytes(framing: Framing, ip_bytes: u64) -> u64 {
    match framing {
        Framing::Ethernet => (ip_bytes + 18).max(64),
        Framing::Ppp => ip_bytes + 2,
        Framing::None => ip_bytes,
    }
}
