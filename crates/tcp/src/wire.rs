//! Headers as bytes: IPv4 (RFC 791), IPv6 (RFC 8200), TCP (RFC 9293) with its options (RFC 2018, RFC 7323, RFC 7413), UDP (RFC 768), ICMP (RFC 792, RFC 4443).
//!
//! The rule of this layer: what is written has exactly the bytes that [`Segment::header_bytes`] charges, and its checksums
//! (RFC 1071) are right for a payload of zeros, which adds nothing to them; [`Headers::cover`] adds another one. Options stand in the order of Linux: MSS,
//! SACK-permitted, timestamps, NOP, window scale; in other segments two NOPs before timestamps and two before SACK blocks.
//! Packets are never fragmented (DF), DSCP and flow label are 0, and nothing on the way decrements the TTL or hop limit.

use crate::fast_open::FastOpenOption;
use crate::segment::{
    AccEcnOption, Flags, HEADER_AE, IP_HEADER_BYTES, IPV6_HEADER_BYTES, IpVersion, OPTION_SACK_PERMITTED,
    OPTION_TIMESTAMPS, OPTION_WINDOW_SCALE, SackBlocks, Segment, TCP_HEADER_MAX_BYTES, UDP_HEADER_BYTES,
};

/// Largest IP and TCP headers: 20 and 60 bytes, over IPv6 40 and 60.
pub const fn headers_max_bytes(ip: IpVersion) -> usize {
    (ip.header_bytes() + TCP_HEADER_MAX_BYTES) as usize
}

/// The largest of any version.
pub const HEADERS_MAX_BYTES: usize = headers_max_bytes(IpVersion::V6);
/// Default of RFC 1700.
const TTL: u8 = 64;
/// "Don't fragment" of the IP header's flags and fragment offset.
const DONT_FRAGMENT: u16 = 0x4000;
const PROTOCOL_TCP: u8 = 6;
const PROTOCOL_UDP: u8 = 17;
const PROTOCOL_ICMP: u8 = 1;
const PROTOCOL_ICMPV6: u8 = 58;

/// Kinds of TCP options (RFC 9293 section 3.2, RFC 2018, RFC 7323).
mod kind {
    pub const NOP: u8 = 1;
    pub const MSS: u8 = 2;
    pub const WINDOW_SCALE: u8 = 3;
    pub const SACK_PERMITTED: u8 = 4;
    pub const SACK: u8 = 5;
    pub const TIMESTAMPS: u8 = 8;
    pub const FAST_OPEN: u8 = 34;
    /// Experiments (RFC 6994); `FAST_OPEN_MAGIC` follows.
    pub const EXPERIMENT: u8 = 254;
    /// Accurate ECN in two orders (RFC 9768 section 3.2.3).
    pub const ACCECN0: u8 = 172;
    pub const ACCECN1: u8 = 174;
}

/// The identifier of Fast Open among experiments.
const FAST_OPEN_MAGIC: u16 = 0xF989;
/// What stands where nothing is left of the option before.
const REST: [u8; 2] = [kind::NOP; 2];

/// The addresses of both ends, of the source first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Addresses {
    V4([[u8; 4]; 2]),
    V6([[u8; 16]; 2]),
}

/// Who sends to whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ends {
    pub addresses: Addresses,
    pub source_port: u16,
    pub destination_port: u16,
}

/// Whose checksum covers a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    Tcp,
    Udp,
}

/// The headers of one packet.
#[derive(Clone, Copy, Debug)]
pub struct Headers {
    bytes: [u8; HEADERS_MAX_BYTES],
    len: usize,
    /// Where the transport header begins.
    transport: usize,
}

