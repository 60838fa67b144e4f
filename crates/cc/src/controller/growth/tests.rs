use crate::testing::{MSS, ack, loss};
use crate::{Ack, Controller, Signal, Spec, Transport};
use elephan_units::{Span, Time};

const S: f64 = MSS as f64;

/// Those of `net/ipv4` of Linux that count in `snd_cwnd_cnt`, or in whole segments a round trip.
const COUNT: [&str; 14] = [
    "reno",
    "cubic",
    "highspeed",
    "scalable",
    "bic",
    "hybla",
    "htcp",
    "westwood",
    "vegas",
    "veno",
    "illinois",
    "yeah",
    "dctcp",
    "lp",
];

fn whole(spec: &Spec) -> Controller {
    Controller::new(spec, MSS, 10 * MSS).counting_segments(spec)
}

fn linux(name: &str) -> Spec {
    let preset = serde_json::json!({ "preset": "linux" });
    Spec::with(name, preset.as_object().unwrap()).unwrap_or_else(|_| Spec::named(name).unwrap())
}

/// At a window of `segments` in congestion avoidance.
fn at(name: &str, segments: f64) -> Controller {
    let mut c = whole(&linux(name));
    assert!(c.poke("cwnd", segments * S) && c.poke("ssthresh", segments * S));
    c
}

/// Windows in segments after each of `count` ACKs of a segment, 40 ms apart.
fn windows(c: &mut Controller, count: u32) -> Vec<f64> {
    let each = |n: u32| {
        let inflight = c.window() as u64;
        c.on_ack(&Ack { inflight, ..ack(1.0 + 0.04 * f64::from(n), MSS, 0.1) });
        c.window() / S
    };
    (0..count).map(each).collect()
}

/// Linux 6.18: after a timeout an ACK of 17 segments at window 5 and threshold 7 opens the window to 9, for 15 are two windows of 7 and one.
#[test]
fn an_ack_of_several_windows_counts_for_all_of_them() {
    let mut c = whole(&linux("reno"));
    assert!(c.poke("cwnd", 5.0 * S) && c.poke("ssthresh", 7.0 * S));
    c.on_ack(&Ack { inflight: 17 * MSS, ..ack(1.0, 17 * MSS, 0.1) });
    assert_eq!(c.window() / S, 9.0);
}

/// Linux 6.18, RTT 150 ms, a loss at a window of 13: the curve asks for one segment for each 4 acknowledged, and within one jiffy it is not
/// asked again, so that 4 more ACKs open the window once more. Windows after each ACK.
#[test]
fn cubic_asks_its_curve_once_a_jiffy() {
    let mut c = whole(&linux("cubic"));
    assert!(c.poke("cwnd", 13.0 * S));
    c.on_congestion(&loss(1.0, 13.0));
    let times = [1.0, 1.1520, 1.1521, 1.1522, 1.1524, 1.1525, 1.1526, 1.1527];
    let window = |c: &mut Controller, at: f64| {
        c.on_ack(&Ack { inflight: 9 * MSS, min_rtt: Some(Span::from_ms(150)), ..ack(at, MSS, 0.15) });
        c.window() / S
    };
    assert_eq!(times.map(|at| window(&mut c, at)), [9.0, 9.0, 9.0, 10.0, 10.0, 10.0, 10.0, 11.0]);
    // In the next jiffy the curve asks for one for each 10, as the window has grown.
    let later = [1.1560, 1.1561, 1.1562, 1.1563];
    assert_eq!(later.map(|at| window(&mut c, at)), [11.0; 4]);
}

/// Linux 6.18 (tests/packetdrill/congestion_avoidance): 5, then 6 after five segments, 7 after six more, 8 after seven more.
#[test]
fn reno_opens_by_one_when_a_window_is_counted() {
    let mut c = at("reno", 5.0);
    let expected = [vec![5.0; 4], vec![6.0; 6], vec![7.0; 7], vec![8.0]].concat();
    assert_eq!(windows(&mut c, 18), expected);
    // An ACK of four segments counts for four, one of a part of a segment for one: 4 and 4 at a window of 8 are one more.
    let mut c = at("reno", 8.0);
    c.on_ack(&ack(1.0, 4 * MSS, 0.1));
    c.on_ack(&ack(1.0, 3 * MSS + 1, 0.1));
    assert_eq!(c.window(), 9.0 * S);
}

/// 7 / 2 and 0.7 * 7 in whole segments, and the count begins anew: three ACKs for the fourth segment after the cut.
#[test]
fn a_cut_leaves_whole_segments_and_begins_to_count_anew() {
    for (name, left) in [("reno", 3.0), ("cubic", 4.0), ("dctcp", 3.0)] {
        let mut c = at(name, 7.0);
        windows(&mut c, 6);
        c.on_congestion(&loss(2.0, 7.0));
        assert_eq!((c.window(), c.ssthresh()), (left * S, left * S), "{name}");
    }
    let mut c = at("reno", 7.0);
    windows(&mut c, 6);
    c.on_congestion(&loss(2.0, 7.0));
    assert_eq!(windows(&mut c, 3), [3.0, 3.0, 4.0]);
}

/// Linux 6.18: at a window of seven after a timer, W_est is eight when more than [15 * 7 / 8] = 13 are acknowledged.
#[test]
fn cubic_follows_reno_in_whole_segments() {
    let mut c = at("cubic", 7.0);
    assert_eq!(windows(&mut c, 16), [vec![7.0; 13], vec![8.0; 3]].concat());
}

