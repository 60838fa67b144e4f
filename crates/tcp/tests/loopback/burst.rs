//! Segments in bursts (TSO): how long a burst is, and when it is worth waiting for more.

use crate::common::*;
use elephan_tcp::{Flags, Overrides, SackBlocks, Segment};
use elephan_units::Span;

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
