//! What Anderson, Collins, Krishnamurthy and Zahorjan (NSDI 2006) say of PCP on their dumbbell of 40 Mbit/s and 25 ms: a lone
//! flow finds the rate in a few round trips and fills no queue, flows share, TCP beside it is not starved.

mod common;

use arrow_array::{Array, BooleanArray, Float64Array, Int64Array, StringArray};
use common::{Builder, run};
use elephan_cc::Spec;
use elephan_link::{FlowControl, Framing, Loss};
use elephan_record::Tables;
use elephan_scenario::{Change, CongestionControlChange, Impairments};
use elephan_units::{Rate, Span, Time};
use serde_json::{Value, json};

const RATE_BPS: u64 = 40_000_000;
/// One bandwidth-delay product of 25 ms.
const BUFFER: &str = "125 KB";
/// 200 packets of 1250 bytes, of which 40 are headers.
const TRANSFER_BYTES: u64 = 200 * PAYLOAD;
const PAYLOAD: u64 = 1210;

/// Pairs with these round-trip times in ms over 40 Mbit/s, packets of 1250 bytes without framing.
fn dumbbell(rtts_ms: &[u64], seconds: u64) -> (Builder, Vec<(u32, u32)>) {
    let mut b = Builder::new(Span::from_s(seconds));
    let (left, right) = (b.switch(None, Span::ZERO, FlowControl::None), b.switch(None, Span::ZERO, FlowControl::None));
    b.link(left, right, Rate(RATE_BPS), Span::ZERO, Some(BUFFER));
    let mut pairs = Vec::new();
    for &ms in rtts_ms {
        let (from, to) = (b.host(), b.host());
        b.link(from, left, Rate(100_000_000_000), Span::from_us(500 * ms), None);
        b.link(right, to, Rate(100_000_000_000), Span::ZERO, None);
        pairs.push((from, to));
    }
    for link in &mut b.plan.links {
        link.framing = Framing::None;
    }
    (b, pairs)
}

fn options(b: &mut Builder, cc: Value) -> u32 {
    let tcp = json!({ "mss": "1210 B", "timestamps": false, "congestion_control": cc, "receive_window": "16 MiB", "send_buffer": "16 MiB" });
    b.options("rfc", tcp)
}

