//! FQ-CoDel (RFC 8290; Linux sch_fq_codel.c): flows are hashed to queues, each with a CoDel, which take turns by deficit round
//! robin; a queue that has just got its first packet goes before those that keep packets waiting.
//!
//! The turns are in `part/flows.rs`, the control law in `part/codel.rs`; the backlog of one full packet below which CoDel lets pass is
//! that of all queues, as in Linux. When more than `limit` or `memory_limit` waits, the fattest queue (in bytes) loses packets
//! from its head until half its bytes or `drop_batch` packets are gone, and its CoDel counts them.
//!
//! Defaults are those of tc-fq_codel: limit 10 240 packets, memory_limit 32 MiB, 1024 flows, quantum 1514 B, target 5 ms,
//! interval 100 ms, drop_batch 64, with ECN. `memory_limit` counts frames, not the kernel's buffers. The hash is perturbed by a
//! random word of the run. Left out: filters.

use elephan_random::Stream;
use elephan_units::{Bytes, InvalidParameter, Size, Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::part::codel::{Codel, Selector, Tuning};
use super::part::flows::FlowQueues;
use super::part::{MTU_BYTES, some_bytes};
use super::{Answers, Discarded, Discipline, Item, Limit, Parameters, Verdict, positive};

/// Parameters of `fq_codel`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FqCodelSpec {
    /// Most that may wait in all queues, in bytes ("2 MB"), packets ("100 p") or bandwidth-delay products ("1 bdp").
    pub limit: Size,
    /// Most bytes that may wait in all queues, beside `limit`.
    #[schemars(extend("x-source" = "tc-fq_codel"))]
    pub memory_limit: Bytes,
    /// Number of queues to which flows are hashed.
    #[schemars(extend("x-source" = "RFC 8290 section 5.2.2"), range(min = 1, max = 65536))]
    pub flows: u32,
    /// Bytes that a queue may send each turn.
    #[serde(deserialize_with = "some_bytes")]
    #[schemars(extend("x-source" = "RFC 8290 section 5.2.1"))]
    pub quantum: Bytes,
    /// Delay that a standing queue may have.
    #[schemars(extend("x-source" = "RFC 8289 section 4.3"))]
    pub target: Span,
    /// Time for which the delay of a queue must stay above `target` before a packet is dropped.
    #[schemars(extend("x-source" = "RFC 8289 section 4.2"))]
    pub interval: Span,
    /// Most packets that the fattest queue loses at once when the limit is passed.
    #[schemars(extend("x-source" = "tc-fq_codel"), range(min = 1, max = 65536))]
    pub drop_batch: u32,
    /// Whether ECN-capable packets are marked instead of dropped.
    pub ecn: bool,
    /// ECN-capable packets that have waited for longer than this are marked at once, whatever `ecn` says; without it none are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ce_threshold: Option<Span>,
    /// Those of them that `ce_threshold` marks, as VALUE/MASK of the DS field: "0x1/0x3" marks ECT(1), the packets of L4S, alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-source" = "Linux sch_fq_codel.c, TCA_FQ_CODEL_CE_THRESHOLD_SELECTOR"))]
    pub ce_threshold_selector: Option<Selector>,
}

impl Default for FqCodelSpec {
    fn default() -> FqCodelSpec {
        FqCodelSpec {
            limit: Size::Packets(10_240),
            memory_limit: Bytes(32 << 20),
            flows: 1024,
            quantum: Bytes(1514),
            target: Span::from_ms(5),
            interval: Span::from_ms(100),
            drop_batch: 64,
            ecn: true,
            ce_threshold: None,
            ce_threshold_selector: None,
        }
    }
}

impl Parameters for FqCodelSpec {
    type Queue = FqCodel;

    fn answers(&self) -> Answers {
        Answers {
            is_random: true,
            marks_after: self.ce_threshold.map(|span| ("ce_threshold", span)),
            ..Answers::default()
        }
    }

    fn depths(&self) -> Vec<(&'static str, Bytes)> {
        vec![("memory_limit", self.memory_limit)]
    }

    fn build(&self, bdp_bytes: u64) -> FqCodel {
        FqCodel {
            limit: Limit::of(Some(self.limit), bdp_bytes),
            memory_limit: self.memory_limit.0,
            drop_batch: self.drop_batch,
            tuning: Tuning {
                target: self.target,
                interval: self.interval,
                ecn: self.ecn,
                ce_threshold: self.ce_threshold.unwrap_or(Span::MAX),
                ce_threshold_selector: self.ce_threshold_selector.unwrap_or_default(),
            },
            flows: FlowQueues::hashed(self.flows, self.quantum.0),
            mtu_bytes: MTU_BYTES,
        }
    }

