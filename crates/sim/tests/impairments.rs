//! Links that reorder, duplicate and delay at random.

mod common;

use arrow_array::{Array, Int64Array, StringArray};
use common::{Builder, run};
use elephan_link::{Concerned, FlowControl, Loss};
use elephan_record::Tables;
use elephan_scenario::Impairments;
use elephan_units::{Rate, Span, Time};
use proptest::prelude::*;
use serde_json::{Value, json};

fn impairments(of: Value) -> Impairments {
    let part = |key: &str| of.get(key).cloned().unwrap_or(Value::Null);
    Impairments {
        packets: Concerned::All,
        reorder: serde_json::from_value(part("reorder")).unwrap(),
        duplicate: part("duplicate").as_f64().unwrap_or(0.0),
        mark: serde_json::from_value(of.get("mark").cloned().unwrap_or(json!("none"))).unwrap(),
        jitter: serde_json::from_value(part("jitter")).unwrap(),
    }
}

/// Two hosts and a cable of 100 Mb/s and 10 ms with these impairments from the first to the second.
fn cable(duration: Span, of: Value) -> Builder {
    let mut b = Builder::new(duration);
    let (a, c) = (b.host(), b.host());
    b.link(a, c, Rate(100_000_000), Span::from_ms(10), None);
    b.plan.links[0].impairments = impairments(of);
    b
}

/// Datagrams every millisecond, the last of them in long before the end.
fn datagrams(b: &mut Builder, seconds: u64) {
    let options = b.options("rfc", json!({}));
    let kind = json!({ "kind": "cbr", "rate": "12.304 Mbps", "packet_size": "1472 B", "gaps": "fixed" });
    b.traffic(kind, &[(0, 1)], options);
    b.plan.traffic[0].stop = Some(Time::ZERO + Span::from_s(seconds));
}

