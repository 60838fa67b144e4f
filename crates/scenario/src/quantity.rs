//! Quantities: texts that are numbers with a unit. How each is called, written and read, and what was likely meant by a text that is none.

use elephan_units::{
    ParseError, Size, Span, parse_bps, parse_byte_count, parse_bytes, parse_packets, parse_rate, parse_seconds,
    parse_size, parse_span,
};
use serde_json::Value as Json;

use crate::near::nearest;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// A time, such as `"5 ms"`.
    Time,
    /// A rate, such as `"10 Gbps"`.
    Rate,
    /// A size, such as `"48 KiB"`.
    Size,
    /// A count of packets.
    Count,
    /// A size, a count of packets, or a share of the bandwidth-delay product.
    Limit,
}

impl Quantity {
    const ALL: [Quantity; 5] = [Quantity::Time, Quantity::Rate, Quantity::Size, Quantity::Count, Quantity::Limit];

    /// Returns the quantity that a schema asks for (`x-quantity`).
    pub(crate) fn of(schema: &Json) -> Option<Quantity> {
        schema.get("x-quantity").and_then(Json::as_str).and_then(Quantity::named)
    }

    /// Returns the quantity of this name.
    pub fn named(name: &str) -> Option<Quantity> {
        Quantity::ALL.into_iter().find(|quantity| quantity.name() == name)
    }

