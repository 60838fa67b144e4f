//! Transfers from disk to disk against closed forms: the slowest stage, the sum of all, buffer over round trip, a cache that fills.

mod written;

use elephan_record::Tables;
use serde_json::Value;
use written::{column, run_text};

const MBPS: f64 = 1e6;
/// Payload of 1 Gb/s in Ethernet frames of 1500 B with timestamps: 1448 of 1538 bytes.
const GIGABIT: f64 = 1e9 * 1448.0 / 1538.0;

/// Two hosts with disks, a gigabit and 6 ms between them.
const TEXT: &str = r#"
duration = "8 s"
warmup   = "3 s"
tcp      = { send_buffer = "4 MiB", receive_window = "4 MiB", rto_min = "200 ms", delayed_ack_timeout = "40 ms" }

[hosts.source]
disk = { read = "2 Gbps", write = "2 Gbps" }

[hosts.sink]
disk = { read = "2 Gbps", write = "2 Gbps", cache = "0 B" }

[[links]]
between = ["source", "sink"]
rate    = "1 Gbps"
delay   = "3 ms"
queue   = { kind = "fifo", limit = "4 MB" }

[[traffic]]
name    = "copy"
kind    = "disk-copy"
from    = "source"
to      = "sink"
streams = 1

[record]
every = "10 ms"
"#;

fn run(set: &[&str]) -> (Tables, Value) {
    run_text(TEXT, set)
}

fn rate(summary: &Value) -> f64 {
    summary["copies"]["rate_bps"].as_f64().unwrap()
}

fn assert_near(found: f64, expected: f64, margin: f64, what: &str) {
    let off = found / expected - 1.0;
    assert!(off.abs() < margin, "{what}: {found:.4e}, expected {expected:.4e} ({:+.2} %)", off * 100.0);
}

/// min(D_r, N, D_w), whichever it is, and the program says which.
#[test]
fn overlapped_is_the_slowest_stage() {
    for (read, write, link, expected, limit) in [
        ("800 Mbps", "2 Gbps", "1 Gbps", 800.0 * MBPS, "read"),
        ("2 Gbps", "538 Mbps", "1 Gbps", 538.0 * MBPS, "write"),
        ("1066 Mbps", "538 Mbps", "1 Gbps", 538.0 * MBPS, "write"),
        ("2 Gbps", "2 Gbps", "1 Gbps", GIGABIT, "network"),
        ("800 Mbps", "700 Mbps", "622 Mbps", 0.622 * GIGABIT, "network"),
        ("500 Mbps", "510 Mbps", "622 Mbps", 500.0 * MBPS, "read"),
    ] {
        for streams in ["1", "4"] {
            let (_, summary) = run(&[
                &format!("hosts.source.disk.read={read}"),
                &format!("hosts.sink.disk.write={write}"),
                &format!("links[0].rate={link}"),
                &format!("traffic.copy.streams={streams}"),
            ]);
            let what = format!("{read}, {link}, {write}, {streams} streams");
            assert_near(rate(&summary), expected, 0.01, &what);
            assert_eq!(summary["copies"]["limit"], limit, "{what}: {}", summary["copies"]);
        }
    }
}

/// 1 / (1/D_r + 1/N + 1/D_w) for blocks that are large against the round trip.
#[test]
fn serial_adds_the_times() {
    for (read, write) in [(800.0, 400.0), (1066.0, 538.0), (300.0, 1200.0)] {
        let (_, summary) = run(&[
            "traffic.copy.pipeline=serial",
            "traffic.copy.block=16 MiB",
            "links[0].delay=50 us",
            "duration=60 s",
            &format!("hosts.source.disk.read={read} Mbps"),
            &format!("hosts.sink.disk.write={write} Mbps"),
        ]);
        let expected = 1.0 / (1.0 / (read * MBPS) + 1.0 / GIGABIT + 1.0 / (write * MBPS));
        assert_near(rate(&summary), expected, 0.02, "serial");
        // The time that each stage takes is in proportion to the reciprocal of its rate.
        let share = |stage: &str| summary["copies"]["limited"][stage].as_f64().unwrap();
        assert_near(share("read"), expected / (read * MBPS), 0.05, "share of reading");
        assert_near(share("write"), expected / (write * MBPS), 0.05, "share of writing");
    }
}

