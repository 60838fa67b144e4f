//! Loss detection by time (RFC 8985), FACK, F-RTO (RFC 5682) and undo on a path of 10 ms each way, segments of 1000 bytes.

use crate::common::*;
use crate::linux::End;
use elephan_tcp::options::{LossDetection, RecoveryRule, Reduction, Undo};
use elephan_tcp::{Overrides, Phase, Snapshot};
use elephan_units::{Bytes, Span, Time};
use proptest::prelude::*;
use std::collections::BTreeSet;

const MS: u64 = 1_000_000_000;

/// Data segments of `a` by their index among those sent (retransmissions included): `fate` says how long they take.
fn by_index(mut fate: impl FnMut(u64, &Sighting) -> Option<Span> + 'static) -> Policy {
    let mut index = 0;
    Box::new(move |s, _| {
        if s.way == Way::Back || s.seg.len == 0 {
            return vec![DELAY];
        }
        index += 1;
        fate(index - 1, s).into_iter().collect()
    })
}

fn losing(lost: impl IntoIterator<Item = u64>) -> Policy {
    let lost: BTreeSet<u64> = lost.into_iter().collect();
    by_index(move |index, _| (!lost.contains(&index)).then_some(DELAY))
}

/// Segments with these indices take so many milliseconds longer.
fn delaying(late: &'static [(u64, u64)]) -> Policy {
    by_index(move |index, _| {
        let extra = late.iter().find(|(at, _)| *at == index).map_or(0, |(_, ms)| *ms);
        Some(DELAY + Span::from_ms(extra))
    })
}

/// What leaves `a` between 15 ms and `until` arrives at `until`, in order.
fn stalled(until: Time) -> Policy {
    Box::new(move |s, _| {
        let stalls = s.way == Way::Forth && s.at > Time(15 * MS) && s.seg.len > 0;
        vec![if stalls { DELAY.max(until.since(s.at)) } else { DELAY }]
    })
}

fn start(overrides: Overrides, bytes: u64, policy: Policy) -> Net {
    let o = options("rfc", &overrides);
    let mut net = Net::new(&o, &o, policy);
    net.open_a();
    net.a.supply(bytes);
    net
}

fn each_acked() -> Overrides {
    Overrides { delayed_ack_segments: Some(1), ..plain() }
}

fn rack() -> Overrides {
    Overrides { loss_detection: Some(LossDetection::Rack), tail_loss_probe: Some(true), ..each_acked() }
}

/// When, to the nearest millisecond, and what (offset) `a` sent beyond the first `skip` data segments.
fn later(net: &Net, skip: usize) -> Vec<(u64, u32)> {
    net.data(1000)[skip..].iter().map(|d| ((d.0.0 + MS / 2) / MS, d.1)).collect()
}

fn finish(net: &mut Net, bytes: u64) -> Snapshot {
    net.run_until(|net| net.a.acked() == bytes);
    assert_eq!(net.b.received(), bytes);
    net.a.stats(net.now)
}

/// RFC 8985 section 7.2: the last ACK is back at 40 ms, SRTT is 20 ms. Two segments or more are out: PTO = 2 SRTT. The
/// probe's SACK is back at 100 ms and shows all before it to be lost, which were sent 80 ms ago.
#[test]
fn a_lost_tail_is_repaired_by_a_probe() {
    for (tail, again) in [(2, vec![(80, 9000), (100, 8000)]), (3, vec![(80, 9000), (100, 7000), (100, 8000)])] {
        let mut net = start(rack(), 10_000, losing(10 - tail..10));
        let stats = finish(&mut net, 10_000);
        assert_eq!((later(&net, 10), net.now), (again, Time(120 * MS)));
        assert_eq!((stats.timeouts, stats.tail_loss_probes, stats.segs_retrans), (0, 1, tail));
        assert_eq!((stats.fast_retran, stats.cong_signals), (1, 1));
        // Without the probe only the timeout helps.
        let mut net = start(Overrides { tail_loss_probe: Some(false), ..rack() }, 10_000, losing(10 - tail..10));
        assert_eq!(finish(&mut net, 10_000).timeouts, 1);
    }
}

