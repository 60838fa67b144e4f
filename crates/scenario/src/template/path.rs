//! `path`: `sender - router[0] - router[1] - ... - receiver`.

use elephan_link::{Concerned, Framing, Loss, queue::QueueSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::Topology;
use super::builder::{Builder, part};
use crate::tree::{Node, Origin};
use crate::written::{Delay, LinkRate};

/// Hosts `sender` and `receiver`; between the links the switches `router[i]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PathOfHops {
    /// The links from the sender to the receiver, two at least, as in
    /// `[{ rate = "10 Gbps", delay = "0 s" }, { rate = "1 Gbps", delay = "98 ms" }]`.
    #[schemars(length(min = 2))]
    pub hops: Vec<Hop>,
    /// Framing of all links.
    #[serde(default)]
    pub framing: Framing,
}

/// One link of a path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Hop {
    /// Rate of the link: a rate, or `{ trace = "file" }`.
    pub rate: LinkRate,
    /// Delay of the link, one way: a time, or `{ trace = "file.csv" }`.
    pub delay: Delay,
    /// Queue of the port that sends into this link towards the receiver.
    #[serde(default)]
    pub queue: QueueSpec,
    /// Packets lost by the link on the way to the receiver.
    #[serde(default)]
    pub loss: Loss,
    /// Which packets the loss concerns: `all`, or `data`, those that carry data.
    #[serde(default)]
    pub packets: Concerned,
}

impl Topology for PathOfHops {
    fn build(&self, out: &mut Builder<'_>) {
        out.hosts("sender", None);
        out.hosts("receiver", None);
        let last = self.hops.len().saturating_sub(1);
        out.switches("router", Some(("hops", last as u32)), &[]);
        let framing = out.value("framing", &self.framing);
        let given: Vec<Node> = out.given.get("hops").map(|h| h.items().to_vec()).unwrap_or_default();
        for (i, (hop, given)) in self.hops.iter().zip(&given).enumerate() {
            let from = if i == 0 { "sender".to_owned() } else { format!("router[{}]", i - 1) };
            let to = if i == last { "receiver".to_owned() } else { format!("router[{i}]") };
            let own = |key: &str, default: Json| {
                given.get(key).cloned().unwrap_or_else(|| Node::from_json(&default, Origin::Filled))
            };
            let mut keys = vec![
                ("rate", own("rate", serde_json::to_value(&hop.rate).unwrap_or_default())),
                ("delay", own("delay", serde_json::to_value(&hop.delay).unwrap_or_default())),
                ("framing", framing.clone()),
            ];
            keys.extend(part(given, &["queue", "packets", "loss"]).map(|forward| ("forward", forward)));
            out.link(&from, &to, keys);
        }
    }
}
