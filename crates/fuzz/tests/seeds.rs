//! The fuzz over some fixed seeds, and over every scenario in which it has found a fault that is mended.

use std::fs;
use std::path::Path;

use elephan_fuzz::draw::{Draw, lone_kinds, repaired, valid};
use elephan_fuzz::{Held, guarded, judge};
use elephan_scenario::Source;

/// Draws of each kind of traffic.
const SEEDS: u64 = 3;

#[test]
fn some_seeds() {
    let mut events = 0;
    for seed in 0..16 {
        let judged =
            guarded(|| valid(elephan_scenario::schema(), seed, &mut |_| {})?.map_or(Ok(Held::Refused), |s| judge(&s)));
        match judged {
            Ok(Held::Whole { events: some }) => events += some,
            Ok(_) => {}
            Err(finding) => panic!("seed {seed}: {finding}"),
        }
    }
    assert!(events > 10_000, "{events} events");
}

/// Each kind of traffic behind switches that promise to lose nothing of it, by all rules.
#[test]
fn every_kind_behind_a_promise() {
    for kind in lone_kinds() {
        let is_whole = |seed: u64| {
            let drawn = Draw::new(elephan_scenario::schema(), seed).lossless(kind);
            let judged = guarded(|| repaired(drawn, &mut |_| {})?.map_or(Ok(Held::Refused), |s| judge(&s)));
            matches!(judged.unwrap_or_else(|finding| panic!("{kind}, seed {seed}: {finding}")), Held::Whole { .. })
        };
        // Most draws of some kinds are refused: the search goes on to the first that is not.
        let whole = (0..SEEDS).filter(|&seed| is_whole(seed)).count();
        assert!(whole > 0 || (SEEDS..8 * SEEDS).any(is_whole), "no run of {kind} is judged");
    }
}

#[test]
fn found_and_mended() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("found");
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty());
    for file in files {
        let scenario = Source::open(&file).unwrap().to_json().unwrap();
        match guarded(|| judge(&scenario)) {
            Ok(Held::Whole { .. }) => {}
            other => panic!("{}: {other:?}", file.display()),
        }
    }
}