/// One segment is out: PTO = 2 SRTT + max_ack_delay = 240 ms after 40 ms. What the probe has repaired is a loss as soon as
/// more than it is acknowledged (section 7.4.2), and FlightSize was one segment: ssthresh is two.
#[test]
fn a_lost_last_segment_is_repaired_by_the_probe_itself() {
    let mut net = start(rack(), 10_000, losing([9]));
    let stats = finish(&mut net, 10_000);
    assert_eq!((later(&net, 10), net.now), (vec![(280, 9000)], Time(300 * MS)));
    assert_eq!((stats.timeouts, stats.cong_signals, stats.tail_loss_probes), (0, 0, 1));
    net.a.supply(11_000);
    let stats = finish(&mut net, 11_000);
    assert_eq!((stats.cong_signals, stats.fast_retran, stats.min_ssthresh), (1, 0, 2000));
    let mut net = start(Overrides { max_ack_delay: Some(Span::from_ms(30)), ..rack() }, 10_000, losing([9]));
    finish(&mut net, 10_000);
    assert_eq!(later(&net, 10), [(110, 9000)]);
}

/// The probe never comes after the timeout: RTO = 20 ms + max(G, 4 * RTTVAR), and at least 70 ms.
#[test]
fn the_probe_takes_the_place_of_an_earlier_timeout() {
    let o = Overrides { rto_min: Some(Span::from_ms(70)), ..rack() };
    let mut net = start(o, 10_000, losing([9]));
    let stats = finish(&mut net, 10_000);
    assert_eq!((later(&net, 10), stats.timeouts), (vec![(110, 9000)], 0));
}

/// New data goes first, whatever the congestion window says, and is no retransmission (section 7.3). No ACK comes back
/// from the first ten segments, sent at 20 ms.
/// RFC 8985 section 7.2: in recovery the timeout of 1 s stands alone, 2 SRTT after the last ACK no probe leaves.
#[test]
fn no_probe_in_recovery() {
    let mut end = End::new("rfc", &rack(), true);
    assert_eq!(end.write(3), [0, 1, 2]);
    end.ack(20.0, 0, &[(2, 3)]);
    // Both are lost a quarter of SRTT later; one comes back.
    end.ack(30.0, 1, &[(2, 3)]);
    end.ack(900.0, 1, &[(2, 3)]);
    let stats = end.tcp.stats(end.now);
    assert_eq!((stats.tail_loss_probes, stats.timeouts, stats.segs_retrans), (0, 0, 2));
}

#[test]
fn the_probe_is_new_data_if_there_is_any() {
    let policy = |until: u64| -> Policy {
        Box::new(move |s, _| {
            let lost = s.way == Way::Back && s.at > Time(25 * MS) && s.at < Time(until * MS);
            if lost { vec![] } else { vec![DELAY] }
        })
    };
    let mut net = start(rack(), 20_000, policy(65));
    net.run_until(|net| net.a.acked() > 0);
    assert_eq!((later(&net, 10)[0], net.a.acked(), net.now), ((60, 10_000), 11_000, Time(80 * MS)));
    let stats = finish(&mut net, 20_000);
    assert_eq!((stats.segs_retrans, stats.cong_signals, stats.timeouts, stats.tail_loss_probes), (0, 0, 0, 1));
    // Nothing new: the last segment, needlessly; a D-SACK says so. Without it a loss must be assumed (section 7.4.2).
    for (dsack, signals) in [(true, 0), (false, 1)] {
        let o = Overrides { dsack: Some(dsack), ..rack() };
        let mut net = start(o, 10_000, policy(65));
        let stats = finish(&mut net, 10_000);
        assert_eq!((later(&net, 10), stats.dsack_dups), (vec![(60, 9000)], u64::from(dsack)));
        net.a.supply(11_000);
        assert_eq!(finish(&mut net, 11_000).cong_signals, signals);
    }
}

