//! Opening, moving data without loss, closing.

use crate::common::*;
use elephan_tcp::{Flags, Overrides, Phase, Segment, State};
use elephan_units::{Bytes, Span, Time};

const MS: u64 = 1_000_000_000;

#[test]
fn three_segments_open_a_connection() {
    let mut net = Net::perfect(&options("rfc", &rfc()));
    net.open();
    assert_eq!(net.now, Time(30 * MS));
    assert_eq!((net.a.state(), net.b.state()), (State::Established, State::Established));
    let flags: Vec<Flags> = net.trace.iter().map(|s| s.seg.flags).collect();
    assert_eq!(flags, [Flags::SYN, Flags::SYN | Flags::ACK, Flags::ACK]);
    // MSS 1460 less 12 of timestamps; both ends have timed the handshake.
    assert_eq!((net.a.mss(), net.b.mss()), (1448, 1448));
    assert_eq!((net.a.srtt(), net.b.srtt()), (Some(Span::from_ms(20)), Some(Span::from_ms(20))));
    assert_eq!(net.a.phase(), Phase::SlowStart);
    assert_eq!(net.a.controller().window(), 14_480.0);
}

#[test]
fn slow_start_doubles_and_every_byte_arrives() {
    let mut net = Net::perfect(&options("rfc", &plain()));
    net.open();
    net.a.supply(300_000);
    net.run_until(|net| net.a.acked() == 300_000);
    assert_eq!(net.b.received(), 300_000);
    // 10, 20, 40, 80 segments in the round trips that begin at 20, 40, 60, 80 ms (ABC, L = 2), 150 in the fifth.
    let data = net.data(1000);
    let per_round: Vec<usize> =
        (0..5).map(|i| data.iter().filter(|d| d.0.0 / (20 * MS) == (3 + 2 * i) / 2).count()).collect();
    assert_eq!(per_round, [10, 20, 40, 80, 150]);
    let stats = net.a.stats(net.now);
    assert_eq!((stats.data_segs_out, stats.segs_retrans, stats.timeouts), (300, 0, 0));
    // Every second segment is acknowledged.
    assert_eq!(net.acks(1000).len(), 150);
}

#[test]
fn winxp_handshake_and_window() {
    let mut net = Net::perfect(&options("winxp", &Overrides::default()));
    net.open();
    assert_eq!(net.trace[0].seg.header_bytes(), 28);
    assert_eq!((net.a.mss(), net.a.controller().window(), net.a.controller().ssthresh()), (1460, 2920.0, 65_536.0));
    net.a.supply(u64::MAX);
    net.run_for(Span::from_s(2));
    // The window limits: 44 segments in flight at most, and growth has stopped below twice that.
    let stats = net.a.stats(net.now);
    assert!(net.a.inflight() <= 64_240);
    assert!(stats.snd_lim_time_rwin_ns > 1_500_000_000, "{stats:?}");
    assert!(net.a.controller().window() <= 2.0 * 65_536.0);
    // 64240 bytes each round trip of 20 ms.
    let rate = net.b.received() as f64 / (net.now.seconds() - 0.1);
    assert!((rate / (64_240.0 / 0.02) - 1.0).abs() < 0.05, "{rate}");
}

#[test]
fn delayed_ack_by_timer() {
    let mut net = Net::perfect(&options("rfc", &plain()));
    net.open();
    let start = net.now;
    net.a.supply(1);
    net.run_until(|net| net.a.acked() == 1);
    // One segment waits for the timer: 10 ms there, 200 ms, 10 ms back.
    assert_eq!(net.now.since(start), Span::from_ms(220));
}

#[test]
fn nothing_waits_with_quick_first_ack() {
    let overrides = Overrides { delayed_ack_first: Some(true), ..plain() };
    let mut net = Net::perfect(&options("rfc", &overrides));
    net.open();
    let start = net.now;
    net.a.supply(1);
    net.run_until(|net| net.a.acked() == 1);
    assert_eq!(net.now.since(start), Span::from_ms(20));
}

