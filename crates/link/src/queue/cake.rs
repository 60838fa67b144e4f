//! The core of CAKE (Hoiland-Jorgensen, Taht and Morton 2018; Linux sch_cake.c): queues of flows that take turns, each with
//! COBALT, behind a shaper.
//!
//! Flows are hashed to 1024 queues in sets of eight: a flow keeps the queue that has its tag, else takes the first of its set
//! from its own place on that nobody uses, and shares its place only when all eight are taken. The turns are those of
//! `part/flows.rs`, but that a queue found empty leaves the round at once, so that what comes next is sparse again; the control law in
//! `part/cobalt.rs`. When more than `limit` waits, the queue with most bytes loses its first packet.
//!
//! ```text
//! shaper:    next = max(next, arrival at an empty queue) + bytes / bandwidth; nothing leaves before next
//! target:    max(rtt / 20, 1.5 mtu_time),  interval = max(rtt + target - rtt / 20, 2 target),  mtu_time = 1514 B / bandwidth
//! quantum:   bandwidth in byte/s / 4096, 300 .. 1514 B; 1514 B without bandwidth
//! limit:     4 bandwidth rtt, 4 MB at least; never more than 10 240 packets of 1514 B
//! ```
//!
//! Names and defaults are those of tc-cake: no bandwidth, rtt 100 ms (so target 5 ms). ECN-capable packets are always marked.
//! Left out: tins of Diffserv (all traffic is best effort), fairness between hosts (it is between flows: `flows` of tc-cake),
//! the ACK filter, overheads and ATM framing (queues count frames), `ingress`, `autorate-ingress`, NAT, splitting of GSO.

use elephan_random::Stream;
use elephan_units::{InvalidParameter, Rate, Size, Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::part::MTU_BYTES;
use super::part::cobalt::{Cobalt, Pick, Tuning};
use super::part::flows::{FlowQueues, List};
use super::part::index::spread;
use super::{Answers, Discarded, Discipline, Item, Limit, Parameters, Verdict, positive};

const QUEUES: u32 = 1024;
const WAYS: u32 = 8;
/// Bounds of the limit (Linux sch_cake.c).
const LIMIT_LEAST_BYTES: u64 = 4 << 20;
const LIMIT_MOST_BYTES: u64 = 10_240 * MTU_BYTES as u64;
const QUANTUM_LEAST_BYTES: u64 = 300;

/// Parameters of `cake`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CakeSpec {
    /// Most that may wait in all queues (`memlimit` of tc-cake), in bytes ("2 MB"), packets ("100 p") or bandwidth-delay products
    /// ("1 bdp"); without it four times what `bandwidth` carries in `rtt`, 4 MiB at least and 15.5 MB at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<Size>,
    /// Rate of the shaper, in what queues count (without preamble and gap); without it the link's rate is the only limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bandwidth: Option<Rate>,
    /// Round-trip time of the usual traffic: the interval of CoDel; its target is a twentieth.
    #[schemars(extend("x-source" = "tc-cake"))]
    pub rtt: Span,
}

impl Default for CakeSpec {
    fn default() -> CakeSpec {
        CakeSpec { limit: None, bandwidth: None, rtt: Span::from_ms(100) }
    }
}

impl CakeSpec {
    fn tuning(&self) -> Tuning {
        let target = Span(self.rtt.0 / 20);
        let Some(bandwidth) = self.bandwidth else {
            return Tuning { target, interval: self.rtt, mtu_time: Span::ZERO };
        };
        let mtu_time = bandwidth.time_of(u64::from(MTU_BYTES));
        let stretched = target.max(Span(mtu_time.0.saturating_mul(3) / 2));
        let interval = Span(self.rtt.0.saturating_add(stretched.0 - target.0)).max(stretched.saturating_mul(2));
        Tuning { target: stretched, interval, mtu_time }
    }

    fn quantum_bytes(&self) -> u64 {
        let most = u64::from(MTU_BYTES);
        self.bandwidth.map_or(most, |rate| (rate.0 / 8 / 4096).clamp(QUANTUM_LEAST_BYTES, most))
    }

