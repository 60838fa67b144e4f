//! AccECN in whole connections: RFC 9768 sections 3.1.1 (negotiation) and 3.2, on a path of 10 ms each way.

use crate::common::*;
use crate::lone::*;
use elephan_tcp::options::{AccEcnOptions, Ecn, Reduction};
use elephan_tcp::{
    AccEcnOption, ECN_ECT0, ECN_ECT1, ECN_NOT_ECT, Flags, OPTION_ACCECN, OPTION_SACK_PERMITTED, Overrides, SackBlocks,
    Segment, State,
};
use elephan_units::Time;

fn net(a: Ecn, b: Ecn, overrides: &Overrides) -> Net {
    let side = |ecn| options("rfc", &Overrides { ecn: Some(ecn), ..overrides.clone() });
    let mut net = Net::new(&side(a), &side(b), Box::new(|_, _| vec![DELAY]));
    net.open_a();
    net
}

/// Table 2: AE, CWR and ECE of SYN, SYN-ACK and the first ACK, and what data is sent as.
#[test]
fn negotiation_and_fall_back() {
    for (a, b, syn, answer, capable) in [
        (Ecn::Accurate, Ecn::Accurate, 0b111, 0b010, true),
        (Ecn::Accurate, Ecn::Classic, 0b111, 0b001, true),
        (Ecn::Accurate, Ecn::Dctcp, 0b111, 0b001, true),
        (Ecn::Accurate, Ecn::Off, 0b111, 0b000, false),
        (Ecn::Classic, Ecn::Accurate, 0b011, 0b001, true),
        (Ecn::Off, Ecn::Accurate, 0b000, 0b000, false),
    ] {
        let mut net = net(a, b, &plain());
        net.a.supply(8000);
        net.run_until(|net| net.a.acked() == 8000);
        assert_eq!((net.trace[0].seg.ace(), net.trace[1].seg.ace()), (syn, answer), "{a:?} {b:?}");
        let accurate = a == b;
        for (i, s) in net.trace[2..].iter().enumerate() {
            assert_eq!(s.seg.ecn, if capable && s.seg.len > 0 { ECN_ECT0 } else { ECN_NOT_ECT });
            // EE0B and EE1B count from 1, ECEB from 0.
            let e0b = if s.way == Way::Back { 1 + s.seg.ack.wrapping_sub(1001) } else { 1 };
            let option = AccEcnOption { order1: false, count: 3, fields: [e0b, 0, 1] };
            assert_eq!(s.seg.accecn(&s.sack), (accurate && s.seg.len == 0).then_some(option));
            // Table 3: the ACK of an unmarked SYN-ACK says 010; then the counter stays at 5.
            let expected = if !accurate {
                0
            } else if i == 0 {
                0b010
            } else {
                0b101
            };
            assert_eq!(s.seg.ace(), expected, "{a:?} {b:?} {:?}", s.seg);
        }
        let stats = net.a.stats(net.now);
        assert_eq!((stats.ecn_signals, stats.segs_retrans), (0, 0));
    }
}

/// RFC 9331 section 4.1: ECT(1) for a congestion control that answers as L4S asks; it is counted apart (RFC 9768 section 3.2.3). Without
/// Accurate ECN nothing is ECN-capable (Linux `TCP_CONG_NO_FALLBACK_RFC3168`).
#[test]
fn prague_sends_ect1_over_accurate_ecn_alone() {
    for (peer, capable) in [(Ecn::Accurate, ECN_ECT1), (Ecn::Classic, ECN_NOT_ECT), (Ecn::Off, ECN_NOT_ECT)] {
        let prague = Some(elephan_cc::Spec::named("prague").unwrap());
        let mut net = net(Ecn::Accurate, peer, &Overrides { congestion_control: prague, ..plain() });
        net.a.supply(8000);
        net.run_until(|net| net.a.acked() == 8000);
        let data: Vec<&Sighting> = net.trace.iter().filter(|s| s.seg.len > 0).collect();
        assert!(!data.is_empty() && data.iter().all(|s| s.seg.ecn == capable), "{peer:?}");
        let told = net.trace.iter().rev().find(|s| s.way == Way::Back).unwrap();
        // EE0B stays at 1, ECEB at 0; EE1B counts from 1.
        let expected = AccEcnOption { order1: false, count: 3, fields: [1, 0, 8001] };
        assert_eq!(told.seg.accecn(&told.sack), (peer == Ecn::Accurate).then_some(expected), "{peer:?}");
    }
}

