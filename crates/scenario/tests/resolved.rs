//! A resolved scenario is a scenario of the same meaning: read again, it gives the same plan and the same text.
//!
//! Scenarios grow by pieces of the language at random, and keep those that go together.

use elephan_scenario::{Plan, Resolved, Source, read, schema};
use proptest::prelude::*;
use serde_json::{Value as Json, json};

const BASES: [&str; 4] = [
    r#"{"duration": "100 ms",
        "template": {"kind": "path", "hops": [{"rate": "8 Mbps", "delay": "300 us"}, {"rate": "8 Mbps", "delay": "300 us"}]},
        "traffic": [{"from": "sender", "to": "receiver", "kind": "disk-copy", "size": "3 MB"}]}"#,
    r#"{"duration": "100 ms", "template": {"kind": "dumbbell", "pairs": 3, "rate": "10 Mbps", "delay": "1 ms"},
        "traffic": [{"from": "sender", "to": "receiver", "kind": "bulk"},
                    {"from": "sender[0]", "to": "receiver[1]", "kind": "bulk"}]}"#,
    r#"{"duration": "100 ms", "hosts": {"a": {}, "b": {"count": 2}}, "switches": {"s": {}},
        "links": [{"between": ["a", "s"], "rate": "1 Gbps", "delay": "1 ms", "queue": {"kind": "fifo", "limit": "1 bdp"}},
                  {"between": ["s", "b"], "rate": "10 Mbps", "delay": {"linear": ["1 ms", "2 ms"]}, "queue": {"kind": "fifo", "limit": "100 kB"}}],
        "traffic": [{"from": "a", "to": "b", "kind": "bulk"}]}"#,
    r#"{"duration": "100 ms", "hosts": {"a": {"stack": "linux"}, "b": {"stack": "winxp"}, "c": {"stack": "windows"}},
        "links": [{"between": ["a", "b"], "rate": "1 Gbps", "delay": "1 ms"},
                  {"between": ["b", "c"], "rate": "1 Gbps", "delay": "1 ms"}],
        "traffic": [{"from": "b", "to": "a", "kind": "messages", "size": "10 kB", "gap": "1 ms"},
                    {"from": "c", "to": "b", "kind": "bulk"}]}"#,
];

/// A scenario that grows.
struct Growth {
    /// xorshift64; a draw needs nothing better.
    state: u64,
    scenario: Json,
    resolved: Resolved,
}

