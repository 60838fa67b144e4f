//! Proportional rate reduction: how much may be sent on each ACK of fast recovery, so that the window comes down to
//! `ssthresh` evenly over the recovery instead of at once (RFC 9937; RFC 6937 before it).
//!
//! ```text
//! per ACK that delivers DeliveredData > 0:  prr_delivered += DeliveredData
//! inflight > ssthresh:   sndcnt = ceil(prr_delivered * ssthresh / RecoverFS) - prr_out
//! else, RFC 9937:        limit  = max(prr_delivered - prr_out, DeliveredData), + SMSS on a SafeACK
//!       RFC 6937 SSRB:   limit  = max(prr_delivered - prr_out, DeliveredData) + SMSS
//!       RFC 6937 CRB:    limit  = prr_delivered - prr_out
//!                        sndcnt = min(ssthresh - inflight, limit)
//! RFC 9937, first:       prr_out = 0 and sndcnt = 0: sndcnt = SMSS (the fast retransmit)
//! at the end:            cwnd = ssthresh
//! ```
//!
//! A SafeACK advances SND.UNA and shows no further loss. `RecoverFS` is what was in flight when recovery began, less what
//! had been SACKed (RFC 9937; RFC 6937 takes FlightSize).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The text that is followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Variant {
    /// RFC 9937.
    #[default]
    Rfc9937,
    /// RFC 6937 with the slow start reduction bound.
    Rfc6937,
    /// RFC 6937 with the conservative reduction bound.
    Rfc6937Crb,
}

/// The proportional rate reduction of one recovery. All quantities are bytes.
///
/// ```
/// use elephan_tcp::prr::{Prr, Variant};
///
/// // RFC 6937 section 4, first example, in segments: one of 20 is lost, ssthresh is 10.
/// let mut prr = Prr::new(Variant::Rfc6937);
/// prr.start(1, 10, 20);
/// // The third duplicate ACK lets the retransmission out; then every second ACK lets a segment out.
/// let sent: Vec<u64> = (0..5).map(|n| {
///     let allowed = prr.on_ack(1, 19 - n, true);
///     prr.on_sent(allowed);
///     allowed
/// }).collect();
/// assert_eq!(sent, [1, 0, 1, 0, 1]);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Prr {
    variant: Variant,
    mss: u64,
    ssthresh: u64,
    recover_fs: u64,
    delivered: u64,
    out: u64,
}

impl Prr {
    /// Returns a reduction that has not started.
    pub fn new(variant: Variant) -> Prr {
        Prr { variant, ..Prr::default() }
    }

    /// Starts a recovery with `inflight` bytes in flight that ends at `ssthresh`.
    pub fn start(&mut self, mss: u64, ssthresh: u64, inflight: u64) {
        *self = Prr { variant: self.variant, mss, ssthresh, recover_fs: inflight, delivered: 0, out: 0 };
    }

    /// Returns how many bytes may be sent after an ACK that delivered `delivered` bytes and left `pipe` bytes in flight. `safe` says that the ACK
    /// advanced and showed no further loss.
    pub fn on_ack(&mut self, delivered: u64, pipe: u64, safe: bool) -> u64 {
        if delivered == 0 {
            return 0;
        }
        self.delivered += delivered;
        let balance = self.delivered.saturating_sub(self.out);
        let allowed = if pipe > self.ssthresh {
            // With nothing in flight there is no proportion (Linux `tcp_cwnd_reduction`: nothing without `prior_cwnd`).
            let due = u128::from(self.delivered) * u128::from(self.ssthresh);
            let due = if self.recover_fs == 0 { 0 } else { due.div_ceil(u128::from(self.recover_fs)) };
            (due as u64).saturating_sub(self.out)
        } else {
            let limit = match self.variant {
                Variant::Rfc9937 => balance.max(delivered) + if safe { self.mss } else { 0 },
                Variant::Rfc6937 => balance.max(delivered) + self.mss,
                Variant::Rfc6937Crb => balance,
            };
            limit.min(self.ssthresh - pipe)
        };
        if self.variant == Variant::Rfc9937 && self.out == 0 && allowed == 0 { self.mss } else { allowed }
    }

