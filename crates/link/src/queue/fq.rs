//! Fair queueing (Demers, Keshav and Shenker, SIGCOMM 1989), with weights the packet-by-packet generalised processor sharing of
//! Parekh and Gallager (IEEE/ACM ToN 1(3), 1993), also known as WFQ.
//!
//! The ideal is bit-by-bit round robin: each of the n flows that have something gets exactly 1/n of the link (weight w_i:
//! w_i / sum w). Packets leave in the order in which that fluid system would finish them:
//!
//! ```text
//! start  = max(finish of the flow's packet before, V(arrival)),      finish = start + bytes / weight
//! dV/dt  = rate / sum(weights of the flows that the fluid has not served yet)
//! ```
//!
//! with the exact V of the fluid (`part/gps.rs`), not an estimate. A packet leaves at most one largest packet's time later
//! than in the ideal (Parekh and Gallager, theorem 1); it may leave earlier.
//!
//! Bytes are those on the wire, so shares are shares of the link's time. A queue that is full drops the last packet of the
//! longest queue (Demers et al., section 2.2) or the one that comes; the fluid forgets it. The rate that the fluid has is
//! the link's, from the next packet on after it has changed; it does not stop while the port is paused. Flows are told apart
//! exactly, by connection. Left out: the parameter delta of the 1989 paper (promptness for flows that use less than their share).

use elephan_units::{Rate, Size, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::part::Overflow;
use super::part::gps::Gps;
use super::part::tags::TaggedFlows;
use super::{CongestionHeader, Discarded, Discipline, Item, Limit, Verdict};

/// Parameters of `fq`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FqSpec {
    /// Most that may wait, in bytes ("2 MB"), packets ("100 p") or bandwidth-delay products ("1 bdp"); without it nothing is dropped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<Size>,
    /// Which packet a full queue gives up: `longest` (the last one of the flow that keeps most bytes waiting) or `arriving`.
    #[schemars(extend("x-source" = "Demers, Keshav and Shenker 1989 section 2.2"))]
    pub overflow: Overflow,
}

impl FqSpec {
    pub fn build(&self, bdp_bytes: u64) -> Fq {
        Fq {
            flows: TaggedFlows::default(),
            gps: Gps::default(),
            limit: Limit::of(self.limit, bdp_bytes),
            overflow: self.overflow,
            arriving: 0,
        }
    }
}

/// The flows and the fluid that orders them.
#[derive(Debug)]
pub struct Fq {
    flows: TaggedFlows,
    gps: Gps,
    limit: Limit,
    overflow: Overflow,
    /// Wire bytes of the packet that has come, until it is offered.
    arriving: u32,
}

impl Discipline for Fq {
    fn enqueue(&mut self, now: Time, item: Item, discarded: &mut Discarded) -> Verdict {
        let size = if self.arriving == 0 { item.bytes } else { std::mem::take(&mut self.arriving) };
        let virtual_time = self.gps.advance(now, &mut self.flows);
        if !self.overflow.lets_in(self.limit, (self.flows.bytes(), self.flows.packets()), item.bytes) {
            return Verdict::Dropped("queue_full");
        }
        let slot = self.flows.push(item, size, virtual_time);
        self.gps.enter(slot, &self.flows);
        let mut verdict = Verdict::Accepted;
        while self.limit.is_exceeded(self.flows.bytes(), self.flows.packets())
            && let Some((dropped, slot)) = self.flows.pop_last_of_longest()
        {
            self.gps.shorten(slot, &self.flows);
            if !self.gps.contains(slot) {
                self.flows.release(slot);
            }
            if dropped.handle == item.handle {
                verdict = Verdict::Dropped("queue_full");
            } else {
                discarded.push((dropped, "queue_full"));
            }
        }
        verdict
    }

    fn dequeue(&mut self, now: Time, _discarded: &mut Discarded) -> Option<(Item, bool)> {
        self.gps.advance(now, &mut self.flows);
        let (item, _, slot) = self.flows.pop()?;
        if !self.gps.contains(slot) {
            self.flows.release(slot);
        }
        Some((item, false))
    }

    fn bytes(&self) -> u64 {
        self.flows.bytes()
    }

    fn packets(&self) -> u64 {
        self.flows.packets()
    }

    fn set_rate(&mut self, rate: Rate) {
        self.gps.set_rate(rate);
    }

    fn on_arrival(&mut self, _now: Time, wire_bytes: u32, _header: Option<&CongestionHeader>) {
        self.arriving = wire_bytes;
    }
}
