//! When flows begin, leave slow start and are done; and their windows around an instant.

use crate::column::{numbers, numbers_where};
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
    let (columns, _) = numbers_where(samples, &["time_ns", "cwnd_bytes"], "", ("flow", flow as f64)).ok()?;
    let (times, window) = (&columns[0], &columns[1]);
    let before = times.partition_point(|t| *t <= loss as f64).checked_sub(1)?;
    let after = times.partition_point(|t| *t <= found as f64);
    let pair = (*window.get(before)?, *window.get(after)?);
    (pair.0.is_finite() && pair.1.is_finite()).then_some(pair)
}
