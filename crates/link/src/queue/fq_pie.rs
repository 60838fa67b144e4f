//! FQ-PIE (Linux sch_fq_pie.c): flows are hashed to queues, each with a PIE, which take turns as those of `fq_codel`.
//!
//! The turns are in `part/flows.rs`, the controller in `part/pie.rs`; delay and backlog are those of the queue. Names and
//! defaults are those of tc-fq_pie: limit 10 240 packets, 1024 flows, quantum 1514 B, target and tupdate 15 ms, alpha 2 and beta
//! 20 (in sixteenths per second), ecn_prob 10 %, neither `ecn` nor `bytemode`. The hash is perturbed by a random word of the run.
//! Left out: `dq_rate_estimator`; `memory_limit`, which Linux counts and does not enforce; filters.

use elephan_random::Stream;
use elephan_units::{Bytes, InvalidParameter, Size, Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::part::flows::{FlowQueues, List};
use super::part::pie::{Pie, REASON, Tuning};
use super::part::{MTU_BYTES, can_mark, some_bytes};
use super::{Answers, Discarded, Discipline, Item, Limit, Parameters, Verdict, at_least_1_us};

/// Parameters of `fq_pie`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FqPieSpec {
    /// Most that may wait in all queues, in bytes ("2 MB"), packets ("100 p") or bandwidth-delay products ("1 bdp").
    pub limit: Size,
    /// Number of queues to which flows are hashed.
    #[schemars(extend("x-source" = "tc-fq_pie"), range(min = 1, max = 65536))]
    pub flows: u32,
    /// Bytes that a queue may send each turn.
    #[serde(deserialize_with = "some_bytes")]
    #[schemars(extend("x-source" = "tc-fq_pie"))]
    pub quantum: Bytes,
    /// Delay that the controllers hold their queues at.
    #[schemars(extend("x-source" = "RFC 8033 section 4.2"))]
    pub target: Span,
    /// Time between updates of the probabilities.
    #[schemars(extend("x-source" = "RFC 8033 section 4.2"))]
    pub tupdate: Span,
    /// Gain of the distance from `target`, in sixteenths per second.
    #[schemars(extend("x-source" = "tc-fq_pie"), range(min = 0, max = 32))]
    pub alpha: f64,
    /// Gain of the change of the delay, in sixteenths per second.
    #[schemars(extend("x-source" = "tc-fq_pie"), range(min = 0, max = 32))]
    pub beta: f64,
    /// Whether ECN-capable packets are marked instead of dropped while the probability is `ecn_prob` at most.
    pub ecn: bool,
    /// Probability in percent up to which packets are marked.
    #[schemars(extend("x-source" = "tc-fq_pie"), range(min = 0, max = 100))]
    pub ecn_prob: f64,
    /// Whether the probability of a packet is in proportion to its size.
    pub bytemode: bool,
}

impl Default for FqPieSpec {
    fn default() -> FqPieSpec {
        FqPieSpec {
            limit: Size::Packets(10_240),
            flows: 1024,
            quantum: Bytes(1514),
            target: Span::from_ms(15),
            tupdate: Span::from_ms(15),
            alpha: 2.0,
            beta: 20.0,
            ecn: false,
            ecn_prob: 10.0,
            bytemode: false,
        }
    }
}

impl Parameters for FqPieSpec {
    type Queue = FqPie;

    fn answers(&self) -> Answers {
        Answers { is_random: true, ..Answers::default() }
    }

    fn build(&self, bdp_bytes: u64) -> FqPie {
        FqPie {
            limit: Limit::of(Some(self.limit), bdp_bytes),
            tuning: Tuning {
                target: self.target,
                alpha: self.alpha / 16.0,
                beta: self.beta / 16.0,
                ecn: self.ecn,
                mark_up_to: self.ecn_prob / 100.0,
                bytemode: self.bytemode,
            },
            rest: Pie::new(self.tupdate),
            flows: FlowQueues::hashed(self.flows, self.quantum.0),
            mtu_bytes: MTU_BYTES,
            stream: Stream::new(0, "", ""),
        }
    }

    fn problem(&self) -> Option<InvalidParameter> {
        at_least_1_us("tupdate", self.tupdate)
    }
}

/// The queues, each with its PIE once a packet has come.
#[derive(Clone, Debug)]
pub struct FqPie {
    limit: Limit,
    tuning: Tuning,
    /// A controller that has seen nothing yet.
    rest: Pie,
    flows: FlowQueues<Option<Pie>>,
    mtu_bytes: u32,
    stream: Stream,
}

