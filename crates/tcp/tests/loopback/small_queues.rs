//! TCP small queues: how much may be below a socket, and what a stop there means.

use crate::common::*;
use elephan_tcp::{Flags, Overrides, SackBlocks, Segment};
use elephan_units::{Bytes, Span};

/// A window of so many segments of 1000 bytes (1040 of IP), established at 20 ms.
fn established(overrides: Overrides) -> Net {
    let o = options("rfc", &overrides);
    let mut net = Net::perfect(&o);
    net.open_a();
    net.a.supply(10_000_000);
    net
}

fn window(segments: u32) -> Overrides {
    Overrides { initial_window: Some(segments), ..plain() }
}

/// Sends so many segments.
fn send(net: &mut Net, segments: usize) -> Vec<Segment> {
    let (mut seg, mut sack) = (Segment::default(), SackBlocks::default());
    let sent = (0..segments).map(|_| {
        assert!(net.a.poll_transmit(net.now, &mut seg, &mut sack));
        seg
    });
    sent.collect()
}

/// Whether it stops with so many bytes below; then it is let go on.
fn stops(net: &mut Net, below: u64, bound: u64, segments: u32) -> bool {
    let throttled = net.a.is_throttled(net.now, below, bound, segments);
    assert_eq!(net.a.may_transmit(), !throttled, "nothing to do until there is room");
    if throttled {
        net.a.on_room();
    }
    throttled
}

/// 200 segments in 20 ms, twice as fast in slow start: 20 MB/s are 19 531 bytes in 1/1024 s, a bound of 8000 holds before. Of the
/// slowest, and of bursts, two packets are allowed, but no more than the bound. Nothing holds what is alone.
#[test]
fn a_millisecond_two_packets_at_least_the_bound_at_most() {
    let mut net = established(window(200));
    assert!(!stops(&mut net, 1 << 20, 8000, 1), "nothing is in flight");
    send(&mut net, 1);
    assert!(!stops(&mut net, 1 << 20, 8000, 1), "one segment is");
    send(&mut net, 1);
    for (bound, segments, limit) in [(1 << 20, 1, 19_531), (8000, 1, 8000), (1500, 1, 1500)] {
        assert!(!stops(&mut net, limit, bound, segments) && stops(&mut net, limit + 1, bound, segments), "{bound}");
    }
    let mut slow = established(window(10));
    send(&mut slow, 2);
    assert!(!stops(&mut slow, 2080, 1 << 20, 1) && stops(&mut slow, 2081, 1 << 20, 1));
    send(&mut slow, 3);
    assert!(!stops(&mut slow, 8320, 1 << 20, 4) && stops(&mut slow, 8321, 1 << 20, 4), "bursts of four");
}

/// What the windows stop is not for the small queue: it says nothing where no segment may go.
#[test]
fn a_full_window_is_the_limit() {
    let mut net = established(window(10));
    send(&mut net, 10);
    net.a.supply(20_000_000);
    assert!(!net.a.is_throttled(net.now, 1 << 20, 2000, 1));
}

/// What comes from `b`: so much of the stream acknowledged, so many bytes of payload after the first `offset`.
fn answer(acked: u32, offset: u32, len: u32) -> Segment {
    let (seq, ack) = (4_000_000_001u32.wrapping_add(offset), 1001 + acked);
    Segment { seq, ack, len, window: 65_000, flags: Flags::ACK, ..Segment::default() }
}

/// A pure ACK goes while data are held, and none with data.
#[test]
fn acknowledgements_are_not_held() {
    let mut net = established(window(10));
    send(&mut net, 2);
    for offset in [0, 500] {
        net.a.on_segment(net.now, &answer(0, offset, 500), &SackBlocks::default());
    }
    assert!(net.a.is_throttled(net.now, 1 << 20, 2000, 1));
    let (mut seg, mut sack) = (Segment::default(), SackBlocks::default());
    assert!(net.a.may_transmit() && net.a.poll_transmit(net.now, &mut seg, &mut sack));
    assert_eq!((seg.len, seg.ack), (0, 4_000_001_001u32));
    assert!(!net.a.may_transmit());
}

/// What is retransmitted may go with twice as much below (`tcp_xmit_retransmit_queue`: factor 1).
#[test]
fn retransmissions_have_twice_the_room() {
    let mut net = established(Overrides { sack: Some(false), ..window(10) });
    send(&mut net, 10);
    net.now = net.now.saturating_add(Span::from_ms(20));
    // The first tells the window, three repeat it.
    for _ in 0..4 {
        net.a.on_segment(net.now, &answer(0, 0, 0), &SackBlocks::default());
    }
    for (bound, limit) in [(1 << 20, 2 * 2080), (1500, 3000)] {
        assert!(!stops(&mut net, limit, bound, 1) && stops(&mut net, limit + 1, bound, 1), "{bound}");
    }
    assert_eq!(send(&mut net, 1)[0].seq, 1001);
}

/// A window of 10 segments in congestion avoidance grows by one when it was full, and not at all when five of it were enough below
/// the socket: the sender is the limit.
#[test]
fn a_window_that_is_not_the_limit_does_not_grow() {
    for (sent, window_after) in [(10, 11_000.0), (5, 10_000.0)] {
        let mut net = established(Overrides { ssthresh_initial: Some(Bytes(10_000)), ..window(10) });
        send(&mut net, sent);
        if sent == 5 {
            assert!(net.a.is_throttled(net.now, 5200, 5000, 1));
        }
        let later = net.now.saturating_add(Span::from_ms(20));
        net.a.on_segment(later, &answer(1000 * sent as u32, 0, 0), &SackBlocks::default());
        assert_eq!(net.a.controller().window(), window_after);
        if sent == 5 {
            let stats = net.a.stats(later);
            assert_eq!((stats.snd_lim_time_snd_ns, stats.snd_lim_time_cwnd_ns), (20_000_000, 0));
        }
    }
}
