//! What waits at a port: first in, first out, with the rules of FIFO, RED or CoDel about who may.

use std::collections::VecDeque;

use elephan_link::queue::QueueSpec;
use elephan_random::Stream;
use elephan_units::Size;

use super::codel::Codel;
use super::packet::{CE, Packet};
use super::red::Red;

/// A packet that waits.
#[derive(Debug)]
pub struct Waiting {
    pub packet: Packet,
    pub bytes: u64,
    /// When it came.
    pub since: u64,
}

/// Packets in the order in which they came, and their bytes.
#[derive(Default)]
pub struct Line {
    waiting: VecDeque<Waiting>,
    pub bytes: u64,
}

impl Line {
    pub fn push(&mut self, one: Waiting) {
        self.bytes += one.bytes;
        self.waiting.push_back(one);
    }

    pub fn waiting(&self) -> impl Iterator<Item = &Waiting> {
        self.waiting.iter()
    }

    pub fn pop(&mut self) -> Option<Waiting> {
        let one = self.waiting.pop_front()?;
        self.bytes -= one.bytes;
        Some(one)
    }
}

/// What became of a packet that came.
pub enum Arrival {
    Waits { marked: bool },
    Dropped(Packet, &'static str),
}

/// What leaves a queue: the packet to send, whether it was marked just now, and those that were dropped on the way.
#[derive(Default)]
pub struct Leaving {
    pub next: Option<(Waiting, bool)>,
    pub dropped: Vec<(Waiting, &'static str)>,
}

/// A number of bytes or of packets.
#[derive(Clone, Copy, Debug)]
pub enum Amount {
    Bytes(u64),
    Packets(u64),
}

impl Amount {
    pub fn of(size: Size, bdp_bytes: u64) -> Amount {
        match size {
            Size::Bytes(bytes) => Amount::Bytes(bytes),
            Size::Packets(packets) => Amount::Packets(packets),
            Size::NanoBdp(nano) => Amount::Bytes(Size::of_bdp(nano, bdp_bytes)),
        }
    }

    pub fn number(self) -> u64 {
        match self {
            Amount::Bytes(number) | Amount::Packets(number) => number,
        }
    }
}

enum Rule {
    Fifo { mark_above: Option<Amount> },
    Red(Red),
    Codel(Codel),
}

/// The queue of a port.
pub struct Queue {
    pub line: Line,
    limit: Option<Amount>,
    rule: Rule,
}

impl Queue {
    /// Returns the empty queue of a port. RED draws from `stream`; `rate_bps` is that of the link.
    pub fn new(spec: &QueueSpec, bdp_bytes: u64, rate_bps: u64, stream: Stream) -> Queue {
        let amount = |size: Size| Amount::of(size, bdp_bytes);
        let (limit, rule) = match spec {
            QueueSpec::Fifo(fifo) => (fifo.limit.map(amount), Rule::Fifo { mark_above: fifo.mark_above.map(amount) }),
            QueueSpec::Red(red) => (Some(amount(red.limit)), Rule::Red(Red::new(red, bdp_bytes, rate_bps, stream))),
            QueueSpec::Codel(codel) => (Some(amount(codel.limit)), Rule::Codel(Codel::new(codel))),
            other => panic!("the naive engine has no {}", other.name()),
        };
        Queue { line: Line::default(), limit, rule }
    }

    pub fn bytes(&self) -> u64 {
        self.line.bytes
    }

    pub fn packets(&self) -> u64 {
        self.line.waiting.len() as u64
    }

    fn has_room(&self, bytes: u64) -> bool {
        match self.limit {
            None => true,
            Some(Amount::Bytes(limit)) => self.bytes() + bytes <= limit,
            Some(Amount::Packets(limit)) => self.packets() < limit,
        }
    }

    fn is_above(&self, amount: Option<Amount>) -> bool {
        match amount {
            None => false,
            Some(Amount::Bytes(bytes)) => self.bytes() > bytes,
            Some(Amount::Packets(packets)) => self.packets() > packets,
        }
    }

    /// A packet of so many bytes comes.
    pub fn arrive(&mut self, now: u64, mut packet: Packet, bytes: u64) -> Arrival {
        let (found_bytes, found_packets, has_room) = (self.bytes(), self.packets(), self.has_room(bytes));
        let above = matches!(self.rule, Rule::Fifo { mark_above } if self.is_above(mark_above));
        let marked = match &mut self.rule {
            Rule::Fifo { .. } if !has_room => return Arrival::Dropped(packet, "queue_full"),
            Rule::Fifo { .. } => above && packet.is_ect(),
            Rule::Red(red) => match red.arrive(now, (found_bytes, found_packets), has_room, packet.is_ect()) {
                Ok(marked) => marked,
                Err(reason) => return Arrival::Dropped(packet, reason),
            },
            Rule::Codel(_) if !has_room => return Arrival::Dropped(packet, "queue_full"),
            Rule::Codel(codel) => {
                codel.see(bytes);
                false
            }
        };
        if marked {
            packet.ecn = CE;
        }
        self.line.push(Waiting { packet, bytes, since: now });
        Arrival::Waits { marked }
    }

    /// The port is free and may send.
    pub fn leave(&mut self, now: u64) -> Leaving {
        let mut leaving = match &mut self.rule {
            Rule::Codel(codel) => codel.leave(now, &mut self.line),
            Rule::Fifo { .. } | Rule::Red(_) => {
                Leaving { next: self.line.pop().map(|one| (one, false)), dropped: Vec::new() }
            }
        };
        if let Some((one, true)) = &mut leaving.next {
            one.packet.ecn = CE;
        }
        if let Rule::Red(red) = &mut self.rule {
            red.leave(now, leaving.next.is_some());
        }
        leaving
    }
}
