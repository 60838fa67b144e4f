//! The processor: queueing theory, the walk of SACK, the logger.

use elephan_host::cpu::{Gap, Logger, SackHint, SackWalk, Server};
use elephan_random::Stream;
use elephan_units::{Span, Time};

fn ms(t: u64) -> Time {
    Time::ZERO + Span::from_ms(t)
}

/// M/D/1 (Pollaczek and Khinchine): the mean wait is rho S / (2 (1 - rho)); at S = 10 us and rho = 0.8 it is 20 us, and the server works 80 %
/// of the time.
#[test]
fn poisson_arrivals_wait_as_in_m_d_1() {
    let mut stream = Stream::new(1, "host", "arrivals");
    let (mut now, mut waits, jobs) = (0.0, 0.0, 400_000);
    let mut server = Server::default();
    for _ in 0..jobs {
        now -= 12.5e-6 * libm::log(1.0 - stream.uniform());
        let arrival = Time::from_seconds(now);
        waits += server.free_at().since(arrival).seconds();
        server.spend(arrival, Span::from_us(10));
    }
    let mean_us = waits / f64::from(jobs) * 1e6;
    assert!((mean_us - 20.0).abs() < 0.6, "{mean_us}");
    let share = server.busy(Time::from_seconds(now)).seconds() / now;
    assert!((share - 0.8).abs() < 0.005, "{share}");
}

#[test]
fn interrupts_are_done_before_the_next_job() {
    let mut server = Server::default();
    assert_eq!(server.spend(ms(1), Span::from_ms(2)), ms(3));
    server.interrupt(Span::from_ms(1));
    server.settle(ms(3));
    assert_eq!(server.spend(ms(3), Span::from_ms(5)), ms(9));
    assert_eq!([ms(1), ms(2), ms(9), ms(20)].map(|t| server.busy(t)), [0, 1, 8, 8].map(Span::from_ms));
}

/// Duplicate ACKs at 1 Gb/s of 1538-byte frames come every 12.304 us. With 40 ns a segment and three blocks one costs 12 us at 100 in flight:
/// the server keeps up at 102 (12.24 us) and not at 103 (12.36 us).
#[test]
fn overload_begins_at_a_hundred_segments() {
    let cost = |in_flight: u64| {
        let blocks = [(9, 10), (5, 6), (3, 4)];
        let walk = SackHint::default().walk(SackWalk::Full, &blocks, 1, (in_flight, 1448));
        Span::from_ns(40).saturating_mul(walk)
    };
    assert_eq!(cost(100), Span::from_us(12));
    for (in_flight, backlog_us) in [(102, 0.0), (103, 560.0)] {
        let mut server = Server::default();
        let mut now = Time::ZERO;
        for _ in 0..10_000 {
            server.spend(now, cost(in_flight));
            now += Span(12_304_000);
        }
        // 10,000 (12.36 - 12.304) us.
        let waiting_us = server.free_at().since(now).seconds() * 1e6;
        assert!((waiting_us - backlog_us).abs() < 13.0, "{in_flight}: {waiting_us}");
    }
}

#[test]
fn the_hint_serves_a_first_block_that_grows() {
    let mut hint = SackHint::default();
    let mut walk = |blocks: &[(u32, u32)], ack| hint.walk(SackWalk::Fastpath, blocks, ack, (500, 1000));
    assert_eq!(walk(&[(5000, 6000)], 1000), 500, "a new hole");
    assert_eq!(walk(&[(5000, 7000)], 1000), 1, "grown by one segment");
    assert_eq!(walk(&[(5000, 10_000)], 1000), 3);
    assert_eq!(walk(&[(5000, 10_000)], 1000), 1, "nothing new");
    assert_eq!(walk(&[(12_000, 13_000), (5000, 10_000)], 1000), 1000, "a second hole");
    assert_eq!(walk(&[(12_000, 14_000), (5000, 10_000)], 1000), 1);
    assert_eq!(walk(&[(12_000, 15_000), (5000, 11_000)], 1000), 1000, "another block has changed");
    assert_eq!(walk(&[(12_000, 16_000), (5000, 11_000)], 2000), 1000, "the cumulative ACK has cleared the hint");
    assert_eq!(walk(&[(12_000, 15_000), (5000, 11_000)], 2000), 1000, "an older ACK");
    // Sequence numbers wrap.
    assert_eq!(walk(&[(u32::MAX - 999, u32::MAX)], 2000), 500);
    assert_eq!(walk(&[(u32::MAX - 999, 999)], 2000), 1);
}

#[test]
fn without_a_walk_and_with_the_full_one() {
    let blocks = [(5000, 6000), (3000, 4000)];
    assert_eq!(SackHint::default().walk(SackWalk::None, &blocks, 0, (500, 1000)), 0);
    assert_eq!(SackHint::default().walk(SackWalk::Full, &blocks, 0, (500, 1000)), 1000);
    assert_eq!(SackHint::default().walk(SackWalk::Fastpath, &[], 0, (500, 1000)), 0);
}

/// A line every 10 ms; the processor is busy from 12 ms to 345 ms: no line from 10 ms to 345 ms.
#[test]
fn the_logger_falls_silent() {
    let mut logger = Logger::new(Span::from_ms(10));
    assert_eq!((logger.due(), logger.run(ms(10))), (ms(10), None));
    assert_eq!(logger.due(), ms(20));
    assert_eq!(logger.silence(ms(29)), None);
    assert_eq!(logger.run(ms(345)), Some(Gap { begin: ms(10), end: ms(345) }));
    assert_eq!((logger.due(), logger.gaps, logger.longest), (ms(350), 1, Span::from_ms(335)));
    assert_eq!(logger.run(ms(351)), None);
    assert_eq!(logger.due(), ms(360));
}
