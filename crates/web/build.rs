//! The library of scenarios as a constant: WebAssembly has no files.

use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

fn main() {
    let root =
        Path::new(&env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("../../python/elephan/scenarios");
    println!("cargo::rerun-if-changed={}", root.display());
    let mut files: Vec<_> =
        fs::read_dir(&root).expect("the library").map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|file| file.extension().is_some_and(|kind| kind == "toml"));
    files.sort();
    let mut text = "const LIBRARY: &[(&str, &str)] = &[\n".to_owned();
    for file in files {
        println!("cargo::rerun-if-changed={}", file.display());
        let file = file.canonicalize().expect("a file of the library");
        let name = file.file_stem().expect("a name").to_string_lossy();
        writeln!(text, "    ({name:?}, include_str!({:?})),", file.display().to_string()).expect("memory");
    }
    text.push_str("];\n");
    fs::write(Path::new(&env::var("OUT_DIR").expect("cargo sets it")).join("library.rs"), text).expect("the constant");
}
