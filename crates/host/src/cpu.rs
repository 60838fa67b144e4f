//! The processor of a host: one server, what packets cost it, and who gets what is left.
//!
//! One job after the other, none interrupted: first what interrupts have taken, then timers of TCP that have run out,
//! then what jobs gave to send, then received packets in their order. A received packet takes its effect at the end of its cost, a segment leaves
//! at the beginning of its own. User level (the logger, an application that reads at a rate) runs when nothing else is to be done.
//!
//! Costs: `interrupt` for each frame that an interrupt or a poll takes in hand, `receive` for a packet with payload given to the protocol,
//! `ack` for one without, `transmit` for each segment, ACK or datagram sent. An ACK with SACK blocks costs `segment`
//! more for each segment that its sender looks at:
//!
//! - `full`: for each block all segments in flight, as `tcp_sacktag_write_queue` of Linux 2.4 walks the whole queue. With ACKs of B blocks
//!   every t, the processor is overloaded when segment * B * W > t: beyond W = 100 for 40 ns, three blocks and 12 us (1500-byte
//!   packets at 1 Gb/s).
//! - `fastpath`: the segments that are newly covered, when the only news is that the first block has grown at its right end since the last ACK
//!   (the hint of Kelly's patch and of Linux 2.6.15); as `full` after a new hole, or when a cumulative ACK has cleared the hint.
//! - `none`: nothing.
//!
//! Defaults are those of a server of 2003 (dual Xeon of 2 GHz), estimated: 100 ns for a segment is a miss of the cache. A cache-line miss
//! of 40 ns is from a commit message to Linux's rb-tree of retransmissions (2017), which ended the walk.
//!
//! The logger is a process that writes a line every `logger`, at its next tick when it was late. Two of its intervals without a line are a
//! *gap*: the "periods of web100 silence" of Li et al. (2004).
//!
//! Left out: more than one processor; caches; checksums and copies by length; the scheduler's share for processes under load
//! (`ksoftirqd`), so that silence is the longest possible.

use elephan_units::{InvalidParameter, Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a sender walks through to find what SACK blocks cover.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SackWalk {
    /// Everything in flight, for each block.
    #[default]
    Full,
    /// What the first block has grown by, if that is all that is new; else as `full`.
    Fastpath,
    /// Nothing.
    None,
}

/// What packets cost the processor of a host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Cpu {
    /// A segment, ACK or datagram sent. \[assumed]
    pub transmit: Span,
    /// A frame that an interrupt takes from the ring, also if it is dropped then. \[assumed]
    pub interrupt: Span,
    /// A packet with payload that the protocol gets, beyond `interrupt`. \[assumed]
    pub receive: Span,
    /// A packet without payload (an ACK), beyond `interrupt`. \[assumed]
    pub ack: Span,
    /// What each SACK block of an ACK makes the sender walk through.
    #[schemars(extend("x-source" = "Linux 2.4"))]
    pub sack: SackWalk,
    /// A segment on that walk: 100 ns in 2003, 40 ns in 2017. \[assumed]
    pub segment: Span,
    /// Interval of a logger at user level, of lowest priority, whose gaps are recorded; without it there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Span")]
    pub logger: Option<Span>,
}

impl Default for Cpu {
    fn default() -> Cpu {
        Cpu {
            transmit: Span::from_us(3),
            interrupt: Span::from_us(3),
            receive: Span::from_us(2),
            ack: Span::from_us(2),
            sack: SackWalk::Full,
            segment: Span::from_ns(100),
            logger: None,
        }
    }
}

impl Cpu {
    /// A processor that is infinitely fast.
    pub fn free() -> Cpu {
        let (sack, logger) = (SackWalk::None, None);
        let [transmit, interrupt, receive, ack, segment] = [Span::ZERO; 5];
        Cpu { transmit, interrupt, receive, ack, sack, segment, logger }
    }

    /// The key of a value that cannot be, and why.
    pub fn problem(&self) -> Option<InvalidParameter> {
        match self.logger {
            Some(Span::ZERO) => return Some(InvalidParameter::new("logger", "0 s: leave it out for none")),
            Some(every) if every < LOGGER_MIN => {
                return Some(InvalidParameter::new("logger", format!("{every}: a line takes {LOGGER_MIN} at least")));
            }
            _ => {}
        }
        let costs = [
            ("transmit", self.transmit),
            ("interrupt", self.interrupt),
            ("receive", self.receive),
            ("ack", self.ack),
            ("segment", self.segment),
        ];
        let dear = costs.into_iter().find(|(_, cost)| *cost > COST_MAX);
        dear.map(|(key, cost)| InvalidParameter::new(key, format!("{cost} for one is more than {COST_MAX}, the most")))
    }
}

