//! Named random streams and the distributions drawn from them.
//!
//! The rule of this layer: a draw depends on (seed, path, purpose, how many draws this stream has made) and on nothing
//! else. Adding a stream never shifts another, and the same draw is the same bit pattern on every machine: only
//! integer arithmetic, + - * /, sqrt and the `libm` crate, never the platform's libm.
//!
//! Every continuous distribution is an inverse transform of exactly one uniform, so a stream stays in step whatever
//! the parameters are: two variants of a scenario see the same uniforms (common random numbers).

#![forbid(unsafe_code)]

mod name;
mod normal;
mod stream;

pub use stream::Stream;
