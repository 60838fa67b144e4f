//! Goes through seeds, or judges files. A child process does the work, so that whatever happens to it is a finding.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program for the terminal")]
#![allow(clippy::disallowed_methods, reason = "a hunt measures time and is no simulation")]

mod arguments;
mod hunt;
mod report;
mod worker;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use arguments::{Arguments, Task};
use elephan_fuzz::{Finding, guarded, judge};
use elephan_scenario::Source;

fn main() -> ExitCode {
    let arguments = match Arguments::parse(std::env::args().skip(1)) {
        Ok(arguments) => arguments,
        Err(line) => {
            eprintln!("{line}");
            return ExitCode::from(2);
        }
    };
    match arguments.task {
        Task::Help => println!("{}", arguments::HELP),
        Task::Files(files) => return judge_files(&files),
        Task::Worker { current } => worker::go(arguments.seed, arguments.cases, &current),
        Task::Trial { file } => worker::trial(&file),
        Task::Hunt => {
            return hunt::go(&arguments).unwrap_or_else(|error| {
                eprintln!("{error}");
                ExitCode::from(2)
            });
        }
    }
    ExitCode::SUCCESS
}

/// Judges scenarios in files by all rules.
fn judge_files(files: &[PathBuf]) -> ExitCode {
    let mut broken = false;
    for file in files {
        match judge_file(file) {
            Ok(line) => println!("{}: {line}", file.display()),
            Err(finding) => {
                println!("{}: {finding}", file.display());
                broken = true;
            }
        }
    }
    if broken { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn judge_file(file: &Path) -> Result<String, Finding> {
    let fail = |errors: elephan_scenario::Errors| Finding::new("the file cannot be read", errors.to_string());
    let source = Source::open(file).map_err(fail)?;
    guarded(|| judge(&source.to_json().map_err(fail)?)).map(|held| format!("{held:?}"))
}
