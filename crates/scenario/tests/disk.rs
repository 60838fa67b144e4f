//! Disks of hosts: profiles by name and from files, what follows from them, and what is wrong, each at its place.

use elephan_scenario::{Override, Source, read};
use elephan_units::{Bytes, Rate};

const TEXT: &str = r#"duration = "1 s"

[hosts.a]
disk = { profile = "good.toml" }

[hosts.b]
disk = { profile = "icp-66x4", cache = "1 GiB" }

[[links]]
between = ["a", "b"]
rate    = "1 Gbps"
delay   = "3 ms"

[[traffic]]
kind   = "disk-copy"
from   = "a"
to     = "b"
window = "600 kB"
"#;

/// A scenario that stands in the folder of the profiles.
fn source(text: &str) -> Source {
    Source::toml(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/disk/scenario.toml"), text)
}

fn error(text: &str, overrides: &[&str]) -> String {
    let overrides: Vec<Override> = overrides.iter().map(|o| Override::parse(o).unwrap()).collect();
    let error = read(&source(text), &overrides, None).unwrap_err().to_string();
    error.replace(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/disk/"), "")
}

#[test]
fn the_resolved_scenario_holds_the_profiles() {
    let first = read(&source(TEXT), &[], None).unwrap();
    let disk = |node: usize| first.plan.nodes[node].disk.clone().unwrap();
    let (a, b) = (disk(0), disk(1));
    // The measured window of 512 KiB, and the file's block; the table's RAID 5.
    assert_eq!((a.read_rate(), a.write_rate(), a.block), (Rate(800_000_000), Rate(512_000_000), Bytes(1 << 20)));
    assert_eq!((b.read_rate(), b.write_rate(), b.cache), (Rate(804_000_000), Rate(538_000_000), Bytes(1 << 30)));
    assert_eq!(a.cache, Bytes(256_000_000));
    assert!(!first.toml().contains("good.toml"), "{}", first.toml());
    let second = read(&Source::toml("elsewhere.toml", first.toml()), &[], None).unwrap();
    assert_eq!((&second.toml(), &second.plan.nodes[1].disk), (&first.toml(), &first.plan.nodes[1].disk));
    let shown = |key: &str| serde_json::to_value(&first.provenance()[key]).unwrap();
    assert_eq!(
        (&shown("hosts.b.disk.cache")["origin"], &shown("hosts.b.disk.block")["origin"]),
        (&"given".into(), &"assumed".into())
    );
    // Streams become flows, the window socket buffers at both ends.
    let (traffic, options) = (&first.plan.traffic[0], &first.plan.options);
    assert_eq!(traffic.flows.len(), 4);
    let sender = &options[traffic.flows[0].sender as usize];
    assert_eq!((sender.send_buffer, sender.receive_window), (Bytes(600_000), Bytes(600_000)));
}

/// Another profile in a resolved scenario has its own rates.
#[test]
fn a_resolved_profile_can_be_another() {
    let resolved = read(&source(TEXT), &[], None).unwrap().toml();
    let other = [Override::parse("hosts.b.disk.profile=3ware-ata-66x4").unwrap()];
    let disk = read(&source(&resolved), &other, None).unwrap().plan.nodes[1].disk.clone().unwrap();
    assert_eq!((disk.read_rate(), disk.write_rate()), (Rate(1_066_000_000), Rate(335_000_000)));
}

/// What is given wins over the profile, and another read-ahead is interpolated.
#[test]
fn given_over_measured() {
    let text = TEXT.replace(
        "{ profile = \"good.toml\" }",
        "{ profile = \"good.toml\", read_ahead = \"256 KiB\", write = \"1 Gbps\" }",
    );
    let disk = read(&source(&text), &[], None).unwrap().plan.nodes[0].disk.clone().unwrap();
    assert_eq!((disk.read_rate(), disk.write_rate()), (Rate(600_000_000), Rate(1_000_000_000)));
    let text = TEXT.replace("{ profile = \"good.toml\" }", "{ profile = \"good.toml\", read = \"2 Gbps\" }");
    let disk = read(&source(&text), &["hosts.a.disk.read_ahead=1 TiB"].map(|o| Override::parse(o).unwrap()), None);
    let rate = disk.unwrap().plan.nodes[0].disk.clone().unwrap().read_rate();
    assert!(rate <= Rate(2_000_000_000) && rate > Rate(1_999_000_000), "{rate}");
}

#[test]
fn what_is_wrong_names_file_and_line() {
    let of = |file: &str| error(&TEXT.replace("good.toml", file), &[]);
    let place = "scenario.toml:4:20: hosts.a.disk.profile";
    assert_eq!(
        of("misspelt.toml"),
        format!("{place}: misspelt.toml:3:1: unknown key \"wrote\"; did you mean \"write\"?")
    );
    assert_eq!(
        of("unordered.toml"),
        format!("{place}: unordered.toml:4:15: read_points: must be in the order of read_ahead, each window once")
    );
    assert_eq!(
        of("other.toml"),
        format!("{place}: other.toml:1:10: format: \"elephan-disk-7\": expected \"elephan-disk-1\"")
    );
    assert!(
        of("broken.toml").starts_with(&format!("{place}: broken.toml:2:10: not valid TOML")),
        "{}",
        of("broken.toml")
    );
    assert_eq!(of("none.toml"), format!("{place}: none.toml: cannot be read: No such file or directory (os error 2)"));
    assert_eq!(
        of("icp-66x5"),
        format!("{place}: \"icp-66x5\": neither a measured array nor a file; did you mean \"icp-66x4\"?")
    );
    assert_eq!(
        error(TEXT, &["hosts.b.disk={ read = \"1 Gbps\" }"]),
        "-s hosts.b.disk={ read = \"1 Gbps\" }: give a profile, or read and write, or disks and disk_rate"
    );
    // An array beside a file, and what an earlier file has left.
    for (key, value) in [("disks", "4"), ("controller", "1 Gbps"), ("raid", "raid5")] {
        let set = format!("hosts.a.disk.{key}={value}");
        assert_eq!(error(TEXT, &[&set]), format!("-s {set}: goes without a file, which has measured rates"));
    }
    let resolved = read(&source(TEXT), &[], None).unwrap().toml();
    let other = ["hosts.a.disk.profile=good.toml"];
    assert!(
        error(&resolved, &other).contains("hosts.a.disk.read_points: goes without a file"),
        "{}",
        error(&resolved, &other)
    );
    assert_eq!(
        error(TEXT, &["hosts.b.disk.cache=256"]),
        "-s hosts.b.disk.cache=256: 256: a size needs a unit, like \"48 KiB\""
    );
    assert_eq!(
        error(TEXT, &["traffic.disk-copy.connections=2"]),
        "-s traffic.disk-copy.connections=2: traffic[0].connections: disk-copy has streams; leave this out"
    );
    assert_eq!(
        error(TEXT, &["traffic.disk-copy.transport=roce"]),
        "-s traffic.disk-copy.transport=roce: traffic[0].transport: disk-copy goes over TCP"
    );
}
