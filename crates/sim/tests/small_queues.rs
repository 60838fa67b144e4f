//! TCP small queues in whole runs: a host whose own port is the bottleneck, alone and shared, in bursts, paused, behind a processor.

mod common;

use arrow_array::{Array, Float64Array, Int64Array};
use common::{Builder, run};
use elephan_host::{Cpu, Transmit};
use elephan_link::{FlowControl, Pause, PausePer};
use elephan_record::Tables;
use elephan_scenario::{Change, Ecmp, LinkChange, Plan};
use elephan_units::{Bytes, Packets, Rate, Span, Time};
use proptest::prelude::*;
use serde_json::{Value, json};

const GIG: Rate = Rate(1_000_000_000);
/// A full frame on a gigabit wire, 1538 B, and an ACK of 52 B on it, 90 B.
const FRAME_NS: i64 = 12_304;
const ACK_NS: i64 = 720;
/// Payload of full frames at a gigabit.
const FULL_MBPS: f64 = 1000.0 * 1448.0 / 1538.0;

fn column<T: Array + Clone + 'static>(tables: &Tables, table: &str, name: &str) -> Vec<T> {
    let of = tables.iter().find(|t| t.name == table).unwrap().batches.iter();
    of.map(|batch| batch.column_by_name(name).unwrap().as_any().downcast_ref::<T>().unwrap().clone()).collect()
}

fn integers(tables: &Tables, table: &str, name: &str) -> Vec<i64> {
    column::<Int64Array>(tables, table, name).iter().flat_map(|part| part.values().to_vec()).collect()
}

fn floats(tables: &Tables, table: &str, name: &str) -> Vec<f64> {
    column::<Float64Array>(tables, table, name).iter().flat_map(|part| part.values().to_vec()).collect()
}

fn sum(tables: &Tables, table: &str, name: &str) -> i64 {
    integers(tables, table, name).iter().sum()
}

fn mbps(summary: &Value) -> f64 {
    summary["goodput_bps"].as_f64().unwrap() / 1e6
}

/// Reno from `ssthresh` on, each segment acknowledged, 1448 bytes of payload in a packet.
fn reno(ssthresh: u64) -> Value {
    json!({
        "ssthresh_initial": format!("{ssthresh} B"), "delayed_ack_segments": 1, "timestamps": true, "mss": "1460 B",
        "receive_window": "64 MiB", "send_buffer": "64 MiB", "congestion_control": "reno",
    })
}

fn small(bound: u64) -> Transmit {
    Transmit { txqueuelen: Packets(100), ring: Packets(0), small_queues: Some(Bytes(bound)), ..Transmit::default() }
}

/// Connections between two hosts that a link of 1 Gb/s and a round trip of 20 ms join.
fn path(transmit: Transmit, tcp: Value, connections: usize) -> Plan {
    let mut b = Builder::new(Span::from_s(8));
    b.plan.warmup = Time::ZERO + Span::from_s(5);
    let (from, to) = (b.host(), b.host());
    b.plan.nodes[from as usize].models.transmit = Some(transmit);
    b.link(from, to, GIG, Span::from_ms(10), None);
    let options = b.options("rfc", tcp);
    b.traffic(json!({ "kind": "bulk" }), &vec![(from, to); connections], options);
    b.plan
}

/// 1626 segments fill a round trip of 20.013 ms. A window above them waits in the host: without a bound it stalls at 100 packets. 128 KiB are 87
/// packets of 1500 B and a part, so that a socket stops with 88 in its port, the one on the wire among them, before the
/// window of 1626 and 87 segments, which then is not the limit and grows no more.
#[test]
fn the_bound_is_all_that_waits() {
    let tcp = || reno(2_200_000);
    let (tables, _) = run(&path(Transmit { small_queues: None, ..small(1) }, tcp(), 1), false);
    assert!(sum(&tables, "flows", "send_stall") > 0);
    let mut plan = path(small(128 << 10), tcp(), 1);
    plan.record.every = Some(Span::from_s(1));
    let (tables, summary) = run(&plan, false);
    assert_eq!((sum(&tables, "flows", "send_stall"), sum(&tables, "flows", "segs_retrans")), (0, 0));
    assert_eq!(integers(&tables, "ports", "queue_max_packets")[0], 87);
    assert_eq!(sum(&tables, "flows", "max_rtt_ns"), 20_000_000 + 88 * FRAME_NS + ACK_NS);
    assert!((mbps(&summary) / FULL_MBPS - 1.0).abs() < 0.01, "{summary}");
    let windows: Vec<i64> = floats(&tables, "flow_samples", "cwnd_bytes").iter().map(|w| *w as i64 / 1448).collect();
    assert!((1712..1717).contains(windows.last().unwrap()), "{windows:?}");
    assert_eq!(windows.last(), windows.get(windows.len() - 2), "it grows no more");
    // It is the sender's own limit from then on.
    assert!(sum(&tables, "flows", "snd_lim_time_snd_ns") > 3_000_000_000);
}

