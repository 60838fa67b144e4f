//! From a frame to a TCP segment or UDP datagram: Ethernet with VLAN tags, Linux cooked captures, PPP, loopback, bare IP.
//!
//! Lengths come from the IP header, since captures keep the first bytes of a packet only. Where a host lets its NIC cut segments
//! (TSO), a capture at it shows them uncut; a length of zero then stands for what the frame had.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use etherparse::{EtherType, LaxNetSlice, LaxSlicedPacket, LenSource, TcpOptionElement, TransportSlice};

use crate::file::Frame;

/// An address with its port.
pub type End = (IpAddr, u16);

/// A TCP segment as it was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    pub time_ns: u64,
    pub from: End,
    pub to: End,
    pub seq: u32,
    pub ack: Option<u32>,
    /// Payload bytes.
    pub len: u32,
    /// The window field, not scaled.
    pub window: u16,
    pub syn: bool,
    pub fin: bool,
    pub rst: bool,
    pub ece: bool,
    pub cwr: bool,
    /// The IP header carries Congestion Experienced.
    pub ce: bool,
    pub options: Options,
    pub outbound: Option<bool>,
}

/// The options of a segment that matter here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    pub mss: Option<u16>,
    pub window_scale: Option<u8>,
    pub sack_permitted: bool,
    /// TSval and TSecr (RFC 7323).
    pub timestamps: Option<(u32, u32)>,
    pub sack_blocks: u8,
}

/// A UDP datagram as it was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Datagram {
    pub time_ns: u64,
    pub from: End,
    pub to: End,
    pub len: u32,
}

/// What a frame holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decoded {
    Segment(Segment),
    Datagram(Datagram),
    /// Something else, or a fragment after the first.
    Other,
    /// A link layer that is not known, or headers that are cut off.
    Unreadable,
}

/// Link types of the registry that are read.
mod link {
    pub const NULL: i32 = 0;
    pub const ETHERNET: i32 = 1;
    pub const PPP: i32 = 9;
    pub const RAW_OLD: i32 = 12;
    pub const RAW: i32 = 101;
    pub const LOOP: i32 = 108;
    pub const LINUX_SLL: i32 = 113;
    pub const IPV4: i32 = 228;
    pub const IPV6: i32 = 229;
    pub const LINUX_SLL2: i32 = 276;
}

const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86DD;
const PPP_IPV4: u16 = 0x0021;
const PPP_IPV6: u16 = 0x0057;
const CE: u8 = 3;

/// What `frame` holds.
pub fn decode(frame: &Frame<'_>) -> Decoded {
    let Some((packet, before_ip)) = sliced(frame) else { return Decoded::Unreadable };
    let Some((from, to, ip_bytes, ce)) = packet.net.as_ref().and_then(network) else {
        return if packet.stop_err.is_some() && packet.net.is_none() { Decoded::Unreadable } else { Decoded::Other };
    };
    // A total length of zero: more than a header can say, or left to the NIC.
    let unsaid = frame.length.saturating_sub(before_ip) as usize;
    match &packet.transport {
        Some(TransportSlice::Tcp(tcp)) => {
            let transport = ip_bytes.unwrap_or(unsaid);
            let len = transport.saturating_sub(tcp.header_len()) as u32;
            Decoded::Segment(Segment {
                time_ns: frame.time_ns,
                from: (from, tcp.source_port()),
                to: (to, tcp.destination_port()),
                seq: tcp.sequence_number(),
                ack: tcp.ack().then(|| tcp.acknowledgment_number()),
                len,
                window: tcp.window_size(),
                syn: tcp.syn(),
                fin: tcp.fin(),
                rst: tcp.rst(),
                ece: tcp.ece(),
                cwr: tcp.cwr(),
                ce,
                options: options(tcp),
                outbound: frame.outbound,
            })
        }
        Some(TransportSlice::Udp(udp)) => Decoded::Datagram(Datagram {
            time_ns: frame.time_ns,
            from: (from, udp.source_port()),
            to: (to, udp.destination_port()),
            len: u32::from(udp.length()).saturating_sub(8),
        }),
        Some(_) => Decoded::Other,
        None if packet.stop_err.is_some() => Decoded::Unreadable,
        None => Decoded::Other,
    }
}

