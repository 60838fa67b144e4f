//! One direction of a connection: what its sender sent, and what the peer answered.
//!
//! Offsets count payload from 0, unwrapped from 32 bits. A segment is a retransmission if nothing in it is beyond the highest byte
//! seen; below it, bytes that were never seen come either from a sender that retransmits what was lost before the place of the capture
//! or out of order: the latter if the hole is younger than half a round-trip time of the handshake (3 ms if that is not
//! known, as Wireshark has it), and never at the sender itself. A round-trip time is sampled from a segment that was sent once to the
//! ACK that covers it, if nothing that this ACK covers was sent twice (Karn) and both have times of their own. At the receiver that would
//! be the time of the receiver alone; there it is the time from the first segment with a TSval to the first one that echoes it: a round
//! trip, and what the sender waited. ACKs are duplicates as RFC 5681 section 2 says; one that retransmits the SYN-ACK when a single
//! segment was sent is none, since nothing can have come out of order; nor is one that leaves the window closed (Linux `tcp_may_update_window`). A byte into a closed window is a probe, not a retransmission.

mod answered;
mod sent;

use std::collections::VecDeque;

use crate::bins::{Bins, State};
use crate::context::{Context, Note, OUTSTANDING_MAX};
use crate::division::Division;
use crate::origin::Origin;
use crate::ranges::Holes;
use crate::recovery::Recovery;
use crate::rtts::{Echoes, Rtts};
use crate::signs::Signs;

/// A hole that is filled so soon was reordering, when no round-trip time is known.
const REORDERING_NS: u64 = 3_000_000;
/// A segment, where nobody has said the MSS.
const MSS: u64 = 1460;
/// The largest window without scaling, and the scale of a large window (16 MiB) where none is known.
const WINDOW_MAX: u64 = 1 << 16;
const SHIFT_USUAL: u8 = 8;

/// A segment in flight.
#[derive(Clone, Copy, Debug)]
struct Sent {
    begin: u64,
    end: u64,
    at: u64,
    /// Nothing that its ACK says about a round trip is certain.
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
    pub syn_retrans: u64,
    pub out_of_order: u64,
    pub missed: u64,
    pub dup_acks_in: u64,
    pub sacks_rcvd: u64,
    pub sack_blocks_rcvd: u64,
    pub zero_rwin_rcvd: u64,
    pub window_probes: u64,
    pub max_rwin: u64,
    pub ce_out: u64,
    pub ece_in: u64,
    /// Marks that the receiver has counted by AccECN.
    pub ace_marks: u64,
    pub max_inflight: u64,
    pub rwin_closed: u64,
    /// Bytes in a SYN that its SYN-ACK did not take (RFC 7413).
    pub refused_syn_bytes: u64,
    /// Segments received whose options are cut off, segments that the file has behind their ACK, ACKs of what nobody sent.
    pub cut_options: u64,
    pub behind_ack: u64,
    pub far_acks: u64,
}

/// One direction.
#[derive(Clone, Debug)]
pub struct Half {
    /// Its number in the tables, once it has one.
    pub number: Option<i64>,
    pub counts: Counts,
    pub recovery: Recovery,
    pub rtts: Rtts,
    pub origin: Origin,
    pub bins: Bins,
    pub fin: bool,
    pub data_start: Option<u64>,
    pub data_end: Option<u64>,
    pub bursts: u64,
    pub burst_max_segs: u64,
    pub burst_max_bytes: u64,
    /// End of the highest payload seen, and what the peer has acknowledged of it.
    pub highest: u64,
    pub acked: u64,
    acked_once: bool,
    /// What was skipped and is not acknowledged, and what is acknowledged and was never seen.
    holes: Holes,
    unseen: Holes,
    outstanding: VecDeque<Sent>,
    echoes: Echoes,
    /// Away from the sender: the round trip from here to the sender and back, by time stamps of segments that no application held back.
    to_sender_and_back: Rtts,
    is_between: bool,
    /// Since when the window is open after it was closed, if the sender has sent no new data since.
    opened_at: Option<u64>,
    /// A full segment, as far as its options say.
    full: u64,
    pub window: Option<u64>,
    /// Whether the scale of the peer's windows is known.
    pub scale_known: bool,
    /// The end of what was sent into a closed window.
    probed: u64,
    /// The last segment of the peer was a SYN.
    after_syn: bool,
    dup_acks: u64,
    burst: (u64, u64),
    last_data: Option<u64>,
    last_ack: u64,
    /// Identification and print of the last packet, and whether different packets had the same one.
    last_packet: (Option<u16>, u64),
    same_idents: bool,
    /// How often the identification grew by one, and how often otherwise.
    ident_steps: (u64, u64),
    /// The largest segment, the last one, and how long both sides had been silent before the last one.
    largest: u64,
    last_len: u64,
    quiet: u64,
    closed_since: Option<u64>,
    /// The counter of marks in the last answer (AccECN).
    ace: Option<u8>,
    pub division: Division,
    pub signs: Signs,
    /// From the last data of the peer to the first data of this end after it; the longest with its time and packet.
    pub turns: Rtts,
    pub longest_turn: (u64, u64),
}

