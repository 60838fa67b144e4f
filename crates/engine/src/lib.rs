//! Clock, event queue, lazy timers, slab. Knows no networking word.
//!
//! The rule of this layer: events happen in the order of (time, class, tie, id). The tie is a mix of a key that the
//! caller fixes (never a counter) and the time, so that the order at one instant does not depend on who scheduled
//! first and favours nobody.

mod calendar;
mod event;
mod heap;
mod lanes;
mod prefetch;
mod queue;
mod ring;
mod slab;
mod timer;

pub use event::{Class, Event};
pub use lanes::{LANES, Lanes};
pub use prefetch::{prefetch, prefetch_at, prefetch_place};
pub use queue::EventQueue;
pub use ring::Ring;
pub use slab::Slab;
pub use timer::{Alarm, Bell};
