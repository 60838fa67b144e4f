//! `[sweep]`.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// Parameters to vary: each other key is the path of a parameter, its value the array of values to try, as in
/// `"switches.sw.memory" = ["24 KiB", "48 KiB"]`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Sweep")]
pub struct SweepWords {
    /// Runs of each variant; repetition i uses seed + i, the same for every variant.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub repetitions: u32,
    /// Take the parameters' values together, first with first, instead of every combination.
    #[serde(default)]
    pub zip: Zip,
    #[serde(flatten)]
    pub axes: IndexMap<String, Json>,
}

fn one() -> u32 {
    1
}

/// Whether values are taken together.
pub type Zip = bool;

/// A parameter and its values.
pub type Axis = (String, Vec<Json>);
