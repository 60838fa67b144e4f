//! Numbers with units as reports write them.

/// A time in ns: `3.21 s`, `41 ms`.
pub fn time(ns: f64) -> String {
    prefixed(ns * 1e-9, "s", &[(1.0, ""), (1e-3, "m"), (1e-6, "µ"), (1e-9, "n")])
}

/// A size in bytes: `181 kB`.
pub fn size(bytes: f64) -> String {
    prefixed(bytes, "B", &[(1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, "")])
}

/// A rate in bit/s: `20 Mb/s`.
pub fn rate(bps: f64) -> String {
    prefixed(bps, "b/s", &[(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, "")])
}

/// A share: `61 %`.
pub fn share(value: f64) -> String {
    format!("{} %", digits(100.0 * value, 2))
}

/// `1 packet`, `7 packets`, `2 710 packets`.
pub fn count(n: usize, what: &str) -> String {
    format!("{} {what}{}", whole(n), if n == 1 { "" } else { "s" })
}

/// A whole number, its thousands set apart by a thin space.
pub fn whole(n: usize) -> String {
    let text = n.to_string();
    let mut apart = String::with_capacity(text.len() + text.len() / 3 * THIN.len_utf8());
    for (place, digit) in text.chars().enumerate() {
        if place > 0 && (text.len() - place).is_multiple_of(3) {
            apart.push(THIN);
        }
        apart.push(digit);
    }
    apart
}

const THIN: char = '\u{202f}';

/// An instant within a run, to a precision of a ten-thousandth of what is looked at.
pub fn instant(ns: i64, span_ns: i64) -> String {
    let places = (4.0 - libm::floor(libm::log10((span_ns.max(1) as f64) * 1e-9))).clamp(0.0, 9.0) as usize;
    let text = format!("{:.places$}", ns as f64 * 1e-9);
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text} s")
}

fn prefixed(value: f64, unit: &str, steps: &[(f64, &str)]) -> String {
    if value == 0.0 {
        return format!("0 {unit}");
    }
    // 999.7 rounds to the next prefix.
    let fits = |(step, _): &&(f64, &str)| value.abs() >= step * 0.9995;
    let (step, prefix) = steps.iter().find(fits).or(steps.last()).copied().unwrap_or((1.0, ""));
    format!("{} {prefix}{unit}", digits(value / step, 3))
}

/// So many significant digits, without zeros at the end.
fn digits(value: f64, most: i32) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let before = libm::floor(libm::log10(value.abs())) as i32 + 1;
    let places = (most - before).max(0) as usize;
    let text = format!("{value:.places$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_reports_write_them() {
        assert_eq!(time(102.241e6), "102 ms");
        assert_eq!(time(0.5e3), "500 ns");
        assert_eq!(time(3.2149e9), "3.21 s");
        assert_eq!(size(181_234.0), "181 kB");
        assert_eq!(size(999_960.0), "1 MB");
        assert_eq!(rate(20e6), "20 Mb/s");
        assert_eq!(share(0.6149), "61 %");
        assert_eq!(count(1, "packet"), "1 packet");
        assert_eq!([999, 2710, 1_234_567].map(whole), ["999", "2\u{202f}710", "1\u{202f}234\u{202f}567"]);
        assert_eq!(instant(3_214_567_891, 60_000_000_000), "3.215 s");
        assert_eq!(instant(3_214_567_891, 10_000_000), "3.214568 s");
    }
}
