//! ECN: the literals of RFC 3168 section 6.1 and RFC 8257 section 3.2 on a path of 10 ms each way.

use crate::common::*;
use crate::lone::*;
use elephan_cc::Spec;
use elephan_tcp::options::{Ecn, Undo};
use elephan_tcp::{ECN_CE, ECN_ECT0, ECN_NOT_ECT, Flags, Overrides, Segment};
use elephan_units::{Span, Time};

fn net(a: Ecn, b: Ecn, window: u32) -> Net {
    let side = |ecn| options("rfc", &Overrides { ecn: Some(ecn), initial_window: Some(window), ..plain() });
    let mut net = Net::new(&side(a), &side(b), Box::new(|_, _| vec![DELAY]));
    net.open_a();
    net
}

/// Marks the data segments with these offsets, counted in segments.
fn marking(net: &mut Net, segments: &'static [u32]) {
    net.marks = Box::new(move |seg: &Segment| segments.contains(&(seg.seq.wrapping_sub(1001) / 1000)));
}

/// ACKs of the receiver: segments acknowledged, and whether they echo.
fn acks(net: &Net) -> Vec<(u32, bool)> {
    let pure = net.trace.iter().filter(|s| s.way == Way::Back && s.seg.len == 0 && !s.seg.flags.any(Flags::SYN));
    pure.zip(net.acks(1000)).map(|(s, (_, acked))| (acked / 1000, s.seg.flags.any(Flags::ECE))).collect()
}

/// Section 6.1.1: ECE and CWR in the SYN, ECE alone in the SYN-ACK; without either nothing is ECN-capable.
#[test]
fn both_ends_must_agree() {
    for (a, b, agreed) in [
        (Ecn::Classic, Ecn::Classic, true),
        (Ecn::Dctcp, Ecn::Classic, true),
        (Ecn::Classic, Ecn::Off, false),
        (Ecn::Off, Ecn::Classic, false),
    ] {
        let mut net = net(a, b, 4);
        net.a.supply(4000);
        net.run_until(|net| net.a.acked() == 4000);
        let (syn, answer) = (net.trace[0].seg.flags, net.trace[1].seg.flags);
        assert_eq!(syn.any(Flags::ECE) && syn.any(Flags::CWR), a != Ecn::Off);
        assert_eq!((answer.any(Flags::ECE), answer.any(Flags::CWR)), (agreed, false));
        for s in &net.trace {
            // RFC 8257 section 3.6: DCTCP's SYN is ECN-capable too.
            let capable =
                agreed && s.seg.len > 0 || a == Ecn::Dctcp && s.seg.flags == Flags::SYN | Flags::ECE | Flags::CWR;
            assert_eq!(s.seg.ecn, if capable { ECN_ECT0 } else { ECN_NOT_ECT }, "{a:?} {b:?} {:?}", s.seg);
        }
    }
}

/// Sections 6.1.2 and 6.1.3: ECE on every ACK from the mark on, one halving, CWR on the next new segment, which stops the
/// echo; marks of the same window of data cost nothing more.
#[test]
fn a_mark_halves_once_and_is_echoed_until_cwr() {
    let mut net = net(Ecn::Classic, Ecn::Classic, 20);
    marking(&mut net, &[4, 9]);
    net.a.supply(60_000);
    net.run_until(|net| net.a.acked() == 60_000);
    let stats = net.a.stats(net.now);
    assert_eq!((stats.ecn_signals, stats.cong_signals, stats.segs_retrans), (1, 1, 0));
    // Two segments an ACK. The mark is on the fifth: two ACKs before its own took four and let eight out, so that it finds
    // 20 - 4 + 8 = 24 in flight.
    assert_eq!(net.a.controller().ssthresh(), 12_000.0);
    let first: Vec<bool> = acks(&net)[..12].iter().map(|a| a.1).collect();
    assert_eq!(first, [false, false, true, true, true, true, true, true, true, true, true, true]);
    let cwr: Vec<u32> = net
        .trace
        .iter()
        .filter(|s| s.way == Way::Forth && s.seg.flags.any(Flags::CWR) && s.seg.len > 0)
        .map(|s| s.seg.seq.wrapping_sub(1001) / 1000)
        .collect();
    assert_eq!(cwr.len(), 1);
    for (acked, echo) in acks(&net) {
        assert_eq!(echo, acked >= 5 && acked <= cwr[0], "{acked}");
    }
}

