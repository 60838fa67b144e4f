//! Layer-2 congestion management: a switch samples the frames that come to a queue and tells their sources by how much the
//! queue is too long (the congestion point); a source limits what it sends towards that queue (the reaction point).
//!
//! [`qcn`] is Quantized Congestion Notification (IEEE 802.1Qau) and its form of 2007, [`ecm`] Ethernet Congestion
//! Management, its rival. Both are state machines: frames, notifications and timers come from outside.

pub mod ecm;
pub mod qcn;

use elephan_random::Stream;

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
