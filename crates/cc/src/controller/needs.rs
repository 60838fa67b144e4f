//! What a controller needs of its connection, for whoever runs the connection.

use super::Controller;
use crate::{Needs, Question};

impl Controller {
    /// Returns whether a stack that counts ACKs instead of bytes slows this congestion control down ([`Needs::ALL_ACKED`]).
    pub fn goes_by_acks(&self) -> bool {
        !self.needs.has(Needs::ALL_ACKED)
    }

    /// Returns whether [`crate::rounds`] can predict this controller: it neither paces nor probes, and means over a round trip tell it as much as
    /// single ACKs. A controller that asks routers counts as one whose routers do not answer.
    pub fn goes_by_rounds(&self) -> bool {
        self.pacing_rate().is_none() && !self.needs.has(Needs::TRAINS) && !self.needs.has(Needs::EACH_DELAY)
    }

    /// Returns whether the controller's window applies in recovery too, instead of proportional rate reduction.
    #[inline]
    pub fn steers_recovery(&self) -> bool {
        self.needs.has(Needs::STEERS_RECOVERY)
    }

    /// Returns whether new data leaves as ECT(1).
    #[inline]
    pub fn sends_ect1(&self) -> bool {
        self.needs.has(Needs::L4S) && self.accurate_ecn
    }

    /// Returns whether nothing is ECN-capable unless Accurate ECN was negotiated.
    pub fn needs_accurate_ecn(&self) -> bool {
        self.needs.has(Needs::L4S)
    }

    /// Returns whether the controller reads delivery rates ([`crate::Ack::rate_bps`]).
    pub fn measures_rate(&self) -> bool {
        self.needs.has(Needs::RATE)
    }

    /// Returns whether the controller reads one-way delays ([`Controller::on_one_way_delay`]).
    pub fn reads_one_way_delay(&self) -> bool {
        self.needs.has(Needs::ONE_WAY_DELAY)
    }

    /// Returns whether the controller reads delays of the end hosts ([`Controller::on_endpoint_delay`]).
    pub fn reads_endpoint_delay(&self) -> bool {
        self.needs.has(Needs::ENDPOINT_DELAY)
    }

    /// Returns what the flow's packets ask routers in a congestion header, if anything.
    pub fn asks_routers(&self) -> Option<Question> {
        self.needs.asks()
    }

    /// Returns whether the controller sends trains of packets and looks at when each packet arrived.
    #[inline]
    pub fn probes(&self) -> bool {
        self.needs.has(Needs::TRAINS)
    }

    /// Returns whether the peer has to acknowledge each segment at once.
    pub fn acknowledged_each(&self) -> bool {
        self.needs.has(Needs::ACKNOWLEDGED_EACH)
    }

    /// Returns whether [`Controller::on_nic`] has to be called over TCP.
    pub fn reads_nic(&self) -> bool {
        self.needs.has(Needs::NIC)
    }

    /// Returns whether [`Controller::pacing_rate`] counts whole packets with their IP and TCP headers.
    #[inline]
    pub fn paces_packets(&self) -> bool {
        self.needs.has(Needs::PACES_PACKETS)
    }
}
