//! What a connection keeps whose controller sends trains: when the next packet of a train and the next base packet are due, and
//! what the last data packet says of its departure.
//!
//! Base packets are those outside trains, retransmissions among them. The next one is due a gap after the last one left, by
//! the rate of now, so that a higher rate takes hold at once.

use elephan_cc::train::{Departure, Train};
use elephan_units::{PS_PER_S, Span, Time};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Trains {
    /// When the next packet of the train is due, `Time::NEVER` without a train.
    pub at: Time,
    gap: Span,
    left: u32,
    /// The packet that is being sent is one of the train.
    pub in_train: bool,
    /// When the last base packet left, and its bits.
    base_at: Time,
    base_bits: f64,
    /// Of the last data packet.
    pub departure: Departure,
}

impl Trains {
    /// A connection that sends its first base packet a gap after `now`.
    pub fn starting(now: Time) -> Trains {
        Trains {
            at: Time::NEVER,
            gap: Span::ZERO,
            left: 0,
            in_train: false,
            base_at: now,
            base_bits: 8.0 * 1500.0,
            departure: Departure::default(),
        }
    }

    /// A train begins.
    pub fn begin(&mut self, now: Time, train: &Train) {
        (self.at, self.gap, self.left) = (now, train.gap, train.packets);
        (self.departure.train, self.departure.sent) = (train.id, 0);
    }

    /// The train ends here; answers how many of its packets were sent.
    pub fn cut(&mut self) -> u32 {
        (self.at, self.left) = (Time::NEVER, 0);
        self.departure.sent
    }

    /// When the next base packet is due at `bps`.
    pub fn base_due(&self, bps: f64) -> Time {
        self.base_at.saturating_add(Span((self.base_bits / bps * PS_PER_S as f64) as u64))
    }

    /// A data packet of `ip_bytes` leaves.
    pub fn sent(&mut self, now: Time, ip_bytes: u32) {
        self.departure.at = now;
        self.departure.in_train = self.in_train;
        if self.in_train {
            self.departure.sent += 1;
            self.left -= 1;
            self.at = if self.left > 0 { self.at.saturating_add(self.gap) } else { Time::NEVER };
        } else {
            self.departure.bases = self.departure.bases.wrapping_add(1);
            (self.base_at, self.base_bits) = (now, 8.0 * f64::from(ip_bytes));
        }
    }
}
