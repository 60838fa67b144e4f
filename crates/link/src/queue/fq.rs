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
//! exactly, by connection.
//!
//! Packets of flows whose congestion control is `explicit_rate` are told their flow's fair rate: rate * weight / (sum of the weights
//! of the flows that are active), and its own queue. Active is a flow of which the fluid has something, and one that asks for its
//! rate, from the request on its SYN to its FIN, or until it has been silent for `active` and a round-trip time. A flow that
//! asks is counted one round trip before its data comes; the others have learnt of it by then.
//!
//! Left out: the parameter delta of the 1989 paper (promptness for flows that use less than their share).

use elephan_units::{Rate, Size, Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::part::Overflow;
use super::part::askers::Askers;
use super::part::gps::Gps;
use super::part::tags::TaggedFlows;
use super::{
    Answers, CongestionHeader, Discarded, Discipline, Item, Limit, Parameters, Reads, Request, Tells, Verdict,
};

/// Parameters of `fq`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FqSpec {
    /// Most that may wait, in bytes ("2 MB"), packets ("100 p") or bandwidth-delay products ("1 bdp"); without it nothing is dropped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<Size>,
    /// Which packet a full queue gives up: `longest` (the last one of the flow that keeps most bytes waiting) or `arriving`.
    #[schemars(extend("x-source" = "Demers, Keshav and Shenker 1989 section 2.2"))]
    pub overflow: Overflow,
    /// A flow that asks for its rate (congestion control `explicit_rate`) counts for so long after its last packet, or for its
    /// round-trip time if that is longer.
    #[schemars(extend("x-source" = "assumed"))]
    pub active: Span,
}

impl Default for FqSpec {
    fn default() -> FqSpec {
        FqSpec { limit: None, overflow: Overflow::Longest, active: Span::from_ms(100) }
    }
}

impl Parameters for FqSpec {
    type Queue = Fq;

    fn answers(&self) -> Answers {
        Answers { reads: vec![Reads::Weight], tells: Some(Tells::Rate), ..Answers::default() }
    }

    fn build(&self, bdp_bytes: u64) -> Fq {
        Fq {
            flows: TaggedFlows::default(),
            gps: Gps::default(),
            askers: Askers::default(),
            limit: Limit::of(self.limit, bdp_bytes),
            spec: self.clone(),
            rate_bps: 0.0,
            arriving: (0, None),
            leaving: (0, Item::default()),
            left: Vec::new(),
        }
    }
}

/// The flows and the fluid that orders them.
#[derive(Clone, Debug)]
pub struct Fq {
    flows: TaggedFlows,
    gps: Gps,
    askers: Askers,
    limit: Limit,
    spec: FqSpec,
    rate_bps: f64,
    /// Wire bytes of the packet that has come, and the round-trip time of the flow if it asks for its rate; until it is offered.
    arriving: (u32, Option<Span>),
    /// Slot of the packet that leaves, and it.
    leaving: (u32, Item),
    /// Flows of which the fluid has just served all; kept to spare an allocation.
    left: Vec<u32>,
}

impl Discipline for Fq {
    fn enqueue(&mut self, now: Time, item: Item, discarded: &mut Discarded) -> Verdict {
        let (wire_bytes, asks) = std::mem::take(&mut self.arriving);
        let virtual_time = self.advance(now);
        if !self.spec.overflow.lets_in(self.limit, (self.flows.bytes(), self.flows.packets()), item.bytes) {
            return Verdict::Dropped("queue_full");
        }
        let slot = self.flows.push(item, if wire_bytes == 0 { item.bytes } else { wire_bytes }, virtual_time);
        self.gps.enter(slot, &self.flows);
        self.askers.set_in_fluid(slot, true);
        if let Some(rtt) = asks {
            let until = now.saturating_add(self.spec.active.max(rtt));
            self.askers.ask(slot, self.flows.weight(slot), until);
        }
        let mut verdict = Verdict::Accepted;
        while self.limit.is_exceeded(self.flows.bytes(), self.flows.packets())
            && let Some((dropped, slot)) = self.flows.pop_last_of_longest()
        {
            if self.gps.contains(slot) {
                self.gps.shorten(slot, &self.flows);
            } else {
                self.flows.forget(slot);
            }
            self.release(slot);
            if dropped.handle == item.handle {
                verdict = Verdict::Dropped("queue_full");
            } else {
                discarded.push((dropped, "queue_full"));
            }
        }
        verdict
    }

    fn dequeue(&mut self, now: Time, _discarded: &mut Discarded) -> Option<(Item, bool)> {
        self.advance(now);
        let (item, _, slot) = self.flows.pop()?;
        self.leaving = (slot, item);
        self.release(slot);
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

    fn set_rate(&mut self, rate: Rate) {
        self.gps.set_rate(rate);
        self.rate_bps = rate.0 as f64;
    }

    fn on_arrival(&mut self, _now: Time, wire_bytes: u32, _priority: u8, header: Option<&CongestionHeader>) {
        let asks = match header.map(|header| header.request) {
            Some(Request::Rate(asked)) => Some(asked.rtt),
            _ => None,
        };
        self.arriving = (wire_bytes, asks);
    }

    /// The fair rate of the packet's flow among those that wait or ask, and what of it waits, in bytes as the packet has them.
    fn on_departure(&mut self, wire_bytes: u32, header: &mut CongestionHeader) {
        let Request::Rate(asked) = &mut header.request else { return };
        let (slot, item) = self.leaving;
        let (weight, ip_bytes) = (u64::from(item.weight.max(1)), f64::from(asked.ip_bytes));
        let counted = self.gps.contains(slot) || self.askers.contains(slot);
        let all = self.gps.weights() + self.askers.weights_outside() + if counted { 0 } else { weight };
        let share = self.rate_bps * weight as f64 / all as f64;
        asked.rate_bps = asked.rate_bps.min(share * ip_bytes / f64::from(wire_bytes));
        asked.queue_bytes += self.flows.bytes_of(slot) as f64 * ip_bytes / f64::from(item.bytes.max(1));
        if asked.ends {
            self.askers.stop(slot);
            self.release(slot);
        }
    }
}

impl Fq {
    /// Brings everything up to `now`; the virtual time.
    fn advance(&mut self, now: Time) -> f64 {
        let virtual_time = self.gps.advance(now, &self.flows, &mut self.left);
        while let Some(slot) = self.left.pop() {
            self.flows.forget(slot);
            self.askers.set_in_fluid(slot, false);
            self.release(slot);
        }
        while let Some(slot) = self.askers.expired(now) {
            self.release(slot);
        }
        virtual_time
    }

