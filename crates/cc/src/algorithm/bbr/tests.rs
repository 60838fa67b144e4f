use super::Bbr;
use crate::algorithm::{CongestionControl, Drawing, Pacing};
use crate::declare::{Internals, Ranges};
use crate::testing::pipe::{BDP, Pipe, RATE_BPS};
use crate::testing::{MSS, loss, state};
use crate::train::Start;
use crate::{Ack, Controller, Model, Signal, Spec, Window};
use elephan_units::{Span, Time};
use serde_json::json;

const S: f64 = MSS as f64;

fn bbr() -> Controller {
    Controller::new(&Spec::named("bbr").unwrap(), MSS, 10 * MSS)
}

fn within(value: f64, low: f64, high: f64) {
    assert!((low..=high).contains(&value), "{value} is not within {low}..{high}");
}

/// 0.99 * 2.885 * 10 segments of 1000 bytes in the millisecond that is assumed, then in the round-trip time that is measured.
#[test]
fn the_first_pacing_rate_is_the_initial_window_at_2_885() {
    let mut pipe = Pipe::new("bbr");
    within(pipe.c.pacing_rate().unwrap(), 228.492e6 * (1.0 - 1e-12), 228.492e6 * (1.0 + 1e-12));
    assert_eq!((pipe.mode(), state(&pipe.c, "pacing_gain")), (0.0, 2.885));
    pipe.step();
    // 51 ms: a segment of the link and the delay.
    within(pipe.c.pacing_rate().unwrap(), 4.480e6, 4.481e6);
}

/// A handshake of 50 ms: 2.885 * 80 kbit / 50 ms = 4.616 Mbit/s before the first ACK, less 1 % in version 1, in both versions with their
/// gains (Linux `bbr_init_pacing_rate_from_rtt`, which a measured `srtt` precedes; draft `BBRInitPacingRate`). Linux 6.18: 923 kB/s
/// after a handshake of 30.93 ms.
#[test]
fn the_handshake_paces_the_first_window() {
    for (cc, rate) in [("bbr", 4.56984e6), ("bbr3", 4.432e6)] {
        let mut c = Controller::new(&Spec::named(cc).unwrap(), MSS, 10 * MSS);
        c.begin(&Start {
            now: Time::ZERO,
            rtt: Some(Span::from_ms(50)),
            packet_bytes: 1040,
            takes_over: false,
            accurate_ecn: false,
        });
        within(c.pacing_rate().unwrap(), rate - 1.0, rate + 1.0);
        assert_eq!(state(&c, "min_rtt"), 0.05);
    }
}

/// On the pipe of 8 Mbit/s and 50 ms: 7.92 Mbit/s (the margin of 1 %) times the mean gain of 1, 50 segments in flight and
/// the eight at most that three bursts of two and rounding add.
#[test]
fn it_converges_to_the_rate_and_the_content_of_the_pipe() {
    let mut pipe = Pipe::new("bbr");
    pipe.until(|pipe| pipe.mode() == 2.0);
    within(pipe.now.seconds(), 0.3, 1.0);
    pipe.run(2.0);
    let (pacing, flight) = pipe.run(6.0);
    within(pacing, 0.97 * RATE_BPS, 1.03 * RATE_BPS);
    within(flight, BDP, BDP + 8.0);
    within(state(&pipe.c, "bw"), 0.99 * RATE_BPS, 1.01 * RATE_BPS);
    // 51 ms in an empty queue; 2 BDP + 6 segments, even, + what ACKs bring beyond the bandwidth.
    within(state(&pipe.c, "min_rtt"), 0.0509, 0.0511);
    within(pipe.c.window() / S, 104.0, 112.0);
    assert!(!pipe.c.in_slow_start());
}

/// The queue that STARTUP leaves is gone when DRAIN ends.
#[test]
fn drain_paces_at_the_inverse_gain_until_the_queue_is_gone() {
    let mut pipe = Pipe::new("bbr");
    pipe.until(|pipe| pipe.mode() == 1.0);
    assert!(pipe.inflight() as f64 > 2.0 * BDP * S);
    within(pipe.c.pacing_rate().unwrap(), 0.97 * RATE_BPS * 0.99 / 2.885, RATE_BPS * 1.01 / 2.885);
    pipe.until(|pipe| pipe.mode() != 1.0);
    assert_eq!(pipe.mode(), 2.0);
    within(pipe.inflight() as f64 / S, BDP, BDP + 8.0);
}