/// min_RTT / 4 is 5 ms. The first flight shows reordering below three SACKed segments; from then on RACK waits.
#[test]
fn reordering_within_the_window_costs_no_retransmission() {
    let run = |o: Overrides, late: &'static [(u64, u64)]| {
        let mut net = start(o, 10_000, delaying(late));
        finish(&mut net, 10_000);
        net.run_for(Span::from_ms(50));
        net.a.supply(20_000);
        let stats = finish(&mut net, 20_000);
        net.run_for(Span::from_ms(50));
        (stats.segs_retrans, stats.cong_signals)
    };
    let dupack = || Overrides { loss_detection: Some(LossDetection::Dupack), ..rack() };
    // The ninth of the first flight, then the fourth of the second, with six above it.
    assert_eq!(run(rack(), &[(8, 4), (13, 4)]), (0, 0));
    assert_eq!(run(dupack(), &[(8, 4), (13, 4)]), (1, 1));
    // Without reordering before, three SACKed segments are enough (section 6.2 step 4).
    assert_eq!(run(rack(), &[(13, 4)]), (1, 1));
    // Beyond the window it is taken for lost.
    assert_eq!(run(rack(), &[(8, 4), (13, 6)]), (1, 1));
}

/// RACK.rtt + reo_wnd after its sending the timer finds it lost (section 6.2 step 5); its D-SACK doubles the window.
#[test]
fn a_dsack_widens_the_window() {
    let mut net = start(rack(), 10_000, delaying(&[(8, 4), (13, 6), (24, 9)]));
    finish(&mut net, 10_000);
    net.run_for(Span::from_ms(56));
    assert_eq!(net.now, Time(100 * MS));
    net.a.supply(20_000);
    finish(&mut net, 20_000);
    net.run_for(Span::from_ms(50));
    assert_eq!(later(&net, 20), [(125, 13_000)]);
    net.a.supply(30_000);
    let stats = finish(&mut net, 30_000);
    assert_eq!((stats.segs_retrans, stats.dsack_dups, stats.fast_retran), (1, 1, 1));
}

/// Linux 6.7, TCP_TIMEOUT_MIN_US: the probe for a lost tail and the timer of RACK, above at 80 and 125 ms, are 2 ms later. What is 6 ms
/// late, acknowledged at 126 ms, has not been retransmitted by then.
#[test]
fn timers_may_wait_longer_than_is_computed() {
    let slack = || Overrides { timer_slack: Some(Span::from_ms(2)), ..rack() };
    let mut net = start(slack(), 10_000, losing(8..10));
    finish(&mut net, 10_000);
    assert_eq!(later(&net, 10), [(82, 9000), (102, 8000)]);
    for (late, again) in [(6, vec![]), (9, vec![(127, 13_000)])] {
        let mut net = start(slack(), 10_000, delaying(if late == 6 { &[(8, 4), (13, 6)] } else { &[(8, 4), (13, 9)] }));
        finish(&mut net, 10_000);
        net.run_for(Span::from_ms(56));
        net.a.supply(20_000);
        finish(&mut net, 20_000);
        net.run_for(Span::from_ms(50));
        assert_eq!(later(&net, 20), again, "{late} ms late");
    }
    // One segment: max_ack_delay takes its place.
    let mut net = start(slack(), 10_000, losing([9]));
    finish(&mut net, 10_000);
    assert_eq!(later(&net, 10), [(280, 9000)]);
}

/// Section 3.1: a lost retransmission is found by the delivery of what was sent after it. Without proportional rate
/// reduction it is a second congestion signal (section 9.3).
#[test]
fn a_lost_retransmission_is_repaired_without_a_timeout() {
    let wide = |o: Overrides| Overrides { initial_window: Some(20), ..o };
    let twice = || {
        let mut seen = 0;
        by_index(move |_, s| {
            seen += u64::from(s.seg.seq == 1001 + 4000);
            (s.seg.seq != 1001 + 4000 || seen > 2).then_some(DELAY)
        })
    };
    for (reduction, signals) in [(Reduction::Immediate, 2), (Reduction::PrrRfc9937, 1)] {
        let o = Overrides { reduction: Some(reduction), ..wide(rack()) };
        let mut net = start(o, 60_000, twice());
        let stats = finish(&mut net, 60_000);
        let sent: Vec<_> = later(&net, 0).into_iter().filter(|d| d.1 == 4000).map(|d| d.0).collect();
        assert_eq!(sent, [20, 40, 60], "{reduction:?}");
        assert_eq!((stats.timeouts, stats.segs_retrans, stats.cong_signals), (0, 2, signals), "{reduction:?}");
    }
    let mut net = start(wide(each_acked()), 60_000, twice());
    assert_eq!(finish(&mut net, 60_000).timeouts, 1);
}

