//! `[answer]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What answers the question of the scenario, for a reader. A simulation does not read it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "ScenarioAnswer")]
pub struct AnswerWords {
    /// What a reader of the report should look for in its first figure.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub look_for: String,
    /// The figure that answers, which stands first in the report: one of `elephan list figures`. Without it the first that fits.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub figure: String,
    /// The statistics that answer, which stand first on the terminal and in a sweep (`elephan list statistics`):
    /// `["utilisation.max", "goodput_bps.sum"]`. A sweep without them shows those that vary.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub statistics: Vec<String>,
}
