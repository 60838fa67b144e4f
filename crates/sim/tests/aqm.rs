//! Active queue management at a saturated link: delays stay where the discipline's target is while the link is busy, marks take
//! the place of drops, and every packet is accounted for whatever the discipline drops and when.

mod common;

use arrow_array::{Array, Float64Array, Int64Array};
use common::{Builder, run};
use elephan_link::FlowControl;
use elephan_link::queue::QueueSpec;
use elephan_units::{Rate, Span, Time};
use serde_json::{Value, json};

const RATE_BPS: u64 = 50_000_000;

/// Ten flows over one link of 50 Mbit/s with `queue`; round-trip times of 30 to 48 ms.
fn dumbbell(cc: &str, ecn: &str, queue: &Value, seconds: u64) -> Builder {
    let mut b = Builder::new(Span::from_s(seconds));
    let (left, right) = (b.switch(None, Span::ZERO, FlowControl::None), b.switch(None, Span::ZERO, FlowControl::None));
    let bottleneck = b.link(left, right, Rate(RATE_BPS), Span::from_ms(10), None);
    b.plan.links[bottleneck as usize].queue = spec(queue);
    let options = b.options(
        "linux",
        json!({ "congestion_control": cc, "ecn": ecn, "receive_window": "8 MiB", "send_buffer": "8 MiB" }),
    );
    for n in 0..10 {
        let (from, to) = (b.host(), b.host());
        b.link(from, left, Rate(1_000_000_000), Span::from_ms(5 + n), None);
        b.link(right, to, Rate(1_000_000_000), Span::from_us(10), None);
        b.traffic(json!({ "kind": "bulk" }), &[(from, to)], options);
    }
    b.plan.warmup = Time::ZERO + Span::from_s(seconds / 3);
    b
}

fn spec(queue: &Value) -> QueueSpec {
    serde_json::from_value(queue.clone()).unwrap()
}

fn of(summary: &Value, path: &str) -> f64 {
    summary.pointer(path).and_then(Value::as_f64).unwrap_or_else(|| panic!("no {path} in {summary}"))
}

/// Mean time in the bottleneck's queue in ms: what waits over what leaves (Little), a frame of 1518 charged bytes taking 1538.
fn delay_ms(summary: &Value) -> f64 {
    assert_eq!(summary["bottleneck"]["port"], "n0->n1", "{summary}");
    of(summary, "/bottleneck/queue_mean_bytes") / 1518.0 * 1538.0 * 8.0 / RATE_BPS as f64 * 1e3
}

/// Disciplines that hold a delay: the mean in ms that they may have.
fn held() -> Vec<(Value, [f64; 2])> {
    // PIE and PI2 regulate the mean: a third off the target of 15 ms at most. CoDel keeps the least delay of an interval at 5 ms,
    // so the mean lies above that, and below twice of it while windows halve one at a time.
    vec![
        (json!({ "kind": "codel" }), [2.5, 10.0]),
        (json!({ "kind": "fq_codel" }), [2.5, 10.0]),
        (json!({ "kind": "cake" }), [2.5, 10.0]),
        (json!({ "kind": "pie" }), [10.0, 20.0]),
        (json!({ "kind": "fq_pie" }), [5.0, 20.0]),
        (json!({ "kind": "pi2" }), [10.0, 20.0]),
        (json!({ "kind": "dualpi2" }), [10.0, 20.0]),
    ]
}

