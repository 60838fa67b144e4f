//! Any text as a scenario.

use elephan_scenario::{Override, Source, sweep};

use super::input::Input;
use crate::plans;

/// Reads any text as TOML or JSON, with an override perhaps. Errors must be readable lines, and what resolves must resolve again
/// to the same plan. Nothing is run.
pub fn scenario(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let how = input.u8();
    let Ok(text) = std::str::from_utf8(input.rest()) else { return };
    // An override stands before the first line's end.
    let (first, text) = if how & 2 != 0 { text.split_once('\n').unwrap_or((text, "")) } else { ("", text) };
    if is_large(text) || is_large(first) {
        return;
    }
    let source = if how & 1 != 0 { Source::json("x", text) } else { Source::toml("x", text) };
    let result = match Override::parse(first) {
        Ok(one) => plans::resolve_with(&source, &[one]),
        Err(error) => {
            assert!(!error.to_string().contains(['\n', '\r']), "{error:?}");
            plans::resolve_with(&source, &[])
        }
    };
    if let Err(finding) = result {
        panic!("{finding}");
    }
    if let Err(errors) = sweep(&source, &[], Some(2), None)
        && let Err(finding) = plans::lines(errors.0.iter().map(ToString::to_string))
    {
        panic!("{finding}");
    }
}

/// A scenario may ask for a million hosts, which takes seconds and says nothing new: texts with long numbers are left out.
fn is_large(text: &str) -> bool {
    let digits = |word: &str| word.len() > 2 && word.bytes().all(|b| b.is_ascii_digit() || b == b'_');
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(digits)
}
