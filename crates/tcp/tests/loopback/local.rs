//! What the host itself does to a window: refused segments, rate halving, moderation after disorder, validation.

use crate::common::*;
use elephan_tcp::options::{LocalDrop, Reduction};
use elephan_tcp::{Flags, Overrides, Segment};
use elephan_units::Span;

/// Window of 20 segments of 1000 bytes, established at 20 ms.
fn established(overrides: &Overrides) -> Net {
    let o = options("rfc", &Overrides { initial_window: Some(20), ..overrides.clone() });
    let mut net = Net::perfect(&o);
    net.open_a();
    net
}

fn segments(bytes: f64) -> f64 {
    bytes / 1000.0
}

/// The host's queue takes 5 segments of a window of 20 and refuses the sixth: it is not sent, not lost, and goes out later
/// as new data. Window and threshold by option: half of the five in flight; untouched; slow start ends.
#[test]
fn a_refused_segment_stays_unsent() {
    for (local_drop, window, threshold) in [
        (LocalDrop::Cwr, 2.5, Some(2.5)),
        (LocalDrop::Ignore, 20.0, None),
        (LocalDrop::SlowStartExit, 20.0, Some(20.0)),
    ] {
        let mut net = established(&Overrides { local_drop: Some(local_drop), ..plain() });
        net.a.supply(40_000);
        net.refuse = Box::new(|seg, count| seg.len > 0 && count == 6);
        net.pump();
        assert_eq!((net.a.inflight(), net.data(1000).len()), (5000, 5));
        assert_eq!(segments(net.a.controller().window()), window, "{local_drop:?}");
        let limit = threshold.unwrap_or(f64::INFINITY);
        assert_eq!(segments(net.a.controller().ssthresh()), limit, "{local_drop:?}");
        net.run_until(|net| net.a.acked() == 40_000);
        let stats = net.a.stats(net.now);
        assert_eq!((stats.send_stall, stats.segs_retrans, stats.timeouts, stats.data_segs_out), (1, 0, 0, 40));
        assert_eq!(stats.cong_signals, u64::from(local_drop == LocalDrop::Cwr));
        let offsets: Vec<u32> = net.data(1000).iter().map(|d| d.1).collect();
        assert_eq!(offsets, (0..40).map(|i| i * 1000).collect::<Vec<_>>());
    }
}

/// Refusals within one window of data are one event; with nothing in flight the persist timer tries again, without a
/// timeout; FIN and stream end as they should.
#[test]
fn a_queue_that_stays_full() {
    let mut net = established(&plain());
    net.a.supply(3000);
    net.a.close(net.now);
    net.refuse = Box::new(|seg, count| seg.len > 0 && count <= 3);
    net.run_until(|net| net.a.acked() == 3000);
    net.b.close(net.now);
    net.run_until(|net| net.b.state() == elephan_tcp::State::Closed);
    let stats = net.a.stats(net.now);
    assert_eq!((stats.send_stall, stats.cong_signals, stats.segs_retrans, stats.timeouts), (3, 1, 0, 0));
    assert_eq!((net.b.received(), stats.data_segs_out), (3000, 3));
}

/// A FIN that is refused with its data is retransmitted with it.
#[test]
fn a_refused_fin_is_sent_later() {
    let mut net = established(&plain());
    net.a.supply(2000);
    net.a.close(net.now);
    let mut refused = false;
    net.refuse = Box::new(move |seg, _| seg.flags.any(Flags::FIN) && !std::mem::replace(&mut refused, true));
    net.run_until(|net| net.b.peer_closed());
    assert_eq!((net.b.received(), net.a.stats(net.now).segs_retrans), (2000, 0));
    net.b.close(net.now);
    net.run_until(|net| net.b.state() == elephan_tcp::State::Closed);
}

/// A refused retransmission is retransmitted at the next occasion, before the timer.
#[test]
fn a_refused_retransmission_is_due_again() {
    let o = options("rfc", &Overrides { initial_window: Some(20), ..plain() });
    let mut data = 0;
    let policy: Policy = Box::new(move |s, _| {
        data += u64::from(s.way == Way::Forth && s.seg.len > 0);
        if data == 3 && s.way == Way::Forth { vec![] } else { vec![DELAY] }
    });
    let mut net = Net::new(&o, &o, policy);
    net.open_a();
    let mut seen = 0;
    net.refuse = Box::new(move |seg: &Segment, _| {
        seen += u32::from(seg.seq == 3001);
        seg.seq == 3001 && seen == 2
    });
    net.a.supply(20_000);
    net.run_until(|net| net.a.acked() == 20_000);
    let stats = net.a.stats(net.now);
    assert_eq!((stats.send_stall, stats.segs_retrans, stats.timeouts, stats.fast_retran), (1, 1, 0, 1));
}

