//! What the papers prove of fair queueing, against a fluid server written from its definition.

mod common;

use common::{BYTE_PS, Offer, RATE, serve};
use elephan_link::queue::{Parameters, Queue, QueueSpec};
use elephan_units::Time;
use proptest::prelude::*;

const PACKET_MAX: u32 = 1500;

fn queue(kind: &str) -> Queue {
    let spec: QueueSpec = serde_json::from_value(serde_json::json!({ "kind": kind })).unwrap();
    spec.build(0)
}

/// When a fluid server that gives each flow its share finishes each packet, in ns: between two instants at which a flow comes or
/// goes each flow that has something is served at weight / sum of weights.
fn fluid(offers: &[Offer], flows: usize, weights: &[u16]) -> Vec<f64> {
    let mut finish = vec![0.0; offers.len()];
    let mut left: Vec<std::collections::VecDeque<(usize, f64)>> = vec![Default::default(); flows];
    let (mut now, mut next) = (0.0, 0);
    loop {
        let busy: Vec<usize> = (0..flows).filter(|&f| !left[f].is_empty()).collect();
        let arrival = offers.get(next).map_or(f64::INFINITY, |o| o.at_ns as f64);
        if busy.is_empty() && next == offers.len() {
            return finish;
        }
        let sum: f64 = busy.iter().map(|&f| f64::from(weights[f])).sum();
        let rate = |f: usize| f64::from(weights[f]) / sum;
        let first = busy.iter().map(|&f| left[f][0].1 / rate(f)).fold(f64::INFINITY, f64::min);
        let step = first.min(arrival - now);
        now += step;
        for &f in &busy {
            left[f][0].1 -= step * rate(f);
            if left[f][0].1 <= 1e-9 * f64::from(PACKET_MAX) {
                let (packet, _) = left[f].pop_front().unwrap();
                finish[packet] = now;
            }
        }
        while next < offers.len() && offers[next].at_ns as f64 <= now {
            left[offers[next].flow as usize].push_back((next, f64::from(offers[next].bytes)));
            next += 1;
        }
    }
}

/// Packets of four flows with the weights given, a link loaded by about 60 to 150 %.
fn offers(weights: Vec<u16>) -> impl Strategy<Value = Vec<Offer>> {
    prop::collection::vec((0u64..2200, 0u32..4, 40u32..=PACKET_MAX), 1..150).prop_map(move |list| {
        let mut at_ns = 0;
        let offer = |(gap, flow, bytes): (u64, u32, u32)| {
            at_ns += gap;
            Offer { at_ns, flow, weight: weights[flow as usize], bytes }
        };
        list.into_iter().map(offer).collect()
    })
}

fn weighted() -> impl Strategy<Value = (Vec<u16>, Vec<Offer>)> {
    prop::collection::vec(1u16..6, 4).prop_flat_map(|weights| (Just(weights.clone()), offers(weights)))
}

/// All offers at time 0, flow by flow in turn.
fn at_once(sizes: &[(u32, u32)], weights: [u16; 2]) -> Vec<Offer> {
    let offer = |flow: u32, bytes| Offer { at_ns: 0, flow, weight: weights[flow as usize], bytes };
    sizes.iter().flat_map(|&(a, b)| [offer(0, a), offer(1, b)]).collect()
}

proptest! {
    /// Parekh and Gallager 1993, theorem 1: no packet leaves later than in the fluid by more than a largest packet. And of the
    /// packets that are there the one goes that the fluid finishes first: later arrivals do not change their order (lemma 1).
    #[test]
    fn fq_is_at_most_a_packet_behind_the_fluid((weights, offers) in weighted()) {
        let ideal = fluid(&offers, 4, &weights);
        let served = serve(&mut queue("fq"), &offers);
        prop_assert_eq!(served.len(), offers.len());
        for &(item, begin, end) in &served {
            let behind_ns = end.0 as f64 / BYTE_PS as f64 - ideal[item.handle as usize];
            prop_assert!(behind_ns <= f64::from(PACKET_MAX) + 1e-3, "packet {} is {behind_ns} ns behind", item.handle);
            for &(other, later, _) in &served {
                let waited = later > begin && other.at < begin;
                let earlier = ideal[other.handle as usize] < ideal[item.handle as usize] - 1e-3;
                prop_assert!(!(waited && earlier), "{} went before {}", item.handle, other.handle);
            }
        }
    }

    /// Parekh and Gallager 1993, theorem 2: a flow is never behind what the fluid has served of it by more than a largest packet,
    /// at the ends of services.
    #[test]
    fn no_flow_is_behind_its_share((weights, offers) in weighted()) {
        let ideal = fluid(&offers, 4, &weights);
        let served = serve(&mut queue("fq"), &offers);
        for &(_, _, end) in &served {
            let end_ns = end.0 as f64 / BYTE_PS as f64;
            for flow in 0..4 {
                let whole = |packet: &usize| offers[*packet].flow == flow && ideal[*packet] <= end_ns;
                let fluid: u64 = (0..offers.len()).filter(whole).map(|p| u64::from(offers[p].bytes)).sum();
                let done = |&&(item, _, at): &&(elephan_link::queue::Item, Time, Time)| item.flow == flow && at <= end;
                let sent: u64 = served.iter().filter(done).map(|(item, _, _)| u64::from(item.bytes)).sum();
                prop_assert!(fluid <= sent + u64::from(PACKET_MAX), "flow {flow} at {end_ns} ns");
            }
        }
    }

    /// Golestani 1994, theorem 1: while two flows always have packets, |W_i / r_i - W_j / r_j| <= L_i / r_i + L_j / r_j over any
    /// interval. Here r is the weight.
    #[test]
    fn scfq_is_fair_over_any_interval(
        sizes in prop::collection::vec((40u32..=1500, 40u32..=1500), 60),
        weights in (1u16..6, 1u16..6),
    ) {
        bound(queue("scfq"), &sizes, [weights.0, weights.1], |largest, weight| {
            f64::from(largest[0]) / weight[0] + f64::from(largest[1]) / weight[1]
        })?;
    }

    /// Shreedhar and Varghese 1995, theorem for equal quanta: the difference is at most 3 largest packets, for a quantum of one.
    #[test]
    fn drr_is_fair_over_any_interval(sizes in prop::collection::vec((40u32..=1500, 40u32..=1500), 60)) {
        bound(queue("drr"), &sizes, [1, 1], |_, _| 3.0 * 1500.0)?;
    }
}