    /// Is called when `bytes` were sent.
    #[inline]
    pub fn on_sent(&mut self, bytes: u64) {
        self.out += bytes;
    }

    /// Is called when `bytes` that were counted as sent did not leave.
    pub fn take_back(&mut self, bytes: u64) {
        self.out -= bytes.min(self.out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1000;

    /// RFC 6937 section 4, first example, in segments: one of 20 is lost, two more left by limited transmit, ssthresh 10.
    /// By hand, ceil(n / 2) - out: the third duplicate sends the retransmission, then every other ACK a segment, until ten
    /// are in flight.
    #[test]
    fn one_loss_sends_every_other_segment() {
        for variant in [Variant::Rfc6937, Variant::Rfc6937Crb, Variant::Rfc9937] {
            let mut prr = Prr::new(variant);
            prr.start(1, 10, 20);
            assert_eq!(prr.on_ack(1, 18, false), 1);
            prr.on_sent(1);
            let mut pipe = 19;
            let mut sends = Vec::new();
            for _ in 4..=19 {
                pipe -= 1;
                let sent = prr.on_ack(1, pipe, false);
                prr.on_sent(sent);
                pipe += sent;
                sends.push(sent);
            }
            assert_eq!((sends, pipe), (vec![0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0], 10));
        }
    }

    /// RFC 6937 section 4, second example: the first 15 of 20 are lost, so pipe is below ssthresh at once: CRB conserves
    /// packets, SSRB sends one more per ACK until ssthresh.
    #[test]
    fn bursts_of_losses_are_bounded() {
        let start = |variant| {
            let mut prr = Prr::new(variant);
            prr.start(S, 10 * S, 20 * S);
            prr
        };
        // Three SACKs have come: 17 - 15 = 2 in flight.
        let mut crb = start(Variant::Rfc6937Crb);
        assert_eq!(crb.on_ack(3 * S, 2 * S, false), 3 * S);
        let mut ssrb = start(Variant::Rfc6937);
        assert_eq!(ssrb.on_ack(3 * S, 2 * S, false), 4 * S);
        let mut now = start(Variant::Rfc9937);
        assert_eq!(now.on_ack(3 * S, 2 * S, false), 3 * S);
        let mut safe = start(Variant::Rfc9937);
        assert_eq!(safe.on_ack(3 * S, 2 * S, true), 4 * S);
        // Never beyond ssthresh.
        assert_eq!(start(Variant::Rfc6937).on_ack(9 * S, 8 * S, true), 2 * S);
    }

    /// RFC 9937 section 6: the fast retransmit leaves even when the formula gives nothing, and an ACK that delivers
    /// nothing lets nothing out.
    #[test]
    fn the_first_retransmission_is_forced() {
        let mut prr = Prr::new(Variant::Rfc9937);
        prr.start(S, 10 * S, 20 * S);
        assert_eq!(prr.on_ack(0, 17 * S, false), 0);
        prr.start(S, 0, 20 * S);
        assert_eq!(prr.on_ack(S, 17 * S, false), S);
        prr.on_sent(S);
        assert_eq!(prr.on_ack(S, 17 * S, false), 0);
    }

    /// A recovery that begins with nothing in flight (RecoverFS 0) has no proportion: one segment as the forced first
    /// retransmission of RFC 9937, nothing under RFC 6937 (Linux `tcp_cwnd_reduction` returns without `prior_cwnd`).
    #[test]
    fn nothing_in_flight_gives_no_proportion() {
        for (variant, allowed) in [(Variant::Rfc9937, S), (Variant::Rfc6937, 0), (Variant::Rfc6937Crb, 0)] {
            let mut prr = Prr::new(variant);
            prr.start(S, 5 * S, 0);
            assert_eq!(prr.on_ack(S, 10 * S, false), allowed, "{variant:?}");
        }
    }
}