/// The headers of a frame, and the bytes before the IP header.
fn sliced<'a>(frame: &Frame<'a>) -> Option<(LaxSlicedPacket<'a>, u32)> {
    let data = frame.data;
    let typed = |ether_type: u16, at: usize| {
        Some((LaxSlicedPacket::from_ether_type(EtherType(ether_type), data.get(at..)?), at as u32))
    };
    let word = |at: usize| Some(u16::from_be_bytes(data.get(at..at + 2)?.try_into().ok()?));
    match frame.link_type {
        link::ETHERNET => {
            let packet = LaxSlicedPacket::from_ethernet(data).ok()?;
            let tags: usize = packet.link_exts.iter().map(|tag| tag.header_len()).sum();
            Some((packet, 14 + tags as u32))
        }
        link::RAW | link::RAW_OLD | link::IPV4 | link::IPV6 => typed(of_version(data, 0)?, 0),
        link::PPP => {
            // With the address and control bytes of HDLC or without.
            let at = if data.starts_with(&[0xff, 0x03]) { 2 } else { 0 };
            match word(at)? {
                PPP_IPV4 => typed(IPV4, at + 2),
                PPP_IPV6 => typed(IPV6, at + 2),
                _ => typed(0, at + 2),
            }
        }
        link::NULL | link::LOOP => typed(of_version(data, 4)?, 4),
        link::LINUX_SLL => typed(word(14)?, 16),
        link::LINUX_SLL2 => typed(word(0)?, 20),
        _ => None,
    }
}

/// The EtherType of the IP packet at `at`, by its version.
fn of_version(data: &[u8], at: usize) -> Option<u16> {
    match data.get(at)? >> 4 {
        4 => Some(IPV4),
        6 => Some(IPV6),
        _ => None,
    }
}

/// Addresses, bytes of the transport's header and payload if the header says, whether it carries CE; nothing for a later
/// fragment.
fn network(net: &LaxNetSlice<'_>) -> Option<(IpAddr, IpAddr, Option<usize>, bool)> {
    match net {
        LaxNetSlice::Ipv4(ip) => {
            let header = ip.header();
            if header.fragments_offset().value() != 0 {
                return None;
            }
            let headers = header.slice().len() + ip.extensions().auth.as_ref().map_or(0, |a| a.slice().len());
            let total = usize::from(header.total_len());
            let said = (total != 0).then(|| total.saturating_sub(headers));
            let ce = header.ecn().value() == CE;
            let (from, to) = (Ipv4Addr::from(header.source()), Ipv4Addr::from(header.destination()));
            Some((from.into(), to.into(), said, ce))
        }
        LaxNetSlice::Ipv6(ip) => {
            if ip.is_payload_fragmented() && ip.payload().len_source == LenSource::Slice {
                return None;
            }
            let header = ip.header();
            let total = usize::from(header.payload_length());
            let said = (total != 0).then(|| total.saturating_sub(ip.extensions().slice().len()));
            let ce = header.ecn().value() == CE;
            let (from, to) = (Ipv6Addr::from(header.source()), Ipv6Addr::from(header.destination()));
            Some((from.into(), to.into(), said, ce))
        }
        LaxNetSlice::Arp(_) => None,
    }
}

fn options(tcp: &etherparse::TcpSlice<'_>) -> Options {
    let mut found = Options::default();
    for option in tcp.options_iterator().flatten() {
        match option {
            TcpOptionElement::MaximumSegmentSize(mss) => found.mss = Some(mss),
            TcpOptionElement::WindowScale(shift) => found.window_scale = Some(shift.min(SHIFT_MAX)),
            TcpOptionElement::SelectiveAcknowledgementPermitted => found.sack_permitted = true,
            TcpOptionElement::Timestamp(value, echo) => found.timestamps = Some((value, echo)),
            TcpOptionElement::SelectiveAcknowledgement(_, more) => {
                found.sack_blocks = 1 + more.iter().flatten().count() as u8;
            }
            TcpOptionElement::Noop => {}
        }
    }
    found
}

/// RFC 7323 section 2.3.
const SHIFT_MAX: u8 = 14;
