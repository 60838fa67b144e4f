//! Traces: what a capture of real or simulated packets says about its TCP connections.
//!
//! The rule of this layer: one pass over the file, memory that grows with live connections and not with packets. [`input`] gives
//! bytes, [`mod@file`] frames, [`link`], [`decode`] and [`tcp`] find the segment in a frame, [`clock`] gives it a time, [`connection`]
//! follows the two directions of a connection, [`bins`] keeps a series of bounded length, and [`analyze`] puts rows into tables.
//! Every packet is in a count: analysed, or skipped with its reason. What a file's end has lost is said in a note; what was read
//! before it counts.

#![forbid(unsafe_code)]

mod amount;
mod bins;
mod cause;
mod clock;
mod connection;
mod context;
mod copies;
mod decode;
mod division;
mod enhanced;
mod fate;
mod file;
mod filter;
mod finding;
mod fragments;
mod half;
mod icmp;
mod input;
mod largest;
mod link;
mod listen;
mod origin;
mod packet;
mod pair;
mod ranges;
mod ranks;
mod reading;
mod recovery;
mod rounds;
mod row;
mod rtts;
mod seen;
mod signs;
mod skip;
mod stretches;
mod table;
mod tcp;
mod tunnel;
mod upright;
mod words;

use std::path::PathBuf;

use elephan_record::TraceRecorder;
pub use fate::{Acknowledgement, Fate, Fates, Transmission};
pub use filter::Filter;
pub use input::Place;
pub use listen::{Answer, Heard, Sent};
pub use pair::{Offset, OneWay, Pair};

/// How a trace is looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Data segments that follow each other within this belong to one burst, in nanoseconds.
    pub burst_gap_ns: u64,
    /// Interval of the samples; without it so many that a connection has between 1024 and 2048 of them.
    pub every_ns: Option<u64>,
    /// Where the capture was made, if it is known.
    pub vantage: Option<Vantage>,
    /// Which packets are looked at.
    pub filter: Filter,
    /// A connection that sentences are wanted of, beside those that delivered most.
    pub focus: Option<i64>,
    pub files: Files,
}

/// What several files are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Files {
    /// Captures at two places if they are two that hold the same packets, else parts of one capture.
    #[default]
    Unknown,
    OneCapture,
    TwoPlaces,
}

impl Files {
    /// By name.
    pub fn named(name: &str) -> Option<Files> {
        match name {
            "one-capture" => Some(Files::OneCapture),
            "two-places" => Some(Files::TwoPlaces),
            _ => None,
        }
    }
}

/// Gap within a burst unless given: a little more than a frame of 1500 bytes at 1 Gb/s.
pub const BURST_GAP_NS: u64 = 15_000;

impl Default for Options {
    fn default() -> Options {
        let (filter, files) = (Filter::default(), Files::default());
        Options { burst_gap_ns: BURST_GAP_NS, every_ns: None, vantage: None, filter, focus: None, files }
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
    /// Fragments that were put together, less the datagrams that came of them.
    pub fragments: u64,
    /// Packets that were not analysed: `packets` less all of the above.
    pub other: u64,
    /// How many of them for which reason, the most frequent first.
    pub skipped: Vec<(String, u64)>,
    /// Packets that were analysed within a tunnel, by its name.
    pub tunnels: Vec<(&'static str, u64)>,
    pub connections: u64,
    /// Time of the first packet, nanoseconds since 1970, and how long after it the last came.
    pub begin_ns: u64,
    pub span_ns: u64,
    /// Sentences about what is damaged, cut off or odd.
    pub notes: Vec<String>,
    /// Sentences about the connections that delivered most and the one that was asked for, by their numbers.
    pub told: Vec<(i64, Vec<String>)>,
    /// Sentences about the troubles of all connections.
    pub ranks: Vec<String>,
    /// What two captures of one transfer say together.
    pub pair: Option<Pair>,
}

/// Reads a capture, pcap or pcapng, compressed by gzip or zstd or not, and puts rows into `recorder`. Several files are one capture: they
/// are read in the order of their first packets. Two that hold the same packets are captures at two places. `watch` is called now and then and answers whether to go on.
pub fn analyze(
    paths: &[PathBuf],
    options: &Options,
    recorder: &mut TraceRecorder,
    watch: &mut dyn FnMut(&Progress) -> bool,
) -> Result<Summary, Error> {
    let places: Vec<Place> = paths.iter().cloned().map(Place::File).collect();
    read(&places, options, recorder, watch)
}

/// As [`analyze`], of one capture wherever it is.
pub fn analyze_place(
    place: &Place,
    options: &Options,
    recorder: &mut TraceRecorder,
    watch: &mut dyn FnMut(&Progress) -> bool,
) -> Result<Summary, Error> {
    read(std::slice::from_ref(place), options, recorder, watch)
}

/// Reads a capture again, and hands over the segments of row `connection` of the table of connections, with the answers to them. `watch` is
/// called now and then; it ends the reading by [`Error::Stopped`].
pub fn listen(
    places: &[Place],
    options: &Options,
    connection: i64,
    heard: &mut dyn FnMut(Heard),
    watch: &mut dyn FnMut(&Progress) -> bool,
) -> Result<(), Error> {
    let mut recorder = TraceRecorder::memory();
    let mut reading = reading::Reading::new(options, &mut recorder);
    reading.listen(connection, heard);
    for place in reading::in_order(places)? {
        reading.file(&place, places.len(), watch)?;
    }
    reading.finish().map(|_| ())
}

fn read(
    places: &[Place],
    options: &Options,
    recorder: &mut TraceRecorder,
    watch: &mut dyn FnMut(&Progress) -> bool,
) -> Result<Summary, Error> {
    if let Some((pair, twins)) = twins(places, options, watch)? {
        return pair::read(&pair, twins, options, recorder, watch);
    }
    let mut reading = reading::Reading::new(options, recorder);
    for place in reading::in_order(places)? {
        reading.file(&place, places.len(), watch)?;
    }
    reading.finish()
}

/// The two places that files were captured at; nothing if they are one capture.
fn twins(
    places: &[Place],
    options: &Options,
    watch: &mut dyn FnMut(&Progress) -> bool,
) -> Result<Option<([Place; 2], pair::Twins)>, Error> {
    let is_asked = options.files == Files::TwoPlaces;
    let pair = match places {
        [first, second] if options.files != Files::OneCapture => [first.clone(), second.clone()],
        _ if is_asked => {
            return Err(Error::Input(format!("captures at two places are two files, not {}", places.len())));
        }
        _ => return Ok(None),
    };
    let [first, second] = [0, 1].map(|at: usize| pair[at].name());
    match pair::Twins::of(&pair, watch)? {
        Some(twins) if twins.is_one_capture() => {
            Err(Error::Input(format!("{first} and {second} hold the same packets at the same times: give one of them")))
        }
        None if is_asked => Err(Error::Input(format!(
            "{first} and {second} have no packets in common: they are no captures of one transfer"
        ))),
        found => Ok(found.map(|twins| (pair, twins))),
    }
}