/// With a large bound it is what 1.2 times the rate sends in 1/1024 s: 1448 B in 12.304 us are 137.9 kB, 91 packets and a part, whatever
/// the window.
#[test]
fn a_millisecond_of_the_rate() {
    let (tables, summary) = run(&path(small(1 << 20), reno(2_200_000), 1), false);
    assert_eq!(sum(&tables, "flows", "send_stall"), 0);
    assert!((90..=92).contains(&integers(&tables, "ports", "queue_max_packets")[0]));
    assert!((mbps(&summary) / FULL_MBPS - 1.0).abs() < 0.01, "{summary}");
}

/// A window that is never filled says nothing of a millisecond: slow start goes on until it is twice what is out (Linux
/// `tcp_is_cwnd_limited`), and the bound alone holds. 43 packets and a part are 64 KiB.
#[test]
fn slow_start_ends_at_twice_what_is_out() {
    let mut plan = path(small(64 << 10), reno(1 << 30), 1);
    plan.record.every = Some(Span::from_s(1));
    let (tables, summary) = run(&plan, false);
    let window = *floats(&tables, "flow_samples", "cwnd_bytes").last().unwrap() as i64 / 1448;
    let out = 1626 + 43;
    assert!((2 * out - 10..=2 * out + 2).contains(&window), "{window}");
    assert_eq!((sum(&tables, "flows", "send_stall"), integers(&tables, "ports", "queue_max_packets")[0]), (0, 43));
    assert!((mbps(&summary) / FULL_MBPS - 1.0).abs() < 0.01, "{summary}");
}

/// Four that begin one after the other, in a second, have as much in the queue each, and so of the wire.
#[test]
fn four_share_a_port() {
    let mut plan = path(small(32 << 10), reno(600_000), 4);
    plan.traffic[0].start = serde_json::from_value(json!({ "uniform": ["0 s", "1 s"] })).unwrap();
    let (tables, summary) = run(&plan, false);
    assert_eq!(sum(&tables, "flows", "send_stall"), 0);
    // 32 KiB are 21 packets and a part: 22 each, one of all on the wire.
    assert_eq!(integers(&tables, "ports", "queue_max_packets")[0], 4 * 22 - 1);
    let shares = floats(&tables, "flows", "goodput_bps");
    assert!(shares.iter().all(|&share| (share / 1e6 / (FULL_MBPS / 4.0) - 1.0).abs() < 0.02), "{shares:?}");
    assert!((mbps(&summary) / FULL_MBPS - 1.0).abs() < 0.01, "{summary}");
}

/// A burst is one packet, of which two are always allowed: the port holds the bound and a burst at most. What it may be is a millisecond's, 95
/// segments at 1.2 times the rate, 44 in 64 KiB.
#[test]
fn a_burst_is_one_packet_of_the_socket() {
    let transmit = Transmit { burst: Some(Bytes(64 << 10)), ..small(100_000) };
    let (tables, summary) = run(&path(transmit, reno(2_200_000), 1), false);
    let most = integers(&tables, "ports", "queue_max_packets")[0];
    // 66 packets are 99 kB: at most so many below when a burst goes.
    assert!(most <= 66 + 45 && most > 66, "{most}");
    assert_eq!(sum(&tables, "flows", "send_stall"), 0);
    assert!((mbps(&summary) / FULL_MBPS - 1.0).abs() < 0.01, "{summary}");
}

/// A processor of 5 us a packet keeps up with the wire, one of 20 us sends 579 Mb/s, and nothing waits.
#[test]
fn behind_a_processor() {
    let of = |us: u64| {
        let mut plan = path(small(20_000), reno(2_200_000), 1);
        let cost = Span::from_us(us);
        plan.nodes[0].models.cpu = Some(Cpu { transmit: cost, ..Cpu::free() });
        let (tables, summary) = run(&plan, false);
        assert_eq!(sum(&tables, "flows", "send_stall"), 0);
        mbps(&summary)
    };
    let (fast, slow) = (of(5), of(20));
    assert!(
        (fast / FULL_MBPS - 1.0).abs() < 0.01 && (slow / (1448.0 * 8.0 / 20.0) - 1.0).abs() < 0.01,
        "{fast} {slow}"
    );
}

