use super::*;

fn of(text: &str) -> Vec<Control> {
    controls(&Source::toml("t", text))
}

fn named<'a>(all: &'a [Control], path: &str) -> &'a Control {
    all.iter()
        .find(|c| c.path == path)
        .unwrap_or_else(|| panic!("{path} of {:?}", all.iter().map(|c| &c.path).collect::<Vec<_>>()))
}

const TEXT: &str = r#"
duration = "60 s"
[template]
kind = "dumbbell"
rate = "20 Mbps"
delay = "24 ms"
queue = { kind = "codel", limit = "1 bdp" }
loss = { bernoulli = 0.01 }
[[traffic]]
kind = "bulk"
from = "sender"
to = "receiver"
congestion_control = "reno"
start = { uniform = ["0 s", "1 s"] }
"#;

#[test]
fn of_what_is_written() {
    let all = of(TEXT);
    let rate = named(&all, "template.rate");
    assert_eq!((rate.kind, rate.quantity, rate.unit, rate.number), (Form::Quantity, "rate", "bit/s", Some(20e6)));
    assert!(rate.main && rate.given && rate.scale == "log" && rate.low == Some(1e6) && rate.high == Some(10e9));
    assert_eq!((named(&all, "template.delay").number, named(&all, "duration").number), (Some(0.024), Some(60.0)));
    let limit = named(&all, "template.queue.limit");
    assert_eq!((limit.unit, limit.number), ("bdp", Some(1.0)));
    let target = named(&all, "template.queue.target");
    assert_eq!((target.value.as_str(), target.given, target.number), (Some("5 ms"), false, Some(0.005)));
    let kind = named(&all, "template.queue.kind");
    assert!(kind.kind == Form::Choice && kind.choices.contains(&"fq_codel".to_owned()) && kind.value == "codel");
    let control = named(&all, "traffic[0].congestion_control.kind");
    assert!(control.main && control.value == "reno" && control.choices.contains(&"bbr3".to_owned()), "{control:?}");
    assert_eq!(named(&all, "traffic[0].congestion_control.beta_ecn").value, 0.0);
    let loss = named(&all, "template.loss");
    assert_eq!((loss.number, loss.pattern.as_str()), (Some(0.01), "{ bernoulli = # }"));
    assert_eq!(named(&all, "traffic[0].start").kind, Form::Text);
    assert_eq!(named(&all, "tcp.sack").kind, Form::Flag);
    assert_eq!(named(&all, "template.pairs").kind, Form::Count);
}

#[test]
fn paths_are_those_of_overrides() {
    // Every control that is written can be written again by its path.
    for control in of(TEXT).iter().filter(|c| c.given && c.pattern.is_empty()) {
        let edited = crate::edit(TEXT, &control.path, Some(&control.value));
        assert!(edited.is_ok(), "{}: {:?}", control.path, edited);
    }
}

#[test]
fn templates_name_every_kind() {
    let all = templates();
    let target = all.iter().find(|c| {
        c.path == "links[].queue.target"
            && c.when.as_ref().is_some_and(|w| w.path == "links[].queue.kind" && w.is == "codel")
    });
    assert!(target.is_some());
    for path in ["switches.*.memory", "traffic[].congestion_control.kind", "hosts.*.tcp.sack", "duration"] {
        assert!(all.iter().any(|c| c.path == path), "{path}");
    }
}

#[test]
fn counts_of_tcp_end_where_the_stack_ends() {
    let all = of(&TEXT.replace("[template]", "tcp = { initial_window = 10000 }\n[template]"));
    let window = named(&all, "tcp.initial_window");
    assert_eq!((window.low, window.high, window.scale), (Some(1.0), Some(10_000.0), "log"));
    let retries = named(&all, "tcp.syn_retries");
    assert_eq!((retries.low, retries.scale), (Some(0.0), "linear"));
}
