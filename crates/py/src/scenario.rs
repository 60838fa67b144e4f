//! Scenario text in, resolved scenario or runs of its sweep out, as JSON.

use std::path::PathBuf;
use std::sync::Arc;

use elephan_scenario::{
    Allowed, AxisArgument, Errors, Gate, NodeKind, Override, Plan, Provenance, Purpose, Resolved, Source,
};
use elephan_units::stop;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use serde_json::{Map, Value, json};

use crate::errors::{ScenarioError, guard, guard_long, scenario_error, scenario_errors};
use crate::guest::Loader;
use crate::json;
use crate::watcher::Cancel;

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(resolve, module)?)?;
    module.add_function(wrap_pyfunction!(resolved_toml, module)?)?;
    module.add_function(wrap_pyfunction!(port_ways, module)?)?;
    module.add_function(wrap_pyfunction!(brief, module)?)?;
    module.add_function(wrap_pyfunction!(variants, module)?)?;
    module.add_function(wrap_pyfunction!(find_file, module)?)?;
    module.add_function(wrap_pyfunction!(schema, module)?)
}

/// The text of a scenario under the name that errors give it; `agreed` is what its caller agrees to.
pub fn source(text: String, name: String, format: &str, agreed: Option<Py<PyAny>>) -> PyResult<Source> {
    let source = match format {
        "toml" => Source::toml(name, text),
        "json" => Source::json(name, text),
        _ => return Err(ScenarioError::new_err(format!("a scenario is written in toml or json, not {format}"))),
    };
    let allowed = Python::attach(|py| allowed(agreed.as_ref().map(|agreed| agreed.bind(py))))?;
    Ok(with_consent(source, allowed, agreed))
}

/// What files the caller lets a scenario read, by an `elephan.scenario.trust.Trust`.
pub fn allowed(agreed: Option<&Bound<'_, PyAny>>) -> PyResult<Allowed> {
    let Some(agreed) = agreed else { return Ok(Allowed::default()) };
    let words = agreed.getattr("texts")?.try_iter()?.map(|word| word?.extract()).collect::<PyResult<_>>()?;
    let (places, beside) = (agreed.getattr("files")?.extract()?, agreed.getattr("reads_beside")?.extract()?);
    Ok(Allowed { places, words, beside })
}

/// The source with what its caller agrees to: files that it reads, congestion controls that it brings along and that run.
pub fn with_consent(source: Source, allowed: Allowed, agreed: Option<Py<PyAny>>) -> Source {
    let interpreter = Arc::new(Loader::of_source(source.name(), agreed));
    source.with_files(allowed).with_interpreter(interpreter)
}

/// Returns the file that a text in `folder` names, and whether the caller named it; raises if the text does not get it. `runs`: it
/// is code; else data. `places`: real paths that the caller names; `own`: whether he wrote `name` himself.
#[pyfunction]
fn find_file(
    py: Python<'_>,
    name: String,
    folder: Option<PathBuf>,
    places: Vec<PathBuf>,
    own: bool,
    beside: bool,
    runs: bool,
) -> PyResult<(PathBuf, bool)> {
    py.detach(|| {
        guard(|| {
            let words = own.then(|| name.clone()).into_iter().collect();
            let gate =
                Gate::new(folder, Allowed { places, words, beside }, if runs { Purpose::Run } else { Purpose::Read });
            gate.find(&name).map(|found| (found.shown, found.by_caller)).map_err(ScenarioError::new_err)
        })
    })
}

/// Overrides from Python: a JSON object as text or a dict, whose values are typed, or pairs of texts as on a command line.
pub struct Overrides(Vec<(String, Given)>);

enum Given {
    Json(Value),
    Text(String),
}

impl<'py> FromPyObject<'_, 'py> for Overrides {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Overrides> {
        let typed = |table: Map<String, Value>| {
            Overrides(table.into_iter().map(|(key, value)| (key, Given::Json(value))).collect())
        };
        if let Ok(text) = given.cast::<PyString>() {
            let bad = |error| ScenarioError::new_err(format!("overrides are a JSON object: {error}"));
            return serde_json::from_str(text.to_str()?).map(typed).map_err(bad);
        }
        if let Ok(dict) = given.cast::<PyDict>() {
            return json::table(&dict).map(typed);
        }
        let pairs: Vec<(String, String)> = given.extract()?;
        Ok(Overrides(pairs.into_iter().map(|(key, value)| (key, Given::Text(value))).collect()))
    }
}

impl Overrides {
    pub fn none() -> Overrides {
        Overrides(Vec::new())
    }

    pub fn to_overrides(&self) -> Result<Vec<Override>, Errors> {
        let one = |(key, value): &(String, Given)| match value {
            Given::Json(value) => Override::json(key, value.clone()),
            Given::Text(text) => Override::parse(&format!("{key}={text}")),
        };
        self.0.iter().map(one).collect()
    }

