//! Writes what is generated from the tables: `docs/data-dictionary.md` and the Python module that names them. With `--check` it
//! only says which of them have drifted.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program for the terminal")]

use std::path::Path;
use std::process::ExitCode;

fn main() -> std::io::Result<ExitCode> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let check = std::env::args().nth(1).as_deref() == Some("--check");
    let mut status = ExitCode::SUCCESS;
    for (name, text) in [
        ("docs/data-dictionary.md", elephan_record::data_dictionary()),
        ("python/elephan/table/classes.py", elephan_record::python_module()),
    ] {
        if !check {
            std::fs::write(root.join(name), text)?;
        } else if std::fs::read_to_string(root.join(name)).ok().as_deref() != Some(text.as_str()) {
            eprintln!("{name} has drifted; run `make generate`");
            status = ExitCode::FAILURE;
        }
    }
    Ok(status)
}
