//! A finding as a file: the smallest scenario, with what is wrong and how to see it again in its first lines.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use elephan_fuzz::Finding;
use elephan_scenario::{Source, to_toml};
use serde_json::Value as Json;

/// Writes a finding into a folder; the name of the file says its rule and its seed.
pub fn write(folder: &Path, seed: u64, finding: &Finding, drawn: &Json, small: &Json) -> io::Result<PathBuf> {
    let name: String = finding.rule.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let checks = if cfg!(debug_assertions) { "with" } else { "without" };
    let (from, to) = (drawn.to_string().len(), small.to_string().len());
    let header = format!(
        "# {finding}\n\
         # Seed {seed}, build {checks} debug assertions; made smaller from {from} to {to} B of JSON.\n\
         # See it again: cargo run --profile long -p elephan-fuzz -- THIS_FILE\n\
         # As it was drawn: cargo run --profile long -p elephan-fuzz -- --seed {seed} --cases 1\n\n"
    );
    let toml = to_toml(small);
    let is_same = Source::toml("x", toml.clone()).to_json().is_ok_and(|read| read == *small);
    // What TOML cannot say as JSON does is kept as it was.
    let (ending, text) = if is_same { ("toml", header + &toml) } else { ("json", format!("{small:#}\n")) };
    let file = folder.join(format!("{}-{seed}.{ending}", name.trim_matches('-')));
    fs::write(&file, text)?;
    Ok(file)
}
