//! Wrong scenarios: each file of `tests/bad` begins with the one line (or more, one per error) that it must give.
//! `# override:` lines are `-s` arguments.

use std::path::PathBuf;

use elephan_scenario::{Override, Source, read};

/// The errors as text, one a line.
fn errors_of(name: &str, text: &str) -> String {
    let overrides: Result<Vec<Override>, _> =
        text.lines().filter_map(|l| l.strip_prefix("# override: ")).map(Override::parse).collect();
    let read = overrides.and_then(|o| read(&Source::toml(name, text), &o, None));
    read.map_or_else(|e| e.to_string(), |_| "no error".to_owned())
}

fn files() -> Vec<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/bad");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn every_wrong_scenario_has_its_one_line() {
    let mut wrong = Vec::new();
    let files = files();
    for file in &files {
        let name = file.file_name().unwrap().to_str().unwrap();
        let text = std::fs::read_to_string(file).unwrap();
        let expected: Vec<&str> = text.lines().filter_map(|l| l.strip_prefix("# error: ")).collect();
        let errors = errors_of(name, &text);
        if errors.lines().collect::<Vec<_>>() != expected {
            wrong.push(format!("{name}\n  expected {expected:?}\n  is\n{errors}"));
        }
    }
    assert!(files.len() >= 100, "{} files", files.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