/// A round of 10 segments at `rate`, in one ACK.
fn round(c: &mut Controller, n: u64, rate: f64) {
    c.on_ack(&round_ack(n, rate));
}

fn round_ack(n: u64, rate: f64) -> Ack {
    Ack {
        now: Time::from_seconds(n as f64 * 0.1),
        acked: 10 * MSS,
        rtt: Some(Span::from_ms(100)),
        inflight: 10 * MSS,
        delivered: n * 10 * MSS,
        rate_bps: Some(rate),
        ..Ack::default()
    }
}

/// A quarter more in a round goes on; three rounds with less end STARTUP. Limited samples do not count.
#[test]
fn startup_ends_after_three_rounds_below_a_quarter_of_growth() {
    let mut c = bbr();
    for (n, rate) in [1e6, 2e6, 2.4e6, 2.49e6, 2.5e6, 3e6, 3e6].into_iter().enumerate() {
        round(&mut c, n as u64 + 1, rate);
        assert_eq!(state(&c, "mode"), 0.0, "{rate}");
    }
    c.on_ack(&Ack { rate_app_limited: true, ..limited_round(8) });
    assert_eq!(state(&c, "mode"), 0.0);
    round(&mut c, 9, 3.1e6);
    assert_eq!(state(&c, "mode"), 2.0, "DRAIN has nothing to do here");
}

fn limited_round(n: u64) -> Ack {
    let now = Time::from_seconds(n as f64 * 0.1);
    Ack { now, acked: MSS, inflight: MSS, delivered: n * 10 * MSS, rate_bps: Some(1e6), ..Ack::default() }
}

/// The largest of ten rounds; a sample that the application limits counts only if it is larger.
#[test]
fn the_bandwidth_is_the_largest_of_ten_rounds() {
    let mut c = bbr();
    round(&mut c, 1, 5e6);
    for n in 2..=10 {
        round(&mut c, n, 1e6);
        assert_eq!(state(&c, "bw"), 5e6);
    }
    c.on_ack(&Ack { rate_app_limited: true, ..limited_round(11) });
    assert_eq!(state(&c, "bw"), 5e6);
    round(&mut c, 12, 1e6);
    assert_eq!(state(&c, "bw"), 1e6);
    c.on_ack(&Ack { rate_app_limited: true, rate_bps: Some(4e6), ..limited_round(13) });
    assert_eq!(state(&c, "bw"), 4e6);
}

/// 1.25, 0.75 and six times 1, a round-trip time each.
#[test]
fn probe_bw_cycles_through_eight_gains() {
    let mut pipe = Pipe::of(&Spec::with("bbr", json!({ "phase": 2 }).as_object().unwrap()).unwrap());
    pipe.until(|pipe| pipe.mode() == 2.0);
    let mut phases = vec![(state(&pipe.c, "pacing_gain"), pipe.now)];
    // The six ones cannot be told apart by their gain.
    while phases.len() < 10 {
        pipe.step();
        let gain = state(&pipe.c, "pacing_gain");
        if gain != phases.last().unwrap().0 {
            phases.push((gain, pipe.now));
        }
    }
    let gains: Vec<f64> = phases.iter().map(|phase| phase.0).collect();
    assert_eq!(gains, [1.0, 1.25, 0.75, 1.0, 1.25, 0.75, 1.0, 1.25, 0.75, 1.0]);
    let rtts = |n: usize| phases[n + 1].1.since(phases[n].1).seconds() / 0.051;
    for (n, low, high) in [(4, 1.0, 2.2), (5, 0.1, 1.1), (6, 6.0, 6.6), (7, 1.0, 2.2), (8, 0.1, 1.1)] {
        within(rtts(n), low, high);
    }
}

