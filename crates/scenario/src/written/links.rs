//! `[[links]]`.

use elephan_link::{Concerned, Framing, Loss, queue::QueueSpec};
use elephan_traffic::Distribution;
use elephan_units::{Rate, Span};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Full-duplex links between two nodes or groups of nodes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Link")]
pub struct Links {
    /// Both ends: a group (`"client"`: all its members), a member (`"client[2]"`, counted from 0) or some
    /// (`"client[0-3]"`, both included).
    pub between: [String; 2],
    /// Which members are joined.
    #[serde(default)]
    pub pairing: LinkPairing,
    /// Rate on the wire, each way.
    pub rate: Rate,
    /// Propagation delay, each way: a time, `{ linear = ["1 ms", "5 ms"] }` spread evenly over the links of this
    /// entry, or `{ uniform = ["1 ms", "5 ms"] }` drawn for each.
    pub delay: Delay,
    /// How packets are framed: what the wire and the queues carry beside the IP packet.
    #[serde(default)]
    pub framing: Framing,
    /// Whether the link carries anything. A link that goes down loses what is on the wire, drops what waits at both ports and
    /// what comes to them (`link_down`), and forgets received PAUSE. It is up or down both ways.
    #[serde(default = "up")]
    pub up: bool,
    /// Which packets `loss`, `reorder`, `duplicate` and `jitter` concern: `all`, or `data`, those that carry data.
    #[serde(default)]
    pub packets: Concerned,
    /// Packets lost by the link itself, each way.
    #[serde(default)]
    pub loss: Loss,
    /// Packets that the link holds back so that later ones overtake them, each way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Reorder")]
    pub reorder: Option<Reorder>,
    /// Share of the packets that arrive twice, each way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "f64", range(min = 0, max = 1))]
    pub duplicate: Option<f64>,
    /// Extra delay of every packet, drawn for each, each way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Jitter")]
    pub jitter: Option<Jitter>,
    /// Queue of the switch ports of these links (both, if both ends are switches). Without a limit it is bounded only
    /// by the switch's memory.
    #[serde(default)]
    pub queue: QueueSpec,
    /// Queue of the hosts' ports: no limit unless given.
    #[serde(default)]
    pub host_queue: QueueSpec,
    /// The round-trip time that `"1 bdp"` refers to; without it the mean base RTT of the flows that cross the link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Span")]
    pub bdp_rtt: Option<Span>,
    /// What differs from the first end to the second.
    #[serde(default, skip_serializing_if = "Direction::is_empty")]
    pub forward: Direction,
    /// What differs from the second end to the first.
    #[serde(default, skip_serializing_if = "Direction::is_empty")]
    pub backward: Direction,
    /// What single ones of these ports have of their own, by the name that they have in tables: `{ "sw->client[0]" = { rate =
    /// "2 Gbps" } }`; members may be ranges (`"sw->client[0-3]"`). Overrides and changes may leave the entry out:
    /// `links.sw->client[0].rate`.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub ports: IndexMap<String, Direction>,
}

fn up() -> bool {
    true
}

/// What one direction of a link has of its own; a queue given here counts for a host's port too.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Direction {
    /// Rate on the wire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Rate")]
    pub rate: Option<Rate>,
    /// Propagation delay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Delay")]
    pub delay: Option<Delay>,
    /// Of one of `ports` only: whether its link carries anything, both ways.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "bool")]
    pub up: Option<bool>,
    /// Which packets `loss`, `reorder`, `duplicate` and `jitter` concern.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Concerned")]
    pub packets: Option<Concerned>,
    /// Packets lost by the link itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Loss")]
    pub loss: Option<Loss>,
    /// Packets that the link holds back so that later ones overtake them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Reorder")]
    pub reorder: Option<Reorder>,
    /// Share of the packets that arrive twice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "f64", range(min = 0, max = 1))]
    pub duplicate: Option<f64>,
    /// Extra delay of every packet, drawn for each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Jitter")]
    pub jitter: Option<Jitter>,
    /// Queue of the port that sends in this direction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "QueueSpec")]
    pub queue: Option<QueueSpec>,
    /// The round-trip time that `"1 bdp"` refers to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Span")]
    pub bdp_rtt: Option<Span>,
}

impl Direction {
    fn is_empty(&self) -> bool {
        *self == Direction::default()
    }
}

/// Packets that a link holds back, each by itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reorder {
    /// Share of the packets that are held back.
    #[schemars(range(min = 0, max = 1))]
    pub share: f64,
    /// How much later they arrive: a time, or a distribution that is drawn from for each. Longer than the gap between packets, or
    /// nothing overtakes them.
    pub extra: Distribution<Span>,
}

/// Extra delay of every packet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Jitter {
    /// The distribution of the extra delay, beside the link's own.
    pub extra: Distribution<Span>,
    /// Whether packets stay in order.
    #[serde(default)]
    pub order: Order,
}

/// Whether packets of different delay overtake each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// No packet arrives before one that was sent earlier: as where queues make the jitter.
    #[default]
    Keep,
    /// Each packet arrives when its own delay is over: as where packets take several paths.
    Free,
}

/// A propagation delay, or several over the links of one entry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Delay {
    /// The same for every link.
    Fixed(Span),
    Spread(Spread),
}

/// Delays of several links.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Spread {
    /// From the first value to the second in equal steps, to the nearest picosecond.
    Linear([Span; 2]),
    /// Drawn uniformly between both, for each link from its own random stream; both directions are equal.
    Uniform([Span; 2]),
}

/// Which members of two groups are joined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LinkPairing {
    /// One to one if both have as many members, else each to the only member of the other.
    #[default]
    Auto,
    /// Each member to every member of the other.
    All,
    /// The larger group in equal blocks, each block to one member of the smaller: hosts 0-3 to edge 0, 4-7 to edge 1.
    Blocks,
}
