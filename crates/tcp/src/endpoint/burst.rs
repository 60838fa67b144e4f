//! Segments in bursts, as a device with segmentation offload (TSO) is given them.
//!
//! ```text
//! burst   = min(longest, rate / 2^10 s, two segments at least)     rate: 2 cwnd / SRTT below ssthresh / 2, else 1.2 cwnd / SRTT
//! waits   while what may be sent is less than a burst and less than a third of the window, and more data wait
//! ```
//!
//! Linux `tcp_tso_autosize` (`sk_pacing_shift` 10, `tcp_min_tso_segs` 2) and `tcp_tso_should_defer` (`tcp_tso_win_divisor` 3).
//! Only new data waits, and only outside recovery: two thirds of the window are in flight then, whose ACKs come. Left out: the head of
//! the queue that was sent less than half a round trip ago, which lets Linux send at once; the part of `tcp_tso_autosize`
//! that makes bursts of short round trips longer.

use super::{Endpoint, State, work};
use crate::stats::Limit;
use elephan_units::{Span, Time};

/// Linux `sysctl_tcp_min_tso_segs`.
const SEGMENTS_MIN: u64 = 2;

impl Endpoint {
    /// Bytes that the window sends in 1/1024 s (`sk_pacing_rate >> sk_pacing_shift`), without bound before the first round trip.
    pub(super) fn millisecond_bytes(&self) -> u64 {
        let window = self.tx.cc.window();
        let ahead = if window < self.tx.cc.ssthresh() / 2.0 { 2.0 } else { 1.2 };
        let rtt = self.srtt().unwrap_or(Span::ZERO).seconds();
        if rtt > 0.0 { (ahead * window / rtt / 1024.0) as u64 } else { u64::MAX }
    }

    /// Bytes of a burst at the present rate.
    fn burst_bytes(&self, longest: u64) -> u64 {
        let mss = u64::from(self.tx.mss);
        let bytes = self.millisecond_bytes().min(longest) / mss * mss;
        bytes.clamp((SEGMENTS_MIN * mss).min(longest.max(mss)), longest.max(mss))
    }

    /// Returns how many segments may leave as the next burst of at most `longest` bytes. It is 0 if the sender had better wait for more. What is
    /// not new data in order leaves one segment at a time.
    pub fn next_burst(&mut self, now: Time, longest: u64) -> u32 {
        let plain = self.work & !work::DATA == 0 && self.state >= State::Established && self.tx.is_plain();
        if !plain {
            return 1;
        }
        let (congestion, receiver) = (self.tx.budget(self.options.limited_transmit), self.tx.usable());
        let allowed = congestion.min(receiver);
        let waiting = (self.accepted() + 1).saturating_sub(self.tx.board.nxt());
        let burst = self.burst_bytes(longest);
        let window = self.tx.cwnd.min(self.tx.window);
        if waiting > allowed && allowed < burst && allowed < window / 3 && self.tx.board.flight() > 0 {
            (self.quota, self.quota_end) = (0, None);
            self.work &= !work::DATA;
            self.stopped(now, if receiver < congestion { Limit::Rwin } else { Limit::Cwnd });
            return 0;
        }
        u32::try_from(allowed.min(burst) / u64::from(self.tx.mss)).unwrap_or(u32::MAX).max(1)
    }
}