/// Of 12 segments the 4th, 5th, 6th and 9th are marked: the counters and when they are told. ACKs: every second segment, the
/// first mark after none, the second mark since an ACK.
#[test]
fn counters_follow_the_marks() {
    let mut net = net(Ecn::Accurate, Ecn::Accurate, &Overrides { initial_window: Some(12), ..plain() });
    net.marks = Box::new(|seg: &Segment| [3, 4, 5, 8].contains(&(seg.seq.wrapping_sub(1001) / 1000)));
    net.a.supply(12_000);
    net.run_until(|net| net.a.acked() == 12_000);
    let acks = net.trace.iter().filter(|s| s.way == Way::Back && !s.seg.flags.any(Flags::SYN)).map(|s| {
        (s.seg.ack.wrapping_sub(1001) / 1000, s.seg.ace(), s.seg.accecn(&s.sack).map(|o| (o.fields[0], o.fields[1])))
    });
    let expected = [
        (2, 5, Some((2001, 0))),
        (4, 6, Some((3001, 1000))),
        (6, 0, Some((3001, 3000))),
        (8, 0, Some((5001, 3000))),
        (9, 1, Some((5001, 4000))),
        (11, 1, Some((7001, 4000))),
        (12, 1, Some((8001, 4000))),
    ];
    assert_eq!(Vec::from_iter(acks), expected);
    // One reduction in the window of data, and no CWR.
    assert_eq!(net.a.stats(net.now).ecn_signals, 1);
}

/// Every mark is one window of data: with DCTCP the share that it is told is the share that was marked. All of the
/// bytes marked keep alpha at 1, as RFC 8257 section 3.3 has it; the path that marks nothing brings it down.
#[test]
fn a_congestion_control_is_told_the_bytes_that_met_congestion() {
    let cc = elephan_cc::Spec::named("dctcp").unwrap();
    let alpha = |every: u32| {
        let o = Overrides { congestion_control: Some(cc.clone()), initial_window: Some(20), ..plain() };
        let mut net = net(Ecn::Accurate, Ecn::Accurate, &o);
        net.marks = Box::new(move |seg: &Segment| (seg.seq.wrapping_sub(1001) / 1000).is_multiple_of(every));
        net.a.supply(2_000_000);
        net.run_until(|net| net.a.acked() == 2_000_000);
        net.a.controller().observe().iter().find(|(name, _)| *name == "alpha").unwrap().1
    };
    assert_eq!(alpha(1), 1.0);
    // A mark in four: the moving average ends within a few windows' weight of 1/4.
    assert!((alpha(4) - 0.25).abs() < 0.1, "{}", alpha(4));
}

/// A reduction for marks comes down over the round trip with proportional rate reduction: no pause, no second signal.
#[test]
fn a_mark_reduces_gradually() {
    let o = Overrides { initial_window: Some(20), reduction: Some(Reduction::PrrRfc9937), ..plain() };
    let mut net = net(Ecn::Accurate, Ecn::Accurate, &o);
    net.marks = Box::new(|seg: &Segment| seg.seq == 4001);
    net.a.supply(60_000);
    net.run_until(|net| net.a.acked() == 60_000);
    let stats = net.a.stats(net.now);
    assert_eq!((stats.ecn_signals, stats.cong_signals, stats.segs_retrans), (1, 1, 0));
    // The mark is on the fourth of 20; the ACK of two before it has let out four, and its own finds 22 in flight: ssthresh
    // is 11 segments, and ACKs of two segments let one out.
    assert_eq!(net.a.controller().ssthresh(), 11_000.0);
    let round: Vec<u32> = net.data(1000)[20..].iter().map(|d| d.1 / 1000).collect();
    let at = net.data(1000).iter().filter(|d| d.0.ns() < 60_000_000).count();
    assert!(round.len() >= 10 && (33..=36).contains(&at), "{at} {round:?}");
}

