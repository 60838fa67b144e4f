//! What a run gave: tables, summary, and the scenario with every default.

use std::path::Path;
use std::time::Duration;

use elephan_record::Recorder;
use elephan_scenario::Resolved;
use elephan_units::Time;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::Value;

use crate::errors::{guard, guard_long, output_error};
use crate::json;
use crate::scenario;
use crate::tables::Table;

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<RunResult>()
}

/// What takes the tables: files in a folder, or memory.
pub fn recorder(folder: Option<&Path>) -> PyResult<Recorder> {
    match folder {
        Some(folder) => Recorder::to_folder(folder).map_err(output_error),
        None => Ok(Recorder::memory()),
    }
}

/// What a run gave.
#[pyclass(module = "elephan._core", name = "Result", frozen)]
pub struct RunResult {
    summary: Value,
    tables: Py<PyDict>,
    /// Kept as it is: few runs of a sweep are asked for its text.
    resolved: Resolved,
    /// Wall time of the engine alone, seconds.
    #[pyo3(get)]
    wall_s: f64,
    #[pyo3(get)]
    events: u64,
    #[pyo3(get)]
    packet_hops: u64,
    /// Up to when another run has simulated it, seconds of its own time; 0 unless it is a branch.
    #[pyo3(get)]
    shared_s: f64,
    /// The capture files, as paths in the folder.
    #[pyo3(get)]
    captures: Vec<String>,
}

#[pymethods]
impl RunResult {
    /// The summary as JSON.
    #[getter]
    fn summary(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| guard_long(None, || json::text(&self.summary)))
    }

    /// The resolved scenario in TOML, every default spelled out.
    #[getter]
    fn resolved_toml(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| guard_long(None, || Ok(self.resolved.toml())))
    }

    /// The values of the resolved scenario as JSON.
    #[getter]
    fn resolved(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| guard_long(None, || json::text(&self.resolved.values)))
    }

    /// Parameters with their origin and overrides dropped, as JSON.
    #[getter]
    fn provenance(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| guard_long(None, || json::text(&scenario::provenance(&self.resolved))))
    }

    /// The tables by name, for `pyarrow.table`; empty when they were written to a folder.
    #[getter]
    fn tables(&self, py: Python<'_>) -> Py<PyDict> {
        self.tables.clone_ref(py)
    }
}

/// A finished run before it meets Python.
pub struct Finished {
    pub resolved: Resolved,
    pub summary: Value,
    pub recorder: Recorder,
    /// Up to when another run has simulated it.
    pub shared: Time,
    pub wall: Duration,
}

impl Finished {
    /// Closes the tables and hands over what there is.
    pub fn result(self, py: Python<'_>) -> PyResult<RunResult> {
        let (captures, in_folder) = (self.recorder.captures().to_vec(), self.recorder.is_in_folder());
        let finished = py.detach(|| guard(|| self.recorder.finish().map_err(output_error)))?;
        let tables = PyDict::new(py);
        for table in finished.into_iter().filter(|_| !in_folder) {
            tables.set_item(table.name, Table(table))?;
        }
        let count = |name: &str| self.summary[name].as_u64().unwrap_or_default();
        Ok(RunResult {
            events: count("events"),
            packet_hops: count("packet_hops"),
            captures,
            tables: tables.unbind(),
            resolved: self.resolved,
            wall_s: self.wall.as_secs_f64(),
            shared_s: self.shared.seconds(),
            summary: self.summary,
        })
    }
}
