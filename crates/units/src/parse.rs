//! Text to quantity: a decimal number, optional space, a unit. Exact: `1.5 ps` is an error, not 1 or 2.

use crate::{Bytes, PS_PER_S, Packets, Rate, Span};

/// One line that says why a text is not a quantity. The caller adds file and position.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ParseError(pub String);

/// The limit of a queue, in bytes, in packets or in bandwidth-delay products.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Size {
    /// A limit in bytes.
    Bytes(u64),
    /// A limit in packets.
    Packets(u64),
    /// A limit in billionths of a bandwidth-delay product, so that the value stays exact.
    NanoBdp(u64),
}

/// Billionths of a bandwidth-delay product in one.
const NANO: u128 = 1_000_000_000;

impl Size {
    /// Returns the bytes of so many billionths of a bandwidth-delay product, rounded down.
    ///
    /// ```
    /// use elephan_units::Size;
    ///
    /// // A sixteenth of 500 kB.
    /// assert_eq!(Size::of_bdp(62_500_000, 500_000), 31_250);
    /// ```
    pub fn of_bdp(nano: u64, bdp_bytes: u64) -> u64 {
        u64::try_from(u128::from(nano) * u128::from(bdp_bytes) / NANO).unwrap_or(u64::MAX)
    }
}

type Result<T> = std::result::Result<T, ParseError>;

fn fail<T>(message: String) -> Result<T> {
    Err(ParseError(message))
}

/// Digits (without the point), how many of them are decimals, and the unit's text.
fn split(text: &str, what: &str, example: &str) -> Result<(u128, u32, String)> {
    let (digits, places, unit) = number(text, what, example)?;
    if unit.is_empty() {
        return fail(format!("\"{text}\" has no unit; write {what} like \"{example}\""));
    }
    Ok((digits, places, unit))
}

/// The same of a text that may have no unit.
fn number(text: &str, what: &str, example: &str) -> Result<(u128, u32, String)> {
    let trimmed = text.trim();
    if trimmed.starts_with('-') {
        return fail(format!("{what} cannot be negative: \"{text}\""));
    }
    let end = trimmed
        .char_indices()
        .find(|&(i, c)| {
            let exponent = matches!(c, 'e' | 'E')
                && trimmed[i + 1..].starts_with(|d: char| d.is_ascii_digit() || d == '-' || d == '+')
                && trimmed[i + 1..].trim_start_matches(['-', '+']).starts_with(|d: char| d.is_ascii_digit());
            let sign = matches!(c, '-' | '+') && i > 0 && matches!(trimmed.as_bytes()[i - 1], b'e' | b'E');
            !(c.is_ascii_digit() || c == '.' || c == '_' || exponent || sign)
        })
        .map_or(trimmed.len(), |(i, _)| i);
    let (number, unit) = (trimmed[..end].replace('_', ""), trimmed[end..].trim());
    let bad = || ParseError(format!("\"{text}\" is not {what}; write it like \"{example}\""));
    if number.is_empty() {
        return Err(bad());
    }
    let (mantissa, exponent) = match number.split_once(['e', 'E']) {
        Some((m, e)) => (m.to_owned(), e.parse::<i32>().map_err(|_| bad())?),
        None => (number, 0),
    };
    let (whole, decimals) = mantissa.split_once('.').unwrap_or((&mantissa, ""));
    let mut digits: u128 = format!("{whole}{decimals}").parse().map_err(|_| bad())?;
    let mut places = decimals.len() as i32 - exponent;
    while places > 0 && digits != 0 && digits.is_multiple_of(10) {
        digits /= 10;
        places -= 1;
    }
    if digits == 0 {
        places = 0;
    }
    while places < 0 {
        digits = product(text, digits, 10)?;
        places += 1;
    }
    if places > 30 {
        return Err(bad());
    }
    Ok((digits, places as u32, unit.to_owned()))
}

/// Returns the number with which a text begins and what follows it, such as 100 and `m` of `"100 m"`; `None` if it begins with no
/// number from 0.
///
/// ```
/// use elephan_units::parse_amount;
///
/// assert_eq!(parse_amount("1.5 km"), Some((1.5, "km".to_owned())));
/// assert_eq!(parse_amount(" 1_000 "), Some((1000.0, String::new())));
/// assert_eq!(parse_amount("-1 km"), None);
/// ```
pub fn parse_amount(text: &str) -> Option<(f64, String)> {
    let (digits, places, unit) = number(text, "", "").ok()?;
    Some((nearest(digits, places), unit))
}

