//! Known switches: fragments that fill in what `[switches.NAME]` leaves out; published parameters of QCN do the same for
//! `[congestion_management]`.

use elephan_link::congestion::QcnPreset;
use elephan_link::queue::Dualpi2Preset;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::toml;
use crate::tree::{Node, Origin, Value};

/// One line per preset: its name, what it is, and its keys as TOML.
macro_rules! presets {
    ($($(#[doc = $doc:literal])+ $variant:ident = $toml:literal;)+) => {
        /// A known switch.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        pub enum Preset {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl Preset {
            fn toml(self) -> &'static str {
                match self { $(Preset::$variant => $toml,)+ }
            }
        }
    };
}

presets! {
    /// 48 KiB shared by all ports, 1 us of forwarding latency, no flow control: a 10 Gb/s switch of 2004. [assumed:
    /// "48K" read as binary, and the latency]
    Shared48k = r#"memory = "48 KiB"
        latency = "1 us""#;
    /// `shared48k` with "48K" read as 48,000 bytes: 31 full frames instead of 32. [assumed: the latency]
    Shared48kDecimal = r#"memory = "48000 B"
        latency = "1 us""#;
    /// `shared48k` with IEEE 802.3x PAUSE: XOFF at 21 KiB, XON at 16 KiB. [assumed: both thresholds]
    Shared48kPause = r#"memory = "48 KiB"
        latency = "1 us"
        flow_control = { kind = "pause", xoff = "21 KiB", xon = "16 KiB" }"#;
    /// `shared48k` with PAUSE at the largest XOFF that loses nothing with three senders at 100 m which take 60 quanta
    /// to react.
    Shared48kPauseStrict = r#"memory = "48 KiB"
        latency = "1 us"
        flow_control = { kind = "pause", xoff = "21829 B", xon = "16 KiB" }"#;
    /// IEEE 802.3x PAUSE by egress buffers of 150 KB, the queues' own limit (`queue = { kind = "fifo", limit = "150 KB" }`): XOFF
    /// at 130 KB, XON at 110 KB, as the 10 Gb/s switches of the studies of 2007.
    Egress150kPause = r#"flow_control = { kind = "pause", per = "egress", xoff = "130 KB", xon = "110 KB" }"#;
    /// `egress150k-pause` with an XOFF that loses nothing with nine senders of full frames at 100 m which take 60 quanta to react.
    /// [assumed: the same distance of XON]
    Egress150kPauseStrict = r#"flow_control = { kind = "pause", per = "egress", xoff = "68 KB", xon = "48 KB" }"#;
    /// IEEE 802.1Qbb with XOFF at 97 kB and XON at 80 kB of each port of ingress, 100 ns of forwarding latency: "Short and Fat: TCP
    /// performance in CEE datacenter networks" (Crisan et al., Hot Interconnects 2011). [assumed: that it counts by port of ingress,
    /// and room for what comes after XOFF, of which the 3 kB left of its 100 kB a port hold too little]
    Ingress97kPfc = r#"latency = "100 ns"
        flow_control = { kind = "pfc", per = "ingress", xoff = "97 kB", xon = "80 kB" }"#;
}

/// Fills in the keys of every switch that names a preset. A `flow_control` of another kind than the preset's stays as
/// it is. Presets that do not exist are left for the schema to report.
pub(crate) fn expand(tree: &mut Node) {
    let Some(switches) = tree.as_table_mut().and_then(|t| t.get_mut("switches")) else { return };
    let Some(switches) = switches.node.as_table_mut() else { return };
    for entry in switches.values_mut() {
        let Some(name) = entry.node.get("preset").and_then(Node::as_text) else { continue };
        let Ok(preset) = serde_json::from_value::<Preset>(name.into()) else { continue };
        let Ok(mut below) = toml::parse(preset.toml()) else { continue };
        fill_origin(&mut below);
        let kind = |node: &Node| node.get("flow_control").and_then(|f| f.get("kind")).map(|k| k.to_json());
        if kind(&entry.node).is_some()
            && kind(&entry.node) != kind(&below)
            && let Some(table) = below.as_table_mut()
        {
            table.shift_remove("flow_control");
        }
        entry.node.fill_from(&below);
    }
}

