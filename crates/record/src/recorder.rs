//! The recorder: all tables of one run.

use std::path::Path;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;

use crate::Error;
use crate::names::{self, Names, SharedNames, Text};
use crate::rows::{EventRow, FlowRow, FlowSampleRow, MessageRow, PortRow, PortSampleRow, SwitchSampleRow};
use crate::sink::Sink;
use crate::spec::Spec;
use crate::table::{Row, Table};

/// A finished table.
#[derive(Debug, Clone)]
pub struct TableData {
    /// Its name.
    pub name: &'static str,
    /// Its columns.
    pub schema: SchemaRef,
    /// Its rows when they were kept in memory; empty when they went to a folder.
    pub batches: Vec<RecordBatch>,
    /// How many rows it has, wherever they are.
    pub rows: u64,
}

/// All tables of a run, in the order of the data dictionary; empty ones are there too.
pub type Tables = Vec<TableData>;

macro_rules! recorder {
    ($($table:ident: $row:ty,)*) => {
        /// All tables of one run under construction.
        pub struct Recorder {
            names: SharedNames,
            $(
                #[doc = concat!("The table `", stringify!($table), "`.")]
                pub $table: Table<$row>,
            )*
        }

        impl Recorder {
            fn build(mut sink: impl FnMut(&Spec) -> Result<Sink, Error>) -> Result<Recorder, Error> {
                let names = Names::shared();
                $( let $table = Table::new(names.clone(), sink(&<$row>::SPEC)?); )*
                Ok(Recorder { names, $($table),* })
            }

            /// The first error of any table: to be asked now and then, so that a run stops soon after the disk is full.
            pub fn check(&self) -> Result<(), Error> {
                $( self.$table.check()?; )*
                Ok(())
            }

            /// Writes what is left and returns the tables, or the first error.
            pub fn finish(self) -> Result<Tables, Error> {
                let mut tables = Tables::new();
                $(
                    let (schema, batches, rows) = self.$table.finish()?;
                    tables.push(TableData { name: <$row>::SPEC.name, schema, batches, rows });
                )*
                Ok(tables)
            }
        }

        /// The tables of a run, in order.
        pub fn specs() -> Vec<Spec> {
            vec![ $( <$row>::SPEC ),* ]
        }
    };
}

recorder! {
    flows: FlowRow,
    messages: MessageRow,
    flow_samples: FlowSampleRow,
    ports: PortRow,
    port_samples: PortSampleRow,
    switch_samples: SwitchSampleRow,
    events: EventRow,
}

impl Recorder {
    /// Keeps all rows in memory.
    pub fn memory() -> Recorder {
        match Recorder::build(|_| Ok(Sink::Memory(Vec::new()))) {
            Ok(recorder) => recorder,
            Err(error) => unreachable!("memory needs no file: {error}"),
        }
    }

    /// Streams each table to `<table>.parquet` in an existing folder.
    pub fn to_folder(folder: &Path) -> Result<Recorder, Error> {
        Recorder::build(|spec| Sink::file(&folder.join(format!("{}.parquet", spec.name)), spec.schema()))
    }

    /// The number of a word, for the text columns; ask once per word, not once per row.
    pub fn intern(&mut self, word: &str) -> Text {
        names::with(&self.names, |names| names.intern(word))
    }
}
