//! The receive buffer that grows (Linux `tcp_rcv_space_adjust`, `tcp_grow_window`) in whole connections on a path of 10 ms each way.

use crate::common::*;
use elephan_tcp::{Endpoint, Flags, OPTION_SACK_PERMITTED, OPTION_WINDOW_SCALE, Overrides, SackBlocks, Segment};
use elephan_units::{Bytes, Span, Time};

/// Windows that `b` offers, in bytes, with the milliseconds; segments of 1000 bytes, no timestamps.
fn windows(net: &Net) -> Vec<(i64, u64)> {
    let shift = net.trace.iter().find(|s| s.way == Way::Back).map_or(0, |s| s.seg.wscale);
    let acks = net.trace.iter().filter(|s| s.way == Way::Back).skip(1);
    acks.map(|s| (s.at.ns() / 1_000_000, u64::from(s.seg.window) << shift)).collect()
}

fn transfer(stack: &str, overrides: &Overrides, bytes: u64) -> Net {
    let side = |stack| options(stack, overrides);
    let mut net = Net::new(&side("rfc"), &side(stack), Box::new(|_, _| vec![DELAY]));
    net.open_a();
    net.a.supply(bytes);
    net.run_until(|net| net.a.acked() == bytes);
    net
}

/// Linux: half of `tcp_rmem` is window: 65,536 bytes at first, of which whole segments are offered; 32 MiB make the shift
/// log2(32 MiB) - 15 = 10. Each segment adds two to what is offered, up to the buffer, and the buffer follows what is read in a round trip.
#[test]
fn a_receiver_of_linux_offers_more_as_it_reads() {
    let net = transfer("linux", &plain(), 3_000_000);
    let syn_ack = net.trace.iter().find(|s| s.way == Way::Back).unwrap();
    assert_eq!((syn_ack.seg.wscale, syn_ack.seg.window), (10, 65_000));
    let seen = windows(&net);
    assert!(seen[0].1 <= 65_536 && seen.is_sorted_by(|a, b| a.1 <= b.1 + 1024), "{seen:?}");
    let last = seen.last().unwrap().1;
    assert!((1_000_000..=16 << 20).contains(&last), "{last}");
    // Without timestamps the first round trip is known when a window has arrived: slow start waits for one. With them it never does,
    // since the buffer is made for four times what a round trip brings.
    assert_eq!(net.a.stats(net.now).snd_lim_time_rwin_ns, 20_000_000);
    let stamped = transfer("linux", &Overrides { timestamps: Some(true), ..plain() }, 3_000_000);
    assert_eq!(stamped.a.stats(stamped.now).snd_lim_time_rwin_ns, 0);
    // RFC 7323: the largest window at once.
    let fixed = windows(&transfer("rfc", &plain(), 3_000_000));
    assert!(fixed.iter().all(|(_, window)| *window >= 1 << 29), "{fixed:?}");
}

/// A buffer whose size was set does not grow, nor one that begins at its largest.
#[test]
fn a_buffer_that_was_set_stays() {
    let fixed = Overrides { receive_window: Some(Bytes(65_000)), ..plain() };
    let set = Overrides { receive_window_initial: Some(Bytes(16 << 20)), ..plain() };
    for (overrides, low, high) in [(fixed, 64_000, 65_000), (set, 16 << 20, 16 << 20)] {
        let seen = windows(&transfer("linux", &overrides, 500_000));
        assert!(seen.iter().all(|(_, window)| (low - 1024..=high).contains(window)), "{seen:?}");
    }
    let side = options("linux", &plain());
    let mut net = Net::new(&side, &side, Box::new(|_, _| vec![DELAY]));
    net.b.set_receive_buffer(60_000);
    net.open_a();
    net.a.supply(500_000);
    net.run_until(|net| net.a.acked() == 500_000);
    assert!(windows(&net).iter().all(|(_, window)| *window <= 60_000));
}

/// An application that does not read lets the window close, as Linux 6.18 did for segments of 1000 bytes each 2 ms: half of the buffer of
/// 128 KiB was offered at first, each ACK rounded what was left up to 1024 bytes, and at 82 segments 1024 bytes were left for good.
#[test]
fn who_does_not_read_gets_no_larger_buffer() {
    let o = options("linux", &Overrides { mss: Some(Bytes(1460)), ..plain() });
    let mut b = Endpoint::new(&o, o.controller(), 300);
    b.set_auto_read(false);
    b.listen();
    let (mut answer, mut sack) = (Segment::default(), SackBlocks::default());
    let options = OPTION_WINDOW_SCALE | OPTION_SACK_PERMITTED;
    let syn = Segment { mss: 1000, wscale: 7, window: 65_535, flags: Flags::SYN, options, ..Segment::default() };
    let ack = Segment { seq: 1, ack: 301, window: 8192, flags: Flags::ACK, ..Segment::default() };
    let ms = |n: u64| Time::ZERO + Span::from_ms(n);
    let data = (0..140).map(|n| (ms(40 + 2 * n), Segment { seq: 1 + 1000 * n as u32, len: 1000, ..ack }));
    for (now, seg) in [(ms(0), syn), (ms(20), ack)].into_iter().chain(data) {
        while b.next_timer() <= now {
            b.on_timer(b.next_timer());
            while b.poll_transmit(now, &mut answer, &mut sack) {}
        }
        b.on_segment(now, &seg, &sack);
        while b.poll_transmit(now, &mut answer, &mut sack) {}
    }
    assert_eq!((answer.ack, answer.window, b.arrived()), (82_001, 1, 82_000));
}
