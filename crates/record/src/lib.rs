//! Columns out: the tables of a run as Arrow batches in memory or as Parquet files in a folder; packets as pcapng files.
//!
//! Rule: a row is a plain `Copy` struct, declared once (`rows.rs`) together with its types, units and descriptions;
//! pushing one is a copy into a buffer. Every [`ROW_GROUP_ROWS`] rows a buffer is sealed into an Arrow batch, and in a
//! folder written as one Parquet row group, so a long recording needs no more memory than a short one. The same rows give
//! the same bytes: no time stamps, no hash order, a fixed author. A write that fails is latched: later rows are dropped,
//! [`Recorder::check`] and [`Recorder::finish`] return the first error with the path of the file.

#![forbid(unsafe_code)]

mod capture;
mod cell;
mod copies;
mod dictionary;
mod flows;
mod hosts;
mod info;
mod names;
mod pauses;
mod ranks;
mod recorder;
mod rows;
mod sink;
mod spec;
mod table;
mod trace;
mod waits;

pub use arrow_array::RecordBatch;
pub use arrow_schema::{Schema, SchemaRef};
pub use capture::{Capture, CapturedPacket, Direction, Interface, LinkType, Listener};
pub use copies::{CopyRow, CopySampleRow};
pub use dictionary::{data_dictionary, python_module};
pub use flows::{FlowRow, StatisticsRow};
pub use hosts::{HostRow, HostSampleRow, LoggerGapRow};
pub use info::InfoRow;
pub use names::Text;
pub use pauses::{HoldRow, PauseRow};
pub use ranks::{IterationRow, OperationRow, RankRow};
pub use recorder::{Recorder, TableData, Tables, TraceRecorder, specs, trace_specs};
pub use rows::{
    DatagramRow, EventRow, FlowSampleRow, LimiterSampleRow, MessageRow, PortRow, PortSampleRow, SwitchSampleRow,
    TransmitSampleRow,
};
pub use spec::{Column, Kind, Spec};
pub use table::{ROW_GROUP_ROWS, Row, Table};
pub use trace::{
    ConnectionFindingRow, ConnectionRow, ConnectionSampleRow, ConnectionStretchRow, PairConnectionRow, PairDelayRow,
    PairLossRow, TraceEventRow,
};
pub use waits::QueueDelayRow;

/// Why rows could not be stored; one line, with the path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot write {path}: {reason}")]
pub struct Error {
    /// The file or folder that could not be written.
    pub path: String,
    /// What the system said.
    pub reason: String,
}
