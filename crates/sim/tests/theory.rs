//! Runs against closed forms.

mod common;

use arrow_array::Float64Array;
use common::{Builder, run};
use elephan_link::{Concerned, FlowControl, Loss};
use elephan_scenario::{Source, read};
use elephan_units::{Rate, Span, Time};
use serde_json::{Value, json};

const MSS: f64 = 1460.0;

/// One bulk flow through one switch; the link behind it has the given rate, delay and limit.
fn one_flow(duration: Span, rate: u64, delay: Span, limit: Option<&str>, tcp: Value) -> Builder {
    let mut b = Builder::new(duration);
    let (a, s, c) = (b.host(), b.switch(None, Span::ZERO, FlowControl::None), b.host());
    b.link(a, s, Rate(10_000_000_000), Span::from_us(10), None);
    b.link(s, c, Rate(rate), delay, limit);
    let options = b.options("rfc", tcp);
    b.traffic(json!({ "kind": "bulk" }), &[(a, c)], options);
    b
}

/// Mathis, Semke, Mahdavi, Ott 1997: with a loss every 1/p segments the mean window is sqrt(3/2)/sqrt(p) segments. That is
/// the limit of long epochs; with W at its peak an epoch really has W/2 + 2 round trips, one of them recovery without
/// growth, and carries 3/8 W^2 + 5/4 W segments, which at 1/p = 1000 is W = 50, 27 round trips, a mean of 37.04.
#[test]
fn mathis_with_periodic_loss() {
    for (every, seconds, expected, margin) in
        [(1_000u64, 40, 37.04, 0.02), (4_000, 80, 77.46, 0.04), (10_000, 150, 122.47, 0.04)]
    {
        let tcp = json!({
            "congestion_control": "reno", "timestamps": false, "delayed_ack_segments": 1,
            "receive_window": "4 MiB", "send_buffer": "4 MiB", "initial_window": 2,
        });
        let mut b = one_flow(Span::from_s(seconds), 1_000_000_000, Span::from_ms(25), None, tcp);
        b.plan.links[2].loss = Loss::Periodic(every);
        b.plan.links[2].impairments.packets = Concerned::Data;
        b.plan.warmup = Time::ZERO + Span::from_s(10);
        let (_, summary) = run(&b.plan, false);
        assert!(summary["drops"].as_u64().unwrap() >= 25, "{summary}");
        // Two propagations, the data frame on both links (1538 B), the ACK (84 B).
        let rtt = 2.0 * (0.025 + 10e-6) + (1538.0 + 84.0) * 8.0 * (1e-9 + 1e-10);
        let window = summary["goodput_bps"].as_f64().unwrap() / 8.0 / MSS * rtt;
        let off = window / expected - 1.0;
        assert!(
            off.abs() < margin,
            "1/p = {every}: window {window:.2}, expected {expected:.2} ({:+.1} %)",
            off * 100.0
        );
    }
}

