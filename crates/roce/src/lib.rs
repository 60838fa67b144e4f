//! RDMA over converged Ethernet, version 2: a reliable connection that trusts the network to lose next to nothing.
//!
//! The rule of this layer: both ends are sans-IO, as TCP's are. A [`Sender`] is given work, told of answers and asked for
//! packets; a [`Receiver`] is given packets and answers them. Neither has a clock; nothing is allocated per packet.
//!
//! ```text
//! work of b bytes       ceil(b / mtu) packets, numbered on (PSN, 24 bits on the wire); only the last is shorter
//! data in order         acknowledged each `ack_every`-th, the last of each work request, and the last that a window allows
//! data out of order     go-back-N: dropped; answered by a NAK with the number that is missing, again after `nak_interval`
//!                       selective repeat: kept; each is answered by the number that is missing and its own
//! data of before        dropped, acknowledged again
//! NAK, or `timeout` without progress:   the sender goes back to the first packet that is not acknowledged; or it repeats lost packets
//! marked data (CE)      answered by a congestion notification packet (CNP), at most one in `cnp_interval`
//! ```
//!
//! A sender begins at the line rate, with neither handshake nor slow start; its congestion control paces it, and may hold a window.
//!
//! Sources: InfiniBand architecture specification volume 1 (reliable connection, PSN, NAK, go-back-N) and its annex A17 (RoCEv2,
//! headers and CNP); the NP of DCQCN (Zhu et al., SIGCOMM 2015); payload of 1000 bytes as in the papers of DCQCN and HPCC. \[assumed]:
//! `timeout`, and `nak_interval`, which public simulators of HPCC have where the specification sends one NAK alone.
//!
//! Left out: set-up of connections, READ and atomics (a packet of work is a SEND, so that no packet has a RETH), credits of the
//! receiver (AETH says "unlimited"), a limit of retries. Selective repeat is that of IRN (Mittal et al., SIGCOMM 2018; `selective.rs`).

#![forbid(unsafe_code)]

mod options;
mod receiver;
mod selective;
mod sender;
pub mod wire;
pub mod work;

pub use options::{CNP_INTERVAL, Options, Recovery};
pub use receiver::{Answer, Receiver, Reply};
pub use sender::{Acknowledgement, Counters, Data, Path, Sender};
