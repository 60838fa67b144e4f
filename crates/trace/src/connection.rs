//! A connection: two directions, the handshake, and where the capture stands.
//!
//! The times of the handshake say where: between SYN and SYN-ACK passes the round trip from here to the end that was called,
//! between SYN-ACK and ACK the one to the opener. If one is four times the other the capture is at, or near, that end. A
//! file that says which packets its host sent needs no guess.

use crate::decode::Segment;
use crate::half::{Context, Half, Note};
use crate::{Options, Vantage};

/// One round trip is so many times the other: the capture is near an end.
const NEAR: u64 = 4;

/// The two ends by number: 0 sent the first packet that was seen.
pub struct Connection {
    pub halves: [Half; 2],
    /// Whether end 0 opened the connection; nothing if no SYN was seen.
    pub opener: Option<bool>,
    pub start: u64,
    pub end: u64,
    pub reset: bool,
    pub handshake_rtt: Option<u64>,
    pub ecn: bool,
    /// SYN with ECE and CWR.
    asks_ecn: bool,
    /// First SYN, how many there were, first SYN-ACK.
    syn: Option<u64>,
    syns: u32,
    syn_ack: Option<u64>,
    /// Which end the capture is at, or 2 for neither; nothing if that is not known.
    near: Option<usize>,
    options: Options,
}

impl Connection {
    pub fn new(now: u64, options: Options) -> Connection {
        let context = Context {
            now,
            vantage: Vantage::Unknown,
            handshake_rtt: None,
            burst_gap: options.burst_gap_ns,
            ecn: false,
            every: options.every_ns,
        };
        Connection {
            halves: [Half::new(&context), Half::new(&context)],
            opener: None,
            start: now,
            end: now,
            reset: false,
            handshake_rtt: None,
            ecn: false,
            asks_ecn: false,
            syn: None,
            syns: 0,
            syn_ack: None,
            near: None,
            options,
        }
    }

    fn context(&self, now: u64, end: usize) -> Context {
        Context {
            now,
            vantage: self.vantage(end),
            handshake_rtt: self.handshake_rtt,
            burst_gap: self.options.burst_gap_ns,
            ecn: self.ecn,
            every: self.options.every_ns,
        }
    }

    /// Where the capture stands for the direction whose sender is `end`.
    pub fn vantage(&self, end: usize) -> Vantage {
        match (self.options.vantage, self.near) {
            (Some(given), _) => given,
            (None, None) => Vantage::Unknown,
            (None, Some(near)) if near == end => Vantage::Sender,
            (None, Some(near)) if near == 1 - end => Vantage::Receiver,
            (None, Some(_)) => Vantage::Between,
        }
    }

    /// Whether this segment begins another connection between the same ends.
    pub fn is_another(&self, segment: &Segment, end: usize) -> bool {
        let opens = segment.syn && segment.ack.is_none();
        opens && (self.is_over() || !self.halves[end].may_begin_with(segment.seq))
    }

    /// Whether both ends have said that they are done.
    pub fn is_over(&self) -> bool {
        self.reset || self.halves.iter().all(|half| half.fin)
    }

    /// A segment from `end`; answers what was rare, with the direction that it is about.
    pub fn segment(&mut self, now: u64, end: usize, segment: &Segment) -> [Option<(usize, Note)>; 3] {
        self.end = now;
        self.handshake(now, end, segment);
        if let Some(outbound) = segment.outbound {
            self.near = Some(if outbound { end } else { 1 - end });
        }
        let (own, other) = (self.context(now, end), self.context(now, 1 - end));
        let shift = self.shift(end);
        let [sent, cut] = self.halves[end].sent(&own, segment).map(|note| note.map(|note| (end, note)));
        let answered = self.halves[1 - end].answered(&other, segment, shift).map(|note| (1 - end, note));
        if segment.rst && !self.reset {
            self.reset = true;
            return [Some((end, Note { kind: "reset", place: self.halves[end].highest, bytes: 0 })), cut, answered];
        }
        [sent, cut, answered]
    }

    /// By how much the windows of `end` are shifted: only if both ends said so. Not known unless both SYNs were seen.
    fn shift(&self, end: usize) -> Option<u8> {
        let (own, peer) = (self.halves[end].opening?, self.halves[1 - end].opening?);
        Some(own.window_scale.filter(|_| peer.window_scale.is_some()).unwrap_or(0))
    }

    fn handshake(&mut self, now: u64, end: usize, segment: &Segment) {
        match (segment.syn, segment.ack.is_some()) {
            (true, false) => {
                self.opener = Some(end == 0);
                self.asks_ecn = segment.ece && segment.cwr;
                self.syn.get_or_insert(now);
                self.syns += 1;
            }
            (true, true) => {
                self.opener = Some(end == 1);
                self.ecn = self.asks_ecn && segment.ece && !segment.cwr;
                // A repeated SYN-ACK answers nobody knows what.
                self.syns += u32::from(self.syn_ack.is_some());
                self.syn_ack.get_or_insert(now);
            }
            (false, true) if self.handshake_rtt.is_none() => {
                let (Some(syn), Some(syn_ack), Some(opener)) = (self.syn, self.syn_ack, self.opener) else { return };
                if self.syns != 1 || opener != (end == 0) {
                    return;
                }
                self.handshake_rtt = Some(now - syn);
                let (far, near) = (syn_ack - syn, now - syn_ack);
                if self.near.is_none() {
                    self.near = Some(match () {
                        () if far >= NEAR * near => end,
                        () if near >= NEAR * far => 1 - end,
                        () => 2,
                    });
                }
            }
            _ => {}
        }
    }
}
