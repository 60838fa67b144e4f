//! Random inputs for the whole product, and the rules that hold whatever comes in.
//!
//! [`draw`] makes a scenario from a seed, [`judge`] runs it in several ways and compares what must agree, [`shrink`] looks for the
//! smallest scenario that breaks the same rule. [`target`] has the entry points of coverage-guided fuzzing (`fuzz/`). The
//! binary `elephan-fuzz` goes through seeds without end; `docs/fuzz.md` says how to read what it finds.

#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "a hunt measures time and is no simulation")]
#![forbid(unsafe_code)]

mod columns;
pub mod draw;
mod finding;
mod lossless;
mod plans;
mod rules;
mod runs;
pub mod shrink;
pub mod target;
mod usage;

pub use finding::{Finding, guarded};
pub use runs::{Held, judge};
pub use usage::{cpu, main_cpu, resident_bytes};
