//! `[hosts.NAME]` and `[switches.NAME]`.

use elephan_host::disk::DiskSpec;
use elephan_host::{Cpu, Receive, Transmit};
use elephan_link::{FlowControl, PauseReaction};
use elephan_tcp::Overrides;
use elephan_units::{Bytes, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::preset::Preset;

/// One host, or a group of equal hosts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Host")]
pub struct Hosts {
    /// Hosts in the group, called `NAME[0]`, `NAME[1]` ...; without it there is one, called `NAME`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u32", range(min = 1))]
    pub count: Option<u32>,
    /// TCP stack; without it the scenario's `stack`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("enum" = super::stack_names()))]
    pub stack: Option<String>,
    /// TCP options, over those of the stack and of the scenario.
    #[serde(default)]
    pub tcp: Overrides,
    /// How the hosts' ports react to PAUSE frames.
    #[serde(default)]
    pub pause: PauseReaction,
    /// What stands between TCP and the wire on the way out, at each port of the host; without it nothing does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Transmit")]
    pub transmit: Option<Transmit>,
    /// What packets go through on the way in: ring, interrupts, backlog, reader; without it nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Receive")]
    pub receive: Option<Receive>,
    /// What packets cost the host's processor; without it nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Cpu")]
    pub cpu: Option<Cpu>,
    /// Each host's disk, which traffic of kind `disk-copy` reads and writes; without it files are read and written at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "DiskSpec")]
    pub disk: Option<DiskSpec>,
}

/// One switch, or a group of equal switches.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Switch")]
pub struct Switches {
    /// Switches in the group, called `NAME[0]`, `NAME[1]` ...; without it there is one, called `NAME`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u32", range(min = 1))]
    pub count: Option<u32>,
    /// A known switch that fills in the keys which are not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Preset")]
    pub preset: Option<Preset>,
    /// Bytes that all ports share, a frame charged from its last bit in to its last bit out; without it only the
    /// queues' own limits hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Bytes")]
    pub memory: Option<Bytes>,
    /// Size of the cells that the memory is given out in: a frame is charged whole cells; without it its bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Bytes")]
    pub cell: Option<Bytes>,
    /// Dynamic threshold: an egress port holds at most this times what is free of `memory`; without it a port may hold all of the
    /// memory. Not with `flow_control`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "f64", extend("exclusiveMinimum" = 0, "x-source" = "Choudhury and Hahne 1998"))]
    pub alpha: Option<f64>,
    /// From the last bit in to the egress queue, beyond store and forward.
    #[serde(default)]
    pub latency: Span,
    /// What the switch does before its buffers are full.
    #[serde(default)]
    pub flow_control: FlowControl,
    /// How the switch's ports react to PAUSE frames.
    #[serde(default)]
    pub pause: PauseReaction,
}
