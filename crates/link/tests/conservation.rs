//! What every queue discipline keeps, whatever it decides: each packet leaves once or is discarded once, the counts are those
//! of what is inside, and a queue that is not a shaper has something to send while something waits.

use std::collections::BTreeMap;

use elephan_link::queue::{Discipline, Item, Limit, Parameters, QUEUES, Queue, QueueSpec, Verdict};
use elephan_random::Stream;
use elephan_units::{Rate, Span, Time};
use proptest::prelude::*;
use serde_json::json;

#[derive(Clone, Copy, Debug)]
enum Step {
    Enqueue { flow: u32, bytes: u32, ecn: u8, priority: u8, weight: u16 },
    Dequeue,
    Wait { us: u64 },
}

fn step() -> impl Strategy<Value = Step> {
    let enqueue = (0u32..12, 40u32..=1514, 0u8..4, 0u8..8, 1u16..4)
        .prop_map(|(flow, bytes, ecn, priority, weight)| Step::Enqueue { flow, bytes, ecn, priority, weight });
    prop_oneof![5 => enqueue, 4 => Just(Step::Dequeue), 1 => (0u64..30_000).prop_map(|us| Step::Wait { us })]
}

/// A queue of this kind with its defaults, or with a small limit.
fn queue(kind: &str, limited: bool) -> Queue {
    let spec = |value| serde_json::from_value::<QueueSpec>(value);
    let spec = match spec(json!({ "kind": kind, "limit": "20 p" })) {
        Ok(spec) if limited => spec,
        _ => spec(json!({ "kind": kind })).unwrap(),
    };
    let mut queue = spec.build(100_000);
    queue.set_rate(Rate(10_000_000));
    queue.set_stream(Stream::new(1, "test", "queue"));
    queue
}

/// The packets that are inside, by handle.
#[derive(Default)]
struct Inside(BTreeMap<u32, Item>);

impl Inside {
    fn took_out(&mut self, item: Item) -> Result<(), TestCaseError> {
        prop_assert_eq!(self.0.remove(&item.handle), Some(item), "it was not inside, or has changed");
        Ok(())
    }

    fn agrees(&self, queue: &Queue) -> Result<(), TestCaseError> {
        let bytes: u64 = self.0.values().map(|item| u64::from(item.bytes)).sum();
        prop_assert_eq!((queue.bytes(), queue.packets()), (bytes, self.0.len() as u64));
        Ok(())
    }
}

fn run(kind: &str, limited: bool, steps: &[Step]) -> Result<(), TestCaseError> {
    let (mut queue, mut inside, mut now, mut discarded) = (queue(kind, limited), Inside::default(), Time::ZERO, vec![]);
    // After the steps everything is asked for.
    let rest = std::iter::repeat_n(Step::Dequeue, 2 * steps.len());
    for (n, step) in steps.iter().copied().chain(rest).enumerate() {
        match step {
            Step::Wait { us } => now += Span::from_us(us),
            Step::Enqueue { flow, bytes, ecn, priority, weight } => {
                let item = Item { handle: n as u32, flow, bytes, ecn, priority, weight, at: now };
                queue.on_arrival(now, bytes, 0, None);
                let verdict = queue.enqueue(now, item, &mut discarded);
                match verdict {
                    Verdict::Dropped(reason) => prop_assert!(!reason.is_empty()),
                    Verdict::Marked => prop_assert!(ecn != 0, "a packet that is not ECN-capable was marked"),
                    Verdict::Accepted => {}
                }
                if !matches!(verdict, Verdict::Dropped(_)) {
                    inside.0.insert(item.handle, item);
                }
            }
            Step::Dequeue => match queue.dequeue(now, &mut discarded) {
                Some((item, marked)) => {
                    prop_assert!(!marked || item.ecn != 0, "a packet that is not ECN-capable was marked");
                    inside.took_out(item)?;
                }
                None if queue.packets() > 0 => {
                    prop_assert!(queue.ready_at() > now && queue.ready_at() < Time::NEVER, "packets wait for nothing");
                    now = queue.ready_at();
                }
                None => {}
            },
        }
        for (item, reason) in discarded.drain(..) {
            prop_assert!(!reason.is_empty());
            inside.took_out(item)?;
        }
        inside.agrees(&queue)?;
    }
    prop_assert_eq!(queue.packets(), 0, "something never left");
    Ok(())
}

proptest! {
    #[test]
    fn every_kind_keeps_its_packets(steps in prop::collection::vec(step(), 1..250)) {
        for (kind, _) in QUEUES {
            for limited in [false, true] {
                run(kind, limited, &steps).map_err(|e| TestCaseError::fail(format!("{kind}: {e}")))?;
            }
        }
    }
}

/// Those that mark by a step: an ECN-capable packet that finds more than two waiting, whatever the limit is changed to.
#[test]
fn step_marking_where_there_is_one() {
    for kind in ["fifo", "sfq", "tbf"] {
        let spec = json!({ "kind": kind, "limit": "20 p", "mark_above": "2 p" });
        let mut queue = serde_json::from_value::<QueueSpec>(spec).unwrap().build(0);
        queue.set_limits(Some(Limit { bytes: u64::MAX, packets: 6 }), None);
        let mut offer = |ecn| {
            let item = Item { flow: 1, bytes: 1000, ecn, ..Item::default() };
            queue.enqueue(Time::ZERO, item, &mut Vec::new())
        };
        let verdicts = [2, 1, 2, 2, 0, 3].map(&mut offer);
        let [accepted, marked] = [Verdict::Accepted, Verdict::Marked];
        assert_eq!(verdicts, [accepted, accepted, accepted, marked, accepted, marked], "{kind}");
        assert!(matches!(offer(2), Verdict::Dropped(_)), "{kind}");
    }
}

/// Whatever the discipline, a limit of two packets from now on lets no third one wait.
#[test]
fn limits_can_change() {
    for (name, _) in QUEUES {
        let mut queue = queue(name, false);
        queue.set_limits(Some(Limit { bytes: u64::MAX, packets: 2 }), None);
        let mut discarded = Vec::new();
        for handle in 0..10 {
            let item = Item { handle, flow: 1, bytes: 1000, at: Time::ZERO, ..Item::default() };
            queue.on_arrival(Time::ZERO, 1000, 0, None);
            queue.enqueue(Time::ZERO, item, &mut discarded);
        }
        assert_eq!(queue.packets(), 2, "{name}");
    }
}
