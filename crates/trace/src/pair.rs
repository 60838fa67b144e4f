//! Two captures of one transfer, made at two places: their clocks aligned, their packets matched one by one.
//!
//! Both files are read at once, the one that is behind first, by the near clock. [`sketch`] finds out beforehand whether they hold the same
//! packets, how far the clocks are apart, and which file is nearer to the sender: it is the near place. [`flow`] matches the packets of a
//! connection, by number, time stamps, ACK and identification, and by ranges of bytes where offloading cuts or joins segments. A packet
//! that the other place has not shown within [`WAIT_NS`] is not coming. [`offset`] gives the clocks, [`delays`] the one-way delays.

mod delays;
mod flow;
mod lost;
mod offset;
mod outcome;
mod side;
mod sketch;
mod words;

use std::collections::BTreeMap;

use elephan_record::{PairConnectionRow, PairDelayRow, PairLossRow, TraceRecorder};

use crate::file::{self, Source};
use crate::input::Place;
use crate::packet::Key;
use crate::reading::Reading;
use crate::rtts::Rtts;
use crate::seen::Seen;
use crate::{Error, Options, Progress, Summary};
use delays::{Cell, Delays};
use flow::Flow;
use lost::{Lost, Tally};
pub use offset::Offset;
use outcome::{FAR, NEAR};
pub use outcome::{OneWay, Pair};
use sketch::Sketch;

const DIRECTIONS: [&str; 2] = ["there", "back"];
/// A packet that takes longer than this is not coming: longer than any queue holds it.
const WAIT_NS: i64 = 10_000_000_000;
const BETWEEN_SWEEPS_NS: i64 = 1_000_000_000;
/// Connections are written when there are so many and they have been silent for so long.
const FLOWS_MANY: usize = 4096;
const SILENT_NS: i64 = 60_000_000_000;

/// Whether two files hold the same transfer; nothing if they do not. Reads the beginnings of both.
pub struct Twins(sketch::Common);

impl Twins {
    pub fn of(places: &[Place; 2], watch: &mut dyn FnMut(&Progress) -> bool) -> Result<Option<Twins>, Error> {
        let [first, second] = places;
        let common = Sketch::of(first, watch)?.common(&Sketch::of(second, watch)?);
        Ok(common.map(Twins))
    }

    /// Whether both files are one and the same capture.
    pub fn is_one_capture(&self) -> bool {
        self.0.is_one_capture
    }
}

/// Reads both captures; the tables are those of the near one, and what both say together.
pub fn read(
    places: &[Place; 2],
    twins: Twins,
    options: &Options,
    recorder: &mut TraceRecorder,
    watch: &mut dyn FnMut(&Progress) -> bool,
) -> Result<Summary, Error> {
    let common = twins.0;
    let swapped = common.is_swapped;
    let [near, far] = if swapped { [&places[1], &places[0]] } else { [&places[0], &places[1]] };
    let common = if swapped { common.turned() } else { common };
    let begins = [file::begins(near)?, file::begins(far)?].map(|begins| begins.unwrap_or(0) as i64);
    let mut far_options = Options { vantage: None, focus: None, ..options.clone() };
    let later = begins[FAR] - begins[NEAR] - common.offset;
    for time in [&mut far_options.filter.from_ns, &mut far_options.filter.until_ns].into_iter().flatten() {
        *time = time.saturating_add_signed(-later);
    }
    let mut far_recorder = TraceRecorder::memory();
    let mut readings = [Reading::new(options, recorder), Reading::new(&far_options, &mut far_recorder)];
    let mut matcher = Matcher::new(common, options.every_ns, begins);
    matcher.all(&mut readings, [near, far], watch)?;
    let [names, paths] = [Place::short_name, Place::name].map(|name| [name(near), name(far)]);
    let names = if names[NEAR] == names[FAR] { paths } else { names };
    let [mut near, far] = readings;
    let mut pair = matcher.finish(near.recorder(), &names);
    let seen_far = far.finish()?;
    let mut summary = near.finish()?;
    pair.lines = words::lines(&pair);
    summary.packets += seen_far.packets;
    summary.notes.extend(seen_far.notes.into_iter().map(|note| format!("{}: {note}", names[FAR])));
    summary.pair = Some(pair);
    Ok(summary)
}

/// Where the matching stands.
struct Matcher {
    flows: BTreeMap<Key, Flow>,
    common: flow::Common,
    translated: BTreeMap<Key, (Key, bool)>,
    /// What the far clock is ahead, for times by the near clock.
    ahead: i64,
    /// First times of both files, and how far each has been read, by the near clock.
    begins: [i64; 2],
    read_to: [i64; 2],
    swept: i64,
    /// Resolution of the times: a thousand where no time has a finer one.
    is_fine: bool,
    rows: Vec<Tally>,
    /// The direction with most data so far.
    largest: Tally,
    pair: Pair,
}

