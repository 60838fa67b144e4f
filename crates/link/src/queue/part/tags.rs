//! Packets served in the order of their virtual finish times: flows in which tags grow, and a heap of their first packets.

use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, VecDeque};

use super::index::FlowIndex;
use crate::queue::Item;

/// A virtual time with a total order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tag(pub f64);

impl Eq for Tag {}

impl PartialOrd for Tag {
    fn partial_cmp(&self, other: &Tag) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Tag {
    fn cmp(&self, other: &Tag) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// A waiting packet with its virtual times.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    item: Item,
    start: f64,
    finish: f64,
    serial: u64,
}

/// A flow that is known: it has packets, or [`TaggedFlows::release`] has not been told that it is gone.
#[derive(Clone, Debug, Default)]
struct Flow {
    number: u32,
    weight: u16,
    packets: VecDeque<Waiting>,
    bytes: u64,
    /// Virtual finish time of its last packet.
    finish: f64,
}

/// The flows. Their slots are small numbers, used again once released.
#[derive(Clone, Debug, Default)]
pub struct TaggedFlows {
    index: FlowIndex,
    flows: Vec<Flow>,
    /// (finish, serial, slot) of the first packet of each flow that has one; one that was dropped is skipped by its serial.
    firsts: BinaryHeap<Reverse<(Tag, u64, u32)>>,
    serial: u64,
    bytes: u64,
    packets: u64,
}

impl TaggedFlows {
    /// Puts a packet of `size` into its flow: start = max(finish of the last one, `now`), finish = start + size / weight. The
    /// flow's slot.
    pub fn push(&mut self, item: Item, size: u32, now: f64) -> u32 {
        let (slot, new) = self.index.enter(item.flow);
        if slot as usize == self.flows.len() {
            self.flows.push(Flow::default());
        }
        let flow = &mut self.flows[slot as usize];
        if new {
            (flow.number, flow.weight, flow.finish) = (item.flow, item.weight.max(1), now);
        }
        let start = flow.finish.max(now);
        let finish = start + f64::from(size) / f64::from(flow.weight);
        flow.finish = finish;
        flow.bytes += u64::from(item.bytes);
        self.serial += 1;
        if flow.packets.is_empty() {
            self.firsts.push(Reverse((Tag(finish), self.serial, slot)));
        }
        flow.packets.push_back(Waiting { item, start, finish, serial: self.serial });
        self.bytes += u64::from(item.bytes);
        self.packets += 1;
        slot
    }

    /// Takes the packet with the smallest finish, of several the first that came: it, its finish and its slot.
    pub fn pop(&mut self) -> Option<(Item, f64, u32)> {
        loop {
            let Reverse((_, serial, slot)) = self.firsts.pop()?;
            let flow = &mut self.flows[slot as usize];
            let Some(first) = flow.packets.pop_front_if(|first| first.serial == serial) else { continue };
            if let Some(next) = flow.packets.front() {
                self.firsts.push(Reverse((Tag(next.finish), next.serial, slot)));
            }
            flow.bytes -= u64::from(first.item.bytes);
            self.bytes -= u64::from(first.item.bytes);
            self.packets -= 1;
            return Some((first.item, first.finish, slot));
        }
    }

    /// Takes the last packet of the flow with most waiting bytes, of several the one that came last, as if it had never come.
    pub fn pop_last_of_longest(&mut self) -> Option<(Item, u32)> {
        let key = |flow: &Flow| flow.packets.back().map(|last| (flow.bytes, last.serial));
        let (slot, flow) = self.flows.iter_mut().enumerate().max_by_key(|(_, flow)| key(flow))?;
        let last = flow.packets.pop_back()?;
        flow.finish = last.start;
        flow.bytes -= u64::from(last.item.bytes);
        self.bytes -= u64::from(last.item.bytes);
        self.packets -= 1;
        Some((last.item, slot as u32))
    }

    /// A flow without packets gives its slot back.
    pub fn release(&mut self, slot: u32) {
        let flow = &self.flows[slot as usize];
        if flow.packets.is_empty() {
            self.index.leave(flow.number);
        }
    }

    /// All that came of the flow is served: its next packet starts at the virtual time of its arrival.
    pub fn forget(&mut self, slot: u32) {
        self.flows[slot as usize].finish = 0.0;
    }

    pub fn weight(&self, slot: u32) -> u16 {
        self.flows[slot as usize].weight
    }

    /// Virtual finish time of the flow's last packet.
    pub fn finish(&self, slot: u32) -> f64 {
        self.flows[slot as usize].finish
    }

    /// Bytes of the flow that wait.
    pub fn bytes_of(&self, slot: u32) -> u64 {
        self.flows[slot as usize].bytes
    }

    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    pub fn packets(&self) -> u64 {
        self.packets
    }
}
