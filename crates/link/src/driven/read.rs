//! Traces as text: Mahimahi's format and CSV, with the line of what is wrong.

use std::sync::Arc;

use elephan_units::{PS_PER_S, parse_bps, parse_seconds};

use super::chances::{CHANCE_BYTES, Chances, OVERHEAD_BYTES};
use super::course::Course;
use super::words::TraceTable;
use super::{RateTrace, words::Between};

/// Rows of a course at most: reading them takes a second or two.
const ROWS_MAX: usize = 2_000_000;

/// What of a link follows a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    Rate,
    Delay,
    Loss,
}

impl What {
    /// Returns the name of its column and of its key.
    pub fn name(self) -> &'static str {
        match self {
            What::Rate => "rate",
            What::Delay => "delay",
            What::Loss => "loss",
        }
    }
}

/// What is wrong with a trace: a line from 1, or 0 for what concerns no line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceError {
    pub line: usize,
    pub message: String,
}

impl TraceError {
    fn at(line: usize, message: impl Into<String>) -> TraceError {
        TraceError { line, message: message.into() }
    }
}

/// The longest run, and with it the latest time.
const LATEST_S: f64 = 210.0 * 86_400.0;
const COLUMNS: [&str; 4] = ["time", "rate", "delay", "loss"];
/// Units of heads such as `time_ms`, each with what it is in base units (s, bit/s, 1).
const UNITS: [(&str, &str, f64); 12] = [
    ("time", "s", 1.0),
    ("time", "ms", 1e-3),
    ("time", "us", 1e-6),
    ("delay", "s", 1.0),
    ("delay", "ms", 1e-3),
    ("delay", "us", 1e-6),
    ("rate", "bps", 1.0),
    ("rate", "kbps", 1e3),
    ("rate", "mbps", 1e6),
    ("rate", "gbps", 1e9),
    ("loss", "percent", 1e-2),
    ("loss", "share", 1.0),
];

impl TraceTable {
    /// Returns the trace of a rate.
    pub fn rate(&self) -> Result<RateTrace, TraceError> {
        self.refuse_reorder(What::Rate)?;
        let text = self.text();
        if !is_chances(text) {
            self.refuse_chances()?;
            return Ok(RateTrace::Course(Arc::new(self.course(text, What::Rate)?)));
        }
        if self.between != Between::Steps {
            return Err(TraceError::at(0, "between = \"linear\" is of CSV; Mahimahi's format has chances"));
        }
        let bytes = |given: Option<elephan_units::Bytes>, otherwise| given.map_or(otherwise, |bytes| bytes.0);
        let (chance, overhead) = (bytes(self.chance, CHANCE_BYTES), bytes(self.overhead, OVERHEAD_BYTES));
        let small = |what: &str, bytes: u64| {
            u32::try_from(bytes).map_err(|_| TraceError::at(0, format!("{what} = {bytes} B is too large")))
        };
        if chance == 0 {
            return Err(TraceError::at(0, "chance is above 0 B"));
        }
        let (chance, overhead) = (small("chance", chance)?, small("overhead", overhead)?);
        Ok(RateTrace::Chances(Arc::new(Chances::new(milliseconds(text)?, chance, overhead, self.after))))
    }

    /// Returns the course of a delay or of a loss.
    pub fn values(&self, what: What) -> Result<Arc<Course>, TraceError> {
        self.refuse_reorder(what)?;
        let text = self.text();
        if is_chances(text) {
            let message =
                format!("Mahimahi's format has rates, no {}: write CSV with the columns time and {0}", what.name());
            return Err(TraceError::at(1, message));
        }
        self.refuse_chances()?;
        Ok(Arc::new(self.course(text, what)?))
    }

    fn text(&self) -> &str {
        let text = self.text.as_deref().unwrap_or_default();
        text.strip_prefix('\u{feff}').unwrap_or(text)
    }

    fn refuse_reorder(&self, what: What) -> Result<(), TraceError> {
        if self.reorder && what != What::Delay {
            return Err(TraceError::at(0, format!("reorder is of the trace of a delay, not of a {}", what.name())));
        }
        Ok(())
    }

    fn refuse_chances(&self) -> Result<(), TraceError> {
        let given = self.chance.map(|_| "chance").or(self.overhead.map(|_| "overhead"));
        given.map_or(Ok(()), |key| {
            Err(TraceError::at(0, format!("{key} is of Mahimahi's format, and this trace is CSV")))
        })
    }

    fn course(&self, text: &str, what: What) -> Result<Course, TraceError> {
        let mut lines = numbered(text).filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        let Some((line, head)) = lines.next() else { return Err(TraceError::at(1, "an empty trace")) };
        let columns = Columns::named(head, what).map_err(|message| TraceError::at(line, message))?;
        let (mut times, mut values) = (Vec::new(), Vec::new());
        let mut before = None;
        for (line, text) in lines {
            if times.len() == ROWS_MAX {
                return Err(TraceError::at(line, format!("more than {ROWS_MAX} rows")));
            }
            let (time, value) = columns.row(text, what).map_err(|message| TraceError::at(line, message))?;
            let ps = (time * PS_PER_S as f64).round() as u64;
            if before.is_some_and(|before| ps <= before) {
                return Err(TraceError::at(line, format!("time {time} s is not after that of the row before it")));
            }
            before = Some(ps);
            times.push(ps);
            values.push(value);
        }
        if times.is_empty() {
            return Err(TraceError::at(line, "a head without rows"));
        }
        if times.len() > 1 || times[0] == 0 {
            return Ok(Course::new(times, values, self.after, self.between));
        }
        Err(TraceError::at(line, "one row says nothing but its value: write the value itself"))
    }
}