/// A round-trip time of 10 s ago is measured again: four segments for 200 ms, then the window of before.
#[test]
fn probe_rtt_comes_every_ten_seconds_with_four_segments_for_200_ms() {
    let mut pipe = Pipe::new("bbr");
    pipe.until(|pipe| pipe.mode() == 3.0);
    let first = pipe.now.seconds();
    within(first, 10.0, 10.2);
    pipe.until(|pipe| pipe.inflight() <= 4 * MSS);
    assert_eq!(pipe.c.window(), 4.0 * S);
    let small = pipe.now.seconds();
    pipe.until(|pipe| pipe.mode() != 3.0);
    let left = pipe.now.seconds();
    within(left - small, 0.2, 0.2 + 2.0 * 0.051);
    assert_eq!(pipe.mode(), 2.0);
    within(pipe.c.window() / S, 104.0, 112.0);
    pipe.run(1.0);
    within(state(&pipe.c, "bw"), 0.99 * RATE_BPS, 1.01 * RATE_BPS);
    pipe.until(|pipe| pipe.mode() == 3.0);
    within(pipe.now.seconds() - left, 10.0, 10.2);
}

/// `bbr_cwnd_event`: in PROBE_RTT silence of more than 200 ms ends it with the first packet, without a round, and gives the window back;
/// silence that is shorter does not.
#[test]
fn silence_ends_probe_rtt() {
    for (silence_s, mode) in [(0.1, 3.0), (0.3, 2.0)] {
        let mut pipe = Pipe::new("bbr");
        pipe.until(|pipe| pipe.mode() == 3.0);
        pipe.until(|pipe| pipe.inflight() <= 4 * MSS);
        pipe.c.on_sent(pipe.now.saturating_add(Span::from_seconds(silence_s)), MSS, 0);
        assert_eq!((pipe.mode(), pipe.c.window() > 100.0 * S), (mode, mode == 2.0));
    }
}

/// `bbr_update_min_rtt`: after ten seconds any round-trip time replaces the smallest, but not that of an ACK which the receiver may have held:
/// of less than a segment, with nothing else delivered since it was sent. One that is smaller always counts.
#[test]
fn a_delayed_acknowledgement_is_no_new_smallest_round_trip() {
    for (acked, rtt_ms, expected) in [(500, 90, 0.05), (MSS, 90, 0.09), (500, 40, 0.04)] {
        let mut c = bbr();
        c.poke("min_rtt", 0.05);
        let ack = Ack {
            now: Time::from_seconds(11.0),
            acked,
            rtt: Some(Span::from_ms(rtt_ms)),
            inflight: acked,
            delivered: 1_000_000,
            prior_delivered: Some(1_000_000 - acked),
            ..Ack::default()
        };
        c.on_ack(&ack);
        within(state(&c, "min_rtt"), expected - 1e-9, expected + 1e-9);
    }
}

/// The first ACK of recovery makes the window what is in flight, for a round it stays there, then it grows by what is delivered, and the
/// end of recovery brings back that of before (Linux `bbr_set_cwnd_to_recover_or_restore`). A loss that no ACK has seen costs nothing.
#[test]
fn a_loss_keeps_packets_for_a_round_and_recovery_gives_the_window_back() {
    let mut pipe = Pipe::new("bbr");
    pipe.until(|pipe| pipe.mode() == 2.0);
    pipe.run(2.0);
    let before = pipe.c.window();
    let now = pipe.now;
    let mut undone = pipe.c.clone();
    undone.on_congestion(&Signal::Loss { now, lost: 5 * MSS, inflight: 60 * MSS });
    assert_eq!(undone.window(), before);
    undone.on_congestion(&Signal::Undo { now });
    assert_eq!((undone.window(), undone.observe()), (before, pipe.c.observe()));

    let inflight = pipe.inflight();
    pipe.c.on_congestion(&Signal::Loss { now, lost: MSS, inflight });
    pipe.step();
    let kept = pipe.c.window();
    within(kept / S, inflight as f64 / S, inflight as f64 / S + 2.0);
    let rate = pipe.c.pacing_rate();
    for _ in 1..inflight / MSS {
        pipe.step();
        assert_eq!(pipe.c.window(), kept);
    }
    pipe.run(0.1);
    assert!(pipe.c.window() > kept);
    pipe.c.on_recovered();
    pipe.step();
    within(pipe.c.window() / before, 0.97, 1.03);
    within(pipe.c.pacing_rate().unwrap() / rate.unwrap(), 0.59, 1.67);
}

