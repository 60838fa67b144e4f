//! All connections of a trace.

use std::collections::BTreeMap;
use std::net::IpAddr;

use elephan_record::{Text, TraceEventRow, TraceRecorder};
use elephan_units::stop;

use crate::clock::Tick;
use crate::connection::{Connection, Watched};
use crate::context::Note;
use crate::copies::Copies;
use crate::half::Half;
use crate::largest::Largest;
use crate::packet::{Complaint, Datagram, End, Key, Segment};
use crate::ranks::Ranks;
use crate::reading::counted;
use crate::seen::Seen;
use crate::{Error, Heard, Options, Vantage, listen};

/// A connection that is over is kept for its last packets for so long.
const LINGER_NS: u64 = 10_000_000_000;
/// A TCP connection, and a stream of datagrams, that has been silent for so long is written when there are many.
const SILENT_NS: [u64; 2] = [60_000_000_000, 600_000_000_000];
/// Connections are swept when a quarter has come to what the last sweep left, from so many on.
const SWEEP_AT: usize = 4096;

/// A live connection: its first end and what is known.
pub struct Live {
    /// Whether the end that sent first is the second of the key.
    pub swapped: bool,
    pub connection: Connection,
}

/// What is said when all is written.
pub struct Ending {
    pub connections: u64,
    pub notes: Vec<String>,
    pub told: Vec<(i64, Vec<String>)>,
    pub ranks: Vec<String>,
}

/// Every connection that is live, and the tables.
pub struct Connections<'a> {
    options: Options,
    pub recorder: &'a mut TraceRecorder,
    /// Places of connections in `live`; the one that was asked for last; places that are free.
    places: BTreeMap<Key, usize>,
    last: Option<(Key, usize)>,
    free: Vec<usize>,
    live: Vec<Option<Box<Live>>>,
    pub names: BTreeMap<IpAddr, String>,
    /// Words of the text columns, and what stands there for an address.
    words: BTreeMap<&'static str, Text>,
    pub hosts: BTreeMap<IpAddr, Text>,
    pub made: i64,
    sweep_at: usize,
    /// Segments that the file has behind their ACK, ACKs of what nobody sent, segments whose options are cut off.
    pub behind_ack: u64,
    pub far_acks: u64,
    pub cut_options: u64,
    /// Sentences about the connections that delivered most, and troubles of all.
    pub told: Largest,
    pub ranks: Ranks,
    /// Who is told of the segments of which row.
    pub listener: Option<(i64, &'a mut dyn FnMut(Heard))>,
    /// Segments that count, for whoever compares two captures.
    pub seen: Option<Vec<Seen>>,
}

