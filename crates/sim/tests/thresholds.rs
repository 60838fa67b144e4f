//! Dynamic thresholds of a shared memory (Choudhury and Hahne, IEEE/ACM ToN 6(2), 1998): what a port may hold of it.
//!
//! ```text
//! threshold = alpha (M - used);   n ports that always have more to send than leaves:   each alpha M / (1 + n alpha)
//! ```

mod common;

use arrow_array::{Array, Int64Array};
use common::{Builder, run};
use elephan_link::FlowControl;
use elephan_record::Tables;
use elephan_scenario::{NodeKind, Plan};
use elephan_units::{Rate, Span, Time};
use proptest::prelude::*;
use serde_json::json;

const GIGABIT: Rate = Rate(1_000_000_000);
/// An IP packet of 1500 B in its Ethernet frame.
const FRAME: u64 = 1518;

/// A star of hosts at 1 Gb/s, each of the first `busy` of which gets 2 Gb/s from two senders of its own. Then come one more sender and its receiver.
fn overloaded(busy: usize, memory: u64, alpha: Option<f64>, duration: Span) -> (Plan, (u32, u32)) {
    let mut b = Builder::new(duration);
    let switch = b.switch(Some(memory), Span::ZERO, FlowControl::None);
    let NodeKind::Switch(node) = &mut b.plan.nodes[switch as usize].kind else { unreachable!() };
    node.alpha = alpha;
    let hosts: Vec<u32> = (0..3 * busy + 2).map(|_| b.host()).collect();
    for &host in &hosts {
        b.link(host, switch, GIGABIT, Span::from_us(1), None);
    }
    let options = b.options("rfc", json!({}));
    for port in 0..busy {
        let senders = [hosts[busy + 2 * port], hosts[busy + 2 * port + 1]];
        let pairs = senders.map(|from| (from, hosts[port]));
        b.traffic(json!({ "kind": "cbr", "rate": "1 Gbps", "packet_size": "1472 B" }), &pairs, options);
    }
    b.plan.record.every = Some(Span::from_us(100));
    (b.plan, (hosts[3 * busy], hosts[3 * busy + 1]))
}

fn used(tables: &Tables) -> Vec<u64> {
    let samples = &tables.iter().find(|t| t.name == "switch_samples").unwrap().batches[0];
    let used = samples.column_by_name("memory_bytes").unwrap().as_any().downcast_ref::<Int64Array>().unwrap();
    used.values().iter().map(|&bytes| bytes as u64).collect()
}

/// The Triumph of the DCTCP paper (SIGCOMM 2010, section 4.1): 4 MB, of which one busy port holds about 700 KB. alpha = 0.21 leaves it
/// 0.21 / 1.21 of 4 MB, 694 kB. The k-th frame of 1518 B fits as long as 1518 k <= 0.21 (4 000 000 - 1518 (k - 1)): 457 frames, 693 726 B.
#[test]
fn one_busy_port_of_a_triumph() {
    let (plan, _) = overloaded(1, 4_000_000, Some(0.21), Span::from_ms(40));
    let (tables, summary) = run(&plan, false);
    let used = used(&tables);
    assert_eq!(used.iter().max(), Some(&(457 * FRAME)));
    // The frame on the wire is charged until its last bit is out, so the port is never more than two frames below.
    assert!(used[200..].iter().all(|&bytes| bytes >= 455 * FRAME), "{:?}", &used[200..]);
    assert!(summary["drops"].as_u64().unwrap() > 0, "{summary}");
    // Complete sharing lets the port hold the whole memory: 2635 frames, 3 999 930 B.
    let (plan, _) = overloaded(1, 4_000_000, None, Span::from_ms(40));
    assert_eq!(crate::used(&run(&plan, false).0).iter().max(), Some(&(2635 * FRAME)));
}

/// What the thresholds keep free is for others: three busy ports leave a burst of 16 frames to an idle one its room, where complete sharing
/// loses most of it.
#[test]
fn a_burst_for_an_idle_port_finds_room() {
    for (alpha, whole) in [(Some(1.0), true), (None, false)] {
        let (mut plan, idle) = overloaded(3, 200_000, alpha, Span::from_ms(10));
        let mut burst = plan.traffic[0].clone();
        burst.name = "burst".into();
        burst.kind =
            serde_json::from_value(json!({ "kind": "burst", "packets": 16, "packet_size": "1472 B" })).unwrap();
        burst.flows.truncate(1);
        (burst.flows[0].from, burst.flows[0].to) = idle;
        burst.start = serde_json::from_value(json!("5 ms")).unwrap();
        // Two more senders make it a burst at the port: what comes at the rate of the port never waits.
        let mut more = burst.clone();
        more.name = "more".into();
        more.flows[0].from = plan.traffic[0].flows[0].to;
        plan.traffic.extend([burst, more]);
        let (tables, _) = run(&plan, false);
        let flows = &tables.iter().find(|t| t.name == "flows").unwrap().batches[0];
        let delivered = flows.column_by_name("delivered_bytes").unwrap();
        let delivered = delivered.as_any().downcast_ref::<Int64Array>().unwrap();
        let got: i64 = (6..8).map(|row| delivered.value(row)).sum();
        assert_eq!(got == 32 * 1472, whole, "{alpha:?}: {got} of {}", 32 * 1472);
    }
}

/// Nothing changes where the threshold is never reached, be it computed in advance or not.
#[test]
fn a_large_alpha_is_complete_sharing() {
    let rows = |alpha: Option<f64>| {
        let (mut plan, idle) = overloaded(2, 100_000, alpha, Span::from_ms(5));
        plan.traffic[1].flows.truncate(1);
        plan.traffic[1].flows[0].to = idle.1;
        run(&plan, false).0
    };
    for (with, without) in rows(Some(1e9)).iter().zip(&rows(None)) {
        assert!(with.batches == without.batches, "{}", with.name);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// n ports that get twice their rate hold alpha M / (1 + n alpha) each, and M / (1 + n alpha) stays free, within a frame for each.
    #[test]
    fn busy_ports_share_alike(n in 1usize..6, alpha in prop::sample::select(vec![0.125, 0.21, 0.5, 1.0, 2.0, 8.0]), memory in 100_000u64..600_000) {
        let (mut plan, _) = overloaded(n, memory, Some(alpha), Span::from_ms(30));
        // A port of host k starts with what it waits for: phases differ from port to port.
        plan.warmup = Time::ZERO;
        let (tables, _) = run(&plan, false);
        let share = alpha * memory as f64 / (1.0 + n as f64 * alpha);
        let all = n as f64 * share;
        let slack = (n as f64 + 1.0) * FRAME as f64 * (1.0 + alpha);
        let used = used(&tables);
        for &bytes in &used[used.len() / 2..] {
            prop_assert!((bytes as f64 - all).abs() <= slack, "{bytes} of {all} +- {slack}");
        }
        let samples = &tables.iter().find(|t| t.name == "port_samples").unwrap().batches[0];
        let column = |name: &str| samples.column_by_name(name).unwrap().as_any().downcast_ref::<Int64Array>().unwrap().clone();
        let (waiting, time) = (column("queue_bytes"), column("time_ns"));
        for row in 0..waiting.len() {
            let bytes = waiting.value(row) as f64;
            if time.value(row) > 20_000_000 && bytes > 0.0 {
                prop_assert!((bytes - share).abs() <= 2.0 * FRAME as f64 * (1.0 + alpha), "{bytes} of {share}");
            }
        }
    }
}
