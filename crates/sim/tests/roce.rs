//! RoCE and its congestion controls in a network: what the papers of DCQCN, HPCC and TIMELY say, and go-back-N against its
//! closed form.

mod common;

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use common::{Builder, run};
use elephan_link::queue::QueueSpec;
use elephan_link::{FlowControl, Loss};
use elephan_record::Tables;
use elephan_roce::{Options, Recovery};
use elephan_scenario::{Change, LinkChange, Rdma};
use elephan_units::{Rate, Span, Time};
use serde_json::{Value, json};

const GBPS: u64 = 1_000_000_000;

/// Senders around a switch, all to one receiver: `rate` and 1 us everywhere, `queue` at every port.
fn star(senders: usize, rate: u64, queue: Value, duration: Span) -> (Builder, Vec<(u32, u32)>) {
    let mut b = Builder::new(duration);
    let switch = b.switch(None, Span::ZERO, FlowControl::None);
    let receiver = b.host();
    b.link(switch, receiver, Rate(rate), Span::from_us(1), None);
    let mut pairs = Vec::new();
    for _ in 0..senders {
        let sender = b.host();
        b.link(sender, switch, Rate(rate), Span::from_us(1), None);
        pairs.push((sender, receiver));
    }
    let queue: QueueSpec = serde_json::from_value(queue).unwrap();
    b.plan.links[0].queue = queue;
    (b, pairs)
}

/// An entry of traffic over RoCE.
fn roce(b: &mut Builder, kind: Value, pairs: &[(u32, u32)], cc: Value, options: Options) {
    let tcp = b.options("rfc", json!({}));
    b.traffic(kind, pairs, tcp);
    let entry = b.plan.traffic.last_mut().unwrap();
    entry.rdma = Some(Rdma::Roce(Arc::new(options)));
    entry.congestion_control = serde_json::from_value(cc).unwrap();
}

/// DCQCN's marking (Zhu et al. 2015, section 5: 5 kB, 200 kB, 1 %).
fn red(limit: &str) -> Value {
    json!({
        "kind": "red", "min": "5 kB", "max": "200 kB", "probability": 0.01, "weight": 1, "spaced": false,
        "ecn": true, "mark_only": true, "limit": limit,
    })
}

fn fifo() -> Value {
    json!({ "kind": "fifo", "limit": "16 MB" })
}

fn of(summary: &Value, path: &str) -> f64 {
    summary.pointer(path).and_then(Value::as_f64).unwrap_or_else(|| panic!("no {path} in {summary}"))
}

/// A column of the samples of flows.
fn column(tables: &Tables, name: &str) -> Vec<i64> {
    let table = tables.iter().find(|t| t.name == "flow_samples").unwrap();
    let column = |b: &RecordBatch| b.column_by_name(name).unwrap().as_primitive::<Int64Type>().values().to_vec();
    table.batches.iter().flat_map(column).collect()
}

/// Payload of each flow in each interval of the samples after `from_ms`, in bytes; a row for an interval.
fn shares(tables: &Tables, flows: usize, from_ms: i64) -> Vec<Vec<f64>> {
    let [time, flow, delivered] = ["time_ns", "flow", "delivered_bytes"].map(|name| column(tables, name));
    let mut before = vec![0; flows];
    let mut rows: Vec<Vec<f64>> = Vec::new();
    for ((&time, &flow), &bytes) in time.iter().zip(&flow).zip(&delivered) {
        let gained = bytes - std::mem::replace(&mut before[flow as usize], bytes);
        if time > from_ms * 1_000_000 {
            if flow == 0 {
                rows.push(Vec::new());
            }
            rows.last_mut().unwrap().push(gained as f64);
        }
    }
    rows
}

fn jain(values: &[f64]) -> f64 {
    let sum: f64 = values.iter().sum();
    sum * sum / (values.len() as f64 * values.iter().map(|v| v * v).sum::<f64>())
}

/// Four senders of bulk data for 40 ms, of which the second half counts.
fn four(cc: &str, rate: u64, queue: Value) -> (Tables, Value) {
    let (mut b, pairs) = star(4, rate, queue, Span::from_ms(40));
    roce(&mut b, json!({ "kind": "bulk" }), &pairs, json!(cc), Options::default());
    b.plan.warmup = Time::ZERO + Span::from_ms(20);
    b.plan.record.every = Some(Span::from_ms(2));
    run(&b.plan, false)
}

