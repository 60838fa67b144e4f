//! Two endpoints against each other over a programmable path.

mod bottleneck;
mod common;
mod detection;
mod ecn;
mod exact;
mod fuzz;
mod handshake;
mod recovery;
mod windows;
