use super::*;

const NOT_ECT: u8 = 0;
const ECT_0: u8 = 2;

fn item(ecn: u8) -> Item {
    Item { bytes: 1000, ecn, at: Time::ZERO, ..Item::default() }
}

fn at_ms(ms: u64) -> Time {
    Time::ZERO + Span::from_ms(ms)
}

/// min 5, max 15 packets, 8 Mb/s: a typical packet takes 1 ms.
fn spec() -> RedSpec {
    let sizes = (Some(Size::Packets(5)), Some(Size::Packets(15)));
    RedSpec { min: sizes.0, max: sizes.1, limit: Size::Packets(100), ..RedSpec::default() }
}

fn queue(spec: &RedSpec) -> Red {
    let mut q = spec.build(0);
    q.set_rate(Rate(8_000_000));
    q.set_stream(Stream::new(1, "test", "queue"));
    q
}

fn near(value: f64, expected: f64) {
    assert!((value - expected).abs() < 1e-9 * expected.abs().max(1.0), "{value} is not {expected}");
}

/// weight 0.5: the first packet ends an idle time and finds avg = 0; the next find 1, 2 and 3 waiting: avg = 0.5, 1.25, 2.125.
/// Then all leave at 10 ms, and the link is idle until 12 ms, two packets of 1 ms: avg = 2.125 * 0.25.
#[test]
fn the_average_moves_with_packets_and_falls_with_idle_time() {
    let mut q = queue(&RedSpec { weight: 0.5, ..spec() });
    for expected in [0.0, 0.5, 1.25, 2.125] {
        q.enqueue(at_ms(5), item(NOT_ECT), &mut Vec::new());
        near(q.average, expected);
    }
    while q.dequeue(at_ms(10), &mut Vec::new()).is_some() {}
    q.enqueue(at_ms(12), item(NOT_ECT), &mut Vec::new());
    near(q.average, 0.53125);
}

/// A packet that is dropped leaves the link idle. An average of 64 packets is 32 after 1 ms, when a packet is dropped, and 8 after 2 ms
/// more (Floyd and Jacobson 1993, equation 3; Linux `red_dequeue` begins an idle period anew after such a drop).
#[test]
fn a_drop_does_not_end_an_idle_time() {
    let mut q = queue(&RedSpec { weight: 0.5, ..spec() });
    q.average = 64.0;
    assert_eq!(q.enqueue(at_ms(1), item(NOT_ECT), &mut Vec::new()), Verdict::Dropped(REASON));
    near(q.average, 32.0);
    q.enqueue(at_ms(3), item(NOT_ECT), &mut Vec::new());
    near(q.average, 8.0);
}

/// probability 0.02: 0 below 5, 0.01 at 10, 0.02 from 15 on the gentle slope to 1 at 30; at 22.5, 0.02 + 0.98 / 2 = 0.51.
#[test]
fn the_slope_and_the_gentle_slope() {
    let mut gentle = queue(&RedSpec { gentle: true, ..spec() });
    let mut hard = queue(&spec());
    for (average, p_gentle, p_hard) in
        [(4.99, 0.0, 0.0), (10.0, 0.01, 0.01), (15.0, 0.02, 1.0), (22.5, 0.51, 1.0), (30.0, 1.0, 1.0)]
    {
        (gentle.average, hard.average) = (average, average);
        near(gentle.base_probability(), p_gentle);
        near(hard.base_probability(), p_hard);
    }
}

/// DCQCN's marking of queues of 0 to 30 packets, 5, 15 and 0.5: none at 5, every fourth at 10, every one from 15 on. Of 4000 at 10
/// a standard error is 27; without spacing there are pairs in a row, 1/4 of those marked.
#[test]
fn marks_by_the_queue_of_this_instant() {
    let spec = RedSpec { probability: 0.5, weight: 1.0, spaced: false, ecn: true, ..spec() };
    for (waiting, low, high) in [(5, 0, 0), (10, 892, 1108), (14, 1673, 1927), (15, 4000, 4000), (30, 4000, 4000)] {
        let mut q = queue(&spec);
        for _ in 0..waiting {
            q.store.push(item(ECT_0));
        }
        q.idle_since = None;
        let (mut marks, mut twice, mut before) = (0, 0, false);
        for _ in 0..4000 {
            let marked = q.enqueue(at_ms(0), item(ECT_0), &mut Vec::new()) == Verdict::Marked;
            marks += i32::from(marked);
            twice += i32::from(marked && before);
            before = marked;
            q.store.pop();
        }
        assert!((low..=high).contains(&marks), "{waiting}: {marks}");
        assert!(waiting != 10 || twice > 180, "{twice}");
    }
}

/// p_b = 0.02: 0.02 at once, 0.02 / 0.98 after one, 0.04 after 25, 1 after 49, so that gaps are uniform on 1 .. 50.
#[test]
fn drops_are_spaced_by_the_count() {
    for (count, p_a) in [(0, 0.02), (1, 0.02 / 0.98), (25, 0.04), (48, 0.5), (49, 1.0), (60, 1.0)] {
        near(spaced(0.02, count), p_a);
    }
}

