//! What holds for every registered law and slow start, whatever happens to them.

use elephan_cc::{Ack, Controller, MAX_WINDOW_BYTES, Signal, Spec, describe, list, slow_start};
use elephan_units::{Span, Time};
use proptest::prelude::*;

const MSS: u64 = 1448;
const INITIAL: u64 = 10 * MSS;

/// Something that may happen to a controller, after a pause.
#[derive(Clone, Debug)]
struct Step {
    pause_ps: u64,
    what: What,
}

#[derive(Clone, Debug)]
enum What {
    Sent { bytes: u64, inflight: u64 },
    Ack { acked: u64, rtt_ps: Option<u64>, app_limited: bool, rate_bps: Option<f64> },
    Loss { inflight: u64 },
    Ecn { inflight: u64 },
    Rto { inflight: u64 },
    LocalDrop { inflight: u64 },
    Undo,
    Timer,
    Feedback { bytes: f64 },
    Shrink { bytes: u64 },
    Switch { law: usize },
}

fn what() -> impl Strategy<Value = What> {
    let bytes = || prop_oneof![0..3 * MSS, 0..1_000_000u64, 0..1u64 << 40];
    let rtt_ps = proptest::option::of(prop_oneof![1_000_000..1_000_000_000_000u64, 0..1u64 << 50]);
    let rate_bps = proptest::option::of(prop_oneof![1e6..1e11, 0.0..1e3, Just(f64::MAX), Just(f64::NAN)]);
    prop_oneof![
        20 => (bytes(), rtt_ps, proptest::bool::weighted(0.2), rate_bps)
            .prop_map(|(acked, rtt_ps, app_limited, rate_bps)| What::Ack { acked, rtt_ps, app_limited, rate_bps }),
        3 => (bytes(), bytes()).prop_map(|(bytes, inflight)| What::Sent { bytes, inflight }),
        2 => bytes().prop_map(|inflight| What::Loss { inflight }),
        1 => bytes().prop_map(|inflight| What::Ecn { inflight }),
        1 => bytes().prop_map(|inflight| What::Rto { inflight }),
        1 => bytes().prop_map(|inflight| What::LocalDrop { inflight }),
        1 => Just(What::Undo),
        1 => Just(What::Timer),
        1 => prop_oneof![-1e6..1e6, Just(f64::INFINITY)].prop_map(|bytes| What::Feedback { bytes }),
        1 => bytes().prop_map(|bytes| What::Shrink { bytes }),
        1 => (0..list().len()).prop_map(|law| What::Switch { law }),
    ]
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    // From nothing over round trips to hours of silence.
    let pause_ps = prop_oneof![Just(0u64), 0..1_000_000_000u64, 0..1_000_000_000_000u64, 0..20_000_000_000_000_000u64];
    proptest::collection::vec((pause_ps, what()).prop_map(|(pause_ps, what)| Step { pause_ps, what }), 1..120)
}

fn apply(c: &mut Controller, now: Time, what: &What) {
    match *what {
        What::Sent { bytes, inflight } => c.on_sent(now, bytes, inflight),
        What::Ack { acked, rtt_ps, app_limited, rate_bps } => c.on_ack(&Ack {
            now,
            acked,
            rtt: rtt_ps.map(Span),
            inflight: acked,
            ce: acked / 2,
            app_limited,
            delivered: now.ps(),
            rate_bps,
            min_rtt: rtt_ps.map(Span),
            srtt: rtt_ps.map(Span),
            lost: now.ps() >> 6,
            ..Ack::default()
        }),
        What::Loss { inflight } => c.on_congestion(&Signal::Loss { now, lost: MSS, inflight }),
        What::Ecn { inflight } => c.on_congestion(&Signal::Ecn { now, inflight }),
        What::Rto { inflight } => c.on_congestion(&Signal::Rto { now, inflight }),
        What::LocalDrop { inflight } => c.on_congestion(&Signal::LocalDrop { now, inflight }),
        What::Undo => c.on_congestion(&Signal::Undo { now }),
        What::Timer => c.on_timer(now),
        What::Feedback { bytes } => c.on_feedback(bytes),
        What::Shrink { bytes } => c.shrink_to(bytes as f64),
        What::Switch { law } => c.switch_law(&Spec::all()[law]),
    }
}

/// Every law with each of its presets.
fn presets() -> Vec<Spec> {
    let table = |preset: &str| serde_json::json!({ "preset": preset });
    let of = |law: Spec| law.describe().presets.iter().map(move |preset| (law.name(), table(preset)));
    Spec::all()
        .into_iter()
        .flat_map(of)
        .map(|(law, table)| Spec::with(law, table.as_object().unwrap()).unwrap())
        .collect()
}

fn controllers() -> Vec<Controller> {
    let with = |law: &Spec, slow: &slow_start::Spec| Controller::with_slow_start(law, slow, Some(2.0), MSS, INITIAL);
    let slow_starts = slow_start::Spec::all();
    let classic = slow_start::Spec::default();
    let defaults = Spec::all().into_iter().flat_map(|law| slow_starts.iter().map(move |slow| with(&law, slow)));
    defaults.chain(presets().iter().map(|law| with(law, &classic))).collect()
}

/// Laws that set their window themselves: an ACK may give back at once what they lowered on purpose for a while, and
/// `ssthresh` is only what they leave for others to see.
const SET_THEIR_WINDOW: [&str; 3] = ["bbr", "bbr3", "xcp"];

