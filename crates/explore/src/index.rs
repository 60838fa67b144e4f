//! Where the rows of a table are: of each flow, of each port and kind of event, in the order of the table.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::{Arc, Mutex};

use arrow_array::RecordBatch;
use elephan_record::{TableData, Tables};

use serde_json::Value;

use crate::column::{Values, Where, number};
use crate::open::held;

/// Tables, with the indexes that were needed so far.
#[derive(Default)]
pub struct Shown {
    tables: Tables,
    indexes: Mutex<BTreeMap<Name, Arc<Index>>>,
}

/// A table, the columns by which its rows are found, and the column of their times.
type Name = (&'static str, Vec<usize>, usize);

impl Shown {
    pub fn new(tables: Tables) -> Shown {
        Shown { tables, indexes: Mutex::default() }
    }

    /// The rows of a table for which conditions hold.
    pub fn rows(&self, table: &TableData, chosen: &Where, time: usize) -> Arc<Rows> {
        let name = (table.name, chosen.places(), time);
        let known = held(&self.indexes).get(&name).cloned();
        let index = known.unwrap_or_else(|| {
            let made = Arc::new(Index::of(table, &name.1, time));
            held(&self.indexes).insert(name, made.clone());
            made
        });
        index.rows(table, chosen, time)
    }
}

impl Deref for Shown {
    type Target = Tables;

    fn deref(&self) -> &Tables {
        &self.tables
    }
}

/// Rows in the order of their table.
#[derive(Default)]
pub struct Rows {
    /// Numbers of batches, with rows of each; none of them is empty.
    parts: Vec<(u32, Vec<u32>)>,
    /// Whether no time is before that of the row before.
    pub in_order: bool,
}

impl Rows {
    fn push(&mut self, batch: u32, row: u32) {
        match self.parts.last_mut() {
            Some((last, rows)) if *last == batch => rows.push(row),
            _ => self.parts.push((batch, vec![row])),
        }
    }

    /// The rows of several groups as one.
    fn merged(groups: &[Arc<Rows>], table: &TableData, time: usize) -> Rows {
        let places = |rows: &Arc<Rows>| rows.places(0, usize::MAX).collect::<Vec<_>>();
        let mut all: Vec<(u32, u32)> = groups.iter().flat_map(places).collect();
        all.sort_unstable();
        let mut rows = Rows { in_order: true, ..Rows::default() };
        let mut last = f64::NEG_INFINITY;
        for (batch, row) in all {
            let now =
                Values::of(table.batches[batch as usize].column(time)).map_or(f64::NAN, |t| t.number(row as usize));
            rows.in_order &= now >= last;
            last = now;
            rows.push(batch, row);
        }
        rows
    }

    fn places(&self, first: usize, end: usize) -> impl Iterator<Item = (u32, u32)> {
        let all = self.parts.iter().flat_map(|(batch, rows)| rows.iter().map(|&row| (*batch, row)));
        all.skip(first).take(end.saturating_sub(first))
    }

    /// Calls `each` with the number of a batch and those of its rows that have a time from `from` to `to`, or are of the `before` instants
    /// before that or of the `after` instants after it. Rows that are not in order are all handed over. Returns whether `each` began with the
    /// first row that there is.
    pub fn near(
        &self,
        table: &TableData,
        time: usize,
        (from, before): (f64, usize),
        (to, after): (f64, usize),
        each: &mut dyn FnMut(&RecordBatch, &[u32]),
    ) -> bool {
        let at = |part: usize, row: usize| {
            let (batch, rows) = &self.parts[part];
            Values::of(table.batches[*batch as usize].column(time)).map_or(f64::NAN, |t| t.number(rows[row] as usize))
        };
        let place = |beyond: &dyn Fn(f64) -> bool| {
            let last = |part: usize| at(part, self.parts[part].1.len() - 1);
            let part = partition(self.parts.len(), |part| !beyond(last(part)));
            let row = if part < self.parts.len() {
                partition(self.parts[part].1.len(), |row| !beyond(at(part, row)))
            } else {
                0
            };
            (part, row)
        };
        let step_back = |(part, row): (usize, usize)| match (part, row) {
            (0, 0) => None,
            (part, 0) => Some((part - 1, self.parts[part - 1].1.len() - 1)),
            (part, row) => Some((part, row - 1)),
        };
        let (mut first, mut end) = ((0, 0), (self.parts.len(), 0));
        if self.in_order && before < usize::MAX {
            first = place(&|t| t >= from);
            for _ in 0..before {
                let Some(row) = step_back(first) else { break };
                let instant = at(row.0, row.1);
                first = place(&|t| t >= instant);
            }
        }
        if self.in_order && after < usize::MAX {
            end = place(&|t| t > to);
            for _ in 0..after {
                if end.0 >= self.parts.len() {
                    break;
                }
                let instant = at(end.0, end.1);
                end = place(&|t| t > instant);
            }
        }
        for part in first.0..self.parts.len().min(end.0 + 1) {
            let (batch, rows) = &self.parts[part];
            let begin = if part == first.0 { first.1 } else { 0 };
            let stop = if part == end.0 { end.1 } else { rows.len() };
            if begin < stop {
                each(&table.batches[*batch as usize], &rows[begin..stop]);
            }
        }
        first == (0, 0)
    }
}

/// The first number from 0 to `count` for which a condition, that holds for the numbers before, does not hold.
fn partition(count: usize, holds: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) { low = middle + 1 } else { high = middle }
    }
    low
}

