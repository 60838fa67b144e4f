//! Writes the stack table into its model page: `cargo run -p elephan-tcp --example stack_table`; with `--check` it only compares.

#![allow(clippy::print_stdout, reason = "a program for the terminal")]

use elephan_tcp::options::{sources, table};
use std::path::Path;

fn main() -> std::io::Result<()> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/models/stacks.md");
    let text = std::fs::read_to_string(&page)?;
    let new = replace(&replace(&text, "stacks", &table())?, "sources", &sources())?;
    if std::env::args().any(|word| word == "--check") {
        return if new == text {
            Ok(())
        } else {
            Err(std::io::Error::other("docs/models/stacks.md has drifted: make generate"))
        };
    }
    std::fs::write(page, new)
}

/// `text` with what stands between the two marks called `name` replaced.
fn replace(text: &str, name: &str, by: &str) -> std::io::Result<String> {
    let (begin, end) = (format!("<!-- {name}: begin -->\n"), format!("<!-- {name}: end -->"));
    let parts = text.split_once(&begin).and_then(|(head, rest)| rest.split_once(&end).map(|(_, tail)| (head, tail)));
    let (head, tail) = parts.ok_or_else(|| std::io::Error::other(format!("the page has no place for {name}")))?;
    Ok(format!("{head}{begin}{by}{end}{tail}"))
}