#[test]
fn lost_syns_back_off_and_cost_the_initial_window() {
    let lost = |n: u64| {
        let o = options("rfc", &plain());
        let mut net =
            Net::new(&o, &o, Box::new(move |s, i| if s.way == Way::Forth && i < n { vec![] } else { vec![DELAY] }));
        net.open();
        net
    };
    // RFC 6298: 1 s, then 2 s. RFC 6928 section 2: one lost SYN does not cost the initial window.
    let net = lost(1);
    assert_eq!((net.now, net.a.controller().window()), (Time(1030 * MS), 10_000.0));
    // RFC 6298 section 5.7: without a sample data starts with 3 s.
    assert_eq!(net.a.rto(), Span::from_s(3));
    let net = lost(2);
    assert_eq!((net.now, net.a.controller().window()), (Time(3030 * MS), 1000.0));
}

#[test]
fn close_from_one_side_then_the_other() {
    let mut net = Net::perfect(&options("rfc", &plain()));
    net.open();
    net.a.supply(2500);
    net.a.close(net.now);
    net.run_until(|net| net.b.peer_closed());
    assert_eq!((net.b.received(), net.b.state()), (2500, State::CloseWait));
    // The FIN rides on the last data.
    let fin = net.trace.iter().find(|s| s.seg.flags.any(Flags::FIN)).unwrap();
    assert_eq!((fin.seg.len, fin.seg.flags.any(Flags::PSH)), (500, true));
    net.run_until(|net| net.a.state() == State::FinWait2);
    net.b.supply(700);
    net.b.close(net.now);
    net.run_until(|net| net.b.state() == State::Closed);
    assert_eq!((net.a.state(), net.a.received()), (State::TimeWait, 700));
    while net.step() {}
    assert_eq!(net.a.state(), State::Closed);
}

#[test]
fn simultaneous_close() {
    let mut net = Net::perfect(&options("rfc", &plain()));
    net.open();
    net.run_for(Span::from_ms(50));
    net.a.close(net.now);
    net.b.close(net.now);
    net.pump();
    assert_eq!((net.a.state(), net.b.state()), (State::FinWait1, State::FinWait1));
    let start = net.now;
    net.run_until(|net| net.a.state() == State::TimeWait && net.b.state() == State::TimeWait);
    assert_eq!(net.now.since(start), Span::from_ms(20));
    while net.step() {}
    assert_eq!((net.a.state(), net.b.state()), (State::Closed, State::Closed));
    assert_eq!((net.a.next_timer(), net.b.next_timer()), (Time::NEVER, Time::NEVER));
}

#[test]
fn simultaneous_open() {
    let o = options("rfc", &plain());
    let mut net = Net::perfect(&o);
    net.a.connect(net.now);
    net.b.connect(net.now);
    net.run_until(|net| net.a.is_established() && net.b.is_established());
    net.a.supply(5000);
    net.b.supply(3000);
    net.run_until(|net| net.b.received() == 5000 && net.a.received() == 3000);
}

#[test]
fn sequence_numbers_wrap() {
    for isn in [u32::MAX, u32::MAX - 3, u32::MAX - 5_000, 0, 0x7fff_ffff] {
        let o = options("rfc", &rfc());
        let mut net = Net::with_isns(
            &o,
            &o,
            Box::new(|s, i| if s.way == Way::Forth && i % 50 == 20 { vec![] } else { vec![DELAY] }),
            isn,
            isn.wrapping_add(1),
        );
        net.open();
        net.a.supply(1_000_000);
        net.b.supply(100_000);
        net.run_until(|net| net.b.received() == 1_000_000 && net.a.received() == 100_000);
    }
}

#[test]
fn more_than_four_gigabytes() {
    let overrides = Overrides { mss: Some(Bytes(65_495)), initial_window: Some(1000), ..Overrides::default() };
    let mut net = Net::perfect(&options("rfc", &overrides));
    net.keep_trace = false;
    net.open();
    net.a.supply(9_000_000_000);
    net.run_until(|net| net.a.acked() == 9_000_000_000);
    assert_eq!(net.b.received(), 9_000_000_000);
}

