use super::*;
use serde_json::json;

#[test]
fn every_stack_is_valid_and_every_cell_has_a_source() {
    for (name, summary) in stacks() {
        assert!(!summary.is_empty());
        assert_eq!(stack(name).unwrap().validate(), Ok(()));
    }
    for row in rows() {
        assert_eq!(row.cells.len(), stacks().len());
        for (value, source) in row.cells {
            let named = ["RFC", "Windows", "Linux", "FreeBSD"].iter().any(|name| source.contains(name));
            assert!(named || source.starts_with("assumed: "), "{}: {source}", row.name);
            assert!(!value.is_empty() && !row.doc.is_empty());
        }
    }
}

/// The stack of the first study: 64 KB windows, two duplicate ACKs, no RFC 1323 options.
#[test]
fn windows_xp() {
    let o = stack("winxp").unwrap();
    assert_eq!((o.mss.0, o.initial_window, o.ssthresh_initial.0, o.dup_ack_threshold), (1460, 2, 65_536, 2));
    assert_eq!((o.sack, o.timestamps, o.window_scaling, o.nagle), (true, false, false, false));
    assert_eq!((o.receive_window.0, o.receive_window.0 / o.mss.0, o.send_buffer.0), (64_240, 44, 65_536));
    assert_eq!((o.delayed_ack_segments, o.delayed_ack_timeout), (2, Span::from_ms(200)));
    assert_eq!((o.rto_initial, o.rto_min), (Span::from_s(3), Span::from_ms(300)));
}

/// Names as users write them, and the defaults that tell the stacks apart: Linux's TCP_DELACK_MIN, TCP_RTO_MIN,
/// TCP_INIT_CWND, FreeBSD's 30 + 200 ms, Windows' MinRto.
#[test]
fn the_stacks_of_today_and_linux_2_4() {
    let names: Vec<&str> = stacks().iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["rfc", "winxp", "linux-2.4", "linux", "windows", "freebsd"]);
    let of = |name: &str| stack(name).unwrap();
    let timers = |o: Options| (o.stack, o.rto_min.0 / 1_000_000_000, o.delayed_ack_timeout.0 / 1_000_000_000);
    assert_eq!(timers(of("linux-2.4")), ("linux-2.4", 200, 40));
    assert_eq!(timers(of("linux")), ("linux", 200, 40));
    assert_eq!(timers(of("windows")), ("windows", 300, 40));
    assert_eq!(timers(of("freebsd")), ("freebsd", 230, 40));
    let windows = |o: Options| (o.initial_window, o.congestion_control.kind(), o.reduction);
    assert_eq!(windows(of("linux-2.4")), (2, "reno", Reduction::RateHalving));
    assert_eq!(windows(of("linux")), (10, "cubic", Reduction::PrrLinux));
    assert_eq!(windows(of("windows")), (10, "cubic", Reduction::PrrRfc6937));
    assert_eq!(windows(of("freebsd")), (10, "cubic", Reduction::PrrRfc6937));
    assert!(of("linux-2.4").cwnd_moderation && !of("linux").cwnd_moderation);
    assert_eq!(stack("linux_2_4"), None);
}

