//! Any calls to a queue discipline of any parameters.

use std::collections::BTreeMap;

use elephan_link::queue::{Discipline, Item, Limit, Parameters, Queue, QueueSpec, Reads, Verdict};
use elephan_random::Stream;
use elephan_units::{Rate, Size, Span, Time};
use serde_json::Value as Json;

use super::input::Input;
use crate::draw::Draw;

/// Packets offered at most: the rest of a long input says nothing new.
const STEPS: u32 = 2_000;

/// Offers packets to a queue and asks it for them. Each packet leaves or is discarded once, the counts are those of what waits, no
/// more waits than the limit allows, and only ECN-capable packets are marked.
pub fn queue(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let Some((queue, limit)) = drawn(u64::from(input.u32())) else { return };
    let mut bench = Bench { queue, limit, inside: BTreeMap::new(), now: Time::ZERO, next: 0, paused: 0 };
    while !input.is_empty() && bench.next < STEPS {
        bench.step(&mut input);
    }
    bench.empty();
}

/// Returns a queue with parameters of this seed, and its limit if it has one of its own.
fn drawn(seed: u64) -> Option<(Queue, Option<Limit>)> {
    let json = Draw::new(elephan_scenario::schema(), seed).queue();
    let spec: QueueSpec = serde_json::from_value(json.clone()).ok()?;
    // What cannot be is refused before a run.
    elephan_scenario::queue("queue", spec.name(), rest_of(&json), BDP_BYTES).ok()?;
    let mut queue = spec.build(BDP_BYTES);
    queue.set_rate(Rate(10_000_000));
    queue.set_stream(Stream::new(seed, "fuzz", "queue"));
    let has_bands = spec.answers().reads.contains(&Reads::Priority);
    let size: Option<Size> = json.get("limit").and_then(|limit| serde_json::from_value(limit.clone()).ok());
    Some((queue, size.filter(|_| !has_bands).map(|size| Limit::of(Some(size), BDP_BYTES))))
}

const BDP_BYTES: u64 = 100_000;

fn rest_of(json: &Json) -> serde_json::Map<String, Json> {
    json.as_object()
        .into_iter()
        .flatten()
        .filter(|(key, _)| *key != "kind")
        .map(|(k, v)| (k.clone(), v.clone()))
        .collect()
}

struct Bench {
    queue: Queue,
    limit: Option<Limit>,
    /// Packets that wait, by handle.
    inside: BTreeMap<u32, Item>,
    now: Time,
    next: u32,
    /// Priorities that may not leave.
    paused: u8,
}

impl Bench {
    fn step(&mut self, input: &mut Input) {
        match input.below(16) {
            0..=6 => self.offer(input),
            7..=10 => drop(self.ask()),
            11 | 12 => self.now = self.now.saturating_add(Span(input.any_scale())),
            13 => {
                self.paused = input.u8();
                self.queue.set_paused(self.paused);
            }
            14 => {
                let mut discarded = Vec::new();
                self.queue.drain(self.now, input.u8(), "drained", &mut discarded);
                self.take_out(discarded);
            }
            _ => self.extract(input.u8()),
        }
        self.agrees();
    }

    fn offer(&mut self, input: &mut Input) {
        let (flow, ecn, weight) = (u32::from(input.u8() % 12), input.u8() % 4, 1 + u16::from(input.u8() % 4));
        let (priority, bytes) = (input.u8() % 8, 1 + u32::from(input.u16()) % 9_000);
        let item = Item { handle: self.next, flow, bytes, ecn, priority, weight, at: self.now };
        self.next += 1;
        let mut discarded = Vec::new();
        self.queue.on_arrival(self.now, bytes, priority, None);
        let passes = self.queue.packets() == 0 && self.queue.pass(priority, bytes);
        if passes {
            return;
        }
        let verdict = self.queue.enqueue(self.now, item, &mut discarded);
        match verdict {
            Verdict::Dropped(reason) => assert!(!reason.is_empty()),
            Verdict::Marked => assert!(ecn != 0, "marked without ECN"),
            Verdict::Accepted => {}
        }
        if !matches!(verdict, Verdict::Dropped(_)) {
            assert_eq!(self.inside.insert(item.handle, item), None);
        }
        self.take_out(discarded);
        if let Some(limit) = &self.limit {
            let (bytes, packets) = (self.queue.bytes(), self.queue.packets());
            assert!(
                bytes <= limit.bytes && packets <= limit.packets,
                "{bytes} B, {packets} p wait: more than {limit:?}"
            );
        }
    }

    /// Asks for the next packet; whether there was one.
    fn ask(&mut self) -> bool {
        let mut discarded = Vec::new();
        let answer = self.queue.dequeue(self.now, &mut discarded);
        if let Some((item, marked)) = answer {
            assert!(!marked || item.ecn != 0, "marked without ECN");
            assert_eq!(self.inside.remove(&item.handle), Some(item), "it was not inside, or has changed");
        }
        self.take_out(discarded);
        if answer.is_none() && self.queue.packets() > 0 && self.paused == 0 {
            let at = self.queue.ready_at();
            assert!(at > self.now && at < Time::NEVER, "packets wait for nothing");
        }
        answer.is_some()
    }

    fn extract(&mut self, flow: u8) {
        let items = self.queue.extract(&mut |item| item.flow == u32::from(flow % 12));
        for item in items {
            assert_eq!(self.inside.remove(&item.handle), Some(item), "it was not inside, or has changed");
        }
    }

    fn take_out(&mut self, discarded: Vec<(Item, &'static str)>) {
        for (item, reason) in discarded {
            assert!(!reason.is_empty());
            assert_eq!(self.inside.remove(&item.handle), Some(item), "it was not inside, or has changed");
        }
    }

    fn agrees(&self) {
        let bytes: u64 = self.inside.values().map(|item| u64::from(item.bytes)).sum();
        assert_eq!((self.queue.bytes(), self.queue.packets()), (bytes, self.inside.len() as u64));
    }

    /// Asks until nothing waits.
    fn empty(&mut self) {
        self.paused = 0;
        self.queue.set_paused(0);
        for _ in 0..4 * STEPS {
            if !self.ask() && self.queue.packets() > 0 {
                self.now = self.queue.ready_at();
            }
            self.agrees();
            if self.queue.packets() == 0 {
                return;
            }
        }
        panic!("{} packets never leave", self.queue.packets());
    }
}
