//! How packets pass each port, and why: what `elephan run --ports` prints.

use elephan_scenario::{Source, read};
use elephan_sim::ways;

/// Two hosts and two switches in a row: `slow` is said of the link between the switches, `two` of the second, `more` at the end.
fn text(slow: &str, two: &str, more: &str) -> String {
    format!(
        r#"
        duration = "1 s"
        [hosts]
        a = {{}}
        b = {{}}
        [switches]
        one = {{}}
        two = {{ {two} }}
        [[links]]
        between = ["a", "one"]
        rate = "1 Gbps"
        delay = "10 us"
        [[links]]
        between = ["one", "two"]
        rate = "100 Mbps"
        delay = "1 ms"
        {slow}
        [[links]]
        between = ["two", "b"]
        rate = "1 Gbps"
        delay = "10 us"
        [[traffic]]
        from = "a"
        to = "b"
        kind = "bulk"
        {more}
        "#
    )
}

#[test]
fn each_port_says_what_keeps_it_from_being_faster() {
    let pause = r#"memory = "100 KiB", flow_control = { kind = "pause", xoff = "60 KiB", xon = "30 KiB" }"#;
    let pfc = r#"memory = "1 MiB", flow_control = { kind = "pfc", xoff = "60 KiB", xon = "30 KiB" }"#;
    let (codel, lossy) = (r#"queue = { kind = "codel" }"#, "loss = { bernoulli = 0.01 }");
    let captured = "[record]\ncaptures = [\"a\"]";
    let changed = "[[change]]\nat = \"1 ms\"\nset = { \"links.one->two.rate\" = \"10 Mbps\" }";
    for (port, (slow, two, more), way, because) in [
        ("a->one", ("", "", ""), "fast", ""),
        ("two->b", ("", "", ""), "fused", ""),
        ("one->two", (lossy, "", ""), "fused", ""),
        ("one->two", (codel, "", ""), "queued", "its queue is no FIFO: codel"),
        ("one->two", ("", pause, ""), "ahead", "two may pause it"),
        ("two->b", ("", pause, ""), "ahead", "two has a memory that its ports share"),
        ("one->two", (lossy, pause, ""), "queued", "two may pause it; it loses packets"),
        (
            "two->b",
            ("", pfc, ""),
            "queued",
            "two has a memory that its ports share; it keeps priorities apart; the flow control of two counts each queue",
        ),
        ("one->two", ("", pfc, ""), "queued", "two may pause it; it keeps priorities apart"),
        ("a->one", ("", "", captured), "queued", "packets are captured at it"),
        ("one->two", ("", "", changed), "queued", "a change concerns it"),
    ] {
        let text = text(slow, two, more);
        let plan = read(&Source::toml("test.toml", &text), &[], None).unwrap_or_else(|e| panic!("{e}\n{text}")).plan;
        let ways = ways(&plan).unwrap();
        let (_, (found, why)) = plan.links.iter().zip(&ways).find(|(link, _)| link.name == port).unwrap();
        assert_eq!((found.name(), why.join("; ").as_str()), (way, because), "{port} {text}");
    }
}
