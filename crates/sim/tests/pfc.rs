//! Link flow control in whole runs: what it protects whatever is counted, priority by priority, and what it costs.

mod common;

use std::sync::Arc;

use arrow_array::{Int64Array, StringArray};
use common::{Builder, run};
use elephan_link::headroom::{Feeder, any_need, exact_need, own_need};
use elephan_link::{FlowControl, Framing, Pause, PausePer, Pfc};
use elephan_record::Tables;
use elephan_scenario::{Change, LinkChange, NodeKind, Plan, Rdma, Switch, Traffic};
use elephan_units::{Bytes, Rate, Span, Time};
use proptest::prelude::*;
use serde_json::{Value, json};

const TEN_GIG: Rate = Rate(10_000_000_000);
const HUNDRED_METRES: Span = Span::from_ns(500);
const MTU: u32 = 1500;

fn pfc(words: Value) -> FlowControl {
    FlowControl::Pfc(serde_json::from_value::<Pfc>(words).unwrap())
}

fn cbr(rate: Rate, bytes: u32) -> Value {
    json!({ "kind": "cbr", "rate": format!("{} bps", rate.0), "packet_size": format!("{bytes} B") })
}

/// A stream of this priority.
fn stream(b: &mut Builder, (from, to): (u32, u32), rate: Rate, bytes: u32, priority: u8) {
    b.traffic(cbr(rate, bytes), &[(from, to)], 0);
    b.plan.traffic.last_mut().unwrap().priority = priority;
}

/// A column of texts or numbers, as text; nothing is empty.
fn text(tables: &Tables, table: &str, column: &str) -> Vec<String> {
    let table = tables.iter().find(|t| t.name == table).unwrap();
    let all = table.batches.iter().flat_map(|batch| {
        let values = batch.column_by_name(column).unwrap().as_any();
        if let Some(texts) = values.downcast_ref::<StringArray>() {
            return texts.iter().map(|text| text.unwrap_or_default().to_owned()).collect::<Vec<_>>();
        }
        let numbers = values.downcast_ref::<Int64Array>().unwrap();
        numbers.iter().map(|number| number.map_or(String::new(), |n| n.to_string())).collect()
    });
    all.collect()
}

/// Goodput of each flow, bit/s.
fn goodputs(tables: &Tables) -> Vec<f64> {
    let flows = &tables.iter().find(|t| t.name == "flows").unwrap().batches[0];
    let goodput = flows.column_by_name("goodput_bps").unwrap();
    goodput.as_any().downcast_ref::<arrow_array::Float64Array>().unwrap().values().to_vec()
}

#[derive(Clone, Copy, Debug)]
enum Per {
    PauseMemory,
    PauseEgress,
    PauseIngress,
    PfcIngress,
    PfcDynamic,
    PfcEgress,
}

/// A random tree of switches with hosts, links of any rate and length, and streams of any length between the hosts.
#[derive(Clone, Debug)]
struct Net {
    /// The switch above each switch but the first.
    above: Vec<usize>,
    /// The switch of each host.
    homes: Vec<usize>,
    /// Of each link: rate in Gb/s, delay in ns.
    links: Vec<(u64, u64)>,
    /// From, to, share of the rate in per cent, bytes, priority.
    streams: Vec<(usize, usize, u64, u32, u8)>,
    response: u16,
    latency_ns: u64,
    xoff: u64,
    refresh: bool,
    /// Cells of the switches' memories.
    cell: Option<u32>,
}

fn nets() -> impl Strategy<Value = Net> {
    let link = (prop::sample::select(vec![1u64, 10, 25]), 0u64..3000);
    let stream = (0usize..8, 0usize..8, 20u64..101, prop::sample::select(vec![18u32, 400, 1000, 1472]), 0u8..3);
    (
        prop::collection::vec(0usize..4, 0..3),
        prop::collection::vec(0usize..4, 3..7),
        prop::collection::vec(link, 12),
        prop::collection::vec(stream, 3..10),
        (0u16..60, 0u64..1500, 4_000u64..40_000, any::<bool>(), prop::sample::select(vec![None, Some(64), Some(208)])),
    )
        .prop_map(|(above, homes, links, streams, (response, latency_ns, xoff, refresh, cell))| {
            let switches = above.len() + 1;
            Net {
                above: above.iter().enumerate().map(|(i, s)| s % (i + 1)).collect(),
                homes: homes.iter().map(|h| h % switches).collect(),
                links,
                streams,
                response,
                latency_ns,
                xoff,
                refresh,
                cell,
            }
        })
}

/// Two of three priorities are lossless under PFC.
const LOSSLESS: [u8; 2] = [1, 2];

impl Net {
    /// The plan with the exact headroom for what is counted.
    fn plan(&self, per: Per) -> Plan {
        let mut b = Builder::new(Span::from_us(300));
        let latency = Span::from_ns(self.latency_ns);
        let switches: Vec<u32> = (0..=self.above.len()).map(|_| b.switch(None, latency, FlowControl::None)).collect();
        let hosts: Vec<u32> = self.homes.iter().map(|_| b.host()).collect();
        let up = self.above.iter().enumerate().map(|(i, &above)| (switches[i + 1], switches[above]));
        let home = self.homes.iter().zip(&hosts).map(|(&home, &host)| (host, switches[home]));
        for ((a, z), &(gbps, ns)) in up.chain(home).zip(&self.links) {
            b.link(a, z, Rate(gbps * 1_000_000_000), Span::from_ns(ns), None);
        }
        b.options("rfc", json!({}));
        for &(from, to, percent, bytes, priority) in &self.streams {
            let (from, to) = (from % hosts.len(), to % hosts.len());
            if from != to {
                let rate = b.plan.links.iter().find(|l| l.from == hosts[from]).unwrap().rate;
                // At one queue the need is that of one priority: the others would leave it room.
                let priority = if matches!(per, Per::PfcEgress) { 1 } else { priority };
                stream(&mut b, (hosts[from], hosts[to]), Rate(rate.0 * percent / 100), bytes, priority);
            }
        }
        for node in &mut b.plan.nodes {
            node.pause.response_quanta = self.response;
        }
        let mut plan = b.plan;
        for &switch in &switches {
            self.equip(&mut plan, switch, per);
        }
        plan
    }

