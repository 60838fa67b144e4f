//! What ports are made of: parts that know nothing of links, of other ports and of the network.

pub mod ahead;
pub mod episodes;
pub mod impair;
pub mod limiters;
pub mod nic;
pub mod points;
pub mod station;
pub mod taps;
pub mod waits;
pub mod watch;
