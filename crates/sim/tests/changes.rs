//! Links and controllers that change during a run.

mod common;

use arrow_array::{Array, Float64Array, Int64Array, StringArray};
use common::{Builder, run};
use elephan_cc::Spec;
use elephan_link::queue::Limit;
use elephan_link::{FlowControl, Loss, Pause, PausePer};
use elephan_record::Tables;
use elephan_scenario::{Change, CongestionControlChange, LinkChange};
use elephan_units::{Bytes, Rate, Span, Time};
use proptest::prelude::*;
use serde_json::{Value, json};

/// A sender, a switch, a receiver; the link behind the switch is link 2. Answers the builder and the two hosts.
fn line(duration: Span, rate: u64, delay: Span, limit: Option<&str>) -> (Builder, u32, u32) {
    let mut b = Builder::new(duration);
    let (a, s, c) = (b.host(), b.switch(None, Span::ZERO, FlowControl::None), b.host());
    b.link(a, s, Rate(10_000_000_000), Span::from_us(1), None);
    b.link(s, c, Rate(rate), delay, limit);
    (b, a, c)
}

fn at(b: &mut Builder, time: Span, change: LinkChange) {
    b.plan.changes.push(Change { at: Time::ZERO + time, links: vec![change], congestion_controls: vec![] });
}

fn rate(link: u32, bps: u64) -> LinkChange {
    LinkChange { link, rate: Some(Rate(bps)), ..LinkChange::default() }
}

