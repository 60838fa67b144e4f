//! What a round trip has seen of losses and marks, for a congestion control that judges them by rounds.

use crate::Ack;

/// What this round has seen.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    /// Bytes lost so far over the life of the connection, as the last ACK said.
    lost_total: u64,
    pub lost: u64,
    /// Bytes acknowledged that met congestion (CE).
    pub marked: u64,
    /// The round before has lost too much (or was marked too much), so that what is acknowledged in this one was sent before that was known.
    pub too_much: bool,
    /// Ranges found lost before it.
    ranges_before: u16,
    /// Bytes in flight at its beginning, and delivered by then.
    pub inflight: u64,
    pub delivered: u64,
    /// Largest rate, bit/s.
    pub rate: f64,
}

impl Tally {
    pub fn count(&mut self, ack: &Ack) {
        self.lost += ack.lost.saturating_sub(self.lost_total);
        self.lost_total = ack.lost;
        self.marked += ack.ce.min(ack.acked);
        self.rate = self.rate.max(ack.rate_bps.filter(|rate| rate.is_finite()).unwrap_or(0.0));
    }

    /// Ranges that this round has lost.
    pub fn ranges(&self, ack: &Ack) -> f64 {
        f64::from(ack.lost_ranges.wrapping_sub(self.ranges_before))
    }

    /// Whether the round loses more than this share of what was in flight.
    pub fn loses(&self, share: f64) -> bool {
        self.lost as f64 > share * self.inflight as f64
    }

    /// What has been seen of this round does not count: it begins now, with `inflight` bytes in flight and `delivered` by then. Before it
    /// `too_much` was lost, or not.
    pub fn restart(&mut self, inflight: u64, delivered: u64, too_much: bool) {
        let Tally { lost_total, ranges_before, .. } = *self;
        *self = Tally { lost_total, too_much, ranges_before, inflight, delivered, ..Tally::default() };
    }

    /// A round begins; the one before has lost `too_much`, or not.
    pub fn begin(&mut self, ack: &Ack, too_much: bool) {
        let inflight = ack.inflight.saturating_sub(ack.acked);
        let (lost_total, ranges_before, delivered) = (self.lost_total, ack.lost_ranges, ack.delivered);
        *self = Tally { lost_total, too_much, ranges_before, inflight, delivered, ..Tally::default() };
    }
}
