//! Ultra Ethernet: times of the reference simulator on empty fabrics, trimming, credits, sprayed packets, losses.
//!
//! Literals: `validate_uec_*` of uet-htsim at 40ccb05: 100 Gb/s, 1 us a link, packets of 4150 B, queues of one bandwidth-delay product (43
//! packets), marks from 9 to 35 packets.

mod written;

use elephan_record::Tables;
use elephan_scenario::{Override, Source, read};
use proptest::prelude::*;
use written::{column, run_text};

const TEXT: &str = r#"
duration = "20 ms"
ecmp     = "flow"

[template]
kind    = "fat-tree"
k       = 4
rate    = "100 Gbps"
delay   = "1 us"
framing = "none"
queue   = { kind = "trim", limit = "178450 B", min = "37350 B", max = "145250 B" }

[[traffic]]
name      = "data"
kind      = "bulk"
from      = "host[0]"
to        = "host[13]"
size      = "2 MB"
transport = "uec"
uec       = { mtu = "4086 B" }
congestion_control = { kind = "nscc", network_rtt = "14.02 us" }
"#;

/// All to the last host; receivers grant credits.
const INCAST: [&str; 2] = ["traffic.data.from=[\"host[0-14]\"]", "traffic.data.to=host[15]"];
const CREDITS: [&str; 2] = ["traffic.data.uec.credits=true", "traffic.data.congestion_control=none"];
const PERMUTATION: [&str; 3] = ["traffic.data.from=host", "traffic.data.to=host", "traffic.data.pairing=permutation"];

fn run(set: &[&str]) -> Seen {
    Seen::of(&run_text(TEXT, set).0)
}

/// What a run has come to.
#[derive(Debug)]
struct Seen {
    /// Completion at the senders, us; those that did not complete are NaN.
    times: Vec<f64>,
    packets: f64,
    again: f64,
    nacks: f64,
    timeouts: f64,
    trims: f64,
    drops: f64,
}

impl Seen {
    fn of(tables: &Tables) -> Seen {
        let sum = |table, name| column(tables, table, name).iter().sum::<f64>();
        let again = sum("flows", "segs_retrans");
        Seen {
            times: column(tables, "flows", "sender_fct_ns").iter().map(|ns| ns / 1000.0).collect(),
            packets: sum("flows", "data_segs_out") - again,
            again,
            nacks: sum("flows", "fast_retran"),
            timeouts: sum("flows", "timeouts"),
            trims: sum("ports", "trims"),
            drops: sum("ports", "drops"),
        }
    }

    fn tail(&self) -> f64 {
        assert!(self.times.iter().all(|time| time.is_finite()), "not all complete: {self:?}");
        self.times.iter().copied().fold(0.0, f64::max)
    }
}

fn near(value: f64, expected: f64, share: f64) {
    assert!((value / expected - 1.0).abs() <= share, "{value} is not {expected}");
}

