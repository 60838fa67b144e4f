//! A short word for every column of every table, by which two engines are compared to the bit.

use arrow_array::RecordBatch;
use elephan_record::TableData;
use serde_json::{Map, Value, json};

use crate::column::Values;
use crate::open::Open;
use crate::reply::Reply;

/// FNV-1a over words of 64 bits.
struct Hash(u64);

impl Hash {
    fn add(&mut self, word: u64) {
        self.0 = (self.0 ^ word).wrapping_mul(0x0100_0000_01b3);
        self.0 ^= self.0 >> 29;
    }
}

/// Rows of each table, and a hash of the bits of each column.
pub fn digests(open: &Open) -> Reply {
    let tables = open.tables();
    let one = |table: &TableData| {
        let fields = table.schema.fields().iter().enumerate();
        let columns: Map<String, Value> =
            fields.map(|(place, field)| (field.name().clone(), column(&table.batches, place).into())).collect();
        (table.name.to_owned(), json!({ "rows": table.rows, "columns": columns }))
    };
    Reply::of(Value::Object(tables.iter().map(one).collect()))
}

fn column(batches: &[RecordBatch], place: usize) -> String {
    let mut hash = Hash(0xcbf2_9ce4_8422_2325);
    for batch in batches {
        let array = batch.column(place);
        let Some(values) = Values::of(array) else { continue };
        for row in 0..batch.num_rows() {
            match (&values, arrow_array::Array::is_null(array, row)) {
                (_, true) => hash.add(u64::MAX ^ 0x5a5a),
                (Values::Ints(a), _) => hash.add(a[row].cast_unsigned()),
                (Values::Floats(a), _) => hash.add(a[row].to_bits()),
                (Values::Int(a), _) => hash.add(a.value(row).cast_unsigned()),
                (Values::Float(a), _) => hash.add(a.value(row).to_bits()),
                (Values::Flag(a), _) => hash.add(u64::from(a.value(row))),
                (Values::Text(a), _) => {
                    let text = a.value(row);
                    hash.add(text.len() as u64);
                    text.bytes().for_each(|byte| hash.add(u64::from(byte)));
                }
            }
        }
    }
    format!("{:016x}", hash.0)
}
