//! When flows begin, leave slow start and are done; and their windows around an instant.

use crate::column::{Values, Where, numbers, numbers_where, place};
use crate::events::{Story, Told};
use crate::open::table;
use crate::reply::Trouble;
use crate::words::{rate, size, time};

/// With more flows than this their slow starts are not told: nobody would read them.
const TOLD_MAX: usize = 64;

/// The beginnings and ends of flows.
pub fn lives(story: &Story<'_>) -> Result<Vec<Told>, Trouble> {
    let tables = story.open.tables();
    let flows = table(&tables, "flows")?;
    let get = |column| numbers(flows, column);
    let (ids, start, fct, bytes) = (get("flow")?, get("start_ns")?, get("fct_ns")?, get("delivered_bytes")?);
    let mut told = Vec::new();
    for i in 0..ids.len() {
        let flow = ids[i] as i64;
        let name = story.name(flow);
        let mut tell = |at: f64, kind, weight, text| {
            let at = at as i64;
            told.push(Told { at, until: at, kind, flow: Some(flow), port: None, rows: 1, weight, text });
        };
        tell(start[i], "start", 10.0, format!("At {} {name} began.", story.instant(start[i] as i64)));
        if fct[i].is_finite() {
            let at = start[i] + fct[i];
            let mean = rate(bytes[i] * 8e9 / fct[i].max(1.0));
            let done = format!("{} in {}, {mean}", size(bytes[i]), time(fct[i]));
            tell(at, "done", 20.0, format!("At {} {name} was done: {done}.", story.instant(at as i64)));
        }
        if ids.len() <= TOLD_MAX
            && let Some((before, at, phase, window)) = slow_start_left(story, flow)?
        {
            let between = format!("{} and {}", story.instant(before as i64), story.instant(at as i64));
            let text =
                format!("Between {between} {name} left slow start for {phase}, with a window of {}.", size(window));
            tell(at, "slow_start_left", 35.0, text);
        }
    }
    Ok(told)
}

/// The samples between which a flow first left slow start, what came then, and its window.
fn slow_start_left(story: &Story<'_>, flow: i64) -> Result<Option<(f64, f64, String, f64)>, Trouble> {
    let tables = story.open.tables();
    let samples = table(&tables, "flow_samples")?;
    let (found, phases) = numbers_where(samples, &["time_ns", "cwnd_bytes"], "phase", ("flow", flow as f64))?;
    let left = (1..phases.len()).find(|&i| phases[i - 1] == "slow_start" && phases[i] != "slow_start");
    Ok(left
        .filter(|&i| phases[i] != "closed" && !phases[i].is_empty())
        .map(|i| (found[0][i - 1], found[0][i], phases[i].replace('_', " "), found[1][i])))
}

/// The window of a flow at the last sample before `loss`, and at the first one after `found`.
pub fn windows(story: &Story<'_>, flow: i64, loss: i64, found: i64) -> Option<(f64, f64)> {
    let tables = story.open.tables();
    let samples = table(&tables, "flow_samples").ok()?;
    let (time, window) = (place(samples, "time_ns").ok()?, place(samples, "cwnd_bytes").ok()?);
    let rows = tables.rows(samples, &Where::equal(samples, "flow", flow).ok()?, time);
    let mut near: Vec<(f64, f64)> = Vec::new();
    rows.near(samples, time, (loss as f64, 1), (found as f64, 1), &mut |batch, of| {
        let (times, windows) = (Values::of(batch.column(time)), Values::of(batch.column(window)));
        if let (Some(times), Some(windows)) = (times, windows) {
            near.extend(of.iter().map(|&row| (times.number(row as usize), windows.number(row as usize))));
        }
    });
    let before = near.iter().rfind(|sample| sample.0 <= loss as f64)?;
    let after = near.iter().find(|sample| sample.0 > found as f64)?;
    let pair = (before.1, after.1);
    (pair.0.is_finite() && pair.1.is_finite()).then_some(pair)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use elephan_record::Recorder;
    use elephan_scenario::{Source, read};

    use super::*;
    use crate::causes::Ways;
    use crate::open::{OfRun, Open};

    const TEXT: &str = r#"
duration = "1 s"
template = { kind = "dumbbell", pairs = 2, rate = "10 Mbps", delay = "10 ms", queue = { kind = "fifo", limit = "1 bdp" } }
traffic = [{ from = "sender", to = "receiver", kind = "bulk" }]
record = { every = "5 ms" }
"#;

    #[test]
    fn windows_are_those_of_the_samples_around_a_loss() {
        let resolved = read(&Source::toml("t", TEXT), &[], None).unwrap();
        let (_, recorder) = elephan_sim::run(resolved.plan.clone(), Recorder::memory(), &mut |_| true).unwrap();
        let open = Open::new(Some(OfRun { plan: resolved.plan }), recorder.finish().unwrap());
        let tables = open.tables();
        let samples = table(&tables, "flow_samples").unwrap();
        let story = Story { open: &open, rows: Vec::new(), names: BTreeMap::new(), span: 1, ways: Ways::default() };
        let mut found = 0;
        for flow in 0..2 {
            let key = ("flow", flow as f64);
            let (all, _) = numbers_where(samples, &["time_ns", "cwnd_bytes"], "", key).unwrap();
            let both: Vec<(f64, f64)> = all[0].iter().copied().zip(all[1].iter().copied()).collect();
            for (loss, noticed) in [
                (0, 1),
                (4_999_999, 5_000_000),
                (5_000_000, 5_000_000),
                (301_000_000, 377_700_000),
                (999_000_000, 999_999_999),
            ] {
                let before = both.iter().filter(|sample| sample.0 <= loss as f64).map(|sample| sample.1).next_back();
                let after = both.iter().filter(|sample| sample.0 > noticed as f64).map(|sample| sample.1).next();
                let wanted = before.zip(after).filter(|pair| pair.0.is_finite() && pair.1.is_finite());
                assert_eq!(windows(&story, flow, loss, noticed), wanted, "{flow} {loss} {noticed}");
                found += usize::from(wanted.is_some());
            }
        }
        assert!(found >= 4, "{found}");
    }
}
