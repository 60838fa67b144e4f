//! By what a congestion point goes: its queue alone, or the sources of the frames too (`fair.rs`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether feedback goes by sources.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Fairness {
    /// It is the queue's alone, as in 802.1Qau.
    #[default]
    None,
    /// AF-QCN (Kabbani et al. 2010): the more a source sends above its share, the more it is told to slow down.
    AfQcn,
    /// FQCN (Zhang and Ansari 2011): all sources above their share are told, each its part.
    Fqcn,
}