/// Section 6.1.2: drops and marks of one window of data reduce the window once; the next window is another matter, and so is a
/// controller that yields less to a mark than to a loss (RFC 8257 section 3.5, RFC 8511).
#[test]
fn a_loss_in_a_marked_window_costs_nothing_more() {
    let cc = |name: &str, table: serde_json::Value| Some(Spec::with(name, table.as_object().unwrap()).unwrap());
    let none = || serde_json::json!({});
    for (stack, congestion_control, ecn, lost, signals) in [
        ("rfc", cc("reno", none()), Ecn::Classic, 12, 1),
        ("rfc", cc("reno", none()), Ecn::Classic, 45, 2),
        ("rfc", cc("reno", serde_json::json!({ "beta_ecn": 0.8 })), Ecn::Classic, 12, 2),
        ("rfc", cc("cubic", none()), Ecn::Classic, 12, 1),
        ("rfc", cc("dctcp", none()), Ecn::Dctcp, 12, 2),
        ("linux", cc("cubic", none()), Ecn::Classic, 12, 1),
        ("linux", cc("dctcp", none()), Ecn::Dctcp, 12, 2),
    ] {
        let name = format!("{stack} {congestion_control:?} {lost}");
        let o = options(stack, &Overrides { congestion_control, ecn: Some(ecn), initial_window: Some(20), ..plain() });
        let mut dropped = false;
        let policy: Policy = Box::new(move |s, _| {
            let due = !dropped && s.way == Way::Forth && s.seg.len > 0 && s.seg.seq == 1001 + lost * 1000;
            dropped |= due;
            if due { vec![] } else { vec![DELAY] }
        });
        let mut net = Net::new(&o, &o, policy);
        net.open_a();
        marking(&mut net, &[4]);
        net.a.supply(80_000);
        net.run_until(|net| net.a.acked() == 80_000);
        let stats = net.a.stats(net.now);
        assert_eq!((stats.ecn_signals, stats.fast_retran, stats.timeouts), (1, 1, 0), "{name}");
        assert_eq!(stats.cong_signals, signals, "{name}");
    }
}

/// A retransmission that proves needless takes nothing back from what a mark has taken.
#[test]
fn a_needless_retransmission_says_nothing_about_a_mark() {
    let o = options(
        "rfc",
        &Overrides { ecn: Some(Ecn::Classic), initial_window: Some(20), undo: Some(Undo::Dsack), ..plain() },
    );
    let mut late = false;
    let policy: Policy = Box::new(move |s, _| {
        let due = !late && s.way == Way::Forth && s.seg.seq == 13_001;
        late |= due;
        vec![if due { Span(DELAY.0 + DELAY.0 / 4) } else { DELAY }]
    });
    let mut net = Net::new(&o, &o, policy);
    net.open_a();
    marking(&mut net, &[4]);
    net.a.supply(60_000);
    net.run_until(|net| net.a.acked() == 60_000);
    let stats = net.a.stats(net.now);
    assert_eq!((stats.ecn_signals, stats.cong_signals, stats.fast_retran, stats.spurious_fr_detected), (1, 1, 1, 1));
    assert_eq!(net.a.controller().ssthresh(), 12_000.0);
}

/// RFC 8257 section 3.2: the echo follows the marks; a change is acknowledged at once, what came before it with the old state.
#[test]
fn the_receiver_of_dctcp_echoes_each_mark() {
    let mut net = net(Ecn::Dctcp, Ecn::Dctcp, 12);
    marking(&mut net, &[3, 4, 5, 8]);
    net.a.supply(12_000);
    net.run_until(|net| net.a.acked() == 12_000);
    // 0 1 | 2 alone, before the change | 3, the change | 4 5 | 6, the change | 7 alone | 8 | 9 | 10 11.
    let (new, old) = (true, false);
    let expected = [(2, old), (3, old), (4, new), (6, new), (7, old), (8, old), (9, new), (10, old), (12, old)];
    assert_eq!(acks(&net), expected);
}

