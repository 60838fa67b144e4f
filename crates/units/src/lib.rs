//! Quantities with names: instants, spans, rates and sizes, all integers.
//!
//! The rule of this layer: a quantity is an integer in its base unit (picosecond, bit per second, byte), arithmetic
//! is exact, and text that cannot be represented exactly is refused rather than rounded.

#![forbid(unsafe_code)]

mod parse;
pub mod stop;
mod text;
mod tx;

pub use parse::{ParseError, Size, parse_bytes, parse_packets, parse_rate, parse_size, parse_span};
pub use tx::Transmitter;

use std::ops::{Add, AddAssign, Sub};

/// Picoseconds in one second.
pub const PS_PER_S: u64 = 1_000_000_000_000;

/// An instant of simulated time, picoseconds since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub u64);

/// A span of time in picoseconds. The largest, 2^64 - 1 ps, is 213.5 days.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(pub u64);

/// A rate in bit/s.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(pub u64);

/// A size in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

/// A count of packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Packets(pub u64);

impl Time {
    pub const ZERO: Time = Time(0);
    /// Later than any event: "never".
    pub const NEVER: Time = Time(u64::MAX);

    pub const fn ps(self) -> u64 {
        self.0
    }

    /// Whole nanoseconds, rounded down (the unit of every `_ns` column).
    pub const fn ns(self) -> i64 {
        (self.0 / 1000) as i64
    }

    /// Seconds, for reports; never used to compute a later instant.
    pub fn seconds(self) -> f64 {
        self.0 as f64 / PS_PER_S as f64
    }

    /// Nearest picosecond to `s` seconds; saturates at both ends.
    pub fn from_seconds(s: f64) -> Time {
        Time(Span::from_seconds(s).0)
    }

    /// The span from `earlier` to `self`, zero if `earlier` is later.
    pub const fn since(self, earlier: Time) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }

    pub const fn saturating_add(self, span: Span) -> Time {
        Time(self.0.saturating_add(span.0))
    }
}

impl Span {
    pub const ZERO: Span = Span(0);
    pub const MAX: Span = Span(u64::MAX);

    pub const fn from_ns(ns: u64) -> Span {
        Span(ns * 1000)
    }
    pub const fn from_us(us: u64) -> Span {
        Span(us * 1_000_000)
    }
    pub const fn from_ms(ms: u64) -> Span {
        Span(ms * 1_000_000_000)
    }
    pub const fn from_s(s: u64) -> Span {
        Span(s * PS_PER_S)
    }
    /// Nearest picosecond to `s` seconds; negative and NaN give zero, beyond 213 days the maximum.
    pub fn from_seconds(s: f64) -> Span {
        Span((s * PS_PER_S as f64 + 0.5) as u64)
    }
    pub const fn ps(self) -> u64 {
        self.0
    }
    pub const fn ns(self) -> i64 {
        (self.0 / 1000) as i64
    }
    pub fn seconds(self) -> f64 {
        self.0 as f64 / PS_PER_S as f64
    }
    pub const fn saturating_add(self, other: Span) -> Span {
        Span(self.0.saturating_add(other.0))
    }
    pub const fn saturating_mul(self, k: u64) -> Span {
        Span(self.0.saturating_mul(k))
    }
}

impl Rate {
    pub const fn bps(self) -> u64 {
        self.0
    }

    /// Time to send `bytes` at this rate, rounded down to a picosecond, at least one ([`Transmitter`] carries the
    /// remainder of a busy period).
    pub fn time_of(self, bytes: u64) -> Span {
        let ps = u128::from(bytes) * 8 * u128::from(PS_PER_S) / u128::from(self.0);
        Span(u64::try_from(ps).unwrap_or(u64::MAX).max(1))
    }

    /// Bytes that this rate carries in `span`, rounded down.
    pub fn bytes_in(self, span: Span) -> u64 {
        let bytes = u128::from(self.0) * u128::from(span.0) / (8 * u128::from(PS_PER_S));
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }
}

impl Bytes {
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl Add<Span> for Time {
    type Output = Time;
    fn add(self, span: Span) -> Time {
        Time(self.0 + span.0)
    }
}
impl AddAssign<Span> for Time {
    fn add_assign(&mut self, span: Span) {
        self.0 += span.0;
    }
}
impl Sub<Time> for Time {
    type Output = Span;
    fn sub(self, earlier: Time) -> Span {
        Span(self.0 - earlier.0)
    }
}
impl Add for Span {
    type Output = Span;
    fn add(self, other: Span) -> Span {
        Span(self.0 + other.0)
    }
}
impl Sub for Span {
    type Output = Span;
    fn sub(self, other: Span) -> Span {
        Span(self.0 - other.0)
    }
}
