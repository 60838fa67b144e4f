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

use elephan_units::dispatch;

use crate::registry::registry;
use crate::{Ack, Signal, Window, algorithm};

registry! {
    ($) each_slow_start slow_starts "slow start"
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

dispatch! {
    /// What a slow start may do.
    pub trait SlowStart for Any by each_slow_start {
        /// Returns the bytes by which the window grows for an ACK that found `cwnd < ssthresh`; `allowed` where nothing else is known.
        /// The caller cuts off what goes beyond `ssthresh`.
        fn growth(&mut self, w: &mut Window, ack: &Ack, allowed: f64) -> f64;

        /// Is called at each congestion event.
        fn on_congestion(&mut self, signal: &Signal) {}

        /// Is called with the congestion control that steers from now on.
        fn on_congestion_control(&mut self, cc: &algorithm::Spec) {}

        /// Returns whether a rising delay may end it.
        fn ends_by_delay(&self) -> bool {
            false
        }

        /// Is called when segments leave spaced over the round trip, not in trains.
        fn on_pacing(&mut self) {}
    }
}
