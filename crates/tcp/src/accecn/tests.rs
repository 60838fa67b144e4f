//! Counters, handshake and feedback, by hand from RFC 9768 and from Linux's functions.

use super::*;
use crate::options::AccEcnOptions;
use crate::segment::AccEcnOption;

const MSS: u64 = 1000;

fn rfc(peer_syn: u8, client: bool) -> AccEcn {
    AccEcn::new(AccEcnRule::Rfc9768, peer_syn, client)
}

fn linux() -> AccEcn {
    AccEcn::new(AccEcnRule::Linux, ECN_NOT_ECT, false)
}

/// The ACE field, EE0B and ECEB of the next ACK.
fn told(end: &mut AccEcn) -> (u8, (u32, u32)) {
    let (ace, option) = (end.ace(true), end.option(3, None));
    (ace, (option.counter(ECN_ECT0).unwrap(), option.counter(ECN_CE).unwrap()))
}

/// An ACK of so many bytes with this ACE field and, perhaps, an option of order 0 with these bytes marked and no others.
fn take(s: &mut AccEcn, ace: u8, ceb: Option<u32>, bytes: u64) -> Marked {
    let option = ceb.map(|ceb| AccEcnOption { order1: false, count: 2, fields: [1, ceb, 0] });
    s.take(
        ace,
        option.as_ref(),
        &Progress { segments: bytes / MSS, bytes, mss: MSS, reliable: true, ..Progress::default() },
    )
}

/// Tables 2 and 3 of RFC 9768.
#[test]
fn the_handshake_says_how_the_syn_arrived() {
    let table = [(ECN_NOT_ECT, 0b010), (ECN_ECT1, 0b011), (ECN_ECT0, 0b100), (ECN_CE, 0b110)];
    for (ecn, ace) in table {
        assert_eq!(rfc(ecn, false).syn_ack_ace(), ace);
        let mut client = rfc(ecn, true);
        assert_eq!(client.ace(true), ace);
        // Then the counter: 5, or 6 if the SYN-ACK was marked.
        assert_eq!(client.ace(true), if ecn == ECN_CE { 6 } else { 5 });
        // With data the counter counts at once.
        assert_eq!(rfc(ecn, true).ace(false), if ecn == ECN_CE { 6 } else { 5 });
    }
}

/// Table 4: 110 tells of a marked SYN-ACK, 000 of a mangled header; data has the counter.
#[test]
fn what_the_server_reads_in_the_first_ack() {
    let after = |ace, pure| {
        let mut server = rfc(ECN_NOT_ECT, false);
        server.on_first_ack(ace, pure, false);
        (server.s_cep, server.trusted)
    };
    for ace in [0b001, 0b010, 0b011, 0b100, 0b101, 0b111] {
        assert_eq!(after(ace, true), (5, true));
    }
    assert_eq!(after(0b110, true), (6, true));
    assert_eq!(after(0b000, true), (5, false));
    assert_eq!(after(0b000, false), (5, true));
}

/// Section 3.2.2.4: the first field after the handshake, not the handshake's own; a server that has seen 000 only sends no ECT.
#[test]
fn a_zeroed_field_is_found_in_the_first_segment_after_the_handshake() {
    let after = |fields: &[u8]| {
        let mut client = rfc(ECN_NOT_ECT, true);
        fields.iter().for_each(|ace| client.on_field(*ace));
        (client.trusted, client.capable)
    };
    assert_eq!(after(&[0]), (false, false));
    assert_eq!(after(&[5, 0]), (true, true));
    let mut server = rfc(ECN_NOT_ECT, false);
    server.on_first_ack(0b010, true, true);
    server.on_field(0b010);
    assert!(server.trusted);
    server.on_field(0);
    assert!(!server.trusted);
    let mut server = rfc(ECN_NOT_ECT, false);
    server.stop_ect();
    assert_eq!((server.trusted, server.capable), (true, false));
}

/// Section 3.2: marked pure ACKs count; section 3.2.2.5.1: the third is acknowledged, with data that waits the second.
#[test]
fn marked_acks_count() {
    for (waiting, expected) in [(false, [false, false, true]), (true, [false, true, true])] {
        let mut r = rfc(ECN_NOT_ECT, false);
        assert_eq!([0; 3].map(|_| r.on_segment(ECN_CE, 0, waiting)), expected);
        assert_eq!(told(&mut r), (0, (1, 0)));
        assert!(!r.on_segment(ECN_NOT_ECT, 0, waiting));
    }
}