impl Matcher {
    fn new(common: sketch::Common, every: Option<u64>, begins: [i64; 2]) -> Matcher {
        let offset = if common.is_two_way { common.offset } else { i64::MIN };
        Matcher {
            flows: BTreeMap::new(),
            common: flow::Common {
                delays: [Delays::new(every), Delays::new(every)],
                nearest: [None; 2],
                farthest: [None; 2],
                keeps_idents: common.keeps_idents,
                offset,
                spans: [None; 2],
                lost: Vec::new(),
                order: 0,
            },
            translated: common.translated,
            ahead: common.offset,
            begins,
            read_to: [begins[NEAR], begins[FAR] - common.offset],
            swept: i64::MIN,
            is_fine: false,
            rows: Vec::new(),
            largest: Tally::default(),
            pair: Pair::default(),
        }
    }

    /// Reads both files to their ends.
    fn all(
        &mut self,
        readings: &mut [Reading<'_>; 2],
        places: [&Place; 2],
        watch: &mut dyn FnMut(&Progress) -> bool,
    ) -> Result<(), Error> {
        let mut sources = [Some(Source::open(places[NEAR])?), Some(Source::open(places[FAR])?)];
        let mut shares = [Progress { share: 0.0, packets: 0 }; 2];
        readings.iter_mut().for_each(Reading::keep_seen);
        let mut seen = Vec::new();
        while sources.iter().any(Option::is_some) {
            let is_first =
                sources[FAR].is_none() || (sources[NEAR].is_some() && self.read_to[NEAR] <= self.read_to[FAR]);
            let at = if is_first { NEAR } else { FAR };
            let Some(source) = &mut sources[at] else { break };
            let goes_on = readings[at].step(source, &mut |own| {
                shares[at] = *own;
                let share = (shares[NEAR].share + shares[FAR].share) / 2.0;
                watch(&Progress { share, packets: shares[NEAR].packets + shares[FAR].packets })
            })?;
            if !goes_on {
                readings[at].settle();
                if let Some(source) = sources[at].take() {
                    readings[at].close(source, &format!("{}: ", places[at].name()));
                }
            }
            readings[at].take_seen(&mut seen);
            for one in &seen {
                self.take(at, one);
            }
            let to = self.begins[at] + readings[at].span().1 as i64;
            self.read_to[at] = if goes_on { if at == FAR { to - self.ahead } else { to } } else { i64::MAX };
            let now = self.read_to[NEAR].min(self.read_to[FAR]);
            if now < i64::MAX && now > self.swept.saturating_add(BETWEEN_SWEEPS_NS) {
                self.swept = now;
                if let Some(offset) = self.common.settle() {
                    (self.ahead, self.common.offset) = (offset, offset);
                }
                self.sweep(now - WAIT_NS, readings[NEAR].recorder());
            }
        }
        Ok(())
    }

    fn take(&mut self, at: usize, seen: &Seen) {
        let (key, turned) = match self.translated.get(&seen.key).filter(|_| at == FAR) {
            Some((key, turned)) => (*key, *turned),
            None => (seen.key, false),
        };
        let way = usize::from((seen.segment.from == seen.key.0) == turned);
        let time = self.begins[at] + seen.tick.now as i64;
        self.is_fine |= time % 1000 != 0;
        let (first, last) = self.common.spans[at].unwrap_or((time, time));
        self.common.spans[at] = Some((first.min(time), last.max(time)));
        let aligned = if at == FAR { time - self.ahead } else { time };
        let done = self.flows.entry(key).or_default().take(at, way, seen, (time, aligned), &mut self.common);
        self.rows.extend(done);
    }

    /// Gives up what has waited since before `limit`, and writes what is certain by then.
    fn sweep(&mut self, limit: i64, recorder: &mut TraceRecorder) {
        for flow in self.flows.values_mut().filter(|flow| flow.waits() > 0) {
            flow.give_up(limit, &mut self.common);
        }
        if self.flows.len() > FLOWS_MANY {
            let silent = |flow: &Flow| flow.last < limit.saturating_sub(SILENT_NS);
            let over: Vec<Key> = self.flows.iter().filter(|(_, flow)| silent(flow)).map(|(key, _)| *key).collect();
            for mut flow in over.iter().filter_map(|key| self.flows.remove(key)) {
                self.rows.extend(flow.finish());
            }
        }
        let (mut certain, open): (Vec<Lost>, Vec<Lost>) =
            std::mem::take(&mut self.common.lost).into_iter().partition(|lost| lost.time < limit);
        self.common.lost = open;
        certain.sort_by_key(|lost| (lost.time, lost.frame));
        for lost in certain {
            let row = PairLossRow {
                time_ns: lost.time - self.begins[NEAR],
                connection: lost.connection,
                direction: recorder.intern(DIRECTIONS[lost.first]),
                fate: recorder.intern(lost.fate.name()),
                seq_bytes: lost.seq,
                size_bytes: lost.bytes as i64,
                retransmitted: lost.again as i64,
                frame: lost.frame as i64,
            };
            recorder.pair_losses.push(row);
        }
        for tally in std::mem::take(&mut self.rows) {
            self.write(&tally, recorder);
        }
    }

    fn write(&mut self, tally: &Tally, recorder: &mut TraceRecorder) {
        let pair = &mut self.pair;
        pair.retransmitted += tally.retransmitted;
        pair.lost_between += tally.lost_between;
        pair.lost_before += tally.lost_before;
        pair.lost_behind += tally.lost_behind;
        pair.needless += tally.needless;
        pair.acks_lost += tally.acks_lost;
        pair.missed[NEAR] += tally.missed[NEAR];
        pair.missed[FAR] += tally.missed[FAR];
        if tally.matched_bytes > self.largest.matched_bytes {
            self.largest = tally.clone();
        }
        let Some(connection) = tally.number_at(NEAR) else { return };
        let time = |value: Option<u64>| value.map(|ns| ns as i64);
        let row = PairConnectionRow {
            connection,
            far_connection: tally.number_at(FAR),
            direction: recorder.intern(DIRECTIONS[tally.first]),
            near_segments: tally.segments[NEAR] as i64,
            far_segments: tally.segments[FAR] as i64,
            matched_bytes: tally.matched_bytes as i64,
            retransmitted: tally.retransmitted as i64,
            lost_between: tally.lost_between as i64,
            lost_before: tally.lost_before as i64,
            lost_behind: tally.lost_behind as i64,
            needless: tally.needless as i64,
            acks_lost: tally.acks_lost as i64,
            missed_near: tally.missed[NEAR] as i64,
            missed_far: tally.missed[FAR] as i64,
            receiver_median_ns: time(tally.turns.quantile(0.5)),
            receiver_p95_ns: time(tally.turns.quantile(0.95)),
            receiver_max_ns: time(tally.turns.max),
            sender_median_ns: time(tally.replies.quantile(0.5)),
            sender_p95_ns: time(tally.replies.quantile(0.95)),
        };
        recorder.pair_connections.push(row);
    }

    /// Writes what is left.
    fn finish(mut self, recorder: &mut TraceRecorder, names: &[String; 2]) -> Pair {
        self.common.settle();
        for flow in self.flows.values_mut() {
            flow.give_up(i64::MAX, &mut self.common);
            self.rows.extend(flow.finish());
        }
        self.rows.sort_by_key(|tally| tally.number_at(NEAR));
        self.flows.clear();
        self.sweep(i64::MAX, recorder);
        let [there, back] = &self.common.delays;
        let offset = offset::offset(there, back, if self.is_fine { 1.0 } else { 1000.0 });
        self.pair.matched = there.count() + back.count();
        for (way, name) in DIRECTIONS.into_iter().enumerate() {
            let Some(offset) = offset else { break };
            let delay = |point: delays::Point| {
                let apart = point.1 as f64 - offset.at(point.0);
                (if way == NEAR { apart } else { -apart }).round() as i64
            };
            self.pair.delays[way] = one_way(&self.common.delays[way], delay);
            let direction = recorder.intern(name);
            for (end, span, cell) in self.common.delays[way].rows() {
                let ends = [delay(cell.least), delay(cell.most)];
                let median =
                    quantile(&mut cell.sample().map(|(at, weight)| (delay(at), weight)).collect::<Vec<_>>(), 0.5);
                recorder.pair_delays.push(PairDelayRow {
                    time_ns: end - self.begins[NEAR],
                    span_ns: span,
                    direction,
                    packets: cell.count as i64,
                    delay_min_ns: ends[0].min(ends[1]),
                    delay_median_ns: median,
                    delay_max_ns: ends[0].max(ends[1]),
                });
            }
        }
        let times = |ends: &Rtts| Some([ends.quantile(0.5)?, ends.quantile(0.95)?]);
        let (receiver, sender) = (times(&self.largest.turns), times(&self.largest.replies));
        Pair { names: names.clone(), offset, receiver, sender, ..self.pair }
    }
}

fn one_way(delays: &Delays, delay: impl Fn(delays::Point) -> i64) -> Option<OneWay> {
    let mut all: Vec<(i64, f64)> =
        delays.cells().flat_map(Cell::sample).map(|(point, weight)| (delay(point), weight)).collect();
    let ends = || delays.cells().flat_map(|cell| [delay(cell.least), delay(cell.most)]);
    let (least, most) = (ends().min()?, ends().max()?);
    let [median, p95] = [0.5, 0.95].map(|share| quantile(&mut all, share));
    Some(OneWay { packets: delays.count(), least, median, p95, most })
}

/// The value that `share` of the weight does not exceed.
fn quantile(values: &mut [(i64, f64)], share: f64) -> i64 {
    values.sort_by_key(|value| value.0);
    let wanted = share * values.iter().map(|value| value.1).sum::<f64>();
    let mut sum = 0.0;
    let reached = values.iter().find(|value| {
        sum += value.1;
        sum >= wanted
    });
    reached.or(values.last()).map_or(0, |value| value.0)
}
