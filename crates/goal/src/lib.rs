//! What ranks of a parallel program do: compute, send, receive, and which of it waits for which.
//!
//! A [`Program`] is read from a text in GOAL (Hoefler, Siebert and Lumsdaine 2009; the language of LogGOPSim), or made of a collective
//! operation ([`collective`]). An [`Execution`] does it, whatever carries its messages. [`ideal`] says how long it takes on links that nobody else uses.
//!
//! Left out of GOAL: its binary form, and operations on one-sided memory.

#![forbid(unsafe_code)]

pub mod collective;
mod execution;
pub mod ideal;
mod lexer;
mod parse;
mod program;
mod write;

pub use execution::history::{Account, Done, Stretch, What};
pub use execution::{Execution, Task};
pub use parse::{Error, parse};
pub use program::{Action, Op, Program, RANKS_MAX, Rank, Wait};
