//! What the layers below give to the connections: segments, datagrams, fragments.

use std::net::IpAddr;

use crate::skip::Reason;

/// An address with its port.
pub type End = (IpAddr, u16);

/// The two ends, the smaller first, and whether they speak TCP.
pub type Key = (End, End, bool);

/// A TCP segment as it was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
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
    pub psh: bool,
    pub ece: bool,
    pub cwr: bool,
    /// The bit beside CWR, with which AccECN begins (RFC 9768).
    pub ae: bool,
    /// The IP header carries Congestion Experienced.
    pub ce: bool,
    pub options: Options,
    pub outbound: Option<bool>,
    /// Identification of the IPv4 header, unless it is 0.
    pub ident: Option<u16>,
    /// Number of the packet in the capture, from 1 on.
    pub frame: u64,
    /// Equal for two copies of one packet: of everything that routers leave as it is.
    pub print: u64,
}

/// The options of a segment that matter here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    pub mss: Option<u16>,
    pub window_scale: Option<u8>,
    pub sack_permitted: bool,
    /// TSval and TSecr (RFC 7323).
    pub timestamps: Option<(u32, u32)>,
    /// How many SACK blocks there are, and what they say.
    pub sack_blocks: u8,
    pub sacks: [(u32, u32); 4],
    /// The snapshot ends before the options do.
    pub cut: bool,
}

/// A UDP datagram as it was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Datagram {
    pub from: End,
    pub to: End,
    pub len: u32,
}

/// What an ICMP error says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trouble {
    TooBig,
    NoPort,
    Prohibited,
    Unreachable,
    Expired,
    BadHeader,
}

/// An ICMP error about a TCP segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Complaint {
    /// Who sent the error, and from where to where the segment went.
    pub by: IpAddr,
    pub from: End,
    pub to: End,
    pub trouble: Trouble,
    /// The MTU that a packet is too big for.
    pub mtu: u64,
    /// Number of the packet in the capture.
    pub frame: u64,
}

/// A part of an IP datagram.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fragment {
    /// Both addresses, the identification and the protocol: equal for the parts of one datagram.
    pub key: (IpAddr, IpAddr, u32, u8),
    /// Where it begins in the datagram, its bytes, and whether others follow it.
    pub offset: u32,
    pub bytes: u32,
    pub more: bool,
    /// What the first fragment begins with; its length is that of the fragment alone.
    pub first: Option<Box<Decoded>>,
}

/// What a frame holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decoded {
    Segment(Segment),
    Datagram(Datagram),
    Fragment(Fragment),
    /// An error, and the name under which its packet is counted.
    Complaint(Complaint, Reason),
    Skipped(Reason),
}

/// Headers around the packet that was analysed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tunnel {
    #[default]
    None,
    Mpls,
    Pppoe,
    Gre,
    Erspan,
    EoIp,
    EtherIp,
    IpInIp,
    Minimal,
    L2tp,
    Lisp,
    Nsh,
    ProviderBackbone,
    Teredo,
    Trill,
    Vxlan,
    Geneve,
    Gtp,
}

impl Tunnel {
    pub fn name(self) -> &'static str {
        match self {
            Tunnel::None => "none",
            Tunnel::Mpls => "MPLS",
            Tunnel::Pppoe => "PPPoE",
            Tunnel::Gre => "GRE",
            Tunnel::Erspan => "ERSPAN",
            Tunnel::EoIp => "EoIP",
            Tunnel::EtherIp => "EtherIP",
            Tunnel::IpInIp => "IP in IP",
            Tunnel::Minimal => "minimal encapsulation",
            Tunnel::L2tp => "L2TP",
            Tunnel::Lisp => "LISP",
            Tunnel::Nsh => "NSH",
            Tunnel::ProviderBackbone => "802.1ah",
            Tunnel::Teredo => "Teredo",
            Tunnel::Trill => "TRILL",
            Tunnel::Vxlan => "VXLAN",
            Tunnel::Geneve => "Geneve",
            Tunnel::Gtp => "GTP-U",
        }
    }
}
