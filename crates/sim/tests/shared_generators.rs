//! Generators that several flows have together: slots and uniform destinations, raw frames, rounds of answers.

mod common;

use arrow_array::{Array, ArrayRef, Float64Array, Int64Array, StringArray};
use common::{Builder, run};
use elephan_link::{FlowControl, Framing, queue::QueueSpec};
use elephan_record::Tables;
use elephan_units::{Rate, Span, Time};
use serde_json::{Value, json};

const GIGABIT: Rate = Rate(1_000_000_000);

/// Hosts around a switch; answers their numbers.
fn star(hosts: usize, rate: Rate, duration: Span) -> (Builder, Vec<u32>) {
    let mut b = Builder::new(duration);
    let s = b.switch(None, Span::ZERO, FlowControl::None);
    let hosts: Vec<u32> = (0..hosts).map(|_| b.host()).collect();
    for &host in &hosts {
        b.link(host, s, rate, Span::from_us(10), None);
    }
    (b, hosts)
}

fn all_to_all(hosts: &[u32]) -> Vec<(u32, u32)> {
    hosts.iter().flat_map(|&a| hosts.iter().filter(move |b| **b != a).map(move |&b| (a, b))).collect()
}

fn columns(tables: &Tables, table: &str, name: &str) -> Vec<ArrayRef> {
    let found = tables.iter().find(|t| t.name == table).unwrap();
    found.batches.iter().map(|batch| batch.column_by_name(name).unwrap().clone()).collect()
}

/// A column of whole numbers, -1 where it is null.
fn whole(tables: &Tables, table: &str, name: &str) -> Vec<i64> {
    let mut all = Vec::new();
    for column in columns(tables, table, name) {
        let column = column.as_any().downcast_ref::<Int64Array>().unwrap();
        all.extend((0..column.len()).map(|i| if column.is_null(i) { -1 } else { column.value(i) }));
    }
    all
}

fn texts(tables: &Tables, table: &str, name: &str) -> Vec<String> {
    let column = &columns(tables, table, name)[0];
    let column = column.as_any().downcast_ref::<StringArray>().unwrap();
    (0..column.len()).map(|i| column.value(i).to_owned()).collect()
}

fn windows() -> Value {
    json!({ "receive_window": "64240 B", "send_buffer": "64 KiB", "window_scaling": false, "timestamps": false })
}

fn study(destinations: &str) -> Value {
    json!({
        "kind": "messages", "size": "1460 B", "gap": { "bernoulli": 0.5 }, "destinations": destinations,
    })
}

/// Four hosts at half load for 50 ms: slots of 1538 B at 10 Gb/s are 1.2304 us, so each host has 40,637 of them and offers
/// 20,318 messages, deviation sqrt(n p q) = 101. Everything arrives, each of a host's connections has a third.
#[test]
fn uniform_messages() {
    let (mut b, hosts) = star(4, Rate(10_000_000_000), Span::from_ms(50));
    let options = b.options("rfc", windows());
    b.traffic(study("uniform"), &all_to_all(&hosts), options);
    let (tables, summary) = run(&b.plan, false);
    let flow = whole(&tables, "messages", "flow");
    let mut hits = [0f64; 12];
    flow.iter().for_each(|f| hits[*f as usize] += 1.0);
    for host in hits.chunks(3) {
        let sum: f64 = host.iter().sum();
        // One slot more or less at the ends, and 4 deviations.
        assert!((sum - 20_318.5).abs() < 4.0 * 101.0, "{sum}");
        let chi: f64 = host.iter().map(|h| (h - sum / 3.0).powi(2) / (sum / 3.0)).sum();
        // Two degrees of freedom: 13.8 at 0.1 %.
        assert!(chi < 13.8, "{hits:?}");
    }
    let enter = whole(&tables, "messages", "enter_ns");
    let exit = whole(&tables, "messages", "exit_ns");
    let late =
        enter.iter().zip(&exit).filter(|(_, exit)| **exit < 0).map(|(enter, _)| *enter).min().unwrap_or(i64::MAX);
    assert!(late > 49_000_000, "a message of {late} ns is not in");
    // Only full slots have messages, once the connections are open.
    let off = |t: &i64| (*t as f64 / 1230.4 - (*t as f64 / 1230.4).round()).abs();
    assert!(enter.iter().filter(|t| **t > 1_000_000).all(|t| off(t) < 0.002), "not on a slot");
    let delivered: i64 = whole(&tables, "flows", "delivered_bytes").iter().sum();
    let offered = hits.iter().sum::<f64>() * 1460.0;
    assert!((delivered as f64 / offered - 1.0).abs() < 0.01, "{delivered} of {offered}");
    assert_eq!(summary["drops"], 0);
}

