//! The receive side and the processor of a host in a network: bursts, readers, GRO, the walk of SACK, the logger's silence.

mod common;

use arrow_array::{Array, Int64Array, StringArray};
use common::{Builder, run};
use elephan_host::{Cpu, Receive};
use elephan_link::{Concerned, FlowControl, Loss};
use elephan_record::Tables;
use elephan_units::{Rate, Span, Time};
use proptest::prelude::*;
use serde_json::{Value, json};

const GIGABIT: Rate = Rate(1_000_000_000);

fn receive(words: Value) -> Option<Receive> {
    Some(serde_json::from_value(words).unwrap())
}

/// A processor that costs nothing but what `words` say.
fn cpu(words: Value) -> Option<Cpu> {
    let mut all = json!({ "transmit": "0 s", "interrupt": "0 s", "receive": "0 s", "ack": "0 s", "segment": "0 s" });
    all.as_object_mut().unwrap().extend(words.as_object().unwrap().clone());
    Some(serde_json::from_value(all).unwrap())
}

/// The values of a column, over all batches.
fn whole(tables: &Tables, table: &str, name: &str) -> Vec<i64> {
    let batches = &tables.iter().find(|t| t.name == table).unwrap().batches;
    let of = |batch: &elephan_record::RecordBatch| {
        let column = batch.column_by_name(name).unwrap().clone();
        column.as_any().downcast_ref::<Int64Array>().unwrap().iter().map(|v| v.unwrap_or(-1)).collect::<Vec<_>>()
    };
    batches.iter().flat_map(of).collect()
}