impl Growth {
    fn below(&mut self, n: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state >> 11) as usize % n
    }

    fn one_of<T: Clone>(&mut self, values: &[T]) -> T {
        values[self.below(values.len())].clone()
    }

    /// Puts a value at a path of keys and indices, and takes it out again if the scenario then is none.
    fn put(&mut self, path: &[Json], value: Json) {
        let before = self.scenario.clone();
        let mut place = &mut self.scenario;
        for step in path {
            place = match step {
                Json::Number(i) => match place.get_mut(i.as_u64().unwrap_or_default() as usize) {
                    Some(place) => place,
                    None => return self.scenario = before,
                },
                step if place.is_object() || place.is_null() => &mut place[step.as_str().unwrap_or_default()],
                _ => return self.scenario = before,
            };
        }
        match (place.as_array_mut(), value) {
            (Some(items), entry @ Json::Object(_)) => items.push(entry),
            (_, value) => *place = value,
        }
        match read(&Source::json("x", self.scenario.to_string()), &[], None) {
            Ok(resolved) => self.resolved = resolved,
            Err(_) => self.scenario = before,
        }
    }

    /// A congestion control in one of the forms that a scenario may write.
    fn congestion_control(&mut self) -> Json {
        let forms = [
            json!("reno"),
            json!("cubic"),
            json!("bic"),
            json!("pcp"),
            json!("swift"),
            json!("dctcp"),
            json!("bbr"),
            json!("xcp"),
            json!({"kind": "cubic", "beta": 0.6}),
            json!({"kind": "reno", "beta": 0.6}),
            json!({"kind": "cubic", "preset": "rfc8312"}),
            json!({"kind": "cubic", "preset": "linux", "beta": 0.8}),
            json!({"kind": "bic", "preset": "linux"}),
            json!({"kind": "vegas"}),
            json!({"kind": "reno", "preset": "linux"}),
        ];
        self.one_of(&forms)
    }

    /// A TCP option and a value that its schema admits.
    fn option(&mut self) -> (String, Json) {
        let options = schema().pointer("/$defs/Overrides/properties").and_then(Json::as_object).expect("options");
        let (name, of) = options.iter().nth(self.below(options.len())).expect("an option");
        let target = of.get("$ref").and_then(Json::as_str).and_then(|r| schema().pointer(r.trim_start_matches('#')));
        let text = target.unwrap_or(of).to_string();
        let values = if name == "congestion_control" {
            vec![self.congestion_control()]
        } else if text.contains("\"boolean\"") {
            vec![json!(true), json!(false)]
        } else if text.contains("\"integer\"") {
            vec![json!(1), json!(2), json!(3), json!(50), json!(300)]
        } else if text.contains("\"x-quantity\":\"time\"") && !text.contains("oneOf") {
            vec![json!("0 s"), json!("1 ms"), json!("50 ms"), json!("3 s")]
        } else if text.contains("\"x-quantity\":\"size\"") && !text.contains("oneOf") {
            vec![json!("536 B"), json!("1460 B"), json!("20 kB"), json!("64 KB"), json!("1 MB")]
        } else {
            let words = [
                "classic",
                "limited",
                "hystart",
                "hystartpp",
                "linux",
                "off",
                "both",
                "dsack",
                "window",
                "controller",
                "reno",
                "sack",
                "rack",
                "dctcp",
                "accurate",
                "fixed",
                "rfc6298",
            ];
            let mut values: Vec<Json> = words.iter().map(|word| json!(word)).collect();
            values.push(json!({"kind": "limited", "max_ssthresh": 50}));
            values.push(json!({"kind": "hystart"}));
            values
        };
        (name.clone(), self.one_of(&values))
    }

    /// One more piece, somewhere.
    fn grow(&mut self) {
        let traffic = json!(self.below(2));
        let (option, value) = self.option();
        let host = self.one_of(&["a", "b", "c", "sender", "receiver"]);
        let stack = self.one_of(&["rfc", "winxp", "linux-2.4", "linux", "windows", "freebsd"]);
        let at = |path: &[&str]| path.iter().map(|key| json!(key)).collect::<Vec<Json>>();
        match self.below(12) {
            0 => self.put(&at(&["stack"]), json!(stack)),
            1 | 2 => self.put(&at(&["tcp", &option]), value),
            3 | 4 => self.put(&at(&["hosts", host, "tcp", &option]), value),
            5 => self.put(&at(&["hosts", host, "stack"]), json!(stack)),
            6 | 7 => self.put(&[json!("traffic"), traffic, json!("tcp"), json!(option)], value),
            8 => {
                let cc = self.congestion_control();
                self.put(&[json!("traffic"), traffic, json!("congestion_control")], cc);
            }
            _ => {
                let change = self.change();
                self.put(&at(&["change"]), json!([]));
                self.put(&at(&["change"]), change);
            }
        }
    }

    fn change(&mut self) -> Json {
        let (cc, link) = (
            self.congestion_control(),
            self.one_of(&[
                "links[0]",
                "links[1]",
                "links[0].forward",
                "links[1].backward",
                "links.left->right",
                "links.s->b[1]",
            ]),
        );
        let traffic = self.one_of(&["traffic.bulk", "traffic[0]", "traffic[1]"]);
        let congestion_control_forms = [
            json!({ format!("{traffic}.congestion_control"): cc }),
            json!({ format!("{traffic}.tcp.congestion_control"): cc }),
            json!({ format!("{traffic}.tcp"): { "congestion_control": cc } }),
            json!({ format!("{traffic}.congestion_control.kind"): "bic" }),
            json!({ format!("{traffic}.congestion_control.beta"): 0.65 }),
            json!({ "traffic": { "bulk": { "congestion_control": cc } } }),
            json!({ format!("{traffic}.congestion_control.kind"): "cubic", format!("{traffic}.congestion_control.beta"): 0.4 }),
        ];
        let loss_forms = [
            json!({ format!("{link}.loss"): "none" }),
            json!({ format!("{link}.loss"): { "bernoulli": 0.1 } }),
            json!({ format!("{link}.loss.bernoulli"): 0.1 }),
            json!({ format!("{link}.loss.periodic"): 100 }),
            json!({ format!("{link}.loss.gilbert_elliott.to_bad"): 0.1 }),
            json!({ format!("{link}.loss"): { "gilbert_elliott": { "to_bad": 0.1, "to_good": 0.5 } } }),
        ];
        let link_forms = [
            json!({ format!("{link}.rate"): "3 Mbps" }),
            json!({ format!("{link}.delay"): "3 ms" }),
            json!({ format!("{link}.delay.linear"): ["1 ms", "4 ms"] }),
            json!({ format!("{link}.up"): false }),
            json!({ format!("{link}.queue.limit"): "90 p" }),
            json!({ format!("{link}.queue.limit"): "0.9 bdp", format!("{link}.bdp_rtt"): "20 ms" }),
            json!({ format!("{link}.queue"): { "kind": "fifo", "limit": "2 bdp" } }),
            json!({ format!("{link}.host_queue.limit"): "80 p" }),
            json!({ link: { "rate": "4 Mbps", "loss": { "bernoulli": 0.2 } } }),
        ];
        let set = match self.below(3) {
            0 => self.one_of(&congestion_control_forms),
            1 => self.one_of(&loss_forms),
            _ => self.one_of(&link_forms),
        };
        json!({ "at": format!("{} ms", 1 + self.below(90)), "set": set })
    }
}

