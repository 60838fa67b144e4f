use super::*;

const MS: u64 = 1_000_000_000;

fn ms(t: u64) -> Time {
    Time(t * MS)
}

/// A full segment at `t` ms with nothing else unacknowledged, far from any limit; RTO 300 ms, round trip 100 ms.
fn arrival(t: u64) -> Arrival {
    Arrival {
        now: ms(t),
        len: 1448,
        push: false,
        fin: false,
        closes: false,
        unacked: 1448,
        reads: true,
        open: true,
        grows: false,
        window: 1 << 20,
        rto: Span::from_ms(300),
        srtt: Some(Span::from_ms(100)),
        rtt: Span::from_ms(100),
        timer: Time::NEVER,
    }
}

fn delayed_ack() -> DelayedAck {
    let linux = crate::stack("linux").unwrap();
    let mut d = DelayedAck::new(&linux);
    d.compress(&linux);
    d
}

/// A segment in order arrives, with no hole.
fn take(d: &mut DelayedAck, a: &Arrival) -> When {
    d.measure(a);
    d.on_data(a);
    d.when(a, None)
}

/// Past the quick ACKs of the start, with a segment at `t` ms and ato = 40 ms.
fn warm(t: u64) -> DelayedAck {
    let mut d = delayed_ack();
    take(&mut d, &arrival(t));
    (d.quick, d.scheduled) = (0, false);
    d
}

/// `__tcp_ack_snd_check`: two segments wait while a reader lets the window close; `__tcp_cleanup_rbuf`: its read acknowledges them, and one
/// segment only at the end of a write when all is read.
#[test]
fn a_slow_reader_acknowledges() {
    let mut d = warm(0);
    let two = Arrival { unacked: 2896, reads: false, open: false, ..arrival(1) };
    assert_eq!(take(&mut d, &two), When::At(ms(41)));
    assert!(d.on_read(2896, false) && !d.on_read(1448, true));
    assert_eq!(take(&mut d, &Arrival { push: true, ..two }), When::At(ms(41)));
    assert!(d.on_read(1448, true) && !d.on_read(1448, false) && !d.on_read(0, true));
    assert_eq!(take(&mut d, &Arrival { open: true, ..two }), When::Now);
}

/// min(16, window / (2 segments)), two at least: 16 of a megabyte, 4 of 12 000 bytes, 2 of nothing.
#[test]
fn the_first_segments_are_acknowledged_at_once() {
    for (window, quick) in [(1 << 20, 16), (12_000, 4), (1000, 2)] {
        let mut d = delayed_ack();
        let mut at_once = 0;
        for i in 0..40 {
            let when = take(&mut d, &Arrival { window, ..arrival(i) });
            if when != When::Now {
                break;
            }
            at_once += 1;
            d.on_ack_sent(ms(i), false);
        }
        assert_eq!(at_once, quick);
    }
}

/// After them a second full segment is waited for, 40 ms at most; segments close to each other keep ato at 40 ms:
/// 40 / 2 + 20.
#[test]
fn then_every_second_segment() {
    let mut d = warm(0);
    assert_eq!(take(&mut d, &arrival(1)), When::At(ms(41)));
    assert_eq!(take(&mut d, &Arrival { unacked: 2896, timer: ms(41), ..arrival(1) }), When::Now);
    assert_eq!(d.ato, Span::from_ms(40));
}

/// ato / 2 + m for 20 ms < m < ato: 40 -> 20 + 30 = 50, then 25 + 45 = 70 ms; of which the round-trip time of 60 ms
/// is enough.
#[test]
fn the_timeout_follows_the_gaps() {
    let mut d = warm(0);
    let at = |t| Arrival { srtt: Some(Span::from_ms(60)), ..arrival(t) };
    assert_eq!(take(&mut d, &at(30)), When::At(ms(80)));
    assert_eq!(take(&mut d, &at(75)), When::At(ms(135)));
    assert_eq!(d.ato, Span::from_ms(70));
    // A gap longer than ato and shorter than the RTO changes nothing; one longer than the RTO begins quick mode.
    assert_eq!(take(&mut d, &at(275)), When::At(ms(335)));
    assert_eq!(d.ato, Span::from_ms(70));
    assert_eq!(take(&mut d, &at(576)), When::Now);
    assert_eq!(d.quick, 16);
}

/// A timer that rings doubles ato up to the RTO, and the delay stays at 200 ms at most.
#[test]
fn a_timer_that_rings_doubles_the_timeout() {
    let mut d = warm(0);
    let rto = Span::from_ms(300);
    let atos: Vec<Span> = (0..4)
        .map(|_| {
            d.on_timer(rto);
            d.ato
        })
        .collect();
    assert_eq!(atos, [80, 160, 300, 300].map(Span::from_ms));
    assert_eq!(take(&mut d, &Arrival { srtt: None, ..arrival(290) }), When::At(ms(490)));
}

/// A timer within a quarter of ato is not waited for: at 31 ms, 9 ms before it, 40 / 4 = 10.
#[test]
fn a_timer_about_to_ring_is_not_waited_for() {
    let mut d = warm(30);
    assert_eq!(take(&mut d, &Arrival { timer: ms(42), ..arrival(31) }), When::At(ms(42)));
    assert_eq!(take(&mut d, &Arrival { timer: ms(41), ..arrival(31) }), When::Now);
}

