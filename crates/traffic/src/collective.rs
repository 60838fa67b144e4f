//! `collective`: all hosts of `from` are ranks of a collective operation, such as an all-reduce, which they do again and again.
//!
//! What the ranks send, and what of it waits for what, is the program of the algorithm (crate `goal`). Each pair of ranks that talk has
//! one connection, which opens at the start and stays: a message is so many bytes of its stream, a receive is done when the last of
//! them is with the receiver. The next iteration begins when all ranks have done the one before. Time for the reduction itself is left out.

use elephan_goal::collective::{Algorithm, Collective as Making, Operation};
use elephan_units::{Bytes, InvalidParameter, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::parallel::{Order, Parallel, Work};
use crate::{Carrier, Distribution, Generate, Offer, Setting, Spec};

/// Largest size: so much no run has.
const SIZE_MAX: u64 = 1 << 50;

/// Keys of `kind = "collective"`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Collective {
    /// What the ranks do together: `all-reduce`, `all-gather`, `reduce-scatter`, `broadcast` or `all-to-all`.
    pub operation: Operation,
    /// How: `ring`, `recursive-doubling`, `halving-doubling`, `binomial-tree` or `pairwise`.
    pub algorithm: Algorithm,
    /// Size of the result at a rank; of an all-to-all what each rank sends in all, of a broadcast the message.
    pub size: Bytes,
    /// Parts in which a ring sends each piece, one after the other.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub chunks: u32,
    /// Ranks that do it together; the hosts then are several groups, which do it at once. Without it all hosts are one group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u32", range(min = 2))]
    pub group: Option<u32>,
    /// How many ranks apart the members of a group are.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub stride: u32,
    /// Which host is which rank.
    #[serde(default)]
    pub order: Order,
    /// How often they do it.
    #[serde(default = "once")]
    #[schemars(range(min = 1))]
    pub iterations: u64,
    /// Largest message whose send is done as soon as it has been handed over (eager); that of a larger one is when it is acknowledged.
    #[serde(default = "eager")]
    pub eager: Bytes,
    /// How long each rank computes before each iteration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Distribution<Span>")]
    pub compute: Option<Distribution<Span>>,
}

fn one() -> u32 {
    1
}

pub(crate) fn once() -> u64 {
    1
}

/// The rendezvous threshold of LogGOPSim.
pub(crate) fn eager() -> Bytes {
    Bytes(65_535)
}

/// Offers nothing: the ranks do.
#[derive(Clone, Debug)]
pub struct Source;

impl Spec for Collective {
    type Source = Source;

    fn validate(&self) -> Result<(), InvalidParameter> {
        let wrong = |key: &str, message: String| Err(InvalidParameter::new(key.to_owned(), message));
        if !(1..=SIZE_MAX).contains(&self.size.0) {
            return wrong("size", format!("{}: from 1 B to {SIZE_MAX} B", self.size));
        }
        if self.chunks == 0 || (self.chunks > 1 && self.algorithm != Algorithm::Ring) {
            return wrong("chunks", format!("{}: 1, or more with a ring", self.chunks));
        }
        if self.iterations == 0 {
            return wrong("iterations", "0: nothing would be done".to_owned());
        }
        match &self.compute {
            Some(Distribution::Fixed(Span::ZERO)) | None => Ok(()),
            Some(compute) => compute.validate("compute"),
        }
    }

    fn carrier(&self) -> Carrier {
        Carrier::Ranks
    }

    fn pace(&self) -> Option<&'static str> {
        self.compute.as_ref().map(|_| "compute")
    }

    fn is_random(&self, _pairs: u64) -> bool {
        self.order == Order::Random || self.compute.as_ref().is_some_and(Distribution::is_random)
    }

    fn source(&self, _: &Setting<'_>) -> Source {
        Source
    }

    fn parallel(&self) -> Option<Parallel> {
        let Collective { operation, algorithm, size, chunks, .. } = *self;
        Some(Parallel {
            work: Work::Collective(Making { operation, algorithm, ranks: 0, bytes: size.0, chunks }),
            group: self.group,
            stride: self.stride,
            order: self.order,
            iterations: self.iterations,
            eager: self.eager.0,
            compute: self.compute.clone(),
        })
    }
}

impl Generate for Source {
    fn next_offer(&mut self) -> Option<Offer> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind;

    #[test]
    fn says_what_ranks_do() {
        let text =
            r#"{"kind": "collective", "operation": "all-reduce", "algorithm": "ring", "size": "64 MB", "group": 8}"#;
        let kind: Kind = serde_json::from_str(text).unwrap();
        assert_eq!((kind.validate(), kind.carrier()), (Ok(()), Carrier::Ranks));
        let parallel = kind.parallel().unwrap();
        assert_eq!((parallel.iterations, parallel.order, parallel.groups(16).unwrap().len()), (1, Order::Packed, 2));
        assert_eq!(parallel.program(8).unwrap().pairs().len(), 8);
    }

    #[test]
    fn refused() {
        for (keys, message) in [
            (r#""size": "0 B""#, "size: 0 B: from 1 B to 1125899906842624 B"),
            (r#""size": "1 MB", "iterations": 0"#, "iterations: 0: nothing would be done"),
            (r#""size": "1 MB", "chunks": 0"#, "chunks: 0: 1, or more with a ring"),
        ] {
            let text = format!(r#"{{"operation": "broadcast", "algorithm": "binomial-tree", {keys}}}"#);
            let spec: Collective = serde_json::from_str(&text).unwrap();
            assert_eq!(spec.validate().unwrap_err().to_string(), message);
        }
        let text = r#"{"operation": "all-to-all", "algorithm": "ring", "size": "1 MB"}"#;
        let spec: Collective = serde_json::from_str(text).unwrap();
        let told = spec.parallel().unwrap().program(4).unwrap_err().to_string();
        assert_eq!(told, "algorithm: ring does no all-to-all; known: pairwise");
    }
}
