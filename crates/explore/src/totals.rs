//! Rates of many counters together: of all flows, whatever lives between two samples.

use std::collections::BTreeMap;

use elephan_record::TableData;

use crate::column::numbers;

/// When each counter ends, and its last value.
pub type Ends = Vec<(f64, f64, f64)>;

/// The last values of the flows' counters, which `flows` has and the samples before may not; empty for counters of another table.
///
/// A flow ends with its last byte, when it is given up or, after the last sample, with the run.
pub fn ends(tables: &[TableData], samples: &TableData, column: usize) -> Ends {
    let name = samples.schema.field(column).name();
    let Some(flows) = table_of(tables, "flows").filter(|_| samples.name == "flow_samples") else { return Ends::new() };
    let of = |name: &str| numbers(flows, name).ok();
    let (Some(last), Some(ids)) = (of(name), of("flow")) else { return Ends::new() };
    let (Some(start), Some(took), Some(end)) = (of("start_ns"), of("fct_ns"), of("end_ns")) else { return Ends::new() };
    let time = |i: usize| {
        [start[i] + took[i], end[i], f64::INFINITY].into_iter().find(|t| !t.is_nan()).unwrap_or(f64::INFINITY)
    };
    (0..ids.len()).map(|i| (time(i), ids[i], last[i])).collect()
}

fn table_of<'a>(tables: &'a [TableData], name: &str) -> Option<&'a TableData> {
    tables.iter().find(|table| table.name == name)
}

/// The growth of all counters together up to each instant at which there is a row, over the time since the instant before. `rows` has time,
/// counter and value in the order of time. A counter begins with 0; what it has gained at its end beyond its last row counts at the next
/// instant, or at the last one.
pub fn rates(rows: Vec<(f64, f64, f64)>, mut ends: Ends, scale: f64) -> Vec<(f64, f64)> {
    ends.retain(|end| !end.2.is_nan());
    ends.sort_by(|a, b| a.0.total_cmp(&b.0));
    let Some(last) = rows.last().map(|row| row.0) else { return Vec::new() };
    let mut ended = ends.into_iter().peekable();
    let mut known: BTreeMap<u64, f64> = BTreeMap::new();
    let mut found: Vec<(f64, f64)> = Vec::new();
    let (mut before, mut i) = (0.0, 0);
    while i < rows.len() {
        let time = rows[i].0;
        let mut growth = 0.0;
        let mut grow = |counter: f64, value: f64| {
            let seen = known.entry(counter.to_bits()).or_insert(0.0);
            growth += (value - *seen).max(0.0);
            *seen = seen.max(value);
        };
        while i < rows.len() && rows[i].0 == time {
            if !rows[i].2.is_nan() {
                grow(rows[i].1, rows[i].2);
            }
            i += 1;
        }
        while let Some((_, counter, value)) = ended.next_if(|end| end.0 <= time || time >= last) {
            grow(counter, value);
        }
        if time > before {
            found.push((time, growth * scale / (time - before)));
            before = time;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lives_between_two_samples_counts() {
        // Flow 0 is sampled at 10, 20 and 30 ns; flow 1 delivers 50 bytes from 11 to 14; flow 2 ends at 25 with 40, of which 30 were seen.
        let rows = vec![(10.0, 0.0, 100.0), (20.0, 0.0, 200.0), (20.0, 2.0, 30.0), (30.0, 0.0, 250.0)];
        let ends = vec![(f64::INFINITY, 0.0, 260.0), (14.0, 1.0, 50.0), (25.0, 2.0, 40.0), (5.0, 3.0, f64::NAN)];
        assert_eq!(rates(rows, ends, 1.0), [(10.0, 10.0), (20.0, 18.0), (30.0, 7.0)]);
        assert_eq!(rates(Vec::new(), vec![(1.0, 0.0, 5.0)], 1.0), []);
    }

    #[test]
    fn a_counter_that_is_no_longer_sampled_does_not_fall() {
        let rows = vec![(10.0, 0.0, 100.0), (10.0, 1.0, 100.0), (20.0, 1.0, 150.0)];
        assert_eq!(rates(rows, Vec::new(), 1.0), [(10.0, 20.0), (20.0, 5.0)]);
    }
}
