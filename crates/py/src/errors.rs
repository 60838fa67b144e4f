//! Errors and panics as Python exceptions.
//!
//! A panic is a defect of elephan, never the user's: it is caught at the boundary and raised as `RunError` with one line
//! that says where. The panic hook is silent for panics that are caught here, and as before for all others.

use std::cell::{Cell, RefCell};
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use elephan_scenario::Errors;
use elephan_units::stop;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::{create_exception, import_exception};

use crate::memory;

// The package's own error, so that what the stepping classes raise needs no translation.
import_exception!(elephan.base.errors, InputError);
import_exception!(elephan.base.errors, OutputError);
pub use InputError as ScenarioError;

create_exception!(elephan._core, RunError, PyException, "A run failed.");
create_exception!(elephan._core, Cancelled, RunError, "A run was stopped through its Cancel flag.");

thread_local! {
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    static PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Adds the exceptions to the module and takes over the panic hook.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("ScenarioError", py.get_type::<ScenarioError>())?;
    module.add("RunError", py.get_type::<RunError>())?;
    module.add("Cancelled", py.get_type::<Cancelled>())?;
    let previous = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if DEPTH.get() == 0 {
            previous(info);
        } else {
            PANIC.with_borrow_mut(|slot| *slot = Some(describe(info)));
        }
    }));
    Ok(())
}

fn describe(info: &PanicHookInfo<'_>) -> String {
    let text = info.payload_as_str().unwrap_or("no message").lines().next().unwrap_or_default().to_string();
    match info.location() {
        Some(place) => format!("{text} ({}:{})", place.file(), place.line()),
        None => text,
    }
}

/// Runs `body`; a panic in it becomes a `RunError`. Work that waits for it is not left from within it.
pub fn guard<T>(body: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    DEPTH.set(DEPTH.get() + 1);
    // A panic leaves the objects of the call half-changed at worst: they are plain data, safe to look at and to drop.
    let outcome = panic::catch_unwind(AssertUnwindSafe(|| stop::unwatched(body)));
    DEPTH.set(DEPTH.get() - 1);
    if stop::memory_is_short() {
        // What was short is given back by now; if it is not, the next call says so.
        let _ = memory::refill();
    }
    outcome.unwrap_or_else(|_| {
        let what = PANIC.with_borrow_mut(Option::take).unwrap_or_default();
        Err(RunError::new_err(format!("internal error, please report it with the scenario: {what}")))
    })
}

/// As [`guard`], for work that may take long: it ends when `flag` is raised, when a signal's handler raises in Python, or when memory
/// is short.
pub fn guard_long<T>(flag: Option<Arc<AtomicBool>>, body: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    memory::refill()?;
    guard(|| {
        let raised = Rc::new(RefCell::new(None));
        let seen = raised.clone();
        let ask = move || {
            let outcome = Python::attach(|py| py.check_signals());
            *seen.borrow_mut() = outcome.err();
            seen.borrow().is_none()
        };
        let outcome = stop::stoppable(&flag.unwrap_or_default(), Some(Box::new(ask)), body);
        outcome.unwrap_or_else(|_| Err(raised.take().unwrap_or_else(stopped)))
    })
}

/// Why work has stopped, if it was no signal: memory is short, or somebody has raised its flag.
pub fn stopped() -> PyErr {
    if stop::memory_is_short() { memory::error() } else { Cancelled::new_err("stopped") }
}

/// An error of the user's input.
pub fn scenario_error(error: impl std::fmt::Display) -> PyErr {
    ScenarioError::new_err(error.to_string())
}

/// The errors of a scenario: the first as the message, which is one line, and all of them as the list `errors`.
pub fn scenario_errors(Errors(all): Errors) -> PyErr {
    let lines: Vec<String> = all.iter().map(ToString::to_string).collect();
    let first = lines.first().map_or("", String::as_str);
    let message = match lines.len() {
        0 | 1 => first.to_owned(),
        // The last of a list that ends early counts what is not in it.
        _ if all.len() > elephan_scenario::ERRORS_MAX => format!("{first} (and many more)"),
        lines => format!("{first} (and {} more)", lines - 1),
    };
    let error = ScenarioError::new_err(message);
    Python::attach(|py| match error.value(py).setattr("errors", lines) {
        Ok(()) => error,
        Err(other) => other,
    })
}

/// A table or capture that the system did not take: a full disk says nothing about the run.
pub fn output_error(error: impl std::fmt::Display) -> PyErr {
    OutputError::new_err(error.to_string())
}

/// An error of a run.
pub fn run_error(error: impl std::fmt::Display) -> PyErr {
    RunError::new_err(error.to_string())
}
