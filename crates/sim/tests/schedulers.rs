//! Schedulers in a network: what each flow gets of a link that cannot carry them all, and the endpoint that is told its fair
//! rate against processor sharing.

mod common;

use arrow_array::Int64Array;
use common::{Builder, run};
use elephan_link::{FlowControl, Framing, queue::QueueSpec};
use elephan_units::{Rate, Span, Time};
use serde_json::{Value, json};

/// UDP flows of 1000 bytes in 1028, each with its rate in Mbit/s, priority and weight, over one link of 10 Mbit/s with `queue`.
/// The rate at which each receives, in Mbit/s, its headers included.
fn udp(queue: Value, flows: &[(f64, u8, u16)]) -> Vec<f64> {
    let mut b = Builder::new(Span::from_s(20));
    let (left, right) = (b.switch(None, Span::ZERO, FlowControl::None), b.switch(None, Span::ZERO, FlowControl::None));
    let bottleneck = b.link(left, right, Rate(10_000_000), Span::from_ms(1), None);
    b.plan.links[bottleneck as usize].queue = serde_json::from_value(queue).unwrap();
    let options = b.options("rfc", json!({}));
    for &(load, priority, weight) in flows {
        let (from, to) = (b.host(), b.host());
        b.link(from, left, Rate(1_000_000_000), Span::from_us(10), None);
        b.link(right, to, Rate(1_000_000_000), Span::from_us(10), None);
        b.traffic(
            json!({ "kind": "cbr", "rate": format!("{load} Mbps"), "packet_size": "1000 B" }),
            &[(from, to)],
            options,
        );
        let entry = b.plan.traffic.last_mut().unwrap();
        (entry.priority, entry.weight) = (priority, weight);
    }
    b.plan.links.iter_mut().for_each(|link| link.framing = Framing::None);
    let (tables, _) = run(&b.plan, false);
    let flows = tables.iter().find(|table| table.name == "flows").unwrap();
    let delivered = flows.batches[0].column_by_name("delivered_bytes").unwrap();
    let delivered = delivered.as_any().downcast_ref::<Int64Array>().unwrap();
    delivered.iter().flatten().map(|bytes| bytes as f64 * 1.028 * 8.0 / 20.0 / 1e6).collect()
}

/// Offered 3, 20 and 20: max-min fair is 3, 3.5, 3.5; two that are not satisfied with weights 1 and 3 get 2.5 and 7.5.
#[test]
fn links_are_shared_max_min_fair_and_by_weight() {
    for kind in ["fq", "scfq", "drr"] {
        let queue = || json!({ "kind": kind, "limit": "100 p" });
        for (flow, expected) in
            udp(queue(), &[(3.0, 0, 1), (20.0, 0, 1), (20.0, 0, 1)]).into_iter().zip([3.0, 3.5, 3.5])
        {
            assert!((flow / expected - 1.0).abs() < 0.01, "{kind}: {flow} is not {expected}");
        }
        for (flow, expected) in udp(queue(), &[(20.0, 0, 1), (20.0, 0, 3)]).into_iter().zip([2.5, 7.5]) {
            assert!((flow / expected - 1.0).abs() < 0.01, "{kind}: {flow} is not {expected}");
        }
    }
}

/// Priority 7 gets all that it offers, 0 what is left; without priorities both lose alike.
#[test]
fn strict_priority() {
    let got = udp(json!({ "kind": "prio", "limit": "50 p" }), &[(6.0, 0, 1), (6.0, 7, 1)]);
    assert!((got[1] / 6.0 - 1.0).abs() < 0.01 && (got[0] / 4.0 - 1.0).abs() < 0.01, "{got:?}");
}

/// tbf lets 4 Mbit/s through on a link of 10.
#[test]
fn a_shaper_limits_the_rate() {
    let got = udp(json!({ "kind": "tbf", "rate": "4 Mbps", "burst": "10 KB", "limit": "50 p" }), &[(8.0, 0, 1)]);
    assert!((got[0] / 4.0 - 1.0).abs() < 0.01, "{got:?}");
}

/// PCP's reference (Anderson et al. 2006, figure 4): 40 Mbit/s, 100 pairs of 15 to 35 ms, 200 packets of 1250 bytes, Poisson.
/// Mean response in s from SYN to last byte, and packets dropped.
fn pcp_reference(load: f64, seconds: u64) -> (f64, f64) {
    let mut b = Builder::new(Span::from_s(seconds));
    let (left, right) = (b.switch(None, Span::ZERO, FlowControl::None), b.switch(None, Span::ZERO, FlowControl::None));
    let bottleneck = b.link(left, right, Rate(40_000_000), Span::from_ms(2), None);
    let queue: QueueSpec = serde_json::from_value(json!({ "kind": "fq" })).unwrap();
    b.plan.links[bottleneck as usize].queue = queue;
    let options = b.options(
        "rfc",
        json!({ "congestion_control": "explicit_rate", "mss": "1210 B", "timestamps": false, "scaled_syn_ack_window": true,
                "receive_window": "4 MiB", "send_buffer": "4 MiB" }),
    );
    let pairs: Vec<(u32, u32)> = (0..100)
        .map(|i| {
            let (from, to) = (b.host(), b.host());
            // Both access links of a pair alike: round-trip times 15.1 to 34.9 ms.
            let delay = Span::from_us(2750 + 25 + 50 * i);
            b.link(from, left, Rate(1_000_000_000), delay, None);
            b.link(right, to, Rate(1_000_000_000), delay, None);
            (from, to)
        })
        .collect();
    b.traffic(json!({ "kind": "transfers", "size": "242 KB", "arrivals_per_s": 20.0 * load }), &pairs, options);
    b.plan.links.iter_mut().for_each(|link| link.framing = Framing::None);
    b.plan.warmup = Time::ZERO + Span::from_s(10);
    let (_, summary) = run(&b.plan, false);
    (summary["fct"]["mean_s"].as_f64().unwrap(), summary["drops"].as_f64().unwrap())
}

/// Processor sharing needs S / (1 - load) + 1.5 RTT: S = 250 kB / 40 Mbit/s = 50 ms, RTT 25 ms. Within 10 %, without loss. A run
/// of 200 s has 1200 to 2400 transfers; their mean is known to about 3 % at 30 % and to 6 % at 60 %.
#[test]
fn told_its_fair_rate_a_transfer_takes_as_long_as_under_processor_sharing() {
    for (load, expected) in [(0.3, 0.1089), (0.6, 0.1625)] {
        let (mean, drops) = pcp_reference(load, 200);
        assert!((mean / expected - 1.0).abs() < 0.1, "{load}: {mean} s is not {expected} s");
        assert_eq!(drops, 0.0);
    }
}
