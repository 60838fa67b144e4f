//! The transmit side of hosts in whole runs: what a short queue in front of the device does to a connection, what must not be lost.

mod common;

use arrow_array::{Array, DictionaryArray, Int64Array, StringArray, cast::AsArray, types::Int32Type};
use common::{Builder, run};
use elephan_host::{Cpu, Transmit};
use elephan_link::{CongestionManagement, FlowControl, Pause, PausePer};
use elephan_record::Tables;
use elephan_scenario::Plan;
use elephan_units::{Bytes, Packets, Rate, Span, Time};
use proptest::prelude::*;
use serde_json::{Value, json};

const GIG: Rate = Rate(1_000_000_000);

fn queue(txqueuelen: u64, ring: u64) -> Transmit {
    Transmit { txqueuelen: Packets(txqueuelen), ring: Packets(ring), ..Transmit::default() }
}

fn integers(tables: &Tables, table: &str, column: &str) -> Vec<i64> {
    let of = tables.iter().find(|t| t.name == table).unwrap().batches.iter();
    of.flat_map(|batch| {
        let column = batch.column_by_name(column).unwrap();
        column.as_any().downcast_ref::<Int64Array>().unwrap().values().to_vec()
    })
    .collect()
}

fn sum(tables: &Tables, table: &str, column: &str) -> i64 {
    integers(tables, table, column).iter().sum()
}

/// How many events are of a kind, for a reason.
fn events(tables: &Tables, kind: &str, reason: &str) -> i64 {
    let of = tables.iter().find(|t| t.name == "events").unwrap().batches.iter();
    let words = |batch: &arrow_array::RecordBatch, name: &str| -> Vec<String> {
        let column = batch.column_by_name(name).unwrap();
        match column.as_any().downcast_ref::<DictionaryArray<Int32Type>>() {
            Some(dictionary) => {
                let values = dictionary.values().as_string::<i32>();
                dictionary.keys().values().iter().map(|&key| values.value(key as usize).to_owned()).collect()
            }
            None => {
                let texts = column.as_any().downcast_ref::<StringArray>().unwrap();
                (0..texts.len()).map(|i| texts.value(i).to_owned()).collect()
            }
        }
    };
    of.map(|batch| {
        let both = words(batch, "kind").into_iter().zip(words(batch, "reason"));
        both.filter(|(k, r)| k == kind && r == reason).count() as i64
    })
    .sum()
}

/// Slow start of "winxp" times: two segments at first, every ACK one more, and 1448 bytes of payload in a packet.
fn plain(delayed: u32, window: u64) -> Value {
    json!({
        "abc": false, "initial_window": 2, "delayed_ack_segments": delayed, "timestamps": true, "mss": "1460 B",
        "receive_window": format!("{window} B"), "send_buffer": "64 MiB", "congestion_control": "reno",
    })
}

/// One connection between two hosts that a link of 1 Gb/s and a round trip of 100 ms join.
fn long_path(transmit: Transmit, delayed: u32, window: u64, duration: Span) -> Plan {
    let mut b = Builder::new(duration);
    let (from, to) = (b.host(), b.host());
    b.plan.nodes[from as usize].models.transmit = Some(transmit);
    b.link(from, to, GIG, Span::from_ms(50), None);
    let options = b.options("rfc", plain(delayed, window));
    b.traffic(json!({ "kind": "bulk" }), &[(from, to)], options);
    b.plan
}

fn goodput_mbps(txqueuelen: u64, ring: u64, delayed: u32) -> f64 {
    let mut plan = long_path(queue(txqueuelen, ring), delayed, 64 << 20, Span::from_s(60));
    plan.record.events = true;
    let (tables, summary) = run(&plan, false);
    let stalls = sum(&tables, "flows", "send_stall");
    assert!(stalls > 0);
    assert_eq!(events(&tables, "send_stall", "txqueue_full"), stalls, "each refusal is an event");
    assert_eq!((sum(&tables, "flows", "segs_retrans"), sum(&tables, "ports", "drops")), (0, 0), "nothing was lost");
    summary["goodput_bps"].as_f64().unwrap() / 1e6
}

