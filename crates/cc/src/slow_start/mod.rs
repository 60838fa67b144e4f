//! Slow start: growth while `cwnd < ssthresh`, an axis of its own beside the congestion control. One file and one line each.
//!
//! What one ACK may add is limited for all of them by appropriate byte counting, which [`crate::Controller`] applies:
//!
//! ```text
//! allowed = min(acked, L * SMSS)         RFC 3465 section 2.2; L = 1 is RFC 5681 equation 2
//! ```
//!
//! with L = 1 after a retransmission timeout whatever L is (section 2.3), until the next other event; without a limit an
//! ACK opens the window by all it acknowledges. A slow start that ends by itself (a delay increase, say) sets
//! `ssthresh = cwnd`; the rest of that ACK is the congestion control's.

use crate::registry::registry;
use crate::{Ack, Signal, Window, algorithm};

registry! {
    ($) each_slow_start "slow start"
    "How the window grows below ssthresh: a name, or a table with `kind` and its parameters.";
    classic: Classic(classic::Classic) = "Classic (RFC 5681): as many bytes as were acknowledged",
    limited: Limited(limited::Limited) = "Limited slow start (RFC 3742): beyond 100 segments at most 50 more a round trip",
    hystart: Hystart(Box<hystart::Hystart>) = "HyStart (Ha and Rhee 2011, Linux): ends when ACKs come in long trains or later",
    hystartpp: Hystartpp(Box<hystartpp::Hystartpp>) = "HyStart++ (RFC 9406): ends through conservative slow start when ACKs come later",
    linux: Linux(Box<linux::Linux>) = "As Linux: HyStart for CUBIC, classic for all other congestion controls",
}

impl Default for Spec {
    fn default() -> Spec {
        Spec::Classic(classic::Parameters::default())
    }
}

/// What a slow start may do.
pub trait SlowStart {
    /// Bytes by which the window grows for an ACK that found `cwnd < ssthresh`; by `allowed` where nothing else is known.
    /// What goes beyond `ssthresh` is cut off by the caller.
    fn growth(&mut self, w: &mut Window, ack: &Ack, allowed: f64) -> f64;

    fn on_congestion(&mut self, _signal: &Signal) {}

    /// The congestion control that steers from now on.
    fn on_congestion_control(&mut self, _cc: &algorithm::Spec) {}

    /// Returns whether a rising delay may end it.
    fn ends_by_delay(&self) -> bool {
        false
    }

    /// Segments leave spaced over the round trip, not in trains.
    fn on_pacing(&mut self) {}
}

impl SlowStart for Any {
    #[inline]
    fn growth(&mut self, w: &mut Window, ack: &Ack, allowed: f64) -> f64 {
        each_slow_start!(self, slow_start => slow_start.growth(w, ack, allowed))
    }

    fn on_congestion(&mut self, signal: &Signal) {
        each_slow_start!(self, slow_start => slow_start.on_congestion(signal))
    }

    fn on_congestion_control(&mut self, cc: &algorithm::Spec) {
        each_slow_start!(self, slow_start => slow_start.on_congestion_control(cc))
    }

    fn ends_by_delay(&self) -> bool {
        each_slow_start!(self, slow_start => slow_start.ends_by_delay())
    }

    fn on_pacing(&mut self) {
        each_slow_start!(self, slow_start => slow_start.on_pacing())
    }
}
