//! What is answered against what is done.

use elephan_random::Stream;
use elephan_units::{Rate, Time};

use super::*;
use crate::queue::{Discipline, Item, Parameters, Verdict};

fn spec(text: &str) -> QueueSpec {
    serde_json::from_str(text).unwrap()
}

fn named(name: &str) -> QueueSpec {
    spec(&format!(r#"{{ "kind": "{name}" }}"#))
}

/// What a queue with this seed does to 40 000 packets of 200 flows that come twice as fast as they leave.
fn fates(spec: &QueueSpec, seed: u64) -> Vec<(u32, bool)> {
    let (mut queue, mut discarded, mut found) = (spec.build(100_000), Vec::new(), Vec::new());
    queue.set_rate(Rate(10_000_000));
    queue.set_stream(Stream::new(seed, "link", "queue"));
    for handle in 0..40_000u32 {
        let at = Time::from_seconds(f64::from(handle) * 6e-4);
        let item = Item { handle, flow: handle % 200, bytes: 1500, at, ..Item::default() };
        queue.on_arrival(at, 1538, 0, None);
        let refused = matches!(queue.enqueue(at, item, &mut discarded), Verdict::Dropped(_));
        found.extend(refused.then_some((handle, false)));
        if handle % 2 == 0
            && let Some((gone, _)) = queue.dequeue(at, &mut discarded)
        {
            found.push((gone.handle, true));
        }
        found.extend(discarded.drain(..).map(|(lost, _)| (lost.handle, false)));
    }
    found
}

/// Two seeds give two fates only of a discipline that says so. Hashes of CAKE's 1024 queues seldom matter to 200 flows.
#[test]
fn those_that_say_so_draw() {
    let mut seen = Vec::new();
    for (name, _) in QUEUES {
        let spec = named(name);
        let differs = (1..4).any(|seed| fates(&spec, seed) != fates(&spec, seed + 10));
        assert!(differs <= spec.answers().is_random, "{name} draws");
        seen.extend(differs.then_some(*name));
    }
    assert!(["red", "pie", "pi2", "sfq", "fq_pie"].iter().all(|name| seen.contains(name)), "{seen:?}");
    assert!(!named("drr").answers().is_random);
    assert!(spec(r#"{ "kind": "drr", "buckets": 16 }"#).answers().is_random);
}

/// A queue that drops only what finds it full drops nothing without a limit, however long packets wait.
#[test]
fn drop_tail_drops_at_its_limit_only() {
    for (name, _) in QUEUES {
        let Ok(spec) = serde_json::from_str::<QueueSpec>(&format!(r#"{{ "kind": "{name}", "limit": "1 GB" }}"#)) else {
            continue;
        };
        let dropped = fates(&spec, 1).iter().filter(|(_, sent)| !sent).count();
        assert!(dropped == 0 || !spec.answers().is_drop_tail, "{name}");
    }
}

#[test]
fn what_is_read_and_told() {
    let of = |reads| -> Vec<&str> {
        QUEUES.iter().map(|(name, _)| *name).filter(|name| named(name).answers().reads.contains(&reads)).collect()
    };
    assert_eq!(of(Reads::Weight), ["fq", "scfq", "drr"]);
    assert_eq!(of(Reads::Priority), ["prio", "ets", "wrr", "trim"]);
    let tells: Vec<&str> =
        QUEUES.iter().map(|(name, _)| *name).filter(|n| named(n).answers().tells.is_some()).collect();
    assert_eq!(tells, ["xcp", "fq"]);
    let inner = spec(r#"{ "kind": "ets", "classes": [{ "priorities": [3], "queue": { "kind": "red" } }] }"#).answers();
    assert_eq!((inner.is_random, inner.is_drop_tail, inner.reads), (true, false, vec![Reads::Priority]));
}

#[test]
fn titles_are_as_people_write_them() {
    let titles: Vec<&str> = ["codel", "pie", "red", "fq_codel", "dualpi2"].map(|name| title(name).unwrap()).into();
    assert_eq!(titles, ["CoDel", "PIE", "RED", "FQ-CoDel", "DualPI2"]);
    assert_eq!(title("queue_full"), None);
}
