//! `parking-lot`: `sender - router[0] - router[1] - ... - receiver`, and across each link between routers
//! `cross_sender[i] - router[i] - router[i+1] - cross_receiver[i]` (Floyd, "Connections with multiple congested gateways in
//! packet-switched networks", ACM CCR 21(5), 1991).

use elephan_link::{Concerned, Framing, Loss, queue::QueueSpec};
use elephan_units::{Rate, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Topology;
use super::builder::{Builder, access_delay, access_rate, part};
use crate::written::Delay;

/// Switches `router[0]` ... `router[hops]`; hosts `sender` and `receiver` at the ends of their chain, and for each link between two
/// switches the hosts `cross_sender[i]` and `cross_receiver[i]` at its ends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ParkingLot {
    /// Links between the switches, each a bottleneck with a pair of hosts of its own.
    #[schemars(range(min = 1, max = 1024))]
    pub hops: u32,
    /// Rate of each bottleneck link.
    pub rate: Rate,
    /// Delay of each bottleneck link, one way.
    pub delay: Span,
    /// Queue at each bottleneck, in both directions.
    #[serde(default)]
    pub queue: QueueSpec,
    /// Packets lost by each bottleneck link on the way to the receivers.
    #[serde(default)]
    pub loss: Loss,
    /// Which packets the loss concerns: `all`, or `data`, those that carry data.
    #[serde(default)]
    pub packets: Concerned,
    /// Rate of the access links.
    #[serde(default = "access_rate")]
    pub access_rate: Rate,
    /// Delay of the access links, one way and on each side.
    #[serde(default = "access_delay")]
    pub access_delay: Span,
    /// Delay of the cross pairs' access links, if it differs; a spread gives the i-th pair the i-th value on both sides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Delay")]
    pub cross_delay: Option<Delay>,
    /// Framing of all links.
    #[serde(default)]
    pub framing: Framing,
}

impl Topology for ParkingLot {
    fn build(&self, out: &mut Builder<'_>) {
        out.hosts("sender", None);
        out.hosts("receiver", None);
        out.hosts("cross_sender", Some(("hops", self.hops)));
        out.hosts("cross_receiver", Some(("hops", self.hops)));
        out.switches("router", Some(("hops", self.hops + 1)), &[]);
        let framing = out.value("framing", &self.framing);
        let access = |delay| {
            vec![("rate", out.value("access_rate", &self.access_rate)), ("delay", delay), ("framing", framing.clone())]
        };
        let delay = out.value("access_delay", &self.access_delay);
        let cross_delay = self.cross_delay.as_ref().map_or(delay.clone(), |delay| out.value("cross_delay", delay));
        let (long, cross) = (access(delay), access(cross_delay));
        let mut bottleneck = vec![
            ("rate", out.value("rate", &self.rate)),
            ("delay", out.value("delay", &self.delay)),
            ("framing", framing),
            ("queue", out.value("queue", &self.queue)),
        ];
        bottleneck.extend(part(out.given, &["packets", "loss"]).map(|forward| ("forward", forward)));
        let last = self.hops;
        let (nearer, farther) = (format!("router[0-{}]", last - 1), format!("router[1-{last}]"));
        out.link("sender", "router[0]", long.clone());
        for i in 0..last {
            out.link(&format!("router[{i}]"), &format!("router[{}]", i + 1), bottleneck.clone());
        }
        out.link(&format!("router[{last}]"), "receiver", long);
        out.link("cross_sender", &nearer, cross.clone());
        out.link(&farther, "cross_receiver", cross);
    }
}
