//! How a scenario names a trace.

use elephan_units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A trace: the name of its file, or a table with more words.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum TraceWords {
    /// A file in Mahimahi's format (rates only) or CSV with the columns `time`, `rate`, `delay`, `loss`.
    File(String),
    Table(TraceTable),
}

impl TraceWords {
    /// Returns the trace with what its file has; `None` before the file is read.
    pub fn table(&self) -> Option<&TraceTable> {
        match self {
            TraceWords::Table(table) if table.text.is_some() => Some(table),
            _ => None,
        }
    }
}

/// A trace and how it is read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TraceTable {
    /// A file in Mahimahi's format (rates only) or CSV with the columns `time`, `rate`, `delay`, `loss`. Units are in the cells
    /// (`0.012 s`, `7.5 Mbps`, `1 %`) or in the heads (`time_s`, `rate_mbps`, `delay_ms`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub file: Option<String>,
    /// What the file has, in its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub text: Option<String>,
    /// What comes after the last time of the trace.
    #[serde(default)]
    pub after: After,
    /// What holds between two rows of CSV.
    #[serde(default)]
    pub between: Between,
    /// Bytes that a chance of Mahimahi's format carries: 1504 in its code, 1500 in its text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Bytes")]
    pub chance: Option<Bytes>,
    /// Bytes that a packet takes of a chance beside its own: 4 in Mahimahi's code (the packet information of a TUN device).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Bytes")]
    pub overhead: Option<Bytes>,
    /// Of a delay: whether packets may overtake those before them when the delay gets shorter. Without it they arrive with the last one
    /// before them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reorder: bool,
}

/// What comes after the last time of a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum After {
    /// The trace begins again, shifted by its last time.
    #[default]
    Repeat,
    /// The last value stays; of chances, those of the last millisecond come in each.
    Hold,
    /// Nothing is carried any more; delay and loss stay.
    End,
}

/// What holds between two rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Between {
    /// The value of the first row, until the second.
    #[default]
    Steps,
    /// A line from the first value to the second.
    Linear,
}
