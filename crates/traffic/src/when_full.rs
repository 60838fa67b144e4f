//! What becomes of a message that finds the send buffer full.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a message does that finds the send buffer full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WhenFull {
    /// It waits, uncounted, before the socket; messages keep arriving by the clock and wait behind it.
    #[default]
    Block,
    /// It waits, and the clock of arrivals stands still until its last byte has entered.
    PauseClock,
    /// It is dropped and counted; one that has begun to enter is kept.
    Drop,
}