/// Linux 2.4: after a stall the window is halved over a round trip. The refused twentieth segment leaves ssthresh 10 of
/// cwnd 20, and two acknowledged segments let one out.
#[test]
fn rate_halving_after_a_local_drop() {
    let cc = elephan_cc::Spec::with("reno", serde_json::json!({ "reduce_from": "cwnd" }).as_object().unwrap()).unwrap();
    let o = Overrides { reduction: Some(Reduction::RateHalving), congestion_control: Some(cc), ..plain() };
    let mut net = established(&o);
    net.a.supply(200_000);
    net.refuse = Box::new(|seg, count| seg.len > 0 && count == 20);
    net.pump();
    assert_eq!((net.a.inflight(), segments(net.a.controller().ssthresh())), (19_000, 10.0));
    net.run_until(|net| net.a.acked() >= 19_000);
    assert_eq!(net.a.stats(net.now).cong_signals, 1);
    // By hand: nine ACKs of two segments come at 40 ms. cwnd, less one at every second of them, is at most one above what is
    // in flight: 18 over 17, 17 over 16, ... 10 over 9, so that each lets one out. The tenth ends it at ssthresh.
    let during = net.data(1000).iter().filter(|d| (40_000_000..60_000_000).contains(&d.0.ns())).count();
    assert_eq!((during, segments(net.a.controller().window())), (9, 10.0));
}

/// Linux 2.4 tcp_moderate_cwnd: one ACK ends a disorder of 20 segments and empties the pipe; the window is then three
/// segments. Without moderation it stays.
#[test]
fn moderation_after_disorder() {
    for (cwnd_moderation, window) in [(true, 3.0), (false, 20.0)] {
        let overrides = Overrides {
            cwnd_moderation: Some(cwnd_moderation),
            dup_ack_threshold: Some(40),
            limited_transmit: Some(false),
            initial_window: Some(20),
            ..plain()
        };
        let o = options("rfc", &overrides);
        // The first data segment comes last.
        let policy: Policy = Box::new(|s, _| vec![if s.seg.seq == 1001 { DELAY + DELAY } else { DELAY }]);
        let mut net = Net::new(&o, &o, policy);
        net.open_a();
        net.a.supply(20_000);
        net.run_until(|net| net.a.acked() == 20_000);
        let stats = net.a.stats(net.now);
        assert_eq!((stats.segs_retrans, stats.cong_signals), (0, 0));
        let after = segments(net.a.controller().window());
        assert!(if cwnd_moderation { after == window } else { after >= window }, "{after}");
    }
}

/// RFC 2861 as Linux has it: 3.5 s idle at an RTO of 1 s halve the window three times, not below the initial window;
/// RFC 5681 section 4.1 goes to the initial window at once.
#[test]
fn idle_time_halves_a_validated_window() {
    for (cwnd_validation, share) in [(true, Some(8.0)), (false, None)] {
        let o = Overrides { cwnd_validation: Some(cwnd_validation), initial_window: Some(2), ..plain() };
        let mut net = Net::perfect(&options("rfc", &o));
        net.open_a();
        net.a.supply(62_000);
        net.run_until(|net| net.a.acked() == 62_000);
        let grown = segments(net.a.controller().window());
        assert!(grown > 32.0);
        let idle_from = net.data(1000).last().unwrap().0;
        net.run_for((idle_from + Span::from_ms(3500)).since(net.now));
        net.a.supply(63_000);
        net.pump();
        assert_eq!(segments(net.a.controller().window()), share.map_or(2.0, |share| grown / share));
    }
}

/// A window w of which one segment is used for a second, an RTO, falls half-way to what is used, where the initial window
/// counts as used: (w + 2) / 2, and so again a second later.
#[test]
fn an_unused_window_shrinks() {
    let (w, windows) = unused_windows(false);
    let second = (w + 2.0) / 2.0;
    assert_eq!(windows, [w, second, (second + 2.0) / 2.0]);
}

/// The machine's kernel keeps 143 segments for as long as 64 KB are written each 100 ms (docs/kernel.md).
#[test]
fn an_unused_window_stays_while_acks_come() {
    let (w, windows) = unused_windows(true);
    assert_eq!(windows, [w]);
}

/// The windows that follow one another while a segment is sent each 100 ms.
fn unused_windows(cwnd_validation_acks: bool) -> (f64, Vec<f64>) {
    let o = Overrides {
        cwnd_validation: Some(true),
        cwnd_validation_acks: Some(cwnd_validation_acks),
        initial_window: Some(2),
        ..plain()
    };
    let mut net = Net::perfect(&options("rfc", &o));
    net.open_a();
    net.a.supply(62_000);
    net.run_until(|net| net.a.acked() == 62_000);
    let mut windows = vec![segments(net.a.controller().window())];
    for i in 1..=24 {
        net.a.supply(62_000 + 1000 * i);
        net.run_for(Span::from_ms(100));
        let window = segments(net.a.controller().window());
        if windows.last() != Some(&window) {
            windows.push(window);
        }
    }
    assert!(windows[0] > 32.0);
    (windows[0], windows)
}
