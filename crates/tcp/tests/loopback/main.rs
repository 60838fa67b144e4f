//! Two endpoints against each other over a programmable path.

mod accecn;
mod acceptance;
mod bottleneck;
mod burst;
mod closing;
mod common;
mod detection;
mod ecn;
mod exact;
mod fast_open;
mod fuzz;
mod growing;
mod handshake;
mod kernels;
mod linux;
mod local;
mod lone;
mod one_way;
mod patience;
mod pushing;
mod recovery;
mod reduction;
mod small_queues;
mod statistics;
mod windows;
