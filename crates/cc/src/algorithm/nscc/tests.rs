use crate::rdma::Trim;
use crate::testing::state;
use crate::{Ack, Controller, Nic, Spec};
use elephan_units::{Span, Time};
use serde_json::json;

const PACKET: u64 = 4000;

/// At 100 Gb/s and 12 us, the reference: a = 1, T = 9 us, most 1.5 x 150 000 B.
fn nscc(table: serde_json::Value) -> Controller {
    let spec = Spec::with("nscc", table.as_object().unwrap()).unwrap();
    let mut controller = Controller::new(&spec, PACKET, PACKET);
    controller.on_nic(&Nic { rate_bps: 100e9, base_rtt: Span::from_us(12) });
    controller
}

fn us(us: f64) -> Time {
    Time::from_seconds(us * 1e-6)
}

fn ack(at_us: f64, acked: u64, rtt_us: f64, marked: bool) -> Ack {
    Ack {
        now: us(at_us),
        acked,
        rtt: Some(Span::from_seconds(rtt_us * 1e-6)),
        ce: if marked { acked.max(1) } else { 0 },
        inflight: 100_000,
        ..Ack::default()
    }
}

fn near(value: f64, expected: f64) {
    assert!((value / expected - 1.0).abs() < 1e-6, "{value} is not {expected}");
}

#[test]
fn it_begins_with_the_largest_window() {
    assert_eq!(nscc(json!({})).window(), 225_000.0);
    assert_eq!(nscc(json!({ "initial_window": "50 kB" })).window(), 50_000.0);
    // Half the rate: a is a half, and so is the window.
    let mut slow = nscc(json!({}));
    slow.on_nic(&Nic { rate_bps: 50e9, base_rtt: Span::from_us(12) });
    assert_eq!(slow.window(), 112_500.0);
}

/// 4 x 4000 / 12 us x (9 - 3) us x 4000 B = 8000 x 4000 B^2 = 32e6 B^2. After more than 8 packets (the ninth): 9 x 32e6 / 100 000 = 2880 B;
/// nothing more by eta, since 12 us have not passed.
#[test]
fn without_marks_and_below_the_target_growth_is_in_proportion() {
    let mut c = nscc(json!({}));
    c.on_ack(&ack(100.0, 0, 12.0, false));
    c.poke("cwnd", 100_000.0);
    for n in 0..9 {
        c.on_ack(&ack(101.0 + f64::from(n) / 10.0, PACKET, 15.0, false));
    }
    near(c.window(), 102_880.0);
}

/// 5 x 4000 B x 4000 B = 80e6 B^2 an acknowledgement; nine of them over 100 000 B: 7200 B. They count as 0.25 x 12 us in the mean.
#[test]
fn without_marks_above_the_target_growth_is_fair() {
    let mut c = nscc(json!({}));
    c.on_ack(&ack(100.0, 0, 12.0, false));
    c.poke("cwnd", 100_000.0);
    for n in 0..9 {
        c.on_ack(&ack(101.0 + f64::from(n) / 10.0, PACKET, 30.0, false));
    }
    near(c.window(), 107_200.0);
    near(state(&c, "average_delay"), 3e-6 * (1.0 - 0.9875f64.powi(9)));
}

/// A whole window below 1 us of delay, then a quarter of what arrives.
#[test]
fn a_window_without_delay_grows_fast() {
    let mut c = nscc(json!({}));
    c.on_ack(&ack(100.0, 0, 12.0, false));
    c.poke("cwnd", 8000.0);
    c.on_ack(&ack(101.0, 8000, 12.5, false));
    near(c.window(), 8000.0);
    c.on_ack(&ack(102.0, 4000, 12.5, false));
    near(c.window(), 9000.0);
}

/// The mean is 18 us, T 9 us: 1 - 0.8 x 9 / 18 = 0.6; once in 12 us; never below half.
#[test]
fn marks_above_the_target_cut_by_the_mean() {
    let mut c = nscc(json!({}));
    c.poke("average_delay", 18e-6);
    c.poke("cwnd", 100_000.0);
    c.on_ack(&ack(101.0, 0, 30.0, true));
    near(c.window(), 60_000.0 + 600.0);
    c.poke("cwnd", 100_000.0);
    c.on_ack(&ack(112.0, 0, 30.0, true));
    near(c.window(), 100_000.0);
    c.poke("average_delay", 1.0);
    c.on_ack(&ack(113.1, 0, 30.0, true));
    assert!((50_600.0..50_601.0).contains(&c.window()), "{}", c.window());
}

/// Below the target a mark changes nothing, and the mean goes on.
#[test]
fn marks_below_the_target_change_nothing() {
    let mut c = nscc(json!({}));
    c.on_ack(&ack(100.0, 0, 12.0, false));
    c.poke("cwnd", 100_000.0);
    c.on_ack(&ack(101.0, PACKET, 15.0, true));
    near(c.window(), 100_000.0);
    near(state(&c, "average_delay"), 3e-6 * 0.0125);
}

fn trim(at_us: f64, spared: bool) -> Trim {
    Trim { now: us(at_us), bytes: PACKET, inflight: 40_000, rtt: None, spared }
}

#[test]
fn trimmed_packets_leave_the_window() {
    let mut c = nscc(json!({ "quick": false }));
    c.on_trim(&trim(100.0, false));
    assert_eq!(c.window(), 221_000.0);
    c.on_trim(&trim(101.0, true));
    assert_eq!(c.window(), 221_000.0);
    near(state(&c, "average_delay"), 12e-6 * (1.0 - 0.9875f64.powi(2)));
}

/// 21 us after the first look less than 225 000 / 8 = 28 125 B have come, and something was trimmed: the window is what came, and the marks
/// and trims of the 40 000 B in flight are ignored.
#[test]
fn after_trims_the_window_follows_what_arrives() {
    let mut c = nscc(json!({}));
    c.on_trim(&trim(100.0, false));
    for n in 0..5 {
        c.on_ack(&ack(101.0 + f64::from(n), PACKET, 13.0, false));
    }
    c.on_trim(&trim(121.1, false));
    assert_eq!(c.window(), 20_000.0);
    c.on_trim(&trim(122.0, false));
    assert_eq!(c.window(), 20_000.0);
    for n in 0..9 {
        c.on_ack(&ack(123.0 + f64::from(n) / 10.0, PACKET, 40.0, true));
    }
    let before = c.window();
    c.on_trim(&trim(125.0, false));
    assert_eq!(c.window(), (before - 4000.0).max(4000.0));
}

#[test]
fn impossible_parameters() {
    for (table, key) in [
        (json!({ "reference_rate": "0 bps" }), "reference_rate"),
        (json!({ "target": "0 s" }), "target"),
        (json!({ "weight": 0 }), "weight"),
        (json!({ "quick_gate": 31 }), "quick_gate"),
    ] {
        let error = Spec::with("nscc", table.as_object().unwrap()).unwrap_err().to_string();
        assert!(error.contains(key), "{error}");
    }
}