fn accurate() -> Overrides {
    Overrides { ecn: Some(Ecn::Accurate), ..plain() }
}

/// A segment with this ACE field.
fn field(ace: u8, seg: Segment) -> Segment {
    let mut seg = seg;
    seg.set_ace(ace);
    seg
}

fn syn(ace: u8) -> Segment {
    field(ace, Segment { flags: Flags::SYN, mss: 1000, ..segment(PEER, 0, 0, None) })
}

fn syn_ack(ace: u8, ecn: u8) -> Segment {
    field(ace, Segment { flags: Flags::SYN | Flags::ACK, mss: 1000, ecn, ..segment(PEER, OWN + 1, 0, None) })
}

/// Sections 3.1.4.1 and 3.2.3.2.2: 111 in the first retransmitted SYN, 000 from the second on; SYN-ACKs likewise, after which the server
/// sends no ECT (section 3.1.5).
#[test]
fn the_second_retransmission_of_the_handshake_negotiates_nothing() {
    for stack in ["rfc", "linux"] {
        let mut a = Lone::connecting(stack, &accurate());
        let aces: Vec<u8> = a.wait(8000).into_iter().map(|(_, seg)| seg.ace()).collect();
        assert_eq!(aces[..3], [0b111, 0, 0], "{stack}");
        let mut b = Lone::listening(stack, &accurate());
        assert_eq!(b.take(syn(0b111))[0].0.ace(), 0b010, "{stack}");
        let aces: Vec<u8> = b.wait(8000).into_iter().map(|(_, seg)| seg.ace()).collect();
        assert_eq!(aces, [0b010, 0, 0], "{stack}");
        b.take(field(0b010, segment(PEER + 1, OWN + 1, 0, None)));
        b.end.write(Time::ZERO, 1000);
        assert!(b.poll().iter().all(|s| s.0.len == 1000 && s.0.ecn == ECN_NOT_ECT), "{stack}");
    }
}

/// Section 3.1.5: the flags of a SYN-ACK tell how the latest SYN was marked; a SYN that says nothing forbids ECT, and one that asks for RFC
/// 3168 in the same handshake resets it. Section 3.1.3: what nobody sends is a request.
#[test]
fn repeated_and_unknown_syns() {
    let mut b = Lone::listening("rfc", &accurate());
    b.take(syn(0b111));
    assert_eq!(b.take(Segment { ecn: 3, ..syn(0b111) })[0].0.ace(), 0b110);
    assert_eq!(b.take(syn(0))[0].0.ace(), 0);
    b.take(field(0b010, segment(PEER + 1, OWN + 1, 0, None)));
    b.end.write(Time::ZERO, 1000);
    assert_eq!(b.poll()[0].0.ecn, ECN_NOT_ECT);
    for (first, second) in [(0b111, 0b011), (0b011, 0b111)] {
        let mut b = Lone::listening("rfc", &accurate());
        b.take(syn(first));
        assert!(b.take(syn(second))[0].0.flags.has(Flags::RST));
        assert_eq!(b.end.state(), State::Listen);
    }
    for ace in [0b001, 0b010, 0b100, 0b101, 0b110] {
        assert_eq!(Lone::listening("rfc", &accurate()).take(syn(ace))[0].0.ace(), 0b010);
    }
}

