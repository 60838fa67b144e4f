//! What a segment costs: nanoseconds per data segment on the clean path (both ends and the ACKs), and per SACK at
//! 20,000 segments in flight with many holes. `cargo run --release -p elephan-tcp --example cost [clean|sack|receive]`,
//! with `ELEPHAN_LOSS_DETECTION=rack` or `fack` in its environment for those.

#![allow(clippy::print_stdout, reason = "a program for the terminal")]
#![allow(clippy::disallowed_methods, reason = "it measures")]

use elephan_tcp::options::LossDetection;
use elephan_tcp::{Endpoint, Options, Overrides, SackBlocks, Segment, stack};
use elephan_units::{Bytes, Span, Time};
use std::collections::VecDeque;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

/// Least and median of several runs of `f`, which returns nanoseconds and a count; the least is the one to compare on
/// a busy machine.
fn report(name: &str, mut f: impl FnMut() -> (u128, u64)) {
    let mut each: Vec<f64> = (0..7).map(|_| f()).map(|(ns, count)| ns as f64 / count as f64).collect();
    each.sort_by(f64::total_cmp);
    println!("{name:<76} {:7.1} ns  (median {:.1})", each[0], each[3]);
}

/// `ELEPHAN_LOSS_DETECTION=rack` (with the tail loss probe) or `fack` in place of `dupack`.
fn loss_detection() -> Overrides {
    let detection = match std::env::var("ELEPHAN_LOSS_DETECTION").as_deref() {
        Ok("rack") => LossDetection::Rack,
        Ok("fack") => LossDetection::Fack,
        _ => LossDetection::Dupack,
    };
    Overrides {
        loss_detection: Some(detection),
        tail_loss_probe: Some(detection == LossDetection::Rack),
        ..Overrides::default()
    }
}

fn options(congestion_control: &str, timestamps: bool, window: u64) -> Arc<Options> {
    let mut options = stack("rfc").unwrap();
    let overrides = Overrides {
        timestamps: Some(timestamps),
        receive_window: Some(Bytes(window)),
        abc_limit: Some(0),
        congestion_control: Some(elephan_cc::Spec::named(congestion_control).unwrap()),
        ..loss_detection()
    };
    options.apply(&overrides).unwrap();
    Arc::new(options)
}

fn connect(options: &Arc<Options>) -> (Endpoint, Endpoint) {
    let mut a = Endpoint::new(options, options.controller(), 1);
    let mut b = Endpoint::new(options, options.controller(), 2);
    let (mut seg, mut sack) = (Segment::default(), SackBlocks::default());
    b.listen();
    a.connect(Time::ZERO);
    for _ in 0..3 {
        while a.poll_transmit(Time(1), &mut seg, &mut sack) {
            b.on_segment(Time(1), &seg, &sack);
        }
        while b.poll_transmit(Time(1), &mut seg, &mut sack) {
            a.on_segment(Time(1), &seg, &sack);
        }
    }
    (a, b)
}

struct Pair {
    a: Endpoint,
    b: Endpoint,
    wire: VecDeque<Segment>,
}

/// `flows` connections in turn, each with `in_flight` segments in flight, a segment every 12 us.
fn clean(options: &Arc<Options>, flows: usize, in_flight: u64, segments: u64) -> (u128, u64) {
    let mut pairs: Vec<Pair> = (0..flows)
        .map(|_| {
            let (mut a, b) = connect(options);
            a.supply(u64::MAX);
            Pair { a, b, wire: VecDeque::new() }
        })
        .collect();
    let mut now = Time(1_000_000);
    let mut delivered = 0;
    let warm = 4 * in_flight * flows as u64;
    let mut start = Instant::now();
    let (mut seg, mut sack) = (Segment::default(), SackBlocks::default());
    while delivered < warm + segments {
        for pair in &mut pairs {
            if delivered == warm {
                start = Instant::now();
            }
            delivered += 1;
            now += Span::from_us(12);
            while pair.a.poll_transmit(now, &mut seg, &mut sack) {
                pair.wire.push_back(seg);
            }
            if let Some(data) = pair.wire.pop_front() {
                pair.b.on_segment(now, &data, &sack);
                while pair.b.poll_transmit(now, &mut seg, &mut sack) {
                    pair.a.on_segment(now, &seg, &sack);
                }
            }
            black_box(pair.a.next_timer().min(pair.b.next_timer()));
        }
    }
    let ns = start.elapsed().as_nanos();
    assert!(pairs[0].b.received() > segments / flows as u64 / 2 * 1000);
    (ns, segments)
}

/// Which segments of a window are lost, by their index.
type Lost = fn(usize) -> bool;

/// One window of `in_flight` segments of which every `every`-th from the `first` is lost: the ACKs of the receiver, and
/// what the sender makes of them.
struct Episode {
    a: Endpoint,
    b: Endpoint,
    data: Vec<Segment>,
}

