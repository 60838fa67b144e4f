//! The recorder: all tables of one run.

use std::net::IpAddr;
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;

use crate::Error;
use crate::capture::{Capture, Interface, Listener};
use crate::copies::{CopyRow, CopySampleRow};
use crate::flows::{FlowRow, StatisticsRow};
use crate::hosts::{HostRow, HostSampleRow, LoggerGapRow};
use crate::info::InfoRow;
use crate::names::{self, Names, SharedNames, Text};
use crate::pauses::{HoldRow, PauseRow};
use crate::ranks::{IterationRow, OperationRow, RankRow};
use crate::rows::{
    DatagramRow, EventRow, FlowSampleRow, LimiterSampleRow, MessageRow, PortRow, PortSampleRow, SwitchSampleRow,
    TransmitSampleRow,
};
use crate::sink::Sink;
use crate::spec::Spec;
use crate::table::{Row, Table};
use crate::trace::{
    ConnectionFindingRow, ConnectionRow, ConnectionSampleRow, ConnectionStretchRow, PairConnectionRow, PairDelayRow,
    PairLossRow, TraceEventRow,
};
use crate::waits::QueueDelayRow;

/// The folder of the captures in the folder of a result.
const CAPTURES: &str = "captures";

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

/// Declares a set of tables that are written together: `/// what they are` `Recorder, specs { field: type, } table: Row, ...`.
macro_rules! recorder {
    ($(#[doc = $about:literal])+ $recorder:ident, $specs:ident { $($field:ident: $type:ty,)* } $($table:ident: $row:ty,)*) => {
        $(#[doc = $about])+
        pub struct $recorder {
            names: SharedNames,
            $( $field: $type, )*
            $(
                #[doc = concat!("The table `", stringify!($table), "`.")]
                pub $table: Table<$row>,
            )*
        }

        impl $recorder {
            fn build(mut sink: impl FnMut(&Spec) -> Result<Sink, Error>) -> Result<$recorder, Error> {
                let names = Names::shared();
                $( let $table = Table::new(names.clone(), sink(&<$row>::SPEC)?); )*
                Ok($recorder { names, $($field: <$type>::default(),)* $($table),* })
            }

            /// Keeps all rows in memory.
            pub fn memory() -> $recorder {
                match $recorder::build(|_| Ok(Sink::Memory(Vec::new()))) {
                    Ok(recorder) => recorder,
                    Err(error) => unreachable!("memory needs no file: {error}"),
                }
            }

            fn streaming(folder: &Path) -> Result<$recorder, Error> {
                $recorder::build(|spec| Sink::in_folder(folder, spec))
            }

            /// Returns a recording of its own that begins with the rows so far, which are in memory. Its tables stay in memory or stream to
            /// an existing folder; it takes no captures.
            /// `look` is called now and then.
            pub fn branch(&self, folder: Option<&Path>, look: &dyn Fn()) -> Result<$recorder, Error> {
                let sink = |spec: &Spec| folder.map_or(Ok(Sink::Memory(Vec::new())), |to| Sink::in_folder(to, spec));
                let names = Names::copied(&self.names);
                $( let $table = self.$table.branch(names.clone(), sink(&<$row>::SPEC)?, look)?; )*
                Ok($recorder { names, $($field: <$type>::default(),)* $($table),* })
            }

            /// Whether the rows go to a folder.
            pub fn is_in_folder(&self) -> bool {
                false $( || self.$table.is_in_file() )*
            }

            /// The number of a word, for the text columns; ask once per word, not once per row.
            pub fn intern(&mut self, word: &str) -> Text {
                names::with(&self.names, |names| names.intern(word))
            }

            /// The first error of any table: to be asked now and then, so that a run stops soon after the disk is full.
            pub fn check(&self) -> Result<(), Error> {
                $( self.$table.check()?; )*
                Ok(())
            }

            /// Bytes of all rows so far, texts as their numbers: what memory a recording takes.
            pub fn size_bytes(&self) -> u64 {
                let mut bytes = 0;
                $( bytes += self.$table.size_bytes(); )*
                bytes
            }

            /// Copies of the tables so far, of which only what is in memory has rows.
            pub fn so_far(&self) -> Tables {
                vec![ $( TableData {
                    name: <$row>::SPEC.name,
                    schema: self.$table.schema(),
                    batches: self.$table.so_far(),
                    rows: self.$table.len(),
                } ),* ]
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

        /// These tables, in order.
        pub fn $specs() -> Vec<Spec> {
            vec![ $( <$row>::SPEC ),* ]
        }
    };
}

recorder! {
    /// All tables of one run under construction.
    Recorder, specs { folder: Option<PathBuf>, captures: Vec<String>, listener: Option<Listener>, }
    flows: FlowRow,
    messages: MessageRow,
    datagrams: DatagramRow,
    flow_samples: FlowSampleRow,
    statistics: StatisticsRow,
    info: InfoRow,
    ports: PortRow,
    port_samples: PortSampleRow,
    switch_samples: SwitchSampleRow,
    queue_delays: QueueDelayRow,
    pauses: PauseRow,
    holds: HoldRow,
    limiter_samples: LimiterSampleRow,
    copies: CopyRow,
    copy_samples: CopySampleRow,
    iterations: IterationRow,
    ranks: RankRow,
    operations: OperationRow,
    hosts: HostRow,
    host_samples: HostSampleRow,
    logger_gaps: LoggerGapRow,
    transmit_samples: TransmitSampleRow,
    events: EventRow,
}

recorder! {
    /// All tables of one trace under construction: what a capture of real or simulated packets says.
    TraceRecorder, trace_specs {}
    connections: ConnectionRow,
    connection_samples: ConnectionSampleRow,
    trace_events: TraceEventRow,
    connection_stretches: ConnectionStretchRow,
    connection_findings: ConnectionFindingRow,
    pair_connections: PairConnectionRow,
    pair_delays: PairDelayRow,
    pair_losses: PairLossRow,
}

impl TraceRecorder {
    /// Streams each table to `<table>.parquet` in an existing folder.
    pub fn to_folder(folder: &Path) -> Result<TraceRecorder, Error> {
        TraceRecorder::streaming(folder)
    }
}

impl Recorder {
    /// Streams each table to `<table>.parquet` in an existing folder.
    pub fn to_folder(folder: &Path) -> Result<Recorder, Error> {
        Ok(Recorder { folder: Some(folder.to_owned()), ..Recorder::streaming(folder)? })
    }

    /// Keeps all rows in memory, and hands the packets of captures to `listener`.
    pub fn listening(listener: Listener) -> Recorder {
        Recorder { listener: Some(listener), ..Recorder::memory() }
    }

    /// Whether captures are taken: to files or by a listener.
    pub fn takes_captures(&self) -> bool {
        self.folder.is_some() || self.listener.is_some()
    }

    /// A new file `captures/<name>.pcapng` in the folder, or what takes its packets; nothing if there is neither.
    pub fn capture(
        &mut self,
        name: &str,
        interfaces: &[Interface],
        names: &[(IpAddr, &str)],
    ) -> Result<Option<Capture>, Error> {
        let Some(folder) = &self.folder else { return Ok(self.listener.clone().map(Capture::heard)) };
        let captures = folder.join(CAPTURES);
        std::fs::create_dir_all(&captures)
            .map_err(|error| Error { path: captures.display().to_string(), reason: error.to_string() })?;
        let capture = Capture::create(captures.join(format!("{name}.pcapng")), interfaces, names)?;
        self.captures.push(format!("{CAPTURES}/{name}.pcapng"));
        Ok(Some(capture))
    }

    /// The captures begun, as paths in the folder.
    pub fn captures(&self) -> &[String] {
        &self.captures
    }
}