/// The rows of a table by the values of some of its columns.
struct Index {
    /// Of each column: the numbers of its values.
    codes: Vec<Codes>,
    /// Rows by the numbers of their values.
    groups: BTreeMap<Vec<u32>, Arc<Rows>>,
}

impl Index {
    fn of(table: &TableData, places: &[usize], time: usize) -> Index {
        let mut codes: Vec<Codes> = places.iter().map(|_| Codes::default()).collect();
        let mut numbers: BTreeMap<Vec<u32>, usize> = BTreeMap::new();
        let mut groups: Vec<(Rows, f64)> = Vec::new();
        let mut key = vec![0; places.len()];
        let mut last: Option<(Vec<u32>, usize)> = None;
        for (number, batch) in (0u32..).zip(&table.batches) {
            let Some(times) = Values::of(batch.column(time)) else { continue };
            let columns: Vec<_> = places.iter().map(|&place| Values::of(batch.column(place))).collect();
            for row in 0..batch.num_rows() {
                let now = times.number(row);
                if now.is_nan() {
                    continue;
                }
                for ((code, values), key) in codes.iter_mut().zip(&columns).zip(&mut key) {
                    *key = values.as_ref().map_or(0, |values| code.take(values, row));
                }
                let group = match &last {
                    Some((before, group)) if *before == key => *group,
                    _ => {
                        let group = *numbers.entry(key.clone()).or_insert(groups.len());
                        last = Some((key.clone(), group));
                        group
                    }
                };
                if group == groups.len() {
                    groups.push((Rows { in_order: true, ..Rows::default() }, now));
                }
                let (rows, before) = &mut groups[group];
                rows.in_order &= now >= *before;
                *before = now;
                rows.push(number, row as u32);
            }
        }
        let mut groups: Vec<Option<Rows>> = groups.into_iter().map(|(rows, _)| Some(rows)).collect();
        let groups =
            numbers.into_iter().map(|(key, at)| (key, Arc::new(groups[at].take().unwrap_or_default()))).collect();
        Index { codes, groups }
    }

    fn rows(&self, table: &TableData, chosen: &Where, time: usize) -> Arc<Rows> {
        let mut keys: Vec<Vec<u32>> = vec![Vec::new()];
        for (codes, wanted) in self.codes.iter().zip(chosen.wanted()) {
            let mut found: Vec<u32> = wanted.iter().filter_map(|value| codes.find(value)).collect();
            found.sort_unstable();
            found.dedup();
            keys =
                keys.iter().flat_map(|key| found.iter().map(move |&code| [key.as_slice(), &[code]].concat())).collect();
        }
        let found: Vec<Arc<Rows>> = keys.iter().filter_map(|key| self.groups.get(key).cloned()).collect();
        match found.as_slice() {
            [] => Arc::default(),
            [one] => one.clone(),
            several => Arc::new(Rows::merged(several, table, time)),
        }
    }
}

/// The values of a column, numbered as they come.
#[derive(Default)]
struct Codes {
    /// Whole numbers from 0 to 4095, 1 more than their number; 0 for those that have none.
    small: Vec<u32>,
    numbers: BTreeMap<u64, u32>,
    words: BTreeMap<String, u32>,
    /// Of a text that is missing.
    missing: Option<u32>,
    count: u32,
}

