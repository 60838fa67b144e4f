//! Loss recovery: the literals of RFC 5681, 6582, 6675, 6298, 3042 on a path of 10 ms each way, segments of 1000 bytes.

use crate::common::*;
use elephan_tcp::options::{NewrenoTimer, RecoveryRule, Reduction};
use elephan_tcp::{Overrides, Phase};
use elephan_units::{Bytes, Span, Time};
use proptest::prelude::*;
use std::collections::BTreeSet;

const MS: u64 = 1_000_000_000;

/// Loses the data segments of `a` in `lost`, by their index among data segments sent (retransmissions included).
fn losing(lost: impl IntoIterator<Item = u64>) -> Policy {
    let lost: BTreeSet<u64> = lost.into_iter().collect();
    let mut index = 0;
    Box::new(move |s, _| {
        if s.way == Way::Back || s.seg.len == 0 {
            return vec![DELAY];
        }
        index += 1;
        if lost.contains(&(index - 1)) { vec![] } else { vec![DELAY] }
    })
}

fn start(overrides: Overrides, bytes: u64, lost: impl IntoIterator<Item = u64>) -> Net {
    let o = options("rfc", &overrides);
    let mut net = Net::new(&o, &o, losing(lost));
    net.open_a();
    net.a.supply(bytes);
    net
}

fn rule(recovery: RecoveryRule) -> Overrides {
    Overrides { recovery: Some(recovery), sack: Some(recovery == RecoveryRule::Sack), ..plain() }
}

const RULES: [RecoveryRule; 3] = [RecoveryRule::Reno, RecoveryRule::Newreno, RecoveryRule::Sack];

#[test]
fn one_loss_is_repaired_on_the_third_duplicate() {
    for recovery in RULES {
        let mut net = start(rule(recovery), 10_000, [3]);
        net.run_until(|net| net.a.stats(net.now).fast_retran == 1);
        // Data left at 20 ms; the duplicates are back at 40 ms. FlightSize is 7 segments: ssthresh = 3.5 segments.
        assert_eq!((net.now, net.a.phase()), (Time(40 * MS), Phase::Recovery));
        assert_eq!((net.a.controller().window(), net.a.controller().ssthresh()), (3500.0, 3500.0));
        net.run_until(|net| net.a.acked() == 10_000);
        assert_eq!(net.now, Time(60 * MS), "{recovery:?}");
        let again: Vec<_> = net.data(1000).into_iter().filter(|d| d.1 == 3000).map(|d| d.0).collect();
        assert_eq!(again, [Time(20 * MS), Time(40 * MS)]);
        let stats = net.a.stats(net.now);
        assert_eq!((stats.segs_retrans, stats.timeouts, stats.cong_signals), (1, 0, 1));
        // RFC 6582 section 3.2 step 3: min(ssthresh, max(FlightSize, SMSS) + SMSS) with nothing in flight.
        let newreno = recovery == RecoveryRule::Newreno;
        assert_eq!(net.a.controller().window(), if newreno { 2000.0 } else { 3500.0 });
        assert_eq!(net.a.phase(), if newreno { Phase::SlowStart } else { Phase::CongestionAvoidance });
        assert_eq!(net.b.received(), 10_000);
    }
}

#[test]
fn windows_xp_needs_two_duplicates() {
    let o = options("winxp", &Overrides { initial_window: Some(4), ..Overrides::default() });
    let mut net = Net::new(&o, &o, losing([1]));
    net.open_a();
    net.a.supply(4 * 1460);
    net.run_until(|net| net.a.acked() == 4 * 1460);
    let stats = net.a.stats(net.now);
    // Segments 2 and 3 arrive beyond the hole: two duplicates suffice.
    assert_eq!((stats.fast_retran, stats.timeouts, net.now), (1, 0, Time(60 * MS)));
    // FlightSize / 2 = 1.5 segments, so two segments (RFC 5681 equation 4).
    assert_eq!(net.a.controller().ssthresh(), 2920.0);
}

