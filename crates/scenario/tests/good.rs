//! Right scenarios: each resolves, its resolved text resolves to the same plan, and the figures are those of paper
//! and pencil.

use elephan_link::queue::{Limit, QueueSpec};
use elephan_link::{FlowControl, GilbertElliott, Loss, PfcPer};
use elephan_scenario::{
    LinkChange, NodeKind, Order, Origin, Override, Plan, PortSelection, Resolved, Source, read, sweep,
};
use elephan_units::{Bytes, Rate, Size, Span};

fn text(name: &str) -> String {
    std::fs::read_to_string(format!("{}/tests/good/{name}.toml", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

fn source(name: &str) -> Source {
    Source::toml(format!("{name}.toml"), text(name))
}

fn resolved(name: &str, overrides: &[&str]) -> Resolved {
    let overrides: Vec<Override> = overrides.iter().map(|o| Override::parse(o).unwrap()).collect();
    read(&source(name), &overrides, None).unwrap_or_else(|e| panic!("{e}"))
}

/// A plan as text, without what says where options came from.
fn shown(plan: &Plan) -> String {
    let options: Vec<_> = plan.options.iter().map(|o| o.to_overrides()).collect();
    let mut rest = plan.clone();
    rest.options.clear();
    format!("{options:?}\n{rest:?}")
}

fn again(resolved: &Resolved) -> Resolved {
    read(&Source::toml("resolved.toml", resolved.toml()), &[], None)
        .unwrap_or_else(|e| panic!("{e}\n{}", resolved.toml()))
}

const ALL: [&str; 10] = ["pause", "w1", "w2", "w2_by_hand", "w3", "w4", "mixed", "changes", "impaired", "hotspot"];

#[test]
fn the_resolved_text_gives_the_same_plan() {
    for name in ALL {
        let first = resolved(name, &[]);
        let second = again(&first);
        assert_eq!(shown(&first.plan), shown(&second.plan), "{name}");
        assert_eq!(first.toml(), second.toml(), "{name}");
        assert!(second.provenance().keys().eq(first.provenance().keys()), "{name}");
    }
}

#[test]
fn w1_is_the_dumbbell() {
    let plan = resolved("w1", &[]).plan;
    assert_eq!((plan.nodes.len(), plan.links.len()), (202, 2 * 201));
    assert_eq!(plan.traffic[0].flows.len(), 100);
    let middle = plan.links.iter().find(|l| l.name == "left->right").unwrap();
    // 1 Gb/s x 12 ms.
    assert_eq!(middle.bdp_bytes, 1_500_000);
    assert_eq!(plan.links[middle.reverse as usize].bdp_bytes, 1_500_000);
    let flow = plan.traffic[0].flows[99];
    assert_eq!(plan.nodes[flow.from as usize].name, "sender[99]");
    assert_eq!(plan.nodes[flow.to as usize].name, "receiver[99]");
    assert_eq!(plan.options.len(), 2);
    assert_eq!(plan.options[0].rto_min, Span::from_ms(200));
    assert_eq!(plan.traffic[0].congestion_control.name(), "cubic");
}

#[test]
fn w2_is_the_fat_tree() {
    let plan = resolved("w2", &[]).plan;
    let hosts = plan.nodes.iter().filter(|n| matches!(n.kind, NodeKind::Host)).count();
    assert_eq!((hosts, plan.nodes.len() - hosts), (128, 80));
    // 128 links to hosts, 8 pods x 4 x 4 within, 8 x 4 x 4 to the core, each in two directions.
    assert_eq!(plan.links.len(), 2 * 384);
    let degree = |name: &str| plan.links.iter().filter(|l| plan.nodes[l.from as usize].name == name).count();
    assert!(["edge[0]", "aggregation[17]", "core[15]"].iter().all(|n| degree(n) == 8));
    assert_eq!(degree("host[5]"), 1);
    // 16 hosts by hand: 8 x 2 + 8 x 2 + 16 links; 240 ordered pairs.
    let plan = resolved("w2_by_hand", &[]).plan;
    assert_eq!((plan.nodes.len(), plan.links.len()), (36, 2 * 48));
    assert_eq!(plan.traffic[0].flows.len(), 240);
    assert!(plan.links.iter().any(|l| l.name == "host[15]->edge[7]"));
    let by_template = resolved("w2", &["template.k=4"]).plan;
    let names = |plan: &Plan| {
        let mut names: Vec<String> = plan.links.iter().map(|l| l.name.clone()).collect();
        names.sort();
        names
    };
    assert_eq!(names(&plan), names(&by_template));
}

/// 3 leaves of 4 hosts under 2 spines: 12 links below, 6 above; limits stand at switches, not at hosts.
#[test]
fn leaf_spine_is_a_folded_clos() {
    let text = r#"
        duration = "1 ms"
        [template]
        kind = "leaf-spine"
        leaves = 3
        spines = 2
        hosts_per_leaf = 4
        rate = "10 Gbps"
        spine_rate = "40 Gbps"
        delay = "1 us"
        queue = { kind = "fifo", limit = "100 p" }
        [[traffic]]
        from = "host"
        to = "host"
        pairing = "permutation"
        kind = "bulk"
    "#;
    let plan = read(&Source::toml("leaf-spine.toml", text), &[], None).unwrap().plan;
    assert_eq!((plan.nodes.len(), plan.links.len()), (12 + 3 + 2, 2 * (12 + 6)));
    let link = |name: &str| plan.links.iter().find(|l| l.name == name).unwrap();
    let limited = |name: &str| matches!(&link(name).queue, QueueSpec::Fifo(fifo) if fifo.limit.is_some());
    assert_eq!(link("host[4]->leaf[1]").rate, Rate(10_000_000_000));
    assert_eq!(link("leaf[2]->spine[1]").rate, Rate(40_000_000_000));
    assert!(!limited("host[4]->leaf[1]") && limited("leaf[1]->host[4]"));
    assert!(limited("leaf[0]->spine[1]") && limited("spine[1]->leaf[0]"));
}

/// 3 bottlenecks between 4 switches, 8 hosts on access links; each pair's way crosses what it should and nothing else.
#[test]
fn a_parking_lot_has_a_pair_across_all_and_one_across_each() {
    let text = r#"
        duration = "1 s"
        [template]
        kind = "parking-lot"
        hops = 3
        rate = "10 Mbps"
        delay = "5 ms"
        queue = { kind = "fifo", limit = "1 bdp" }
        loss = { bernoulli = 0.001 }
        access_rate = "100 Mbps"
        access_delay = "1 ms"
        cross_delay = { linear = ["2 ms", "4 ms"] }
        [[traffic]]
        name = "long"
        from = "sender"
        to = "receiver"
        kind = "bulk"
        [[traffic]]
        name = "cross"
        from = "cross_sender"
        to = "cross_receiver"
        kind = "bulk"
    "#;
    let plan = read(&Source::toml("parking-lot.toml", text), &[], None).unwrap().plan;
    assert_eq!((plan.nodes.len(), plan.links.len()), (8 + 4, 2 * (3 + 8)));
    let link = |name: &str| plan.links.iter().find(|l| l.name == name).unwrap();
    let name = |node: u32| plan.nodes[node as usize].name.as_str();
    let flows: Vec<_> = plan.traffic.iter().flat_map(|t| &t.flows).map(|f| (name(f.from), name(f.to))).collect();
    let cross = ["0", "1", "2"].map(|i| (format!("cross_sender[{i}]"), format!("cross_receiver[{i}]")));
    assert_eq!(flows[0], ("sender", "receiver"));
    assert!(flows[1..].iter().zip(&cross).all(|(flow, (from, to))| flow.0 == from && flow.1 == to));
    for (access, delay_ms) in [
        ("sender->router[0]", 1),
        ("router[3]->receiver", 1),
        ("cross_sender[0]->router[0]", 2),
        ("cross_sender[1]->router[1]", 3),
        ("router[2]->cross_receiver[1]", 3),
        ("router[3]->cross_receiver[2]", 4),
    ] {
        let l = link(access);
        assert_eq!((l.rate, l.delay), (Rate(100_000_000), Span::from_ms(delay_ms)), "{access}");
    }
    // Round trips: 2 (1 + 3 x 5 + 1) = 34 ms and 2 (2 x {2, 3, 4} + 5) = 18, 22, 26 ms; at 10 Mb/s their means 26, 28, 30 ms
    // are 32 500, 35 000, 37 500 B.
    for (i, bdp_bytes) in [(0, 32_500), (1, 35_000), (2, 37_500)] {
        let (forward, back) = (format!("router[{i}]->router[{}]", i + 1), format!("router[{}]->router[{i}]", i + 1));
        let (forward, back) = (link(&forward), link(&back));
        assert_eq!((forward.rate, forward.delay, forward.bdp_bytes), (Rate(10_000_000), Span::from_ms(5), bdp_bytes));
        assert_eq!((&forward.loss, &back.loss), (&Loss::Bernoulli(0.001), &Loss::default()));
    }
    let one = text.replace("hops = 3", "hops = 1");
    let plan = read(&Source::toml("one-hop.toml", one), &[], None).unwrap().plan;
    assert!(plan.links.iter().any(|l| l.name == "router[0]->router[1]") && plan.links.len() == 2 * (1 + 4));
}

#[test]
fn w3_is_the_long_path() {
    let plan = resolved("w3", &[]).plan;
    let names: Vec<&str> = plan.nodes.iter().map(|n| n.name.as_str()).collect();
    assert_eq!(names, ["sender", "receiver", "router[0]", "router[1]"]);
    let middle = plan.links.iter().find(|l| l.name == "router[0]->router[1]").unwrap();
    // 1 Gb/s x 196 ms.
    assert_eq!((middle.rate, middle.bdp_bytes), (Rate(1_000_000_000), 24_500_000));
    assert_eq!(serde_json::to_value(&middle.queue).unwrap()["limit"], "0.25 bdp");
    assert_eq!(serde_json::to_value(&plan.links[middle.reverse as usize].queue).unwrap().get("limit"), None);
}

#[test]
fn w4_has_rtts_from_15_to_35_ms() {
    let plan = resolved("w4", &[]).plan;
    let delay = |name: &str| plan.links.iter().find(|l| l.name == name).unwrap().delay;
    assert_eq!(delay("sender[0]->left"), Span::from_us(1250));
    assert_eq!(delay("right->receiver[99]"), Span::from_us(6250));
    assert_eq!(delay("receiver[42]->right"), delay("sender[42]->left"));
    let middle = plan.links.iter().find(|l| l.name == "left->right").unwrap();
    // 40 Mb/s x 25 ms on average.
    assert_eq!(middle.bdp_bytes, 125_000);
    assert_eq!(plan.traffic[0].name, "transfers");
}

#[test]
fn mixed() {
    let r = resolved("mixed", &[]);
    let plan = &r.plan;
    let names: Vec<&str> = plan.nodes.iter().map(|n| n.name.as_str()).collect();
    assert_eq!(names, ["a[0]", "a[1]", "b", "c", "left", "right[0]"]);
    let traffic: Vec<(&str, usize)> = plan.traffic.iter().map(|t| (t.name.as_str(), t.flows.len())).collect();
    assert_eq!(traffic, [("bulk", 9), ("bulk-2", 2), ("noise", 1), ("messages", 2)]);
    let link = |name: &str| plan.links.iter().find(|l| l.name == name).unwrap();
    let (there, back) = (link("left->right[0]"), link("right[0]->left"));
    assert_eq!((there.rate, back.rate), (Rate(622_080_000), Rate(10_000_000)));
    assert_eq!((there.delay, back.delay), (Span::from_ms(3), Span::from_ms(30)));
    // 622.08 Mb/s x 10 ms; 10 Mb/s x 1 s.
    assert_eq!((there.bdp_bytes, back.bdp_bytes), (777_600, 1_250_000));
    assert_eq!(serde_json::to_value(&there.queue).unwrap()["limit"], "100 p");
    assert_eq!(serde_json::to_value(&back.queue).unwrap()["limit"], "1 bdp");
    // A queue of the link is the switch's; the host's own is given apart.
    assert_eq!(serde_json::to_value(&link("a[0]->left").queue).unwrap()["limit"], "1000 p");
    assert_eq!(serde_json::to_value(&link("left->a[0]").queue).unwrap().get("limit"), None);
    let up = link("a[0]->left").delay;
    assert!(up >= Span::from_us(1) && up <= Span::from_us(2) && up == link("left->a[0]").delay);
    assert_ne!(up, link("a[1]->left").delay);
    let PortSelection::Listed(ports) = &plan.record.ports else { panic!("{:?}", plan.record.ports) };
    let ports: Vec<&str> = ports.iter().map(|i| plan.links[*i as usize].name.as_str()).collect();
    assert_eq!(ports, ["a[0]->left", "a[1]->left", "left->right[0]"]);
    // a and b have different stacks, so the same traffic uses several sets of options.
    let first = plan.traffic[0].flows[0];
    assert_eq!(plan.option_stacks[first.sender as usize], "winxp");
    assert_eq!(plan.option_stacks[first.receiver as usize], "rfc");
    assert!(!plan.options[first.sender as usize].sack);
    assert_eq!(plan.options[first.sender as usize].dup_ack_threshold, 3);
    let NodeKind::Switch(left) = &plan.nodes[4].kind else { panic!() };
    assert_eq!(left.memory_bytes, Some(49_152));
}

/// Headroom is taken at the start: a hotspot under PFC needs no more of the memory than the scenario itself, whose 3 ports take 27 KB.
#[test]
fn a_slower_port_takes_no_headroom() {
    let text = r#"
        duration = "2 ms"
        [hosts.c]
        count = 3
        [switches.s]
        memory = "100 KB"
        flow_control = { kind = "pfc", priorities = [3], alpha = 1.0 }
        [[links]]
        between = ["c", "s"]
        rate = "10 Gbps"
        delay = "500 ns"
        [[traffic]]
        from = "c[1-2]"
        to = "c[0]"
        kind = "frames"
        rate = "3 Gbps"
        priority = 3
        [[change]]
        at = "1 ms"
        set = { "links.s->c[0].rate" = "10 Mbps" }
    "#;
    let plan = read(&Source::toml("hotspot.toml", text), &[], None).unwrap().plan;
    assert_eq!(plan.changes[0].links[0].rate, Some(Rate(10_000_000)));
    // From the start on it would be refused.
    let slow = Override::parse("links.s->c[0].rate=10 Mbps").unwrap();
    let refused = read(&Source::toml("hotspot.toml", text), &[slow], None).unwrap_err().to_string();
    assert!(refused.contains("of headroom for 3 ports"), "{refused}");
}

/// A limit in packets that holds XOFF in full frames, on both ways of a link: acknowledgements would need more of them.
#[test]
fn a_limit_in_packets_holds_xoff_where_acknowledgements_return() {
    let text = r#"
        duration = "2 ms"
        [hosts.a]
        [hosts.b]
        [switches.s]
        flow_control = { kind = "pfc", priorities = [0], xoff = "100 KB" }
        [[links]]
        between = ["a", "s"]
        rate = "10 Gbps"
        delay = "500 ns"
        queue = { kind = "fifo", limit = "100 p" }
        [[links]]
        between = ["s", "b"]
        rate = "1 Gbps"
        delay = "500 ns"
        queue = { kind = "fifo", limit = "100 p" }
        [[traffic]]
        from = "a"
        to = "b"
        kind = "bulk"
    "#;
    read(&Source::toml("pfc.toml", text), &[], None).unwrap();
    let few = Override::parse("links[1].queue.limit=60 p").unwrap();
    assert!(read(&Source::toml("pfc.toml", text), &[few], None).unwrap_err().to_string().contains("below xoff"));
}

#[test]
fn changes_are_what_differs() {
    let r = resolved("changes", &[]);
    let plan = &r.plan;
    let id = |name: &str| plan.links.iter().position(|l| l.name == name).unwrap() as u32;
    let (there, back) = (id("left->right"), id("right->left"));
    // 100 Mb/s x 20 ms.
    assert_eq!(plan.links[there as usize].bdp_bytes, 250_000);
    let [first, second, third, fourth] = plan.changes.as_slice() else { panic!("{:?}", plan.changes) };
    let at = [first, second, third, fourth].map(|c| c.at.seconds());
    assert_eq!(at, [10.0, 20.0, 30.0, 30.0]);
    // The limit of one bdp keeps its bytes.
    let rate = LinkChange { link: there, rate: Some(Rate(50_000_000)), ..LinkChange::default() };
    let delay = Some(Span::from_ms(20));
    assert_eq!(first.links, [rate.clone(), LinkChange { link: back, delay, ..rate }]);
    assert!(first.congestion_controls.is_empty());
    // Set again it is 50 Mb/s x (1 + 9 + 20 + 1) ms; the loss of one direction.
    let limit = Some(Limit { bytes: 193_750, packets: u64::MAX });
    let bursts = Loss::GilbertElliott(GilbertElliott { to_bad: 1e-4, to_good: 0.1, loss_bad: 1.0, loss_good: 0.0 });
    let queue = LinkChange { link: there, limit, ..LinkChange::default() };
    assert_eq!(
        second.links,
        [LinkChange { loss: Some(bursts), ..queue.clone() }, LinkChange { link: back, ..queue.clone() }]
    );
    // Of one time the entry that stands later wins.
    let congestion_controls = [third, fourth].map(|c| {
        (
            c.congestion_controls.len(),
            c.congestion_controls[0].traffic,
            c.congestion_controls[0].congestion_control.name(),
        )
    });
    assert_eq!(congestion_controls, [(1, 0, "htcp"), (1, 0, "cubic")]);
    assert_eq!(serde_json::to_value(&fourth.congestion_controls[0].congestion_control).unwrap()["beta"], 0.8);
    // The resolved text spells the congestion controls out.
    assert!(r.toml().contains("alpha") || r.toml().contains("adaptive_backoff = true"), "{}", r.toml());
    assert_eq!(r.provenance()["change[1].at"].origin, Origin::Given);
    let sweep = sweep(&source("changes"), &[], None, None).unwrap();
    assert_eq!(sweep.variants[5].label, "at=15 s, rate=200 Mbps");
    let last = read(&source("changes"), &sweep.variants[5].overrides, None).unwrap().plan;
    assert_eq!((last.changes[0].at.seconds(), last.changes[0].links[0].rate), (15.0, Some(Rate(200_000_000))));
}

#[test]
fn each_direction_has_its_impairments() {
    let plan = resolved("impaired", &[]).plan;
    let [there, back] = [0, 1].map(|i| plan.links[i].impairments.clone());
    assert_eq!((there.duplicate, back.duplicate), (0.001, 0.0));
    assert_eq!((there.reorder.unwrap().share, back.reorder.unwrap().share), (0.01, 0.5));
    assert_eq!((there.jitter.unwrap().order, back.jitter.as_ref().unwrap().order), (Order::Free, Order::Keep));
    assert_eq!(back.jitter.unwrap().extra.mean(), 1e9);
    assert!(resolved("mixed", &[]).plan.links.iter().all(|l| l.impairments.is_none()));
    assert!(!resolved("mixed", &[]).toml().contains("jitter"));
}

/// The limit of any queue that has one can change as a FIFO's, and keeps its bytes when only the rate does. A tbf needs more
/// words, and the classes of ets and wrr have limits of their own.
#[test]
fn limits_of_every_kind_change() {
    for (kind, _) in elephan_link::queue::QUEUES.iter().filter(|(kind, _)| !["tbf", "ets", "wrr"].contains(kind)) {
        let plan = resolved("changes", &[&format!("template.queue.kind={kind}")]).plan;
        let limits = |i: usize| plan.changes[i].links.iter().map(|link| link.limit).collect::<Vec<_>>();
        let limit = Some(Limit { bytes: 193_750, packets: u64::MAX });
        assert_eq!((limits(0), limits(1)), (vec![None, None], vec![limit, limit]), "{kind}");
    }
}

/// A sweep may arrive at what was there before: then nothing changes, and nothing is wrong.
#[test]
fn a_change_to_the_same_is_none() {
    let same = resolved("changes", &["change[1].set.\"links.left->right.rate\"=100 Mbps"]);
    assert_eq!(same.plan.changes[0].links.len(), 1);
}

/// A queue is not checked against the bdp of a link that got slow: it keeps its bytes.
#[test]
fn a_queue_of_one_bdp_survives_a_slow_link() {
    let slow = resolved("changes", &["change[1].set.\"links.left->right.rate\"=1 Kbps", "change[2].at=5 s"]);
    assert!(slow.plan.changes[1].links.iter().all(|l| l.limit.is_none() && l.rate.is_some()));
}

#[test]
fn every_parameter_has_its_origin() {
    let r = resolved("mixed", &["hosts.c.tcp.rto_min=1 s"]);
    let origin = |path: &str| r.provenance().get(path).unwrap_or_else(|| panic!("{path}")).origin;
    assert_eq!(origin("duration"), Origin::Given);
    assert_eq!(origin("warmup"), Origin::Default);
    assert_eq!(origin("seed"), Origin::Given);
    assert_eq!(origin("hosts.a.stack"), Origin::Given);
    assert_eq!(origin("hosts.a.tcp.dup_ack_threshold"), Origin::Given);
    assert_eq!(origin("hosts.a.tcp.initial_window"), Origin::Default);
    assert_eq!(origin("hosts.a.tcp.send_buffer"), Origin::Assumed);
    assert_eq!(origin("hosts.c.tcp.rto_min"), Origin::Given);
    assert_eq!(origin("hosts.a.pause.response_quanta"), Origin::Assumed);
    assert_eq!(origin("hosts.b.pause.response_quanta"), Origin::Given);
    assert_eq!(origin("switches.left.preset"), Origin::Given);
    assert_eq!(origin("switches.left.memory"), Origin::Assumed);
    assert_eq!(r.provenance()["switches.left.memory"].source.as_deref(), Some("preset shared48k-pause"));
    assert_eq!(origin("traffic[0].congestion_control.kind"), Origin::Given);
    assert_eq!(origin("traffic[0].congestion_control.beta"), Origin::Default);
    assert_eq!(origin("traffic[1].congestion_control.kind"), Origin::Default);
    assert_eq!(origin("links[1].forward.loss.periodic"), Origin::Given);
    assert_eq!(r.provenance()["hosts.a.tcp.initial_window"].value, 2);
    assert_eq!(r.provenance()["hosts.a.tcp.initial_window"].source.as_deref(), Some("RFC 2581 section 3.1"));
    let shared = resolved("w1", &[]);
    assert_eq!(shared.provenance()["hosts.sender.tcp.rto_min"].origin, Origin::Given);
    assert_eq!(shared.provenance()["hosts.sender.count"].origin, Origin::Given);
    assert_eq!(shared.provenance()["links[0].pairing"].origin, Origin::Default);
}

/// A congestion control among the TCP options of the traffic is told once in the resolved text: it was refused there, as given twice.
#[test]
fn a_congestion_control_among_the_options_of_traffic() {
    let first =
        resolved("pause", &["traffic.upload.tcp.congestion_control.kind=vegas", "traffic.upload.tcp.mss=1000 B"]);
    let second = again(&first);
    for r in [&first, &second] {
        assert_eq!(r.plan.traffic[0].congestion_control.name(), "vegas");
        assert_eq!(r.provenance()["traffic[0].congestion_control.kind"].origin, Origin::Given);
        assert_eq!(r.provenance()["traffic[0].tcp.mss"].origin, Origin::Given);
    }
    assert_eq!(first.toml(), second.toml());
}

#[test]
fn overrides_reach_everything() {
    let r = resolved(
        "pause",
        &[
            "hosts.client.count=5",
            "traffic.upload.load=2 Gbps",
            "links[0].rate = \"40 Gbps\"",
            "links.sw->server.delay=1 us",
            "traffic.upload.congestion_control=cubic",
            "traffic.upload.congestion_control.beta=0.8",
            "record.ports=[\"sw->server\"]",
            "tcp.mss=1000 B",
            "title=2004",
        ],
    );
    assert_eq!(r.plan.nodes.len(), 7);
    assert_eq!(r.plan.title, "2004");
    assert_eq!(r.plan.links[0].rate, Rate(40_000_000_000));
    assert_eq!(r.plan.links.last().unwrap().delay, Span::from_us(1));
    assert_eq!(r.plan.traffic[0].congestion_control.table()["beta"], 0.8);
    assert_eq!(r.plan.options[0].mss.0, 1000);
    assert_eq!(r.provenance()["traffic[0].load"].origin, Origin::Given);
    assert!(r.has_sweep);
}

#[test]
fn a_new_kind_keeps_what_it_knows() {
    let r = resolved("pause", &["switches.sw.flow_control.kind=none"]);
    assert_eq!(r.dropped, ["switches.sw.flow_control.xoff", "switches.sw.flow_control.xon"]);
    let r = resolved("pause", &["traffic.upload.kind=bulk"]);
    // An exponential size means nothing to a bulk transfer, whose size is one figure.
    assert_eq!(r.dropped, ["traffic[0].size", "traffic[0].load"]);
    // The kind goes first, whatever the order of the arguments.
    let r = resolved("pause", &["traffic.upload.rate=1 Gbps", "traffic.upload.kind=cbr"]);
    assert_eq!(r.dropped, ["traffic[0].size", "traffic[0].load"]);
    assert_eq!(r.plan.traffic[0].kind.name(), "cbr");
}

#[test]
fn a_sweep_expands() {
    let s = sweep(&source("pause"), &[], None, None).unwrap();
    assert_eq!(s.variants.iter().map(|v| v.label.as_str()).collect::<Vec<_>>(), ["kind=none", "kind=pause"]);
    assert_eq!((s.repetitions, s.seed), (10, 1));
    let runs: Vec<_> = s.runs().collect();
    assert_eq!(runs.len(), 20);
    assert_eq!((runs[0], runs[9], runs[10]), ((0, 0, 1), (0, 9, 10), (1, 0, 1)));
    let kinds: Vec<_> = s
        .variants
        .iter()
        .map(|v| {
            let plan = read(&source("pause"), &v.overrides, Some(3)).unwrap().plan;
            assert_eq!(plan.seed, 3);
            let NodeKind::Switch(sw) = &plan.nodes[4].kind else { panic!() };
            serde_json::to_value(&sw.flow_control).unwrap()["kind"].clone()
        })
        .collect();
    assert_eq!(kinds, ["none", "pause"]);
}

#[test]
fn a_sweep_from_arguments() {
    let axis = |a: &str| elephan_scenario::AxisArgument::parse(a).unwrap();
    let arguments = [axis("hosts.client.count=1,2"), axis("switches.sw.memory=24 KiB,48 KiB"), axis("warmup=0 s")];
    let s = sweep(&source("pause"), &arguments, Some(2), Some(5)).unwrap();
    assert_eq!(s.parameters, ["switches.sw.flow_control.kind", "hosts.client.count", "switches.sw.memory"]);
    assert_eq!((s.variants.len(), s.repetitions, s.seed), (8, 2, 5));
    assert_eq!(s.variants[0].label, "kind=none, count=1, memory=24 KiB");
    assert_eq!(s.variants[1].label, "kind=none, count=1, memory=48 KiB");
    // A fixed value takes a parameter out of the file's sweep.
    let s = sweep(&source("pause"), &[axis("switches.sw.flow_control.kind=none")], None, None).unwrap();
    assert_eq!((s.variants.len(), s.variants[0].label.as_str()), (1, "base"));
    for key in ["seed", "sweep.repetitions"] {
        let error = sweep(&source("pause"), &[axis(&format!("{key}=2,3"))], None, None).unwrap_err();
        assert_eq!(error.to_string(), format!("-s {key}: cannot be swept; repetitions vary the seed"));
    }
    let error = sweep(&source("pause"), &[axis("hosts.client.count=1,0")], None, None).unwrap_err();
    assert_eq!(error.to_string(), "-s hosts.client.count=0: 0: must be at least 1");
}

#[test]
fn a_sweep_in_step() {
    let text = text("pause").replace(
        "[sweep]\n",
        "[sweep]\nzip = true\ntemplate = []\n[sweep.switches.sw]\nmemory = [\"24 KiB\", \"48 KiB\"]\n[sweep.hosts]\nclient.count = [1, 3]\n[ignored]\n",
    );
    let start = text.find("[ignored]").unwrap();
    let text = text[..start].replace("template = []\n", "").replace("xoff = \"21 KiB\"", "xoff = \"20 KiB\"");
    let s = sweep(&Source::toml("t.toml", text.clone()), &[], None, None).unwrap();
    let labels: Vec<&str> = s.variants.iter().map(|v| v.label.as_str()).collect();
    assert_eq!(labels, ["memory=24 KiB, count=1", "memory=48 KiB, count=3"]);
    // Other values for one of both stay in step; another parameter is crossed with them.
    let given = |arguments: &[&str]| {
        let arguments: Vec<_> =
            arguments.iter().map(|argument| elephan_scenario::AxisArgument::parse(argument).unwrap()).collect();
        sweep(&Source::toml("t.toml", text.clone()), &arguments, None, None)
    };
    let s = given(&["hosts.client.count=2,4", "duration=1 s,2 s"]).unwrap();
    let labels: Vec<&str> = s.variants.iter().map(|v| v.label.as_str()).collect();
    assert_eq!(
        labels,
        [
            "memory=24 KiB, count=2, duration=1 s",
            "memory=24 KiB, count=2, duration=2 s",
            "memory=48 KiB, count=4, duration=1 s",
            "memory=48 KiB, count=4, duration=2 s"
        ]
    );
    let error = given(&["hosts.client.count=2,3,4"]).unwrap_err().to_string();
    let message = "zip needs as many values for each parameter: switches.sw.memory has 2, hosts.client.count has 3";
    assert_eq!(error, format!("t.toml: sweep: {message}"));
    let error = given(&["sweep.zip=false"]).unwrap_err().to_string();
    let message = "a sweep is not set so: -n gives its repetitions, -s key=v1,v2 the values of a parameter";
    assert_eq!(error, format!("-s sweep.zip: {message}"));
}

#[test]
fn zipped_parameters_with_the_same_values_are_said_once() {
    let text = "duration = \"1 s\"\n[hosts.a]\n[hosts.b]\n[switches.left]\nmemory = \"1 MB\"\n[switches.right]\nmemory = \"1 MB\"\n\
        [[links]]\nbetween = [\"a\", \"left\"]\nrate = \"1 Gbps\"\ndelay = \"1 us\"\n\
        [[links]]\nbetween = [\"left\", \"right\"]\nrate = \"1 Gbps\"\ndelay = \"1 us\"\n\
        [[links]]\nbetween = [\"right\", \"b\"]\nrate = \"1 Gbps\"\ndelay = \"1 us\"\n\
        [[traffic]]\nfrom = \"a\"\nto = \"b\"\nkind = \"bulk\"\n\
        [sweep]\nzip = true\n\"switches.left.memory\" = [\"1 MB\", \"2 MB\"]\n\"switches.right.memory\" = [\"1 MB\", \"2 MB\"]\n";
    let labels = |text: &str| -> Vec<String> {
        let s = sweep(&Source::toml("t.toml", text), &[], None, None).unwrap();
        s.variants.into_iter().map(|v| v.label).collect()
    };
    assert_eq!(labels(text), ["memory=1 MB", "memory=2 MB"]);
    let more = format!("{text}\"links[1].rate\" = [\"1 Gbps\", \"2 Gbps\"]\n");
    assert_eq!(labels(&more), ["memory=1 MB, rate=1 Gbps", "memory=2 MB, rate=2 Gbps"]);
    let other = text.replace(
        "\"switches.right.memory\" = [\"1 MB\", \"2 MB\"]",
        "\"switches.right.memory\" = [\"1 MB\", \"3 MB\"]",
    );
    assert_eq!(labels(&other), ["left.memory=1 MB, right.memory=1 MB", "left.memory=2 MB, right.memory=3 MB"]);
}

/// Of two values that do not go together the one that was given on the command line is at fault.
#[test]
fn a_conflict_with_an_override_names_the_override() {
    let error = |argument: &str| {
        let overrides = [Override::parse(argument).unwrap()];
        read(&source("pause"), &overrides, None).unwrap_err().0[0].to_string()
    };
    assert_eq!(
        error("duration=50 ms"),
        "-s duration=50 ms: warmup: 100 ms is not before the end of the run, 50 ms: one of both must change"
    );
    assert_eq!(
        error("warmup=2 s"),
        "-s warmup=2 s: 2 s is not before the end of the run, 1 s: one of both must change"
    );
    assert_eq!(
        error("switches.sw.memory=20 KiB"),
        "-s switches.sw.memory=20 KiB: switches.sw.flow_control.xoff: 21 KiB is above the switch's memory, 20 KiB"
    );
}

#[test]
fn json_is_read_as_well() {
    let toml = resolved("w3", &[]);
    let value: serde_json::Value = serde_json::json!({
        "title": "W3: one flow over a long fat path", "duration": "60 s",
        "tcp": {"send_buffer": "48 MiB", "receive_window": "48 MiB"},
        "template": {"kind": "path", "framing": "ppp", "hops": [
            {"rate": "10 Gbps", "delay": "0 s"},
            {"rate": "1 Gbps", "delay": "98 ms", "queue": {"kind": "fifo", "limit": "0.25 bdp"}},
            {"rate": "10 Gbps", "delay": "0 s", "queue": null}]},
        "traffic": [{"from": "sender", "to": "receiver", "kind": "bulk",
                     "congestion_control": {"kind": "cubic", "beta": 0.75}}],
    });
    let by_text = read(&Source::json("w3.json", value.to_string()), &[], None).unwrap();
    let by_value = read(&Source::value("scenario", value), &[], None).unwrap();
    assert_eq!(shown(&by_text.plan), shown(&toml.plan));
    assert_eq!(shown(&by_value.plan), shown(&toml.plan));
    assert_eq!(by_text.toml(), toml.toml());
}

#[test]
fn errors_in_json_and_in_values() {
    let text = "{\n  \"duration\": \"1 sec\",\n  \"hosts\": {}\n}";
    let error = read(&Source::json("x.json", text), &[], None).unwrap_err().to_string();
    assert_eq!(
        error,
        "x.json:2:15: duration: unknown unit \"sec\" in \"1 sec\": a time takes ps, ns, us, ms, s, min, h, d; did you mean \"1 s\"?"
    );
    let error = read(&Source::json("x.json", "[1]"), &[], None).unwrap_err().to_string();
    assert_eq!(error, "x.json: an array: a scenario is a table");
    let value = serde_json::json!({"duration": 5});
    let error = read(&Source::value("scenario", value), &[], None).unwrap_err().to_string();
    assert_eq!(error, "scenario: duration: 5: a time needs a unit, like \"5 ms\"");
    let one = Override::json("hosts.x.count", 3.into()).unwrap();
    let error = read(&Source::value("scenario", serde_json::json!({"duration": "1 s"})), &[one], None).unwrap_err();
    assert_eq!(error.to_string(), "-s hosts.x.count=3: no such key \"hosts.x\"");
    for (value, shown) in [(serde_json::json!(null), "null"), (serde_json::json!(["1 s", null]), r#"["1 s",null]"#)] {
        let error = Override::json("duration", value).unwrap_err().to_string();
        assert_eq!(error, format!("-s duration={shown}: null is no value; leave it out"));
    }
    let error = Source::open(std::path::Path::new("no/such/file.toml")).unwrap_err().to_string();
    assert!(error.starts_with("no/such/file.toml: cannot be read: "), "{error}");
    let error = read(&source("w3"), &[], Some(u64::MAX)).unwrap_err().to_string();
    assert_eq!(error, "w3.toml: seed: 18446744073709551615: must be at most 9223372036854775807");
}

#[test]
fn what_the_python_classes_write_is_read() {
    let file = std::path::PathBuf::from(format!("{}/tests/good/classes.json", env!("CARGO_MANIFEST_DIR")));
    let source = Source::open(&file).unwrap();
    let resolved = read(&source, &[], None).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(resolved.plan.traffic.len(), 2);
    assert_eq!(sweep(&source, &[], None, None).unwrap().runs().count(), 6);
    let wrong = [Override::parse("links[1].queue.limit=1 bpd").unwrap(), Override::parse("seed=2").unwrap()];
    assert!(read(&source, &wrong, None).is_err());
    // A text on one line is a program's: no line, no column.
    let text = source.text().replace("3.6 Gbps", "3.6");
    let error = read(&Source::json("<Scenario>", text), &[], None).unwrap_err().to_string();
    assert_eq!(error, "<Scenario>: traffic[0].load: \"3.6\" has no unit; write a rate like \"10 Gbps\"");
}

fn plan(text: &str) -> Plan {
    Plan::clone(&read(&Source::toml("x.toml", text), &[], None).unwrap_or_else(|e| panic!("{e}")).plan)
}

fn bdp(plan: &Plan, name: &str) -> u64 {
    plan.links.iter().find(|l| l.name == name).unwrap_or_else(|| panic!("{name}")).bdp_bytes
}

#[test]
fn two_hosts_and_a_cable() {
    let plan = plan(
        r#"
        duration = "1 s"
        hosts = { a = {}, b = {} }
        links = [{ between = ["a", "b"], rate = "1 Gbps", delay = "1 ms", backward = { delay = "3 ms" } }]
        traffic = [{ from = "a", to = "b", kind = "bulk" }]
        "#,
    );
    // 1 Gb/s x 4 ms, for data and for ACKs.
    assert_eq!((bdp(&plan, "a->b"), bdp(&plan, "b->a")), (500_000, 500_000));
}

#[test]
fn the_bdp_is_that_of_the_flows_that_cross() {
    // Two ways of two switches from a to b, a third one of three that is faster but longer; c shares only one link.
    let plan = plan(
        r#"
        duration = "1 s"
        hosts = { a = {}, b = {}, c = {}, d = {} }
        [switches]
        up = {}
        low = {}
        one = {}
        two = {}
        three = {}
        [[links]]
        between = ["a", "up"]
        rate = "8 Gbps"
        delay = "10 us"
        [[links]]
        between = ["a", "low"]
        rate = "8 Gbps"
        delay = "20 us"
        [[links]]
        between = ["up", "b"]
        rate = "8 Gbps"
        delay = "10 us"
        [[links]]
        between = ["low", "b"]
        rate = "8 Gbps"
        delay = "20 us"
        [[links]]
        between = ["a", "one"]
        rate = "8 Gbps"
        delay = "1 us"
        [[links]]
        between = ["one", "two"]
        rate = "8 Gbps"
        delay = "1 us"
        [[links]]
        between = ["two", "b"]
        rate = "8 Gbps"
        delay = "1 us"
        [[links]]
        between = ["three", "b"]
        rate = "8 Gbps"
        delay = "1 us"
        [[links]]
        between = ["c", "up"]
        rate = "8 Gbps"
        delay = "100 us"
        [[links]]
        between = ["d", "three"]
        rate = "8 Gbps"
        delay = "1 us"
        [[traffic]]
        from = "a"
        to = "b"
        kind = "bulk"
        connections = 3
        [[traffic]]
        from = "c"
        to = "b"
        kind = "bulk"
        "#,
    );
    // 8 Gb/s is 1 B/ns. a to b and back by the quicker of the shortest ways: 40 us; c to b: 220 us.
    assert_eq!(bdp(&plan, "a->up"), 40_000);
    assert_eq!(bdp(&plan, "low->b"), 40_000);
    assert_eq!(bdp(&plan, "c->up"), 220_000);
    // Three connections of 40 us and one of 220 us; ACKs the other way.
    assert_eq!(bdp(&plan, "up->b"), (3 * 40_000 + 220_000) / 4);
    assert_eq!(bdp(&plan, "b->up"), (3 * 40_000 + 220_000) / 4);
    assert_eq!((bdp(&plan, "a->one"), bdp(&plan, "three->b"), bdp(&plan, "d->three")), (0, 0, 0));
}

#[test]
fn presets_yield_to_what_is_given() {
    let text = r#"
        duration = "1 s"
        template = { kind = "star", clients = 3, rate = "10 Gbps", preset = "shared48k-pause" }
        switches = { sw = { memory = "96 KiB", flow_control = { xoff = "40 KiB" } } }
        traffic = [{ from = "client", to = "server", kind = "bulk" }]
        "#;
    let found = plan(text);
    let NodeKind::Switch(sw) = &found.nodes.last().unwrap().kind else { panic!() };
    assert_eq!((sw.memory_bytes, sw.latency), (Some(98_304), Span::from_us(1)));
    let pause =
        serde_json::json!({"kind": "pause", "per": "memory", "xoff": "40 KiB", "xon": "16 KiB", "quanta": 65535});
    assert_eq!(serde_json::to_value(&sw.flow_control).unwrap(), pause);
    let found = plan(&text.replace("{ xoff = \"40 KiB\" }", "{ kind = \"none\" }"));
    let NodeKind::Switch(sw) = &found.nodes.last().unwrap().kind else { panic!() };
    assert_eq!(serde_json::to_value(&sw.flow_control).unwrap(), serde_json::json!({"kind": "none"}));
    assert_eq!(sw.cell_bytes, None);
    let found = plan(&text.replace("memory = \"96 KiB\"", "cell = \"64 B\""));
    let NodeKind::Switch(sw) = &found.nodes.last().unwrap().kind else { panic!() };
    assert_eq!((sw.memory_bytes, sw.cell_bytes), (Some(49_152), Some(64)));
    // Crisan et al. 2011: 80 and 97 kB, 100 ns.
    let text = text.replace("shared48k-pause", "ingress97k-pfc");
    let found = plan(&text.replace("memory = \"96 KiB\", flow_control = { xoff = \"40 KiB\" }", ""));
    let NodeKind::Switch(sw) = &found.nodes.last().unwrap().kind else { panic!() };
    let FlowControl::Pfc(pfc) = &sw.flow_control else { panic!() };
    assert_eq!((sw.latency, sw.memory_bytes, pfc.mask()), (Span::from_ns(100), None, 0xFF));
    assert_eq!((pfc.per, pfc.marks()), (PfcPer::Ingress, Some((Bytes(97_000), Bytes(80_000)))));
}

/// A queue made by hand is told what cannot be, as one in a scenario.
#[test]
fn a_queue_by_hand_has_possible_parameters() {
    let queue = |tupdate: f64| {
        let table = serde_json::json!({ "tupdate": tupdate }).as_object().cloned().unwrap();
        elephan_scenario::queue("Queue", "pie", table, 0)
    };
    assert!(queue(0.02).is_ok());
    assert!(queue(0.0).unwrap_err().to_string().contains("tupdate: \"0 s\": must be at least 1 us"));
}

/// One port of ten slows down and recovers; a range of them changes as a table. Uniform traffic is between all pairs.
#[test]
fn one_hot_port() {
    let plan = resolved("hotspot", &[]).plan;
    let of = |change: usize| -> Vec<(&str, &LinkChange)> {
        plan.changes[change].links.iter().map(|l| (plan.links[l.link as usize].name.as_str(), l)).collect()
    };
    let [(name, hot)] = of(0)[..] else { panic!("{:?}", of(0)) };
    assert_eq!((name, hot.rate), ("sw->client[0]", Some(Rate(2_000_000_000))));
    assert_eq!((hot.limit, hot.delay), (Some(Limit::of(Some(Size::Bytes(100_000)), 0)), None));
    let back: Vec<_> = of(1).iter().map(|(name, l)| (*name, l.rate, l.delay, l.limit)).collect();
    let us = Some(Span::from_us(1));
    assert_eq!(
        back,
        [
            ("sw->client[0]", Some(Rate(10_000_000_000)), None, None),
            ("client[3]->sw", None, us, None),
            ("client[4]->sw", None, us, None)
        ]
    );
    assert_eq!(plan.traffic.iter().map(|t| t.flows.len()).collect::<Vec<_>>(), [90, 90, 9]);
    let slow = resolved(
        "hotspot",
        &["links.sw->client[2].rate=5 Gbps", "links.client->sw.ports.\"sw->client[2]\".delay=1 ms"],
    )
    .plan;
    let link = |plan: &Plan, name: &str| {
        let found = plan.links.iter().find(|l| l.name == name).unwrap();
        (found.rate, found.delay)
    };
    assert_eq!(link(&slow, "sw->client[2]"), (Rate(5_000_000_000), Span::from_ms(1)));
    assert_eq!(link(&slow, "client[2]->sw"), link(&plan, "client[2]->sw"));
}