impl Half {
    pub fn new(context: &Context) -> Half {
        Half {
            number: None,
            counts: Counts::default(),
            recovery: Recovery::default(),
            rtts: Rtts::default(),
            origin: Origin::default(),
            bins: Bins::new(context.now, context.every),
            fin: false,
            data_start: None,
            data_end: None,
            bursts: 0,
            burst_max_segs: 0,
            burst_max_bytes: 0,
            highest: 0,
            acked: 0,
            acked_once: false,
            holes: Holes::default(),
            unseen: Holes::default(),
            outstanding: VecDeque::new(),
            echoes: Echoes::default(),
            to_sender_and_back: Rtts::default(),
            is_between: false,
            opened_at: None,
            full: MSS,
            window: None,
            scale_known: false,
            probed: 0,
            after_syn: false,
            dup_acks: 0,
            burst: (0, 0),
            last_data: None,
            last_ack: context.now,
            last_packet: (None, 0),
            same_idents: false,
            ident_steps: (0, 0),
            largest: 0,
            last_len: 0,
            quiet: 0,
            closed_since: None,
            ace: None,
            division: Division::default(),
            signs: Signs::default(),
            turns: Rtts::default(),
            longest_turn: (0, 0),
        }
    }

    /// Whether packets of this sender may have different identifications in their IP headers.
    pub fn idents_vary(&self) -> bool {
        !self.same_idents
    }

    /// Whether anything of the stream was seen.
    pub fn is_touched(&self) -> bool {
        self.highest > 0 || self.acked > 0 || self.data_start.is_some()
    }

    /// Whether an acknowledgement is one of what was sent, or the stream is not known.
    pub fn covers(&self, ack: u32) -> bool {
        !self.origin.is_known() || (0..=self.highest as i64 + 1).contains(&self.origin.place(ack, self.acked))
    }

    /// Whether a segment lies where the stream cannot have come to: behind its end if that was seen.
    pub fn is_beyond(&self, seq: u32) -> bool {
        let place = self.origin.place(seq, self.highest) - self.highest as i64;
        self.origin.is_known() && (place.unsigned_abs() > self.reach() || (self.fin && place > 1))
    }

    fn rtt(&mut self, now: u64, since: u64) {
        let rtt = now.saturating_sub(since);
        self.rtts.add(rtt);
        self.bins.at(now).add_rtt(rtt);
    }

    /// How far beyond the highest byte something of the stream can be: twice the largest window.
    fn reach(&self) -> u64 {
        let shift = if self.scale_known { 0 } else { SHIFT_USUAL };
        (2 * self.counts.max_rwin.max(WINDOW_MAX)) << shift
    }

    fn inflight(&self) -> u64 {
        self.highest.saturating_sub(self.acked)
    }

    /// By how much of its round trip, the least of all being the path, the direction's round trip is longer: half of the time at least.
    pub fn queue(&self) -> Option<(u64, u64)> {
        let of = |rtts: &Rtts| Some((rtts.min?, rtts.quantile(0.5)? - rtts.min?));
        let (least, longer) = of(&self.rtts)?;
        let (more_least, more) = of(&self.to_sender_and_back).filter(|_| self.is_between).unwrap_or((0, 0));
        Some((least + more_least, longer + more))
    }

    /// The largest segment with data that was sent.
    pub fn largest(&self) -> u64 {
        self.largest
    }

    /// A full segment.
    fn segment(&self) -> u64 {
        self.origin.opening.and_then(|o| o.mss).map_or(MSS, u64::from)
    }

    fn settle(&mut self, context: &Context) {
        let inflight = self.inflight();
        self.counts.max_inflight = self.counts.max_inflight.max(inflight);
        let over = self.fin && inflight == 0;
        let is_closed = self.window == Some(0) && self.data_start.is_some() && !over;
        match (self.closed_since, is_closed) {
            (None, true) => self.closed_since = Some(context.now),
            (Some(since), false) => {
                self.counts.rwin_closed += context.now.saturating_sub(since);
                self.closed_since = None;
            }
            _ => {}
        }
        self.signs.window(context.now, context.frame, is_closed);
        let state = State { sent: self.highest, acked: self.acked, window: self.window.unwrap_or(0) };
        let bin = self.bins.at(context.now);
        bin.inflight_max = bin.inflight_max.max(inflight);
        bin.state = state;
    }

    /// Time in which the window was closed, up to the last packet.
    pub fn closed_ns(&self, end: u64) -> u64 {
        self.counts.rwin_closed + self.closed_since.map_or(0, |since| end.saturating_sub(since))
    }
}
