//! Quantity to text and back (serde, JSON Schema). The text written parses to the same quantity.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::{Bytes, Packets, Rate, Size, Span, parse_bytes, parse_packets, parse_rate, parse_size, parse_span};

/// Billionths of a bandwidth-delay product in one.
const NANO: u64 = 1_000_000_000;

/// Writes `value / factor` for the largest unit that divides it into at most three decimals.
fn write_scaled(f: &mut fmt::Formatter<'_>, value: u64, units: &[(u64, &str)]) -> fmt::Result {
    for &(factor, unit) in units {
        if value < factor {
            continue;
        }
        let milli = u128::from(value) * 1000;
        if milli % u128::from(factor) == 0 {
            let scaled = milli / u128::from(factor);
            let (whole, rest) = (scaled / 1000, scaled % 1000);
            if rest == 0 {
                return write!(f, "{whole} {unit}");
            }
            let decimals = format!("{rest:03}");
            return write!(f, "{whole}.{} {unit}", decimals.trim_end_matches('0'));
        }
    }
    let (_, unit) = units[units.len() - 1];
    write!(f, "{value} {unit}")
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0 {
            return f.write_str("0 s");
        }
        let units = [(1_000_000_000_000, "s"), (1_000_000_000, "ms"), (1_000_000, "us"), (1000, "ns"), (1, "ps")];
        write_scaled(f, self.0, &units)
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_scaled(f, self.0, &[(1_000_000_000, "Gbps"), (1_000_000, "Mbps"), (1000, "Kbps"), (1, "bps")])
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let v = self.0;
        if v >= 1024 && v.is_multiple_of(1024) && !v.is_multiple_of(1000) {
            return write_scaled(f, v, &[(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")]);
        }
        write_scaled(f, v, &[(1_000_000_000, "GB"), (1_000_000, "MB"), (1000, "KB"), (1, "B")])
    }
}

impl fmt::Display for Packets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} p", self.0)
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Size::Bytes(b) => Bytes(b).fmt(f),
            Size::Packets(p) => write!(f, "{p} p"),
            Size::NanoBdp(n) if n % NANO == 0 => write!(f, "{} bdp", n / NANO),
            Size::NanoBdp(n) => write!(f, "{}.{} bdp", n / NANO, format!("{:09}", n % NANO).trim_end_matches('0')),
        }
    }
}

macro_rules! as_text {
    ($type:ty, $parse:path, $quantity:literal, $example:literal) => {
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = Cow::<'de, str>::deserialize(deserializer)?;
                $parse(&text).map_err(de::Error::custom)
            }
        }
        impl std::str::FromStr for $type {
            type Err = crate::ParseError;
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                $parse(text)
            }
        }
        impl JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }
            fn schema_name() -> Cow<'static, str> {
                stringify!($type).into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "string", "x-quantity": $quantity, "examples": [$example] })
            }
        }
    };
}

as_text!(Span, parse_span, "time", "5 ms");
as_text!(Rate, parse_rate, "rate", "10 Gbps");
as_text!(Bytes, parse_bytes, "size", "48 KiB");
as_text!(Size, parse_size, "limit", "100 p");
as_text!(Packets, parse_packets, "count", "256 p");

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn readable() {
        assert_eq!(Span(1_500_000).to_string(), "1.5 us");
        assert_eq!(Span(100_000_000_000).to_string(), "100 ms");
        assert_eq!(Rate(622_080_000).to_string(), "622.08 Mbps");
        assert_eq!(Bytes(49_152).to_string(), "48 KiB");
        assert_eq!(Bytes(8000).to_string(), "8 KB");
        assert_eq!(Bytes(64_240).to_string(), "64.24 KB");
        assert_eq!(Size::NanoBdp(250_000_000).to_string(), "0.25 bdp");
    }

    proptest! {
        #[test]
        fn text_round_trips(v in 0u64..=u64::MAX, r in 1u64..=100_000_000_000_000) {
            prop_assert_eq!(parse_span(&Span(v).to_string()), Ok(Span(v)));
            prop_assert_eq!(parse_rate(&Rate(r).to_string()), Ok(Rate(r)));
            prop_assert_eq!(parse_bytes(&Bytes(v).to_string()), Ok(Bytes(v)));
            prop_assert_eq!(parse_size(&Size::NanoBdp(v).to_string()), Ok(Size::NanoBdp(v)));
        }
    }
}
