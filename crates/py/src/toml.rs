//! Texts in TOML: their values, where each stands, and a scenario written as one.

use elephan_scenario::{Source, Step};
use pyo3::prelude::*;

use crate::errors::{ScenarioError, guard_long, scenario_errors};
use crate::json;
use crate::watcher::Cancel;

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(toml_values, module)?)?;
    module.add_function(wrap_pyfunction!(to_toml, module)?)?;
    module.add_class::<TomlText>()
}

/// The values of a text in TOML as JSON, with no check but that of its syntax.
#[pyfunction]
#[pyo3(signature = (text, cancel=None))]
fn toml_values(py: Python<'_>, text: String, cancel: Option<&Bound<'_, Cancel>>) -> PyResult<String> {
    let flag = cancel.map(|cancel| cancel.get().flag());
    py.detach(|| {
        guard_long(flag, || json::text(&Source::toml("<toml text>", text).to_json().map_err(scenario_errors)?))
    })
}

/// A scenario in JSON as TOML, laid out as a resolved one is.
#[pyfunction]
fn to_toml(py: Python<'_>, values: &str) -> PyResult<String> {
    let bad = |error| ScenarioError::new_err(format!("a scenario is a JSON object: {error}"));
    py.detach(|| {
        guard_long(None, || serde_json::from_str(values).map(|values| elephan_scenario::to_toml(&values)).map_err(bad))
    })
}

/// A text in TOML that has been read.
#[pyclass(module = "elephan._core", frozen)]
struct TomlText(elephan_scenario::TomlText);

/// A step of a path, as Python has it.
#[derive(FromPyObject)]
enum StepTo {
    Index(usize),
    Key(String),
}

#[pymethods]
impl TomlText {
    #[new]
    fn new(py: Python<'_>, name: &str, text: &str) -> PyResult<TomlText> {
        let read = || elephan_scenario::TomlText::read(name, text).map(TomlText).map_err(scenario_errors);
        py.detach(|| guard_long(None, read))
    }

    /// The values of the text as JSON.
    fn values(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| guard_long(None, || json::text(&self.0.values())))
    }

    /// The line of a key or an item, counted from 1; of one that is not written, that of the table or array around it.
    fn line(&self, path: Vec<StepTo>) -> usize {
        let step = |step| match step {
            StepTo::Index(i) => Step::from(i),
            StepTo::Key(key) => Step::from(key.as_str()),
        };
        self.0.line(&path.into_iter().map(step).collect::<Vec<_>>())
    }
}
