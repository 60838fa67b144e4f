//! Enhanced transmission selection (IEEE 802.1Qaz): strict classes first, the others share what is left of the link.
//!
//! ```text
//! strict:  first class of the list with packets;   shared: deficit round robin with quanta in the ratio of the percentages
//! ```
//!
//! A percentage is a minimum: what a class does not use goes to the others in the ratio of theirs. Classes without one share
//! what the others leave of 100 % alike. Each class has priorities of the traffic and a queue of its own; a priority that no
//! class names belongs to the last. Without `classes` each priority has its own and all share alike. The quantum of the least
//! class is a largest Ethernet frame; after each round of classes that always have packets each has been sent its quanta to
//! within one packet (`part/classes.rs`). A class with a paused priority (PFC) is paused whole: give a lossless priority a
//! class of its own. A class that is paused or empty loses its credit.
//!
//! Left out: shaped classes beside strict ones (802.1Qav; write a `tbf` as the class's queue), bandwidth within a class, `xcp`
//! as a class's queue. A class's queue is told the rate of the link, not of its share. The selection algorithm is the vendor's
//! in 802.1Qaz; deficit round robin is what Linux's sch_ets.c has.

use elephan_units::InvalidParameter;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::part::classes::{Classes, Cost, Member, PRIORITIES};
use super::{Answers, Parameters, QueueSpec};

/// Charged bytes of a largest Ethernet frame.
const LARGEST_FRAME_BYTES: i64 = 1518;

/// Parameters of `ets`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EtsSpec {
    /// The classes; the strict ones are served in this order. Without it each priority has a class of its own, and all share alike.
    #[schemars(length(max = 8), extend("x-source" = "IEEE 802.1Qaz"))]
    pub classes: Vec<EtsClass>,
}

/// One class of `ets`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EtsClass {
    /// IEEE 802.1Q priorities of the traffic that belong to it.
    #[schemars(length(min = 1, max = 8), inner(range(min = 0, max = 7)))]
    pub priorities: Vec<u8>,
    /// Served before all classes that are not strict, and before the strict ones after it.
    #[serde(default)]
    pub strict: bool,
    /// Least share of what strict classes leave, in per cent; without it an equal part of what the others leave of 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "f64", range(max = 100.0), extend("exclusiveMinimum" = 0.0))]
    pub percent: Option<f64>,
    /// Its queue; any kind but `ets`, `wrr` and `xcp`.
    #[serde(default)]
    pub queue: QueueSpec,
}

impl EtsSpec {
    /// A class for each priority, with a queue like this one each, that share alike.
    pub fn of_priorities(queue: &QueueSpec) -> EtsSpec {
        let class = |priority: usize| EtsClass {
            priorities: vec![priority as u8],
            strict: false,
            percent: None,
            queue: queue.clone(),
        };
        EtsSpec { classes: (0..PRIORITIES).map(class).collect() }
    }

    /// The percentages of the classes that share; the others' are none.
    fn percentages(&self) -> Vec<Option<f64>> {
        let shared = || self.classes.iter().filter(|c| !c.strict);
        let given: f64 = shared().filter_map(|c| c.percent).sum();
        let open = shared().filter(|c| c.percent.is_none()).count();
        let rest = (100.0 - given) / open.max(1) as f64;
        self.classes.iter().map(|c| (!c.strict).then(|| c.percent.unwrap_or(rest))).collect()
    }
}

/// The bits of these priorities.
pub fn mask(priorities: &[u8]) -> u8 {
    priorities.iter().fold(0, |mask, p| mask | 1 << (p & 7))
}

/// What the classes of `ets` and `wrr` cannot be: priorities twice, queues that have classes themselves.
pub(super) fn problem_of<'a>(classes: impl Iterator<Item = (&'a [u8], &'a QueueSpec)>) -> Option<InvalidParameter> {
    let mut seen = 0u8;
    for (i, (priorities, queue)) in classes.enumerate() {
        for &priority in priorities {
            if seen >> (priority & 7) & 1 == 1 {
                return Some(InvalidParameter::new("classes", format!("priority {priority} is listed twice")));
            }
            seen |= 1 << (priority & 7);
        }
        if !queue.answers().once_per_priority {
            return Some(InvalidParameter::new(
                "classes",
                format!("class {i}: its queue cannot be \"{}\"", queue.name()),
            ));
        }
        if let Some(invalid) = queue.problem() {
            return Some(InvalidParameter::new("classes", format!("class {i}: queue.{invalid}")));
        }
    }
    None
}

impl Parameters for EtsSpec {
    type Queue = Ets;