fn column<'a, T: 'static>(tables: &'a Tables, table: &str, name: &str) -> &'a T {
    let table = tables.iter().find(|t| t.name == table).unwrap();
    table.batches[0].column_by_name(name).unwrap().as_any().downcast_ref::<T>().unwrap()
}

fn tcp(more: Value) -> Value {
    let mut all = json!({
        "congestion_control": "reno", "receive_window": "16 MiB", "send_buffer": "16 MiB", "delayed_ack_segments": 1,
    });
    all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    all
}

/// Frames of 1538 B at 10 Mb/s take 1230.4 us: 813 start in the first second, the last of them ends as it began, at
/// 1000.3152 ms. At 5 Mb/s one takes 2460.8 us: 407 start in the rest of two seconds. The link is never idle.
#[test]
fn a_frame_keeps_its_end_and_the_next_takes_the_new_rate() {
    let mut b = Builder::new(Span::from_s(2));
    let (a, c) = (b.host(), b.host());
    b.link(a, c, Rate(10_000_000), Span::from_us(1), Some("100 p"));
    let options = b.options("rfc", json!({}));
    b.traffic(json!({ "kind": "cbr", "rate": "20 Mbps", "packet_size": "1472 B" }), &[(a, c)], options);
    at(&mut b, Span::from_s(1), rate(0, 5_000_000));
    b.plan.record.every = Some(Span::from_ms(500));
    b.plan.record.events = true;
    let (tables, _) = run(&b.plan, false);
    assert_eq!(column::<Int64Array>(&tables, "ports", "tx_packets").value(0), 813 + 407);
    let utilisation = column::<Float64Array>(&tables, "ports", "utilisation").value(0);
    assert_eq!(utilisation, 1.0);
    // Ports 0 and 1 at 0.5, 1, 1.5 and 2 s.
    let sampled = column::<Float64Array>(&tables, "port_samples", "utilisation");
    (0..4).for_each(|i| assert_eq!(sampled.value(2 * i), 1.0));
    // 500 000 / 1230.4 = 406.4; the first frame at half the rate starts at 1 000 315.2 us: 499 684.8 / 2460.8 = 203.06.
    let started = column::<Int64Array>(&tables, "port_samples", "tx_packets");
    assert_eq!([0, 2, 4, 6].map(|i| started.value(i)), [407, 813, 813 + 204, 813 + 407]);
    let kinds = column::<StringArray>(&tables, "events", "kind");
    let found = (0..kinds.len()).find(|&i| kinds.value(i) == "change").unwrap();
    assert_eq!(column::<Int64Array>(&tables, "events", "time_ns").value(found), 1_000_000_000);
    assert_eq!(column::<Int64Array>(&tables, "events", "port").value(found), 0);
    assert_eq!(column::<Float64Array>(&tables, "events", "value").value(found), 5e6);
    assert_eq!(column::<StringArray>(&tables, "events", "reason").value(found), "rate");
}

/// Frames of 1538 B at 1 Mb/s take 12.304 ms. With 24.608 ms from one to the next the port sends until 12.304 ms and from 24.608 ms
/// on, the second frame beyond the end of the run: 2.304 + 5.392 of the 20 ms after the warm-up. Ports of both paths.
#[test]
fn a_frame_counts_as_long_as_it_is_sent() {
    for (changes, offered, expected, started) in [
        (false, "500 kbps", ([1.0, 0.2304, 0.5392], 0.3848), [1, 1, 2]),
        (true, "500 kbps", ([1.0, 0.2304, 0.5392], 0.3848), [1, 1, 2]),
        (false, "2 Mbps", ([1.0; 3], 1.0), [1, 2, 3]),
        (true, "2 Mbps", ([1.0; 3], 1.0), [1, 2, 3]),
    ] {
        let mut b = Builder::new(Span::from_ms(30));
        let (a, c) = (b.host(), b.host());
        b.link(a, c, Rate(1_000_000), Span::from_us(1), None);
        let options = b.options("rfc", json!({}));
        b.traffic(
            json!({ "kind": "cbr", "rate": offered, "packet_size": "1472 B", "gaps": "fixed" }),
            &[(a, c)],
            options,
        );
        if changes {
            at(&mut b, Span::from_ms(29), rate(1, 2_000_000));
            at(&mut b, Span::from_ms(29), rate(0, 1_000_000));
        }
        b.plan.warmup = Time::ZERO + Span::from_ms(10);
        b.plan.record.every = Some(Span::from_ms(10));
        let (tables, summary) = run(&b.plan, false);
        let sampled = column::<Float64Array>(&tables, "port_samples", "utilisation");
        let found = [0, 2, 4].map(|i| sampled.value(i));
        let packets = column::<Int64Array>(&tables, "port_samples", "tx_packets");
        assert_eq!([0, 2, 4].map(|i| packets.value(i)), started, "{changes} {offered}");
        let bytes = column::<Int64Array>(&tables, "port_samples", "tx_bytes");
        assert_eq!([0, 2, 4].map(|i| bytes.value(i)), started.map(|n| 1538 * n), "{changes} {offered}");
        let whole = column::<Float64Array>(&tables, "ports", "utilisation").value(0);
        assert!(found.iter().zip(expected.0).all(|(f, e)| (f - e).abs() < 1e-9), "{changes} {offered}: {found:?}");
        assert!((whole - expected.1).abs() < 1e-9, "{changes} {offered}: {whole}");
        assert_eq!(summary["bottleneck"]["utilisation"].as_f64(), Some(whole));
    }
}

/// A link of 100 Mb/s and 40 ms with a bdp of buffer falls to 50 Mb/s and rises again: the flow follows.
#[test]
fn a_drop_and_a_rise_of_the_capacity_are_followed() {
    for cc in ["reno", "cubic"] {
        let (mut b, from, to) = line(Span::from_s(120), 100_000_000, Span::from_ms(20), Some("500 KB"));
        let options = b.options("rfc", tcp(json!({ "congestion_control": cc })));
        b.traffic(json!({ "kind": "bulk" }), &[(from, to)], options);
        b.plan.warmup = Time::ZERO + Span::from_s(10);
        at(&mut b, Span::from_s(40), rate(2, 50_000_000));
        at(&mut b, Span::from_s(80), rate(2, 100_000_000));
        let (tables, summary) = run(&b.plan, false);
        let utilisation = column::<Float64Array>(&tables, "ports", "utilisation").value(2);
        assert!((0.95..=1.001).contains(&utilisation), "{cc}: {utilisation}");
        // 30 s and 40 s at 100 Mb/s, 40 s at 50: 81.8 Mb/s on the wire, of which 1448 / 1538 at most is payload.
        let goodput = summary["goodput_bps"].as_f64().unwrap() / (9e9 / 110.0 * 1448.0 / 1538.0);
        assert!((0.94..=1.001).contains(&goodput), "{cc}: {goodput}");
    }
}

/// Without losses and with a round trip of 100 ms Reno adds 10 segments a second. H-TCP does so for one second (Delta_L)
/// and then adds 10 f(Delta), f = 1 + 10 x + x^2 / 4: in four seconds 10 + 10 (3 + 45 + 2.25) = 512.5.
#[test]
fn a_switch_of_congestion_controls_shows_the_growth_of_the_new_one() {
    let (mut b, from, to) = line(Span::from_s(24), 10_000_000_000, Span::from_us(49_999), None);
    let options = b.options("rfc", tcp(json!({ "timestamps": false, "ssthresh_initial": "146000 B" })));
    b.traffic(json!({ "kind": "bulk" }), &[(from, to)], options);
    let cc = Spec::named("htcp").unwrap();
    let congestion_controls = vec![CongestionControlChange { traffic: 0, congestion_control: cc }];
    b.plan.changes.push(Change { at: Time::ZERO + Span::from_s(20), links: vec![], congestion_controls });
    b.plan.record.every = Some(Span::from_ms(10));
    b.plan.record.events = true;
    let (tables, _) = run(&b.plan, false);
    let cwnd = column::<Float64Array>(&tables, "flow_samples", "cwnd_bytes");
    let segments = |s: f64| cwnd.value((s * 100.0) as usize - 1) / 1460.0;
    let before = segments(20.0) - segments(16.0);
    assert!((before - 40.0).abs() < 1.0, "Reno: {before}");
    let jump = segments(20.02) - segments(19.99);
    // The ACKs of a round trip come together: at most their one segment.
    assert!((0.0..1.01).contains(&jump), "at the switch: {jump}");
    let after = segments(24.0) - segments(20.0);
    assert!((after / 512.5 - 1.0).abs() < 0.08, "H-TCP: {after}");
    assert_eq!(column::<StringArray>(&tables, "flows", "congestion_control").value(0), "htcp");
    let kinds = column::<StringArray>(&tables, "events", "kind");
    let found = (0..kinds.len()).find(|&i| kinds.value(i) == "change").unwrap();
    assert_eq!(column::<StringArray>(&tables, "events", "reason").value(found), "htcp");
    assert_eq!(column::<Int64Array>(&tables, "events", "flow").value(found), 0);
    assert!(column::<Int64Array>(&tables, "events", "port").is_null(found));
}

/// BBR measures from the switch on and keeps the queue short; Reno after it fills the buffer again. Both fill the link.
#[test]
fn a_congestion_control_that_measures_and_paces_takes_over_and_gives_back() {
    let (mut b, from, to) = line(Span::from_s(60), 50_000_000, Span::from_ms(20), Some("250 KB"));
    let options = b.options("rfc", tcp(json!({})));
    b.traffic(json!({ "kind": "bulk" }), &[(from, to)], options);
    for (time, cc) in [(20, "bbr"), (40, "reno")] {
        let congestion_controls =
            vec![CongestionControlChange { traffic: 0, congestion_control: Spec::named(cc).unwrap() }];
        b.plan.changes.push(Change { at: Time::ZERO + Span::from_s(time), links: vec![], congestion_controls });
    }
    b.plan.record.every = Some(Span::from_ms(100));
    let (tables, _) = run(&b.plan, false);
    let queue = column::<Int64Array>(&tables, "port_samples", "queue_bytes");
    let sent = column::<Int64Array>(&tables, "port_samples", "tx_bytes");
    // Port 2 of four, ten samples a second.
    let mean = |from: usize, to: usize| {
        (from * 10..to * 10).map(|i| queue.value(4 * i + 2) as f64).sum::<f64>() / ((to - from) * 10) as f64
    };
    let share = |from: usize, to: usize| {
        let at = |s: usize| sent.value(4 * (s * 10 - 1) + 2);
        (at(to) - at(from)) as f64 * 8.0 / (50e6 * (to - from) as f64)
    };
    assert!(share(22, 40) > 0.95 && share(42, 60) > 0.95, "{} {}", share(22, 40), share(42, 60));
    assert!(mean(25, 40) < 0.3 * mean(10, 20), "{} {}", mean(25, 40), mean(10, 20));
    assert!(mean(45, 60) > 2.0 * mean(25, 40), "{} {}", mean(45, 60), mean(25, 40));
    let paced = column::<Float64Array>(&tables, "flow_samples", "pacing_bps");
    assert!(paced.is_null(150) && !paced.is_null(300) && paced.is_null(500));
}

/// Flows that begin later begin with the controller that is then in force.
#[test]
fn later_flows_have_the_new_congestion_control() {
    let (mut b, from, to) = line(Span::from_s(1), 100_000_000, Span::from_us(100), None);
    let options = b.options("rfc", tcp(json!({})));
    let kind = json!({ "kind": "transfers", "size": "10 KB", "arrivals_per_s": 100.0, "gaps": "fixed" });
    b.traffic(kind, &[(from, to)], options);
    let congestion_controls =
        vec![CongestionControlChange { traffic: 0, congestion_control: Spec::named("cubic").unwrap() }];
    b.plan.changes.push(Change { at: Time::ZERO + Span::from_ms(500), links: vec![], congestion_controls });
    let (tables, _) = run(&b.plan, false);
    let starts = column::<Int64Array>(&tables, "flows", "start_ns");
    let congestion_controls = column::<StringArray>(&tables, "flows", "congestion_control");
    for i in 0..congestion_controls.len() {
        // A transfer takes four round trips of less than a millisecond: none lives through the change.
        let expected = if starts.value(i) > 500_000_000 { "cubic" } else { "reno" };
        assert!(
            congestion_controls.value(i) == expected || (495_000_000..=500_000_000).contains(&starts.value(i)),
            "{i}"
        );
    }
    assert!(congestion_controls.len() > 90);
}

/// A window of 64240 B a round trip: first of 100 ms and then of 20 ms, each with two transmissions.
#[test]
fn a_delay_that_changes_changes_the_round_trip() {
    let (mut b, from, to) = line(Span::from_s(40), 1_000_000_000, Span::from_ms(50), None);
    let window = json!({ "timestamps": false, "window_scaling": false, "receive_window": "64240 B" });
    let options = b.options("rfc", tcp(window));
    b.traffic(json!({ "kind": "bulk" }), &[(from, to)], options);
    for link in [2, 3] {
        let delay = Some(Span::from_ms(10));
        at(&mut b, Span::from_s(20), LinkChange { link, delay, ..LinkChange::default() });
    }
    b.plan.record.every = Some(Span::from_s(1));
    let (tables, summary) = run(&b.plan, false);
    let delivered = column::<Int64Array>(&tables, "flow_samples", "delivered_bytes");
    for (from, to, delay_s) in [(5, 19, 0.1), (22, 39, 0.02)] {
        let rtt = delay_s + 2e-6 + (1538.0 + 84.0) * 8.0 * (1e-9 + 1e-10);
        let rate = (delivered.value(to) - delivered.value(from)) as f64 / (to - from) as f64;
        assert!((rate / (64_240.0 / rtt) - 1.0).abs() < 0.01, "{rate}");
    }
    assert_eq!((summary["drops"].as_u64(), summary["retransmitted_segments"].as_i64()), (Some(0), Some(0)));
}

/// Nothing is lost for a second, every second packet of it for the next, nothing again.
#[test]
fn losses_come_and_go() {
    let mut b = Builder::new(Span::from_s(3));
    let (a, c) = (b.host(), b.host());
    b.link(a, c, Rate(100_000_000), Span::from_us(1), None);
    let options = b.options("rfc", json!({}));
    let kind = json!({ "kind": "cbr", "rate": "12.304 Mbps", "packet_size": "1472 B", "gaps": "fixed" });
    b.traffic(kind, &[(a, c)], options);
    for (time, loss) in [(1, Loss::Periodic(2)), (2, Loss::None)] {
        at(&mut b, Span::from_s(time), LinkChange { loss: Some(loss), ..LinkChange::default() });
    }
    let (tables, _) = run(&b.plan, false);
    // 1000 a second.
    let lost = column::<Int64Array>(&tables, "ports", "lost").value(0);
    assert!((499..=501).contains(&lost), "{lost}");
}

/// The port to a receiver slows down: its frames fill the memory of the switch, which pauses all senders. Nothing is lost.
#[test]
fn a_hotspot_pauses_the_senders() {
    let pause = Pause { per: PausePer::Memory, xoff: Bytes(200_000), xon: Bytes(150_000), quanta: 0xFFFF };
    let mut b = Builder::new(Span::from_ms(300));
    let s = b.switch(Some(1_000_000), Span::ZERO, FlowControl::Pause(pause));
    let hosts: Vec<u32> = (0..4).map(|_| b.host()).collect();
    let links: Vec<u32> = hosts.iter().map(|&h| b.link(h, s, Rate(1_000_000_000), Span::from_us(1), None)).collect();
    let options = b.options("rfc", tcp(json!({ "congestion_control": "cubic", "rto_min": "10 ms" })));
    for (from, to) in [(0, 1), (2, 3)] {
        b.traffic(json!({ "kind": "bulk" }), &[(hosts[from], hosts[to])], options);
    }
    let hot = links[1] + 1;
    at(&mut b, Span::from_ms(100), rate(hot, 100_000_000));
    at(&mut b, Span::from_ms(200), rate(hot, 1_000_000_000));
    b.plan.record.every = Some(Span::from_ms(100));
    let (tables, summary) = run(&b.plan, false);
    assert_eq!(summary["drops"].as_u64(), Some(0));
    let sent = |port: u32, sample: usize| {
        column::<Int64Array>(&tables, "port_samples", "tx_bytes").value(sample * b.plan.links.len() + port as usize)
    };
    let share = |port: u32, i: usize| (sent(port, i) - if i > 0 { sent(port, i - 1) } else { 0 }) as f64 * 8.0 / 1e8;
    assert!(share(hot, 1) < 0.11, "{}", share(hot, 1));
    // The flow between the others is a victim: at most what the hot port lets through, a tenth, and a memory of bursts.
    let victim = links[3] + 1;
    assert!(share(victim, 0) > 0.9 && share(victim, 1) < 0.5, "{} {}", share(victim, 0), share(victim, 1));
    assert!(share(hot, 2) > 0.5 && share(victim, 2) > 0.5, "{} {}", share(hot, 2), share(victim, 2));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever changes under load, every packet is accounted for and Little's law holds (the end of a run checks both), and
    /// the same run gives the same figures.
    #[test]
    fn nothing_is_lost_of_account(
        memory in prop::option::of(30_000u64..200_000),
        pauses in any::<bool>(),
        changes in prop::collection::vec((0u64..30_000, 0u32..8, 0usize..5, 1u64..100), 1..12),
        seed in 0u64..1000,
    ) {
        let control = match memory {
            Some(m) if pauses => FlowControl::Pause(Pause { per: PausePer::Memory, xoff: Bytes(m / 2), xon: Bytes(m / 3), quanta: 0xFFFF }),
            _ => FlowControl::None,
        };
        let mut b = Builder::new(Span::from_ms(30));
        b.plan.seed = seed;
        let s = b.switch(memory, Span::from_us(1), control);
        let hosts: Vec<u32> = (0..4).map(|_| b.host()).collect();
        for &host in &hosts {
            b.link(host, s, Rate(1_000_000_000), Span::from_us(5), Some("50 KB"));
        }
        let options = b.options("rfc", tcp(json!({ "rto_min": "1 ms", "rto_initial": "2 ms" })));
        b.traffic(json!({ "kind": "bulk" }), &[(hosts[0], hosts[3]), (hosts[1], hosts[3])], options);
        b.traffic(json!({ "kind": "cbr", "rate": "300 Mbps" }), &[(hosts[2], hosts[3])], options);
        for (us, link, what, size) in changes {
            let mut change = LinkChange { link, ..LinkChange::default() };
            match what {
                0 => change.rate = Some(Rate(size * size * 1_000_000)),
                1 => change.delay = Some(Span::from_us(size)),
                2 => change.loss = Some(Loss::Bernoulli(size as f64 / 200.0)),
                3 => change.limit = Some(Limit { bytes: size * 2000, packets: u64::MAX }),
                _ => change.limit = Some(Limit { bytes: u64::MAX, packets: size }),
            }
            at(&mut b, Span::from_us(us), change);
        }
        b.plan.changes.sort_by_key(|c| c.at);
        let (_, summary) = run(&b.plan, false);
        prop_assert_eq!(run(&b.plan, false).1, summary);
    }
}
