//! Ring, interrupts and backlog against what arithmetic says.

use elephan_host::Alone;
use elephan_host::receive::{BacklogFull, Receive, Receiver, Refused, UdpSocket};
use elephan_units::{Bytes, Packets, Rate, Span, Time};
use proptest::prelude::*;

/// A full-sized frame of 1538 bytes at 1 Gb/s.
const FRAME: Span = Span(12_304_000);

fn us(t: u64) -> Time {
    Time::ZERO + Span::from_us(t)
}

/// `burst` frames, one a `gap`, into a receive side whose softirq needs `cost` for each; interrupts cost nothing. Answers the counts and
/// in which order the frames were served.
fn serve(spec: &Receive, burst: u32, gap: Span, cost: Span) -> (elephan_host::receive::Counts, Vec<u32>) {
    let mut receiver = Receiver::new(spec);
    let (mut served, mut refused) = (Vec::new(), Vec::new());
    let mut free = Time::ZERO;
    let mut next = 0;
    loop {
        let arrival = if next < burst { Time(gap.0 * u64::from(next)) } else { Time::NEVER };
        let interrupt = receiver.interrupt_at();
        let service = if receiver.has_work() { free } else { Time::NEVER };
        let now = arrival.min(interrupt).min(service);
        if now == Time::NEVER {
            break;
        }
        // What happens at one instant: a service ends, then a frame is in, then the interrupt.
        if service == now {
            served.extend(receiver.take());
            free = now + cost;
        } else if arrival == now {
            let _ = receiver.on_frame(now, next);
            next += 1;
        } else {
            receiver.on_interrupt(now, &mut refused);
            free = free.max(now);
        }
    }
    assert_eq!(receiver.waiting(), (0, 0));
    (*receiver.counts(), served)
}

fn eager(backlog_full: BacklogFull, napi: bool) -> Receive {
    Receive { interrupts_per_s: 0, backlog_full, napi, ..Receive::default() }
}

/// 5000 frames at 81,274 a second to a server of 66,667: of the excess b (1 - mu/f) = 898.7 all is lost that the room behind the server
/// does not hold: ring and backlog 556, backlog 300, ring 256.
#[test]
fn a_burst_loses_its_excess_beyond_the_room() {
    let cases = [
        (eager(BacklogFull::Hold, false), 342.7),
        (eager(BacklogFull::Drop, false), 598.7),
        (eager(BacklogFull::Throttle, true), 642.7),
    ];
    for (spec, expected) in cases {
        let (counts, served) = serve(&spec, 5000, FRAME, Span::from_us(15));
        assert!((counts.dropped() as f64 - expected).abs() < 2.0, "{spec:?}: {counts:?}");
        assert_eq!(served.len() as u64 + counts.dropped(), 5000);
        assert!(served.is_sorted(), "frames stay in order");
    }
}

/// The backlog fills in 300 / (1 - 12.304/15) = 1669 frames, then drops what comes while 300 are served at 15 us: 366. 5000 frames are two such
/// rounds and 930 frames.
#[test]
fn the_throttle_drops_until_the_backlog_is_empty() {
    let (counts, served) = serve(&eager(BacklogFull::Throttle, false), 5000, FRAME, Span::from_us(15));
    assert!((counts.dropped() as f64 - 731.5).abs() < 4.0, "{counts:?}");
    assert_eq!(
        counts.drops[Refused::Backlog as usize],
        2,
        "each time the first is refused because the backlog is full"
    );
    let gaps: Vec<u32> = served.windows(2).map(|w| w[1] - w[0] - 1).filter(|&missing| missing > 0).collect();
    assert_eq!(gaps.len(), 2);
    assert!(gaps.iter().all(|missing| (364..=368).contains(missing)), "{gaps:?}");
}

/// The claim of the slow receiver: the same number of frames at the same mean rate, 50,000 a second for a server of 66,667, is received whole
/// when it comes evenly and not in bursts of 4000 at 81,274 a second.
#[test]
fn a_sustainable_mean_does_not_save_a_burst() {
    let spec = eager(BacklogFull::Throttle, false);
    let (even, _) = serve(&spec, 4000, Span::from_us(20), Span::from_us(15));
    let (burst, _) = serve(&spec, 4000, FRAME, Span::from_us(15));
    assert_eq!(even.dropped(), 0);
    // 4000 frames are one round of the throttle (2035) and 1965 frames of the second: 366, and 296 of its 366.
    assert!((burst.dropped() as f64 - 662.0).abs() < 8.0, "{burst:?}");
}

#[test]
fn interrupts_wait_for_a_time_a_number_and_each_other() {
    let spec = Receive { coalesce: Span::from_us(20), coalesce_frames: 4, ..Receive::default() };
    let mut receiver = Receiver::new(&spec);
    assert_eq!(receiver.interrupt_at(), Time::NEVER);
    for t in 1..=3 {
        receiver.on_frame(us(t), t as u32).unwrap();
        assert_eq!(receiver.interrupt_at(), us(21), "20 us after the first");
    }
    assert_eq!(receiver.on_interrupt(us(21), &mut Vec::new()), 3);
    assert_eq!(receiver.interrupt_at(), Time::NEVER);
    // 8000 a second: none before 21 + 125.
    receiver.on_frame(us(30), 4).unwrap();
    assert_eq!(receiver.interrupt_at(), us(146));
    assert_eq!(receiver.on_interrupt(us(146), &mut Vec::new()), 1);
    // The fourth that waits interrupts at once.
    for t in 300..304 {
        receiver.on_frame(us(t), t as u32).unwrap();
    }
    assert!(receiver.interrupt_at() <= us(303));
}

