//! The options of a connection, as a scenario writes them.

use elephan_units::{Bytes, InvalidParameter, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What happens to packets that come out of order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Recovery {
    /// The receiver drops them, and the sender goes back to the first packet that is missing.
    #[default]
    GoBackN,
    /// The receiver keeps them, and the sender repeats those that are lost.
    SelectiveRepeat,
}

/// Options of RoCE connections.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Roce")]
pub struct Options {
    /// Payload of a full packet.
    #[schemars(extend("x-source" = "Zhu et al. 2015, Li et al. 2019"))]
    pub mtu: Bytes,
    /// Packets in order for one acknowledgement; the last packet of a message, and the last that a window allows, is acknowledged at once.
    #[schemars(extend("x-source" = "assumption"), range(min = 1, max = 1000))]
    pub ack_every: u32,
    /// Most that may be in flight, payload, beside what the congestion control says; without it there is no such limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Bytes")]
    pub window: Option<Bytes>,
    /// Without an acknowledgement for so long the sender goes back to the first packet that has none.
    #[schemars(extend("x-source" = "assumption: 4.096 us x 2^10 of the InfiniBand specification, rounded"))]
    pub timeout: Span,
    /// What happens to packets that come out of order: `go-back-n` or `selective-repeat`.
    #[schemars(extend("x-source" = "InfiniBand volume 1; Mittal et al. 2018"))]
    pub recovery: Recovery,
    /// How many packets may overtake one before selective repeat takes it for lost; where packets are sprayed over paths that differ,
    /// more than 0.
    #[schemars(extend("x-source" = "Mittal et al. 2018"), range(max = 100000))]
    pub reordering: u32,
    /// A missing packet is reported again after so long.
    #[schemars(extend("x-source" = "assumption: public simulators of HPCC"))]
    pub nak_interval: Span,
    /// Least time between two congestion notifications of a flow; unless given, what the congestion control needs: its
    /// `decrease_interval` if it has a shorter one, else 50 us.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Span", extend("x-source" = "Zhu et al. 2015"))]
    pub cnp_interval: Option<Span>,
    /// Whether data is ECN-capable, and marks are answered by notifications.
    pub ecn: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            mtu: Bytes(1000),
            ack_every: 1,
            window: None,
            timeout: Span::from_ms(4),
            recovery: Recovery::GoBackN,
            reordering: 0,
            nak_interval: Span::from_us(500),
            cnp_interval: None,
            ecn: true,
        }
    }
}

/// Least time between notifications of the paper's receiver (Zhu et al. 2015).
pub const CNP_INTERVAL: Span = Span::from_us(50);

/// Largest payload of a UDP datagram with the headers of RoCE and telemetry.
const MTU_MAX: u64 = 65_535 - 44 - 42;

impl Options {
    /// What cannot be, if anything.
    pub fn problem(&self) -> Option<InvalidParameter> {
        let of = |option: &'static str, reason: String| Some(InvalidParameter::new(option, reason));
        if self.mtu.0 == 0 || self.mtu.0 > MTU_MAX {
            return of("mtu", format!("\"{}\": a packet holds from 1 B to {MTU_MAX} B", self.mtu));
        }
        if self.ack_every == 0 {
            return of("ack_every", "0: at least every packet is acknowledged, 1".to_owned());
        }
        if self.timeout == Span::ZERO {
            return of("timeout", "\"0 s\": a sender that never waits repeats itself for ever".to_owned());
        }
        if self.reordering > 0 && self.recovery == Recovery::GoBackN {
            let reordering = self.reordering;
            return of("reordering", format!("{reordering}: goes with recovery = \"selective-repeat\""));
        }
        match self.window {
            Some(window) if window < self.mtu => {
                of("window", format!("\"{window}\": smaller than a packet, mtu \"{}\"", self.mtu))
            }
            _ => None,
        }
    }
}
