//! TCP, sans-IO: segments in, segments out, the next deadline.
//!
//! The rule of this layer: an [`Endpoint`] sees its arguments alone. It has no clock, no sockets, no randomness and no
//! log; the same calls give the same segments. Time comes in with every call, [`Endpoint::next_timer`] says when
//! [`Endpoint::on_timer`] is due, and [`Endpoint::poll_transmit`] writes one segment at a time into the caller's memory.

#![forbid(unsafe_code)]

mod accecn;
mod delayed_ack;
mod delivered;
mod delivery;
mod endpoint;
mod fast_open;
pub mod options;
pub mod prr;
mod reassembly;
mod receive_buffer;
mod receiver;
mod recovery;
pub mod rtt;
mod scoreboard;
mod segment;
mod send_queue;
mod sender;
mod stacks;
mod stats;
mod trains;
mod validation;
pub mod wire;

pub use endpoint::{Endpoint, Info, Linger, Phase, SSTHRESH_INFINITE, State};
pub use fast_open::{
    COOKIE_MAX_BYTES, COOKIE_MIN_BYTES, Cookie, FastOpenFailure, FastOpenLesson, FastOpenListener, FastOpenMemory,
    FastOpenOption, FastOpenPause, FastOpenRequest,
};
pub use options::{DEFAULT_STACK, Options, Overrides, congestion_control_in, stack, stacks};
pub use recovery::CaState;
pub use segment::*;
pub use send_queue::{SEND_BUFFER, SEND_BUFFER_MIN, SendQueue, size_goal};
pub use stats::{Snapshot, Stats};