/// Mean windows of controllers beside Reno under a loss every 1/p segments, with their closed forms: HighSpeed 0.12 / p^0.835 (RFC
/// 3649 section 5), Scalable 0.0697 / p (0.0745 / p less one round trip of recovery in an epoch of 13.4), CUBIC without fast
/// convergence 1.0538 (R/p)^(3/4) (RFC 9438 section 5), H-TCP by deterministic integration, 319 at R = 0.1 s.
#[test]
fn response_functions() {
    let cubic = json!({ "kind": "cubic", "fast_convergence": false });
    let htcp = json!({ "kind": "htcp", "adaptive_backoff": false, "rtt_scaling": false });
    for (cc, every, rtt_ms, seconds, expected, margin) in [
        (json!("highspeed"), 3_333u64, 50u64, 80u64, 104.9, 0.05),
        (json!("highspeed"), 10_000, 50, 150, 262.5, 0.05),
        (json!("scalable"), 3_333, 50, 60, 232.3, 0.05),
        (json!("scalable"), 10_000, 50, 80, 697.0, 0.05),
        // The mean of CUBIC creeps towards its closed form over hundreds of events.
        (cubic, 10_000, 200, 1500, 315.1, 0.07),
        (htcp, 10_000, 100, 250, 319.0, 0.10),
    ] {
        let tcp = json!({
            "congestion_control": cc, "timestamps": false, "delayed_ack_segments": 1, "receive_window": "16 MiB",
            "send_buffer": "16 MiB", "ssthresh_initial": format!("{} B", expected as u64 * 1460),
        });
        let delay = Span::from_us(rtt_ms * 500 - 10);
        let mut b = one_flow(Span::from_s(seconds), 1_000_000_000, delay, None, tcp);
        b.plan.links[2].loss = Loss::Periodic(every);
        b.plan.links[2].impairments.packets = Concerned::Data;
        b.plan.warmup = Time::ZERO + Span::from_s(seconds / 4);
        let (_, summary) = run(&b.plan, false);
        let rtt = rtt_ms as f64 / 1e3 + (1538.0 + 84.0) * 8.0 * (1e-9 + 1e-10);
        let window = summary["goodput_bps"].as_f64().unwrap() / 8.0 / MSS * rtt;
        let off = window / expected - 1.0;
        assert!(off.abs() < margin, "{cc} 1/p = {every}: {window:.1}, expected {expected:.1} ({:+.1} %)", off * 100.0);
    }
}

/// A flow that its receive window limits carries W/RTT, serialisation counted in the RTT.
#[test]
fn window_limited() {
    let tcp = json!({
        "timestamps": false, "delayed_ack_segments": 1, "window_scaling": false, "receive_window": "64240 B",
        "send_buffer": "1 MiB",
    });
    let mut b = one_flow(Span::from_s(20), 1_000_000_000, Span::from_ms(20), None, tcp);
    b.plan.warmup = Time::ZERO + Span::from_s(2);
    let (_, summary) = run(&b.plan, false);
    let rtt = 2.0 * (0.020 + 10e-6) + (1538.0 + 84.0) * 8.0 * (1e-9 + 1e-10);
    let expected = 64_240.0 * 8.0 / rtt;
    let off = summary["goodput_bps"].as_f64().unwrap() / expected - 1.0;
    assert!(off.abs() < 1e-3, "{:+.3} %", off * 100.0);
}

/// Reno halves its window: with one BDP of buffer the bottleneck never runs dry.
#[test]
fn one_bdp_of_buffer_fills_the_link() {
    // 100 Mb/s x 40 ms = 500 kB
    let tcp = json!({
        "congestion_control": "reno", "receive_window": "8 MiB", "send_buffer": "8 MiB", "delayed_ack_segments": 1,
    });
    let mut b = one_flow(Span::from_s(120), 100_000_000, Span::from_ms(20), Some("500 KB"), tcp);
    b.plan.warmup = Time::ZERO + Span::from_s(20);
    let (_, summary) = run(&b.plan, false);
    assert!(summary["drops"].as_u64().unwrap() > 1);
    let utilisation = summary["bottleneck"]["utilisation"].as_f64().unwrap();
    assert!(utilisation >= 0.99, "{summary}");
}

