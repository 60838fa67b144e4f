//! Headers around a packet: which tunnel a protocol of IP or a port of UDP means, and what is inside.

use crate::link::{self, Next, View};
use crate::packet::{Decoded, Tunnel};
use crate::skip::Reason;

/// Protocols of IP that are tunnels.
mod protocol {
    pub const IPV4: u8 = 4;
    pub const IPV6: u8 = 41;
    pub const GRE: u8 = 47;
    pub const ETHERIP: u8 = 97;
    pub const L2TP: u8 = 115;
    pub const MPLS: u8 = 137;
}

/// Ports of UDP that mean a tunnel.
mod port {
    pub const L2TP: u16 = 1701;
    pub const GTP_U: u16 = 2152;
    pub const TEREDO: u16 = 3544;
    pub const LISP: u16 = 4341;
    pub const GRE: u16 = 4754;
    pub const VXLAN: u16 = 4789;
    pub const VXLAN_GPE: u16 = 4790;
    pub const GENEVE: u16 = 6081;
    pub const MPLS: u16 = 6635;
    /// VXLAN as Linux had it first.
    pub const VXLAN_OLD: u16 = 8472;
}

/// Types of GRE's payload that are no EtherTypes.
mod gre_type {
    pub const KEEPALIVE: u16 = 0;
    pub const OSI: u16 = 0x00FE;
    pub const EOIP: u16 = 0x6400;
    pub const FRAME_RELAY: u16 = 0x6559;
    pub const WCCP: u16 = 0x883E;
    pub const ERSPAN: u16 = 0x88BE;
    pub const ERSPAN_3: u16 = 0x22EB;
}

const UDP_BYTES: usize = 8;

fn skipped(name: &'static str) -> Option<Next<'static>> {
    Some(Next::Done(Decoded::Skipped(Reason::Protocol(name))))
}

/// Whether a protocol of IP is a tunnel.
pub fn is_tunnel(number: u8) -> bool {
    use protocol::{ETHERIP, GRE, IPV4, IPV6, L2TP, MPLS};
    [IPV4, IPV6, GRE, ETHERIP, L2TP, MPLS].contains(&number)
}

/// What a tunnel of IP leads to.
pub fn in_ip<'a>(number: u8, view: View<'a>, kind: &mut Tunnel) -> Option<Next<'a>> {
    let (named, next) = match number {
        protocol::GRE => {
            *kind = Tunnel::Gre;
            return gre(view, kind);
        }
        // RFC 3378; MikroTik's EoIP over IPv6 keeps its tunnel's number in the same two bytes.
        protocol::ETHERIP => (Tunnel::EtherIp, link::ethernet(view.after(2)?, &mut Tunnel::None)),
        // RFC 3931 section 4.1.1: a session of 0 is control.
        protocol::L2TP if view.long(0)? == 0 => (Tunnel::L2tp, skipped("L2TP control")),
        protocol::L2TP => (Tunnel::L2tp, session(view.after(4)?)),
        protocol::MPLS => (Tunnel::Mpls, link::mpls(view, &mut Tunnel::None)),
        _ => (Tunnel::IpInIp, Some(Next::Ip(view))),
    };
    *kind = named;
    next
}

/// What a datagram between these ports leads to; `view` begins with the header of UDP.
pub fn in_udp<'a>((source, destination): (u16, u16), view: View<'a>, kind: &mut Tunnel) -> Option<Next<'a>> {
    let inner = || view.after(UDP_BYTES);
    let (named, next) = match destination {
        port::VXLAN | port::VXLAN_OLD => (Tunnel::Vxlan, vxlan(inner()?)),
        port::VXLAN_GPE => (Tunnel::Vxlan, vxlan_gpe(inner()?)),
        port::GENEVE => (Tunnel::Geneve, geneve(inner()?)),
        port::GTP_U => (Tunnel::Gtp, gtp(inner()?)),
        port::LISP => (Tunnel::Lisp, ip(inner()?.after(8)?)),
        port::MPLS => (Tunnel::Mpls, link::mpls(inner()?, &mut Tunnel::None)),
        port::GRE => {
            *kind = Tunnel::Gre;
            return gre(inner()?, kind);
        }
        _ if [source, destination].contains(&port::L2TP) => (Tunnel::L2tp, l2tp(inner()?)),
        _ if [source, destination].contains(&port::TEREDO) => (Tunnel::Teredo, teredo(inner()?)),
        _ => return None,
    };
    *kind = named;
    next
}

