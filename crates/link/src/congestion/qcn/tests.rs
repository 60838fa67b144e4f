use elephan_units::Bytes;

use super::*;

const LINE: Rate = Rate(10_000_000_000);

fn stream() -> Stream {
    Stream::new(1, "test", "qcn")
}

/// "TCP scenarios with QCN/ECM", November 2007, without jitter.
fn plain() -> Qcn {
    Qcn {
        jitter: 0.0,
        set_point: Bytes(409 * 64),
        page: Bytes(64),
        sampling: Sampling::Probability,
        rate_min: Rate(1_000_000),
        cycle_time: Span::ZERO,
        active_increase: Rate(12_000_000),
        drift_period: Span::from_us(200),
        fbhat: true,
        efr_max: Some(1_000_000),
        ..Qcn::default()
    }
}

fn source(spec: &Qcn) -> ReactionPoint {
    ReactionPoint::new(spec, LINE, stream())
}

/// In pages with Qeq 409 and W 2, |Fb| at most 2045: q 818 from 409 is 409 + 2 * 409 = 1227, 1227 * 64 / 2045 = 38.4.
#[test]
fn feedback_of_the_congestion_point() {
    let cases = [(409, 409, 0), (818, 409, 38), (409, 818, 0), (2045, 0, 63), (5000, 0, 63), (410, 409, 0)];
    for (queue, before, expected) in cases {
        let mut cp = CongestionPoint::new(&plain(), stream());
        cp.before = f64::from(before);
        assert_eq!(six_bits(cp.sample(queue * 64), plain().most()), expected, "{queue} from {before}");
        assert_eq!(cp.before, queue as f64);
    }
}

/// 1 % with no feedback is a sample in 150 000 bytes, 10 % with 63 one in 15 000; the table of 802.1Qau by eighths.
#[test]
fn distances_between_samples() {
    let spec = plain();
    assert!((spec.distance(0) - 150_000.0).abs() < 1e-6 && (spec.distance(63) - 15_000.0).abs() < 1e-6);
    let table = Qcn::default();
    let found = [0, 7, 8, 16, 31, 40, 55, 63].map(|feedback| table.distance(feedback));
    assert_eq!(found, [150e3, 150e3, 75e3, 50e3, 37.5e3, 25e3, 21.5e3, 18.5e3]);
}

/// 100 frames of 1500 bytes to the first sample; then the queue of 2045 pages gives 63, and one in ten follows.
#[test]
fn samples_are_counted_in_bytes() {
    let mut cp = CongestionPoint::new(&plain(), stream());
    let sampled: Vec<u32> = (1..=120).filter(|_| cp.on_frame(1500, 2045 * 64).is_some()).collect();
    // What happens with the queue standing: Fb = -(2045 - 409) = -1636, qFb 51, p = 0.01 + 0.09 * 51 / 63.
    assert_eq!(sampled[..2], [100, 110]);
    assert_eq!(cp.feedback, 51);
}

/// A frame of 1500 bytes is sampled with 1 %: 10 000 frames give 100, with a standard deviation of 10.
#[test]
fn samples_may_be_drawn() {
    let mut cp = CongestionPoint::new(&Qcn { sampling: Sampling::Bernoulli, ..plain() }, stream());
    // The queue is empty: no feedback, but `before` is set by each sample.
    let mut sampled = 0;
    for _ in 0..10_000 {
        cp.before = -1.0;
        cp.on_frame(1500, 0);
        sampled += u32::from(cp.before == 0.0);
    }
    assert!(sampled.abs_diff(100) < 50, "{sampled}");
}

/// One notification of 63 at 10 Gb/s: 1 - 63/128 leaves 5.078125 Gb/s, the target is 10. Five cycles of 150 kB halve the gap of
/// 4.921875 five times: 9.84619 Gb/s. Then 12 Mb/s a cycle: in the eighth the line rate is reached, and the limiter is gone.
#[test]
fn a_cut_and_its_recovery() {
    let mut rp = source(&plain());
    assert_eq!(rp.rate(), None);
    rp.on_feedback(Time::ZERO, 63);
    assert_eq!((rp.rate(), rp.target()), (Some(5.078125e9), 10e9));
    let cycle = |rp: &mut ReactionPoint| {
        let before = rp.cycles().0;
        while rp.rate().is_some() && rp.cycles().0 == before {
            rp.on_sent(Time::ZERO, 1500);
        }
    };
    for gap in [2.4609375e9, 1.23046875e9, 0.615234375e9, 0.3076171875e9, 0.15380859375e9] {
        cycle(&mut rp);
        assert_eq!(rp.rate(), Some(10e9 - gap));
    }
    cycle(&mut rp);
    assert_eq!(rp.target(), 10.012e9);
    cycle(&mut rp);
    assert!(rp.rate().is_some_and(|rate| rate < 10e9));
    cycle(&mut rp);
    assert_eq!((rp.rate(), rp.next_timer()), (None, Time::NEVER));
}

