//! IPv6 below connections and datagrams, links with an MTU, and delays that let packets overtake each other.

use std::sync::Arc;

use arrow_array::{Array, Int64Array};
use elephan_record::{Recorder, Tables};
use elephan_scenario::{Plan, Source, read};
use elephan_sim::Paths;
use serde_json::{Value, json};

/// Two hosts and a switch; `first` is said of the sender's link, `second` of the receiver's, `top` of the scenario, `traffic` of its entry.
fn plan(top: &str, first: &str, second: &str, traffic: &str) -> Arc<Plan> {
    let text = format!(
        r#"
        duration = "2 s"
        stack = "rfc"
        {top}
        [hosts]
        a = {{}}
        b = {{}}
        [switches]
        sw = {{}}
        [[links]]
        between = ["a", "sw"]
        rate = "100 Mbps"
        delay = "1 ms"
        {first}
        [[links]]
        between = ["sw", "b"]
        rate = "100 Mbps"
        delay = "1 ms"
        {second}
        [[traffic]]
        name = "t"
        from = "a"
        to = "b"
        {traffic}
        "#
    );
    let source = Source::toml("ip.toml", &text);
    read(&source, &[], None).unwrap_or_else(|e| panic!("{e}\n{text}")).plan
}

/// Runs a plan; the tables and the summary.
fn run(plan: &Arc<Plan>) -> (Tables, Value) {
    let (summary, recorder) =
        elephan_sim::run_on(plan.clone(), Recorder::memory(), Paths::default(), &mut |_| true).unwrap();
    (recorder.finish().unwrap(), summary)
}

fn ints(tables: &Tables, table: &str, column: &str) -> Vec<i64> {
    let batches = &tables.iter().find(|t| t.name == table).unwrap().batches;
    let of = |b: &elephan_record::RecordBatch| {
        let values = b.column_by_name(column).unwrap().as_any().downcast_ref::<Int64Array>().unwrap();
        (0..values.len()).map(|i| if values.is_null(i) { -1 } else { values.value(i) }).collect::<Vec<_>>()
    };
    batches.iter().flat_map(of).collect()
}

const DATAGRAMS: &str = "kind = \"cbr\"\nrate = \"12.304 Mbps\"\npacket_size = \"1452 B\"\ngaps = \"fixed\"";
const TRANSFER: &str = "kind = \"bulk\"\nsize = \"142800 B\"";

/// 1452 B of payload, 8 of UDP and 40 of IPv6 are 1500 B, 1538 B on Ethernet: at 12.304 Mb/s one each millisecond. Over IPv4 they are
/// 1518 B, one each 987 us.
#[test]
fn datagrams_over_ipv6() {
    for (traffic, wire, gap_ps) in [("ip = \"v6\"", 1538, 1_000_000_000), ("ip = \"v4\"", 1518, 986_996_098u64)] {
        let (tables, _) = run(&plan("", "", "", &format!("{DATAGRAMS}\n{traffic}")));
        let (packets, bytes) = (ints(&tables, "ports", "tx_packets")[0], ints(&tables, "ports", "tx_bytes")[0]);
        assert_eq!(bytes, packets * wire);
        assert!((packets - (2_000_000_000_000 / gap_ps) as i64).abs() <= 1, "{packets}");
    }
}

/// The same segments over both: every packet is 20 B longer over IPv6, in both directions.
#[test]
fn every_packet_of_a_connection_is_20_bytes_longer() {
    let over = |ip: &str| {
        let (tables, _) = run(&plan(ip, "", "", &format!("{TRANSFER}\ntcp = {{ mss = \"1000 B\" }}")));
        (ints(&tables, "ports", "tx_packets"), ints(&tables, "ports", "tx_bytes"))
    };
    let ((packets, bytes), (same, longer)) = (over("ip = \"v4\""), over("ip = \"v6\""));
    assert_eq!(packets, same);
    // 142 800 B in segments of 988 B, beside 12 B of timestamps, and the handshake.
    assert!(packets[0] >= 145, "{packets:?}");
    let expected: Vec<i64> = packets.iter().zip(&bytes).map(|(packets, bytes)| bytes + 20 * packets).collect();
    assert_eq!(longer, expected);
}

