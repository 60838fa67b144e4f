//! What there is: registries, descriptions, schema, dictionary, version.

use pyo3::prelude::*;

use crate::errors::{ScenarioError, guard};
use crate::json;

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(listing, module)?)?;
    module.add_function(wrap_pyfunction!(model_known_as, module)?)?;
    module.add_function(wrap_pyfunction!(describe_cc, module)?)?;
    module.add_function(wrap_pyfunction!(data_dictionary, module)?)?;
    module.add_function(wrap_pyfunction!(version, module)?)
}

const KINDS: &str = "congestion-controls, stacks, queues, traffic, templates, disks";

/// The names in a registry, each with one line.
#[pyfunction]
fn listing(kind: &str) -> PyResult<Vec<(String, String)>> {
    let rows: Vec<(&str, &str)> = match kind {
        "congestion-controls" => elephan_cc::list().to_vec(),
        "stacks" => elephan_tcp::stacks().to_vec(),
        "queues" => elephan_link::queue::QUEUES.to_vec(),
        "traffic" => elephan_traffic::Kind::ALL.iter().map(|kind| (kind.name, kind.about)).collect(),
        "disks" => elephan_host::disk::PROFILES.iter().map(|profile| (profile.name, profile.about)).collect(),
        "templates" => elephan_scenario::template::TEMPLATES.to_vec(),
        _ => return Err(ScenarioError::new_err(format!("no list `{kind}`; there are {KINDS}"))),
    };
    Ok(rows.iter().map(|(name, line)| (name.to_string(), line.trim().to_string())).collect())
}

/// The name here of a model that papers and other tools call so, if it has another.
#[pyfunction]
fn model_known_as(word: &str) -> Option<&'static str> {
    elephan_scenario::model_known_as(word)
}

/// A congestion control as JSON: name, summary, parameters with default and source, states.
#[pyfunction]
fn describe_cc(name: &str) -> PyResult<String> {
    guard(|| {
        elephan_cc::Spec::named(name).map_err(crate::errors::scenario_error)?;
        json::text(&elephan_cc::describe(name))
    })
}

/// The data dictionary of the tables, Markdown.
#[pyfunction]
fn data_dictionary() -> String {
    elephan_record::data_dictionary()
}

/// The version of elephan.
#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}
