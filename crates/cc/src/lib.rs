//! Congestion control: how much a sender may have in flight.
//!
//! The rule of this layer: a congestion control is pure. It owns its state and sees its arguments; it has no clock, no packets, no
//! log and no random draws but from a seed that it is given. All windows are bytes as `f64` (never floored per ACK), all instants are given from
//! outside, and the same calls give the same windows to the bit.
//!
//! Three axes are kept apart:
//! - the *congestion control* ([`algorithm`], one file each): growth in congestion avoidance, the cut at a congestion event;
//! - *slow start* ([`slow_start`], one file each): growth below `ssthresh`;
//! - *recovery* (which segments are lost, what is sent while they are repaired) belongs to TCP and is not here.
//!
//! [`Controller`] joins a congestion control and a slow start, keeps what all congestion controls share (floor of one segment,
//! undo, a backed-off timer) and is what TCP and the stepping interface hold.

#![forbid(unsafe_code)]

pub mod algorithm;
mod answers;
mod classic;
mod controller;
mod declare;
mod delay;
mod draw;
mod event;
mod flight;
pub mod fuzz;
pub mod guest;
mod least;
mod marks;
mod needs;
mod path;
mod policer;
mod probing;
pub mod rdma;
mod registry;
mod repair;
mod round;
pub mod rounds;
pub mod slow_start;
mod tally;
#[cfg(test)]
mod testing;
pub mod train;
mod traits;

pub use algorithm::{CongestionControl, Pacing, Spec, Timer, describe, list};
pub use answers::Answers;
pub use controller::{Controller, MAX_WINDOW_BYTES};
pub use declare::{Internals, Ranges, State};
pub use event::{Abe, Ack, Question, ReduceFrom, Signal, Window};
pub use needs::Needs;
pub use rdma::{Nic, Transport};
pub use registry::{Description, Model, Parameter, SpecError};
pub use traits::{Marks as NeededMarks, Traits};