const SMALL: usize = 4096;

impl Codes {
    /// The number of a value; a new one gets the next.
    fn take(&mut self, values: &Values<'_>, row: usize) -> u32 {
        let next = self.count;
        let code = match values {
            Values::Text(_) => match values.text(row) {
                None => *self.missing.get_or_insert(next),
                Some(word) => match self.words.get(word) {
                    Some(&code) => code,
                    None => *self.words.entry(word.to_owned()).or_insert(next),
                },
            },
            Values::Ints(numbers) if (0..SMALL as i64).contains(&numbers[row]) => {
                self.small.resize(SMALL, 0);
                let code = &mut self.small[numbers[row] as usize];
                if *code == 0 {
                    *code = *self.numbers.entry(bits(numbers[row] as f64)).or_insert(next) + 1;
                }
                *code - 1
            }
            _ => *self.numbers.entry(bits(values.number(row))).or_insert(next),
        };
        self.count = next.max(code + 1);
        code
    }

    /// The number of a wanted value, if a row has it.
    fn find(&self, wanted: &Value) -> Option<u32> {
        match wanted.as_str() {
            Some(word) => self.words.get(word).copied(),
            None if self.words.is_empty() && self.missing.is_none() => self.numbers.get(&bits(number(wanted))).copied(),
            None => self.missing.filter(|_| wanted.is_null()),
        }
    }
}

/// The bits of a number: 0 has no sign, and numbers that are missing are one.
fn bits(number: f64) -> u64 {
    if number.is_nan() { f64::NAN.to_bits() } else { (number + 0.0).to_bits() }
}

#[cfg(test)]
mod tests {
    use arrow_array::{ArrayRef, Int64Array, StringArray};
    use arrow_schema::{DataType, Field, Schema};
    use serde_json::json;

    use super::*;
    use crate::ask::Ask;
    use crate::series::lines;