    fn equip(&self, plan: &mut Plan, switch: u32, per: Per) {
        // A PAUSE must outlast a full frame and another in the reverse direction, at a twenty-fifth of the rate.
        let quanta = if self.refresh { 2 * (52 * 25 + self.response) } else { 0xFFFF };
        let (xoff, xon) = (self.xoff, self.xoff / 2);
        let counted_late = matches!(per, Per::PauseEgress | Per::PfcEgress);
        let latency = if counted_late { Span::from_ns(self.latency_ns) } else { Span::ZERO };
        let feeder = |l: &elephan_scenario::Link| Feeder {
            rate: l.rate,
            reverse_rate: plan.links[l.reverse as usize].rate,
            framing: l.framing,
            propagation: l.delay,
            response_quanta: self.response,
            latency,
            cell: self.cell.filter(|_| !counted_late),
        };
        let feeders: Vec<Feeder> = plan.links.iter().filter(|l| l.to == switch).map(feeder).collect();
        let all = any_need(&feeders, MTU);
        let own: u64 = feeders.iter().map(|&f| own_need(f, MTU)).sum();
        let pause = |per| FlowControl::Pause(Pause { per, xoff: Bytes(xoff), xon: Bytes(xon), quanta });
        let (memory, limit, control) = match per {
            Per::PauseMemory => (Some(xoff + all), None, pause(PausePer::Memory)),
            Per::PauseEgress => (None, Some(xoff + all), pause(PausePer::Egress)),
            Per::PauseIngress => (Some(feeders.len() as u64 * xoff + own), None, pause(PausePer::Ingress)),
            Per::PfcIngress => {
                let words = json!({ "priorities": LOSSLESS, "xoff": format!("{xoff} B"), "quanta": quanta });
                (Some(2 * own + xoff), None, pfc(words))
            }
            Per::PfcDynamic => {
                let words = json!({ "priorities": LOSSLESS, "alpha": 0.25, "quanta": quanta });
                (Some(2 * own + xoff), None, pfc(words))
            }
            Per::PfcEgress => {
                let (xoff_text, xon) = (format!("{xoff} B"), format!("{xon} B"));
                let words = json!({ "per": "egress", "xoff": xoff_text, "xon": xon, "quanta": quanta });
                (None, Some(xoff + all), pfc(words))
            }
        };
        let NodeKind::Switch(node) = &mut plan.nodes[switch as usize].kind else { unreachable!() };
        (node.memory_bytes, node.flow_control) = (memory, control);
        node.cell_bytes = self.cell.filter(|_| memory.is_some());
        for link in plan.links.iter_mut().filter(|l| l.from == switch) {
            if let Some(limit) = limit {
                link.queue = serde_json::from_value(json!({ "kind": "fifo", "limit": format!("{limit} B") })).unwrap();
            }
        }
    }
}

