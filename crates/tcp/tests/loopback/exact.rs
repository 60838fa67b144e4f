//! Exact delivery in order under random loss, reordering and duplication, with marks and a host that refuses
//! segments, for every recovery rule and every stack.

use crate::common::*;
use elephan_tcp::options::{Ecn, LocalDrop, RecoveryRule, Reduction, RtoRule, RttSampling, stacks};
use elephan_tcp::{Endpoint, Overrides, State};
use elephan_units::{Bytes, Rate, Span};
use proptest::prelude::*;

/// What a path does, in per cent.
#[derive(Clone, Debug)]
struct Path {
    loss: u64,
    duplication: u64,
    reordering: u64,
    seed: u64,
}

/// Per cents from a seed.
fn draws(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed;
    move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % 100
    }
}

fn fate(path: &Path) -> Policy {
    let path = path.clone();
    let mut draw = draws(path.seed);
    Box::new(move |_, _| {
        let mut fates = Vec::new();
        for _ in 0..1 + u64::from(draw() < path.duplication) {
            if draw() >= path.loss {
                let extra = if draw() < path.reordering { Span::from_us(100 * draw()) } else { Span::ZERO };
                fates.push(Span::from_ms(1) + extra);
            }
        }
        fates
    })
}

fn path() -> impl Strategy<Value = Path> {
    (0u64..30, 0u64..20, 0u64..40, any::<u64>()).prop_map(|(loss, duplication, reordering, seed)| Path {
        loss,
        duplication,
        reordering,
        seed,
    })
}

fn overrides() -> impl Strategy<Value = Overrides> {
    let recovery = prop_oneof![Just(RecoveryRule::Reno), Just(RecoveryRule::Newreno), Just(RecoveryRule::Sack)];
    let reduction = prop_oneof![
        Just(Reduction::Immediate),
        Just(Reduction::RateHalving),
        Just(Reduction::PrrRfc9937),
        Just(Reduction::PrrRfc6937)
    ];
    let ecn = prop_oneof![Just(Ecn::Off), Just(Ecn::Classic), Just(Ecn::Dctcp), Just(Ecn::Accurate)];
    let local_drop = prop_oneof![Just(LocalDrop::Cwr), Just(LocalDrop::Ignore), Just(LocalDrop::SlowStartExit)];
    let switches = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    let sizes = (2000u64..60_000, 1500u64..50_000, 100u64..1460, 1u32..4);
    ((recovery, reduction, ecn, local_drop, detections()), switches, sizes, any::<bool>(), any::<bool>()).prop_map(
        |(
            (recovery, reduction, ecn, local_drop, detection),
            (sack, timestamps, scaling, nagle, dsack),
            (window, buffer, mss, per_ack),
            linux,
            every,
        )| {
            Overrides {
                recovery: Some(recovery),
                reduction: Some(reduction),
                ecn: Some(ecn),
                local_drop: Some(local_drop),
                sack: Some(sack),
                dsack: Some(dsack),
                timestamps: Some(timestamps),
                window_scaling: Some(scaling),
                nagle: Some(nagle),
                receive_window: Some(Bytes(window)),
                send_buffer: Some(Bytes(buffer)),
                mss: Some(Bytes(mss)),
                delayed_ack_segments: Some(per_ack),
                delayed_ack_timeout: Some(Span::from_ms(2)),
                rto_min: Some(Span::from_ms(5)),
                rto_initial: Some(Span::from_ms(20)),
                rto_max: Some(Span::from_ms(100)),
                rto_rule: Some(if linux { RtoRule::Linux } else { RtoRule::Rfc6298 }),
                rtt_sampling: Some(if every { RttSampling::EveryAck } else { RttSampling::OncePerWindow }),
                ..detection
            }
        },
    )
}

/// Both ways at once, then both close; everything arrives and both connections end.
fn deliver(stack: &str, overrides: &Overrides, path: &Path, host: (u64, u64), forth: u64, back: u64) -> Net {
    // These paths are so bad that seven retransmissions in a row may be lost.
    let patient =
        Overrides { data_retries: Some(255), syn_retries: Some(255), syn_ack_retries: Some(255), ..overrides.clone() };
    let o = options(stack, &patient);
    let mut net = Net::with_isns(&o, &o, fate(path), path.seed as u32, (path.seed >> 32) as u32);
    let (refusals, marks) = host;
    let (mut refuse, mut mark) = (draws(path.seed ^ 1), draws(path.seed ^ 2));
    net.refuse = Box::new(move |_, _| refuse() < refusals);
    net.marks = Box::new(move |_| mark() < marks);
    net.b.listen();
    net.a.connect(net.now);
    net.a.supply(forth);
    net.b.supply(back);
    net.run_until(|net| net.b.received() == forth && net.a.received() == back);
    net.a.close(net.now);
    net.b.close(net.now);
    let ended = |e: &Endpoint| matches!(e.state(), State::Closed | State::TimeWait | State::LastAck);
    net.run_until(|net| ended(&net.a) && ended(&net.b));
    net
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]
    #[test]
    fn every_byte_once_in_order(
        stack in prop::sample::select(stacks()),
        overrides in overrides(),
        path in path(),
        host in (0u64..20, 0u64..40),
        forth in 0u64..120_000,
        back in 0u64..20_000
    ) {
        let net = deliver(stack.0, &overrides, &path, host, forth, back);
        prop_assert_eq!((net.b.received(), net.a.received()), (forth, back));
        // Sender and path agree on what was sent.
        let sent: u64 = net.data(path.seed as u32).iter().map(|d| u64::from(d.2)).sum();
        let stats = net.a.stats(net.now);
        prop_assert_eq!(stats.data_octets_out, sent);
        prop_assert!(stats.data_octets_out >= forth && stats.data_octets_out - stats.octets_retrans <= forth + stats.timeouts + stats.subsequent_timeouts + 1000);
    }

    #[test]
    fn slow_readers_and_small_buffers(overrides in overrides(), path in path(), chunk in 1u64..5000) {
        let o = options("rfc", &overrides);
        let mut net = Net::with_isns(&o, &o, fate(&path), 1, 2);
        net.b.set_auto_read(false);
        net.b.listen();
        net.a.connect(net.now);
        let (mut written, mut read) = (0, 0);
        while read < 40_000 {
            written += net.a.write(net.now, 7000.min(40_000 - written));
            net.run_for(Span::from_ms(3));
            prop_assert!(net.b.received() == read);
            read += net.b.read(net.now, chunk.max(100));
            net.pump();
        }
        prop_assert_eq!(read, 40_000);
    }

    #[test]
    fn losses_alone_with_a_bottleneck(overrides in overrides(), loss in 0u64..20, seed in any::<u64>()) {
        let o = options("rfc", &overrides);
        let mut net = Net::new(&o, &o, fate(&Path { loss, duplication: 0, reordering: 0, seed }));
        net.rate = Some(Rate(20_000_000));
        net.open();
        net.a.supply(200_000);
        net.run_until(|net| net.a.acked() == 200_000);
        prop_assert_eq!(net.b.received(), 200_000);
        // No path duplicates: what the receiver got beyond the stream are needless retransmissions.
        let stats = net.b.stats(net.now);
        prop_assert!(stats.data_octets_in >= 200_000);
    }
}