/// Under NAPI no interrupt comes until the poll has emptied the ring.
#[test]
fn a_poll_goes_on_without_interrupts() {
    let mut receiver = Receiver::new(&Receive { napi: true, interrupts_per_s: 0, ..Receive::default() });
    receiver.on_frame(us(1), 1).unwrap();
    assert!(!receiver.has_work(), "nobody has been told");
    receiver.on_interrupt(us(1), &mut Vec::new());
    receiver.on_frame(us(2), 2).unwrap();
    assert_eq!(receiver.interrupt_at(), Time::NEVER);
    assert_eq!((receiver.take(), receiver.take(), receiver.take()), (Some(1), Some(2), None));
    receiver.on_frame(us(3), 3).unwrap();
    assert_eq!((receiver.interrupt_at(), receiver.take()), (us(3), None));
    assert_eq!(receiver.counts().interrupts, 1);
}

/// A frame that comes while the last of the ring is being served is polled after it: at 10 us a frame those of 1, 5 and 18 us are done at 11,
/// 21 and 31 us after one interrupt, though the next could not come before 126 us. One of 40 us waits for that.
#[test]
fn a_poll_looks_at_the_ring_again() {
    let words = Receive { napi: true, ..Receive::default() };
    let mut host = Alone::new(&words, Span::ZERO, Span::from_us(10));
    let (mut served, mut dropped) = (Vec::new(), Vec::new());
    for (n, at) in [1, 5, 18, 40].into_iter().enumerate() {
        host.advance(us(at), &mut served, &mut dropped);
        host.frame(n as u32).unwrap();
    }
    host.advance(us(200), &mut served, &mut dropped);
    assert_eq!(served, [(0, us(11)), (1, us(21)), (2, us(31)), (3, us(136))]);
    assert_eq!(host.counts().interrupts, 2);
}

/// 8000 interrupts a second at 81,274 frames a second: ten or eleven frames each.
#[test]
fn the_interrupt_rate_bounds_interrupts() {
    let (counts, served) = serve(&Receive::default(), 81_274, FRAME, Span::from_us(5));
    assert_eq!(served.len(), 81_274);
    assert!((7_990..=8_001).contains(&counts.interrupts), "{counts:?}");
    assert!((10..=12).contains(&counts.ring_max), "{counts:?}");
}

/// A socket of 10 kB that is read at 80 Mb/s gains 1000 B per 100 us: of datagrams of 1500 B at that pace it takes 18 (18 * 1500 - 17 * 1000 =
/// 10,000) and then two of three.
#[test]
fn a_udp_socket_is_a_leaky_bucket() {
    let mut socket = UdpSocket::default();
    let of = (Rate(80_000_000), Bytes(10_000));
    let taken: Vec<bool> = (0..318).map(|n| socket.admit(us(100 * n), 1500, of)).collect();
    assert_eq!(taken.iter().position(|ok| !ok), Some(18));
    assert_eq!(taken[18..].iter().filter(|ok| **ok).count(), 200);
}

#[test]
fn what_cannot_be_is_refused() {
    let none = Receive { backlog: Packets(0), ..Receive::default() };
    assert_eq!(none.problem().unwrap().parameter, "backlog");
    assert_eq!(Receive { gro: true, ..Receive::default() }.problem().unwrap().parameter, "gro");
    assert_eq!(Receive { coalesce_frames: 4, ..Receive::default() }.problem().unwrap().parameter, "coalesce_frames");
    assert!(Receive::default().problem().is_none());
}

proptest! {
    /// Whatever the sizes and rates: a frame is served, in order, or counted as dropped, and no limit is exceeded.
    #[test]
    fn nothing_is_lost_without_a_reason(
        ring in 1u64..40, backlog in 1u64..40, gap in 1u64..40, cost in 0u64..40, coalesce in 0u64..100,
        frames in 0u32..10, per_s in prop_oneof![Just(0u32), 1000u32..200_000],
        how in prop_oneof![Just(BacklogFull::Throttle), Just(BacklogFull::Drop), Just(BacklogFull::Hold)],
        napi in any::<bool>(), burst in 1u32..500,
    ) {
        let spec = Receive {
            ring: Packets(ring), backlog: Packets(backlog), backlog_full: how, napi,
            coalesce: Span::from_us(coalesce), coalesce_frames: frames, interrupts_per_s: per_s,
            ..Receive::default()
        };
        let (counts, served) = serve(&spec, burst, Span::from_us(gap), Span::from_us(cost));
        prop_assert_eq!(served.len() as u64 + counts.dropped(), u64::from(burst));
        prop_assert!(served.is_sorted());
        prop_assert!(counts.ring_max <= ring && counts.backlog_max <= backlog);
        prop_assert_eq!(counts.frames, u64::from(burst));
    }
}
