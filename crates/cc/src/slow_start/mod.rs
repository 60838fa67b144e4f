//! Slow start: growth while `cwnd < ssthresh`, an axis of its own beside the law. One file and one line each.
//!
//! A slow start that ends by itself (a delay increase, say) sets `ssthresh = cwnd`.

use crate::registry::registry;
use crate::{Ack, Signal, Window};

registry! {
    ($) each_slow_start "slow start"
    "How the window grows below ssthresh: a name, or a table with `kind` and its parameters.";
    classic: Classic(classic::Classic) = "Classic (RFC 5681, RFC 3465): as many bytes as were acknowledged",
}

impl Default for Spec {
    fn default() -> Spec {
        Spec::Classic(classic::Parameters::default())
    }
}

/// What a slow start may do.
pub trait SlowStart {
    /// Grows the window for an ACK that found `cwnd < ssthresh`, not beyond `ssthresh`. Returns the bytes of the ACK
    /// that are left for the law once `ssthresh` is reached.
    fn on_ack(&mut self, w: &mut Window, ack: &Ack) -> u64;

    fn on_congestion(&mut self, _signal: &Signal) {}
}

impl SlowStart for Any {
    #[inline]
    fn on_ack(&mut self, w: &mut Window, ack: &Ack) -> u64 {
        each_slow_start!(self, slow_start => slow_start.on_ack(w, ack))
    }

    fn on_congestion(&mut self, signal: &Signal) {
        each_slow_start!(self, slow_start => slow_start.on_congestion(signal))
    }
}