/// Mean goodput of a minute after the stall that ends slow start, by an independent model of the same: 1 Gb/s, 100 ms, each segment
/// acknowledged, two segments at first. A quarter of the Mb/s is rounding.
#[test]
fn a_short_queue_ends_slow_start() {
    for (txqueuelen, mbps) in [(100, 83.0), (300, 124.0), (1000, 222.0), (2000, 395.0)] {
        let measured = goodput_mbps(txqueuelen, 256, 1);
        assert!((measured / mbps - 1.0).abs() < 0.01, "txqueuelen {txqueuelen}: {measured} Mb/s, not {mbps}");
    }
    for (txqueuelen, mbps) in [(100, 47.0), (300, 80.0), (1000, 149.0), (2000, 264.0)] {
        let measured = goodput_mbps(txqueuelen, 0, 1);
        assert!((measured / mbps - 1.0).abs() < 0.01, "no ring, txqueuelen {txqueuelen}: {measured} Mb/s, not {mbps}");
    }
}

/// With delayed ACKs a round of w segments adds w / 2 and leaves as many waiting, so that room for Q packets is full at a window
/// between 3 Q and 4 Q (of the round before 2 Q to 3 Q were left), by where the rounds happen to fall. Half of it and half
/// a segment a round trip more (ACKs are counted) give these bounds of the mean of a minute; 1.5 s pass before the stall. So a txqueuelen of 100 stays below
/// 150 Mb/s, and one of 2000 has thrice that.
#[test]
fn delayed_acks_stall_later() {
    let mut all = vec![];
    for (txqueuelen, ring) in [(100, 256), (300, 256), (1000, 256), (2000, 256)] {
        let room = (txqueuelen + ring) as f64;
        let mbps = |half: f64| (half + 150.0) * 8.0 * 1448.0 / 0.1 / 1e6;
        let measured = goodput_mbps(txqueuelen, ring, 2);
        let (low, high) = (mbps(1.5 * room) * (1.0 - 1.5 / 60.0), mbps(2.0 * room));
        assert!((low..high).contains(&measured), "txqueuelen {txqueuelen}: {measured} not in {low}..{high} Mb/s");
        all.push(measured);
    }
    assert!(all[0] < 150.0 && all[3] > 3.0 * all[0], "{all:?} Mb/s");
}

fn stalls(plan: &Plan) -> i64 {
    let (tables, _) = run(plan, false);
    sum(&tables, "flows", "send_stall")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// A window of W segments that doubles each round trip leaves at most W / 2 waiting at a device as slow as the path, and just
    /// that when the last doubling leads to W; how the room is split between qdisc and ring is all the same.
    #[test]
    fn half_the_window_must_fit(power in 5u32..10, less in 0u64..16, ring in 1u64..9) {
        let window = (1u64 << power) - less;
        let need = window.div_ceil(2);
        let of = |room: u64| stalls(&long_path(queue(room - ring, ring), 1, window * 1448, Span::from_ms(1500)));
        prop_assert_eq!(of(need), 0);
        if less == 0 {
            prop_assert!(of(need - 2) > 0);
        }
    }
}

/// A host of a gigabit, a switch with so many bytes at the port to 622.08 Mb/s, and 50 ms to the other host.
fn fast_to_slow(transmit: Option<Transmit>, buffer: &str) -> (Builder, u32, u32) {
    let mut b = Builder::new(Span::from_s(3));
    let (from, to) = (b.host(), b.host());
    let switch = b.switch(None, Span::ZERO, FlowControl::None);
    b.plan.nodes[from as usize].models.transmit = transmit;
    b.link(from, switch, GIG, Span::from_us(1), None);
    b.link(switch, to, Rate(622_080_000), Span::from_ms(25), Some(buffer));
    (b, from, to)
}

