//! Dynamic thresholds of a switch: the key of a template and of the switch itself.

use elephan_scenario::{NodeKind, Source, read};

#[test]
fn the_threshold_of_a_template_yields_to_that_of_its_switch() {
    let text = |alpha: &str, own: &str| {
        format!(
            r#"duration = "1 s"
            template = {{ kind = "star", clients = 3, rate = "1 Gbps", memory = "4 MB"{alpha} }}
            switches = {{ sw = {{ {own} }} }}
            traffic = [{{ from = "client", to = "server", kind = "bulk" }}]
            "#
        )
    };
    let share = ", alpha = 0.21";
    let cases =
        [("", "", None), (share, "", Some(0.21)), (share, "alpha = 1.5", Some(1.5)), ("", "alpha = 8", Some(8.0))];
    for (alpha, own, expected) in cases {
        let resolved = read(&Source::toml("thresholds.toml", text(alpha, own)), &[], None).unwrap();
        let NodeKind::Switch(switch) = &resolved.plan.nodes.last().unwrap().kind else { panic!() };
        assert_eq!((switch.memory_bytes, switch.alpha), (Some(4_000_000), expected));
    }
}
