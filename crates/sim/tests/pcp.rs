//! What Anderson, Collins, Krishnamurthy and Zahorjan (NSDI 2006) say of PCP on their dumbbell of 40 Mbit/s and 25 ms: a lone
//! flow finds the rate in a few round trips and fills no queue, flows share, TCP beside it is not starved.

mod common;

use arrow_array::{Array, Float64Array, Int64Array};
use common::{Builder, run};
use elephan_link::{FlowControl, Framing};
use elephan_record::Tables;
use elephan_units::{Rate, Span};
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

fn options(b: &mut Builder, law: Value) -> u32 {
    let tcp = json!({ "mss": "1210 B", "timestamps": false, "congestion_control": law, "receive_window": "16 MiB", "send_buffer": "16 MiB" });
    b.options("rfc", tcp)
}

fn column<'a, T: 'static>(tables: &'a Tables, table: &str, name: &str) -> &'a T {
    let table = tables.iter().find(|t| t.name == table).unwrap();
    table.batches[0].column_by_name(name).unwrap().as_any().downcast_ref::<T>().unwrap()
}

fn of(summary: &Value, path: &str) -> f64 {
    summary.pointer(path).and_then(Value::as_f64).unwrap_or_else(|| panic!("no {path} in {summary}"))
}

/// A lone transfer and, if `again`, a second one a second later: the samples of 0.1 ms, and milliseconds from SYN to the last
/// byte of each.
fn transfers(law: Value, again: bool) -> (Tables, Vec<f64>) {
    let (mut b, pairs) = dumbbell(&[25], 3);
    let options = options(&mut b, law);
    for start in 0..=u64::from(again) {
        b.traffic(json!({ "kind": "bulk", "size": format!("{TRANSFER_BYTES} B") }), &pairs, options);
        b.plan.traffic[start as usize].start = serde_json::from_value(json!(format!("{start} s"))).unwrap();
    }
    b.plan.record.every = Some(Span::from_us(100));
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
    let (tables, fct) = transfers(json!({ "kind": "pcp", "test": "hard" }), false);
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
        assert!((step.0 - expected.0).abs() < 0.5 && (step.1 / expected.1 - 1.0).abs() < 0.005, "{steps:?} {fct:?}");
    }
    assert!((fct[0] - 255.0).abs() < 1.0, "{fct:?}");
}

/// The rate that the first flow has left makes the second start with a third of it.
#[test]
fn history_shortens_the_start() {
    let (_, fct) = transfers(json!({ "kind": "pcp", "test": "hard" }), true);
    let (_, without) = transfers(json!({ "kind": "pcp", "test": "hard", "history": false }), true);
    println!("history {fct:?} {without:?}");
}

fn shares(law: &str, n: usize, seconds: u64) -> Value {
    let rtts: Vec<u64> = (0..n as u64).map(|i| 15 + 20 * i / (n as u64)).collect();
    let (mut b, pairs) = dumbbell(&rtts, seconds);
    let options = options(&mut b, json!(law));
    for pair in &pairs {
        b.traffic(json!({ "kind": "bulk" }), &[*pair], options);
    }
    b.plan.warmup = elephan_units::Time::ZERO + Span::from_s(seconds / 4);
    run(&b.plan, false).1
}

#[test]
fn flows_share() {
    for n in [1, 2, 5, 10, 20] {
        let s = shares("pcp", n, 80);
        println!(
            "{n}: jain {:.3} goodput {:.2} drops {} util {:.3} queue {:.0} max {:.0}",
            of(&s, "/jain"), of(&s, "/goodput_bps") / 1e6, of(&s, "/drops"), of(&s, "/bottleneck/utilisation"),
            of(&s, "/bottleneck/queue_mean_bytes"), of(&s, "/bottleneck/queue_max_bytes")
        );
    }
}

#[test]
fn beside_tcp() {
    for (pcp, tcp) in [(1, 1), (2, 1), (1, 2), (5, 1)] {
        let (mut b, pairs) = dumbbell(&vec![25; pcp + tcp], 120);
        let probing = options(&mut b, json!("pcp"));
        let reno = options(&mut b, json!("reno"));
        for (i, pair) in pairs.iter().enumerate() {
            b.traffic(json!({ "kind": "bulk" }), &[*pair], if i < pcp { probing } else { reno });
        }
        b.plan.warmup = elephan_units::Time::ZERO + Span::from_s(20);
        let (t, s) = run(&b.plan, false);
        let g: Vec<f64> = column::<Float64Array>(&t, "flows", "goodput_bps").iter().map(|g| g.unwrap() / 1e6).collect();
        println!("{pcp}/{tcp}: {g:.2?} drops {} queue {:.0}", of(&s, "/drops"), of(&s, "/bottleneck/queue_mean_bytes"));
    }
}
