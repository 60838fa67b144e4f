//! Flow control and small segments: zero windows and probes, silly windows, Nagle, blocked writers; duplicates, SACK on
//! the wire, PAWS; the size of an idle connection.

use crate::common::*;
use crate::lone::*;
use elephan_tcp::{Endpoint, Flags, Overrides, SackBlocks, Segment, options};
use elephan_units::{Bytes, Span, Time};

const MS: u64 = 1_000_000_000;

fn small_window() -> Overrides {
    Overrides { receive_window: Some(Bytes(4000)), ..plain() }
}

#[test]
fn a_closed_window_is_probed_with_backoff() {
    let mut net = Net::perfect(&options("rfc", &small_window()));
    net.b.set_auto_read(false);
    net.open_a();
    net.a.supply(10_000);
    net.run_for(Span::from_s(20));
    assert_eq!((net.a.acked(), net.b.received()), (4000, 0));
    // The window closes with the ACK of the fourth segment at 40 ms; RTO is 1 s: probes after 1, 2, 4, 8 s.
    let probes: Vec<_> = net.data(1000)[4..].iter().map(|d| (d.0.0 / MS, d.1, d.2)).collect();
    assert_eq!(probes, [(1040, 4000, 1), (3040, 4000, 1), (7040, 4000, 1), (15_040, 4000, 1)]);
    let stats = net.a.stats(net.now);
    assert_eq!((stats.segs_retrans, stats.timeouts, stats.cur_rwin_rcvd), (0, 0, 0));
    // It closes once; what answers the probes says nothing new (RFC 4898 ZeroRwinRcvd, ZeroRwinSent).
    let receiver = net.b.stats(net.now);
    assert_eq!((stats.zero_rwin_rcvd, receiver.zero_rwin_sent, receiver.max_app_r_queue), (1, 1, 4000));
    assert!(stats.snd_lim_time_rwin_ns > 19_000_000_000, "{stats:?}");
    // The reader takes it all: the window opens at once.
    assert_eq!(net.b.read(net.now, u64::MAX), 4000);
    let start = net.now;
    net.run_until(|net| net.a.acked() >= 8000);
    assert_eq!(net.now.since(start), Span::from_ms(30));
}

/// A reader that reads by itself up to a limit: what comes beyond fills the buffer and closes the window; a new limit opens it
/// at once.
#[test]
fn a_reader_with_a_limit() {
    let mut net = Net::perfect(&options("rfc", &small_window()));
    net.b.read_until(Time::ZERO, 3000);
    net.open_a();
    net.a.supply(20_000);
    net.run_for(Span::from_ms(500));
    assert_eq!((net.b.received(), net.b.arrived(), net.a.acked()), (3000, 7000, 7000));
    assert_eq!(net.a.stats(net.now).cur_rwin_rcvd, 0);
    net.b.read_until(net.now, 10_000);
    assert_eq!(net.b.received(), 7000);
    net.run_for(Span::from_ms(500));
    assert_eq!((net.b.received(), net.b.arrived()), (10_000, 14_000));
    net.b.read_until(net.now, u64::MAX);
    net.run_for(Span::from_s(1));
    assert_eq!((net.b.received(), net.a.acked(), net.a.stats(net.now).segs_retrans), (20_000, 20_000, 0));
}

/// RFC 9293 section 3.8.6.2.2 (MUST-39): the edge moves by a segment or half the buffer, or not at all.
#[test]
fn a_reader_of_few_bytes_opens_no_window() {
    let mut b = Lone::established("rfc", &small_window());
    b.end.set_auto_read(false);
    for piece in 0..4 {
        b.take(segment(PEER + 1 + 1000 * piece, OWN + 1, 1000, Some(1000)));
    }
    b.wait(300);
    for (bytes, window) in [(100, 0), (899, 0), (1, 1000), (999, 1000), (1, 2000)] {
        b.end.read(Time(b.at * MS), bytes);
        b.poll();
        let asked = b.take(segment(PEER, OWN + 1, 0, Some(1000)));
        assert_eq!((asked.len(), asked[0].0.window), (1, window), "{bytes}");
    }
}

#[test]
fn a_lost_window_update_is_repaired_by_the_probe() {
    let o = options("rfc", &small_window());
    let cut = |s: &Sighting, _| {
        if s.way == Way::Back && s.at > Time(500 * MS) && s.at < Time(600 * MS) { vec![] } else { vec![DELAY] }
    };
    let mut net = Net::new(&o, &o, Box::new(cut));
    net.b.set_auto_read(false);
    net.open_a();
    net.a.supply(8000);
    net.run_for(Span::from_ms(500));
    net.b.read(net.now, u64::MAX);
    net.b.set_auto_read(true);
    net.run_for(Span::from_ms(500));
    assert_eq!(net.a.acked(), 4000);
    // The probe's byte is taken, and the rest follows.
    net.run_until(|net| net.a.acked() == 8000);
    assert!(net.now > Time(1040 * MS) && net.now < Time(1400 * MS), "{:?}", net.now);
    assert_eq!(net.b.received(), 8000);
}

