//! The receiving end: keeps packets in any order, acknowledges them, and answers trimmed headers.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::Options;
use crate::credit::Account;
use crate::wire::{Ack, Data, Header, Nack, ordinal};

/// Packets that the bitmap of an acknowledgement covers.
const BITMAP: u64 = 64;

/// What a packet has led to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// Payload that is in order now.
    pub taken: u32,
    pub answer: Option<Header>,
}

#[derive(Clone, Debug)]
pub struct Receiver {
    options: Arc<Options>,
    /// Payload of the packets kept beyond the one that is expected; none of those that are missing.
    kept: VecDeque<Option<u32>>,
    /// How many of these are there.
    out_of_order: u64,
    /// Packet that is expected next, and payload in order so far.
    expected: u64,
    received: u64,
    /// Bytes on the wire of all packets that arrived with their payload, each counted once.
    arrived: u64,
    /// Packets since the last acknowledgement.
    waiting: u32,
    /// A packet has asked for an acknowledgement, and others were missing.
    asked: bool,
    account: Account,
    counters: Counters,
}

/// What happened at this end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    pub packets: u64,
    pub bytes: u64,
    pub marked: u64,
    pub trimmed: u64,
    pub naks: u64,
    pub duplicates: u64,
}

impl Receiver {
    /// Returns a receiver at the end of a path with this bandwidth-delay product.
    pub fn new(options: Arc<Options>, bdp_bytes: f64) -> Receiver {
        Receiver {
            account: Account::new(&options, bdp_bytes),
            options,
            kept: VecDeque::new(),
            out_of_order: 0,
            expected: 0,
            received: 0,
            arrived: 0,
            waiting: 0,
            asked: false,
            counters: Counters::default(),
        }
    }

    /// Returns the payload in order so far.
    pub fn received(&self) -> u64 {
        self.received
    }

    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Returns what it has granted to its sender.
    pub fn account(&mut self) -> &mut Account {
        &mut self.account
    }

    /// Whether a packet is there already.
    fn has(&self, number: u64) -> bool {
        let Some(place) = number.checked_sub(self.expected + 1) else { return number < self.expected };
        self.kept.get(place as usize).is_some_and(Option::is_some)
    }

    /// A packet of data is in, with `len` bytes of payload and `wire` bytes on the wire.
    pub fn on_data(&mut self, data: &Data, (len, wire): (u32, u32), marked: bool) -> Reply {
        self.counters.packets += 1;
        self.counters.bytes += u64::from(len);
        self.counters.marked += u64::from(marked);
        self.waiting += 1;
        let number = ordinal(data.psn, self.expected);
        if self.has(number) {
            self.counters.duplicates += 1;
            return Reply { taken: 0, answer: Some(self.acknowledge(data, number, marked, false)) };
        }
        let first = self.arrived == 0;
        self.arrived += u64::from(wire);
        self.asked |= data.asks;
        let mut now = first || data.asks || marked || self.waiting >= self.options.ack_every;
        let mut taken = 0;
        if number == self.expected {
            taken = len + self.take_kept();
            self.received += u64::from(taken);
            if self.out_of_order == 0 && std::mem::take(&mut self.asked) {
                now = true;
            }
        } else {
            let place = (number - self.expected - 1) as usize;
            if place >= self.kept.len() {
                self.kept.resize(place + 1, None);
            }
            self.kept[place] = Some(len);
            self.out_of_order += 1;
        }
        let answer = now.then(|| self.acknowledge(data, number, marked, marked || data.asks));
        Reply { taken, answer }
    }

    /// The expected packet is there: takes what was kept behind it, as far as nothing is missing.
    fn take_kept(&mut self) -> u32 {
        let mut taken = 0;
        self.expected += 1;
        while let Some(first) = self.kept.pop_front() {
            let Some(len) = first else { break };
            self.expected += 1;
            self.out_of_order -= 1;
            taken += len;
        }
        taken
    }

    /// The header of a packet that lost its payload is in.
    pub fn on_trimmed(&mut self, data: &Data, marked: bool) -> Header {
        self.counters.trimmed += 1;
        let number = ordinal(data.psn, self.expected);
        if self.has(number) {
            return self.acknowledge(data, number, false, false);
        }
        self.counters.naks += 1;
        Header::Nack(Nack { psn: data.psn, entropy: data.entropy, marked, at_last_hop: data.at_last_hop })
    }

    /// An acknowledgement that this packet leads to; its bitmap begins at the packet, or ends there.
    fn acknowledge(&mut self, data: &Data, number: u64, marked: bool, from_packet: bool) -> Header {
        self.waiting = 0;
        let base = if from_packet { number } else { number.saturating_sub(BITMAP - 1) };
        let base = base.max(self.expected + 1);
        let begin = (base - self.expected - 1) as usize;
        let places = self.kept.iter().skip(begin).take(BITMAP as usize);
        let bitmap = places.enumerate().fold(0u64, |bits, (i, kept)| bits | u64::from(kept.is_some()) << i);
        Header::Ack(Ack {
            expected: self.expected as u32,
            base: base as u32,
            bitmap,
            psn: data.psn,
            entropy: data.entropy,
            again: data.again,
            marked,
            arrived: self.arrived,
        })
    }
}
