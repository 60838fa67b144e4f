//! The instruments of RFC 4898, counted by hand on a path of 10 ms each way.

use crate::common::*;
use elephan_tcp::Overrides;
use elephan_tcp::options::{Ecn, RttSampling};
use elephan_units::Span;

/// Data segments of `a`, counted from 1 with repetitions, that the path drops.
fn dropping(segments: &'static [u64]) -> Policy {
    let mut data = 0;
    Box::new(move |s, _| {
        let counts = s.way == Way::Forth && s.seg.len > 0;
        data += u64::from(counts);
        if counts && segments.contains(&data) { vec![] } else { vec![DELAY] }
    })
}

/// Ten segments in a window of ten, the third lost. Seven come behind the gap: seven duplicate ACKs of one episode, eight
/// segments spanned. The reduction finds a round trip of 20 ms.
#[test]
fn one_loss() {
    let o = options("rfc", &Overrides { limited_transmit: Some(false), ..plain() });
    let mut net = Net::new(&o, &o, dropping(&[3]));
    net.open_a();
    net.a.supply(10_000);
    net.pump();
    let start = net.a.stats(net.now);
    assert_eq!(
        (start.pipe_size, start.cur_retx_queue, start.cur_app_w_queue, start.cur_cwnd),
        (10_000, 10_000, 0, 10_000)
    );
    net.run_until(|net| net.a.acked() == 10_000);
    let (a, b) = (net.a.stats(net.now), net.b.stats(net.now));
    assert_eq!((b.dup_acks_out, b.dup_ack_episodes, b.max_reasm_queue, b.cur_reasm_queue), (7, 1, 8000, 0));
    assert_eq!((a.cong_signals, a.pre_cong_sum_rtt_ns, a.post_cong_count_rtt), (1, 20_000_000, 1));
    // The first two segments were acknowledged in slow start: 10 + 2.
    assert_eq!(a.pre_cong_sum_cwnd, 12_000);
    assert_eq!((a.max_pipe_size, a.max_retx_queue, a.max_app_w_queue), (10_000, 10_000, 10_000));
    assert_eq!((a.thru_octets_acked, b.thru_octets_received), (10_000, 10_000));
    assert_eq!((a.non_recov_da_episodes, a.abrupt_timeouts, a.other_reductions, a.retran_thresh), (0, 0, 0, 3));
    assert_eq!((a.mss_sent, a.mss_rcvd, a.time_stamps, a.will_use_sack, a.ecn), (1000, 1000, 0, 1, 0));
}

/// Ten segments in a window of ten, the last lost: nothing tells but the timer. Nine are acknowledged, each at once, at 20 ms, the timer of 1 s (RFC 6298,
/// the least) runs out a second later, and the retransmitted one is acknowledged 20 ms after that: a stall of 1.02 s. Without a loss nothing is
/// outstanding for longer than the round trip; a second of silence in between is no stall.
#[test]
fn a_lost_tail_is_the_longest_stall() {
    for (lost, stall_ms) in [(&[10][..], 1020), (&[], 20)] {
        let o = options("rfc", &Overrides { delayed_ack_segments: Some(1), ..plain() });
        let mut net = Net::new(&o, &o, dropping(lost));
        net.open_a();
        net.a.supply(10_000);
        net.pump();
        net.run_until(|net| net.a.acked() == 10_000);
        net.run_for(Span::from_s(2));
        assert_eq!(net.a.stats(net.now).stall_max_ns, stall_ms * 1_000_000);
        assert_eq!(net.b.stats(net.now).stall_max_ns, 0);
    }
}

/// Pacing holds a sender back before its window is full, and before the first ACKs: what is out is never limited by it, and is
/// noted all the same.
#[test]
fn the_most_of_a_paced_sender() {
    let slow = serde_json::json!({ "startup_gain": 1.05 });
    let cc = elephan_cc::Spec::with("bbr", slow.as_object().unwrap()).unwrap();
    let o = options("rfc", &Overrides { congestion_control: Some(cc), initial_window: Some(20), ..plain() });
    let mut net = Net::new(&o, &o, Box::new(|_, _| vec![DELAY]));
    net.open_a();
    net.a.supply(100_000);
    let (mut pipe, mut queue) = (0, 0);
    net.run_until(|net| {
        let now = net.a.stats(net.now);
        (pipe, queue) = (pipe.max(now.pipe_size), queue.max(now.cur_retx_queue));
        now.thru_octets_acked >= 30_000
    });
    let a = net.a.stats(net.now);
    assert!(pipe >= 10_000, "{pipe}");
    assert_eq!((a.max_pipe_size, a.max_retx_queue), (pipe, queue));
}

/// The second of four comes after the others: two duplicate ACKs start nothing, and the ACK that ends them moves on by the
/// three segments from it.
#[test]
fn reordering_without_a_retransmission() {
    let o = options("rfc", &plain());
    let policy: Policy = Box::new(|s, _| vec![if s.seg.seq == 2001 { DELAY + Span::from_ms(5) } else { DELAY }]);
    let mut net = Net::new(&o, &o, policy);
    net.open_a();
    net.a.supply(4000);
    net.run_until(|net| net.a.acked() == 4000);
    let a = net.a.stats(net.now);
    // The third brings the ACK of the first; it and the fourth SACK something new.
    assert_eq!((a.non_recov_da_episodes, a.non_recov_da, a.sum_octets_reordered), (1, 2, 3000));
    assert_eq!((a.segs_retrans, a.cong_signals), (0, 0));
}

/// The last of a window is lost: nothing tells of it, the timeout is abrupt; RTO 1 s, then 2 s is the largest.
#[test]
fn an_abrupt_timeout() {
    let o = options("rfc", &plain());
    let mut net = Net::new(&o, &o, dropping(&[4]));
    net.open_a();
    net.a.supply(4000);
    net.run_until(|net| net.a.acked() == 4000);
    let a = net.a.stats(net.now);
    assert_eq!((a.timeouts, a.abrupt_timeouts, a.subsequent_timeouts), (1, 1, 0));
    assert_eq!((a.min_rto_ns, a.max_rto_ns, a.cur_timeout_count), (1_000_000_000, 2_000_000_000, 1));
}

/// One sample of the handshake and one of each window of data: 20 ms each.
#[test]
fn round_trip_samples() {
    let o = options("rfc", &Overrides { rtt_sampling: Some(RttSampling::OncePerWindow), ..plain() });
    let mut net = Net::perfect(&o);
    net.open_a();
    for i in 1..=4 {
        net.a.supply(2000 * i);
        net.run_until(|net| net.a.acked() == 2000 * i);
    }
    let a = net.a.stats(net.now);
    assert_eq!((a.count_rtt, a.sum_rtt_ns, a.sample_rtt_ns), (5, 100_000_000, 20_000_000));
}

/// Every data segment marked: the receiver counts them, acknowledges the first at once, and every ACK echoes.
#[test]
fn marks() {
    let o = options("rfc", &Overrides { ecn: Some(Ecn::Dctcp), ..plain() });
    let mut net = Net::perfect(&o);
    net.marks = Box::new(|_| true);
    net.open_a();
    net.a.supply(4000);
    net.run_until(|net| net.a.acked() == 4000);
    let b = net.b.stats(net.now);
    assert_eq!((b.ce_rcvd, b.ece_sent, b.ecn), (4, 3, 1));
}
