//! What can be drawn: bytes or time.

use std::fmt;

use elephan_units::{Bytes, Span};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A quantity that can be drawn: bytes or time.
pub trait Quantity: Copy + fmt::Debug + fmt::Display + PartialEq + Serialize + DeserializeOwned + JsonSchema {
    const WHAT: &'static str;
    const EXAMPLE: &'static str;
    /// The least and the largest value drawn, in base units.
    const RANGE: (u64, u64);
    fn raw(self) -> u64;
    fn from_raw(raw: u64) -> Self;
    fn parse(text: &str) -> Result<Self, elephan_units::ParseError>;
}

impl Quantity for Bytes {
    const WHAT: &'static str = "size";
    const EXAMPLE: &'static str = "8 KB";
    const RANGE: (u64, u64) = (1, 1 << 53);
    fn raw(self) -> u64 {
        self.0
    }
    fn from_raw(raw: u64) -> Bytes {
        Bytes(raw)
    }
    fn parse(text: &str) -> Result<Bytes, elephan_units::ParseError> {
        text.parse()
    }
}

impl Quantity for Span {
    const WHAT: &'static str = "time";
    const EXAMPLE: &'static str = "10 us";
    const RANGE: (u64, u64) = (0, u64::MAX);
    fn raw(self) -> u64 {
        self.0
    }
    fn from_raw(raw: u64) -> Span {
        Span(raw)
    }
    fn parse(text: &str) -> Result<Span, elephan_units::ParseError> {
        text.parse()
    }
}