/// Goodputs in `run` of the parking lot's long flow and of its three cross flows, all Reno with the same round trip of 80 ms:
/// 2 (5 + 3 x 10 + 5) and 2 (15 + 10 + 15).
fn parking_lot(rate: &str, more: &str, seed: u64) -> (f64, Vec<f64>) {
    let text = format!(
        r#"
        duration = "300 s"
        warmup = "30 s"
        stack = "rfc"
        tcp = {{ delayed_ack_segments = 1, receive_window = "4 MiB", send_buffer = "4 MiB", rto_min = "200 ms" }}
        [template]
        kind = "parking-lot"
        hops = 3
        rate = "{rate}"
        delay = "10 ms"
        access_delay = "5 ms"
        cross_delay = "15 ms"
        {more}
        [[traffic]]
        name = "long"
        from = "sender"
        to = "receiver"
        kind = "bulk"
        congestion_control = "reno"
        start = {{ uniform = ["0 s", "1 s"] }}
        [[traffic]]
        name = "cross"
        from = "cross_sender"
        to = "cross_receiver"
        kind = "bulk"
        congestion_control = "reno"
        start = {{ uniform = ["0 s", "1 s"] }}
        "#
    );
    let plan = read(&Source::toml("parking-lot.toml", text), &[], Some(seed)).unwrap().plan;
    let (tables, _) = run(&plan, false);
    let flows = &tables.iter().find(|t| t.name == "flows").unwrap().batches[0];
    let goodput = flows.column_by_name("goodput_bps").unwrap();
    let goodput = goodput.as_any().downcast_ref::<Float64Array>().unwrap();
    (goodput.value(0), (1..4).map(|i| goodput.value(i)).collect())
}

/// Reno's window is as 1/sqrt(p) (Mathis et al. 1997). Over three links that each lose a packet in 1000 a flow loses 1 - 0.999^3 of
/// its packets, 2.997 in 1000, and gets 1/sqrt(2.997) = 0.5776 of what a flow over one of them gets, the round trip being the same.
#[test]
fn three_lossy_hops_are_three_times_the_loss() {
    let (mut long, mut cross) = (0.0, 0.0);
    for seed in 1..=4 {
        let (one, three) = parking_lot("1 Gbps", "loss = { bernoulli = 0.001 }\npackets = \"data\"", seed);
        long += one / 4.0;
        cross += three.iter().sum::<f64>() / 12.0;
    }
    let ratio = long / cross;
    assert!((0.54..0.615).contains(&ratio), "{ratio:.3}");
}

/// Floyd 1991, "Connections with multiple congested gateways in packet-switched networks": a connection through several congested
/// gateways gets less at each than the one that it meets there, even with the same round trip.
#[test]
fn the_long_flow_gets_the_least() {
    for seed in 1..=3 {
        let (long, cross) = parking_lot("10 Mbps", "queue = { kind = \"fifo\", limit = \"1 bdp\" }", seed);
        assert!(cross.iter().all(|&other| long < other), "{long:.0} of {cross:.0?}");
        assert!(
            cross.iter().all(|&other| (8.5e6..=9.5e6).contains(&(long + other))),
            "full links: {long:.0}, {cross:.0?}"
        );
    }
}

