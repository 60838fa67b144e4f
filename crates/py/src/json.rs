//! Python values as JSON, by Python's own `json` module, and Rust values as JSON text.

use std::io::{self, Write};

use elephan_units::stop::Seldom;
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

/// Collects a text and looks, as it grows, whether the work is to stop.
#[derive(Default)]
struct Looking {
    text: Vec<u8>,
    seldom: Seldom,
}

impl Write for Looking {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.seldom.look();
        self.text.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A value as JSON text.
pub fn text<T: Serialize>(value: &T) -> PyResult<String> {
    let mut out = Looking::default();
    serde_json::to_writer(&mut out, value).map_err(run_error)?;
    String::from_utf8(out.text).map_err(run_error)
}