/// An IP packet, if it looks like one.
fn ip(view: View<'_>) -> Option<Next<'_>> {
    matches!(view.byte(0)? >> 4, 4 | 6).then_some(Next::Ip(view))
}

/// RFC 2784 and 2890, PPTP's version (RFC 2637), ERSPAN, EoIP.
fn gre<'a>(view: View<'a>, kind: &mut Tunnel) -> Option<Next<'a>> {
    let (flags, ether_type) = (view.word(0)?, view.word(2)?);
    let has = |bit: u16| usize::from(flags & bit != 0) * 4;
    let optional = if flags & 7 == 1 {
        has(0x2000) + has(0x1000) + has(0x0080)
    } else {
        has(0x8000 | 0x4000) + has(0x2000) + has(0x1000)
    };
    let mut inner = view.after(4 + optional)?;
    // The routes of RFC 1701, each with its length in the last of four bytes; the last route is empty.
    let mut has_routes = flags & 0x4007 == 0x4000;
    while has_routes {
        has_routes = inner.long(0)? != 0;
        inner = inner.after(4 + usize::from(inner.byte(3)?))?;
    }
    match ether_type {
        gre_type::ERSPAN | gre_type::ERSPAN_3 => {
            *kind = Tunnel::Erspan;
            let header = match (ether_type, flags & 0x1000) {
                (gre_type::ERSPAN_3, _) => 12,
                (_, 0) => 0,
                _ => 8,
            };
            link::ethernet(inner.after(header)?, &mut Tunnel::None)
        }
        gre_type::EOIP => {
            *kind = Tunnel::EoIp;
            // A frame of no bytes keeps the tunnel alive.
            if view.word(4)? == 0 { skipped("EoIP keepalive") } else { link::ethernet(inner, &mut Tunnel::None) }
        }
        gre_type::KEEPALIVE => skipped("GRE keepalive"),
        gre_type::OSI => skipped("IS-IS"),
        gre_type::FRAME_RELAY => link::frame_relay(inner, &mut Tunnel::None),
        // Version 2 has four bytes of its own before the packet.
        gre_type::WCCP => ip(inner).or_else(|| ip(inner.after(4)?)),
        // Of PPTP what only acknowledges has no payload.
        link::PPP if inner.length == 0 => skipped("PPTP control"),
        other => link::typed(other, inner, &mut Tunnel::None),
    }
}

/// RFC 7348: the flag says that there is a network identifier.
fn vxlan(view: View<'_>) -> Option<Next<'_>> {
    (view.byte(0)? & 0x08 != 0).then(|| link::ethernet(view.after(8)?, &mut Tunnel::None)).flatten()
}

/// draft-ietf-nvo3-vxlan-gpe: with the flag P the last byte of the first word names what follows.
fn vxlan_gpe(view: View<'_>) -> Option<Next<'_>> {
    let (flags, inner) = (view.byte(0)?, view.after(8)?);
    match if flags & 0x04 == 0 { 3 } else { view.byte(3)? } {
        1 | 2 => ip(inner),
        3 => link::ethernet(inner, &mut Tunnel::None),
        4 => link::nsh(inner, &mut Tunnel::None),
        _ => None,
    }
}

/// RFC 8926.
fn geneve(view: View<'_>) -> Option<Next<'_>> {
    let first = view.byte(0)?;
    let options = usize::from(first & 0x3F) * 4;
    (first >> 6 == 0).then(|| link::typed(view.word(2)?, view.after(8 + options)?, &mut Tunnel::None)).flatten()
}

/// 3GPP TS 29.281: version 1, a T-PDU, extension headers.
fn gtp(view: View<'_>) -> Option<Next<'_>> {
    let flags = view.byte(0)?;
    if flags >> 5 != 1 || view.byte(1)? != 255 {
        return None;
    }
    let mut at = 8;
    if flags & 7 != 0 {
        let mut extension = if flags & 4 != 0 { view.byte(11)? } else { 0 };
        at = 12;
        while extension != 0 {
            let bytes = usize::from(view.byte(at)?) * 4;
            if bytes == 0 {
                return None;
            }
            at += bytes;
            extension = view.byte(at - 1)?;
        }
    }
    Some(Next::Ip(view.after(at)?))
}

/// RFC 2661: PPP behind a header of fields that flags announce. Version 3 (RFC 3931) has a session instead.
fn l2tp(view: View<'_>) -> Option<Next<'_>> {
    let flags = view.word(0)?;
    let has = |bit: u16| flags & bit != 0;
    if has(0x8000) {
        return skipped("L2TP control");
    }
    if flags & 15 == 3 {
        return session(view.after(8)?);
    }
    let fixed = 6 + 2 * usize::from(has(0x4000)) + 4 * usize::from(has(0x0800));
    let pad = if has(0x0200) { 2 + usize::from(view.word(fixed)?) } else { 0 };
    (flags & 15 == 2).then(|| link::ppp(view.after(fixed + pad)?)).flatten()
}

/// A session of L2TP version 3. Only its control connection says how long the cookie is: what looks like Ethernet with IP shows it.
fn session(view: View<'_>) -> Option<Next<'_>> {
    let is_ethernet = |frame: &View<'_>| {
        let inner = frame.byte(14).map(|first| first >> 4);
        matches!((frame.word(12), inner), (Some(0x0800), Some(4)) | (Some(0x86DD), Some(6)) | (Some(0x8100), _))
    };
    let frame = [0, 4, 8, 12].into_iter().filter_map(|cookie| view.after(cookie)).find(is_ethernet);
    frame.map_or_else(|| skipped("L2TP without IP"), |frame| link::ethernet(frame, &mut Tunnel::None))
}

/// RFC 4380 section 5.1.1: IPv6, behind an authentication and an origin.
fn teredo(mut view: View<'_>) -> Option<Next<'_>> {
    if view.word(0)? == 1 {
        let (client, value) = (usize::from(view.byte(2)?), usize::from(view.byte(3)?));
        view = view.after(4 + client + value + 9)?;
    }
    if view.word(0)? == 0 {
        view = view.after(8)?;
    }
    (view.byte(0)? >> 4 == 6).then_some(Next::Ip(view))
}
