//! `leaf-spine`: `host[i] - leaf[j] - spine[k]`, every leaf joined to every spine (a folded Clos network of two stages).

use elephan_link::{Framing, queue::QueueSpec};
use elephan_units::{Rate, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Topology;
use super::builder::{Builder, is_zero, slower, tenth, towards_hosts};

/// Hosts `host[i]`, switches `leaf[j]` and `spine[k]`; the first `hosts_per_leaf` hosts are below `leaf[0]`, and so on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LeafSpine {
    /// Leaf switches.
    #[schemars(range(min = 1, max = 1024))]
    pub leaves: u32,
    /// Spine switches: so many paths are between two leaves.
    #[schemars(range(min = 1, max = 1024))]
    pub spines: u32,
    /// Hosts of a leaf.
    #[schemars(range(min = 1, max = 4096))]
    pub hosts_per_leaf: u32,
    /// Rate of the hosts' links.
    pub rate: Rate,
    /// Rate of the links between leaves and spines, if it differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Rate")]
    pub spine_rate: Option<Rate>,
    /// Whether the hosts are dealt out to the leaves in turn, so that each leaf is a rail: `host[i]` is below `leaf[i mod leaves]`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rails: bool,
    /// Links between leaves and spines that run at `slow_rate`, in both directions: the first ones, in the order of the leaves.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub slow_links: u32,
    /// Rate of slow links; without it a tenth of `spine_rate`, or of `rate`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Rate")]
    pub slow_rate: Option<Rate>,
    /// Delay of all links, one way.
    pub delay: Span,
    /// Queue of all ports of switches; those of hosts are without limit.
    #[serde(default)]
    pub queue: QueueSpec,
    /// Queue of the ports of leaves towards hosts, if it differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "QueueSpec")]
    pub host_queue: Option<QueueSpec>,
    /// What a bdp is in the limits of queues: their rate times this; without it their rate times the mean round-trip time of the flows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Span")]
    pub bdp_rtt: Option<Span>,
    /// Framing of all links.
    #[serde(default)]
    pub framing: Framing,
}

impl Topology for LeafSpine {
    fn build(&self, out: &mut Builder<'_>) {
        out.hosts("host", Some(("leaves", self.leaves.saturating_mul(self.hosts_per_leaf))));
        out.switches("leaf", Some(("leaves", self.leaves)), &[]);
        out.switches("spine", Some(("spines", self.spines)), &[]);
        let rate = out.value("rate", &self.rate);
        let spine_rate = self.spine_rate.map_or(rate.clone(), |rate| out.value("spine_rate", &rate));
        let keys = |pairing: &str, rate, out: &Builder<'_>| {
            let mut keys = vec![
                ("pairing", out.fixed(pairing)),
                ("rate", rate),
                ("delay", out.value("delay", &self.delay)),
                ("framing", out.value("framing", &self.framing)),
            ];
            keys.extend(out.given.get("bdp_rtt").map(|rtt| ("bdp_rtt", rtt.clone())));
            keys
        };
        let slow_rate = out.value("slow_rate", &self.slow_rate.unwrap_or(tenth(self.spine_rate.unwrap_or(self.rate))));
        let pairing = if self.rails { "cyclic" } else { "blocks" };
        let (mut below, mut above) = (keys(pairing, rate, out), keys("all", spine_rate, out));
        below.extend(towards_hosts(out.given).map(|down| ("backward", down)));
        above.push(("queue", out.value("queue", &self.queue)));
        let slow = (0..self.leaves).flat_map(|leaf| (0..self.spines).map(move |spine| (leaf, spine)));
        let ends = slow
            .take(self.slow_links as usize)
            .map(|(leaf, spine)| (format!("leaf[{leaf}]"), format!("spine[{spine}]")));
        above.extend(slower(ends, &slow_rate).map(|ports| ("ports", ports)));
        out.link("host", "leaf", below);
        out.link("leaf", "spine", above);
    }
}
