//! The virtual time of generalised processor sharing (Parekh and Gallager 1993), exactly: a fluid server of the link's rate
//! serves all flows at once, each that has something in proportion to its weight.
//!
//! ```text
//! dV/dt = rate / sum(weights of the flows that the fluid has not served yet)
//! a flow is served when V reaches the finish of its last packet
//! ```
//!
//! O(log n) a packet: the finishes stand in a heap, one entry a flow, moved when it comes up if more packets have come.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use elephan_units::{PS_PER_S, Rate, Time};

use super::tags::{Tag, TaggedFlows};

/// The fluid server.
#[derive(Clone, Debug, Default)]
pub struct Gps {
    /// Virtual time in bytes at weight 1, at the instant `at`.
    now: f64,
    at: Time,
    bytes_per_ps: f64,
    /// Sum of the weights of the flows that are in the fluid.
    weights: u64,
    ends: BinaryHeap<Reverse<(Tag, u32, u32)>>,
    /// For each slot the stamp of its valid entry, if it is in the fluid, and the last stamp given.
    inside: Vec<(bool, u32)>,
}

impl Gps {
    pub fn set_rate(&mut self, rate: Rate) {
        self.bytes_per_ps = rate.0 as f64 / (8.0 * PS_PER_S as f64);
    }

    /// Brings the fluid up to `now` and answers with its virtual time. Flows of which it has served all are added to `left`.
    pub fn advance(&mut self, now: Time, flows: &TaggedFlows, left: &mut Vec<u32>) -> f64 {
        let mut left_ps = now.since(self.at).0 as f64;
        self.at = now;
        while let Some(&Reverse((Tag(end), slot, stamp))) = self.ends.peek() {
            if self.inside[slot as usize] != (true, stamp) {
                self.ends.pop();
                continue;
            }
            let finish = flows.finish(slot);
            if finish > end {
                self.ends.pop();
                self.ends.push(Reverse((Tag(finish), slot, stamp)));
                continue;
            }
            let needed_ps = (end - self.now).max(0.0) * self.weights as f64 / self.bytes_per_ps;
            if needed_ps > left_ps {
                self.now += left_ps * self.bytes_per_ps / self.weights as f64;
                break;
            }
            left_ps -= needed_ps;
            self.now = self.now.max(end);
            self.ends.pop();
            self.inside[slot as usize].0 = false;
            self.weights -= u64::from(flows.weight(slot));
            left.push(slot);
        }
        if self.weights == 0 && flows.packets() == 0 {
            self.now = 0.0;
        }
        self.now
    }

    /// A packet of the flow has come.
    pub fn enter(&mut self, slot: u32, flows: &TaggedFlows) {
        if self.inside.len() <= slot as usize {
            self.inside.resize(slot as usize + 1, (false, 0));
        }
        if !self.inside[slot as usize].0 {
            self.weights += u64::from(flows.weight(slot));
            self.stamp(slot, flows);
        }
    }

    /// The last packet of the flow, of which the fluid still has something, has been taken away: its finish is earlier.
    pub fn shorten(&mut self, slot: u32, flows: &TaggedFlows) {
        self.stamp(slot, flows);
    }

    /// A valid entry for the flow.
    fn stamp(&mut self, slot: u32, flows: &TaggedFlows) {
        let stamp = self.inside[slot as usize].1.wrapping_add(1);
        self.inside[slot as usize] = (true, stamp);
        self.ends.push(Reverse((Tag(flows.finish(slot)), slot, stamp)));
    }

    /// Sum of the weights of the flows of which it has something.
    pub fn weights(&self) -> u64 {
        self.weights
    }

    /// Whether the fluid still has something of the flow.
    pub fn contains(&self, slot: u32) -> bool {
        self.inside.get(slot as usize).is_some_and(|&(inside, _)| inside)
    }
}
