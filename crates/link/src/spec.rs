//! What a scenario says about links and switches: plain values with their documented defaults.

use crate::driven::TraceWords;
use elephan_units::{Bytes, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::accounts::HYSTERESIS_BYTES;

/// How a link frames an IP packet. Rates count bytes on the wire; queues and memories are charged without preamble and gap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Framing {
    /// IEEE 802.3: 14 B header, 4 B FCS, padded to 64 B; on the wire also 8 B preamble and 12 B gap (38 B a packet, 84 B at least).
    #[default]
    Ethernet,
    /// PPP as ns-3's point-to-point device: 2 B a packet.
    Ppp,
    /// No framing: the IP packet alone.
    None,
}

/// What a framing adds to an IP packet, and the smallest frame, on the wire and without preamble and gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameCost {
    wire_added: u16,
    wire_least: u16,
    charged_added: u16,
    charged_least: u16,
}

impl FrameCost {
    /// Returns the bytes of wire time of an IP packet of `ip_bytes`.
    ///
    /// ```
    /// use elephan_link::Framing;
    ///
    /// // 1 500 B, 18 B of Ethernet header and checksum, 20 B of preamble and gap.
    /// assert_eq!(Framing::Ethernet.cost().wire_bytes(1500), 1538);
    /// assert_eq!(Framing::Ethernet.cost().charged_bytes(1500), 1518);
    /// assert_eq!(Framing::Ethernet.cost().wire_bytes(40), 84);
    /// ```
    #[inline]
    pub fn wire_bytes(self, ip_bytes: u32) -> u32 {
        (ip_bytes + u32::from(self.wire_added)).max(u32::from(self.wire_least))
    }

    /// Returns the bytes charged to a queue or memory: the wire bytes without preamble and gap.
    #[inline]
    pub fn charged_bytes(self, ip_bytes: u32) -> u32 {
        (ip_bytes + u32::from(self.charged_added)).max(u32::from(self.charged_least))
    }
}

impl Framing {
    /// Returns what the framing costs.
    pub const fn cost(self) -> FrameCost {
        let (wire_added, wire_least, charged_added, charged_least) = match self {
            Framing::Ethernet => (38, 84, 18, 64),
            Framing::Ppp => (2, 0, 2, 0),
            Framing::None => (0, 0, 0, 0),
        };
        FrameCost { wire_added, wire_least, charged_added, charged_least }
    }

    /// As [`FrameCost::wire_bytes`].
    pub fn wire_bytes(self, ip_bytes: u32) -> u32 {
        self.cost().wire_bytes(ip_bytes)
    }

    /// As [`FrameCost::charged_bytes`].
    pub fn charged_bytes(self, ip_bytes: u32) -> u32 {
        self.cost().charged_bytes(ip_bytes)
    }
}

/// Which packets a link's own losses and other impairments concern. MAC control frames (PAUSE) are never concerned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Concerned {
    /// Every packet: data, acknowledgements, SYN and FIN.
    #[default]
    All,
    /// Packets that carry data: what response functions and other theory assume.
    Data,
}

/// Packets that a link loses by itself, after their transmission. `packets` says which are concerned.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Loss {
    /// Nothing is lost.
    #[default]
    None,
    /// Every N-th packet is lost. With `packets = "data"` only new data is counted, no retransmissions.
    Periodic(u64),
    /// Each packet is lost with this probability.
    Bernoulli(f64),
    /// Packets are lost in bursts (Gilbert 1960, Elliott 1963).
    GilbertElliott(GilbertElliott),
    /// The packets with these ordinals, from 1, are lost. With `packets = "data"` only new data is counted, no retransmissions.
    Listed(Vec<u64>),
    /// Each packet is lost with the probability that a trace has when its transmission ends.
    Trace(TraceWords),
}

impl Loss {
    /// Returns the share of the concerned packets that is lost, or `None` if it depends on the history of the process.
    pub fn mean(&self) -> Option<f64> {
        match self {
            Loss::None => Some(0.0),
            Loss::Periodic(every) => Some(1.0 / *every as f64),
            Loss::Bernoulli(probability) => Some(*probability),
            Loss::GilbertElliott(_) | Loss::Listed(_) | Loss::Trace(_) => None,
        }
    }
}

/// A link that is good or bad: before each packet that is concerned it may change, then the packet is lost with the probability of
/// the state. The share of bad packets is `to_bad / (to_bad + to_good)`, a bad period lasts `1 / to_good` packets.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GilbertElliott {
    /// Probability that a good link turns bad.
    pub to_bad: f64,
    /// Probability that a bad link turns good.
    pub to_good: f64,
    /// Loss probability while bad.
    #[serde(default = "always")]
    pub loss_bad: f64,
    /// Loss probability while good.
    #[serde(default)]
    pub loss_good: f64,
}

fn always() -> f64 {
    1.0
}

