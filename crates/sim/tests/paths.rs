//! The fast and the general path of a port give the same packets at the same picosecond, and neither probes nor captures
//! change anything.

mod common;

use arrow_array::{Array, Int64Array};
use common::draw::{add_changes, changes, symmetric};
use common::{Builder, run};
use elephan_link::queue::QueueSpec;
use elephan_link::{FlowControl, Loss};
use elephan_record::{Recorder, Tables};
use elephan_scenario::{Captures, NodeKind, Plan, PortSelection};
use elephan_units::{Rate, Size, Span, Time};
use proptest::prelude::*;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Whether two runs wrote the same rows of a table.
fn same_rows(a: &Tables, b: &Tables, name: &str) -> bool {
    let batches = |tables: &Tables| {
        let table = tables.iter().find(|t| t.name == name).unwrap();
        table.batches.iter().map(|b| b.columns().to_vec()).collect::<Vec<_>>()
    };
    batches(a) == batches(b)
}

fn same(plan: &Plan) -> Result<(), TestCaseError> {
    let (fast, _) = run(plan, false);
    let (general, _) = run(plan, true);
    let mut probed = plan.clone();
    probed.record.every = Some(Span::from_us(37));
    probed.record.ports = PortSelection::All;
    let (observed, _) = run(&probed, false);
    for table in ["flows", "messages", "ports", "events", "datagrams"] {
        prop_assert!(same_rows(&fast, &general, table), "{}: fast and general", table);
        prop_assert!(same_rows(&fast, &observed, table), "{}: without and with probes", table);
    }
    let (observed_general, _) = run(&probed, true);
    for table in ["flow_samples", "port_samples"] {
        prop_assert!(same_rows(&observed, &observed_general, table), "{}: samples", table);
    }
    Ok(())
}

/// A new empty folder, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("elephan-paths-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Runs a plan into a folder.
fn run_to(plan: &Plan, folder: &Path) {
    let recorder = Recorder::to_folder(folder).unwrap();
    let (_, recorder) = elephan_sim::run(plan.clone(), recorder, &mut |_| true).unwrap();
    recorder.finish().unwrap();
}

/// The times of a capture's packets (pcapng section 4.3).
fn times_of(file: &Path) -> Vec<u64> {
    let bytes = std::fs::read(file).unwrap();
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    let (mut at, mut times) = (0, vec![]);
    while at < bytes.len() {
        if word(at) == 6 {
            times.push(u64::from(word(at + 12)) << 32 | u64::from(word(at + 16)));
        }
        at += word(at + 4) as usize;
    }
    times
}

