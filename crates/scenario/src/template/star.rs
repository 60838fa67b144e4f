//! `star`: `client[i] - sw - server[j]`.

use elephan_link::{FlowControl, Framing, queue::QueueSpec};
use elephan_units::{Bytes, Rate, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Topology;
use super::builder::{Builder, access_delay};
use crate::preset::Preset;
use crate::written::Delay;

/// Hosts `client[i]` and `server[i]`, switch `sw`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Star {
    /// Hosts `client[0]`, `client[1]` ...
    #[schemars(range(min = 1))]
    pub clients: u32,
    /// Hosts `server[0]` ...; with 1 (the default) it is called `server`, with 0 there is none.
    #[serde(default = "servers")]
    pub servers: u32,
    /// Rate of all links.
    pub rate: Rate,
    /// Delay of the clients' links, one way.
    #[serde(default = "delay")]
    pub delay: Delay,
    /// Rate of the servers' links, if it differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Rate")]
    pub server_rate: Option<Rate>,
    /// Delay of the servers' links, one way.
    #[serde(default = "delay")]
    pub server_delay: Delay,
    /// Queue of the switch's ports.
    #[serde(default)]
    pub queue: QueueSpec,
    /// Framing of all links.
    #[serde(default)]
    pub framing: Framing,
    /// A known switch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Preset")]
    pub preset: Option<Preset>,
    /// Bytes that the switch's ports share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Bytes")]
    pub memory: Option<Bytes>,
    /// Dynamic threshold: an egress port of the switch holds at most this times what is free of `memory`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "f64", extend("exclusiveMinimum" = 0, "x-source" = "Choudhury and Hahne 1998"))]
    pub alpha: Option<f64>,
    /// Forwarding latency of the switch.
    #[serde(default)]
    pub latency: Span,
    /// What the switch does before its buffers are full.
    #[serde(default)]
    pub flow_control: FlowControl,
}

fn servers() -> u32 {
    1
}

fn delay() -> Delay {
    Delay::Fixed(access_delay())
}

impl Topology for Star {
    fn build(&self, out: &mut Builder<'_>) {
        out.hosts("client", Some(("clients", self.clients)));
        out.switches("sw", None, &["preset", "memory", "alpha", "latency", "flow_control"]);
        let common = [("framing", out.value("framing", &self.framing)), ("queue", out.value("queue", &self.queue))];
        let rate = out.value("rate", &self.rate);
        let mut clients = vec![("rate", rate.clone()), ("delay", out.value("delay", &self.delay))];
        clients.extend(common.clone());
        out.link("client", "sw", clients);
        if self.servers > 0 {
            out.hosts("server", (self.servers > 1).then_some(("servers", self.servers)));
            let rate = self.server_rate.map_or(rate, |r| out.value("server_rate", &r));
            let mut servers = vec![("rate", rate), ("delay", out.value("server_delay", &self.server_delay))];
            servers.extend(common);
            out.link("sw", "server", servers);
        }
    }
}