/// The keys that a published set of parameters says other than the defaults.
fn keys_of(preset: QcnPreset) -> &'static str {
    match preset {
        QcnPreset::Standard => "",
        QcnPreset::Seed2007 => {
            r#"set_point = "26176 B"
            page = "64 B"
            sampling = "probability"
            rate_min = "1 Mbps"
            cycle_time = "0 s"
            hyper_active_span = "0 s"
            active_increase = "12 Mbps"
            drift_period = "200 us"
            fbhat = true
            efr_max = 1_000_000"#
        }
        QcnPreset::Hoti2011 => {
            r#"set_point = "20 kB"
            rate_min = "100 kbps""#
        }
        QcnPreset::Hoti2011High => {
            r#"set_point = "66 kB"
            rate_min = "100 kbps""#
        }
    }
}

/// Whether no publication says what a preset of QCN fills in for this key: the pages of 64 bytes are read into the document of
/// 2007, and that it has no timer for its cycles.
pub(crate) fn is_assumed_of_qcn(key: &str) -> bool {
    matches!(key, "page" | "sampling" | "cycle_time" | "hyper_active_span" | "fbhat" | "efr_max")
}

/// Fills in the keys of `[congestion_management]` if it names a preset.
pub(crate) fn expand_management(tree: &mut Node) {
    let Some(table) = tree.as_table_mut().and_then(|t| t.get_mut("congestion_management")) else { return };
    if table.node.get("kind").and_then(Node::as_text) != Some("qcn") {
        return;
    }
    let Some(name) = table.node.get("preset").and_then(Node::as_text) else { return };
    let Ok(preset) = serde_json::from_value::<QcnPreset>(name.into()) else { return };
    let Ok(mut below) = toml::parse(keys_of(preset)) else { return };
    fill_origin(&mut below);
    table.node.fill_from(&below);
}

/// The keys that a published set of parameters of `dualpi2` says other than the defaults.
fn keys_of_dualpi2(preset: Dualpi2Preset) -> &'static str {
    match preset {
        Dualpi2Preset::Rfc9332 => {
            r#"step_thresh = "800 us"
            step_range = "400 us"
            th_len = 1"#
        }
    }
}

/// Fills in the keys of every queue below `node` that names a preset.
pub(crate) fn expand_queues(node: &mut Node) {
    if node.get("kind").and_then(Node::as_text) == Some("dualpi2")
        && let Some(name) = node.get("preset").and_then(Node::as_text)
        && let Ok(preset) = serde_json::from_value::<Dualpi2Preset>(name.into())
        && let Ok(mut below) = toml::parse(keys_of_dualpi2(preset))
    {
        fill_origin(&mut below);
        node.fill_from(&below);
    }
    match &mut node.value {
        Value::Table(table) => table.values_mut().for_each(|entry| expand_queues(&mut entry.node)),
        Value::Array(entries) => entries.iter_mut().for_each(expand_queues),
        _ => {}
    }
}

fn fill_origin(node: &mut Node) {
    node.origin = Origin::Filled;
    if let Value::Table(table) = &mut node.value {
        for entry in table.values_mut() {
            entry.key = Origin::Filled;
            fill_origin(&mut entry.node);
        }
    }
}

#[cfg(test)]
mod tests {
    use elephan_link::CongestionManagement;
    use elephan_link::congestion::qcn::{Qcn, Sampling};
    use elephan_units::Span;

    use crate::{Override, Rdma, Source, read};

    fn qcn(preset: &str, overrides: &[Override]) -> Qcn {
        let text = format!(
            "duration = '1 s'
            hosts = {{ a = {{}}, b = {{}} }}
            links = [{{ between = ['a', 'b'], rate = '1 Gbps', delay = '1 us' }}]
            traffic = [{{ kind = 'bulk', from = 'a', to = 'b' }}]
            congestion_management = {{ kind = 'qcn', preset = '{preset}' }}"
        );
        match &read(&Source::toml("t", text), overrides, None).unwrap().plan.congestion_management {
            CongestionManagement::Qcn(words) => words.parameters.clone(),
            other => panic!("{other:?}"),
        }
    }

