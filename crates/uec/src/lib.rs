//! The transport of Ultra Ethernet: packets of one message take many paths, and packets that lose their payload are repeated at once.
//!
//! The rule of this layer: both ends are sans-IO, as TCP's are. A [`Sender`] is given work, told of answers and asked for packets; a
//! [`Receiver`] is given packets and answers them; a [`Pacer`] shares the credits of one host between its receivers. None has a clock.
//!
//! The reference is `uet-htsim` at 40ccb05 (2025-08-13). Its authors say that it is not a complete implementation of the specification of
//! the Ultra Ethernet Consortium, and neither is this one.
//!
//! ```text
//! work of b bytes     ceil(b / mtu) packets, numbered on (PSN, 32 bits); only the last is shorter
//! data                each packet carries an entropy value, which picks its path (spray.rs); the receiver keeps it in any order
//! acknowledgement     after ack_every packets, at once for a marked packet, the first one, and one that asks for it: the packet that
//!                     is expected next, 64 more as a bitmap, all bytes that arrived, and entropy value and mark of the packet
//! trimmed header      answered by a NACK; the sender repeats the packet at once, before new ones
//! no answer           in `timeout` after a packet left: it is repeated
//! window              a packet leaves if it fits into the congestion window beside what is in flight
//! credits             a packet leaves if the credit is above 0 (credit.rs)
//! ```
//!
//! A packet asks for an acknowledgement if it is the last of its request, the last that the window or the credit allows, or repeated.
//!
//! Left out: set-up of packet delivery contexts, ordered and unreliable delivery, semantics (tags, rendezvous), loss detection without
//! trimming other than the timeout, several ports of one interface, limits of a receiver's bus.

#![forbid(unsafe_code)]

mod credit;
mod options;
mod receiver;
mod sender;
mod spray;
pub mod wire;

pub use credit::{Account, Accounts, Grant, Pacer};
pub use options::{Options, Spray};
pub use receiver::{Receiver, Reply};
pub use sender::{Packet, Sender};
