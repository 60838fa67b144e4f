//! Captures: what a capture program sees at a host (`tcpdump` there) or at a port (a tap in the wire behind it).
//!
//! At a host a packet that it sends is seen when TCP or the application hands it to the port, before any queue of the
//! port (which may still drop it), and one that it receives when its last bit is in. At a port a frame is seen when its
//! transmission starts, lost on the wire or not, PAUSE frames of Ethernet links with the rest. Ports with a tap take the
//! general path, so packets come in the order of time and other ports need not ask; neither path changes the run.
//!
//! Addresses: node number `n`, from 1 in the order of the scenario, is 10.x.y.z with `n = 65536 x + 256 y + z`, over IPv6
//! fd00::10.x.y.z (RFC 4193: local), and its MAC address is 02:00:00:x:y:z (locally administered). Flow number `f` runs from port 38000 + f mod 3000 of the end that
//! opened it to port 10601 + (f div 3000) mod 600; both ranges have no meaning to the usual dissectors.
//! Raw frames have the type of local experiments and are seen on Ethernet links only.
//! Ethernet frames are seen without preamble and frame check sequence, and padded to 60 bytes on the wire and when received.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use elephan_link::Framing;
use elephan_link::congestion::Feedback;
use elephan_record::{Capture, CapturedPacket, Direction, Interface, LinkType, Recorder};
use elephan_roce::{Answer, wire};
use elephan_scenario::Plan;
use elephan_tcp::wire::{Addresses, Ends, HEADERS_MAX_BYTES, Headers, Transport, headers_max_bytes};
use elephan_tcp::{IpVersion, SackBlocks};
use elephan_traffic::{Carrier, Spec as _};
use elephan_uec::wire::UDP_PORT as UEC_UDP_PORT;
use elephan_units::{Time, stop};

use super::payload::{Letter, Payloads};
use super::port::taps::Taps;
use super::route::Routes;
use crate::Error;
use crate::ids::LinkId;
use crate::packet::{Notice, Packet, flags, rdma};
use crate::target::{Control, NONE};

/// `MAXIMUM_SNAPLEN` of libpcap.
const PACKET_MAX_BYTES: u32 = 262_144;
/// Ethernet: MAC addresses and type; the least that a frame has without its check sequence.
const ETHERNET_HEADER_BYTES: usize = 14;
const ETHERNET_LEAST_BYTES: u32 = 60;
const ETHERTYPE_IPV4: [u8; 2] = [0x08, 0x00];
/// RFC 2464.
const ETHERTYPE_IPV6: [u8; 2] = [0x86, 0xDD];
/// IEEE 802 Local Experimental EtherType 2, for frames without IP.
const ETHERTYPE_RAW: [u8; 2] = [0x88, 0xB6];
/// Protocol field of PPP (RFC 1332, RFC 5072).
const PPP_IPV4: [u8; 2] = [0x00, 0x21];
const PPP_IPV6: [u8; 2] = [0x00, 0x57];
/// IEEE 802.3 Annex 31A and 31B: where MAC control frames go, their type, the opcode of PAUSE.
const PAUSE_DESTINATION: [u8; 6] = [0x01, 0x80, 0xC2, 0x00, 0x00, 0x01];
const ETHERTYPE_MAC_CONTROL: [u8; 2] = [0x88, 0x08];
const OPCODE_PAUSE: [u8; 2] = [0x00, 0x01];
/// Congestion notification message (IEEE 802.1Q), whose fields behind feedback and congestion point are zero here; those of
/// ECM have no type of their own, so the first one for local experiments (IEEE 802) stands for it.
const ETHERTYPE_CNM: [u8; 2] = [0x22, 0xE7];
const ETHERTYPE_EXPERIMENT: [u8; 2] = [0x88, 0xB5];
/// Offset and change of the queue, priority, destination and length of the sampled frame.
const CNM_REST_BYTES: usize = 14;
/// IEEE 802.1Qbb.
const OPCODE_PFC: [u8; 2] = [0x01, 0x01];

const OPENER_PORTS: std::ops::Range<u32> = 38_000..41_000;
const LISTENER_PORTS: std::ops::Range<u32> = 10_601..11_201;

