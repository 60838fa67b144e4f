//! A congestion control costs one file (or one folder, when it has many states) and one registry line, and it stays short: what several
//! congestion controls need has one home outside `src/algorithm`.
//!
//! What counts is lines of code of `src/algorithm` without tests: blank lines and comments do not count, since a congestion
//! control's header is its documentation.

use std::fs;
use std::path::{Path, PathBuf};

/// Mean lines of code of a congestion control, at most: about 120, what BBR version 3 (with L4S) and Prague have gained since, and
/// what each answers about itself, and CUBIC in whole segments, Swift's second window, and the twenty constants of NSCC.
const MEAN_MAX: usize = 146;

/// Lines of code of a Rust file up to its module of tests.
fn lines_of_code(file: &Path) -> usize {
    let text = fs::read_to_string(file).unwrap();
    let before_tests = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
    let lines = before_tests.lines().map(str::trim);
    lines.filter(|line| !line.is_empty() && !line.starts_with("//")).count()
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

/// Lines of code of the congestion control called `name`: of its file and of its folder.
fn lines_of(folder: &Path, name: &str) -> usize {
    let mut files = vec![folder.join(name).with_extension("rs")];
    if folder.join(name).is_dir() {
        files.extend(entries(&folder.join(name)));
    }
    files.retain(|file| file.is_file() && !file.ends_with("tests.rs"));
    files.iter().map(|file| lines_of_code(file)).sum()
}

#[test]
fn congestion_controls_are_short_in_the_mean() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/algorithm");
    let sizes: Vec<(&str, usize)> =
        elephan_cc::list().iter().map(|(name, _)| (*name, lines_of(&folder, name))).collect();
    assert!(sizes.iter().all(|(_, lines)| *lines > 0), "{sizes:?}");
    let total: usize = sizes.iter().map(|(_, lines)| lines).sum();
    assert!(total <= MEAN_MAX * sizes.len(), "mean {} of {sizes:?}", total / sizes.len());
}

/// Nothing else lies in the folder of the congestion controls, so that nothing escapes the count.
#[test]
fn every_file_belongs_to_a_congestion_control() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/algorithm");
    let known: Vec<&str> = elephan_cc::list().iter().map(|(name, _)| *name).collect();
    for path in entries(&folder) {
        let name = path.file_stem().unwrap().to_str().unwrap();
        assert!(name == "mod" || known.contains(&name), "{name} is no congestion control");
    }
}
