//! `[record]`.

use elephan_units::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is written down. The tables `flows` and `ports` (totals) always are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Record")]
pub struct RecordWords {
    /// Interval of the samples (`flow_samples`, `port_samples`, `switch_samples`); without it there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Span")]
    pub every: Option<Span>,
    /// Whether connections are sampled.
    pub flows: bool,
    /// Ports to sample: `"switches"` (where queues form), `"all"`, `"none"`, or an array of names such as
    /// `["sw->server", "client[0]->sw"]`.
    pub ports: PortChoice,
    /// Whether each message and transfer has its row in `messages`.
    pub messages: bool,
    /// Whether drops, pauses, timeouts and other rare things have their rows in `events`.
    pub events: bool,
}

impl Default for RecordWords {
    fn default() -> RecordWords {
        let ports = PortChoice::Set(RecordChoice::Switches);
        RecordWords { every: None, flows: true, ports, messages: true, events: true }
    }
}

/// Ports to sample.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum PortChoice {
    Set(RecordChoice),
    Listed(Vec<String>),
}

/// A set of ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RecordChoice {
    /// Ports of switches.
    Switches,
    /// Every port.
    All,
    /// No port.
    None,
}