/// Section 3.2.2.1: the ACK of a retransmitted SYN-ACK has the handshake's encoding again, of the latest; a mark counts once.
#[test]
fn a_repeated_syn_ack_is_answered_as_the_first() {
    let mut client = rfc(ECN_NOT_ECT, true);
    assert_eq!(client.ace(true), 0b010);
    for _ in 0..2 {
        client.on_repeated_syn(ECN_CE, true);
        assert_eq!((client.ace(true), client.ace(true)), (0b110, 6));
    }
}

/// From 5: 6, 7, 0, 1, ...; bytes of payload.
#[test]
fn the_receiver_counts_modulo_eight() {
    let mut r = rfc(ECN_NOT_ECT, false);
    let aces: Vec<(u8, (u32, u32))> = (0..5)
        .map(|_| {
            r.on_segment(ECN_CE, 1000, false);
            told(&mut r)
        })
        .collect();
    assert_eq!(aces, [(6, (1, 1000)), (7, (1, 2000)), (0, (1, 3000)), (1, (1, 4000)), (2, (1, 5000))]);
    r.on_segment(ECN_ECT0, 1000, false);
    assert_eq!(told(&mut r), (2, (1001, 5000)));
    r.on_segment(ECN_NOT_ECT, 1000, false);
    assert_eq!(told(&mut r), (2, (1001, 5000)));
}

/// Section 3.2.2.5.1: the first mark after an unmarked segment, then every second.
#[test]
fn changes_and_pairs_of_marks_are_acknowledged() {
    let mut r = rfc(ECN_NOT_ECT, false);
    let mut due = Vec::new();
    for ce in [false, true, true, true, true, false, true] {
        due.push(r.on_segment(if ce { ECN_CE } else { ECN_ECT0 }, 1000, false));
        if due.last() == Some(&true) {
            told(&mut r);
        }
    }
    assert_eq!(due, [false, true, false, true, false, false, true]);
}

/// The option gives bytes exactly; the packet counter follows it over whole turns.
#[test]
fn the_option_is_exact_across_turns() {
    let mut s = rfc(ECN_NOT_ECT, false);
    // 3 of 3 segments: ACE 5 + 3 = 8 = 0.
    assert_eq!(take(&mut s, 0, Some(3000), 3 * MSS), Marked { segments: 3, bytes: 3000 });
    // 20 more of 40: 8 + 20 = 28 = 4 modulo 8.
    assert_eq!(take(&mut s, 4, Some(23_000), 40 * MSS), Marked { segments: 20, bytes: 20_000 });
    // Nothing new, and an ACK without progress says nothing.
    assert_eq!(take(&mut s, 4, Some(23_000), 40 * MSS), Marked::default());
    assert_eq!(take(&mut s, 7, Some(99_000), 0), Marked::default());
}

/// ECEB turns over at 2^24 = 16 777 216.
#[test]
fn the_byte_counter_wraps() {
    let mut s = rfc(ECN_NOT_ECT, false);
    s.delivered[2] = 16_777_000;
    assert_eq!(take(&mut s, 6, Some(784), 2 * MSS).bytes, 1000);
    let mut r = rfc(ECN_NOT_ECT, false);
    r.received[2] = 16_777_000;
    r.on_segment(ECN_CE, 1000, false);
    assert_eq!(told(&mut r).1.1, 784);
}

/// Section 3.2.2.5.2 without the option: 2 of 5 are 2; with 10 acknowledged a difference of 2 may be 10, and is
/// taken for it; of 20 acknowledged, 18; of 9, 2.
#[test]
fn without_the_option_the_safest_likely_case_counts() {
    for (acked, expected) in [(5, 2), (7, 2), (9, 2), (10, 10), (17, 10), (20, 18)] {
        let mut s = rfc(ECN_NOT_ECT, false);
        let marked = take(&mut s, 7, None, acked * MSS);
        assert_eq!((marked.segments, marked.bytes), (expected, expected * 1000), "{acked}");
    }
}

