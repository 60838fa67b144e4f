//! One direction of a connection: what its sender sent, and what the peer answered.
//!
//! Offsets count payload from 0, unwrapped from 32 bits. A segment is a retransmission if nothing in it is beyond the highest byte
//! seen; below it, bytes that were never seen come either from a sender that repeats what was lost before the place of the capture
//! or out of order: the latter if the hole is younger than half a round-trip time of the handshake (3 ms if that is not
//! known, as Wireshark has it), and never at the sender itself. A round-trip time is sampled from a segment that was sent once to the
//! ACK that covers it, if nothing that this ACK covers was sent twice (Karn). At the receiver that would be the time of the receiver
//! alone; there it is the time from the first segment with a TSval to the first one that echoes it: a round trip, and what the sender
//! waited. ACKs are duplicates as RFC 5681 section 2 says. A window was cut where something is repeated after all that had been sent
//! at the last cut is acknowledged (RFC 6582's `recover`), or where CWR says so and both ends had agreed on ECN (RFC 3168).

use std::collections::VecDeque;

use crate::Vantage;
use crate::bins::{Bins, State};
use crate::decode::Segment;
use crate::ranges::Holes;
use crate::rtts::Rtts;

/// A hole that is filled so soon was reordering, when no round-trip time is known.
const REORDERING_NS: u64 = 3_000_000;
/// Segments whose round-trip time is measured at the same time.
const OUTSTANDING_MAX: usize = 1 << 16;
/// The fastest clock of time stamps ticks once a microsecond; by so much more one may be ahead.
const TICK_NS: u64 = 1000;
const TICKS_SPARE: u64 = 1 << 16;
/// A segment, where nobody has said the MSS.
const MSS: u64 = 1460;

/// Something rare, for the table of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Note {
    pub kind: &'static str,
    pub place: u64,
    pub bytes: u64,
}

/// What both directions share.
#[derive(Clone, Copy, Debug)]
pub struct Context {
    pub now: u64,
    pub vantage: Vantage,
    pub handshake_rtt: Option<u64>,
    pub burst_gap: u64,
    /// The connection has agreed on ECN (RFC 3168).
    pub ecn: bool,
    pub every: Option<u64>,
}

/// A segment in flight.
#[derive(Clone, Copy, Debug)]
struct Sent {
    begin: u64,
    end: u64,
    at: u64,
    again: bool,
}

/// Counters, as the columns of the table are called.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    pub segs_out: u64,
    pub segs_in: u64,
    pub data_segs_out: u64,
    pub data_octets_out: u64,
    pub segs_retrans: u64,
    pub octets_retrans: u64,
    pub out_of_order: u64,
    pub missed: u64,
    pub dup_acks_in: u64,
    pub sacks_rcvd: u64,
    pub sack_blocks_rcvd: u64,
    pub zero_rwin_rcvd: u64,
    pub max_rwin: u64,
    pub ce_out: u64,
    pub ece_in: u64,
    pub cong_signals: u64,
    pub max_inflight: u64,
    pub rwin_limited: u64,
    pub idle: u64,
}

/// What a SYN said.
#[derive(Clone, Copy, Debug, Default)]
pub struct Opening {
    pub mss: Option<u16>,
    pub window_scale: Option<u8>,
    pub sack: bool,
    pub timestamps: bool,
}

/// One direction.
#[derive(Clone, Debug)]
pub struct Half {
    /// Its number in the tables, once it has one.
    pub number: Option<i64>,
    pub counts: Counts,
    pub rtts: Rtts,
    pub opening: Option<Opening>,
    pub bins: Bins,
    pub fin: bool,
    pub data_start: Option<u64>,
    pub data_end: Option<u64>,
    pub bursts: u64,
    pub burst_max_segs: u64,
    pub burst_max_bytes: u64,
    /// Sequence number of the first byte of payload.
    first: Option<u32>,
    /// End of the highest payload seen, and what the peer has acknowledged of it.
    pub highest: u64,
    pub acked: u64,
    acked_once: bool,
    holes: Holes,
    outstanding: VecDeque<Sent>,
    /// TSvals of the peer that wait for their echo, and when they were seen; the last one.
    stamps: VecDeque<(u32, u64)>,
    stamp: Option<(u32, u64)>,
    /// What had been sent when the window was last cut.
    recover: Option<u64>,
    pub window: Option<u64>,
    scale_known: bool,
    dup_acks: u64,
    burst: (u64, u64),
    last_data: Option<u64>,
    /// When the two flags below were last looked at.
    accounted: u64,
    rwin_limited: bool,
    idle: bool,
}