/// A fifth host changes neither when a host sends nor how many messages it sends.
#[test]
fn a_further_host_shifts_no_times() {
    let times = |hosts: usize| -> Vec<i64> {
        let (mut b, hosts) = star(hosts, Rate(10_000_000_000), Span::from_ms(2));
        let options = b.options("rfc", windows());
        b.traffic(study("uniform"), &all_to_all(&hosts), options);
        let (tables, _) = run(&b.plan, false);
        let of_first: Vec<i64> = (0..hosts.len() as i64 - 1).collect();
        let flow = whole(&tables, "messages", "flow");
        let mut enter: Vec<i64> = whole(&tables, "messages", "enter_ns")
            .into_iter()
            .zip(flow)
            .filter(|(enter, flow)| *enter > 200_000 && of_first.contains(flow))
            .map(|(enter, _)| enter)
            .collect();
        enter.sort_unstable();
        enter
    };
    let four = times(4);
    assert!(four.len() > 500);
    assert_eq!(four, times(5));
}

/// A connection whose receiver's link takes a tenth of its messages blocks its own messages only: the other is untouched.
#[test]
fn a_full_connection_holds_up_no_other() {
    let (mut b, hosts) = star(3, GIGABIT, Span::from_ms(100));
    let slow = b.plan.links.iter().position(|l| l.to == hosts[1]).unwrap();
    b.plan.links[slow].rate = Rate(25_000_000);
    let options = b.options("rfc", windows());
    b.traffic(study("uniform"), &[(hosts[0], hosts[1]), (hosts[0], hosts[2])], options);
    let (tables, _) = run(&b.plan, false);
    let delivered = whole(&tables, "flows", "delivered_bytes");
    // 8128 slots of 12.304 us, a quarter of them for each: 2032 messages, deviation 39.
    let expected = 2032.0 * 1460.0;
    assert!((delivered[1] as f64 - expected).abs() < 4.0 * 39.0 * 1460.0 + 20.0 * 1460.0, "{delivered:?}");
    // 25 Mb/s for 100 ms are 203 packets of 1538 B.
    assert!((270_000..=296_500).contains(&delivered[0]), "{delivered:?}");
}

/// 1518 B take 12.304 us at 1 Gb/s: from 0 on 8128 frames in 100 ms, of which the last two are under way at the end. The first
/// link is busy all the time; frames of 64 B carry 46, 84 on the wire.
#[test]
fn raw_frames_at_line_rate() {
    let (mut b, hosts) = star(3, GIGABIT, Span::from_ms(100));
    let options = b.options("rfc", json!({}));
    b.traffic(json!({ "kind": "frames", "rate": "1 Gbps" }), &[(hosts[0], hosts[1])], options);
    b.traffic(json!({ "kind": "frames", "rate": "84 Mbps", "frame_size": "64 B" }), &[(hosts[2], hosts[0])], options);
    let (tables, summary) = run(&b.plan, false);
    assert_eq!(texts(&tables, "flows", "protocol"), ["ethernet", "ethernet"]);
    let (sent, received) = (whole(&tables, "flows", "data_segs_out"), whole(&tables, "flows", "data_segs_in"));
    // Frame k ends its way 2 x 12.304 + 20 us after it begins: 44.608 us.
    assert_eq!((sent[0], received[0]), (8128, 8124));
    assert_eq!(whole(&tables, "flows", "delivered_bytes")[0], 8124 * 1500);
    // One of 84 B every 8 us.
    assert_eq!(sent[1], 12_501);
    assert_eq!(whole(&tables, "flows", "delivered_bytes")[1], received[1] * 46);
    let utilisation = columns(&tables, "ports", "utilisation").remove(0);
    let utilisation = utilisation.as_any().downcast_ref::<Float64Array>().unwrap();
    assert!(utilisation.value(0) > 0.9999, "{}", utilisation.value(0));
    assert!((utilisation.value(4) - 0.084).abs() < 1e-4);
    assert_eq!(summary["drops"], 0);
}

