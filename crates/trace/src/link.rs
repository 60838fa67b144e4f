//! From a frame to what it carries: link layers, tags, labels.

use crate::file::Frame;
use crate::packet::{Decoded, Tunnel};
use crate::skip::Reason;

/// Bytes of a packet from some layer on: what was kept of them, and how many there were on the link.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    pub data: &'a [u8],
    pub length: usize,
}

impl<'a> View<'a> {
    /// Without the first `bytes`; nothing if fewer were kept.
    pub fn after(self, bytes: usize) -> Option<View<'a>> {
        Some(View { data: self.data.get(bytes..)?, length: self.length.saturating_sub(bytes) })
    }

    pub fn byte(self, at: usize) -> Option<u8> {
        self.data.get(at).copied()
    }

    pub fn word(self, at: usize) -> Option<u16> {
        Some(u16::from_be_bytes(self.data.get(at..at + 2)?.try_into().ok()?))
    }

    pub fn long(self, at: usize) -> Option<u32> {
        Some(u32::from_be_bytes(self.data.get(at..at + 4)?.try_into().ok()?))
    }
}

/// A layer to go on with, or what the packet turned out to be.
pub enum Next<'a> {
    Ip(View<'a>),
    Done(Decoded),
}

const SKIP: fn(Reason) -> Next<'static> = |reason| Next::Done(Decoded::Skipped(reason));

/// Link types of the registry that are read.
mod kind {
    pub const NULL: i32 = 0;
    pub const ETHERNET: i32 = 1;
    pub const PPP: i32 = 9;
    pub const FDDI: i32 = 10;
    pub const RAW_BSD: i32 = 12;
    pub const RAW_OPENBSD: i32 = 14;
    pub const PPP_HDLC: i32 = 50;
    pub const PPP_ETHER: i32 = 51;
    pub const RAW: i32 = 101;
    pub const C_HDLC: i32 = 104;
    pub const WIFI: i32 = 105;
    pub const FRAME_RELAY: i32 = 107;
    pub const LOOP: i32 = 108;
    pub const LINUX_SLL: i32 = 113;
    pub const RADIOTAP: i32 = 127;
    pub const IPV4: i32 = 228;
    pub const IPV6: i32 = 229;
    pub const LINUX_SLL2: i32 = 276;
}

/// EtherTypes that are followed.
mod ether {
    pub const IPV4: u16 = 0x0800;
    pub const TRANSPARENT_ETHERNET: u16 = 0x6558;
    pub const VLANS: [u16; 4] = [0x8100, 0x88A8, 0x9100, 0x9200];
    pub const IPV6: u16 = 0x86DD;
    pub const MPLS: [u16; 2] = [0x8847, 0x8848];
    pub const PPPOE: u16 = 0x8864;
    pub const PPP: u16 = 0x880B;
    /// IEEE 802.1ah: a service tag, and the customer's frame.
    pub const BACKBONE: u16 = 0x88E7;
    pub const TRILL: u16 = 0x22F3;
    pub const FABRIC_PATH: u16 = 0x8903;
    pub const NSH: u16 = 0x894F;
    pub const MACSEC: u16 = 0x88E5;
    /// VN-Tag, HSR, and the tag of IEEE 802.1CB: four bytes, then an EtherType.
    pub const LONG_TAGS: [u16; 3] = [0x8926, 0x892F, 0xF1C1];
    /// Cisco's metadata: six bytes, then an EtherType.
    pub const META_DATA: u16 = 0x8909;
}
pub use ether::PPP;

/// The largest length field of IEEE 802.3; what is larger is an EtherType.
const LENGTH_MAX: u16 = 1500;
/// Tags and labels of one frame, at most.
const LAYERS_MAX: usize = 12;

/// The IP packet in a frame.
pub fn open<'a>(frame: &Frame<'a>, tunnel: &mut Tunnel) -> Next<'a> {
    let view = View { data: frame.data, length: frame.length as usize };
    by_link_type(frame.link_type, view, tunnel).unwrap_or_else(|| SKIP(Reason::Headers))
}