impl GilbertElliott {
    /// Returns the parameters by name.
    pub fn probabilities(&self) -> [(&'static str, f64); 4] {
        [("to_bad", self.to_bad), ("to_good", self.to_good), ("loss_bad", self.loss_bad), ("loss_good", self.loss_good)]
    }
}

/// What a switch does before its buffers are full.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum FlowControl {
    /// Frames that do not fit are dropped.
    #[default]
    None,
    /// IEEE 802.3x PAUSE (Annex 31B): stops all that a neighbour sends.
    Pause(Pause),
    /// Priority-based flow control (IEEE 802.1Qbb): stops single priorities of what a neighbour sends.
    Pfc(Pfc),
}

/// What is counted against the thresholds of PAUSE, and which neighbours are paused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PausePer {
    /// The shared memory, which must be given: all ports with frames in it are paused, and those from which more come.
    #[default]
    Memory,
    /// What waits in each egress queue: the ports that have sent to it within a refresh period are paused, and those from which more come for it.
    Egress,
    /// What has come in through each port and not yet left: this port is paused.
    Ingress,
}

/// Thresholds of IEEE 802.3x PAUSE in a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pause {
    /// What is counted.
    #[serde(default)]
    pub per: PausePer,
    /// PAUSE is sent when the occupancy reaches this.
    pub xoff: Bytes,
    /// Transmission is resumed (PAUSE with time 0) when the occupancy has fallen to this.
    pub xon: Bytes,
    /// `pause_time` of a PAUSE, in quanta of 512 bit times. \[assumed: the largest, as common switches send]
    #[serde(default = "quanta_default")]
    pub quanta: u16,
}

/// What is counted against the thresholds of PFC, and which neighbours are paused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PfcPer {
    /// What has come in through each port with each priority and not yet left: this priority of this port is paused.
    #[default]
    Ingress,
    /// What waits of each priority at each egress port: this priority is paused at the ports that have sent to it within a refresh period, and at those from which more comes for it.
    Egress,
}

/// IEEE 802.1Qbb in a switch. Thresholds are `xoff` and `xon`, or `alpha`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pfc {
    /// The lossless priorities; frames of the others are dropped when they do not fit.
    #[serde(default = "all_priorities")]
    #[schemars(length(min = 1, max = 8), inner(range(min = 0, max = 7)))]
    pub priorities: Vec<u8>,
    /// What is counted.
    #[serde(default)]
    pub per: PfcPer,
    /// A priority is paused when so much of it is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Bytes")]
    pub xoff: Option<Bytes>,
    /// It is resumed when its bytes have fallen to this; without it two full frames (3036 B) below `xoff`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Bytes", extend("x-source" = "Zhu et al. 2015 (DCQCN): two MTU"))]
    pub xon: Option<Bytes>,
    /// Instead of `xoff`: a priority of a port is paused when it has this times what is free of the shared memory (Choudhury and Hahne 1998).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "f64", extend("exclusiveMinimum" = 0))]
    pub alpha: Option<f64>,
    /// Memory of each lossless priority of each port for what still arrives after the pause is decided; without it what its link needs in the worst case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Bytes")]
    pub headroom: Option<Bytes>,
    /// What waits of a priority that a neighbour has paused for longer than this is dropped, and pauses of it are ignored until none has come for as long; without it never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Span")]
    pub watchdog: Option<Span>,
    /// Time of a pause, in quanta of 512 bit times. \[assumed: the largest, as common switches send]
    #[serde(default = "quanta_default")]
    pub quanta: u16,
}

impl Pfc {
    /// Returns the lossless priorities, one bit each.
    pub fn mask(&self) -> u8 {
        self.priorities.iter().fold(0, |mask, p| mask | 1 << (p & 7))
    }

    /// Returns XOFF and XON, if they are static.
    pub fn marks(&self) -> Option<(Bytes, Bytes)> {
        let xoff = self.xoff?;
        let below = || Bytes(xoff.get().saturating_sub(HYSTERESIS_BYTES));
        Some((xoff, self.xon.unwrap_or_else(below)))
    }
}

impl FlowControl {
    /// Returns the time of the pauses in quanta, if the switch sends any.
    pub fn quanta(&self) -> Option<u16> {
        match self {
            FlowControl::None => None,
            FlowControl::Pause(pause) => Some(pause.quanta),
            FlowControl::Pfc(pfc) => Some(pfc.quanta),
        }
    }
}

fn all_priorities() -> Vec<u8> {
    (0..8).collect()
}

fn quanta_default() -> u16 {
    0xFFFF
}

/// How a station reacts to a received PAUSE.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PauseReaction {
    /// Whether received PAUSE frames are obeyed.
    pub obey: bool,
    /// Quanta of 512 bit times from the receipt of a PAUSE until no new frame starts; 802.3 allows 60 at 10 Gb/s. \[assumed]
    pub response_quanta: u16,
}

impl Default for PauseReaction {
    fn default() -> Self {
        PauseReaction { obey: true, response_quanta: 10 }
    }
}

/// The forwarding latency of a switch unless a scenario gives one: none beyond store and forward.
pub const SWITCH_LATENCY: Span = Span::ZERO;