/// With a write-back cache the disk writes while the next block is read and sent: min(1 / (1/D_r + 1/N), D_w).
#[test]
fn serial_with_a_cache() {
    let unwritten = 1.0 / (1.0 / (800.0 * MBPS) + 1.0 / GIGABIT);
    for (write, expected) in [("1200 Mbps", unwritten), ("300 Mbps", 300.0 * MBPS)] {
        let (_, summary) = run(&[
            "traffic.copy.pipeline=serial",
            "traffic.copy.block=16 MiB",
            "links[0].delay=50 us",
            "duration=40 s",
            "hosts.source.disk.read=800 Mbps",
            "hosts.sink.disk.cache=64 MiB",
            &format!("hosts.sink.disk.write={write}"),
        ]);
        assert_near(rate(&summary), expected, 0.02, write);
    }
}

/// A socket buffer of B bytes carries B / R: 600 kB in 6 ms are 800 Mb/s, 64 kB are 85.3 Mb/s, whatever the congestion
/// control; less than 2 % between the controllers.
#[test]
fn socket_buffers_over_the_round_trip() {
    for (window, expected) in [("600 kB", 800.0 * MBPS), ("64 kB", 85.33 * MBPS)] {
        let mut rates = Vec::new();
        for cc in ["reno", "scalable", "highspeed", "htcp"] {
            let (_, summary) = run(&[
                &format!("traffic.copy.window={window}"),
                &format!("traffic.copy.congestion_control={cc}"),
                "links[0].queue.limit=5 MB",
            ]);
            assert_near(rate(&summary), expected, 0.02, &format!("{window}, {cc}"));
            assert_eq!(summary["copies"]["limit"], "send_buffer", "{}", summary["copies"]);
            rates.push(rate(&summary));
        }
        let (low, high) = rates.iter().fold((f64::MAX, 0.0f64), |(l, h), r| (l.min(*r), h.max(*r)));
        assert!(high / low < 1.02, "{rates:?}");
    }
    // The receiver's window does the same, and is told apart.
    let (_, summary) = run(&["traffic.copy.tcp.receive_window=300 kB"]);
    assert_near(rate(&summary), 400.0 * MBPS, 0.02, "receive window");
    assert_eq!(summary["copies"]["limit"], "receive_buffer");
}

/// A cache of C takes what comes at N while the disk writes at W: it is full C / (N - W) after the first byte, 1.477 s for 100 MB
/// between 941.5 and 400 Mb/s; from then on the transfer goes at W.
#[test]
fn the_cache_takes_a_burst() {
    let (tables, summary) = run(&[
        "hosts.sink.disk.write=400 Mbps",
        "hosts.sink.disk.cache=100 MB",
        "links[0].delay=100 us",
        "traffic.copy.complete=cache",
    ]);
    let of = |name: &str| column(&tables, "copy_samples", name);
    let (time, cache, cached) = (of("time_ns"), of("cache_bytes"), of("cached_bytes"));
    let full = time[cache.iter().position(|bytes| *bytes > 100e6 - 300e3).unwrap()] / 1e9;
    assert_near(full, 100e6 * 8.0 / (GIGABIT - 400.0 * MBPS), 0.02, "full at");
    assert!(cache.iter().all(|bytes| *bytes <= 100e6));
    let between = |from: f64, to: f64| {
        let at = |second: f64| cached[time.iter().position(|t| *t >= second * 1e9).unwrap()];
        (at(to) - at(from)) * 8.0 / (to - from)
    };
    assert_near(between(0.2, 1.2), GIGABIT, 0.01, "the burst");
    assert_near(between(2.0, 7.0), 400.0 * MBPS, 0.01, "sustained");
    assert_near(rate(&summary), 400.0 * MBPS, 0.01, "after the warm-up");
}