/// RFC 8289, 8290, 8033 and 9332: the delay of a standing queue is the target's while the link stays busy, where the same
/// flows fill a FIFO of 1000 packets.
#[test]
fn delays_are_near_their_targets() {
    let mut wrong = Vec::new();
    for cc in ["reno", "cubic"] {
        let (_, fifo) = run(&dumbbell(cc, "off", &json!({ "kind": "fifo", "limit": "1000 p" }), 30).plan, false);
        assert!(delay_ms(&fifo) > 100.0, "{fifo}");
        for (queue, [low, high]) in held() {
            let (_, summary) = run(&dumbbell(cc, "off", &queue, 30).plan, false);
            let (delay, utilisation) = (delay_ms(&summary), of(&summary, "/bottleneck/utilisation"));
            let line = format!("{cc} {queue}: {delay:.2} ms, {utilisation:.4}");
            println!("{line}");
            if !(low..high).contains(&delay) || utilisation < 0.95 {
                wrong.push(line);
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Drops and marks between 15 and 30 s, after slow start, of a run that is the same until 15 s; and its summary.
fn settled(ecn: &str, queue: &Value) -> ([f64; 2], Value) {
    let [half, whole] = [15, 30].map(|seconds| run(&dumbbell("reno", ecn, queue, seconds).plan, false).1);
    (["/drops", "/marks"].map(|count| of(&whole, count) - of(&half, count)), whole)
}

/// Lets a queue mark; DualPI2 and CAKE do so always.
fn mark(queue: &mut Value) {
    if !matches!(queue["kind"].as_str(), Some("dualpi2" | "cake")) {
        queue["ecn"] = true.into();
    }
}

/// With ECN-capable flows marks take the place of drops at the same delay: next to nothing is dropped.
#[test]
fn marks_take_the_place_of_drops() {
    let mut wrong = Vec::new();
    for (mut queue, [low, high]) in held() {
        mark(&mut queue);
        let ([lost, none], _) = settled("off", &queue);
        let ([drops, marks], summary) = settled("classic", &queue);
        let (delay, utilisation) = (delay_ms(&summary), of(&summary, "/bottleneck/utilisation"));
        let line = format!("{queue}: {lost} drops; {marks} marks, {drops} drops, {delay:.2} ms");
        println!("{line}");
        let few = none == 0.0 && drops <= 0.02 * marks && (0.5..2.0).contains(&(marks / lost));
        if !few || !(low..high).contains(&delay) || utilisation < 0.95 {
            wrong.push(line);
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Floyd 1993: RED holds the average queue between min and max, here 30 and 90 packets; BLUE (Feng et al. 2002) finds a
/// probability at which fewer packets are lost to a full queue, about half as many here (0.49 to 0.55 by the starts of the flows).
#[test]
fn red_holds_the_average_and_blue_the_losses() {
    let red =
        json!({ "kind": "red", "min": "30 p", "max": "90 p", "limit": "400 p", "gentle": true, "adaptive": true });
    let (_, summary) = run(&dumbbell("reno", "off", &red, 30).plan, false);
    let packets = of(&summary, "/bottleneck/queue_mean_bytes") / 1518.0;
    assert!((30.0..90.0).contains(&packets), "{packets}: {summary}");
    assert!(of(&summary, "/bottleneck/utilisation") > 0.95, "{summary}");
    let blue = json!({ "kind": "blue", "limit": "200 p", "ecn": true });
    let (_, marked) = run(&dumbbell("reno", "classic", &blue, 60).plan, false);
    let (_, lost) = run(&dumbbell("reno", "off", &json!({ "kind": "fifo", "limit": "200 p" }), 60).plan, false);
    assert!(of(&marked, "/drops") < 0.65 * of(&lost, "/drops"), "{marked} {lost}");
}

/// Of an overload of twice the link for 2 s nothing is left after 10 s without traffic: RED's average has decayed with the idle
/// time, and nothing of 10 % load is dropped. BLUE lowers its probability by 0.002 each 100 ms that the link falls idle, so that
/// what it had risen to, 0.4 at most (0.02 each 100 ms), is gone after 20 s of light load.
#[test]
fn an_idle_link_is_seen() {
    for (kind, forgiven) in [("red", 12), ("blue", 32)] {
        let mut b = Builder::new(Span::from_s(40));
        let (from, to) = (b.host(), b.host());
        let bottleneck = b.link(from, to, Rate(RATE_BPS), Span::from_ms(10), None);
        b.plan.links[bottleneck as usize].queue = spec(&json!({ "kind": kind, "limit": "100 p" }));
        let options = b.options("rfc", json!({}));
        for (rate, start, stop) in [("100 Mbps", 0, 2), ("5 Mbps", 12, 40)] {
            let kind = json!({ "kind": "cbr", "rate": rate, "packet_size": "1472 B", "gaps": "exponential" });
            b.traffic(kind, &[(from, to)], options);
            let entry = b.plan.traffic.last_mut().unwrap();
            entry.start = serde_json::from_value(json!(format!("{start} s"))).unwrap();
            entry.stop = Some(Time::ZERO + Span::from_s(stop));
        }
        b.plan.record.events = true;
        let (tables, _) = run(&b.plan, false);
        let events = &tables.iter().find(|t| t.name == "events").unwrap().batches[0];
        let times = events.column_by_name("time_ns").unwrap().as_any().downcast_ref::<Int64Array>().unwrap();
        let last = times.values().iter().max().map_or(0, |ns| ns / 1_000_000_000);
        assert!(times.len() > 1000 && last < forgiven, "{kind}: {} drops, the last in second {last}", times.len());
    }
}

/// RFC 9332 section 2.1: with k = 2 scalable and classic senders of the same round-trip time get about the same (here to
/// within a factor of two).
#[test]
fn scalable_and_classic_senders_share_alike() {
    let mut b = Builder::new(Span::from_s(40));
    let (left, right) = (b.switch(None, Span::ZERO, FlowControl::None), b.switch(None, Span::ZERO, FlowControl::None));
    let bottleneck = b.link(left, right, Rate(RATE_BPS), Span::from_ms(15), None);
    b.plan.links[bottleneck as usize].queue = spec(&json!({ "kind": "dualpi2", "any_ect": true }));
    for tcp in [
        json!({ "congestion_control": "dctcp", "ecn": "accurate" }),
        json!({ "congestion_control": "reno", "ecn": "off" }),
    ] {
        let options = b.options("linux", tcp);
        for _ in 0..3 {
            let (from, to) = (b.host(), b.host());
            b.link(from, left, Rate(1_000_000_000), Span::from_ms(1), None);
            b.link(right, to, Rate(1_000_000_000), Span::from_us(10), None);
            b.traffic(json!({ "kind": "bulk" }), &[(from, to)], options);
        }
    }
    b.plan.warmup = Time::ZERO + Span::from_s(10);
    let (tables, summary) = run(&b.plan, false);
    let flows = &tables.iter().find(|t| t.name == "flows").unwrap().batches[0];
    let column = |name: &str| flows.column_by_name(name).unwrap().as_any().downcast_ref::<Float64Array>().unwrap();
    let goodput: Vec<f64> = column("goodput_bps").iter().flatten().collect();
    let share = goodput[..3].iter().sum::<f64>() / goodput[3..].iter().sum::<f64>();
    assert!((0.5..2.0).contains(&share), "{goodput:?}");
    assert!(of(&summary, "/bottleneck/utilisation") > 0.98, "{summary}");
}

/// Whatever a discipline drops, at either end and from any flow: every packet is accounted for and Little's law holds exactly at
/// each port (the end of a run checks both). Flows with and without ECN, datagrams at more than the link's rate, a small
/// limit; and it does not matter how the other ports are computed.
#[test]
fn every_packet_is_accounted_for() {
    let kinds = ["codel", "red", "pie", "pi2", "dualpi2", "blue", "fq_codel", "fq_pie", "cake"];
    for kind in kinds {
        for (limit, marks) in [("20 p", false), ("200 KB", true)] {
            let mut queue = json!({ "kind": kind, "limit": limit });
            if marks {
                mark(&mut queue);
            }
            let plan = || {
                let mut b = dumbbell("cubic", "off", &queue, 6);
                let options = b.options("linux", json!({ "congestion_control": "dctcp", "ecn": "classic" }));
                let (from, to) = (b.host(), b.host());
                b.link(from, 0, Rate(1_000_000_000), Span::from_ms(1), None);
                b.link(1, to, Rate(1_000_000_000), Span::from_ms(1), None);
                b.traffic(json!({ "kind": "bulk" }), &[(from, to)], options);
                let burst = json!({ "kind": "cbr", "rate": "60 Mbps", "packet_size": "700 B", "gaps": "exponential" });
                b.traffic(burst, &[(from, to)], options);
                b.plan.traffic.last_mut().unwrap().stop = Some(Time::ZERO + Span::from_s(3));
                b.plan
            };
            // The two ways of other ports take different numbers of events to the same end.
            let without_events = |general| {
                let (_, mut summary) = run(&plan(), general);
                summary.as_object_mut().unwrap().remove("events");
                summary
            };
            let summary = without_events(false);
            assert!(of(&summary, "/drops") > 0.0 && of(&summary, "/goodput_bps") > 5e6, "{kind}: {summary}");
            assert_eq!(summary, without_events(true), "{kind}");
        }
    }
}
