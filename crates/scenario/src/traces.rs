//! `replay` traffic: the text of the file that an entry names takes the file's place, so that whatever follows, the
//! resolved scenario included, needs no file.

use std::path::Path as FilePath;

use elephan_traffic::Trace;

use crate::error::Problem;
use crate::tree::{Entry, Node, Path, Value, at};

/// Puts `trace` in the place of every `file`. `scenario` is the scenario's name: a relative path starts in its folder.
pub(crate) fn read(tree: &mut Node, scenario: &str) -> Vec<Problem> {
    let Some(Value::Array(entries)) = tree.as_table_mut().and_then(|t| t.get_mut("traffic")).map(|e| &mut e.node.value)
    else {
        return Vec::new();
    };
    entries.iter_mut().enumerate().filter_map(|(i, entry)| one(entry, &at!["traffic", i], scenario).err()).collect()
}

fn one(entry: &mut Node, at: &Path, scenario: &str) -> Result<(), Problem> {
    if entry.get("kind").and_then(Node::as_text) != Some("replay") {
        return Ok(());
    }
    let Some(file) = entry.get("file") else { return Ok(()) };
    let (Some(name), None) = (file.as_text(), entry.get("trace")) else { return Ok(()) };
    let problem = |message: String| Problem::new(at.key("file"), file.origin, message);
    let path = FilePath::new(scenario).parent().unwrap_or(FilePath::new("")).join(name);
    let bytes = std::fs::read(&path).map_err(|e| problem(format!("{}: cannot be read: {e}", path.display())))?;
    let text = String::from_utf8(bytes).map_err(|_| problem(format!("{}: is not a text (UTF-8)", path.display())))?;
    Trace::parse(&text).map_err(|e| problem(format!("{}:{e}", path.display())))?;
    let node = Node::text(text, file.origin);
    if let Some(table) = entry.as_table_mut() {
        let place = table.shift_remove_full("file").map(|(place, _, _)| place).unwrap_or(table.len());
        table.shift_insert(place, "trace".to_owned(), Entry { key: node.origin, node });
    }
    Ok(())
}
