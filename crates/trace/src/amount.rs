//! Numbers with their units, as the reports write them.

/// Between digits of thousands: a narrow space that does not break.
const THIN: char = '\u{202f}';

/// `value` with so many digits, whole digits always.
fn digits(value: f64, count: i32) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let places = (count - 1 - power_of_ten(value)).max(0) as usize;
    let text = format!("{value:.places$}");
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let fraction = fraction.trim_end_matches('0');
    let whole = thousands(whole);
    if fraction.is_empty() { whole } else { format!("{whole}.{fraction}") }
}

fn power_of_ten(value: f64) -> i32 {
    let (mut power, mut edge) = (0, 1.0);
    while value >= edge * 10.0 {
        (power, edge) = (power + 1, edge * 10.0);
    }
    while value < edge {
        (power, edge) = (power - 1, edge / 10.0);
    }
    power
}

fn thousands(whole: &str) -> String {
    let mut text = String::new();
    for (place, digit) in whole.chars().enumerate() {
        if place > 0 && (whole.len() - place).is_multiple_of(3) {
            text.push(THIN);
        }
        text.push(digit);
    }
    text
}

fn scaled(value: f64, unit: &str, steps: &[(f64, &str)], count: i32) -> String {
    let fits = steps.iter().find(|(factor, _)| value >= factor * 0.9995).or(steps.last());
    let (factor, prefix) = fits.copied().unwrap_or((1.0, ""));
    format!("{} {prefix}{unit}", digits(value / factor, count))
}

/// Nanoseconds: `20.1 ms`.
pub fn time(ns: u64) -> String {
    if ns == 0 {
        return "0 s".to_owned();
    }
    scaled(ns as f64, "s", &[(1e9, ""), (1e6, "m"), (1e3, "µ"), (1.0, "n")], 3)
}

/// A time since the beginning of the capture, in seconds to the millisecond: `3.2 s`.
pub fn at(ns: u64) -> String {
    let text = format!("{:.3}", ns as f64 / 1e9);
    format!("{} s", text.trim_end_matches('0').trim_end_matches('.'))
}

/// Bytes: `64.2 kB`.
pub fn bytes(bytes: u64) -> String {
    scaled(bytes as f64, "B", &[(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, "")], 3)
}

/// Bits per second: `4.2 Mb/s`.
pub fn rate(bps: u64) -> String {
    scaled(bps as f64, "b/s", &[(1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, "")], 3)
}

/// A share: `57 %`.
pub fn share(part: u64, whole: u64) -> String {
    format!("{} %", digits(100.0 * part as f64 / whole.max(1) as f64, 2))
}

/// A number: `1 234`.
pub fn number(count: u64) -> String {
    thousands(&count.to_string())
}

/// `1 retransmission`, `7 retransmissions`.
pub fn counted(count: u64, what: &str) -> String {
    format!("{} {what}{}", number(count), if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_people_write_them() {
        let times: Vec<String> =
            [0, 999, 20_100_000, 810_000_000, 999_600_000, 12_000_000_000].into_iter().map(time).collect();
        assert_eq!(times, ["0 s", "999 ns", "20.1 ms", "810 ms", "1 s", "12 s"]);
        assert_eq!((at(3_200_000_000), at(12), bytes(64_240)), ("3.2 s".into(), "0 s".into(), "64.2 kB".into()));
        assert_eq!((share(4, 7), share(1, 1), share(1, 300)), ("57 %".into(), "100 %".into(), "0.33 %".into()));
        assert_eq!((number(1234), counted(1, "cut")), ("1\u{202f}234".into(), "1 cut".into()));
    }
}
