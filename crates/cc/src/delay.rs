//! Which delay a congestion control of background flows goes by: that of the way there, or that of the round trip.

use crate::Ack;
use elephan_units::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Delay {
    /// From the sender to the receiver, by their timestamps (RFC 7323); the round-trip time where these are off.
    OneWay,
    /// There and back.
    RoundTrip,
}

/// The one-way delays that a congestion control reads.
#[derive(Clone, Copy, Debug, Default)]
pub struct OneWay {
    newest: Option<Span>,
    /// There are some: round-trip times do not count.
    told: bool,
}

impl OneWay {
    /// The next ACK has shown a one-way delay. The clocks of both ends are their own: only differences say something.
    pub fn tell(&mut self, delay: Span) {
        (self.newest, self.told) = (Some(delay), true);
    }

    /// The delay that an ACK has shown.
    pub fn take(&mut self, ack: &Ack) -> Option<Span> {
        let newest = self.newest.take();
        if self.told { newest } else { ack.rtt }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One kind of delay is never compared with the other: an ACK without a one-way delay has none, once there was one.
    #[test]
    fn round_trips_count_until_a_one_way_delay_is_told() {
        let ms = Span::from_ms;
        let ack = Ack { rtt: Some(ms(30)), ..Ack::default() };
        let mut delays = OneWay::default();
        assert_eq!(delays.take(&ack), Some(ms(30)));
        delays.tell(ms(20));
        assert_eq!((delays.take(&ack), delays.take(&ack)), (Some(ms(20)), None));
    }
}
