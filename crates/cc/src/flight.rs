//! The window of a congestion control that sets a rate: what bounds its bytes in flight.

use elephan_units::Span;

use crate::rdma::{InFlight, Nic};
use crate::{MAX_WINDOW_BYTES, Window};

/// The window that follows from [`InFlight`], in bytes on the wire.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FlightWindow {
    bound: InFlight,
    /// Base round-trip time: the one that is given, or that of the path as soon as it is known.
    rtt: Option<Span>,
    is_given: bool,
}

impl FlightWindow {
    /// Returns the window of a flow. A `base_rtt` of 0 s stands for that of the path.
    pub(crate) fn new(bound: InFlight, base_rtt: Span) -> FlightWindow {
        let rtt = Some(base_rtt).filter(|rtt| *rtt > Span::ZERO);
        FlightWindow { bound, rtt, is_given: rtt.is_some() }
    }

    pub(crate) fn on_nic(&mut self, nic: &Nic) {
        if !self.is_given {
            self.rtt = Some(nic.base_rtt);
        }
    }

    /// Sets the window of a flow that begins, or whose line has changed: of this line rate and this rate, in bit/s.
    pub(crate) fn begin(&self, w: &mut Window, line_bps: f64, rate_bps: f64) {
        w.cwnd = MAX_WINDOW_BYTES;
        self.follow(w, line_bps, rate_bps);
    }

    /// Sets the window to the line rate and the rate, if it is bounded: one packet at least.
    pub(crate) fn follow(&self, w: &mut Window, line_bps: f64, rate_bps: f64) {
        let rate_bps = match self.bound {
            InFlight::Unbounded => return,
            InFlight::Bdp => line_bps,
            InFlight::Rate => rate_bps,
        };
        if let Some(rtt) = self.rtt {
            w.cwnd = (rate_bps / 8.0 * rtt.seconds()).min(MAX_WINDOW_BYTES).max(w.mss);
        }
    }
}
