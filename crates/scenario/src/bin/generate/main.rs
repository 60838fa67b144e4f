//! Writes the files generated from the schema: the JSON Schema itself, the reference page, the Python classes.
//! With `--check` it writes nothing and fails if a file would change. An argument names the root of the repository.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program for the terminal")]

mod catalog;
mod python;
mod reference;

use std::path::PathBuf;
use std::process::ExitCode;

use catalog::Catalog;

fn main() -> ExitCode {
    let mut check = false;
    let mut root = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    for argument in std::env::args().skip(1) {
        match argument.as_str() {
            "--check" => check = true,
            _ => root = PathBuf::from(argument),
        }
    }
    let schema = elephan_scenario::schema();
    let catalog = Catalog::of(schema);
    let files = [
        ("schema/elephan.schema.json", format!("{schema:#}\n")),
        ("docs/reference/scenario.md", reference::page(&catalog)),
        ("python/elephan/scenario/classes.py", python::module(&catalog)),
    ];
    let mut status = ExitCode::SUCCESS;
    for (name, text) in files {
        let path = root.join(name);
        if std::fs::read_to_string(&path).is_ok_and(|old| old == text) {
            continue;
        }
        if check {
            eprintln!("{name}: differs from the schema; run `make generate` and commit it");
            status = ExitCode::FAILURE;
            continue;
        }
        let folder = path.parent().map_or(Ok(()), std::fs::create_dir_all);
        match folder.and_then(|()| std::fs::write(&path, text)) {
            Ok(()) => println!("wrote {name}"),
            Err(error) => {
                eprintln!("{name}: {error}");
                status = ExitCode::FAILURE;
            }
        }
    }
    status
}