#[test]
fn a_reset_ends_the_connection() {
    let mut net = Net::perfect(&options("rfc", &plain()));
    net.open();
    net.a.supply(u64::MAX);
    net.run_for(Span::from_ms(50));
    let mut seg = net.trace.iter().rev().find(|s| s.way == Way::Back).unwrap().seg;
    seg.flags = Flags::RST | Flags::ACK;
    // RFC 5961 section 3.2: in the window but not next to come, so the peer is asked.
    seg.seq = seg.seq.wrapping_add(1);
    let (mut answer, mut sack) = (Segment::default(), Default::default());
    while net.a.poll_transmit(net.now, &mut answer, &mut sack) {}
    net.a.on_segment(net.now, &seg, &Default::default());
    assert_eq!(net.a.state(), State::Established);
    assert!(net.a.poll_transmit(net.now, &mut answer, &mut sack));
    assert_eq!((answer.flags, answer.len, answer.ack), (Flags::ACK, 0, seg.seq.wrapping_sub(1)));
    seg.seq = answer.ack;
    net.a.on_segment(net.now, &seg, &Default::default());
    assert_eq!((net.a.state(), net.a.next_timer()), (State::Closed, Time::NEVER));
}

/// RFC 9293 section 3.10.7.1: when the last ACKs are lost until TIME-WAIT is over, a reset ends LAST-ACK.
#[test]
fn a_fin_for_a_closed_connection_is_reset() {
    let o = options("rfc", &plain());
    // Forth go SYN, ACK, FIN; then the ACKs of the peer's FIN, of which two are lost.
    let mut net = Net::new(
        &o,
        &o,
        Box::new(|s, i| if s.way == Way::Forth && (3..5).contains(&i) { vec![] } else { vec![DELAY] }),
    );
    net.open();
    net.a.close(net.now);
    net.run_until(|net| net.b.peer_closed());
    net.b.close(net.now);
    while net.step() {}
    assert_eq!((net.a.state(), net.b.state()), (State::Closed, State::Closed));
    let last = net.trace.last().unwrap();
    assert_eq!((last.way, last.seg.flags, last.seg.len), (Way::Forth, Flags::RST, 0));
    // What the FIN acknowledged: the SYN and the FIN of the other side.
    assert_eq!(last.seg.seq, 1002);
}

/// RFC 9293 section 3.10.7.4, fifth: a segment that acknowledges what was never sent is answered, and nothing of it is taken.
#[test]
fn data_with_an_impossible_acknowledgement_is_not_taken() {
    let mut net = Net::perfect(&options("rfc", &plain()));
    net.open();
    net.run_for(Span::from_ms(50));
    let mut seg =
        Segment { seq: 1001, ack: 4_000_000_002, len: 100, flags: Flags::ACK, window: 1000, ..Segment::default() };
    net.b.on_segment(net.now, &seg, &Default::default());
    let (mut answer, mut sack) = (Segment::default(), Default::default());
    assert!(net.b.poll_transmit(net.now, &mut answer, &mut sack));
    assert_eq!((net.b.received(), answer.ack, answer.flags), (0, 1001, Flags::ACK));
    seg.ack -= 1;
    net.b.on_segment(net.now, &seg, &Default::default());
    assert_eq!(net.b.received(), 100);
}

/// RFC 7323 section 5.5: what is older than half a turn of the timestamp clock (36 minutes of microseconds) proves nothing.
#[test]
fn timestamps_grow_stale() {
    let overrides = Overrides { timestamp_granularity: Some(Span::from_us(1)), ..rfc() };
    let mut net = Net::perfect(&options("rfc", &overrides));
    net.open();
    for (i, pause) in [0, 2200, 4200].into_iter().enumerate() {
        net.run_for(Span::from_s(pause));
        net.a.supply(10_000 * (i as u64 + 1));
        net.run_for(Span::from_s(10));
        assert_eq!(net.b.received(), 10_000 * (i as u64 + 1), "after {pause} s");
    }
}
