//! Columns of finished tables, read by name.

use arrow_array::{Array, ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray};
use elephan_record::{TableData, Tables};

/// Returns the table of a name. Its absence is a mistake of the caller.
pub fn table<'a>(tables: &'a Tables, name: &str) -> &'a TableData {
    tables.iter().find(|table| table.name == name).unwrap_or_else(|| panic!("no table {name}"))
}

fn column<'a, T: Array + 'static>(batch: &'a RecordBatch, name: &str) -> &'a T {
    let column = batch.column_by_name(name).and_then(|column| column.as_any().downcast_ref::<T>());
    column.unwrap_or_else(|| panic!("no column {name} of this type"))
}

/// Returns a column of whole numbers; a missing value is none.
pub fn ints(table: &TableData, name: &str) -> Vec<Option<i64>> {
    table.batches.iter().flat_map(|batch| column::<Int64Array>(batch, name).iter()).collect()
}

/// Returns a column of whole numbers that is never empty.
pub fn whole(table: &TableData, name: &str) -> Vec<i64> {
    ints(table, name).into_iter().map(Option::unwrap_or_default).collect()
}

pub fn floats(table: &TableData, name: &str) -> Vec<Option<f64>> {
    table.batches.iter().flat_map(|batch| column::<Float64Array>(batch, name).iter()).collect()
}

pub fn bools(table: &TableData, name: &str) -> Vec<bool> {
    table.batches.iter().flat_map(|batch| column::<BooleanArray>(batch, name).iter().flatten()).collect()
}

pub fn texts<'a>(table: &'a TableData, name: &str) -> Vec<Option<&'a str>> {
    table.batches.iter().flat_map(|batch| column::<StringArray>(batch, name).iter()).collect()
}

/// Returns a value of a column as text.
fn shown(column: &ArrayRef, row: usize) -> String {
    let any = column.as_any();
    if column.is_null(row) {
        return "null".to_owned();
    }
    let int = any.downcast_ref::<Int64Array>().map(|c| c.value(row).to_string());
    let float = || any.downcast_ref::<Float64Array>().map(|c| c.value(row).to_string());
    let text = || any.downcast_ref::<StringArray>().map(|c| c.value(row).to_owned());
    let bool = || any.downcast_ref::<BooleanArray>().map(|c| c.value(row).to_string());
    int.or_else(float).or_else(text).or_else(bool).unwrap_or_default()
}

/// Returns the first value in which two tables differ, with its place; none if they have the same rows.
pub fn difference(one: &TableData, other: &TableData) -> Option<String> {
    if one.batches == other.batches {
        return None;
    }
    let mut row = 0;
    for (a, b) in one.batches.iter().zip(&other.batches) {
        for at in 0..a.num_rows().min(b.num_rows()) {
            for (n, field) in one.schema.fields().iter().enumerate() {
                let (x, y) = (shown(a.column(n), at), shown(b.column(n), at));
                if x != y {
                    return Some(format!("{} of row {} is {x} and {y}", field.name(), row + at));
                }
            }
        }
        row += a.num_rows();
    }
    Some(format!("{} and {} rows", one.rows, other.rows))
}