/// Serves two flows that always have packets and compares what they get over all intervals between ends of services.
fn bound(
    mut queue: Queue,
    sizes: &[(u32, u32)],
    weights: [u16; 2],
    bound: impl Fn([u32; 2], [f64; 2]) -> f64,
) -> Result<(), TestCaseError> {
    let served = serve(&mut queue, &at_once(sizes, weights));
    let last = |flow| served.iter().rposition(|(item, _, _)| item.flow == flow).unwrap();
    let both = last(0).min(last(1));
    let weight = weights.map(f64::from);
    let largest = [sizes.iter().map(|s| s.0).max().unwrap_or(0), sizes.iter().map(|s| s.1).max().unwrap_or(0)];
    let allowed = bound(largest, weight) + 1e-6;
    let ahead: Vec<f64> = std::iter::once(0.0)
        .chain(served[..both].iter().scan(0.0, |ahead, (item, _, _)| {
            let share = f64::from(item.bytes) / weight[item.flow as usize];
            *ahead += if item.flow == 0 { share } else { -share };
            Some(*ahead)
        }))
        .collect();
    let (low, high) = ahead.iter().fold((0.0f64, 0.0f64), |(low, high), &a| (low.min(a), high.max(a)));
    prop_assert!(high - low <= allowed, "{high} - {low} is more than {allowed}");
    Ok(())
}

/// Three flows of 1000-byte packets, one of 300-byte packets: bit by bit each gets a quarter. The fluid finishes the small
/// packets at virtual 300, 600, 900, the first large ones at 1000, 1200 to 1800 and the second large ones at 2000.
#[test]
fn small_packets_are_not_held_up_by_large_ones() {
    let offer = |flow, bytes| Offer { at_ns: 0, flow, weight: 1, bytes };
    let mut list: Vec<Offer> = (0..2).flat_map(|_| (0..3).map(|flow| offer(flow, 1000))).collect();
    list.extend((0..6).map(|_| offer(3, 300)));
    for kind in ["fq", "scfq"] {
        let served = serve(&mut queue(kind), &list);
        let flows: Vec<u32> = served.iter().map(|(item, _, _)| item.flow).collect();
        assert_eq!(flows, [3, 3, 3, 0, 1, 2, 3, 3, 3, 0, 1, 2], "{kind}");
    }
    assert_eq!(RATE.0 * BYTE_PS, 8 * 1_000_000_000_000);
}

/// Demers, Keshav and Shenker 1989: a flow that was idle does not save up its share. Flow 0 is alone for 10 000 bytes; flow
/// 1, which comes then, shares half and half and does not get 10 000 bytes at once.
#[test]
fn an_idle_flow_saves_nothing_up() {
    let offer = |at_ns, flow| Offer { at_ns, flow, weight: 1, bytes: 1000 };
    let mut list: Vec<Offer> = (0..20).map(|_| offer(0, 0)).collect();
    list.extend((0..10).map(|_| offer(10_000, 1)));
    for kind in ["fq", "scfq", "drr"] {
        let served = serve(&mut queue(kind), &list);
        let flows: Vec<u32> = served.iter().map(|(item, _, _)| item.flow).collect();
        let of_new = flows[10..26].iter().filter(|&&flow| flow == 1).count();
        assert!((7..=9).contains(&of_new), "{kind}: {flows:?}");
    }
}
