//! Swift's second window: the delay of the end hosts, as packets bring it (Kumar et al. 2020, section 3.3).

mod common;

use arrow_array::{Array, Float64Array};
use common::{Builder, run};
use elephan_host::{Cpu, Receive};
use elephan_link::FlowControl;
use elephan_record::Tables;
use elephan_scenario::Plan;
use elephan_units::{Rate, Span, Time};
use serde_json::{Value, json};

const GIGABIT: Rate = Rate(1_000_000_000);

/// Senders of bulk data behind a switch, all to one receiver, 1 Gb/s and 5 us everywhere.
fn star(senders: usize, swift: Value) -> (Plan, u32) {
    let mut b = Builder::new(Span::from_ms(60));
    let (switch, receiver) = (b.switch(None, Span::ZERO, FlowControl::None), b.host());
    b.link(receiver, switch, GIGABIT, Span::from_us(5), None);
    let pairs: Vec<(u32, u32)> = (0..senders).map(|_| (b.host(), receiver)).collect();
    for &(sender, _) in &pairs {
        b.link(sender, switch, GIGABIT, Span::from_us(5), None);
    }
    let options = b.options("linux", json!({ "congestion_control": swift, "receive_window": "4 MiB" }));
    b.traffic(json!({ "kind": "bulk" }), &pairs, options);
    b.plan.warmup = Time::ZERO + Span::from_ms(20);
    (b.plan, receiver)
}

fn swift(endpoint_target: Option<&str>) -> Value {
    let mut words = json!({ "kind": "swift", "base_target": "80 us", "per_hop": "0 s", "fs_range": "0 s" });
    if let Some(target) = endpoint_target {
        words["endpoint_target"] = json!(target);
    }
    words
}

/// Mbit/s of all flows together.
fn goodput(tables: &Tables) -> f64 {
    let flows = &tables.iter().find(|t| t.name == "flows").unwrap().batches[0];
    let column = flows.column_by_name("goodput_bps").unwrap().as_any().downcast_ref::<Float64Array>().unwrap();
    (0..column.len()).map(|row| column.value(row)).sum::<f64>() / 1e6
}

/// A stack that takes 150 us at each end is beyond a target of 80 us: one window for all of the delay yields the link, a segment in flight
/// at most. With a window of its own it is within 400 us, and the fabric has no queue: the link is full.
#[test]
fn the_delay_of_a_stack_is_not_the_networks() {
    let rates: Vec<f64> = [None, Some("400 us"), Some("200 us")]
        .into_iter()
        .map(|target| {
            let (mut plan, _) = star(1, swift(target));
            for node in [1, 2] {
                let words = json!({ "delay": "150 us", "interrupts_per_s": 0 });
                plan.nodes[node].models.receive = Some(serde_json::from_value::<Receive>(words).unwrap());
            }
            goodput(&run(&plan, false).0)
        })
        .collect();
    // A round trip of 360 us with one segment carries 1448 B, 32 Mbit/s.
    assert!(rates[0] < 40.0, "{rates:?}");
    assert!(rates[1] > 900.0, "{rates:?}");
    assert!(rates[2] < 40.0, "300 us are above 200 us too: {rates:?}");
}

/// A processor of 20 us a packet takes 1448 B each, 579 Mbit/s, and is the bottleneck of four flows. They keep what waits for it at the target of
/// the end hosts, whichever that is, and the processor busy.
#[test]
fn flows_keep_a_slow_host_at_its_target() {
    for target_us in [200.0, 400.0] {
        let (mut plan, receiver) = star(4, swift(Some(&format!("{target_us} us"))));
        let models = &mut plan.nodes[receiver as usize].models;
        models.receive = Some(
            serde_json::from_value(json!({ "interrupts_per_s": 0, "backlog": "3000 p", "ring": "3000 p" })).unwrap(),
        );
        let costs =
            json!({ "transmit": "0 s", "interrupt": "0 s", "receive": "20 us", "ack": "0 s", "segment": "0 s" });
        models.cpu = Some(serde_json::from_value::<Cpu>(costs).unwrap());
        plan.record.every = Some(Span::from_us(500));
        plan.record.statistics = true;
        let (tables, summary) = run(&plan, false);
        let rate = goodput(&tables);
        assert!((rate - 579.0).abs() < 12.0, "{target_us} us: {rate} Mbit/s");
        let backlog = waits(&tables);
        let mean_us = backlog.iter().sum::<f64>() / backlog.len() as f64 * 20.0;
        assert!((mean_us / target_us - 1.0).abs() < 0.35, "{target_us} us: {mean_us} us wait, {summary}");
    }
}

/// Packets in the ring and the backlog of the receiver, in the samples of the second half.
fn waits(tables: &Tables) -> Vec<f64> {
    let samples = &tables.iter().find(|t| t.name == "host_samples").unwrap().batches[0];
    let column = |name: &str| {
        samples.column_by_name(name).unwrap().as_any().downcast_ref::<arrow_array::Int64Array>().unwrap().clone()
    };
    let (time, ring, backlog) = (column("time_ns"), column("ring_packets"), column("backlog_packets"));
    (0..time.len())
        .filter(|&row| time.value(row) > 30_000_000)
        .map(|row| (ring.value(row) + backlog.value(row)) as f64)
        .collect()
}
