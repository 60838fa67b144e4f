//! Who sends what when: pure generators of traffic. No clock, no sockets, no packets.
//!
//! The rule of this layer: a kind of traffic is a [`Spec`] (what a scenario says) that yields a [`Generate`]: a state
//! machine answering "how long until the next offer, how many bytes, for which pair". How an offer is carried
//! ([`Carrier`]) is the kind's second answer; whoever runs it needs no other knowledge of the kind, so a new kind is
//! one file and one line of the registry below. Sizes, gaps and pairs come from three streams ("sizes", "gaps",
//! "pairs"), so the k-th offer has the k-th size whatever the arrival distribution is.

#![forbid(unsafe_code)]

mod answers;
mod cdf;
mod destinations;
mod distribution;
mod gaps;
mod kind;
mod parallel;
mod quantity;
mod queue;
mod start;
mod trace;
mod when_full;

pub use answers::Answers;
pub use cdf::{Cdf, parse_cdf, published};
pub use destinations::Destinations;
pub use distribution::{Distribution, Lognormal, Pareto, Sampler};
pub use gaps::{Bursts, Gap, GapDistribution, Gaps, Interval};
pub use kind::{Carrier, KindInfo, Offer, Part, Setting, Shared, TextOfFile};
pub use parallel::{Order, Parallel, Work};
pub use quantity::Quantity;
pub use queue::{Message, MessageQueue};
pub use spec::{Generate, Spec};
pub use start::Start;
pub use trace::{Trace, TraceError};
pub use when_full::WhenFull;

kind::registry! {
    ($)
    bulk::Bulk, "One stream of bytes as fast as TCP takes it: endless, or of a given size.";
    messages::Messages, "Messages of random size at random times over one connection, with their latency.";
    transfers::Transfers, "Arrivals of whole transfers, each a new connection between a random pair.";
    users::Users, "Users in a closed loop: each thinks, transfers over a new connection, repeats.";
    cbr::Cbr, "UDP packets of one size at a constant (or Poisson) rate on the wire.";
    burst::Burst, "UDP packets one right behind the other, a given number of them.";
    frames::Frames, "Ethernet frames of one size without IP, at a fixed rate or at random times.";
    incast::Incast, "A receiver asks all its senders at once for an answer each, again and again.";
    onoff::Onoff, "Self-similar background: superposed on/off sources with Pareto periods, as UDP.";
    disk_copy::DiskCopy, "A file from disk to disk by bbcp or GridFTP, over one or several streams.";
    writes::Writes, "What an application wrote and when: times and sizes over one connection.";
    program::Program, "Real programs that open connections and send datagrams in virtual time.";
    replay::Replay, "The flows of a trace: each a transfer with its start and size from a CSV file.", text "trace" crate::trace::check;
    collective::Collective, "A collective operation of ranks, such as an all-reduce, again and again.";
    goal::Goal, "A parallel program in GOAL: what ranks compute, send and receive.", text "program" goal::check;
}

// After the registry, whose macros it needs.
mod spec;