/// Dearer packets are a slip of the pen.
const COST_MAX: Span = Span::from_s(1);
/// No process writes lines more often, and each is an event.
const LOGGER_MIN: Span = Span::from_us(1);

/// One server, first come, first served.
#[derive(Clone, Copy, Debug, Default)]
pub struct Server {
    free_at: Time,
    /// What interrupts have taken and the server has not done yet.
    owed: Span,
    /// All that it has been given to do until `free_at`.
    work: Span,
}

impl Server {
    /// When it has nothing to do, as far as known.
    pub fn free_at(&self) -> Time {
        self.free_at
    }

    /// Interrupts take `cost`, before anything else.
    pub fn interrupt(&mut self, cost: Span) {
        self.owed = self.owed.saturating_add(cost);
    }

    /// Whether interrupts have taken something that is not done yet.
    pub fn owes(&self) -> bool {
        self.owed > Span::ZERO
    }

    /// What interrupts have taken is done next.
    pub fn settle(&mut self, now: Time) {
        let owed = std::mem::take(&mut self.owed);
        self.spend(now, owed);
    }

    /// A job of `cost` begins at `now`, or when the server is free. Answers its end.
    pub fn spend(&mut self, now: Time, cost: Span) -> Time {
        self.free_at = self.free_at.max(now).saturating_add(cost);
        self.work = self.work.saturating_add(cost);
        self.free_at
    }

    /// How long it has worked until `now`.
    pub fn busy(&self, now: Time) -> Span {
        Span(self.work.ps().saturating_sub(self.free_at.since(now).ps()))
    }
}

/// What a connection's last ACK with SACK blocks said.
#[derive(Clone, Copy, Debug, Default)]
pub struct SackHint {
    blocks: [(u32, u32); 4],
    count: usize,
    ack: u32,
}

impl SackHint {
    /// An ACK has come with these blocks for `ack`; answers how many segments its sender looks at, of `in_flight` with
    /// `segment_bytes` each.
    pub fn walk(
        &mut self,
        how: SackWalk,
        blocks: &[(u32, u32)],
        ack: u32,
        (in_flight, segment_bytes): (u64, u32),
    ) -> u64 {
        let count = blocks.len().min(self.blocks.len());
        let full = (count as u64).saturating_mul(in_flight);
        match how {
            SackWalk::None => return 0,
            SackWalk::Full => return full,
            SackWalk::Fastpath => {}
        }
        let (old, new) = (&self.blocks[..self.count], &blocks[..count]);
        let growth = match (old, new) {
            ([first, others @ ..], [grown, rest @ ..])
                if first.0 == grown.0 && others == rest && self.ack == ack && self.count == count =>
            {
                Some(grown.1.wrapping_sub(first.1) as i32).filter(|bytes| *bytes >= 0)
            }
            _ => None,
        };
        self.blocks[..count].copy_from_slice(new);
        (self.count, self.ack) = (count, ack);
        growth.map_or(full, |bytes| u64::from(bytes as u32).div_ceil(u64::from(segment_bytes.max(1))).max(1))
    }
}

/// A process of lowest priority that writes a line every interval.
#[derive(Clone, Copy, Debug)]
pub struct Logger {
    every: Span,
    due: Time,
    last: Time,
    /// Gaps so far, and the longest time between two lines.
    pub gaps: u64,
    pub longest: Span,
}

/// Time without a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    pub begin: Time,
    pub end: Time,
}

impl Logger {
    pub fn new(every: Span) -> Logger {
        Logger { every, due: Time::ZERO + every, last: Time::ZERO, gaps: 0, longest: Span::ZERO }
    }

    /// When it wants to run next.
    pub fn due(&self) -> Time {
        self.due
    }

    /// It runs at `now`, when it was due or later; answers the gap that is over, if there was one.
    pub fn run(&mut self, now: Time) -> Option<Gap> {
        let gap = self.silence(now);
        self.longest = self.longest.max(now.since(self.last));
        self.gaps += u64::from(gap.is_some());
        self.last = now;
        self.due = Time(now.ps() / self.every.ps() * self.every.ps()).saturating_add(self.every);
        gap
    }

    /// The gap that has not ended at `now`.
    pub fn silence(&self, now: Time) -> Option<Gap> {
        (now.since(self.last) >= self.every.saturating_mul(2)).then_some(Gap { begin: self.last, end: now })
    }

    /// Time since its last line.
    pub fn silent(&self, now: Time) -> Span {
        now.since(self.last)
    }
}
