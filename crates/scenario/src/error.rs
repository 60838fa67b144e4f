//! Errors of a scenario: one line each, with file, line, column, path and what is wrong.

use std::collections::BTreeSet;
use std::fmt::{self, Write};

use elephan_units::stop;

use crate::tree::{Node, Origin, Path, Step, Value};

/// Something wrong, before its place has been turned into line and column.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    pub path: Path,
    pub origin: Origin,
    pub message: String,
}

impl Problem {
    pub fn new(path: Path, origin: Origin, message: impl Into<String>) -> Problem {
        Problem { path, origin, message: message.into() }
    }

    /// At the value of `path` in `tree`; where the value is a default, at the deepest table that is written.
    pub fn at(tree: &Node, path: Path, message: impl Into<String>) -> Problem {
        let origin = tree.deepest(&path).0.origin;
        Problem::new(path, origin, message)
    }

    /// At the value of `path`, which does not go with that of `other`: where only the other comes from an override, there.
    pub fn between(tree: &Node, path: Path, other: &Path, message: impl Into<String>) -> Problem {
        let mut problem = Problem::at(tree, path, message);
        let theirs = tree.deepest(other).0.origin;
        if matches!(theirs, Origin::Override(_)) && !matches!(problem.origin, Origin::Override(_)) {
            problem.origin = theirs;
        }
        problem
    }

    /// At the key of `path`.
    pub fn at_key(tree: &Node, path: Path, message: impl Into<String>) -> Problem {
        let key = match (path.0.last(), tree.at(&path.parent()).map(|n| &n.value)) {
            (Some(Step::Key(key)), Some(Value::Table(table))) => table.get(key).map(|e| e.key),
            _ => None,
        };
        match key {
            Some(origin) => Problem::new(path, origin, message),
            None => Problem::at(tree, path, message),
        }
    }
}

/// The text that problems are found in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sheet<'a> {
    /// How errors call it.
    pub name: &'a str,
    pub text: &'a str,
    /// Whether line and column say something to a reader.
    pub has_lines: bool,
}

/// How errors call a value that is given from outside the text.
#[derive(Clone, Debug)]
pub(crate) struct Label {
    /// The path of the value in its usual form.
    pub key: String,
    /// What was given, as in `-s key=value`.
    pub shown: String,
}

/// One error with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// File and, where they are known, line and column (from 1, columns in characters), or the override at fault.
    pub place: String,
    /// Path in the scenario; empty when the place says it all.
    pub path: String,
    pub message: String,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        visible(f, &self.place)?;
        for part in [&self.path, &self.message].into_iter().filter(|part| !part.is_empty()) {
            f.write_str(": ")?;
            visible(f, part)?;
        }
        Ok(())
    }
}

/// Writes a text with what commands a terminal, or is not seen, escaped as `Debug` does it: it may repeat what somebody wrote.
fn visible(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    text.chars().try_for_each(|c| if is_unseen(c) { write!(f, "{}", c.escape_debug()) } else { f.write_char(c) })
}

/// Controls, and the format characters, separators of lines and tags of Unicode, some of which turn the direction of a text.
fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(c, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// Errors that are listed: who has read so many mends them first.
pub const ERRORS_MAX: usize = 20;

/// The errors that were found; at least one. Beyond twenty the last line says how many more there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Errors(pub Vec<Error>);

impl fmt::Display for Errors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, error) in self.0.iter().enumerate() {
            if n > 0 {
                f.write_str("\n")?;
            }
            error.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for Errors {}

impl Errors {
    pub fn one(place: impl Into<String>, path: impl Into<String>, message: impl Into<String>) -> Errors {
        Errors(vec![Error { place: place.into(), path: path.into(), message: message.into() }])
    }

    /// Locates problems of values that a program has given; `name` is what errors call the place.
    pub(crate) fn of_program(problems: Vec<Problem>, name: &str) -> Errors {
        Errors::locate(problems, Sheet { name, text: "", has_lines: false }, &[])
    }

    /// Locates problems in the text, or at what `given` says over it.
    pub(crate) fn locate(problems: Vec<Problem>, sheet: Sheet<'_>, given: &[&Label]) -> Errors {
        let mut seen = BTreeSet::new();
        let place = |problem: &Problem| match problem.origin {
            Origin::Text(offset) => (0, offset),
            Origin::Override(i) => (1, i),
            Origin::Filled | Origin::Program => (2, 0),
        };
        let mut distinct = problems.into_iter().filter(|problem| {
            stop::look();
            seen.insert((place(problem), problem.path.to_string(), problem.message.clone()))
        });
        let mut errors: Vec<Error> = Vec::new();
        for problem in distinct.by_ref().take(ERRORS_MAX) {
            errors.push(locate(problem, sheet, given));
        }
        let more = distinct.count();
        if more > 0 {
            errors.push(Error {
                place: sheet.name.to_owned(),
                path: String::new(),
                message: format!("and {more} more"),
            });
        }
        Errors(errors)
    }
}

fn locate(problem: Problem, sheet: Sheet<'_>, given: &[&Label]) -> Error {
    let mut path = problem.path.to_string();
    let place = match problem.origin {
        Origin::Text(offset) if sheet.has_lines => {
            let (line, column) = position(sheet.text, offset);
            format!("{}:{line}:{column}", sheet.name)
        }
        Origin::Override(i) => match given.get(i) {
            Some(label) => {
                if path == label.key {
                    path.clear();
                }
                label.shown.clone()
            }
            None => sheet.name.to_owned(),
        },
        Origin::Text(_) | Origin::Filled | Origin::Program => sheet.name.to_owned(),
    };
    Error { place, path, message: problem.message }
}

/// Line and column from 1; the column counts characters.
pub(crate) fn position(text: &str, offset: usize) -> (usize, usize) {
    let mut end = offset.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let before = &text[..end];
    let line_start = before.rfind('\n').map_or(0, |i| i + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_seen_is_escaped() {
        let path = Path::default().key("x\u{202e}y");
        let label = Label { key: path.to_string(), shown: "-s x\u{202e}y=\u{1b}[31m5\0 s".to_owned() };
        let problem = Problem::new(path, Origin::Override(0), "no such key \"x\u{202e}y\"");
        let sheet = Sheet { name: "a\nb.toml", text: "title = \"é א\"", has_lines: true };
        let text = Errors::locate(vec![problem], sheet, &[&label]).to_string();
        assert_eq!(text, "-s x\\u{202e}y=\\u{1b}[31m5\\0 s: no such key \"x\\u{202e}y\"");
        let text = Errors::one("a\nb.toml", "", "unknown unit \"\u{2066}s\": é א e\u{301} \\ '").to_string();
        assert_eq!(text, "a\\nb.toml: unknown unit \"\\u{2066}s\": é א e\u{301} \\ '");
    }
}