    /// Time, flow, kind, and bytes that grow by 100 a row of a flow; every seventh row of flow 2 has no bytes.
    type Row = (i64, i64, &'static str, Option<i64>);

    fn rows() -> Vec<Row> {
        let mut sums = [0; 3];
        let mut row = |i: i64| {
            let flow = (i * i / 3) % 3;
            sums[flow as usize] += 100;
            let bytes = (flow != 2 || i % 7 != 0).then_some(sums[flow as usize]);
            (10 * (i / 2), flow, if i % 5 == 0 { "mark" } else { "drop" }, bytes)
        };
        (0..500).map(&mut row).collect()
    }

    fn shown(rows: &[Row]) -> Shown {
        let names = ["time_ns", "flow", "kind", "bytes"];
        let of = |name: &&str| Field::new(*name, if *name == "kind" { DataType::Utf8 } else { DataType::Int64 }, true);
        let schema = Arc::new(Schema::new(names.iter().map(of).collect::<Vec<_>>()));
        let batch = |rows: &[Row]| {
            let columns: Vec<ArrayRef> = vec![
                Arc::new(rows.iter().map(|row| Some(row.0)).collect::<Int64Array>()),
                Arc::new(rows.iter().map(|row| Some(row.1)).collect::<Int64Array>()),
                Arc::new(rows.iter().map(|row| Some(row.2)).collect::<StringArray>()),
                Arc::new(rows.iter().map(|row| row.3).collect::<Int64Array>()),
            ];
            RecordBatch::try_new(schema.clone(), columns).unwrap()
        };
        let batches = rows.chunks(37).map(batch).collect();
        Shown::new(vec![TableData { name: "events", schema: schema.clone(), batches, rows: rows.len() as u64 }])
    }

    fn asked(shown: &Shown, line: Value, from: i64, to: i64) -> Vec<(f64, f64)> {
        let params = json!({ "lines": [line], "from_ns": from, "to_ns": to, "points": 10_000 });
        let reply = lines(Ask(params.as_object().unwrap()), 2500, shown).unwrap();
        let head = &reply.head["lines"][0];
        let part = |key: &str| {
            let (offset, count) = (head[key].as_u64().unwrap() as usize, head["count"].as_u64().unwrap() as usize);
            let one = |i: usize| f64::from_le_bytes(reply.body[offset + 8 * i..][..8].try_into().unwrap());
            (0..count).map(one).collect::<Vec<_>>()
        };
        part("offset_t").into_iter().zip(part("offset_y")).collect()
    }

    /// Points in an interval with the nearest on either side, by looking at all of them.
    fn cut(all: &[(f64, f64)], from: i64, to: i64) -> Vec<(f64, f64)> {
        let inside = |i: &usize| {
            let next = all.get(i + 1).is_some_and(|p| p.0 >= from as f64) && all[*i].0 < from as f64;
            let before = *i > 0 && all[i - 1].0 <= to as f64 && all[*i].0 > to as f64;
            let last = all[*i].0 < from as f64 && i + 1 == all.len();
            (all[*i].0 >= from as f64 && all[*i].0 <= to as f64)
                || next
                || last
                || before
                || (*i == 0 && all[0].0 > to as f64)
        };
        (0..all.len()).filter(inside).map(|i| all[i]).collect()
    }

    fn same(a: &[(f64, f64)], b: &[(f64, f64)]) -> bool {
        let all = |points: &[(f64, f64)]| points.iter().map(|p| (bits(p.0), bits(p.1))).collect::<Vec<_>>();
        all(a) == all(b)
    }

    #[test]
    fn an_interval_has_the_rows_of_a_search_through_all() {
        let mut late = rows();
        late.swap(100, 300); // out of the order of time
        for rows in [rows(), late] {
            let shown = shown(&rows);
            let find = |flows: &[i64], kind: Option<&str>| {
                let chosen = rows.iter().filter(|row| flows.contains(&row.1) && kind.is_none_or(|kind| kind == row.2));
                let mut all: Vec<(f64, f64)> =
                    chosen.map(|row| (row.0 as f64, row.3.map_or(f64::NAN, |v| v as f64))).collect();
                all.sort_by(|a, b| a.0.total_cmp(&b.0));
                all
            };
            for (wanted, all) in [
                (json!({ "flow": 1 }), find(&[1], None)),
                (json!({ "flow": 2, "kind": "drop" }), find(&[2], Some("drop"))),
                (json!({ "flow": [0, 2] }), find(&[0, 2], None)),
                (json!({ "kind": "mark" }), find(&[0, 1, 2], Some("mark"))),
                (json!({}), find(&[0, 1, 2], None)),
                (json!({ "flow": 9 }), vec![]),
            ] {
                let line = |how: &str| json!({ "table": "events", "column": "bytes", "where": wanted, "how": how });
                for (from, to) in
                    [(0, 2500), (0, 0), (7, 7), (330, 990), (1000, 1000), (1001, 1009), (2480, 2600), (2600, 2700)]
                {
                    let found = asked(&shown, line("value"), from, to);
                    assert!(same(&found, &cut(&all, from, to)), "{wanted} {from} {to}: {found:?}");
                    for how in ["rate", "sum", "count"] {
                        let whole = asked(&shown, line(how), 0, 2500);
                        assert!(
                            same(&asked(&shown, line(how), from, to), &cut(&whole, from, to)),
                            "{how} {wanted} {from} {to}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn a_rate_is_the_growth_since_the_row_before() {
        let shown = shown(&rows());
        let line = json!({ "table": "events", "column": "bytes", "where": { "flow": 1 }, "how": "rate" });
        let mine: Vec<Row> = rows().into_iter().filter(|row| row.1 == 1).collect();
        let found = asked(&shown, line, 500, 2000);
        assert!(found.len() > 50);
        for (time, rate) in found {
            let at = mine.iter().position(|row| row.0 as f64 == time).unwrap();
            let sum = |time: i64| mine.iter().filter(|row| row.0 == time).map(|row| row.3.unwrap()).sum::<i64>() as f64;
            let before = mine[at - 1].0;
            assert_eq!(rate, (sum(time as i64) - sum(before)) * 1e9 / (time - before as f64));
        }
    }

    #[test]
    fn texts_and_numbers_that_are_missing_are_found() {
        let shown = shown(&rows());
        let count = |wanted: Value| {
            asked(&shown, json!({ "table": "events", "how": "count", "where": wanted }), 0, 2500).last().map(|p| p.1)
        };
        let all = rows();
        let none = all.iter().filter(|row| row.3.is_none()).count() as f64;
        assert!(none > 10.0);
        assert_eq!(count(json!({ "bytes": null })), Some(none));
        assert_eq!(count(json!({ "kind": null })), None);
        assert_eq!(count(json!({ "kind": ["mark", "drop"], "flow": [0, 1, 2] })), Some(500.0));
    }
}