    /// For a sweep: a JSON array is a list of values to try, as is a text `v1,v2`.
    fn to_axes(&self) -> Result<Vec<AxisArgument>, Errors> {
        let one = |(key, value): &(String, Given)| match value {
            Given::Json(value) => {
                Override::refuse_null(key, value)?;
                let text = if let Value::Array(values) = value { list(values) } else { toml(value) };
                AxisArgument::parse(&format!("{key}={text}"))
            }
            Given::Text(text) => AxisArgument::parse(&format!("{key}={text}")),
        };
        self.0.iter().map(one).collect()
    }

    /// Arrays of one value: a sweep holds them fixed, yet whoever gave an array expects a parameter.
    fn alone(&self) -> impl Iterator<Item = (String, Value)> + '_ {
        self.0.iter().filter_map(|(key, value)| match value {
            Given::Json(Value::Array(values)) if values.len() == 1 => Some((key.clone(), values[0].clone())),
            _ => None,
        })
    }
}

fn list(values: &[Value]) -> String {
    values.iter().map(toml).collect::<Vec<_>>().join(", ")
}

/// A value in TOML on one line.
fn toml(value: &Value) -> String {
    match value {
        // A quotation mark as its number, so that the text never seems to end early, and DEL, which TOML wants escaped.
        Value::String(_) => value.to_string().replace("\\\"", "\\u0022").replace('\u{7f}', "\\u007f"),
        Value::Array(items) => format!("[{}]", list(items)),
        Value::Object(table) => {
            let entry = |(key, value): (&String, &Value)| format!("{} = {}", toml(&key.as_str().into()), toml(value));
            format!("{{{}}}", table.iter().map(entry).collect::<Vec<_>>().join(", "))
        }
        _ => value.to_string(),
    }
}

/// Parameters with their origin, and the overrides that fell away, as the manifest keeps them.
pub fn provenance(resolved: &Resolved) -> Value {
    let row = |(path, parameter): (String, Provenance)| {
        let mut row = json!({ "path": path, "value": parameter.value, "from": parameter.origin });
        if let Some(source) = &parameter.source {
            row["source"] = source.as_str().into();
        }
        row
    };
    json!({ "parameters": resolved.provenance().into_iter().map(row).collect::<Vec<_>>(), "dropped": resolved.dropped })
}

/// What will be built, in figures.
fn summary(plan: &Plan) -> Value {
    let hosts = plan.nodes.iter().filter(|node| matches!(node.kind, NodeKind::Host)).count();
    json!({
        "title": plan.title,
        "question": plan.question,
        "duration_s": plan.duration.seconds(),
        "warmup_s": plan.warmup.seconds(),
        "seed": plan.seed,
        "hosts": hosts,
        "switches": plan.nodes.len() - hosts,
        "links": plan.links.len() / 2,
        "flows": plan.traffic.iter().map(|traffic| traffic.flows.len()).sum::<usize>(),
        "traffic": plan.traffic.iter().map(|traffic| traffic.name.as_str()).collect::<Vec<_>>(),
    })
}

/// The resolved scenario as JSON: `seed`, `toml`, `provenance`, `has_sweep`, and `plan`, a summary of what will be built.
#[pyfunction]
#[pyo3(signature = (text, name, format, overrides=Overrides::none(), seed=None, cancel=None, agreed=None))]
#[expect(clippy::too_many_arguments, reason = "the Python function names each")]
fn resolve(
    py: Python<'_>,
    text: String,
    name: String,
    format: &str,
    overrides: Overrides,
    seed: Option<u64>,
    cancel: Option<&Bound<'_, Cancel>>,
    agreed: Option<Py<PyAny>>,
) -> PyResult<String> {
    let source = source(text, name, format, agreed)?;
    let flag = cancel.map(|cancel| cancel.get().flag());
    py.detach(|| {
        guard_long(flag, || {
            let resolved =
                overrides.to_overrides().and_then(|overrides| elephan_scenario::read(&source, &overrides, seed));
            let resolved = resolved.map_err(scenario_errors)?;
            json::text(&json!({
                "seed": resolved.plan.seed,
                "toml": resolved.toml(),
                "provenance": provenance(&resolved),
                "has_sweep": resolved.has_sweep,
                "plan": summary(&resolved.plan),
            }))
        })
    })
}

