//! One run: text in, tables out, watched from Python.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use elephan_record::Recorder;
use elephan_scenario::{Plan, Resolved, Source};
use elephan_sim::{Error, Progress};
use elephan_units::{Time, stop};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::Value;

use crate::errors::{guard, guard_long, output_error, run_error, scenario_error, scenario_errors, stopped};
use crate::guest::Raised;
use crate::json;
use crate::scenario::{self, Overrides};
use crate::tables::Table;

/// Python is asked for signals, and told how far the run is, at most so often.
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Cancel>()?;
    module.add_class::<RunResult>()?;
    module.add_function(wrap_pyfunction!(run, module)?)
}

/// A flag that stops runs; any thread may raise it, any number of runs may look at it.
#[pyclass(module = "elephan._core", frozen)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// The flag itself.
    pub fn flag(&self) -> Arc<AtomicBool> {
        self.0.clone()
    }
}

#[pymethods]
impl Cancel {
    #[new]
    fn new() -> Cancel {
        Cancel(Arc::new(AtomicBool::new(false)))
    }

    /// Asks the runs that hold this flag to stop.
    fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    #[getter]
    fn cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
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

/// Runs a scenario. Tables stay in memory or, with `folder`, an existing one, stream to `<table>.parquet` in it,
/// and captures to `captures/<name>.pcapng`.
/// `progress` is called with (share of the simulated time done, events) at most ten times a second.
#[pyfunction]
#[pyo3(signature = (text, name, format, overrides=Overrides::none(), seed=None, folder=None, progress=None, cancel=None, agreed=None))]
#[expect(clippy::too_many_arguments, reason = "the Python function names each")]
fn run(
    py: Python<'_>,
    text: String,
    name: String,
    format: &str,
    overrides: Overrides,
    seed: Option<u64>,
    folder: Option<PathBuf>,
    progress: Option<Py<PyAny>>,
    cancel: Option<&Bound<'_, Cancel>>,
    agreed: Option<Py<PyAny>>,
) -> PyResult<RunResult> {
    let source = scenario::source(text, name, format, agreed)?;
    let mut watcher = Watcher::new(cancel.map(|cancel| cancel.get().flag()), progress);
    let flag = watcher.flag.clone();
    let execute = || execute(&source, &overrides, seed, folder, &mut watcher);
    py.detach(|| guard_long(flag, execute))?.result(py)
}

fn execute(
    source: &Source,
    overrides: &Overrides,
    seed: Option<u64>,
    folder: Option<PathBuf>,
    watcher: &mut Watcher,
) -> PyResult<Finished> {
    let overrides = overrides.to_overrides().map_err(scenario_errors)?;
    let resolved = elephan_scenario::read(source, &overrides, seed).map_err(scenario_errors)?;
    let recorder = match folder {
        Some(folder) => Recorder::to_folder(&folder).map_err(output_error)?,
        None => Recorder::memory(),
    };
    let plan: &Plan = &resolved.plan;
    let begin = Instant::now();
    let outcome = elephan_sim::run(resolved.plan.clone(), recorder, &mut |progress| watcher.look(progress, plan));
    let wall = begin.elapsed();
    let (summary, recorder) = outcome.map_err(|error| watcher.error(source, error))?;
    Ok(Finished { resolved, summary, recorder, shared: Time::ZERO, wall })
}

/// Looks after a run on Python's behalf.
pub struct Watcher {
    pub flag: Option<Arc<AtomicBool>>,
    progress: Option<Py<PyAny>>,
    looked: Instant,
    /// What Python raised: a signal (Ctrl-C), or the error of `progress`.
    raised: Option<PyErr>,
}

impl Watcher {
    pub fn new(flag: Option<Arc<AtomicBool>>, progress: Option<Py<PyAny>>) -> Watcher {
        Watcher { flag, progress, looked: Instant::now(), raised: None }
    }

    /// Whether to go on.
    pub fn look(&mut self, progress: &Progress, plan: &Plan) -> bool {
        if self.flag.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed)) || stop::memory_is_short() {
            return false;
        }
        if self.looked.elapsed() < BETWEEN_LOOKS {
            return true;
        }
        self.looked = Instant::now();
        let share = progress.now.seconds() / plan.duration.seconds();
        let told = Python::attach(|py| {
            py.check_signals()?;
            self.progress.as_ref().map_or(Ok(()), |callback| callback.call1(py, (share, progress.events)).map(drop))
        });
        self.raised = told.err();
        self.raised.is_none()
    }

    /// Why a run has failed.
    pub fn error(&mut self, source: &Source, error: Error) -> PyErr {
        match error {
            Error::Stopped => self.raised.take().unwrap_or_else(stopped),
            Error::Unreachable(..) | Error::ManyPaths(..) | Error::ManyPlaces(..) | Error::NoProgram(_) => {
                scenario_error(format!("{}: {error}", source.name()))
            }
            Error::Guest { ref cause, .. } => guest_error(&error, cause.downcast_ref::<Raised>()),
            Error::Record(_) => output_error(error),
            Error::Conservation(_) => run_error(error),
        }
    }
}

/// A congestion control in Python has failed: its own exception is the cause.
fn guest_error(error: &Error, raised: Option<&Raised>) -> PyErr {
    let told = run_error(error);
    Python::attach(|py| told.set_cause(py, raised.map(|raised| raised.error.clone_ref(py))));
    told
}
