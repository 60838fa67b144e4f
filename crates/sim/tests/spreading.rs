//! Congestion spreading: who paused whom and for how long, from which port it came, and who was held without going there.

mod common;

use arrow_array::{Array, Int64Array};
use common::{Builder, run};
use elephan_link::{FlowControl, Pause, PausePer};
use elephan_record::Tables;
use elephan_scenario::Plan;
use elephan_units::{Bytes, Rate, Span};
use serde_json::json;

const GIG: Rate = Rate(1_000_000_000);
const TEN_GIG: Rate = Rate(10_000_000_000);
const SHORT: Span = Span::from_ns(500);

fn pause(xoff: u64, xon: u64) -> FlowControl {
    FlowControl::Pause(Pause { per: PausePer::Memory, xoff: Bytes(xoff), xon: Bytes(xon), quanta: 0xFFFF })
}

/// The whole numbers of some columns, row by row; null is -1.
fn rows<const N: usize>(tables: &Tables, table: &str, columns: [&str; N]) -> Vec<[i64; N]> {
    let batches = &tables.iter().find(|t| t.name == table).unwrap().batches;
    let mut rows = Vec::new();
    for batch in batches {
        let column = |name| batch.column_by_name(name).unwrap().as_any().downcast_ref::<Int64Array>().unwrap();
        let arrays = columns.map(column);
        let at = |i: usize| arrays.map(|a| if a.is_null(i) { -1 } else { a.value(i) });
        rows.extend((0..batch.num_rows()).map(at));
    }
    rows
}

fn watched(mut plan: Plan) -> Tables {
    plan.record.events = true;
    let (tables, summary) = run(&plan, false);
    assert_eq!(summary["drops"], json!(0), "{summary}");
    let paused = rows(&tables, "ports", ["port", "paused_ns"]);
    let intervals = rows(&tables, "pauses", ["port", "duration_ns"]);
    for [port, ns] in paused {
        let of_port: Vec<i64> = intervals.iter().filter(|row| row[0] == port).map(|row| row[1]).collect();
        let (sum, rows) = (of_port.iter().sum::<i64>(), of_port.len() as i64);
        assert!((sum..=sum + rows).contains(&ns), "port {port}: {ns} ns, intervals {sum} ns");
    }
    tables
}

/// Flows that hold and are held: `[root, port, flow, packets bound for the root]`.
fn holds(tables: &Tables) -> Vec<[i64; 4]> {
    rows(tables, "holds", ["root", "port", "flow", "bound_packets"])
}

fn cbr(rate: &str) -> serde_json::Value {
    json!({ "kind": "cbr", "rate": rate, "packet_size": "1472 B" })
}

/// 10 Gb/s into 1 Gb/s. Frames are in at 1730.4 ns and every 1230.4 ns after; the second one reaches XOFF at 2960.8. The
/// PAUSE takes 67.2 + 500 ns, the response 512: nothing starts from 4040 on, when the fourth frame is on its way.
/// Each takes 12 304 ns to leave, so that the third is out at 38 642.4, and the resumption in at 39 209.6. The fifth came
/// at 4921.6, the thirty-second at 43 bit times before that: 28 packets have waited for 34 288 - k * 1230.4 ns.
#[test]
fn one_closure_to_the_nanosecond() {
    let mut b = Builder::new(Span::from_ns(39_500));
    let switch = b.switch(Some(20_000), Span::ZERO, pause(3000, 2000));
    let (sender, receiver) = (b.host(), b.host());
    let up = i64::from(b.link(sender, switch, TEN_GIG, SHORT, None));
    let down = i64::from(b.link(switch, receiver, GIG, SHORT, None));
    let options = b.options("rfc", json!({}));
    b.traffic(cbr("10 Gbps"), &[(sender, receiver)], options);
    let tables = watched(b.plan);
    let columns =
        ["port", "priority", "begin_ns", "end_ns", "duration_ns", "packets", "bytes", "cause", "parent", "root"];
    assert_eq!(rows(&tables, "pauses", columns), [[up, -1, 4040, 39_209, 35_169, 28, 28 * 1518, down, -1, down]]);
    assert_eq!(rows(&tables, "pauses", ["pause", "refreshes", "depth", "episode"]), [[0, 0, 1, 1]]);
    let columns = ["episode", "root", "port", "flow", "packets", "bytes", "held_ns", "longest_ns", "bound_packets"];
    assert_eq!(
        rows(&tables, "holds", columns),
        [[1, down, up, 0, 28, 28 * 1518, 494_972, 34_288, 28]],
        "what still waits at the end is counted"
    );
}

