//! Python values as JSON, by Python's own `json` module, and Rust values as JSON text.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::errors::{run_error, scenario_error};

/// A dict as a JSON table.
pub fn table(dict: &Bound<'_, PyDict>) -> PyResult<Map<String, Value>> {
    let py = dict.py();
    let strict = PyDict::new(py);
    strict.set_item("allow_nan", false)?;
    let text = py.import("json")?.getattr("dumps")?.call((dict,), Some(&strict));
    let text: String = text.map_err(|error| scenario_error(error.value(py)))?.extract()?;
    serde_json::from_str(&text).map_err(scenario_error)
}

/// A value as JSON text.
pub fn text<T: Serialize>(value: &T) -> PyResult<String> {
    serde_json::to_string(value).map_err(run_error)
}