#[test]
fn no_silly_windows() {
    let mut net = Net::perfect(&options("rfc", &Overrides { receive_window: Some(Bytes(6000)), ..plain() }));
    net.b.set_auto_read(false);
    net.open_a();
    net.a.supply(60_000);
    while net.a.acked() < 60_000 {
        net.run_for(Span::from_us(500));
        net.b.read(net.now, 100);
    }
    // The reader takes 100 bytes at a time, yet every segment is full (probes aside).
    assert!(net.data(1000).iter().all(|d| d.2 == 1000), "{:?}", net.data(1000));
}

#[test]
fn nagle_holds_a_small_segment_until_all_is_acknowledged() {
    for (nagle, expected) in [(true, [20, 40 + 200]), (false, [20, 20])] {
        let mut net = Net::perfect(&options("rfc", &Overrides { nagle: Some(nagle), ..plain() }));
        net.open_a();
        for _ in 0..2 {
            net.a.write(net.now, 100);
            net.pump();
        }
        net.run_for(Span::from_s(1));
        let sent: Vec<u64> = net.data(1000).iter().map(|d| d.0.0 / MS).collect();
        assert_eq!(sent, expected);
    }
}

/// RFC 5681 section 4.2: an ACK for at least every second full-sized segment, also of those that the receiving host has made one (GRO).
#[test]
fn an_aggregate_of_segments_is_acknowledged_at_once() {
    for (segments, at_once) in [(1u32, false), (2, true), (10, true)] {
        let o = options("rfc", &plain());
        let mut net = Net::perfect(&o);
        net.open();
        let (mut seg, mut sack) = (Segment::default(), SackBlocks::default());
        net.a.supply(1000);
        assert!(net.a.poll_transmit(net.now, &mut seg, &mut sack));
        net.b.on_segment(net.now, &Segment { len: segments * 1000, ..seg }, &sack);
        assert_eq!(net.b.poll_transmit(net.now, &mut seg, &mut sack), at_once, "{segments}");
    }
}

#[test]
fn a_writer_blocks_on_the_send_buffer() {
    let mut net = Net::perfect(&options("rfc", &Overrides { send_buffer: Some(Bytes(5000)), ..plain() }));
    net.open_a();
    assert_eq!((net.a.write(net.now, 8000), net.a.write(net.now, 1)), (5000, 0));
    net.run_until(|net| net.a.acked() == 2000);
    assert_eq!(net.a.write(net.now, 8000), 2000);
    net.run_until(|net| net.b.received() == 7000);
    // Pulled instead: the socket takes what it holds, without further calls, in full segments.
    let mut net = Net::perfect(&options("rfc", &Overrides { send_buffer: Some(Bytes(5500)), ..plain() }));
    net.open_a();
    net.a.supply(23_000);
    assert_eq!(net.a.accepted(), 5500);
    net.run_until(|net| net.a.acked() == 23_000);
    assert!(net.data(1000).iter().all(|d| d.2 == 1000));
}

#[test]
fn throughput_of_a_limited_window_is_window_over_rtt() {
    let o =
        options("rfc", &Overrides { receive_window: Some(Bytes(50_000)), delayed_ack_segments: Some(1), ..plain() });
    let mut net = Net::perfect(&o);
    net.keep_trace = false;
    net.open_a();
    net.a.supply(u64::MAX);
    net.run_for(Span::from_s(1));
    let (from, start) = (net.b.received(), net.now);
    net.run_for(Span::from_s(10));
    let rate = (net.b.received() - from) as f64 / net.now.since(start).seconds();
    assert!((rate / (50_000.0 / 0.020) - 1.0).abs() < 0.001, "{rate}");
}

#[test]
fn duplicates_are_acknowledged_at_once_and_reported() {
    let mut net = Net::perfect(&options("rfc", &plain()));
    net.open_a();
    net.a.supply(2000);
    net.run_until(|net| net.b.received() == 2000);
    let seg = net.trace.iter().find(|s| s.way == Way::Forth && s.seg.len > 0).unwrap().seg;
    net.b.on_segment(net.now, &seg, &Default::default());
    net.pump();
    let last = net.trace.last().unwrap();
    // RFC 2883 section 4: the duplicate segment, below the cumulative acknowledgement.
    assert_eq!((last.seg.sack_len, last.sack[0]), (1, (1001, 2001)));
    assert_eq!(last.seg.ack, 3001);
    // Reported once only.
    net.a.supply(4000);
    net.run_until(|net| net.a.acked() == 4000);
    assert!(net.trace.iter().filter(|s| s.seg.sack_len > 0).count() == 1);
}

