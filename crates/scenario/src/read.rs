//! From source and overrides to the resolved scenario.

use std::sync::Arc;

use elephan_cc::guest::Interpreter;
use indexmap::IndexMap;
use serde_json::Value as Json;

use crate::error::{Errors, Label, Problem, Sheet};
use crate::gate::{Allowed, Gate};
use crate::output::{self, Provenance};
use crate::resolve::{changes, resolve};
use crate::traces::{Files, bytes_of};
use crate::tree::{Node, Origin, Path, at};
use crate::types::typed;
use crate::walk::walk;
use crate::written::Scenario;
use crate::{Override, Plan, axes, disks, json, preset, schema, template, toml, traces};

/// The text of a scenario and what errors call it. Files that a scenario names are in the folder of the file of that name, or below.
#[derive(Clone, Debug)]
pub struct Source {
    name: String,
    text: String,
    form: Form,
    interpreter: Option<Arc<dyn Interpreter>>,
    gate: Gate,
    /// Why files that the scenario names are not read, if they are not.
    no_files: Option<&'static str>,
}

#[derive(Clone, Debug)]
enum Form {
    Toml,
    Json,
    /// Handed over by a program: no text, no positions.
    Value(Json),
}

impl Source {
    fn new(name: String, text: String, form: Form) -> Source {
        let gate = Gate::of_scenario(&name, Allowed::default());
        Source { name, text, form, interpreter: None, gate, no_files: None }
    }

    /// What finds congestion controls that the scenario brings along; without it they are an error.
    pub fn with_interpreter(self, interpreter: Arc<dyn Interpreter>) -> Source {
        Source { interpreter: Some(interpreter), ..self }
    }

    /// What the caller lets the scenario read, besides files in its folder.
    pub fn with_files(self, allowed: Allowed) -> Source {
        Source { gate: Gate::of_scenario(&self.name, allowed), ..self }
    }

    /// Files that the scenario names are not read but are an error, which says why.
    pub fn without_files(self, why: &'static str) -> Source {
        Source { no_files: Some(why), ..self }
    }

    pub fn toml(name: impl Into<String>, text: impl Into<String>) -> Source {
        Source::new(name.into(), without_mark(text.into()), Form::Toml)
    }

    pub fn json(name: impl Into<String>, text: impl Into<String>) -> Source {
        Source::new(name.into(), without_mark(text.into()), Form::Json)
    }

    /// A scenario built by a program; its errors name paths, not lines.
    pub fn value(name: impl Into<String>, value: Json) -> Source {
        Source::new(name.into(), String::new(), Form::Value(value))
    }

    /// Reads a file: JSON if its name ends in `.json`, else TOML.
    pub fn open(file: &std::path::Path) -> Result<Source, Errors> {
        let name = file.display().to_string();
        let bytes = bytes_of(file).map_err(|e| Errors::one(&name, "", e))?;
        let text = String::from_utf8(bytes).map_err(|_| Errors::one(&name, "", "is not a text (UTF-8)"))?;
        let is_json = file.extension().is_some_and(|e| e.eq_ignore_ascii_case("json"));
        Ok(if is_json { Source::json(name, text) } else { Source::toml(name, text) })
    }

    /// Returns a scenario of these values, which finds files and congestion controls as this one does.
    pub(crate) fn with_values(&self, values: Json) -> Source {
        Source { text: String::new(), form: Form::Value(values), ..self.clone() }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns what is written as a JSON value, before anything is checked but its syntax.
    pub fn to_json(&self) -> Result<Json, Errors> {
        self.tree().map(|tree| tree.to_json()).map_err(|problem| self.errors(vec![problem], &[]))
    }

    /// Returns problems of this text, under these overrides, with their places.
    pub(crate) fn errors(&self, problems: Vec<Problem>, overrides: &[Override]) -> Errors {
        // JSON on one line comes from a program: a column in it says nothing to a reader.
        let is_generated = matches!(self.form, Form::Json) && !self.text.trim_end().contains('\n');
        let sheet = Sheet { name: &self.name, text: &self.text, has_lines: !is_generated };
        let labels: Vec<&Label> = overrides.iter().map(Override::named).collect();
        Errors::locate(problems, sheet, &labels)
    }

    /// How files that it names are found.
    pub(crate) fn files(&self) -> Files<'_> {
        self.no_files.map_or(Files::Through(&self.gate), Files::Refused)
    }

    pub(crate) fn tree(&self) -> Result<Node, Problem> {
        let tree = match &self.form {
            Form::Toml => toml::parse(&self.text),
            Form::Json => json::parse(&self.text),
            Form::Value(value) => Ok(Node::from_json(value, Origin::Program)),
        }?;
        match tree.as_table() {
            Some(_) => Ok(tree),
            None => Err(Problem::new(Path::default(), tree.origin, format!("{}: a scenario is a table", tree.shown()))),
        }
    }
}

