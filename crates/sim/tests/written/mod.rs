//! Runs of scenarios that are written as text, and columns of their tables.

use arrow_array::{Array, Float64Array, Int64Array};
use elephan_record::{Recorder, Tables};
use elephan_scenario::{Override, Source, read};
use serde_json::Value;

/// Tables and summary of `text` with the keys of `set`.
pub fn run_text(text: &str, set: &[&str]) -> (Tables, Value) {
    let overrides: Vec<Override> = set.iter().map(|one| Override::parse(one).unwrap()).collect();
    let resolved = read(&Source::toml("test.toml", text), &overrides, None).unwrap_or_else(|e| panic!("{e}"));
    let (summary, recorder) = elephan_sim::run(resolved.plan, Recorder::memory(), &mut |_| true).unwrap();
    (recorder.finish().unwrap(), summary)
}

/// A column of numbers, null as NaN.
pub fn column(tables: &Tables, table: &str, name: &str) -> Vec<f64> {
    let batches = &tables.iter().find(|t| t.name == table).unwrap().batches;
    let of = |array: &dyn Array| -> Vec<f64> {
        if let Some(ints) = array.as_any().downcast_ref::<Int64Array>() {
            return ints.iter().map(|v| v.map_or(f64::NAN, |v| v as f64)).collect();
        }
        let floats = array.as_any().downcast_ref::<Float64Array>().unwrap();
        floats.iter().map(|v| v.unwrap_or(f64::NAN)).collect()
    };
    batches.iter().flat_map(|batch| of(batch.column_by_name(name).unwrap())).collect()
}