fn column<'a, T: 'static>(tables: &'a Tables, table: &str, name: &str) -> &'a T {
    let table = tables.iter().find(|t| t.name == table).unwrap();
    table.batches[0].column_by_name(name).unwrap().as_any().downcast_ref::<T>().unwrap()
}

fn count(summary: &Value, key: &str) -> f64 {
    summary[key].as_u64().unwrap() as f64
}

/// Within five standard deviations of a binomial distribution.
fn binomial(found: f64, n: f64, p: f64) -> bool {
    (found - n * p).abs() <= 5.0 * (n * p * (1.0 - p)).sqrt()
}

/// A packet of a stream of one a millisecond that is held back by 2.5 ms is overtaken by two: all that are held back are
/// reordered, but those that are followed by two of their like.
#[test]
fn what_is_held_back_is_reordered() {
    let mut b = cable(Span::from_s(51), json!({ "reorder": { "share": 0.05, "extra": "2.5 ms" } }));
    datagrams(&mut b, 50);
    b.plan.record.events = true;
    let (tables, summary) = run(&b.plan, false);
    let sent = column::<Int64Array>(&tables, "flows", "segs_out").value(0) as f64;
    assert!((sent - 50_000.0).abs() < 2.0);
    let found = count(&summary, "reordered");
    assert!(binomial(found, sent, 0.05 * (1.0 - 0.05f64.powi(2))), "{found}");
    // The receiver sees the same.
    assert_eq!(count(&summary, "reordered_datagrams"), found);
    assert_eq!(column::<Int64Array>(&tables, "flows", "data_segs_in").value(0) as f64, sent);
    let kinds = column::<StringArray>(&tables, "events", "kind");
    assert_eq!(kinds.iter().flatten().filter(|&kind| kind == "reorder").count() as f64, found);
}

/// What is held back for less than the gap is late, but not reordered.
#[test]
fn a_short_hold_reorders_nothing() {
    let mut b = cable(Span::from_s(6), json!({ "reorder": { "share": 0.5, "extra": "900 us" } }));
    datagrams(&mut b, 5);
    let (_, summary) = run(&b.plan, false);
    assert_eq!((count(&summary, "reordered"), count(&summary, "reordered_datagrams")), (0.0, 0.0));
}

/// A share of the packets arrives twice, and every packet is accounted for.
#[test]
fn duplicates_arrive_twice() {
    let mut b = cable(Span::from_s(51), json!({ "duplicate": 0.1 }));
    datagrams(&mut b, 50);
    b.plan.links[0].loss = Loss::Periodic(4);
    b.plan.record.events = true;
    let (tables, summary) = run(&b.plan, false);
    let of = |name: &str| column::<Int64Array>(&tables, "flows", name).value(0) as f64;
    let (sent, received) = (of("segs_out"), of("data_segs_in"));
    let lost = column::<Int64Array>(&tables, "ports", "lost").value(0) as f64;
    let found = count(&summary, "duplicates");
    // One of four is lost, and what is lost is not duplicated.
    assert!((lost - sent / 4.0).abs() < 1.0 && binomial(found, sent - lost, 0.1), "{found} of {sent}");
    assert_eq!(received, sent - lost + found);
    assert_eq!(count(&summary, "reordered_datagrams"), 0.0);
    // The second takes no transmission.
    assert_eq!(column::<Int64Array>(&tables, "ports", "tx_packets").value(0) as f64, sent);
    let kinds = column::<StringArray>(&tables, "events", "kind");
    assert_eq!(kinds.iter().flatten().filter(|&kind| kind == "duplicate").count() as f64, found);
}

/// Of two packets a millisecond apart, with jitter uniform on [0, 2 ms], the later one comes first with probability 1/8: the
/// difference of the two delays is triangular, and the packet after that is never early enough. Kept in order, none is.
#[test]
fn free_jitter_reorders_and_kept_does_not() {
    for (order, low, high) in [("free", 0.1133, 0.1367), ("keep", 0.0, 0.0)] {
        let mut b =
            cable(Span::from_s(21), json!({ "jitter": { "extra": { "uniform": ["0 s", "2 ms"] }, "order": order } }));
        datagrams(&mut b, 20);
        let (_, summary) = run(&b.plan, false);
        let share = count(&summary, "reordered_datagrams") / 20_000.0;
        assert!((low..=high).contains(&share), "{order}: {share}");
    }
}

/// A window of one segment: each round trip waits for its own jitter, 4 ms on average, and the delayed ACK for none.
#[test]
fn jitter_has_its_mean() {
    for order in ["keep", "free"] {
        let jitter = json!({ "jitter": { "extra": { "exponential": "4 ms" }, "order": order } });
        let mut b = cable(Span::from_s(200), jitter);
        let tcp = json!({
            "timestamps": false, "delayed_ack_segments": 1, "window_scaling": false, "receive_window": "1460 B",
            "send_buffer": "1 MiB", "rto_min": "1 s",
        });
        let options = b.options("rfc", tcp);
        b.traffic(json!({ "kind": "bulk" }), &[(0, 1)], options);
        let (_, summary) = run(&b.plan, false);
        let rtt = 1460.0 * 8.0 / summary["goodput_bps"].as_f64().unwrap();
        let expected = 0.020 + (1538.0 + 84.0) * 8.0 / 100e6 + 0.004;
        // 8000 round trips: a standard error of 45 us.
        assert!((rtt - expected).abs() < 225e-6, "{order}: {rtt}");
    }
}

/// Of a stream with ECN the listed packets are marked, and each mark cuts the window once (RFC 3168 section 6.1.2). Packets that are
/// not ECN-capable pass unmarked.
#[test]
fn listed_packets_are_marked() {
    for (ecn, marks, cuts) in [("classic", 2, 2), ("off", 0, 0)] {
        let mut b = cable(Span::from_s(3), json!({ "mark": { "listed": [500, 5000] } }));
        let options = b.options("rfc", json!({ "ecn": ecn, "receive_window": "64 KB" }));
        b.traffic(json!({ "kind": "bulk" }), &[(0, 1)], options);
        let (tables, _) = run(&b.plan, false);
        assert_eq!(column::<Int64Array>(&tables, "ports", "marks").value(0), marks, "{ecn}");
        assert_eq!(column::<Int64Array>(&tables, "flows", "cong_signals").value(0), cuts, "{ecn}");
    }
}

/// Duplicated ACKs and data of every kind: SYN, FIN, the last ACK.
#[test]
fn short_connections_survive_duplicates_of_everything() {
    let mut b = cable(Span::from_s(10), json!({ "duplicate": 1.0 }));
    b.plan.links[1].impairments = impairments(json!({ "duplicate": 1.0 }));
    let options = b.options("rfc", json!({ "rto_min": "100 ms" }));
    let kind = json!({ "kind": "transfers", "size": "30 KB", "arrivals_per_s": 20.0, "gaps": "fixed" });
    b.traffic(kind, &[(0, 1)], options);
    b.plan.traffic[0].stop = Some(Time::ZERO + Span::from_s(8));
    let (tables, summary) = run(&b.plan, false);
    let delivered = column::<Int64Array>(&tables, "flows", "delivered_bytes");
    let ends = column::<Int64Array>(&tables, "flows", "end_ns");
    assert!(delivered.len() > 150 && delivered.iter().flatten().all(|bytes| bytes == 30_000), "{summary}");
    assert_eq!((ends.null_count(), summary["completed"].as_u64()), (0, Some(delivered.len() as u64)));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever a path does to packets, TCP delivers every byte once and in order (the end of a run checks it), also through
    /// a switch with shared memory, and a transfer is done.
    #[test]
    fn tcp_delivers_exactly(
        shares in (0.0f64..0.5, 0.0f64..0.5, 0.0f64..0.05),
        times in (0u64..5_000, 1u64..2_000),
        choice in (any::<bool>(), any::<bool>(), any::<bool>(), 0usize..3),
        seed in 0u64..1000,
    ) {
        let ((reorder, duplicate, loss), (extra, jitter), (both, memory, free, stack)) = (shares, times, choice);
        let of = impairments(json!({
            "reorder": { "share": reorder, "extra": { "uniform": ["0 s", format!("{} us", extra.max(1))] } },
            "duplicate": duplicate,
            "jitter": { "extra": { "exponential": format!("{jitter} us") }, "order": if free { "free" } else { "keep" } },
        }));
        let mut b = Builder::new(Span::from_s(60));
        b.plan.seed = seed;
        let control = FlowControl::None;
        let (a, s, c) = (b.host(), b.switch(memory.then_some(60_000), Span::from_us(3), control), b.host());
        b.link(a, s, Rate(1_000_000_000), Span::from_us(100), None);
        b.link(s, c, Rate(100_000_000), Span::from_ms(2), Some("40 p"));
        for link in if both { vec![0, 1, 2, 3] } else { vec![2] } {
            b.plan.links[link].impairments = of.clone();
        }
        b.plan.links[2].loss = Loss::Bernoulli(loss);
        let tcp = [json!({}), json!({ "sack": false }), json!({ "congestion_control": "bbr" })][stack].clone();
        let options = b.options(["rfc", "winxp", "rfc"][stack], tcp);
        b.traffic(json!({ "kind": "bulk", "size": "300 KB" }), &[(a, c), (a, c)], options);
        let (tables, summary) = run(&b.plan, false);
        let delivered = column::<Int64Array>(&tables, "flows", "delivered_bytes");
        // A stack that repeats a segment five times may give up where one in twenty is lost.
        let short = delivered.iter().flatten().filter(|&bytes| bytes != 300_000).count() as u64;
        prop_assert!(short <= summary["given_up"].as_u64().unwrap_or(0), "{}", summary);
        prop_assert_eq!(run(&b.plan, false).1, summary);
    }
}

/// A link concerns every packet: of the ACKs on its way back it loses the share that it is told, and a SYN too. With `packets = "data"`
/// it spares what carries no data.
#[test]
fn the_way_back_loses_acknowledgements() {
    for (packets, share) in [(Concerned::All, 0.3), (Concerned::Data, 0.0)] {
        let mut b = cable(Span::from_s(20), json!({}));
        let options = b.options("rfc", json!({ "delayed_ack_segments": 1 }));
        b.traffic(json!({ "kind": "bulk" }), &[(0, 1)], options);
        b.plan.links[1].loss = Loss::Bernoulli(0.3);
        b.plan.links[1].impairments.packets = packets;
        let (tables, _) = run(&b.plan, false);
        let of = |name: &str| column::<Int64Array>(&tables, "ports", name).value(1) as f64;
        let (sent, lost) = (of("tx_packets"), of("lost"));
        assert!(sent > 10_000.0 && binomial(lost, sent, share), "{lost} of {sent}, {packets:?}");
    }
}

/// Of the packets from 1 on the first is the SYN; with `packets = "data"` it is the first segment of data.
#[test]
fn a_listed_loss_counts_what_it_concerns() {
    for (packets, retransmitted) in [(Concerned::All, 0), (Concerned::Data, 1)] {
        let mut b = cable(Span::from_s(5), json!({}));
        let options = b.options("rfc", json!({}));
        b.traffic(json!({ "kind": "bulk", "size": "100 kB" }), &[(0, 1)], options);
        b.plan.links[0].loss = Loss::Listed(vec![1]);
        b.plan.links[0].impairments.packets = packets;
        let (tables, _) = run(&b.plan, false);
        let of = |name: &str| column::<Int64Array>(&tables, "flows", name).value(0);
        let lost = column::<Int64Array>(&tables, "ports", "lost").value(0);
        assert_eq!((lost, of("octets_retrans").min(1)), (1, retransmitted), "{packets:?}");
    }
}

/// Jitter, reordering and duplicates of data only leave acknowledgements alone: a way back that carries nothing else is as without.
#[test]
fn impairments_of_data_spare_acknowledgements() {
    let delivered = |of: Value, packets| {
        let mut b = cable(Span::from_s(2), json!({}));
        let options = b.options("rfc", json!({}));
        b.traffic(json!({ "kind": "bulk" }), &[(0, 1)], options);
        b.plan.links[1].impairments = Impairments { packets, ..impairments(of) };
        let (tables, summary) = run(&b.plan, false);
        let flow = column::<Int64Array>(&tables, "flows", "delivered_bytes").value(0);
        (flow, count(&summary, "duplicates"))
    };
    let of = json!({ "duplicate": 0.2, "jitter": { "extra": { "exponential": "5 ms" } } });
    let plain = delivered(json!({}), Concerned::All);
    assert_eq!(delivered(of.clone(), Concerned::Data), plain);
    assert!(delivered(of, Concerned::All).1 > 0.0);
}
