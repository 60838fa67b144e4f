//! Fingerprints of whole runs, in `tests/golden`: a guard against change, not evidence of truth. The Python tests check
//! the same file through the installed release build, so debug and release agree. `ELEPHAN_GOLDEN=write` writes it anew.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use elephan_record::Recorder;
use elephan_scenario::{Source, read};
use serde_json::{Value, json};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden")
}

/// Rows and CRC-32 of each table, and the figures by which a change is understood.
fn fingerprint(file: &Path, scratch: &Path) -> Value {
    let name = file.file_name().unwrap().to_string_lossy().into_owned();
    let source = Source::toml(name, std::fs::read_to_string(file).unwrap());
    let resolved = read(&source, &[], None).unwrap();
    std::fs::create_dir_all(scratch).unwrap();
    let recorder = Recorder::to_folder(scratch).unwrap();
    let (summary, recorder) = elephan_sim::run(resolved.plan, recorder, &mut |_| true).unwrap();
    let tables: BTreeMap<String, Value> = recorder
        .finish()
        .unwrap()
        .iter()
        .map(|t| {
            let bytes = std::fs::read(scratch.join(format!("{}.parquet", t.name))).unwrap();
            (t.name.to_owned(), json!([t.rows, crc32fast::hash(&bytes)]))
        })
        .collect();
    let figures = ["packet_hops", "drops", "retransmitted_segments", "timeouts", "pauses_sent", "goodput_bps"];
    let figures: BTreeMap<&str, &Value> = figures.iter().map(|&k| (k, &summary[k])).collect();
    json!({ "figures": figures, "tables": tables })
}

#[test]
fn fingerprints() {
    let scratch = std::env::temp_dir().join(format!("elephan-golden-{}", std::process::id()));
    let mut found = BTreeMap::new();
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder()).unwrap().map(|e| e.unwrap().path()).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "toml"));
    files.sort();
    for file in files {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        found.insert(name, fingerprint(&file, &scratch));
    }
    std::fs::remove_dir_all(&scratch).unwrap();
    let kept = folder().join("fingerprints.json");
    let found = json!(found);
    if std::env::var("ELEPHAN_GOLDEN").is_ok_and(|v| v == "write") {
        std::fs::write(&kept, format!("{found:#}\n")).unwrap();
        return;
    }
    let expected: Value = serde_json::from_str(&std::fs::read_to_string(kept).unwrap()).unwrap();
    for (name, one) in expected.as_object().unwrap() {
        assert_eq!(&found[name], one, "{name}: review the change, then ELEPHAN_GOLDEN=write cargo test --test golden");
    }
    assert_eq!(found.as_object().unwrap().len(), expected.as_object().unwrap().len());
}