/// Zhu et al. 2015, figure 8: flows into one port share it alike, with little variance. The queue stays within what four senders
/// send at the line rate before the first notifications act, and later far below K_max.
#[test]
fn dcqcn_shares_a_port_alike() {
    let (tables, s) = four("dcqcn", 40 * GBPS, red("16 MB"));
    let rows = shares(&tables, 4, 20);
    assert!(rows.len() >= 9 && rows.iter().all(|row| jain(row) > 0.95), "{rows:?}");
    assert!(of(&s, "/jain") > 0.99 && of(&s, "/drops") == 0.0, "{s}");
    assert!(of(&s, "/bottleneck/utilisation") > 0.9, "{s}");
    assert!(of(&s, "/bottleneck/queue_mean_bytes") < 200_000.0, "{s}");
    assert!(of(&s, "/bottleneck/queue_max_bytes") < 2_000_000.0 && of(&s, "/marks") > 0.0, "{s}");
}

/// Li et al. 2019: the queue is nearly empty, a few packets, and the link is used to about eta = 0.95.
#[test]
fn hpcc_keeps_the_queue_empty() {
    let (_, s) = four("hpcc", 100 * GBPS, fifo());
    assert!((of(&s, "/bottleneck/utilisation") - 0.95).abs() < 0.03, "{s}");
    assert!(of(&s, "/bottleneck/queue_mean_bytes") < 3.0 * 1124.0, "{s}");
    assert!(of(&s, "/jain") > 0.95 && of(&s, "/drops") == 0.0, "{s}");
    // All that may be in the queue at first: four windows of the base round trip.
    let rtt = 4.0 * 1e-6 + (2.0 * 1124.0 + 2.0 * 128.0) * 8e-11;
    assert!(of(&s, "/bottleneck/queue_max_bytes") < 4.0 * rtt * 12.5e9, "{s}");
}

/// Li et al. 2019, DCQCN+win and TIMELY+win: a flow has at most its line rate times its base round trip in flight, and a packet more. So n
/// flows never have more than n times that in the queue, and one flow alone still fills the link. Without a window the start at the line
/// rate makes a longer queue.
#[test]
fn a_window_bounds_the_queue() {
    let (flows, packet) = (8, 1082.0);
    let rtt = 4.0 * 1e-6 + 2.0 * (packet + 86.0) * 8.0 / 10e9;
    let most = f64::from(flows) * (rtt * 10e9 / 8.0 + packet);
    for cc in ["dcqcn", "timely"] {
        let summary = |senders: usize, in_flight: &str| {
            let (mut b, pairs) = star(senders, 10 * GBPS, red("16 MB"), Span::from_ms(2));
            roce(
                &mut b,
                json!({ "kind": "bulk" }),
                &pairs,
                json!({ "kind": cc, "in_flight": in_flight }),
                Options::default(),
            );
            run(&b.plan, false).1
        };
        for in_flight in ["bdp", "rate"] {
            let s = summary(flows as usize, in_flight);
            assert!(of(&s, "/bottleneck/queue_max_bytes") <= most, "{cc} {in_flight} {most}: {s}");
            let alone = of(&summary(1, in_flight), "/bottleneck/utilisation");
            assert!(alone > 0.98, "{cc} {in_flight}: {alone}");
        }
        assert!(of(&summary(flows as usize, "unbounded"), "/bottleneck/queue_max_bytes") > 3.0 * most, "{cc}");
    }
}

/// Mittal et al. 2015: T_low, 50 us, and T_high, 500 us, bound the delay. Once the flows have found their rates the round-trip time never
/// passes T_high, and its peaks come to T_low. (Between the peaks it is shorter: what passes T_low is cut by the gradient, and
/// comes back by 10 Mb/s a segment.)
#[test]
fn timely_keeps_the_delay_within_its_thresholds() {
    let (mut b, pairs) = star(4, 10 * GBPS, fifo(), Span::from_ms(300));
    b.plan.links.iter_mut().for_each(|link| link.delay = Span::from_us(5));
    roce(&mut b, json!({ "kind": "bulk" }), &pairs, json!("timely"), Options::default());
    b.plan.warmup = Time::ZERO + Span::from_ms(150);
    b.plan.record.every = Some(Span::from_us(200));
    let (tables, s) = run(&b.plan, false);
    let (time, rtt) = (column(&tables, "time_ns"), column(&tables, "sample_rtt_ns"));
    let mut late: Vec<i64> = time.iter().zip(rtt).filter(|(t, _)| **t > 150_000_000).map(|(_, rtt)| rtt).collect();
    late.sort_unstable();
    let (p99, longest) = (late[late.len() * 99 / 100], late[late.len() - 1]);
    assert!((40_000..500_000).contains(&p99) && longest < 500_000, "{p99} {longest}");
    assert!(of(&s, "/bottleneck/utilisation") > 0.9 && of(&s, "/drops") == 0.0, "{s}");
}

