use super::*;
use crate::describe;
use crate::testing::{MSS, ack, loss, state};

const S: f64 = MSS as f64;

fn controller(cc: &str) -> Controller {
    Controller::new(&Spec::named(cc).unwrap(), MSS, 10 * MSS)
}

fn undo() -> Signal {
    Signal::Undo { now: Time::ZERO }
}

#[test]
fn it_starts_in_slow_start_with_the_initial_window() {
    let c = controller("reno");
    assert_eq!((c.window(), c.ssthresh(), c.in_slow_start()), (10.0 * S, f64::INFINITY, true));
    assert_eq!((c.name(), c.pacing_rate(), c.next_timer()), ("reno", None, None));
}

#[test]
fn the_handshake_settles_segment_and_initial_window() {
    let mut c = controller("reno");
    c.establish(536, 2 * 536);
    assert_eq!((c.window(), c.mss()), (1072.0, 536.0));
    c.establish(536, 0);
    assert_eq!(c.window(), 536.0);
}

#[test]
fn undo_restores_once_and_only_what_was_lowered() {
    let mut c = controller("cubic");
    c.on_congestion(&undo());
    assert_eq!(c.window(), 10.0 * S);
    c.on_congestion(&loss(0.0, 10.0));
    c.on_congestion(&undo());
    assert_eq!((c.window(), c.ssthresh()), (10.0 * S, f64::INFINITY));
    c.on_congestion(&undo());
    assert_eq!((c.window(), c.ssthresh()), (10.0 * S, f64::INFINITY));
    // The window has passed the old one: window and curve keep their course.
    c.on_congestion(&loss(0.0, 10.0));
    c.poke("cwnd", 12.0 * S);
    c.on_congestion(&undo());
    assert_eq!((c.window(), state(&c, "w_max")), (12.0 * S, 10.0 * S));
}

/// The first of two expiries for one segment is the one that is undone.
/// A mark during recovery makes the reduction final. The late ACK that undoes nothing then ends the recovery all the same.
#[test]
fn an_undo_of_what_is_final_ends_the_recovery() {
    let mut c = controller("prague");
    c.on_congestion(&loss(0.0, 10.0));
    c.confirm();
    let before = c.window();
    c.on_ack(&ack(0.1, MSS, 0.05));
    assert_eq!(c.window(), before);
    c.on_congestion(&undo());
    c.on_ack(&ack(0.2, MSS, 0.05));
    assert!(c.window() > before, "{} {before}", c.window());
}

#[test]
fn undo_after_a_backed_off_timer_restores_what_was_before_the_first() {
    let mut c = controller("reno");
    for _ in 0..2 {
        c.on_congestion(&Signal::Rto { now: Time::ZERO, inflight: 10 * MSS });
    }
    c.on_congestion(&undo());
    assert_eq!((c.window(), c.ssthresh()), (10.0 * S, f64::INFINITY));
}

/// RFC 2581 equation 2: SMSS * SMSS / cwnd an ACK, whatever it acknowledges; with RFC 3465 twice that for two segments.
#[test]
fn an_ack_counts_for_a_segment_without_byte_counting() {
    for acked in [1, 2, 5] {
        let mut c = controller("reno").counting_acks();
        c.poke("ssthresh", 10.0 * S);
        c.on_ack(&ack(0.0, acked * MSS, 0.1));
        assert!((c.window() / S - 10.1).abs() < 1e-9, "{acked}: {}", c.window() / S);
    }
    // CUBIC follows its curve, whatever an ACK acknowledges.
    let window = |counting: bool| {
        let mut c = controller("cubic");
        if counting {
            c = c.counting_acks();
        }
        c.poke("ssthresh", 10.0 * S);
        for n in 0..20 {
            c.on_ack(&ack(0.1 * f64::from(n), 2 * MSS, 0.1));
        }
        c.window()
    };
    assert_eq!(window(true), window(false));
    // Across the threshold: half a segment of slow start, half of congestion avoidance, of the one that counts.
    let mut c = controller("reno").counting_acks();
    c.poke("ssthresh", 10.5 * S);
    c.on_ack(&ack(0.0, 3 * MSS, 0.1));
    assert!((c.window() / S - 10.5 - 0.5 / 10.5).abs() < 1e-3, "{}", c.window() / S);
}

#[test]
fn shrinking_never_raises_and_leaves_a_segment() {
    let mut c = controller("reno");
    c.shrink_to(20.0 * S);
    assert_eq!(c.window(), 10.0 * S);
    c.shrink_to(3.5 * S);
    assert_eq!(c.window(), 3.5 * S);
    c.shrink_to(0.0);
    assert_eq!(c.window(), S);
}

#[test]
fn poke_sets_what_can_be_and_says_so() {
    let mut c = controller("cubic");
    assert!(c.poke("cwnd", 20.0 * S) && c.poke("ssthresh", f64::INFINITY) && c.poke("w_max", 5.0 * S));
    assert_eq!((c.window(), state(&c, "w_max")), (20.0 * S, 5.0 * S));
    for (name, value) in [("cwnd", f64::NAN), ("cwnd", 0.0), ("ssthresh", f64::NAN), ("w_max", f64::NAN), ("x", 1.0)] {
        assert!(!c.poke(name, value), "{name}");
    }
    assert!(!controller("reno").poke("w_max", 1.0));
}

