//! Files that traffic entries name: the text of a trace or program (`replay`, `goal`), the points of a distribution (`{ cdf = "mine.csv" }`), take
//! the file's place, so that whatever follows, the resolved scenario included, needs no file.

use std::io::Read as _;
use std::path::Path as FilePath;

use elephan_link::driven::{TraceTable, What};
use elephan_traffic::{Kind, parse_cdf, published};

use crate::error::Problem;
use crate::gate::Gate;
use crate::near::nearest;
use crate::tree::{Entry, Node, Origin, Path, Value, at};

/// Whether files that a scenario names are read.
#[derive(Clone, Copy)]
pub(crate) enum Files<'a> {
    /// Those that the gate lets through.
    Through(&'a Gate),
    /// They are not, and why.
    Refused(&'static str),
}

/// Puts texts in the place of every `file` of a kind of traffic, and points in that of every file of a `cdf`.
pub(crate) fn read(tree: &mut Node, files: Files<'_>) -> Vec<Problem> {
    let mut problems = Vec::new();
    for section in ["traffic", "links"] {
        let found = tree.as_table_mut().and_then(|t| t.get_mut(section)).map(|e| &mut e.node.value);
        let Some(Value::Array(entries)) = found else { continue };
        for (i, entry) in entries.iter_mut().enumerate() {
            let at = at![section, i];
            problems.extend(text_of_kind(entry, &at, files).err());
            distributions(entry, &at, files, &mut problems);
            if section == "links" {
                driven(entry, &at, files, &mut problems);
            }
        }
    }
    problems
}

/// What of a link may follow a trace, by its key.
const DRIVEN: [(&str, What); 4] =
    [("rate", What::Rate), ("delay", What::Delay), ("loss", What::Loss), ("mark", What::Loss)];

/// The traces that a link follows: of the entry, of its directions and of single ports.
fn driven(entry: &mut Node, at: &Path, files: Files<'_>, problems: &mut Vec<Problem>) {
    let Some(table) = entry.as_table_mut() else { return };
    for (key, entry) in table.iter_mut() {
        let at = at.key(key);
        if let Some((_, what)) = DRIVEN.iter().find(|(name, _)| name == key) {
            problems.extend(followed(&mut entry.node, &at, *what, files).err());
        } else if key == "forward" || key == "backward" {
            driven(&mut entry.node, &at, files, problems);
        } else if key == "ports"
            && let Some(ports) = entry.node.as_table_mut()
        {
            ports.iter_mut().for_each(|(name, port)| driven(&mut port.node, &at.key(name), files, problems));
        }
    }
}

/// Puts the text of a trace in the place of its file, in the words `{ trace = FILE }` or `{ trace = { file = FILE } }`.
fn followed(node: &mut Node, at: &Path, what: What, files: Files<'_>) -> Result<(), Problem> {
    let Some(entry) = node.as_table_mut().and_then(|table| table.get_mut("trace")) else { return Ok(()) };
    let at = at.key("trace");
    if entry.node.as_text().is_some() {
        let file = entry.node.clone();
        let mut table = Node::table(file.origin);
        table.set("file", file);
        entry.node = table;
    }
    let origin = entry.node.origin;
    let problem = |message: String| Problem::new(at.clone(), origin, message);
    let mut shown = String::new();
    if let Some(file) = entry.node.get("file").cloned() {
        let Some(name) = file.as_text() else { return Ok(()) };
        if entry.node.get("text").is_some() {
            return Err(problem("has a file and its text; one of them".to_owned()));
        }
        let (text, path) = text_of(name, files).map_err(problem)?;
        shown = path;
        if let Some(table) = entry.node.as_table_mut() {
            table.shift_remove("file");
        }
        entry.node.set("text", Node::text(text, file.origin));
    } else if entry.node.get("text").is_none() {
        return Err(problem("has no file".to_owned()));
    }
    let Ok(table) = crate::from_tree::from_tree::<TraceTable>(&entry.node) else { return Ok(()) };
    let checked = if what == What::Rate { table.rate().map(drop) } else { table.values(what).map(drop) };
    checked.map_err(|error| {
        let place = match (shown.is_empty(), error.line) {
            (_, 0) => String::new(),
            (true, line) => format!("line {line}: "),
            (false, line) => format!("{shown}:{line}: "),
        };
        problem(format!("{place}{}", error.message))
    })
}

/// Largest file that a scenario names, or is, which would be held several times in memory: no endless device.
const FILE_MAX_BYTES: u64 = 1 << 30;

/// The bytes of a file, or why there are none.
pub(crate) fn bytes_of(path: &FilePath) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    // To open a pipe waits for who writes to it.
    if let Ok(meta) = std::fs::metadata(path)
        && !meta.is_file()
    {
        return Err(if meta.is_dir() { "is a folder" } else { "is no regular file" }.to_owned());
    }
    let read = std::fs::File::open(path).and_then(|file| file.take(FILE_MAX_BYTES + 1).read_to_end(&mut bytes));
    match read {
        Err(e) => Err(format!("cannot be read: {e}")),
        Ok(_) if bytes.len() as u64 > FILE_MAX_BYTES => Err("is larger than 1 GiB".to_owned()),
        Ok(_) => Ok(bytes),
    }
}

