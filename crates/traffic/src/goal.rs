//! `goal`: the hosts of `from` are the ranks of a program in GOAL (Hoefler, Siebert and Lumsdaine 2009; as LogGOPSim reads it).
//!
//! ```text
//! num_ranks 2
//! rank 0 {
//! l1: calc 1000             // ns, on a processor (`cpu 1`) of which each does one thing at a time
//! l2: send 16384b to 1 tag 7
//! l2 requires l1            // begins when l1 is done; `irequires`: when it has begun
//! }
//! rank 1 { l1: recv 16384b from 0 tag 7 }   // -1: any rank, any tag
//! ```
//!
//! The send of a message up to `eager` bytes is done as soon as it has been handed to the connection, that of a larger one when it is
//! acknowledged; a receive is done when the message is in. The number of an
//! interface (`nic`) says nothing here: all messages of a host leave by its links. As for a collective, each pair that talks has one
//! connection, which stays open, and messages of a pair follow each other. Left out: GOAL's binary form, and overheads of a processor per
//! message (o and g of LogGP).

use elephan_units::{Bytes, InvalidParameter, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::collective::{eager, once};
use crate::parallel::{Order, Parallel, Work};
use crate::{Carrier, Distribution, Generate, Offer, Setting, Spec};

/// Keys of `kind = "goal"`: exactly one of `file` and `program`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Goal {
    /// File with the program. Its path starts in the folder of the scenario file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub file: Option<String>,
    /// The program itself, in place of `file`; a resolved scenario has it so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub program: Option<String>,
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

/// What is wrong with the text of a file, if anything is.
pub(crate) fn check(text: &str) -> Result<(), String> {
    elephan_goal::parse(text).map(drop).map_err(|error| error.to_string())
}

/// Offers nothing: the ranks do.
#[derive(Clone, Debug)]
pub struct Source;

impl Spec for Goal {
    type Source = Source;

    fn validate(&self) -> Result<(), InvalidParameter> {
        match (&self.file, &self.program) {
            (None, Some(text)) => {
                check(text).map_err(|message| InvalidParameter::new("program", format!("line {message}")))?;
            }
            (Some(_), None) => {
                let message = "has not been read: only a scenario file can name a file";
                return Err(InvalidParameter::new("file", message));
            }
            _ => return Err(InvalidParameter::new("", "a goal needs exactly one of file, program")),
        }
        if self.iterations == 0 {
            return Err(InvalidParameter::new("iterations", "0: nothing would be done"));
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
        Some(Parallel {
            work: Work::Goal(self.program.clone().unwrap_or_default()),
            group: None,
            stride: 1,
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

    #[test]
    fn has_a_program() {
        let told = |text: &str| serde_json::from_str::<Goal>(text).unwrap().validate().map_err(|e| e.to_string());
        assert_eq!(told(r#"{"program": "num_ranks 1 rank 0 { calc 1 }"}"#), Ok(()));
        assert_eq!(told("{}"), Err(": a goal needs exactly one of file, program".to_owned()));
        let wrong = r#"{"program": "num_ranks 1\nrank 0 { calk 1 }"}"#;
        let message = "program: line 2: \"calk\": an operation is calc, send or recv";
        assert_eq!(told(wrong), Err(message.to_owned()));
        assert!(told(r#"{"file": "a.goal"}"#).unwrap_err().starts_with("file: has not been read"));
    }
}