fn numbered(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().map(|(i, line)| (i + 1, line.trim()))
}

/// Whether a text is in Mahimahi's format: it begins with a number.
fn is_chances(text: &str) -> bool {
    let first = numbered(text).map(|(_, line)| line).find(|line| !line.is_empty() && !line.starts_with('#'));
    first.is_some_and(|line| !line.contains(',') && line.starts_with(|c: char| c.is_ascii_digit()))
}

/// The lines of Mahimahi's format.
fn milliseconds(text: &str) -> Result<Vec<u32>, TraceError> {
    let mut times = Vec::with_capacity(text.len() / 6);
    let mut before = 0;
    for (line, text) in numbered(text) {
        if text.is_empty() {
            return Err(TraceError::at(line, "an empty line"));
        }
        let wrong = || TraceError::at(line, format!("{:?} is no whole number of milliseconds", brief(text)));
        let time = number(text.as_bytes()).ok_or_else(wrong)?;
        if time < before {
            return Err(TraceError::at(line, format!("{time} ms is before the {before} ms of the line before it")));
        }
        before = time;
        times.push(time);
    }
    match times.last() {
        None => Err(TraceError::at(1, "an empty trace")),
        Some(0) => Err(TraceError::at(times.len(), "the last time is 0 ms: a trace lasts at least 1 ms")),
        Some(_) => Ok(times),
    }
}

/// A whole number in digits alone.
fn number(text: &[u8]) -> Option<u32> {
    text.iter().try_fold(0u32, |sum, byte| {
        let digit = byte.wrapping_sub(b'0');
        (digit < 10).then_some(())?;
        sum.checked_mul(10)?.checked_add(u32::from(digit))
    })
}

fn brief(text: &str) -> String {
    text.chars().take(24).collect()
}

/// Where the columns are, and what their heads say of units.
struct Columns {
    time: (usize, Option<f64>),
    value: (usize, Option<f64>),
    count: usize,
}

impl Columns {
    fn named(head: &str, what: What) -> Result<Columns, String> {
        let heads: Vec<&str> = head.split(',').map(str::trim).collect();
        let mut found: [Option<(usize, Option<f64>)>; 4] = [None; 4];
        for (place, head) in heads.iter().enumerate() {
            let lower = head.to_lowercase();
            let (name, unit) = lower.split_once('_').map_or((lower.as_str(), None), |(name, unit)| (name, Some(unit)));
            let known = COLUMNS.iter().position(|&column| column == name);
            let factor = match unit {
                None => Some(None),
                Some(unit) => UNITS.iter().find(|row| row.0 == name && row.1 == unit).map(|row| Some(row.2)),
            };
            let (Some(column), Some(factor)) = (known, factor) else {
                let message = "no column of a trace; there are time, rate, delay, loss, also with units such as time_ms, rate_mbps, delay_ms";
                return Err(format!("{:?} is {message}", brief(head)));
            };
            if found[column].replace((place, factor)).is_some() {
                return Err(format!("two columns {name}"));
            }
        }
        let column = |name: &str| {
            let place = COLUMNS.iter().position(|&column| column == name).unwrap_or(0);
            found[place].ok_or_else(|| format!("no column {name}"))
        };
        Ok(Columns { time: column("time")?, value: column(what.name())?, count: heads.len() })
    }

    fn row(&self, text: &str, what: What) -> Result<(f64, f64), String> {
        let cells = text.split(',').count();
        if cells != self.count {
            return Err(format!("{cells} cells, but the head has {}", self.count));
        }
        let cell = |place: usize| text.split(',').nth(place).unwrap_or_default().trim();
        let time = quantity(cell(self.time.0), self.time.1, "time", parse_seconds)?;
        if !(0.0..=LATEST_S).contains(&time) {
            return Err(format!("time {time} s is not from 0 to {LATEST_S} s"));
        }
        let (text, factor) = (cell(self.value.0), self.value.1);
        let value = match what {
            What::Rate => quantity(text, factor, "rate", parse_bps)?,
            What::Delay => quantity(text, factor, "delay", parse_seconds)?,
            What::Loss => share(text, factor)?,
        };
        let top = if what == What::Rate {
            1e14
        } else if what == What::Delay {
            LATEST_S
        } else {
            1.0
        };
        if !(0.0..=top).contains(&value) {
            return Err(format!("{} {:?} is out of range", what.name(), brief(text)));
        }
        Ok((time, value))
    }
}

/// A cell: a number in the unit of its head, or a number with its unit.
fn quantity<E>(
    text: &str,
    factor: Option<f64>,
    name: &str,
    parse: impl Fn(&str) -> Result<f64, E>,
) -> Result<f64, String> {
    let plain = text.parse::<f64>().ok().filter(|number| number.is_finite());
    match (plain, factor) {
        (Some(number), Some(factor)) => Ok(number * factor),
        // Nothing is nothing in any unit.
        (Some(0.0), None) => Ok(0.0),
        (Some(_), None) => Err(format!("{name} {:?} has no unit: write it in the cell or in the head", brief(text))),
        (None, _) => parse(text).map_err(|_| format!("{:?} is no {name}", brief(text))),
    }
}

fn share(text: &str, factor: Option<f64>) -> Result<f64, String> {
    let (number, of) = text.strip_suffix('%').map_or((text, factor.unwrap_or(1.0)), |number| (number.trim(), 1e-2));
    number.parse::<f64>().map(|number| number * of).map_err(|_| format!("{:?} is no share of packets", brief(text)))
}
