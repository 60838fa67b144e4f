//! What is answered against what is done.

use elephan_units::Time;
use serde_json::json;

use crate::fuzz::MSS;
use crate::testing::{ack, round};
use crate::{Controller, Question, Signal, Spec, Transport, slow_start};

const CONTROLS: fn() -> Vec<Spec> = Spec::all;

fn warm(spec: &Spec, seed: u64) -> Controller {
    let mut controller = Controller::new(spec, MSS, 10 * MSS);
    controller.set_seed(seed);
    let mut now = 0.0;
    for _ in 0..300 {
        now = round(&mut controller, now, 0.05);
        if controller.window() > 1e6 {
            break;
        }
    }
    controller
}

/// Windows and rates of a long life in which nothing but the seed differs.
fn life(spec: &Spec, seed: u64) -> Vec<(u64, Option<u64>)> {
    let mut controller = Controller::new(spec, MSS, 10 * MSS);
    controller.set_seed(seed);
    let mut found = Vec::new();
    for n in 0..4000 {
        let now = f64::from(n) * 0.01;
        controller.on_ack(&crate::Ack { rate_bps: Some(8e7), inflight: 50 * MSS, ..ack(now, MSS, 0.04) });
        found.push((controller.window().to_bits(), controller.pacing_rate().map(f64::to_bits)));
    }
    found
}

/// Two seeds give two lives only of a congestion control that says so.
#[test]
fn only_those_that_say_so_draw() {
    for spec in CONTROLS() {
        let differs = (1..4).any(|seed| life(&spec, seed) != life(&spec, seed + 10));
        assert!(!differs || spec.traits().is_random == Some(true), "{} draws", spec.name());
    }
    let drawing: Vec<String> =
        CONTROLS().iter().filter(|s| s.traits().is_random == Some(true)).map(|s| s.name().to_owned()).collect();
    assert_eq!(drawing, ["bbr", "bbr3", "pcp"]);
    let differ = |name: &str| life(&Spec::named(name).unwrap(), 1) != life(&Spec::named(name).unwrap(), 2);
    assert!(differ("bbr"), "the test sees a draw");
}

/// A mark cuts window or rate of those that mind it, and of no other. A congestion control that asks routers is Reno until they answer.
#[test]
fn marks_cut_those_that_mind_them() {
    for spec in CONTROLS() {
        let answers = spec.answers();
        if !answers.transports.contains(&Transport::Tcp) || answers.asks.is_some() {
            continue;
        }
        let mut controller = warm(&spec, 1);
        let before = (controller.window(), controller.pacing_rate().unwrap_or(0.0));
        let inflight = controller.window() as u64;
        controller.on_congestion(&Signal::Ecn { now: Time::from_seconds(100.0), inflight });
        let after = (controller.window(), controller.pacing_rate().unwrap_or(0.0));
        let cut = after.0 < before.0 || after.1 < before.1;
        assert_eq!(cut, answers.traits.minds_marks, "{}: {before:?} {after:?}", spec.name());
    }
}

/// HyStart is Linux's slow start under CUBIC alone; HyStart and HyStart++ end every slow start that is the stack's.
#[test]
fn which_slow_start_ends_by_delay() {
    let ends = |kind: &str, control: &str| {
        slow_start::Spec::named(kind).unwrap().ends_by_delay(&Spec::named(control).unwrap())
    };
    for (kind, control, expected) in [
        ("classic", "cubic", false),
        ("limited", "reno", false),
        ("hystart", "reno", true),
        ("hystartpp", "cubic", true),
        ("linux", "cubic", true),
        ("linux", "reno", false),
        ("hystartpp", "bbr", false),
    ] {
        assert_eq!(ends(kind, control), expected, "{kind} {control}");
    }
}

#[test]
fn what_is_asked_and_needed() {
    let answers = |value: serde_json::Value| serde_json::from_value::<Spec>(value).unwrap().answers();
    assert_eq!(answers(json!("xcp")).asks, Some(Question::Window));
    assert_eq!(answers(json!("explicit_rate")).asks, Some(Question::Rate));
    assert_eq!(answers(json!("hpcc")).asks, Some(Question::Telemetry));
    assert_eq!(answers(json!("reno")).asks, None);
    let by = |value| answers(value).traits.needs_marks.map(|marks| marks.by);
    assert_eq!(by(json!("dctcp")), Some(&["dctcp", "classic", "accurate"][..]));
    assert_eq!(by(json!("bbr3")), None);
    assert_eq!(by(json!({ "kind": "bbr3", "l4s": true })), Some(&["accurate"][..]));
    // A class of the user's may draw.
    let guest = answers(json!({ "python": "x.py:X" }));
    assert_eq!((guest.traits.is_random, guest.transports), (None, vec![Transport::Tcp]));
}