/// M/D/1: Poisson arrivals of equal frames wait rho S / (2 (1 - rho)), so rho^2 / (2 (1 - rho)) of them wait on average.
#[test]
fn m_d_1() {
    let (rho, runs) = (0.8, 12);
    let rate = 1_000_000_000u64;
    let means: Vec<f64> = (1..=runs)
        .map(|seed| {
            let mut b = Builder::new(Span::from_ms(1200));
            b.plan.seed = seed;
            b.plan.warmup = Time::ZERO + Span::from_ms(200);
            let (a, c) = (b.host(), b.host());
            b.link(a, c, Rate(rate), Span::from_us(1), None);
            let options = b.options("rfc", json!({}));
            let kind = json!({ "kind": "cbr", "rate": "800 Mbps", "packet_size": "1472 B", "gaps": "exponential" });
            b.traffic(kind, &[(a, c)], options);
            let (_, summary) = run(&b.plan, false);
            // 1472 + 28 + 18 bytes of each frame are charged to the queue.
            summary["bottleneck"]["queue_mean_bytes"].as_f64().unwrap() / 1518.0
        })
        .collect();
    let n = means.len() as f64;
    let mean = means.iter().sum::<f64>() / n;
    let sd = (means.iter().map(|m| (m - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt();
    // Student's t, 11 degrees of freedom, 99 %.
    let half = 3.106 * sd / n.sqrt();
    let expected = rho * rho / (2.0 * (1.0 - rho));
    assert!((mean - expected).abs() < half, "{mean:.4} +- {half:.4}, expected {expected:.4}");
    assert!(half < 0.1 * expected, "the interval says something: {half:.4}");
}

/// Pacing is of payload, as the delivery rate is (Linux `bbr_rate_bytes_per_sec` and the pacing of `tcp_update_skb_after_send`): BBR
/// uses 0.97 of 50 Mb/s, whatever share of a packet its headers are (78 % payload at an MSS of 200). It paces at 0.99 of the bandwidth and
/// spends 2 % of its time with four segments.
#[test]
fn bbr_fills_the_link_with_small_segments() {
    for (cc, mss) in [("bbr", 200u64), ("bbr", 1460), ("bbr3", 200)] {
        let tcp = json!({ "congestion_control": cc, "mss": format!("{mss} B"), "receive_window": "4 MiB", "send_buffer": "4 MiB" });
        let mut b = one_flow(Span::from_s(30), 50_000_000, Span::from_ms(20), Some("500 KB"), tcp);
        b.plan.warmup = Time::ZERO + Span::from_s(10);
        let (_, summary) = run(&b.plan, false);
        let payload = (mss - 12) as f64 / (mss + 40 + 38) as f64;
        let used = summary["goodput_bps"].as_f64().unwrap() / (50e6 * payload);
        assert!((0.95..=1.0).contains(&used), "{cc}, {mss} B: {used}");
    }
}

/// BBR behind a policer: a token bucket of 10 Mb/s in which no packet waits, deep enough (160 and 800 ms of its rate) to let through the
/// 100 Mb/s of the link for longer than a round trip. What the flow takes for the path's bandwidth then, and again whenever the bucket has
/// filled, it loses for ten rounds; whoever finds the policer loses less (Linux `bbr_lt_bw_sampling`: "to reduce unnecessary losses").
#[test]
fn bbr_finds_a_policer() {
    for burst in ["200 KB", "1 MB"] {
        let run = |policer: bool| {
            let tcp = json!({ "receive_window": "4 MiB", "send_buffer": "4 MiB" });
            let mut b = one_flow(Span::from_s(30), 100_000_000, Span::from_ms(20), None, tcp);
            let bucket = json!({ "kind": "tbf", "rate": "10 Mbps", "burst": burst, "limit": "1 p" });
            b.plan.links[2].queue = serde_json::from_value(bucket).unwrap();
            let cc = json!({ "policer": policer });
            b.plan.traffic[0].congestion_control = elephan_cc::Spec::with("bbr", cc.as_object().unwrap()).unwrap();
            let (_, summary) = run(&b.plan, false);
            (summary["loss_rate"].as_f64().unwrap(), summary["goodput_bps"].as_f64().unwrap())
        };
        let ((without, slow), (with, fast)) = (run(false), run(true));
        assert!(with < 0.75 * without, "{burst}: losses of {without} and {with}");
        assert!(fast > 0.95 * slow, "{burst}: {fast} of {slow} bit/s");
    }
}

/// HyStart++ runs below a stack's finite threshold too. The round that finds a queue ends doubling at some 1330 segments, five rounds
/// of a quarter make them 1330 1.25^5 = 4060 at most, which path (427) and buffer (5270) hold; classic slow start ends by the buffer.
#[test]
fn hystartpp_ends_slow_start_by_delay() {
    let drops = |slow_start: &str| {
        let tcp =
            json!({ "slow_start": slow_start, "receive_window": "60 MB", "send_buffer": "60 MB", "abc_limit": 2 });
        let b = one_flow(Span::from_s(6), 50_000_000, Span::from_ms(50), Some("8 MB"), tcp);
        run(&b.plan, false).1["drops"].as_u64().unwrap()
    };
    assert!(drops("classic") > 100);
    assert_eq!(drops("hystartpp"), 0);
}
