//! Several shortest paths: flows and packets are spread over them.

mod common;

use arrow_array::Int64Array;
use common::{Builder, run};
use elephan_link::FlowControl;
use elephan_record::Tables;
use elephan_scenario::Ecmp;
use elephan_units::{Rate, Span, Time};
use serde_json::{Value, json};

/// Two leaves with `hosts` each under four spines, all links 10 Gb/s and 1 us; the ports from leaf 0 to the spines are 0, 2, 4
/// and 6. Answers the hosts of both leaves.
fn leaf_spine(hosts: usize, ecmp: Ecmp, delays: [Span; 4]) -> (Builder, Vec<u32>, Vec<u32>) {
    let mut b = Builder::new(Span::from_ms(20));
    b.plan.ecmp = ecmp;
    let leaves = [0, 1].map(|_| b.switch(None, Span::ZERO, FlowControl::None));
    let spines = [0; 4].map(|_| b.switch(None, Span::ZERO, FlowControl::None));
    for leaf in leaves {
        for (spine, delay) in spines.into_iter().zip(delays) {
            b.link(leaf, spine, Rate(10_000_000_000), delay, None);
        }
    }
    let below = leaves.map(|leaf| {
        let below: Vec<u32> = (0..hosts).map(|_| b.host()).collect();
        below.iter().for_each(|&host| {
            b.link(host, leaf, Rate(10_000_000_000), Span::from_us(1), None);
        });
        below
    });
    let [left, right] = below;
    (b, left, right)
}

const EVEN: [Span; 4] = [Span::from_us(1); 4];

fn column<'a, T: 'static>(tables: &'a Tables, table: &str, name: &str) -> &'a T {
    let table = tables.iter().find(|t| t.name == table).unwrap();
    table.batches[0].column_by_name(name).unwrap().as_any().downcast_ref::<T>().unwrap()
}

/// Packets that leaf 0 sent to each spine.
fn upward(tables: &Tables) -> [i64; 4] {
    let sent = column::<Int64Array>(tables, "ports", "tx_packets");
    [0, 2, 4, 6].map(|port| sent.value(port))
}

fn datagrams(b: &mut Builder, pairs: &[(u32, u32)]) {
    let options = b.options("rfc", json!({}));
    b.traffic(json!({ "kind": "cbr", "rate": "100 Mbps", "packet_size": "1000 B", "gaps": "fixed" }), pairs, options);
    b.plan.traffic[0].stop = Some(Time::ZERO + Span::from_ms(19));
}

/// Datagrams that came after one sent later, of a run that has lost none.
fn reordered(summary: &Value) -> u64 {
    assert_eq!(summary["drops"].as_u64(), Some(0), "{summary}");
    summary["reordered_datagrams"].as_u64().unwrap()
}

/// 64 streams, each as many packets, choose one of four paths: 16 are expected on each, with a standard deviation of 3.5;
/// a stream stays on its path, so nothing is reordered though the paths differ by a microsecond each.
#[test]
fn a_flow_stays_on_its_path() {
    let delays = [1, 2, 3, 4].map(Span::from_us);
    let (mut b, left, right) = leaf_spine(64, Ecmp::Flow, delays);
    let pairs: Vec<(u32, u32)> = left.into_iter().zip(right).collect();
    datagrams(&mut b, &pairs);
    let (tables, summary) = run(&b.plan, false);
    assert_eq!(reordered(&summary), 0);
    let sent = upward(&tables);
    let of_one = sent.iter().sum::<i64>() / 64;
    let streams = sent.map(|packets| packets as f64 / of_one as f64);
    assert!(streams.iter().all(|&n| (5.0..=27.0).contains(&n) && n.fract() == 0.0), "{streams:?}");
    assert!(streams.iter().any(|&n| n != 16.0), "no hash spreads 64 streams evenly by chance: {streams:?}");
}

/// One stream of some 230 packets at 100 Mb/s (a packet each 83 us) takes all four paths alike. Paths that differ by up to
/// 600 us reorder it.
#[test]
fn packets_of_one_flow_take_all_paths() {
    let delays = [1, 200, 400, 600].map(Span::from_us);
    let (mut b, left, right) = leaf_spine(1, Ecmp::Packet, delays);
    datagrams(&mut b, &[(left[0], right[0])]);
    let (tables, summary) = run(&b.plan, false);
    assert!(reordered(&summary) > 0);
    let sent = upward(&tables);
    let mean = sent.iter().sum::<i64>() as f64 / 4.0;
    // A binomial standard deviation of a quarter of n = 4 mean.
    let deviation = (mean * 0.75).sqrt();
    assert!(mean > 50.0 && sent.iter().all(|&n| (n as f64 - mean).abs() < 4.0 * deviation), "{sent:?}");
}

#[test]
fn without_it_all_take_the_first() {
    let (mut b, left, right) = leaf_spine(8, Ecmp::None, EVEN);
    let pairs: Vec<(u32, u32)> = left.into_iter().zip(right).collect();
    datagrams(&mut b, &pairs);
    let (tables, _) = run(&b.plan, false);
    let sent = upward(&tables);
    assert!(sent[0] > 0 && sent[1..] == [0, 0, 0], "{sent:?}");
}

/// TCP over all four spines at once, both ways, on both paths of the simulator: the same tables, whatever is fused.
#[test]
fn both_paths_of_the_simulator_agree() {
    for ecmp in [Ecmp::Flow, Ecmp::Packet, Ecmp::None] {
        let (mut b, left, right) = leaf_spine(6, ecmp, [1, 1, 2, 2].map(Span::from_us));
        let options = b.options("linux", json!({}));
        let pairs: Vec<(u32, u32)> = left.iter().copied().zip(right.iter().copied().rev()).collect();
        b.traffic(json!({ "kind": "bulk" }), &pairs, options);
        let back: Vec<(u32, u32)> = right.into_iter().zip(left).collect();
        b.traffic(json!({ "kind": "bulk" }), &back, options);
        b.plan.duration = Time::ZERO + Span::from_ms(5);
        let (fast, _) = run(&b.plan, false);
        let (general, _) = run(&b.plan, true);
        for (one, other) in fast.iter().zip(&general) {
            assert_eq!(one.batches, other.batches, "{} with {ecmp:?}", one.name);
        }
    }
}