/// Section 3.2.2.4: a client whose first feedback is 0 sends no ECT and believes no marks.
#[test]
fn a_zeroed_field_ends_ect() {
    for (first, ecn) in [(0b101, ECN_ECT0), (0, ECN_NOT_ECT)] {
        let mut a = Lone::connecting("rfc", &accurate());
        let answers = a.take(syn_ack(0b010, 0));
        assert_eq!(answers[0].0.ace(), 0b010);
        a.end.write(Time::ZERO, 1000);
        assert_eq!(a.poll()[0].0.ecn, ECN_ECT0);
        a.take(field(first, segment(PEER + 1, OWN + 1001, 0, None)));
        a.end.write(Time::ZERO, 1000);
        assert_eq!(a.poll()[0].0.ecn, ecn);
        // It still feeds back: 5 + 1 marked.
        a.take(field(first, Segment { ecn: 3, ..segment(PEER + 1, OWN + 2001, 100, None) }));
        assert_eq!(a.end.stats(Time::ZERO).ecn_signals, 0);
        a.end.write(Time::ZERO, 1000);
        assert_eq!(a.poll().pop().map(|s| s.0.ace()), Some(6));
    }
}

/// Section 3.2: the counter counts marked pure ACKs; section 3.2.2.1: the ACK of a retransmitted SYN-ACK has the handshake's encoding.
#[test]
fn marked_acks_and_repeated_syn_acks() {
    let mut a = Lone::connecting("rfc", &accurate());
    a.take(syn_ack(0b010, 0));
    let again = a.take(syn_ack(0b010, 3));
    assert_eq!(
        again.iter().map(|s| (s.0.flags.any(Flags::ACK), s.0.len, s.0.ace())).collect::<Vec<_>>(),
        [(true, 0, 0b110)]
    );
    for answers in [0, 0, 1] {
        let ack = field(0b101, Segment { ecn: 3, ..segment(PEER + 1, OWN + 1, 0, None) });
        let sent = a.take(ack);
        assert_eq!(sent.len(), answers);
        // 6 for the marked SYN-ACK and three more: 9 = 001.
        assert!(sent.iter().all(|s| s.0.ace() == 0b001));
    }
}

/// Section 3.2.2.1: a client with data to send says first, in a pure ACK, how the SYN-ACK was marked.
#[test]
fn a_pure_ack_answers_the_syn_ack_first() {
    let mut a = Lone::connecting("rfc", &accurate());
    a.end.write(Time::ZERO, 1000);
    let sent: Vec<(u32, u8)> = a.take(syn_ack(0b010, 2)).iter().map(|s| (s.0.len, s.0.ace())).collect();
    assert_eq!(sent, [(0, 0b100), (1000, 0b101)]);
}

