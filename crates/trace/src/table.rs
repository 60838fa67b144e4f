//! All connections of a trace, and their rows.

use std::collections::BTreeMap;
use std::net::IpAddr;

use elephan_record::{ConnectionRow, ConnectionSampleRow, Text, TraceEventRow, TraceRecorder};

use crate::connection::Connection;
use crate::decode::{Datagram, End, Segment};
use crate::half::{Context, Half, Note};
use crate::{Error, Options, Vantage};

/// The two ends, the smaller first, and whether they speak TCP.
type Key = (End, End, bool);

/// A connection that is over is kept for its last packets for so long.
const LINGER_NS: u64 = 10_000_000_000;
/// A time so much later than the one before is damaged: a year.
const LEAP_NS: u64 = 366 * DAY_NS;
const DAY_NS: u64 = 86_400 * 1_000_000_000;
/// So many packets in a row whose times leap: the clock was set.
const LEAPS_MAX: u32 = 8;
/// A TCP connection, and a stream of datagrams, that has been silent for so long is written when there are many.
const SILENT_NS: [u64; 2] = [60_000_000_000, 600_000_000_000];
/// Connections are swept when their number has doubled since the last time, from so many on.
const SWEEP_AT: usize = 4096;

/// A live connection: its first end and what is known.
struct Live {
    /// Whether the end that sent first is the second of the key.
    swapped: bool,
    connection: Connection,
}

/// Every connection that is live, and the tables.
pub struct Connections<'a> {
    options: Options,
    recorder: &'a mut TraceRecorder,
    live: BTreeMap<Key, Box<Live>>,
    names: BTreeMap<IpAddr, String>,
    /// Words of the text columns.
    words: BTreeMap<String, Text>,
    made: i64,
    sweep_at: usize,
    first: Option<u64>,
    last: u64,
    odd: u64,
    /// Packets in a row whose times leap.
    leaps: u32,
}

