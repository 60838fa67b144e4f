//! A connection: two directions, the handshake, and where the capture stands.
//!
//! The times of the handshake say where: between SYN and SYN-ACK passes the round trip from here to the end that was called,
//! between SYN-ACK and ACK the one to the opener. If one is four times the other the capture is at, or near, that end. A
//! file that says which packets its host sent needs no guess.

use crate::clock::Tick;
use crate::context::{Context, Note};
use crate::half::Half;
use crate::packet::Segment;
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
    /// From the first SYN to the ACK that ends the handshake, retransmissions included.
    pub setup: Option<u64>,
    pub ecn: bool,
    /// The same of AccECN (RFC 9768): a SYN that asks, and a SYN-ACK that agrees.
    asks_acc_ecn: bool,
    pub acc_ecn: bool,
    /// From SYN to SYN-ACK and from there to the ACK, of a handshake without retransmissions.
    pub trips: Option<(u64, u64)>,
    /// Who sent data last, and when.
    talked: Option<(usize, u64)>,
    pub first_frame: u64,
    pub reset_frame: u64,
    pub reset_at: u64,
    pub last_frame: u64,
    /// Which end reset it, and whether data had passed by then.
    pub reset_by: Option<usize>,
    /// SYNs and SYN-ACKs that were seen.
    pub syn_count: u64,
    pub syn_ack_count: u64,
    /// SYN with ECE and CWR.
    asks_ecn: bool,
    /// First SYN, how many there were, first SYN-ACK.
    syn: Option<u64>,
    syns: u32,
    syn_ack: Option<u64>,
    /// The last SYN and the last SYN-ACK that a time stamp may echo: when, and its own time stamp. What the first echo says of the round
    /// trip to the end that was called.
    stamped: [Option<(u64, u32)>; 2],
    far: Option<u64>,
    /// Which end the capture is at, or 2 for neither; nothing if that is not known.
    near: Option<usize>,
    options: Watched,
}

/// What of the options a connection needs.
#[derive(Clone, Copy, Debug)]
pub struct Watched {
    burst_gap: u64,
    every: Option<u64>,
    vantage: Option<Vantage>,
}

impl Watched {
    pub fn of(options: &Options) -> Watched {
        Watched { burst_gap: options.burst_gap_ns, every: options.every_ns, vantage: options.vantage }
    }

    /// What a direction is told where no handshake was seen.
    pub fn context(self, tick: Tick, vantage: Vantage) -> Context {
        Context {
            now: tick.now,
            own_time: tick.own,
            vantage,
            handshake_rtt: None,
            burst_gap: self.burst_gap,
            ecn: false,
            acc_ecn: false,
            every: self.every,
            frame: 0,
            to_sender: None,
            to_receiver: None,
            asked: false,
            opened: false,
        }
    }
}

impl Connection {
    pub fn new(tick: Tick, options: &Options) -> Connection {
        let (now, options) = (tick.now, Watched::of(options));
        let context = options.context(tick, Vantage::Unknown);
        Connection {
            halves: [Half::new(&context), Half::new(&context)],
            opener: None,
            start: now,
            end: now,
            reset: false,
            handshake_rtt: None,
            setup: None,
            ecn: false,
            asks_acc_ecn: false,
            acc_ecn: false,
            trips: None,
            talked: None,
            first_frame: 0,
            reset_frame: 0,
            reset_at: 0,
            last_frame: 0,
            reset_by: None,
            syn_count: 0,
            syn_ack_count: 0,
            asks_ecn: false,
            syn: None,
            syns: 0,
            syn_ack: None,
            stamped: [None; 2],
            far: None,
            near: None,
            options,
        }
    }

    fn context(&self, tick: Tick, end: usize, frame: u64) -> Context {
        let vantage = self.vantage(end);
        Context {
            handshake_rtt: self.handshake_rtt,
            ecn: self.ecn,
            acc_ecn: self.acc_ecn,
            frame,
            to_sender: if vantage == Vantage::Sender { Some(0) } else { self.to_end(end) },
            to_receiver: if vantage == Vantage::Receiver { Some(0) } else { self.to_end(1 - end) },
            asked: self.talked.is_some_and(|(who, _)| who != end),
            opened: self.opener == Some(end == 0),
            ..self.options.context(tick, vantage)
        }
    }