/// Two ports to a switch, over which the packets of a connection are spread one by one, and one of which fails for 20 ms: what was below
/// is forgotten with it, and the connection goes on. 40 kB are 27 packets in both ports together.
#[test]
fn over_two_ports_of_which_one_fails() {
    let mut b = Builder::new(Span::from_s(1));
    b.plan.ecmp = Ecmp::Packet;
    let (from, to) = (b.host(), b.host());
    let switch = b.switch(None, Span::ZERO, FlowControl::None);
    b.plan.nodes[from as usize].models.transmit = Some(small(40_000));
    let ports = [0; 2].map(|_| b.link(from, switch, GIG, Span::from_us(100), None));
    b.link(switch, to, Rate(10 * GIG.0), Span::from_us(100), None);
    for (ms, up) in [(300, false), (320, true)] {
        let one = |link| LinkChange { link, up: Some(up), ..LinkChange::default() };
        let links = vec![one(ports[0]), one(ports[0] ^ 1)];
        b.plan.changes.push(Change { at: Time::ZERO + Span::from_ms(ms), links, congestion_controls: vec![] });
    }
    let options = b.options("linux", json!({}));
    b.traffic(json!({ "kind": "bulk" }), &[(from, to)], options);
    b.plan.warmup = Time::ZERO + Span::from_ms(900);
    let (tables, summary) = run(&b.plan, false);
    let most: i64 =
        ports.iter().map(|&port| integers(&tables, "ports", "queue_max_packets")[port as usize]).max().unwrap();
    assert!(most <= 27 && sum(&tables, "flows", "send_stall") == 0, "{most}");
    assert!(mbps(&summary) > 0.9 * 2.0 * FULL_MBPS, "{summary}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// No wake-up is lost: whatever the bound, the pace and the burst, the wire of a socket that has data is never idle, once the window is
    /// more than the path holds.
    #[test]
    fn the_wire_is_never_idle(bound in prop_oneof![1u64..3000, 3000u64..60_000], device in 0usize..4, mbps in 10u64..10_000, burst in prop::option::of(2000u64..20_000), general in any::<bool>()) {
        let mut b = Builder::new(Span::from_ms(20));
        b.plan.warmup = Time::ZERO + Span::from_ms(10);
        let (from, to) = (b.host(), b.host());
        let mut transmit = Transmit { txqueuelen: Packets(2000), burst: burst.map(Bytes), ..small(bound) };
        let rate = Rate(mbps * 1_000_000 + 7);
        let pace = Rate(rate.0 / 3);
        match device {
            1 => transmit.pacing = Some(pace),
            2 => transmit.gap = Some(Span::from_us(5)),
            3 => transmit.delay = Span::from_us(20),
            _ => {}
        }
        b.plan.nodes[from as usize].models.transmit = Some(transmit);
        b.link(from, to, rate, Span::from_us(1), None);
        let options = b.options("rfc", reno(1 << 30));
        b.traffic(json!({ "kind": "bulk" }), &[(from, to)], options);
        let (tables, _) = run(&b.plan, general);
        let busy = floats(&tables, "ports", "utilisation")[0];
        let frame = 1538.0 * 8.0 / rate.0 as f64;
        let expected = match device {
            1 => 1.0 / 3.0,
            2 => frame / (frame + 5e-6),
            _ => 1.0,
        };
        // A frame begun or ended at an edge of the 10 ms.
        let edge = if expected < 1.0 { 2.0 * frame / 0.01 } else { 0.0 };
        prop_assert!((busy - expected).abs() < edge + 1e-9, "{busy}, not {expected}");
    }

    /// Nor where PAUSE holds the device: what two hosts bring through a switch that pauses them is what they bring without a bound, and
    /// the port of a socket holds no more than the bound and a segment. Nobody looks again and again while the port is paused.
    #[test]
    fn a_pause_loses_no_wake_up(bound in 3000u64..40_000, xoff in 30_000u64..90_000, xon in prop_oneof![Just(0u64), 0u64..30_000], delay_us in 1u64..100, slow in prop_oneof![Just(1u64), 2u64..11]) {
        let of = |bound: Option<u64>| {
            let mut b = Builder::new(Span::from_ms(60));
            b.plan.warmup = Time::ZERO + Span::from_ms(20);
            let pause = Pause { xoff: Bytes(xoff), xon: Bytes(xon), per: PausePer::Memory, quanta: 0xFFFF };
            let switch = b.switch(Some(300_000), Span::ZERO, FlowControl::Pause(pause));
            let to = b.host();
            let pairs: Vec<(u32, u32)> = (0..2).map(|_| (b.host(), to)).collect();
            for &(from, _) in &pairs {
                let transmit = Transmit { txqueuelen: Packets(10_000), ..small(1) };
                b.plan.nodes[from as usize].models.transmit = Some(Transmit { small_queues: bound.map(Bytes), ..transmit });
                b.link(from, switch, GIG, Span::from_us(delay_us), None);
            }
            b.link(to, switch, Rate(GIG.0 / slow), Span::from_us(delay_us), None);
            let options = b.options("rfc", reno(1 << 30));
            b.traffic(json!({ "kind": "bulk" }), &pairs, options);
            let (tables, summary) = run(&b.plan, false);
            let lost = sum(&tables, "flows", "segs_retrans") + sum(&tables, "flows", "send_stall");
            let most = integers(&tables, "ports", "queue_max_packets")[0];
            (lost, mbps(&summary), most, ["events", "packet_hops"].map(|name| summary[name].as_u64().unwrap()))
        };
        let (free, held) = (of(None), of(Some(bound)));
        prop_assert_eq!((free.0, held.0), (0, 0));
        prop_assert!(held.1 > 0.999 * free.1, "{} and {} Mb/s", held.1, free.1);
        prop_assert!(held.2 <= bound as i64 / 1500 + 1, "{} packets", held.2);
        // A timer for a segment and one for a pause, if all of them wait.
        prop_assert!(held.3[0] <= free.3[0] + held.3[1], "{:?} {:?}", held.3, free.3);
    }
}
