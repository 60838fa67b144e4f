//! Branches of a run: the beginning that they have together is simulated once and kept.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use elephan_scenario::{Resolved, Source};
use elephan_sim::{Branches, Progress};
use elephan_units::{Time, parse_span};
use pyo3::prelude::*;

use crate::errors::{guard_long, scenario_error, scenario_errors};
use crate::outcome::{Finished, RunResult};
use crate::scenario::{self, Overrides};
use crate::watcher::{Cancel, Watcher};

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Beginning>()
}

/// What branches of one scenario begin with.
#[pyclass(module = "elephan._core", frozen)]
pub struct Beginning {
    source: Source,
    overrides: Overrides,
    seed: Option<u64>,
    branches: Mutex<Option<Branches>>,
}

#[pymethods]
impl Beginning {
    #[new]
    #[pyo3(signature = (text, name, format, overrides=Overrides::none(), seed=None, agreed=None))]
    fn new(
        text: String,
        name: String,
        format: &str,
        overrides: Overrides,
        seed: Option<u64>,
        agreed: Option<Py<PyAny>>,
    ) -> PyResult<Beginning> {
        let source = scenario::source(text, name, format, agreed)?;
        Ok(Beginning { source, overrides, seed, branches: Mutex::new(None) })
    }

    /// Runs a branch, whose scenario `overrides` make of this one, from the instant `at` on. `siblings` are overrides of other branches to
    /// come. A branch that begins otherwise, or that captures packets, is run from its start.
    #[pyo3(signature = (at, overrides, siblings=Vec::new(), folder=None, progress=None, cancel=None))]
    #[expect(clippy::too_many_arguments, reason = "the Python function names each")]
    fn branch(
        &self,
        py: Python<'_>,
        at: String,
        overrides: Overrides,
        siblings: Vec<Overrides>,
        folder: Option<PathBuf>,
        progress: Option<Py<PyAny>>,
        cancel: Option<&Bound<'_, Cancel>>,
    ) -> PyResult<RunResult> {
        let mut watcher = Watcher::new(cancel.map(|cancel| cancel.get().flag()), progress);
        let flag = watcher.flag.clone();
        let execute = || {
            let time = instant(&at)?;
            let mut branches = self.branches.lock().unwrap_or_else(PoisonError::into_inner);
            let branches = match &mut *branches {
                Some(branches) => branches,
                none => none.insert(Branches::of(self.read(&self.overrides)?.plan)),
            };
            if time >= branches.duration() {
                return Err(scenario_error(format!("at: {at} is not before the end of the run")));
            }
            let resolved = self.read(&overrides)?;
            let siblings = siblings.iter().map(|one| Ok(self.read(one)?.plan)).collect::<PyResult<Vec<_>>>()?;
            let plan = resolved.plan.clone();
            let begin = Instant::now();
            let watch = &mut |progress: &Progress<'_>| watcher.look(progress, &plan);
            let outcome = branches.run(time, plan.clone(), &siblings, folder.as_deref(), watch);
            let wall = begin.elapsed();
            let (summary, recorder, shared) = outcome.map_err(|error| watcher.error(&self.source, error))?;
            Ok(Finished { resolved, summary, recorder, shared, wall })
        };
        py.detach(|| guard_long(flag, execute))?.result(py)
    }
}

impl Beginning {
    fn read(&self, overrides: &Overrides) -> PyResult<Resolved> {
        let overrides = overrides.to_overrides().map_err(scenario_errors)?;
        elephan_scenario::read(&self.source, &overrides, self.seed).map_err(scenario_errors)
    }
}

/// An instant as text with a unit.
fn instant(text: &str) -> PyResult<Time> {
    let span = parse_span(text).map_err(|error| scenario_error(format!("at: {error}")))?;
    Ok(Time::ZERO + span)
}
