use super::Bbr3;
use crate::algorithm::Drawing;
use crate::testing::pipe::{BDP, Pipe, RATE_BPS};
use crate::testing::{MSS, state};
use crate::train::Start;
use crate::{Ack, Controller, Model, Signal, Spec};
use elephan_units::{Span, Time};
use serde_json::json;

const S: f64 = MSS as f64;

fn within(value: f64, low: f64, high: f64) {
    assert!((low..=high).contains(&value), "{value} is not within {low}..{high}");
}

fn bbr3(table: serde_json::Value) -> Controller {
    Controller::new(&Spec::with("bbr3", table.as_object().unwrap()).unwrap(), MSS, 10 * MSS)
}

/// In `mode` on a path of 8 Mbit/s and 50 ms, 50 segments, with a window of 60.
fn on_path(mode: f64, table: serde_json::Value) -> Controller {
    let mut c = bbr3(table);
    for (name, value) in [("bw", RATE_BPS), ("min_rtt", 0.05), ("mode", mode), ("cwnd", 60.0 * S)] {
        assert!(c.poke(name, value), "{name}");
    }
    c
}

/// ACK `n`, 10 ms apart, one segment of what was in flight; a new round begins where `begins`; `lost` segments so far, none beside another.
fn ack(n: u64, inflight: u64, begins: bool, lost: u64) -> Ack {
    let delivered = if begins { n * 1_000_000 } else { 0 };
    Ack {
        now: Time::from_seconds(n as f64 * 0.01),
        acked: MSS,
        rtt: Some(Span::from_ms(50)),
        inflight: inflight * MSS,
        delivered,
        lost: lost * MSS,
        lost_ranges: lost as u16,
        ..Ack::default()
    }
}

/// 2.77 * 10 segments of 1000 bytes in the millisecond that is assumed.
#[test]
fn the_first_rate_is_the_initial_window_in_a_millisecond() {
    within(bbr3(json!({})).pacing_rate().unwrap(), 2.2159e8, 2.2161e8);
}

/// Draft: pacing gains 0.5 (0.35 before -05), 0.9, 1, 1, 1.25, 1, times 0.99 of 8 Mbit/s.
#[test]
fn each_mode_has_its_pacing_gain() {
    let cases = [
        (1.0, json!({}), 0.5),
        (1.0, json!({ "preset": "draft-04" }), 0.35),
        (2.0, json!({}), 0.9),
        (3.0, json!({}), 1.0),
        (5.0, json!({}), 1.25),
        (6.0, json!({}), 1.0),
    ];
    for (mode, table, gain) in cases {
        let mut c = on_path(mode, table);
        c.on_ack(&Ack { rtt: None, ..ack(1, 100, false, 0) });
        assert_eq!(state(&c, "mode"), mode);
        within(c.pacing_rate().unwrap() / (0.99 * RATE_BPS), gain - 1e-9, gain + 1e-9);
    }
}

/// Windows: 2 BDP and three bursts are 103 segments, in UP 2.25 BDP and three, 115.5, in PROBE_RTT half a BDP, 25.
#[test]
fn each_mode_has_its_window() {
    for (mode, segments) in [(3.0, 100.0), (5.0, 114.5), (6.0, 25.0)] {
        let mut c = on_path(mode, json!({ "extra_acked_max": "0 s" }));
        c.poke("cwnd", 300.0 * S);
        c.on_ack(&Ack { rtt: None, ..ack(1, 100, false, 0) });
        within(c.window() / S, segments - 1e-9, segments + 1e-9);
    }
}

/// The upper bound holds in UP; CRUISE leaves 15 % of it, PROBE_RTT too; the low bound holds everywhere.
#[test]
fn bounds_limit_the_window() {
    for (mode, bound, segments) in
        [(5.0, "inflight_hi", 40.0), (3.0, "inflight_hi", 34.0), (3.0, "inflight_lo", 40.0), (1.0, "inflight_lo", 40.0)]
    {
        let mut c = on_path(mode, json!({}));
        c.poke(bound, 40.0 * S);
        c.on_ack(&Ack { rtt: None, app_limited: true, ..ack(1, 30, false, 0) });
        within(c.window() / S, segments - 1e-9, segments + 1e-9);
    }
}

/// STARTUP ends where a round loses more than 2 % and six ranges, also if the first ACK of the next round tells it.
#[test]
fn losses_of_the_first_ack_of_a_round_count() {
    for late in [false, true] {
        let mut c = on_path(0.0, json!({}));
        c.on_ack(&ack(1, 101, true, 0));
        c.on_ack(&ack(2, 101, false, if late { 0 } else { 20 }));
        c.on_ack(&ack(3, 101, true, 20));
        assert_eq!(state(&c, "mode"), 1.0, "{late}");
        within(state(&c, "inflight_hi") / S, 100.0, 101.0);
    }
}

