//! The child processes. They say on their standard output what they do, a line each: `begin SEED`, `held SEED`, and at last
//! `found RULE<tab>DETAIL` or `done`.

use std::fs;
use std::path::Path;
use std::process::exit;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use elephan_fuzz::draw::{repaired, valid};
use elephan_fuzz::{Finding, Held, guarded, judge, main_cpu, resident_bytes};
use serde_json::Value as Json;

/// Processor time for one case, in which a scenario is run five times.
const CASE: Duration = Duration::from_secs(120);
/// Memory that the process may hold.
const MEMORY_BYTES: u64 = 3 << 30;
/// Processor time at which the case at hand began, in milliseconds.
static BEGUN_MS: AtomicU64 = AtomicU64::new(0);

/// Goes through seeds until a rule is broken.
pub fn go(seed: u64, cases: u64, current: &Path) {
    watch();
    let schema = elephan_scenario::schema();
    for seed in (0..cases).map(|case| seed.wrapping_add(case)) {
        println!("begin {seed}");
        begin();
        let mut keep = |scenario: &Json| write(current, scenario);
        let found = guarded(|| match valid(schema, seed, &mut keep)? {
            Some(scenario) => judge(&scenario),
            None => Ok(Held::Refused),
        });
        match found {
            Ok(held) => println!("held {seed} {held:?}"),
            Err(finding) => report(&finding),
        }
    }
    println!("done");
}

/// Judges the scenario in a file.
pub fn trial(file: &Path) {
    watch();
    begin();
    let text = fs::read_to_string(file).unwrap_or_default();
    let scenario: Json = serde_json::from_str(&text).unwrap_or_default();
    let mut keep = |scenario: &Json| write(file, scenario);
    let found = guarded(|| match repaired(scenario, &mut keep)? {
        Some(scenario) => judge(&scenario),
        None => Ok(Held::Refused),
    });
    if let Err(finding) = found {
        report(&finding);
    }
    println!("done");
}

fn report(finding: &Finding) -> ! {
    println!("found {}\t{}", finding.rule, finding.detail);
    exit(1);
}

fn write(file: &Path, scenario: &Json) {
    if let Err(error) = fs::write(file, scenario.to_string()) {
        eprintln!("{}: {error}", file.display());
        exit(2);
    }
}

fn begin() {
    BEGUN_MS.store(main_cpu().as_millis() as u64, Ordering::Relaxed);
}

/// Watches the main thread from another one, which ends the process when it takes too much.
fn watch() {
    thread::spawn(|| {
        loop {
            thread::sleep(Duration::from_millis(50));
            let taken = (main_cpu().as_millis() as u64).saturating_sub(BEGUN_MS.load(Ordering::Relaxed));
            if taken > CASE.as_millis() as u64 {
                report(&Finding::new("no end in sight", format!("stopped after {} s of processor time", taken / 1000)));
            }
            if let Some(bytes) = resident_bytes()
                && bytes > MEMORY_BYTES
            {
                report(&Finding::new("too much memory", format!("{} MB", bytes >> 20)));
            }
        }
    });
}