/// Slow start to a window of the bandwidth-delay product bursts at twice the slow rate, for which 30 kB are too few; paced at the
/// slow rate by the device they are plenty. By the gap that makes the same rate for full frames, likewise. 2000 segments a round trip
/// are 463 Mb/s, and the eleven round trips of slow start take 0.55 s.
#[test]
fn pacing_at_the_device_needs_no_buffer() {
    let run_with = |transmit: Option<Transmit>| {
        let (mut b, from, to) = fast_to_slow(transmit, "30 kB");
        let options = b.options("rfc", plain(1, 2000 * 1448));
        b.traffic(json!({ "kind": "bulk" }), &[(from, to)], options);
        let (tables, summary) = run(&b.plan, false);
        let lost = sum(&tables, "ports", "drops");
        (lost, sum(&tables, "flows", "send_stall"), summary["goodput_bps"].as_f64().unwrap() / 1e6)
    };
    let roomy = Transmit { txqueuelen: Packets(5000), ..Transmit::default() };
    let (lost, ..) = run_with(None);
    assert!(lost > 0);
    // 1538 B: 12.304 us on the fast link, 19.779 us on the slow one.
    let paced = Transmit { pacing: Some(Rate(622_080_000)), ..roomy };
    let spaced = Transmit { gap: Some(Span(7_475_000)), ..roomy };
    for (what, transmit) in [("rate", paced), ("gap", spaced)] {
        let (lost, stalls, mbps) = run_with(Some(transmit));
        assert_eq!((lost, stalls), (0, 0), "{what}");
        assert!(mbps > 463.0 * 2.4 / 3.0, "{what}: {mbps} Mb/s");
    }
}

/// 1000 datagrams at once find 100 places and the wire: the rest is dropped where it is, with a reason, and the 101 arrive 1/1 Gb/s
/// apart, or at the pace of the device.
#[test]
fn datagrams_that_find_no_place_are_dropped() {
    for pacing in [None, Some(Rate(100_000_000))] {
        let mut b = Builder::new(Span::from_ms(200));
        let (from, to) = (b.host(), b.host());
        b.plan.nodes[from as usize].models.transmit = Some(Transmit { pacing, ..queue(60, 40) });
        b.link(from, to, GIG, Span::from_ms(1), None);
        b.plan.record.events = true;
        b.plan.record.every = Some(Span::from_us(500));
        let options = b.options("rfc", json!({}));
        let burst = json!({ "kind": "cbr", "rate": "100 Tbps", "packet_size": "1472 B" });
        b.traffic(burst, &[(from, to)], options);
        // At 100 Tb/s a datagram leaves every 123 ps.
        b.plan.traffic[0].stop = Some(Time::ZERO + Span(1000 * 123));
        let (tables, _) = run(&b.plan, false);
        let sent = sum(&tables, "flows", "data_segs_out");
        assert!(sent > 900, "{sent}");
        assert_eq!(events(&tables, "drop", "txqueue_full"), sent - 101);
        assert_eq!(sum(&tables, "flows", "data_segs_in"), 101);
        assert_eq!(integers(&tables, "ports", "drops")[0], sent - 101);
        // After half a millisecond 40 of 12.304 us are over, and 4 of 123.04 us; the 5th and 41st are on the wire.
        let at_500_us = |column: &str| integers(&tables, "transmit_samples", column)[0];
        let waiting = if pacing.is_none() { (20, 40) } else { (56, 40) };
        assert_eq!((at_500_us("qdisc_packets"), at_500_us("ring_packets")), waiting);
    }
}

/// What a device adds is added to the first round trip: 100 ms and twice the time of the packets become 107 ms and that.
#[test]
fn a_slow_device_adds_its_delay() {
    let rtt = |delay: Span| {
        let transmit = Transmit { delay, ..Transmit::default() };
        let (tables, _) = run(&long_path(transmit, 1, 64 << 20, Span::from_s(1)), false);
        sum(&tables, "flows", "min_rtt_ns")
    };
    assert_eq!(rtt(Span::from_ms(7)) - rtt(Span::ZERO), 7_000_000);
}