impl Discipline for FqPie {
    fn enqueue(&mut self, now: Time, item: Item, _discarded: &mut Discarded) -> Verdict {
        let queue = self.flows.queue_of(item.flow);
        let backlog = self.flows.queue(queue).bytes();
        let full = !self.limit.admits(self.flows.bytes(), self.flows.packets(), item.bytes);
        self.mtu_bytes = self.mtu_bytes.max(item.bytes);
        let pie = self.flows.state_mut(queue).get_or_insert(self.rest);
        pie.update(&self.tuning, now, backlog);
        if full {
            pie.overflow();
            return Verdict::Dropped("queue_full");
        }
        let picked = pie.picks(&self.tuning, &mut self.stream, item.bytes, backlog, self.mtu_bytes);
        let marked = picked && can_mark(pie.marks(&self.tuning), &item);
        if picked && !marked {
            return Verdict::Dropped(REASON);
        }
        self.flows.push(queue, item);
        self.flows.join(queue, List::New, self.flows.quantum());
        if marked { Verdict::Marked } else { Verdict::Accepted }
    }

    fn dequeue(&mut self, now: Time, _discarded: &mut Discarded) -> Option<(Item, bool)> {
        loop {
            let queue = self.flows.turn()?;
            let before = self.flows.queue(queue).bytes();
            let Some(item) = self.flows.pop(queue) else {
                self.flows.retire(queue);
                continue;
            };
            self.flows.charge(queue, item.bytes);
            let behind = self.flows.queue(queue).bytes();
            let pie = self.flows.state_mut(queue).get_or_insert(self.rest);
            pie.update(&self.tuning, now, before);
            pie.departs(now, now.since(item.at), behind);
            return Some((item, false));
        }
    }

    fn bytes(&self) -> u64 {
        self.flows.bytes()
    }

    fn packets(&self) -> u64 {
        self.flows.packets()
    }

    fn minds_idle(&self) -> bool {
        true
    }

    fn set_stream(&mut self, mut stream: Stream) {
        self.flows.perturb(stream.next_u64());
        self.stream = stream;
    }

    fn limit(&self) -> Limit {
        self.limit
    }

    fn set_limits(&mut self, limit: Option<Limit>, _mark_above: Option<Limit>) {
        self.limit = limit.unwrap_or(self.limit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Flow 0 keeps packets waiting for 100 ms for ten seconds, flow 1 for 2 ms: only flow 0 loses packets.
    #[test]
    fn each_queue_has_its_controller() {
        let mut q = FqPieSpec::default().build(0);
        q.set_stream(Stream::new(1, "test", "queue"));
        let (mut lost, mut waiting) = ([0; 2], [0; 2]);
        for ms in 200..10_200 {
            let now = Time::ZERO + Span::from_ms(ms);
            for (flow, delay_ms) in [(0, 100), (1, 2)] {
                let at = Time::ZERO + Span::from_ms(ms - delay_ms);
                while waiting[flow as usize] < 5 {
                    let item = Item { flow, bytes: 1500, at, ..Item::default() };
                    let verdict = q.enqueue(now, item, &mut Vec::new());
                    if verdict != Verdict::Accepted {
                        assert_eq!(verdict, Verdict::Dropped("pie"));
                        lost[flow as usize] += 1;
                        break;
                    }
                    waiting[flow as usize] += 1;
                }
            }
            for _ in 0..2 {
                if let Some((item, _)) = q.dequeue(now, &mut Vec::new()) {
                    waiting[item.flow as usize] -= 1;
                }
            }
        }
        assert!(lost[0] > 100 && lost[1] == 0, "{lost:?}");
    }

    /// New queues first, quanta of 1514 bytes, as in `fq_codel`; the limit is of all queues and drops what comes.
    #[test]
    fn turns_and_the_limit() {
        let mut q = FqPieSpec { limit: Size::Packets(8), ..FqPieSpec::default() }.build(0);
        q.set_stream(Stream::new(1, "test", "queue"));
        let offer = |q: &mut FqPie, flow, bytes| {
            q.enqueue(Time::ZERO, Item { flow, bytes, ..Item::default() }, &mut Vec::new())
        };
        for (flow, bytes) in [(0, 1514), (0, 1514), (0, 1514), (1, 700), (1, 700), (1, 700), (1, 700), (2, 60)] {
            assert_eq!(offer(&mut q, flow, bytes), Verdict::Accepted);
        }
        assert_eq!(offer(&mut q, 3, 60), Verdict::Dropped("queue_full"));
        let sent: Vec<u32> =
            std::iter::from_fn(|| q.dequeue(Time::ZERO, &mut Vec::new())).map(|(item, _)| item.flow).collect();
        assert_eq!(sent, [0, 1, 1, 1, 2, 0, 1, 0]);
    }
}
