//! TCP small queues (TSQ): a socket stops while enough of its data wait below it, in qdisc, ring and device.
//!
//! ```text
//! limit  = max(2 skb, rate / 2^10 s), at most `bound` unless the stack paces     skb: the segment or the burst that is next
//! stops  while more than limit is below, for what is retransmitted more than 2 limit, and more than one skb is not acknowledged
//! ```
//!
//! Linux `tcp_small_queue_check` (6.7; `tcp_limit_output_bytes` is the bound, `sk_pacing_shift` 10, the rate that of `burst.rs` or of the
//! controller that paces). It comes after the windows, pacing and Nagle: what these stop is theirs. A stop here is the sender's, so
//! that the window does not grow for it (`tcp_write_xmit`: not `is_cwnd_limited`). ACKs, SYNs and probes of a closed window are never held.
//!
//! Left out: the segment that a timeout or a tail loss probe retransmits goes unchecked in Linux; `NextSeg` rules 3 and 4 (no Linux)
//! go unchecked here; controllers that probe by trains keep to their own times.

use super::{Endpoint, State, work};
use crate::segment::{OPTION_TIMESTAMPS, Segment};
use crate::stats::Limit;
use elephan_units::Time;

impl Endpoint {
    /// Returns whether the next skb of `segments` segments has to wait, because `below` bytes of this socket have not left the host. Then only
    /// ACKs leave until an ACK, a timer or [`Endpoint::on_room`] gives another occasion.
    pub fn is_throttled(&mut self, now: Time, below: u64, bound: u64, segments: u32) -> bool {
        let payload = u64::from(segments) * u64::from(self.tx.mss);
        if !self.is_data_next(now) || self.tx.board.flight() <= payload {
            return false;
        }
        let limit = self.small_queue_limit(bound, segments);
        if below <= limit {
            return false;
        }
        let budget = self.tx.budget(self.options.limited_transmit);
        let stops =
            if self.tx.has_resend(budget) { below > limit.saturating_mul(2) } else { self.next_piece(budget).is_ok() };
        if stops {
            (self.quota, self.quota_end) = (0, None);
            self.work &= !work::DATA;
            self.tx.throttled(now, self.accepted() < self.total, &mut self.stats);
            self.clock.set(now, Limit::Snd, self.stats.data_octets_out);
            if self.tx.rec.watch.is_some() {
                self.watch_sent(now);
            }
        }
        stops
    }

    /// Is called when some of what waited below the socket has left the host.
    pub fn on_room(&mut self) {
        self.reconsider();
    }

    fn small_queue_limit(&self, bound: u64, segments: u32) -> u64 {
        let options = self.ip | if self.timestamps { OPTION_TIMESTAMPS } else { 0 };
        let full = Segment { len: self.tx.mss, options, ..Segment::default() };
        let skbs = 2 * u64::from(segments) * u64::from(full.ip_bytes());
        if self.tx.pacing_bps > 0.0 {
            return skbs.max((self.tx.pacing_bps / 8.0 / 1024.0) as u64);
        }
        skbs.max(self.millisecond_bytes()).min(bound)
    }

    /// Whether [`Endpoint::poll_transmit`] looks for data to send.
    fn is_data_next(&self, now: Time) -> bool {
        let allowed = self.quota >= u64::from(self.tx.mss) && self.work != work::ACK;
        let asked = self.work & work::DATA != 0 && self.work & (work::CONTROL | work::EARLY_ACK) == 0;
        self.state >= State::Established && (allowed || asked) && !self.is_early(now) && self.tx.trains.is_none()
    }
}