/// Two hosts of a gigabit send to a third through a switch that pauses them: their own queues fill, and so TCP hears of it. Without
/// a transmit side they wait in hosts without bound.
#[test]
fn a_pause_reaches_tcp() {
    let run_with = |transmit: Option<Transmit>| {
        let mut b = Builder::new(Span::from_ms(400));
        let pause = Pause { xoff: Bytes(60_000), xon: Bytes(30_000), per: PausePer::Memory, quanta: 0xFFFF };
        let switch = b.switch(Some(200_000), Span::ZERO, FlowControl::Pause(pause));
        let to = b.host();
        let pairs: Vec<(u32, u32)> = (0..2).map(|_| (b.host(), to)).collect();
        for &(from, _) in &pairs {
            b.plan.nodes[from as usize].models.transmit = transmit;
            b.link(from, switch, GIG, Span::from_us(5), None);
        }
        b.link(to, switch, GIG, Span::from_us(5), None);
        let options = b.options("rfc", plain(1, 4 << 20));
        b.traffic(json!({ "kind": "bulk" }), &pairs, options);
        let (tables, summary) = run(&b.plan, false);
        assert_eq!(sum(&tables, "ports", "drops"), 0);
        (integers(&tables, "flows", "send_stall"), summary["goodput_bps"].as_f64().unwrap() / 1e6)
    };
    let (stalls, _) = run_with(None);
    assert_eq!(stalls, [0, 0]);
    let (stalls, mbps) = run_with(Some(queue(50, 50)));
    assert!(stalls.iter().all(|&n| n > 0), "{stalls:?}");
    assert!(mbps > 900.0, "{mbps} Mb/s");
}

/// Four connections of a host share its queue: the one refused is whoever comes to a full queue, and all are treated alike
/// in the long run.
#[test]
fn connections_of_a_host_share_its_queue() {
    let mut plan = long_path(queue(100, 256), 1, 64 << 20, Span::from_s(60));
    plan.traffic[0].flows = vec![plan.traffic[0].flows[0]; 4];
    plan.links.iter_mut().for_each(|link| link.delay = Span::from_ms(5));
    let (tables, _) = run(&plan, false);
    let (stalls, delivered) = (integers(&tables, "flows", "send_stall"), integers(&tables, "flows", "delivered_bytes"));
    assert!(stalls.iter().all(|&n| n > 0), "{stalls:?}");
    let total = delivered.iter().sum::<i64>() as f64;
    let squares: f64 = delivered.iter().map(|&d| (d as f64).powi(2)).sum();
    assert!(total * total / (4.0 * squares) > 0.8, "{delivered:?}");
}

/// With bursts a place of the queue holds up to 45 segments (64 KiB), so that the same txqueuelen stalls much later or never.
#[test]
fn bursts_take_one_place() {
    let of = |burst| {
        let transmit = Transmit { burst, ..queue(50, 50) };
        let (tables, summary) = run(&long_path(transmit, 2, 16 << 20, Span::from_s(10)), false);
        (sum(&tables, "flows", "send_stall"), summary["goodput_bps"].as_f64().unwrap() / 1e6)
    };
    let (single, in_bursts) = (of(None), of(Some(Bytes(64 << 10))));
    assert!(single.0 > 0 && in_bursts.1 > 1.5 * single.1, "{single:?} {in_bursts:?}");
}

/// A processor that takes 100 us for a packet it sends makes 10,000 segments a second, 116 Mb/s; in bursts, each one packet to it, more
/// than five times as much.
#[test]
fn a_processor_sends_bursts_as_one() {
    let of = |burst| {
        let mut plan = long_path(Transmit { burst, ..queue(10_000, 256) }, 2, 16 << 20, Span::from_s(4));
        let cost = Span::from_us(100);
        plan.nodes[0].models.cpu = Some(Cpu { transmit: cost, ack: Span::ZERO, ..Cpu::default() });
        plan.links.iter_mut().for_each(|link| link.delay = Span::from_ms(5));
        let (_, summary) = run(&plan, false);
        summary["goodput_bps"].as_f64().unwrap() / 1e6
    };
    let (single, in_bursts) = (of(None), of(Some(Bytes(64 << 10))));
    assert!(single < 116.0 && in_bursts > 5.0 * single, "{single} and {in_bursts} Mb/s");
}

