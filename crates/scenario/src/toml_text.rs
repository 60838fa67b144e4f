//! Texts in TOML that are no scenarios but belong to them, such as those of a study: their values, and where each stands.

use serde_json::Value as Json;

use crate::error::{Errors, Problem, Sheet, position};
use crate::toml;
use crate::tree::{Node, Origin, Path, Step, Value};

/// A text in TOML that has been read.
#[derive(Clone, Debug)]
pub struct TomlText {
    text: String,
    tree: Node,
}

impl TomlText {
    /// Reads a text; `name` is what errors call it. Dates, NaN and infinity are errors.
    pub fn read(name: &str, text: &str) -> Result<TomlText, Errors> {
        let fail = |problems| Errors::locate(problems, Sheet { name, text, has_lines: true }, &[]);
        let tree = toml::parse(text).map_err(|problem| fail(vec![problem]))?;
        let mut problems = Vec::new();
        infinite(&tree, &Path::default(), &mut problems);
        if problems.is_empty() { Ok(TomlText { text: text.to_owned(), tree }) } else { Err(fail(problems)) }
    }

    /// Returns the values of the text.
    pub fn values(&self) -> Json {
        self.tree.to_json()
    }

    /// Returns the line of the key or the item at `path`, counted from 1. Of a place that is not written, it is the line of the
    /// nearest table or array around it.
    ///
    /// ```
    /// let text = elephan_scenario::TomlText::read("study.toml", "[axes]\nrate = [\n  1,\n  2,\n]\n").unwrap();
    /// assert_eq!(text.line(&["axes".into(), "rate".into(), 1.into()]), 4);
    /// assert_eq!(text.line(&["axes".into(), "delay".into()]), 1);
    /// ```
    pub fn line(&self, path: &[Step]) -> usize {
        let (mut node, mut origin) = (&self.tree, Origin::Text(0));
        for step in path {
            let next = match (step, &node.value) {
                (Step::Key(key), Value::Table(table)) => table.get(key).map(|entry| (&entry.node, entry.key)),
                (Step::Index(i), Value::Array(items)) => items.get(*i).map(|item| (item, item.origin)),
                _ => None,
            };
            let Some(found) = next else { break };
            (node, origin) = found;
        }
        if let Origin::Text(offset) = origin { position(&self.text, offset).0 } else { 1 }
    }
}

/// Finds numbers that are not finite, which no value of such a text may be.
fn infinite(node: &Node, at: &Path, problems: &mut Vec<Problem>) {
    match &node.value {
        Value::Float(number) if !number.is_finite() => {
            let message = format!("{}: must be a finite number", node.shown());
            problems.push(Problem::new(at.clone(), node.origin, message));
        }
        Value::Table(table) => table.iter().for_each(|(key, entry)| infinite(&entry.node, &at.key(key), problems)),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(i, item)| infinite(item, &at.index(i), problems));
        }
        _ => {}
    }
}
