//! The written scenario: the words of the language as types. Their doc comments are the reference page, their serde
//! defaults the documented defaults, their schema what the text is checked against.

mod answer;
mod change;
mod ecmp;
mod impairments;
mod links;
mod nodes;
mod record;
mod sweep;
mod traffic;

pub use answer::AnswerWords;
pub use change::ChangeWords;
pub use ecmp::Ecmp;
pub use impairments::{Jitter, Order, Reorder};
pub(crate) use links::PortOf;
pub use links::{Delay, DrivenRate, LinkPairing, LinkRate, LinkWords, Links, Spread};
pub use nodes::{Hosts, Switches};
pub use record::{CaptureChoice, CaptureSet, PortChoice, RecordChoice, RecordWords};
pub use sweep::{Axis, SweepWords, Zip};
pub use traffic::{FlowPairing, Members, TrafficWords};

use elephan_link::CongestionManagement;
use elephan_tcp::{IpVersion, Overrides};
use elephan_units::Span;
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::template::Template;

/// An experiment: hosts, switches, links, traffic, and what to record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// One line that says what this is.
    #[serde(default)]
    pub title: String,
    /// The question that the run answers, for the report.
    #[serde(default)]
    pub question: String,
    /// What answers the question: what to look for, the figure, the statistics.
    #[serde(default)]
    pub answer: AnswerWords,
    /// Simulated time.
    pub duration: Span,
    /// Goodput, delivered bytes and utilisation count from here on; tables hold everything.
    #[serde(default)]
    pub warmup: Span,
    /// All random draws follow from it. `--seed` overrides it; repetition i of a sweep uses seed + i.
    #[serde(default = "one")]
    #[schemars(range(min = 0, max = 9_223_372_036_854_775_807_u64))]
    pub seed: u64,
    /// Stack of the hosts that name none: what they run today.
    #[serde(default = "stack")]
    #[schemars(extend("enum" = stack_names()))]
    pub stack: String,
    /// TCP options of all hosts, over their stack; a host's own `tcp` wins key by key.
    #[serde(default)]
    pub tcp: Overrides,
    /// Version of IP below the traffic that names none: `v4` (default), with headers of 20 bytes, or `v6`, with headers of 40.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "IpVersion")]
    pub ip: Option<IpVersion>,
    /// A common topology; it adds hosts, switches and links, which the tables of the same names may refine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template: Option<Template>,
    /// Hosts by group name: `[hosts.client]`.
    #[serde(default)]
    pub hosts: IndexMap<String, Hosts>,
    /// Switches by group name: `[switches.sw]`.
    #[serde(default)]
    pub switches: IndexMap<String, Switches>,
    /// How several shortest paths are used.
    #[serde(default)]
    pub ecmp: Ecmp,
    /// Whether switches tell sources of their queues: `[congestion_management]`.
    #[serde(default)]
    pub congestion_management: CongestionManagement,
    /// Time from a link's going down or up until routes are made anew over the links that are up; without it they stay. Nodes
    /// that none leads to keep the old route, whose packets are dropped until the repair.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Span")]
    pub reroute: Option<Span>,
    /// Full-duplex links: `[[links]]`.
    #[serde(default)]
    pub links: Vec<Links>,
    /// Who sends what when: `[[traffic]]`.
    #[serde(default)]
    pub traffic: Vec<TrafficWords>,
    /// What changes during the run: `[[change]]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub change: Vec<ChangeWords>,
    /// What is written down.
    #[serde(default)]
    pub record: RecordWords,
    /// Parameters to vary; `run` ignores it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sweep: Option<SweepWords>,
}

/// For the schema.
fn stack_names() -> Vec<&'static str> {
    elephan_tcp::stacks().iter().map(|(name, _)| *name).collect()
}

fn one() -> u64 {
    1
}

fn stack() -> String {
    elephan_tcp::DEFAULT_STACK.to_owned()
}
