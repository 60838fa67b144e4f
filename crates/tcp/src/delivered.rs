//! What a sender knows to be delivered and in the network, for controllers that measure the delivery rate.

use crate::delivery::Sample;
use crate::scoreboard::Taken;
use crate::segment::SackBlocks;
use crate::sender::{AckEvent, Sender};
use elephan_units::Time;

impl Sender {
    /// Whether what is delivered counts in segments of full size, however small they are (Linux `tp->delivered`): for a controller that
    /// measures the rate, on a stack that counts segments.
    #[inline]
    pub fn counts_delivered(&self) -> bool {
        self.measures_delivered() && self.sack
    }

    #[inline]
    fn measures_delivered(&self) -> bool {
        self.log.as_ref().is_some_and(|log| !log.is_shown_only()) && self.counts_segments()
    }

    /// Whether some segments in flight are short and the window grows by segments, whatever their length. A controller that counts bytes hears
    /// of those that were delivered.
    #[inline]
    pub fn grows_by_segments(&self) -> bool {
        self.board.is_uneven() && self.counts_segments() && self.cc.counts_segments()
    }

    /// Something was newly acknowledged.
    #[inline]
    pub fn note_delivered(&mut self, bytes: u64) {
        self.delivered = if self.counts_delivered() {
            self.board.delivered_segments() * u64::from(self.mss)
        } else {
            self.delivered + bytes
        };
    }

    /// What an ACK delivers, as the controller counts it.
    #[inline]
    pub fn newly_delivered(&mut self, e: &AckEvent) -> u64 {
        if self.counts_delivered() { self.told_delivered() } else { e.delivered }
    }

    /// What was delivered since the controller was last told.
    pub fn told_delivered(&mut self) -> u64 {
        let delivered = self.delivered;
        self.log.as_mut().map_or(0, |log| delivered.saturating_sub(std::mem::replace(&mut log.told, delivered)))
    }

    /// What the peer's SACK blocks say is taken in.
    #[inline]
    pub fn take_sack(&mut self, blocks: &SackBlocks, count: u8, isn: u32) -> Taken {
        let taken = self.board.sack(blocks, count, isn);
        self.note_delivered(taken.delivered);
        taken
    }

    /// Bytes in the network by all that is known: without SACK each duplicate ACK says that a segment has left it.
    #[inline]
    pub fn in_network(&self) -> u64 {
        let mss = u64::from(self.mss);
        let counts = self.measures_delivered() && self.board.is_uneven();
        // The steps of Linux count the duplicates in what is in flight.
        if self.linux {
            return if counts { self.segments_in_flight() * mss } else { self.board.pipe() };
        }
        let pipe = if counts { self.board.pipe_segments() * mss } else { self.board.pipe() };
        if self.sack { pipe } else { pipe.saturating_sub(self.rec.left_by_duplicates(mss)) }
    }

    /// The application writes while `waiting` bytes are not sent yet (Linux `tcp_rate_check_app_limited`).
    #[cold]
    pub fn note_write(&mut self, waiting: u64) {
        let (out, mss) = (self.in_network(), u64::from(self.mss));
        if let Some(log) = &mut self.log
            && waiting < mss
            && out < self.cwnd
            && self.board.lost_bytes() <= self.board.resent_bytes()
        {
            log.limited(self.delivered, out);
        }
    }

    /// Segment `ordinal` was sent; nothing was in flight before if `idle`.
    #[inline]
    pub fn log_sent(&mut self, now: Time, ordinal: u64, idle: bool) {
        if let Some(log) = &mut self.log {
            log.sent(now, ordinal, self.board.ordinals().0, idle, self.delivered);
        }
    }

    /// The delivery rate that an ACK shows which took these two. One that covers no segment first shows none, and begins no round.
    #[inline]
    pub fn rate(&mut self, now: Time, cumulative: Taken, sacked: Taken) -> Option<Sample> {
        let log = self.log.as_mut()?;
        let Some(newest) = cumulative.newest_of(&sacked) else {
            return (!log.is_shown_only()).then_some(Sample { bps: None, prior: 0, app_limited: false });
        };
        log.sample(now, newest, self.delivered, self.min_rtt)
    }
}
