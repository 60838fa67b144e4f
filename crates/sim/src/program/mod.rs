//! Connections and datagrams of programs outside the simulation (traffic of kind `program`): [`Network`] is what they hold.
//!
//! A connection is a *call* from one host to a port of another. Its SYN finds at the far host whether somebody listens there: the
//! socket that answers is made with the call, but no packet reaches it before a SYN was let in (`World::stray`). Bytes do not travel:
//! the world knows lengths, contents stay with who uses it. Each segment and each timer of a call's ends is looked at
//! (`World::attend_call`), and what a program would see of it is reported.

mod call;
mod datagram;
mod network;
mod state;

pub use network::Network;
pub use state::{Address, End, Fate, Program, Report, Status};
