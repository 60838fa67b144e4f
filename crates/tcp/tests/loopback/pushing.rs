//! What a sender may send and says with it: PSH, Nagle, the FIN and the peer's window, probes of a closed window, and the receiver's word
//! that it has room again. What Linux does was seen on Linux 6.18.

use crate::common::*;
use crate::lone::*;
use elephan_tcp::{Flags, Overrides, Segment};
use elephan_units::{Bytes, Span, Time};

const BOTH: [&str; 2] = ["rfc", "linux"];

fn flags(sent: &[(Segment, elephan_tcp::SackBlocks)]) -> Vec<(u32, Flags)> {
    sent.iter().map(|(seg, _)| (seg.len, seg.flags)).collect()
}

/// A connection whose first byte has been acknowledged with this window.
fn with_window(stack: &str, window: u16) -> Lone {
    let mut a = Lone::established(stack, &plain());
    a.end.write(Time::ZERO, 1);
    a.poll();
    a.take(Segment { window, ..segment(101, OWN + 2, 0, None) });
    a
}

/// The end of a write carries PSH, and so does its retransmission (RFC 9293 section 3.9.1.2); a FIN pushes by itself.
#[test]
fn psh_stays_with_the_end_of_a_write() {
    for stack in BOTH {
        let mut a = Lone::established(stack, &plain());
        a.end.write(Time::ZERO, 1500);
        assert_eq!(flags(&a.poll()), [(1000, Flags::ACK), (500, Flags::ACK | Flags::PSH)], "{stack}");
        a.take(segment(101, OWN + 1001, 0, None));
        // More has been written meanwhile: the old end is the end of a write all the same.
        a.end.write(Time::ZERO, 1000);
        a.poll();
        let again = a.wait(3000);
        let (_, again) = again.iter().find(|(_, seg)| seg.seq == OWN + 1001).unwrap();
        assert_eq!((again.len, again.flags), (500, Flags::ACK | Flags::PSH), "{stack}");
        a.take(segment(101, OWN + 2501, 0, None));
        a.end.close(Time::ZERO);
        assert_eq!(flags(&a.poll()), [(0, Flags::ACK | Flags::FIN)], "{stack}");
    }
}

/// The FIN has a number, for which the peer's window must have room.
#[test]
fn the_fin_waits_for_the_window() {
    for (stack, probes) in [("rfc", 1), ("linux", 2)] {
        let mut a = with_window(stack, 1000);
        a.end.write(Time::ZERO, 1000);
        a.end.close(Time::ZERO);
        assert_eq!(flags(&a.poll()), [(1000, Flags::ACK | Flags::PSH)], "{stack}");
        assert!(a.take(Segment { window: 0, ..segment(101, OWN + 1002, 0, None) }).is_empty(), "{stack}");
        // Nothing is left but the FIN: the probe has an old number and no data.
        let sent = a.wait(1500);
        assert!(sent.len() >= probes && sent.iter().all(|(_, seg)| (seg.seq, seg.len) == (OWN + 1001, 0)), "{stack}");
        let opened = a.take(Segment { window: 1, ..segment(101, OWN + 1002, 0, None) });
        assert_eq!(flags(&opened), [(0, Flags::ACK | Flags::FIN)], "{stack}");
    }
}

/// RFC 9293 section 3.8.6.1: a byte of new data; Linux tcp_xmit_probe_skb: no data, with the number before the first unacknowledged.
#[test]
fn probes_of_a_closed_window() {
    for (stack, seq, len) in [("rfc", OWN + 1002, 1), ("linux", OWN + 1001, 0)] {
        let mut a = with_window(stack, 1000);
        a.end.write(Time::ZERO, 3000);
        assert_eq!(a.poll().len(), 1, "{stack}");
        a.take(Segment { window: 0, ..segment(101, OWN + 1002, 0, None) });
        let sent = a.wait(4000);
        assert!(sent.len() >= 2 && sent.iter().all(|(_, seg)| (seg.seq, seg.len) == (seq, len)), "{stack}: {sent:?}");
        // It is answered, which opens the window.
        let mut b = Lone::established("rfc", &plain());
        b.take(segment(101, OWN + 1, 1000, None));
        b.wait(300);
        assert_eq!(b.take(segment(1100, OWN + 1, 0, None)).len(), 1);
        let opened = a.take(Segment { window: 5000, ..segment(101, OWN + 1002, 0, None) });
        assert_eq!(flags(&opened), [(1000, Flags::ACK), (1000, Flags::ACK | Flags::PSH)], "{stack}");
    }
}