/// Senders, each with the receivers that it sends to, around one switch with 200 kB; receiver 0 is behind 1 Gb/s.
fn star(per: PausePer, sends: &[&[usize]]) -> (Tables, Vec<i64>, Vec<i64>) {
    let mut b = Builder::new(Span::from_ms(5));
    let flow_control = FlowControl::Pause(Pause { per, xoff: Bytes(100_000), xon: Bytes(80_000), quanta: 0xFFFF });
    let switch = b.switch(Some(400_000), Span::from_us(1), flow_control);
    let receivers: Vec<u32> = (0..2).map(|_| b.host()).collect();
    let rates = [GIG, TEN_GIG];
    let down = (0..2).map(|i| i64::from(b.link(switch, receivers[i], rates[i], SHORT, None))).collect();
    let senders: Vec<u32> = sends.iter().map(|_| b.host()).collect();
    let up = senders.iter().map(|&s| i64::from(b.link(s, switch, TEN_GIG, SHORT, None))).collect();
    let options = b.options("rfc", json!({}));
    for (sender, of) in senders.iter().zip(sends) {
        for &receiver in *of {
            b.traffic(cbr("2 Gbps"), &[(*sender, receivers[receiver])], options);
        }
    }
    (watched(b.plan), up, down)
}

/// The first sender sends to the hot receiver only, the second to both: its frames to the free one wait at its own port.
#[test]
fn head_of_line_blocking_has_a_victim() {
    for per in [PausePer::Memory, PausePer::Egress] {
        let (tables, up, down) = star(per, &[&[0], &[0, 1]]);
        let intervals = rows(&tables, "pauses", ["cause", "parent", "root", "depth", "episode"]);
        assert!(intervals.len() > 10);
        assert!(intervals.iter().all(|row| *row == [down[0], -1, down[0], 1, 1]), "{intervals:?}");
        let ports: Vec<i64> = rows(&tables, "pauses", ["port"]).iter().map(|r| r[0]).collect();
        assert!(up.iter().all(|port| ports.contains(port)) && ports.iter().all(|port| up.contains(port)));
        let held: Vec<(i64, i64, bool)> = holds(&tables).iter().map(|h| (h[1], h[2], h[3] > 0)).collect();
        assert_eq!(held, [(up[0], 0, true), (up[1], 1, true), (up[1], 2, false)]);
    }
}

/// A bystander of its own is stopped by a full memory, not by a full egress queue that it does not use.
#[test]
fn an_egress_buffer_spares_who_does_not_use_it() {
    for (per, stopped) in [(PausePer::Memory, true), (PausePer::Egress, false)] {
        let (tables, up, _) = star(per, &[&[0], &[1]]);
        let held: Vec<i64> = holds(&tables).iter().map(|h| h[1]).collect();
        assert!(held.contains(&up[0]) && held.contains(&up[1]) == stopped, "{held:?}");
    }
}

#[test]
fn nobody_is_a_victim_where_all_go_to_the_root() {
    let (tables, ..) = star(PausePer::Memory, &[&[0], &[0]]);
    let rows = rows(&tables, "holds", ["packets", "bound_packets"]);
    assert!(rows.len() == 2 && rows.iter().all(|[packets, bound]| packets == bound), "{rows:?}");
}

/// Two switches: the left one has `hot` and `innocent`, the right one `slow` behind 1 Gb/s and `fast`. Answers the tables
/// and the ports hot->left, innocent->left, left->right, right->slow.
fn chain(innocent_shares: bool) -> (Tables, [i64; 4]) {
    let mut b = Builder::new(Span::from_ms(20));
    let left = b.switch(Some(600_000), Span::ZERO, pause(200_000, 180_000));
    let right = b.switch(Some(200_000), Span::ZERO, pause(48_000, 40_000));
    let [hot, innocent, slow, fast] = [(); 4].map(|()| b.host());
    let hot_up = b.link(hot, left, TEN_GIG, SHORT, None);
    let innocent_up = b.link(innocent, left, TEN_GIG, SHORT, None);
    let trunk = b.link(left, right, TEN_GIG, SHORT, None);
    let root = b.link(right, slow, GIG, SHORT, None);
    b.link(right, fast, TEN_GIG, SHORT, None);
    let near = b.host();
    b.link(left, near, TEN_GIG, SHORT, None);
    let options = b.options("rfc", json!({}));
    b.traffic(cbr("3 Gbps"), &[(hot, slow)], options);
    b.traffic(cbr("3 Gbps"), &[(innocent, if innocent_shares { fast } else { near })], options);
    (watched(b.plan), [hot_up, innocent_up, trunk, root].map(i64::from))
}

