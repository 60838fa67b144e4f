//! Collective operations as programs.
//!
//! `bytes` is S, the size of the result at a rank: of an all-to-all what each rank sends in all, of a broadcast the message. n ranks
//! take, on links of a rate that nobody else uses, where each message also takes the latency L
//! (Thakur, Rabenseifner and Gropp 2005; Rabenseifner 2004):
//!
//! | | all-reduce | reduce-scatter, all-gather | broadcast | all-to-all |
//! |---|---|---|---|---|
//! | ring | 2 (n - 1) (S / n / rate + L) | (n - 1) (S / n / rate + L) | | |
//! | recursive doubling | log2 n (S / rate + L) | log2 n L + (n - 1) / n S / rate | | |
//! | halving and doubling | 2 log2 n L + 2 (n - 1) / n S / rate | log2 n L + (n - 1) / n S / rate | | |
//! | binomial tree | 2 log2 n (S / rate + L) | | log2 n (S / rate + L) | |
//! | pairwise | | | | (n - 1) (S / n / rate + L) |
//!
//! n is a power of two, but for ring and pairwise. Else recursive doubling and halving fold the ranks that are too many into their
//! neighbours first, and unfold them afterwards, as MPICH does. Time for the reduction itself is left out.

mod doubling;
mod pairwise;
mod ring;
mod tree;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::program::{Action, Op, Program};

/// What all ranks do together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// Each has the sum of what all had.
    AllReduce,
    /// Each has what all had.
    AllGather,
    /// Each has a part of the sum.
    ReduceScatter,
    /// Each has what the first had.
    Broadcast,
    /// Each has a part of what each other had.
    AllToAll,
}

impl Operation {
    /// By what the algorithm's rate, S over the time, is multiplied for the bus bandwidth, as nccl-tests defines it.
    pub fn bus_factor(self, ranks: u32) -> f64 {
        let share = f64::from(ranks - 1) / f64::from(ranks);
        match self {
            Operation::AllReduce => 2.0 * share,
            Operation::AllGather | Operation::ReduceScatter | Operation::AllToAll => share,
            Operation::Broadcast => 1.0,
        }
    }
}

/// How they do it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Algorithm {
    /// Each sends to the next, in steps.
    Ring,
    /// Pairs at twice the distance in each step exchange all that they have.
    RecursiveDoubling,
    /// Pairs exchange halves, then double them.
    HalvingDoubling,
    /// A binomial tree from the first rank.
    BinomialTree,
    /// In each step each sends to another.
    Pairwise,
}

/// A collective operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Collective {
    pub operation: Operation,
    pub algorithm: Algorithm,
    pub ranks: u32,
    pub bytes: u64,
    /// Parts in which a ring sends each piece, one after the other.
    pub chunks: u32,
}

impl Collective {
    /// Returns its program, or why there is none.
    pub fn program(&self) -> Result<Program, String> {
        use Algorithm::{BinomialTree, HalvingDoubling, Pairwise, RecursiveDoubling, Ring};
        use Operation::{AllGather, AllReduce, AllToAll, Broadcast, ReduceScatter};
        if self.ranks < 2 {
            return Err(format!("{} ranks: at least 2", self.ranks));
        }
        if self.chunks == 0 || (self.chunks > 1 && self.algorithm != Ring) {
            return Err(format!("{} chunks: 1, or more with a ring", self.chunks));
        }
        let mut making = Making { of: *self, ranks: vec![Vec::new(); self.ranks as usize] };
        match (self.algorithm, self.operation) {
            (Ring, AllReduce | AllGather | ReduceScatter) => ring::make(&mut making),
            (RecursiveDoubling, AllReduce | AllGather) | (HalvingDoubling, AllReduce | ReduceScatter) => {
                doubling::make(&mut making)?;
            }
            (BinomialTree, AllReduce | Broadcast) => tree::make(&mut making),
            (Pairwise, AllToAll) => pairwise::make(&mut making),
            (algorithm, operation) => return Err(format!("no {operation:?} by {algorithm:?}")),
        }
        Ok(Program { ranks: making.ranks })
    }
}

/// A program that is being made.
struct Making {
    of: Collective,
    ranks: Vec<Vec<Op>>,
}

impl Making {
    /// Bytes from one share of n of the whole to another; a message has at least 1 B.
    fn part(&self, from: u64, to: u64, n: u64) -> u64 {
        let at = |share: u64| (u128::from(self.of.bytes) * u128::from(share) / u128::from(n)) as u64;
        (at(to) - at(from)).max(1)
    }

    /// A message of a rank to another. `after`: what each of them has done before; returns what each does.
    fn message(&mut self, bytes: u64, tag: u32, from: (u32, Option<u32>), to: (u32, Option<u32>)) -> (u32, u32) {
        let send = Action::Send { bytes, to: to.0, tag };
        let recv = Action::Recv { bytes, from: Some(from.0), tag: Some(tag) };
        (self.add(from.0, send, from.1), self.add(to.0, recv, to.1))
    }

    fn add(&mut self, rank: u32, action: Action, after: Option<u32>) -> u32 {
        let ops = &mut self.ranks[rank as usize];
        ops.push(Op::new(action, after.into_iter().collect()));
        ops.len() as u32 - 1
    }
}

#[cfg(test)]
mod tests;
