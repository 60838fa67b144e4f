//! What a congestion control that probes by trains of packets learns, and what it asks for.
//!
//! Each data packet of such a flow says when it left and what had been sent before it ([`Departure`]); the receiver
//! acknowledges each at once and returns that with the time at which it came ([`Arrival`]). Only differences of delays are
//! looked at, so the two clocks need not agree.

use elephan_units::{Span, Time};

/// A connection as it begins.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    pub now: Time,
    /// The round-trip time of the handshake, if it could be measured.
    pub rtt: Option<Span>,
    /// A full packet with its headers, bytes.
    pub packet_bytes: u64,
    /// Another congestion control steered until now: this one begins at the rate that it finds.
    pub takes_over: bool,
    /// Accurate ECN (RFC 9768) was negotiated.
    pub accurate_ecn: bool,
}

/// Packets to be sent at a spacing of their own, beside what is paced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Train {
    pub packets: u32,
    pub gap: Span,
    /// Its number, from 1.
    pub id: u32,
}

/// What a data packet says when it leaves. Packets outside trains are base packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Departure {
    pub at: Time,
    /// Base packets sent so far, this one included.
    pub bases: u32,
    /// The last train that has begun, 0 if none has.
    pub train: u32,
    /// Packets of it sent so far, this one included.
    pub sent: u32,
    /// Whether this packet is one of that train.
    pub in_train: bool,
}

/// What an acknowledgement says of the packet that it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    pub departure: Departure,
    /// When the packet came, by the receiver's clock.
    pub at: Time,
}

impl Arrival {
    /// One-way delay in seconds, up to the difference of the two clocks.
    pub fn delay_s(&self) -> f64 {
        self.at.ps().wrapping_sub(self.departure.at.ps()) as i64 as f64 * 1e-12
    }
}

/// What a congestion control leaves for the next connection to the same destination.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Memory {
    /// The rate at the end, bit/s.
    pub rate_bps: f64,
    /// The first rate that is tried, as a share of the largest that is.
    pub trust: f64,
}