/// A timer leaves a segment and no loss changes the model; ECN-Echo and local drops change nothing at all.
#[test]
fn a_timer_leaves_a_segment_and_marks_do_nothing() {
    let mut pipe = Pipe::new("bbr");
    pipe.until(|pipe| pipe.mode() == 2.0);
    let (before, now, inflight) = (pipe.c.window(), pipe.now, 60 * MSS);
    let model = pipe.c.observe();
    pipe.c.on_congestion(&Signal::Ecn { now, inflight });
    pipe.c.on_congestion(&Signal::LocalDrop { now, inflight });
    assert_eq!(pipe.c.window(), before);
    pipe.c.on_congestion(&Signal::Rto { now, inflight });
    assert_eq!((pipe.c.window(), pipe.c.observe()), (S, model));
}

/// The window grows although the application limits (Linux 6.18: 12 after ten segments and an ACK of two, with nothing more to send).
#[test]
fn an_application_limited_flow_grows() {
    let mut c = bbr();
    c.on_ack(&Ack { app_limited: true, acked: 2 * MSS, inflight: 10 * MSS, ..limited_round(1) });
    assert_eq!(c.window(), 12.0 * S);
}

/// Two losses of three segments each in STARTUP, the second found while the first is repaired: less by what is lost. Packets are conserved
/// beyond a timer, which leaves one segment; the end of recovery gives back the ten of before, and the ACK adds its segment.
#[test]
fn the_window_of_before_outlasts_losses_and_a_timer() {
    let mut c = bbr();
    let ack = |n: u64, inflight: u64, newly_lost: u64| Ack {
        inflight: inflight * MSS,
        newly_lost: newly_lost * MSS,
        prior_delivered: Some(n - 1),
        ..limited_round(n)
    };
    c.on_congestion(&loss(0.1, 10.0));
    c.on_ack(&ack(1, 10, 3));
    assert_eq!(c.window(), 7.0 * S);
    c.on_ack(&ack(2, 7, 3));
    assert_eq!(c.window(), 4.0 * S);
    c.on_congestion(&Signal::Rto { now: Time::from_seconds(1.0), inflight: 4 * MSS });
    assert_eq!(c.window(), S);
    c.on_ack(&ack(3, 1, 0));
    assert_eq!(c.window(), S);
    c.on_recovered();
    c.on_ack(&ack(4, 1, 0));
    assert_eq!(c.window(), 11.0 * S);
}

/// A timeout in an episode that proves needless gives back the window of before the episode.
#[test]
fn the_way_back_is_not_forgotten() {
    for undone in [false, true] {
        let mut c = bbr();
        let ack = |n: u64| Ack { inflight: 2 * MSS, ..limited_round(n) };
        c.on_congestion(&loss(0.1, 6.0));
        c.on_ack(&ack(1));
        assert_eq!(c.window(), 2.0 * S);
        if undone {
            c.on_congestion(&Signal::Rto { now: Time::from_seconds(0.2), inflight: 2 * MSS });
            c.on_congestion(&Signal::Undo { now: Time::from_seconds(0.3) });
        } else {
            c.on_recovered();
        }
        c.on_ack(&ack(4));
        assert_eq!(c.window(), 11.0 * S, "{undone}");
    }
}

/// A mark saves the window of now: a recovery from the same data returns to it, not to what ACKs have made of it since (Linux 6.18: 18 for
/// 24, `tcp_enter_recovery` from `TCP_CA_CWR` asks for no threshold).
#[test]
fn a_loss_after_a_mark_returns_to_the_window_of_the_mark() {
    let mut c = bbr();
    c.on_congestion(&Signal::Ecn { now: Time::from_seconds(0.1), inflight: 10 * MSS });
    for n in 1..=4 {
        c.on_ack(&Ack { inflight: 10 * MSS, ..limited_round(n) });
    }
    assert_eq!(c.window(), 14.0 * S);
    c.on_congestion(&loss(0.5, 6.0));
    c.on_ack(&Ack { inflight: 6 * MSS, ..limited_round(5) });
    c.on_recovered();
    c.on_ack(&Ack { inflight: 6 * MSS, ..limited_round(6) });
    assert_eq!(c.window(), 11.0 * S);
}

