//! Acknowledgements: the peer's window, the scoreboard, round-trip samples, recovery, growth, the timer.

use super::{Endpoint, work};
use crate::options::RttSampling;
use crate::scoreboard::Taken;
use crate::segment::{Flags, SackBlocks, Segment};
use crate::sender::AckEvent;
use elephan_units::{Span, Time};

impl Endpoint {
    /// The acknowledgement field of a segment whose sequence number is `seq`.
    #[inline]
    pub(super) fn on_ack(&mut self, now: Time, seg: &Segment, seq: u64, sack: &SackBlocks) {
        let una = self.tx.board.una();
        let ahead = seg.ack.wrapping_sub(self.isn.wrapping_add(una as u32)) as i32;
        let ack = una.saturating_add_signed(i64::from(ahead));
        if ack > self.tx.max_sent {
            self.work |= work::ACK;
            return;
        }
        let (pipe_before, flight) = (self.tx.board.pipe(), self.tx.board.flight());
        let window_before = self.tx.window_edge;
        self.take_window(seg, seq, ack, self.tx.window_shift);
        let acked = ack.saturating_sub(una);
        let cumulative = if acked > 0 { self.tx.acknowledge(ack) } else { Taken::default() };
        let sacked = if seg.sack_len > 0 { self.take_sack(seg, sack) } else { Taken::default() };
        let plain = ack == una && flight > 0 && seg.len == 0 && !seg.flags.any(Flags::FIN);
        let repeated = plain && window_before == self.tx.window_edge;
        self.stats.dup_acks_in += u64::from(repeated);
        if acked == 0 && sacked.delivered == 0 && !repeated {
            if window_before != self.tx.window_edge {
                self.work |= work::DATA;
            }
            return;
        }
        let rtt = self.measure(now, seg, flight, &cumulative, &sacked);
        let event = AckEvent {
            now,
            acked,
            delivered: cumulative.delivered + sacked.delivered,
            duplicate: if self.tx.sack { sacked.delivered > 0 } else { repeated },
            pipe_before,
            rtt,
        };
        let verdict = self.tx.recover(&event, &self.options, &mut self.stats);
        if verdict.grow {
            self.tx.grow(&event, &mut self.stats);
        }
        if self.tx.board.flight() == 0 {
            self.rtx_at = Time::NEVER;
            self.persist = false;
        } else if verdict.restart_timer {
            self.rtx_at = now.saturating_add(self.tx.rtt.rto());
        }
        self.work |= work::DATA;
        if self.fin_sent && self.tx.board.una() == self.total + 2 {
            self.on_fin_acked(now);
        }
    }

    /// The window field (RFC 9293 section 3.10.7.4): of the newest segment only.
    #[inline]
    pub(super) fn take_window(&mut self, seg: &Segment, seq: u64, ack: u64, shift: u8) {
        let tx = &mut self.tx;
        if tx.wl1 > seq || (tx.wl1 == seq && tx.wl2 > ack) {
            return;
        }
        (tx.wl1, tx.wl2) = (seq, ack);
        tx.window = u64::from(seg.window) << shift;
        tx.window_edge = ack + tx.window;
        tx.window_max = tx.window_max.max(tx.window);
        self.stats.zero_rwin_rcvd += u64::from(seg.window == 0);
    }

    #[cold]
    fn take_sack(&mut self, seg: &Segment, sack: &SackBlocks) -> Taken {
        if !self.tx.sack {
            return Taken::default();
        }
        self.stats.sacks_rcvd += 1;
        self.stats.sack_blocks_rcvd += u64::from(seg.sack_len);
        let blocks = self.tx.board.unwrap_blocks(sack, seg.sack_len, self.isn);
        let taken = self.tx.board.sack(&blocks[..usize::from(seg.sack_len)]);
        self.tx.delivered += taken.delivered;
        taken
    }

    /// Samples the round-trip time; returns what the congestion control is told.
    ///
    /// Karn: an ACK that covers anything sent twice gives no sample by transmission times; the echoed timestamp does.
    #[inline]
    fn measure(&mut self, now: Time, seg: &Segment, flight: u64, cumulative: &Taken, sacked: &Taken) -> Option<Span> {
        let clean = if cumulative.first_at != u64::MAX && !cumulative.retransmitted { cumulative } else { sacked };
        if clean.first_at != u64::MAX && !clean.retransmitted {
            let (oldest, newest) = (now.since(Time(clean.first_at)), now.since(Time(clean.last_at)));
            self.tx.min_rtt = self.tx.min_rtt.min(newest);
            self.sample(now, oldest, flight);
            return Some(newest);
        }
        if cumulative.delivered > 0 && self.timestamps && seg.tsecr != 0 {
            let rtt = self.echoed_rtt(now, seg.tsecr);
            self.sample(now, rtt, flight);
            return Some(rtt);
        }
        None
    }

    #[inline]
    fn sample(&mut self, now: Time, rtt: Span, flight: u64) {
        match self.options.rtt_sampling {
            RttSampling::EveryAck => {
                // RFC 7323 appendix G: ExpectedSamples = ceiling(FlightSize / (SMSS * 2)).
                let expected = flight.div_ceil(2 * u64::from(self.tx.mss)).max(1) as f64;
                self.tx.sampled(now, rtt, expected);
            }
            RttSampling::OncePerWindow => {
                if self.tx.board.una() >= self.tx.sample_at {
                    self.tx.sample_at = self.tx.board.nxt() + 1;
                    self.tx.sampled(now, rtt, 1.0);
                }
            }
        }
    }

    /// The sample of the handshake.
    pub(super) fn sample_rtt(&mut self, now: Time, rtt: Span) {
        self.tx.sampled(now, rtt, 1.0);
    }

    /// Round-trip time by the echoed timestamp, at least one tick.
    pub(super) fn echoed_rtt(&mut self, now: Time, tsecr: u32) -> Span {
        let ticks = self.ts_now(now).wrapping_sub(tsecr).max(1);
        Span(self.options.timestamp_granularity.0.saturating_mul(u64::from(ticks)))
    }
}