fn shown(plan: &Plan) -> String {
    let options: Vec<_> = plan.options.iter().map(|o| o.to_overrides()).collect();
    let mut rest = plan.clone();
    rest.options.clear();
    format!("{options:#?}\n{rest:#?}")
}

/// The first lines in which two texts differ.
fn difference(a: &str, b: &str) -> String {
    a.lines().zip(b.lines()).filter(|(a, b)| a != b).take(3).map(|(a, b)| format!("{a}\n{b}\n")).collect()
}

fn same_again(resolved: &Resolved) -> Result<(), String> {
    let again = read(&Source::toml("again", resolved.toml()), &[], None).map_err(|e| e.to_string())?;
    let (first, second) = (shown(&resolved.plan), shown(&again.plan));
    if first == second && resolved.toml() == again.toml() {
        return Ok(());
    }
    Err(difference(&first, &second) + &difference(&resolved.toml(), &again.toml()))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(30) })]

    #[test]
    fn a_resolved_scenario_means_the_same(base in 0..BASES.len(), seed in 1u64.., pieces in 1..14) {
        let scenario: Json = serde_json::from_str(BASES[base]).unwrap();
        let resolved = read(&Source::json("x", scenario.to_string()), &[], None).unwrap();
        let mut growth = Growth { state: seed, scenario, resolved };
        for _ in 0..pieces {
            growth.grow();
        }
        if let Err(difference) = same_again(&growth.resolved) {
            let scenario = serde_json::to_string_pretty(&growth.scenario).unwrap();
            return Err(TestCaseError::fail(format!("{scenario}\n{difference}")));
        }
    }
}

/// A congestion control among the TCP options of a traffic entry is that of its senders, as one beside them is.
/// The steps of Linux need SACK. A stack that has them and traffic without SACK resolve to a text that says both.
#[test]
fn another_recovery_leaves_the_steps_of_linux() {
    for tcp in
        [json!({ "recovery": "reno" }), json!({ "loss_detection": "dupack" }), json!({ "reduction": "immediate" })]
    {
        let mut scenario: Json = serde_json::from_str(BASES[1]).unwrap();
        scenario["traffic"][0]["tcp"] = tcp.clone();
        match read(&Source::value("t", scenario), &[], None) {
            Ok(resolved) => same_again(&resolved).unwrap(),
            Err(errors) => panic!("{tcp}: {errors}"),
        }
    }
}