#[test]
fn limited_transmit_saves_a_small_window_from_the_timeout() {
    for recovery in RULES {
        let small = |limited_transmit| Overrides {
            initial_window: Some(3),
            limited_transmit: Some(limited_transmit),
            // The window of the first ACK is that of the SYN-ACK, or it would not be a duplicate.
            window_scaling: Some(false),
            receive_window: Some(Bytes(60_000)),
            ..rule(recovery)
        };
        let mut net = start(small(true), 20_000, [0]);
        net.run_until(|net| net.a.acked() == 20_000);
        let stats = net.a.stats(net.now);
        assert_eq!((stats.timeouts, stats.fast_retran), (0, 1), "{recovery:?}");
        // RFC 3042: two new segments on the first two duplicates, and they do not count in FlightSize.
        assert_eq!(
            net.data(1000)[3..5].iter().map(|d| (d.0, d.1)).collect::<Vec<_>>(),
            [(Time(40 * MS), 3000), (Time(40 * MS), 4000)]
        );
        assert_eq!(stats.min_ssthresh, 2000);
        let mut net = start(small(false), 20_000, [0]);
        net.run_until(|net| net.a.acked() == 20_000);
        assert_eq!(net.a.stats(net.now).timeouts, 1, "{recovery:?}");
    }
}

#[test]
fn newreno_repairs_one_hole_a_round_trip_with_one_reduction() {
    let wide = Overrides { initial_window: Some(20), ..rule(RecoveryRule::Newreno) };
    let mut net = start(wide, 20_000, [4, 8, 12]);
    net.run_until(|net| net.a.acked() == 20_000);
    let again: Vec<_> = net.data(1000)[20..].iter().map(|d| (d.0, d.1)).collect();
    assert_eq!(again, [(Time(40 * MS), 4000), (Time(60 * MS), 8000), (Time(80 * MS), 12_000)]);
    let stats = net.a.stats(net.now);
    assert_eq!((stats.fast_retran, stats.cong_signals, stats.timeouts, net.now), (1, 1, 0, Time(100 * MS)));
    // FlightSize 16 segments: ssthresh 8.
    assert_eq!(stats.min_ssthresh, 8000);
}

#[test]
fn newreno_impatient_times_out_where_slow_but_steady_does_not() {
    let run = |timer| {
        let o = Overrides {
            initial_window: Some(40),
            rto_min: Some(Span::from_ms(70)),
            newreno_timer: Some(timer),
            ..rule(RecoveryRule::Newreno)
        };
        let mut net = start(o, 40_000, (1..20).map(|i| 2 * i));
        net.run_until(|net| net.a.acked() == 40_000);
        let stats = net.a.stats(net.now);
        (stats.timeouts, stats.fast_retran)
    };
    assert_eq!(run(NewrenoTimer::SlowButSteady), (0, 1));
    let (timeouts, _) = run(NewrenoTimer::Impatient);
    assert!(timeouts >= 1);
}

#[test]
fn reno_reduces_twice_for_two_losses_in_one_window() {
    let o = |recovery| Overrides { initial_window: Some(40), ..rule(recovery) };
    let run = |recovery| {
        let mut net = start(o(recovery), 200_000, [5, 20]);
        net.run_until(|net| net.a.acked() == 200_000);
        net.a.stats(net.now)
    };
    let reno = run(RecoveryRule::Reno);
    assert!(reno.cong_signals == 2 && reno.fast_retran + reno.timeouts == 2, "{reno:?}");
    for recovery in [RecoveryRule::Newreno, RecoveryRule::Sack] {
        let stats = run(recovery);
        assert_eq!((stats.cong_signals, stats.fast_retran, stats.timeouts), (1, 1, 0), "{recovery:?}");
    }
}

#[test]
fn sack_repairs_all_holes_in_one_round_trip() {
    let wide = Overrides { initial_window: Some(64), ..rule(RecoveryRule::Sack) };
    let mut net = start(wide, 100_000, (0..16).map(|i| 3 * i));
    net.run_until(|net| net.a.acked() >= 64_000);
    let stats = net.a.stats(net.now);
    assert_eq!((stats.segs_retrans, stats.fast_retran, stats.timeouts), (16, 1, 0));
    // 64 segments, 16 lost. cwnd = 32: as the SACKs come in pipe falls below it and all holes are sent at 40 ms.
    let again: Vec<_> = net.data(1000)[64..].iter().filter(|d| d.1 < 64_000).map(|d| (d.0.0 / MS, d.1)).collect();
    assert_eq!(again, (0..16).map(|i| (40, 3000 * i)).collect::<Vec<_>>());
    assert_eq!(net.now, Time(60 * MS));
    assert_eq!(stats.min_ssthresh, 32_000);
}

