//! Guests in a run: a controller from outside is used, and one that fails ends the run where it failed.

mod common;

use std::sync::Arc;

use common::{Builder, run};
use elephan_cc::guest::{self, Factory, Fault, Guest};
use elephan_cc::{Ack, CongestionControl, Needs, Pacing, Signal, Spec, Timer, Window};
use elephan_link::FlowControl;
use elephan_record::Recorder;
use elephan_scenario::Plan;
use elephan_sim::Error;
use elephan_units::{Rate, Span, Time};
use serde_json::{Map, json};

/// Keeps the window where it is; fails at an instant.
#[derive(Clone, Debug)]
struct Fixed {
    window: f64,
    fails_at: Time,
    fault: Option<Fault>,
}

impl CongestionControl for Fixed {
    fn on_ack(&mut self, w: &mut Window, ack: &Ack) {
        if ack.now >= self.fails_at && self.fault.is_none() {
            let (class, cause) = ("Fixed".to_owned(), Arc::new(std::fmt::Error));
            self.fault = Some(Fault { class, method: "on_ack", now: ack.now, cause });
        }
        w.cwnd = self.window;
    }

    fn on_congestion(&mut self, _: &mut Window, _: &Signal) {}
}

impl Pacing for Fixed {}

impl Timer for Fixed {}

impl Guest for Fixed {
    fn name(&self) -> &str {
        "Fixed"
    }

    fn boxed_clone(&self) -> Box<dyn Guest> {
        Box::new(self.clone())
    }

    fn fault(&self) -> Option<&Fault> {
        self.fault.as_ref()
    }
}

impl Factory for Fixed {
    fn instance(&self) -> Box<dyn Guest> {
        self.boxed_clone()
    }

    fn needs(&self) -> Needs {
        Needs::OWN_SLOW_START
    }
}

/// Two flows of 100 ms round-trip time over links that do not limit; the second begins 200 ms later.
fn two(fails_at: Time, size: &str) -> Builder {
    let mut b = Builder::new(Span::from_s(2));
    for start in ["0 s", "200 ms"] {
        let (a, s, c) = (b.host(), b.switch(None, Span::ZERO, FlowControl::None), b.host());
        b.link(a, s, Rate(10_000_000_000), Span::ZERO, None);
        b.link(s, c, Rate(10_000_000_000), Span::from_ms(50), None);
        let exact = json!({ "timestamps": false, "delayed_ack_segments": 1, "initial_window": 20 });
        let options = b.options("rfc", exact);
        b.traffic(json!({ "kind": "bulk", "size": size }), &[(a, c)], options);
        let cc = Fixed { window: 29_200.0, fails_at, fault: None };
        let entry = b.plan.traffic.last_mut().unwrap();
        entry.congestion_control = Spec::Guest(guest::Spec::of("lab:Fixed".into(), Map::new(), Arc::new(cc)));
        entry.start = serde_json::from_value(json!(start)).unwrap();
    }
    b
}

/// A window of 20 segments each 100 ms: the first flow delivers at 150, 250 ... 1950 ms, the second from 350 ms on.
#[test]
fn a_congestion_control_from_outside_steers_its_flows() {
    let (_, summary) = run(&two(Time::NEVER, "1 GB").plan, false);
    let goodput = summary["goodput_bps"].as_f64().unwrap();
    assert_eq!(goodput, f64::from((19 + 17) * 20 * 1460 * 8) / 2.0);
}

/// Why a run of this plan fails.
fn error(plan: Plan) -> Error {
    let run = elephan_sim::run(plan, Recorder::memory(), &mut |_| true);
    run.map(|_| ()).unwrap_err()
}

/// The first failure by time ends the run, also of a flow that has ended since.
#[test]
fn a_guest_that_fails_ends_the_run() {
    for size in ["1 GB", "40 KB"] {
        let plan = two(Time::from_seconds(0.25), size).plan;
        let error = error(plan);
        let text = error.to_string();
        assert!(text.starts_with("Fixed.on_ack failed in flow 0 (t0: n0 -> n2) at 0."), "{text}");
        assert!(text.ends_with("seed 1: an error occurred when formatting an argument"), "{text}");
    }
}

#[test]
fn a_plan_with_a_guest_that_nobody_looked_for_does_not_run() {
    let mut b = two(Time::NEVER, "1 GB");
    b.plan.traffic[1].congestion_control = serde_json::from_value(json!({ "python": "lab:Mine" })).unwrap();
    let error = error(b.plan);
    assert!(error.to_string().ends_with("needs the Python front of elephan"), "{error}");
}