/// A round ends with the first segment sent since it began, although a third of what was in flight then is lost (Linux
/// `bbr_update_bw`: `prior_delivered` not before `next_rtt_delivered`): three rounds without growth end STARTUP.
#[test]
fn losses_do_not_lengthen_a_round() {
    let mut c = bbr();
    for n in 0..4 {
        assert_eq!(state(&c, "mode"), 0.0, "{n}");
        let prior_delivered = Some(n * 10 * MSS);
        c.on_ack(&Ack { prior_delivered, inflight: 60 * MSS, ..round_ack(n + 1, 2e6) });
    }
    assert_eq!(state(&c, "mode"), 1.0);
}

/// Phase 1 would begin by draining what nothing has queued.
#[test]
fn the_first_phase_is_a_parameter() {
    for (phase, fine) in [(0, true), (1, false), (7, true), (8, false)] {
        let spec = Spec::with("bbr", json!({ "phase": phase }).as_object().unwrap());
        assert_eq!(spec.is_ok(), fine, "{phase}");
    }
    let mut cc = Bbr::new(&super::Parameters { phase: Some(0), ..super::Parameters::default() });
    cc.poke("mode", 2.0);
    cc.poke("bw", RATE_BPS);
    cc.poke("min_rtt", 0.05);
    let w = &mut Window { cwnd: 10.0 * S, ssthresh: f64::INFINITY, mss: S };
    cc.on_delivery(w, &Ack { acked: MSS, inflight: 10 * MSS, ..Ack::default() });
    // 1.25 * 0.99 * 8 Mbit/s
    within(cc.pacing_rate(w).unwrap(), 9.9e6 - 1.0, 9.9e6 + 1.0);
}

/// Linux `bbr_reset_probe_bw_mode`: each of the seven phases but that of 0.75 is as likely, 1000 of 7000 (standard deviation 29), when
/// PROBE_BW begins and when it begins again. Without a seed the draws are those of seed 0.
#[test]
fn probe_bw_begins_with_any_phase_but_the_draining_one() {
    let begin = |cc: &mut Bbr| {
        cc.begin_probe_bw(Time::ZERO);
        match cc.mode {
            super::Mode::ProbeBw { phase, .. } => phase as usize,
            _ => unreachable!(),
        }
    };
    let mut counts = [[0; 8]; 2];
    for seed in 0..7000 {
        let mut cc = Bbr::new(&super::Parameters::default());
        cc.set_seed(seed);
        counts.iter_mut().for_each(|counts| counts[begin(&mut cc)] += 1);
    }
    for counts in counts {
        assert_eq!(counts[1], 0);
        assert!([0, 2, 3, 4, 5, 6, 7].iter().all(|&phase| (850..=1150).contains(&counts[phase])), "{counts:?}");
    }
    let twenty = |cc: &mut Bbr| (0..20).map(|_| begin(cc)).collect::<Vec<_>>();
    let (mut fresh, mut zero) = (Bbr::new(&super::Parameters::default()), Bbr::new(&super::Parameters::default()));
    zero.set_seed(0);
    assert_eq!(twenty(&mut fresh), twenty(&mut zero));
}

#[test]
fn parameters_that_make_no_sense_are_refused() {
    let bad = super::Parameters { bw_rounds: 0, ..super::Parameters::default() };
    assert_eq!(bad.in_range().unwrap_err().parameter, "bw_rounds");
}

/// Linux `bbr_tso_segs_goal`: the bytes of 1/1024 s in segments of 1448 B, two at least from 1.2 Mb/s on, at most 65,215 B. The room for
/// three of them is what makes Linux 6.18 send 256 to 258 segments in the STARTUP of docs/kernel.md, where three bursts of two gave 249.
#[test]
fn the_window_has_room_for_bursts_of_a_millisecond() {
    let mut cc = Bbr::new(&Default::default());
    let w = Window { cwnd: 14_480.0, ssthresh: f64::INFINITY, mss: 1448.0 };
    for (rate_bps, segments) in [(1e6, 1.0), (19.2e6, 2.0), (55.2e6, 4.0), (200e6, 16.0), (1e9, 45.0), (100e9, 45.0)] {
        cc.pacing = rate_bps;
        assert_eq!(cc.offloaded_segments(&w), segments, "{rate_bps}");
    }
}
