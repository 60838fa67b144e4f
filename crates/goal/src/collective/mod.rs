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
//! | binomial tree | log2 n (2 S / rate + 3 L) - L | | log2 n (S / rate + 2 L) - L | |
//! | pairwise | | | | (n - 1) (S / n / rate + L) |
//!
//! In a tree a rank sends to the next when it knows that the last one has the message, which takes a latency back; eager messages take
//! log2 n (S / rate + L) per direction. n is a power of two, but for ring and pairwise. Else recursive doubling and halving fold the ranks that are too many into their
//! neighbours first, and unfold them afterwards, as MPICH does. Time for the reduction itself is left out.

mod doubling;
mod pairwise;
mod ring;
mod tree;

use std::fmt;

use elephan_units::stop;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::program::{Action, Op, Program, Rank, Wait};

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
    /// What does it.
    pub fn algorithms(self) -> &'static [Algorithm] {
        use Algorithm::{BinomialTree, HalvingDoubling, Pairwise, RecursiveDoubling, Ring};
        match self {
            Operation::AllReduce => &[Ring, RecursiveDoubling, HalvingDoubling, BinomialTree],
            Operation::AllGather => &[Ring, RecursiveDoubling],
            Operation::ReduceScatter => &[Ring, HalvingDoubling],
            Operation::Broadcast => &[BinomialTree],
            Operation::AllToAll => &[Pairwise],
        }
    }

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

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hyphened(self))
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hyphened(self))
    }
}

/// The name of a variant as scenarios have it.
fn hyphened(variant: &impl fmt::Debug) -> String {
    let mut name = String::new();
    for c in format!("{variant:?}").chars() {
        if c.is_uppercase() && !name.is_empty() {
            name.push('-');
        }
        name.extend(c.to_lowercase());
    }
    name
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

/// Messages of one collective, at most: what is made of them is kept in memory.
const MESSAGES_MAX: u64 = 1 << 24;

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
    /// About how many messages it has, never fewer.
    fn messages(&self) -> u64 {
        let n = u64::from(self.ranks);
        let steps = match self.algorithm {
            Algorithm::Ring => (2 * n).saturating_mul(u64::from(self.chunks)),
            Algorithm::RecursiveDoubling | Algorithm::HalvingDoubling => 2 * u64::from(n.ilog2()) + 2,
            Algorithm::BinomialTree => 2,
            Algorithm::Pairwise => n,
        };
        n.saturating_mul(steps)
    }

    /// Returns its program, or why there is none.
    pub fn program(&self) -> Result<Program, String> {
        if self.ranks < 2 {
            return Err(format!("{} ranks: at least 2", self.ranks));
        }
        if self.chunks == 0 || (self.chunks > 1 && self.algorithm != Algorithm::Ring) {
            return Err(format!("{} chunks: 1, or more with a ring", self.chunks));
        }
        let messages = self.messages();
        if messages > MESSAGES_MAX {
            let (ranks, operation, by) = (self.ranks, self.operation, self.algorithm);
            return Err(format!(
                "{operation} of {ranks} ranks by {by} has {messages} messages, more than {MESSAGES_MAX}"
            ));
        }
        let known = self.operation.algorithms();
        if !known.contains(&self.algorithm) {
            let (algorithm, known) = (self.algorithm, known.iter().map(Algorithm::to_string).collect::<Vec<_>>());
            return Err(format!("{algorithm} does no {}; known: {}", self.operation, known.join(", ")));
        }
        let mut making = Making { of: *self, ranks: vec![Rank::default(); self.ranks as usize] };
        match self.algorithm {
            Algorithm::Ring => ring::make(&mut making),
            Algorithm::RecursiveDoubling | Algorithm::HalvingDoubling => doubling::make(&mut making)?,
            Algorithm::BinomialTree => tree::make(&mut making),
            Algorithm::Pairwise => pairwise::make(&mut making),
        }
        Ok(Program { ranks: making.ranks })
    }
}

/// A program that is being made.
struct Making {
    of: Collective,
    ranks: Vec<Rank>,
}

impl Making {
    /// Bytes from one share of n of the whole to another; a message has at least 1 B.
    fn part(&self, from: u64, to: u64, n: u64) -> u64 {
        let at = |share: u64| (u128::from(self.of.bytes) * u128::from(share) / u128::from(n)) as u64;
        (at(to) - at(from)).max(1)
    }

    /// A message of a rank to another. `after`: what each of them has done before; returns what each does.
    fn message(&mut self, bytes: u64, tag: u32, from: (u32, Option<u32>), to: (u32, Option<u32>)) -> (u32, u32) {
        stop::look();
        let send = Action::Send { bytes, to: to.0, tag };
        let recv = Action::Recv { bytes, from: Some(from.0), tag: Some(tag) };
        (self.add(from.0, send, from.1), self.add(to.0, recv, to.1))
    }

    fn add(&mut self, rank: u32, action: Action, after: Option<u32>) -> u32 {
        let Rank { ops, waits } = &mut self.ranks[rank as usize];
        let of = ops.len() as u32;
        ops.push(Op::new(action));
        waits.extend(after.map(|on| Wait { of, on, start: false }));
        of
    }
}

#[cfg(test)]
mod tests;