impl<'a> Connections<'a> {
    pub fn new(options: Options, recorder: &'a mut TraceRecorder) -> Connections<'a> {
        let focus = options.focus;
        Connections {
            options,
            recorder,
            places: BTreeMap::new(),
            last: None,
            free: Vec::new(),
            live: Vec::new(),
            names: BTreeMap::new(),
            words: BTreeMap::new(),
            hosts: BTreeMap::new(),
            made: 0,
            sweep_at: SWEEP_AT,
            behind_ack: 0,
            far_acks: 0,
            cut_options: 0,
            told: Largest::new(focus),
            ranks: Ranks::default(),
            listener: None,
            seen: None,
        }
    }

    /// An address has a name.
    pub fn name(&mut self, address: IpAddr, name: &str) {
        self.names.insert(address, name.to_owned());
        self.hosts.remove(&address);
    }

    /// The addresses of hosts that are given by address or by name.
    pub fn addresses(&self, hosts: &[String]) -> Vec<IpAddr> {
        let named = self.names.iter().filter(|(_, name)| hosts.contains(name)).map(|(address, _)| *address);
        hosts.iter().filter_map(|host| host.parse().ok()).chain(named).collect()
    }

    /// Whether rows could be written.
    pub fn check(&self) -> Result<(), Error> {
        Ok(self.recorder.check()?)
    }

    /// The place of the connection between two ends, its key, and which of its ends is the first of these.
    fn find(&mut self, tick: Tick, (from, to): (End, End), tcp: bool) -> (Key, usize, usize) {
        let swapped = from > to;
        let key = if swapped { (to, from, tcp) } else { (from, to, tcp) };
        let place = match self.last {
            Some((last, place)) if last == key => place,
            _ => self.places.get(&key).copied().unwrap_or_else(|| self.add(tick, key, swapped)),
        };
        self.last = Some((key, place));
        let first = self.live[place].as_ref().map_or(swapped, |live| live.swapped);
        (key, place, usize::from(first != swapped))
    }

    fn add(&mut self, tick: Tick, key: Key, swapped: bool) -> usize {
        let live = Some(Box::new(Live { swapped, connection: Connection::new(tick, &self.options) }));
        let place = self.free.pop().unwrap_or(self.live.len());
        if place == self.live.len() {
            self.live.push(live);
        } else {
            self.live[place] = live;
        }
        self.places.insert(key, place);
        place
    }

    fn remove(&mut self, key: Key) {
        self.last = None;
        if let Some(place) = self.places.remove(&key) {
            stop::look();
            self.free.push(place);
            if let Some(live) = self.live[place].take() {
                self.write(key, *live);
            }
        }
    }

    /// A segment was seen; whether it counts: a copy of one that was seen before does not.
    pub fn segment(&mut self, tick: Tick, segment: &Segment, copies: &mut Copies) -> bool {
        let (key, mut place, mut end) = self.find(tick, (segment.from, segment.to), true);
        let is_another = |live: &Live| {
            let vary = live.connection.halves[end].idents_vary();
            (copies.is_copy(segment, vary, tick.now), live.connection.is_another(segment, end))
        };
        match self.live[place].as_deref().map(is_another) {
            Some((true, _)) => return false,
            Some((false, true)) => {
                self.remove(key);
                (_, place, end) = self.find(tick, (segment.from, segment.to), true);
            }
            _ => {}
        }
        let Some(live) = self.live[place].as_deref_mut() else { return true };
        let marks = |half: &Half| half.counts.ece_in + half.counts.ace_marks;
        let before = marks(&live.connection.halves[1 - end]);
        let notes = live.connection.segment(tick, end, segment);
        let half = &mut live.connection.halves[end];
        if segment.len > 0 && half.number.is_none() {
            half.number = Some(self.made);
            self.made += 1;
        }
        if let Some((number, heard)) = &mut self.listener {
            let [own, peer] = [end, 1 - end].map(|end| &live.connection.halves[end]);
            let note = notes[0].filter(|(about, _)| *about == end).map(|(_, note)| note);
            let own = own.number.filter(|own| own == number).and_then(|_| listen::sent(own, tick.now, segment, note));
            let more = marks(peer) - before;
            let peer = peer.number.filter(|peer| peer == number);
            let peer = peer.and_then(|_| listen::answer(&live.connection.halves[1 - end], tick.now, segment, more));
            own.into_iter().chain(peer).for_each(heard);
        }
        if let Some(seen) = &mut self.seen {
            let again = notes[0].is_some_and(|(about, note)| about == end && note.kind == "retransmission");
            let (own, peer) = (&live.connection.halves[end], &live.connection.halves[1 - end]);
            let place = own.origin.place(segment.seq.wrapping_add(u32::from(segment.syn)), own.highest);
            let rows = [own.number, peer.number];
            seen.push(Seen { key, tick, rows, place, again, segment: segment.clone() });
        }
        for (about, note) in notes.into_iter().flatten() {
            if let Some(number) = live.connection.halves[about].number {
                let kind = word(&mut self.words, self.recorder, note.kind);
                self.recorder.trace_events.push(event(number, kind, note));
            }
        }
        if self.places.len() >= self.sweep_at {
            self.sweep(tick.now);
        }
        true
    }

    /// A datagram was seen.
    pub fn datagram(&mut self, tick: Tick, datagram: &Datagram) {
        let (_, place, end) = self.find(tick, (datagram.from, datagram.to), false);
        let Some(live) = self.live[place].as_deref_mut() else { return };
        let context = Watched::of(&self.options).context(tick, Vantage::Unknown);
        live.connection.end = tick.now;
        let half = &mut live.connection.halves[end];
        half.datagram(&context, u64::from(datagram.len));
        if half.number.is_none() {
            half.number = Some(self.made);
            self.made += 1;
        }
        if self.places.len() >= self.sweep_at {
            self.sweep(tick.now);
        }
    }

    /// An ICMP error was seen; one about a segment of no known connection is counted only.
    pub fn complaint(&mut self, tick: Tick, complaint: &Complaint) {
        let (from, to) = (complaint.from, complaint.to);
        let swapped = from > to;
        let key = if swapped { (to, from, true) } else { (from, to, true) };
        let Some(&place) = self.places.get(&key) else { return };
        let Some(live) = self.live[place].as_deref_mut() else { return };
        live.connection.halves[usize::from(live.swapped != swapped)].signs.complained(tick.now, complaint);
    }

    /// Writes connections that have been over for a while.
    #[inline(never)]
    fn sweep(&mut self, now: u64) {
        let over = |key: &Key, live: &Live| {
            let lingers = if live.connection.is_over() { LINGER_NS } else { SILENT_NS[usize::from(key.2)] };
            live.connection.end + lingers < now
        };
        let is_over = |&(key, place): &(&Key, &usize)| self.live[*place].as_deref().is_some_and(|live| over(key, live));
        let keys: Vec<Key> = self.places.iter().filter(is_over).map(|(key, _)| *key).collect();
        for key in keys {
            self.remove(key);
        }
        self.sweep_at = (self.places.len() + self.places.len() / 4).max(SWEEP_AT);
    }

    /// Writes what is left; answers how many rows there are and what is to be said.
    pub fn finish(mut self) -> Result<Ending, Error> {
        let number = |live: &Option<Box<Live>>| {
            live.as_deref().and_then(|live| live.connection.halves.iter().filter_map(|half| half.number).min())
        };
        let mut left: Vec<(Option<i64>, Key)> =
            self.places.iter().map(|(key, &place)| (number(&self.live[place]), *key)).collect();
        left.sort();
        for (_, key) in left {
            self.remove(key);
        }
        self.recorder.check()?;
        let mut notes = Vec::new();
        if self.behind_ack > 0 {
            let segments = counted(self.behind_ack, "segment", "is", "are");
            notes.push(format!("{segments} in the file behind the ACK that covers it: packets are out of order there"));
        }
        if self.far_acks > 0 {
            let acks = counted(self.far_acks, "ACK", "is", "are");
            notes.push(format!("{acks} left out: nobody sent what it acknowledges (it answers an older connection)"));
        }
        if self.cut_options > 0 {
            let segments = counted(self.cut_options, "segment", "has", "have");
            notes.push(format!(
                "{segments} TCP options that the snapshot cuts off: SACK and time stamps beyond it are not known"
            ));
        }
        let ranks = self.ranks.lines();
        Ok(Ending { connections: self.recorder.connections.len(), notes, told: self.told.all(), ranks })
    }

    /// The number of a word; asked once for each.
    pub fn word(&mut self, text: &'static str) -> Text {
        word(&mut self.words, self.recorder, text)
    }
}

pub fn event(number: i64, kind: Text, note: Note) -> TraceEventRow {
    TraceEventRow {
        time_ns: note.at as i64,
        connection: number,
        kind,
        seq_bytes: note.place as i64,
        size_bytes: note.bytes as i64,
    }
}

/// The number of a word; asked once for each.
fn word(words: &mut BTreeMap<&'static str, Text>, recorder: &mut TraceRecorder, text: &'static str) -> Text {
    *words.entry(text).or_insert_with(|| recorder.intern(text))
}
