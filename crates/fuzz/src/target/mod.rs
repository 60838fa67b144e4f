//! Entry points of coverage-guided fuzzing, each of them for any bytes. What breaks a rule panics.
//!
//! The packages of `fuzz/` hand them what libFuzzer makes; a test hands them random bytes.

mod capture;
mod endpoint;
mod input;
mod queue;
mod scenario;

pub use capture::capture;
pub use endpoint::endpoint;
pub use queue::queue;
pub use scenario::scenario;
