//! `fat-tree`: the k-ary fat-tree of Al-Fares, Loukissas, Vahdat, "A scalable, commodity data center network
//! architecture", SIGCOMM 2008, section 3: k pods of k/2 edge and k/2 aggregation switches, (k/2)^2 core switches,
//! k^3/4 hosts.

use elephan_link::{Framing, queue::QueueSpec};
use elephan_units::{Rate, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Topology;
use super::builder::{Builder, part};

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
    /// Queue of all ports of switches; those of hosts are without limit.
    #[serde(default)]
    pub queue: QueueSpec,
    /// Framing of all links.
    #[serde(default)]
    pub framing: Framing,
}

impl Topology for FatTree {
    fn build(&self, out: &mut Builder<'_>) {
        let half = self.k / 2;
        out.hosts("host", Some(("k", self.k * half * half)));
        out.switches("edge", Some(("k", self.k * half)), &[]);
        out.switches("aggregation", Some(("k", self.k * half)), &[]);
        out.switches("core", Some(("k", half * half)), &[]);
        let keys = |pairing: &str, out: &Builder<'_>| {
            vec![
                ("pairing", out.fixed(pairing)),
                ("rate", out.value("rate", &self.rate)),
                ("delay", out.value("delay", &self.delay)),
                ("framing", out.value("framing", &self.framing)),
            ]
        };
        let mut blocks = keys("blocks", out);
        blocks.extend(part(out.given, &["queue"]).map(|down| ("backward", down)));
        let mut all = keys("all", out);
        all.push(("queue", out.value("queue", &self.queue)));
        out.link("host", "edge", blocks);
        for pod in 0..self.k {
            let (first, last) = (pod * half, pod * half + half - 1);
            out.link(&format!("edge[{first}-{last}]"), &format!("aggregation[{first}-{last}]"), all.clone());
        }
        for pod in 0..self.k {
            for a in 0..half {
                let core = format!("core[{}-{}]", a * half, a * half + half - 1);
                out.link(&format!("aggregation[{}]", pod * half + a), &core, all.clone());
            }
        }
    }
}