/// An average held at 10 of 5 .. 15 and a probability of 0.2: p_b = 0.1, gaps uniform on 1 .. 10, a mean of 5.5 and
/// none above 10. 20 000 packets are 3636 gaps; their mean is off by 2.87 / sqrt(3636) = 0.05, 4 of which are 0.2.
#[test]
fn gaps_between_drops_are_uniform() {
    let mut q = queue(&RedSpec { probability: 0.2, weight: 0.0, ..spec() });
    let (mut drops, mut gap, mut longest) = (0u32, 0u32, 0u32);
    q.idle_since = None;
    for _ in 0..20_000 {
        q.average = 10.0;
        gap += 1;
        if q.enqueue(at_ms(0), item(NOT_ECT), &mut Vec::new()) == Verdict::Dropped("red") {
            (drops, longest, gap) = (drops + 1, longest.max(gap), 0);
        }
        q.store = Store::default();
    }
    assert_eq!(longest, 10);
    let mean = 20_000.0 / f64::from(drops);
    assert!((mean - 5.5).abs() < 0.2, "{mean}");
}

/// 0.5 s apart: above 5 + 0.6 * 10 = 11 the probability grows by a quarter, 0.02 to 0.025, from 0.04 on by 0.01; below 9 it
/// falls by a tenth. Seconds without a packet are caught up.
#[test]
fn adaptive_steps() {
    let mut q = queue(&RedSpec { adaptive: true, ..spec() });
    (q.average, q.idle_since) = (11.5, None);
    for (ms, expected) in [(499, 0.02), (500, 0.025), (999, 0.025), (1000, 0.03125), (1500, 0.039_062_5)] {
        q.adapt(at_ms(ms));
        near(q.probability, expected);
    }
    q.adapt(at_ms(2000));
    near(q.probability, 0.039_062_5 * 1.25);
    q.adapt(at_ms(2500));
    near(q.probability, 0.039_062_5 * 1.25 + 0.01);
    q.probability = 0.495;
    q.adapt(at_ms(3000));
    near(q.probability, 0.5);
    q.average = 8.9;
    q.adapt(at_ms(4500));
    near(q.probability, 0.5 * 0.9 * 0.9 * 0.9);
    q.average = 10.0;
    q.adapt(at_ms(6000));
    near(q.probability, 0.3645);
    q.average = 8.9;
    q.adapt(at_ms(3_600_000));
    near(q.probability, 0.01);
}

/// Picked packets are marked if they can be; above `max` too, unless `harddrop`; and a full queue drops.
#[test]
fn marks_take_the_place_of_drops() {
    for (harddrop, ecn, expected) in [
        (false, ECT_0, Verdict::Marked),
        (true, ECT_0, Verdict::Dropped("red")),
        (false, NOT_ECT, Verdict::Dropped("red")),
    ] {
        let mut q = queue(&RedSpec { ecn: true, harddrop, weight: 0.0, ..spec() });
        (q.average, q.idle_since) = (15.0, None);
        assert_eq!(q.enqueue(at_ms(0), item(ecn), &mut Vec::new()), expected);
    }
    let mut q = queue(&RedSpec { ecn: true, mark_only: true, weight: 0.0, ..spec() });
    (q.average, q.idle_since) = (15.0, None);
    assert_eq!(q.enqueue(at_ms(0), item(NOT_ECT), &mut Vec::new()), Verdict::Accepted);
    assert_eq!(q.enqueue(at_ms(0), item(ECT_0), &mut Vec::new()), Verdict::Marked);
    let mut q = queue(&RedSpec { limit: Size::Packets(1), ..spec() });
    assert_eq!(q.enqueue(at_ms(0), item(NOT_ECT), &mut Vec::new()), Verdict::Accepted);
    assert_eq!(q.enqueue(at_ms(0), item(NOT_ECT), &mut Vec::new()), Verdict::Dropped("queue_full"));
}

/// tc-red: max = limit / 4, min = max / 3.
#[test]
fn thresholds_follow_from_the_limit() {
    let q = RedSpec { limit: Size::Bytes(1_200_000), ..RedSpec::default() }.build(0);
    assert_eq!((q.min, q.max, q.by_packets), (100_000.0, 300_000.0, false));
    let q = RedSpec { limit: Size::Packets(1000), max: Some(Size::NanoBdp(500_000_000)), ..RedSpec::default() }
        .build(600_000);
    assert_eq!((q.min, q.max, q.by_packets), (100_000.0, 300_000.0, false));
}

#[test]
fn thresholds_that_cannot_be() {
    let (min, max) = (Some(Size::Packets(15)), Some(Size::Packets(15)));
    let problem = RedSpec { min, max, ..RedSpec::default() }.problem();
    let step = "; to mark at one size, say kind = \"fifo\" and mark_above";
    assert_eq!(problem, Some(InvalidParameter::new("min", format!("\"15 p\": must be below max, \"15 p\"{step}"))));
    let problem = RedSpec { min: Some(Size::Packets(16)), max, ..RedSpec::default() }.problem();
    assert_eq!(problem, Some(InvalidParameter::new("min", "\"16 p\": must be below max, \"15 p\"")));
    let problem = RedSpec { min, max: Some(Size::Bytes(10_000)), ..RedSpec::default() }.problem();
    assert_eq!(problem, Some(InvalidParameter::new("min", "\"15 p\": must be in the unit of max, \"10 KB\"")));
    let problem = RedSpec { mark_only: true, ..RedSpec::default() }.problem();
    assert_eq!(problem, Some(InvalidParameter::new("mark_only", "true: needs ecn = true")));
    assert_eq!(RedSpec::default().problem(), None);
}
