//! Python values as JSON, by Python's own `json` module, and Rust values as JSON text.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::errors::{run_error, scenario_error};

/// A dict as a JSON table.
pub fn table(dict: &Bound<'_, PyDict>) -> PyResult<Map<String, Value>> {
    let text: String = dict.py().import("json")?.call_method1("dumps", (dict,))?.extract()?;
    serde_json::from_str(&text).map_err(scenario_error)
}

/// A value as JSON text.
pub fn text<T: Serialize>(value: &T) -> PyResult<String> {
    serde_json::to_string(value).map_err(run_error)
}
