//! Deficit round robin (Shreedhar and Varghese, "Efficient Fair Queuing Using Deficit Round Robin", SIGCOMM 1995).
//!
//! ```text
//! turn of flow i:   deficit += weight_i * quantum;   send while first packet <= deficit, deficit -= its bytes
//! empty:            deficit = 0, and the flow leaves the round; its next packet joins at the end
//! ```
//!
//! O(1) a packet while the quantum is at least a largest packet. Over any time in which two flows of equal weight always
//! have packets, what they were sent differs by less than a quantum and two largest packets, so by three if the quantum is
//! one (the paper's theorem: 3 Max).
//!
//! Each flow has a queue of its own, or flows are hashed to `buckets` of them, as the paper does; the hash is perturbed by a
//! random word of the run. A queue that is full drops the last packet of the longest queue (the paper's, after McKenney) or the
//! one that comes. Weights are those of the traffic; of a bucket the last packet's. Left out: DRR+ (latency-critical flows).

use elephan_random::Stream;
use elephan_units::{Bytes, Size, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::part::flows::{FlowQueues, List};
use super::part::{Overflow, some_bytes};
use super::{Answers, Discarded, Discipline, Item, Limit, Parameters, Reads, Verdict};

/// Parameters of `drr`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DrrSpec {
    /// Most that may wait, in bytes ("2 MB"), packets ("100 p") or bandwidth-delay products ("1 bdp"); without it nothing is dropped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<Size>,
    /// What a flow of weight 1 may send each turn.
    #[serde(deserialize_with = "some_bytes")]
    #[schemars(extend("x-source" = "Shreedhar and Varghese 1995: a largest packet"))]
    pub quantum: Bytes,
    /// Number of queues to which flows are hashed; without it each flow has its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u32", range(min = 1, max = 65536))]
    pub buckets: Option<u32>,
    /// Which packet a full queue gives up: `longest` (the last one of the flow that keeps most bytes waiting) or `arriving`.
    #[schemars(extend("x-source" = "Shreedhar and Varghese 1995"))]
    pub overflow: Overflow,
}

impl Default for DrrSpec {
    fn default() -> DrrSpec {
        DrrSpec { limit: None, quantum: Bytes(1500), buckets: None, overflow: Overflow::Longest }
    }
}

impl Parameters for DrrSpec {
    type Queue = Drr;

    fn answers(&self) -> Answers {
        Answers { is_random: self.buckets.is_some(), reads: vec![Reads::Weight], ..Answers::default() }
    }

    fn build(&self, bdp_bytes: u64) -> Drr {
        let flows = match self.buckets {
            Some(buckets) => FlowQueues::hashed(buckets, self.quantum.0),
            None => FlowQueues::per_flow(self.quantum.0),
        };
        Drr { flows, limit: Limit::of(self.limit, bdp_bytes), overflow: self.overflow }
    }
}

/// The queues, each with the weight of its flow.
#[derive(Clone, Debug)]
pub struct Drr {
    flows: FlowQueues<u16>,
    limit: Limit,
    overflow: Overflow,
}

impl Discipline for Drr {
    fn enqueue(&mut self, _now: Time, item: Item, discarded: &mut Discarded) -> Verdict {
        if !self.overflow.lets_in(self.limit, (self.flows.bytes(), self.flows.packets()), item.bytes) {
            return Verdict::Dropped("queue_full");
        }
        let queue = self.flows.queue_of(item.flow);
        self.flows.push(queue, item);
        self.flows.join(queue, List::Old, 0);
        *self.flows.state_mut(queue) = item.weight;
        self.flows.shed(self.limit, item, discarded)
    }