/// DCTCP beside them, over TCP (RFC 8257): marks above 65 packets at 10 Gb/s keep the queue near them.
#[test]
fn dctcp_in_the_same_star() {
    let (mut b, pairs) =
        star(4, 10 * GBPS, json!({ "kind": "fifo", "limit": "16 MB", "mark_above": "65 p" }), Span::from_ms(40));
    let tcp = b.options("linux", json!({ "congestion_control": "dctcp", "ecn": "dctcp" }));
    b.traffic(json!({ "kind": "bulk" }), &pairs, tcp);
    b.plan.warmup = Time::ZERO + Span::from_ms(20);
    let (_, s) = run(&b.plan, false);
    assert!(of(&s, "/bottleneck/utilisation") > 0.95 && of(&s, "/jain") > 0.9 && of(&s, "/drops") == 0.0, "{s}");
    assert!((0.2..2.0).contains(&(of(&s, "/bottleneck/queue_mean_bytes") / (65.0 * 1518.0))), "{s}");
}

/// A link of 10 Gb/s and 50 us one way that loses a packet of data with probability p; nothing else holds the sender back. Packets
/// of 1082 bytes leave every s = 865.6 ns. The first loss of a packet is seen when the next is in, and the NAK (86 bytes, n = 68.8 ns)
/// is back 2 s + 2 x 50 us + n after the lost one left: the packet leaves again as the k-th after itself, k the next whole number. If
/// the next was lost too, that takes s longer, and so on: p / (1 - p) on average. A packet that is lost again is asked for again
/// 500 us after the last NAK: ceil(500 us / s) packets later. Per packet delivered, in units of s:
///
/// 1 + p (k + p / (1 - p)) + p^2 / (1 - p) ceil(500 us / s)
#[test]
fn go_back_n_loses_what_its_closed_form_says() {
    let s_us = 0.8656_f64;
    let k = ((2.0 * s_us + 100.0 + 0.0688) / s_us).ceil();
    let again = (500.0 / s_us).ceil();
    for (p, standard_errors) in [(0.001, 0.03), (0.005, 0.03), (0.02, 0.03)] {
        let mut b = Builder::new(Span::from_ms(300));
        let (from, to) = (b.host(), b.host());
        b.link(from, to, Rate(10 * GBPS), Span::from_us(50), None);
        b.plan.links[0].loss = Loss::Bernoulli(p);
        roce(&mut b, json!({ "kind": "bulk" }), &[(from, to)], json!("none"), Options::default());
        let (_, s) = run(&b.plan, false);
        let per_packet = 1.0 + p * (k + p / (1.0 - p)) + p * p / (1.0 - p) * again;
        let expected = 8000.0 / (s_us * 1e-6 * per_packet);
        let ratio = of(&s, "/goodput_bps") / expected;
        assert!((ratio - 1.0).abs() < standard_errors, "{p}: {ratio} of {expected} {s}");
        assert_eq!(of(&s, "/timeouts"), 0.0);
    }
}

/// Over the same link selective repeat sends each packet 1 / (1 - p) times, whatever the round trip: nothing is thrown away.
#[test]
fn selective_repeat_loses_what_the_link_loses() {
    for p in [0.001, 0.005, 0.02] {
        let mut b = Builder::new(Span::from_ms(300));
        let (from, to) = (b.host(), b.host());
        b.link(from, to, Rate(10 * GBPS), Span::from_us(50), None);
        b.plan.links[0].loss = Loss::Bernoulli(p);
        // A packet that is lost twice comes after a timeout.
        let options =
            Options { recovery: Recovery::SelectiveRepeat, timeout: Span::from_us(500), ..Options::default() };
        roce(&mut b, json!({ "kind": "bulk" }), &[(from, to)], json!("none"), options);
        let (_, s) = run(&b.plan, false);
        let expected = 8000.0 / 0.8656e-6 * (1.0 - p);
        let ratio = of(&s, "/goodput_bps") / expected;
        assert!((ratio - 1.0).abs() < 0.01, "{p}: {ratio} {s}");
    }
}

