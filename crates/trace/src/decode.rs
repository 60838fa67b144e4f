//! From a frame to a TCP segment or a UDP datagram, through tunnels.
//!
//! Lengths come from the IP header, since captures keep the first bytes of a packet only. Where a host lets its NIC cut segments
//! (TSO), a capture at it shows them uncut; an IP length of zero then stands for what the frame had.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::file::Frame;
use crate::link::{self, Next, View};
use crate::packet::{Datagram, Decoded, Fragment, Tunnel};
use crate::skip::Reason;
use crate::{icmp, tcp, tunnel};

/// IP headers around each other, at most.
const DEPTH_MAX: u8 = 8;
const CE: u8 = 3;

/// Protocols of IP that are followed.
mod protocol {
    pub const HOP_BY_HOP: u8 = 0;
    pub const ICMP: u8 = 1;
    pub const TCP: u8 = 6;
    pub const UDP: u8 = 17;
    pub const ROUTING: u8 = 43;
    pub const FRAGMENT: u8 = 44;
    pub const AUTHENTICATION: u8 = 51;
    pub const MINIMAL: u8 = 55;
    pub const ICMP_6: u8 = 58;
    pub const OPTIONS: u8 = 60;
    pub const MOBILITY: u8 = 135;
    pub const HIP: u8 = 139;
    pub const SHIM6: u8 = 140;
}

/// An IP header: what the layers above need of it.
pub struct Ip<'a> {
    pub from: IpAddr,
    pub to: IpAddr,
    pub ce: bool,
    pub ident: Option<u16>,
    pub outbound: Option<bool>,
    pub payload: View<'a>,
    protocol: u8,
    /// Identification, offset and whether more follows, of a fragment.
    part: Option<(u32, u32, bool)>,
}

impl Ip<'_> {
    pub fn carries(&self, protocol: u8) -> bool {
        self.protocol == protocol
    }
}

/// What `frame` holds, and the tunnel it came through.
pub fn decode(frame: &Frame<'_>) -> (Decoded, Tunnel) {
    let mut tunnel = Tunnel::None;
    let found = follow(link::open(frame, &mut tunnel), frame.outbound, &mut tunnel, 0);
    (found, tunnel)
}

fn follow(next: Next<'_>, outbound: Option<bool>, tunnel: &mut Tunnel, depth: u8) -> Decoded {
    let view = match next {
        Next::Done(done) => return done,
        Next::Ip(view) => view,
    };
    let found = match view.byte(0).map(|first| first >> 4) {
        Some(4) => version_4(view, outbound),
        Some(6) => version_6(view, outbound),
        _ => None,
    };
    let Some(ip) = found.filter(|_| depth < DEPTH_MAX) else { return Decoded::Skipped(Reason::Headers) };
    match ip.part {
        None => transport(&ip, tunnel, depth),
        Some((ident, offset, more)) => {
            let first = (offset == 0).then(|| Box::new(transport(&ip, tunnel, depth)));
            let key = (ip.from, ip.to, ident, ip.protocol);
            Decoded::Fragment(Fragment { key, offset, bytes: ip.payload.length as u32, more, first })
        }
    }
}

