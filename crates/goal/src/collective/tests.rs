//! Collectives beside their closed forms.

use std::sync::Arc;

use elephan_units::{Rate, Span};
use proptest::prelude::*;

use super::*;
use crate::{ideal, parse};

const RATE: Rate = Rate(8_000_000_000); // a byte takes 1 ns
const LATENCY_NS: u64 = 1000;

fn cost(_: u32, _: u32, bytes: u64) -> ideal::Cost {
    ideal::Cost::of(bytes, RATE, Span::from_ns(LATENCY_NS))
}

fn ns(operation: Operation, algorithm: Algorithm, ranks: u32, bytes: u64, chunks: u32) -> u64 {
    let program = Collective { operation, algorithm, ranks, bytes, chunks }.program().unwrap();
    program.check().unwrap();
    let ends = ideal::completion(&Arc::new(program), 0, &[], &mut cost).unwrap();
    ends.iter().map(|end| end.ps()).max().unwrap() / 1000
}

#[test]
fn times_are_those_of_the_closed_forms() {
    use Algorithm::*;
    use Operation::*;
    for n in [2u32, 4, 8, 64, 1024] {
        let (s, l, wide, log) = (u64::from(n) * 4096, LATENCY_NS, u64::from(n), u64::from(n.ilog2()));
        let step = s / wide + l;
        assert_eq!(ns(AllReduce, Ring, n, s, 1), 2 * (wide - 1) * step);
        assert_eq!(ns(AllGather, Ring, n, s, 1), (wide - 1) * step);
        assert_eq!(ns(ReduceScatter, Ring, n, s, 1), (wide - 1) * step);
        assert_eq!(ns(AllReduce, RecursiveDoubling, n, s, 1), log * (s + l));
        assert_eq!(ns(AllGather, RecursiveDoubling, n, s, 1), log * l + (wide - 1) * s / wide);
        assert_eq!(ns(AllReduce, HalvingDoubling, n, s, 1), 2 * log * l + 2 * (wide - 1) * s / wide);
        assert_eq!(ns(ReduceScatter, HalvingDoubling, n, s, 1), log * l + (wide - 1) * s / wide);
        // A rank sends to the next when it knows that the last has it.
        assert_eq!(ns(Broadcast, BinomialTree, n, s, 1), log * (s + 2 * l) - l);
        assert_eq!(ns(AllReduce, BinomialTree, n, s, 1), log * (2 * s + 3 * l) - l);
        if n <= 64 {
            assert_eq!(ns(AllToAll, Pairwise, n, s, 1), (wide - 1) * step);
        }
    }
}

#[test]
fn ranks_that_are_too_many_are_folded_in_and_out() {
    // Six ranks: two give theirs away, four exchange in two steps, and the two get it back. Two of the four had nothing to wait for at
    // first, so the last exchange is over when a rank's own message has left.
    assert_eq!(ns(Operation::AllReduce, Algorithm::RecursiveDoubling, 6, 4000, 1), 4 * 4000 + 3 * LATENCY_NS);
}

#[test]
fn chunks_hide_the_latency_of_a_ring() {
    // 7 steps of 8 chunks of 125 B: the interface is always busy where 8 chunks take the latency at least.
    let (one, eight) = (1, 8);
    let time = |chunks| ns(Operation::AllGather, Algorithm::Ring, 8, 8_000, chunks);
    assert_eq!(time(one), 7 * (1000 + LATENCY_NS));
    // Chunk k starts at 125 k, goes on after 125 + 1000 each, and waits for the seven before it: 7 (125 + 1000) + 7 * 125.
    assert_eq!(time(eight), 7 * 1125 + 7 * 125);
}

#[test]
fn the_factors_are_those_of_nccl_tests() {
    assert_eq!(Operation::AllReduce.bus_factor(8), 1.75);
    assert_eq!(Operation::AllToAll.bus_factor(4), 0.75);
    assert_eq!(Operation::Broadcast.bus_factor(4), 1.0);
}

#[test]
fn what_an_algorithm_does_not_do_is_told() {
    let collective = |operation, algorithm, ranks, chunks| Collective { operation, algorithm, ranks, bytes: 8, chunks };
    let told = |one: Collective| one.program().unwrap_err();
    assert_eq!(
        told(collective(Operation::AllToAll, Algorithm::Ring, 4, 1)),
        "ring does no all-to-all; known: pairwise"
    );
    assert_eq!(told(collective(Operation::AllReduce, Algorithm::Ring, 1, 1)), "1 ranks: at least 2");
    assert_eq!(
        told(collective(Operation::Broadcast, Algorithm::BinomialTree, 4, 2)),
        "2 chunks: 1, or more with a ring"
    );
    let wide = told(collective(Operation::AllToAll, Algorithm::Pairwise, 8192, 1));
    assert_eq!(wide, "all-to-all of 8192 ranks by pairwise has 67108864 messages, more than 16777216");
    let gather = collective(Operation::AllGather, Algorithm::RecursiveDoubling, 6, 1);
    assert_eq!(told(gather), "6 ranks: all-gather by recursive-doubling needs a power of two");
}

fn any_collective() -> impl Strategy<Value = Collective> {
    use Algorithm::*;
    use Operation::*;
    let known = prop::sample::select(vec![
        (AllReduce, Ring),
        (AllGather, Ring),
        (ReduceScatter, Ring),
        (AllReduce, RecursiveDoubling),
        (AllReduce, HalvingDoubling),
        (Broadcast, BinomialTree),
        (AllReduce, BinomialTree),
        (AllToAll, Pairwise),
    ]);
    (known, 2u32..40, 0u64..1_000_000, 1u32..5).prop_map(|((operation, algorithm), ranks, bytes, chunks)| {
        let chunks = if algorithm == Ring { chunks } else { 1 };
        Collective { operation, algorithm, ranks, bytes, chunks }
    })
}

proptest! {
    /// Every collective ends, is the same after it was written and read, and is no faster than its bytes.
    #[test]
    fn every_collective_ends(collective in any_collective()) {
        let program = collective.program().unwrap();
        prop_assert_eq!(&parse(&program.to_string()).unwrap(), &program);
        let ends = ideal::completion(&Arc::new(program), 0, &[], &mut cost).unwrap();
        let last = ends.iter().map(|end| end.ps()).max().unwrap() / 1000;
        let factor = collective.operation.bus_factor(collective.ranks);
        let least = collective.bytes as f64 * factor.min(1.0);
        prop_assert!(last as f64 >= 0.99 * least - f64::from(collective.ranks));
    }
}
