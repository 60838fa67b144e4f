//! `[[traffic]]`.

use elephan_cc::Transport;
use elephan_tcp::{IpVersion, Overrides};
use elephan_traffic::{Kind, Start};
use elephan_units::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Traffic of one kind between two groups of hosts. Beside these keys it has those of its `kind`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Traffic")]
pub struct TrafficWords {
    /// Its name in results and overrides (`traffic.NAME.load`); without it the kind, numbered from the second on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub name: Option<String>,
    /// Sending hosts: a group, a member (`"client[2]"`), some (`"client[0-3]"`), or an array of these.
    pub from: Members,
    /// Receiving hosts. Ranks (`collective`, `goal`) are the hosts of `from`, and need none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Members")]
    pub to: Option<Members>,
    /// Which senders send to which receivers.
    #[serde(default)]
    pub pairing: FlowPairing,
    /// Connections or streams of each pair.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub connections: u32,
    /// When it starts: a time, or `{ uniform = ["0 s", "100 ms"] }` drawn for each connection.
    #[serde(default)]
    pub start: Start,
    /// Nothing new is sent from here on; without it to the end of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Span")]
    pub stop: Option<Span>,
    /// Congestion control of the senders: a name, a table with `kind` and its parameters, a class written in Python, or a program.
    /// Without it, that of the senders' stack.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "elephan_cc::Spec")]
    pub congestion_control: Option<elephan_cc::Spec>,
    /// What carries it: `tcp` (default); `roce`, RDMA over converged Ethernet, which has the congestion controls `dcqcn` (its
    /// default), `timely`, `hpcc`, `swift` and `none`; or `uec`, the transport of Ultra Ethernet, which has `nscc` (its default) and
    /// `none`. Kinds of datagrams are UDP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Transport")]
    pub transport: Option<Transport>,
    /// Version of IP below these connections or datagrams: `v4` or `v6`; without it that of the scenario.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "IpVersion")]
    pub ip: Option<IpVersion>,
    /// TCP options of these connections, at both ends, over those of the hosts. A `congestion_control` here means the same as that of
    /// the entry: it is that of the senders, and the receivers keep that of their hosts.
    #[serde(default)]
    pub tcp: Overrides,
    /// Whether the applications of these connections ask for TCP Fast Open: clients send what they have with the SYN, servers listen for it.
    /// The option `fast_open` of each end's stack says whether its host allows it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fast_open: bool,
    /// Options of these connections with `transport = "roce"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "elephan_roce::Options")]
    pub roce: Option<elephan_roce::Options>,
    /// Options of these connections with `transport = "uec"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "elephan_uec::Options")]
    pub uec: Option<elephan_uec::Options>,
    /// Priority of its packets in both directions, 0 to 7 as in IEEE 802.1Q: 7 is the most urgent. Queues of kind `prio`, `ets`, `wrr` and `trim` look at it, and PFC.
    #[serde(default)]
    #[schemars(range(min = 0, max = 7))]
    pub priority: u8,
    /// Share of each of its connections beside those of others, in both directions. Queues of kind `fq`, `scfq` and `drr` look at it.
    #[serde(default = "one_share")]
    #[schemars(range(min = 1, max = 65535))]
    pub weight: u16,
    #[serde(flatten)]
    pub kind: Kind,
}

fn one() -> u32 {
    1
}

fn one_share() -> u16 {
    1
}

/// Hosts by name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Members {
    One(String),
    Several(Vec<String>),
}

impl Members {
    pub fn names(&self) -> &[String] {
        match self {
            Members::One(name) => std::slice::from_ref(name),
            Members::Several(names) => names,
        }
    }
}

/// Which senders send to which receivers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FlowPairing {
    /// One to one if both sides have as many hosts, else each to the only host of the other side; for traffic with
    /// `destinations = "uniform"` all to all.
    #[default]
    Auto,
    /// All to all: each sender to every receiver except itself.
    All,
    /// Each sender to one receiver and each receiver from one sender, at random, never to itself.
    Permutation,
    /// Each sender to a random receiver, never to itself.
    Random,
}