fn by_link_type<'a>(link_type: i32, view: View<'a>, tunnel: &mut Tunnel) -> Option<Next<'a>> {
    match link_type {
        kind::ETHERNET => ethernet(view, tunnel),
        kind::RAW | kind::RAW_BSD | kind::RAW_OPENBSD | kind::IPV4 | kind::IPV6 => Some(Next::Ip(view)),
        kind::NULL | kind::LOOP => Some(Next::Ip(view.after(4)?)),
        kind::LINUX_SLL => typed(view.word(14)?, view.after(16)?, tunnel),
        kind::LINUX_SLL2 => typed(view.word(0)?, view.after(20)?, tunnel),
        kind::PPP | kind::PPP_HDLC => ppp(view),
        kind::PPP_ETHER => ppp(view.after(6)?),
        kind::C_HDLC => typed(view.word(2)?, view.after(4)?, tunnel),
        kind::FRAME_RELAY => frame_relay(view, tunnel),
        kind::FDDI => llc(view.after(13)?, tunnel),
        kind::WIFI => wifi(view, tunnel),
        kind::RADIOTAP => {
            let header = usize::from(view.byte(2)?) | usize::from(view.byte(3)?) << 8;
            wifi(view.after(header)?, tunnel)
        }
        other => Some(SKIP(Reason::LinkType(other))),
    }
}

/// An Ethernet frame.
pub fn ethernet<'a>(view: View<'a>, tunnel: &mut Tunnel) -> Option<Next<'a>> {
    typed(view.word(12)?, view.after(14)?, tunnel)
}

/// What follows an EtherType or a length.
pub fn typed<'a>(mut ether_type: u16, mut view: View<'a>, tunnel: &mut Tunnel) -> Option<Next<'a>> {
    for _ in 0..LAYERS_MAX {
        match ether_type {
            ether::IPV4 | ether::IPV6 => return Some(Next::Ip(view)),
            tag if ether::VLANS.contains(&tag) => {
                ether_type = view.word(2)?;
                view = view.after(4)?;
            }
            tag if ether::LONG_TAGS.contains(&tag) => (ether_type, view) = (view.word(4)?, view.after(6)?),
            ether::META_DATA => (ether_type, view) = (view.word(6)?, view.after(8)?),
            ether::MACSEC => match plain(view)? {
                bytes @ 1.. => (ether_type, view) = (view.word(bytes)?, view.after(bytes + 2)?),
                0 => return Some(SKIP(Reason::Protocol("MACsec"))),
            },
            ether::BACKBONE => {
                *tunnel = Tunnel::ProviderBackbone;
                (ether_type, view) = (view.word(16)?, view.after(18)?);
            }
            // RFC 6325 section 3: options of so many words.
            ether::TRILL => {
                *tunnel = Tunnel::Trill;
                let header = 6 + 4 * usize::from(view.word(0)? >> 6 & 31);
                (ether_type, view) = (view.word(header + 12)?, view.after(header + 14)?);
            }
            ether::FABRIC_PATH => (ether_type, view) = (view.word(14)?, view.after(16)?),
            ether::NSH => return nsh(view, tunnel),
            0..=LENGTH_MAX => return llc(view, tunnel),
            label if ether::MPLS.contains(&label) => {
                *tunnel = Tunnel::Mpls;
                return mpls(view, tunnel);
            }
            ether::PPPOE => {
                *tunnel = Tunnel::Pppoe;
                return ppp(view.after(6)?);
            }
            ether::PPP => return ppp(view),
            ether::TRANSPARENT_ETHERNET => {
                ether_type = view.word(12)?;
                view = view.after(14)?;
            }
            other => return Some(SKIP(named(other))),
        }
    }
    Some(SKIP(Reason::Headers))
}

fn named(ether_type: u16) -> Reason {
    match ether_type {
        0x0806 => Reason::Protocol("ARP"),
        0x0842 => Reason::Protocol("Wake-on-LAN"),
        0x8035 => Reason::Protocol("RARP"),
        0x8808 => Reason::Protocol("MAC control (PAUSE)"),
        0x8809 => Reason::Protocol("slow protocols (LACP)"),
        0x8863 => Reason::Protocol("PPPoE discovery"),
        0x888E => Reason::Protocol("EAPOL"),
        0x88CC => Reason::Protocol("LLDP"),
        0x88F7 => Reason::Protocol("PTP"),
        other => Reason::EtherType(other),
    }
}

