//! No state is taken from a segment that is not acceptable: RFC 7323 section 5.3 (PAWS, the window, then TS.Recent), RFC 9293 section
//! 3.10.7.4 (the window, RST, SYN, ACK), RFC 5961. What Linux does was seen on Linux 6.18, asked with the same segments.

use crate::common::*;
use crate::lone::*;
use elephan_tcp::{Flags, Overrides, Segment, State};
use elephan_units::{Bytes, Time};

const BOTH: [&str; 2] = ["rfc", "linux"];

fn stamped() -> Overrides {
    Overrides { timestamps: Some(true), ..Overrides::default() }
}

/// RFC 7323 section 5.3: the timestamp of a segment that is wholly old is not TS.Recent, or PAWS refuses what was sent before it.
#[test]
fn an_old_segment_leaves_ts_recent_alone() {
    // Linux 6.18, which acknowledges the first two at once, echoes 1001; an ACK of both echoes the first (RFC 7323 section 4.3).
    for (stack, echoed) in [("rfc", 1000), ("linux", 1001)] {
        let mut b = Lone::established(stack, &stamped());
        for (seq, tsval) in [(101, 1000), (1101, 1001)] {
            b.take(segment(seq, OWN + 1, 1000, Some(tsval)));
        }
        let answers = b.take(segment(101, OWN + 1, 1000, Some(1010)));
        assert_eq!(answers.len(), 1, "{stack}");
        assert_eq!((answers[0].0.ack, answers[0].0.tsecr, answers[0].1[0]), (2101, echoed, (101, 1101)), "{stack}");
        b.take(segment(2101, OWN + 1, 1000, Some(1005)));
        assert_eq!(b.end.received(), 3000, "{stack}");
    }
}

/// Whatever is refused after PAWS leaves TS.Recent alone as well: data with a timestamp of 1001 is still received and echoed.
#[test]
fn refused_segments_leave_ts_recent_alone() {
    let at = |seq, ack, flags| Segment { flags, ..segment(seq, ack, 0, Some(900_000)) };
    let wrong = [
        ("an acknowledgement of what was never sent", at(101, OWN + 9999, Flags::ACK), 1),
        ("no ACK bit", at(101, OWN + 1, Flags::PSH), 0),
        ("a reset left of the window", at(90, 0, Flags::RST), 0),
        ("a SYN", at(101, 0, Flags::SYN), 1),
        ("a SYN of long ago", at(PEER, 0, Flags::SYN), 1),
        ("a pure ACK with an old number", at(90, OWN + 1, Flags::ACK), 1),
        ("a pure ACK beyond the window", at(101 + (1 << 30), OWN + 1, Flags::ACK), 1),
    ];
    for stack in BOTH {
        for (what, seg, answers) in wrong {
            let mut b = Lone::established(stack, &stamped());
            assert_eq!(b.take(seg).len(), answers, "{stack}: {what}");
            b.take(segment(101, OWN + 1, 100, Some(1001)));
            let answer = b.wait(300).pop().map(|(_, seg)| seg).unwrap_or_default();
            assert_eq!((b.end.received(), b.end.state()), (100, State::Established), "{stack}: {what}");
            assert!(answer.ack == 0 || answer.tsecr == 1001, "{stack}: {what}");
        }
    }
}

/// A handshake segment with a wrong acknowledgement is answered by a reset, and the handshake goes on (RFC 9293 section 3.10.7.4, fifth).
#[test]
fn a_wrong_acknowledgement_in_the_handshake_is_reset() {
    for stack in BOTH {
        let mut b = Lone::received(stack, &stamped());
        let answers = b.take(segment(PEER + 1, OWN + 50, 0, Some(900_000)));
        assert_eq!(answers.iter().map(said).collect::<Vec<_>>(), [(Flags::RST, OWN + 50, 0, 0)], "{stack}");
        assert_eq!(b.end.state(), State::SynReceived);
        b.take(segment(PEER + 1, OWN + 1, 100, Some(1001)));
        assert_eq!((b.end.state(), b.end.received()), (State::Established, 100), "{stack}");
        // SYN-SENT: RFC 9293 section 3.10.7.3, first.
        let mut a = Lone::connecting(stack, &stamped());
        let seg = Segment { flags: Flags::SYN | Flags::ACK, ..segment(PEER, OWN + 7, 0, None) };
        assert_eq!(a.take(seg).iter().map(said).collect::<Vec<_>>(), [(Flags::RST, OWN + 7, 0, 0)], "{stack}");
        assert_eq!(a.end.state(), State::SynSent);
        // Linux tries again after two jiffies (seen on Linux 6.18 after 11 ms).
        let next = if stack == "linux" { 8 } else { 1000 };
        assert_eq!(a.wait(1000).first().map(|(at, seg)| (*at, seg.flags)), Some((next, Flags::SYN)), "{stack}");
    }
}

