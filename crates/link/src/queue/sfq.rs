//! Stochastic fairness queueing (McKenney, INFOCOM 1990) as Linux's sch_sfq.c has it.
//!
//! Flows are hashed, with a perturbation, to 1024 buckets; up to 128 buckets that have packets stand in a round. A bucket whose
//! first packet comes joins the end of the round with an allotment of a quantum; the bucket whose turn it is sends while its
//! allotment is positive, then gets a quantum and goes to the end; an empty bucket leaves. At most 127 packets wait in all and
//! in one bucket. One too many is taken from the longest bucket, counted in packets: its last packet (or its first,
//! `head_drop`); if all have only one, it is that of the bucket whose turn is next.
//!
//! With `perturb` the hash changes so often, and what waits is sorted anew, queue after queue in the order of the round. The
//! first perturbation is a random word of the run. Defaults are those of `tc` (limit 127 p, quantum one MTU, divisor 1024,
//! depth 127, flows 128, no perturbation). Left out: `redflowlimit` (RED in each bucket), the units of eight bytes in which
//! newer kernels count the allotment, filters; the hash is not Linux's.

use elephan_random::Stream;
use elephan_units::{Bytes, Size, Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::part::flows::{FlowQueue, FlowQueues, List};
use super::part::some_bytes;
use super::{Answers, Discarded, Discipline, Item, Limit, Parameters, Verdict, is_ect};

/// Parameters of `sfq`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SfqSpec {
    /// Most that may wait in all, in bytes ("2 MB"), packets ("100 p") or bandwidth-delay products ("1 bdp").
    #[schemars(extend("x-source" = "Linux sch_sfq.c: SFQ_DEPTH"))]
    pub limit: Size,
    /// An ECN-capable packet that finds more than this waiting is marked (step marking, as of `fifo`); without it nothing is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mark_above: Option<Size>,
    /// What a bucket may send each turn.
    #[serde(deserialize_with = "some_bytes")]
    #[schemars(extend("x-source" = "Linux tc-sfq: the MTU, with the Ethernet header"))]
    pub quantum: Bytes,
    /// Buckets to which flows are hashed.
    #[schemars(extend("x-source" = "Linux sch_sfq.c: SFQ_DEFAULT_HASH_DIVISOR"), range(min = 1, max = 65536))]
    pub buckets: u32,
    /// Buckets that may have packets at once.
    #[schemars(extend("x-source" = "Linux sch_sfq.c: SFQ_DEFAULT_FLOWS"), range(min = 1, max = 65407))]
    pub flows: u32,
    /// Packets that may wait in one bucket.
    #[schemars(extend("x-source" = "Linux sch_sfq.c: SFQ_MAX_DEPTH"), range(min = 1, max = 127))]
    pub depth: u32,
    /// Time after which the hash changes; without it never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub perturb: Option<Span>,
    /// The first packet of a bucket is dropped, not the last.
    pub head_drop: bool,
}

impl Default for SfqSpec {
    fn default() -> SfqSpec {
        SfqSpec {
            limit: Size::Packets(127),
            mark_above: None,
            quantum: Bytes(1514),
            buckets: 1024,
            flows: 128,
            depth: 127,
            perturb: None,
            head_drop: false,
        }
    }
}

impl Parameters for SfqSpec {
    type Queue = Sfq;

    fn answers(&self) -> Answers {
        Answers { is_random: true, ..Answers::default() }
    }

    fn build(&self, bdp_bytes: u64) -> Sfq {
        let period = self.perturb.filter(|&period| period > Span::ZERO);
        Sfq {
            flows: FlowQueues::hashed(self.buckets, self.quantum.0),
            limit: Limit::of(Some(self.limit), bdp_bytes),
            mark_above: Limit::of(self.mark_above, bdp_bytes),
            spec: self.clone(),
            stream: None,
            change: period.map_or(Time::NEVER, |period| Time::ZERO + period),
            moved: Vec::new(),
        }
    }
}

/// The buckets.
#[derive(Clone, Debug)]
pub struct Sfq {
    flows: FlowQueues<()>,
    limit: Limit,
    mark_above: Limit,
    spec: SfqSpec,
    stream: Option<Stream>,
    /// When the hash changes next.
    change: Time,
    moved: Vec<Item>,
}

