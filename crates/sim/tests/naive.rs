//! A second engine, written from the model pages in the plainest way: a heap, one event a step, no fast path, no lanes. Random scenarios
//! run in it and in elephan; every table that both have must be equal to the bit.

#[path = "naive/mod.rs"]
mod naive;

use elephan_scenario::Plan;
use naive::compare::{Happened, assert_alike, elephan, first_difference, plan};
use naive::draw::Draw;
use naive::replay;

const ONE_LINK: &str = r#"
duration = "2 ms"
[hosts.a]
[hosts.b]
[switches.s]
[[links]]
between = ["a", "s"]
rate = "10 Gbps"
delay = "1 us"
[[links]]
between = ["s", "b"]
rate = "622.08 Mbps"
delay = "5 us"
queue = { kind = "fifo", limit = "20 p" }
[[traffic]]
from = "a"
to = "b"
kind = "cbr"
rate = "900 Mbps"
[record]
every = "100 us"
ports = "all"
"#;

const TWO_SWITCHES: &str = r#"
[hosts.a]
[hosts.b]
[hosts.c]
[hosts.d]
[[links]]
between = ["s", "t"]
rate = "1 Gbps"
delay = "1 us"
[[links]]
between = ["a", "s"]
rate = "1 Gbps"
delay = "1 us"
[[links]]
between = ["b", "s"]
rate = "1 Gbps"
delay = "1 us"
[[links]]
between = ["c", "t"]
rate = "1 Gbps"
delay = "1 us"
[[links]]
between = ["d", "t"]
rate = "1 Gbps"
delay = "1 us"
[record]
every = "100 us"
"#;

#[test]
fn a_constant_rate_over_one_bottleneck() {
    assert_alike(ONE_LINK);
}

/// Two switches fill with what each has for the other, which PAUSE holds back for ever.
#[test]
fn ports_that_wait_for_each_other() {
    let pairs = [("a", "c"), ("b", "d"), ("c", "a"), ("d", "b")];
    let traffic = pairs.map(|(from, to)| {
        format!("[[traffic]]\nfrom = \"{from}\"\nto = \"{to}\"\nkind = \"cbr\"\nrate = \"900 Mbps\"\ngaps = \"exponential\"\n")
    });
    for per in ["memory", "ingress", "egress"] {
        let words = format!("kind = \"pause\", per = \"{per}\", xoff = \"20 KB\", xon = \"5 KB\", quanta = 1000");
        let switch = |name| format!("[switches.{name}]\nmemory = \"200 KB\"\nflow_control = {{ {words} }}\n");
        let text = format!("{}{}{TWO_SWITCHES}{}", switch("s"), switch("t"), traffic.concat());
        let text = format!("duration = \"5 ms\"\n{text}");
        assert_alike(&text);
        let (_, summary) = elephan(&plan(&text).unwrap());
        assert_eq!(summary["deadlock"].is_null(), per != "memory", "{per}: {summary}");
    }
}

/// Scenarios of the fast suite. The long one sets ELEPHAN_NAIVE_CASES and ELEPHAN_NAIVE_SEED; ELEPHAN_NAIVE_FIRST is the number of the
/// first case.
const CASES: u64 = 240;
const TCP_CASES: u64 = 60;
const SEED: u64 = 2026;

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Runs random scenarios; `differs` says whether one has a difference. All of `expected` must happen in some of them.
fn try_scenarios(
    cases: u64,
    has_tcp: bool,
    differs: fn(&Plan, &mut Happened) -> Option<String>,
    expected: &[&'static str],
) {
    let (seed, first) = (number("ELEPHAN_NAIVE_SEED", SEED), number("ELEPHAN_NAIVE_FIRST", 0));
    let count = number("ELEPHAN_NAIVE_CASES", cases);
    let mut happened = Happened::new();
    for case in first..first + count {
        let text = Draw::new(seed, case, has_tcp).scenario();
        let plan = plan(&text).unwrap_or_else(|why| panic!("case {case} of seed {seed}\n{text}\n{why}"));
        if let Some(difference) = differs(&plan, &mut happened) {
            panic!("case {case} of seed {seed}\n{text}\n{difference}");
        }
    }
    for what in expected.iter().filter(|_| count >= cases) {
        assert!(happened.get(what).is_some_and(|count| *count > 0), "no scenario has {what}: {happened:?}");
    }
}

#[test]
fn random_scenarios_are_alike() {
    let expected = ["queue_full", "memory_full", "link_loss", "red", "codel", "pause"];
    try_scenarios(CASES, false, first_difference, &expected);
}

#[test]
fn replayed_segments_of_tcp_fare_alike() {
    let expected = ["queue_full", "link_loss", "red", "codel", "pause", "mark"];
    try_scenarios(TCP_CASES, true, replay::first_difference, &expected);
}