/// A second SYN in the window of a handshake returns a passive opener to LISTEN (RFC 9293 section 3.10.7.4, fourth); Linux resets it too.
#[test]
fn a_second_syn_in_the_window() {
    for (stack, expected) in [("rfc", vec![]), ("linux", vec![(Flags::RST | Flags::ACK, 0, 301, 0)])] {
        let mut b = Lone::received(stack, &plain());
        let answers = b.take(Segment { flags: Flags::SYN, ..segment(300, 0, 0, None) });
        assert_eq!((answers.iter().map(said).collect::<Vec<_>>(), b.end.state()), (expected, State::Listen), "{stack}");
    }
}

/// RFC 9293 section 3.10.7.4, second: a reset returns a passive opener to LISTEN, from where the next SYN opens.
#[test]
fn a_reset_in_the_handshake_returns_to_listen() {
    for stack in BOTH {
        let mut b = Lone::received(stack, &stamped());
        let inside = Segment { flags: Flags::RST, ..segment(PEER + 5, 0, 0, None) };
        // RFC 5961 section 3.2: one that is not next to come is asked about.
        assert_eq!(
            b.take(inside).iter().map(said).collect::<Vec<_>>(),
            [(Flags::ACK, OWN + 1, PEER + 1, 0)],
            "{stack}"
        );
        assert_eq!(b.end.state(), State::SynReceived);
        b.take(Segment { flags: Flags::RST, ..segment(PEER + 1, 0, 0, None) });
        assert_eq!((b.end.state(), b.end.next_timer()), (State::Listen, elephan_units::Time::NEVER), "{stack}");
        b.take(Segment { flags: Flags::SYN, mss: 1000, ..segment(7000, 0, 0, None) });
        b.take(segment(7001, OWN + 1, 10, None));
        assert_eq!((b.end.state(), b.end.received()), (State::Established, 10), "{stack}");
    }
}

/// RFC 9293 section 3.10.7.4, fifth: the window moves by acknowledgements from SND.UNA to SND.NXT of acceptable segments alone.
#[test]
fn old_acknowledgements_and_old_segments_move_no_window() {
    for stack in BOTH {
        let mut b = Lone::established(stack, &plain());
        let window = |b: &Lone| b.end.stats(elephan_units::Time::ZERO).cur_rwin_rcvd;
        b.end.write(elephan_units::Time::ZERO, 3000);
        b.poll();
        b.take(Segment { window: 5000, ..segment(101, OWN + 1001, 0, None) });
        assert_eq!(window(&b), 5000, "{stack}");
        // New data with an old acknowledgement; an old segment with a new one, of which RFC 9293 takes nothing.
        b.take(Segment { window: 7000, ..segment(101, OWN + 1, 500, None) });
        assert_eq!((window(&b), b.end.received()), (5000, 500), "{stack}");
        b.take(segment(601, OWN + 1001, 500, None));
        let before = (window(&b), b.end.acked());
        b.take(Segment { window: 9000, ..segment(101, OWN + 2001, 400, None) });
        assert_eq!((window(&b), b.end.acked()), before, "{stack}");
    }
}

/// CWR on an old duplicate does not end the echo (RFC 3168 section 6.1.3 speaks of data that has been received).
#[test]
fn an_old_duplicate_does_not_end_the_echo() {
    for stack in BOTH {
        let o = Overrides { ecn: Some(elephan_tcp::options::Ecn::Classic), ..plain() };
        let mut b = Lone::listening(stack, &o);
        b.take(Segment { flags: Flags::SYN | Flags::ECE | Flags::CWR, mss: 1000, ..segment(PEER, 0, 0, None) });
        b.take(segment(101, OWN + 1, 0, None));
        for seq in [101, 1101] {
            b.take(Segment { ecn: 3, ..segment(seq, OWN + 1, 1000, None) });
        }
        let answers = b.take(Segment { flags: Flags::ACK | Flags::CWR, ecn: 2, ..segment(101, OWN + 1, 1000, None) });
        assert!(answers[0].0.flags.has(Flags::ECE), "{stack}");
        b.take(Segment { flags: Flags::ACK | Flags::CWR, ecn: 2, ..segment(2101, OWN + 1, 1000, None) });
        let answer = b
            .take(segment(3101, OWN + 1, 1000, None))
            .pop()
            .or_else(|| b.wait(500).pop().map(|w| (w.1, Default::default())));
        assert!(!answer.unwrap().0.flags.any(Flags::ECE), "{stack}");
    }
}