/// 150 000 bytes are 100 frames of 1500, and the cycle is over with the first byte beyond.
#[test]
fn a_cycle_is_150_kilobytes() {
    let mut rp = source(&plain());
    rp.on_feedback(Time::ZERO, 20);
    (0..100).for_each(|_| rp.on_sent(Time::ZERO, 1500));
    assert_eq!(rp.cycles().0, 0);
    rp.on_sent(Time::ZERO, 1500);
    assert_eq!(rp.cycles().0, 1);
}

/// A second notification before the first cycle has ended leaves the target; without extra fast recovery it does not.
#[test]
fn the_target_is_kept_within_a_cycle() {
    for (keep, expected) in [(true, 10e9), (false, 5.078125e9)] {
        let mut rp = source(&Qcn { keep_target: keep, ..plain() });
        rp.on_feedback(Time::ZERO, 63);
        rp.on_feedback(Time::ZERO, 63);
        assert_eq!(rp.target(), expected);
        assert_eq!(rp.rate(), Some(5.078125e9 * (1.0 - 63.0 / 128.0)));
    }
}

/// A gain of 1/64 would cut by 63/64: one notification cuts by half at most, and never below 1 Mb/s.
#[test]
fn cuts_are_bounded() {
    let mut rp = source(&Qcn { gain: 1.0 / 64.0, ..plain() });
    rp.on_feedback(Time::ZERO, 63);
    assert_eq!(rp.rate(), Some(5e9));
    (0..40).for_each(|_| rp.on_feedback(Time::ZERO, 63));
    assert_eq!(rp.rate(), Some(1e6));
    // TR is 10^4 times CR: the first cycle divides it by eight before the mean is taken.
    (0..101).for_each(|_| rp.on_sent(Time::ZERO, 1500));
    assert_eq!((rp.target(), rp.rate()), (1.25e9, Some((1e6 + 1.25e9) / 2.0)));
}

/// 1.0005 every 200 us doubles 1 Mb/s in ln 2 / ln 1.0005 = 1386.6 periods: in the 1387th, 277.4 ms.
#[test]
fn drift() {
    let mut rp = source(&plain());
    (0..60).for_each(|_| rp.on_feedback(Time::ZERO, 63));
    let mut periods = 0;
    while rp.rate().unwrap() < 2e6 {
        let at = rp.next_timer();
        rp.on_timer(at);
        periods += 1;
        assert_eq!(at, Time::ZERO + Span::from_us(200 * periods));
    }
    assert_eq!(periods, 1387);
}

/// 802.1Qau's timer: cycles of 15 ms, half as long after five; the sixth and the seventh increase by 5 Mb/s. The five cycles of
/// bytes that follow do so too, by the timer's count; with the sixth both counters have passed five by one.
#[test]
fn cycles_of_the_timer() {
    let mut rp = ReactionPoint::new(&Qcn { jitter: 0.0, ..Qcn::default() }, Rate(1_000_000_000_000), stream());
    rp.on_feedback(Time::ZERO, 63);
    (0..101).for_each(|_| rp.on_sent(Time::ZERO, 1500));
    rp.on_feedback(Time::ZERO, 63);
    let ends: Vec<f64> = (0..7)
        .map(|_| {
            let at = rp.next_timer();
            rp.on_timer(at);
            at.seconds() * 1e3
        })
        .collect();
    assert_eq!(ends, [15.0, 30.0, 45.0, 60.0, 75.0, 90.0, 97.5]);
    assert_eq!(rp.target(), 753.90625e9 + 10e6);
    let now = Time::ZERO + Span::from_ms(98);
    while rp.rate().is_some() && rp.cycles().0 < 6 {
        rp.on_sent(now, 1500);
    }
    assert_eq!(rp.target(), 753.90625e9 + 10e6 + 5.0 * 5e6 + 50e6);
}