/// A message of 10 000 bytes alone takes its packets' transmission, the last one's over the second link too, and twice 1 us: 11 x 865.6 ns
/// + 2 us = 11.5216 us. Arrivals are 800 us apart on average, so the fastest met nobody; slowdown counts from that.
#[test]
fn transfers_users_and_messages() {
    let size = "10000 B";
    for (kind, fastest) in [
        (json!({ "kind": "transfers", "size": size, "load": "100 Mbps" }), "/fct/min_s"),
        (json!({ "kind": "users", "users": 2, "size": size, "think": { "exponential": "1 ms" } }), "/fct/min_s"),
        (json!({ "kind": "messages", "size": size, "load": "100 Mbps" }), "/message_latency/min_s"),
    ] {
        let (mut b, pairs) = star(1, 10 * GBPS, fifo(), Span::from_ms(50));
        roce(&mut b, kind, &pairs, json!("dcqcn"), Options::default());
        let (_, s) = run(&b.plan, false);
        assert!((of(&s, fastest) / 11.5216e-6 - 1.0).abs() < 1e-3, "{s}");
        if fastest.starts_with("/fct") {
            assert!((of(&s, "/slowdown/min") - 1.0).abs() < 1e-3 && of(&s, "/completed") > 30.0, "{s}");
        } else {
            assert!(of(&s, "/message_latency/count") > 30.0, "{s}");
        }
    }
}

/// A link that loses, duplicates, reorders and delays: what is completed was read whole (the run checks it), and nothing hangs.
#[test]
fn a_bad_link_loses_no_bytes() {
    let kinds = [Recovery::GoBackN, Recovery::SelectiveRepeat];
    let all =
        ["none", "dcqcn", "timely", "hpcc", "swift"].into_iter().flat_map(|cc| kinds.map(|recovery| (cc, recovery)));
    for (cc, recovery) in all {
        let (mut b, pairs) = star(2, 10 * GBPS, red("100 kB"), Span::from_ms(200));
        let size = json!({ "exponential": "20 kB" });
        let options = Options { ack_every: 3, recovery, ..Options::default() };
        roce(&mut b, json!({ "kind": "transfers", "size": size, "load": "50 Mbps", }), &pairs, json!(cc), options);
        b.plan.traffic[0].stop = Some(Time::ZERO + Span::from_ms(100));
        for link in &mut b.plan.links {
            link.loss = Loss::Bernoulli(0.005);
            link.impairments.duplicate = 0.01;
            link.impairments.reorder = serde_json::from_value(json!({ "share": 0.01, "extra": "5 us" })).unwrap();
        }
        let (_, s) = run(&b.plan, false);
        assert!(of(&s, "/flows") > 20.0 && of(&s, "/completed") == of(&s, "/flows"), "{cc} {s}");
        assert!(of(&s, "/retransmitted_segments") > 0.0 && of(&s, "/duplicates") > 0.0, "{cc} {s}");
    }
}

/// Two connections of a host take turns at its port, and a paced one leaves what it does not use to the other.
#[test]
fn connections_of_a_host_take_turns() {
    let (mut b, pairs) = star(1, 10 * GBPS, fifo(), Span::from_ms(5));
    roce(&mut b, json!({ "kind": "bulk" }), &[pairs[0]; 3], json!("none"), Options::default());
    let (_, s) = run(&b.plan, false);
    assert!(of(&s, "/jain") > 0.9999 && of(&s, "/bottleneck/utilisation") > 0.99, "{s}");
    assert!(of(&s, "/bottleneck/queue_max_bytes") < 3.0 * 1082.0, "{s}");
}