/// IEEE 802.2, with SNAP or without (RFC 1042).
fn llc<'a>(view: View<'a>, tunnel: &mut Tunnel) -> Option<Next<'a>> {
    match (view.byte(0)?, view.byte(1)?) {
        (0xAA, 0xAA) => {
            let ether_type = view.word(6)?;
            if ether_type <= LENGTH_MAX {
                Some(SKIP(Reason::Protocol("SNAP")))
            } else {
                typed(ether_type, view.after(8)?, tunnel)
            }
        }
        (0x42, 0x42) => Some(SKIP(Reason::Protocol("STP"))),
        (0xFE, 0xFE) => Some(SKIP(Reason::Protocol("IS-IS"))),
        (0x06, 0x06) => Some(Next::Ip(view.after(3)?)),
        _ => Some(SKIP(Reason::Protocol("LLC"))),
    }
}

/// Bytes of the tag of a MACsec frame before its EtherType (IEEE 802.1AE clause 9); 0 if the frame is encrypted.
fn plain(view: View<'_>) -> Option<usize> {
    let control = view.byte(0)?;
    Some(if control & 0x0C == 0 { 6 + 8 * usize::from(control & 0x20 != 0) } else { 0 })
}

/// RFC 8300: a header of so many words names what follows.
pub fn nsh<'a>(view: View<'a>, tunnel: &mut Tunnel) -> Option<Next<'a>> {
    *tunnel = Tunnel::Nsh;
    let inner = view.after(4 * usize::from(view.word(0)? & 0x3F))?;
    match view.byte(3)? {
        1 | 2 => Some(Next::Ip(inner)),
        3 => ethernet(inner, tunnel),
        5 => mpls(inner, tunnel),
        _ => Some(SKIP(Reason::Protocol("NSH without IP"))),
    }
}

/// RFC 2427: an address whose last byte is odd, a control byte, and what a network layer's number means; also Cisco's own form.
pub fn frame_relay<'a>(view: View<'a>, tunnel: &mut Tunnel) -> Option<Next<'a>> {
    let address = (1..4).find(|&at| view.byte(at).is_some_and(|byte| byte & 1 == 1))? + 1;
    if view.byte(address)? != 0x03 {
        return typed(view.word(address)?, view.after(address + 2)?, tunnel);
    }
    let pad = usize::from(view.byte(address + 1)? == 0);
    let at = address + 1 + pad;
    match view.byte(at)? {
        0xCC | 0x8E => Some(Next::Ip(view.after(at + 1)?)),
        0x80 => typed(view.word(at + 4)?, view.after(at + 6)?, tunnel),
        _ => Some(SKIP(Reason::Protocol("Frame Relay without IP"))),
    }
}

/// Labels, and below the last one IP, or Ethernet behind a control word (RFC 4448).
pub fn mpls<'a>(mut view: View<'a>, tunnel: &mut Tunnel) -> Option<Next<'a>> {
    for _ in 0..LAYERS_MAX {
        let last = view.byte(2)? & 1 == 1;
        view = view.after(4)?;
        if last {
            return match view.byte(0)? >> 4 {
                4 | 6 => Some(Next::Ip(view)),
                0 => ethernet(view.after(4)?, tunnel),
                _ => Some(SKIP(Reason::Protocol("MPLS without IP"))),
            };
        }
    }
    Some(SKIP(Reason::Headers))
}

/// PPP, with address and control bytes of HDLC or without, with a protocol of two bytes or of one (RFC 1661).
pub fn ppp(view: View<'_>) -> Option<Next<'_>> {
    let view = if view.data.starts_with(&[0xFF, 0x03]) { view.after(2)? } else { view };
    let (protocol, bytes) = match view.byte(0)? {
        short if short & 1 == 1 => (u16::from(short), 1),
        _ => (view.word(0)?, 2),
    };
    match protocol {
        0x21 | 0x57 => Some(Next::Ip(view.after(bytes)?)),
        _ => Some(SKIP(Reason::Protocol("PPP control"))),
    }
}

/// A data frame of IEEE 802.11.
fn wifi<'a>(view: View<'a>, tunnel: &mut Tunnel) -> Option<Next<'a>> {
    let (control, flags) = (view.byte(0)?, view.byte(1)?);
    let (is_data, is_null, has_qos) = (control >> 2 & 3 == 2, control & 0x40 != 0, control & 0x80 != 0);
    if !is_data || is_null {
        return Some(SKIP(Reason::Protocol("Wi-Fi management")));
    }
    if flags & 0x40 != 0 {
        return Some(SKIP(Reason::Protocol("encrypted Wi-Fi")));
    }
    let four_addresses = if flags & 3 == 3 { 6 } else { 0 };
    let qos = if has_qos { if flags & 0x80 != 0 { 6 } else { 2 } } else { 0 };
    llc(view.after(24 + four_addresses + qos)?, tunnel)
}
