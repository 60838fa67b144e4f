//! What holds for every registered congestion control and slow start, whatever happens to them.

use elephan_cc::fuzz::{self, INITIAL, MSS, Rules, What};
use elephan_cc::{Ack, Controller, Spec, describe, list, slow_start};
use elephan_units::{Span, Time};

/// Every congestion control with every slow start, and every preset, ABE and each second window with the classic one.
fn pairs() -> Vec<(Spec, slow_start::Spec)> {
    let slow_starts = slow_start::Spec::all();
    let defaults =
        Spec::all().into_iter().flat_map(|cc| slow_starts.iter().map(move |slow| (cc.clone(), slow.clone())));
    defaults
        .chain(presets().into_iter().chain(abe()).chain(second_windows()).map(|cc| (cc, slow_start::Spec::default())))
        .collect()
}

fn controller((cc, slow): &(Spec, slow_start::Spec)) -> Controller {
    Controller::with_slow_start(cc, slow, Some(2.0), MSS, INITIAL)
}

/// Every congestion control with each of its presets.
fn presets() -> Vec<Spec> {
    let table = |preset: &str| serde_json::json!({ "preset": preset });
    let of = |name: &'static str| {
        describe(name).into_iter().flat_map(|d| d.presets).map(move |preset| (name, table(preset)))
    };
    list()
        .iter()
        .flat_map(|(name, _)| of(name))
        .map(|(cc, table)| Spec::with(cc, table.as_object().unwrap()).unwrap())
        .collect()
}

/// Every congestion control that has it as an option.
fn abe() -> Vec<Spec> {
    let table = serde_json::json!({ "beta_ecn": 0.8 });
    let has = |name: &str| describe(name).unwrap().parameters.iter().any(|parameter| parameter.name == "beta_ecn");
    let names = list().iter().map(|(name, _)| *name).filter(|name| has(name));
    names.map(|name| Spec::with(name, table.as_object().unwrap()).unwrap()).collect()
}

/// Those that may have a window beside what they are by default.
fn second_windows() -> Vec<Spec> {
    let bounds = ["dcqcn", "timely"].into_iter().flat_map(|name| ["bdp", "rate"].map(|bound| (name, bound)));
    let bounded = bounds.map(|(name, bound)| (name, serde_json::json!({ "in_flight": bound })));
    let hosts = [("swift", serde_json::json!({ "endpoint_target": "100 us" }))];
    bounded.chain(hosts).map(|(name, table)| Spec::with(name, table.as_object().unwrap()).unwrap()).collect()
}

fn controllers() -> Vec<Controller> {
    pairs().iter().map(controller).collect()
}

/// Stories of each congestion control: a hundred, or as many as properties have cases.
fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(100)
}

#[test]
fn every_congestion_control_keeps_its_bounds_and_is_deterministic() {
    for (n, pair) in pairs().iter().enumerate() {
        let outcome = fuzz::stories(&|| controller(pair), &Rules::of(&pair.0), n as u64 * 1_000_000, cases());
        outcome.unwrap_or_else(|failure| panic!("{failure}"));
    }
}

/// Ten simulated days of ACKs without a loss, then a loss, then a timeout.
#[test]
fn ten_days_without_a_loss_overflow_nothing() {
    for pair in pairs() {
        let outcome = fuzz::ten_days(&|| controller(&pair), &Rules::of(&pair.0), 86_400);
        outcome.unwrap_or_else(|failure| panic!("{failure}"));
    }
}

/// Whatever a congestion control is, without congestion it uses what it is given: it grows from its initial window.
#[test]
fn every_congestion_control_grows_from_the_start() {
    for mut c in controllers() {
        let mut now = Time::ZERO;
        for _ in 0..100 {
            now += Span::from_ms(10);
            let acked = c.window() as u64;
            let (rtt, rate_bps) = (Some(Span::from_ms(10)), Some(acked as f64 * 800.0));
            let (inflight, delivered) = (acked, now.ps());
            c.on_ack(&Ack {
                now,
                acked,
                rtt,
                inflight,
                delivered,
                rate_bps,
                min_rtt: rtt,
                srtt: rtt,
                ..Ack::default()
            });
            What::Train { segments: 5, rise: Span::ZERO, lost: None }.apply(&mut c, now);
        }
        assert!(c.window() > 10.0 * INITIAL as f64, "{}", c.name());
    }
}

#[test]
fn every_congestion_control_is_documented_and_observes_what_it_documents() {
    assert_eq!(list().len(), Spec::all().len());
    for ((name, summary), spec) in list().iter().zip(Spec::all()) {
        let description = describe(name).unwrap();
        assert_eq!((description.name, description.summary, spec.name()), (*name, *summary, *name));
        assert!(!summary.is_empty() && !summary.ends_with('.'));
        let mut c = Controller::new(&spec, MSS, INITIAL);
        assert_eq!(c.name(), *name);
        let observed: Vec<&str> = c.observe().iter().map(|(name, _)| *name).collect();
        let documented: Vec<&str> = description.states.iter().map(|state| state.name).collect();
        assert_eq!(observed, documented);
        for state in description.states {
            assert!(!state.doc.is_empty() && !state.unit.is_empty());
            assert!(c.poke(state.name, 1.0), "{name} does not let {} be set", state.name);
        }
    }
    let all = list().iter().filter_map(|(name, _)| describe(name));
    let slow_starts = slow_start::list().iter().filter_map(|(name, _)| slow_start::describe(name));
    for parameter in all.chain(slow_starts).flat_map(|description| description.parameters) {
        assert!(!parameter.doc.is_empty() && !parameter.source.is_empty(), "{}", parameter.name);
        let said = !parameter.default.is_null() || parameter.doc.contains("not given");
        assert!(said, "{} has no default that a scenario can spell, and does not say what then", parameter.name);
    }
}
