//! The resolved scenario: plain values, indices instead of names, every default filled in. What the simulator reads.

use std::sync::Arc;

use elephan_host::disk::DiskSpec;
use elephan_link::driven::Driven;
use elephan_link::{
    Concerned, CongestionManagement, FlowControl, Framing, Loss, PauseReaction, Pfc, PfcPer,
    headroom::{self, Feeder},
    queue::{Limit, QueueSpec},
};
use elephan_tcp::{IpVersion, Options};
use elephan_traffic::{Carrier, Kind, Spec as _, Start};
use elephan_units::{Bytes, Rate, Span, Time};

pub use crate::rdma::Rdma;
pub use crate::written::{Ecmp, Jitter, Order, Reorder};

/// One run, ready to build.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    pub title: String,
    pub question: String,
    pub duration: Time,
    /// Measurements (goodput, delivered, utilisation) count from here; tables hold everything.
    pub warmup: Time,
    pub seed: u64,
    pub ecmp: Ecmp,
    pub congestion_management: CongestionManagement,
    /// From a link's going down or up until routes are made anew; none: they stay.
    pub reroute: Option<Span>,
    pub nodes: Vec<Node>,
    /// One entry per direction; `links[links[i].reverse].reverse == i`.
    pub links: Vec<Link>,
    /// Options of endpoints, shared by index.
    pub options: Vec<Arc<Options>>,
    /// Names of the stacks the options came from, same index.
    pub option_stacks: Vec<String>,
    pub traffic: Vec<Traffic>,
    /// What changes during the run, in the order of time.
    pub changes: Vec<Change>,
    pub record: Record,
}

/// A host or a switch, e.g. `client[2]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    pub name: String,
    pub kind: NodeKind,
    /// How its ports react to received PAUSE frames.
    pub pause: PauseReaction,
    /// A host's disk; none: files are read and written at once.
    pub disk: Option<DiskSpec>,
    /// Of a host: what stands between TCP and the wire.
    pub models: elephan_host::Models,
}

#[derive(Clone, Debug, PartialEq)]
pub enum NodeKind {
    Host,
    Switch(Switch),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Switch {
    /// Bytes shared by all ports; none: only the queues' own limits.
    pub memory_bytes: Option<u64>,
    /// What the memory is given out in; none: bytes.
    pub cell_bytes: Option<u32>,
    /// An egress port holds at most this times what is free of the memory; none: all of it.
    pub alpha: Option<f64>,
    /// From the last bit in to the egress queue.
    pub latency: Span,
    pub flow_control: FlowControl,
}

/// One direction of a link, and the port that feeds it.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// `from->to`
    pub name: String,
    pub from: u32,
    pub to: u32,
    pub reverse: u32,
    pub rate: Rate,
    pub delay: Span,
    pub framing: Framing,
    pub queue: QueueSpec,
    /// The round-trip time that a limit of "1 bdp" refers to at this port, if the scenario says it.
    pub bdp_rtt: Option<Span>,
    /// What a limit of "1 bdp" means at this port, in bytes.
    pub bdp_bytes: u64,
    /// IP bytes of the largest packet that crosses it on a shortest path; 0 if none does.
    pub ip_bytes: u64,
    /// The traffic entry that this packet is of.
    pub largest_of: Option<u32>,
    /// Largest IP packet that it carries; none: any.
    pub mtu: Option<Bytes>,
    /// Whether it carries anything; the same both ways.
    pub up: bool,
    pub loss: Loss,
    pub impairments: Impairments,
    /// What of it follows a trace; `rate` is then the mean of the trace, and `delay` its first value.
    pub driven: Driven,
}

/// What a link does to packets beside losing them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Impairments {
    /// Those that these, and losses, concern.
    pub packets: Concerned,
    pub reorder: Option<Reorder>,
    /// Share of the packets that arrive twice.
    pub duplicate: f64,
    /// Which ECN-capable packets get a mark.
    pub mark: Loss,
    pub jitter: Option<Jitter>,
}

/// IP bytes of a full Ethernet frame, the least that headroom assumes.
const FULL_IP_BYTES: u64 = 1500;

impl Link {
    /// What `per` of a switch at its end has to know of it for headroom. What is counted at an egress queue (`late`) is decided when a
    /// frame has passed the switch.
    pub(crate) fn feeder(&self, links: &[Link], nodes: &[Node], late: bool) -> Feeder {
        let (latency, cell) = match &nodes[self.to as usize].kind {
            NodeKind::Switch(switch) if late => (switch.latency, switch.cell_bytes),
            NodeKind::Switch(switch) => (Span::ZERO, switch.cell_bytes),
            NodeKind::Host => (Span::ZERO, None),
        };
        Feeder {
            rate: self.rate,
            reverse_rate: links[self.reverse as usize].rate,
            framing: self.framing,
            propagation: self.delay,
            response_quanta: nodes[self.from as usize].pause.response_quanta,
            latency,
            cell,
        }
    }
}

/// The bytes of a full packet with its tag, for headroom: of the largest of the traffic, and of an Ethernet frame at least.
pub(crate) fn full_bytes(ip_bytes: u64, management: &CongestionManagement) -> u32 {
    let tag = management.handling().map_or(0, |handling| handling.tag.0);
    u32::try_from(ip_bytes.max(FULL_IP_BYTES).saturating_add(tag)).unwrap_or(u32::MAX / 2)
}

/// What a switch needs for one priority of one port that must lose nothing, `link` leading there, whose frames carry `ip_bytes` at
/// most, and `management` their tags.
pub(crate) fn headroom(
    (links, nodes): (&[Link], &[Node]),
    pfc: &Pfc,
    link: u32,
    (ip_bytes, management): (u64, &CongestionManagement),
) -> u64 {
    let feeder = links[link as usize].feeder(links, nodes, pfc.per == PfcPer::Egress);
    headroom::own_need(feeder, full_bytes(ip_bytes, management))
}