fn version_4(view: View<'_>, outbound: Option<bool>) -> Option<Ip<'_>> {
    let header: &[u8; 20] = view.data.first_chunk()?;
    let header_bytes = usize::from(header[0] & 15) * 4;
    let said = usize::from(u16::from_be_bytes([header[2], header[3]]));
    // More than the field can say, or left to the NIC.
    let total = if said == 0 { view.length } else { said };
    if header_bytes < 20 || total < header_bytes {
        return None;
    }
    let ident = u16::from_be_bytes([header[4], header[5]]);
    let place = u16::from_be_bytes([header[6], header[7]]);
    let (offset, more) = (u32::from(place & 0x1FFF) * 8, place & 0x2000 != 0);
    let mut payload = view.after(header_bytes)?;
    payload.length = total - header_bytes;
    payload.data = &payload.data[..payload.data.len().min(payload.length)];
    let (mut protocol, mut ip_payload) = (header[9], payload);
    if protocol == protocol::AUTHENTICATION && offset == 0 {
        (protocol, ip_payload) = (payload.byte(0)?, payload.after((usize::from(payload.byte(1)?) + 2) * 4)?);
    }
    Some(Ip {
        from: Ipv4Addr::new(header[12], header[13], header[14], header[15]).into(),
        to: Ipv4Addr::new(header[16], header[17], header[18], header[19]).into(),
        ce: header[1] & CE == CE,
        ident: (ident != 0).then_some(ident),
        outbound,
        payload: ip_payload,
        protocol,
        part: (offset > 0 || more).then_some((u32::from(ident), offset, more)),
    })
}

fn version_6(view: View<'_>, outbound: Option<bool>) -> Option<Ip<'_>> {
    let header: &[u8; 40] = view.data.first_chunk()?;
    let said = usize::from(u16::from_be_bytes([header[4], header[5]]));
    let (from, to): (&[u8; 16], &[u8; 16]) = (header[8..24].try_into().ok()?, header[24..40].try_into().ok()?);
    let mut payload = view.after(40)?;
    // A jumbogram (RFC 2675), or left to the NIC.
    payload.length = if said == 0 { payload.length } else { said };
    payload.data = &payload.data[..payload.data.len().min(payload.length)];
    let mut ip = Ip {
        from: Ipv6Addr::from(*from).into(),
        to: Ipv6Addr::from(*to).into(),
        ce: header[1] >> 4 & CE == CE,
        ident: None,
        outbound,
        payload,
        protocol: header[6],
        part: None,
    };
    loop {
        let bytes = match ip.protocol {
            protocol::HOP_BY_HOP
            | protocol::ROUTING
            | protocol::OPTIONS
            | protocol::MOBILITY
            | protocol::HIP
            | protocol::SHIM6 => (usize::from(ip.payload.byte(1)?) + 1) * 8,
            protocol::AUTHENTICATION => (usize::from(ip.payload.byte(1)?) + 2) * 4,
            protocol::FRAGMENT => {
                let place = ip.payload.word(2)?;
                let (offset, more) = (u32::from(place & 0xFFF8), place & 1 == 1);
                if offset > 0 || more {
                    ip.part = Some((ip.payload.long(4)?, offset, more));
                }
                8
            }
            _ => return Some(ip),
        };
        ip.protocol = ip.payload.byte(0)?;
        ip.payload = ip.payload.after(bytes)?;
        if ip.part.is_some_and(|(_, offset, _)| offset > 0) {
            return Some(ip);
        }
    }
}

fn transport(ip: &Ip<'_>, tunnel: &mut Tunnel, depth: u8) -> Decoded {
    let inside = |next: Option<Next<'_>>, kind: Tunnel, tunnel: &mut Tunnel| {
        *tunnel = kind;
        next.map_or(Decoded::Skipped(Reason::Headers), |next| follow(next, ip.outbound, tunnel, depth + 1))
    };
    match ip.protocol {
        protocol::TCP => tcp::segment(ip).map_or(Decoded::Skipped(Reason::Headers), Decoded::Segment),
        protocol::UDP => udp(ip, tunnel, depth).unwrap_or(Decoded::Skipped(Reason::Headers)),
        protocol::MINIMAL => match minimal(ip).filter(|_| depth < DEPTH_MAX) {
            Some(inner) => {
                *tunnel = Tunnel::Minimal;
                transport(&inner, tunnel, depth + 1)
            }
            None => Decoded::Skipped(Reason::Headers),
        },
        number if tunnel::is_tunnel(number) => {
            let mut kind = Tunnel::None;
            let next = tunnel::in_ip(number, ip.payload, &mut kind);
            inside(next, kind, tunnel)
        }
        icmp @ (protocol::ICMP | protocol::ICMP_6) => match icmp::complaint(ip, protocol::TCP, quoted) {
            Some(complaint) => Decoded::Complaint(complaint, named(icmp)),
            None => Decoded::Skipped(named(icmp)),
        },
        other => Decoded::Skipped(named(other)),
    }
}

/// RFC 2004: the addresses and the protocol of the packet that a mobile host gets, in front of what it carries.
fn minimal<'a>(ip: &Ip<'a>) -> Option<Ip<'a>> {
    let view = ip.payload;
    let address = |at: usize| Some(IpAddr::V4(Ipv4Addr::from(view.long(at)?)));
    let has_source = view.byte(1)? & 0x80 != 0;
    Some(Ip {
        from: if has_source { address(8)? } else { ip.from },
        to: address(4)?,
        payload: view.after(if has_source { 12 } else { 8 })?,
        protocol: view.byte(0)?,
        part: None,
        ..*ip
    })
}

/// The packet that an ICMP error quotes, whose end is cut off.
fn quoted(view: View<'_>) -> Option<Ip<'_>> {
    if view.byte(0)? >> 4 == 4 { version_4(view, None) } else { version_6(view, None) }
}

fn named(protocol: u8) -> Reason {
    match protocol {
        1 => Reason::Protocol("ICMP"),
        2 => Reason::Protocol("IGMP"),
        50 => Reason::Protocol("IPsec ESP"),
        58 => Reason::Protocol("ICMPv6"),
        88 => Reason::Protocol("EIGRP"),
        89 => Reason::Protocol("OSPF"),
        103 => Reason::Protocol("PIM"),
        112 => Reason::Protocol("VRRP"),
        132 => Reason::Protocol("SCTP"),
        other => Reason::IpProtocol(other),
    }
}

fn udp(ip: &Ip<'_>, tunnel: &mut Tunnel, depth: u8) -> Option<Decoded> {
    let view = ip.payload;
    let (source, destination, said) = (view.word(0)?, view.word(2)?, view.word(4)?);
    if ip.part.is_none() {
        let mut kind = Tunnel::None;
        let next = tunnel::in_udp((source, destination), view, &mut kind);
        if let Some(next) = next {
            let mut inner_tunnel = kind;
            let inner = follow(next, ip.outbound, &mut inner_tunnel, depth + 1);
            if !matches!(inner, Decoded::Skipped(_)) {
                *tunnel = inner_tunnel;
                return Some(inner);
            }
        }
    }
    // A length of zero: more than a header can say, or left to the NIC.
    let bytes = if said == 0 { view.length as u32 } else { u32::from(said) };
    Some(Decoded::Datagram(Datagram { from: (ip.from, source), to: (ip.to, destination), len: bytes.checked_sub(8)? }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_packet_is_skipped_by_name() {
        let of = |data: &[u8]| {
            let frame = Frame { time_ns: Some(0), link_type: 1, data, length: data.len() as u32, outbound: None };
            decode(&frame).0
        };
        let ethernet = |ether_type: u16| [&[0; 12][..], &ether_type.to_be_bytes(), &[0; 46]].concat();
        assert_eq!(of(&ethernet(0x0806)), Decoded::Skipped(Reason::Protocol("ARP")));
        assert_eq!(of(&ethernet(0x1234)), Decoded::Skipped(Reason::EtherType(0x1234)));
        assert_eq!(of(&ethernet(0x0026)), Decoded::Skipped(Reason::Protocol("LLC")));
        assert_eq!(of(&[1, 2, 3]), Decoded::Skipped(Reason::Headers));
    }
}