/// Complete in the cache, and on the disk: 100 MB of which a cache of 256 MiB takes all are in the cache after about a second, on
/// the disk after 800 Mb / 200 Mb/s = 4 s.
#[test]
fn both_ends_of_a_transfer() {
    let set = ["hosts.sink.disk.write=200 Mbps", "traffic.copy.size=100 MB", "warmup=0 s", "links[0].delay=100 us"];
    for (complete, expected) in [("disk", 200.0 * MBPS), ("cache", GIGABIT)] {
        let mut with = set.to_vec();
        let complete = format!("traffic.copy.complete={complete}");
        with.extend(["hosts.sink.disk.cache=256 MiB", &complete]);
        let (tables, summary) = run(&with);
        let one = |name: &str| column(&tables, "copies", name)[0];
        assert_near(one("cached_ns") / 1e9, 800.0 * MBPS / GIGABIT, 0.03, "in the cache");
        assert_near(one("on_disk_ns") / 1e9, 4.0, 0.01, "on the disk");
        assert_near(rate(&summary), expected, 0.03, "rate");
        assert_eq!((one("on_disk_bytes"), summary["copies"]["completed"].as_u64()), (100e6, Some(1)));
        assert!(one("read_ns") < one("received_ns") && one("received_ns") <= one("cached_ns"));
    }
}

/// A slow disk behind a fast network: the program does not read, TCP's window is used up and opens, nothing is lost, and no more
/// waits in the socket than its buffer holds. Linux acknowledges with the program's reads (`__tcp_ack_snd_check`, `__tcp_cleanup_rbuf`), so that
/// no ACK tells of a closed window.
#[test]
fn a_slow_disk_closes_the_window() {
    let (tables, summary) = run(&["hosts.sink.disk.write=100 Mbps", "traffic.copy.size=50 MB", "warmup=0 s"]);
    let one = |name: &str| column(&tables, "flows", name)[0];
    // Between two blocks nothing fits: what the window leaves is less than two segments.
    let of = |name: &str| column(&tables, "flow_samples", name);
    let left = of("cur_rwin_rcvd").into_iter().zip(of("inflight_bytes")).map(|(window, out)| window - out);
    let steady: Vec<f64> =
        of("time_ns").iter().zip(left).filter(|(t, _)| (1e9..3e9).contains(*t)).map(|(_, left)| left).collect();
    let closed = steady.iter().filter(|left| **left < 2.0 * 1448.0).count() as f64 / steady.len() as f64;
    assert!(closed > 0.5, "{closed}");
    assert_eq!(one("zero_rwin_sent"), 0.0);
    assert_eq!((one("segs_retrans"), summary["drops"].as_u64()), (0.0, Some(0)));
    let waiting = one("max_app_r_queue");
    assert!(waiting <= 4194304.0 && waiting > 4194304.0 - 2.0 * 1448.0, "{waiting}");
    assert!(one("snd_lim_time_rwin_ns") > 3e9);
    assert_near(rate(&summary), 100.0 * MBPS, 0.01, "rate");
    assert_eq!(one("delivered_bytes"), 50e6);
    // The stream is complete when its last block has found a buffer, whatever its socket does afterwards.
    let copy = |name: &str| column(&tables, "copies", name)[0];
    assert_eq!(one("fct_ns"), copy("received_ns") - copy("start_ns"));
}

/// Streams of one transfer share its file by their speed: all of it comes, with a header of 17 bytes a block in MODE E.
#[test]
fn streams_share_a_file() {
    let set = ["traffic.copy.streams=4", "traffic.copy.size=100 MB", "warmup=0 s", "traffic.copy.program=gridftp"];
    let (tables, summary) = run(&set);
    let sizes = column(&tables, "flows", "size_bytes");
    let blocks = (100e6f64 / 262_144.0).ceil();
    assert_eq!(sizes.iter().sum::<f64>(), 100e6 + 17.0 * blocks);
    assert_eq!(sizes, column(&tables, "flows", "delivered_bytes"));
    assert!(sizes.iter().all(|size| *size > 10e6), "{sizes:?}");
    assert_eq!((summary["completed"].as_u64(), summary["copies"]["completed"].as_u64()), (Some(4), Some(1)));
    assert_eq!(column(&tables, "copies", "on_disk_bytes"), [100e6]);
}

