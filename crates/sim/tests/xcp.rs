//! What Katabi, Handley and Rohrs (SIGCOMM 2002) say of XCP: links are used, queues stay near zero, no packet is dropped,
//! and flows share alike whatever their round-trip times.

mod common;

use common::{Builder, run};
use elephan_link::FlowControl;
use elephan_link::queue::QueueSpec;
use elephan_units::{Rate, Span, Time};
use serde_json::{Value, json};

const RATE_BPS: u64 = 100_000_000;

/// Flows with these one-way delays in ms over one link of 100 Mbit/s with `queue`, that of the other direction alike.
fn dumbbell(delays_ms: &[u64], cc: &str, queue: Value, seconds: u64) -> Builder {
    let mut b = Builder::new(Span::from_s(seconds));
    let (left, right) = (b.switch(None, Span::ZERO, FlowControl::None), b.switch(None, Span::ZERO, FlowControl::None));
    b.link(left, right, Rate(RATE_BPS), Span::from_us(10), None);
    let queue: QueueSpec = serde_json::from_value(queue).unwrap();
    for link in &mut b.plan.links {
        link.queue = queue.clone();
    }
    let options =
        b.options("rfc", json!({ "congestion_control": cc, "receive_window": "64 MiB", "send_buffer": "64 MiB" }));
    for &ms in delays_ms {
        let (from, to) = (b.host(), b.host());
        b.link(from, left, Rate(1_000_000_000), Span::from_ms(ms), None);
        b.link(right, to, Rate(1_000_000_000), Span::from_us(10), None);
        b.traffic(json!({ "kind": "bulk" }), &[(from, to)], options);
    }
    b.plan.warmup = Time::ZERO + Span::from_s(seconds / 2);
    b
}

fn of(summary: &Value, path: &str) -> f64 {
    summary.pointer(path).and_then(Value::as_f64).unwrap_or_else(|| panic!("no {path} in {summary}"))
}

/// Katabi et al. section 5.2: utilisation near one with an average queue of a few packets and no drops, where Reno over a
/// FIFO of one BDP (500 KB) keeps much more waiting.
#[test]
fn a_link_is_full_and_its_queue_nearly_empty() {
    let delays = [20; 10];
    let (_, xcp) = run(&dumbbell(&delays, "xcp", json!({ "kind": "xcp", "limit": "500 KB" }), 20).plan, false);
    assert_eq!(of(&xcp, "/drops"), 0.0);
    assert!(of(&xcp, "/bottleneck/utilisation") > 0.97, "{xcp}");
    assert!(of(&xcp, "/bottleneck/queue_mean_bytes") < 0.02 * 500_000.0, "{xcp}");
    assert!(of(&xcp, "/jain") > 0.99, "{xcp}");
    let (_, reno) = run(&dumbbell(&delays, "reno", json!({ "kind": "fifo", "limit": "500 KB" }), 20).plan, false);
    assert!(of(&reno, "/bottleneck/queue_mean_bytes") > 10.0 * of(&xcp, "/bottleneck/queue_mean_bytes"), "{reno}");
}

/// Section 5.5: flows of 40 to 330 ms share alike, where Reno's long ones starve.
#[test]
fn flows_of_different_round_trip_times_share_alike() {
    let delays = [20, 40, 60, 80, 100, 125, 145, 165];
    let (_, xcp) = run(&dumbbell(&delays, "xcp", json!({ "kind": "xcp" }), 80).plan, false);
    assert_eq!(of(&xcp, "/drops"), 0.0);
    assert!(of(&xcp, "/bottleneck/utilisation") > 0.95, "{xcp}");
    assert!(of(&xcp, "/jain") > 0.97, "{xcp}");
}

/// Without a router that answers, the controller is Reno's but for what it halves.
#[test]
fn without_routers_xcp_is_reno() {
    let fifo = || json!({ "kind": "fifo", "limit": "500 KB" });
    let delivered = |cc: &str| {
        let (_, summary) = run(&dumbbell(&[20, 40], cc, fifo(), 20).plan, false);
        (of(&summary, "/goodput_bps"), of(&summary, "/drops"))
    };
    let reno = delivered("reno");
    // XCP halves cwnd, Reno what is in flight; losses differ by segments, rates by little.
    let xcp = delivered("xcp");
    assert!((xcp.0 / reno.0 - 1.0).abs() < 0.02, "{xcp:?} {reno:?}");
}