    fn limit(&self, bdp_bytes: u64) -> Limit {
        if self.limit.is_some() {
            return Limit::of(self.limit, bdp_bytes);
        }
        let bytes = self.bandwidth.map_or(u64::MAX, |rate| rate.bytes_in(self.rtt.saturating_mul(4)));
        Limit { bytes: bytes.clamp(LIMIT_LEAST_BYTES, LIMIT_MOST_BYTES), packets: u64::MAX }
    }
}

impl Parameters for CakeSpec {
    type Queue = Cake;

    fn answers(&self) -> Answers {
        Answers { is_random: true, ..Answers::default() }
    }

    fn build(&self, bdp_bytes: u64) -> Cake {
        Cake {
            limit: self.limit(bdp_bytes),
            tuning: self.tuning(),
            bandwidth: self.bandwidth,
            next: Time::ZERO,
            flows: FlowQueues::hashed(QUEUES, self.quantum_bytes()),
            tags: vec![0; QUEUES as usize],
            perturbation: 0,
            stream: Stream::new(0, "", ""),
        }
    }

    fn problem(&self) -> Option<InvalidParameter> {
        let no_rate = self.bandwidth.filter(|rate| rate.0 == 0);
        no_rate
            .map(|rate| InvalidParameter::new("bandwidth", format!("\"{rate}\": must be above zero")))
            .or_else(|| positive("rtt", self.rtt))
    }
}

/// The queues and the shaper.
#[derive(Clone, Debug)]
pub struct Cake {
    limit: Limit,
    tuning: Tuning,
    bandwidth: Option<Rate>,
    /// When the shaper lets the next packet leave.
    next: Time,
    flows: FlowQueues<Cobalt>,
    /// The hash of the flow that has, or had last, each queue.
    tags: Vec<u32>,
    perturbation: u64,
    stream: Stream,
}

impl Cake {
    /// Whether somebody uses a queue: it is in the round, or what happened to it is not forgotten.
    fn is_taken(&self, queue: u32, now: Time) -> bool {
        let q = self.flows.queue(queue);
        let mut state = q.state;
        q.list() != List::None || {
            state.rest(&self.tuning, now);
            !state.is_at_rest(now)
        }
    }

    /// The queue of a flow.
    fn queue_of(&mut self, flow: u32, now: Time) -> u32 {
        let hash = (spread(u64::from(flow) ^ self.perturbation) >> 32) as u32;
        let home = hash % QUEUES;
        if self.tags[home as usize] == hash {
            return home;
        }
        let set = home - home % WAYS;
        let ways = (0..WAYS).map(|i| set + (home + i) % WAYS);
        if let Some(own) = ways.clone().find(|&queue| self.tags[queue as usize] == hash) {
            return own;
        }
        let free = { ways }.find(|&queue| !self.is_taken(queue, now));
        if let Some(queue) = free {
            *self.flows.state_mut(queue) = Cobalt::default();
        }
        let queue = free.unwrap_or(home);
        self.tags[queue as usize] = hash;
        queue
    }
}

impl Discipline for Cake {
    fn enqueue(&mut self, now: Time, item: Item, discarded: &mut Discarded) -> Verdict {
        if self.flows.packets() == 0 {
            self.next = self.next.max(now);
        }
        let queue = self.queue_of(item.flow, now);
        if self.flows.queue(queue).packets() == 0 {
            let tuning = self.tuning;
            self.flows.state_mut(queue).rest(&tuning, now);
        }
        self.flows.push(queue, item);
        self.flows.join(queue, List::New, self.flows.quantum());
        let mut verdict = Verdict::Accepted;
        while self.limit.is_exceeded(self.flows.bytes(), self.flows.packets())
            && let Some(fattest) = self.flows.fattest()
            && let Some(lost) = self.flows.pop(fattest)
        {
            let tuning = self.tuning;
            self.flows.state_mut(fattest).overflow(&tuning, now);
            if lost.handle == item.handle {
                verdict = Verdict::Dropped("queue_full");
            } else {
                discarded.push((lost, "queue_full"));
            }
        }
        verdict
    }