impl Half {
    pub fn new(context: &Context) -> Half {
        Half {
            number: None,
            counts: Counts::default(),
            rtts: Rtts::default(),
            opening: None,
            bins: Bins::new(context.now, context.every),
            fin: false,
            data_start: None,
            data_end: None,
            bursts: 0,
            burst_max_segs: 0,
            burst_max_bytes: 0,
            first: None,
            highest: 0,
            acked: 0,
            acked_once: false,
            holes: Holes::default(),
            outstanding: VecDeque::new(),
            stamps: VecDeque::new(),
            stamp: None,
            recover: None,
            window: None,
            scale_known: false,
            dup_acks: 0,
            burst: (0, 0),
            last_data: None,
            accounted: context.now,
            rwin_limited: false,
            idle: false,
        }
    }

    /// Whether a SYN with this sequence number can be the one that began it.
    pub fn may_begin_with(&self, seq: u32) -> bool {
        self.first.is_none_or(|first| first == seq.wrapping_add(1))
    }

    /// Its sender sent a segment; answers what was rare about it.
    pub fn sent(&mut self, context: &Context, segment: &Segment) -> [Option<Note>; 2] {
        self.account(context.now);
        self.counts.segs_out += 1;
        self.counts.ce_out += u64::from(segment.ce);
        if segment.syn {
            let options = &segment.options;
            self.first = Some(segment.seq.wrapping_add(1));
            self.opening = Some(Opening {
                mss: options.mss,
                window_scale: options.window_scale,
                sack: options.sack_permitted,
                timestamps: options.timestamps.is_some(),
            });
        }
        let data_seq = segment.seq.wrapping_add(u32::from(segment.syn));
        if self.opening.is_none() && self.data_start.is_none() && segment.len > 0 {
            // The capture began later: what was in flight before was not missed.
            self.first = Some(data_seq);
            (self.highest, self.acked) = (0, 0);
        }
        self.first.get_or_insert(data_seq);
        let before = self.highest;
        let note = if segment.len > 0 { self.data(context, data_seq, u64::from(segment.len)) } else { None };
        let again = note.filter(|note| note.kind == "retransmission").map(|note| note.place);
        // A probe of a closed window is no sign of congestion, and without ECN, or with AccECN, CWR means something else.
        let again = again.filter(|_| segment.len > 1 || self.window != Some(0));
        let said = context.ecn && segment.cwr && !segment.syn && self.highest > before;
        let cut = self.cut(before, again, said.then(|| self.highest.saturating_sub(u64::from(segment.len))));
        if let Some((_, echo)) = segment.options.timestamps.filter(|_| !segment.syn) {
            self.echoed(context.now, echo);
        }
        self.settle(context);
        if segment.fin && !self.fin {
            self.fin = true;
            return [note.or(Some(Note { kind: "fin", place: self.highest, bytes: 0 })), cut];
        }
        [note, cut]
    }

    /// Whether a segment, sent when the stream was `before` long, shows that the window was cut: it repeats from `again`, or it
    /// says so with new data from `cwr` on (then a loss that was counted since the last new data is meant).
    fn cut(&mut self, before: u64, again: Option<u64>, cwr: Option<u64>) -> Option<Note> {
        // RFC 6582 section 3.2: the last recovery must be over.
        let over = |recover: u64| self.acked >= recover;
        let by_loss = again.filter(|&place| self.recover.is_none_or(|recover| place >= recover && over(recover)));
        let said = cwr.filter(|&place| self.recover.is_none_or(|recover| place > recover));
        let place = by_loss.or(said)?;
        self.recover = Some(cwr.unwrap_or(before));
        self.counts.cong_signals += 1;
        Some(Note { kind: "cut", place, bytes: 0 })
    }

    /// A datagram of `len` bytes of payload.
    pub fn datagram(&mut self, context: &Context, len: u64) {
        self.counts.segs_out += 1;
        self.count_data(context, len);
        self.highest += len;
        self.acked = self.highest;
        self.data_end = Some(context.now);
        self.bins.at(context.now).state = State { sent: self.highest, acked: self.acked, window: 0 };
    }

    fn count_data(&mut self, context: &Context, len: u64) {
        let now = context.now;
        self.counts.data_segs_out += 1;
        self.counts.data_octets_out += len;
        self.data_start.get_or_insert(now);
        let follows = self.last_data.is_some_and(|last| now.saturating_sub(last) <= context.burst_gap);
        self.last_data = Some(now);
        self.burst = if follows { (self.burst.0 + 1, self.burst.1 + len) } else { (1, len) };
        self.bursts += u64::from(!follows);
        self.burst_max_segs = self.burst_max_segs.max(self.burst.0);
        self.burst_max_bytes = self.burst_max_bytes.max(self.burst.1);
        let bin = self.bins.at(now);
        bin.octets += len;
        bin.burst_max = bin.burst_max.max(self.burst.0);
    }