/// RFC 5961 section 5.2: an acknowledgement older than the largest window is answered, and its data is not taken.
#[test]
fn an_acknowledgement_of_long_ago_brings_no_data() {
    for stack in BOTH {
        let mut b = Lone::established(stack, &plain());
        let answers = b.take(segment(101, OWN.wrapping_sub(100_000), 100, None));
        assert_eq!((answers.len(), b.end.received()), (1, 0), "{stack}");
    }
}

/// Linux answers unacceptable segments without data once in 500 ms (tcp_invalid_ratelimit), those with data always; RFC 9293 each.
#[test]
fn answers_to_segments_without_data_are_limited_on_linux() {
    for (stack, expected) in [("rfc", [1, 1, 1, 1]), ("linux", [1, 0, 1, 1])] {
        let mut b = Lone::established(stack, &plain());
        let mut answers = Vec::new();
        for (at, len) in [(0, 0), (400, 0), (450, 10), (500, 0)] {
            b.at = at;
            answers.push(b.take(segment(PEER - 40, OWN + 1, len, None)).len());
        }
        assert_eq!(answers, expected, "{stack}");
    }
}

/// Linux takes a timestamp that is a tick too old (TCP_PAWS_WINDOW), RFC 7323 does not. An old pure ACK that PAWS refuses is answered
/// by RFC 7323 and, if its number is old as well, not by Linux since 6.14 (seen on 6.18).
#[test]
fn paws_in_the_rfc_and_in_linux() {
    for (stack, received, old_ack, same_ack) in [("rfc", 1000, 1, 1), ("linux", 1100, 0, 1)] {
        let mut b = Lone::established(stack, &stamped());
        b.take(segment(101, OWN + 1, 1000, Some(1005)));
        b.take(segment(1101, OWN + 1, 100, Some(1004)));
        assert_eq!(b.end.received(), received, "{stack}");
        b.at = 1000;
        b.poll();
        assert_eq!(b.take(segment(600, OWN + 1, 0, Some(900))).len(), old_ack, "{stack}");
        b.at = 2000;
        let next = 101 + received as u32;
        assert_eq!(b.take(Segment { window: 70, ..segment(next, OWN + 1, 0, Some(900)) }).len(), same_ack, "{stack}");
    }
}

/// Text after the peer's FIN is ignored (RFC 9293 section 3.10.7.4, seventh).
#[test]
fn text_after_the_fin_is_ignored() {
    for stack in BOTH {
        let mut b = Lone::established(stack, &plain());
        b.take(Segment { flags: Flags::ACK | Flags::FIN, ..segment(101, OWN + 1, 10, None) });
        b.take(segment(112, OWN + 1, 1000, None));
        assert_eq!((b.end.received(), b.end.state()), (10, State::CloseWait), "{stack}");
    }
}

/// A segment that begins before the connection did is answered, whatever it covers.
#[test]
fn a_segment_from_before_the_connection_is_refused() {
    for stack in BOTH {
        let mut b = Lone::established(stack, &plain());
        let answers = b.take(segment(PEER - 50, OWN + 1, 1000, None));
        assert_eq!((answers.len(), b.end.received()), (1, 0), "{stack}");
    }
}

/// RFC 2883 section 4: in-order data that covers what had come out of order is a duplicate in part; one block, the first.
#[test]
fn data_that_covers_what_has_come_is_reported() {
    for stack in BOTH {
        let mut b = Lone::established(stack, &stamped());
        let offset = |n: u32| PEER + n;
        for (left, right) in [(1001, 2001), (2001, 3001), (4001, 5001), (7001, 8001)] {
            b.take(segment(offset(left), OWN + 1, right - left, Some(1000)));
        }
        let answers = b.take(segment(offset(1), OWN + 1, 6000, Some(1000)));
        let (seg, sack) = answers[0];
        assert_eq!((answers.len(), seg.ack, seg.sack_len), (1, offset(6001), 2), "{stack}");
        assert_eq!(sack[..2], [(offset(1001), offset(3001)), (offset(7001), offset(8001))], "{stack}");
    }
}

