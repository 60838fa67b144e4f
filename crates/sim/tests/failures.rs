//! Links that go down and come back: what is lost, what becomes of PAUSE, of TCP and of routes.

mod common;

use arrow_array::{Array, Float64Array, Int64Array, StringArray};
use common::{Builder, run};
use elephan_link::{FlowControl, Pause, PausePer};
use elephan_record::Tables;
use elephan_scenario::{Change, Ecmp, LinkChange};
use elephan_units::{Bytes, Rate, Span, Time};
use serde_json::{Value, json};

const GIG: Rate = Rate(1_000_000_000);
const TEN_GIG: Rate = Rate(10_000_000_000);
const SHORT: Span = Span::from_ns(500);

/// The link with this first direction is down from one instant to another.
fn outage(b: &mut Builder, link: u32, from: Span, to: Span) {
    for (at, up) in [(from, false), (to, true)] {
        let one = |link| LinkChange { link, up: Some(up), ..LinkChange::default() };
        b.plan.changes.push(Change {
            at: Time::ZERO + at,
            links: vec![one(link), one(link ^ 1)],
            congestion_controls: vec![],
        });
    }
    b.plan.changes.sort_by_key(|change| change.at);
}

fn ints(tables: &Tables, table: &str, column: &str) -> Vec<i64> {
    let batches = &tables.iter().find(|t| t.name == table).unwrap().batches;
    let of = |b: &elephan_record::RecordBatch| {
        let values = b.column_by_name(column).unwrap().as_any().downcast_ref::<Int64Array>().unwrap();
        (0..values.len()).map(|i| if values.is_null(i) { -1 } else { values.value(i) }).collect::<Vec<_>>()
    };
    batches.iter().flat_map(of).collect()
}