/// Section 3.2.3.2 and `tcp_ecn_option` 2: the first SYN-ACK carries the option, retransmitted ones and SYNs do not. On Linux an end that
/// has got no option sends none until one comes.
#[test]
fn the_option_is_answered_with_the_option() {
    let begin = |order1| AccEcnOption { order1, count: 3, fields: [1, 0, 1] };
    for (stack, order1) in [("rfc", false), ("linux", true)] {
        let mut a = Lone::connecting(stack, &accurate());
        assert!(a.wait(8000).iter().all(|(_, seg)| seg.options & OPTION_ACCECN == 0), "{stack}");
        let mut b = Lone::listening(stack, &accurate());
        let (seg, sack) = b.take(syn(0b111))[0];
        assert_eq!(seg.accecn(&sack), Some(begin(order1)), "{stack}");
        assert!(b.wait(8000).iter().all(|(_, seg)| seg.options & OPTION_ACCECN == 0), "{stack}");
        let mut off = Lone::listening(stack, &Overrides { accecn_option: Some(AccEcnOptions::Off), ..accurate() });
        assert_eq!(off.take(syn(0b111))[0].0.options & OPTION_ACCECN, 0, "{stack}");
        let mut a = Lone::connecting(stack, &accurate());
        let first = a.take(syn_ack(0b010, 0))[0];
        let own = (stack != "linux").then(|| begin(order1));
        assert_eq!((first.0.ace(), first.0.accecn(&first.1)), (0b010, own), "{stack}");
        let (mut ack, mut sack) = (field(0b101, segment(PEER + 1, OWN + 1, 0, None)), SackBlocks::default());
        ack.add_accecn(&begin(order1), &mut sack);
        a.take_with(ack, &sack);
        assert_eq!(a.end.info(Time::ZERO).accecn_opt_seen, 2, "{stack}");
        let data = |seq| field(0b101, Segment { ecn: 2, ..segment(seq, OWN + 1, 500, None) });
        let mut sent = a.take(data(PEER + 1));
        sent.extend(a.take(data(PEER + 501)));
        let (seg, sack) = sent[0];
        let bytes = seg.ack - PEER;
        let expected = if order1 { [1, 0, bytes] } else { [bytes, 0, 1] };
        assert_eq!(seg.accecn(&sack), Some(AccEcnOption { order1, count: 3, fields: expected }), "{stack}");
    }
}

/// Linux `tcp_ecn_send`: under AccECN pure ACKs and retransmissions are ECN-capable too, and the FIN. Data is shorter by the option.
#[test]
fn every_segment_of_linux_is_capable() {
    let side = |stack| options(stack, &Overrides { ecn: Some(Ecn::Accurate), ..plain() });
    for (stack, all) in [("rfc", false), ("linux", true)] {
        let mut net = Net::new(
            &side(stack),
            &side(stack),
            Box::new(|s, n| if s.seg.len > 0 && n == 4 { vec![] } else { vec![DELAY] }),
        );
        net.open_a();
        net.a.supply(20_000);
        net.run_until(|net| net.a.acked() == 20_000);
        assert!(net.a.stats(net.now).segs_retrans > 0);
        for s in net.trace.iter().filter(|s| !s.seg.flags.any(Flags::SYN)) {
            let again = s.seg.len > 0 && s.seg.ecn == ECN_NOT_ECT;
            assert!(!all || s.seg.ecn == ECN_ECT0, "{:?}", s.seg);
            assert!(all || again || s.seg.ecn == if s.seg.len > 0 { ECN_ECT0 } else { ECN_NOT_ECT }, "{:?}", s.seg);
        }
        let largest = net.trace.iter().map(|s| s.seg.len).max();
        assert_eq!(largest, Some(if all { 988 } else { 1000 }), "{stack}");
    }
}

/// Data that comes twice says that its ACK was lost, a third time that ACKs with the option are dropped (Linux
/// `tcp_rcv_spurious_retrans`): from then on there is none.
#[test]
fn options_stop_where_acks_with_them_are_dropped() {
    let mut b = Lone::listening("linux", &accurate());
    b.take(Segment { options: syn(0b111).options | OPTION_SACK_PERMITTED, ..syn(0b111) });
    let (mut ack, mut sack) = (field(0b010, segment(PEER + 1, OWN + 1, 0, None)), SackBlocks::default());
    ack.add_accecn(&AccEcnOption { order1: false, count: 3, fields: [1, 0, 1] }, &mut sack);
    b.take_with(ack, &sack);
    let carried: Vec<bool> = [0, 0, 0, 500]
        .iter()
        .map(|at| {
            let sent = b.take(field(0b101, Segment { ecn: 2, ..segment(PEER + 1 + at, OWN + 1, 500, None) }));
            let seg = sent.first().map(|sent| sent.0).unwrap_or_else(|| b.wait(300)[0].1);
            seg.options & OPTION_ACCECN != 0
        })
        .collect();
    assert_eq!((carried, b.end.info(Time::ZERO).accecn_fail_mode), (vec![true, true, false, false], 4));
}