/// Of 100 segments in flight two may be lost; the third makes the bound max(100, 0.7 * 50) and ends UP.
#[test]
fn too_many_losses_in_up_set_the_upper_bound() {
    let mut c = on_path(4.0, json!({}));
    c.on_ack(&ack(1, 101, true, 0));
    assert_eq!(state(&c, "mode"), 5.0);
    c.on_ack(&ack(2, 101, false, 2));
    assert_eq!((state(&c, "mode"), state(&c, "inflight_hi")), (5.0, 0.0));
    c.on_ack(&ack(3, 101, false, 3));
    assert_eq!((state(&c, "mode"), state(&c, "inflight_hi")), (2.0, 100.0 * S));
}

/// BBRStartProbeBW_DOWN resets the congestion signals: the three segments that UP has lost lower nothing when the next round begins, two
/// more in DOWN do. And it begins a round, which ends when what is in flight then is delivered.
#[test]
fn down_begins_a_round_and_takes_no_losses_of_up() {
    let mut c = on_path(4.0, json!({ "probe_wait": "100 s" }));
    for (n, begins, lost) in [(1, true, 0), (2, false, 3), (3, true, 3)] {
        c.on_ack(&ack(n, 101, begins, lost));
    }
    assert_eq!((state(&c, "mode"), state(&c, "bw_lo"), state(&c, "inflight_lo")), (2.0, 0.0, 0.0));
    c.on_ack(&ack(4, 101, false, 5));
    c.on_ack(&ack(5, 101, true, 5));
    within(state(&c, "bw_lo"), 0.7 * RATE_BPS - 1.0, 0.7 * RATE_BPS + 1.0);

    let mut cc = Bbr3::new(&Default::default());
    cc.begin_down(Time::ZERO, 10 * MSS);
    let delivered = |delivered| Ack { delivered, inflight: 10 * MSS, acked: MSS, ..Ack::default() };
    assert!(!cc.path.count(&delivered(10 * MSS), S) && cc.path.count(&delivered(10 * MSS + 1), S));
}

/// A round with a loss in CRUISE: 0.7 of the bandwidth and of the window of 60; the next 0.7 of that.
#[test]
fn a_lossy_round_outside_a_probe_lowers_the_low_bounds() {
    let mut c = on_path(3.0, json!({}));
    let limited = |n, begins, lost| Ack { app_limited: true, ..ack(n, 60, begins, lost) };
    c.on_ack(&limited(1, true, 0));
    c.on_ack(&Ack { delivered: 1_000_000, ..limited(2, false, 1) });
    assert_eq!(state(&c, "bw_lo"), 0.0);
    c.on_ack(&Ack { delivered: 1_060_001, ..limited(3, false, 1) });
    within(state(&c, "bw_lo"), 0.7 * RATE_BPS - 1.0, 0.7 * RATE_BPS + 1.0);
    // The round has delivered 60 segments, more than 0.7 * 60.
    within(state(&c, "inflight_lo") / S, 60.0, 60.002);
    within(c.pacing_rate().unwrap(), 0.99 * 0.7 * RATE_BPS - 1.0, 0.99 * 0.7 * RATE_BPS + 1.0);
}

/// A round of STARTUP that loses six ranges of a hundred segments fills the pipe; one that loses five does not, of a segment or of four.
#[test]
fn six_lost_ranges_end_startup() {
    for (lost, lost_ranges, mode) in [(5, 5, 0.0), (20, 5, 0.0), (6, 6, 1.0), (20, 6, 1.0)] {
        let mut c = on_path(0.0, json!({}));
        let fast = |ack: Ack| Ack { rate_bps: Some(9e7), ..ack };
        c.on_ack(&fast(ack(1, 101, true, 0)));
        c.on_ack(&Ack { delivered: 1_000_000, lost_ranges, ..ack(2, 101, false, lost) });
        c.on_ack(&fast(Ack { rate_bps: Some(9e8), lost_ranges, ..ack(3, 1000, true, lost) }));
        assert_eq!(state(&c, "mode"), mode, "{lost} in {lost_ranges}");
    }
}

