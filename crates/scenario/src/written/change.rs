//! `[[change]]`.

use elephan_units::Span;
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// What is different from some time on: a link slows down, another congestion control takes over. What is not named stays as it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Change")]
pub struct ChangeWords {
    /// When; of several entries for one time the later one wins.
    pub at: Span,
    /// Paths, written as in overrides, with their new values: `{ "links.left->right.rate" = "5 Mbps" }`. A link's `rate`, `up`,
    /// `delay`, `loss` and the `limit` and `mark_above` of its queue can change, each way or of one direction
    /// (`links.left->right.forward.rate`), and a traffic entry's `congestion_control`. `links.a->b` is a link declared between
    /// `a` and `b`, both ways; if it is declared between `b` and `a`, the one port that sends from `a` to `b`. A limit in `bdp`
    /// keeps its bytes unless it is set again.
    pub set: IndexMap<String, Json>,
}