/// Two transfers from one disk: its rate is for both.
/// One byte over four streams: three carry nothing, so that they have no completion time, nor one over the ideal (they were
/// "faster" than it: at the SYN all their bytes were there).
#[test]
fn streams_without_a_byte() {
    let (tables, _) = run(&["traffic.copy.size=1 B", "traffic.copy.streams=4"]);
    assert_eq!(column(&tables, "flows", "size_bytes"), [1.0, 0.0, 0.0, 0.0]);
    for name in ["fct_ns", "sender_fct_ns", "ideal_fct_ns", "slowdown"] {
        let values = column(&tables, "flows", name);
        assert_eq!(values.iter().map(|v| v.is_nan()).collect::<Vec<_>>(), [false, true, true, true], "{name}");
    }
    assert!(column(&tables, "flows", "slowdown")[0] >= 1.0);
}

/// What limited a transfer does not depend on how often it was looked at: samples moved 56 ms from one cause to another here.
#[test]
fn samples_change_nothing() {
    let run = |every: &str| {
        run(&[
            "warmup=0 s",
            "links[0].rate=10 Mbps",
            "links[0].delay=30 ms",
            "links[0].host_queue={ kind = \"fifo\", limit = \"20 p\" }",
            "traffic.copy.streams=2",
            "traffic.copy.window=64 KiB",
            "traffic.copy.block=4 MiB",
            &format!("record.every={every}"),
        ])
    };
    let (often, rarely) = (run("1 ms"), run("8 s"));
    for name in ["limited_network_ns", "limited_send_buffer_ns", "limited_read_ns"] {
        assert_eq!(column(&often.0, "copies", name), column(&rarely.0, "copies", name), "{name}");
    }
    assert_eq!(often.1["copies"], rarely.1["copies"]);
}

#[test]
fn transfers_share_a_disk() {
    let other =
        "\n[[traffic]]\nname = \"other\"\nkind = \"disk-copy\"\nfrom = \"source\"\nto = \"sink\"\nstreams = 1\n";
    let text = TEXT.replace("\n[record]", &format!("{other}\n[record]"));
    let (tables, summary) = run_text(&text, &["hosts.source.disk.read=600 Mbps"]);
    let rates = column(&tables, "copies", "rate_bps");
    assert_near(rates[0], 300.0 * MBPS, 0.01, "one");
    assert_near(rates[1], 300.0 * MBPS, 0.01, "other");
    assert_near(rate(&summary), 600.0 * MBPS, 0.01, "both");
}

/// Hosts without disks are as fast as the network; a transfer that stops carries what it has read.
#[test]
fn without_disks_and_with_a_stop() {
    let text = TEXT.replace(r#"disk = { read = "2 Gbps", write = "2 Gbps" }"#, "");
    let text = text.replace(r#"disk = { read = "2 Gbps", write = "2 Gbps", cache = "0 B" }"#, "");
    assert!(!text.contains("disk ="));
    let (_, summary) = run_text(&text, &[]);
    assert_near(rate(&summary), GIGABIT, 0.01, "no disks");
    let (tables, summary) = run(&["traffic.copy.stop=5 s"]);
    let one = |name: &str| column(&tables, "copies", name)[0];
    assert_eq!((one("read_bytes"), summary["copies"]["completed"].as_u64()), (one("on_disk_bytes"), Some(1)));
    assert!(one("read_ns") >= 5e9 && one("read_ns") < 5.01e9 && one("on_disk_ns") < 5.1e9, "{}", one("on_disk_ns"));
}

/// A send buffer that takes the whole file as fast as it is read: the disk of 2 Gb/s is through in 2 s, the gigabit needs 4.25 s, and nobody
/// ever waits for the disk.
#[test]
fn a_large_send_buffer_is_no_slow_disk() {
    let set = ["warmup=0 s", "tcp.send_buffer=1 GiB", "traffic.copy.size=500 MB"];
    let summary = run(&set).1;
    let copies = &summary["copies"];
    assert_eq!(copies["completed"], 1, "{copies}");
    assert!(copies["limited"]["read"].as_f64().unwrap() < 0.02, "{copies}");
    assert!(
        copies["limited"]["network"].as_f64().unwrap() + copies["limited"]["receive_buffer"].as_f64().unwrap() > 0.95,
        "{copies}"
    );
}