/// One direction of an interface of a file.
#[derive(Clone, Copy)]
struct Tap {
    file: u32,
    interface: u32,
    direction: Option<Direction>,
    framing: Framing,
}

/// A file to be.
struct FilePlan {
    name: String,
    interfaces: Vec<Interface>,
    /// Nodes whose packets it may see, and of which version of IP these are.
    nodes: BTreeSet<(IpVersion, u32)>,
}

/// What will be captured where.
#[derive(Default)]
pub struct Layout {
    files: Vec<FilePlan>,
    taps: Vec<Tap>,
    ports: Vec<Taps>,
}

impl Layout {
    /// The captures that the scenario asks for.
    pub fn of(plan: &Plan) -> Layout {
        let asked = &plan.record.captures;
        let mut layout = Layout::default();
        if asked.is_empty() {
            return layout;
        }
        layout.ports = vec![Taps::NONE; plan.links.len()];
        let mut file_of = vec![NONE; plan.nodes.len()];
        for &host in &asked.hosts {
            file_of[host as usize] = layout.file(plan.nodes[host as usize].name.clone());
        }
        for (i, link) in plan.links.iter().enumerate() {
            let file = file_of[link.from as usize];
            if file != NONE {
                layout.ports[i].handed = layout.tap(plan, file, i, Some(Direction::Outbound));
                let received = layout.tap_back(layout.ports[i].handed);
                layout.ports[link.reverse as usize].received = received;
            }
        }
        for &link in &asked.links {
            // A dot is in no name, so that no host's file has this name.
            let file = layout.file(plan.links[link as usize].name.replace("->", ".to."));
            layout.ports[link as usize].started = layout.tap(plan, file, link as usize, None);
        }
        layout
    }

    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// The taps of a port.
    pub fn taps(&self, link: usize) -> Taps {
        self.ports.get(link).copied().unwrap_or(Taps::NONE)
    }

    fn file(&mut self, name: String) -> u32 {
        self.files.push(FilePlan { name, interfaces: Vec::new(), nodes: BTreeSet::new() });
        (self.files.len() - 1) as u32
    }

    /// A tap at a new interface of a file, named after its port.
    fn tap(&mut self, plan: &Plan, file: u32, link: usize, direction: Option<Direction>) -> u32 {
        let link = &plan.links[link];
        let interfaces = &mut self.files[file as usize].interfaces;
        let (link_type, header) = link_type(link.framing);
        let versions = plan.traffic.iter().map(|traffic| traffic.ip);
        let headers = (header + headers_max_bytes(versions.max().unwrap_or_default())) as u32;
        // What programs send is kept whole.
        let programs = plan.traffic.iter().any(|traffic| traffic.kind.carrier() == Carrier::Program);
        let most = if programs { PACKET_MAX_BYTES } else { headers };
        interfaces.push(Interface {
            name: link.name.clone(),
            link_type,
            rate_bps: link.rate.bps(),
            snap_bytes: plan.record.captures.snap_bytes.unwrap_or(most),
        });
        let interface = (interfaces.len() - 1) as u32;
        self.add(Tap { file, interface, direction, framing: link.framing })
    }

    /// The other direction of the interface of a tap.
    fn tap_back(&mut self, tap: u32) -> u32 {
        self.add(Tap { direction: Some(Direction::Inbound), ..self.taps[tap as usize] })
    }

    fn add(&mut self, tap: Tap) -> u32 {
        self.taps.push(tap);
        (self.taps.len() - 1) as u32
    }

    /// Makes the files.
    pub fn open(mut self, plan: &Plan, routes: &Routes, recorder: &mut Recorder) -> Result<Captures, Error> {
        self.find_nodes(plan, routes);
        let mut files = Vec::with_capacity(self.files.len());
        for file in &self.files {
            let name = |&(ip, node): &(IpVersion, u32)| (ip_address(ip, node), plan.nodes[node as usize].name.as_str());
            let names: Vec<_> = file.nodes.iter().map(name).collect();
            files.extend(recorder.capture(&file.name, &file.interfaces, &names)?);
        }
        Ok(Captures {
            files,
            taps: self.taps,
            openers: Vec::new(),
            ports: BTreeMap::new(),
            payloads: Payloads::default(),
            ends: plan.links.iter().map(|l| (l.from, l.to)).collect(),
            snap_bytes: plan.record.captures.snap_bytes,
        })
    }