    fn answers(&self) -> Answers {
        Answers::of_classes(self.classes.iter().map(|class| &class.queue))
    }

    fn classes(&self) -> Vec<(u8, &QueueSpec)> {
        self.classes.iter().map(|class| (mask(&class.priorities), &class.queue)).collect()
    }

    fn build(&self, bdp_bytes: u64) -> Ets {
        if self.classes.is_empty() {
            return EtsSpec::of_priorities(&QueueSpec::default()).build(bdp_bytes);
        }
        let percentages = self.percentages();
        let least = percentages.iter().flatten().copied().fold(100.0, f64::min);
        let quantum = |percent: f64| (percent / least * LARGEST_FRAME_BYTES as f64).round().max(1.0) as i64;
        let members = self.classes.iter().zip(percentages).map(|(class, percent)| Member {
            mask: mask(&class.priorities),
            weight: percent.map(quantum),
            queue: class.queue.build(bdp_bytes),
        });
        Ets::new(Cost::Bytes, members)
    }

    fn problem(&self) -> Option<InvalidParameter> {
        let given: f64 = self.classes.iter().filter_map(|c| c.percent).sum();
        let open = self.classes.iter().any(|c| !c.strict && c.percent.is_none());
        if let Some(i) = self.classes.iter().position(|c| c.strict && c.percent.is_some()) {
            return Some(InvalidParameter::new(
                "classes",
                format!("class {i} is strict and has a percentage: one of both"),
            ));
        }
        if given > 100.0 {
            return Some(InvalidParameter::new(
                "classes",
                format!("the percentages are {given} % together, more than 100"),
            ));
        }
        if open && given >= 100.0 {
            return Some(InvalidParameter::new(
                "classes",
                "the percentages leave nothing of 100 for the class without one",
            ));
        }
        problem_of(self.classes.iter().map(|c| (c.priorities.as_slice(), &c.queue)))
    }
}