    fn data(&mut self, context: &Context, seq: u32, len: u64) -> Option<Note> {
        let begin = self.offset(seq, self.highest);
        let end = u64::try_from(begin + len as i64).ok().filter(|&end| end > 0)?;
        let begin = begin.max(0) as u64;
        // One byte of the past, when all is acknowledged, asks whether the peer is still there (RFC 9293 section 3.8.4).
        if len == 1 && end == self.highest && self.acked >= end {
            return None;
        }
        self.count_data(context, len);
        if end > self.highest {
            if begin > self.highest {
                if self.recover == Some(self.highest) {
                    // The end of what had been sent at the cut was lost on the way here.
                    self.recover = Some(begin);
                }
                self.holes.skip(self.highest, begin, context.now);
            }
            let begin = begin.max(self.highest);
            self.highest = end;
            if self.outstanding.len() < OUTSTANDING_MAX {
                self.outstanding.push_back(Sent { begin, end, at: context.now, again: false });
            }
            return None;
        }
        let (filled, since) = self.holes.fill(begin, end);
        let soon = context.handshake_rtt.map_or(REORDERING_NS, |rtt| rtt / 2);
        // What waited above a hole is acknowledged when the hole is filled: that says nothing about the round trip.
        let first = self.outstanding.partition_point(|sent| sent.end <= begin);
        let above = |sent: &Sent| filled > 0 || sent.begin < end;
        self.outstanding.range_mut(first..).take_while(|sent| above(sent)).for_each(|sent| sent.again = true);
        let young = since.is_some_and(|since| context.now.saturating_sub(since) < soon);
        if filled > 0 && young && context.vantage != Vantage::Sender {
            self.counts.out_of_order += 1;
            return Some(Note { kind: "out_of_order", place: begin, bytes: len });
        }
        self.counts.segs_retrans += 1;
        self.counts.octets_retrans += len;
        self.bins.at(context.now).again += len;
        Some(Note { kind: "retransmission", place: begin, bytes: len })
    }

    /// The peer sent a segment: its ACK, window and SACK blocks are about this direction. `shift` scales its window,
    /// if that is known.
    pub fn answered(&mut self, context: &Context, segment: &Segment, shift: Option<u8>) -> Option<Note> {
        self.account(context.now);
        let window = u64::from(segment.window) << if segment.syn { 0 } else { shift.unwrap_or(0) };
        self.scale_known = shift.is_some();
        self.counts.segs_in += 1;
        self.counts.ece_in += u64::from(segment.ece && !segment.syn);
        self.counts.sacks_rcvd += u64::from(segment.options.sack_blocks > 0);
        self.counts.sack_blocks_rcvd += u64::from(segment.options.sack_blocks);
        let ack = segment.ack.filter(|_| !segment.rst)?;
        if let Some((value, _)) = segment.options.timestamps.filter(|_| context.vantage == Vantage::Receiver) {
            self.stamped(context.now, value);
        }
        self.first.get_or_insert(ack);
        let before = self.window.replace(window);
        self.counts.max_rwin = self.counts.max_rwin.max(window);
        let place = u64::try_from(self.offset(ack, self.acked)).unwrap_or(0);
        let note = self.acknowledge(context, place, segment, before);
        self.settle(context);
        match before {
            Some(open) if open > 0 && window == 0 => {
                self.counts.zero_rwin_rcvd += 1;
                Some(Note { kind: "zero_window", place: self.acked, bytes: 0 })
            }
            Some(0) if window > 0 => Some(Note { kind: "window_opened", place: self.acked, bytes: 0 }),
            _ => note,
        }
    }