#[test]
fn rescue_retransmission_of_a_lost_tail() {
    // RFC 6675 NextSeg rule 4: the last segment goes once more when nothing else can be sent.
    let wide = Overrides { initial_window: Some(20), ..rule(RecoveryRule::Sack) };
    let mut net = start(wide, 20_000, [2, 18, 19]);
    net.run_until(|net| net.a.acked() == 20_000);
    let stats = net.a.stats(net.now);
    assert_eq!((stats.timeouts, stats.fast_retran, stats.segs_retrans), (0, 1, 3), "{stats:?}");
    let again: Vec<_> = net.data(1000)[20..].iter().map(|d| (d.0, d.1)).collect();
    assert_eq!(again, [(Time(40 * MS), 2000), (Time(60 * MS), 19_000), (Time(80 * MS), 18_000)]);
}

#[test]
fn timeouts_double_and_send_one_segment() {
    for recovery in RULES {
        // The whole first flight is lost, and the first two retransmissions.
        let mut net = start(rule(recovery), 10_000, 0..12);
        net.run_until(|net| net.a.acked() == 10_000);
        let times: Vec<_> = net.data(1000)[10..13].iter().map(|d| (d.0.0 / MS, d.1)).collect();
        // Sent at 20 ms with RTO 1 s: 1.02, 3.02, 7.02 s.
        assert_eq!(times, [(1020, 0), (3020, 0), (7020, 0)], "{recovery:?}");
        let stats = net.a.stats(net.now);
        assert_eq!((stats.timeouts, stats.subsequent_timeouts, stats.segs_retrans), (1, 2, 12));
        // ssthresh = FlightSize / 2 at the first expiry and held at the others (RFC 5681 section 3.1).
        assert_eq!((stats.min_ssthresh, stats.max_ssthresh), (5000, 5000));
    }
}

#[test]
fn slow_start_after_a_timeout_sends_again_in_order() {
    let mut net = start(rule(RecoveryRule::Newreno), 10_000, 0..10);
    net.run_until(|net| net.a.acked() == 10_000);
    let data = net.data(1000);
    let per_time = |ms: u64| data.iter().filter(|d| d.0 == Time(ms * MS)).map(|d| d.1 / 1000).collect::<Vec<_>>();
    assert_eq!(per_time(1020), [0]);
    // One segment is not enough for an immediate ACK: it comes by the timer, 200 ms later; L = 1 after a timeout.
    assert_eq!(per_time(1240), [1, 2]);
    assert_eq!(per_time(1260), [3, 4, 5]);
    assert_eq!(net.a.stats(net.now).segs_retrans, 10);
}

#[test]
fn what_was_sacked_is_not_sent_again_after_a_timeout() {
    let mut net = start(rule(RecoveryRule::Sack), 10_000, [0, 10]);
    net.run_until(|net| net.a.acked() == 10_000);
    let stats = net.a.stats(net.now);
    assert_eq!((stats.segs_retrans, stats.timeouts, stats.fast_retran), (2, 1, 1));
    assert_eq!(net.data(1000)[10..].iter().map(|d| (d.0.0 / MS, d.1)).collect::<Vec<_>>(), [(40, 0), (1020, 0)]);
}

#[test]
fn a_timeout_inside_recovery_lowers_the_threshold_again() {
    for recovery in [RecoveryRule::Newreno, RecoveryRule::Sack] {
        let wide = Overrides { initial_window: Some(40), ..rule(recovery) };
        // Segment 0 and its retransmission (index 40) are lost.
        let mut net = start(wide, 40_000, [0, 40]);
        net.run_until(|net| net.a.stats(net.now).timeouts == 1);
        let stats = net.a.stats(net.now);
        assert_eq!((stats.max_ssthresh, net.a.phase()), (20_000, Phase::Loss));
        assert!(stats.min_ssthresh < 20_000, "{stats:?}");
        assert_eq!(net.a.controller().window(), 1000.0);
        net.run_until(|net| net.a.acked() == 40_000);
    }
}

#[test]
fn losses_during_recovery_begin_a_new_reduction_at_its_end() {
    let wide = Overrides { initial_window: Some(40), ..rule(RecoveryRule::Sack) };
    // Segment 4 is lost; transmission 50 is its repair, 55 new data sent during its recovery, which is lost too.
    let mut net = start(wide, 400_000, [4, 55]);
    net.run_until(|net| net.a.acked() == 400_000);
    let stats = net.a.stats(net.now);
    assert_eq!((stats.fast_retran, stats.cong_signals, stats.timeouts, stats.segs_retrans), (2, 2, 0, 2));
}

