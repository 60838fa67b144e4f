//! Two endpoints against each other over a programmable path.

mod bottleneck;
mod common;
mod exact;
mod handshake;
mod recovery;
mod windows;