    fn acknowledge(&mut self, context: &Context, place: u64, segment: &Segment, before: Option<u64>) -> Option<Note> {
        let fin = u64::from(self.fin);
        // The FIN takes a place of its own; what was never seen was lost by the capture.
        let edge = place.min(self.highest.max(place.saturating_sub(fin)));
        if edge > self.acked || !self.acked_once {
            self.acked_once = true;
            let mut missed = 0;
            if edge > self.highest {
                missed = edge - self.highest;
                self.highest = edge;
            }
            missed += self.holes.forget_below(edge);
            self.sample(context, edge);
            if edge > self.acked && self.data_start.is_some() {
                self.data_end = Some(context.now);
            }
            (self.acked, self.dup_acks) = (edge, 0);
            self.counts.missed += missed;
            return (missed > 0).then_some(Note { kind: "missed", place: edge - missed, bytes: missed });
        }
        let outstanding = self.highest + fin > self.acked;
        let bare = segment.len == 0 && !segment.syn && !segment.fin;
        if edge == self.acked && place <= self.acked && outstanding && bare && before == self.window {
            self.counts.dup_acks_in += 1;
            self.dup_acks += 1;
            self.bins.at(context.now).dup_acks += 1;
            if self.dup_acks == 3 {
                return Some(Note { kind: "dup_acks", place: self.acked, bytes: 0 });
            }
        }
        None
    }

    /// Takes out what an ACK up to `edge` covers, and the round-trip time that it shows.
    fn sample(&mut self, context: &Context, edge: u64) {
        let (mut last, mut again) = (None, false);
        while let Some(sent) = self.outstanding.front().filter(|sent| sent.end <= edge) {
            again |= sent.again;
            last = Some(sent.at);
            self.outstanding.pop_front();
        }
        if let (Some(at), false, true) = (last, again, context.vantage != Vantage::Receiver) {
            self.rtt(context.now, at);
        }
    }

    fn rtt(&mut self, now: u64, since: u64) {
        let rtt = now.saturating_sub(since);
        self.rtts.add(rtt);
        let bin = self.bins.at(now);
        bin.rtt_count += 1;
        bin.rtt_sum += rtt;
        bin.rtt_min = Some(bin.rtt_min.map_or(rtt, |min| min.min(rtt)));
    }

    /// The peer sent a segment with this TSval. A leap that no clock makes is damage.
    fn stamped(&mut self, now: u64, value: u32) {
        let steps = self.stamp.map_or(1, |(last, _)| i64::from(value.wrapping_sub(last) as i32));
        let most = self.stamp.map_or(1, |(_, at)| (now.saturating_sub(at) / TICK_NS + TICKS_SPARE) as i64);
        if (1..=most).contains(&steps) {
            self.stamp = Some((value, now));
            if self.stamps.len() < OUTSTANDING_MAX {
                self.stamps.push_back((value, now));
            }
        }
    }

    /// The sender echoes this TSval.
    fn echoed(&mut self, now: u64, echo: u32) {
        while let Some(&(value, at)) = self.stamps.front().filter(|(value, _)| (echo.wrapping_sub(*value) as i32) >= 0)
        {
            self.stamps.pop_front();
            if value == echo {
                self.rtt(now, at);
            }
        }
    }

    /// The place in the stream of a sequence number near `near`.
    fn offset(&self, seq: u32, near: u64) -> i64 {
        let first = self.first.unwrap_or(seq);
        let distance = seq.wrapping_sub(first.wrapping_add(near as u32)) as i32;
        near as i64 + i64::from(distance)
    }

    fn inflight(&self) -> u64 {
        self.highest.saturating_sub(self.acked)
    }

    /// Counts the time up to `now` as what it was.
    fn account(&mut self, now: u64) {
        let span = now.saturating_sub(self.accounted);
        self.accounted = now;
        self.counts.rwin_limited += if self.rwin_limited { span } else { 0 };
        self.counts.idle += if self.idle { span } else { 0 };
    }

    fn settle(&mut self, context: &Context) {
        let inflight = self.inflight();
        self.counts.max_inflight = self.counts.max_inflight.max(inflight);
        self.idle = self.data_start.is_some() && inflight == 0;
        let segment = self.opening.and_then(|o| o.mss).map_or(MSS, u64::from);
        let room = self.window.map(|window| window.saturating_sub(inflight));
        self.rwin_limited = self.scale_known && inflight > 0 && room.is_some_and(|room| room < segment);
        let state = State { sent: self.highest, acked: self.acked, window: self.window.unwrap_or(0) };
        let bin = self.bins.at(context.now);
        bin.inflight_max = bin.inflight_max.max(inflight);
        bin.state = state;
    }

    /// Time in which nothing was outstanding before the last ACK of new data: what came after it does not count.
    pub fn idle_ns(&self, end: u64) -> u64 {
        let after = self.data_end.map_or(0, |last| end.saturating_sub(last));
        let open = if self.idle { end.saturating_sub(self.accounted) } else { 0 };
        if self.idle { (self.counts.idle + open).saturating_sub(after) } else { self.counts.idle }
    }
}
