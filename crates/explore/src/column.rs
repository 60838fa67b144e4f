//! Columns of tables in memory as numbers and texts, batch by batch.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::DataType;
use elephan_record::TableData;
use serde_json::{Map, Value};

use crate::reply::Trouble;

/// Where a column stands in its table.
pub fn place(table: &TableData, column: &str) -> Result<usize, Trouble> {
    table.schema.index_of(column).map_err(|_| {
        let known: Vec<&str> = table.schema.fields().iter().map(|field| field.name().as_str()).collect();
        format!("no column {column:?} in {}: {}", table.name, known.join(", ")).into()
    })
}

/// The column of the time of a row: the first that is a time.
pub fn time_of(table: &TableData) -> Option<&str> {
    let names = || table.schema.fields().iter().map(|field| field.name().as_str());
    let known = ["time_ns", "exit_ns", "start_ns", "begin_ns", "from_ns"];
    known.iter().find_map(|known| names().find(|name| name == known)).or(names().find(|name| name.ends_with("_ns")))
}

/// The unit of a column; empty without one.
pub fn unit(table: &TableData, place: usize) -> &str {
    table.schema.field(place).metadata().get("unit").map_or("", String::as_str)
}

/// One column of one batch. Numbers none of which is missing are a slice.
pub enum Values<'a> {
    Ints(&'a [i64]),
    Floats(&'a [f64]),
    Int(&'a arrow_array::Int64Array),
    Float(&'a arrow_array::Float64Array),
    Flag(&'a arrow_array::BooleanArray),
    Text(&'a arrow_array::StringArray),
}

impl<'a> Values<'a> {
    pub fn of(array: &'a ArrayRef) -> Option<Values<'a>> {
        match array.data_type() {
            DataType::Int64 => array.as_primitive_opt::<Int64Type>().map(|a| match a.null_count() {
                0 => Values::Ints(a.values()),
                _ => Values::Int(a),
            }),
            DataType::Float64 => array.as_primitive_opt::<Float64Type>().map(|a| match a.null_count() {
                0 => Values::Floats(a.values()),
                _ => Values::Float(a),
            }),
            DataType::Boolean => array.as_boolean_opt().map(Values::Flag),
            DataType::Utf8 => array.as_string_opt().map(Values::Text),
            _ => None,
        }
    }

    /// The value as a number, NaN for one that is missing or a text.
    pub fn number(&self, row: usize) -> f64 {
        match self {
            Values::Ints(a) => a[row] as f64,
            Values::Floats(a) => a[row],
            Values::Int(a) if a.is_valid(row) => a.value(row) as f64,
            Values::Float(a) if a.is_valid(row) => a.value(row),
            Values::Flag(a) if a.is_valid(row) => f64::from(u8::from(a.value(row))),
            _ => f64::NAN,
        }
    }

    /// The value as a whole number, if it is one.
    pub fn whole(&self, row: usize) -> Option<i64> {
        match self {
            Values::Ints(a) => Some(a[row]),
            Values::Int(a) if a.is_valid(row) => Some(a.value(row)),
            _ => None,
        }
    }

    /// The text; none for one that is missing or no text.
    pub fn text(&self, row: usize) -> Option<&'a str> {
        match self {
            Values::Text(a) if a.is_valid(row) => Some(a.value(row)),
            _ => None,
        }
    }
}

/// Which rows are asked for: each of some columns has a value, or one of several.
pub struct Where {
    conditions: Vec<(usize, Vec<Value>)>,
}

impl Where {
    pub fn of(table: &TableData, asked: Option<&Map<String, Value>>) -> Result<Where, Trouble> {
        let one = |(column, value): (&String, &Value)| {
            let values = value.as_array().cloned().unwrap_or_else(|| vec![value.clone()]);
            Ok((place(table, column)?, values))
        };
        let conditions = asked.into_iter().flatten().map(one).collect::<Result<_, Trouble>>()?;
        Ok(Where { conditions })
    }

    /// The rows in which a column has a number.
    pub fn equal(table: &TableData, column: &str, number: i64) -> Result<Where, Trouble> {
        Ok(Where { conditions: vec![(place(table, column)?, vec![number.into()])] })
    }

    /// Where the columns of the conditions stand.
    pub fn places(&self) -> Vec<usize> {
        self.conditions.iter().map(|(place, _)| *place).collect()
    }

    /// The values that each condition allows.
    pub fn wanted(&self) -> impl Iterator<Item = &[Value]> {
        self.conditions.iter().map(|(_, values)| values.as_slice())
    }

    /// The rows of a batch that are asked for, ascending.
    pub fn rows(&self, batch: &RecordBatch) -> Vec<u32> {
        let mut rows: Vec<u32> = (0..batch.num_rows() as u32).collect();
        for (place, wanted) in &self.conditions {
            let Some(values) = Values::of(batch.column(*place)) else { continue };
            match &values {
                Values::Text(_) => {
                    rows.retain(|&row| {
                        let text = values.text(row as usize);
                        wanted.iter().any(|value| value.as_str() == text && (text.is_some() || value.is_null()))
                    });
                }
                Values::Ints(a) if wanted.len() == 1 => {
                    let wanted = number(&wanted[0]);
                    rows.retain(|&row| a[row as usize] as f64 == wanted);
                }
                _ => {
                    let numbers: Vec<f64> = wanted.iter().map(number).collect();
                    rows.retain(|&row| {
                        let number = values.number(row as usize);
                        numbers.iter().any(|wanted| *wanted == number || (wanted.is_nan() && number.is_nan()))
                    });
                }
            }
        }
        rows
    }
}

/// A wanted value as numbers of a column are read: null and what is no number is NaN.
pub fn number(value: &Value) -> f64 {
    value.as_bool().map(|flag| f64::from(u8::from(flag))).or(value.as_f64()).unwrap_or(f64::NAN)
}

/// All values of a column as numbers.
pub fn numbers(table: &TableData, column: &str) -> Result<Vec<f64>, Trouble> {
    let place = place(table, column)?;
    let of = |batch: &RecordBatch| {
        let values = Values::of(batch.column(place));
        (0..batch.num_rows()).map(|row| values.as_ref().map_or(f64::NAN, |v| v.number(row))).collect::<Vec<_>>()
    };
    Ok(table.batches.iter().flat_map(of).collect())
}

/// All values of a column of texts; a missing one is empty.
pub fn texts(table: &TableData, column: &str) -> Result<Vec<String>, Trouble> {
    let place = place(table, column)?;
    let of = |batch: &RecordBatch| {
        let values = Values::of(batch.column(place));
        let text = |row| values.as_ref().and_then(|v| v.text(row)).unwrap_or_default().to_owned();
        (0..batch.num_rows()).map(text).collect::<Vec<_>>()
    };
    Ok(table.batches.iter().flat_map(of).collect())
}

/// Columns of numbers, and one of texts unless its name is empty, of the rows in which a column has a value.
pub fn numbers_where(
    table: &TableData,
    columns: &[&str],
    text: &str,
    (key, wanted): (&str, f64),
) -> Result<(Vec<Vec<f64>>, Vec<String>), Trouble> {
    let key = place(table, key)?;
    let places = columns.iter().map(|column| place(table, column)).collect::<Result<Vec<_>, _>>()?;
    let text = if text.is_empty() { None } else { Some(place(table, text)?) };
    let (mut found, mut texts) = (vec![Vec::new(); places.len()], Vec::new());
    for batch in &table.batches {
        let Some(keys) = Values::of(batch.column(key)) else { continue };
        let rows: Vec<usize> = (0..batch.num_rows()).filter(|&row| keys.number(row) == wanted).collect();
        for (column, place) in found.iter_mut().zip(&places) {
            let values = Values::of(batch.column(*place));
            column.extend(rows.iter().map(|&row| values.as_ref().map_or(f64::NAN, |values| values.number(row))));
        }
        if let Some(values) = text.and_then(|text| Values::of(batch.column(text))) {
            texts.extend(rows.iter().map(|&row| values.text(row).unwrap_or_default().to_owned()));
        }
    }
    Ok((found, texts))
}