/// RFC 9293 section 3.7.4: nothing small while anything is unacknowledged; Minshall (Linux tcp_minshall_check): while anything small is.
#[test]
fn nagle_and_minshall() {
    for (stack, sent) in [("rfc", vec![1000]), ("linux", vec![1000, 500])] {
        let mut a = Lone::established(stack, &Overrides { nagle: Some(true), ..plain() });
        let lens = |sent: Vec<(Segment, elephan_tcp::SackBlocks)>| sent.iter().map(|s| s.0.len).collect::<Vec<_>>();
        a.end.write(Time::ZERO, 1500);
        assert_eq!(lens(a.poll()), sent, "{stack}");
        a.end.write(Time::ZERO, 100);
        assert!(lens(a.poll()).is_empty(), "{stack}: a second small one waits");
        let rest = 1600 - sent.iter().sum::<u32>();
        let acked = OWN + 1 + sent.iter().sum::<u32>();
        assert_eq!(lens(a.take(segment(101, acked, 0, None))), [rest], "{stack}");
    }
}

/// A buffer of 16,000 B is full. BSD tells of two segments, Linux when the window has at least doubled and not of less than a segment or a
/// sixteenth of the buffer (__tcp_cleanup_rbuf, __tcp_select_window).
#[test]
fn a_reader_tells_of_room() {
    for (stack, told) in [("rfc", vec![2000, 4000, 6000, 8000, 10_000]), ("linux", vec![1000, 2000, 4000, 8000])] {
        let o = Overrides { receive_window: Some(Bytes(16_000)), window_scaling: Some(false), ..plain() };
        let mut b = Lone::established(stack, &o);
        b.end.set_auto_read(false);
        for n in 0..16 {
            b.take(segment(101 + 1000 * n, OWN + 1, 1000, None));
        }
        b.wait(1000);
        let mut windows = Vec::new();
        for _ in 0..100 {
            b.end.read(Time::ZERO, 100);
            windows.extend(b.poll().iter().map(|s| s.0.window));
        }
        assert_eq!(windows, told, "{stack}");
    }
}

/// RFC 9293 section 3.10.7.4 trims what reaches beyond the window; Linux since 6.17 takes nothing of it while data waits for the application
/// (a window of 600 B and a segment of 1,000 B on Linux 6.18).
#[test]
fn data_that_reaches_beyond_the_window() {
    for (stack, arrived) in [("rfc", 16_000), ("linux", 15_400)] {
        let o = Overrides { receive_window: Some(Bytes(16_000)), window_scaling: Some(false), ..plain() };
        let mut b = Lone::established(stack, &o);
        b.end.set_auto_read(false);
        for n in 0..22 {
            b.take(segment(101 + 700 * n, OWN + 1, 700, None));
        }
        b.take(segment(101 + 15_400, OWN + 1, 1000, None));
        assert_eq!(b.end.arrived(), arrived, "{stack}");
    }
}

/// RFC 9293 section 3.10.7.4 takes the window of a segment that acknowledges the same again, Linux (tcp_may_update_window) only a larger or
/// a closed one (seen on Linux 6.18).
#[test]
fn a_window_that_is_said_again() {
    for (stack, smaller) in [("rfc", 3000), ("linux", 5000)] {
        let mut a = with_window(stack, 5000);
        let mut window = |field| {
            a.take(Segment { window: field, ..segment(101, OWN + 2, 0, None) });
            a.end.stats(Time::ZERO).cur_rwin_rcvd
        };
        assert_eq!([3000, 6000, 0].map(&mut window), [smaller, 6000, 0], "{stack}");
    }
}

/// Linux `tcp_data_snd_check`: what a write with MSG_MORE holds back leaves with the next ACK, without PSH; a cork holds it.
#[test]
fn an_ack_lets_out_what_more_holds_back() {
    for corked in [false, true] {
        let mut net = Net::perfect(&options("linux", &plain()));
        net.open();
        net.a.set_cork(net.now, corked);
        net.a.write(net.now, 1300);
        net.a.set_more(true);
        net.run_for(Span::from_ms(15));
        assert_eq!(net.data(1000).len(), 1);
        // The ACK of the first segment is delayed by 40 ms unless the receiver is quick; the cork opens after 200 ms.
        net.run_for(Span::from_ms(100));
        let sent: Vec<(u32, Flags)> =
            net.trace.iter().filter(|s| s.seg.len > 0).map(|s| (s.seg.len, s.seg.flags)).collect();
        let all = [(1000, Flags::ACK), (300, Flags::ACK)];
        assert_eq!(sent, all[..if corked { 1 } else { 2 }]);
    }
}
