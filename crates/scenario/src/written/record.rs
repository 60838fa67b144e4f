//! `[record]`.

use elephan_units::{Bytes, Span};
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
    /// Whether all that a connection counts (the instruments of RFC 4898) is sampled too, in `statistics`: 90 columns.
    pub statistics: bool,
    /// Whether what Linux's `tcp_info` shows of the sending end of a connection is sampled too, in `info`, with its names and units.
    pub info: bool,
    /// Ports to sample: `"switches"` (where queues form), `"all"`, `"none"`, or an array of names such as
    /// `["sw->server", "client[0]->sw"]`.
    pub ports: PortChoice,
    /// Whether the time that packets wait in the queues of these ports is counted for each priority, and for L4S apart, in
    /// `queue_delays`. Such a port is simulated packet by packet.
    pub queue_delays: bool,
    /// Whether each message and transfer has its row in `messages`.
    pub messages: bool,
    /// Whether what each rank of a parallel program does has its row in `operations`: each computation, message and wait.
    pub operations: bool,
    /// Whether drops, pauses, timeouts and other rare things have their rows in `events`.
    pub events: bool,
    /// How many datagrams (or raw frames) of each stream its receiver logs in `datagrams`, with their numbers and times of arrival:
    /// the first so many that come, 0 for none.
    pub datagrams: u64,
    /// Packets that a run with a folder writes to pcapng files, one for each host or port: `"none"`, `"hosts"` (every
    /// host that sends or receives traffic), or an array of hosts and ports such as `["client[0]", "sw->server"]`.
    pub captures: CaptureChoice,
    /// Bytes of each captured packet that are kept, payload (zeros) included; without it the headers are.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Bytes")]
    pub snap: Option<Bytes>,
}

impl Default for RecordWords {
    fn default() -> RecordWords {
        let ports = PortChoice::Set(RecordChoice::Switches);
        let captures = CaptureChoice::Set(CaptureSet::None);
        RecordWords {
            every: None,
            flows: true,
            statistics: false,
            info: false,
            ports,
            queue_delays: false,
            messages: true,
            operations: false,
            events: true,
            datagrams: 0,
            captures,
            snap: None,
        }
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

/// Packets to capture.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum CaptureChoice {
    Set(CaptureSet),
    Listed(Vec<String>),
}

/// A set of places to capture at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CaptureSet {
    /// Every host that sends or receives traffic.
    Hosts,
    /// Nowhere.
    None,
}