impl<'a> Connections<'a> {
    pub fn new(options: Options, recorder: &'a mut TraceRecorder) -> Connections<'a> {
        Connections {
            options,
            recorder,
            live: BTreeMap::new(),
            names: BTreeMap::new(),
            words: BTreeMap::new(),
            made: 0,
            sweep_at: SWEEP_AT,
            first: None,
            last: 0,
            odd: 0,
            leaps: 0,
        }
    }

    /// An address has a name.
    pub fn name(&mut self, address: IpAddr, name: &str) {
        self.names.insert(address, name.to_owned());
    }

    /// Whether rows could be written.
    pub fn check(&self) -> Result<(), Error> {
        Ok(self.recorder.check()?)
    }

    /// Time of the first packet and how long after it the last came.
    pub fn span(&self) -> (u64, u64) {
        (self.first.unwrap_or(0), self.last)
    }

    /// Nanoseconds since the first packet; time never runs backwards, nor does it leap.
    fn clock(&mut self, time_ns: u64) -> u64 {
        let first = *self.first.get_or_insert(time_ns);
        let now = time_ns.saturating_sub(first);
        let expected = first.saturating_add(self.last);
        let leaps = now > self.last.saturating_add(LEAP_NS) || expected.saturating_sub(time_ns) > DAY_NS;
        if !leaps && now >= self.last && time_ns >= first {
            self.last = now;
            self.leaps = 0;
        } else {
            self.odd += 1;
            self.leaps = if leaps { self.leaps + 1 } else { 0 };
        }
        if self.leaps == LEAPS_MAX {
            // The clock was set: time goes on from here.
            self.first = Some(time_ns.saturating_sub(self.last));
            self.leaps = 0;
        }
        self.last
    }

    fn find(&mut self, now: u64, (from, to): (End, End), tcp: bool) -> (Key, usize) {
        let swapped = from > to;
        let key = if swapped { (to, from, tcp) } else { (from, to, tcp) };
        let options = self.options;
        let live = self
            .live
            .entry(key)
            .or_insert_with(|| Box::new(Live { swapped, connection: Connection::new(now, options) }));
        (key, usize::from(live.swapped != swapped))
    }

    /// A segment was seen.
    pub fn segment(&mut self, segment: &Segment) {
        let now = self.clock(segment.time_ns);
        let (mut key, mut end) = self.find(now, (segment.from, segment.to), true);
        if self.live.get(&key).is_some_and(|live| live.connection.is_another(segment, end)) {
            if let Some(live) = self.live.remove(&key) {
                self.write(key, *live);
            }
            (key, end) = self.find(now, (segment.from, segment.to), true);
        }
        let Some(live) = self.live.get_mut(&key) else { return };
        let notes = live.connection.segment(now, end, segment);
        if segment.len > 0 && live.connection.halves[end].number.is_none() {
            live.connection.halves[end].number = Some(self.made);
            self.made += 1;
        }
        for (about, note) in notes.into_iter().flatten() {
            if let Some(number) = live.connection.halves[about].number {
                let kind = word(&mut self.words, self.recorder, note.kind);
                self.recorder.trace_events.push(event(now, number, kind, note));
            }
        }
        self.sweep(now);
    }

    /// A datagram was seen.
    pub fn datagram(&mut self, datagram: &Datagram) {
        let now = self.clock(datagram.time_ns);
        let (key, end) = self.find(now, (datagram.from, datagram.to), false);
        let Some(live) = self.live.get_mut(&key) else { return };
        let context = Context {
            now,
            vantage: Vantage::Unknown,
            handshake_rtt: None,
            burst_gap: self.options.burst_gap_ns,
            ecn: false,
            every: self.options.every_ns,
        };
        live.connection.end = now;
        let half = &mut live.connection.halves[end];
        half.datagram(&context, u64::from(datagram.len));
        if half.number.is_none() {
            half.number = Some(self.made);
            self.made += 1;
        }
        self.sweep(now);
    }

    /// Writes connections that have been over for a while.
    fn sweep(&mut self, now: u64) {
        if self.live.len() < self.sweep_at {
            return;
        }
        let over = |key: &Key, live: &Live| {
            let lingers = if live.connection.is_over() { LINGER_NS } else { SILENT_NS[usize::from(key.2)] };
            live.connection.end + lingers < now
        };
        let keys: Vec<Key> = self.live.iter().filter(|(key, live)| over(key, live)).map(|(key, _)| *key).collect();
        for key in keys {
            if let Some(live) = self.live.remove(&key) {
                self.write(key, *live);
            }
        }
        self.sweep_at = (2 * self.live.len()).max(SWEEP_AT);
    }

    /// Writes what is left; answers how many rows there are and what is to be said.
    pub fn finish(mut self) -> Result<(u64, Vec<String>), Error> {
        let mut left: Vec<(Key, Box<Live>)> = std::mem::take(&mut self.live).into_iter().collect();
        left.sort_by_key(|(_, live)| live.connection.halves.iter().filter_map(|half| half.number).min());
        for (key, live) in left {
            self.write(key, *live);
        }
        let mut notes = Vec::new();
        if self.odd > 0 {
            notes.push(format!(
                "{} packets have earlier times than those before them; they count as simultaneous",
                self.odd
            ));
        }
        self.recorder.check()?;
        Ok((self.recorder.connections.len(), notes))
    }

    fn write(&mut self, key: Key, mut live: Live) {
        if live.connection.halves.iter().all(|half| half.number.is_none()) {
            let opener = usize::from(live.connection.opener == Some(false));
            live.connection.halves[opener].number = Some(self.made);
            self.made += 1;
        }
        for end in 0..2 {
            let Some(number) = live.connection.halves[end].number else { continue };
            let row = self.row(key, &live, end, number);
            self.recorder.connections.push(row);
            for (time, span, bin) in live.connection.halves[end].bins.rows() {
                self.recorder.connection_samples.push(ConnectionSampleRow {
                    time_ns: time as i64,
                    span_ns: span as i64,
                    connection: number,
                    sent_bytes: bin.state.sent as i64,
                    delivered_bytes: bin.state.acked as i64,
                    data_octets_out: bin.octets as i64,
                    octets_retrans: bin.again as i64,
                    inflight_bytes: bin.state.sent.saturating_sub(bin.state.acked) as i64,
                    inflight_max_bytes: bin.inflight_max as i64,
                    cur_rwin_rcvd: bin.state.window as i64,
                    rtt_min_ns: bin.rtt_min.map(|rtt| rtt as i64),
                    rtt_mean_ns: (bin.rtt_count > 0).then(|| (bin.rtt_sum / bin.rtt_count.max(1)) as i64),
                    dup_acks_in: bin.dup_acks as i64,
                    burst_max_segs: bin.burst_max as i64,
                    ..ConnectionSampleRow::default()
                });
            }
        }
    }

    fn host(&mut self, address: IpAddr) -> Text {
        let name = self.names.get(&address).cloned().unwrap_or_else(|| address.to_string());
        word(&mut self.words, self.recorder, &name)
    }

    fn row(&mut self, key: Key, live: &Live, end: usize, number: i64) -> ConnectionRow {
        let c = &live.connection;
        let (first, second) = if (end == 0) != live.swapped { (key.0, key.1) } else { (key.1, key.0) };
        let (half, peer): (&Half, &Half) = (&c.halves[end], &c.halves[1 - end]);
        let counts = &half.counts;
        let both = |of: &dyn Fn(&crate::half::Opening) -> bool| {
            half.opening.as_ref().is_some_and(of) && peer.opening.as_ref().is_some_and(of)
        };
        let scaled = both(&|o| o.window_scale.is_some());
        let scale = |half: &Half| half.opening.map(|o| if scaled { i64::from(o.window_scale.unwrap_or(0)) } else { 0 });
        let span =
            half.data_start.zip(half.data_end).map(|(begin, end)| end.saturating_sub(begin)).filter(|&span| span > 0);
        let time = |time: u64| time as i64;
        ConnectionRow {
            connection: number,
            protocol: word(&mut self.words, self.recorder, if key.2 { "tcp" } else { "udp" }),
            source: self.host(first.0),
            source_port: i64::from(first.1),
            destination: self.host(second.0),
            destination_port: i64::from(second.1),
            opener: c.opener.map(|first| first == (end == 0)),
            vantage: word(&mut self.words, self.recorder, c.vantage(end).name()),
            start_ns: time(c.start),
            end_ns: time(c.end),
            data_start_ns: half.data_start.map(time),
            data_end_ns: half.data_end.map(time),
            handshake_rtt_ns: c.handshake_rtt.map(time),
            syn: half.opening.is_some(),
            fin: half.fin,
            reset: c.reset,
            delivered_bytes: half.acked as i64,
            goodput_bps: span.map(|span| half.acked as f64 * 8e9 / span as f64),
            segs_out: counts.segs_out as i64,
            segs_in: counts.segs_in as i64,
            data_segs_out: counts.data_segs_out as i64,
            data_octets_out: counts.data_octets_out as i64,
            segs_retrans: counts.segs_retrans as i64,
            octets_retrans: counts.octets_retrans as i64,
            out_of_order: counts.out_of_order as i64,
            missed_bytes: counts.missed as i64,
            dup_acks_in: counts.dup_acks_in as i64,
            sacks_rcvd: counts.sacks_rcvd as i64,
            sack_blocks_rcvd: counts.sack_blocks_rcvd as i64,
            zero_rwin_rcvd: counts.zero_rwin_rcvd as i64,
            cur_rwin_rcvd: half.window.unwrap_or(0) as i64,
            max_rwin_rcvd: counts.max_rwin as i64,
            rwin_limited_ns: time(counts.rwin_limited),
            idle_ns: time(half.idle_ns(c.end)),
            mss_sent: half.opening.and_then(|o| o.mss).map(i64::from),
            mss_rcvd: peer.opening.and_then(|o| o.mss).map(i64::from),
            win_scale_sent: scale(half),
            win_scale_rcvd: scale(peer),
            time_stamps: both(&|o| o.timestamps),
            will_use_sack: both(&|o| o.sack),
            ecn: c.ecn,
            ce_out: counts.ce_out as i64,
            ece_in: counts.ece_in as i64,
            count_rtt: half.rtts.count as i64,
            min_rtt_ns: half.rtts.min.map(time),
            median_rtt_ns: half.rtts.quantile(0.5).map(time),
            p99_rtt_ns: half.rtts.quantile(0.99).map(time),
            max_rtt_ns: half.rtts.max.map(time),
            sum_rtt_ns: time(half.rtts.sum),
            cong_signals: counts.cong_signals as i64,
            max_inflight_bytes: counts.max_inflight as i64,
            bursts: half.bursts as i64,
            burst_max_segs: half.burst_max_segs as i64,
            burst_max_bytes: half.burst_max_bytes as i64,
        }
    }
}

fn event(now: u64, number: i64, kind: Text, note: Note) -> TraceEventRow {
    TraceEventRow {
        time_ns: now as i64,
        connection: number,
        kind,
        seq_bytes: note.place as i64,
        size_bytes: note.bytes as i64,
    }
}

/// The number of a word; asked once for each.
fn word(words: &mut BTreeMap<String, Text>, recorder: &mut TraceRecorder, text: &str) -> Text {
    if let Some(known) = words.get(text) {
        return *known;
    }
    let number = recorder.intern(text);
    words.insert(text.to_owned(), number);
    number
}