    /// The round trip from the capture to an end, as the handshake shows it.
    pub fn to_end(&self, end: usize) -> Option<u64> {
        let (to_called, to_opener) = self.trips?;
        Some(if self.opener == Some(end == 0) { to_opener } else { to_called })
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

    /// Whether this segment begins another connection between the same ends, or is of one whose beginning the capture missed.
    pub fn is_another(&self, segment: &Segment, end: usize) -> bool {
        let (own, peer) = (&self.halves[end], &self.halves[1 - end]);
        match (segment.syn, segment.ack) {
            (true, None) => self.is_over() || !own.origin.may_begin_with(segment.seq),
            // A SYN-ACK that answers no SYN of this connection.
            (true, Some(ack)) => {
                let other = own.origin.is_known() && !own.origin.may_begin_with(segment.seq);
                other && (self.is_over() || !peer.covers(ack))
            }
            (false, _) => segment.len > 0 && self.is_over() && own.is_beyond(segment.seq),
        }
    }

    /// Whether both ends have said that they are done.
    pub fn is_over(&self) -> bool {
        self.reset || self.halves.iter().all(|half| half.fin)
    }

    /// A segment from `end`; answers what was rare, with the direction that it is about.
    pub fn segment(&mut self, tick: Tick, end: usize, segment: &Segment) -> [Option<(usize, Note)>; 4] {
        self.end = tick.now;
        self.last_frame = segment.frame;
        if self.first_frame == 0 {
            self.first_frame = segment.frame;
        }
        if segment.syn || self.setup.is_none() {
            self.handshake(tick, end, segment);
        }
        if let Some(outbound) = segment.outbound {
            self.near = Some(if outbound { end } else { 1 - end });
        }
        let (own, other) = (self.context(tick, end, segment.frame), self.context(tick, 1 - end, segment.frame));
        let highest = self.halves[end].highest;
        let shift = self.shift(end);
        let [sent, cut] = self.halves[end].sent(&own, segment).map(|note| note.map(|note| (end, note)));
        if segment.len > 0 && self.halves[end].highest > highest {
            self.turn(tick.now, end, segment.frame);
        }
        let answered = self.halves[1 - end].answered(&other, segment, shift);
        let [answered, needless] = answered.map(|note| note.map(|note| (1 - end, note)));
        if segment.rst && !self.reset {
            self.reset = true;
            (self.reset_by, self.reset_frame, self.reset_at) = (Some(end), segment.frame, tick.now);
            let note = Note { kind: "reset", place: self.halves[end].highest, bytes: 0, at: tick.now };
            return [Some((end, note)), cut, answered, needless];
        }
        [sent, cut, answered, needless]
    }

    /// By how much the windows of `end` are shifted: only if both ends said so. Not known unless both SYNs were seen, or one of
    /// them had no scale.
    pub fn shift(&self, end: usize) -> Option<u8> {
        let [own, peer] = [end, 1 - end].map(|end| self.halves[end].origin.opening.map(|opening| opening.window_scale));
        match (own, peer) {
            (Some(None), _) | (_, Some(None)) => Some(0),
            (Some(own), Some(_)) => own,
            _ => None,
        }
    }

    /// New data of `end`: it may answer data of the peer.
    fn turn(&mut self, now: u64, end: usize, frame: u64) {
        if let Some((_, since)) = self.talked.filter(|&(who, _)| who != end) {
            let took = now.saturating_sub(since);
            let half = &mut self.halves[end];
            if half.turns.max.is_none_or(|max| took > max) {
                half.longest_turn = (now, frame);
            }
            half.turns.add(took);
        }
        self.talked = Some((end, now));
    }

    fn handshake(&mut self, tick: Tick, end: usize, segment: &Segment) {
        let now = tick.now;
        // Of a time that is not the packet's own nothing can be said.
        self.syns += u32::from(!tick.own);
        let stamps = segment.options.timestamps.filter(|_| tick.own);
        match (segment.syn, segment.ack.is_some()) {
            (true, false) => {
                self.opener = Some(end == 0);
                self.syn_count += 1;
                self.asks_ecn = segment.ece && segment.cwr;
                self.asks_acc_ecn = self.asks_ecn && segment.ae;
                self.syn.get_or_insert(now);
                self.syns += 1;
                self.stamped[0] = stamps.map(|(own, _)| (now, own));
            }
            (true, true) => {
                self.opener = Some(end == 1);
                self.syn_ack_count += 1;
                if self.syn_ack.is_none() {
                    // RFC 9768 table 2: what the SYN came with.
                    let says = (segment.ae, segment.cwr, segment.ece);
                    let agrees = matches!(says, (false, true, _) | (true, _, false));
                    self.acc_ecn = self.asks_acc_ecn && agrees;
                    self.ecn = self.asks_ecn && segment.ece && !segment.cwr;
                }
                // A retransmitted SYN-ACK answers nobody knows what.
                self.syns += u32::from(self.syn_ack.is_some());
                self.syn_ack.get_or_insert(now);
                // Only the first answer to a SYN came at once.
                if let Some((at, _)) =
                    self.stamped[0].take().filter(|&(_, own)| stamps.is_some_and(|(_, echo)| echo == own))
                {
                    self.far = Some(self.far.map_or(now - at, |far| far.min(now - at)));
                }
                self.stamped[1] = stamps.map(|(own, _)| (now, own));
            }
            (false, true) => {
                let (Some(syn), Some(syn_ack), Some(opener)) = (self.syn, self.syn_ack, self.opener) else { return };
                if opener != (end == 0) || segment.rst {
                    return;
                }
                self.setup = Some(now - syn);
                // A clock that stood still says nothing about the path.
                if now == syn {
                    return;
                }
                // Of retransmitted SYNs the time stamps say which was answered.
                let echoed = self.stamped[1].filter(|&(_, own)| stamps.is_some_and(|(_, echo)| echo == own));
                let (far, near) = match self.far.zip(echoed) {
                    _ if self.syns == 1 => (syn_ack - syn, now - syn_ack),
                    Some((far, (at, _))) => (far, now - at),
                    None => return,
                };
                self.handshake_rtt = Some(far + near);
                self.trips = Some((far, near));
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