/// The number nearest to `digits / 10^places`.
fn nearest(digits: u128, places: u32) -> f64 {
    format!("{digits}e-{places}").parse().unwrap_or(f64::NAN)
}

/// `digits / 10^places * factor` as an exact integer.
fn exact(text: &str, digits: u128, places: u32, factor: u128, base: &str) -> Result<u64> {
    let product = digits.checked_mul(factor);
    let scale = 10u128.pow(places);
    match product {
        Some(p) if p % scale == 0 => {
            u64::try_from(p / scale).map_err(|_| ParseError(format!("\"{text}\" is too large")))
        }
        Some(_) => fail(format!("\"{text}\" is finer than one {base}")),
        None => fail(format!("\"{text}\" is too large")),
    }
}

/// Units by name, for the nearest-name hint.
fn unknown<T>(unit: &str, text: &str, what: &str, known: &[&str]) -> Result<T> {
    fail(format!("unknown unit \"{unit}\" in \"{text}\": {what} takes {}", known.join(", ")))
}

/// Parses a span such as `"5 ms"`, with a unit of `ps ns us ms s min h d`. A span beyond 213 days is an error.
///
/// ```
/// use elephan_units::{Span, parse_span};
///
/// assert_eq!(parse_span("1.5 us"), Ok(Span::from_ns(1500)));
/// assert_eq!(parse_span("0.5 ps").unwrap_err().to_string(), "\"0.5 ps\" is finer than one picosecond");
/// ```
pub fn parse_span(text: &str) -> Result<Span> {
    let (digits, places, factor) = time(text)?;
    exact(text, digits, places, factor, "picosecond").map(Span).map_err(|e| {
        if e.0.ends_with("too large") {
            ParseError(format!("\"{text}\" is beyond 213 days, the longest time"))
        } else {
            e
        }
    })
}

/// Returns the seconds of a time such as `"5 ms"`, which may be finer than a picosecond and longer than 213 days.
///
/// ```
/// use elephan_units::parse_seconds;
///
/// assert_eq!(parse_seconds("0.5 ps"), Ok(5e-13));
/// ```
pub fn parse_seconds(text: &str) -> Result<f64> {
    let (digits, places, factor) = time(text)?;
    Ok(nearest(product(text, digits, factor)?, places + 12))
}

/// Digits of a time, how many of them are decimals, and the picoseconds of its unit.
fn time(text: &str) -> Result<(u128, u32, u128)> {
    let (digits, places, unit) = split(text, "a time", "5 ms")?;
    let factor: u128 = match unit.as_str() {
        "ps" => 1,
        "ns" => 1000,
        "us" | "µs" | "μs" => 1_000_000,
        "ms" => 1_000_000_000,
        "s" => u128::from(PS_PER_S),
        "min" => 60 * u128::from(PS_PER_S),
        "h" => 3600 * u128::from(PS_PER_S),
        "d" => 86_400 * u128::from(PS_PER_S),
        other => return unknown(other, text, "a time", &["ps", "ns", "us", "ms", "s", "min", "h", "d"]),
    };
    Ok((digits, places, factor))
}

fn product(text: &str, digits: u128, factor: u128) -> Result<u128> {
    digits.checked_mul(factor).ok_or_else(|| ParseError(format!("\"{text}\" is too large")))
}

fn prefix(unit: &str) -> Option<(u128, &str)> {
    const PREFIXES: [(&str, u128); 9] = [
        ("Ki", 1 << 10),
        ("Mi", 1 << 20),
        ("Gi", 1 << 30),
        ("Ti", 1 << 40),
        ("K", 1_000),
        ("k", 1_000),
        ("M", 1_000_000),
        ("G", 1_000_000_000),
        ("T", 1_000_000_000_000),
    ];
    PREFIXES.iter().find_map(|&(name, factor)| unit.strip_prefix(name).map(|rest| (factor, rest))).or(Some((1, unit)))
}

/// Parses a rate such as `"10 Gbps"`, `"622.08 Mb/s"` or `"1.25 GB/s"`; prefixes are decimal, `b` is a bit, `B` a byte.
/// A rate that is no whole number of bit/s is an error.
///
/// ```
/// use elephan_units::{Rate, parse_rate};
///
/// assert_eq!(parse_rate("622.08 Mb/s"), Ok(Rate(622_080_000)));
/// assert_eq!(parse_rate("1.25 GB/s"), Ok(Rate(10_000_000_000)));
/// assert_eq!(parse_rate("1.5 bps").unwrap_err().to_string(), "\"1.5 bps\" is finer than one bit/s");
/// ```
pub fn parse_rate(text: &str) -> Result<Rate> {
    let (digits, places, factor) = rate(text)?;
    let rate = exact(text, digits, places, factor, "bit/s")?;
    if rate == 0 {
        return fail(format!("a rate cannot be zero: \"{text}\""));
    }
    if rate > 100_000_000_000_000 {
        return fail(format!("\"{text}\" is beyond 100 Tbps, the highest rate"));
    }
    Ok(Rate(rate))
}