/// Queues of all sorts, small enough to mark and drop.
fn queues() -> Vec<Value> {
    vec![
        json!({ "kind": "fifo", "limit": "60 KB" }),
        json!({ "kind": "fifo", "limit": "20 KB", "mark_above": "3 p" }),
        json!({ "kind": "red", "min": "5 kB", "max": "30 kB", "probability": 0.1, "weight": 1, "spaced": false, "ecn": true,
                "mark_only": true, "limit": "1 MB" }),
        json!({ "kind": "red", "weight": 1, "limit": "30 p" }),
        json!({ "kind": "red", "limit": "30 p" }),
        json!({ "kind": "prio", "bands": 3 }),
        json!({ "kind": "ets", "classes": [{ "priorities": [2], "strict": true }, { "priorities": [1], "percent": 70 },
                { "priorities": [0], "queue": { "kind": "codel" } }] }),
        json!({ "kind": "wrr", "classes": [{ "priorities": [1], "weight": 3 }, { "priorities": [0], "queue": { "kind": "tbf", "rate":
                "500 Mbps", "burst": "3 kB" } }] }),
        json!({ "kind": "wrr" }),
        json!({ "kind": "fq_codel" }),
        json!({ "kind": "drr" }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// Frames that need not wait pass by the queue of their port, and ends of transmissions that nobody awaits have no event: the
    /// rows are those of the way through each queue with each end.
    #[test]
    fn what_is_left_out_is_not_missed(
        net in nets(),
        per in prop::sample::select(vec![
            Per::PauseMemory, Per::PauseEgress, Per::PauseIngress, Per::PfcIngress, Per::PfcDynamic, Per::PfcEgress,
        ]),
        queue in prop::sample::select(queues()),
        rdma in any::<bool>(),
        tight in any::<bool>(),
    ) {
        let mut plan = net.plan(per);
        (plan.record.events, plan.record.every) = (true, Some(Span::from_us(7)));
        for link in &mut plan.links {
            link.queue = serde_json::from_value(queue.clone()).unwrap();
        }
        for node in plan.nodes.iter_mut().filter(|_| tight) {
            if let NodeKind::Switch(switch) = &mut node.kind {
                switch.memory_bytes = switch.memory_bytes.map(|bytes| bytes * 2 / 3);
            }
        }
        for entry in plan.traffic.iter_mut().filter(|entry| rdma && entry.priority > 0) {
            entry.kind = serde_json::from_value(json!({ "kind": "bulk" })).unwrap();
            entry.rdma = Some(Rdma::Roce(Arc::new(Default::default())));
            entry.congestion_control = serde_json::from_value(json!({ "kind": "dcqcn" })).unwrap();
        }
        let lean = run(&plan, false);
        let eager = common::run_on(&plan, elephan_sim::Paths { general: true, eager: true });
        for (lean, eager) in lean.0.iter().zip(&eager.0) {
            prop_assert_eq!(&lean.batches, &eager.batches, "{}", lean.name);
        }
    }

    /// With the exact headroom nothing lossless is lost, whatever is counted, over trees of switches with links of any rates and
    /// lengths, frames of any lengths, and any loads. The end of a run checks conservation and Little's law.
    #[test]
    fn nothing_lossless_is_lost(
        net in nets(),
        per in prop::sample::select(vec![
            Per::PauseMemory, Per::PauseEgress, Per::PauseIngress, Per::PfcIngress, Per::PfcDynamic, Per::PfcEgress,
        ]),
    ) {
        let mut plan = net.plan(per);
        plan.record.events = true;
        let (tables, summary) = run(&plan, false);
        let lossy = matches!(per, Per::PfcIngress | Per::PfcDynamic);
        if !lossy {
            prop_assert_eq!(&summary["drops"], &json!(0), "{}", summary);
        }
        let kinds = text(&tables, "events", "kind");
        let flows = text(&tables, "events", "flow");
        for (kind, flow) in kinds.iter().zip(&flows).filter(|(kind, _)| *kind == "drop") {
            let traffic = &plan.traffic[flow.parse::<usize>().unwrap()];
            prop_assert!(lossy && !LOSSLESS.contains(&traffic.priority), "{kind} of priority {}", traffic.priority);
        }
    }
}

/// What befalls a network: links that are down for a while, other rates, other delays; instants in us.
#[derive(Clone, Debug)]
enum Blow {
    Outage { link: usize, at: u64, lasts: u64 },
    Rate { link: usize, at: u64, gbps: u64 },
    Delay { link: usize, at: u64, ns: u64 },
}

fn blows() -> impl Strategy<Value = Vec<Blow>> {
    let outage = (0usize..12, 0u64..150, 0u64..60).prop_map(|(link, at, lasts)| Blow::Outage { link, at, lasts });
    let rate = (0usize..24, 0u64..200, prop::sample::select(vec![5u64, 10, 25]))
        .prop_map(|(link, at, gbps)| Blow::Rate { link, at, gbps });
    let delay = (0usize..24, 0u64..200, 0u64..5000).prop_map(|(link, at, ns)| Blow::Delay { link, at, ns });
    prop::collection::vec(prop_oneof![outage, rate, delay], 1..6)
}

/// The entries of `changes`, in their order.
fn strike(plan: &mut Plan, blows: &[Blow]) {
    let count = plan.links.len();
    let mut change = |at_us: u64, links: Vec<LinkChange>| {
        plan.changes.push(Change { at: Time::ZERO + Span::from_us(at_us), links, congestion_controls: vec![] });
    };
    let of = |link: usize| LinkChange { link: (link % count) as u32, ..LinkChange::default() };
    for blow in blows {
        match *blow {
            Blow::Outage { link, at, lasts } => {
                let both = |up| [2 * link, 2 * link + 1].map(|l| LinkChange { up: Some(up), ..of(l) }).to_vec();
                change(at, both(false));
                change(at + lasts, both(true));
            }
            Blow::Rate { link, at, gbps } => {
                change(at, vec![LinkChange { rate: Some(Rate(gbps * 1_000_000_000)), ..of(link) }]);
            }
            Blow::Delay { link, at, ns } => {
                change(at, vec![LinkChange { delay: Some(Span::from_ns(ns)), ..of(link) }]);
            }
        }
    }
    plan.changes.sort_by_key(|change| change.at);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    /// Failures, other rates and other delays while ports are paused, under every kind of flow control, with and without QCN,
    /// over every kind of queue that keeps priorities apart: the run accounts for every packet (else it fails), is the same
    /// twice, and is over when its streams are, unless it reports a deadlock (of two switches that share their whole memories): a
    /// port where frames wait for ever has lost a resumption.
    #[test]
    fn blows_leave_nothing_behind(
        net in nets(), blows in blows(), managed in any::<bool>(), kind in 0usize..4, rdma in any::<bool>(), bites in any::<bool>(),
        per in prop::sample::select(vec![
            Per::PauseMemory, Per::PauseEgress, Per::PauseIngress, Per::PfcIngress, Per::PfcDynamic, Per::PfcEgress,
        ]),
    ) {
        let mut net = net;
        net.links.iter_mut().for_each(|(gbps, _)| *gbps = (*gbps).max(5));
        let mut plan = net.plan(per);
        plan.duration = Time::ZERO + Span::from_ms(8);
        plan.traffic.iter_mut().for_each(|t| t.stop = Some(Time::ZERO + Span::from_us(100)));
        let queue = [
            json!({ "kind": "fifo" }),
            json!({ "kind": "prio", "bands": 2 }),
            json!({ "kind": "ets", "classes": [{ "priorities": [1] }, { "priorities": [0, 2], "queue": { "kind": "fq" } }] }),
            json!({ "kind": "ets", "classes": [{ "priorities": [1], "strict": true }, { "priorities": [0, 2] }] }),
        ];
        for link in &mut plan.links {
            if kind > 0 {
                link.queue = serde_json::from_value(queue[kind].clone()).unwrap();
            }
        }
        if managed {
            let words = json!({ "kind": "qcn", "rate_min": "1 Gbps", "cycle_time": "100 us", "cycle_bytes": "15 kB" });
            plan.congestion_management = serde_json::from_value(words).unwrap();
        }
        for node in &mut plan.nodes {
            if let NodeKind::Switch(Switch { flow_control: FlowControl::Pfc(pfc), .. }) = &mut node.kind {
                pfc.watchdog = bites.then_some(Span::from_us(40));
            }
        }
        if rdma {
            // Work that is posted is delivered whatever happens, so it must have come through before the end.
            let mut more: Vec<Traffic> = plan.traffic.iter().take(2).cloned().collect();
            for traffic in &mut more {
                traffic.name.push_str(" too");
                traffic.kind = serde_json::from_value(json!({ "kind": "bulk", "size": "20 kB" })).unwrap();
                let options = json!({ "timeout": "100 us", "ack_every": 4, "window": "8 kB" });
                traffic.rdma = Some(Rdma::Roce(Arc::new(serde_json::from_value(options).unwrap())));
                traffic.congestion_control = serde_json::from_value(json!("dcqcn")).unwrap();
            }
            plan.traffic.extend(more);
        }
        strike(&mut plan, &blows);
        plan.record.every = Some(Span::from_ms(1));
        plan.record.events = true;
        let (tables, summary) = run(&plan, false);
        let (times, queues) = (text(&tables, "port_samples", "time_ns"), text(&tables, "port_samples", "queue_bytes"));
        let last = times.iter().map(|t| t.parse::<u64>().unwrap()).max().unwrap().to_string();
        let left: Vec<_> = times.iter().zip(&queues).filter(|(t, q)| **t == last && *q != "0").collect();
        prop_assert!(left.is_empty() || !summary["deadlock"].is_null(), "{:?} {}", left, summary);
        let (_, again) = run(&plan, false);
        prop_assert_eq!(summary, again);
    }
}

/// The default headroom is enough for packets of RoCE with a payload of 4096 B, without framing, and for queues counted after a
/// switch of 2 us: two hosts flood a third, and the shared part has room for XOFF alone.
#[test]
fn the_default_headroom_holds_what_comes() {
    for (words, framing, mtu) in [
        (json!({ "priorities": [3], "xoff": "20 KB" }), Framing::Ethernet, 4096),
        (json!({ "priorities": [3], "xoff": "20 KB" }), Framing::None, 1000),
        (json!({ "priorities": [3], "xoff": "20 KB", "per": "egress" }), Framing::Ethernet, 1000),
    ] {
        let mut b = Builder::new(Span::from_ms(1));
        let switch = b.switch(Some(1_000_000), Span::from_us(2), pfc(words.clone()));
        let hosts: Vec<u32> = (0..3).map(|_| b.host()).collect();
        for &host in &hosts {
            b.link(host, switch, TEN_GIG, HUNDRED_METRES, None);
        }
        b.plan.links.iter_mut().for_each(|l| l.framing = framing);
        b.options("rfc", json!({}));
        for from in [0, 1] {
            b.traffic(json!({ "kind": "bulk" }), &[(hosts[from], hosts[2])], 0);
            let traffic = b.plan.traffic.last_mut().unwrap();
            traffic.priority = 3;
            let options = json!({ "mtu": format!("{mtu} B"), "ecn": false });
            traffic.rdma = Some(Rdma::Roce(Arc::new(serde_json::from_value(options).unwrap())));
            traffic.congestion_control = serde_json::from_value(json!("none")).unwrap();
        }
        b.plan.nodes.iter_mut().for_each(|n| n.pause.response_quanta = 60);
        let pfc: Pfc = serde_json::from_value(words.clone()).unwrap();
        let own = b.plan.headroom(&pfc, 0, b.plan.largest_packet());
        let per_port = if words["per"] == "egress" { own_need(ethernet(HUNDRED_METRES), MTU) } else { 0 };
        assert!(own > per_port, "{own}");
        let NodeKind::Switch(node) = &mut b.plan.nodes[switch as usize].kind else { unreachable!() };
        node.memory_bytes = Some(3 * own + 20_000);
        let (_, summary) = run(&b.plan, false);
        assert_eq!(summary["drops"], json!(0), "{words} {framing:?} {summary}");
        assert!(summary["pauses_sent"].as_u64().unwrap() > 0);
    }
}

/// A link of 10 Gb/s whose far end answers a PAUSE in 60 quanta.
fn ethernet(propagation: Span) -> Feeder {
    let framing = Framing::Ethernet;
    let latency = Span::ZERO;
    Feeder { rate: TEN_GIG, reverse_rate: TEN_GIG, framing, propagation, response_quanta: 60, latency, cell: None }
}

/// One port of one priority that nothing drains: 10 Gb/s, 100 m, 60 quanta, full frames, while full frames leave in the reverse
/// direction all the time. XOFF is just missed by four frames and crossed by the fifth; then D = 6712 wire bytes may start,
/// five frames: 1517 + 5 * 1518 = 9107 above XOFF. Of all phases of the reverse frames some need this to the byte.
fn drops_in_the_worst_case(headroom: u64) -> u64 {
    let one = |phase: u64| {
        let mut b = Builder::new(Span::from_us(40));
        let words = json!({ "priorities": [3], "xoff": "6073 B", "xon": "0 B", "headroom": format!("{headroom} B") });
        let switch = b.switch(Some(1_000_000), Span::ZERO, pfc(words));
        let (client, server, other) = (b.host(), b.host(), b.host());
        b.link(client, switch, TEN_GIG, HUNDRED_METRES, None);
        b.link(server, switch, Rate(1_000_000), HUNDRED_METRES, None);
        b.link(other, switch, TEN_GIG, Span::from_ns(phase), None);
        b.options("rfc", json!({}));
        b.plan.nodes.iter_mut().for_each(|n| n.pause.response_quanta = 60);
        stream(&mut b, (client, server), TEN_GIG, 1472, 3);
        stream(&mut b, (other, client), TEN_GIG, 1472, 0);
        let (_, summary) = run(&b.plan, false);
        assert!(summary["pauses_sent"].as_u64().unwrap() > 0);
        summary["drops"].as_u64().unwrap()
    };
    // The first frame goes straight to the server's port, the others stay.
    (0..1231).step_by(13).map(one).sum()
}

#[test]
fn the_exact_need_to_the_byte() {
    assert_eq!(exact_need(TEN_GIG, HUNDRED_METRES, MTU, 60, 1), 9107);
    assert_eq!(drops_in_the_worst_case(9107), 0);
    assert!(drops_in_the_worst_case(9106) > 0);
}

/// Clients 1 and 2 flood host 3 at 10 Gb/s each with priority 3; client 1 also sends 2 Gb/s of priority 0 to host 4, within
/// what its link carries beside. What host 4 gets of these 2 Gb/s.
fn victim(control: FlowControl) -> (f64, Tables, Value) {
    let mut b = Builder::new(Span::from_ms(3));
    b.plan.record.events = true;
    let switch = b.switch(Some(400_000), Span::ZERO, control);
    let hosts: Vec<u32> = (0..4).map(|_| b.host()).collect();
    for &host in &hosts {
        b.link(host, switch, TEN_GIG, HUNDRED_METRES, None);
    }
    b.options("rfc", json!({}));
    stream(&mut b, (hosts[0], hosts[3]), Rate(2_000_000_000), 1472, 0);
    stream(&mut b, (hosts[0], hosts[2]), Rate(7_900_000_000), 1472, 3);
    stream(&mut b, (hosts[1], hosts[2]), Rate(7_900_000_000), 1472, 3);
    let (tables, summary) = run(&b.plan, false);
    let share = goodputs(&tables)[0] / (2e9 * 1472.0 / 1538.0);
    (share, tables, summary)
}

/// A paused priority does not block another; PAUSE does.
#[test]
fn a_paused_priority_blocks_no_other() {
    let (share, tables, summary) = victim(pfc(json!({ "priorities": [3], "xoff": "60 KB" })));
    assert!(share > 0.99, "{share}");
    assert_eq!(summary["drops"], json!(0));
    let (kinds, reasons) = (text(&tables, "events", "kind"), text(&tables, "events", "reason"));
    let of = |kind: &str, reason: &str| kinds.iter().zip(&reasons).filter(|(k, r)| *k == kind && *r == reason).count();
    assert!(of("pause", "xoff 3") > 2 && of("resume", "xon 3") > 2);
    assert!(kinds.iter().zip(&reasons).all(|(kind, reason)| kind != "pause" || reason == "xoff 3"));
    let pause = Pause { per: PausePer::Ingress, xoff: Bytes(60_000), xon: Bytes(56_964), quanta: 0xFFFF };
    let (share, _, summary) = victim(FlowControl::Pause(pause));
    assert_eq!(summary["drops"], json!(0));
    // Client 1 sends 9.9 Gb/s when it may. Both clients get half of the hot port: 5 of 7.9 Gb/s, so 0.63 of the time.
    assert!((0.55..0.75).contains(&share), "{share}");
}

/// Frames of a lossy priority are dropped when the shared part is full, and cannot take the headroom; the lossless are not.
#[test]
fn lossy_priorities_drop_as_usual() {
    let mut b = Builder::new(Span::from_ms(2));
    b.plan.record.events = true;
    let control = pfc(json!({ "priorities": [3], "xoff": "20 KB", "headroom": "10 KB" }));
    let switch = b.switch(Some(100_000), Span::ZERO, control);
    let hosts: Vec<u32> = (0..4).map(|_| b.host()).collect();
    for &host in &hosts {
        b.link(host, switch, TEN_GIG, HUNDRED_METRES, None);
    }
    b.options("rfc", json!({}));
    for (from, priority) in [(0, 0), (1, 0), (2, 3)] {
        stream(&mut b, (hosts[from], hosts[3]), TEN_GIG, 1472, priority);
    }
    let (tables, _) = run(&b.plan, false);
    let (kinds, flows) = (text(&tables, "events", "kind"), text(&tables, "events", "flow"));
    let dropped: Vec<&String> = kinds.iter().zip(&flows).filter(|(kind, _)| *kind == "drop").map(|(_, f)| f).collect();
    assert!(dropped.len() > 100 && dropped.iter().all(|flow| *flow != "2"));
    assert!(kinds.iter().any(|kind| kind == "pause"));
}

/// A switch of `n` with a host each in a ring; each host sends to the host two switches further, the shorter way.
fn ring(n: u32, control: FlowControl, load: u64, limit: Option<&str>) -> Plan {
    let mut b = Builder::new(Span::from_ms(20));
    b.plan.record.events = true;
    let switches: Vec<u32> = (0..n).map(|_| b.switch(Some(300_000), Span::ZERO, control.clone())).collect();
    let hosts: Vec<u32> = (0..n).map(|_| b.host()).collect();
    for i in 0..n as usize {
        b.link(switches[i], switches[(i + 1) % n as usize], TEN_GIG, HUNDRED_METRES, limit);
        b.link(hosts[i], switches[i], TEN_GIG, HUNDRED_METRES, None);
    }
    b.options("rfc", json!({}));
    for i in 0..n as usize {
        let pair = (hosts[i], hosts[(i + 2) % n as usize]);
        stream(&mut b, pair, Rate(TEN_GIG.0 * load / 100), 1472, 3);
    }
    b.plan
}

fn count(tables: &Tables, kind: &str) -> usize {
    text(tables, "events", "kind").iter().filter(|k| *k == kind).count()
}

/// Every ring link carries two flows of 10 Gb/s: each buffer waits for the next one, round the ring. The run ends as usual
/// and says so, nothing is lost, and nothing moves any more.
#[test]
fn a_ring_of_five_deadlocks() {
    let pause = |per| FlowControl::Pause(Pause { per, xoff: Bytes(60_000), xon: Bytes(40_000), quanta: 0xFFFF });
    let controls = [
        pfc(json!({ "priorities": [3], "xoff": "30 KB" })),
        pfc(json!({ "priorities": [3], "alpha": 0.5 })),
        pfc(json!({ "priorities": [3], "xoff": "60 KB", "per": "egress" })),
        pause(PausePer::Memory),
        pause(PausePer::Egress),
        pause(PausePer::Ingress),
    ];
    for control in controls {
        let (tables, summary) = run(&ring(5, control.clone(), 100, None), false);
        let deadlock = &summary["deadlock"];
        let ports: Vec<&str> = deadlock["ports"].as_array().unwrap().iter().map(|p| p.as_str().unwrap()).collect();
        assert_eq!(ports, ["n0->n1", "n1->n2", "n2->n3", "n3->n4", "n4->n0"], "{control:?}");
        let whole = matches!(control, FlowControl::Pause(_));
        assert_eq!(deadlock["priority"], if whole { Value::Null } else { json!(3) });
        assert!(deadlock["since_s"].as_f64().unwrap() < 0.005, "{deadlock}");
        assert_eq!(summary["drops"], json!(0));
        assert_eq!(count(&tables, "deadlock"), 5);
        // 20 ms at 10 Gb/s would carry far more than what came through before.
        assert!(summary["goodput_bps"].as_f64().unwrap() < 10e9, "{summary}");
    }
}

/// Below the capacity of the ring no buffer fills; and without a cycle of flows (a star, or a line) there is none of buffers.
#[test]
fn no_deadlock_without_a_cycle() {
    let control = pfc(json!({ "priorities": [3], "xoff": "30 KB" }));
    let (tables, summary) = run(&ring(5, control.clone(), 45, None), false);
    assert_eq!((&summary["deadlock"], count(&tables, "deadlock")), (&Value::Null, 0));
    let mut line = ring(5, control, 100, None);
    // The links of the last switch to the first are cut by sending nothing over them.
    line.traffic.truncate(3);
    let (_, summary) = run(&line, false);
    assert_eq!((&summary["deadlock"], &summary["drops"]), (&Value::Null, &json!(0)));
    assert!(summary["pauses_sent"].as_u64().unwrap() > 10, "{summary}");
}

/// Two switches with 4 kB of shared memory each, beside the headroom, and traffic of one priority both ways over the link between
/// them: what each keeps for the other fills the part that the other's pause waits for. The run says so.
#[test]
fn a_deadlock_through_shared_memory() {
    let net = Net {
        above: vec![0],
        homes: vec![1, 1, 0],
        links: [(5, 130), (25, 271), (25, 0), (5, 260)].into_iter().chain([(5, 0); 8]).collect(),
        streams: vec![(0, 2, 20, 18, 0), (0, 2, 20, 18, 1), (2, 0, 36, 1000, 1)],
        response: 11,
        latency_ns: 404,
        xoff: 4000,
        refresh: false,
        cell: None,
    };
    let mut plan = net.plan(Per::PfcIngress);
    strike(&mut plan, &[Blow::Delay { link: 0, at: 2, ns: 818 }]);
    plan.duration = Time::ZERO + Span::from_ms(8);
    plan.traffic.iter_mut().for_each(|t| t.stop = Some(Time::ZERO + Span::from_us(100)));
    plan.record.events = true;
    plan.record.every = Some(Span::from_ms(1));
    let (tables, summary) = run(&plan, false);
    let queued = text(&tables, "port_samples", "queue_bytes");
    assert!(queued[queued.len() - 10..].iter().any(|bytes| bytes != "0"), "it hangs");
    assert_eq!(summary["deadlock"]["priority"], json!(1), "{summary}");
}

/// The watchdog breaks the deadlock: what waits is dropped, and frames move again.
#[test]
fn a_watchdog_breaks_the_deadlock() {
    let control = pfc(json!({ "priorities": [3], "xoff": "30 KB", "watchdog": "2 ms" }));
    let plan = ring(5, control, 100, None);
    let (tables, summary) = run(&plan, false);
    let watchdogs = summary["watchdogs"].as_u64().unwrap();
    assert!(watchdogs >= 1 && count(&tables, "watchdog") as u64 == watchdogs, "{summary}");
    let (kinds, reasons) = (text(&tables, "events", "kind"), text(&tables, "events", "reason"));
    assert!(kinds.iter().zip(&reasons).any(|(kind, reason)| kind == "drop" && reason == "watchdog"));
    let (_, hung) = run(&ring(5, pfc(json!({ "priorities": [3], "xoff": "30 KB" })), 100, None), false);
    let goodput = |summary: &Value| summary["goodput_bps"].as_f64().unwrap();
    assert!(goodput(&summary) > 3.0 * goodput(&hung), "{} {}", goodput(&summary), goodput(&hung));
    assert_eq!(run(&plan, false).1, summary);
}

/// Two priorities are held for the whole run by a port that sends a frame in 12 ms: one frame for each pause, then one for both
/// every half of 65 535 quanta, 1.678 ms at 10 Gb/s.
#[test]
fn one_frame_repeats_all_pauses() {
    let mut b = Builder::new(Span::from_ms(10));
    let switch = b.switch(Some(1_000_000), Span::ZERO, pfc(json!({ "priorities": [2, 3], "xoff": "20 KB" })));
    let (client, server) = (b.host(), b.host());
    let link = b.link(client, switch, TEN_GIG, HUNDRED_METRES, None);
    b.link(switch, server, Rate(1_000_000), HUNDRED_METRES, None);
    b.options("rfc", json!({}));
    for priority in [2, 3] {
        stream(&mut b, (client, server), Rate(4_000_000_000), 1472, priority);
    }
    let (tables, summary) = run(&b.plan, false);
    assert_eq!(text(&tables, "ports", "pauses_sent")[link as usize + 1], "7", "{summary}");
}

/// `prio` with one band: while priority 3 is paused, priority 2 of the same band passes at its whole rate, and a watchdog drops
/// nothing of it.
#[test]
fn a_band_with_a_paused_priority() {
    let run_with = |watchdog: Option<&str>| {
        let mut b = Builder::new(Span::from_ms(4));
        b.plan.record.events = true;
        let mut words = json!({ "priorities": [3], "xoff": "20 KB" });
        if let Some(watchdog) = watchdog {
            words["watchdog"] = json!(watchdog);
        }
        let switches = [0, 1].map(|_| b.switch(Some(1_000_000), Span::ZERO, pfc(words.clone())));
        let hosts: Vec<u32> = (0..4).map(|_| b.host()).collect();
        b.link(hosts[0], switches[0], TEN_GIG, HUNDRED_METRES, None);
        b.link(hosts[1], switches[0], TEN_GIG, HUNDRED_METRES, None);
        let trunk = b.link(switches[0], switches[1], TEN_GIG, HUNDRED_METRES, None);
        b.link(switches[1], hosts[2], Rate(1_000_000), HUNDRED_METRES, None);
        b.link(switches[1], hosts[3], TEN_GIG, HUNDRED_METRES, None);
        b.plan.links[trunk as usize].queue = serde_json::from_value(json!({ "kind": "prio", "bands": 1 })).unwrap();
        b.options("rfc", json!({}));
        stream(&mut b, (hosts[0], hosts[2]), Rate(1_000_000_000), 1472, 3);
        stream(&mut b, (hosts[1], hosts[3]), Rate(2_000_000_000), 1472, 2);
        run(&b.plan, false)
    };
    let (tables, summary) = run_with(None);
    assert_eq!(summary["drops"], json!(0));
    assert!(goodputs(&tables)[1] / (2e9 * 1472.0 / 1538.0) > 0.99, "{summary}");
    let (tables, summary) = run_with(Some("500 us"));
    assert!(summary["watchdogs"].as_u64().unwrap() > 0);
    let (kinds, flows) = (text(&tables, "events", "kind"), text(&tables, "events", "flow"));
    assert!(kinds.iter().zip(&flows).all(|(kind, flow)| kind != "drop" || flow == "0"), "{summary}");
}

/// All of the memory is headroom, under a dynamic threshold: ports are paused by each frame, and go on.
#[test]
fn a_memory_that_is_all_headroom() {
    let mut b = Builder::new(Span::from_ms(2));
    let control = pfc(json!({ "priorities": [3], "alpha": 1.0, "headroom": "30 KB" }));
    let switch = b.switch(Some(90_000), Span::ZERO, control);
    let hosts: Vec<u32> = (0..3).map(|_| b.host()).collect();
    for &host in &hosts {
        b.link(host, switch, TEN_GIG, HUNDRED_METRES, None);
    }
    b.options("rfc", json!({}));
    for from in [0, 1] {
        stream(&mut b, (hosts[from], hosts[2]), TEN_GIG, 1472, 3);
    }
    let (tables, summary) = run(&b.plan, false);
    assert_eq!(summary["drops"], json!(0));
    assert!(goodputs(&tables).iter().all(|rate| *rate > 1e9), "{summary}");
}

/// Without congestion, and with all traffic of one priority, a run with PFC is that without, frame for frame.
#[test]
fn nothing_changes_without_congestion() {
    let star = |control| {
        let mut b = Builder::new(Span::from_ms(2));
        let switch = b.switch(Some(1_000_000), Span::from_us(1), control);
        let hosts: Vec<u32> = (0..3).map(|_| b.host()).collect();
        for &host in &hosts {
            b.link(host, switch, TEN_GIG, HUNDRED_METRES, None);
        }
        let options = b.options("rfc", json!({ "receive_window": "64 KiB" }));
        b.traffic(json!({ "kind": "bulk" }), &[(hosts[0], hosts[2])], options);
        stream(&mut b, (hosts[1], hosts[0]), Rate(3_000_000_000), 900, 0);
        b.plan
    };
    let (tables, _) = run(&star(pfc(json!({ "xoff": "300 KB" }))), false);
    let (plain, _) = run(&star(FlowControl::None), false);
    assert_eq!(goodputs(&tables), goodputs(&plain));
}

/// A link fails while its priority is paused, with a watchdog running, and comes back: the pause is said again, everything is
/// accounted for (the run checks it), nothing but what the failure cut off is lost, and frames pass after the repair.
#[test]
fn a_link_that_fails_while_it_is_paused() {
    let mut b = Builder::new(Span::from_ms(4));
    b.plan.record.events = true;
    let control = pfc(json!({ "priorities": [3], "xoff": "40 KB", "watchdog": "500 us" }));
    let switches = [0, 1].map(|_| b.switch(Some(400_000), Span::from_us(1), control.clone()));
    let (client, server) = (b.host(), b.host());
    b.link(client, switches[0], TEN_GIG, HUNDRED_METRES, None);
    let trunk = b.link(switches[0], switches[1], TEN_GIG, HUNDRED_METRES, None);
    b.link(switches[1], server, Rate(1_000_000_000), HUNDRED_METRES, None);
    b.options("rfc", json!({}));
    stream(&mut b, (client, server), TEN_GIG, 1472, 3);
    for (ms, up) in [(1, false), (2, true)] {
        let links = [trunk, trunk + 1].map(|link| LinkChange { link, up: Some(up), ..LinkChange::default() });
        b.plan.changes.push(Change {
            at: Time::ZERO + Span::from_ms(ms),
            links: links.to_vec(),
            congestion_controls: vec![],
        });
    }
    let (tables, summary) = run(&b.plan, false);
    let (kinds, reasons) = (text(&tables, "events", "kind"), text(&tables, "events", "reason"));
    let dropped = kinds.iter().zip(&reasons).filter(|(kind, _)| *kind == "drop");
    assert!(dropped.clone().count() > 0 && dropped.into_iter().all(|(_, reason)| reason == "link_down"), "{summary}");
    assert_eq!(summary["watchdogs"], json!(0), "pauses of a port that sends half of the time are short");
    // 3 ms at 1 Gb/s, and what the last switch held as the link failed.
    let goodput = goodputs(&tables)[0] / (1e9 * 1472.0 / 1538.0);
    assert!((0.75..0.90).contains(&goodput), "{goodput}");
}

/// QCN over PFC: notifications pass a priority that is paused, what they limit obeys its gate, and nothing is lost. The
/// notifications keep the queue near the set point, so that the port is paused less often than without them.
#[test]
fn notifications_pass_where_their_priority_is_paused() {
    let hotspot = |management: Value| {
        let mut b = Builder::new(Span::from_ms(20));
        b.plan.congestion_management = serde_json::from_value(management).unwrap();
        let control = pfc(json!({ "priorities": [3], "xoff": "60 KB" }));
        let switch = b.switch(Some(600_000), Span::ZERO, control);
        let hosts: Vec<u32> = (0..5).map(|_| b.host()).collect();
        for &host in &hosts {
            b.link(host, switch, TEN_GIG, HUNDRED_METRES, None);
        }
        b.options("rfc", json!({}));
        for &from in &hosts[1..] {
            stream(&mut b, (from, hosts[0]), Rate(5_000_000_000), 1472, 3);
        }
        // Frames of the same priority also come back to the limited hosts.
        stream(&mut b, (hosts[0], hosts[1]), Rate(1_000_000_000), 1472, 3);
        run(&b.plan, false).1
    };
    let alone = hotspot(json!({ "kind": "none" }));
    let managed = hotspot(json!({ "kind": "qcn" }));
    assert_eq!((&alone["drops"], &managed["drops"]), (&json!(0), &json!(0)));
    let (sent, received) = (&managed["notifications_sent"], &managed["notifications_received"]);
    assert!(sent.as_u64().unwrap() > 10 && sent == received, "{managed}");
    let pauses = |summary: &Value| summary["pauses_sent"].as_u64().unwrap();
    assert!(pauses(&managed) < pauses(&alone) / 2, "{} {}", pauses(&managed), pauses(&alone));
}

/// At the port to a host as well a lossless priority has a queue of its own: 8 Gb/s of it beside 8 Gb/s of lossy traffic into 10 Gb/s
/// get half each and lose nothing, whatever the lossy priority drops.
#[test]
fn the_port_to_a_host_keeps_priorities_apart() {
    let mut b = Builder::new(Span::from_ms(20));
    b.options("rfc", json!({}));
    let hosts: Vec<u32> = (0..3).map(|_| b.host()).collect();
    let sw = b.switch(None, Span::ZERO, pfc(json!({ "priorities": [3], "xoff": "60 KB" })));
    for &host in &hosts {
        b.link(host, sw, TEN_GIG, HUNDRED_METRES, Some("300 KB"));
    }
    stream(&mut b, (hosts[0], hosts[2]), Rate(8_000_000_000), 1472, 3);
    stream(&mut b, (hosts[1], hosts[2]), Rate(8_000_000_000), 1472, 1);
    let (tables, summary) = run(&b.plan, true);
    let [lossless, lossy] = goodputs(&tables)[..] else { panic!() };
    assert!((lossless / lossy - 1.0).abs() < 0.1, "{lossless} {lossy}");
    assert!(summary["drops"].as_u64().unwrap() > 0 && summary["pauses_sent"].as_u64().unwrap() > 0, "{summary}");
    let flows: Vec<String> = text(&tables, "events", "kind")
        .into_iter()
        .zip(text(&tables, "events", "flow"))
        .filter(|(kind, _)| kind == "drop")
        .map(|(_, flow)| flow)
        .collect();
    assert!(flows.iter().all(|flow| flow == "1"), "{:?}", &flows[..3.min(flows.len())]);
}
