//! Self-clocked fair queueing (Golestani, INFOCOM 1994): fair queueing whose virtual time is the finish of the packet in service
//! instead of that of a fluid system.
//!
//! ```text
//! finish = max(finish of the flow's packet before, v) + bytes / weight       v = finish of the packet in service
//! ```
//!
//! and the packet with the smallest finish goes next; v begins anew at 0 when the port goes idle. Over any time in which flows i
//! and j always have packets, what they were sent, each over its weight, differs by at most L_i/w_i + L_j/w_j (the paper's
//! theorem); the price is a delay that grows with the number of flows, up to a packet of each.
//!
//! Bytes are those on the wire. What a full queue gives up is as in `fq`.

use elephan_units::{Size, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::part::Overflow;
use super::part::tags::TaggedFlows;
use super::{Answers, CongestionHeader, Discarded, Discipline, Item, Limit, Parameters, Reads, Verdict};

/// Parameters of `scfq`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ScfqSpec {
    /// Most that may wait, in bytes ("2 MB"), packets ("100 p") or bandwidth-delay products ("1 bdp"); without it nothing is dropped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<Size>,
    /// Which packet a full queue gives up: `longest` (the last one of the flow that keeps most bytes waiting) or `arriving`.
    pub overflow: Overflow,
}

impl Parameters for ScfqSpec {
    type Queue = Scfq;

    fn answers(&self) -> Answers {
        Answers { reads: vec![Reads::Weight], ..Answers::default() }
    }

    fn build(&self, bdp_bytes: u64) -> Scfq {
        Scfq {
            flows: TaggedFlows::default(),
            in_service: 0.0,
            limit: Limit::of(self.limit, bdp_bytes),
            overflow: self.overflow,
            arriving: 0,
        }
    }
}

/// The flows and the tag of the packet in service.
#[derive(Clone, Debug)]
pub struct Scfq {
    flows: TaggedFlows,
    in_service: f64,
    limit: Limit,
    overflow: Overflow,
    /// Wire bytes of the packet that has come, until it is offered.
    arriving: u32,
}

impl Discipline for Scfq {
    fn enqueue(&mut self, _now: Time, item: Item, discarded: &mut Discarded) -> Verdict {
        let size = if self.arriving == 0 { item.bytes } else { std::mem::take(&mut self.arriving) };
        if !self.overflow.lets_in(self.limit, (self.flows.bytes(), self.flows.packets()), item.bytes) {
            return Verdict::Dropped("queue_full");
        }
        self.flows.push(item, size, self.in_service);
        let mut verdict = Verdict::Accepted;
        while self.limit.is_exceeded(self.flows.bytes(), self.flows.packets())
            && let Some((dropped, slot)) = self.flows.pop_last_of_longest()
        {
            self.flows.release(slot);
            if dropped.handle == item.handle {
                verdict = Verdict::Dropped("queue_full");
            } else {
                discarded.push((dropped, "queue_full"));
            }
        }
        verdict
    }

    fn dequeue(&mut self, _now: Time, _discarded: &mut Discarded) -> Option<(Item, bool)> {
        let Some((item, finish, slot)) = self.flows.pop() else {
            self.in_service = 0.0;
            return None;
        };
        self.flows.release(slot);
        self.in_service = finish;
        Some((item, false))
    }

    fn bytes(&self) -> u64 {
        self.flows.bytes()
    }

    fn packets(&self) -> u64 {
        self.flows.packets()
    }

    fn limit(&self) -> Limit {
        self.limit
    }

    fn set_limits(&mut self, limit: Option<Limit>, _mark_above: Option<Limit>) {
        self.limit = limit.unwrap_or(self.limit);
    }

    fn minds_idle(&self) -> bool {
        true
    }

    fn on_arrival(&mut self, _now: Time, wire_bytes: u32, _priority: u8, _header: Option<&CongestionHeader>) {
        self.arriving = wire_bytes;
    }
}