    /// Whose packets each file may see.
    fn find_nodes(&mut self, plan: &Plan, routes: &Routes) {
        for (ip, flow) in plan.traffic.iter().flat_map(|t| t.flows.iter().map(|flow| (t.ip, flow))) {
            for (from, to) in [(flow.from, flow.to), (flow.to, flow.from)] {
                stop::look();
                for link in routes.between(from, to).flat_map(|place| routes.rest(place)) {
                    let Taps { handed, started, received } = self.ports[link.index()];
                    for tap in [handed, started, received].into_iter().filter(|&tap| tap != NONE) {
                        let file = self.taps[tap as usize].file;
                        self.files[file as usize].nodes.extend([(ip, from), (ip, to)]);
                    }
                }
            }
        }
    }
}

/// Ports of the ends of a flow that says none.
fn ports(flow: u32) -> (u16, u16) {
    let opener = OPENER_PORTS.start + flow % OPENER_PORTS.len() as u32;
    let listener = LISTENER_PORTS.start + flow / OPENER_PORTS.len() as u32 % LISTENER_PORTS.len() as u32;
    (opener as u16, listener as u16)
}

/// The type of a framing's packets, and what stands before their IP header.
fn link_type(framing: Framing) -> (LinkType, usize) {
    match framing {
        Framing::Ethernet => (LinkType::Ethernet, ETHERNET_HEADER_BYTES),
        Framing::Ppp => (LinkType::Ppp, PPP_IPV4.len()),
        Framing::None => (LinkType::Raw, 0),
    }
}

/// 10.x.y.z of a node.
fn address(node: u32) -> [u8; 4] {
    (0x0A00_0000 + node + 1).to_be_bytes()
}

/// fd00::10.x.y.z of a node.
fn address_v6(node: u32) -> [u8; 16] {
    let [a, x, y, z] = address(node);
    [0xFD, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, a, x, y, z]
}

fn ip_address(ip: IpVersion, node: u32) -> IpAddr {
    match ip {
        IpVersion::V4 => IpAddr::V4(Ipv4Addr::from(address(node))),
        IpVersion::V6 => IpAddr::V6(Ipv6Addr::from(address_v6(node))),
    }
}

/// 02:00:00:x:y:z of a node.
fn mac(node: u32) -> [u8; 6] {
    let [_, x, y, z] = address(node);
    [0x02, 0x00, 0x00, x, y, z]
}

/// Bytes of a frame in the order of the wire.
#[derive(Clone)]
struct Frame {
    bytes: [u8; ETHERNET_HEADER_BYTES + HEADERS_MAX_BYTES],
    len: usize,
}

impl Frame {
    fn of(parts: &[&[u8]]) -> Frame {
        let mut frame = Frame { bytes: [0; _], len: 0 };
        for part in parts {
            frame.bytes[frame.len..frame.len + part.len()].copy_from_slice(part);
            frame.len += part.len();
        }
        frame
    }

    fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

fn rdma_kind(packet: &Packet) -> wire::Kind {
    let segment = &packet.segment;
    match segment.window {
        rdma::ACK => wire::Kind::Answer(Answer::Ack(segment.ack)),
        rdma::NAK => wire::Kind::Answer(Answer::Nak(segment.ack)),
        rdma::SACK => wire::Kind::Answer(Answer::Sack { expected: segment.ack, got: segment.seq }),
        rdma::CNP => wire::Kind::Notification,
        kind => wire::Kind::Data { psn: segment.seq, last: kind == rdma::LAST, asks: kind != rdma::DATA },
    }
}

/// The capture files of a run.
#[derive(Clone)]
pub struct Captures {
    files: Vec<Capture>,
    taps: Vec<Tap>,
    /// By a flow's number: the node that opened it.
    openers: Vec<u32>,
    /// Ports of flows that say theirs, by number: of the opener and of the other end.
    ports: BTreeMap<u32, (u16, u16)>,
    /// What packets of programs carry.
    pub payloads: Payloads,
    /// Nodes at the near and the far end of each link.
    ends: Vec<(u32, u32)>,
    snap_bytes: Option<u32>,
}

impl Captures {
    /// Learns of a flow; they come in the order of their numbers.
    pub fn flow(&mut self, opener: u32) {
        self.openers.push(opener);
    }

