//! How a run is watched from Python, and stopped.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use elephan_scenario::{Plan, Source};
use elephan_sim::{Error, Progress};
use elephan_units::stop;
use pyo3::prelude::*;

use crate::errors::{output_error, run_error, scenario_error, stopped};
use crate::guest::Raised;

/// Python is asked for signals, and told how far the run is, at most so often.
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Cancel>()
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
            Error::Unreachable(..)
            | Error::ManyPaths(..)
            | Error::ManyPlaces(..)
            | Error::NoProgram(_)
            | Error::NoProgramHere(_) => scenario_error(format!("{}: {error}", source.name())),
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
