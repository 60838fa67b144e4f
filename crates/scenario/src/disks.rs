//! Profiles of disks: a file that `elephan measure disk` wrote takes the place of its name, so that the resolved scenario needs no
//! file; other names are those of measured arrays.

use elephan_host::disk::{DiskSpec, PROFILES, ProfileFile, profile};
use serde_json::{Map, Value as Json};

use crate::error::{Errors, Problem, position};
use crate::gate::{Allowed, Gate, Purpose};
use crate::near::hint;
use crate::options::with_unit;
use crate::schema::tidied;
use crate::shape::resolve;
use crate::traces::{Files, text_of};
use crate::tree::{Node, Origin, Path, at};
use crate::types::typed;
use crate::walk::walk;
use crate::{schema, toml};

/// Puts what the files say in the place of their names.
pub(crate) fn read(tree: &mut Node, files: Files<'_>) -> Vec<Problem> {
    let mut problems = Vec::new();
    let hosts = tree.as_table_mut().and_then(|t| t.get_mut("hosts"));
    for (host, entry) in hosts.and_then(|e| e.node.as_table_mut()).into_iter().flatten() {
        let disk = entry.node.as_table_mut().and_then(|t| t.get_mut("disk"));
        if let Some(disk) = disk {
            problems.extend(fill(&mut disk.node, &at!["hosts", host, "disk"], files).err());
        }
    }
    problems
}

fn fill(disk: &mut Node, at: &Path, files: Files<'_>) -> Result<(), Problem> {
    let Some(node) = disk.get("profile") else { return Ok(()) };
    let (Some(name), origin) = (node.as_text(), node.origin) else { return Ok(()) };
    if profile(name).is_some() {
        return Ok(());
    }
    let problem = |message: String| Problem::new(at.key("profile"), origin, message);
    if !name.contains(['.', '/', '\\']) {
        let names: Vec<&str> = PROFILES.iter().map(|profile| profile.name).collect();
        let message = format!("{name:?}: neither a measured array nor a file{}", hint(name, &names));
        return Err(problem(message));
    }
    let file = profile_file(name, files).map_err(problem)?;
    for key in ["raid", "disks", "disk_rate", "chunk", "controller", "read_points"] {
        if let Some(given) = disk.get(key) {
            let message = "goes without a file, which has measured rates";
            return Err(Problem::new(at.key(key), given.origin, message));
        }
    }
    let mut below = Node::from_json(&words(&file), origin);
    if let (Some(table), true) = (below.as_table_mut(), disk.get("read").is_some()) {
        table.shift_remove("read_points");
    }
    if let Some(table) = disk.as_table_mut() {
        table.shift_remove("profile");
    }
    disk.fill_from(&below);
    Ok(())
}

/// What a profile says in the words of a scenario.
fn words(file: &ProfileFile) -> Json {
    let ProfileFile { write, block, read_ahead, read_points, .. } = file;
    let spec = DiskSpec {
        write: Some(*write),
        block: *block,
        read_ahead: *read_ahead,
        read_points: read_points.clone(),
        ..DiskSpec::default()
    };
    let mut json = serde_json::to_value(spec).unwrap_or_default();
    if let Some(map) = json.as_object_mut() {
        map.retain(|key, _| ["write", "block", "read_ahead", "read_points"].contains(&key.as_str()));
    }
    json
}

/// Reads and checks a profile; an error names the file and, where there is one, its line and column.
fn profile_file(name: &str, files: Files<'_>) -> Result<ProfileFile, String> {
    let (text, path) = text_of(name, files)?;
    let place = |origin: Origin| match origin {
        Origin::Text(offset) => {
            let (line, column) = position(&text, offset);
            format!("{path}:{line}:{column}")
        }
        _ => path.clone(),
    };
    let shown = |problem: Problem| match problem.path.to_string() {
        at if at.is_empty() => format!("{}: {}", place(problem.origin), problem.message),
        at => format!("{}: {at}: {}", place(problem.origin), problem.message),
    };
    // It may be any file that a scenario names: nothing of it is repeated before it has shown to be a profile.
    let tree = toml::parse(&text).map_err(|problem| {
        shown(Problem { message: "not valid TOML, as a profile of a disk is".to_owned(), ..problem })
    })?;
    if !tree.get("format").and_then(Node::as_text).is_some_and(|format| format.starts_with("elephan-disk")) {
        return Err(format!("{path}: not a profile of a disk: it has no `format = \"elephan-disk-1\"`"));
    }
    let root = tidied(schemars::schema_for!(ProfileFile));
    if let Some(problem) = walk(&root, &root, &tree, &Path::default()).into_iter().next() {
        return Err(shown(problem));
    }
    let file: ProfileFile = typed(&tree, &Path::default())
        .map_err(|problems| problems.into_iter().next().map_or_else(|| path.to_owned(), shown))?;
    match file.problem() {
        Some(invalid) => Err(shown(Problem::at(&tree, Path::default().key(&invalid.parameter), invalid.reason))),
        None => Ok(file),
    }
}

/// A disk given by a program; a profile may be a file, whose path starts in the working folder. A number for a time is seconds,
/// for a size bytes, for a rate bit/s. `name` is what errors call the place.
pub fn disk(name: &str, table: Map<String, Json>) -> Result<DiskSpec, Errors> {
    let root = schema();
    let own = resolve(root, root.pointer("/$defs/Disk").unwrap_or(&Json::Null));
    let table = table.into_iter().map(|(key, value)| with_unit(root, own, key, value)).collect();
    let mut tree = Node::from_json(&Json::Object(table), Origin::Program);
    let fail = |problems| Errors::of_program(problems, name);
    let words = tree.get("profile").and_then(Node::as_text).into_iter().map(str::to_owned).collect();
    let gate = Gate::new(None, Allowed { words, ..Allowed::default() }, Purpose::Read);
    fill(&mut tree, &Path::default(), Files::Through(&gate)).map_err(|problem| fail(vec![problem]))?;
    let problems = walk(root, own, &tree, &Path::default());
    if !problems.is_empty() {
        return Err(fail(problems));
    }
    let mut spec: DiskSpec = typed(&tree, &Path::default()).map_err(fail)?;
    match spec.problem() {
        Some(invalid) => Err(Errors::one(name, invalid.parameter, invalid.reason)),
        None => {
            spec.resolve();
            Ok(spec)
        }
    }
}