#[test]
fn a_congestion_control_among_the_options_is_the_senders() {
    let mut scenario: Json = serde_json::from_str(BASES[0]).unwrap();
    scenario["tcp"] = json!({ "congestion_control": "pcp" });
    let mut beside = scenario.clone();
    scenario["traffic"][0]["tcp"] = json!({ "congestion_control": "swift" });
    beside["traffic"][0]["congestion_control"] = json!("swift");
    let [among, beside] = [scenario, beside].map(|text| read(&Source::json("x", text.to_string()), &[], None).unwrap());
    assert_eq!(among.plan.traffic[0].congestion_control.kind(), "swift");
    let receiver = &among.plan.options[among.plan.traffic[0].flows[0].receiver as usize];
    assert_eq!(receiver.congestion_control.kind(), "pcp");
    assert_eq!((shown(&among.plan), &among.toml()), (shown(&beside.plan), &beside.toml()));
    assert_eq!(same_again(&among), Ok(()));
}

/// A part of a value means something else over values that are spelled out: the resolved entry sets all of it.
#[test]
fn a_change_of_a_part_is_spelled_out_whole() {
    let cc = json!({ "kind": "cubic", "beta": 0.6 });
    for (base, set) in [
        (json!({}), json!({ "links[0].loss.bernoulli": 0.1 })),
        (json!({ "congestion_control": cc }), json!({ "traffic[0].congestion_control.kind": "bic" })),
        (json!({ "tcp": { "congestion_control": cc } }), json!({ "traffic[0].tcp.congestion_control": "bic" })),
    ] {
        let mut scenario: Json = serde_json::from_str(BASES[0]).unwrap();
        scenario["traffic"][0].as_object_mut().unwrap().extend(base.as_object().unwrap().clone());
        scenario["change"] = json!([{ "at": "10 ms", "set": set }]);
        let resolved = read(&Source::json("x", scenario.to_string()), &[], None).unwrap();
        assert_eq!(same_again(&resolved), Ok(()), "{set}");
    }
}

/// Thousands of steps, each a change of one link both ways, are what the whole would make of them: builds with debug assertions
/// resolve the whole scenario for some of them and compare.
#[test]
fn thousands_of_steps_are_thousands_of_changes() {
    let mut scenario: Json = serde_json::from_str(BASES[1]).unwrap();
    let step = |i: u64| {
        let set = match i % 4 {
            0 => json!({ "links.left->right.rate": format!("{} Kbps", 1000 + i) }),
            1 => json!({ "links.left->right.delay": format!("{} us", 1000 + i) }),
            2 => json!({ "links.left->right.forward.loss": { "bernoulli": 1.0 / (i + 1) as f64 } }),
            _ => json!({ "links.left->right.up": i % 8 == 3 }),
        };
        json!({ "at": format!("{} us", i * 10), "set": set })
    };
    scenario["change"] = (0..3000).map(step).collect();
    let resolved = read(&Source::json("x", scenario.to_string()), &[], None).unwrap();
    let changes = &resolved.plan.changes;
    assert_eq!(changes.len(), 3000);
    for (i, change) in (0u64..).zip(changes) {
        let first = change.links.first();
        match i % 4 {
            0 => assert_eq!(first.and_then(|link| link.rate).map(|rate| rate.bps()), Some((1000 + i) * 1000)),
            1 => assert_eq!(first.and_then(|link| link.delay).map(|delay| delay.ps()), Some((1000 + i) * 1_000_000)),
            2 => assert!(change.links.len() == 1 && change.links[0].loss.is_some()),
            // It was up at first.
            _ => assert_eq!(first.and_then(|link| link.up), (i > 3).then_some(i % 8 == 3)),
        }
    }
    assert_eq!(same_again(&resolved), Ok(()));
}