/// Section 6.3: a timeout takes the first segment for lost and what is overdue, not what has just been sent.
#[test]
fn a_timeout_takes_only_the_overdue_for_lost() {
    let o = Overrides { tail_loss_probe: Some(false), ..rack() };
    let mut net = start(o, 10_000, losing(0..10));
    net.run_until(|net| net.now >= Time(1015 * MS));
    // 5 ms before the timeout two more segments leave: all others are overdue, these are not.
    net.a.supply(12_000);
    net.run_until(|net| net.a.stats(net.now).timeouts == 1);
    let _ = finish(&mut net, 12_000);
    assert_eq!(net.data(1000).iter().filter(|d| d.1 >= 10_000).count(), 2);
}

/// Linux 2.4: lost is what lies more than `dup_ack_threshold` segments below the highest SACKed one, that one counted. With
/// two lost the second SACK is enough: segments 0 to 3 are four.
#[test]
fn fack_counts_the_holes_too() {
    let at = |loss_detection| {
        let o = Overrides { loss_detection: Some(loss_detection), ..each_acked() };
        let mut net = start(o, 10_000, losing([0, 1]));
        net.run_until(|net| net.a.phase() == Phase::Recovery);
        let sacks = net.a.stats(net.now).sacks_rcvd;
        let stats = finish(&mut net, 10_000);
        assert_eq!((stats.timeouts, stats.segs_retrans), (0, 2));
        sacks
    };
    assert_eq!((at(LossDetection::Fack), at(LossDetection::Dupack)), (2, 3));
}

fn window(net: &Net) -> (f64, f64) {
    (net.a.controller().window(), net.a.controller().ssthresh())
}

/// RFC 5682 appendix A.1: a sudden delay. Everything is held until 1.5 s; the timeout is at 1.02 s. The first ACK lets two
/// new segments out, the second shows that the timeout was needless: window and threshold are as before.
#[test]
fn frto_finds_a_needless_timeout() {
    for sack in [true, false] {
        let o = Overrides { frto: Some(true), sack: Some(sack), ..each_acked() };
        let mut net = start(o, 100_000, stalled(Time(1500 * MS)));
        let before = window(&net);
        net.run_until(|net| net.a.stats(net.now).timeouts == 1);
        assert_eq!(window(&net), (1000.0, 5000.0));
        net.run_until(|net| net.a.stats(net.now).spurious_rto_detected == 1);
        assert_eq!((window(&net), net.a.acked(), net.now), (before, 2000, Time(1510 * MS)));
        assert_eq!(later(&net, 10)[..3], [(1020, 0), (1510, 10_000), (1510, 11_000)]);
        let stats = finish(&mut net, 100_000);
        assert_eq!((stats.segs_retrans, stats.fast_retran, stats.timeouts), (1, 0, 1), "{sack}");
    }
    let mut net = start(each_acked(), 100_000, stalled(Time(1500 * MS)));
    assert!(finish(&mut net, 100_000).segs_retrans > 5);
}

/// Appendix A.3: an outage. Two new segments go out and are beyond what was out: the loss was real.
#[test]
fn frto_does_not_take_an_outage_for_a_delay() {
    for sack in [true, false] {
        let o = Overrides { frto: Some(true), sack: Some(sack), ..each_acked() };
        let mut net = start(o, 100_000, losing(0..10));
        let stats = finish(&mut net, 100_000);
        assert_eq!(later(&net, 10)[..3], [(1020, 0), (1040, 10_000), (1040, 11_000)]);
        assert_eq!((later(&net, 13)[0], stats.spurious_rto_detected), ((1060, 1000), 0), "{sack}");
        assert_eq!((stats.timeouts, stats.subsequent_timeouts, stats.min_ssthresh), (1, 0, 5000));
        // Nothing new to send: as without F-RTO.
        let o = Overrides { frto: Some(true), sack: Some(sack), ..each_acked() };
        let mut net = start(o, 10_000, losing(0..10));
        let stats = finish(&mut net, 10_000);
        assert_eq!((stats.segs_retrans, stats.timeouts), (10, 1));
        assert_eq!(later(&net, 10)[..3], [(1020, 0), (1040, 1000), (1040, 2000)]);
    }
}