    /// Returns the name of the quantity.
    pub fn name(self) -> &'static str {
        match self {
            Quantity::Time => "time",
            Quantity::Rate => "rate",
            Quantity::Size => "size",
            Quantity::Count => "count",
            Quantity::Limit => "limit",
        }
    }

    /// Returns how such a quantity may be written.
    pub(crate) fn example(self) -> &'static str {
        match self {
            Quantity::Time => "5 ms",
            Quantity::Rate => "10 Gbps",
            Quantity::Size => "48 KiB",
            Quantity::Count => "256 p",
            Quantity::Limit => "100 p",
        }
    }

    /// Returns the units that a misspelt one is compared with.
    fn units(self) -> &'static [&'static str] {
        match self {
            Quantity::Time => &["ms", "us", "ns", "ps", "s", "min", "h", "d"],
            Quantity::Rate => &["Gbps", "Mbps", "Kbps", "Tbps", "bps", "Gb/s", "Mb/s", "GB/s", "MB/s", "b/s", "B/s"],
            Quantity::Size => &["KiB", "MiB", "GiB", "KB", "MB", "GB", "B"],
            Quantity::Count => &["p", "packets"],
            Quantity::Limit => &["KiB", "MiB", "GiB", "KB", "MB", "GB", "B", "p", "packets", "bdp"],
        }
    }

    /// Returns what editors can check of a text; reading it checks the rest.
    pub(crate) fn pattern(self) -> String {
        const PREFIX: &str = "([KMGT]i?|k)?";
        let units = match self {
            Quantity::Time => "(ps|ns|us|µs|μs|ms|s|min|h|d)".to_owned(),
            Quantity::Rate => format!("{PREFIX}(bps|b/s|bit/s|Bps|B/s)"),
            Quantity::Size => format!("{PREFIX}(B|b)"),
            Quantity::Count => "(p|packets)".to_owned(),
            Quantity::Limit => format!("({PREFIX}(B|b)|p|packets|bdp|BDP)"),
        };
        format!("^\\s*[0-9._]+([eE][+-]?[0-9]+)?\\s*{units}\\s*$")
    }

    /// Returns the number that a text says, and its unit: `s`, `bit/s`, `B`, `p` or `bdp`.
    pub(crate) fn number(self, text: &str) -> Result<(f64, &'static str), ParseError> {
        Ok(match self {
            Quantity::Time => (parse_span(text)?.0 as f64 / 1e12, "s"),
            Quantity::Rate => (parse_rate(text)?.0 as f64, "bit/s"),
            Quantity::Size => (parse_bytes(text)?.0 as f64, "B"),
            Quantity::Count => (parse_packets(text)?.0 as f64, "p"),
            Quantity::Limit => match parse_size(text)? {
                Size::Bytes(bytes) => (bytes as f64, "B"),
                Size::Packets(packets) => (packets as f64, "p"),
                Size::NanoBdp(nano) => (nano as f64 / 1e9, "bdp"),
            },
        })
    }

    /// Returns the unit of a text that says no number.
    pub(crate) fn unit(self) -> &'static str {
        match self {
            Quantity::Time => "s",
            Quantity::Rate => "bit/s",
            Quantity::Size => "B",
            Quantity::Count | Quantity::Limit => "p",
        }
    }

    /// Returns a bare number as a scenario writes it: of seconds, bit/s, bytes or packets. A bare limit has no unit that goes without
    /// saying.
    pub(crate) fn written(self, number: &Json) -> Option<String> {
        let value = number.as_f64()?;
        match self {
            Quantity::Time if value >= 0.0 => Some(format!("{} ps", Span::from_seconds(value).ps())),
            Quantity::Time => Some(format!("{value} s")),
            Quantity::Size => Some(format!("{number} B")),
            Quantity::Rate => Some(format!("{number} bps")),
            Quantity::Count => Some(format!("{number} p")),
            Quantity::Limit => None,
        }
    }

    /// Returns what is wrong with a text of a scenario, and what was likely meant.
    pub(crate) fn check(self, text: &str) -> Result<(), String> {
        self.number(text).map(drop).map_err(|error| self.explained(text, &error))
    }

    /// Returns the number that a text says, in seconds, bit/s, bytes, packets or products of bandwidth and delay. A time, a rate or a
    /// size may be finer than a scenario has it. An error says what is wrong with the text, and what was likely meant.
    pub fn read(self, text: &str) -> Result<f64, String> {
        let found = match self {
            Quantity::Time => parse_seconds(text),
            Quantity::Rate => parse_bps(text),
            Quantity::Size => parse_byte_count(text),
            Quantity::Count | Quantity::Limit => self.number(text).map(|(number, _)| number),
        };
        found.map_err(|error| self.explained(text, &error))
    }

    fn explained(self, text: &str, error: &ParseError) -> String {
        let message = error.0.replace(['\n', '\r'], " ");
        if !message.starts_with("unknown unit") {
            return message;
        }
        let others = [Quantity::Time, Quantity::Rate, Quantity::Size];
        if let Some(other) = others.into_iter().find(|other| other.number(text).is_ok()) {
            let (other, wanted) = (other.name(), self.name());
            return format!("{text:?} is a {other}; a {wanted} is needed, like \"{}\"", self.example());
        }
        let trimmed = text.trim();
        let end = trimmed.find(|c: char| c.is_alphabetic()).unwrap_or(trimmed.len());
        let (number, unit) = (trimmed[..end].trim(), trimmed[end..].trim());
        let meant = usual(unit)
            .or_else(|| nearest(unit, self.units().iter().copied()))
            .map(|unit| format!("{number} {unit}"))
            .filter(|meant| self.number(meant).is_ok());
        match meant {
            Some(meant) => format!("{message}; did you mean \"{meant}\"?"),
            None => message,
        }
    }
}

/// Spellings that people use, too far from ours in letters.
fn usual(unit: &str) -> Option<&'static str> {
    Some(match unit.to_lowercase().as_str() {
        "sec" | "secs" | "second" | "seconds" => "s",
        "msec" | "millisecond" | "milliseconds" => "ms",
        "usec" | "microsecond" | "microseconds" => "us",
        "minute" | "minutes" => "min",
        "hour" | "hours" => "h",
        "day" | "days" => "d",
        "gbit" | "gb" | "g" => "Gbps",
        "mbit" | "mb" | "m" => "Mbps",
        "kbit" | "kb" | "k" => "Kbps",
        "byte" | "bytes" => "B",
        "packet" | "pkt" | "pkts" => "p",
        _ => return None,
    })
}
