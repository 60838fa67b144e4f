//! `fat-tree`: the k-ary fat-tree of Al-Fares, Loukissas, Vahdat, "A scalable, commodity data center network
//! architecture", SIGCOMM 2008, section 3: k pods of k/2 edge and k/2 aggregation switches, (k/2)^2 core switches,
//! k^3/4 hosts.

use elephan_link::{Framing, queue::QueueSpec};
use elephan_units::{Rate, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Topology;
use super::builder::{Builder, is_zero, slower, tenth, towards_hosts};
use crate::tree::Node;

/// Hosts `host[i]`, switches `edge[i]`, `aggregation[i]` and `core[i]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FatTree {
    /// Ports of a switch, an even number: 4 makes 16 hosts, 8 makes 128.
    #[schemars(range(min = 2, max = 64), extend("multipleOf" = 2))]
    pub k: u32,
    /// Rate of all links.
    pub rate: Rate,
    /// Delay of all links, one way.
    pub delay: Span,
    /// Hosts below an edge switch, if they are not k / 2: twice as many oversubscribe the fabric 2:1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u32", range(min = 1, max = 1024))]
    pub hosts_per_edge: Option<u32>,
    /// Rate of the links between aggregation and core switches, if it differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Rate")]
    pub core_rate: Option<Rate>,
    /// Links between aggregation and core switches that run at `slow_rate`, in both directions: the first ones, in the order of the
    /// aggregation switches.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub slow_links: u32,
    /// Rate of slow links; without it a tenth of `rate`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Rate")]
    pub slow_rate: Option<Rate>,
    /// Queue of all ports of switches; those of hosts are without limit.
    #[serde(default)]
    pub queue: QueueSpec,
    /// Queue of the ports of edge switches towards hosts, if it differs.
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

impl Topology for FatTree {
    fn build(&self, out: &mut Builder<'_>) {
        let half = self.k / 2;
        let (below, key) = self.hosts_per_edge.map_or((half, "k"), |below| (below, "hosts_per_edge"));
        out.hosts("host", Some((key, self.k * half * below)));
        out.switches("edge", Some(("k", self.k * half)), &[]);
        out.switches("aggregation", Some(("k", self.k * half)), &[]);
        out.switches("core", Some(("k", half * half)), &[]);
        let rate = out.value("rate", &self.rate);
        let keys = |pairing: &str, rate: &Node, out: &Builder<'_>| {
            let mut keys = vec![
                ("pairing", out.fixed(pairing)),
                ("rate", rate.clone()),
                ("delay", out.value("delay", &self.delay)),
                ("framing", out.value("framing", &self.framing)),
            ];
            keys.extend(out.given.get("bdp_rtt").map(|rtt| ("bdp_rtt", rtt.clone())));
            keys
        };
        let mut blocks = keys("blocks", &rate, out);
        blocks.extend(towards_hosts(out.given).map(|down| ("backward", down)));
        let mut all = keys("all", &rate, out);
        all.push(("queue", out.value("queue", &self.queue)));
        let core_rate = self.core_rate.map_or(rate, |rate| out.value("core_rate", &rate));
        let mut to_core = keys("all", &core_rate, out);
        to_core.push(("queue", out.value("queue", &self.queue)));
        let slow_rate = out.value("slow_rate", &self.slow_rate.unwrap_or(tenth(self.rate)));
        out.link("host", "edge", blocks);
        for pod in 0..self.k {
            let (first, last) = (pod * half, pod * half + half - 1);
            out.link(&format!("edge[{first}-{last}]"), &format!("aggregation[{first}-{last}]"), all.clone());
        }
        for pod in 0..self.k {
            for a in 0..half {
                let (first, aggregation) = (a * half, pod * half + a);
                let slow = (0..half).filter(|link| aggregation * half + link < self.slow_links);
                let ends = slow.map(|link| (format!("aggregation[{aggregation}]"), format!("core[{}]", first + link)));
                let mut keys = to_core.clone();
                keys.extend(slower(ends, &slow_rate).map(|ports| ("ports", ports)));
                let core = format!("core[{first}-{}]", first + half - 1);
                out.link(&format!("aggregation[{aggregation}]"), &core, keys);
            }
        }
    }
}