/// The published rule (Tam 2009 after pseudo-code 2.2, 802.1Qau): hyper-active increase once *both* counters are past F. Without a
/// timer its counter stays 0, so that however long it takes the increase is active, 12 Mb/s a cycle.
#[test]
fn without_a_timer_there_is_no_hyper_active_increase() {
    let mut rp = ReactionPoint::new(&Qcn { drift_period: Span::ZERO, ..plain() }, Rate(1_000_000_000_000), stream());
    rp.on_feedback(Time::ZERO, 63);
    let mut now = Time::ZERO;
    for _ in 0..300 {
        now += Span::from_ms(1);
        cycle_at(&mut rp, now);
        if rp.rate().is_none() {
            break;
        }
        assert_eq!(rp.target(), 1e12 + 12e6 * f64::from(rp.cycles().0.saturating_sub(5)));
    }
    // From 0.508 of the line the sixth cycle, the first of active increase, ends above it only when the step exceeds the gap.
    assert!(rp.cycles().0 > 5);
}

/// The bytes of a cycle that goes with the rate: 150 kB at 10 Gb/s are 76 172 at 5.078 Gb/s, 51 frames of 1500.
#[test]
fn cycles_may_go_with_the_rate() {
    let mut rp = source(&Qcn { cycle_by_rate: true, ..plain() });
    rp.on_feedback(Time::ZERO, 63);
    (0..50).for_each(|_| rp.on_sent(Time::ZERO, 1500));
    assert_eq!(rp.cycles().0, 0);
    rp.on_sent(Time::ZERO, 1500);
    assert_eq!(rp.cycles().0, 1);
    // CR is 7.539 Gb/s now: 113 086 bytes, 76 frames.
    (0..75).for_each(|_| rp.on_sent(Time::ZERO, 1500));
    assert_eq!(rp.cycles().0, 1);
    rp.on_sent(Time::ZERO, 1500);
    assert_eq!(rp.cycles().0, 2);
}

/// A limiter that starts at 1 Gb/s: the first notification, of 63, leaves 1 - 63/128 of it, and the target is 1 Gb/s. The second
/// finds the limiter and cuts what it finds.
#[test]
fn a_limiter_may_start_below_the_line() {
    let mut rp = source(&Qcn { start_rate: Some(Rate(1_000_000_000)), ..plain() });
    rp.on_feedback(Time::ZERO, 63);
    assert_eq!((rp.rate(), rp.target()), (Some(507_812_500.0), 1e9));
    rp.on_feedback(Time::ZERO, 63);
    assert_eq!(rp.rate(), Some(507_812_500.0 * (1.0 - 63.0 / 128.0)));
}

/// A cycle's worth of frames of 1500 bytes at `now`.
fn cycle_at(rp: &mut ReactionPoint, now: Time) {
    let before = rp.cycles().0;
    while rp.cycles().0 == before && rp.rate().is_some() {
        rp.on_sent(now, 1500);
    }
}

/// With a span of 10 ms hyper-active increase waits for 50 ms and 500 frames.
#[test]
fn hyper_active_increase_without_a_timer() {
    let spec = Qcn {
        drift_period: Span::ZERO,
        active_increase: Rate(1),
        cycle_bytes: Bytes(15_000),
        hyper_active_span: Span::from_ms(10),
        ..plain()
    };
    let cycle = cycle_at;
    let mut rp = ReactionPoint::new(&spec, Rate(1_000_000_000_000), stream());
    // A second notification after a cycle lowers the target below the line rate: 10^12 (0.5078125 + 1) / 2.
    rp.on_feedback(Time::ZERO, 63);
    cycle(&mut rp, Time::ZERO);
    rp.on_feedback(Time::ZERO, 63);
    assert_eq!(rp.target(), 753.90625e9);
    // 100 cycles are more than 500 frames, but no time has passed: 95 active increases of 1 bit/s.
    (0..100).for_each(|_| cycle(&mut rp, Time::ZERO));
    assert_eq!(rp.target(), 753.90625e9 + 95.0);
    cycle(&mut rp, Time::ZERO + Span::from_ms(50));
    assert_eq!(rp.target(), 753.90625e9 + 95.0 + 50e6);
}