impl Plan {
    /// IP bytes of the largest packet of the traffic.
    pub fn largest_packet(&self) -> u64 {
        let of = |traffic: &Traffic, flow: &FlowPlan| {
            let [sender, receiver] = [flow.sender, flow.receiver].map(|end| &*self.options[end as usize]);
            traffic.ip_bytes(sender, receiver)
        };
        self.traffic.iter().flat_map(|t| t.flows.iter().map(move |flow| of(t, flow))).max().unwrap_or(0)
    }

    /// What a switch needs for one priority of one port that must lose nothing, `link` leading there: for frames of any
    /// length up to the `largest` of the traffic with its tag, at the rate, delay and response time that hold at the start.
    pub fn headroom(&self, pfc: &Pfc, link: u32, largest: u64) -> u64 {
        headroom((&self.links, &self.nodes), pfc, link, (largest, &self.congestion_management))
    }
}

impl Impairments {
    /// Whether no packet is treated otherwise than by losing it.
    pub fn is_none(&self) -> bool {
        self.reorder.is_none() && self.duplicate == 0.0 && self.jitter.is_none() && self.mark == Loss::None
    }
}

/// One `[[traffic]]` entry.
#[derive(Clone, Debug, PartialEq)]
pub struct Traffic {
    pub name: String,
    pub kind: Kind,
    /// Connections (or UDP streams), or for `transfers` the pairs that arrivals choose from.
    pub flows: Vec<FlowPlan>,
    /// Of a parallel program, the groups that do it at once.
    pub groups: Vec<Group>,
    pub start: Start,
    /// No new data or arrivals from here on.
    pub stop: Option<Time>,
    pub congestion_control: elephan_cc::Spec,
    /// What carries it in place of TCP, if anything.
    pub rdma: Option<Rdma>,
    pub ip: IpVersion,
    /// Applications ask for TCP Fast Open.
    pub fast_open: bool,
    /// IEEE 802.1Q priority of its packets, 0..7, and the weight of each of its connections, at least 1.
    pub priority: u8,
    pub weight: u16,
}

impl Traffic {
    /// Returns the bytes of the headers before the payload of a datagram; 0 for frames, which have none.
    pub fn datagram_headers(&self) -> u32 {
        if matches!(self.kind.carrier(), Carrier::Frames(_)) { 0 } else { self.ip.udp_headers_bytes() }
    }

    /// Returns the bytes of the largest IP packet between these ends; of RDMA with the telemetry that a congestion control may ask for.
    pub(crate) fn ip_bytes(&self, sender: &Options, receiver: &Options) -> u64 {
        if let Some(rdma) = &self.rdma {
            return rdma.largest_bytes();
        }
        match self.kind.carrier() {
            Carrier::Datagrams(payload) | Carrier::Frames(payload) => payload + u64::from(self.datagram_headers()),
            // The MSS counts TCP options (RFC 6691).
            _ => sender.mss.0.min(receiver.mss.0) + u64::from(self.ip.tcp_headers_bytes()),
        }
    }
}

/// Ranks that do a parallel program together.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    pub program: Arc<elephan_goal::Program>,
    /// The host of each rank.
    pub hosts: Vec<u32>,
    /// Index of its first flow in [`Traffic::flows`]; its flows are the program's pairs, in their order.
    pub first: usize,
}

/// One connection, stream or pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowPlan {
    pub from: u32,
    pub to: u32,
    /// Index into [`Plan::options`] for the sending and the receiving end.
    pub sender: u32,
    pub receiver: u32,
}

/// What is different from `at` on.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    pub at: Time,
    pub links: Vec<LinkChange>,
    pub congestion_controls: Vec<CongestionControlChange>,
}

/// What is different at one direction of a link.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinkChange {
    pub link: u32,
    pub rate: Option<Rate>,
    pub delay: Option<Span>,
    pub up: Option<bool>,
    pub loss: Option<Loss>,
    /// Limit of the queue, and what must wait for packets to be marked.
    pub limit: Option<Limit>,
    pub mark_above: Option<Limit>,
}

/// Another congestion control for the senders of a traffic entry.
#[derive(Clone, Debug, PartialEq)]
pub struct CongestionControlChange {
    pub traffic: u32,
    pub congestion_control: elephan_cc::Spec,
}

/// What is written down.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// Interval of the `*_samples` tables; none: no samples.
    pub every: Option<Span>,
    /// Sampled connections, ports and switches.
    pub flows: bool,
    pub ports: PortSelection,
    /// Rows of `statistics`.
    pub statistics: bool,
    /// Rows of `info`.
    pub info: bool,
    /// Rows of `queue_delays`.
    pub queue_delays: bool,
    /// Rows of `messages`.
    pub messages: bool,
    /// Rows of `operations`.
    pub operations: bool,
    /// Rows of `events`.
    pub events: bool,
    /// Most rows of `datagrams` of each stream.
    pub datagrams: u64,
    pub captures: Captures,
}

/// Where packets are captured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Captures {
    /// Indices into [`Plan::nodes`], ascending.
    pub hosts: Vec<u32>,
    /// Indices into [`Plan::links`], ascending.
    pub links: Vec<u32>,
    /// Bytes of a packet that are kept; none: the headers.
    pub snap_bytes: Option<u32>,
}

impl Captures {
    pub fn is_empty(&self) -> bool {
        self.hosts.is_empty() && self.links.is_empty()
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum PortSelection {
    /// Ports of switches (where queues form).
    Switches,
    All,
    /// Indices into [`Plan::links`].
    Listed(Vec<u32>),
    #[default]
    None,
}
