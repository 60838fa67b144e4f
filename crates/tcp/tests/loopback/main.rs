//! Two endpoints against each other over a programmable path.

mod common;
mod exact;
mod handshake;
mod recovery;
mod windows;