/// Returns the bit/s of a rate such as `"10 Gbps"`, which need not be whole and may be 0.
///
/// ```
/// use elephan_units::parse_bps;
///
/// assert_eq!(parse_bps("1.5 bps"), Ok(1.5));
/// ```
pub fn parse_bps(text: &str) -> Result<f64> {
    let (digits, places, factor) = rate(text)?;
    Ok(nearest(product(text, digits, factor)?, places))
}

/// Digits of a rate, how many of them are decimals, and the bit/s of its unit.
fn rate(text: &str) -> Result<(u128, u32, u128)> {
    let (digits, places, unit) = split(text, "a rate", "10 Gbps")?;
    let known = ["bps", "Kbps", "Mbps", "Gbps", "Tbps", "b/s", "Mb/s", "MB/s"];
    let Some((factor, rest)) = prefix(&unit) else { return unknown(&unit, text, "a rate", &known) };
    match rest {
        "bps" | "b/s" | "bit/s" => Ok((digits, places, factor)),
        "Bps" | "B/s" => Ok((digits, places, factor * 8)),
        _ => unknown(&unit, text, "a rate", &known),
    }
}

/// Parses a size such as `"48 KiB"`, `"2 MB"`, `"1500 B"` or `"1 Mb"` (bits that make a whole number of bytes).
///
/// ```
/// use elephan_units::{Bytes, parse_bytes};
///
/// assert_eq!(parse_bytes("48 KiB"), Ok(Bytes(49_152)));
/// assert_eq!(parse_bytes("4 Mb"), Ok(Bytes(500_000)));
/// ```
pub fn parse_bytes(text: &str) -> Result<Bytes> {
    let (digits, places, factor, is_bits) = size(text)?;
    if !is_bits {
        return exact(text, digits, places, factor, "byte").map(Bytes);
    }
    let bits = exact(text, digits, places, factor, "bit")?;
    if bits % 8 == 0 { Ok(Bytes(bits / 8)) } else { fail(format!("\"{text}\" is not a whole number of bytes")) }
}

/// Returns the bytes of a size such as `"48 KiB"`, which need not be whole.
///
/// ```
/// use elephan_units::parse_byte_count;
///
/// assert_eq!(parse_byte_count("4 b"), Ok(0.5));
/// ```
pub fn parse_byte_count(text: &str) -> Result<f64> {
    let (digits, places, factor, is_bits) = size(text)?;
    // A bit is 125 thousandths of a byte.
    let (factor, places) = if is_bits { (factor * 125, places + 3) } else { (factor, places) };
    Ok(nearest(product(text, digits, factor)?, places))
}