/// A controller with a preset or with parameters of its own is shown as a scenario would write it.
#[test]
fn congestion_controls_are_shown_as_they_are_written() {
    let shown = |name: &str| {
        let rows = stack(name).unwrap().provenance();
        rows.iter().find(|row| row.name == "congestion_control").unwrap().value.clone()
    };
    assert_eq!(shown("rfc"), "reno");
    assert_eq!(shown("linux"), r#"{ kind = "cubic", preset = "linux" }"#);
    assert_eq!(shown("linux-2.4"), r#"{ kind = "reno", preset = "linux" }"#);
    assert_eq!(shown("freebsd"), "cubic");
}

/// Scenarios of earlier versions say `law`; what is written out says `controller`.
#[test]
fn the_earlier_name_of_a_value_of_pacing_is_read() {
    let overrides: Overrides = serde_json::from_value(json!({ "pacing": "law" })).unwrap();
    assert_eq!(overrides.pacing, Some(Pacing::Controller));
    assert_eq!(serde_json::to_value(Pacing::Controller).unwrap(), json!("controller"));
}

/// What is named without a preset is the stack's own form, with the parameters given; what says its preset is that.
#[test]
fn a_congestion_control_named_in_a_stack_is_its_own_form() {
    let named = |stack: &str, written: serde_json::Value| crate::congestion_control_in(stack, &written);
    let cubic = |preset: &str| serde_json::from_value::<Spec>(json!({ "kind": "cubic", "preset": preset })).ok();
    assert_eq!(named("linux", json!("cubic")), cubic("linux"));
    assert_eq!(named("windows", json!({ "kind": "cubic" })), cubic("rfc8312"));
    assert_eq!(named("linux", json!({ "kind": "cubic", "preset": "rfc9438" })), None);
    let Some(Spec::Cubic(p)) = named("linux", json!({ "kind": "cubic", "beta": 0.5 })) else { panic!("not CUBIC") };
    let Some(Spec::Cubic(whole)) = cubic("linux") else { panic!("not CUBIC") };
    assert_eq!((p.beta, p.growth_max), (0.5, whole.growth_max));
    for (stack, name) in [("rfc", "cubic"), ("linux", "bbr"), ("freebsd", "cubic"), ("winxp", "reno")] {
        assert_eq!(named(stack, json!(name)), None, "{name} on {stack}");
    }
}

#[test]
fn overrides_are_remembered_and_spelled_out() {
    let overrides: Overrides =
        serde_json::from_str(r#"{ "rto_min": "10 ms", "recovery": "newreno", "congestion_control": "cubic" }"#)
            .unwrap();
    let mut o = stack("winxp").unwrap();
    o.apply(&overrides).unwrap();
    assert_eq!((o.rto_min, o.recovery), (Span::from_ms(10), RecoveryRule::Newreno));
    let rows = o.provenance();
    let origin = |name: &str| rows.iter().find(|row| row.name == name).unwrap().origin;
    assert_eq!((origin("rto_min"), origin("congestion_control")), (Origin::Given, Origin::Given));
    assert_eq!(origin("initial_window"), Origin::Default("RFC 2581 section 3.1"));
    assert!(matches!(origin("rto_max"), Origin::Assumed(_)));
    // Spelled out and read again, nothing changes.
    let text = serde_json::to_string(&o.to_overrides()).unwrap();
    let mut again = stack("rfc").unwrap();
    again.apply(&serde_json::from_str(&text).unwrap()).unwrap();
    assert_eq!(again.to_overrides(), o.to_overrides());
    let unknown = serde_json::from_str::<Overrides>(r#"{ "rto_minimum": "10 ms" }"#).unwrap_err().to_string();
    assert!(unknown.contains("rto_minimum"), "{unknown}");
}

#[test]
fn the_schema_knows_units_and_meanings() {
    let schema = serde_json::to_value(schemars::schema_for!(Overrides)).unwrap();
    let text = schema.to_string();
    assert!(text.contains("x-quantity") && text.contains("Smallest retransmission timeout"));
    assert_eq!(schema["additionalProperties"], serde_json::Value::Bool(false));
}

#[test]
fn abc_limits() {
    let window_after = |abc, limit, acked| {
        let mut o = stack("rfc").unwrap();
        o.apply(&Overrides { abc: Some(abc), abc_limit: Some(limit), ..Overrides::default() }).unwrap();
        let mut cc = o.controller();
        let before = cc.window();
        cc.on_ack(&elephan_cc::Ack { acked, ..elephan_cc::Ack::default() });
        (cc.window() - before) / 1448.0
    };
    // RFC 3465: cwnd += min(N, L * SMSS); without byte counting one segment an ACK.
    assert_eq!(window_after(true, 2, 5 * 1448), 2.0);
    assert_eq!(window_after(true, 0, 5 * 1448), 5.0);
    assert_eq!(window_after(false, 2, 5 * 1448), 1.0);
}

/// RFC 2581 equation 2 for the stacks of its time, RFC 3465 for those of today: an ACK of two segments at ten.
#[test]
fn congestion_avoidance_counts_acks_or_bytes() {
    for (name, growth) in [("winxp", 0.1), ("linux-2.4", 0.1), ("rfc", 0.2), ("freebsd", 0.2)] {
        let mut o = stack(name).unwrap();
        o.apply(&Overrides {
            congestion_control: Some(elephan_cc::Spec::named("reno").unwrap()),
            whole_segments: Some(false),
            ..Overrides::default()
        })
        .unwrap();
        let mut cc = o.controller();
        let mss = cc.mss();
        assert!(cc.poke("cwnd", 10.0 * mss) && cc.poke("ssthresh", 10.0 * mss));
        cc.on_ack(&elephan_cc::Ack { acked: 2 * mss as u64, ..elephan_cc::Ack::default() });
        assert!((cc.window() / mss - 10.0 - growth).abs() < 1e-9, "{name}: {}", cc.window() / mss);
    }
}

/// A local drop means what the words of 2003 say: a cut as Reno's, the end of slow start alone, nothing.
#[test]
fn local_drops_by_older_names() {
    let named = |name: &str| serde_json::from_value::<LocalDrop>(name.into()).unwrap();
    assert_eq!(
        ["reno_like", "slowstart_exit_only", "ignore"].map(named),
        [LocalDrop::Cwr, LocalDrop::SlowStartExit, LocalDrop::Ignore]
    );
}

/// Steps that cannot be taken are refused where somebody asks for them; a stack that has them may lose them with another reduction.
#[test]
fn steps_that_lack_what_they_need_are_refused() {
    let asked = Overrides { recovery_steps: Some(RecoverySteps::Linux), ..Overrides::default() };
    let error = stack("rfc").unwrap().apply(&asked).unwrap_err().to_string();
    assert!(error.contains("recovery_steps") && error.contains("prr-linux"), "{error}");
    stack("linux").unwrap().apply(&asked).unwrap();
    let immediate = Overrides { reduction: Some(Reduction::Immediate), ..Overrides::default() };
    stack("linux").unwrap().apply(&immediate).unwrap();
    stack("linux").unwrap().apply(&Overrides { reduction: Some(Reduction::Immediate), ..asked }).unwrap_err();
}

/// What a stack resolves to is accepted when it is read again, and says which steps act.
#[test]
fn resolved_options_are_accepted_again() {
    for overrides in [
        Overrides { reduction: Some(Reduction::Immediate), ..Overrides::default() },
        Overrides { recovery: Some(RecoveryRule::Reno), ..Overrides::default() },
        Overrides { loss_detection: Some(LossDetection::Fack), ..Overrides::default() },
        Overrides::default(),
    ] {
        for name in ["rfc", "linux", "windows", "linux-2.4"] {
            let mut once = stack(name).unwrap();
            once.apply(&overrides).unwrap();
            let resolved = once.to_overrides();
            let mut again = stack(name).unwrap();
            again.apply(&resolved).unwrap_or_else(|error| panic!("{name}, {overrides:?}: {error}"));
            assert_eq!(again.to_overrides(), resolved, "{name}, {overrides:?}");
            let steps = once.provenance().into_iter().find(|row| row.name == "recovery_steps").unwrap();
            let linux = name == "linux" && overrides == Overrides::default();
            assert_eq!(steps.value.contains("linux"), linux, "{name}, {overrides:?}: {}", steps.value);
        }
    }
}
