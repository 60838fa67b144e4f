//! The scripts of `tests/packetdrill`, each written from an RFC, all pass; and what they say is noticed when it is changed.

use elephan_packetdrill::script::{Action, script};
use elephan_packetdrill::{Settings, Verdict, run};
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/packetdrill")
}

/// All scripts below a folder, in order.
fn scripts(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("tests/packetdrill is part of the repository") {
        let path = entry.expect("a readable folder").path();
        if path.is_dir() {
            found.extend(scripts(&path));
        } else if path.extension().is_some_and(|extension| extension == "pkt") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// packetdrill takes what is sent after the last line; a script of ours that ends with a packet says that it is the last, or it
/// would pass where more is sent.
fn ends_with_a_packet(text: &str) -> bool {
    let script = script(text).unwrap();
    script.events.last().is_some_and(|event| matches!(&event.action, Action::Packet(packet) if packet.outbound))
}

#[test]
fn every_script_passes() {
    let scripts = scripts(&root());
    let mut failed = Vec::new();
    for path in &scripts {
        let text = std::fs::read_to_string(path).unwrap();
        let report = run(&text, path.parent(), &Settings::default()).unwrap();
        if report.verdict != Verdict::Pass {
            failed.push(format!("{}: {:?}", path.display(), report.verdict));
        }
        if ends_with_a_packet(&text) && !report.left.is_empty() {
            failed.push(format!("{}: no line expects {}", path.display(), report.left.join(", ")));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// Each script says which section of which document it is from.
#[test]
fn every_script_has_its_source() {
    for path in scripts(&root()) {
        let text = std::fs::read_to_string(&path).unwrap();
        let head: String = text.lines().take_while(|line| line.starts_with("//")).collect();
        let source = ["RFC ", "draft-", "Linux "].iter().any(|source| head.contains(source));
        assert!(source, "{} names no source", path.display());
    }
}