/// The MSS of each end is the MTU of its link less 40 or 60 B, and the smaller one counts; 12 B of timestamps go from it.
#[test]
fn the_mss_follows_from_the_mtu_of_the_hosts() {
    for (top, first, second, mss) in [
        ("", "", "", 1448),
        ("ip = \"v6\"", "", "", 1428),
        ("", "mtu = \"9000 B\"", "mtu = \"9000 B\"", 8948),
        ("ip = \"v6\"", "mtu = \"9000 B\"", "mtu = \"9000 B\"", 8928),
        ("", "mtu = \"9000 B\"", "", 1448),
        ("", "mtu = \"9000 B\"", "mtu = \"1400 B\"", 1348),
        ("ip = \"v6\"", "mtu = \"1280 B\"", "", 1208),
    ] {
        let (tables, summary) = run(&plan(top, first, second, TRANSFER));
        assert_eq!(ints(&tables, "flows", "cur_mss"), [mss], "{top} {first} {second}");
        assert_eq!((ints(&tables, "flows", "delivered_bytes"), &summary["drops"]), (vec![142_800], &json!(0)));
    }
}

/// A link in the middle with a smaller MTU: the handshake passes, and no data does.
#[test]
fn a_small_mtu_is_a_black_hole() {
    let middle = "forward = { mtu = \"1400 B\" }";
    let (tables, summary) = run(&plan("", "", middle, TRANSFER));
    assert_eq!(ints(&tables, "flows", "delivered_bytes"), [0]);
    let drops = summary["drops_by_reason"]["mtu_exceeded"].as_i64().unwrap();
    assert!(drops >= 10, "{summary}");
    assert_eq!((ints(&tables, "ports", "drops")[2], summary["drops"].as_i64().unwrap()), (drops, drops));
    // With segments that fit nothing is lost.
    let (tables, summary) = run(&plan("", "", middle, &format!("{TRANSFER}\ntcp = {{ mss = \"1360 B\" }}")));
    assert_eq!((ints(&tables, "flows", "delivered_bytes"), &summary["drops"]), (vec![142_800], &json!(0)));
}

/// The MTU counts the IP header: 1372 B of payload are 1400 B over IPv4, and 1420 B over IPv6.
#[test]
fn the_mtu_counts_the_ip_header() {
    for (size, ip, passes) in [(1372, "v4", true), (1373, "v4", false), (1352, "v6", true), (1353, "v6", false)] {
        let traffic = format!("kind = \"cbr\"\nrate = \"1 Mbps\"\npacket_size = \"{size} B\"\nip = \"{ip}\"");
        for (first, second) in [("", "mtu = \"1400 B\""), ("mtu = \"1400 B\"", "")] {
            let plan = plan("", first, second, &traffic);
            let (tables, summary) = run(&plan);
            let came = ints(&tables, "flows", "delivered_bytes")[0];
            let dropped = summary["drops_by_reason"]["mtu_exceeded"].as_i64().unwrap_or(0);
            assert_eq!((came > 0, dropped > 0), (passes, !passes), "{size} {ip} {first} {second}");
            // Ports are as fast as without an MTU as long as no packet exceeds it.
            let ways = elephan_sim::ways(&plan).unwrap();
            let queued = ways.iter().filter(|(way, _)| way.name() == "queued").count();
            assert_eq!(queued, usize::from(!passes));
        }
    }
}

/// A packet each millisecond is on the wire for 123.04 us. Until 1 s the delay is 10 ms, then 2.5 ms: the packet of 1 s comes at 1002.6
/// ms, before those of 993 to 999 ms, which come from 1003.1 ms on.
#[test]
fn a_delay_that_gets_shorter_may_reorder() {
    let link = |more: &str| {
        let text = "time_s,delay_ms\\n0,10\\n1,2.5\\n3,10\\n";
        format!("delay = {{ trace = {{ text = \"{text}\"{more} }} }}")
    };
    let once = |more: &str| {
        let text = format!(
            r#"
            duration = "2 s"
            [hosts]
            a = {{}}
            b = {{}}
            [[links]]
            between = ["a", "b"]
            rate = "100 Mbps"
            {}
            [[traffic]]
            name = "t"
            from = "a"
            to = "b"
            {}
            "#,
            link(more),
            DATAGRAMS.replace("1452", "1472")
        );
        let plan = read(&Source::toml("reorder.toml", &text), &[], None).unwrap_or_else(|e| panic!("{e}\n{text}")).plan;
        let (_, summary) = run(&plan);
        ["reordered", "reordered_datagrams"].map(|key| summary[key].clone())
    };
    assert_eq!(once(""), [json!(0), json!(0)]);
    assert_eq!(once(", reorder = true"), [json!(7), json!(7)]);
}