/// The text of a file that a scenario names, and its path as errors show it. What the gate has judged is opened, and no link.
pub(crate) fn text_of(name: &str, files: Files<'_>) -> Result<(String, String), String> {
    let found = match files {
        Files::Through(gate) => gate.find(name)?,
        Files::Refused(why) => return Err(format!("{name}: {why}")),
    };
    let path = found.shown.display().to_string();
    let bytes = bytes_of(&found.real).map_err(|e| format!("{path}: {e}"))?;
    let text = String::from_utf8(bytes).map_err(|_| format!("{path}: is not a text (UTF-8)"))?;
    Ok((text, path))
}

/// Puts the text of the file that a kind of traffic names in the file's place.
fn text_of_kind(entry: &mut Node, at: &Path, files: Files<'_>) -> Result<(), Problem> {
    let kind = entry.get("kind").and_then(Node::as_text);
    let Some(own) = Kind::ALL.iter().find(|info| Some(info.name) == kind).and_then(|info| info.texts.first()) else {
        return Ok(());
    };
    let Some(file) = entry.get("file") else { return Ok(()) };
    let (Some(name), None) = (file.as_text(), entry.get(own.key)) else { return Ok(()) };
    let problem = |message: String| Problem::new(at.key("file"), file.origin, message);
    let (text, path) = text_of(name, files).map_err(problem)?;
    (own.check)(&text).map_err(|e| problem(format!("{path}:{e}")))?;
    let node = Node::text(text, file.origin);
    if let Some(table) = entry.as_table_mut() {
        let place = table.shift_remove_full("file").map(|(place, _, _)| place).unwrap_or(table.len());
        table.shift_insert(place, own.key.to_owned(), Entry { key: node.origin, node });
    }
    Ok(())
}

/// Every `cdf` below `node` that is a text and not the name of a published distribution.
fn distributions(node: &mut Node, at: &Path, files: Files<'_>, problems: &mut Vec<Problem>) {
    let Some(table) = node.as_table_mut() else { return };
    for (key, entry) in table.iter_mut() {
        let at = at.key(key);
        if key == "cdf"
            && let Some(name) = entry.node.as_text()
            && !published().any(|known| known == name)
        {
            match points(name, files, entry.node.origin) {
                Ok(node) => entry.node = node,
                Err(message) => problems.push(Problem::new(at, entry.node.origin, message)),
            }
        } else {
            distributions(&mut entry.node, &at, files, problems);
        }
    }
}

fn points(name: &str, files: Files<'_>, origin: Origin) -> Result<Node, String> {
    let known: Vec<&str> = published().collect();
    let is_path = name.contains(['.', '/', '\\']);
    if !is_path {
        let near = nearest(name, known.iter().copied()).map(|near| format!("; did you mean {near:?}?"));
        let list = known.join(", ");
        return Err(format!(
            "{name:?}: neither a published distribution ({list}) nor a file{}",
            near.unwrap_or_default()
        ));
    }
    let (text, path) = text_of(name, files)?;
    let points = parse_cdf(&text).map_err(|e| format!("{path}:{}", e.of_file()))?;
    let point = |(value, p)| {
        let pair = vec![Node::text(value, origin), Node { value: Value::Float(p), origin }];
        Node::array(pair, origin)
    };
    Ok(Node::array(points.into_iter().map(point).collect(), origin))
}