    /// The ports of the opener of flow `number` and of the other end.
    pub fn name_ports(&mut self, number: u32, ports: (u16, u16)) {
        self.ports.insert(number, ports);
    }

    /// The first error of any file.
    pub fn check(&self) -> Result<(), Error> {
        Ok(self.files.iter().try_for_each(Capture::check)?)
    }

    /// Writes what is left.
    pub fn finish(self) -> Result<(), Error> {
        Ok(self.files.into_iter().try_for_each(Capture::finish)?)
    }

    /// A packet on the way from the near end of link `first` to the far end of link `last`.
    pub fn packet(&mut self, now: Time, tap: u32, packet: &Packet, sack: &SackBlocks, (first, last): (LinkId, LinkId)) {
        let tap = self.taps[tap as usize];
        let (source, destination) = (self.ends[first.index()].0, self.ends[last.index()].1);
        if packet.flags & flags::RAW != 0 {
            return self.raw_frame(now, tap, packet.ip_bytes, (source, destination));
        }
        let (headers, payload) = self.headers(packet, sack, (source, destination));
        let headers = headers.as_bytes();
        let (ethertype, protocol) = match packet.segment.ip() {
            IpVersion::V4 => (ETHERTYPE_IPV4, PPP_IPV4),
            IpVersion::V6 => (ETHERTYPE_IPV6, PPP_IPV6),
        };
        let frame = match tap.framing {
            Framing::Ethernet => Frame::of(&[&mac(destination), &mac(source), &ethertype, headers]),
            Framing::Ppp => Frame::of(&[&protocol, headers]),
            Framing::None => Frame::of(&[headers]),
        };
        let mut bytes = (frame.len - headers.len()) as u32 + packet.ip_bytes;
        // A host sees what it sends before its interface pads it.
        if tap.framing == Framing::Ethernet && tap.direction != Some(Direction::Outbound) {
            bytes = bytes.max(ETHERNET_LEAST_BYTES);
        }
        if payload.is_empty() {
            return self.push(now, tap, frame.as_bytes(), bytes, frame.len as u32);
        }
        let whole = [frame.as_bytes(), &payload].concat();
        self.push(now, tap, &whole, bytes, whole.len() as u32);
    }

    /// The headers of a packet, and what it carries if that is known.
    fn headers(&self, packet: &Packet, sack: &SackBlocks, (source, destination): (u32, u32)) -> (Headers, Vec<u8>) {
        let (opener, listener) = self.ports.get(&packet.flow).copied().unwrap_or_else(|| ports(packet.flow));
        let there = self.openers[packet.flow as usize] == source;
        let (source_port, destination_port) = if there { (opener, listener) } else { (listener, opener) };
        let addresses = match packet.segment.ip() {
            IpVersion::V4 => Addresses::V4([source, destination].map(address)),
            IpVersion::V6 => Addresses::V6([source, destination].map(address_v6)),
        };
        let ends = Ends { addresses, source_port, destination_port };
        if packet.is_uec() {
            let ends = Ends { destination_port: UEC_UDP_PORT, ..ends };
            return (Headers::datagram(packet.ip_bytes, packet.segment.ecn, packet.ident, &ends, &[]), Vec::new());
        }
        if packet.flags & flags::RDMA != 0 {
            let (inner, len) = wire::headers(rdma_kind(packet), packet.flow & 0xFF_FFFF);
            let ends = Ends { destination_port: wire::UDP_PORT, ..ends };
            let (bytes, ecn) = (packet.ip_bytes, packet.segment.ecn);
            return (Headers::datagram(bytes, ecn, packet.ident, &ends, &inner[..len]), Vec::new());
        }
        if packet.flags & flags::UDP == 0 {
            let mut headers = Headers::tcp(&packet.segment, sack, packet.ident, &ends);
            let payload = self.payloads.segment(packet, there);
            headers.cover(&payload, Transport::Tcp);
            return (headers, payload);
        }
        let mut headers = Headers::udp(&packet.segment, packet.ident, &ends);
        match self.payloads.letter(packet) {
            Some(Letter::Datagram(payload)) => {
                headers.cover(payload, Transport::Udp);
                (headers, payload.clone())
            }
            Some(&Letter::Unreachable(quoted)) => {
                let carried = packet.ip_bytes - packet.segment.ip().header_bytes();
                (Headers::port_unreachable(carried, quoted, packet.ident, &ends), Vec::new())
            }
            None => (headers, Vec::new()),
        }
    }

