//! Segments in bursts (TSO): how long a burst is, and when it is worth waiting for more.

use crate::common::*;
use elephan_tcp::options::Pacing;
use elephan_tcp::{Endpoint, Flags, Overrides, SackBlocks, Segment};
use elephan_units::{Bytes, Span, Time};

/// A window of so many segments of 1000 bytes, established at 20 ms.
fn established(window: u32) -> Net {
    let o = options("rfc", &Overrides { initial_window: Some(window), ..plain() });
    let mut net = Net::perfect(&o);
    net.open_a();
    net.a.supply(1_000_000);
    net
}

/// 200 segments in 20 ms, twice as fast in slow start: 20 MB/s are 19 531 bytes in 1/1024 s.
#[test]
fn a_millisecond_of_the_rate_two_segments_at_least() {
    let mut net = established(200);
    assert_eq!(net.a.next_burst(net.now, 64_000), 19);
    assert_eq!(net.a.next_burst(net.now, 8_000), 8, "no longer than the device takes");
    assert_eq!(net.a.next_burst(net.now, 500), 1, "a device that takes no segment takes one");
    let mut slow = established(10);
    assert_eq!(slow.a.next_burst(slow.now, 64_000), 2);
}

/// A full window of 60 segments, of which 5 or 6 are a millisecond's. Each ACK lets two out in slow start: after the first and the second
/// they wait for more, after the third a burst of 6 may go (2 x 63 kB / 20 ms are 6152 bytes in 1/1024 s).
#[test]
fn less_than_a_burst_waits() {
    let mut net = established(60);
    net.pump();
    assert_eq!(net.a.inflight(), 60_000);
    let sent: Vec<Segment> = net.trace.iter().map(|s| s.seg).filter(|seg| seg.len > 0).collect();
    let answer = net.trace.iter().find(|s| matches!(s.way, Way::Back)).unwrap().seg;
    let now = net.now.saturating_add(Span::from_ms(20));
    for (seg, burst) in sent.iter().zip([0, 0, 6]) {
        let (seq, ack) = (answer.seq.wrapping_add(1), seg.seq.wrapping_add(seg.len));
        let ack = Segment { seq, ack, window: 65_000, flags: Flags::ACK, ..Segment::default() };
        net.a.on_segment(now, &ack, &SackBlocks::default());
        assert!(net.a.may_transmit());
        assert_eq!(net.a.next_burst(now, 64_000), burst);
        assert_eq!(net.a.may_transmit(), burst > 0, "nothing to do until the next ACK");
    }
}

/// Linux `tcp_update_pacing_rate`: twice the initial window of 10 segments in a round trip of 100 ms is a segment every 5 ms, and
/// `tcp_min_tso_segs` lets two leave together; at 120 % (beyond half of ssthresh) they are 16.7 ms apart.
#[test]
fn a_window_is_spaced_over_the_round_trip() {
    for (ssthresh, expected) in [(None, [100, 100, 110, 110, 120, 120]), (Some(15_000), [100, 100, 116, 116, 133, 133])]
    {
        let (pacing, ssthresh_initial) = (Some(Pacing::Window), ssthresh.map(Bytes));
        let o = options("rfc", &Overrides { pacing, ssthresh_initial, ..plain() });
        let (mut a, mut b) = (Endpoint::new(&o, o.controller(), 1), Endpoint::new(&o, o.controller(), 2));
        let (mut seg, mut sack) = (Segment::default(), SackBlocks::default());
        let at = |ms: u32| Time::from_seconds(f64::from(ms) * 1e-3);
        b.listen();
        a.connect(at(0));
        assert!(a.poll_transmit(at(0), &mut seg, &mut sack));
        b.on_segment(at(50), &seg, &sack);
        assert!(b.poll_transmit(at(50), &mut seg, &mut sack));
        a.on_segment(at(100), &seg, &sack);
        a.supply(u64::MAX);
        let (mut left, mut now) = (Vec::new(), at(100));
        while left.len() < 6 {
            while a.poll_transmit(now, &mut seg, &mut sack) {
                left.extend((seg.len > 0).then_some(now.0 / 1_000_000_000));
            }
            now = a.next_timer();
            a.on_timer(now);
        }
        assert_eq!(left, expected);
    }
}
