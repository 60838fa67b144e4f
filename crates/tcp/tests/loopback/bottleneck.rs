//! One connection over a bottleneck with a drop-tail queue: the link stays busy and nothing times out.

use crate::common::*;
use elephan_tcp::Overrides;
use elephan_tcp::options::{RecoveryRule, Reduction};
use elephan_units::{Bytes, Rate, Span};

/// 50 Mbit/s, 20 ms, a queue of `bdp` bandwidth-delay products, for 30 s after 10 s. Returns utilisation and the net.
fn run(overrides: Overrides, bdp: f64) -> (f64, Net) {
    let o = options("rfc", &overrides);
    let mut net = Net::perfect(&o);
    net.keep_trace = false;
    net.rate = Some(Rate(50_000_000));
    net.buffer = (bdp * 50e6 * 0.020 / 8.0) as u64;
    net.open();
    net.a.supply(u64::MAX);
    net.run_for(Span::from_s(10));
    let (before, start) = (net.b.received(), net.now);
    net.run_for(Span::from_s(30));
    let bytes = (net.b.received() - before) as f64 * 1500.0 / net.a.mss() as f64;
    (bytes * 8.0 / 50e6 / net.now.since(start).seconds(), net)
}

#[test]
fn reno_with_one_bdp_of_buffer_fills_the_link() {
    let cc = |recovery| Overrides {
        recovery: Some(recovery),
        sack: Some(recovery == RecoveryRule::Sack),
        timestamps: Some(false),
        ..Overrides::default()
    };
    for recovery in [RecoveryRule::Newreno, RecoveryRule::Sack] {
        let (utilisation, net) = run(cc(recovery), 1.0);
        let stats = net.a.stats(net.now);
        // Appenzeller et al. 2004: a buffer of one BDP keeps the link busy through a halving.
        assert!(utilisation > 0.99, "{recovery:?} {utilisation} {stats:?}");
        // Impatient NewReno times out on the hundred losses that slow start makes (RFC 6582 section 4), SACK does not.
        let timeouts = u64::from(recovery == RecoveryRule::Newreno);
        assert_eq!(stats.timeouts, timeouts, "{recovery:?} {stats:?}");
        assert!(stats.fast_retran >= 3 && stats.fast_retran + timeouts == stats.cong_signals, "{recovery:?} {stats:?}");
        // Every drop was retransmitted; with SACK needless ones are one an episode at most (RFC 6675 rescue).
        assert!(stats.segs_retrans >= net.drops, "{stats:?}");
        if recovery == RecoveryRule::Sack {
            assert!(stats.segs_retrans <= net.drops + stats.fast_retran, "{} {stats:?}", net.drops);
        }
    }
}

/// Proportional rate reduction sends through the recovery what halving at once sends in its second half.
#[test]
fn proportional_rate_reduction_fills_the_link() {
    for reduction in [Reduction::PrrRfc9937, Reduction::PrrRfc6937] {
        let (utilisation, net) = run(Overrides { reduction: Some(reduction), ..Overrides::default() }, 1.0);
        let stats = net.a.stats(net.now);
        assert!(utilisation > 0.99 && stats.timeouts == 0, "{reduction:?} {utilisation} {stats:?}");
        assert!(stats.fast_retran >= 3 && stats.fast_retran == stats.cong_signals, "{reduction:?} {stats:?}");
        let needless = stats.segs_retrans - net.drops;
        assert!(needless <= stats.fast_retran, "{reduction:?} {} {stats:?}", net.drops);
    }
}

#[test]
fn cubic_with_a_small_buffer() {
    let cc = Overrides { congestion_control: Some(elephan_cc::Spec::named("cubic").unwrap()), ..Overrides::default() };
    let (utilisation, net) = run(cc, 0.25);
    let stats = net.a.stats(net.now);
    assert!(utilisation > 0.93 && stats.timeouts == 0, "{utilisation} {stats:?}");
}

#[test]
fn winxp_with_a_queue_below_its_window_drops_and_goes_on() {
    let o = options("winxp", &Overrides { rto_min: Some(Span::from_ms(10)), ..Overrides::default() });
    let mut net = Net::perfect(&o);
    net.keep_trace = false;
    net.rate = Some(Rate(10_000_000));
    net.buffer = 15_000;
    net.open();
    net.a.supply(u64::MAX);
    net.run_for(Span::from_s(30));
    let rate = net.b.received() as f64 * 8.0 / 30.0;
    assert!(net.drops > 10 && rate > 0.7 * 10e6 * 1460.0 / 1500.0, "{} {rate} {:?}", net.drops, net.a.stats(net.now));
    assert!(net.a.options().receive_window == Bytes(64_240));
}