fn column<'a, T: 'static>(tables: &'a Tables, table: &str, name: &str) -> &'a T {
    let table = tables.iter().find(|t| t.name == table).unwrap();
    table.batches[0].column_by_name(name).unwrap().as_any().downcast_ref::<T>().unwrap()
}

fn of(summary: &Value, path: &str) -> f64 {
    summary.pointer(path).and_then(Value::as_f64).unwrap_or_else(|| panic!("no {path} in {summary}"))
}

/// Transfers of these sizes, one every ten seconds: the samples of 0.1 ms, and milliseconds from SYN to the last byte of each.
fn transfers(cc: Value, bytes: &[u64]) -> (Tables, Vec<f64>) {
    let (mut b, pairs) = dumbbell(&[25], 10 * bytes.len() as u64);
    let options = options(&mut b, cc);
    for (n, bytes) in bytes.iter().enumerate() {
        b.traffic(json!({ "kind": "bulk", "size": format!("{bytes} B") }), &pairs, options);
        b.plan.traffic[n].start = serde_json::from_value(json!(format!("{} s", 10 * n))).unwrap();
    }
    b.plan.record.every = (bytes.len() == 1).then(|| Span::from_us(100));
    let (tables, summary) = run(&b.plan, false);
    assert_eq!(of(&summary, "/drops"), 0.0);
    let fct: Vec<f64> =
        column::<Int64Array>(&tables, "flows", "fct_ns").iter().map(|ns| ns.unwrap() as f64 / 1e6).collect();
    (tables, fct)
}

/// Without history: 0.8, 1.6, 3.2, 6.4 and 12.8 Mbit/s succeed 62.8, 100.7, 138.5, 170 and 198.5 ms after the SYN, 25.6 fails at
/// 226 ms, the rate is 24.8 Mbit/s and the last byte is there after 255 ms.
#[test]
fn a_lone_flow_doubles_its_probes() {
    let (tables, fct) = transfers(json!({ "kind": "pcp", "test": "hard" }), &[TRANSFER_BYTES]);
    let time = column::<Int64Array>(&tables, "flow_samples", "time_ns");
    let rate = column::<Float64Array>(&tables, "flow_samples", "pacing_bps");
    let mut steps: Vec<(f64, f64)> = Vec::new();
    for (at, rate) in time.iter().flatten().zip(rate.iter().flatten()) {
        let step = (at as f64 / 1e6, rate / 1e6);
        if step.1 > 0.1 && steps.last().is_none_or(|last| last.1 < step.1) {
            steps.push(step);
        }
    }
    let expected = [(62.8, 0.8), (100.7, 2.4), (138.5, 5.6), (170.0, 12.0), (198.5, 24.8)];
    assert_eq!(steps.len(), expected.len(), "{steps:?} {fct:?}");
    for (step, expected) in steps.iter().zip(expected) {
        assert!((step.0 - expected.0).abs() < 0.3 && (step.1 / expected.1 - 1.0).abs() < 0.002, "{steps:?} {fct:?}");
    }
    assert!((fct[0] - 255.0).abs() < 0.6, "{fct:?}");
    // The first failure ends the phase.
    let phase = column::<StringArray>(&tables, "flow_samples", "phase");
    let over = phase.iter().position(|phase| phase == Some("congestion_avoidance")).unwrap();
    let over_ms = time.value(over) as f64 / 1e6;
    assert!((over_ms - 226.0).abs() < 0.3, "{over_ms}");
}

/// B_max is the rate of the host's interface: with a test that all probes pass, and no reaction to queues, the rate is that of the first
/// link, 10 Mbit/s, and no more, from the start and where PCP takes over.
#[test]
fn no_rate_is_above_that_of_the_hosts_link() {
    for takes_over in [false, true] {
        let (mut b, pairs) = dumbbell(&[25], 3);
        b.plan.links[2].rate = Rate(10_000_000);
        let cc = json!({ "kind": "pcp", "test": "hard", "slope_max": 1.0, "compensation": false });
        let options = options(&mut b, if takes_over { json!("reno") } else { cc.clone() });
        b.traffic(json!({ "kind": "bulk" }), &pairs, options);
        if takes_over {
            let cc = serde_json::from_value(cc).unwrap();
            let change = CongestionControlChange { traffic: 0, congestion_control: cc };
            b.plan.changes.push(Change {
                at: Time::ZERO + Span::from_s(1),
                links: vec![],
                congestion_controls: vec![change],
            });
        }
        b.plan.record.every = Some(Span::from_ms(1));
        let (tables, _) = run(&b.plan, false);
        let rates = column::<Float64Array>(&tables, "flow_samples", "pacing_bps");
        let most = rates.iter().flatten().fold(0.0, f64::max);
        assert_eq!(most, 1e7, "{takes_over}");
    }
}

/// The rate that the first flow has left makes the second start with a third of it: 24.8 / 3 = 8.3, then 16.5 Mbit/s succeed
/// and bring 24.8 again; 33.1 fails. Two probes, then the rest at 24.8: 25 + 30.1 + 27.7 ms, 5 + 5 packets in trains and 23
/// between, 10 more in the trains of 33.1 and 16.5 that follow, 157 * 0.403 ms, 12.8 ms of path: 159 ms.
///
/// After a long flow, which leaves the link's rate, about 130 ms.
#[test]
fn history_shortens_the_start() {
    let cc = json!({ "kind": "pcp", "test": "hard" });
    let (_, fct) = transfers(cc.clone(), &[TRANSFER_BYTES, TRANSFER_BYTES]);
    assert!((fct[1] - 159.0).abs() < 1.0, "{fct:?}");
    let (_, fct) = transfers(cc, &[100 * TRANSFER_BYTES, TRANSFER_BYTES]);
    assert!((fct[1] - 130.0).abs() < 5.0, "{fct:?}");
    let (_, fct) =
        transfers(json!({ "kind": "pcp", "test": "hard", "history": false }), &[TRANSFER_BYTES, TRANSFER_BYTES]);
    assert!((fct[0] - fct[1]).abs() < 0.01, "{fct:?}");
}

/// Long flows of `n` pairs with round-trip times from 15 to 35 ms: the summary of 60 s after 20.
fn long_flows(n: u64) -> Value {
    let rtts: Vec<u64> = (0..n).map(|i| 15 + 20 * i / n).collect();
    let (mut b, pairs) = dumbbell(&rtts, 80);
    let options = options(&mut b, json!("pcp"));
    for pair in &pairs {
        b.traffic(json!({ "kind": "bulk" }), &[*pair], options);
    }
    b.plan.warmup = Time::ZERO + Span::from_s(20);
    run(&b.plan, false).1
}

/// A lone flow uses the link and never fills its queue.
#[test]
fn a_lone_long_flow_fills_no_queue() {
    let summary = long_flows(1);
    assert_eq!(of(&summary, "/drops"), 0.0);
    assert!(of(&summary, "/bottleneck/utilisation") > 0.95, "{summary}");
    assert!(of(&summary, "/bottleneck/queue_mean_bytes") < 0.1 * 125_000.0, "{summary}");
    assert!(of(&summary, "/bottleneck/queue_max_bytes") < 0.5 * 125_000.0, "{summary}");
}

/// Two to twenty flows share with an index of Jain of 0.75 and more, at round-trip times of 15 to 35 ms, and use the link. The
/// more there are the more each takes beyond what is free: the queue is not empty (see docs/models/pcp.md).
#[test]
fn flows_share() {
    for n in [2, 5, 10, 20] {
        let summary = long_flows(n);
        assert!(of(&summary, "/jain") > 0.75, "{n}: {summary}");
        assert!(of(&summary, "/bottleneck/utilisation") > 0.95, "{n}: {summary}");
        assert!(of(&summary, "/bottleneck/queue_mean_bytes") < 0.6 * 125_000.0, "{n}: {summary}");
    }
}

/// TCP is not starved by PCP, nor PCP by TCP: each has a fifth of its fair share at least.
#[test]
fn tcp_beside_it_is_not_starved() {
    for (probing, tcp) in [(1, 1), (2, 1), (1, 2), (5, 1)] {
        let (mut b, pairs) = dumbbell(&vec![25; probing + tcp], 120);
        let congestion_controls = ["pcp", "reno"].map(|cc| options(&mut b, json!(cc)));
        for (n, pair) in pairs.iter().enumerate() {
            b.traffic(json!({ "kind": "bulk" }), &[*pair], congestion_controls[usize::from(n >= probing)]);
        }
        b.plan.warmup = Time::ZERO + Span::from_s(20);
        let (tables, _) = run(&b.plan, false);
        let goodput = column::<Float64Array>(&tables, "flows", "goodput_bps");
        let fair = RATE_BPS as f64 / (probing + tcp) as f64;
        assert!(goodput.iter().flatten().all(|bps| bps > 0.2 * fair), "{probing} beside {tcp}: {goodput:?}");
    }
}

/// A reordered or lost packet, a second copy, an ACK that is lost, a short receive window: every byte arrives, and every packet
/// is accounted for (the run checks it).
#[test]
fn every_byte_arrives_whatever_the_path_does() {
    for (loss, impairments) in [
        (Loss::Bernoulli(0.02), json!({})),
        (Loss::None, json!({ "reorder": { "share": 0.05, "extra": { "uniform": ["0 s", "3 ms"] } } })),
        (Loss::Bernoulli(0.02), json!({ "duplicate": 0.05, "jitter": { "extra": { "exponential": "1 ms" } } })),
    ] {
        let (mut b, pairs) = dumbbell(&[25, 25], 60);
        let options = options(&mut b, json!("pcp"));
        b.traffic(json!({ "kind": "bulk", "size": "2 MB" }), &pairs, options);
        let kind = json!({ "kind": "transfers", "size": "20 KB", "arrivals_per_s": 5.0 });
        b.traffic(kind, &pairs, options);
        b.plan.traffic[1].stop = Some(Time::ZERO + Span::from_s(20));
        for link in &mut b.plan.links[..2] {
            link.loss = loss.clone();
            let part = |key: &str| impairments.get(key).cloned().unwrap_or(Value::Null);
            link.impairments = Impairments {
                reorder: serde_json::from_value(part("reorder")).unwrap(),
                duplicate: part("duplicate").as_f64().unwrap_or(0.0),
                jitter: serde_json::from_value(part("jitter")).unwrap(),
                ..Impairments::default()
            };
        }
        let (tables, _) = run(&b.plan, false);
        let done = column::<BooleanArray>(&tables, "flows", "completed");
        assert!(done.len() > 50 && done.iter().flatten().all(|done| done), "{impairments}");
    }
}

/// A run is the same again, and the paths of ports do not matter.
#[test]
fn runs_are_the_same_again() {
    let completions = |general: bool| {
        let (mut b, pairs) = dumbbell(&[15, 25, 35], 20);
        let options = options(&mut b, json!("pcp"));
        b.traffic(json!({ "kind": "transfers", "size": "250 KB", "arrivals_per_s": 10.0 }), &pairs, options);
        let (tables, _) = run(&b.plan, general);
        column::<Int64Array>(&tables, "flows", "fct_ns").iter().collect::<Vec<_>>()
    };
    let once = completions(false);
    assert!(once.iter().flatten().count() > 100);
    assert_eq!(once, completions(false));
    assert_eq!(once, completions(true));
}

/// Every data packet is acknowledged at once.
#[test]
fn there_are_no_delayed_acks() {
    let (tables, _) = transfers(json!("pcp"), &[TRANSFER_BYTES]);
    let counted = |name: &str| column::<Int64Array>(&tables, "flows", name).value(0);
    assert_eq!(counted("data_segs_out"), 200);
    // The SYN-ACK, an ACK for each, and that of the FIN goes with the last.
    assert!((201..=203).contains(&counted("segs_in")), "{}", counted("segs_in"));
}

/// PCP takes over from Reno at the rate that it finds, with the queue that Reno has left, and drains it; Reno takes over again.
#[test]
fn it_takes_over_and_gives_back() {
    let (mut b, pairs) = dumbbell(&[25], 60);
    let options = options(&mut b, json!("reno"));
    b.traffic(json!({ "kind": "bulk" }), &pairs, options);
    for (at, cc) in [(20, "pcp"), (40, "reno")] {
        let congestion_controls =
            vec![CongestionControlChange { traffic: 0, congestion_control: Spec::named(cc).unwrap() }];
        b.plan.changes.push(Change { at: Time::ZERO + Span::from_s(at), links: vec![], congestion_controls });
    }
    b.plan.record.every = Some(Span::from_s(1));
    let (tables, _) = run(&b.plan, false);
    let delivered = column::<Int64Array>(&tables, "flow_samples", "delivered_bytes");
    let paced = column::<Float64Array>(&tables, "flow_samples", "pacing_bps");
    let mbps =
        |from: usize, to: usize| (delivered.value(to) - delivered.value(from)) as f64 * 8e-6 / (to - from) as f64;
    assert!(paced.is_null(18) && paced.is_valid(30) && paced.is_null(50));
    for (from, to) in [(10, 18), (25, 38), (45, 58)] {
        assert!(mbps(from, to) > 30.0, "{from} s: {} Mbit/s", mbps(from, to));
    }
}