/// Eifel detection: the first ACK echoes the time of the original, so it undoes at once. MSS 988 beside the timestamps.
#[test]
fn timestamps_show_a_needless_timeout() {
    let o = Overrides { undo: Some(Undo::Timestamps), timestamps: Some(true), ..each_acked() };
    let mut net = start(o, 98_800, stalled(Time(1500 * MS)));
    let before = window(&net);
    net.run_until(|net| net.a.stats(net.now).timeouts == 1);
    net.run_until(|net| net.a.acked() > 0);
    assert_eq!((net.a.stats(net.now).spurious_rto_detected, net.a.acked(), window(&net)), (1, 988, before));
    assert_eq!(finish(&mut net, 98_800).segs_retrans, 1);
    // A real loss echoes the retransmission.
    let o = Overrides { undo: Some(Undo::Both), timestamps: Some(true), frto: Some(true), ..each_acked() };
    let mut net = start(o, 98_800, losing((0..10).chain([30, 41])));
    let stats = finish(&mut net, 98_800);
    assert_eq!((stats.spurious_rto_detected, stats.spurious_fr_detected, stats.dsack_dups), (0, 0, 0));
}

/// Segment 3 comes 8 ms late, below six others: fast retransmit at 40 ms, needlessly. The window had grown by the three
/// segments acknowledged before.
#[test]
fn a_needless_fast_retransmit_is_taken_back() {
    let ssthresh = f64::INFINITY;
    for recovery in [RecoveryRule::Sack, RecoveryRule::Newreno] {
        let o = Overrides {
            undo: Some(Undo::Timestamps),
            timestamps: Some(true),
            recovery: Some(recovery),
            sack: Some(recovery == RecoveryRule::Sack),
            ..each_acked()
        };
        let mut net = start(o, 9880, delaying(&[(3, 8)]));
        net.run_until(|net| net.a.stats(net.now).fast_retran == 1);
        assert_eq!(net.now, Time(40 * MS));
        net.run_until(|net| net.a.acked() == 9880);
        assert_eq!((net.a.stats(net.now).spurious_fr_detected, net.now), (1, Time(48 * MS)));
        assert_eq!((window(&net), net.a.phase()), ((13.0 * 988.0, ssthresh), Phase::SlowStart));
    }
    // By D-SACK when the retransmission arrives, at 50 ms: nothing is in flight any more.
    let o = Overrides { undo: Some(Undo::Dsack), ..each_acked() };
    let mut net = start(o, 10_000, delaying(&[(3, 8)]));
    finish(&mut net, 10_000);
    assert_eq!((net.a.stats(net.now).spurious_fr_detected, net.a.stats(net.now).cong_signals), (0, 1));
    net.run_for(Span::from_ms(20));
    let stats = net.a.stats(net.now);
    assert_eq!((stats.spurious_fr_detected, stats.dsack_dups, window(&net)), (1, 1, (13_000.0, ssthresh)));
    // Off, it stays.
    let mut net = start(each_acked(), 10_000, delaying(&[(3, 8)]));
    finish(&mut net, 10_000);
    net.run_for(Span::from_ms(20));
    assert!(window(&net).1 < 10_000.0);
}

/// Segment 2 comes 8 ms late and segment 4 is lost: both are retransmitted at 40 ms. When segment 2 is there, at 48 ms, the other is
/// still out, and recovery goes on (Linux `tcp_try_undo_partial`): taken back, it would begin anew with the next ACK. Segment 4 was lost.
#[test]
fn a_late_packet_does_not_end_the_repair_of_others() {
    for detection in [LossDetection::Dupack, LossDetection::Fack] {
        let o = Overrides {
            undo: Some(Undo::Both),
            timestamps: Some(true),
            loss_detection: Some(detection),
            ..each_acked()
        };
        let late_and_lost = by_index(|index, _| match index {
            2 => Some(DELAY + Span::from_ms(8)),
            4 => None,
            _ => Some(DELAY),
        });
        let mut net = start(o, 9880, late_and_lost);
        net.run_until(|net| net.a.acked() == 4 * 988);
        assert_eq!((net.now, net.a.phase()), (Time(48 * MS), Phase::Recovery), "{detection:?}");
        let stats = finish(&mut net, 9880);
        assert_eq!((stats.fast_retran, stats.spurious_fr_detected, stats.timeouts), (1, 0, 0), "{detection:?}");
    }
}

