//! A table under construction. One macro declares a table.
//!
//! A pushed row lands in a small stage that stays in the first-level cache; a full stage is turned into columns, and full
//! columns are sealed into a batch. Turning 64 Ki rows at once would read them from memory again for every column.

use std::mem;
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

/// Size of the stage in bytes: half of a usual first-level data cache.
const STAGE_BYTES: usize = 16 * 1024;

/// A row of a table.
pub trait Row: Copy {
    /// The table that it belongs to.
    const SPEC: Spec;
    /// The columns under construction.
    type Columns: Columns<Self>;
}

/// All columns of a table under construction.
pub trait Columns<R>: Default {
    /// Adds rows at the end.
    fn extend(&mut self, rows: &[R]);
    /// The columns so far as arrays; they begin again, empty, with room for `capacity` values.
    fn take(&mut self, words: &Words, capacity: usize) -> Vec<ArrayRef>;
    /// A copy of the columns so far.
    fn copy(&self, words: &Words) -> Vec<ArrayRef>;
    /// The same columns so far, for another recording to go on with.
    fn duplicate(&self) -> Self;
}

/// Declares a table: `/// what a row is` `Row, Columns in "table" { /// what it says` `column: type = "unit", ... }`.
macro_rules! table {
    ($(#[doc = $about:literal])+ $row:ident, $columns:ident in $name:literal {
        $( $(#[doc = $text:literal])+ $column:ident : $type:ty = $unit:literal, )+
    }) => {
        $(#[doc = $about])+
        #[derive(Debug, Clone, Copy, PartialEq, Default)]
        pub struct $row {
            $( $(#[doc = $text])+ pub $column: $type, )+
        }

        #[doc = concat!("The columns of `", $name, "` under construction.")]
        #[derive(Default)]
        pub struct $columns {
            $( $column: <$type as $crate::cell::Cell>::Column, )+
        }

        impl $crate::table::Columns<$row> for $columns {
            fn extend(&mut self, rows: &[$row]) {
                $( $crate::cell::ColumnOf::<$type>::extend(&mut self.$column, rows.iter().map(|row| row.$column)); )+
            }

            fn take(&mut self, words: &$crate::cell::Words, capacity: usize) -> Vec<::arrow_array::ArrayRef> {
                vec![ $( $crate::cell::ColumnOf::<$type>::take(&mut self.$column, words, capacity), )+ ]
            }

            fn copy(&self, words: &$crate::cell::Words) -> Vec<::arrow_array::ArrayRef> {
                vec![ $( $crate::cell::ColumnOf::<$type>::copy(&self.$column, words), )+ ]
            }

            fn duplicate(&self) -> Self {
                $columns { $( $column: $crate::cell::ColumnOf::<$type>::duplicate(&self.$column), )+ }
            }
        }

        impl $crate::table::Row for $row {
            type Columns = $columns;
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
        }
    };
}
pub(crate) use table;

/// The rows of one table so far.
pub struct Table<R: Row> {
    stage: Vec<R>,
    columns: R::Columns,
    column_rows: usize,
    sealed_rows: u64,
    names: SharedNames,
    schema: SchemaRef,
    sink: Sink,
    error: Option<Error>,
}

impl<R: Row> Table<R> {
    /// Rows in the stage, a divisor of [`ROW_GROUP_ROWS`], so that every batch but the last is of exactly that size.
    const STAGE_ROWS: usize = {
        let rows = STAGE_BYTES / mem::size_of::<R>();
        assert!(rows > 0 && rows <= ROW_GROUP_ROWS, "a row fits in the stage");
        1 << rows.ilog2()
    };

    pub(crate) fn new(names: SharedNames, sink: Sink) -> Self {
        Table {
            stage: Vec::new(),
            columns: R::Columns::default(),
            column_rows: 0,
            sealed_rows: 0,
            names,
            schema: R::SPEC.schema(),
            sink,
            error: None,
        }
    }

    /// Adds a row. When this fills a batch and writing it fails, the error is kept for [`Table::check`] and all later
    /// rows are dropped.
    #[inline]
    pub fn push(&mut self, row: R) {
        if self.stage.len() == Self::STAGE_ROWS {
            self.turn();
        }
        self.stage.push(row);
    }

    /// Rows pushed so far.
    pub fn len(&self) -> u64 {
        self.sealed_rows + (self.column_rows + self.stage.len()) as u64
    }

    /// Whether no row was pushed.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    /// Bytes of the rows so far, texts as their numbers.
    pub(crate) fn size_bytes(&self) -> u64 {
        self.len() * mem::size_of::<R>() as u64
    }

    /// Copies of the rows so far that are in memory. What is sealed is shared, so that at most a batch is copied.
    pub(crate) fn so_far(&self) -> Vec<RecordBatch> {
        let mut batches = self.sink.batches().to_vec();
        let mut stage = R::Columns::default();
        stage.extend(&self.stage);
        names::with(&self.names, |names| {
            for columns in [&self.columns, &stage] {
                let batch = RecordBatch::try_new(self.schema.clone(), columns.copy(&Words(names)));
                batches.extend(batch.ok().filter(|batch| batch.num_rows() > 0));
            }
        });
        batches
    }

    /// The same rows so far in another recording, whose words are `names`; what is sealed and in memory goes to `sink`.
    pub(crate) fn branch(&self, names: SharedNames, mut sink: Sink, look: &dyn Fn()) -> Result<Self, Error> {
        for batch in self.sink.batches() {
            look();
            sink.store(batch.clone())?;
        }
        Ok(Table {
            stage: self.stage.clone(),
            columns: self.columns.duplicate(),
            column_rows: self.column_rows,
            sealed_rows: self.sealed_rows,
            names,
            schema: self.schema.clone(),
            sink,
            error: self.error.clone(),
        })
    }

    /// Whether the rows go to a file.
    pub(crate) fn is_in_file(&self) -> bool {
        matches!(self.sink, Sink::File(_))
    }

    /// The first error of this table.
    pub fn check(&self) -> Result<(), Error> {
        self.error.clone().map_or(Ok(()), Err)
    }

    /// Turns the stage into columns and seals these when they are full.
    #[inline(never)]
    fn turn(&mut self) {
        self.columns.extend(&self.stage);
        self.column_rows += self.stage.len();
        self.stage.clear();
        if self.column_rows == ROW_GROUP_ROWS {
            self.seal(ROW_GROUP_ROWS);
        }
    }

    fn seal(&mut self, capacity: usize) {
        let arrays = names::with(&self.names, |names| self.columns.take(&Words(names), capacity));
        self.sealed_rows += self.column_rows as u64;
        self.column_rows = 0;
        if self.error.is_none() {
            let stored = RecordBatch::try_new(self.schema.clone(), arrays)
                .map_err(|error| Error { path: R::SPEC.name.to_string(), reason: error.to_string() })
                .and_then(|batch| self.sink.store(batch));
            self.error = stored.err();
        }
    }

    /// Seals what is left and hands over the batches kept in memory.
    pub(crate) fn finish(mut self) -> Result<(SchemaRef, Vec<RecordBatch>, u64), Error> {
        self.turn();
        if self.column_rows > 0 {
            self.seal(0);
        }
        self.check()?;
        let batches = self.sink.finish()?;
        Ok((Arc::clone(&self.schema), batches, self.sealed_rows))
    }
}