/// Right pauses the link between the switches, and left, whose memory what waits for it fills, its hosts.
#[test]
fn a_paused_link_between_switches_spreads() {
    let (tables, [hot, innocent, trunk, root]) = chain(true);
    let columns = ["pause", "port", "cause", "parent", "root", "depth"];
    let intervals = rows(&tables, "pauses", columns);
    let on_trunk: Vec<i64> = intervals.iter().filter(|r| r[1] == trunk).map(|r| r[0]).collect();
    assert!(!on_trunk.is_empty());
    for [_, port, cause, parent, of, depth] in &intervals {
        assert_eq!(*of, root);
        if *port == trunk {
            assert_eq!((*cause, *parent, *depth), (root, -1, 1));
        } else {
            assert!([hot, innocent].contains(port));
            assert!((*cause, *depth) == (trunk, 2) && on_trunk.contains(parent), "{intervals:?}");
        }
    }
    assert!(intervals.iter().any(|r| r[1] == hot) && intervals.iter().any(|r| r[1] == innocent));
    let held: Vec<(i64, i64, bool)> = holds(&tables).iter().map(|h| (h[1], h[2], h[3] > 0)).collect();
    assert_eq!(held, [(hot, 0, true), (innocent, 1, false), (trunk, 0, true), (trunk, 1, false)]);
}

/// A flow that never touches the link between the switches is held by its own switch all the same: its memory is full.
#[test]
fn a_neighbour_of_what_waits_is_a_victim_too() {
    let (tables, [hot, innocent, trunk, _]) = chain(false);
    let held: Vec<(i64, i64, bool)> = holds(&tables).iter().map(|h| (h[1], h[2], h[3] > 0)).collect();
    assert_eq!(held, [(hot, 0, true), (innocent, 1, false), (trunk, 0, true)]);
}

/// 2 ms apart: two episodes of the same root.
#[test]
fn a_silence_ends_an_episode() {
    let mut b = Builder::new(Span::from_ms(6));
    let switch = b.switch(Some(200_000), Span::ZERO, pause(30_000, 20_000));
    let (sender, receiver) = (b.host(), b.host());
    b.link(sender, switch, TEN_GIG, SHORT, None);
    b.link(switch, receiver, GIG, SHORT, None);
    let options = b.options("rfc", json!({}));
    for (number, start) in ["0 s", "3 ms"].iter().enumerate() {
        b.traffic(json!({ "kind": "cbr", "rate": "10 Gbps", "packet_size": "1472 B" }), &[(sender, receiver)], options);
        b.plan.traffic[number].start = serde_json::from_value(json!(start)).unwrap();
        let stop = Span::from_us(3000 * number as u64 + 100);
        b.plan.traffic[number].stop = Some(elephan_units::Time::ZERO + stop);
    }
    let tables = watched(b.plan);
    let episodes: Vec<i64> = rows(&tables, "pauses", ["episode"]).iter().map(|r| r[0]).collect();
    assert!(episodes.first() == Some(&1) && episodes.last() == Some(&2) && episodes.is_sorted(), "{episodes:?}");
    let held = rows(&tables, "holds", ["episode", "flow"]);
    assert_eq!(held, [[1, 0], [2, 1]]);
}

/// Without `events` nothing is kept, and nothing else is different.
#[test]
fn nothing_is_kept_that_nobody_reads() {
    let mut b = Builder::new(Span::from_ms(1));
    let switch = b.switch(Some(20_000), Span::ZERO, pause(3000, 2000));
    let (sender, receiver) = (b.host(), b.host());
    b.link(sender, switch, TEN_GIG, SHORT, None);
    b.link(switch, receiver, GIG, SHORT, None);
    let options = b.options("rfc", json!({}));
    b.traffic(cbr("10 Gbps"), &[(sender, receiver)], options);
    let (tables, without) = run(&b.plan, false);
    assert!(["pauses", "holds"].iter().all(|name| tables.iter().find(|t| t.name == *name).unwrap().rows == 0));
    b.plan.record.events = true;
    let (_, with) = run(&b.plan, false);
    assert_eq!(without, with);
}