impl Discipline for Sfq {
    fn enqueue(&mut self, now: Time, item: Item, discarded: &mut Discarded) -> Verdict {
        if now >= self.change {
            self.perturb(now, discarded);
        }
        let marked = is_ect(item.ecn) && self.mark_above.is_exceeded(self.flows.bytes(), self.flows.packets());
        if let Err(reason) = self.insert(item, discarded) {
            return Verdict::Dropped(reason);
        }
        let mut verdict = if marked { Verdict::Marked } else { Verdict::Accepted };
        while self.limit.is_exceeded(self.flows.bytes(), self.flows.packets())
            && let Some(dropped) = self.drop_one()
        {
            if dropped.handle == item.handle {
                verdict = Verdict::Dropped("queue_full");
            } else {
                discarded.push((dropped, "queue_full"));
            }
        }
        verdict
    }

    fn dequeue(&mut self, _now: Time, _discarded: &mut Discarded) -> Option<(Item, bool)> {
        let queue = self.flows.turn()?;
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

    fn set_limits(&mut self, limit: Option<Limit>, mark_above: Option<Limit>) {
        self.limit = limit.unwrap_or(self.limit);
        self.mark_above = mark_above.unwrap_or(self.mark_above);
    }

    fn set_stream(&mut self, mut stream: Stream) {
        self.flows.perturb(stream.next_u64());
        self.stream = Some(stream);
    }
}

impl Sfq {
    /// Puts a packet into its bucket, if that has room; with `head_drop` its first packet makes room.
    fn insert(&mut self, item: Item, discarded: &mut Discarded) -> Result<(), &'static str> {
        let queue = self.flows.queue_of(item.flow);
        let of_flow = self.flows.queue(queue);
        if of_flow.list() == List::None && self.flows.listed() >= self.spec.flows as usize {
            return Err("too_many_flows");
        }
        if of_flow.packets() >= u64::from(self.spec.depth) {
            if !self.spec.head_drop {
                return Err("queue_full");
            }
            discarded.extend(self.flows.pop(queue).map(|first| (first, "queue_full")));
        }
        self.flows.push(queue, item);
        self.flows.join(queue, List::Old, self.flows.quantum());
        Ok(())
    }

    /// Takes out one packet of the longest bucket.
    fn drop_one(&mut self) -> Option<Item> {
        let mut queue = self.flows.longest(FlowQueue::packets)?;
        if self.flows.queue(queue).packets() == 1 {
            queue = self.flows.front()?;
        }
        let item = if self.spec.head_drop { self.flows.pop(queue) } else { self.flows.pop_last(queue) };
        if self.flows.queue(queue).packets() == 0 {
            self.flows.retire(queue);
        }
        item
    }

