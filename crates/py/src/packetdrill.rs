//! Scripts of packetdrill: a text in, a report out.

use std::path::PathBuf;

use elephan_packetdrill::{Settings, run};
use pyo3::prelude::*;

use crate::errors::{guard_long, scenario_error};
use crate::json;

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(packetdrill, module)?)
}

/// Runs the text of a script over an endpoint of `stack`; returns the report as JSON. `folder` is where the files are that the
/// script's commands name.
#[pyfunction]
#[pyo3(signature = (text, folder=None, stack="linux", trace=false))]
fn packetdrill(py: Python<'_>, text: String, folder: Option<PathBuf>, stack: &str, trace: bool) -> PyResult<String> {
    let settings = Settings { stack: stack.to_owned(), trace };
    let report = py.detach(|| guard_long(None, || Ok(run(&text, folder.as_deref(), &settings))))?;
    match report {
        Some(report) => json::text(&report),
        None => {
            let known: Vec<&str> = elephan_tcp::stacks().iter().map(|(name, _)| *name).collect();
            Err(scenario_error(format!("no stack {stack:?}; there are {}", known.join(", "))))
        }
    }
}