/// Two connections of one host under QCN, one to a port that falls to 1 Gb/s: what waits behind its limiter holds back itself only.
#[test]
fn a_limited_connection_holds_back_no_other() {
    let mut b = Builder::new(Span::from_ms(20));
    b.plan.congestion_management = serde_json::from_value(json!({ "kind": "qcn" })).unwrap();
    let switch = b.switch(None, Span::ZERO, FlowControl::None);
    let hosts: Vec<u32> = (0..3).map(|_| b.host()).collect();
    for (&host, rate) in hosts.iter().zip([10, 1, 10]) {
        b.link(host, switch, Rate(rate * GBPS), Span::from_us(1), None);
    }
    b.plan.warmup = Time::ZERO + Span::from_ms(10);
    for to in [1, 2] {
        roce(&mut b, json!({ "kind": "bulk" }), &[(hosts[0], hosts[to])], json!("none"), Options::default());
    }
    let (tables, s) = run(&b.plan, false);
    let goodput = goodputs(&tables);
    // 1000 of 1082 B; the limited one has at most its gigabit, the other what is left of ten.
    assert!(goodput[0] < 0.95e9 && goodput[1] > 7.5e9, "{goodput:?} {s}");
    assert_eq!(of(&s, "/drops"), 0.0);
}

fn goodputs(tables: &Tables) -> Vec<f64> {
    let flows = &tables.iter().find(|t| t.name == "flows").unwrap().batches[0];
    let goodput = flows.column_by_name("goodput_bps").unwrap();
    goodput.as_primitive::<arrow_array::types::Float64Type>().values().to_vec()
}

/// A host with two links to two switches that both lead to the receiver: when the first fails its connections go on over the other
/// interface, within what QCN leaves them of the 2 Gb/s there.
#[test]
fn a_connection_changes_its_interface() {
    let mut b = Builder::new(Span::from_ms(20));
    b.plan.reroute = Some(Span::from_ms(1));
    b.plan.congestion_management = serde_json::from_value(json!({ "kind": "qcn" })).unwrap();
    let [one, other] = [(); 2].map(|()| b.switch(None, Span::ZERO, FlowControl::None));
    let (sender, receiver) = (b.host(), b.host());
    let first = b.link(sender, one, Rate(10 * GBPS), Span::from_us(1), None);
    b.link(one, receiver, Rate(10 * GBPS), Span::from_us(1), None);
    let second = b.link(sender, other, Rate(10 * GBPS), Span::from_us(1), None);
    b.link(other, receiver, Rate(2 * GBPS), Span::from_us(1), None);
    roce(&mut b, json!({ "kind": "bulk" }), &[(sender, receiver); 2], json!("none"), Options::default());
    let down = |link| LinkChange { link, up: Some(false), ..LinkChange::default() };
    let at = Time::ZERO + Span::from_ms(5);
    b.plan.changes.push(Change { at, links: vec![down(first), down(first + 1)], congestion_controls: vec![] });
    b.plan.warmup = Time::ZERO + Span::from_ms(15);
    b.plan.record.every = Some(Span::from_us(100));
    let (tables, s) = run(&b.plan, false);
    let total: f64 = goodputs(&tables).iter().sum();
    assert!((1.0e9..1.9e9).contains(&total), "{total} {s}");
    // The switch of the detour tells the host, whose port there keeps one packet behind the limiter at most.
    assert!(of(&s, "/notifications_sent") > 0.0, "{s}");
    let ports = tables.iter().find(|t| t.name == "ports").unwrap();
    let most = ports.batches[0].column_by_name("queue_max_packets").unwrap().as_primitive::<Int64Type>().clone();
    assert!(most.value(second as usize) <= 2, "{most:?}");
}

/// An interface of 1 Gb/s becomes one of 10: its connection goes at the new line rate, 1000 of 1082 B; under TIMELY it grows beyond
/// the old one by steps of 10 Mb/s.
#[test]
fn a_sender_hears_of_another_line_rate() {
    let (mut b, pairs) = star(1, 10 * GBPS, fifo(), Span::from_ms(10));
    b.plan.links[2].rate = Rate(GBPS);
    let faster = LinkChange { link: 2, rate: Some(Rate(10 * GBPS)), ..LinkChange::default() };
    b.plan.changes.push(Change { at: Time::ZERO + Span::from_ms(3), links: vec![faster], congestion_controls: vec![] });
    b.plan.warmup = Time::ZERO + Span::from_ms(5);
    for (cc, least) in [("none", 8.3e9), ("dcqcn", 8.3e9), ("hpcc", 8.3e9), ("timely", 1.1e9)] {
        let mut b = Builder { plan: b.plan.clone() };
        roce(&mut b, json!({ "kind": "bulk" }), &pairs, json!(cc), Options::default());
        let goodput = goodputs(&run(&b.plan, false).0)[0];
        assert!(goodput > least, "{cc}: {goodput}");
    }
}
