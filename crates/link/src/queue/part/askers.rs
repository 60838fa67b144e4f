//! Flows that ask for their fair rate. Such a flow counts from its first request on, though nothing of it waits: until the packet
//! that says it is the last, or until it has been silent for the time that it was given.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use elephan_units::Time;

#[derive(Clone, Copy, Debug, Default)]
struct Asker {
    asks: bool,
    /// The fluid has something of it, so that it is counted there.
    in_fluid: bool,
    weight: u16,
    until: Time,
    /// Of its entry among the ends, of which it has one while it asks.
    stamp: u32,
}

/// By the slot of the flow.
#[derive(Clone, Debug, Default)]
pub struct Askers {
    flows: Vec<Asker>,
    /// Sum of the weights of those of which the fluid has nothing.
    outside: u64,
    ends: BinaryHeap<Reverse<(Time, u32, u32)>>,
}

impl Askers {
    fn at(&mut self, slot: u32) -> &mut Asker {
        if self.flows.len() <= slot as usize {
            self.flows.resize(slot as usize + 1, Asker::default());
        }
        &mut self.flows[slot as usize]
    }

    /// A flow asks; it counts until `until` if it asks no more.
    pub fn ask(&mut self, slot: u32, weight: u16, until: Time) {
        let flow = self.at(slot);
        if flow.asks {
            flow.until = flow.until.max(until);
            return;
        }
        *flow = Asker { asks: true, weight, until, stamp: flow.stamp.wrapping_add(1), ..*flow };
        let (end, stamp, counts) = (flow.until, flow.stamp, !flow.in_fluid);
        self.ends.push(Reverse((end, slot, stamp)));
        self.outside += if counts { u64::from(weight) } else { 0 };
    }

    /// A flow has nothing more to send.
    pub fn stop(&mut self, slot: u32) {
        let flow = self.at(slot);
        if flow.asks {
            flow.asks = false;
            let left = if flow.in_fluid { 0 } else { u64::from(flow.weight) };
            self.outside -= left;
        }
    }

    /// The fluid has got something of a flow, or has served all of it.
    pub fn set_in_fluid(&mut self, slot: u32, in_fluid: bool) {
        let flow = self.at(slot);
        if flow.in_fluid == in_fluid {
            return;
        }
        flow.in_fluid = in_fluid;
        let weight = if flow.asks { u64::from(flow.weight) } else { 0 };
        if in_fluid {
            self.outside -= weight;
        } else {
            self.outside += weight;
        }
    }

    /// A flow that has been silent for too long by `now`, which asks no more.
    pub fn expired(&mut self, now: Time) -> Option<u32> {
        while let Some(&Reverse((end, slot, stamp))) = self.ends.peek() {
            let flow = self.flows[slot as usize];
            let valid = flow.asks && flow.stamp == stamp;
            if valid && end > now {
                return None;
            }
            self.ends.pop();
            if valid && flow.until > now {
                self.ends.push(Reverse((flow.until, slot, stamp)));
            } else if valid {
                self.stop(slot);
                return Some(slot);
            }
        }
        None
    }

    pub fn contains(&self, slot: u32) -> bool {
        self.flows.get(slot as usize).is_some_and(|flow| flow.asks)
    }

    /// Sum of the weights of the flows that ask and of which the fluid has nothing.
    pub fn weights_outside(&self) -> u64 {
        self.outside
    }
}
