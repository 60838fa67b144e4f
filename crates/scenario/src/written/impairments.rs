//! What a link does to packets beside losing them: how entries of `[[links]]` say it, and how the plan keeps it.

use elephan_traffic::Distribution;
use elephan_units::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Packets that a link holds back, each by itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reorder {
    /// Share of the packets that are held back.
    #[schemars(range(min = 0, max = 1))]
    pub share: f64,
    /// How much later they arrive: a time, or a distribution that is drawn from for each. Longer than the gap between packets, or
    /// nothing overtakes them.
    pub extra: Distribution<Span>,
}

/// Extra delay of every packet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Jitter {
    /// The distribution of the extra delay, beside the link's own.
    pub extra: Distribution<Span>,
    /// Whether packets stay in order.
    #[serde(default)]
    pub order: Order,
}

/// Whether packets of different delay overtake each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// No packet arrives before one that was sent earlier: as where queues make the jitter.
    #[default]
    Keep,
    /// Each packet arrives when its own delay is over: as where packets take several paths.
    Free,
}