/// Two hosts at 80 % of 1 Gb/s each to a third whose link takes 1 Gb/s: what is lost and what is in add up, and the link is full.
#[test]
fn frames_beyond_a_link_are_lost() {
    let (mut b, hosts) = star(3, GIGABIT, Span::from_ms(100));
    let limited: QueueSpec = serde_json::from_value(json!({ "kind": "fifo", "limit": "150 KB" })).unwrap();
    b.plan.links.iter_mut().filter(|l| l.to == hosts[2]).for_each(|l| l.queue = limited.clone());
    let options = b.options("rfc", json!({}));
    let bernoulli = json!({ "kind": "frames", "gap": { "bernoulli": 0.8 }, "destinations": "uniform" });
    b.traffic(bernoulli, &[(hosts[0], hosts[2]), (hosts[1], hosts[2])], options);
    b.plan.traffic[0].stop = Some(Time::ZERO + Span::from_ms(90));
    let (tables, summary) = run(&b.plan, false);
    let sum = |name: &str| whole(&tables, "flows", name).iter().sum::<i64>();
    let lost = sum("data_segs_out") - sum("data_segs_in");
    assert_eq!(Some(lost as u64), summary["drops"].as_u64());
    // 7314 slots of 12.304 us each in 90 ms; 5851 +- 34 frames a host.
    assert!((sum("data_segs_out") - 11_703).abs() < 4 * 49, "{}", sum("data_segs_out"));
    // While they send the link takes one frame a slot, and 98 of 1518 B wait at the end.
    assert!((sum("data_segs_in") - 7314 - 98).abs() < 20, "{}", sum("data_segs_in"));
}

/// Four answers of one segment of 1500 B at 1 Gb/s without framing, links of 10 us: 12 + 10 us to the switch, 4 x 12 us through
/// its port, 10 us: 80 us a round, and the next begins at once. In 20 ms about 249 after the handshakes of 40 + 20 us.
#[test]
fn rounds_that_wait_for_each_other() {
    let (mut b, hosts) = star(5, GIGABIT, Span::from_ms(20));
    b.plan.links.iter_mut().for_each(|l| l.framing = Framing::None);
    let options = b.options("rfc", windows());
    let pairs: Vec<(u32, u32)> = hosts[1..].iter().map(|&h| (h, hosts[0])).collect();
    b.traffic(json!({ "kind": "incast", "size": "1460 B" }), &pairs, options);
    let (tables, summary) = run(&b.plan, false);
    let rounds = &summary["round_time"];
    let us = |key: &str| rounds[key].as_f64().unwrap() * 1e6;
    assert!((us("min_s") - 80.0).abs() < 1e-6 && (us("p95_s") - 80.0).abs() < 0.1, "{rounds}");
    assert!((247..=249).contains(&rounds["count"].as_u64().unwrap()), "{rounds}");
    // Answers of a round enter together.
    let mut enter = whole(&tables, "messages", "enter_ns");
    enter.retain(|t| *t > 1_000_000);
    assert!(enter.chunks(4).take(200).all(|of| of.iter().all(|t| *t == of[0])));
}

/// By the clock every 50 us, faster than a round takes: rounds queue, each still counts from its own beginning. After 40 rounds
/// the connections close, everything is in.
#[test]
fn rounds_by_the_clock() {
    let (mut b, hosts) = star(5, GIGABIT, Span::from_ms(20));
    b.plan.links.iter_mut().for_each(|l| l.framing = Framing::None);
    let options = b.options("rfc", windows());
    let pairs: Vec<(u32, u32)> = hosts[1..].iter().map(|&h| (h, hosts[0])).collect();
    b.traffic(json!({ "kind": "incast", "size": "1460 B", "every": "40 us", "rounds": 40 }), &pairs, options);
    let (tables, summary) = run(&b.plan, false);
    assert_eq!(summary["round_time"]["count"], 40);
    assert_eq!(whole(&tables, "flows", "delivered_bytes"), [40 * 1460; 4]);
    assert!(whole(&tables, "flows", "end_ns").iter().all(|end| *end > 0));
    // 160 segments of 12 us are 1920 us; the last round began at 39 x 40 us.
    let longest = summary["round_time"]["max_s"].as_f64().unwrap() * 1e6;
    assert!((360.0..700.0).contains(&longest), "{longest}");
}