fn words(tables: &Tables, table: &str, name: &str) -> Vec<String> {
    let batches = &tables.iter().find(|t| t.name == table).unwrap().batches;
    let of = |batch: &elephan_record::RecordBatch| {
        let column = arrow_cast(batch.column_by_name(name).unwrap());
        column.iter().map(|v| v.unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    batches.iter().flat_map(of).collect()
}

fn arrow_cast(column: &arrow_array::ArrayRef) -> StringArray {
    match column.as_any().downcast_ref::<StringArray>() {
        Some(text) => text.clone(),
        None => {
            let words = column.as_any().downcast_ref::<arrow_array::DictionaryArray<arrow_array::types::Int32Type>>();
            let words = words.unwrap();
            let values = words.values().as_any().downcast_ref::<StringArray>().unwrap();
            words.keys().iter().map(|key| key.map(|key| values.value(key as usize))).collect()
        }
    }
}

/// Two hosts on a gigabit link with 1 ms of delay.
fn pair(duration: Span, delay: Span) -> (Builder, u32, u32) {
    let mut b = Builder::new(duration);
    let (a, c) = (b.host(), b.host());
    b.link(a, c, GIGABIT, delay, None);
    (b, a, c)
}

/// 5000 frames of 1538 bytes back to back, for a server of 15 us with room for 556: 5000 (1 - 12.304/15) - 556 = 342.7 are lost. It works
/// 4657 x 15 us = 69.86 ms from the first frame on (1.012 ms), so that the logger, due after 10 ms, writes its first line at 70.87 ms.
#[test]
fn a_burst_loses_its_excess_and_silences_the_logger() {
    let (mut b, a, c) = pair(Span::from_s(1), Span::from_ms(1));
    let options = b.options("rfc", json!({}));
    b.traffic(json!({ "kind": "cbr", "rate": "1 Gbps" }), &[(a, c)], options);
    b.plan.traffic[0].stop = Some(Time::ZERO + Span::from_us(61_515));
    b.plan.record.events = true;
    b.plan.record.every = Some(Span::from_ms(10));
    let models = &mut b.plan.nodes[c as usize].models;
    models.receive = receive(json!({ "interrupts_per_s": 0, "backlog_full": "hold" }));
    models.cpu = cpu(json!({ "receive": "15 us", "logger": "10 ms" }));
    let (tables, summary) = run(&b.plan, false);
    let drops = whole(&tables, "hosts", "drops_ring")[0];
    assert!((drops as f64 - 342.7).abs() < 2.0, "{drops}");
    assert_eq!(summary["drops"], drops);
    assert_eq!(whole(&tables, "flows", "data_segs_in")[0], 5000 - drops);
    let reasons = words(&tables, "events", "reason");
    assert_eq!(reasons.iter().filter(|reason| *reason == "rx_ring").count() as i64, drops);
    assert!(words(&tables, "events", "node").iter().all(|node| node == "n1"));
    assert_eq!(words(&tables, "events", "kind").iter().filter(|kind| *kind == "logger_gap").count(), 1);
    assert_eq!(whole(&tables, "logger_gaps", "begin_ns"), [0]);
    let gap_ms = whole(&tables, "logger_gaps", "duration_ns")[0] as f64 / 1e6;
    assert!((gap_ms - 70.87).abs() < 0.05, "{gap_ms}");
    assert!((summary["hosts"]["cpu_max"].as_f64().unwrap() - 0.069_86).abs() < 1e-4, "{}", summary["hosts"]);
    assert_eq!(whole(&tables, "host_samples", "backlog_packets")[4], 300);
    assert_eq!(whole(&tables, "host_samples", "ring_packets")[5], 256);
}

/// Claim 004-7: 50,000 packets a second are received whole when they come evenly and not in bursts, by a server of 66,667 a second. A burst of
/// 4000 loses 662 under the throttle of Linux 2.4 (see the model's test).
#[test]
fn a_slow_receiver_loses_bursts_at_a_sustainable_mean() {
    let dropped = |rate: &str, stop_us: u64| {
        let (mut b, a, c) = pair(Span::from_s(1), Span::from_ms(1));
        let options = b.options("rfc", json!({}));
        b.traffic(json!({ "kind": "cbr", "rate": rate }), &[(a, c)], options);
        b.plan.traffic[0].stop = Some(Time::ZERO + Span::from_us(stop_us));
        let models = &mut b.plan.nodes[c as usize].models;
        models.receive = receive(json!({ "interrupts_per_s": 0 }));
        models.cpu = cpu(json!({ "receive": "15 us" }));
        run(&b.plan, false).1["drops"].as_i64().unwrap()
    };
    assert_eq!(dropped("615.2 Mbps", 80_000), 0);
    let lost = dropped("1 Gbps", 49_216);
    assert!((lost - 662).abs() <= 8, "{lost}");
}

/// Poisson arrivals of 80,000 a second at 10 us each: the processor works 80 % of the time.
#[test]
fn the_processor_works_as_much_as_comes() {
    let (mut b, a, c) = pair(Span::from_s(2), Span::from_ms(1));
    let options = b.options("rfc", json!({}));
    let kind = json!({ "kind": "cbr", "rate": "91.52 Mbps", "packet_size": "77 B", "gaps": "exponential" });
    b.traffic(kind, &[(a, c)], options);
    b.plan.nodes[c as usize].models.cpu = cpu(json!({ "receive": "7 us", "interrupt": "3 us" }));
    let (tables, summary) = run(&b.plan, false);
    assert!((summary["hosts"]["cpu_max"].as_f64().unwrap() - 0.8).abs() < 0.01, "{}", summary["hosts"]);
    assert_eq!(
        whole(&tables, "hosts", "drops_backlog"),
        [0],
        "without a receive side frames wait as long as they must"
    );
}

/// A receive side without delays and a processor without costs change nothing at all: the flows are the same to the nanosecond.
#[test]
fn an_infinitely_fast_host_is_the_ideal_one() {
    let tables = |modelled: bool| {
        let (mut b, a, c) = pair(Span::from_s(3), Span::from_ms(10));
        let options = b.options("linux", json!({}));
        b.traffic(json!({ "kind": "bulk" }), &[(a, c), (a, c)], options);
        b.traffic(json!({ "kind": "messages", "size": "30 KB", "load": "10 Mbps" }), &[(c, a)], options);
        b.plan.links[0].loss = Loss::Periodic(3000);
        b.plan.links[0].impairments.packets = Concerned::Data;
        for node in [a, c].into_iter().filter(|_| modelled) {
            let models = &mut b.plan.nodes[node as usize].models;
            models.receive = receive(json!({ "interrupts_per_s": 0 }));
            models.cpu = cpu(json!({}));
        }
        run(&b.plan, false).0
    };
    let (ideal, modelled) = (tables(false), tables(true));
    for name in ["flows", "messages", "ports"] {
        let of = |tables: &Tables| tables.iter().find(|t| t.name == name).unwrap().batches.clone();
        assert_eq!(of(&ideal), of(&modelled), "{name}");
    }
}

/// An application that reads 200 Mb/s gets 200 Mb/s: the window closes, nothing is lost.
#[test]
fn a_slow_reader_closes_the_window() {
    let (mut b, a, c) = pair(Span::from_s(4), Span::from_ms(1));
    b.plan.warmup = Time::ZERO + Span::from_s(1);
    let options = b.options("linux", json!({}));
    b.traffic(json!({ "kind": "bulk" }), &[(a, c)], options);
    b.plan.nodes[c as usize].models.receive = receive(json!({ "reader": "200 Mbps" }));
    let (tables, summary) = run(&b.plan, false);
    assert!((summary["goodput_bps"].as_f64().unwrap() / 2e8 - 1.0).abs() < 0.01, "{}", summary["goodput_bps"]);
    assert_eq!((summary["drops"].as_i64(), summary["timeouts"].as_i64()), (Some(0), Some(0)));
    assert!(whole(&tables, "flows", "snd_lim_time_rwin_ns")[0] > 3_000_000_000);
}

/// A finite transfer is read to its end by a slow reader, and its last byte is read size / rate after the first at the earliest.
#[test]
fn a_slow_reader_reads_to_the_end() {
    let (mut b, a, c) = pair(Span::from_s(4), Span::from_ms(1));
    let options = b.options("linux", json!({}));
    b.traffic(json!({ "kind": "bulk", "size": "10 MB" }), &[(a, c)], options);
    b.plan.nodes[c as usize].models.receive = receive(json!({ "reader": "80 Mbps" }));
    let (tables, summary) = run(&b.plan, false);
    assert_eq!(summary["completed"], 1);
    let seconds = whole(&tables, "flows", "fct_ns")[0] as f64 / 1e9;
    assert!((1.0..1.01).contains(&seconds), "{seconds}");
}

/// Of datagrams at 160 Mb/s of payload a reader of 80 Mb/s gets half; the rest finds the socket full.
#[test]
fn a_udp_socket_overflows() {
    let (mut b, a, c) = pair(Span::from_s(2), Span::from_ms(1));
    let options = b.options("rfc", json!({}));
    b.traffic(json!({ "kind": "cbr", "rate": "166.6 Mbps", "packet_size": "1600 B" }), &[(a, c)], options);
    b.plan.nodes[c as usize].models.receive = receive(json!({ "reader": "80 Mbps" }));
    let (tables, _) = run(&b.plan, false);
    let (sent, lost) = (whole(&tables, "flows", "data_segs_out")[0], whole(&tables, "hosts", "drops_socket")[0]);
    // 160 Mb/s x 2 s less 80 Mb/s x 2 s and the 64 KiB that the socket holds.
    let expected = 0.5 - 65_535.0 / 40e6;
    assert!((lost as f64 / sent as f64 - expected).abs() < 0.01, "{lost} of {sent}");
}

/// At 8000 interrupts a second and 81,274 frames a second each interrupt finds ten frames: with GRO they are one segment with one ACK, without
/// it there is an ACK for every second.
#[test]
fn gro_answers_an_interrupt_with_one_ack() {
    let acks_per_segment = |gro: bool| {
        let (mut b, a, c) = pair(Span::from_s(2), Span::from_ms(1));
        let options = b.options("linux", json!({ "receive_window": "3 MiB" }));
        b.traffic(json!({ "kind": "bulk" }), &[(a, c)], options);
        b.plan.nodes[c as usize].models.receive = receive(json!({ "napi": true, "gro": gro }));
        let (tables, summary) = run(&b.plan, false);
        assert!(summary["goodput_bps"].as_f64().unwrap() > 9.2e8, "{}", summary["goodput_bps"]);
        whole(&tables, "flows", "segs_in")[0] as f64 / whole(&tables, "flows", "data_segs_out")[0] as f64
    };
    let (with, without) = (acks_per_segment(true), acks_per_segment(false));
    assert!((without - 0.5).abs() < 0.03, "{without}");
    // 12.304 / 125 = 0.0984: slow start, where fewer frames wait, adds a little.
    assert!((0.095..0.115).contains(&with), "{with}");
}

/// A process that sends 100,000 datagrams a second on a processor that sends 50,000: half of them are not sent, and TCP, whose segments go
/// first, is not shut out.
#[test]
fn datagrams_get_what_tcp_leaves() {
    let (mut b, a, c) = pair(Span::from_s(2), Span::from_ms(1));
    let options = b.options("rfc", json!({ "receive_window": "14480 B" }));
    b.traffic(json!({ "kind": "cbr", "rate": "112 Mbps", "packet_size": "74 B" }), &[(a, c)], options);
    b.traffic(json!({ "kind": "bulk" }), &[(a, c)], options);
    b.plan.nodes[a as usize].models.cpu = cpu(json!({ "transmit": "20 us" }));
    let (tables, summary) = run(&b.plan, false);
    // Ten segments a round trip of 2 ms at least and 20 us each; the rest of the processor is for datagrams.
    let segments = whole(&tables, "flows", "data_segs_out")[1] as f64;
    assert!((7_000.0..10_100.0).contains(&segments), "{segments}");
    let (sent, got) =
        (whole(&tables, "flows", "data_segs_out")[0] as f64, whole(&tables, "flows", "data_segs_in")[0] as f64);
    assert!((sent - 200_000.0).abs() < 2.0, "{sent}");
    assert!((got + segments - 100_000.0).abs() < 1500.0, "{got} and {segments}");
    assert!(summary["hosts"]["cpu_max"].as_f64().unwrap() > 0.999);
}

/// Looking changes nothing: frames that the host captures are joined like others.
#[test]
fn a_capture_leaves_gro_alone() {
    let flows = |captured: bool| {
        let (mut b, a, c) = pair(Span::from_ms(300), Span::from_ms(1));
        let options = b.options("linux", json!({}));
        b.traffic(json!({ "kind": "bulk" }), &[(a, c)], options);
        b.plan.nodes[c as usize].models.receive = receive(json!({ "napi": true, "gro": true }));
        if captured {
            b.plan.record.captures.hosts = vec![c];
        }
        let folder = std::env::temp_dir().join(format!("elephan-gro-{}-{captured}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let recorder = elephan_record::Recorder::to_folder(&folder).unwrap();
        let (summary, recorder) = elephan_sim::run(b.plan, recorder, &mut |_| true).unwrap();
        recorder.finish().unwrap();
        let captures = folder.join("captures").exists();
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(captures, captured);
        (summary["goodput_bps"].clone(), summary["packet_hops"].clone())
    };
    assert_eq!(flows(false), flows(true));
}

/// One loss with 1000 segments in flight, each of the 999 duplicate ACKs with one block: 999 x 1000 x 100 ns is 100 ms of walking for 40 ms of ACKs, in
/// two bursts. The logger is silent for so long; with the hint, or without a walk, it is not.
#[test]
fn the_walk_of_sack_silences_the_logger() {
    let silence_ms = |walk: &str| {
        let (mut b, a, c) = pair(Span::from_s(2), Span::from_ms(20));
        let window = json!({
            "receive_window": "1448000 B", "send_buffer": "8 MiB", "delayed_ack_segments": 1, "limited_transmit": false,
            "congestion_control": "reno",
        });
        let options = b.options("rfc", window);
        b.traffic(json!({ "kind": "bulk" }), &[(a, c)], options);
        b.plan.links[0].loss = Loss::Listed(vec![8000]);
        b.plan.links[0].impairments.packets = Concerned::Data;
        b.plan.nodes[a as usize].models.cpu = cpu(json!({ "sack": walk, "segment": "100 ns", "logger": "1 ms" }));
        let (tables, summary) = run(&b.plan, false);
        assert_eq!(summary["retransmitted_segments"], 1);
        whole(&tables, "logger_gaps", "duration_ns").iter().sum::<i64>() as f64 / 1e6
    };
    let full = silence_ms("full");
    assert!((full - 100.0).abs() < 5.0, "{full}");
    assert_eq!(silence_ms("fastpath"), 0.0);
    assert_eq!(silence_ms("none"), 0.0);
}

/// A timer of TCP that runs out while the processor is busy waits for it: nothing else happens early or twice.
#[test]
fn timers_wait_for_the_processor() {
    let (mut b, a, c) = pair(Span::from_s(5), Span::from_ms(1));
    let options = b.options("rfc", json!({ "rto_min": "200 ms" }));
    b.traffic(json!({ "kind": "bulk", "size": "1 MB" }), &[(a, c)], options);
    // The first segment after the handshake is lost for ever long: only its timer helps.
    b.plan.links[0].loss = Loss::Listed(vec![691]);
    b.plan.links[0].impairments.packets = Concerned::Data;
    b.plan.nodes[a as usize].models.cpu = cpu(json!({ "ack": "2 ms", "transmit": "1 ms" }));
    let (tables, summary) = run(&b.plan, false);
    assert_eq!((summary["completed"].as_i64(), summary["retransmitted_segments"].as_i64()), (Some(1), Some(1)));
    assert_eq!(summary["timeouts"], 1);
    // 691 segments and a retransmission at 1 ms each, 346 ACKs at 2 ms, and an RTO of a round trip that has waited for all this.
    let seconds = whole(&tables, "flows", "sender_fct_ns")[0] as f64 / 1e9;
    assert!((1.384..3.0).contains(&seconds), "{seconds}");
}

/// A stack that takes 24 us on the way in, and one that takes 9.5 us: each adds its own to the round trip of a segment and its ACK,
/// and nothing else is different; the handshake (SYN, SYN-ACK) and a transfer of one segment are three ways in.
#[test]
fn a_delay_on_the_way_in_is_added_to_the_round_trip() {
    let times = |delays: [&str; 2]| {
        let (mut b, a, c) = pair(Span::from_ms(100), Span::from_us(50));
        let options = b.options("rfc", json!({ "delayed_ack_segments": 1 }));
        b.traffic(json!({ "kind": "bulk", "size": "1 kB" }), &[(a, c)], options);
        for (node, delay) in [a, c].into_iter().zip(delays) {
            b.plan.nodes[node as usize].models.receive = receive(json!({ "delay": delay, "interrupts_per_s": 0 }));
        }
        let (tables, _) = run(&b.plan, false);
        ["min_rtt_ns", "fct_ns", "ideal_fct_ns"].map(|column| whole(&tables, "flows", column)[0])
    };
    let grown = |delays| {
        let (with, without) = (times(delays), times(["0 s", "0 s"]));
        [0, 1, 2].map(|i| with[i] - without[i])
    };
    assert_eq!(grown(["0 s", "24 us"]), [24_000, 48_000, 48_000]);
    assert_eq!(grown(["9.5 us", "0 s"]), [9_500, 9_500, 9_500]);
    assert_eq!(grown(["9.5 us", "24 us"]), [33_500, 57_500, 57_500]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    /// Whatever the models of the hosts: every packet and every byte is accounted for, and the same plan gives the same tables.
    #[test]
    fn any_host_conserves(
        ring in 1u64..40, backlog in 1u64..60, per_s in prop_oneof![Just(0u32), 1000u32..50_000],
        how in prop_oneof![Just("throttle"), Just("drop"), Just("hold")], napi in any::<bool>(), gro in any::<bool>(),
        costs in prop::array::uniform5(0u64..30), walk in prop_oneof![Just("full"), Just("fastpath"), Just("none")],
        reader in prop_oneof![Just(None), Just(Some("30 Mbps")), Just(Some("300 Mbps"))], both in any::<bool>(),
        delay_us in prop_oneof![Just(0u32), 1u32..2000],
    ) {
        let mut b = Builder::new(Span::from_ms(700));
        let (a, s, c) = (b.host(), b.switch(None, Span::ZERO, FlowControl::None), b.host());
        b.link(a, s, GIGABIT, Span::from_us(500), None);
        b.link(s, c, Rate(300_000_000), Span::from_ms(1), Some("30 KB"));
        let options = b.options("linux", json!({ "rto_min": "20 ms" }));
        b.traffic(json!({ "kind": "bulk" }), &[(a, c), (a, c)], options);
        b.traffic(json!({ "kind": "transfers", "size": "20 KB", "load": "30 Mbps" }), &[(a, c)], options);
        b.traffic(json!({ "kind": "cbr", "rate": "20 Mbps" }), &[(c, a), (a, c)], options);
        let mut side = json!({
            "ring": format!("{ring} p"), "backlog": format!("{backlog} p"), "interrupts_per_s": per_s,
            "backlog_full": how, "napi": napi, "gro": napi && gro, "delay": format!("{delay_us} us"),
        });
        if let Some(rate) = reader {
            side["reader"] = json!(rate);
        }
        let us = costs.map(|cost| format!("{cost} us"));
        for node in if both { vec![a, c] } else { vec![c] } {
            let models = &mut b.plan.nodes[node as usize].models;
            models.receive = receive(side.clone());
            models.cpu = cpu(json!({
                "transmit": us[0], "interrupt": us[1], "receive": us[2], "ack": us[3], "sack": walk, "segment": us[4],
                "logger": "10 ms",
            }));
        }
        let (first, again) = (run(&b.plan, false), run(&b.plan, true));
        prop_assert_eq!(&first.1["drops"], &again.1["drops"], "both paths through ports give the same");
        prop_assert_eq!(whole(&first.0, "flows", "data_segs_in"), whole(&again.0, "flows", "data_segs_in"));
    }
}
