//! Empirical distributions: by name, from a file beside the scenario, as points; a resolved scenario needs no file.

use elephan_scenario::{Override, Source, read};

const TEXT: &str = r#"duration = "1 s"

[hosts.a]

[hosts.b]

[[links]]
between = ["a", "b"]
rate    = "1 Gbps"
delay   = "1 ms"

[[traffic]]
kind  = "users"
from  = "a"
to    = "b"
size  = { cdf = "sizes.csv" }
think = { cdf = "thoughts.csv" }
users = 3
"#;

fn source(text: &str) -> Source {
    Source::toml(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cdf/scenario.toml"), text)
}

fn error(text: &str, overrides: &[&str]) -> String {
    let overrides: Vec<Override> = overrides.iter().map(|o| Override::parse(o).unwrap()).collect();
    let error = read(&source(text), &overrides, None).unwrap_err().to_string();
    error.replace(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cdf/"), "")
}

#[test]
fn the_resolved_scenario_holds_the_points() {
    let first = read(&source(TEXT), &[], None).unwrap();
    for points in [r#"[["0 B", 0.0], ["1.5 KB", 0.25], ["2 MB", 1.0]]"#, r#"[["250 ms", 0.5], ["1 s", 1.0]]"#] {
        assert!(first.toml().contains(points), "{points}: {}", first.toml());
    }
    let second = read(&Source::toml("elsewhere.toml", first.toml()), &[], None).unwrap();
    assert_eq!(second.toml(), first.toml());
    assert_eq!(second.plan.traffic[0].kind, first.plan.traffic[0].kind);
    let named = read(&source(&TEXT.replace("sizes.csv", "web-search")), &[], None).unwrap();
    assert!(named.toml().contains(r#"size = { cdf = "web-search" }"#), "{}", named.toml());
}

#[test]
fn what_is_wrong_names_file_and_line() {
    for (file, message) in [
        ("bad.csv", "scenario.toml:16:17: traffic[0].size.cdf: bad.csv:4: \"half\" is not a number from 0"),
        ("falling.csv", "scenario.toml:16:17: traffic[0].size.cdf: [1 KB, 1] after [2 KB, 0.5]: both must rise"),
        (
            "web-serch",
            "scenario.toml:16:17: traffic[0].size.cdf: \"web-serch\": neither a published distribution (web-search, data-mining, hadoop, cache-follower, web-server) nor a file; did you mean \"web-search\"?",
        ),
        (
            "none.csv",
            "scenario.toml:16:17: traffic[0].size.cdf: none.csv: cannot be read: No such file or directory (os error 2)",
        ),
        (
            "thoughts.csv",
            "scenario.toml:16:17: traffic[0].size.cdf[0][0]: \"250000000000 ps\" is a time; a size is needed, like \"48 KiB\"",
        ),
    ] {
        assert_eq!(error(&TEXT.replace("sizes.csv", file), &[]).lines().next().unwrap(), message);
    }
    assert_eq!(
        error(&TEXT.replace("\"sizes.csv\"", "[[\"1 KB\", \"one\"]]"), &[]),
        "scenario.toml:16:27: traffic[0].size.cdf[0][1]: \"one\": expected a number"
    );
    assert_eq!(
        error(&format!("{TEXT}connections = 2\n"), &[]),
        "scenario.toml:19:15: traffic[0].connections: users opens a connection for each transfer; leave this out"
    );
}