/// With captures at some hosts and ports the tables stay as they are to the byte, each packet that a port has sent is in its file, and
/// the hosts see all that their ports send.
fn captures_change_nothing(plan: &Plan, some: (u32, u32)) -> Result<(), TestCaseError> {
    let mut captured = plan.clone();
    let among = |all: usize, bits: u32| (0..all as u32).filter(move |n| bits >> (n % 32) & 1 == 1);
    let is_host = |n: &u32| matches!(plan.nodes[*n as usize].kind, NodeKind::Host);
    captured.record.captures = Captures {
        hosts: among(plan.nodes.len(), some.0).filter(is_host).collect(),
        links: among(plan.links.len(), some.1).collect(),
        snap_bytes: None,
    };
    let (plain, with) = (Folder::new("plain"), Folder::new("captured"));
    run_to(plan, &plain.0);
    run_to(&captured, &with.0);
    for table in elephan_record::specs() {
        let file = format!("{}.parquet", table.name);
        let (a, b) = (std::fs::read(plain.0.join(&file)).unwrap(), std::fs::read(with.0.join(&file)).unwrap());
        prop_assert!(a == b, "{} with and without captures", file);
    }
    let (tables, _) = run(plan, false);
    let ports = &tables.iter().find(|t| t.name == "ports").unwrap().batches[0];
    let sent = ports.column_by_name("tx_packets").unwrap().as_any().downcast_ref::<Int64Array>().unwrap();
    let captures = with.0.join("captures");
    for &i in &captured.record.captures.links {
        let link = &plan.links[i as usize];
        let times = times_of(&captures.join(format!("{}.pcapng", link.name.replace("->", ".to."))));
        prop_assert_eq!(times.len() as i64, sent.value(i as usize), "{}", &link.name);
        prop_assert!(times.is_sorted(), "{}", &link.name);
    }
    for &host in &captured.record.captures.hosts {
        let times = times_of(&captures.join(format!("{}.pcapng", plan.nodes[host as usize].name)));
        let leaving = plan.links.iter().position(|l| l.from == host).unwrap();
        prop_assert!(times.len() as i64 >= sent.value(leaving) && times.is_sorted(), "n{}", host);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn captures(
        shape in (1usize..4, 1usize..4),
        rate in prop::sample::select(vec![1_000_000_000u64, 622_080_000, 10_000_000_000]),
        delay in prop::sample::select(vec![0u64, 1_000_000, 20_000_000]),
        limit in 0usize..5,
        kinds in prop::collection::vec((0usize..4, 0usize..9, 0usize..9), 1..7),
        faults in (any::<bool>(), any::<bool>()),
        some in (any::<u32>(), any::<u32>()),
    ) {
        let mut plan = symmetric(shape, (rate, delay, limit), kinds, faults);
        plan.record.events = true;
        captures_change_nothing(&plan, some)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn fast_equals_general(
        shape in (1usize..4, 1usize..4),
        rate in prop::sample::select(vec![1_000_000_000u64, 622_080_000, 10_000_000_000]),
        delay in prop::sample::select(vec![0u64, 1_000_000, 20_000_000]),
        limit in 0usize..5,
        kinds in prop::collection::vec((0usize..4, 0usize..9, 0usize..9), 1..7),
        faults in (any::<bool>(), any::<bool>()),
        changes in changes(),
    ) {
        let mut plan = symmetric(shape, (rate, delay, limit), kinds, faults);
        add_changes(&mut plan, changes);
        same(&plan)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    /// So many hosts at a switch that their links share lanes; some links have other delays or losses, few are on the general path.
    #[test]
    fn lanes_equal_general(
        shape in (1usize..3, 8usize..12),
        rate in prop::sample::select(vec![1_000_000_000u64, 622_080_000, 10_000_000_000]),
        delay in prop::sample::select(vec![0u64, 1_000_000, 20_000_000]),
        limit in 0usize..5,
        kinds in prop::collection::vec((0usize..4, 0usize..24, 0usize..24), 8..24),
        faults in (any::<bool>(), any::<bool>()),
        others in prop::collection::vec((0usize..40, 0usize..8), 0..8),
        (faster, across) in (1u64..5, any::<bool>()),
        (events, warmup_us) in (any::<bool>(), prop::sample::select(vec![0u64, 1_777])),
        changes in prop::option::weighted(0.25, changes()),
    ) {
        let kinds = kinds.into_iter().map(|(kind, from, to)| {
            // From the hosts of the first switch to those of the last, each by itself: what is behind the trunk is computed with it.
            let all = shape.0 * shape.1;
            if across { (kind, from % shape.1, all - shape.1 + from % shape.1) } else { (kind, from, to) }
        });
        let mut plan = symmetric(shape, (rate, delay, limit), kinds.collect(), faults);
        (plan.record.events, plan.record.datagrams) = (events, 50);
        plan.warmup = Time(warmup_us * 1_000_000);
        for link in &mut plan.links {
            if matches!(plan.nodes[link.from as usize].kind, NodeKind::Host) {
                link.rate = Rate(rate * faster);
            }
        }
        for (link, what) in others {
            let i = link % plan.links.len();
            let link = &mut plan.links[i];
            match what {
                0 => link.queue = serde_json::from_value(json!({ "kind": "codel" })).unwrap(),
                1..4 => link.delay = Span(link.delay.0 * 3),
                _ => link.loss = Loss::Bernoulli(0.1),
            }
        }
        add_changes(&mut plan, changes.unwrap_or_default());
        same(&plan)?;
    }
}

/// Frames over one link that are refused behind it, some by a port that is computed with it, some by one that many links feed: all are
/// dropped in their order.
#[test]
fn refused_behind_one_link_in_two_ways() {
    let mut b = Builder::new(Span::from_ms(2));
    let s = b.switch(None, Span::ZERO, FlowControl::None);
    let options = b.options("rfc", json!({}));
    let common = b.host();
    b.link(s, common, Rate(100_000_000), Span::from_us(1), Some("2 p"));
    for _ in 0..8 {
        let (h, own) = (b.host(), b.host());
        b.link(h, s, Rate(1_000_000_000), Span::from_us(100), None);
        b.link(s, own, Rate(100_000_000), Span::from_us(1), Some("2 p"));
        for to in [own, common] {
            b.traffic(json!({ "kind": "cbr", "rate": "300 Mbps", "packet_size": "1000 B" }), &[(h, to)], options);
        }
    }
    b.plan.record.events = true;
    same(&b.plan).unwrap();
}

/// Nothing is computed beyond the end, wherever it falls.
#[test]
fn marks_up_to_the_end() {
    for end in (400..1400).step_by(25) {
        let mut b = Builder::new(Span::from_us(end));
        let s = b.switch(None, Span::ZERO, FlowControl::None);
        let sink = b.host();
        let options = b.options("rfc", json!({ "ecn": "dctcp" }));
        b.link(s, sink, Rate(1_000_000_000), Span::from_us(100), None);
        for _ in 0..10 {
            let h = b.host();
            b.link(h, s, Rate(1_000_000_000), Span::from_us(100), None);
            b.traffic(json!({ "kind": "bulk" }), &[(h, sink)], options);
        }
        for link in &mut b.plan.links {
            if let QueueSpec::Fifo(fifo) = &mut link.queue {
                fifo.mark_above = Some(Size::Packets(3));
            }
        }
        same(&b.plan).unwrap();
    }
}

#[test]
fn the_same_run_twice() {
    let plan = symmetric(
        (2, 3),
        (1_000_000_000, 1_000_000, 2),
        vec![(0, 0, 3), (0, 1, 3), (1, 2, 4), (3, 5, 0)],
        (false, true),
    );
    let (first, summary) = run(&plan, false);
    let (second, again) = run(&plan, false);
    assert_eq!(summary, again);
    for table in &first {
        assert!(same_rows(&first, &second, table.name), "{}", table.name);
    }
    #[expect(clippy::disallowed_methods, reason = "two runs at once must not see one another")]
    let threads: Vec<_> = (0..2)
        .map(|_| {
            let plan = plan.clone();
            std::thread::spawn(move || run(&plan, false).1)
        })
        .collect();
    for thread in threads {
        assert_eq!(thread.join().unwrap(), summary);
    }
    assert!(summary["goodput_bps"].as_f64().unwrap() > 1e8, "{summary}");
}