impl Headers {
    fn put(&mut self, bytes: &[u8]) {
        self.bytes[self.len..self.len + bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len();
    }

    fn set(&mut self, at: usize, value: u16) {
        self.bytes[at..at + 2].copy_from_slice(&value.to_be_bytes());
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// The IP and TCP headers of a segment; `ident` is the identification of the IP header, which IPv6 does not have.
    pub fn tcp(segment: &Segment, sack: &SackBlocks, ident: u16, ends: &Ends) -> Headers {
        let mut h = Headers::ip(segment.header_bytes() + segment.len, segment.ecn, ident, PROTOCOL_TCP, ends);
        let words = (segment.header_bytes() / 4) as u8;
        h.put(&ends.source_port.to_be_bytes());
        h.put(&ends.destination_port.to_be_bytes());
        h.put(&segment.seq.to_be_bytes());
        h.put(&segment.ack.to_be_bytes());
        let accurate = u8::from(segment.options & HEADER_AE != 0);
        h.put(&[words << 4 | accurate, segment.flags.0]);
        h.put(&segment.window.to_be_bytes());
        // Checksum and urgent pointer.
        h.put(&[0; 4]);
        h.options(segment, sack);
        let bytes = segment.header_bytes() + segment.len;
        h.checksum(PROTOCOL_TCP, bytes, 16);
        h
    }

    /// The IP and UDP headers of a datagram, of which `datagram` has the payload and the ECN codepoint.
    pub fn udp(datagram: &Segment, ident: u16, ends: &Ends) -> Headers {
        let bytes = UDP_HEADER_BYTES + datagram.len;
        let mut h = Headers::ip(bytes, datagram.ecn, ident, PROTOCOL_UDP, ends);
        h.put(&ends.source_port.to_be_bytes());
        h.put(&ends.destination_port.to_be_bytes());
        h.put(&(bytes as u16).to_be_bytes());
        h.put(&[0; 2]);
        h.checksum(PROTOCOL_UDP, bytes, 6);
        // A checksum of zero would say that there is none.
        let at = h.transport + 6;
        if h.bytes[at..at + 2] == [0, 0] {
            h.set(at, 0xFFFF);
        }
        h
    }

    /// The IP and UDP headers of a packet of so many bytes (IP) whose datagram begins with `inner`, the headers of the protocol above,
    /// without a checksum of UDP, which RFC 768 allows. The packet is IPv4.
    pub fn datagram(ip_bytes: u32, ecn: u8, ident: u16, ends: &Ends, inner: &[u8]) -> Headers {
        let bytes = ip_bytes - IP_HEADER_BYTES;
        let mut h = Headers::ip(bytes, ecn, ident, PROTOCOL_UDP, ends);
        h.put(&ends.source_port.to_be_bytes());
        h.put(&ends.destination_port.to_be_bytes());
        h.put(&(bytes as u16).to_be_bytes());
        h.put(&[0; 2]);
        h.put(inner);
        h
    }

    /// An ICMP message that carries `carried` bytes with its header: "port unreachable", which quotes a datagram of `quoted` bytes (IP)
    /// from the destination of `ends` to their source.
    pub fn port_unreachable(carried: u32, quoted: u32, ident: u16, ends: &Ends) -> Headers {
        let (protocol, kind, addresses) = match ends.addresses {
            Addresses::V4([source, destination]) => (PROTOCOL_ICMP, [3, 3], Addresses::V4([destination, source])),
            Addresses::V6([source, destination]) => (PROTOCOL_ICMPV6, [1, 4], Addresses::V6([destination, source])),
        };
        let mut h = Headers::ip(carried, 0, ident, protocol, ends);
        let Ends { source_port, destination_port, .. } = *ends;
        let back = Ends { addresses, source_port: destination_port, destination_port: source_port };
        h.put(&kind);
        h.put(&[0; 6]);
        let of_ip = h.transport as u32;
        let datagram = Segment { len: quoted - of_ip - UDP_HEADER_BYTES, ..Segment::default() };
        h.put(Headers::udp(&datagram, 0, &back).as_bytes());
        match protocol {
            PROTOCOL_ICMP => h.set(h.transport + 2, !sum(&h.bytes[h.transport..h.len], 0)),
            _ => h.checksum(protocol, carried, 2),
        }
        h
    }

    /// Makes the checksum of TCP or UDP that of this payload.
    pub fn cover(&mut self, payload: &[u8], protocol: Transport) {
        let at = self.transport + if protocol == Transport::Tcp { 16 } else { 6 };
        let of_zeros = u16::from_be_bytes([self.bytes[at], self.bytes[at + 1]]);
        let (even, last) = payload.split_at(payload.len() & !1);
        let last = last.first().map_or(0, |byte| u32::from(*byte) << 8);
        let covered = !sum(even, u32::from(!of_zeros) + last);
        self.set(at, if covered == 0 && protocol == Transport::Udp { 0xFFFF } else { covered });
    }

    /// The header of a packet that carries so many bytes.
    fn ip(carried: u32, ecn: u8, ident: u16, protocol: u8, ends: &Ends) -> Headers {
        let mut h = Headers { bytes: [0; HEADERS_MAX_BYTES], len: 0, transport: 0 };
        match &ends.addresses {
            Addresses::V4(addresses) => {
                // Version 4, five words; DSCP 0.
                h.put(&[0x45, ecn]);
                h.put(&((IP_HEADER_BYTES + carried) as u16).to_be_bytes());
                h.put(&ident.to_be_bytes());
                h.put(&DONT_FRAGMENT.to_be_bytes());
                h.put(&[TTL, protocol, 0, 0]);
                h.put(addresses.as_flattened());
                h.set(10, !sum(&h.bytes[..IP_HEADER_BYTES as usize], 0));
            }
            Addresses::V6(addresses) => {
                // Version 6, eight bits of traffic class of which the last two are ECN, twenty of flow label.
                h.put(&(6 << 28 | u32::from(ecn) << 20).to_be_bytes());
                h.put(&(carried as u16).to_be_bytes());
                h.put(&[protocol, TTL]);
                h.put(addresses.as_flattened());
            }
        }
        h.transport = h.len;
        h
    }

    fn options(&mut self, segment: &Segment, sack: &SackBlocks) {
        let has = |bit: u8| segment.options & bit != 0;
        let syn = segment.flags.any(Flags::SYN);
        if syn && segment.mss != 0 {
            self.put(&[kind::MSS, 4]);
            self.put(&segment.mss.to_be_bytes());
        }
        if has(OPTION_TIMESTAMPS) {
            match syn && has(OPTION_SACK_PERMITTED) {
                true => self.put(&[kind::SACK_PERMITTED, 2]),
                false => self.put(&REST),
            }
            self.put(&[kind::TIMESTAMPS, 10]);
            self.put(&segment.tsval.to_be_bytes());
            self.put(&segment.tsecr.to_be_bytes());
        }
        let mut rest = segment.accecn(sack).map_or(REST, |option| self.accecn(&option));
        if syn && has(OPTION_SACK_PERMITTED) && !has(OPTION_TIMESTAMPS) {
            self.put(&std::mem::replace(&mut rest, REST));
            self.put(&[kind::SACK_PERMITTED, 2]);
        }
        if syn && has(OPTION_WINDOW_SCALE) {
            // One byte of a rest takes the place of the NOP, two do not.
            let single = rest[1] == kind::NOP;
            self.put(&[if single { rest[0] } else { kind::NOP }, kind::WINDOW_SCALE, 3, segment.wscale]);
            rest = if single { REST } else { rest };
        }
        if let Some(option) = segment.fast_open(sack) {
            self.fast_open(&option);
        }
        let blocks = segment.block_count();
        if blocks != 0 {
            self.put(&std::mem::replace(&mut rest, REST));
            self.put(&[kind::SACK, 2 + 8 * blocks as u8]);
            for (left, right) in &sack[..blocks] {
                self.put(&left.to_be_bytes());
                self.put(&right.to_be_bytes());
            }
        }
        if rest != REST {
            self.put(&rest);
            self.put(&REST);
        }
    }

    /// Writes as much of an AccECN option as fills words, and returns the two bytes that follow (Linux `tcp_options_write`).
    fn accecn(&mut self, option: &AccEcnOption) -> [u8; 2] {
        let kind = if option.order1 { kind::ACCECN1 } else { kind::ACCECN0 };
        let mut bytes = [kind::NOP; 12];
        let len = 2 + 3 * usize::from(option.count);
        (bytes[0], bytes[1]) = (kind, len as u8);
        for (at, (_, counter)) in bytes[2..].chunks_exact_mut(3).zip(option.counters()) {
            at.copy_from_slice(&counter.to_be_bytes()[1..]);
        }
        if option.count == 3 {
            self.put(&bytes);
            return REST;
        }
        let whole = len / 4 * 4;
        self.put(&bytes[..whole]);
        [bytes[whole], bytes[whole + 1]]
    }

    /// The Fast Open option with NOPs behind it (Linux `tcp_options_write`).
    fn fast_open(&mut self, option: &FastOpenOption) {
        let start = self.len;
        let cookie = option.cookie.as_ref().map_or(&[][..], |cookie| cookie.as_bytes());
        if option.experimental {
            self.put(&[kind::EXPERIMENT, 4 + cookie.len() as u8]);
            self.put(&FAST_OPEN_MAGIC.to_be_bytes());
        } else {
            self.put(&[kind::FAST_OPEN, 2 + cookie.len() as u8]);
        }
        self.put(cookie);
        while self.len < start + option.bytes() as usize {
            self.put(&[kind::NOP]);
        }
    }

    /// Writes the checksum at `at` of the transport header, whose length with its payload of zeros is `bytes`.
    fn checksum(&mut self, protocol: u8, bytes: u32, at: usize) {
        let transport = self.transport;
        // IPv6 has its addresses from the eighth byte on, IPv4 from the twelfth; both end with them.
        let addresses = if transport == IPV6_HEADER_BYTES as usize { 8 } else { 12 }..transport;
        // The pseudo-header of RFC 9293 section 3.1 and RFC 8200 section 8.1: addresses, protocol, length.
        let pseudo = sum(&self.bytes[addresses], u32::from(protocol) + bytes);
        self.set(transport + at, !sum(&self.bytes[transport..self.len], u32::from(pseudo)));
    }
}

/// The one's complement sum of 16-bit words (RFC 1071), beginning with `start`; an even number of bytes.
fn sum(bytes: &[u8], start: u32) -> u16 {
    let words = bytes.chunks_exact(2).map(|word| u32::from(u16::from_be_bytes([word[0], word[1]])));
    let mut total = words.fold(start, |total, word| total + word);
    while total > 0xFFFF {
        total = (total & 0xFFFF) + (total >> 16);
    }
    total as u16
}

#[cfg(test)]
mod tests;
