//! `ecmp`: which of several shortest paths packets take.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How several shortest paths between two hosts are used (equal-cost multipath, RFC 2992). Both directions of a connection
/// choose for themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ecmp {
    /// Each connection or stream on one path: at each switch the links that lead on are equally likely.
    #[default]
    Flow,
    /// Each packet on its own path, so that packets overtake each other.
    Packet,
    /// All on the path over the links that are named first.
    None,
}
