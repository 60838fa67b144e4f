//! Writes `docs/data-dictionary.md`; with `--check` only says whether it has drifted.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program for the terminal")]

use std::path::Path;
use std::process::ExitCode;

fn main() -> std::io::Result<ExitCode> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/data-dictionary.md");
    let text = elephan_record::data_dictionary();
    if std::env::args().nth(1).as_deref() != Some("--check") {
        std::fs::write(&path, text)?;
        return Ok(ExitCode::SUCCESS);
    }
    if std::fs::read_to_string(&path)? == text {
        return Ok(ExitCode::SUCCESS);
    }
    eprintln!("docs/data-dictionary.md has drifted; run `make generate`");
    Ok(ExitCode::FAILURE)
}