/// Digits of a size, how many of them are decimals, the bytes or bits of its unit, and whether they are bits.
fn size(text: &str) -> Result<(u128, u32, u128, bool)> {
    let (digits, places, unit) = split(text, "a size", "48 KiB")?;
    let known = ["B", "KB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "TiB", "Mb"];
    match prefix(&unit) {
        Some((factor, "B")) => Ok((digits, places, factor, false)),
        Some((factor, "b")) => Ok((digits, places, factor, true)),
        _ => unknown(&unit, text, "a size", &known),
    }
}

/// Parses the limit of a queue: bytes, packets (`"100 p"`) or bandwidth-delay products (`"1 bdp"`). Bits are an error: no queue is
/// limited in bits, so `"1 Gb"` more likely means `"1 GB"` than 125 MB.
///
/// ```
/// use elephan_units::{Size, parse_size};
///
/// assert_eq!(parse_size("100 p"), Ok(Size::Packets(100)));
/// assert_eq!(parse_size("0.25 bdp"), Ok(Size::NanoBdp(250_000_000)));
/// assert!(parse_size("1 Gb").is_err());
/// ```
pub fn parse_size(text: &str) -> Result<Size> {
    let (digits, places, unit) = split(text, "a limit", "100 p")?;
    match unit.as_str() {
        "p" | "packets" => exact(text, digits, places, 1, "packet").map(Size::Packets),
        "bdp" | "BDP" => exact(text, digits, places, NANO, "billionth of a BDP").map(Size::NanoBdp),
        bits if bits.ends_with('b') => {
            fail(format!("\"{text}\" is a number of bits: a limit takes bytes (B), p or bdp"))
        }
        _ => parse_bytes(text)
            .map(|b| Size::Bytes(b.0))
            .map_err(|e| if e.0.starts_with("unknown unit") { ParseError(format!("{}, p, bdp", e.0)) } else { e }),
    }
}

/// Parses a count of packets such as `"256 p"`.
///
/// ```
/// use elephan_units::{Packets, parse_packets};
///
/// assert_eq!(parse_packets("256 p"), Ok(Packets(256)));
/// ```
pub fn parse_packets(text: &str) -> Result<Packets> {
    let (digits, places, unit) = split(text, "a count of packets", "256 p")?;
    match unit.as_str() {
        "p" | "packets" => exact(text, digits, places, 1, "packet").map(Packets),
        _ => unknown(&unit, text, "a count of packets", &["p", "packets"]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans() {
        assert_eq!(parse_span("5 ms"), Ok(Span(5_000_000_000)));
        assert_eq!(parse_span("1.5us"), Ok(Span(1_500_000)));
        assert_eq!(parse_span("0.3 s"), Ok(Span(300_000_000_000)));
        assert_eq!(parse_span("1e-6 s"), Ok(Span(1_000_000)));
        assert_eq!(parse_span("213 d").unwrap().0, 213 * 86_400 * PS_PER_S);
        assert!(parse_span("214 d").unwrap_err().0.contains("213 days"));
        for text in ["33.3333333333 Mbps", "0.3333333333333 Gbps", "1.5 bps", "10.4 b/s", "0.01 B/s", "0.4 bps"] {
            assert_eq!(parse_rate(text).unwrap_err().0, format!("\"{text}\" is finer than one bit/s"));
        }
        for (text, bps) in [("33.333333 Mbps", 33_333_333), ("0.125 B/s", 1), ("1e-3 Kbps", 1)] {
            assert_eq!(parse_rate(text), Ok(Rate(bps)), "{text}");
        }
        assert!(parse_rate("0 bps").unwrap_err().0.contains("zero"));
        assert!(parse_span("0.5 ps").unwrap_err().0.contains("finer"));
        assert_eq!(parse_bps("1e400 bps").unwrap_err().0, "\"1e400 bps\" is too large");
        assert!(parse_span("-1 s").unwrap_err().0.contains("negative"));
        assert!(parse_span("5").unwrap_err().0.contains("no unit"));
        assert!(parse_span("5 sec").unwrap_err().0.contains("unknown unit \"sec\""));
    }

    #[test]
    fn rates_and_sizes() {
        assert_eq!(parse_rate("10 Gbps"), Ok(Rate(10_000_000_000)));
        assert_eq!(parse_rate("622.08 Mb/s"), Ok(Rate(622_080_000)));
        assert_eq!(parse_rate("1.25 GB/s"), Ok(Rate(10_000_000_000)));
        assert!(parse_rate("0 bps").is_err());
        assert_eq!(parse_bytes("48 KiB"), Ok(Bytes(49_152)));
        assert_eq!(parse_bytes("48 KB"), Ok(Bytes(48_000)));
        assert_eq!(parse_bytes("4 Mb"), Ok(Bytes(500_000)));
        assert!(parse_bytes("1.0001 KB").is_err());
        assert_eq!(parse_size("100 p"), Ok(Size::Packets(100)));
        assert_eq!(parse_size("0.25 bdp"), Ok(Size::NanoBdp(250_000_000)));
        assert_eq!(parse_size("0.0625 bdp"), Ok(Size::NanoBdp(62_500_000)));
        assert_eq!(parse_size("1e-10 bdp").unwrap_err().0, "\"1e-10 bdp\" is finer than one billionth of a BDP");
        assert_eq!(parse_size("2 MB"), Ok(Size::Bytes(2_000_000)));
        assert!(parse_size("2 Mx").is_err());
        assert!(parse_size("1 Gb").unwrap_err().0.contains("a number of bits"));
        assert_eq!(parse_packets("256 p"), Ok(Packets(256)));
        assert_eq!(parse_packets("1000 packets"), Ok(Packets(1000)));
        assert!(parse_packets("256").unwrap_err().0.contains("no unit"));
        assert!(parse_packets("64 KiB").unwrap_err().0.contains("unknown unit \"KiB\""));
        assert!(parse_packets("0.5 p").unwrap_err().0.contains("finer"));
    }
}
