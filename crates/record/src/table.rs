//! A table under construction: a buffer of rows, sealed into Arrow batches when full. One macro declares a table.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::SchemaRef;

use crate::Error;
use crate::cell::Words;
use crate::names::{self, SharedNames};
use crate::sink::Sink;
use crate::spec::Spec;

/// Rows in a batch and in a Parquet row group: large enough to compress well, small enough to hold one per table.
pub const ROW_GROUP_ROWS: usize = 64 * 1024;

/// A row of a table.
pub trait Row: Copy {
    /// The table that it belongs to.
    const SPEC: Spec;
    /// The rows turned into columns.
    #[doc(hidden)]
    fn columns(rows: &[Self], words: &Words) -> Vec<ArrayRef>;
}

/// Declares a row and its table: `/// what a row is` `Row in "table" { /// what it says` `column: type = "unit", ... }`.
macro_rules! table {
    ($(#[doc = $about:literal])+ $row:ident in $name:literal {
        $( $(#[doc = $text:literal])+ $column:ident : $type:ty = $unit:literal, )+
    }) => {
        $(#[doc = $about])+
        #[derive(Debug, Clone, Copy, PartialEq, Default)]
        pub struct $row {
            $( $(#[doc = $text])+ pub $column: $type, )+
        }

        impl $crate::table::Row for $row {
            const SPEC: $crate::spec::Spec = $crate::spec::Spec {
                name: $name,
                description: concat!($($about),+).trim_ascii(),
                columns: &[ $( $crate::spec::Column {
                    name: stringify!($column),
                    kind: <$type as $crate::cell::Cell>::KIND,
                    nullable: <$type as $crate::cell::Cell>::NULLABLE,
                    unit: $unit,
                    description: concat!($($text),+).trim_ascii(),
                }, )+ ],
            };

            fn columns(rows: &[Self], words: &$crate::cell::Words) -> Vec<::arrow_array::ArrayRef> {
                vec![ $( <$type as $crate::cell::Cell>::array(rows.iter().map(|row| row.$column), words), )+ ]
            }
        }
    };
}
pub(crate) use table;

/// The rows of one table so far.
pub struct Table<R: Row> {
    rows: Vec<R>,
    total_rows: u64,
    names: SharedNames,
    schema: SchemaRef,
    sink: Sink,
    error: Option<Error>,
}

impl<R: Row> Table<R> {
    pub(crate) fn new(names: SharedNames, sink: Sink) -> Self {
        Table { rows: Vec::new(), total_rows: 0, names, schema: R::SPEC.schema(), sink, error: None }
    }

    /// Adds a row. When this fills a batch and writing it fails, the error is kept for [`Table::check`] and all later
    /// rows are dropped.
    #[inline]
    pub fn push(&mut self, row: R) {
        self.rows.push(row);
        if self.rows.len() >= ROW_GROUP_ROWS {
            self.seal();
        }
    }

    /// Rows pushed so far.
    pub fn len(&self) -> u64 {
        self.total_rows + self.rows.len() as u64
    }

    /// Whether no row was pushed.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The first error of this table.
    pub fn check(&self) -> Result<(), Error> {
        self.error.clone().map_or(Ok(()), Err)
    }

    #[cold]
    #[inline(never)]
    fn seal(&mut self) {
        self.total_rows += self.rows.len() as u64;
        if self.error.is_none() && !self.rows.is_empty() {
            let columns = names::with(&self.names, |names| R::columns(&self.rows, &Words(names)));
            let stored = RecordBatch::try_new(self.schema.clone(), columns)
                .map_err(|error| Error { path: R::SPEC.name.to_string(), reason: error.to_string() })
                .and_then(|batch| self.sink.store(batch));
            self.error = stored.err();
        }
        self.rows.clear();
    }

    /// Seals what is left and hands over the batches kept in memory.
    pub(crate) fn finish(mut self) -> Result<(SchemaRef, Vec<RecordBatch>, u64), Error> {
        self.seal();
        self.check()?;
        let batches = self.sink.finish()?;
        Ok((Arc::clone(&self.schema), batches, self.total_rows))
    }
}
