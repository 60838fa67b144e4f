//! Where kernels do more than the RFCs ask: the retransmission timer in recovery, timeouts in recovery, idle time, what was
//! SACKed before. A path of 10 ms each way, segments of 1000 bytes.

use crate::common::*;
use elephan_cc::Spec;
use elephan_tcp::Overrides;
use elephan_units::{Span, Time};
use std::collections::BTreeSet;

const MS: u64 = 1_000_000_000;

/// An established connection that loses the data segments in `lost`, by their index among those sent.
fn established(overrides: &Overrides, lost: impl IntoIterator<Item = u64>) -> Net {
    let lost: BTreeSet<u64> = lost.into_iter().collect();
    let mut index = 0;
    let policy: Policy = Box::new(move |s, _| {
        let data = s.way == Way::Forth && s.seg.len > 0;
        index += u64::from(data);
        if data && lost.contains(&(index - 1)) { vec![] } else { vec![DELAY] }
    });
    let o = options("rfc", overrides);
    let mut net = Net::new(&o, &o, policy);
    net.open_a();
    net
}

/// Linux tcp_xmit_retransmit_queue: the head, retransmitted 30 ms after the timer was set, sets it anew, to an RTO of 1 s from then.
#[test]
fn a_head_that_is_sent_again_may_restart_the_timer() {
    for (rearm, from_ms) in [(false, 20), (true, 50)] {
        let o = Overrides { rearm_on_retransmit: Some(rearm), ..plain() };
        let mut net = established(&o, [0]);
        net.a.supply(3000);
        net.pump();
        assert_eq!(net.a.next_timer(), Time((20 + 1000) * MS));
        net.run_for(Span::from_ms(10));
        net.a.supply(4000);
        net.run_until(|net| net.a.stats(net.now).fast_retran == 1);
        net.pump();
        assert_eq!((net.now, net.a.next_timer()), (Time(50 * MS), Time((from_ms + 1000) * MS)), "{rearm}");
    }
}

/// 20 segments, of which the first is lost twice. A fast retransmit halves FlightSize, ssthresh is 10 segments; the timeout takes
/// what is still out by RFC 5681, and leaves ssthresh alone by Linux tcp_enter_loss. The ACK of all 20 delivers one: a window of
/// 1 opens to 2 by Linux tcp_newly_delivered, not to 21.
#[test]
fn a_timeout_in_recovery() {
    for (cuts_again, ssthresh) in [(true, 2000.0), (false, 10_000.0)] {
        let o =
            Overrides { initial_window: Some(20), abc_limit: Some(0), timeout_cuts_again: Some(cuts_again), ..plain() };
        let mut net = established(&o, [0, 20]);
        net.a.supply(20_000);
        net.run_until(|net| net.a.stats(net.now).fast_retran == 1);
        assert_eq!(net.a.controller().ssthresh(), 10_000.0);
        net.run_until(|net| net.a.acked() == 20_000);
        assert_eq!(net.a.stats(net.now).timeouts, 1);
        assert_eq!((net.a.controller().window(), net.a.controller().ssthresh()), (2000.0, ssthresh), "{cuts_again}");
    }
}

/// FreeBSD newreno_after_idle: ssthresh = max(ssthresh, 3/4 cwnd) before the window falls to the initial one.
#[test]
fn idle_time_may_raise_the_threshold() {
    for raises in [false, true] {
        let o = Overrides { idle_threshold: Some(raises), ..plain() };
        let mut net = established(&o, [5]);
        net.a.supply(400_000);
        net.run_until(|net| net.a.acked() == 400_000);
        let (grown, before) = (net.a.controller().window(), net.a.controller().ssthresh());
        assert!(before < 0.7 * grown, "{before} {grown}");
        net.run_for(Span::from_s(5));
        net.a.supply(500_000);
        net.pump();
        assert_eq!(net.a.controller().window(), 10_000.0);
        assert_eq!(net.a.controller().ssthresh(), if raises { 0.75 * grown } else { before });
    }
}

/// Linux tcp_slow_start_after_idle_check leaves controllers with cong_control alone: BBR's window is where it was.
#[test]
fn bbr_keeps_its_window_over_idle_time() {
    for (cc, kept) in [("bbr", true), ("bbr3", true), ("reno", false)] {
        for cwnd_validation in [false, true] {
            let congestion_control = Some(Spec::named(cc).unwrap());
            let o = Overrides { congestion_control, cwnd_validation: Some(cwnd_validation), ..plain() };
            let mut net = established(&o, []);
            net.a.supply(2_000_000);
            net.run_until(|net| net.a.acked() == 2_000_000);
            let grown = net.a.controller().window();
            net.run_for(Span::from_s(9));
            net.a.supply(2_500_000);
            net.pump();
            assert_eq!(net.a.controller().window() == grown, kept, "{cc} {cwnd_validation}");
        }
    }
}
