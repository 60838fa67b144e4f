//! Runs a scenario in both engines and finds the first row that differs.

use std::collections::BTreeMap;

use elephan_record::{Recorder, TableData, Tables};
use elephan_scenario::{Plan, Source, read};
use serde_json::{Value, json};

use super::engine::Engine;
use super::network::Counts;

/// Tables that both engines write; a difference is shown in the first of these that has one.
const TABLES: [&str; 9] =
    ["events", "datagrams", "port_samples", "switch_samples", "flow_samples", "flows", "ports", "pauses", "holds"];

/// Columns that are shown of a row that differs, beside those that do.
const SHOWN: usize = 4;

/// Returns the plan of a scenario, or why it is none.
pub fn plan(text: &str) -> Result<Plan, String> {
    read(&Source::toml("naive.toml", text), &[], None)
        .map(|read| Plan::clone(&read.plan))
        .map_err(|errors| errors.to_string())
}

/// Runs a plan in elephan. Returns the tables and the summary.
pub fn elephan(plan: &Plan) -> (Tables, Value) {
    let (summary, recorder) = elephan_sim::run(plan.clone(), Recorder::memory(), &mut |_| true).unwrap();
    (recorder.finish().unwrap(), summary)
}

/// Returns the rows of a table as text.
pub fn rows(table: &TableData) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for batch in &table.batches {
        for row in 0..batch.num_rows() {
            rows.push(batch.columns().iter().map(|column| format!("{:?}", column.slice(row, 1))).collect());
        }
    }
    rows
}

/// Returns the first difference between two tables.
pub fn difference(elephan: &TableData, naive: &TableData) -> Option<String> {
    if elephan.batches == naive.batches {
        return None;
    }
    let mut expected = rows(elephan);
    let mut found = rows(naive);
    // Rows of pauses are written when a pause ends; their numbers say when it began.
    if elephan.name == "pauses" {
        expected.sort();
        found.sort();
    }
    first_row(elephan, &expected, &found)
}

/// Returns the first row of a table in which elephan and the naive engine differ.
pub fn first_row(table: &TableData, elephan: &[Vec<String>], naive: &[Vec<String>]) -> Option<String> {
    let place = (0..elephan.len().max(naive.len())).find(|&i| elephan.get(i) != naive.get(i))?;
    let names: Vec<&str> = table.schema.fields().iter().map(|field| field.name().as_str()).collect();
    let shown = |row: Option<&Vec<String>>, other: Option<&Vec<String>>| {
        let Some(row) = row else { return "no row".to_owned() };
        let is_shown = |i: usize| i < SHOWN || other.is_none_or(|other| other[i] != row[i]);
        let cells = names.iter().zip(row).enumerate().filter(|(i, _)| is_shown(*i));
        cells.map(|(_, (name, cell))| format!("{name} {}", brief(cell))).collect::<Vec<_>>().join(" ")
    };
    let (one, other) = (elephan.get(place), naive.get(place));
    Some(format!("{}, row {place}\n  elephan: {}\n  naive:   {}", table.name, shown(one, other), shown(other, one)))
}

/// Returns the value of a cell without the name of its type.
fn brief(cell: &str) -> String {
    cell.lines().skip(2).map(str::trim).filter(|line| *line != "]").collect()
}

/// What has happened in all scenarios, and how often: drops by reason, marks, PAUSE frames, deadlocks.
pub type Happened = BTreeMap<&'static str, u64>;

/// Returns the first difference between the two engines in a scenario, and counts what happened there.
pub fn first_difference(plan: &Plan, happened: &mut Happened) -> Option<String> {
    let (tables, summary) = elephan(plan);
    let mut engine = Engine::new(plan);
    engine.run();
    engine.count(happened);
    let expected = engine.summary();
    let naive = engine.finish();
    let of = |name: &str| tables.iter().zip(&naive).find(|(table, _)| table.name == name);
    let in_tables = TABLES.iter().filter_map(|name| of(name)).find_map(|(elephan, naive)| difference(elephan, naive));
    in_tables.or_else(|| {
        let figures = expected.as_object()?.iter();
        figures
            .filter(|(key, value)| summary[key.as_str()] != **value)
            .map(|(key, value)| format!("summary, {key}\n  elephan: {}\n  naive:   {value}", summary[key.as_str()]))
            .next()
    })
}

/// Fails with the scenario and the first row that differs.
pub fn assert_alike(text: &str) {
    let plan = plan(text).unwrap_or_else(|why| panic!("{why}\n{text}"));
    if let Some(difference) = first_difference(&plan, &mut Happened::new()) {
        panic!("{text}\n{difference}");
    }
}

impl Engine<'_> {
    /// Adds what has happened in this run.
    pub fn count(&self, happened: &mut Happened) {
        let sum = |of: fn(&Counts) -> u64| self.ports.iter().map(|port| of(&port.counts)).sum();
        let deadlocks = self.deadlocks.len() as u64;
        let (marks, pauses) = (sum(|counts| counts.marks), sum(|counts| counts.pauses_sent));
        let others = [("mark", marks), ("pause", pauses), ("deadlock", deadlocks)];
        for (what, count) in self.dropped.iter().map(|(what, count)| (*what, *count)).chain(others) {
            *happened.entry(what).or_insert(0) += count;
        }
    }

    /// Returns the figures of the summary that both engines have.
    pub fn summary(&mut self) -> Value {
        let window = self.window();
        for port in 0..self.ports.len() {
            let now = self.now;
            self.ports[port].count_wait(now, window);
        }
        let goodputs: Vec<f64> = (0..self.flows.len()).map(|flow| self.goodput_bps(flow)).collect();
        let (sum, squares) = (goodputs.iter().sum::<f64>(), goodputs.iter().map(|v| v * v).sum::<f64>());
        let jain = (squares > 0.0).then(|| sum * sum / (goodputs.len() as f64 * squares));
        let drops: u64 = self.dropped.values().sum();
        let counts = || self.ports.iter().map(|port| &port.counts);
        json!({
            "flows": self.flows.len(),
            "completed": self.flows.iter().filter(|flow| flow.done.is_some()).count(),
            "goodput_bps": sum,
            "jain": jain,
            "drops": drops,
            "drops_by_reason": self.dropped,
            "loss_rate": drops as f64 / self.injected.max(1) as f64,
            "pauses_sent": counts().map(|c| c.pauses_sent).sum::<u64>(),
            "marks": counts().map(|c| c.marks).sum::<u64>(),
            "deadlock": self.first_deadlock(),
            "reordered_datagrams": self.flows.iter().map(|flow| flow.reordered).sum::<u64>(),
            "packet_hops": counts().map(|c| c.packets).sum::<u64>(),
            "bottleneck": self.bottleneck(),
        })
    }

    /// The port that dropped most or, if none did, was busiest.
    fn bottleneck(&self) -> Value {
        let dropped = |port: &usize| self.ports[*port].counts.drops;
        let order = |a: &usize, b: &usize| {
            dropped(a).cmp(&dropped(b)).then(self.utilisation(*a).total_cmp(&self.utilisation(*b))).then(b.cmp(a))
        };
        let Some(port) = (0..self.ports.len()).max_by(order) else { return Value::Null };
        let counts = &self.ports[port].counts;
        json!({
            "port": self.plan.links[port].name,
            "utilisation": self.utilisation(port),
            "drops": counts.drops,
            "loss_rate": counts.drops as f64 / (counts.drops + counts.packets).max(1) as f64,
            "queue_mean_bytes": self.queue_mean_bytes(port),
            "queue_max_bytes": counts.queue_max_bytes,
        })
    }
}
