//! Recursive doubling, and halving: in each step pairs exchange, at distances that double or halve.

use super::{Algorithm, Making, Operation};

/// The tag of messages that fold ranks into their neighbours, and unfold them.
const FOLD: u32 = u32::MAX;

pub(super) fn make(making: &mut Making) -> Result<(), String> {
    let (n, operation) = (making.of.ranks, making.of.operation);
    let within = 1 << n.ilog2();
    let extra = n - within;
    if extra > 0 && operation != Operation::AllReduce {
        return Err(format!("{n} ranks: {operation} by {} needs a power of two", making.of.algorithm));
    }
    let mut had: Vec<Option<u32>> = vec![None; n as usize];
    let whole = making.part(0, 1, 1);
    // Of the first 2 `extra` ranks the even ones give theirs away and take no part.
    for pair in 0..extra {
        let (out, into) = (2 * pair, 2 * pair + 1);
        let (_, recv) = making.message(whole, FOLD, (out, None), (into, None));
        had[into as usize] = Some(recv);
    }
    let real = |number: u32| if number < extra { 2 * number + 1 } else { number + extra };
    for (step, (distance, shares)) in steps(making, within).into_iter().enumerate() {
        let bytes = making.part(0, shares, u64::from(within));
        let mut has = had.clone();
        for number in 0..within {
            let (a, b) = (real(number), real(number ^ distance));
            let (_, recv) = making.message(bytes, step as u32, (a, had[a as usize]), (b, had[b as usize]));
            has[b as usize] = Some(recv);
        }
        had = has;
    }
    for pair in 0..extra {
        let (out, into) = (2 * pair, 2 * pair + 1);
        making.message(whole, FOLD, (into, had[into as usize]), (out, None));
    }
    Ok(())
}

/// The distance of the pairs in each step, and how many of `within` shares they exchange.
fn steps(making: &Making, within: u32) -> Vec<(u32, u64)> {
    let doubled: Vec<u32> = (0..within.ilog2()).map(|step| 1 << step).collect();
    let halved = || doubled.iter().rev().map(|&distance| (distance, u64::from(distance)));
    match (making.of.algorithm, making.of.operation) {
        (Algorithm::RecursiveDoubling, Operation::AllReduce) => {
            doubled.iter().map(|&distance| (distance, u64::from(within))).collect()
        }
        (Algorithm::RecursiveDoubling, _) => doubled.iter().map(|&distance| (distance, u64::from(distance))).collect(),
        (_, Operation::ReduceScatter) => halved().collect(),
        _ => halved().chain(doubled.iter().map(|&distance| (distance, u64::from(distance)))).collect(),
    }
}
