//! The packets of a capture on their way from its files to the connections, each of them counted.

use std::collections::BTreeMap;

use elephan_record::TraceRecorder;

use crate::clock::{Clock, Tick};
use crate::copies::Copies;
use crate::decode::decode;
use crate::file::{self, Frame, Item, Source};
use crate::fragments::{Fragments, Joined};
use crate::input::Place;
use crate::packet::{Complaint, Datagram, Decoded, End, Segment, Tunnel};
use crate::seen::Seen;
use crate::skip::{Reason, Skipped};
use crate::table::Connections;
use crate::{Error, Filter, Heard, Options, Progress, Summary};

/// Packets between two looks at whoever watches.
const BETWEEN_LOOKS: u64 = 1 << 14;

/// The files in the order of their first packets.
pub fn in_order(places: &[Place]) -> Result<Vec<Place>, Error> {
    if places.len() < 2 {
        return Ok(places.to_vec());
    }
    let mut found = Vec::new();
    for place in places {
        found.push((file::begins(place)?, place.clone()));
    }
    // A stable sort: files that begin together stay as they were given.
    found.sort_by_key(|(begins, _)| *begins);
    Ok(found.into_iter().map(|(_, place)| place).collect())
}

/// A packet of a connection.
enum Packet {
    Segment(Segment),
    Datagram(Datagram),
    Complaint(Complaint),
}

/// The reading of a capture.
pub struct Reading<'a> {
    table: Sorting<'a>,
    clock: Clock<Packet>,
    fragments: Fragments,
    filter: Filter,
    summary: Summary,
    /// Time of the first packet with one, for the filter.
    begin: Option<u64>,
    last: Option<u64>,
    skipped: Skipped,
    tunnels: BTreeMap<Tunnel, u64>,
    files: usize,
}

/// Connections, and what is not theirs.
struct Sorting<'a> {
    connections: Connections<'a>,
    copies: Copies,
    copied: u64,
}

impl Sorting<'_> {
    fn put(&mut self, tick: Tick, packet: &Packet) {
        match packet {
            Packet::Segment(segment) => {
                self.copied += u64::from(!self.connections.segment(tick, segment, &mut self.copies))
            }
            Packet::Datagram(datagram) => self.connections.datagram(tick, datagram),
            Packet::Complaint(complaint) => self.connections.complaint(tick, complaint),
        }
    }
}

