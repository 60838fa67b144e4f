//! Runs a scenario in several ways and compares what must agree.

use elephan_record::{Recorder, Tables};
use elephan_scenario::{Plan, Source, read};
use elephan_sim::{Error, Paths};
use elephan_units::Time;
use serde_json::{Value as Json, json};

use crate::columns::{difference, table};
use crate::draw::source;
use crate::{Finding, cpu, lossless, plans, resident_bytes, rules};

/// A run with more events is stopped and nothing is said of it.
const EVENTS: u64 = 2_000_000;
/// Events that may have the same instant.
const EVENTS_AT_ONCE: u64 = 1_000_000;
/// Rows of all tables beyond which a run is not compared.
const ROWS: u64 = 2_000_000;
/// A run that takes longer than this must do at least so many events in a second of processor time. A build without optimisation does
/// a hundred times as many.
const SLOW_S: f64 = 4.0;
const SLOW_EVENTS_PER_S: f64 = 5_000.0;
/// Reading a drawn scenario takes milliseconds.
const SLOW_READING_S: f64 = 4.0;
/// Memory at which a run is stopped: a million connections at once need it.
const RESIDENT_BYTES: u64 = 1 << 30;
/// Tables that do not depend on what else is recorded.
const ALWAYS: [&str; 6] = ["flows", "ports", "copies", "hosts", "iterations", "ranks"];

/// What became of a scenario that broke no rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// The language refuses it.
    Refused,
    /// It runs too long to be compared.
    Long,
    /// All rules hold, in a run of so many events.
    Whole { events: u64 },
}

/// A finished run.
struct Ran {
    tables: Tables,
    summary: Json,
}

/// Judges a scenario by all rules. The first one that is broken is the error.
pub fn judge(scenario: &Json) -> Result<Held, Finding> {
    let begun = cpu();
    let Some([first, again]) = plans::resolve(&source(scenario))? else { return Ok(Held::Refused) };
    let reading = cpu().saturating_sub(begun).as_secs_f64();
    if reading > SLOW_READING_S {
        return Err(Finding::new("reading is slow", format!("{reading:.1} s")));
    }
    let plan = &first.plan;
    let Some(ran) = run(plan, Paths::default())? else { return Ok(Held::Long) };
    rules::check(plan, &ran.tables, &ran.summary)?;
    lossless::check(plan, &ran.tables)?;
    let Some(twin) = run(&again.plan, Paths::default())? else { return Ok(Held::Long) };
    same("the resolved scenario runs otherwise", &ran, &twin, true)?;
    if let Some(general) = run(plan, Paths { general: true, eager: true })? {
        same("the general path differs from the fast one", &ran, &general, false)?;
    }
    let quiet = read(&quiet(scenario), &[], None);
    let quiet = quiet.map_err(|errors| Finding::new("refused without recording", errors.to_string()))?;
    if let Some(mut quiet) = run(&quiet.plan, Paths::default())? {
        let rule = "recording changes the run";
        quiet.tables.retain(|table| ALWAYS.contains(&table.name));
        same(rule, &ran, &quiet, false)?;
    }
    Ok(Held::Whole { events: ran.summary["events"].as_u64().unwrap_or_default() })
}

/// Returns the scenario with nothing recorded that can be left out.
fn quiet(scenario: &Json) -> Source {
    let mut quiet = scenario.clone();
    quiet["record"] = json!({ "flows": false, "ports": "none", "messages": false, "events": false });
    source(&quiet)
}

/// Runs a plan; none if it takes too many events or rows.
fn run(plan: &Plan, paths: Paths) -> Result<Option<Ran>, Finding> {
    let begun = cpu();
    let (mut since, mut still) = ((Time::ZERO, 0), false);
    let mut done = 0;
    let finished = elephan_sim::run_on(plan.clone(), Recorder::memory(), paths, &mut |progress| {
        done = progress.events;
        if progress.now != since.0 {
            since = (progress.now, progress.events);
        }
        still = progress.events - since.1 > EVENTS_AT_ONCE;
        !still && progress.events < EVENTS && resident_bytes().is_none_or(|bytes| bytes < RESIDENT_BYTES)
    });
    if still {
        return Err(Finding::new("time stands still", format!("{EVENTS_AT_ONCE} events at {} s", since.0.seconds())));
    }
    if let Ok((summary, _)) = &finished {
        done = summary["events"].as_u64().unwrap_or_default();
    }
    let taken = cpu().saturating_sub(begun).as_secs_f64();
    if taken > SLOW_S && (done as f64) < SLOW_EVENTS_PER_S * taken {
        return Err(Finding::new("the run is slow", format!("{done} events in {taken:.1} s")));
    }
    let (summary, recorder) = match finished {
        Ok(finished) => finished,
        Err(Error::Stopped | Error::ManyPaths(..)) => return Ok(None),
        Err(Error::Conservation(what)) => return Err(Finding::new("conservation", what)),
        Err(error) => return Err(Finding::new("the run fails", error.to_string())),
    };
    let tables = recorder.finish().map_err(|error| Finding::new("the run fails", error.to_string()))?;
    let rows: u64 = tables.iter().map(|table| table.rows).sum();
    Ok((rows <= ROWS).then_some(Ran { tables, summary }))
}

/// Compares the tables that `other` has, and the summaries; their events may differ where ports take another path.
fn same(rule: &str, one: &Ran, other: &Ran, events_too: bool) -> Result<(), Finding> {
    for theirs in &other.tables {
        if let Some(difference) = difference(table(&one.tables, theirs.name), theirs) {
            return Err(Finding::new(rule, format!("table {}: {difference}", theirs.name)));
        }
    }
    let keys = one.summary.as_object().into_iter().flatten();
    for (key, value) in keys.filter(|(key, _)| events_too || *key != "events") {
        if *value != other.summary[key] {
            return Err(Finding::new(rule, format!("summary: {key} is {value} and {}", other.summary[key])));
        }
    }
    Ok(())
}