#[test]
fn sack_blocks_on_the_wire() {
    for (timestamps, room) in [(false, 4), (true, 3)] {
        let o = options("rfc", &Overrides { timestamps: Some(timestamps), ..plain() });
        let mss = o.segment_bytes() as u32;
        let mut net = Net::new(
            &o,
            &o,
            Box::new(|s, i| {
                if s.way == Way::Forth && s.at < Time(30 * MS) && i % 2 == 0 && i > 1 { vec![] } else { vec![DELAY] }
            }),
        );
        net.open_a();
        net.a.supply(10_000);
        net.run_for(Span::from_ms(15));
        let report = net.trace.iter().rfind(|s| s.way == Way::Back && s.seg.sack_len > 0).unwrap();
        assert_eq!(usize::from(report.seg.sack_len), room);
        let blocks = &report.sack[..room];
        assert!(blocks.iter().all(|b| b.1.wrapping_sub(b.0) == mss), "{blocks:?}");
        // Newest first (RFC 2018 section 4).
        assert!(blocks.windows(2).all(|pair| pair[0].0 > pair[1].0));
    }
}

#[test]
fn paws_drops_an_old_duplicate() {
    let mut net = Net::perfect(&options("rfc", &Overrides { mss: Some(Bytes(1000)), ..Overrides::default() }));
    net.open_a();
    net.a.supply(988 * 4);
    net.run_until(|net| net.a.acked() == 988 * 4);
    net.run_for(Span::from_ms(100));
    net.a.supply(988 * 6);
    net.run_until(|net| net.a.acked() == 988 * 6);
    let last = net.trace.iter().rev().find(|s| s.way == Way::Forth && s.seg.len > 0).unwrap().seg;
    // In sequence, but stamped before what was acknowledged last: from an earlier turn of the sequence numbers.
    let old = Segment { seq: last.seq + last.len, tsval: last.tsval - 50, ..last };
    net.b.on_segment(net.now, &old, &Default::default());
    net.pump();
    assert_eq!(net.b.received(), 988 * 6);
    assert_eq!(net.trace.last().unwrap().seg.ack, last.seq + last.len);
    net.b.on_segment(net.now, &Segment { tsval: last.tsval + 1, ..old }, &Default::default());
    assert_eq!(net.b.received(), 988 * 7);
}

#[test]
fn answers_carry_the_acknowledgement() {
    let mut net = Net::perfect(&options("rfc", &plain()));
    net.open();
    for i in 1..=20 {
        net.a.supply(1000 * i);
        net.run_until(|net| net.b.received() == 1000 * i);
        net.b.supply(1000 * i);
        net.run_until(|net| net.a.received() == 1000 * i);
    }
    // The handshake's third segment is the only one without data.
    assert_eq!(net.trace.iter().filter(|s| s.seg.len == 0 && !s.seg.flags.any(Flags::SYN)).count(), 1);
}

#[test]
fn an_idle_connection_is_small() {
    assert!(size_of::<Endpoint>() <= 1448, "{}", size_of::<Endpoint>());
    let mut net = Net::perfect(&options("rfc", &plain()));
    net.open();
    assert_eq!((net.a.next_timer(), net.b.next_timer()), (Time::NEVER, Time::NEVER));
}

#[test]
fn wrong_options_are_refused_in_one_line() {
    let refused = |overrides: Overrides| {
        let invalid = options::stack("rfc").unwrap().apply(&overrides).unwrap_err();
        let error = format!("{} {}", invalid.parameter, invalid.reason);
        assert!(!error.contains('\n') && !error.is_empty());
        error
    };
    let o = Overrides::default;
    assert!(refused(Overrides { mss: Some(Bytes(40)), ..o() }).starts_with("mss must be from 88 B"));
    assert!(refused(Overrides { receive_window: Some(Bytes(100)), ..o() }).contains("one MSS"));
    assert!(refused(Overrides { window_scaling: Some(false), ..o() }).contains("without window_scaling"));
    assert!(refused(Overrides { rto_min: Some(Span::from_s(100)), ..o() }).contains("above rto_max"));
    assert!(refused(Overrides { initial_window: Some(0), ..o() }).contains("from 1 to"));
    assert!(refused(Overrides { rto_min: Some(Span(0)), ..o() }).starts_with("rto_min must be from"));
    assert!(refused(Overrides { dup_ack_threshold: Some(0), ..o() }).starts_with("dup_ack_threshold"));
    assert_eq!(options::stack("solaris"), None);
}

/// A Linux receiver: each of the first 16 segments is acknowledged at once, so that slow start doubles; then every
/// second, so that it grows by half (Linux tcp_incr_quickack, __tcp_ack_snd_check).
#[test]
fn linux_acknowledges_the_first_segments_at_once() {
    let rule = Some(options::DelayedAckRule::Linux);
    let o =
        options("rfc", &Overrides { delayed_ack_rule: rule, delayed_ack_timeout: Some(Span::from_ms(40)), ..plain() });
    let mut net = Net::perfect(&o);
    net.open_a();
    net.a.supply(100_000);
    net.run_until(|net| net.a.acked() == 100_000);
    let acked: Vec<u32> = net.acks(1000).iter().map(|(_, acked)| acked / 1000).filter(|&acked| acked > 0).collect();
    assert_eq!(acked[..20], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 18, 20, 22, 24]);
    assert_eq!(net.b.next_timer(), Time::NEVER);
}