fn episode(options: &Arc<Options>, in_flight: u64) -> Episode {
    let (mut a, mut b) = connect(options);
    a.supply(u64::MAX);
    let mut now = Time(1_000_000);
    let (mut seg, mut sack) = (Segment::default(), SackBlocks::default());
    let mut data = Vec::new();
    // Slow start without loss until the window is full.
    loop {
        now += Span::from_ms(100);
        data.clear();
        while a.poll_transmit(now, &mut seg, &mut sack) {
            data.push(seg);
        }
        if data.len() as u64 + 2 >= in_flight {
            return Episode { a, b, data };
        }
        for seg in &data {
            b.on_segment(now, seg, &sack);
            let mut ack = Segment::default();
            while b.poll_transmit(now, &mut ack, &mut sack) {
                a.on_segment(now, &ack, &sack);
            }
        }
    }
}

/// (receiver's ns, sender's ns, ACKs): segments arrive but the lost; then all that is retransmitted arrives.
fn sack(options: &Arc<Options>, in_flight: u64, lost: impl Fn(usize) -> bool) -> (u128, u128, u64) {
    let Episode { mut a, mut b, mut data } = episode(options, in_flight);
    let mut now = Time(10_000_000_000_000);
    let mut index = 0;
    let (mut receiver, mut sender, mut count) = (0, 0, 0);
    for _ in 0..4 {
        now += Span::from_ms(100);
        let mut acks = Vec::with_capacity(data.len());
        let start = Instant::now();
        for seg in &data {
            index += 1;
            if index <= in_flight as usize && lost(index) {
                continue;
            }
            b.on_segment(now, seg, &SackBlocks::default());
            let (mut ack, mut blocks) = (Segment::default(), SackBlocks::default());
            while b.poll_transmit(now, &mut ack, &mut blocks) {
                acks.push((ack, blocks));
            }
        }
        receiver += start.elapsed().as_nanos();
        data.clear();
        let start = Instant::now();
        for (ack, blocks) in &acks {
            now += Span::from_us(10);
            a.on_segment(now, ack, blocks);
            let (mut seg, mut sack) = (Segment::default(), SackBlocks::default());
            while a.poll_transmit(now, &mut seg, &mut sack) {
                data.push(seg);
            }
        }
        sender += start.elapsed().as_nanos();
        count += acks.len() as u64;
    }
    assert!(a.stats(now).timeouts == 0 && a.stats(now).fast_retran > 0);
    (receiver, sender, count)
}

fn main() {
    let what = std::env::args().nth(1).unwrap_or_default();
    let wanted = |name: &str| what.is_empty() || what == name;
    if what == "count" {
        // For callgrind and `time`: one workload, so many times.
        let times = std::env::args().nth(3).and_then(|n| n.parse().ok()).unwrap_or(1);
        for _ in 0..times {
            match std::env::args().nth(2).as_deref() {
                Some("sack") => {
                    black_box(sack(&options("cubic", false, 20_000 * 1460), 20_000, |i| i.is_multiple_of(10)));
                }
                _ => {
                    black_box(clean(&options("cubic", false, 40 * 1460), 1, 40, 200_000));
                }
            }
        }
        return;
    }
    if wanted("clean") {
        for (cc, timestamps) in [("reno", false), ("cubic", false), ("cubic", true)] {
            for (flows, in_flight) in [(1, 40), (1, 20_000), (100, 10), (1000, 10)] {
                let o = options(cc, timestamps, in_flight * if timestamps { 1448 } else { 1460 });
                let name =
                    format!("clean, {cc}, timestamps {timestamps}, {flows} flows, {in_flight} in flight, a segment");
                report(&name, || clean(&o, flows, in_flight, 2_000_000));
            }
        }
    }
    let patterns: [(&str, Lost); 4] = [
        ("every 2nd lost", |i| i.is_multiple_of(2)),
        ("every 10th lost", |i| i.is_multiple_of(10)),
        ("every 100th lost", |i| i.is_multiple_of(100)),
        ("one lost", |i| i == 5),
    ];
    for timestamps in [false, true] {
        let o = options("cubic", timestamps, 20_000 * if timestamps { 1448 } else { 1460 });
        for (name, lost) in patterns {
            if wanted("sack") {
                let name = format!("20,000 in flight, {name}, timestamps {timestamps}: an ACK at the sender");
                report(&name, || {
                    let (_, sender, count) = sack(&o, 20_000, lost);
                    (sender, count)
                });
            }
            if wanted("receive") {
                let name = format!("20,000 in flight, {name}, timestamps {timestamps}: a segment at the receiver");
                report(&name, || {
                    let (receiver, _, count) = sack(&o, 20_000, lost);
                    (receiver, count)
                });
            }
        }
    }
}