    /// RFC 9332 appendix A.1: minTh 800 us, range 400 us, Th_len 1 packet. What is said holds, and overrides choose the preset too.
    #[test]
    fn a_preset_of_dualpi2_fills_in_what_is_not_said() {
        let found = |queue: &str| {
            let text = format!(
                "duration = '1 s'
                hosts = {{ a = {{}}, b = {{}} }}
                [switches.sw]
                [[links]]
                between = ['a', 'sw']
                rate = '1 Gbps'
                delay = '1 us'
                [[links]]
                between = ['sw', 'b']
                rate = '10 Mbps'
                delay = '1 us'
                queue = {queue}
                [[traffic]]
                kind = 'bulk'
                from = 'a'
                to = 'b'"
            );
            read(&Source::toml("t", text), &[], None).unwrap().toml()
        };
        let plain = found("{ kind = 'dualpi2', preset = 'rfc9332' }");
        for words in ["step_thresh = \"800 us\"", "step_range = \"400 us\"", "th_len = 1", "target = \"15 ms\""] {
            assert!(plain.contains(words), "{words} in {plain}");
        }
        let own = found("{ kind = 'dualpi2', preset = 'rfc9332', step_thresh = '2 ms' }");
        assert!(own.contains("step_thresh = \"2 ms\"") && own.contains("th_len = 1"), "{own}");
        let linux = found("{ kind = 'dualpi2' }");
        assert!(linux.contains("step_thresh = \"1 ms\"") && linux.contains("th_len = 0"), "{linux}");
    }

    /// Notifications come as often as the congestion control looks for cuts: every 4 us under `mellanox-cx4` (HPCC's simulator, rate
    /// decrease interval), every 50 us under the paper's parameters and those of `dcqcn_paper`. What is said holds.
    #[test]
    fn notifications_come_as_often_as_the_preset_needs() {
        let interval = |cc: &str, roce: &str| {
            let text = format!(
                "duration = '1 ms'
                hosts = {{ a = {{}}, b = {{}} }}
                links = [{{ between = ['a', 'b'], rate = '40 Gbps', delay = '1 us' }}]
                [[traffic]]
                kind = 'bulk'
                from = 'a'
                to = 'b'
                transport = 'roce'
                congestion_control = {{ kind = 'dcqcn', {cc} }}
                {roce}"
            );
            let plan = read(&Source::toml("t", text), &[], None).unwrap().plan;
            let Some(Rdma::Roce(options)) = &plan.traffic[0].rdma else { panic!("no RoCE") };
            options.cnp_interval
        };
        for (cc, us) in [("preset = 'mellanox-cx4'", 4), ("preset = 'paper'", 50), ("preset = 'dcqcn_paper'", 50)] {
            assert_eq!(interval(cc, ""), Some(Span::from_us(us)), "{cc}");
        }
        assert_eq!(interval("decrease_interval = '10 us'", ""), Some(Span::from_us(10)));
        let said = "roce = { cnp_interval = '50 us' }";
        assert_eq!(interval("preset = 'mellanox-cx4'", said), Some(Span::from_us(50)));
    }

    #[test]
    fn presets_of_qcn() {
        assert_eq!(qcn("802.1Qau", &[]), Qcn::default());
        // "TCP scenarios with QCN/ECM", November 2007: Qeq 409 pages of 64 bytes, R_min 1 Mb/s, R_AI 12 Mb/s, drift each 200 us.
        let seed = qcn("seed-2007", &[]);
        assert_eq!((seed.set_point.0, seed.page.0, seed.rate_min.0), (26_176, 64, 1_000_000));
        assert_eq!(
            (seed.active_increase.0, seed.drift_period, seed.cycle_time),
            (12_000_000, Span::from_us(200), Span::ZERO)
        );
        // No timer and, as the published rule has it, no hyper-active increase without one.
        assert_eq!(seed.hyper_active_span, Span::ZERO);
        assert_eq!((seed.sampling, seed.fbhat, seed.efr_max), (Sampling::Probability, true, Some(1_000_000)));
        // "Short and Fat": Qeq 20 or 66 kB, R_min 100 kb/s, R_AI 5 and R_HAI 50 Mb/s, T 15 ms.
        for (name, set_point) in [("hoti-2011", 20_000), ("hoti-2011-high", 66_000)] {
            let cc = qcn(name, &[]);
            assert_eq!(
                (cc.set_point.0, cc.rate_min.0, cc.cycle_time),
                (set_point, 100_000, Span::from_ms(15)),
                "{name}"
            );
            assert_eq!((cc.active_increase.0, cc.hyper_active_increase.0), (5_000_000, 50_000_000), "{name}");
        }
        let other = [Override::parse("congestion_management.set_point=30 kB").unwrap()];
        assert_eq!(qcn("seed-2007", &other).set_point.0, 30_000, "what is given wins");
    }
}
