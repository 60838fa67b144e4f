//! Whose generator sends on a flow: its own, or one of its sender that draws a flow for each offer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Shared;

/// Where what a sender sends goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Destinations {
    /// Every flow has its own load and its own random times.
    #[default]
    Each,
    /// Each sender has one load; every message or frame goes to one of its flows, each equally likely.
    Uniform,
}

impl Destinations {
    pub(crate) fn shared(self) -> Option<Shared> {
        (self == Destinations::Uniform).then_some(Shared::Sender)
    }
}