/// The FIN has a number: a duplicate reports it when it had come before, and not when it is new.
#[test]
fn a_new_fin_is_no_duplicate() {
    for stack in BOTH {
        for out_of_order in [false, true] {
            let mut b = Lone::established(stack, &stamped());
            let first = if out_of_order { 1101 } else { 101 };
            b.take(segment(first, OWN + 1, 1000, Some(1000)));
            let closing = Segment { flags: Flags::ACK | Flags::FIN, ..segment(first, OWN + 1, 1000, Some(1000)) };
            let blocks = |answers: Vec<(Segment, elephan_tcp::SackBlocks)>| {
                let (seg, sack) = answers[0];
                sack[..usize::from(seg.sack_len)].to_vec()
            };
            let end = first + 1000;
            let held = if out_of_order { vec![(first, end + 1)] } else { vec![] };
            // In order Linux's tcp_fin forgets the duplicate (seen on Linux 6.18).
            let forgotten = stack == "linux" && !out_of_order;
            let once = if forgotten { vec![] } else { [vec![(first, end)], held.clone()].concat() };
            let twice = [vec![(first, end + 1)], held].concat();
            assert_eq!(blocks(b.take(closing)), once, "{stack}");
            assert_eq!(blocks(b.take(closing)), twice, "{stack}");
            if !out_of_order {
                let bare = Segment { flags: Flags::ACK | Flags::FIN, ..segment(end, OWN + 1, 0, Some(1000)) };
                assert_eq!(blocks(b.take(bare)), [(end, end + 1)], "{stack}");
            }
        }
    }
}

/// RFC 5961 section 3.2: a reset outside the window is dropped in silence. The window ends before its right edge, where Linux's
/// `tcp_sequence` still takes it. The window of 10000 here begins at 101.
#[test]
fn a_reset_at_the_right_edge_of_the_window() {
    let window = Overrides { receive_window: Some(Bytes(10_000)), window_scaling: Some(false), ..plain() };
    for (stack, seq, answers) in
        [("rfc", 10_100, 1), ("rfc", 10_101, 0), ("freebsd", 10_100, 1), ("freebsd", 10_101, 0), ("linux", 10_102, 0)]
    {
        let mut b = Lone::established(stack, &window);
        let reset = Segment { flags: Flags::RST, ..segment(seq, 0, 0, None) };
        assert_eq!((b.take(reset).len(), b.end.state()), (answers, State::Established), "{stack} {seq}");
    }
}

/// RFC 9293 section 3.10.7.4, fifth: what arrives in TIME-WAIT is acknowledged; what says only what both ends know is not, or two ends
/// would answer each other for ever. Linux says nothing to either (`tcp_timewait_state_process`).
#[test]
fn what_arrives_in_time_wait() {
    for (stack, answers) in [("rfc", 1), ("freebsd", 1), ("linux", 0)] {
        let mut b = Lone::established(stack, &plain());
        b.end.close(Time::ZERO);
        b.poll();
        b.take(Segment { flags: Flags::ACK | Flags::FIN, ..segment(PEER + 1, OWN + 2, 0, None) });
        assert_eq!(b.end.state(), State::TimeWait, "{stack}");
        assert_eq!(b.take(segment(PEER + 2, OWN + 2, 0, None)).len(), 0, "{stack}");
        let said: Vec<Said> = b.take(segment(PEER + 3, OWN + 2, 0, None)).iter().map(said).collect();
        assert_eq!(said, vec![(Flags::ACK, OWN + 2, PEER + 2, 0); answers], "{stack}");
    }
}

/// RFC 9293 sections 3.10.7.2 and 3.10.7.3: text of a SYN or a SYN-ACK is taken once the connection is established. The SYN-ACK
/// acknowledges the SYN alone. Linux drops such text outside Fast Open.
#[test]
fn text_of_a_syn_waits_for_the_connection() {
    for (stack, taken) in [("rfc", 3), ("freebsd", 3), ("linux", 0)] {
        let syn = Segment { flags: Flags::SYN, len: 3, mss: 1460, ..segment(PEER, 0, 0, None) };
        let mut b = Lone::listening(stack, &plain());
        let answers = b.take(syn);
        assert_eq!((answers.len(), answers[0].0.ack, b.end.arrived()), (1, PEER + 1, 0), "{stack}");
        b.take(segment(PEER + 1, OWN + 1, 0, None));
        assert_eq!((b.end.state(), b.end.arrived()), (State::Established, taken), "{stack}");

        let mut a = Lone::connecting(stack, &plain());
        let answers = a.take(Segment { flags: Flags::SYN | Flags::ACK, ack: OWN + 1, ..syn });
        assert_eq!((a.end.state(), a.end.arrived()), (State::Established, taken), "{stack}");
        assert_eq!(answers.last().map(|(seg, _)| seg.ack), Some(PEER + 1 + taken as u32), "{stack}");
    }
}