    fn dequeue(&mut self, now: Time, discarded: &mut Discarded) -> Option<(Item, bool)> {
        if now < self.next {
            return None;
        }
        loop {
            let queue = self.flows.turn()?;
            let Some(item) = self.flows.pop(queue) else {
                self.flows.leave(queue);
                continue;
            };
            let last = self.flows.queue(queue).packets() == 0;
            let pick = self.flows.state_mut(queue).pick(&self.tuning, now, &item, &mut self.stream);
            if let Pick::IsDropped(reason) = pick
                && !last
            {
                discarded.push((item, reason));
                continue;
            }
            self.flows.charge(queue, item.bytes);
            if let Some(bandwidth) = self.bandwidth {
                self.next = self.next.saturating_add(bandwidth.time_of(u64::from(item.bytes)));
            }
            return Some((item, pick == Pick::IsMarked));
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

    fn ready_at(&self) -> Time {
        if self.flows.packets() > 0 { self.next } else { Time::NEVER }
    }

    fn set_stream(&mut self, mut stream: Stream) {
        self.perturbation = stream.next_u64();
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

    fn queue(spec: &CakeSpec) -> Cake {
        let mut q = spec.build(0);
        q.set_stream(Stream::new(1, "test", "queue"));
        q
    }

    fn offer(q: &mut Cake, now: Time, flow: u32, handle: u32) -> (Verdict, Discarded) {
        let mut discarded = Vec::new();
        let verdict = q.enqueue(now, Item { handle, flow, bytes: 1000, at: now, ..Item::default() }, &mut discarded);
        (verdict, discarded)
    }

    /// Linux sch_cake.c: without a rate 5 and 100 ms; at 1 Mb/s a full packet takes 12.112 ms, target 18.168, interval 100 + 13.168.
    #[test]
    fn parameters_follow_from_rate_and_rtt() {
        let tuning = CakeSpec::default().tuning();
        assert_eq!(
            (tuning.target, tuning.interval, tuning.mtu_time),
            (Span::from_ms(5), Span::from_ms(100), Span::ZERO)
        );
        let slow = CakeSpec { bandwidth: Some(Rate(1_000_000)), ..CakeSpec::default() };
        let tuning = slow.tuning();
        assert_eq!(tuning.mtu_time, Span::from_us(12_112));
        assert_eq!((tuning.target, tuning.interval), (Span::from_us(18_168), Span::from_us(113_168)));
        assert_eq!((slow.quantum_bytes(), slow.limit(0).bytes), (300, 4_194_304));
        // 20 Mb/s are 2.5 * 10^6 byte/s: 610 B; 100 Mb/s carry 5 MB in 400 ms, and 1 Gb/s more than may wait.
        let with = |mbps: u64| CakeSpec { bandwidth: Some(Rate(mbps * 1_000_000)), ..CakeSpec::default() };
        assert_eq!((with(20).quantum_bytes(), with(100).limit(0).bytes), (610, 5_000_000));
        assert_eq!((with(1000).quantum_bytes(), with(1000).limit(0).bytes), (1514, 15_503_360));
    }

    /// 1000 flows over 1024 queues: with sets of eight nearly none shares one, where a plain hash would leave 1024 (1 - e^(-1000/1024)) =
    /// 638 queues used. A set of 8 overflows when more than 8 of 1000 flows hash to it: the expected excess over 128 sets of
    /// Poisson(7.8) arrivals is 128 * 0.97 = 125 flows, so 875 are used, 8 at a time.
    #[test]
    fn sets_of_eight_keep_flows_apart() {
        let mut q = queue(&CakeSpec::default());
        for flow in 0..1000 {
            offer(&mut q, Time::ZERO, flow, flow);
        }
        let used = q.flows.listed();
        assert!((850..=900).contains(&used), "{used}");
        // A flow finds its queue again.
        for flow in 0..1000 {
            let queue = q.queue_of(flow, Time::ZERO);
            assert!(q.flows.queue(queue).packets() > 0);
        }
    }

    /// Eight flows at most share a set without sharing a queue; the ninth shares the queue of its own place.
    #[test]
    fn the_ninth_flow_of_a_set_shares() {
        let mut q = queue(&CakeSpec::default());
        let set_of = |q: &Cake, flow: u32| ((spread(u64::from(flow) ^ q.perturbation) >> 32) as u32 % QUEUES) / WAYS;
        let nine: Vec<u32> = (0..).filter(|&flow| set_of(&q, flow) == 0).take(9).collect();
        let mut queues: Vec<u32> = nine
            .iter()
            .map(|&flow| {
                offer(&mut q, Time::ZERO, flow, flow);
                q.queue_of(flow, Time::ZERO)
            })
            .collect();
        assert!(queues.iter().all(|&queue| queue < 8));
        queues.truncate(8);
        queues.sort_unstable();
        assert_eq!(queues, (0..8).collect::<Vec<u32>>());
        assert_eq!(q.flows.listed(), 8);
    }

    /// Linux cake_dequeue: a queue found empty leaves the round from either list. Each packet of a flow that sends one now and then goes before
    /// all that wait of the others; with FQ-CoDel's passage through the old list every second one would wait for a round.
    #[test]
    fn a_sparse_flow_stays_sparse() {
        let mut q = queue(&CakeSpec::default());
        let bulk = |q: &mut Cake| {
            for flow in 0..10 {
                offer(q, Time::ZERO, flow, flow);
            }
        };
        (0..20).for_each(|_| bulk(&mut q));
        (0..20).for_each(|_| assert!(q.dequeue(Time::ZERO, &mut Vec::new()).is_some()));
        for n in 100..106 {
            let item = Item { handle: n, flow: 99, bytes: 100, ..Item::default() };
            assert_eq!(q.enqueue(Time::ZERO, item, &mut Vec::new()), Verdict::Accepted);
            assert_eq!(q.dequeue(Time::ZERO, &mut Vec::new()).map(|(item, _)| item.handle), Some(n));
            assert!(q.dequeue(Time::ZERO, &mut Vec::new()).is_some_and(|(item, _)| item.flow < 10));
        }
    }

    /// 8 Mb/s: 1000 bytes a millisecond. A packet leaves at once, the next when the shaper says; idle time is not made up for.
    #[test]
    fn the_shaper() {
        let mut q = queue(&CakeSpec { bandwidth: Some(Rate(8_000_000)), ..CakeSpec::default() });
        let at_ms = |ms| Time::ZERO + Span::from_ms(ms);
        (0..3).for_each(|n| assert_eq!(offer(&mut q, at_ms(10), 1, n).0, Verdict::Accepted));
        assert!(q.dequeue(at_ms(10), &mut Vec::new()).is_some());
        assert_eq!((q.dequeue(at_ms(10), &mut Vec::new()), q.ready_at()), (None, at_ms(11)));
        assert!(q.dequeue(at_ms(11), &mut Vec::new()).is_some());
        assert!(q.dequeue(at_ms(12), &mut Vec::new()).is_some());
        assert_eq!(q.ready_at(), Time::NEVER);
        offer(&mut q, at_ms(100), 1, 9);
        assert!(q.dequeue(at_ms(100), &mut Vec::new()).is_some());
    }

    /// The fattest queue loses its first packet, one for each too many, and BLUE hears of it.
    #[test]
    fn the_fattest_queue_loses_its_head() {
        let mut q = queue(&CakeSpec { limit: Some(Size::Packets(4)), ..CakeSpec::default() });
        let now = Time::ZERO + Span::from_s(1);
        for (flow, handle) in [(1, 0), (1, 1), (1, 2), (2, 3)] {
            assert_eq!(offer(&mut q, now, flow, handle).0, Verdict::Accepted);
        }
        let (verdict, discarded) = offer(&mut q, now, 2, 4);
        assert_eq!(verdict, Verdict::Accepted);
        assert_eq!(discarded.iter().map(|(item, why)| (item.handle, *why)).collect::<Vec<_>>(), [(0, "queue_full")]);
        let fat = q.queue_of(1, now);
        assert!(!q.flows.queue(fat).state.is_at_rest(now));
    }

    /// A queue that is late loses packets, but never its last one.
    #[test]
    fn the_last_packet_is_not_dropped() {
        let mut q = queue(&CakeSpec::default());
        let at_ms = |ms| Time::ZERO + Span::from_ms(ms);
        let mut discarded = Vec::new();
        for n in 0..100 {
            offer(&mut q, at_ms(10 * n), 1, n as u32);
            assert!(q.dequeue(at_ms(10 * n + 9), &mut discarded).is_some());
        }
        assert!(discarded.is_empty());
        for n in 100..300 {
            while q.packets() < 3 {
                offer(&mut q, at_ms(10 * n), 1, n as u32);
            }
            q.dequeue(at_ms(10 * n + 9), &mut discarded);
        }
        assert!(discarded.len() > 10 && discarded.iter().all(|(_, why)| *why == "codel"), "{discarded:?}");
    }
}
