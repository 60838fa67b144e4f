//! `leaf-spine`: `host[i] - leaf[j] - spine[k]`, every leaf joined to every spine (a folded Clos network of two stages).

use elephan_link::{Framing, queue::QueueSpec};
use elephan_units::{Rate, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Topology;
use super::builder::{Builder, part};

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
    /// Delay of all links, one way.
    pub delay: Span,
    /// Queue of all ports of switches; those of hosts are without limit.
    #[serde(default)]
    pub queue: QueueSpec,
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
            vec![
                ("pairing", out.fixed(pairing)),
                ("rate", rate),
                ("delay", out.value("delay", &self.delay)),
                ("framing", out.value("framing", &self.framing)),
            ]
        };
        let (mut below, mut above) = (keys("blocks", rate, out), keys("all", spine_rate, out));
        below.extend(part(out.given, &["queue"]).map(|down| ("backward", down)));
        above.push(("queue", out.value("queue", &self.queue)));
        out.link("host", "leaf", below);
        out.link("leaf", "spine", above);
    }
}