    fn dequeue(&mut self, _now: Time, _discarded: &mut Discarded) -> Option<(Item, bool)> {
        let quantum = self.flows.quantum();
        let queue = self.flows.fitting(|&weight| quantum.saturating_mul(i64::from(weight)))?;
        self.flows.send(queue).map(|item| (item, false))
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

    fn set_stream(&mut self, mut stream: Stream) {
        self.flows.perturb(stream.next_u64());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn item(handle: u32, flow: u32, bytes: u32) -> Item {
        Item { handle, flow, bytes, ..Item::default() }
    }

    fn next(q: &mut Drr) -> Option<Item> {
        q.dequeue(Time::ZERO, &mut Vec::new()).map(|(item, _)| item)
    }

    /// The paper's figures 2 and 3: quantum 500; queue 1 has 200, 750 and 20 bytes, queue 2 500 and 500, queue 3 200, 600 and
    /// 100, queue 4 50, 700 and 180. In its first turn queue 1 sends 200 and keeps 300, in its second 750 (deficit 50) and 20.
    #[test]
    fn the_papers_example() {
        let spec = DrrSpec { quantum: Bytes(500), ..DrrSpec::default() };
        let mut q = spec.build(0);
        for (flow, bytes) in [(1, [200, 750, 20]), (2, [500, 500, 0]), (3, [200, 600, 100]), (4, [50, 700, 180])] {
            for bytes in bytes.into_iter().filter(|&b| b > 0) {
                q.enqueue(Time::ZERO, item(0, flow, bytes), &mut Vec::new());
            }
        }
        let sent: Vec<(u32, u32)> = std::iter::from_fn(|| next(&mut q)).map(|i| (i.flow, i.bytes)).collect();
        let rounds: [&[(u32, u32)]; 2] = [
            &[(1, 200), (2, 500), (3, 200), (4, 50)],
            &[(1, 750), (1, 20), (2, 500), (3, 600), (3, 100), (4, 700), (4, 180)],
        ];
        assert_eq!(sent, rounds.concat());
    }

    /// A full queue drops from the flow that keeps most waiting, which need not be the one whose packet comes; or that one.
    #[test]
    fn what_a_full_queue_gives_up() {
        let full = Verdict::Dropped("queue_full");
        for overflow in [Overflow::Longest, Overflow::Arriving] {
            let mut q = DrrSpec { limit: Some(Size::Bytes(4000)), overflow, ..DrrSpec::default() }.build(0);
            let mut lost = Vec::new();
            for n in 0..3 {
                assert_eq!(q.enqueue(Time::ZERO, item(n, 1, 1000), &mut lost), Verdict::Accepted);
            }
            assert_eq!(q.enqueue(Time::ZERO, item(3, 2, 1000), &mut lost), Verdict::Accepted);
            assert_eq!(q.enqueue(Time::ZERO, item(4, 1, 1000), &mut lost), full);
            let verdict = q.enqueue(Time::ZERO, item(5, 2, 500), &mut lost);
            let (expected, gone, bytes) = match overflow {
                Overflow::Longest => (Verdict::Accepted, vec![(item(2, 1, 1000), "queue_full")], 3500),
                Overflow::Arriving => (full, vec![], 4000),
            };
            assert_eq!((verdict, lost, q.bytes()), (expected, gone, bytes));
            assert_eq!(q.enqueue(Time::ZERO, item(6, 3, 4001), &mut Vec::new()), full);
        }
    }

    proptest! {
        /// Weights 1 and w, both always waiting: the shares in bytes are as the weights, to within what a turn may be off:
        /// sent_i / w_i differ by a quantum and less than two largest packets (the paper's theorem with f_i = w_i).
        #[test]
        fn fair_by_weight(
            sizes in prop::collection::vec((64u32..=1500, 64u32..=1500), 200),
            weight in 1u16..5,
            turns in 10usize..200,
        ) {
            let mut q = DrrSpec::default().build(0);
            for (a, b) in sizes {
                q.enqueue(Time::ZERO, item(0, 0, a), &mut Vec::new());
                q.enqueue(Time::ZERO, Item { weight, ..item(0, 1, b) }, &mut Vec::new());
            }
            let (mut sent, mut left) = ([0i64; 2], [200; 2]);
            for _ in 0..turns {
                let i = next(&mut q).unwrap();
                let flow = i.flow as usize;
                (sent[flow], left[flow]) = (sent[flow] + i64::from(i.bytes), left[flow] - 1);
                if left[flow] == 0 {
                    break;
                }
                let apart = (sent[0] * i64::from(weight) - sent[1]).abs();
                prop_assert!(apart <= 3 * 1500 * i64::from(weight), "{sent:?}");
            }
        }
    }
}
