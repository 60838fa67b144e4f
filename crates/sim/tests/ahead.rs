//! Ports that compute departures in advance: whatever comes in between, the rows are those of a run in which each end has its event.

mod common;

use arrow_array::Int64Array;
use common::{Builder, run, run_on};
use elephan_link::{FlowControl, Framing, Loss, Pause, PausePer};
use elephan_record::Tables;
use elephan_scenario::{Change, LinkChange, NodeKind, Plan, PortSelection, Switch};
use elephan_sim::Paths;
use elephan_units::{Bytes, Rate, Span, Time};
use proptest::prelude::*;
use serde_json::{Value, json};

/// A tree of switches, of which some pause, with FIFOs alone.
#[derive(Clone, Debug)]
struct Shape {
    above: Vec<usize>,
    homes: Vec<usize>,
    /// Rate in Mb/s (0: 1 bit/s, 622: STM-4) and delay in ps of each link; those of the first for all if they are alike.
    links: Vec<(u64, u64)>,
    alike: bool,
    /// Of each switch: flow control, memory (none: without bound), latency in ps, cells.
    switches: Vec<(Control, Option<u64>, u64, Option<u32>)>,
    queues: Vec<usize>,
    framing: Framing,
    second_uplink: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Control {
    None,
    /// Dynamic thresholds, in percent.
    Alpha(u64),
    Memory {
        xoff: u64,
        xon: u64,
        quanta: u16,
    },
    Egress {
        xoff: u64,
        xon: u64,
        quanta: u16,
    },
    Ingress {
        xoff: u64,
        xon: u64,
        quanta: u16,
    },
    Pfc {
        xoff: u64,
    },
}

fn control() -> impl Strategy<Value = Control> {
    let marks = || {
        (
            prop_oneof![1_000u64..10_000, 1_000u64..60_000],
            0u64..100,
            prop::sample::select(vec![20u16, 100, 400, 3000, 0xFFFF]),
        )
    };
    prop_oneof![
        2 => Just(Control::None),
        2 => (5u64..300).prop_map(Control::Alpha),
        10 => marks().prop_map(|(xoff, share, quanta)| Control::Memory { xoff, xon: xoff * share / 100, quanta }),
        1 => marks().prop_map(|(xoff, share, quanta)| Control::Egress { xoff, xon: xoff * share / 100, quanta }),
        1 => marks().prop_map(|(xoff, share, quanta)| Control::Ingress { xoff, xon: xoff * share / 100, quanta }),
        1 => (1_000u64..40_000).prop_map(|xoff| Control::Pfc { xoff }),
    ]
}

fn shapes() -> impl Strategy<Value = Shape> {
    let rate = prop::sample::select(vec![100u64, 1_000, 1_000, 2_500, 10_000, 10_000, 25_000, 40_000, 3_000, 622, 0]);
    // Zero, frames of 1538 B and 84 B at 10 Gb/s, their sum, and anything.
    let delay = prop_oneof![
        3 => prop::sample::select(vec![0u64, 1_230_400, 67_200, 1_297_600, 615_200, 500_000]),
        2 => 0u64..4_000_000,
        1 => 0u64..60_000_000,
    ];
    let memory =
        prop_oneof![1 => Just(None), 1 => (1_600u64..8_000).prop_map(Some), 3 => (4_000u64..120_000).prop_map(Some)];
    let latency =
        prop_oneof![2 => Just(0u64), 1 => prop::sample::select(vec![1_230_400u64, 1_000_000]), 1 => 0u64..3_000_000];
    let cell = prop::sample::select(vec![None, None, None, Some(64), Some(208)]);
    (
        prop::collection::vec(0usize..4, 0..4),
        prop::collection::vec(0usize..4, 2..7),
        prop::collection::vec((rate, delay), 14),
        any::<bool>(),
        prop::collection::vec((control(), memory, latency, cell), 4),
        prop::collection::vec(0usize..6, 14),
        (prop::sample::select(vec![Framing::Ethernet, Framing::Ethernet, Framing::None]), any::<bool>()),
    )
        .prop_map(|(above, homes, links, alike, switches, queues, (framing, second_uplink))| {
            let n = above.len() + 1;
            Shape {
                above: above.iter().enumerate().map(|(i, s)| s % (i + 1)).collect(),
                homes: homes.iter().map(|h| h % n).collect(),
                links,
                alike,
                switches,
                queues,
                framing,
                second_uplink,
            }
        })
}

fn fifo(kind: usize) -> Value {
    [
        json!({ "kind": "fifo" }),
        json!({ "kind": "fifo" }),
        json!({ "kind": "fifo", "limit": "20 KB", "mark_above": "3 p" }),
        json!({ "kind": "fifo", "limit": "4 p" }),
        json!({ "kind": "fifo", "limit": "60 KB", "mark_above": "5 KB" }),
        json!({ "kind": "fifo", "limit": "1600 B" }),
    ][kind]
        .clone()
}

#[derive(Clone, Debug)]
struct Load {
    kind: usize,
    from: usize,
    to: usize,
    bytes: u32,
    percent: u64,
    start_ps: u64,
    stack: usize,
    priority: u8,
}

fn loads() -> impl Strategy<Value = Vec<Load>> {
    let bytes = prop::sample::select(vec![18u32, 18, 400, 1000, 1472, 1472, 1472]);
    let start = prop_oneof![2 => Just(0u64), 1 => 0u64..100_000_000];
    let one = (0usize..6, 0usize..8, 0usize..8, bytes, 5u64..101, start, 0usize..3, 0u8..3).prop_map(
        |(kind, from, to, bytes, percent, start_ps, stack, priority)| Load {
            kind,
            from,
            to,
            bytes,
            percent,
            start_ps,
            stack,
            priority,
        },
    );
    prop::collection::vec(one, 2..12)
}

/// Who obeys, what is recorded, and what befalls the links.
#[derive(Clone, Debug)]
struct Rest {
    obeys: u8,
    response: u16,
    seed: u64,
    duration_ps: u64,
    warmup: u64,
    every_ps: Option<u64>,
    events: bool,
    ports: u8,
    loss: Option<(usize, u64)>,
    changes: Vec<(u8, usize, u64, u64)>,
    reroute: bool,
}

fn rests() -> impl Strategy<Value = Rest> {
    let every =
        prop_oneof![1 => Just(None), 2 => (300_000u64..40_000_000).prop_map(Some), 1 => Just(Some(1_230_400u64))];
    let duration =
        prop_oneof![3 => 20_000_000u64..600_000_000, 1 => 1_000_000_000u64..4_000_000_000, 1 => 1_000u64..5_000_000];
    let changes = prop_oneof![
        2 => Just(vec![]),
        1 => prop::collection::vec((0u8..6, 0usize..24, 0u64..300, 0u64..100), 1..6),
    ];
    (
        (
            prop_oneof![Just(0u8), any::<u8>()],
            0u16..60,
            any::<u64>(),
            duration,
            prop::sample::select(vec![0u64, 0, 20, 50, 90]),
        ),
        (every, any::<bool>(), 0u8..4, prop_oneof![3 => Just(None), 1 => (0usize..24, 2u64..40).prop_map(Some)]),
        (changes, any::<bool>()),
    )
        .prop_map(
            |((obeys, response, seed, duration_ps, warmup), (every_ps, events, ports, loss), (changes, reroute))| {
                Rest { obeys, response, seed, duration_ps, warmup, every_ps, events, ports, loss, changes, reroute }
            },
        )
}

#[expect(clippy::too_many_lines, reason = "each arm is a scenario")]
fn plan(shape: &Shape, loads: &[Load], rest: &Rest) -> Plan {
    let mut b = Builder::new(Span(rest.duration_ps.max(1)));
    let switches: Vec<u32> = (0..=shape.above.len()).map(|_| b.switch(None, Span::ZERO, FlowControl::None)).collect();
    let hosts: Vec<u32> = shape.homes.iter().map(|_| b.host()).collect();
    let mut ends: Vec<(u32, u32)> =
        shape.above.iter().enumerate().map(|(i, &above)| (switches[i + 1], switches[above])).collect();
    ends.extend(shape.homes.iter().zip(&hosts).map(|(&home, &host)| (host, switches[home])));
    if shape.second_uplink && switches.len() > 2 {
        ends.push((switches[switches.len() - 1], switches[switches.len() - 2]));
    }
    for (i, &(a, z)) in ends.iter().enumerate() {
        let (mbps, ps) = shape.links[if shape.alike { 0 } else { i % shape.links.len() }];
        let rate = if mbps == 622 {
            Rate(622_080_000)
        } else if mbps == 0 {
            Rate(1)
        } else {
            Rate(mbps * 1_000_000)
        };
        let first = b.link(a, z, rate, Span(ps), None) as usize;
        b.plan.links[first].queue = serde_json::from_value(fifo(0)).unwrap();
        b.plan.links[first + 1].queue = serde_json::from_value(fifo(shape.queues[i % shape.queues.len()])).unwrap();
        if shape.queues[(i + 3) % shape.queues.len()] == 2 {
            b.plan.links[first].queue = serde_json::from_value(fifo(2)).unwrap();
        }
    }
    let none = FlowControl::None;
    for (i, &switch) in switches.iter().enumerate() {
        let (control, memory, latency, cell) = shape.switches[i % shape.switches.len()];
        let pause =
            |per, xoff, xon, quanta| FlowControl::Pause(Pause { per, xoff: Bytes(xoff), xon: Bytes(xon), quanta });
        let (memory_bytes, flow_control) = match control {
            Control::None | Control::Alpha(_) => (memory, none.clone()),
            Control::Memory { xoff, xon, quanta } => {
                (memory.map(|m| m.max(xoff)), pause(PausePer::Memory, xoff, xon, quanta))
            }
            Control::Egress { xoff, xon, quanta } => (memory, pause(PausePer::Egress, xoff, xon, quanta)),
            Control::Ingress { xoff, xon, quanta } => {
                (memory.map(|m| m.max(xoff)), pause(PausePer::Ingress, xoff, xon, quanta))
            }
            Control::Pfc { xoff } => {
                let words = json!({ "priorities": [1, 2], "xoff": format!("{xoff} B"), "headroom": "20 KB" });
                (memory.map(|m| m + 600_000), FlowControl::Pfc(serde_json::from_value(words).unwrap()))
            }
        };
        let whole = matches!(flow_control, FlowControl::Pause(Pause { per: PausePer::Memory, .. }));
        let memory_bytes = if whole && memory_bytes.is_none() { Some(u64::MAX / 4) } else { memory_bytes };
        let cell_bytes = cell.filter(|_| memory_bytes.is_some_and(|m| m < u64::MAX / 8));
        let alpha = match control {
            Control::Alpha(percent) => memory_bytes.map(|_| percent as f64 / 100.0),
            _ => None,
        };
        b.plan.nodes[switch as usize].kind =
            NodeKind::Switch(Switch { memory_bytes, cell_bytes, alpha, latency: Span(latency), flow_control });
    }
    for link in &mut b.plan.links {
        link.framing = shape.framing;
    }
    let tcp =
        |ecn: &str| json!({ "rto_min": "100 us", "rto_initial": "200 us", "delayed_ack_timeout": "50 us", "ecn": ecn });
    let stacks = [b.options("rfc", tcp("off")), b.options("rfc", tcp("dctcp")), b.options("rfc", tcp("classic"))];
    for load in loads {
        let (from, to) = (hosts[load.from % hosts.len()], hosts[load.to % hosts.len()]);
        if from == to {
            continue;
        }
        let rate =
            b.plan.links.iter().find(|l| l.from == from).unwrap().rate.0.max(10_000_000_000) * load.percent / 100;
        let size = format!("{} B", load.bytes);
        let kind = match load.kind {
            0 | 1 => json!({ "kind": "cbr", "rate": format!("{rate} bps"), "packet_size": size }),
            2 => json!({ "kind": "bulk", "size": "60 KB" }),
            _ => json!({ "kind": "bulk" }),
        };
        b.traffic(kind, &[(from, to)], stacks[load.stack]);
        let traffic = b.plan.traffic.last_mut().unwrap();
        traffic.priority = load.priority;
        traffic.start = serde_json::from_value(json!(format!("{} ps", load.start_ps))).unwrap_or_default();
    }
    let mut plan = b.plan;
    for (i, node) in plan.nodes.iter_mut().enumerate() {
        node.pause.response_quanta = rest.response;
        node.pause.obey = rest.obeys >> 5 != 0 || rest.obeys >> (i % 5) & 1 == 0;
    }
    plan.seed = rest.seed;
    plan.warmup = Time(rest.duration_ps * rest.warmup / 100);
    plan.record.every = rest.every_ps.map(|ps| Span(ps.max(rest.duration_ps / 200)));
    plan.record.events = rest.events;
    plan.record.ports = match rest.ports {
        0 => PortSelection::None,
        1 => PortSelection::Switches,
        2 => PortSelection::Listed((0..plan.links.len() as u32).step_by(3).collect()),
        _ => PortSelection::All,
    };
    let count = plan.links.len();
    if let Some((link, every)) = rest.loss {
        plan.links[link % count].loss = Loss::Periodic(every);
    }
    for &(what, link, at, value) in &rest.changes {
        let link = (link % count) as u32;
        let at = Time(rest.duration_ps * at / 400);
        let later = Time(at.0 + rest.duration_ps * value / 400);
        let of = |link| LinkChange { link, ..LinkChange::default() };
        let mut change = |at, links| plan.changes.push(Change { at, links, congestion_controls: vec![] });
        match what {
            0 | 1 => {
                change(
                    at,
                    vec![LinkChange { up: Some(false), ..of(link) }, LinkChange { up: Some(false), ..of(link ^ 1) }],
                );
                change(
                    later,
                    vec![LinkChange { up: Some(true), ..of(link) }, LinkChange { up: Some(true), ..of(link ^ 1) }],
                );
            }
            2 => change(at, vec![LinkChange { up: Some(false), ..of(link) }]),
            3 => change(at, vec![LinkChange { rate: Some(Rate((value + 1) * 100_000_000)), ..of(link) }]),
            4 => change(at, vec![LinkChange { delay: Some(Span(value * 50_000)), ..of(link) }]),
            _ => change(at, vec![LinkChange { loss: Some(Loss::Periodic(value + 2)), ..of(link) }]),
        }
    }
    plan.changes.sort_by_key(|change| change.at);
    if rest.reroute && !plan.changes.is_empty() {
        plan.reroute = Some(Span(rest.duration_ps / 50));
    }
    plan
}

/// Every host sends frames to every other, each in some of the slots that all of them share, so that many transmissions end at one
/// instant. Those of odd flows have priority 2, the others 1.
fn slots(flow_control: FlowControl, rate: Rate, seed: u64) -> Plan {
    let mut b = Builder::new(Span::from_us(200));
    let switch = b.switch(None, Span::ZERO, flow_control);
    let hosts: Vec<u32> = (0..4).map(|_| b.host()).collect();
    for &host in &hosts {
        b.link(host, switch, rate, Span::from_us(1), None);
    }
    let options = b.options("rfc", json!({}));
    for from in 0..4 {
        for to in (0..4).filter(|&to| to != from) {
            b.traffic(json!({ "kind": "frames", "gap": { "bernoulli": 0.3 } }), &[(hosts[from], hosts[to])], options);
            let count = b.plan.traffic.len();
            b.plan.traffic[count - 1].priority = 1 + (count % 2) as u8;
        }
    }
    b.plan.seed = seed;
    b.plan.record.events = true;
    b.plan
}

/// The rows of a run, and those of one in which each end of a transmission has its event.
fn lean_and_eager(plan: &Plan) -> (Tables, Tables) {
    (run(plan, false).0, run_on(plan, Paths { general: true, eager: true }).0)
}

/// The end of a transmission that has no event stands in the order of events where its event would stand (rule 3: time, class, tie).
/// If another end of that instant comes before it and resumes its neighbour, the frame that says so follows on a port that has not been
/// idle: the remainder of the transmission time is carried.
#[test]
fn ends_at_one_instant_keep_their_order() {
    let (xoff, xon) = (Bytes(2_000), Bytes(1_000));
    let pause = |per| FlowControl::Pause(Pause { per, xoff, xon, quanta: 0xFFFF });
    let pfc = |per: &str| {
        let words = json!({ "per": per, "priorities": [1, 2], "xoff": "2 KB", "xon": "1 KB" });
        FlowControl::Pfc(serde_json::from_value(words).unwrap())
    };
    let by_port = [PausePer::Egress, PausePer::Ingress, PausePer::Memory].map(pause);
    for control in by_port.iter().chain(&[pfc("egress"), pfc("ingress")]) {
        for seed in 1..9 {
            let (lean, eager) = lean_and_eager(&slots(control.clone(), Rate(70_000_000_000), seed));
            for (lean, eager) in lean.iter().zip(&eager) {
                assert_eq!(lean.batches, eager.batches, "{control:?}, seed {seed}: {}", lean.name);
            }
        }
    }
}

/// Four hosts overload the ports of `b` (priority 1) and `c` (priority 2) alike, so that both queues resume `a`, which has sent to both, at
/// one instant. At each of these instants a frame to `a` ends. If that is the last of the three ends, one PFC frame resumes both
/// priorities, otherwise two do.
#[test]
fn a_pfc_frame_waits_for_an_end_at_its_instant() {
    let mut b = Builder::new(Span::from_ms(1));
    let words = json!({ "per": "egress", "priorities": [1, 2], "xoff": "20 KB", "xon": "10 KB" });
    let switch = b.switch(None, Span::ZERO, FlowControl::Pfc(serde_json::from_value(words).unwrap()));
    let mut host = |gbps: u64| {
        let host = b.host();
        b.link(host, switch, Rate(gbps * 1_000_000_000), Span::from_us(1), None);
        host
    };
    let (a, [to_b, to_c, x], [d, e, f, g]) = (host(20), [10; 3].map(&mut host), [10; 4].map(&mut host));
    let options = b.options("rfc", json!({}));
    let mut send = |from, to, priority, start: &str, stop| {
        // A slot is a frame of 1538 B at 10 Gb/s.
        let slots = json!({ "kind": "frames", "gap": { "bernoulli": 1.0 }, "slot": "1230400 ps" });
        b.traffic(slots, &[(from, to)], options);
        let traffic = b.plan.traffic.last_mut().unwrap();
        (traffic.priority, traffic.stop) = (priority, stop);
        traffic.start = serde_json::from_value(json!(start)).unwrap();
    };
    let early = Some(Time::ZERO + Span::from_us(5));
    send(a, to_b, 1, "3 us", early);
    send(a, to_c, 2, "3 us", early);
    for (from, to, priority) in [(d, to_b, 1), (e, to_b, 1), (f, to_c, 2), (g, to_c, 2)] {
        send(from, to, priority, "0 s", None);
    }
    // Half a slot late: a frame takes as long at 20 Gb/s.
    send(x, a, 3, "615200 ps", None);
    let (lean, eager) = lean_and_eager(&b.plan);
    for (lean, eager) in lean.iter().zip(&eager) {
        assert_eq!(lean.batches, eager.batches, "{}", lean.name);
    }
    let ports = &lean.iter().find(|table| table.name == "ports").unwrap().batches[0];
    let sent = ports.column_by_name("pauses_sent").unwrap().as_any().downcast_ref::<Int64Array>().unwrap();
    // The ports to `a` and to `d`, of one priority.
    let (both, one) = (sent.value(1), sent.value(9));
    assert!(one > 50 && (one + 1..2 * one).contains(&both), "{both} for two priorities, {one} for one");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// All rows and the summary, but for the number of events, are those of a run in which each end of a transmission has its event; and
    /// what flows and ports have done is the same when nobody looks at them.
    #[test]
    fn nobody_sees_who_computes_in_advance(shape in shapes(), loads in loads(), rest in rests()) {
        let mut plan = plan(&shape, &loads, &rest);
        let (eager, mut expected) = run_on(&plan, Paths { general: true, eager: true });
        expected["events"] = Value::Null;
        for general in [false, true] {
            let (lean, mut summary) = run(&plan, general);
            summary["events"] = Value::Null;
            for (lean, eager) in lean.iter().zip(&eager) {
                prop_assert_eq!(&lean.batches, &eager.batches, "{}", lean.name);
            }
            prop_assert_eq!(&summary, &expected);
        }
        (plan.record.every, plan.record.events) = (None, false);
        let (unseen, _) = run(&plan, false);
        for (unseen, eager) in unseen.iter().zip(&eager).filter(|(table, _)| ["flows", "ports"].contains(&table.name)) {
            prop_assert_eq!(&unseen.batches, &eager.batches, "{} unseen", unseen.name);
        }
    }
}
