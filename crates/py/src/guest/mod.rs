//! Congestion controls written in Python, and programs: found by `elephan.scenario.guest`, driven through the controllers' own trait.

mod base;
mod controller;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use elephan_cc::guest::{Factory, Interpreter, Spec, Words};
use elephan_cc::{Controller, fuzz, slow_start};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Map, Value};

pub use controller::Raised;
use controller::{Class, Hooks, Maker};

use crate::errors::{ScenarioError, guard_long, run_error, scenario_error};
use crate::json;

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<base::Guest>()?;
    module.add_class::<base::AckView>()?;
    module.add_class::<base::RoundView>()?;
    module.add_class::<base::CongestionView>()?;
    module.add_function(wrap_pyfunction!(check_guest, module)?)
}

/// Python, looking for classes: files relative to a folder, that of the scenario. What may be loaded, `elephan.trust` decides.
#[derive(Debug)]
pub struct Loader {
    folder: Option<String>,
    /// What the caller lets run, an `elephan.trust.Trust`; without it what lies beside the scenario.
    agreed: Option<Py<PyAny>>,
    /// The words are the caller's own, not those of a scenario.
    own: bool,
    strict: bool,
}

impl Loader {
    /// For a scenario called `name`, which is its path if it is a file.
    pub fn of_source(name: &str, agreed: Option<Py<PyAny>>) -> Loader {
        let path = std::path::Path::new(name);
        let folder = path.parent().filter(|_| !name.starts_with('<')).map(|folder| folder.display().to_string());
        Loader { folder, agreed, own: false, strict: false }
    }

    /// For what a caller steps by hand.
    pub fn of_caller() -> Loader {
        Loader { folder: None, agreed: None, own: true, strict: false }
    }

    /// The function that a scenario names for a host to run, with its keywords bound.
    pub fn coroutine(&self, function: &str, params: &Map<String, Value>) -> PyResult<Py<PyAny>> {
        let more = json::text(params)?;
        Python::attach(|py| {
            let agreed = self.agreed.as_ref().map(|agreed| agreed.clone_ref(py));
            let asked = (function, more, self.folder.clone(), agreed, self.own);
            Ok(py.import("elephan.scenario.coroutine")?.call_method1("load", asked)?.unbind())
        })
    }

    fn class(&self, spec: &Spec) -> PyResult<Class> {
        type Found = (Py<PyAny>, String, Vec<String>, bool, bool, Vec<String>);
        let (function, named, more) = match &spec.words {
            Words::Class(class) => ("load", &class.python, json::text(&class.params)?),
            Words::Program(program) => ("load_program", &program.program, json::text(program)?),
        };
        Python::attach(|py| {
            let agreed = self.agreed.as_ref().map(|agreed| agreed.clone_ref(py));
            let asked = (named, more, self.folder.clone(), agreed, self.own);
            let found = py.import("elephan.scenario.guest")?.call_method1(function, asked)?;
            let (make, class, hooks, slow_start, measures_rate, states): Found = found.extract()?;
            let has = |hook: &str| hooks.iter().any(|name| name == hook);
            Ok(Class {
                make,
                class,
                name: spec.name().to_owned(),
                hooks: Hooks {
                    on_sent: has("on_sent"),
                    on_delivery: has("on_delivery"),
                    on_ack: has("on_ack"),
                    on_round: has("on_round"),
                    on_undo: has("on_undo"),
                    on_timer: has("on_timer"),
                },
                slow_start,
                measures_rate,
                states: states.into_iter().map(interned).collect(),
                strict: self.strict,
            })
        })
    }
}

impl Interpreter for Loader {
    fn load(&self, spec: &Spec) -> Result<Arc<dyn Factory>, String> {
        self.class(spec).map(|class| Arc::new(Maker(Arc::new(class))) as Arc<dyn Factory>).map_err(first_line)
    }

    fn look_for(&self, function: &str, params: &Map<String, Value>) -> Result<(), String> {
        self.coroutine(function, params).map(drop).map_err(first_line)
    }
}

/// The first line of what Python raised.
fn first_line(error: PyErr) -> String {
    let text = Python::attach(|py| error.value(py).to_string());
    text.lines().next().unwrap_or_default().to_owned()
}

/// Names of internals live as long as the program; there are as many as classes have.
fn interned(name: String) -> &'static str {
    static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = names.get(name.as_str()) {
        return known;
    }
    let name: &'static str = Box::leak(name.into_boxed_str());
    names.insert(name);
    name
}

/// The controller that a stepping class was given: a name with parameters, or the words of a guest.
pub fn congestion_control(kind: &Bound<'_, PyAny>, params: &Map<String, Value>) -> PyResult<elephan_cc::Spec> {
    if let Ok(name) = kind.extract::<String>() {
        return elephan_cc::Spec::with(&name, params).map_err(scenario_error);
    }
    let table = json::table(kind.cast::<PyDict>().map_err(PyErr::from)?)?;
    let mut spec = serde_json::from_value(Value::Object(table)).map_err(scenario_error)?;
    bind(&mut spec, &Loader::of_caller())?;
    Ok(spec)
}

/// Finds the class that `spec` names, if it is a guest.
pub fn bind(spec: &mut elephan_cc::Spec, loader: &Loader) -> PyResult<()> {
    if let elephan_cc::Spec::Guest(guest) = spec {
        let factory =
            loader.load(guest).map_err(|line| ScenarioError::new_err(format!("{}: {line}", guest.place().1)))?;
        *guest = guest.bound(factory);
    }
    Ok(())
}

/// What a guest has raised, if its connection is stepped by hand, is raised as it is.
pub fn raise(controller: &Controller) -> PyResult<()> {
    let Some(fault) = controller.fault() else { return Ok(()) };
    match fault.cause.downcast_ref::<Raised>() {
        Some(raised) => Err(Python::attach(|py| raised.error.clone_ref(py))),
        None => Err(run_error(&fault.cause)),
    }
}

/// Puts a guest through what built-in controllers are put through: `cases` drawn stories from `seed` on, each with one of the slow
/// starts in turn, then, with `acks`, ten simulated days of so many ACKs. None, or the failure as text with what the guest
/// raised, if anything.
#[pyfunction]
fn check_guest(
    py: Python<'_>,
    words: &Bound<'_, PyDict>,
    seed: u64,
    cases: u32,
    acks: u64,
) -> PyResult<Option<(String, Option<Py<PyAny>>)>> {
    let spec: Spec = serde_json::from_value(Value::Object(json::table(words)?)).map_err(scenario_error)?;
    let class = Arc::new(Loader { strict: true, ..Loader::of_caller() }.class(&spec)?);
    let rules = fuzz::Rules {
        sets_its_window: !class.slow_start,
        by_round: class.hooks.on_round,
        undoes_internals: class.hooks.on_undo,
        ..fuzz::Rules::default()
    };
    let spec = elephan_cc::Spec::Guest(spec.bound(Arc::new(Maker(class))));
    let make = |slow: &slow_start::Spec| Controller::with_slow_start(&spec, slow, Some(2.0), fuzz::MSS, fuzz::INITIAL);
    let outcome = py.detach(|| guard_long(None, || Ok(fuzz::all(&make, &rules, seed, cases, acks))))?;
    let Err(failure) = outcome else { return Ok(None) };
    let raised = failure.fault.as_ref().and_then(|fault| fault.cause.downcast_ref::<Raised>());
    Ok(Some((failure.to_string(), raised.map(|raised| raised.error.clone_ref(py).into_value(py).into_any()))))
}