/// DOWN and CRUISE last 2.5 s or as many rounds as the BDP has segments, 50 of 50 ms: 2.5 s; REFILL a round; UP ends where
/// the bandwidth no longer grows: three rounds after the first.
#[test]
fn probe_bw_cycles() {
    let wait = json!({ "probe_wait": "2.5 s", "probe_rounds_over": 0 });
    let mut pipe = Pipe::of(&Spec::with("bbr3", wait.as_object().unwrap()).unwrap());
    let mut begins = Vec::new();
    for mode in [3.0, 4.0, 5.0, 2.0] {
        pipe.until(|pipe| pipe.mode() == mode);
        begins.push(pipe.now.seconds());
    }
    within(begins[1] - begins[0], 2.4, 2.8);
    within((begins[2] - begins[1]) / 0.05, 0.9, 1.8);
    within((begins[3] - begins[2]) / 0.05, 3.0, 6.0);
}

/// From 3 s on, and no longer.
#[test]
fn what_the_wait_is_drawn_from_are_parameters() {
    let (probe_wait_min, probe_wait_random) = (Span::from_s(3), Span::ZERO);
    let mut cc = Bbr3::new(&super::Parameters { probe_wait_min, probe_wait_random, ..Default::default() });
    cc.begin_down(Time::ZERO, 0);
    assert_eq!(cc.wait.0, Span::from_s(3));
}

/// Draft, BBRPickProbeWait: 2 s and a time drawn from 0 to 1 s, and none or one of the rounds is over. Of 4000 waits: mean 2.5 s
/// (standard deviation 4.6 ms), 2000 rounds (32). One wait after another is drawn too.
#[test]
fn the_wait_before_a_probe_is_drawn() {
    let (mut sums, mut differ) = ([(0.0, 0); 2], 0);
    for seed in 0..4000 {
        let mut cc = Bbr3::new(&super::Parameters::default());
        cc.set_seed(seed);
        for (time, over) in &mut sums {
            cc.begin_down(Time::ZERO, 0);
            within(cc.wait.0.seconds(), 2.0, 3.0);
            *time += cc.wait.0.seconds();
            *over += cc.wait.1;
        }
        let first = cc.wait;
        cc.begin_down(Time::ZERO, 0);
        differ += u32::from(cc.wait.0 != first.0);
    }
    for (time, over) in sums {
        within(time / 4000.0, 2.48, 2.52);
        within(f64::from(over), 1840.0, 2160.0);
    }
    assert_eq!(differ, 4000);
}

/// A wait of 20 rounds, the BDP in segments, is one shorter where one is over when it begins.
#[test]
fn a_round_that_is_over_shortens_the_wait() {
    for (over, rounds) in [(0, 20), (1, 19)] {
        let mut c = on_path(2.0, json!({ "probe_wait": "1 h", "probe_rounds_over": over }));
        c.poke("min_rtt", 0.02);
        let mut begun = 0;
        while state(&c, "mode") != 4.0 {
            begun += 1;
            c.on_ack(&Ack { rtt: None, app_limited: true, ..ack(begun, 100, true, 0) });
        }
        assert_eq!(begun, rounds);
    }
}

/// One flow on a pipe of 8 Mbit/s and 50 ms: it fills it with a short queue.
#[test]
fn it_fills_the_pipe_with_a_short_queue() {
    let mut pipe = Pipe::new("bbr3");
    pipe.run(3.0);
    let (pacing, flight) = pipe.run(20.0);
    within(pacing / RATE_BPS, 0.93, 1.03);
    within(flight / BDP, 0.93, 1.25);
    within(state(&pipe.c, "bw") / RATE_BPS, 0.99, 1.01);
    assert!(!pipe.c.in_slow_start());
}

/// Five seconds without a smaller round-trip time: half a BDP for 200 ms and a round.
#[test]
fn probe_rtt_comes_every_five_seconds_with_half_the_window() {
    let mut pipe = Pipe::new("bbr3");
    pipe.until(|pipe| pipe.mode() == 6.0);
    within(pipe.now.seconds(), 5.0, 5.3);
    pipe.until(|pipe| pipe.c.window() < 26.0 * S);
    let begin = pipe.now.seconds();
    pipe.until(|pipe| pipe.mode() != 6.0);
    within(pipe.now.seconds() - begin, 0.2, 0.2 + 3.0 * 0.051);
    // BBRExitProbeRTT: DOWN and CRUISE at once.
    assert_eq!(pipe.mode(), 3.0);
}