/// The classes with their queues.
pub type Ets = Classes;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::{CongestionHeader, Discipline, Item, RateRequest, Request, Verdict};
    use elephan_units::{Rate, Span, Time};
    use proptest::prelude::*;
    use serde_json::json;

    fn spec(json: serde_json::Value) -> EtsSpec {
        serde_json::from_value(json!({ "classes": json })).unwrap()
    }

    fn item(priority: u8, bytes: u32) -> Item {
        Item { priority, bytes, ..Item::default() }
    }

    fn offer(q: &mut Ets, priority: u8, bytes: u32) -> Verdict {
        q.enqueue(Time::ZERO, item(priority, bytes), &mut Vec::new())
    }

    fn next(q: &mut Ets) -> Option<Item> {
        q.dequeue(Time::ZERO, &mut Vec::new()).map(|(item, _)| item)
    }

    fn order(q: &mut Ets, packets: usize) -> Vec<u8> {
        (0..packets).filter_map(|_| next(q)).map(|item| item.priority).collect()
    }

    /// 7 before 6 before the rest, of which 3 may send two frames in its turn (60 % are twice 30 %) and the others one.
    #[test]
    fn strict_first_then_by_percentages() {
        let mut q = spec(json!([
            { "priorities": [7], "strict": true },
            { "priorities": [6], "strict": true },
            { "priorities": [3], "percent": 60 },
            { "priorities": [0, 1], "percent": 30 },
        ]))
        .build(0);
        for priority in [0, 1, 3, 3, 3, 3, 6, 7, 0, 5] {
            assert_eq!(offer(&mut q, priority, 1518), Verdict::Accepted);
        }
        // 5 is named by no class: it is the last one's.
        assert_eq!(order(&mut q, 10), [7, 6, 3, 3, 0, 3, 3, 1, 0, 5]);
        assert_eq!((next(&mut q), q.bytes(), q.packets()), (None, 0, 0));
    }

    /// Classes without a percentage share what the others leave: 50, 25 and 25.
    #[test]
    fn the_rest_is_shared_alike() {
        let spec = spec(json!([{ "priorities": [0], "percent": 50 }, { "priorities": [1] }, { "priorities": [2] }]));
        assert_eq!(spec.percentages(), [Some(50.0), Some(25.0), Some(25.0)]);
        let mut q = spec.build(0);
        (0..12).for_each(|i| assert_eq!(offer(&mut q, i % 3, 1518), Verdict::Accepted));
        assert_eq!(order(&mut q, 8), [0, 0, 1, 2, 0, 0, 1, 2]);
    }

    /// A paused class gets nothing and saves nothing up: after its pause the classes take turns as before. Without classes
    /// each priority has its own. A strict class that is paused lets the others pass.
    #[test]
    fn a_paused_class() {
        let mut q = EtsSpec::default().build(0);
        for _ in 0..10 {
            offer(&mut q, 0, 1518);
            offer(&mut q, 3, 1518);
        }
        assert_eq!(order(&mut q, 4), [0, 3, 0, 3]);
        q.set_paused(1 << 3);
        assert_eq!(order(&mut q, 4), [0; 4]);
        q.set_paused(0);
        assert_eq!(order(&mut q, 4), [3, 0, 3, 0]);
        q.set_paused(0xFF);
        assert_eq!((next(&mut q), q.packets()), (None, 8));
        let mut lost = Vec::new();
        q.drain(Time::ZERO, 1 << 3, "watchdog", &mut lost);
        assert_eq!((lost.len(), q.packets()), (6, 2));
        assert!(lost.iter().all(|(item, reason)| item.priority == 3 && *reason == "watchdog"));
        let mut q = spec(json!([{ "priorities": [7], "strict": true }, { "priorities": [0] }])).build(0);
        offer(&mut q, 7, 100);
        offer(&mut q, 0, 100);
        q.set_paused(1 << 7);
        assert_eq!(order(&mut q, 2), [0]);
    }

    /// Each class has its own queue with its own limit and marks.
    #[test]
    fn queues_of_their_own() {
        let mut q = spec(json!([
            { "priorities": [3], "queue": { "kind": "fifo", "mark_above": "1000 B" } },
            { "priorities": [0], "queue": { "kind": "fifo", "limit": "1 p" } },
        ]))
        .build(0);
        let ecn = |priority| Item { ecn: 2, ..item(priority, 1000) };
        let mut offer = |priority| q.enqueue(Time::ZERO, ecn(priority), &mut Vec::new());
        let full = Verdict::Dropped("queue_full");
        assert_eq!(
            [3, 3, 3, 0, 0].map(&mut offer),
            [Verdict::Accepted, Verdict::Accepted, Verdict::Marked, Verdict::Accepted, full]
        );
        assert_eq!(q.bytes(), 4000);
    }

    /// A class of priorities 2 and 3 loses what waits of 3; packets of any class can be taken out, in their order.
    #[test]
    fn taking_out() {
        let mut q = spec(json!([{ "priorities": [2, 3] }, { "priorities": [0] }])).build(0);
        for (handle, priority) in [(0, 3), (1, 2), (2, 0), (3, 3), (4, 0)] {
            q.enqueue(Time::ZERO, Item { handle, ..item(priority, 100) }, &mut Vec::new());
        }
        let mut lost = Vec::new();
        q.drain(Time::ZERO, 1 << 3, "watchdog", &mut lost);
        assert_eq!(lost.iter().map(|(item, _)| item.handle).collect::<Vec<_>>(), [0, 3]);
        let out = q.extract(&mut |item| item.priority == 0);
        assert_eq!(out.iter().map(|item| item.handle).collect::<Vec<_>>(), [2, 4]);
        assert_eq!((q.bytes(), q.packets(), q.part_of(2), q.part_of(0)), (100, 1, (0, 100), (1, 0)));
        assert_eq!((next(&mut q).map(|item| item.handle), next(&mut q)), (Some(1), None));
        assert_eq!((q.stopped_by(1 << 3), q.stopped_by(0)), (1 << 3 | 1 << 2, 0));
    }

    /// Fair queueing in a class hears of arrivals and departures: two flows of frames of the same 100 charged bytes, 84 and 1538
    /// on the wire. By wire bytes 18 of the short ones go for one of the long ones; by charged bytes they would take turns.
    #[test]
    fn a_class_hears_of_arrivals() {
        let mut q = spec(json!([{ "priorities": [3] }, { "priorities": [0], "queue": { "kind": "scfq" } }])).build(0);
        for (flow, wire) in [(1, 1538), (2, 84)] {
            for _ in 0..18 {
                q.on_arrival(Time::ZERO, wire, 0, None);
                q.enqueue(Time::ZERO, Item { flow, ..item(0, 100) }, &mut Vec::new());
            }
        }
        let flows: Vec<u32> = (0..19).filter_map(|_| next(&mut q)).map(|item| item.flow).collect();
        assert_eq!(flows.iter().filter(|flow| **flow == 2).count(), 18, "{flows:?}");
    }

    /// `fq` answers a sender that asks for a rate in the header: of two flows each gets half of the port.
    #[test]
    fn a_class_answers_requests() {
        let mut q = spec(json!([{ "priorities": [3] }, { "priorities": [0], "queue": { "kind": "fq" } }])).build(0);
        q.set_rate(Rate(10_000_000));
        let asked = RateRequest::new(Span::from_ms(20), 1000, false);
        let mut header = CongestionHeader { request: Request::Rate(asked), ..CongestionHeader::default() };
        for flow in [1, 2] {
            q.on_arrival(Time::ZERO, 1000, 0, Some(&header));
            q.enqueue(Time::ZERO, Item { flow, ..item(0, 1000) }, &mut Vec::new());
        }
        assert!(next(&mut q).is_some());
        q.on_departure(1000, &mut header);
        let Request::Rate(asked) = header.request else { unreachable!() };
        assert_eq!((asked.rate_bps, asked.queue_bytes), (5e6, 0.0));
    }

    #[test]
    fn what_cannot_be() {
        let problem = |json| spec(json).problem().map(|invalid| invalid.reason);
        let two = |a: f64, b: f64| json!([{ "priorities": [0], "percent": a }, { "priorities": [1], "percent": b }]);
        assert_eq!(problem(two(60.0, 40.0)), None);
        assert_eq!(problem(two(60.0, 50.0)).unwrap(), "the percentages are 110 % together, more than 100");
        let twice = json!([{ "priorities": [0, 3] }, { "priorities": [3] }]);
        assert_eq!(problem(twice).unwrap(), "priority 3 is listed twice");
        let nested = json!([{ "priorities": [0], "queue": { "kind": "ets" } }]);
        assert_eq!(problem(nested).unwrap(), "class 0: its queue cannot be \"ets\"");
    }

    proptest! {
        /// Work conserving: while a class that is not paused has packets, something is sent; nothing of a paused class ever is;
        /// and within a class packets leave as they came.
        #[test]
        fn work_conserving(steps in prop::collection::vec((0u8..8, 64u32..1519, any::<u8>(), 0usize..3), 1..200)) {
            let mut q = spec(json!([
                { "priorities": [7], "strict": true },
                { "priorities": [3], "percent": 70 },
                { "priorities": [2] },
                { "priorities": [0, 1, 4, 5, 6] },
            ])).build(0);
            let class = |p: u8| match p { 7 => 0, 3 => 1, 2 => 2, _ => 3 };
            let masks = [0x80u8, 0x08, 0x04, 0x73];
            let mut waiting: [std::collections::VecDeque<u32>; 4] = Default::default();
            for (n, (priority, bytes, paused, sends)) in steps.into_iter().enumerate() {
                q.enqueue(Time::ZERO, Item { handle: n as u32, ..item(priority, bytes) }, &mut Vec::new());
                waiting[class(priority)].push_back(n as u32);
                q.set_paused(paused);
                for _ in 0..sends {
                    let may = |c: usize| masks[c] & paused == 0 && !waiting[c].is_empty();
                    let able: Vec<usize> = (0..4).filter(|&c| may(c)).collect();
                    match next(&mut q) {
                        None => prop_assert!(able.is_empty()),
                        Some(sent) => {
                            let c = class(sent.priority);
                            prop_assert!(able.contains(&c) && (c == 0 || !able.contains(&0)));
                            prop_assert_eq!(waiting[c].pop_front(), Some(sent.handle));
                        }
                    }
                }
                prop_assert_eq!(q.packets(), waiting.iter().map(|w| w.len() as u64).sum::<u64>());
            }
        }

        /// Two classes that always have packets, of any sizes: whenever the turn passes from the second back to the first each
        /// has been sent rounds * quantum to within one packet (less than what a packet can overdraw).
        #[test]
        fn shares_within_a_packet(
            sizes in prop::collection::vec((64u32..=1518, 64u32..=1518), 400), percent in 10u32..=90, turns in 20usize..200,
        ) {
            let percents = [f64::from(percent), f64::from(100 - percent)];
            let mut q = spec(json!([
                { "priorities": [0], "percent": percents[0] },
                { "priorities": [1], "percent": percents[1] },
            ])).build(0);
            for (a, b) in sizes {
                offer(&mut q, 0, a);
                offer(&mut q, 1, b);
            }
            let least = percents[0].min(percents[1]);
            let quantum = percents.map(|p| (p / least * 1518.0).round() as i64);
            let (mut sent, mut rounds, mut last) = ([0i64; 2], 0, 0);
            for _ in 0..turns {
                let i = next(&mut q).unwrap();
                if i.priority == 0 && last == 1 {
                    rounds += 1;
                    for c in 0..2 {
                        let over = sent[c] - rounds * quantum[c];
                        prop_assert!((0..1518).contains(&over), "{c}: {over} after {rounds} rounds");
                    }
                }
                last = i.priority;
                sent[usize::from(i.priority)] += i64::from(i.bytes);
            }
        }
    }
}