#[test]
fn needless_duplicates_after_a_timeout_start_nothing() {
    // All ACKs of the first flight are lost: the timeout sends it again and the duplicates come back.
    let o = options("rfc", &Overrides { initial_window: Some(12), ..rule(RecoveryRule::Newreno) });
    let mut net = Net::new(
        &o,
        &o,
        Box::new(|s, _| {
            if s.way == Way::Back && s.at > Time(25 * MS) && s.at < Time(900 * MS) { vec![] } else { vec![DELAY] }
        }),
    );
    net.open_a();
    net.a.supply(60_000);
    net.run_until(|net| net.a.acked() == 60_000);
    let stats = net.a.stats(net.now);
    assert_eq!((stats.timeouts, stats.fast_retran), (1, 0), "{stats:?}");
}

#[test]
fn the_restart_window_after_idle() {
    let run = |idle_restart| {
        let o = Overrides { idle_restart: Some(idle_restart), ..plain() };
        let mut net = start(o, 100_000, []);
        net.run_until(|net| net.a.acked() == 100_000);
        let grown = net.a.controller().window();
        assert!(grown > 40_000.0);
        net.run_for(Span::from_s(5));
        net.a.supply(200_000);
        net.pump();
        (grown, net.a.controller().window(), net.a.inflight())
    };
    assert_eq!(run(true).1, 10_000.0);
    assert_eq!(run(true).2, 10_000);
    let (grown, window, _) = run(false);
    assert_eq!(grown, window);
}

#[test]
fn a_sender_without_data_does_not_grow_its_window() {
    let mut net = start(plain(), 0, []);
    for i in 1..200u64 {
        net.a.supply(2000 * i);
        net.run_for(Span::from_ms(30));
    }
    assert_eq!(net.a.controller().window(), 10_000.0);
    assert_eq!(net.b.received(), 398_000);
    let stats = net.a.stats(net.now);
    assert!(stats.snd_lim_time_snd_ns > 5_900_000_000, "{stats:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    /// Any losses in a window of 64 are repaired without a timeout under SACK, as long as three segments arrive above
    /// the first loss, and the lost tail fits in the window.
    #[test]
    fn any_losses_of_a_window(lost in prop::collection::btree_set(0u64..64, 1..40)) {
        let first = *lost.first().unwrap();
        let tail = (0..64).rev().take_while(|i| lost.contains(i)).count();
        let above = (first..64).filter(|i| !lost.contains(i)).count();
        prop_assume!(first <= 20 && tail <= 5 && above >= 3);
        let wide = Overrides { initial_window: Some(64), ..rule(RecoveryRule::Sack) };
        let count = lost.len() as u64;
        let mut net = start(wide, 64_000, lost);
        net.run_until(|net| net.a.acked() == 64_000);
        let stats = net.a.stats(net.now);
        prop_assert_eq!((stats.timeouts, stats.fast_retran, net.b.received()), (0, 1, 64_000));
        prop_assert!(stats.segs_retrans >= count && stats.segs_retrans <= count + 1);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// RFC 6675: whichever of 64 segments are lost, three that follow the last of them bring all back without a timeout.
    #[test]
    fn any_losses_of_a_window_are_repaired_without_a_timeout(
        lost in proptest::collection::btree_set(0u64..61, 1..61),
        reduction in prop_oneof![Just(Reduction::Immediate), Just(Reduction::PrrRfc9937), Just(Reduction::PrrRfc6937)],
    ) {
        let wide = Overrides { initial_window: Some(64), reduction: Some(reduction), ..rule(RecoveryRule::Sack) };
        let mut net = start(wide, 64_000, lost.clone());
        net.run_until(|net| net.a.acked() == 64_000);
        let stats = net.a.stats(net.now);
        prop_assert_eq!((stats.timeouts, stats.fast_retran, stats.cong_signals), (0, 1, 1));
        // Each once, and the rescue retransmission at most beside them.
        prop_assert!((lost.len() as u64..=lost.len() as u64 + 1).contains(&stats.segs_retrans), "{:?}", stats);
    }
}
