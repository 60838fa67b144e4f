//! Quantities with names: instants, spans, rates and sizes, all integers.
//!
//! The rule of this layer: a quantity is an integer in its base unit (picosecond, bit per second, byte), arithmetic
//! is exact, and text that cannot be represented exactly is refused rather than rounded.
//!
//! ```
//! use elephan_units::{Rate, Span, Time, parse_rate, parse_span};
//!
//! let (rate, delay): (Rate, Span) = (parse_rate("10 Gbps")?, parse_span("5 ms")?);
//! // A frame of 1 538 bytes leaves after 1 230.4 ns and arrives 5 ms later.
//! let arrival = Time::ZERO + rate.time_of(1538) + delay;
//! assert_eq!(arrival.ps(), 5_001_230_400);
//! # Ok::<(), elephan_units::ParseError>(())
//! ```

#![forbid(unsafe_code)]

mod dispatch;
mod invalid;
mod parse;
pub mod stop;
mod text;
mod tx;

pub use invalid::InvalidParameter;
pub use parse::{
    ParseError, Size, parse_amount, parse_bps, parse_byte_count, parse_bytes, parse_packets, parse_rate, parse_seconds,
    parse_size, parse_span,
};
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

/// A rate in bit/s. Zero is no rate: [`parse_rate`] refuses it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(pub u64);

/// A size in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

/// A count of packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Packets(pub u64);

impl Time {
    /// The start of the run.
    pub const ZERO: Time = Time(0);
    /// An instant later than any event; it stands for "never".
    pub const NEVER: Time = Time(u64::MAX);

    /// Returns the picoseconds since the start of the run.
    pub const fn ps(self) -> u64 {
        self.0
    }

    /// Returns whole nanoseconds, rounded down: the unit of every `_ns` column.
    ///
    /// ```
    /// assert_eq!(elephan_units::Time(1_999).ns(), 1);
    /// ```
    pub const fn ns(self) -> i64 {
        (self.0 / 1000) as i64
    }

    /// Returns seconds for reports. No later instant may be computed from them.
    pub fn seconds(self) -> f64 {
        self.0 as f64 / PS_PER_S as f64
    }

    /// Returns the instant nearest to `s` seconds. Negative seconds and NaN give zero, seconds beyond 213 days the largest instant.
    pub fn from_seconds(s: f64) -> Time {
        Time(Span::from_seconds(s).0)
    }

    /// Returns the span from `earlier` to `self`, or zero if `earlier` is later.
    ///
    /// ```
    /// use elephan_units::{Span, Time};
    ///
    /// assert_eq!(Time(500).since(Time(200)), Span(300));
    /// assert_eq!(Time(200).since(Time(500)), Span::ZERO);
    /// ```
    pub const fn since(self, earlier: Time) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }

    /// Returns the instant `span` later, at most the largest instant.
    pub const fn saturating_add(self, span: Span) -> Time {
        Time(self.0.saturating_add(span.0))
    }
}

impl Span {
    /// No time.
    pub const ZERO: Span = Span(0);
    /// The longest span, 213.5 days.
    pub const MAX: Span = Span(u64::MAX);

    /// Returns a span of `ns` nanoseconds.
    pub const fn from_ns(ns: u64) -> Span {
        Span(ns * 1000)
    }

    /// Returns a span of `us` microseconds.
    pub const fn from_us(us: u64) -> Span {
        Span(us * 1_000_000)
    }

    /// Returns a span of `ms` milliseconds.
    pub const fn from_ms(ms: u64) -> Span {
        Span(ms * 1_000_000_000)
    }

    /// Returns a span of `s` seconds.
    pub const fn from_s(s: u64) -> Span {
        Span(s * PS_PER_S)
    }

    /// Returns the span nearest to `s` seconds. Negative seconds and NaN give zero, seconds beyond 213 days the longest span.
    ///
    /// ```
    /// use elephan_units::Span;
    ///
    /// assert_eq!(Span::from_seconds(0.1), Span::from_ms(100));
    /// assert_eq!(Span::from_seconds(-1.0), Span::ZERO);
    /// assert_eq!(Span::from_seconds(1e9), Span::MAX);
    /// ```
    pub fn from_seconds(s: f64) -> Span {
        Span((s * PS_PER_S as f64 + 0.5) as u64)
    }

    /// Returns the picoseconds of the span.
    pub const fn ps(self) -> u64 {
        self.0
    }

    /// Returns whole nanoseconds, rounded down.
    pub const fn ns(self) -> i64 {
        (self.0 / 1000) as i64
    }

    /// Returns seconds for reports and models that compute in real numbers.
    pub fn seconds(self) -> f64 {
        self.0 as f64 / PS_PER_S as f64
    }

    /// Returns the sum, at most the longest span.
    pub const fn saturating_add(self, other: Span) -> Span {
        Span(self.0.saturating_add(other.0))
    }

    /// Returns `k` times the span, at most the longest span.
    pub const fn saturating_mul(self, k: u64) -> Span {
        Span(self.0.saturating_mul(k))
    }
}

impl Rate {
    /// Returns bits per second.
    pub const fn bps(self) -> u64 {
        self.0
    }

    /// Returns the time that `bytes` take at this rate, rounded down to a picosecond, at least one. [`Transmitter`] carries the
    /// remainder from one transmission to the next.
    ///
    /// ```
    /// use elephan_units::{Rate, Span};
    ///
    /// assert_eq!(Rate(1_000_000_000).time_of(1500), Span::from_us(12));
    /// ```
    pub fn time_of(self, bytes: u64) -> Span {
        let ps = u128::from(bytes) * 8 * u128::from(PS_PER_S) / u128::from(self.0);
        Span(u64::try_from(ps).unwrap_or(u64::MAX).max(1))
    }

    /// Returns the bytes that this rate carries in `span`, rounded down.
    ///
    /// ```
    /// use elephan_units::{Rate, Span};
    ///
    /// // The bandwidth-delay product of 10 Gb/s and 100 ms.
    /// assert_eq!(Rate(10_000_000_000).bytes_in(Span::from_ms(100)), 125_000_000);
    /// ```
    pub fn bytes_in(self, span: Span) -> u64 {
        let bytes = u128::from(self.0) * u128::from(span.0) / (8 * u128::from(PS_PER_S));
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }
}

impl Bytes {
    /// Returns the number of bytes.
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