/// Slow start is whole too, and what the ACK that crosses ssthresh leaves is counted: 9 to 10, and two of ten.
#[test]
fn slow_start_and_what_it_leaves_are_counted() {
    let mut c = at("reno", 9.0);
    c.poke("ssthresh", 10.9 * S);
    c.on_ack(&ack(1.0, 3 * MSS, 0.1));
    assert_eq!((c.window(), c.ssthresh()), (10.0 * S, 10.0 * S));
    assert_eq!(windows(&mut c, 8), [vec![10.0; 7], vec![11.0]].concat());
}

/// Vegas opens and closes by a segment a round trip.
#[test]
fn vegas_closes_by_a_segment_in_a_round_trip() {
    let mut c = at("vegas", 20.0);
    c.poke("base_rtt", 0.05);
    let mut lowest = Vec::new();
    for round in 0..4 {
        crate::testing::round(&mut c, 1.0 + f64::from(round) * 0.1, 0.1);
        lowest.push(c.window() / S);
    }
    assert!(lowest.windows(2).all(|pair| pair[0] - pair[1] <= 1.0), "{lowest:?}");
    assert!(lowest[3] <= 18.0 && lowest.iter().all(|window| window.fract() == 0.0), "{lowest:?}");
}

/// What happens to a flow: growth, a loss, recovery, a mark, a timer, silence, answers of routers.
fn story(c: &mut Controller) -> Vec<(f64, f64)> {
    let mut told = Vec::new();
    let (mut now, mut delivered) = (0.0, 0);
    for n in 0..600u64 {
        now += 0.002 + 0.0001 * (n % 7) as f64;
        let acked = [MSS, 2 * MSS, 1, MSS / 3][n as usize % 4];
        delivered += acked;
        let (rtt, inflight) = (Some(Span::from_us(20_000 + 40 * n)), c.window() as u64);
        match n {
            150 | 300 => c.on_congestion(&loss(now, c.window() / S)),
            170 | 320 => c.on_recovered(),
            200 => c.on_congestion(&Signal::Ecn { now: Time::from_seconds(now), inflight }),
            400 => c.on_congestion(&Signal::Rto { now: Time::from_seconds(now), inflight }),
            450 => c.shrink_to(c.window() * 0.77),
            500 => c.on_feedback(700.0),
            520 => c.on_fair_rate(3e6, 0.0),
            _ => {}
        }
        let ack =
            Ack { delivered, inflight, rtt, srtt: rtt, min_rtt: Some(Span::from_us(20_000)), ..ack(now, acked, 0.02) };
        if (150..170).contains(&n) {
            c.on_ack_in_recovery(&ack)
        } else {
            c.on_ack(&ack)
        }
        told.push((c.window(), c.ssthresh()));
    }
    told
}

/// A congestion control that sets its window, or that is not of Linux, keeps it to the bit; windows of those of Linux are whole.
#[test]
fn only_those_of_linux_are_counted() {
    for spec in Spec::all() {
        let answers = spec.answers();
        assert_eq!(answers.traits.counts_segments, COUNT.contains(&spec.name()), "{}", spec.name());
        if !answers.traits.transports.contains(&Transport::Tcp) {
            continue;
        }
        let (counted, bytes) = (story(&mut whole(&spec)), story(&mut Controller::new(&spec, MSS, 10 * MSS)));
        if answers.traits.counts_segments {
            let fraction = |bytes: &f64| bytes.is_finite() && (bytes / S).fract() != 0.0;
            let broken = counted.iter().find(|(cwnd, ssthresh)| fraction(cwnd) || fraction(ssthresh));
            assert_eq!(broken, None, "{}", spec.name());
            assert_ne!(counted, bytes, "{}", spec.name());
        } else {
            assert_eq!(counted, bytes, "{}", spec.name());
        }
    }
}

/// Over 20 round trips the growth is what it is in bytes, but for one segment and what whole numbers of segments round.
#[test]
fn what_is_counted_is_not_lost() {
    for name in COUNT {
        let spec = linux(name);
        let grown = |mut c: Controller| {
            c.poke("cwnd", 20.0 * S);
            c.poke("ssthresh", 20.0 * S);
            let mut now = 1.0;
            for _ in 0..20 {
                now = crate::testing::round(&mut c, now, 0.05);
            }
            c.window() / S
        };
        let (counted, bytes) = (grown(whole(&spec)), grown(Controller::new(&spec, MSS, 10 * MSS)));
        assert!((counted - bytes).abs() <= 1.0 + 0.1 * bytes, "{name}: {counted}, {bytes}");
    }
}

/// The wish of the stack outlives a switch of congestion controls, in both directions.
#[test]
fn a_switch_counts_as_the_new_one_does() {
    let mut c = at("reno", 5.0);
    c.switch_congestion_control(&Spec::named("griddt").unwrap());
    windows(&mut c, 1);
    assert_eq!(c.window(), 5.2 * S);
    c.switch_congestion_control(&Spec::named("reno").unwrap());
    assert_eq!(c.window(), 5.0 * S);
    assert_eq!(windows(&mut c, 5), [5.0, 5.0, 5.0, 5.0, 6.0]);
}