fn words(tables: &Tables, table: &str, column: &str) -> Vec<String> {
    let batches = &tables.iter().find(|t| t.name == table).unwrap().batches;
    let of = |b: &elephan_record::RecordBatch| {
        let values = b.column_by_name(column).unwrap().as_any().downcast_ref::<StringArray>().unwrap();
        values.iter().map(|v| v.unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    batches.iter().flat_map(of).collect()
}

/// Times in ns of the drops for this reason.
fn dropped_at(tables: &Tables, reason: &str) -> Vec<i64> {
    let (times, kinds) = (ints(tables, "events", "time_ns"), words(tables, "events", "kind"));
    let reasons = words(tables, "events", "reason");
    let rows = times.into_iter().zip(kinds).zip(reasons);
    rows.filter(|((_, kind), of)| kind == "drop" && of == reason).map(|((time, _), _)| time).collect()
}

fn cbr(rate: &str) -> Value {
    json!({ "kind": "cbr", "rate": rate, "packet_size": "1472 B" })
}

/// Frame `k` is offered at `k * 12.304` us, in at the switch 1.7304 us later and at the receiver 3.4608 us later. The second
/// link is down from 101.5 us to 200: the frame 8 is on it (in at 100.1624, there at 101.8928), 9 to 16 come to its port.
#[test]
fn what_an_outage_takes() {
    let mut b = Builder::new(Span::from_us(400));
    let switch = b.switch(None, Span::ZERO, FlowControl::None);
    let (sender, receiver) = (b.host(), b.host());
    b.link(sender, switch, TEN_GIG, SHORT, None);
    let link = b.link(switch, receiver, TEN_GIG, SHORT, None);
    let options = b.options("rfc", json!({}));
    b.traffic(cbr("1 Gbps"), &[(sender, receiver)], options);
    outage(&mut b, link, Span::from_ns(101_500), Span::from_us(200));
    b.plan.record.events = true;
    let (tables, summary) = run(&b.plan, false);
    let port = link as usize;
    assert_eq!((ints(&tables, "ports", "lost")[port], ints(&tables, "ports", "drops")[port]), (1, 8));
    assert_eq!(summary["drops"], json!(9));
    let at = |k: i64| (k * 12_304_000 + 1_730_400) / 1000;
    let mut expected = vec![101_892];
    expected.extend((9..=16).map(at));
    assert_eq!(dropped_at(&tables, "link_down"), expected);
    let (kinds, reasons) = (words(&tables, "events", "kind"), words(&tables, "events", "reason"));
    let changes: Vec<&String> = kinds.iter().zip(&reasons).filter(|(k, _)| *k == "change").map(|(_, r)| r).collect();
    assert_eq!(changes, ["down", "down", "up", "up"]);
}

/// 20 frames offered at once: by the failure one is on the wire and the others wait, at a host's port.
#[test]
fn what_waits_is_dropped_at_once() {
    let mut b = Builder::new(Span::from_ms(1));
    let (sender, receiver) = (b.host(), b.host());
    let link = b.link(sender, receiver, GIG, SHORT, None);
    let options = b.options("rfc", json!({}));
    for _ in 0..20 {
        b.traffic(cbr("1 Mbps"), &[(sender, receiver)], options);
    }
    outage(&mut b, link, Span::from_us(6), Span::from_us(500));
    b.plan.record.events = true;
    let (tables, _) = run(&b.plan, false);
    let at = dropped_at(&tables, "link_down");
    assert_eq!(at.iter().filter(|&&t| t == 6000).count(), 19, "{at:?}");
    assert_eq!(*at.last().unwrap(), 12_804, "the one on the wire, when it would have been in");
    assert_eq!(at.len(), 20);
}

/// A switch that pauses its neighbour when their link fails for 2 us, and would need 9 ms to fall to XON.
#[test]
fn pause_is_forgotten_and_said_again() {
    let mut b = Builder::new(Span::from_ms(5));
    let pause = Pause { per: PausePer::Memory, xoff: Bytes(1_200_000), xon: Bytes(50_000), quanta: 0xFFFF };
    let switch = b.switch(Some(1_220_000), Span::ZERO, FlowControl::Pause(pause));
    let (sender, receiver) = (b.host(), b.host());
    let link = b.link(sender, switch, TEN_GIG, SHORT, None);
    b.link(switch, receiver, GIG, SHORT, None);
    let options = b.options("rfc", json!({}));
    b.traffic(cbr("10 Gbps"), &[(sender, receiver)], options);
    outage(&mut b, link, Span::from_us(2000), Span::from_us(2002));
    b.plan.record.events = true;
    let (tables, _) = run(&b.plan, false);
    assert_eq!(dropped_at(&tables, "memory_full"), [0i64; 0]);
    let (begins, ends) = (ints(&tables, "pauses", "begin_ns"), ints(&tables, "pauses", "end_ns"));
    assert_eq!(ends[0], 2_000_000);
    // The repetition is in 567.2 ns after the repair, the response takes 512.
    assert_eq!(begins[1], 2_003_079);
}

/// A sender at 10 Gb/s whose switch drains 1 Gb/s and pauses it, 20 km away; its link, towards the switch.
fn paused_from_afar() -> (Builder, u32) {
    let mut b = Builder::new(Span::from_ms(12));
    let pause = Pause { per: PausePer::Memory, xoff: Bytes(400_000), xon: Bytes(100_000), quanta: 0xFFFF };
    let switch = b.switch(Some(1_000_000), Span::ZERO, FlowControl::Pause(pause));
    let (sender, receiver) = (b.host(), b.host());
    let link = b.link(sender, switch, TEN_GIG, Span::from_us(100), None);
    b.link(switch, receiver, GIG, SHORT, None);
    let options = b.options("rfc", json!({}));
    b.traffic(cbr("10 Gbps"), &[(sender, receiver)], options);
    b.plan.nodes[sender as usize].pause.response_quanta = 60;
    b.plan.record.events = true;
    (b, link)
}

/// Ends and beginnings of pause intervals, and when the switch first told its neighbour to resume.
fn intervals(plan: &elephan_scenario::Plan) -> (Vec<i64>, Vec<i64>, i64) {
    let (tables, _) = run(plan, false);
    let (times, kinds) = (ints(&tables, "events", "time_ns"), words(&tables, "events", "kind"));
    let resumed = times.iter().zip(&kinds).find(|(_, kind)| *kind == "resume").map_or(0, |(time, _)| *time);
    (ints(&tables, "pauses", "begin_ns"), ints(&tables, "pauses", "end_ns"), resumed)
}

/// A PAUSE is under way when the sender's link gets ten times as fast: its quanta are a tenth as long then, 3.355 ms instead of
/// 33.55, and it is said again in time.
#[test]
fn a_pause_under_way_counts_at_the_new_rate() {
    let mut b = Builder::new(Span::from_ms(30));
    let pause = Pause { per: PausePer::Memory, xoff: Bytes(1_000_000), xon: Bytes(100_000), quanta: 0xFFFF };
    let switch = b.switch(Some(1_500_000), Span::ZERO, FlowControl::Pause(pause));
    let (sender, receiver) = (b.host(), b.host());
    let link = b.link(sender, switch, GIG, Span::from_us(100), None);
    b.link(switch, receiver, Rate(10_000_000), SHORT, None);
    let options = b.options("rfc", json!({}));
    b.traffic(cbr("1 Gbps"), &[(sender, receiver)], options);
    b.plan.record.events = true;
    let (tables, _) = run(&b.plan, false);
    let (times, kinds) = (ints(&tables, "events", "time_ns"), words(&tables, "events", "kind"));
    let paused = times.iter().zip(&kinds).find(|(_, kind)| *kind == "pause").map(|(time, _)| *time).unwrap();
    let faster = LinkChange { link, rate: Some(TEN_GIG), ..LinkChange::default() };
    let at = Time::ZERO + Span::from_ns(paused as u64 + 50_000);
    b.plan.changes.push(Change { at, links: vec![faster], congestion_controls: vec![] });
    let (_, summary) = run(&b.plan, false);
    assert_eq!(summary["drops"], json!(0), "{summary}");
}

/// One direction of a link is down from one instant to another.
fn one_way(b: &mut Builder, link: u32, from: Span, to: Span) {
    for (at, up) in [(from, false), (to, true)] {
        let one = LinkChange { link, up: Some(up), ..LinkChange::default() };
        b.plan.changes.push(Change { at: Time::ZERO + at, links: vec![one], congestion_controls: vec![] });
    }
}

/// An XON is on its way for 100 us when that direction fails for a moment: the station has lost its carrier and goes on then, not
/// when the pause would have run out.
#[test]
fn an_xon_that_is_cut_off() {
    let (b, _) = paused_from_afar();
    let (_, ends, resumed) = intervals(&b.plan);
    assert!(ends[0] > resumed + 100_000, "{ends:?} {resumed}");
    let (mut b, link) = paused_from_afar();
    let at = resumed as u64 + 50_000;
    one_way(&mut b, link + 1, Span::from_ns(at), Span::from_ns(at + 1000));
    assert_eq!(intervals(&b.plan).1[0], at as i64);
}

/// The other direction, in which the paused station sends, says nothing about its pause: it lasts.
#[test]
fn a_failure_forgets_no_pause_of_the_other_direction() {
    let (mut b, link) = paused_from_afar();
    let (begins, ends, _) = intervals(&b.plan);
    let at = begins[0] as u64 + 20_000;
    one_way(&mut b, link, Span::from_ns(at), Span::from_ns(at + 1000));
    let (again, late, _) = intervals(&b.plan);
    // What the failure cuts off of the last frames in flight the switch need not drain.
    assert!(again[0] == begins[0] && late[0] > at as i64 + 1_000_000 && late[0] <= ends[0], "{late:?} {ends:?}");
}

/// A PAUSE is in and its response time, 3.072 us, runs: after the failure the station is not paused by it.
#[test]
fn a_pause_in_its_response_time() {
    let (mut b, link) = paused_from_afar();
    let begins = intervals(&b.plan).0;
    let from = begins[0] as u64 - 1_000;
    outage(&mut b, link, Span::from_ns(from), Span::from_ns(from + 500));
    let (again, ..) = intervals(&b.plan);
    // It is said again at the repair, and takes 67 ns, 100 us and the response time.
    assert!(again[0] >= from as i64 + 500 + 67 + 100_000 + 3072, "{again:?} {begins:?}");
}

/// 100 ms without a link: the sender's timer backs off and the transfer is completed whole.
#[test]
fn tcp_survives_an_outage() {
    let mut b = Builder::new(Span::from_s(3));
    let switch = b.switch(None, Span::ZERO, FlowControl::None);
    let (sender, receiver) = (b.host(), b.host());
    b.link(sender, switch, GIG, Span::from_us(100), None);
    let link = b.link(switch, receiver, Rate(100_000_000), Span::from_us(100), Some("100 KB"));
    let options = b.options("rfc", json!({ "rto_min": "20 ms", "rto_initial": "100 ms" }));
    let size = 5_000_000;
    b.traffic(json!({ "kind": "bulk", "size": format!("{size} B") }), &[(sender, receiver)], options);
    outage(&mut b, link, Span::from_ms(150), Span::from_ms(250));
    let (tables, _) = run(&b.plan, false);
    assert_eq!(ints(&tables, "flows", "delivered_bytes"), [size]);
    let timeouts = ints(&tables, "flows", "timeouts")[0] + ints(&tables, "flows", "subsequent_timeouts")[0];
    assert!(timeouts >= 2, "{timeouts}");
    // 5 MB take 414 ms at 100 Mb/s (96.5 % of it payload), and the outage 100 at least.
    let fct = ints(&tables, "flows", "fct_ns")[0];
    assert!((510_000_000..900_000_000).contains(&fct), "{fct}");
}

/// Two leaves with four hosts each, two spines: every host of the left leaf sends to one of the right. Answers the builder
/// and the first directions of the links from the left leaf to the spines and of that to the first right host.
fn leaf_spine(reroute: Option<Span>) -> (Builder, [u32; 2], u32) {
    let mut b = Builder::new(Span::from_ms(20));
    b.plan.ecmp = Ecmp::Flow;
    b.plan.reroute = reroute;
    let [left, right, one, other] = [(); 4].map(|()| b.switch(None, Span::ZERO, FlowControl::None));
    let up = [one, other].map(|spine| b.link(left, spine, TEN_GIG, SHORT, None));
    for spine in [one, other] {
        b.link(spine, right, TEN_GIG, SHORT, None);
    }
    let mut first = None;
    let mut pairs = vec![];
    for _ in 0..4 {
        let (a, c) = (b.host(), b.host());
        b.link(a, left, TEN_GIG, SHORT, None);
        let down = b.link(right, c, TEN_GIG, SHORT, None);
        first = first.or(Some(down));
        pairs.push((a, c));
    }
    let options = b.options("rfc", json!({}));
    b.traffic(cbr("1 Gbps"), &pairs, options);
    b.plan.record.events = true;
    (b, up, first.unwrap())
}

/// Bytes that crossed these links.
fn sent(tables: &Tables, links: [u32; 2]) -> [i64; 2] {
    links.map(|link| ints(tables, "ports", "tx_bytes")[link as usize])
}

#[test]
fn routes_are_made_anew_around_a_failure() {
    let (mut b, up, _) = leaf_spine(Some(Span::from_ms(1)));
    outage(&mut b, up[0], Span::from_ms(5), Span::from_ms(12));
    let (tables, _) = run(&b.plan, false);
    let at = dropped_at(&tables, "link_down");
    assert!(at.len() > 50, "some flows had that way: {}", at.len());
    // What is on its way to the leaf when the routes change is dropped yet: 1.8 us.
    assert!(at.iter().all(|t| (5_000_000..6_002_000).contains(t)), "{:?}..{:?}", at.first(), at.last());
    let (_, before) = (sent(&tables, up), leaf_spine(None));
    let (undisturbed, _) = run(&before.0.plan, false);
    let (with, without) = (sent(&tables, up), sent(&undisturbed, up));
    assert!(with[0] < without[0] && with[1] > without[1], "{with:?} {without:?}");
    // From 13 ms on all go as in the beginning: 7 of 20 ms less by the first way, 1 ms of it lost.
    let share = with[0] as f64 / without[0] as f64;
    assert!((0.59..0.61).contains(&share), "{share}");
    let batches = &tables.iter().find(|t| t.name == "events").unwrap().batches;
    let value = |b: &elephan_record::RecordBatch| {
        let values = b.column_by_name("value").unwrap().as_any().downcast_ref::<Float64Array>().unwrap().clone();
        (0..values.len()).map(|i| values.is_valid(i).then(|| values.value(i))).collect::<Vec<_>>()
    };
    let values: Vec<Option<f64>> = batches.iter().flat_map(value).collect();
    let reasons = words(&tables, "events", "reason");
    let moved: Vec<f64> = reasons.iter().zip(values).filter(|(r, _)| *r == "reroute").filter_map(|(_, v)| v).collect();
    assert!(moved.len() == 2 && moved[0] >= 1.0 && moved[0] == moved[1], "{moved:?}");
}

#[test]
fn without_rerouting_an_outage_lasts() {
    let (mut b, up, _) = leaf_spine(None);
    outage(&mut b, up[0], Span::from_ms(5), Span::from_ms(12));
    let (tables, _) = run(&b.plan, false);
    let at = dropped_at(&tables, "link_down");
    assert!(*at.last().unwrap() > 11_900_000 && *at.last().unwrap() < 12_000_000);
}

/// The only link of a host: nothing leads there, and its route serves again after the repair.
#[test]
fn who_cannot_be_reached_waits_for_the_repair() {
    let (mut b, _, host) = leaf_spine(Some(Span::from_ms(1)));
    outage(&mut b, host, Span::from_ms(5), Span::from_ms(12));
    let (tables, _) = run(&b.plan, false);
    let at = dropped_at(&tables, "link_down");
    assert!(at.iter().all(|t| (5_000_000..12_000_000).contains(t)));
    // 1 Gb/s of 1538 B: a frame each 12.304 us, 568.9 in 7 ms, and the one on the wire or on its way.
    assert!((568..571).contains(&at.len()), "{}", at.len());
}

/// Packets of one flow over all ways keep being sprayed, over those that are left.
#[test]
fn packets_are_sprayed_over_what_is_left() {
    let (mut b, up, _) = leaf_spine(Some(Span::from_ms(1)));
    b.plan.ecmp = Ecmp::Packet;
    outage(&mut b, up[0], Span::from_ms(5), Span::from_ms(30));
    b.plan.changes.retain(|change| change.at < b.plan.duration);
    let (tables, _) = run(&b.plan, false);
    let at = dropped_at(&tables, "link_down");
    assert!(!at.is_empty() && at.iter().all(|&t| t < 6_002_000));
}

#[test]
fn a_link_may_begin_down() {
    let (mut b, up, _) = leaf_spine(Some(Span::ZERO));
    for link in [up[0], up[0] + 1] {
        b.plan.links[link as usize].up = false;
    }
    let (tables, summary) = run(&b.plan, false);
    assert_eq!((sent(&tables, up)[0], &summary["drops"]), (0, &json!(0)));
}

/// A path that breaks for good: stack `rfc` gives the transfer up after 123 s (RFC 1122 section 4.2.3.5: R2 is 100 s at least), the user's SYNs
/// after 183 s (three minutes at least). Both are events, and both flows are over.
#[test]
fn a_broken_path_is_given_up() {
    let mut b = Builder::new(Span::from_s(400));
    let (from, s, to) = (b.host(), b.switch(None, Span::ZERO, FlowControl::None), b.host());
    b.link(from, s, GIG, SHORT, None);
    let second = b.link(s, to, GIG, Span::from_ms(10), None);
    let options = b.options("rfc", json!({}));
    b.traffic(json!({ "kind": "bulk", "size": "10 GB" }), &[(from, to)], options);
    b.traffic(json!({ "kind": "bulk", "size": "10 KB" }), &[(from, to)], options);
    b.plan.traffic[1].start = serde_json::from_value(json!("2 s")).unwrap();
    outage(&mut b, second, Span::from_s(1), Span::from_s(500));
    b.plan.record.events = true;
    let (tables, _) = run(&b.plan, false);
    let (times, kinds) = (ints(&tables, "events", "time_ns"), words(&tables, "events", "kind"));
    let given_up: Vec<i64> =
        times.iter().zip(&kinds).filter(|(_, kind)| *kind == "give_up").map(|(ns, _)| ns / 1_000_000_000).collect();
    // The last ACK came just before 1 s.
    assert_eq!(given_up, [123, 185]);
    assert!(ints(&tables, "flows", "end_ns").iter().all(|ns| *ns > 0));
    assert!(ints(&tables, "flows", "fct_ns").iter().all(|ns| *ns < 0));
}
