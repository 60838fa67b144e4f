//! Numbers of the stepping classes: seconds and bytes as floats, to the integers of the models and back.

use elephan_units::{Span, Time};
use pyo3::prelude::*;
use pyo3::types::PyBool;

use crate::errors::ScenarioError;

/// Beyond this an f64 no longer holds every integer, and time no longer fits 64 bits of picoseconds (213 days).
const BYTES_MAX: f64 = (1u64 << 53) as f64;
const SECONDS_MAX: f64 = 18_446_744.0;
/// Far above any link, as for the rate of one.
const RATE_MAX: f64 = 1e14;
/// Characters of a wrong argument in an error.
const SHOWN_MAX: usize = 80;

fn checked(name: &str, value: f64, max: f64, unit: &str) -> PyResult<f64> {
    if (0.0..=max).contains(&value) {
        return Ok(value);
    }
    Err(ScenarioError::new_err(format!("{name} must be from 0 to {max} {unit}, not {value}")))
}

/// Bytes, to the nearest whole one.
pub fn bytes(name: &str, value: f64) -> PyResult<u64> {
    Ok(checked(name, value, BYTES_MAX, "bytes")?.round() as u64)
}

/// An instant, to the nearest picosecond.
pub fn time(name: &str, seconds: f64) -> PyResult<Time> {
    Ok(Time::from_seconds(checked(name, seconds, SECONDS_MAX, "s")?))
}

/// The time of the next call to what was called last at `before`, which becomes it: time never goes back.
pub fn later(before: &mut Time, now: f64) -> PyResult<Time> {
    let at = time("now", now)?;
    if at < *before {
        let before = before.seconds();
        return Err(ScenarioError::new_err(format!("now must not go back: {now} s is before {before} s")));
    }
    *before = at;
    Ok(at)
}

/// A span of time, to the nearest picosecond.
pub fn span(name: &str, seconds: f64) -> PyResult<Span> {
    Ok(Span::from_seconds(checked(name, seconds, SECONDS_MAX, "s")?))
}

/// A rate in bit/s, which is a float in the models too.
pub fn rate(name: &str, bps: f64) -> PyResult<f64> {
    checked(name, bps, RATE_MAX, "bit/s")
}

/// What was given, for an error, and not without end.
pub fn shown(value: &Bound<'_, PyAny>) -> String {
    let Ok(text) = value.repr().map(|repr| repr.to_string()) else { return "that".to_owned() };
    match text.char_indices().nth(SHOWN_MAX) {
        Some((end, _)) => format!("{}... ({} characters)", &text[..end], text.chars().count()),
        None => text,
    }
}

/// A plain number from whatever was given; `what` it is, with its unit, is for the error.
pub fn real(name: &str, value: &Bound<'_, PyAny>, what: &str) -> PyResult<f64> {
    value.extract().map_err(|_| ScenarioError::new_err(format!("{name} is a number of {what}, not {}", shown(value))))
}

/// A whole number from whatever was given.
pub fn whole(name: &str, value: &Bound<'_, PyAny>, most: u64) -> PyResult<u64> {
    whole_up_to(value, most).ok_or_else(|| {
        ScenarioError::new_err(format!("{name} is a whole number from 0 to {most}, not {}", shown(value)))
    })
}

/// A whole number up to `most`; `None` for anything else. Python's True is an int and no number here.
pub fn whole_up_to(value: &Bound<'_, PyAny>, most: u64) -> Option<u64> {
    if value.is_instance_of::<PyBool>() {
        return None;
    }
    value.extract().ok().filter(|&number: &u64| number <= most)
}
