//! Traffic of kind `replay`: its file stands beside the scenario, and a resolved scenario no longer needs it.

use elephan_scenario::{Override, Source, read};

const TEXT: &str = r#"duration = "1 s"

[hosts.a]
count = 2

[hosts.b]

[switches.sw]

[[links]]
between = ["a", "sw"]
rate    = "1 Gbps"
delay   = "1 ms"

[[links]]
between = ["sw", "b"]
rate    = "1 Gbps"
delay   = "1 ms"

[[traffic]]
kind = "replay"
from = "a"
to   = "b"
file = "flows.csv"
"#;

/// A scenario that stands in the folder of the traces.
fn source(text: &str) -> Source {
    Source::toml(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/replay/scenario.toml"), text)
}

fn error(text: &str, overrides: &[&str]) -> String {
    let overrides: Vec<Override> = overrides.iter().map(|o| Override::parse(o).unwrap()).collect();
    let error = read(&source(text), &overrides, None).unwrap_err().to_string();
    error.replace(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/replay/"), "")
}

#[test]
fn the_resolved_scenario_holds_the_trace() {
    let first = read(&source(TEXT), &[], None).unwrap();
    assert!(first.toml().contains("12.5,50000,1") && !first.toml().contains("flows.csv"), "{}", first.toml());
    let second = read(&Source::toml("elsewhere.toml", first.toml()), &[], None).unwrap();
    assert_eq!(second.toml(), first.toml());
    assert_eq!(second.plan.traffic[0].kind, first.plan.traffic[0].kind);
    // Lists of parameters show the first line only.
    let shown = &first.provenance()["traffic[0].trace"].value;
    assert_eq!(shown, "# three flows, out of order ... (5 lines)");
}

#[test]
fn what_is_wrong_names_file_and_line() {
    assert_eq!(
        error(&TEXT.replace("flows.csv", "bad.csv"), &[]),
        "scenario.toml:24:8: traffic[0].file: bad.csv:3: size_bytes: \"some\" is not a whole number from 0"
    );
    assert_eq!(
        error(TEXT, &["traffic.replay.file=none.csv"]),
        "-s traffic.replay.file=none.csv: traffic[0].file: none.csv: cannot be read: No such file or directory (os error 2)"
    );
    assert_eq!(
        error(&TEXT.replace("from = \"a\"", "from = \"a[0]\""), &[]),
        "scenario.toml:24:8: traffic[0].trace: line 4: pair: 1 is not one of the 1 pairs, counted from 0"
    );
    assert_eq!(
        error(&format!("{TEXT}trace = \"\"\n"), &[]),
        "scenario.toml:20:1: traffic[0]: a replay needs exactly one of file, trace"
    );
    assert_eq!(
        error(&TEXT.replace("\"flows.csv\"", "7"), &[]),
        "scenario.toml:24:8: traffic[0].file: 7: expected a text"
    );
}