    /// A flow of which nothing waits, nothing is in the fluid and that does not ask is forgotten.
    fn release(&mut self, slot: u32) {
        if !self.gps.contains(slot) && !self.askers.contains(slot) {
            self.flows.release(slot);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::RateRequest;

    /// 8 Mbit/s: 1000 bytes take a millisecond.
    fn queue() -> Fq {
        let mut q = FqSpec::default().build(0);
        q.set_rate(Rate(8_000_000));
        q
    }

    fn at_ms(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    fn asking(ends: bool) -> CongestionHeader {
        let request = Request::Rate(RateRequest::new(Span::from_ms(20), 1000, ends));
        CongestionHeader { request, ..CongestionHeader::default() }
    }

    fn offer(q: &mut Fq, ms: u64, flow: u32, weight: u16, header: Option<&CongestionHeader>) {
        let item = Item { flow, weight, bytes: 1000, at: at_ms(ms), ..Item::default() };
        q.on_arrival(at_ms(ms), 1000, 0, header);
        assert_eq!(q.enqueue(at_ms(ms), item, &mut Vec::new()), Verdict::Accepted);
    }

    /// Rate and own queue that the next packet, which leaves now, is told.
    fn told(q: &mut Fq, ms: u64, mut header: CongestionHeader) -> (f64, f64) {
        assert!(q.dequeue(at_ms(ms), &mut Vec::new()).is_some());
        q.on_departure(1000, &mut header);
        let Request::Rate(told) = header.request else { unreachable!() };
        (told.rate_bps, told.queue_bytes)
    }

    /// A flow alone is told the link's rate, two of equal weight half of it each, also while nothing of the other waits; one that
    /// has said that it ends counts no more, nor one that has been silent for 100 ms.
    #[test]
    fn fair_rates() {
        let mut q = queue();
        offer(&mut q, 0, 0, 1, Some(&asking(false)));
        assert_eq!(told(&mut q, 0, asking(false)), (8e6, 0.0));
        offer(&mut q, 10, 1, 1, Some(&asking(false)));
        assert_eq!(told(&mut q, 10, asking(false)), (4e6, 0.0));
        for _ in 0..3 {
            offer(&mut q, 20, 0, 1, Some(&asking(false)));
        }
        assert_eq!(told(&mut q, 20, asking(false)), (4e6, 2000.0));
        assert_eq!(told(&mut q, 21, asking(false)), (4e6, 1000.0));
        assert_eq!(told(&mut q, 22, asking(true)), (4e6, 0.0));
        // The fluid has just served what flow 0 had.
        offer(&mut q, 30, 1, 1, Some(&asking(false)));
        assert_eq!(told(&mut q, 30, asking(false)), (8e6, 0.0));
        // Flow 1 is silent until 130 ms, and then counts no more.
        offer(&mut q, 129, 2, 1, Some(&asking(false)));
        assert_eq!(told(&mut q, 129, asking(false)), (4e6, 0.0));
        offer(&mut q, 131, 2, 1, Some(&asking(false)));
        assert_eq!(told(&mut q, 131, asking(false)), (8e6, 0.0));
        // Slots of flows that have gone are used again, and nothing is counted twice.
        for n in 0..1000 {
            let ms = 300 + 10 * n;
            offer(&mut q, ms, 10 + n as u32, 1, Some(&asking(true)));
            assert_eq!(told(&mut q, ms, asking(true)), (8e6, 0.0), "{n}");
        }
    }

    /// By weight; and a flow that does not ask counts while something of it waits.
    #[test]
    fn fair_rates_by_weight() {
        let mut q = queue();
        offer(&mut q, 0, 0, 3, Some(&asking(false)));
        assert_eq!(told(&mut q, 0, asking(false)), (8e6, 0.0));
        offer(&mut q, 10, 1, 1, None);
        offer(&mut q, 10, 0, 3, Some(&asking(false)));
        assert_eq!(told(&mut q, 10, asking(false)), (6e6, 0.0));
        assert!(q.dequeue(at_ms(11), &mut Vec::new()).is_some());
        offer(&mut q, 20, 0, 3, Some(&asking(false)));
        assert_eq!(told(&mut q, 20, asking(false)), (8e6, 0.0));
    }

    /// An answer is only ever lowered; queues of several routers add up.
    #[test]
    fn several_routers() {
        let mut q = queue();
        offer(&mut q, 0, 0, 1, Some(&asking(false)));
        offer(&mut q, 0, 0, 1, Some(&asking(false)));
        let mut header = asking(false);
        let Request::Rate(request) = &mut header.request else { unreachable!() };
        (request.rate_bps, request.queue_bytes) = (5e6, 500.0);
        assert_eq!(told(&mut q, 0, header), (5e6, 1500.0));
    }
}
