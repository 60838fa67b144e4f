//! What a congestion control needs of the connection that it steers.

use crate::Question;

/// A set of needs: `Needs::RATE.and(Needs::STEERS_RECOVERY)`.
///
/// All of them are known before the first segment, so a connection reads them as data. They are bits, because every connection keeps them.
///
/// ```
/// use elephan_cc::{Needs, Question, Spec};
///
/// let needs = Spec::named("explicit_rate").unwrap().needs();
/// assert_eq!(needs, Needs::RATE_OF_ROUTERS.and(Needs::PACES_PACKETS));
/// assert!(needs.has(Needs::PACES_PACKETS) && !needs.has(Needs::TRAINS));
/// assert_eq!(needs.asks(), Some(Question::Rate));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs(u16);

/// Declares needs, each a bit of its own.
macro_rules! needs {
    ($($(#[$doc:meta])+ $NAME:ident;)+) => {
        #[allow(non_camel_case_types, clippy::upper_case_acronyms, reason = "called like the constants that they number")]
        enum Bit {
            $($NAME,)+
        }

        impl Needs {
            $($(#[$doc])+
            pub const $NAME: Needs = Needs(1 << Bit::$NAME as u16);)+
        }
    };
}

needs! {
    /// Delivery rates are measured ([`crate::Ack::rate_bps`]), which costs memory for every segment in flight.
    RATE;
    /// The delay of single ACKs counts, so that means over a round trip say too little ([`crate::rounds`]).
    EACH_DELAY;
    /// One-way delays are reported, each before the ACK that shows it.
    ONE_WAY_DELAY;
    /// The packets of the flow ask routers how the window may change ([`Question::Window`]).
    WINDOW_OF_ROUTERS;
    /// The packets of the flow ask routers for the fair rate ([`Question::Rate`]).
    RATE_OF_ROUTERS;
    /// The packets of the flow ask routers for telemetry ([`Question::Telemetry`]).
    TELEMETRY;
    /// New data leaves as ECT(1), the codepoint of L4S (RFC 9331), once Accurate ECN is negotiated. Without Accurate ECN nothing is
    /// ECN-capable (Linux `TCP_CONG_NEEDS_ACCECN`).
    L4S;
    /// Trains of packets are sent, and each packet says when it left (see [`crate::train`]).
    TRAINS;
    /// The receiver acknowledges each segment at once. An algorithm that takes every delay for the network's needs this.
    ACKNOWLEDGED_EACH;
    /// The sender's network interface is reported over TCP too.
    NIC;
    /// The window applies in recovery too (Linux `cong_control`). Proportional rate reduction and the like then do nothing.
    STEERS_RECOVERY;
    /// The pacing rate counts whole packets with their IP and TCP headers, as routers report it.
    PACES_PACKETS;
    /// `on_ack` also grows the window below `ssthresh`, instead of the slow start of the stack.
    OWN_SLOW_START;
    /// An ACK counts with all that it acknowledges. A stack without byte counting shows one segment an ACK at most to an algorithm
    /// without this need. An algorithm that grows by a fixed amount per round trip, or by a clock, has this need.
    ALL_ACKED;
    /// Delays of the end hosts are reported, each before the ACK that shows it ([`crate::Controller::on_endpoint_delay`]).
    ENDPOINT_DELAY;
    /// A loss reduces the window once more in a window of data that an ECN-Echo has reduced, because a mark takes less than a loss.
    /// Without this need one of the two is enough (RFC 3168 section 6.1.2).
    LOSS_AFTER_MARK;
}

impl Needs {
    /// ACKs and congestion events are enough.
    pub const NOTHING: Needs = Needs(0);

    /// Returns the needs of both sets.
    pub const fn and(self, other: Needs) -> Needs {
        Needs(self.0 | other.0)
    }

    /// Returns the needs of both sets if `condition` holds, else those of the first alone.
    pub const fn and_if(self, condition: bool, other: Needs) -> Needs {
        if condition { self.and(other) } else { self }
    }

    /// Returns whether `need` is one of them.
    #[inline]
    pub const fn has(self, need: Needs) -> bool {
        self.0 & need.0 != 0
    }

    /// Returns what the packets of the flow ask routers in a congestion header, if anything.
    pub const fn asks(self) -> Option<Question> {
        if self.has(Needs::WINDOW_OF_ROUTERS) {
            Some(Question::Window)
        } else if self.has(Needs::RATE_OF_ROUTERS) {
            Some(Question::Rate)
        } else if self.has(Needs::TELEMETRY) {
            Some(Question::Telemetry)
        } else {
            None
        }
    }
}