/// What holds after every step.
fn check(c: &Controller, before: (f64, f64), what: &What) -> Result<(), TestCaseError> {
    let (cwnd, ssthresh) = (c.window(), c.ssthresh());
    prop_assert!((MSS as f64..=MAX_WINDOW_BYTES).contains(&cwnd), "cwnd {cwnd}");
    prop_assert!(ssthresh >= 2.0 * MSS as f64, "ssthresh {ssthresh}");
    for (name, value) in c.observe() {
        prop_assert!(value.is_finite(), "{name} {value}");
    }
    prop_assert!(c.pacing_rate().is_none_or(|rate| rate.is_finite() && rate > 0.0));
    match what {
        What::Ack { app_limited: true, .. } => prop_assert!(cwnd <= before.0, "grew while application-limited"),
        What::Ack { .. } if SET_THEIR_WINDOW.contains(&c.name()) => {}
        What::Ack { acked, .. } => {
            // Hybla's slow start is up to 2^16 times as fast, and one ACK may be slow start and congestion avoidance.
            let times = if c.name() == "hybla" { f64::from(1 << 17) } else { 1.0 };
            prop_assert!(cwnd <= before.0 + times * *acked as f64 + 1.0, "more than slow start");
            // A slow start that ends by itself leaves the threshold where the window was, a law that looks at delay at
            // the window that it sets; neither raises it.
            let lowered = ssthresh < before.1 && ssthresh <= before.0.max(cwnd).max(2.0 * MSS as f64);
            prop_assert!(ssthresh == before.1 || lowered, "ssthresh {ssthresh}");
        }
        What::Loss { .. } | What::Ecn { .. } | What::Rto { .. } | What::LocalDrop { .. } => {
            prop_assert!(cwnd <= before.0.max(2.0 * MSS as f64), "an event raised the window");
        }
        What::Shrink { .. } => prop_assert!(cwnd <= before.0),
        What::Switch { .. } => prop_assert_eq!((cwnd, ssthresh), before, "a switch moved the window"),
        What::Undo | What::Timer | What::Feedback { .. } | What::Sent { .. } => {}
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_law_keeps_its_bounds_and_is_deterministic(steps in steps()) {
        for mut c in controllers() {
            let mut twin = c.clone();
            let mut now = Time::ZERO;
            for step in &steps {
                now = now.saturating_add(Span(step.pause_ps));
                let before = (c.window(), c.ssthresh());
                apply(&mut c, now, &step.what);
                apply(&mut twin, now, &step.what);
                check(&c, before, &step.what)?;
                prop_assert_eq!(c.window().to_bits(), twin.window().to_bits());
                prop_assert_eq!(c.observe(), twin.observe());
            }
        }
    }

    /// An event that is undone at once leaves no trace.
    #[test]
    fn undo_restores_every_law(steps in steps(), inflight in 0..1u64 << 30, rto: bool) {
        for mut c in controllers() {
            let mut now = Time::ZERO;
            for step in &steps {
                now = now.saturating_add(Span(step.pause_ps));
                apply(&mut c, now, &step.what);
            }
            // An ACK, so that a timer after it is not one that expires again; limited, so that nothing grows.
            apply(&mut c, now, &What::Ack { acked: MSS, rtt_ps: None, app_limited: true, rate_bps: None });
            let before = (c.window(), c.ssthresh(), c.observe());
            apply(&mut c, now, &if rto { What::Rto { inflight } } else { What::Loss { inflight } });
            let lowered = c.window() < before.0;
            apply(&mut c, now, &What::Undo);
            prop_assert_eq!((c.window().max(before.0), c.ssthresh()), (c.window(), before.1));
            if lowered {
                prop_assert_eq!((c.window(), c.ssthresh(), c.observe()), before);
            }
        }
    }
}

/// Ten simulated days of ACKs without a loss, then a loss, then a timeout.
#[test]
fn ten_days_without_a_loss_overflow_nothing() {
    for mut c in controllers() {
        let mut check_after = |now: Time, what: What| {
            let before = (c.window(), c.ssthresh());
            apply(&mut c, now, &what);
            check(&c, before, &what).unwrap();
        };
        check_after(Time::ZERO, What::Loss { inflight: INITIAL });
        let mut now = Time::ZERO;
        for _ in 0..864_000 {
            now += Span::from_s(1);
            check_after(
                now,
                What::Ack {
                    acked: 1 << 30,
                    rtt_ps: Some(1_000_000_000_000),
                    app_limited: false,
                    rate_bps: Some(8.6e9),
                },
            );
        }
        check_after(now, What::Loss { inflight: 1 << 40 });
        check_after(now, What::Ack { acked: MSS, rtt_ps: None, app_limited: false, rate_bps: None });
        check_after(now, What::Rto { inflight: MSS });
    }
}

/// Whatever a law is, without congestion it uses what it is given: it grows from its initial window.
#[test]
fn every_law_grows_from_the_start() {
    for mut c in controllers() {
        let mut now = Time::ZERO;
        for _ in 0..100 {
            now += Span::from_ms(10);
            let acked = c.window() as u64;
            let rate_bps = Some(acked as f64 * 800.0);
            apply(&mut c, now, &What::Ack { acked, rtt_ps: Some(10_000_000_000), app_limited: false, rate_bps });
        }
        assert!(c.window() > 10.0 * INITIAL as f64, "{}", c.name());
    }
}

#[test]
fn every_law_is_documented_and_observes_what_it_documents() {
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
    let laws = list().iter().filter_map(|(name, _)| describe(name));
    let slow_starts = slow_start::list().iter().filter_map(|(name, _)| slow_start::describe(name));
    for parameter in laws.chain(slow_starts).flat_map(|description| description.parameters) {
        assert!(!parameter.doc.is_empty() && !parameter.source.is_empty(), "{}", parameter.name);
        assert!(!parameter.default.is_null(), "{} has no default that a scenario can spell", parameter.name);
    }
}
