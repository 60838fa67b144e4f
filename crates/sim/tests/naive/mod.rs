//! The parts of the naive engine, and what compares it with elephan.

mod codel;
pub mod compare;
mod deadlock;
pub mod draw;
mod engine;
mod loss;
mod network;
mod onoff;
mod order;
mod packet;
mod pause;
mod queue;
mod red;
pub mod replay;
mod rows;
mod source;
mod spread;