impl<'a> Reading<'a> {
    pub fn new(options: &Options, recorder: &'a mut TraceRecorder) -> Reading<'a> {
        let connections = Connections::new(options.clone(), recorder);
        Reading {
            table: Sorting { connections, copies: Copies::default(), copied: 0 },
            clock: Clock::default(),
            fragments: Fragments::default(),
            filter: options.filter.clone(),
            summary: Summary::default(),
            begin: None,
            last: None,
            skipped: Skipped::default(),
            tunnels: BTreeMap::new(),
            files: 0,
        }
    }

    /// Hands over the segments of one row of the table of connections.
    pub fn listen(&mut self, connection: i64, heard: &'a mut dyn FnMut(Heard)) {
        self.table.connections.listener = Some((connection, heard));
    }

    /// Keeps each segment that counts, for [`Reading::take_seen`].
    pub fn keep_seen(&mut self) {
        self.table.connections.seen = Some(Vec::new());
    }

    /// Puts the segments that were kept since the last time into `seen`.
    pub fn take_seen(&mut self, seen: &mut Vec<Seen>) {
        seen.clear();
        if let Some(kept) = &mut self.table.connections.seen {
            std::mem::swap(kept, seen);
        }
    }

    pub fn recorder(&mut self) -> &mut TraceRecorder {
        self.table.connections.recorder
    }

    /// Time of the first packet, nanoseconds since 1970, and of the last, since the first.
    pub fn span(&self) -> (u64, u64) {
        self.clock.span()
    }

    /// Reads one of `files` files.
    pub fn file(&mut self, place: &Place, files: usize, watch: &mut dyn FnMut(&Progress) -> bool) -> Result<(), Error> {
        let before = self.files as f64;
        let mut source = Source::open(place)?;
        let mut share = |at: &Progress| watch(&Progress { share: (before + at.share) / files as f64, ..*at });
        while self.step(&mut source, &mut share)? {}
        let of = if files > 1 { format!("{}: ", place.name()) } else { String::new() };
        self.close(source, &of);
        Ok(())
    }

    /// Reads the next block of a file; answers whether the file goes on.
    pub fn step(&mut self, source: &mut Source, watch: &mut dyn FnMut(&Progress) -> bool) -> Result<bool, Error> {
        source.step(&mut |item, share| {
            match item {
                Item::Name(address, name) => {
                    self.table.connections.name(address, name);
                    return Ok(());
                }
                Item::Strange => self.skipped.add(Reason::Interface, 1),
                Item::Frame(frame) => self.frame(&frame),
            }
            self.summary.packets += 1;
            if self.summary.packets.is_multiple_of(BETWEEN_LOOKS) {
                self.table.connections.check()?;
                if !watch(&Progress { share, packets: self.summary.packets }) {
                    return Err(Error::Stopped);
                }
            }
            Ok(())
        })
    }

    /// Takes what a file that ends says about itself; `of` names it.
    pub fn close(&mut self, source: Source, of: &str) {
        let (format, notes) = source.finish();
        self.files += 1;
        self.summary.format = format;
        self.summary.notes.extend(notes.into_iter().map(|note| format!("{of}{note}")));
    }

    /// Gives what waits for packets that will not come to the connections.
    pub fn settle(&mut self) {
        for joined in self.fragments.finish() {
            self.joined(joined, self.last);
        }
        let table = &mut self.table;
        self.clock.finish(&mut |tick, packet| table.put(tick, &packet));
    }

    fn frame(&mut self, frame: &Frame<'_>) {
        if self.begin.is_none() {
            self.begin = frame.time_ns;
        }
        self.last = frame.time_ns;
        let (decoded, tunnel) = decode(frame);
        if tunnel != Tunnel::None && !matches!(decoded, Decoded::Skipped(_)) {
            *self.tunnels.entry(tunnel).or_default() += 1;
        }
        match decoded {
            Decoded::Fragment(fragment) => {
                for joined in self.fragments.take(fragment) {
                    self.joined(joined, frame.time_ns);
                }
            }
            other => self.decoded(other, frame.time_ns),
        }
    }

    fn joined(&mut self, joined: Joined, time_ns: Option<u64>) {
        match joined {
            Joined::Waits => {}
            Joined::Lost(parts) => self.skipped.add(Reason::Fragment, parts),
            Joined::Whole(decoded, parts) => {
                self.summary.fragments += parts - 1;
                self.decoded(decoded, time_ns);
            }
        }
    }

    fn decoded(&mut self, decoded: Decoded, time_ns: Option<u64>) {
        let (packet, ends) = match decoded {
            Decoded::Segment(mut segment) => {
                segment.frame = self.summary.packets + 1;
                let ends = [segment.from, segment.to];
                (Packet::Segment(segment), ends)
            }
            Decoded::Datagram(datagram) => {
                let ends = [datagram.from, datagram.to];
                (Packet::Datagram(datagram), ends)
            }
            Decoded::Complaint(mut complaint, reason) => {
                complaint.frame = self.summary.packets + 1;
                self.skipped.add(reason, 1);
                let table = &mut self.table;
                let packet = Packet::Complaint(complaint);
                return self.clock.take(time_ns, packet, &mut |tick, packet| table.put(tick, &packet));
            }
            Decoded::Skipped(reason) => return self.skipped.add(reason, 1),
            // A fragment within a fragment: nothing puts that together.
            Decoded::Fragment(_) => return self.skipped.add(Reason::Fragment, 1),
        };
        if !self.filter.is_empty() && !self.takes(ends, time_ns) {
            return self.skipped.add(Reason::Filter, 1);
        }
        match packet {
            Packet::Segment(_) => self.summary.tcp_segments += 1,
            Packet::Datagram(_) => self.summary.udp_datagrams += 1,
            Packet::Complaint(_) => {}
        }
        let table = &mut self.table;
        self.clock.take(time_ns, packet, &mut |tick, packet| table.put(tick, &packet));
    }

    fn takes(&self, ends: [End; 2], time_ns: Option<u64>) -> bool {
        let since = time_ns.zip(self.begin).map(|(time, begin)| time.saturating_sub(begin));
        self.filter.takes(&self.table.connections.addresses(&self.filter.hosts), ends, since)
    }

    /// Writes what is left.
    pub fn finish(mut self) -> Result<Summary, Error> {
        self.settle();
        let mut summary = self.summary;
        summary.tcp_segments -= self.table.copied;
        if self.table.copied > 0 {
            self.skipped.add(Reason::Copy, self.table.copied);
        }
        (summary.begin_ns, summary.span_ns) = self.clock.span();
        summary.other = summary.packets - summary.tcp_segments - summary.udp_datagrams - summary.fragments;
        let ending = self.table.connections.finish()?;
        (summary.connections, summary.told, summary.ranks) = (ending.connections, ending.told, ending.ranks);
        summary.notes.extend(clock_notes(&self.clock));
        summary.notes.extend(copy_note(self.table.copied, summary.tcp_segments));
        summary.notes.extend(ending.notes);
        summary.skipped = self.skipped.ranked();
        summary.tunnels = self.tunnels.iter().map(|(tunnel, &count)| (tunnel.name(), count)).collect();
        summary.notes.extend(skip_note(&summary.skipped, self.table.copied));
        summary.notes.extend(tunnel_note(&summary.tunnels));
        Ok(summary)
    }
}

/// `1 packet has`, `7 packets have`.
pub fn counted(count: u64, what: &str, one: &str, more: &str) -> String {
    if count == 1 { format!("1 {what} {one}") } else { format!("{count} {what}s {more}") }
}

fn clock_notes<T>(clock: &Clock<T>) -> Vec<String> {
    let mut notes = Vec::new();
    if clock.odd > 0 {
        let packets = counted(clock.odd, "packet", "has a time", "have times");
        notes.push(format!(
            "{packets} out of order: each counts where the file has it, at the time of the packet before it"
        ));
    }
    if clock.sets > 0 {
        let how = if clock.set_ns < 0 { "back" } else { "forward" };
        let times = if clock.sets == 1 { "once".to_owned() } else { format!("{} times", clock.sets) };
        let seconds = clock.set_ns.unsigned_abs() as f64 / 1e9;
        notes.push(format!(
            "the clock of the capture was set {times}, by {seconds:.3} s {how} in all: time goes on from there"
        ));
    }
    if clock.timeless > 0 {
        let packets = counted(clock.timeless, "packet", "has", "have");
        notes
            .push(format!("{packets} no time (simple packet blocks): each counts at the time of the packet before it"));
    }
    notes
}

fn copy_note(copied: u64, segments: u64) -> Option<String> {
    let packets = counted(copied, "packet", "is", "are");
    let alone = segments.saturating_sub(copied);
    match copied {
        0 => None,
        _ if alone == 0 => Some("every packet is there twice or more: each counts once".to_owned()),
        _ if 10 * alone < segments => Some(format!("every packet is there twice, but {alone}: each counts once")),
        _ => Some(format!("{packets} there twice: each counts once")),
    }
}

/// Which packets were not analysed, but for copies, which have their own sentence.
fn skip_note(skipped: &[(String, u64)], copied: u64) -> Option<String> {
    let copies = Reason::Copy.to_string();
    let named: Vec<String> = skipped
        .iter()
        .filter(|(reason, _)| *reason != copies)
        .map(|(reason, count)| format!("{count} {reason}"))
        .collect();
    let total: u64 = skipped.iter().map(|(_, count)| count).sum::<u64>() - copied;
    (total > 0).then(|| format!("{} not analysed: {}", counted(total, "packet", "was", "were"), named.join(", ")))
}

fn tunnel_note(tunnels: &[(&'static str, u64)]) -> Option<String> {
    let named: Vec<String> = tunnels.iter().map(|(name, count)| format!("{count} in {name}")).collect();
    (!named.is_empty()).then(|| format!("packets within tunnels were analysed: {}", named.join(", ")))
}