    /// Another hash, and what waits is sorted by it.
    fn perturb(&mut self, now: Time, discarded: &mut Discarded) {
        let period = self.spec.perturb.unwrap_or(Span::MAX);
        let periods = now.since(self.change).0 / period.0 + 1;
        self.change = self.change.saturating_add(period.saturating_mul(periods));
        let Some(stream) = &mut self.stream else { return };
        self.flows.perturb(stream.next_u64());
        let mut moved = std::mem::take(&mut self.moved);
        self.flows.drain(&mut moved);
        for item in moved.drain(..) {
            if let Err(reason) = self.insert(item, discarded) {
                discarded.push((item, reason));
            }
        }
        self.moved = moved;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(handle: u32, flow: u32) -> Item {
        Item { handle, flow, bytes: 1514, ..Item::default() }
    }

    fn offer(q: &mut Sfq, item: Item) -> (Verdict, Vec<u32>) {
        let mut discarded = Vec::new();
        let verdict = q.enqueue(Time::ZERO, item, &mut discarded);
        (verdict, discarded.iter().map(|(item, _)| item.handle).collect())
    }

    fn sent(q: &mut Sfq) -> Vec<u32> {
        std::iter::from_fn(|| q.dequeue(Time::ZERO, &mut Vec::new())).map(|(item, _)| item.handle).collect()
    }

    /// Linux's defaults: 127 packets of one flow, not 128; and a second flow's packet pushes the first one's last out.
    #[test]
    fn the_limit_of_linux() {
        let mut q = SfqSpec::default().build(0);
        for n in 0..127 {
            assert_eq!(offer(&mut q, item(n, 0)), (Verdict::Accepted, vec![]));
        }
        assert_eq!(offer(&mut q, item(127, 0)), (Verdict::Dropped("queue_full"), vec![]));
        assert_eq!(offer(&mut q, item(128, 1)), (Verdict::Accepted, vec![126]));
        assert_eq!((q.packets(), q.bytes()), (127, 127 * 1514));
        assert_eq!(sent(&mut q)[..3], [0, 128, 1]);
    }

    /// With `head_drop` it is the first packet of the longest that goes, also for a flow's own sake.
    #[test]
    fn from_the_head() {
        let mut q = SfqSpec { limit: Size::Packets(4), depth: 3, head_drop: true, ..SfqSpec::default() }.build(0);
        assert_eq!((0..3).map(|n| offer(&mut q, item(n, 0)).1.len()).sum::<usize>(), 0);
        assert_eq!(offer(&mut q, item(3, 0)), (Verdict::Accepted, vec![0]));
        assert_eq!(offer(&mut q, item(4, 1)), (Verdict::Accepted, vec![]));
        assert_eq!(offer(&mut q, item(5, 1)), (Verdict::Accepted, vec![1]));
        assert_eq!(sent(&mut q), [2, 4, 3, 5]);
    }

    /// One packet in each of four buckets, and a fifth flow's comes: the bucket whose turn is next loses its packet.
    #[test]
    fn all_are_of_length_one() {
        let mut q = SfqSpec { limit: Size::Packets(4), ..SfqSpec::default() }.build(0);
        (0..4).for_each(|n| assert_eq!(offer(&mut q, item(n, n)).0, Verdict::Accepted));
        assert_eq!(offer(&mut q, item(4, 4)), (Verdict::Accepted, vec![0]));
        assert_eq!(sent(&mut q), [1, 2, 3, 4]);
    }

    /// More flows than slots: the packet of the one too many is dropped.
    #[test]
    fn no_more_flows_than_slots() {
        let mut q = SfqSpec { flows: 2, ..SfqSpec::default() }.build(0);
        let verdicts: Vec<Verdict> = (0..4).map(|n| offer(&mut q, item(n, n % 3)).0).collect();
        let (yes, no) = (Verdict::Accepted, Verdict::Dropped("too_many_flows"));
        assert_eq!(verdicts, [yes, yes, no, yes]);
    }

    /// The allotment may be overdrawn by a packet and is paid back: quantum 1514, packets of 1000 and 1514 bytes. Flow 0 sends
    /// two (1514 - 2000 = -486), then has 1028 and sends two more (-972), then 542: one.
    #[test]
    fn an_allotment_is_paid_back() {
        let mut q = SfqSpec::default().build(0);
        for n in 0..5 {
            offer(&mut q, Item { bytes: 1000, ..item(n, 0) });
            offer(&mut q, item(10 + n, 1));
        }
        assert_eq!(sent(&mut q), [0, 1, 10, 2, 3, 11, 4, 12, 13, 14]);
    }

    /// A perturbation loses nothing, keeps the order of a flow, and separates flows that collided: with two buckets and three
    /// flows any hash has a pair that collides, over 50 of them each pair does at times.
    #[test]
    fn perturbation() {
        let perturb = Some(Span::from_s(10));
        let mut q = SfqSpec { buckets: 2, perturb, ..SfqSpec::default() }.build(0);
        q.set_stream(Stream::new(1, "test", "queue"));
        let mut together = [0; 3];
        for round in 0..50 {
            let now = Time::ZERO + Span::from_s(10 * round);
            (0..9).for_each(|n| assert_eq!(q.enqueue(now, item(n, n % 3), &mut Vec::new()), Verdict::Accepted));
            let queues = [0, 1, 2].map(|flow| q.flows.queue_of(flow));
            for (pair, (a, b)) in [(0, 1), (0, 2), (1, 2)].into_iter().enumerate() {
                together[pair] += u32::from(queues[a] == queues[b]);
            }
            // Half of what waits is still there when the hash changes.
            let later = now + Span::from_s(10);
            let mut out: Vec<u32> =
                (0..4).filter_map(|_| q.dequeue(now, &mut Vec::new())).map(|(item, _)| item.handle).collect();
            assert_eq!(q.enqueue(later, item(9, 0), &mut Vec::new()), Verdict::Accepted);
            out.extend(sent(&mut q));
            for flow in 0..3 {
                let of_flow: Vec<u32> = out.iter().copied().filter(|handle| handle % 3 == flow).collect();
                let expected: Vec<u32> = (0..10).filter(|handle| handle % 3 == flow).collect();
                assert_eq!(of_flow, expected);
            }
        }
        assert!(together.iter().all(|&n| (5..45).contains(&n)), "{together:?}");
    }
}
