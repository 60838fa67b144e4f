//! Layer-2 congestion management: a switch samples the frames that come to a queue and tells their sources by how much the
//! queue is too long (the congestion point); a source limits what it sends towards that queue (the reaction point).
//!
//! [`qcn`] is Quantized Congestion Notification (IEEE 802.1Qau) and its form of 2007, [`ecm`] Ethernet Congestion
//! Management, its rival. Both are state machines: frames, notifications and timers come from outside.

pub mod ecm;
pub mod fair;
mod fairness;
mod management;
pub mod qcn;

pub use management::{CongestionManagement, EcmWords, Feedback, Handling, Per, Point, QcnPreset, QcnWords, Reaction};

use elephan_random::Stream;
use elephan_units::{Bytes, InvalidParameter, Rate, Span};

/// Largest magnitude of six bits of feedback.
pub const FEEDBACK_MAX: u8 = 63;

/// `magnitude` of at most `most` as six bits: in units of `most` / 64, rounded down.
fn six_bits(magnitude: f64, most: f64) -> u8 {
    // At most 63, so the conversion is exact.
    (magnitude * 64.0 / most).floor().clamp(0.0, f64::from(FEEDBACK_MAX)) as u8
}

/// Uniform on [1 - jitter, 1 + jitter).
fn jittered(stream: &mut Stream, jitter: f64) -> f64 {
    if jitter == 0.0 { 1.0 } else { 1.0 + jitter * (2.0 * stream.uniform() - 1.0) }
}

fn above_zero(key: &'static str, bytes: Bytes) -> Option<InvalidParameter> {
    (bytes.0 == 0).then(|| InvalidParameter::new(key, format!("\"{bytes}\": must be above zero")))
}

/// A set point of one page at least.
fn pages(set_point: Bytes, page: Bytes) -> Option<InvalidParameter> {
    above_zero("page", page).or_else(|| {
        let message = || InvalidParameter::new("set_point", format!("\"{set_point}\": less than a page, {page}"));
        (set_point < page).then(message)
    })
}

/// A limiter that may not send at all would never be heard of again.
fn some_rate(key: &'static str, rate: Rate) -> Option<InvalidParameter> {
    (rate.0 < 1000).then(|| InvalidParameter::new(key, format!("\"{rate}\": must be at least 1 kbps")))
}

/// A limiter starts at its least rate or above it.
fn start_rate(start: Option<Rate>, least: Rate) -> Option<InvalidParameter> {
    let start = start.filter(|&start| start < least)?;
    Some(InvalidParameter::new("start_rate", format!("\"{start}\": must be at least rate_min, {least}")))
}

/// A period, or none at all, but none so short that a run would do nothing else.
fn period(key: &'static str, span: Span) -> Option<InvalidParameter> {
    let short = span != Span::ZERO && span < Span::from_us(1);
    short.then(|| InvalidParameter::new(key, format!("\"{span}\": must be at least 1 us, or 0 s for never")))
}