/// Some editors begin a text with a byte order mark.
fn without_mark(text: String) -> String {
    text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text)
}

/// A scenario with everything worked out.
#[derive(Clone, Debug)]
pub struct Resolved {
    pub plan: Arc<Plan>,
    /// Every value of the scenario, defaults included.
    pub values: Json,
    /// Keys dropped because an override chose a kind that does not know them.
    pub dropped: Vec<String>,
    /// Whether the text has a `[sweep]`, which a single run ignores.
    pub has_sweep: bool,
    tree: Node,
    pub(crate) words: Scenario,
}

impl Resolved {
    /// Returns the scenario with every default spelled out; read again it gives the same plan.
    pub fn toml(&self) -> String {
        output::to_toml(&self.values)
    }

    /// Returns for every parameter of `toml`, in its order, where its value comes from: given, default or assumed.
    pub fn provenance(&self) -> IndexMap<String, Provenance> {
        self.leaves().into_iter().map(|(path, parameter)| (path.to_string(), parameter)).collect()
    }

    pub(crate) fn leaves(&self) -> Vec<(Path, Provenance)> {
        output::provenance(&self.words, &self.tree, &self.values, schema())
    }
}

/// Reads a scenario with overrides; `seed` wins over the scenario's own.
pub fn read(source: &Source, overrides: &[Override], seed: Option<u64>) -> Result<Resolved, Errors> {
    let fail = |problems: Vec<Problem>| source.errors(problems, overrides);
    let written = prepare(source, overrides, seed).map_err(fail)?;
    let Written { tree, words, dropped, has_sweep } = written;
    let interpreter = source.interpreter.as_deref();
    let mut outcome = resolve(words, &tree, None, interpreter).map_err(fail)?;
    changes::resolve(&mut outcome, &tree, interpreter).map_err(fail)?;
    let (plan, words) = (outcome.plan, outcome.words);
    let values = output::values(&words);
    Ok(Resolved { plan: Arc::new(plan), values, dropped, has_sweep, tree, words })
}

/// What is written, overrides, template and presets worked in, checked against the schema.
pub(crate) struct Written {
    pub tree: Node,
    pub words: Scenario,
    pub dropped: Vec<String>,
    pub has_sweep: bool,
}

pub(crate) fn prepare(source: &Source, overrides: &[Override], seed: Option<u64>) -> Result<Written, Vec<Problem>> {
    let root = schema();
    let mut tree = source.tree().map_err(|p| vec![p])?;
    let mut dropped = apply(root, &mut tree, overrides, true).map_err(|p| vec![p])?;
    let template = tree.get("template").cloned();
    expand_template(root, &mut tree)?;
    dropped.extend(apply(root, &mut tree, overrides, false).map_err(|p| vec![p])?);
    if let Some(seed) = seed {
        let seed = i64::try_from(seed).map_err(|_| {
            vec![Problem::new(at!["seed"], Origin::Program, format!("{seed}: must be at most {}", i64::MAX))]
        })?;
        tree.set("seed", Node::integer(seed, Origin::Program));
    }
    let has_sweep = tree.get("sweep").is_some();
    let mut problems = axes::check(root, &tree, template);
    if let Some(table) = tree.as_table_mut() {
        table.shift_remove("sweep");
    }
    preset::expand(&mut tree);
    preset::expand_management(&mut tree);
    preset::expand_queues(&mut tree);
    problems.extend(traces::read(&mut tree, source.files()));
    problems.extend(disks::read(&mut tree, source.files()));
    problems.extend(walk(root, root, &tree, &Path::default()));
    if !problems.is_empty() {
        return Err(problems);
    }
    let words = typed(&tree, &Path::default())?;
    Ok(Written { tree, words, dropped, has_sweep })
}

/// Applies the overrides of the template, or all others; those that choose a kind first.
fn apply(root: &Json, tree: &mut Node, overrides: &[Override], template: bool) -> Result<Vec<String>, Problem> {
    let mut dropped = Vec::new();
    for kinds in [true, false] {
        for (i, one) in overrides.iter().enumerate() {
            if one.is_template() == template && one.is_kind() == kinds {
                dropped.extend(one.apply(root, tree, i)?);
            }
        }
    }
    Ok(dropped)
}

fn expand_template(root: &Json, tree: &mut Node) -> Result<(), Vec<Problem>> {
    let Some(given) = tree.get("template") else { return Ok(()) };
    let of = root.pointer("/properties/template").unwrap_or(&Json::Null);
    let problems = walk(root, of, given, &at!["template"]);
    if problems.is_empty() { template::expand(tree) } else { Err(problems) }
}