/// An estimate that was too high is corrected by the next option, and is not counted twice when it was right.
#[test]
fn the_next_option_corrects_an_estimate() {
    let mut s = rfc(ECN_NOT_ECT, false);
    assert_eq!(take(&mut s, 7, None, 10 * MSS).bytes, 10_000);
    // There had been two marks: 5 + 2 = 7. One more: 8 = 0, 3000 bytes.
    assert_eq!(take(&mut s, 0, Some(3000), MSS), Marked { segments: 1, bytes: 0 });
    assert_eq!(take(&mut s, 1, Some(4000), MSS), Marked { segments: 1, bytes: 1000 });
    let mut s = rfc(ECN_NOT_ECT, false);
    assert_eq!(take(&mut s, 7, None, 2 * MSS).bytes, 2000);
    assert_eq!(take(&mut s, 0, Some(3000), MSS), Marked { segments: 1, bytes: 1000 });
}

/// Section 3.2.2.3 and Linux `tcp_accecn_validate_syn_feedback`: what left unmarked cannot have arrived marked. Linux then does not
/// count the mark of a SYN-ACK, RFC 9768 does (table 4), so as to stay with the peer's counter.
#[test]
fn an_answer_that_cannot_be_ends_ect() {
    for (ace, capable) in [(0b010, true), (0b011, false), (0b100, false), (0b110, false), (0b101, true)] {
        let mut client = rfc(ECN_NOT_ECT, true);
        client.on_syn_ack(ace, true);
        assert_eq!((client.capable(), client.fails), (capable, if capable { 0 } else { 2 }), "{ace:#b}");
        let mut client = rfc(ECN_NOT_ECT, true);
        client.on_syn_ack(ace, false);
        assert!(client.capable());
    }
    for (mut server, cep) in [(rfc(ECN_NOT_ECT, false), 6), (linux(), 5)] {
        server.on_first_ack(0b110, true, true);
        assert_eq!((server.capable(), server.s_cep), (false, cep));
    }
}

/// Linux `tcp_ecn_received_counters`: a data segment with another codepoint than the one before is acknowledged at once, a series of
/// marks at the sixth; pure ACKs are not acknowledged.
#[test]
fn linux_acknowledges_changes() {
    let mut r = linux();
    let due = [ECN_ECT0, ECN_ECT0, ECN_ECT1, ECN_CE, ECN_CE, ECN_CE, ECN_CE, ECN_CE, ECN_NOT_ECT]
        .map(|ecn| r.on_segment(ecn, 1000, false));
    assert_eq!(due, [true, false, true, true, false, false, false, false, true]);
    assert!(r.on_segment(ECN_CE, 1000, false));
    assert!(!r.on_segment(ECN_ECT0, 0, false));
}

/// Linux `__tcp_accecn_process`, 10 segments acknowledged after so many: without an option the most that ACE allows, unless ACKs cover
/// more than four segments on average (here the first covers all of them).
#[test]
fn linux_takes_the_most_of_rare_large_acks() {
    for (before, ace, expected) in [(0, 5, 0), (0, 6, 1), (0, 4, 7), (1, 5, 8), (1, 7, 10)] {
        let mut s = linux();
        if before > 0 {
            assert_eq!(take(&mut s, 5, None, before * MSS), Marked::default());
        }
        assert_eq!(take(&mut s, ace, None, 10 * MSS).segments, expected, "{before} {ace}");
    }
}

/// The same with options: no byte more marked is no turn of ACE, 8,000 bytes are one, and 1,000 are the one segment that ACE tells.
#[test]
fn linux_goes_by_the_bytes_of_the_option() {
    let option = |e0b: u32, ceb: u32| AccEcnOption { order1: true, count: 3, fields: [1, ceb, e0b] };
    let progress =
        |segments| Progress { segments, bytes: segments * MSS, mss: MSS, reliable: true, ..Progress::default() };
    for (ceb, e0b, ace, marked) in [
        (0, 10_001, 5, Marked::default()),
        (8_000, 2_001, 5, Marked { segments: 8, bytes: 8_000 }),
        (1_000, 9_001, 6, Marked { segments: 1, bytes: 1_000 }),
    ] {
        let mut s = linux();
        s.take(5, Some(&option(1001, 0)), &progress(1));
        assert_eq!(s.estimate, ECN_ECT0);
        assert_eq!(s.take(ace, Some(&option(e0b + 1000, ceb)), &progress(10)), marked);
        assert_eq!(s.counted().delivered, [0, u64::from(e0b) + 999, u64::from(ceb)]);
    }
    // Where one counter alone grows, ACKs without an option add to it.
    let mut s = linux();
    s.hear(&option(1001, 0));
    s.take(5, Some(&option(1001, 0)), &progress(1));
    s.take(5, None, &progress(2));
    assert_eq!(s.counted().delivered, [0, 3000, 0]);
}

