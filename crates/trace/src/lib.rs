//! Traces: what a capture of real or simulated packets says about its TCP connections.
//!
//! The law of this layer: one pass over the file, memory that grows with live connections and not with packets. [`file`] gives
//! frames, [`decode`] finds the segment in a frame, [`connection`] follows the two directions of a connection, [`bins`] keeps a
//! series of bounded length, and [`analyze`] puts rows into tables. What a file's end has lost is said in a note; what
//! was read before it counts.

mod bins;
mod connection;
mod decode;
mod file;
mod half;
mod ranges;
mod rtts;
mod table;

use std::path::Path;

use elephan_record::TraceRecorder;

/// How a trace is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Data segments that follow each other within this belong to one burst, in nanoseconds.
    pub burst_gap_ns: u64,
    /// Interval of the samples; without it so many that a connection has between 1024 and 2048 of them.
    pub every_ns: Option<u64>,
    /// Where the capture was made, if it is known.
    pub vantage: Option<Vantage>,
}

/// Gap within a burst unless given: a little more than a frame of 1500 bytes at 1 Gb/s.
pub const BURST_GAP_NS: u64 = 15_000;

impl Default for Options {
    fn default() -> Options {
        Options { burst_gap_ns: BURST_GAP_NS, every_ns: None, vantage: None }
    }
}

/// Where a capture was made, seen from one direction of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vantage {
    /// At the sender of the data, or near to it.
    Sender,
    Receiver,
    /// On the way.
    Between,
    Unknown,
}

impl Vantage {
    /// By name.
    pub fn named(name: &str) -> Option<Vantage> {
        [Vantage::Sender, Vantage::Receiver, Vantage::Between].into_iter().find(|v| v.name() == name)
    }

    pub fn name(self) -> &'static str {
        match self {
            Vantage::Sender => "sender",
            Vantage::Receiver => "receiver",
            Vantage::Between => "between",
            Vantage::Unknown => "unknown",
        }
    }
}

/// Why there is no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The file cannot be opened or read, or is no capture: one line with its path.
    #[error("{0}")]
    Input(String),
    #[error("{0}")]
    Record(#[from] elephan_record::Error),
    #[error("stopped")]
    Stopped,
}

/// How far the reading has come.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Share of the file's bytes.
    pub share: f64,
    pub packets: u64,
}

/// What a trace was, beside its tables.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    /// `pcap` or `pcapng`.
    pub format: &'static str,
    pub packets: u64,
    pub tcp_segments: u64,
    pub udp_datagrams: u64,
    /// Packets that are neither, fragments after the first, and what could not be read.
    pub other: u64,
    pub connections: u64,
    /// Time of the first packet, nanoseconds since 1970, and how long after it the last came.
    pub begin_ns: u64,
    pub span_ns: u64,
    /// Sentences about what is damaged, cut off or odd.
    pub notes: Vec<String>,
}

/// Reads a capture, pcap or pcapng, gzip-compressed or not, and puts rows into `recorder`. `watch` is called now and then and answers
/// whether to go on.
pub fn analyze(
    path: &Path,
    options: &Options,
    recorder: &mut TraceRecorder,
    watch: &mut dyn FnMut(&Progress) -> bool,
) -> Result<Summary, Error> {
    let mut table = table::Connections::new(*options, recorder);
    let mut summary = Summary::default();
    let mut unread = 0;
    let (format, notes) = file::read(path, &mut |packet, share| {
        if let file::Item::Name(address, name) = packet {
            table.name(address, name);
            return Ok(());
        }
        let file::Item::Frame(frame) = packet else { return Ok(()) };
        summary.packets += 1;
        match decode::decode(&frame) {
            decode::Decoded::Segment(segment) => {
                summary.tcp_segments += 1;
                table.segment(&segment);
            }
            decode::Decoded::Datagram(datagram) => {
                summary.udp_datagrams += 1;
                table.datagram(&datagram);
            }
            decode::Decoded::Other => summary.other += 1,
            decode::Decoded::Unreadable => {
                summary.other += 1;
                unread += 1;
            }
        }
        if summary.packets.is_multiple_of(BETWEEN_LOOKS) {
            table.check()?;
            if !watch(&Progress { share, packets: summary.packets }) {
                return Err(Error::Stopped);
            }
        }
        Ok(())
    })?;
    (summary.format, summary.notes) = (format, notes);
    if unread > 0 {
        summary.notes.push(format!("{unread} packets have a link layer or headers that cannot be read"));
    }
    (summary.begin_ns, summary.span_ns) = table.span();
    let (connections, notes) = table.finish()?;
    summary.connections = connections;
    summary.notes.extend(notes);
    Ok(summary)
}

/// Packets between two looks at whoever watches.
const BETWEEN_LOOKS: u64 = 1 << 14;