    /// A frame that carries `carried` bytes of no known protocol.
    fn raw_frame(&mut self, now: Time, tap: Tap, carried: u32, (source, destination): (u32, u32)) {
        if tap.framing == Framing::Ethernet {
            let frame = Frame::of(&[&mac(destination), &mac(source), &ETHERTYPE_RAW]);
            self.push(now, tap, frame.as_bytes(), ETHERNET_HEADER_BYTES as u32 + carried, frame.len as u32);
        }
    }

    /// A PAUSE frame of the station at the near end of `link`, or a PFC frame with that pause time.
    pub fn pause(&mut self, now: Time, tap: u32, link: LinkId, content: Control, quanta: u16) {
        let tap = self.taps[tap as usize];
        if tap.framing != Framing::Ethernet {
            return;
        }
        let source = mac(self.ends[link.index()].0);
        let (address, control) = (&PAUSE_DESTINATION[..], &ETHERTYPE_MAC_CONTROL);
        let frame = match content {
            Control::Pause { quanta } => Frame::of(&[address, &source, control, &OPCODE_PAUSE, &quanta.to_be_bytes()]),
            Control::Pfc { about, stop } => {
                let time = |priority: u32| if stop >> priority & 1 == 1 { quanta.to_be_bytes() } else { [0; 2] };
                let times: [[u8; 2]; 8] = std::array::from_fn(|priority| time(priority as u32));
                Frame::of(&[address, &source, control, &OPCODE_PFC, &[0, about], times.as_flattened()])
            }
        };
        self.push(now, tap, frame.as_bytes(), ETHERNET_LEAST_BYTES, ETHERNET_LEAST_BYTES);
    }

    /// A notification of congestion, from the switch at the near end of link `first` to the host at the far end of `last`.
    pub fn notification(
        &mut self,
        now: Time,
        tap: u32,
        (ip_bytes, notice): (u32, &Notice),
        (first, last): (LinkId, LinkId),
    ) {
        let tap = self.taps[tap as usize];
        if tap.framing != Framing::Ethernet {
            return;
        }
        let (source, destination) = (mac(self.ends[first.index()].0), mac(self.ends[last.index()].1));
        let (kind, feedback) = match notice.feedback {
            Feedback::Qcn(bits) => (ETHERTYPE_CNM, u16::from(bits).to_be_bytes()),
            of @ Feedback::Ecm(_) => (ETHERTYPE_EXPERIMENT, (of.value() as i16).to_be_bytes()),
        };
        let point = u64::from(notice.point).to_be_bytes();
        let rest = [0; CNM_REST_BYTES];
        let frame = Frame::of(&[&destination, &source, &kind, &feedback, &point, &rest]);
        let bytes = (ip_bytes + ETHERNET_HEADER_BYTES as u32).max(ETHERNET_LEAST_BYTES);
        self.push(now, tap, frame.as_bytes(), bytes, frame.len as u32);
    }

    /// Keeps what the scenario says of a packet, `whole` of its bytes if it says nothing.
    fn push(&mut self, now: Time, tap: Tap, headers: &[u8], packet_bytes: u32, whole: u32) {
        let kept = self.snap_bytes.map_or(whole, |snap| snap.min(packet_bytes));
        self.files[tap.file as usize].push(&CapturedPacket {
            interface: tap.interface,
            time_ns: now.ns() as u64,
            rest_ps: (now.ps() % 1000) as u16,
            direction: tap.direction,
            headers,
            kept_bytes: kept as usize,
            packet_bytes,
        });
    }
}
