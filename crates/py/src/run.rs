//! One run: text in, tables out, watched from Python.

use std::path::{Path, PathBuf};
use std::time::Instant;

use elephan_scenario::{Plan, Resolved, Source};
use elephan_units::Time;
use pyo3::prelude::*;

use crate::errors::{guard_long, scenario_errors};
use crate::guest::Loader;
use crate::network;
use crate::outcome::{Finished, RunResult, recorder};
use crate::scenario::{self, Overrides};
use crate::watcher::{Cancel, Watcher};

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(run, module)?)
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
    let loader = Loader::of_source(&name, agreed.as_ref().map(|agreed| agreed.clone_ref(py)));
    let source = scenario::source(text, name, format, agreed)?;
    let mut watcher = Watcher::new(cancel.map(|cancel| cancel.get().flag()), progress);
    let flag = watcher.flag.clone();
    let read = || {
        let overrides = overrides.to_overrides().map_err(scenario_errors)?;
        elephan_scenario::read(&source, &overrides, seed).map_err(scenario_errors)
    };
    let resolved = py.detach(|| guard_long(flag.clone(), read))?;
    let programs = network::programs(&resolved.plan, &loader)?;
    if !programs.is_empty() {
        return network::play(py, source, resolved, folder.as_deref(), watcher, programs);
    }
    py.detach(|| guard_long(flag, || execute(&source, resolved, folder.as_deref(), &mut watcher)))?.result(py)
}

fn execute(source: &Source, resolved: Resolved, folder: Option<&Path>, watcher: &mut Watcher) -> PyResult<Finished> {
    let recorder = recorder(folder)?;
    let plan: &Plan = &resolved.plan;
    let begin = Instant::now();
    let outcome = elephan_sim::run(resolved.plan.clone(), recorder, &mut |progress| watcher.look(progress, plan));
    let wall = begin.elapsed();
    let (summary, recorder) = outcome.map_err(|error| watcher.error(source, error))?;
    Ok(Finished { resolved, summary, recorder, shared: Time::ZERO, wall })
}