/// Two retransmissions, one of them needed: not all are reported as duplicates.
#[test]
fn one_needed_retransmission_keeps_the_reduction() {
    let o = Overrides { undo: Some(Undo::Dsack), ..each_acked() };
    let mut net = start(
        o,
        10_000,
        by_index(|index, _| match index {
            2 => None,
            3 => Some(DELAY + Span::from_ms(8)),
            _ => Some(DELAY),
        }),
    );
    finish(&mut net, 10_000);
    net.run_for(Span::from_ms(100));
    let stats = net.a.stats(net.now);
    assert_eq!((stats.segs_retrans, stats.dsack_dups, stats.spurious_fr_detected), (2, 1, 0));
}

fn reductions() -> impl Strategy<Value = Reduction> {
    prop_oneof![Just(Reduction::Immediate), Just(Reduction::PrrRfc9937), Just(Reduction::PrrRfc6937)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// RFC 8985 section 3.2: whichever of 64 segments are lost, the last or all of them too, a probe or what arrives of the
    /// others brings all back without a timeout and with one reduction.
    #[test]
    fn any_losses_of_a_window_are_repaired_without_a_timeout(
        lost in prop::collection::btree_set(0u64..64, 1..=64), reduction in reductions(), timestamps in any::<bool>(), per_ack in 1u32..3
    ) {
        let o = Overrides {
            initial_window: Some(64),
            reduction: Some(reduction),
            timestamps: Some(timestamps),
            delayed_ack_segments: Some(per_ack),
            ..rack()
        };
        let bytes = 64 * if timestamps { 988 } else { 1000 };
        let mut net = start(o, bytes, losing(lost.clone()));
        let stats = finish(&mut net, bytes);
        prop_assert_eq!((stats.timeouts, stats.cong_signals <= 1), (0, true), "{:?}", stats);
        // Each once, and no probe but a lone one is needless.
        prop_assert!((lost.len() as u64..=lost.len() as u64 + stats.tail_loss_probes).contains(&stats.segs_retrans), "{:?}", stats);
    }

    /// Retransmissions may be lost as well, as long as something keeps flowing: RACK needs no timeout.
    #[test]
    fn lost_retransmissions_while_data_flows(lost in prop::collection::btree_set(10u64..90, 1..12), reduction in reductions()) {
        let o = Overrides { initial_window: Some(40), reduction: Some(reduction), ..rack() };
        let mut net = start(o, 400_000, losing(lost.clone()));
        let stats = finish(&mut net, 400_000);
        prop_assert_eq!((stats.timeouts, stats.segs_retrans), (0, lost.len() as u64), "{:?}", stats);
    }

    /// FACK repairs what three SACKed segments that follow the last loss show.
    #[test]
    fn fack_repairs_any_losses_of_a_window(lost in prop::collection::btree_set(0u64..61, 1..61), reduction in reductions()) {
        let o = Overrides {
            initial_window: Some(64), loss_detection: Some(LossDetection::Fack), reduction: Some(reduction), ..each_acked()
        };
        let mut net = start(o, 64_000, losing(lost.clone()));
        let stats = finish(&mut net, 64_000);
        prop_assert_eq!((stats.timeouts, stats.fast_retran, stats.segs_retrans), (0, 1, lost.len() as u64), "{:?}", stats);
    }

    /// A path that only delays: whatever is detected and taken back, the window is never below what it was before the
    /// only reduction once that was taken back, and all arrives.
    #[test]
    fn stalls_end_where_they_began(until in 1100u64..2900, frto in any::<bool>(), eifel in any::<bool>(), by_time in any::<bool>()) {
        prop_assume!(frto || eifel);
        let o = Overrides {
            frto: Some(frto),
            undo: Some(if eifel { Undo::Both } else { Undo::Off }),
            timestamps: Some(eifel),
            loss_detection: Some(if by_time { LossDetection::Rack } else { LossDetection::Dupack }),
            receive_window: Some(Bytes(1 << 20)),
            ..each_acked()
        };
        let mut net = start(o, 200_000, stalled(Time(until * MS)));
        let before = window(&net);
        net.run_until(|net| net.a.stats(net.now).spurious_rto_detected == 1);
        prop_assert_eq!(window(&net), before);
        let stats = finish(&mut net, 200_000);
        prop_assert_eq!((stats.timeouts, stats.spurious_rto_detected), (1, 1));
    }
}