/// A loss itself takes nothing from the window (draft: SaveCwnd only); undone, nothing has happened. A timer leaves a segment.
#[test]
fn a_loss_alone_changes_no_window_and_a_timer_leaves_a_segment() {
    let mut pipe = Pipe::new("bbr3");
    pipe.until(|pipe| pipe.mode() == 3.0);
    let (before, now) = (pipe.c.window(), pipe.now);
    let model = pipe.c.observe();
    pipe.c.on_congestion(&Signal::Loss { now, lost: 5 * MSS, inflight: 60 * MSS });
    assert_eq!(pipe.c.window(), before);
    pipe.c.on_congestion(&Signal::Undo { now });
    assert_eq!((pipe.c.window(), pipe.c.observe()), (before, model));
    pipe.c.on_congestion(&Signal::Rto { now, inflight: 60 * MSS });
    assert_eq!(pipe.c.window(), S);
}

/// The bound that a probe has set holds while what was sent before its losses is acknowledged, for that is above 2 % as well: in the round
/// that DOWN begins. The next round raises the bound again.
#[test]
fn a_bound_is_not_raised_by_what_was_sent_before_it() {
    let mut c = on_path(4.0, json!({}));
    c.on_ack(&ack(1, 101, true, 0));
    c.on_ack(&ack(2, 101, false, 3));
    assert_eq!(state(&c, "inflight_hi"), 100.0 * S);
    c.on_ack(&ack(3, 119, false, 3));
    c.on_ack(&ack(4, 119, true, 3));
    assert_eq!(state(&c, "inflight_hi"), 100.0 * S);
    c.on_ack(&ack(5, 110, false, 3));
    assert_eq!(state(&c, "inflight_hi"), 110.0 * S);
}

/// UP, which begins with the first round, lasts three more of a rate that does not grow (draft, CheckFullBWReached), goes on while the application is
/// the limit, and while the rate grows from round to round, though it is below the largest.
#[test]
fn up_ends_after_three_rounds_without_growth() {
    let grows = |n: u64| 1e6 * 1.3f64.powi(n as i32);
    let flat = |_: u64| RATE_BPS;
    for (rate, limited, rounds) in
        [(&flat as &dyn Fn(u64) -> f64, false, Some(4)), (&flat, true, None), (&grows, false, None)]
    {
        let mut c = on_path(4.0, json!({ "probe_wait": "100 s" }));
        let ended = (1..8).find(|&n| {
            let rate_bps = Some(rate(n));
            c.on_ack(&Ack { rate_bps, rate_app_limited: limited, ..ack(n, 60, true, 0) });
            state(&c, "mode") != 5.0
        });
        assert_eq!(ended, rounds);
    }
}

/// A queue that does not go away, as of rivals, ends DRAIN in the fourth round after it has begun (draft-05, CheckDrainDone), before not at all.
#[test]
fn drain_has_an_end() {
    for (preset, ended) in [("draft-05", Some(4)), ("draft-04", None)] {
        let mut c = on_path(1.0, json!({ "preset": preset, "probe_wait": "100 s" }));
        let left = (1..9).find(|&n| {
            c.on_ack(&ack(n, 100, true, 0));
            state(&c, "mode") != 1.0
        });
        assert_eq!(left.map(|n| n - 1), ended, "{preset}");
    }
}

/// Losses that were none have ended STARTUP, or UP: it goes on.
#[test]
fn what_a_needless_loss_has_ended_goes_on() {
    for mode in [0.0, 5.0] {
        let mut c = on_path(mode, json!({}));
        if mode == 5.0 {
            c = on_path(4.0, json!({}));
            c.on_ack(&ack(1, 101, true, 0));
        } else {
            c.on_ack(&ack(1, 40, true, 0));
        }
        c.on_congestion(&Signal::Loss { now: Time::from_seconds(0.011), lost: MSS, inflight: 100 * MSS });
        c.on_ack(&ack(2, 40, false, 20));
        c.on_ack(&ack(3, 40, true, 20));
        assert_ne!(state(&c, "mode"), mode);
        c.on_congestion(&Signal::Undo { now: Time::from_seconds(0.04) });
        assert_eq!(state(&c, "mode"), mode);
    }
}

/// HandleRestartFromIdle: in PROBE_RTT silence of more than 200 ms ends it with the first packet, without a round, and gives the window
/// back; silence that is shorter does not.
#[test]
fn silence_ends_probe_rtt() {
    for (silence_s, mode) in [(0.1, 6.0), (0.3, 3.0)] {
        let mut pipe = Pipe::new("bbr3");
        pipe.until(|pipe| pipe.mode() == 6.0);
        pipe.until(|pipe| pipe.inflight() <= 25 * MSS);
        pipe.run(0.03);
        assert_eq!(pipe.mode(), 6.0);
        let small = pipe.c.window();
        pipe.c.on_sent(pipe.now.saturating_add(Span::from_seconds(silence_s)), MSS, 0);
        assert_eq!((pipe.mode(), pipe.c.window() > 1.5 * small), (mode, mode == 3.0));
    }
}