/// Progress is what is acknowledged; for Linux a newer timestamp as well.
#[test]
fn an_ack_without_progress_says_nothing() {
    for (newer, expected) in [(false, 0), (true, 1)] {
        let progress = Progress { newer, mss: MSS, ..Progress::default() };
        assert_eq!(linux().take(6, None, &progress).segments, expected);
        assert_eq!(rfc(ECN_NOT_ECT, false).take(6, None, &progress).segments, 0);
    }
}

/// Linux `tcp_options_fit_accecn`: 40 bytes less timestamps and blocks. What has changed must be there: three counters of order 1 for
/// ECT(0), two for CE, one for ECT(1); a third block gives way.
#[test]
fn counters_give_way_to_blocks() {
    let after = |ecn: u8, room, blocks| {
        let mut end = linux();
        if ecn != ECN_NOT_ECT {
            end.on_segment(ecn, 1000, false);
        }
        end.fit(room, blocks)
    };
    for (ecn, room, blocks, expected) in [
        (ECN_ECT0, 40, 0, Some((3, 0))),
        (ECN_ECT0, 28, 0, Some((3, 0))),
        // Timestamps and one, two, three blocks.
        (ECN_ECT0, 16, 1, Some((3, 1))),
        (ECN_ECT0, 8, 2, None),
        (ECN_CE, 8, 2, Some((2, 2))),
        (ECN_ECT1, 8, 2, Some((2, 2))),
        (ECN_CE, 0, 3, Some((2, 2))),
        (ECN_ECT0, 0, 3, None),
        (ECN_NOT_ECT, 0, 3, Some((0, 3))),
        // Without timestamps four blocks leave 4 bytes.
        (ECN_ECT1, 4, 4, Some((1, 4))),
        (ECN_CE, 4, 4, Some((3, 3))),
    ] {
        assert_eq!(after(ecn, room, blocks), expected, "{ecn} {room} {blocks}");
    }
}

/// `tcp_ecn_option` 0, 1, 2: none; two after a change, and three a round trip of 30 ms; all. An end that has heard no option sends none.
#[test]
fn when_the_option_is_sent() {
    let beacon = Some(elephan_units::Span::from_ms(10));
    let ms = |ms| Time::ZERO.saturating_add(elephan_units::Span::from_ms(ms));
    let mut end = linux();
    end.on_segment(ECN_CE, 1000, false);
    assert!(!end.sends_option(AccEcnOptions::Full, true, beacon));
    end.hear(&end.syn_ack_option());
    let mut sent = Vec::new();
    for at in [0, 1, 2, 10, 11, 12, 20, 25] {
        end.set_time(ms(at));
        let [off, minimum, full] = [AccEcnOptions::Off, AccEcnOptions::Minimum, AccEcnOptions::Full]
            .map(|policy| end.sends_option(policy, false, beacon));
        assert!(!off && full);
        if minimum {
            end.option(3, None);
            sent.push(at);
        }
    }
    assert_eq!(sent, [0, 1, 11, 25]);
    // RFC 9768: pure ACKs, and data with something new to tell.
    let mut end = rfc(ECN_NOT_ECT, false);
    end.hear(&end.syn_ack_option());
    assert!(end.sends_option(AccEcnOptions::Acks, true, None) && !end.sends_option(AccEcnOptions::Acks, false, None));
    end.on_segment(ECN_ECT0, 1000, false);
    assert!(end.sends_option(AccEcnOptions::Acks, false, None));
}

/// A middlebox that zeroes the option is found by the counters that begin at 1; one that drops segments with it by data that comes a
/// third time though its report carried an option (Linux `tcp_rcv_spurious_retrans`).
#[test]
fn options_that_do_not_get_through() {
    let mut end = linux();
    end.hear(&AccEcnOption { order1: true, count: 3, fields: [0, 0, 1] });
    assert_eq!((end.counted().opt_seen, end.counted().fail_mode), (3, 8));
    let mut end = linux();
    end.hear(&end.syn_ack_option());
    end.option(3, Some(7));
    end.on_duplicate(8);
    assert!(end.sends_option(AccEcnOptions::Full, true, None));
    end.on_duplicate(7);
    assert_eq!(end.counted().fail_mode, 4);
    assert!(!end.sends_option(AccEcnOptions::Full, true, None));
}