    fn problem(&self) -> Option<InvalidParameter> {
        if self.ce_threshold_selector.is_some() && self.ce_threshold.is_none() {
            return Some(InvalidParameter::new(
                "ce_threshold_selector",
                "selects what ce_threshold marks: give ce_threshold too",
            ));
        }
        positive("interval", self.interval)
    }
}

/// The queues, each with its CoDel.
#[derive(Clone, Debug)]
pub struct FqCodel {
    limit: Limit,
    memory_limit: u64,
    drop_batch: u32,
    tuning: Tuning,
    flows: FlowQueues<Codel>,
    mtu_bytes: u32,
}

impl Discipline for FqCodel {
    #[inline]
    fn enqueue(&mut self, _now: Time, item: Item, discarded: &mut Discarded) -> Verdict {
        self.mtu_bytes = self.mtu_bytes.max(item.bytes);
        self.flows.enqueue_new(item);
        let mut verdict = Verdict::Accepted;
        while self.limit.is_exceeded(self.flows.bytes(), self.flows.packets()) || self.flows.bytes() > self.memory_limit
        {
            if !self.shed(item, &mut verdict, discarded) {
                break;
            }
        }
        verdict
    }

    #[inline]
    fn dequeue(&mut self, now: Time, discarded: &mut Discarded) -> Option<(Item, bool)> {
        loop {
            let queue = self.flows.turn()?;
            let mut state = self.flows.queue(queue).state;
            let flows = &mut self.flows;
            let pop = || flows.pop(queue).map(|item| (item, flows.bytes()));
            let sent = state.dequeue(&self.tuning, now, self.mtu_bytes, pop, discarded);
            *self.flows.state_mut(queue) = state;
            match sent {
                Some((item, _)) => {
                    self.flows.charge(queue, item.bytes);
                    return sent;
                }
                None => self.flows.retire(queue),
            }
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
    }

    fn limit(&self) -> Limit {
        self.limit
    }

    fn set_limits(&mut self, limit: Option<Limit>, _mark_above: Option<Limit>) {
        self.limit = limit.unwrap_or(self.limit);
    }
}

impl FqCodel {
    /// Drops from the head of the fattest queue; `arriving` has just been put in one. Whether there was one.
    fn shed(&mut self, arriving: Item, verdict: &mut Verdict, discarded: &mut Discarded) -> bool {
        let Some(queue) = self.flows.fattest() else { return false };
        let enough = self.flows.queue(queue).bytes() / 2;
        let (mut packets, mut bytes) = (0, 0);
        while let Some(item) = self.flows.pop(queue) {
            (packets, bytes) = (packets + 1, bytes + u64::from(item.bytes));
            if item.handle == arriving.handle {
                *verdict = Verdict::Dropped("queue_full");
            } else {
                discarded.push((item, "queue_full"));
            }
            if packets >= self.drop_batch || bytes >= enough {
                break;
            }
        }
        self.flows.state_mut(queue).overflow(packets);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue(spec: &FqCodelSpec) -> FqCodel {
        let mut q = spec.build(0);
        q.set_stream(Stream::new(1, "test", "queue"));
        q
    }

    /// Packets of a flow, with handles from `first` on.
    fn offer(q: &mut FqCodel, flow: u32, bytes: u32, first: u32, packets: u32) -> Discarded {
        let mut discarded = Vec::new();
        for handle in first..first + packets {
            let verdict = q.enqueue(Time::ZERO, Item { handle, flow, bytes, ..Item::default() }, &mut discarded);
            assert_eq!(verdict, Verdict::Accepted);
        }
        discarded
    }

    fn sent(q: &mut FqCodel, packets: usize) -> Vec<(u32, u32)> {
        let next = |_| q.dequeue(Time::ZERO, &mut Vec::new()).map(|(item, _)| (item.flow, item.bytes));
        (0..packets).filter_map(next).collect()
    }

    /// quantum 1514. Flow 0: 1514 B spend it exactly (0, not below): it is old when it is looked at again. Flow 1 of 500 B sends
    /// four (1514 - 2000 < 0) in its turn, and then again after a quantum more: 1028 left, three more.
    #[test]
    fn deficits() {
        let mut q = queue(&FqCodelSpec::default());
        offer(&mut q, 0, 1514, 0, 3);
        offer(&mut q, 1, 500, 10, 8);
        let (a, b) = ((0, 1514), (1, 500));
        assert_eq!(sent(&mut q, 11), [a, b, b, b, b, a, b, b, b, a, b]);
        assert_eq!((q.bytes(), q.packets(), q.dequeue(Time::ZERO, &mut Vec::new())), (0, 0, None));
    }

    /// RFC 8290 section 4.2: a new queue goes before the old ones once. Emptied, it is old, so that a flow that sends a
    /// packet whenever it may gets one turn a round and not all of them.
    #[test]
    fn an_emptied_new_flow_goes_to_the_old_list() {
        let mut q = queue(&FqCodelSpec::default());
        offer(&mut q, 0, 1514, 0, 4);
        assert_eq!(sent(&mut q, 1), [(0, 1514)]);
        let mut order = Vec::new();
        for n in 0..3 {
            offer(&mut q, 1, 100, 10 + n, 1);
            order.extend(sent(&mut q, 2).into_iter().map(|(flow, _)| flow));
        }
        assert_eq!(order, [1, 0, 1, 0, 1, 0]);
    }

    /// 1 packet too many: 64 from the head of the fattest go, as half of its 200 packets are more. A fattest of 100 packets
    /// loses half of its bytes, 50.
    #[test]
    fn the_fattest_queue_loses_a_batch() {
        for (fat, lost) in [(200, 64), (100, 50)] {
            let mut q = queue(&FqCodelSpec { limit: Size::Packets(fat + 40), ..FqCodelSpec::default() });
            assert!(offer(&mut q, 0, 1000, 0, fat as u32).is_empty());
            assert!(offer(&mut q, 1, 100, 1000, 40).is_empty());
            let discarded = offer(&mut q, 2, 500, 2000, 1);
            let handles: Vec<u32> = discarded.iter().map(|(item, _)| item.handle).collect();
            assert_eq!(handles, (0..lost).collect::<Vec<u32>>());
            assert!(discarded.iter().all(|(item, reason)| item.flow == 0 && *reason == "queue_full"));
            assert_eq!(q.packets(), fat + 41 - u64::from(lost));
        }
    }

    /// The memory limit counts bytes; a packet that is alone the fattest is dropped itself.
    #[test]
    fn the_memory_limit() {
        let mut q = queue(&FqCodelSpec { memory_limit: Bytes(2500), ..FqCodelSpec::default() });
        offer(&mut q, 0, 1000, 0, 1);
        let mut discarded = Vec::new();
        let item = Item { handle: 7, flow: 1, bytes: 1501, ..Item::default() };
        assert_eq!(q.enqueue(Time::ZERO, item, &mut discarded), Verdict::Dropped("queue_full"));
        assert_eq!((discarded.len(), q.bytes()), (0, 1000));
    }

    /// A threshold of 1 ms for ECT(1) alone: what waits for 2 ms is marked if it is of L4S, and the rest waits for CoDel.
    #[test]
    fn the_threshold_is_for_those_selected() {
        let selector = Selector::try_from("0x1/0x3".to_owned()).ok();
        for (selector, marks) in [(None, [false, true, true, true]), (selector, [false, true, false, false])] {
            let spec = FqCodelSpec {
                ce_threshold: Some(Span::from_ms(1)),
                ce_threshold_selector: selector,
                ..FqCodelSpec::default()
            };
            let (mut q, mut discarded) = (queue(&spec), Vec::new());
            for ecn in 0..4 {
                let item = Item { handle: ecn.into(), flow: ecn.into(), bytes: 1500, ecn, ..Item::default() };
                q.enqueue(Time::ZERO, item, &mut discarded);
            }
            let mut found = [false; 4];
            while let Some((item, marked)) = q.dequeue(Time::ZERO + Span::from_ms(2), &mut discarded) {
                found[item.handle as usize] = marked;
            }
            assert_eq!(found, marks);
        }
    }

    /// Each queue has a CoDel of its own: of two standing queues only the one that is late loses a packet, with ECN a mark.
    #[test]
    fn each_queue_has_its_controller() {
        for ecn in [0, 2] {
            let mut q = queue(&FqCodelSpec::default());
            let (mut picked, mut discarded) = ([0; 2], Vec::new());
            for us in (0..400_000).step_by(100) {
                let now = Time::ZERO + Span::from_us(us + 1_000_000);
                for (flow, delay_us) in [(0, 6000), (1, 2000)] {
                    let at = Time::ZERO + Span::from_us(us + 1_000_000 - delay_us);
                    let waiting = q.packets();
                    q.enqueue(now, Item { flow, bytes: 1500, ecn, at, ..Item::default() }, &mut discarded);
                    assert_eq!(q.packets(), waiting + 1);
                }
                while q.packets() > 6
                    && let Some((item, marked)) = q.dequeue(now, &mut discarded)
                {
                    picked[item.flow as usize] += u32::from(marked);
                }
                discarded.drain(..).for_each(|(item, _)| picked[item.flow as usize] += 1);
            }
            // Late from the first packet on: drops at 100, 200, 270.7, 328.4 and 378.4 ms.
            assert_eq!(picked, [5, 0], "{ecn}");
        }
    }
}