/// The resolved scenario in TOML, every default spelled out, and nothing else: the key of a kept run is made of it.
#[pyfunction]
#[pyo3(signature = (text, name, format, overrides=Overrides::none(), seed=None, cancel=None, agreed=None))]
#[expect(clippy::too_many_arguments, reason = "the Python function names each")]
fn resolved_toml(
    py: Python<'_>,
    text: String,
    name: String,
    format: &str,
    overrides: Overrides,
    seed: Option<u64>,
    cancel: Option<&Bound<'_, Cancel>>,
    agreed: Option<Py<PyAny>>,
) -> PyResult<String> {
    let source = source(text, name, format, agreed)?;
    let flag = cancel.map(|cancel| cancel.get().flag());
    py.detach(|| {
        guard_long(flag, || {
            let resolved =
                overrides.to_overrides().and_then(|overrides| elephan_scenario::read(&source, &overrides, seed));
            Ok(resolved.map_err(scenario_errors)?.toml())
        })
    })
}

/// For each port, in JSON, how packets pass it (`way`) and why it needs a queue (`because`).
#[pyfunction]
#[pyo3(signature = (text, name, format, overrides=Overrides::none(), seed=None, cancel=None, agreed=None))]
#[expect(clippy::too_many_arguments, reason = "the Python function names each")]
fn port_ways(
    py: Python<'_>,
    text: String,
    name: String,
    format: &str,
    overrides: Overrides,
    seed: Option<u64>,
    cancel: Option<&Bound<'_, Cancel>>,
    agreed: Option<Py<PyAny>>,
) -> PyResult<String> {
    let source = source(text, name, format, agreed)?;
    let flag = cancel.map(|cancel| cancel.get().flag());
    py.detach(|| {
        guard_long(flag, || {
            let overrides = overrides.to_overrides().map_err(scenario_errors)?;
            let plan = elephan_scenario::read(&source, &overrides, seed).map_err(scenario_errors)?.plan;
            let ways = elephan_sim::ways(&plan)
                .map_err(|error| scenario_error(format!("{}: {error}", source.name())))?;
            let row = |(link, (way, because)): (&elephan_scenario::Link, &(elephan_sim::Way, Vec<String>))| {
                json!({ "port": link.name, "way": way.name(), "because": because })
            };
            json::text(&plan.links.iter().zip(&ways).map(row).collect::<Vec<_>>())
        })
    })
}

/// The values of a scenario as JSON, without what is the default anyway.
#[pyfunction]
#[pyo3(signature = (text, name, format, overrides=Overrides::none(), seed=None, cancel=None, agreed=None))]
#[expect(clippy::too_many_arguments, reason = "the Python function names each")]
fn brief(
    py: Python<'_>,
    text: String,
    name: String,
    format: &str,
    overrides: Overrides,
    seed: Option<u64>,
    cancel: Option<&Bound<'_, Cancel>>,
    agreed: Option<Py<PyAny>>,
) -> PyResult<String> {
    let source = source(text, name, format, agreed)?;
    let flag = cancel.map(|cancel| cancel.get().flag());
    py.detach(|| {
        guard_long(flag, || {
            let overrides = overrides.to_overrides().map_err(scenario_errors)?;
            json::text(&elephan_scenario::brief(&source, &overrides, seed).map_err(scenario_errors)?)
        })
    })
}

/// The runs of a scenario's `[sweep]` as a JSON list of `label`, `overrides`, `parameters`, `seed`, `repetition`.
#[pyfunction]
#[pyo3(signature = (text, name, format, overrides=Overrides::none(), repetitions=None, seed=None, cancel=None, agreed=None))]
#[expect(clippy::too_many_arguments, reason = "the Python function names each")]
fn variants(
    py: Python<'_>,
    text: String,
    name: String,
    format: &str,
    overrides: Overrides,
    repetitions: Option<u32>,
    seed: Option<u64>,
    cancel: Option<&Bound<'_, Cancel>>,
    agreed: Option<Py<PyAny>>,
) -> PyResult<String> {
    let source = source(text, name, format, agreed)?;
    let flag = cancel.map(|cancel| cancel.get().flag());
    py.detach(|| {
        guard_long(flag, || {
            let expand = |axes: Vec<AxisArgument>| elephan_scenario::sweep(&source, &axes, repetitions, seed);
            let sweep = overrides.to_axes().and_then(expand).map_err(scenario_errors)?;
            let run = |(variant, repetition, seed): (usize, u32, u64)| {
                stop::look();
                let variant = &sweep.variants[variant];
                let values: Map<String, Value> = overrides.alone().chain(variant.values.iter().cloned()).collect();
                json!({
                    "label": variant.label,
                    "overrides": values,
                    "parameters": values,
                    "seed": seed,
                    "repetition": repetition,
                })
            };
            json::text(&sweep.runs().map(run).collect::<Vec<_>>())
        })
    })
}

/// The JSON Schema of a scenario.
#[pyfunction]
fn schema(py: Python<'_>) -> PyResult<String> {
    py.detach(|| guard(|| json::text(elephan_scenario::schema())))
}