/// The end of a write is acknowledged when the application has read it, unless it answers.
#[test]
fn ends_of_writes() {
    let short = Arrival { len: 100, unacked: 100, push: true, ..arrival(1) };
    let pushed = Arrival { push: true, ..arrival(1) };
    for a in [short, pushed] {
        assert_eq!(take(&mut warm(0), &a), When::Read);
        assert_eq!(take(&mut warm(0), &Arrival { reads: false, ..a }), When::At(ms(41)));
        let mut answering = warm(0);
        answering.on_ack_sent(ms(0), true);
        assert!(answering.interactive);
        assert_eq!(take(&mut answering, &a), When::At(ms(41)));
        // A second end of a write is not waited with, if it is short (`tcp_measure_rcv_mss`: ICSK_ACK_PUSHED2).
        assert_eq!(take(&mut answering, &a) == When::Read, a.len == 100);
    }
}

/// Duplicates begin quick mode and end the interactive one; a CE mark begins it for two ACKs.
#[test]
fn duplicates_and_marks_are_answered_quickly() {
    for (most, acks) in [(QUICK_MAX, 16), (QUICK_ECN, 2)] {
        let mut d = warm(0);
        d.on_ack_sent(ms(0), true);
        d.on_timer(Span::from_ms(300));
        d.be_quick(1 << 20, most);
        assert_eq!((d.quick, d.interactive, d.ato), (acks, false, Span::from_ms(40)));
    }
}

/// Seen with Linux 6.18, segments 0.1 ms apart beyond a hole: three ACKs at once, then one every 1.1 ms at a round trip of 100 ms, every
/// 0.6 ms at one of 10 ms (5 % of it, and the slack); of segments with holes between them every second one.
#[test]
fn acks_of_sacks_are_held_back() {
    for (rtt, alone, times) in [
        (100, false, [0, 100, 200, 1400, 2500, 3600]),
        (10, false, [0, 100, 200, 900, 1500, 2100]),
        (100, true, [0, 100, 200, 400, 600, 800]),
    ] {
        let mut d = warm(0);
        let (mut left, mut timer) = (Vec::new(), Time::NEVER);
        for us in (0..4000).step_by(100) {
            let now = ms(10) + Span::from_us(us);
            if timer <= now {
                left.push((timer.0 - ms(10).0) / 1_000_000);
                d.on_timer(Span::from_s(1));
                d.on_ack_sent(timer, false);
                timer = Time::NEVER;
            }
            let a = Arrival { now, unacked: 0, rtt: Span::from_ms(rtt), timer, ..arrival(0) };
            d.on_disorder(&a);
            // The segment beyond a third hole sends the ACK that waits, and has none.
            let when = if alone && d.holds_back() { When::Now } else { d.when(&a, Some(5000)) };
            match when {
                When::Now | When::Read => {
                    left.push(us);
                    d.on_ack_sent(now, false);
                    timer = Time::NEVER;
                }
                When::At(at) => timer = at,
            }
        }
        assert_eq!(left[..6], times, "{rtt} {alone}");
        assert_eq!(d.ato, Span::from_ms(40));
    }
}

/// 44 ACKs wait at most; progress lets three leave at once again; quick ACKs are not held back.
#[test]
fn held_acks_have_a_limit() {
    let mut d = warm(0);
    let beyond = |d: &mut DelayedAck, nxt, timer| {
        let a = Arrival { unacked: 0, timer, ..arrival(10) };
        d.on_disorder(&a);
        d.when(&a, Some(nxt))
    };
    for _ in 0..3 {
        assert_eq!(beyond(&mut d, 5000, Time::NEVER), When::Now);
        d.on_ack_sent(ms(10), false);
    }
    let due = ms(11) + Span::from_us(100);
    for _ in 0..44 {
        assert_eq!(beyond(&mut d, 5000, due), When::At(due));
    }
    assert_eq!(beyond(&mut d, 5000, due), When::Now);
    d.on_ack_sent(ms(10), false);
    for at_once in [true, true, true, false] {
        assert_eq!(beyond(&mut d, 6000, Time::NEVER) == When::Now, at_once);
        if at_once {
            d.on_ack_sent(ms(10), false);
        }
    }
    let mut d = delayed_ack();
    d.be_quick(1 << 20, QUICK_MAX);
    assert!((0..16).all(|_| {
        let now = beyond(&mut d, 5000, Time::NEVER) == When::Now;
        d.on_ack_sent(ms(10), false);
        now
    }));
}

/// `tcp_measure_rcv_mss`: two segments of equal length that are no ends of writes are full ones though longer ones came before; one that is,
/// or a single one, is not.
#[test]
fn full_segments_may_become_shorter() {
    let mut d = warm(0);
    let short = Arrival { len: 300, ..arrival(1) };
    assert_eq!(d.full_segment(), 1448);
    assert!(!d.measure(&short) && !d.measure(&Arrival { push: true, ..short }) && !d.measure(&short));
    assert_eq!(d.full_segment(), 1448);
    assert!(!d.measure(&short));
    assert_eq!(d.full_segment(), 300);
    // From 536 bytes on the end of a write may be full; the next longer one measures again.
    let long = Arrival { len: 800, push: true, ..arrival(1) };
    assert!(d.measure(&long) && !d.measure(&long) && d.full_segment() == 800);
}

/// `tcp_grow_window`: the ACK of a segment that lets the window grow is quick.
#[test]
fn growth_is_acknowledged_at_once() {
    let mut d = warm(0);
    assert_eq!(take(&mut d, &Arrival { grows: true, ..arrival(1) }), When::Now);
    d.on_ack_sent(ms(1), false);
    assert_eq!(take(&mut d, &arrival(1)), When::At(ms(41)));
}