fn all<'a>(parts: &[&'a [&'a str]]) -> Vec<&'a str> {
    parts.concat()
}

/// 490 packets at the line rate, and what the last of them and its answer take: 162.51 + 13.69 us. Likewise for 10 and 100 packets.
#[test]
fn one_flow_takes_what_the_reference_takes() {
    let seen = run(&[]);
    near(seen.tail(), 176.2, 1e-4);
    assert_eq!((seen.packets, seen.again, seen.trims), (490.0, 0.0, 0.0));
    near(run(&["traffic.data.size=40860 B"]).tail(), 17.0107, 1e-4);
    near(run(&["traffic.data.size=408600 B"]).tail(), 46.8907, 1e-4);
    let both = run(&["traffic.data.from=[\"host[0]\", \"host[13]\"]", "traffic.data.to=[\"host[13]\", \"host[0]\"]"]);
    near(both.tail(), 176.804, 1e-4);
    near(run(&CREDITS).tail(), 177.368, 1e-3);
}

/// 15 flows of 2 MB into one host: the reference takes 2478.5 us by windows. What is trimmed is repeated at once, so no timer is needed and
/// nothing is dropped.
#[test]
fn an_incast_is_trimmed_and_repeated() {
    for credits in [&[][..], &CREDITS[..], &CREDITS[..1]] {
        let seen = run(&all(&[&INCAST, credits]));
        near(seen.tail(), 2478.5, 0.02);
        assert!(seen.trims > 100.0 && seen.trims == seen.nacks && seen.nacks == seen.again, "{seen:?}");
        assert_eq!((seen.timeouts, seen.drops, seen.packets), (0.0, 0.0, 15.0 * 490.0));
    }
}

/// A permutation of 16 hosts: by many paths 194 us in the reference; by one path flows share links, and the slowest takes more than
/// twice as long.
#[test]
fn sprayed_packets_use_all_paths() {
    let tail = |entropies: &str| {
        let tails = (1..=5).map(|seed| run(&all(&[&PERMUTATION, &[entropies, &format!("seed={seed}")]])).tail());
        tails.sum::<f64>() / 5.0
    };
    near(tail("traffic.data.uec.entropies=128"), 194.0, 0.02);
    assert!(tail("traffic.data.uec.entropies=1") > 2.0 * 194.0);
}

/// One of four links to the core runs at a tenth of its rate: what is oblivious to that is far slower than REPS.
#[test]
fn slow_links_are_avoided_by_those_who_learn() {
    let tail = |spray: &str| {
        let spray = format!("traffic.data.uec.spray={spray}");
        let set = [
            "template.slow_links=1",
            "traffic.data.from=[\"host[0-3]\"]",
            "traffic.data.to=[\"host[12-15]\"]",
            "traffic.data.uec.ack_every=1",
            &spray,
        ];
        run(&set).tail()
    };
    let [oblivious, bitmap, reps, mixed] = ["oblivious", "bitmap", "reps", "mixed"].map(tail);
    assert!(
        oblivious > 1.3 * reps && oblivious > 1.3 * mixed && oblivious > 1.2 * bitmap,
        "{oblivious} {bitmap} {reps} {mixed}"
    );
}

/// Headers that have no room are lost: then timers repeat their packets.
#[test]
fn lost_headers_are_repeated_after_a_timeout() {
    let seen = run(&all(&[&INCAST, &["template.queue.headers=100 B"]]));
    assert!(seen.tail() < 10_000.0);
    assert!(seen.drops > 0.0 && seen.timeouts > 0.0 && seen.packets == 15.0 * 490.0, "{seen:?}");
}

/// TCP cannot be trimmed: beside Ultra Ethernet its packets are dropped where the queue is full, and come again.
#[test]
fn others_are_dropped_where_ultra_ethernet_is_trimmed() {
    let text = format!(
        "{TEXT}{}",
        r#"
[[traffic]]
name = "tcp"
kind = "bulk"
from = "host[14]"
to   = "host[15]"
size = "2 MB"
congestion_control = "cubic"
"#
    );
    let set = all(&[&["traffic.data.from=[\"host[0-11]\"]", "traffic.data.to=host[15]"]]);
    let (tables, summary) = run_text(&text, &set);
    let seen = Seen::of(&tables);
    assert!(seen.tail() < 20_000.0 && seen.trims > 0.0 && seen.drops > 0.0, "{seen:?}");
    let reasons = summary["dropped"].as_object().map(|by| by.keys().cloned().collect::<Vec<_>>()).unwrap_or_default();
    assert!(reasons.is_empty() || reasons == ["queue_full"], "{reasons:?}");
}

/// A path goes down in the middle of the run; after the routes are made anew everything arrives.
#[test]
fn a_link_that_goes_down_is_survived() {
    let text = format!(
        "{}\n{}",
        TEXT.replace("ecmp     = \"flow\"", "ecmp = \"flow\"\nreroute = \"50 us\""),
        r#"
[[change]]
at  = "60 us"
set = { "links[5].up" = false }
"#
    );
    let (tables, _) = run_text(&text, &all(&[&PERMUTATION]));
    let seen = Seen::of(&tables);
    assert!(seen.tail() < 20_000.0 && seen.timeouts > 0.0, "{seen:?}");
}

/// Ranks do an all-reduce over it: 2 (n - 1) messages of S / n, each after the last.
#[test]
fn collectives_go_over_it() {
    let text =
        TEXT.replace("kind      = \"bulk\"", "kind = \"collective\"\noperation = \"all-reduce\"\nalgorithm = \"ring\"");
    let text = text.replace("from      = \"host[0]\"\nto        = \"host[13]\"", "from = [\"host[0-7]\"]");
    let (tables, _) = run_text(&text, &["traffic.data.size=8 MB"]);
    let took = column(&tables, "iterations", "end_ns")[0] - column(&tables, "iterations", "begin_ns")[0];
    // 14 x 1 MB of 245 packets at 100 Gb/s: 14 x 81.3 us, and less than 15 us more for each.
    assert!((14.0 * 81.3e3..14.0 * 96.3e3).contains(&took), "{took}");
}

fn problem(set: &[&str]) -> String {
    let overrides: Vec<Override> = set.iter().map(|one| Override::parse(one).unwrap()).collect();
    read(&Source::toml("uec.toml", TEXT), &overrides, None).unwrap_err().to_string()
}

#[test]
fn what_cannot_be_is_said() {
    for (set, said) in [
        ("traffic.data.uec.entropies=48", "must be a power of two, 32 or 64"),
        ("traffic.data.uec.grant_least=0.2", "goes with credits = true"),
        ("traffic.data.congestion_control=dcqcn", "dcqcn is not for Ultra Ethernet; known: nscc, none"),
        ("traffic.data.transport=roce", "say transport = \"uec\""),
        ("traffic.data.uec.timeout=5 us", "not above the base round trip"),
        ("traffic.data.ip=v6", "Ultra Ethernet is modelled over IPv4 only"),
        ("template.queue.min=60 p", "must be in the unit of max"),
    ] {
        let message = problem(&[set]);
        assert!(message.contains(said), "{set}: {message}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// Whatever is lost, duplicated, reordered or trimmed: everything arrives once, and packets are conserved (the run itself checks).
    #[test]
    fn everything_arrives(
        spray in prop::sample::select(vec!["oblivious", "bitmap", "reps", "mixed"]),
        credits: bool,
        entropies in 0u32..7,
        limit in 5_000u32..200_000,
        headers in 64u32..20_000,
        loss in 0.0f64..0.02,
        duplicate in 0.0f64..0.02,
        jitter in 1u32..4,
        ack_every in 1u32..9,
        seed in 1u32..1000,
    ) {
        let set = [
            format!("traffic.data.uec.spray={spray}"),
            format!("traffic.data.uec.credits={credits}"),
            format!("traffic.data.uec.entropies={}", 1 << entropies),
            format!("traffic.data.uec.ack_every={ack_every}"),
            format!("template.queue.limit={limit} B"),
            format!("template.queue.headers={headers} B"),
            "template.queue.min=1 B".to_owned(),
            format!("template.queue.max={limit} B"),
            format!("links[9].loss={{ bernoulli = {loss} }}"),
            format!("links[0].duplicate={duplicate}"),
            format!("links[0].jitter={{ extra = {{ uniform = [\"1 ns\", \"{jitter} us\"] }}, order = \"free\" }}"),
            format!("seed={seed}"),
            "traffic.data.size=200 kB".to_owned(),
            "duration=1 s".to_owned(),
        ];
        let set: Vec<&str> = INCAST.iter().copied().chain(set.iter().map(String::as_str)).collect();
        let (tables, _) = run_text(TEXT, &set);
        let seen = Seen::of(&tables);
        prop_assert!(seen.times.iter().all(|time| time.is_finite()), "{seen:?}");
        prop_assert_eq!(column(&tables, "flows", "delivered_bytes"), vec![200_000.0; 15]);
        prop_assert_eq!(seen.packets, 15.0 * 49.0);
    }
}