/// Beside limiters of a congestion management, and under RDMA, all packets are accounted for.
#[test]
fn beside_limiters() {
    let mut b = Builder::new(Span::from_ms(60));
    let words = json!({ "kind": "qcn", "set_point": "26176 B" });
    let management: CongestionManagement = serde_json::from_value(words).unwrap();
    b.plan.congestion_management = management;
    let switch = b.switch(None, Span::ZERO, FlowControl::None);
    let to = b.host();
    let pairs: Vec<(u32, u32)> = (0..3).map(|_| (b.host(), to)).collect();
    for &(from, _) in &pairs {
        b.plan.nodes[from as usize].models.transmit =
            Some(Transmit { pacing: Some(Rate(5_000_000_000)), ..queue(20, 20) });
        b.link(from, switch, Rate(10_000_000_000), Span::from_us(1), None);
    }
    b.link(switch, to, Rate(2_000_000_000), Span::from_us(1), Some("150 kB"));
    b.link(to, switch, Rate(2_000_000_000), Span::from_us(1), None);
    let options = b.options("rfc", plain(1, 1 << 20));
    b.traffic(json!({ "kind": "bulk" }), &pairs, options);
    let (tables, _) = run(&b.plan, false);
    assert!(sum(&tables, "flows", "send_stall") > 0);
}

fn same_rows(a: &Tables, b: &Tables, name: &str) -> bool {
    let batches = |tables: &Tables| {
        let table = tables.iter().find(|t| t.name == name).unwrap();
        table.batches.iter().map(|b| b.columns().to_vec()).collect::<Vec<_>>()
    };
    batches(a) == batches(b)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Both paths through the ports refuse the same segments and datagrams at the same picosecond; looking changes nothing.
    #[test]
    fn both_paths_agree(
        rooms in prop::collection::vec((0u64..12, 1u64..9, 0usize..4), 2..4),
        burst in prop::option::of(2000u64..9000),
        bound in prop::option::of(1u64..20_000),
        udp in any::<bool>(),
    ) {
        let mut b = Builder::new(Span::from_ms(20));
        let switch = b.switch(None, Span::from_us(1), FlowControl::None);
        let mut hosts = vec![];
        for (txqueuelen, ring, device) in rooms {
            let host = b.host();
            let mut words = queue(txqueuelen, ring);
            (words.burst, words.small_queues) = (burst.map(Bytes), bound.map(Bytes));
            match device {
                1 => words.pacing = Some(Rate(300_000_000)),
                2 => words.gap = Some(Span::from_us(5)),
                3 => words.delay = Span::from_us(20),
                _ => {}
            }
            b.plan.nodes[host as usize].models.transmit = Some(words);
            b.link(host, switch, GIG, Span::from_us(50), None);
            hosts.push(host);
        }
        for link in &mut b.plan.links {
            if link.from == switch {
                link.queue = serde_json::from_value(json!({ "kind": "fifo", "limit": "20 p" })).unwrap();
            }
        }
        let tcp = json!({ "rto_min": "1 ms", "rto_initial": "2 ms", "delayed_ack_timeout": "500 us" });
        let options = b.options("rfc", tcp);
        let first = hosts[0];
        for &host in &hosts[1..] {
            b.traffic(json!({ "kind": "bulk" }), &[(host, first), (first, host)], options);
            if udp {
                b.traffic(json!({ "kind": "cbr", "rate": "700 Mbps" }), &[(first, host)], options);
            }
        }
        b.plan.record.events = true;
        let (fast, _) = run(&b.plan, false);
        let (general, _) = run(&b.plan, true);
        b.plan.record.every = Some(Span::from_us(37));
        let (probed, _) = run(&b.plan, false);
        let (probed_general, _) = run(&b.plan, true);
        for table in ["flows", "ports"] {
            prop_assert!(same_rows(&fast, &general, table), "{}: fast and general", table);
            prop_assert!(same_rows(&fast, &probed, table), "{}: without and with probes", table);
        }
        for table in ["flow_samples", "port_samples", "transmit_samples"] {
            prop_assert!(same_rows(&probed, &probed_general, table), "{}: samples", table);
        }
        let stalls = sum(&fast, "flows", "send_stall");
        prop_assert_eq!(events(&fast, "send_stall", "txqueue_full"), events(&general, "send_stall", "txqueue_full"));
        prop_assert!(events(&fast, "send_stall", "txqueue_full") >= stalls);
    }
}
