//! Rows of a table as columns of numbers and texts.

use std::collections::BTreeMap;

use arrow_array::RecordBatch;
use arrow_schema::DataType;
use elephan_record::TableData;
use serde_json::{Map, Value, json};

use crate::ask::Ask;
use crate::column::{Values, Where, place, time_of, unit};
use crate::open::{Open, table};
use crate::reply::{Reply, Trouble};

/// Rows of one answer.
const ROWS_MAX: u64 = 1_000_000;
/// The number of a text that is missing.
const NO_TEXT: u32 = u32::MAX;
/// Whole numbers up to here are exact as doubles.
const EXACT: u64 = 1 << 53;

pub fn rows(open: &Open, ask: Ask<'_>) -> Result<Reply, Trouble> {
    let tables = open.tables();
    let table = table(&tables, ask.text("table")?)?;
    let limit = ask.maybe_u64("limit")?.unwrap_or(1000).min(ROWS_MAX) as usize;
    let chosen = chosen(table, ask)?;
    let count = chosen.len();
    let first = ask.maybe_u64("skip")?.unwrap_or(0).min(count as u64) as usize;
    let chosen = &chosen[first..count.min(first.saturating_add(limit))];
    let all = || table.schema.fields().iter().map(|field| Value::from(field.name().as_str())).collect::<Vec<_>>();
    let asked = if ask.given("columns").is_some() { ask.list("columns")?.to_vec() } else { all() };
    let mut reply = Reply::default();
    let mut columns = Vec::new();
    for name in &asked {
        let name = name.as_str().ok_or("columns: expected a list of texts")?;
        columns.push(column(table, name, chosen, &mut reply)?);
    }
    reply.head = Map::from_iter([
        ("columns".to_owned(), columns.into()),
        ("count".to_owned(), chosen.len().into()),
        ("of".to_owned(), count.into()),
    ]);
    Ok(reply)
}

/// Batch and row of the rows that are asked for.
fn chosen(table: &TableData, ask: Ask<'_>) -> Result<Vec<(u32, u32)>, Trouble> {
    let wanted = Where::of(table, ask.table("where")?)?;
    let (from, to, at) = (ask.maybe_ns("from_ns")?, ask.maybe_ns("to_ns")?, ask.maybe_ns("at_ns")?);
    let time = match ask.maybe_text("time")?.or(time_of(table)) {
        Some(time) => Some(place(table, time)?),
        None => None,
    };
    let mut chosen = Vec::new();
    for (number, batch) in (0u32..).zip(&table.batches) {
        let times = time.and_then(|time| Values::of(batch.column(time)));
        let now = |row: u32| times.as_ref().and_then(|times| times.whole(row as usize));
        let inside = |row: &u32| {
            let now = now(*row);
            from.is_none_or(|from| now.is_some_and(|now| now >= from))
                && to.or(at).is_none_or(|to| now.is_some_and(|now| now <= to))
        };
        chosen.extend(wanted.rows(batch).into_iter().filter(inside).map(|row| (number, row)));
    }
    if at.is_some() {
        let time = |&(batch, row): &(u32, u32)| {
            let values = time.and_then(|time| Values::of(table.batches[batch as usize].column(time)));
            values.and_then(|values| values.whole(row as usize))
        };
        // The last row at or before the time; of several of one instant all.
        let last = chosen.iter().filter_map(time).max();
        chosen.retain(|place| time(place) == last);
    }
    Ok(chosen)
}

fn column(table: &TableData, name: &str, chosen: &[(u32, u32)], reply: &mut Reply) -> Result<Value, Trouble> {
    let at = place(table, name)?;
    let batches: Vec<Option<Values<'_>>> =
        table.batches.iter().map(|b: &RecordBatch| Values::of(b.column(at))).collect();
    let of = |&(batch, row): &(u32, u32)| batches[batch as usize].as_ref().map(|values| (values, row as usize));
    let unit = unit(table, at);
    let numbers = |reply: &mut Reply| {
        reply.put_f64(chosen.iter().map(|place| of(place).map_or(f64::NAN, |(values, row)| values.number(row))))
    };
    Ok(match table.schema.field(at).data_type() {
        DataType::Utf8 => {
            let mut words: Vec<&str> = Vec::new();
            let mut known: BTreeMap<&str, u32> = BTreeMap::new();
            let mut codes = Vec::with_capacity(chosen.len());
            for place in chosen {
                let text = of(place).and_then(|(values, row)| values.text(row));
                codes.push(text.map_or(NO_TEXT, |text| {
                    *known.entry(text).or_insert_with(|| {
                        words.push(text);
                        (words.len() - 1) as u32
                    })
                }));
            }
            let offset = reply.put_u32(codes.into_iter());
            json!({ "name": name, "type": "text", "offset": offset, "unit": unit, "words": words })
        }
        DataType::Int64 => {
            let whole = |place: &(u32, u32)| of(place).and_then(|(values, row)| values.whole(row));
            let large = chosen.iter().filter_map(whole).any(|value| value.unsigned_abs() > EXACT);
            if large {
                let offset = reply.put_i64(chosen.iter().map(|place| whole(place).unwrap_or(i64::MIN)));
                json!({ "name": name, "type": "i64", "offset": offset, "unit": unit })
            } else {
                json!({ "name": name, "type": "f64", "offset": numbers(reply), "unit": unit })
            }
        }
        DataType::Boolean => json!({ "name": name, "type": "flag", "offset": numbers(reply), "unit": unit }),
        _ => json!({ "name": name, "type": "f64", "offset": numbers(reply), "unit": unit }),
    })
}
