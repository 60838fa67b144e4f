//! Connections that must not stand still: nothing is lost and the path is idle, so all that is written arrives.

use elephan_record::Recorder;
use elephan_scenario::{Source, read};
use serde_json::Value;

/// Two hosts over one switch, 10 ms of round trip on links of 10 Mb/s; `hosts` and `more` are TOML.
fn summary(duration: &str, hosts: &str, more: &str) -> Value {
    let text = format!(
        r#"
duration = "{duration}"
{hosts}
[switches.s]
[[links]]
between = ["a", "s"]
rate = "10 Mbps"
delay = "2.5 ms"
[[links]]
between = ["s", "b"]
rate = "10 Mbps"
delay = "2.5 ms"
{more}
"#
    );
    let plan = read(&Source::toml("stalls.toml", &text), &[], None).unwrap_or_else(|e| panic!("{e}")).plan;
    elephan_sim::run(plan, Recorder::memory(), &mut |_| true).unwrap().0
}

/// The poll of NAPI ends while the processor is still busy with the ACK of the last frame. Until it has ended no interrupt tells of
/// what comes, so it must be ended. A megabit takes 0.1 s.
#[test]
fn a_poll_ends_though_the_processor_was_busy() {
    let polled = "receive = { napi = true }\ncpu = {}";
    let bulk = "[[traffic]]\nkind = \"bulk\"\nfrom = \"a\"\nto = \"b\"\nsize = \"125 KB\"";
    for (a, b) in [("", polled), (polled, ""), (polled, polled)] {
        let found = summary("1 s", &format!("[hosts.a]\n{a}\n[hosts.b]\n{b}"), bulk);
        assert_eq!((found["completed"].as_u64(), found["drops"].as_u64()), (Some(1), Some(0)), "{a} / {b}");
    }
}

/// A controller that probes takes over a connection that has nothing in flight: no ACK tells it of a round-trip time, the connection does.
/// 100 KB at 10 Mb/s are 85 ms with headers; three of five come after the change, each for itself.
#[test]
fn a_congestion_control_that_probes_takes_over_an_idle_connection() {
    let messages = r#"
[[traffic]]
kind = "messages"
from = "a"
to = "b"
size = "100 KB"
gap = { fixed = "2 s" }
[[change]]
at = "3 s"
set = { "traffic.messages.congestion_control" = "pcp" }
"#;
    let found = summary("9.5 s", "[hosts.a]\n[hosts.b]", messages);
    assert_eq!(found["goodput_bps"].as_f64(), Some(5.0 * 800_000.0 / 9.5));
}
