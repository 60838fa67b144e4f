//! What is answered against what is done.

use elephan_units::Time;
use serde_json::json;

use crate::algorithm::{Any, Drawing};
use crate::fuzz::MSS;
use crate::testing::round;
use crate::{Controller, Question, Signal, Spec, Transport, slow_start};

/// Rounds of growth, until a megabyte is in flight.
fn warm(spec: &Spec) -> Controller {
    let mut controller = Controller::new(spec, MSS, 10 * MSS);
    let mut now = 0.0;
    for _ in 0..300 {
        now = round(&mut controller, now, 0.05);
        if controller.window() > 1e6 {
            break;
        }
    }
    controller
}

/// A seed is kept exactly by those that say that they draw.
#[test]
fn those_that_say_so_draw() {
    let seeded = |spec: &Spec, seed: u64| {
        let mut model = Any::new(spec);
        model.set_seed(seed);
        format!("{model:?}")
    };
    for spec in Spec::all() {
        let keeps = seeded(&spec, 1) != seeded(&spec, 2);
        assert_eq!(Some(keeps), spec.traits().is_random, "{}", spec.name());
    }
    let drawing: Vec<String> =
        Spec::all().iter().filter(|s| s.traits().is_random == Some(true)).map(|s| s.name().to_owned()).collect();
    assert_eq!(drawing, ["bbr", "bbr3", "pcp"]);
}

/// A mark cuts window or rate of those that mind it, and of no other. A congestion control that asks routers is Reno here, where none
/// answers.
#[test]
fn marks_cut_those_that_mind_them() {
    for spec in Spec::all() {
        let answers = spec.answers();
        if !answers.traits.transports.contains(&Transport::Tcp) {
            continue;
        }
        let mut controller = warm(&spec);
        let before = (controller.window(), controller.pacing_rate().unwrap_or(0.0));
        let inflight = controller.window() as u64;
        controller.on_congestion(&Signal::Ecn { now: Time::from_seconds(100.0), inflight });
        let after = (controller.window(), controller.pacing_rate().unwrap_or(0.0));
        let cut = after.0 < before.0 || after.1 < before.1;
        let minds = answers.traits.minds_marks || answers.asks.is_some();
        assert_eq!(cut, minds, "{}: {before:?} {after:?}", spec.name());
    }
}

/// Once a router has told its rate, neither a loss nor a mark makes `explicit_rate` smaller; before, both halve its window.
#[test]
fn routers_that_answer_end_what_reno_minds() {
    let spec = Spec::named("explicit_rate").unwrap();
    assert!(!spec.traits().minds_loss && !spec.traits().minds_marks);
    let inflight = 10 * MSS;
    let now = Time::from_seconds(100.0);
    for signal in [crate::testing::loss(100.0, 10.0), Signal::Ecn { now, inflight }] {
        let mut untold = Controller::new(&spec, MSS, inflight);
        untold.on_congestion(&signal);
        assert_eq!(untold.window(), 5.0 * MSS as f64);
        let mut told = Controller::new(&spec, MSS, inflight);
        told.on_fair_rate(8e6, 0.0);
        let before = (told.window(), told.pacing_rate());
        told.on_congestion(&signal);
        assert_eq!((told.window(), told.pacing_rate()), before);
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
    assert_eq!((guest.traits.is_random, guest.traits.transports), (None, &[Transport::Tcp][..]));
}
