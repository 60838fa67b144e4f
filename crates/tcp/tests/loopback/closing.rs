//! Opening and closing by the clock: the SYN schedule, `close` before the connection is there, the ACK of a FIN.

use crate::common::*;
use crate::lone::*;
use elephan_tcp::{Flags, Segment, State};
use elephan_units::Time;

/// RFC 6298 section 5.5 doubles each timeout; Linux since 6.5 not the first four (tcp_syn_linear_timeouts; seen on Linux 6.18).
#[test]
fn the_syn_schedule() {
    for (stack, expected) in [("rfc", vec![1, 3, 7, 15]), ("linux", vec![1, 2, 3, 4, 5, 7, 11])] {
        let mut a = Lone::connecting(stack, &plain());
        let sent: Vec<u64> = a.wait(15_000).into_iter().map(|(at, _)| at / 1000).collect();
        assert_eq!(sent, expected, "{stack}");
        // A SYN-ACK backs off from the first (Linux reqsk_timeout).
        let mut b = Lone::received(stack, &plain());
        let sent: Vec<u64> = b.wait(8000).into_iter().map(|(at, _)| at / 1000).collect();
        assert_eq!(sent, [1, 3, 7], "{stack}");
    }
}

/// RFC 9293 section 3.10.4: CLOSE in SYN-SENT deletes the connection. `end_stream` waits for it.
#[test]
fn close_in_syn_sent() {
    for stack in ["rfc", "linux"] {
        let mut a = Lone::connecting(stack, &plain());
        a.end.supply(100);
        a.end.close(Time::ZERO);
        assert_eq!((a.end.state(), a.end.next_timer()), (State::Closed, Time::NEVER), "{stack}");
        let answer = Segment { flags: Flags::SYN | Flags::ACK, mss: 1000, ..segment(PEER, OWN + 1, 0, None) };
        assert_eq!(a.take(answer).iter().map(said).collect::<Vec<_>>(), [(Flags::RST, OWN + 1, 0, 0)], "{stack}");

        let mut a = Lone::connecting(stack, &plain());
        a.end.supply(100);
        a.end.end_stream(Time::ZERO);
        assert_eq!(a.end.state(), State::SynSent);
        let sent = a.take(answer);
        assert!(sent.iter().any(|s| s.0.len == 100 && s.0.flags.any(Flags::FIN)), "{stack}: {sent:?}");
    }
}

/// Linux tcp_fin enters ping-pong mode, so that the ACK of a FIN waits as that of data does: 40 ms, seen on Linux 6.18 at 44 ms; without
/// any data before it the timeout is 0. RFC 9293 section 3.10.7.4, eighth: at once.
#[test]
fn the_ack_of_a_fin() {
    let fin = |seq| Segment { flags: Flags::ACK | Flags::FIN, ..segment(seq, OWN + 1, 0, None) };
    for (stack, at) in [("rfc", 10), ("linux", 50)] {
        let mut b = Lone::established(stack, &plain());
        assert_eq!(b.take(fin(101)).len(), 1, "{stack}");
        let mut b = Lone::established(stack, &plain());
        b.take(segment(101, OWN + 1, 1000, None));
        b.wait(5);
        b.at = 10;
        b.poll();
        let mut sent: Vec<(u64, Segment)> = b.take(fin(1101)).into_iter().map(|(seg, _)| (10, seg)).collect();
        sent.extend(b.wait(300));
        let acks: Vec<(u64, u32)> = sent.iter().filter(|s| s.1.ack == 1102).map(|s| (s.0, s.1.ack)).collect();
        assert_eq!(acks, [(at, 1102)], "{stack}");
    }
    // An end that has closed already answers at once (tcp_fin: FIN_WAIT1 and FIN_WAIT2).
    let mut b = Lone::established("linux", &plain());
    b.take(segment(101, OWN + 1, 1000, None));
    b.end.close(Time::ZERO);
    b.poll();
    assert_eq!(b.take(fin(1101)).len(), 1);
}

/// RFC 9293 section 3.10.4: CLOSE enters FIN-WAIT-1 "in any case", although data waits for the window before the FIN. The peer's FIN
/// then leads to CLOSING or, when the peer has closed first, CLOSE leads to LAST-ACK.
#[test]
fn close_with_data_queued_changes_the_state_at_once() {
    let from_peer = |flags, seq, ack, window| Segment { flags, window, ..segment(seq, ack, 0, None) };
    for stack in ["rfc", "winxp", "linux-2.4", "linux", "windows", "freebsd"] {
        for peer_first in [false, true] {
            let mut a = Lone::established(stack, &plain());
            let next = OWN + 1;
            a.take(from_peer(Flags::ACK, PEER + 1, next, 0));
            a.end.write(Time::ZERO, 100);
            assert!(a.poll().is_empty(), "{stack}: the window is closed");
            if peer_first {
                a.take(from_peer(Flags::ACK | Flags::FIN, PEER + 1, next, 0));
                assert_eq!(a.end.state(), State::CloseWait, "{stack}");
            }
            a.end.close(Time::ZERO);
            if peer_first {
                assert_eq!(a.end.state(), State::LastAck, "{stack}");
            } else {
                assert_eq!(a.end.state(), State::FinWait1, "{stack}");
                a.take(from_peer(Flags::ACK | Flags::FIN, PEER + 1, next, 0));
                assert_eq!(a.end.state(), State::Closing, "{stack}");
            }
            // The window opens: data and FIN leave, and their ACK is the end.
            let sent = a.take(from_peer(Flags::ACK, PEER + 2, next, 1000));
            let ends: Vec<bool> = sent.iter().filter(|s| s.0.len == 100).map(|s| s.0.flags.any(Flags::FIN)).collect();
            assert_eq!(ends, [true], "{stack}: {sent:?}");
            a.take(from_peer(Flags::ACK, PEER + 2, next + 101, 1000));
            assert_eq!(a.end.state(), if peer_first { State::Closed } else { State::TimeWait }, "{stack}");
        }
    }
}