/// After silence the first packets leave at the bandwidth (draft, HandleRestartFromIdle: 0.99 of 8 Mbit/s), and the first ACK brings the gain of
/// the mode back.
#[test]
fn silence_ends_at_the_bandwidth() {
    let mut c = on_path(5.0, json!({ "probe_wait": "100 s" }));
    c.on_ack(&ack(1, 40, false, 0));
    within(c.pacing_rate().unwrap(), 9.9e6 - 1.0, 9.9e6 + 1.0);
    c.on_sent(Time::from_seconds(5.0), MSS, 0);
    within(c.pacing_rate().unwrap(), 7.92e6 - 1.0, 7.92e6 + 1.0);
    c.on_ack(&Ack { now: Time::from_seconds(5.05), app_limited: true, ..ack(2, 2, false, 0) });
    within(c.pacing_rate().unwrap(), 9.9e6 - 1.0, 9.9e6 + 1.0);
}

/// tcp_bbr.c of version 3, bbr_update_ecn_alpha and bbr_ecn_lower_bounds: alpha = 15/16 * 1/2 + 1/16 * F; a round with marks in CRUISE
/// leaves 1 - alpha / 3 of the window. F is 1/2, 1 of 2 segments: alpha stays 1/2, and of 60 segments 50 are left. Without l4s nothing is.
#[test]
fn marks_lower_the_flight_for_now() {
    for (l4s, left) in [(true, 50.0), (false, 0.0)] {
        let mut c =
            on_path(3.0, json!({ "l4s": l4s, "ecn_alpha_initial": 0.5, "probe_wait": "1000 s", "probe_rounds": 1000 }));
        c.on_ack(&ack(1, 50, true, 0));
        assert!(c.poke("alpha", 0.5) && c.poke("cwnd", 59.0 * S));
        c.on_ack(&Ack { ce: MSS, ..ack(2, 50, false, 0) });
        c.on_ack(&ack(3, 50, true, 0));
        within(state(&c, "inflight_lo") / S, left, left);
        assert_eq!(state(&c, "alpha"), 0.5);
    }
}

/// bbr_is_inflight_too_high: marks on more than half of what was in flight, 49 segments, end UP, and that flight is the bound.
#[test]
fn marks_on_more_than_half_end_a_probe() {
    for (marked, mode) in [(24, 5.0), (25, 2.0)] {
        let mut c = on_path(4.0, json!({ "l4s": true }));
        for n in 1..=2 {
            c.on_ack(&ack(n, 50, true, 0));
        }
        assert_eq!(state(&c, "mode"), 5.0);
        for n in 3..3 + marked {
            c.on_ack(&Ack { ce: MSS, ..ack(n, 50, false, 0) });
        }
        assert_eq!(state(&c, "mode"), mode, "{marked}");
        let bound = if mode == 2.0 { 49.0 } else { 0.0 };
        within(state(&c, "inflight_hi") / S, bound, bound);
    }
}

/// bbr_check_ecn_too_high_in_startup: two rounds on end with half of what they delivered marked fill the pipe.
#[test]
fn two_rounds_of_marks_end_startup() {
    let rounds = |marked: [bool; 4]| {
        let mut c = bbr3(json!({ "l4s": true }));
        for (n, marked) in (0u64..).zip(marked) {
            let rate_bps = Some(1e6 * 2f64.powi(n as i32));
            let ce = if marked { MSS } else { 0 };
            c.on_ack(&Ack { ce, rate_bps, ..ack(n + 1, 10, true, 0) });
        }
        state(&c, "mode")
    };
    assert_eq!(rounds([true, false, true, false]), 0.0);
    assert_ne!(rounds([false, false, true, true]), 0.0);
}

/// What leaves as ECT(1) needs Accurate ECN (RFC 9331 section 4.2).
#[test]
fn without_l4s_or_accurate_ecn_it_is_classic() {
    for (l4s, accurate_ecn, sends) in [(true, true, true), (true, false, false), (false, true, false)] {
        let mut c = bbr3(json!({ "l4s": l4s }));
        c.begin(&Start { now: Time::ZERO, rtt: None, packet_bytes: 1500, takes_over: false, accurate_ecn });
        assert_eq!((c.sends_ect1(), c.needs_accurate_ecn()), (sends, l4s));
    }
}