/// Every pair of congestion controls: nothing jumps at the switch, and an ACK after it adds what it acknowledges at most, as in slow
/// start. A delay-based congestion control may lower the window, by its own rule, step by step.
#[test]
fn a_switch_of_congestion_controls_keeps_window_and_threshold() {
    for (before, _) in crate::list() {
        for spec in Spec::all() {
            let mut c = controller(before);
            for n in 0..20 {
                c.on_ack(&ack(0.1 + f64::from(n) / 100.0, MSS, 0.1));
            }
            c.on_congestion(&loss(0.3, 30.0));
            c.poke("cwnd", 50.0 * S);
            c.poke("ssthresh", 40.0 * S);
            c.switch_congestion_control(&spec);
            let pair = format!("{before} to {}", spec.name());
            assert_eq!((c.name(), c.window(), c.ssthresh()), (spec.name(), 50.0 * S, 40.0 * S), "{pair}");
            for n in 0..10 {
                let was = c.window();
                let inflight = 50 * MSS;
                c.on_ack(&Ack { inflight, delivered: (21 + n) * MSS, ..ack(0.4 + n as f64 / 500.0, MSS, 0.1) });
                assert!((was - S..=was + S + 1e-6).contains(&c.window()), "{pair}: {was} then {}", c.window());
            }
        }
    }
}

/// RFC 3649 appendix B: 2 segments a round trip at 118 segments, where Reno adds 1.
#[test]
fn the_new_congestion_control_grows_from_the_window_it_finds() {
    let mut c = controller("reno");
    c.poke("ssthresh", 118.0 * S);
    for (cc, growth) in [("reno", 1.0), ("highspeed", 2.0), ("reno", 1.0)] {
        c.switch_congestion_control(&Spec::named(cc).unwrap());
        c.poke("cwnd", 118.0 * S);
        crate::testing::round(&mut c, 1.0, 0.1);
        assert!((c.window() / S - 118.0 - growth).abs() < 0.03, "{cc}: {}", c.window() / S);
    }
}

#[test]
fn an_event_of_the_old_congestion_control_is_not_undone() {
    let mut c = controller("cubic");
    c.on_congestion(&loss(0.0, 10.0));
    let left = (c.window(), c.ssthresh());
    c.switch_congestion_control(&Spec::named("htcp").unwrap());
    c.on_congestion(&undo());
    assert_eq!((c.window(), c.ssthresh()), left);
}

#[test]
fn no_window_grows_beyond_the_largest() {
    let mut c = controller("reno");
    c.on_ack(&ack(0.0, 1 << 50, 0.1));
    assert_eq!(c.window(), MAX_WINDOW_BYTES);
}

/// 100 segments before anything is measured, and after a timer where a loss alone takes nothing.
#[test]
fn what_a_loss_leaves_is_a_parameter() {
    for name in ["westwood", "fast", "lp", "ledbat", "dctcp", "xcp", "copa"] {
        for (table, left) in [(serde_json::json!({}), 50.0), (serde_json::json!({ "beta": 0.75 }), 75.0)] {
            let spec = Spec::with(name, table.as_object().unwrap()).unwrap();
            let mut c = Controller::new(&spec, MSS, 100 * MSS);
            c.on_congestion(&Signal::Rto { now: Time::ZERO, inflight: 100 * MSS });
            assert_eq!((c.window(), c.ssthresh()), (S, left * S), "{name}");
        }
    }
}

/// RFC 8511 section 3: an ECN-Echo leaves beta_ecn of the window and ssthresh there, two segments at least; of what is in flight under
/// a congestion control that cuts from there. Losses, timers and a flow without the option are not touched. A loss that follows in
/// the same window of data takes more, but of those that leave 7/8.
#[test]
fn abe_is_an_option_of_every_loss_based_congestion_control() {
    let names = "reno highspeed scalable griddt bic hybla htcp westwood veno illinois yeah compound";
    for name in names.split(' ') {
        let after = |table: serde_json::Value, segments: f64, signal: &Signal| {
            let mut c = Controller::new(&Spec::with(name, table.as_object().unwrap()).unwrap(), MSS, 10 * MSS);
            c.poke("cwnd", segments * S);
            c.on_congestion(signal);
            (c.window() / S, c.ssthresh() / S, c.suffices(signal))
        };
        let (now, inflight) = (Time::ZERO, 100 * MSS);
        let (mark, lost) = (Signal::Ecn { now, inflight }, loss(0.0, 100.0));
        let (none, abe) = (serde_json::json!({}), serde_json::json!({ "beta_ecn": 0.8 }));
        let mild = matches!(name, "scalable" | "bic");
        assert_eq!(after(abe.clone(), 100.0, &mark), (80.0, 80.0, mild), "{name}");
        assert_eq!(after(abe.clone(), 2.0, &Signal::Ecn { now, inflight: 2 * MSS }).0, 2.0, "{name}");
        for signal in [lost, Signal::Rto { now, inflight }] {
            assert_eq!(after(abe.clone(), 100.0, &signal), after(none.clone(), 100.0, &signal), "{name}");
        }
        assert_eq!(after(none.clone(), 100.0, &mark), after(none, 100.0, &lost), "{name}");
        let half = Signal::Ecn { now, inflight: 50 * MSS };
        if describe(name).unwrap().parameters.iter().any(|parameter| parameter.name == "reduce_from") {
            let flight = serde_json::json!({ "beta_ecn": 0.8, "reduce_from": "flight" });
            assert_eq!(after(flight, 100.0, &half).0, 40.0, "{name}");
        } else {
            assert_eq!(after(abe, 100.0, &half).0, 80.0, "{name}");
        }
    }
}