/// Linux tcp_ecn_accept_cwr: a segment with CWR that comes alone is acknowledged when it comes, 10 ms after it was sent. Otherwise its ACK waits for
/// 200 ms.
#[test]
fn data_with_cwr_may_be_acknowledged_at_once() {
    for (ack_cwr, waits) in [(false, 200), (true, 0)] {
        let o = Overrides { ecn: Some(Ecn::Classic), ack_cwr: Some(ack_cwr), initial_window: Some(1), ..plain() };
        let o = options("rfc", &o);
        let mut net = Net::new(&o, &o, Box::new(|_, _| vec![DELAY]));
        net.open_a();
        marking(&mut net, &[0]);
        net.a.supply(1000);
        net.run_until(|net| net.a.acked() == 1000);
        net.a.supply(2000);
        net.run_until(|net| net.a.acked() == 2000);
        let sent = net.trace.iter().find(|s| s.seg.flags.any(Flags::CWR) && s.seg.len > 0).map(|s| s.at);
        assert_eq!(sent.map(|at| net.now - at), Some(Span::from_ms(20 + waits)), "{ack_cwr}");
    }
}

/// Retransmissions are not ECN-capable (RFC 3168 section 6.1.5).
#[test]
fn what_is_sent_again_is_not_capable() {
    let o = options("rfc", &Overrides { ecn: Some(Ecn::Classic), ..plain() });
    let mut data = 0;
    let policy: Policy = Box::new(move |s, _| {
        data += u64::from(s.way == Way::Forth && s.seg.len > 0);
        if data == 3 && s.way == Way::Forth { vec![] } else { vec![DELAY] }
    });
    let mut net = Net::new(&o, &o, policy);
    net.open_a();
    net.a.supply(10_000);
    net.run_until(|net| net.a.acked() == 10_000);
    let again: Vec<u8> =
        net.trace.iter().filter(|s| s.way == Way::Forth && s.seg.seq == 3001).map(|s| s.seg.ecn).collect();
    assert_eq!(again, [ECN_ECT0, ECN_NOT_ECT]);
}

/// RFC 3168 section 6.1.5: the mark of a segment outside the window is no mark.
#[test]
fn a_marked_duplicate_says_nothing() {
    for kind in [Ecn::Classic, Ecn::Dctcp] {
        let mut net = net(kind, kind, 4);
        net.a.supply(4000);
        net.run_until(|net| net.a.acked() == 4000);
        let mut old = net.trace.iter().find(|s| s.way == Way::Forth && s.seg.len > 0).unwrap().seg;
        let mut next = Segment { seq: old.seq.wrapping_add(4000), ..old };
        for (seg, echoed) in [(&mut old, false), (&mut next, true)] {
            seg.ecn = ECN_CE;
            net.b.on_segment(net.now, seg, &Default::default());
            let (mut answer, mut sack) = (Segment::default(), Default::default());
            // The second may be acknowledged with delay.
            if net.b.next_timer() < Time::NEVER {
                net.b.on_timer(net.b.next_timer());
            }
            assert!(net.b.poll_transmit(net.now, &mut answer, &mut sack));
            assert_eq!(answer.flags.any(Flags::ECE), echoed, "{kind:?}");
        }
    }
}

/// RFC 3168 section 6.1.1.1 lets a retransmitted SYN ask for nothing; Linux clears ECE and CWR from the first on (tcp_ecn_fallback, seen on
/// Linux 6.18), and keeps ECE in SYN-ACKs. DCTCP's SYN is then not ECN-capable either.
#[test]
fn retransmitted_syns_fall_back() {
    let asks = Flags::SYN | Flags::ECE | Flags::CWR;
    for (stack, ecn, expected, capable) in [
        ("rfc", Ecn::Classic, [asks, asks, asks], 0),
        ("linux", Ecn::Classic, [Flags::SYN, Flags::SYN, Flags::SYN], 0),
        ("freebsd", Ecn::Classic, [asks, Flags::SYN, Flags::SYN], 0),
        ("linux", Ecn::Dctcp, [Flags::SYN, Flags::SYN, Flags::SYN], 0),
        ("rfc", Ecn::Dctcp, [asks, asks, asks], ECN_ECT0),
    ] {
        let o = Overrides { ecn: Some(ecn), syn_linear_timeouts: Some(0), ..plain() };
        let mut a = Lone::connecting(stack, &o);
        let sent: Vec<(Flags, u8)> = a.wait(8000).into_iter().map(|(_, seg)| (seg.flags, seg.ecn)).collect();
        assert_eq!(sent, expected.map(|flags| (flags, capable)), "{stack}");
        let mut b = Lone::listening(stack, &o);
        let syn = Segment { flags: asks, ..segment(PEER, 0, 0, None) };
        let mut sent = b.take(syn);
        sent.extend(b.wait(4000).into_iter().map(|(_, seg)| (seg, Default::default())));
        let marks = if ecn == Ecn::Dctcp { ECN_ECT0 } else { ECN_NOT_ECT };
        assert!(sent.len() == 3 && sent.iter().all(|s| s.0.flags.has(Flags::ECE) && s.0.ecn == marks), "{stack}");
    }
}

/// RFC 8257 section 3.6 with its option: SYN, SYN-ACK and RST are ECN-capable.
#[test]
fn control_segments_of_dctcp_are_ecn_capable() {
    for (capable, mark) in [(true, ECN_ECT0), (false, ECN_NOT_ECT)] {
        let o = Overrides { ecn: Some(Ecn::Dctcp), ect_syn: Some(capable), ..plain() };
        let mut b = Lone::listening("rfc", &o);
        let syn = Segment { flags: Flags::SYN | Flags::ECE | Flags::CWR, ..segment(PEER, 0, 0, None) };
        assert_eq!(b.take(syn)[0].0.ecn, mark);
        assert_eq!(b.take(segment(PEER + 1, OWN + 9, 0, None))[0].0.ecn, mark);
        let mut a = Lone::connecting("rfc", &o);
        assert_eq!(a.wait(1000)[0].1.ecn, mark);
    }
}

/// RFC 3168 section 6.1.4: pure ACKs are not ECN-capable, which RFC 8257 leaves as it is; those of Linux's DCTCP are, and a mark on one
/// means nothing.
#[test]
fn pure_acks_of_dctcp_are_ecn_capable_on_linux() {
    for (stack, ecn, given, mark) in [
        ("rfc", Ecn::Dctcp, None, ECN_NOT_ECT),
        ("rfc", Ecn::Dctcp, Some(true), ECN_ECT0),
        ("linux", Ecn::Dctcp, None, ECN_ECT0),
        ("linux", Ecn::Dctcp, Some(false), ECN_NOT_ECT),
        ("linux", Ecn::Classic, Some(true), ECN_NOT_ECT),
    ] {
        let side = options(stack, &Overrides { ecn: Some(ecn), ect_acks: given, ..plain() });
        let mut net = Net::new(&side, &side, Box::new(|_, _| vec![DELAY]));
        net.open_a();
        net.a.supply(20_000);
        net.run_until(|net| net.a.acked() == 20_000);
        let pure: Vec<u8> =
            net.trace.iter().filter(|s| s.way == Way::Back && s.seg.len == 0).map(|s| s.seg.ecn).collect();
        assert!(pure.len() > 3, "{pure:?}");
        // The SYN-ACK has an option of its own.
        assert!(pure[1..].iter().all(|ecn| *ecn == mark), "{stack} {ecn:?} {given:?}: {pure:?}");
    }
}

/// RFC 3168 section 6.1.1: no ECT from an end that has sent or received a SYN that asks for nothing, but it goes on echoing; Linux 6.18 sends ECT
/// all the same.
#[test]
fn a_syn_that_asks_for_nothing_forbids_ect() {
    let asks = Flags::SYN | Flags::ECE | Flags::CWR;
    for (stack, mark) in [("rfc", ECN_NOT_ECT), ("freebsd", ECN_NOT_ECT), ("linux", ECN_ECT0)] {
        let o = Overrides { ecn: Some(Ecn::Classic), ..plain() };
        let mut b = Lone::listening(stack, &o);
        for flags in [asks, Flags::SYN] {
            assert!(b.take(Segment { flags, ..segment(PEER, 0, 0, None) })[0].0.flags.has(Flags::ECE), "{stack}");
        }
        b.take(segment(PEER + 1, OWN + 1, 0, None));
        b.end.write(Time::ZERO, 100);
        assert_eq!(b.poll()[0].0.ecn, mark, "{stack}");
        if stack == "rfc" {
            continue;
        }
        let mut a = Lone::connecting(stack, &o);
        a.wait(4000);
        let answer = Segment { flags: Flags::SYN | Flags::ACK | Flags::ECE, ..segment(PEER, OWN + 1, 0, None) };
        a.take(answer);
        a.end.write(Time::ZERO, 100);
        assert_eq!(a.poll()[0].0.ecn, mark, "{stack}");
        let echo = a.take(Segment { ecn: 3, ..segment(PEER + 1, OWN + 101, 100, None) });
        assert!(echo.is_empty() || echo[0].0.flags.any(Flags::ECE), "{stack}");
    }
}
