//! Acknowledgements: the peer's window, the scoreboard, round-trip samples, recovery, growth, the timer.

use super::{Endpoint, State};
use crate::options::{AccEcnRule, Ecn, RttSampling};
use crate::scoreboard::Taken;
use crate::segment::{Flags, SackBlocks, Segment};
use crate::sender::{AckEvent, Alert};
use elephan_units::{Span, Time};

impl Endpoint {
    /// The acknowledgement field of a segment whose sequence number is `seq`; answers whether the rest of it may be taken.
    #[inline]
    pub(super) fn on_ack(&mut self, now: Time, seg: &Segment, seq: u64, sack: &SackBlocks) -> bool {
        self.tx.note_most();
        self.note_ack(now);
        let una = self.tx.board.una();
        let ahead = seg.ack.wrapping_sub(self.isn.wrapping_add(una as u32));
        let flight = self.tx.board.flight();
        // The way of almost every ACK: it acknowledges new data, nothing is marked and nothing recovers.
        let plain = seg.sack_len == 0 && !seg.flags.any(Flags::ECE) && self.ecn != Ecn::Accurate;
        if ahead != 0 && u64::from(ahead) <= flight && self.tx.is_clean() && plain && !self.fin_sent {
            self.take_window(seg, seq, una + u64::from(ahead), self.tx.window_shift);
            self.on_clean_ack(now, seg, u64::from(ahead), flight);
            true
        } else {
            self.on_other_ack(now, seg, seq, sack)
        }
    }

    #[inline]
    fn on_clean_ack(&mut self, now: Time, seg: &Segment, acked: u64, flight: u64) {
        let una = self.tx.board.una();
        let (first, uneven) = (self.tx.board.ordinals().0, self.tx.grows_by_segments());
        let taken = self.tx.acknowledge(una + acked);
        let rtt = self.measure(now, seg, flight, &taken);
        if self.tx.one_way {
            self.measure_one_way(seg);
        }
        self.tx.rec.advance(una);
        let rate = self.tx.rate(now, taken, Taken::default());
        let event = AckEvent {
            now,
            acked,
            delivered: if uneven { (self.tx.board.ordinals().0 - first) * u64::from(self.tx.mss) } else { acked },
            segments: 0,
            duplicate: false,
            pipe_before: flight,
            lost_before: self.tx.board.lost_total(),
            rtt,
            rate,
            ce: 0,
            original: true,
            alert: Alert::default(),
        };
        self.tx.grow(&event, &mut self.stats);
        self.progress(now);
        if self.tx.board.flight() == 0 {
            self.rtx_at = Time::NEVER;
            self.progress_at = Time::NEVER;
            self.persist = false;
            self.note_busy(now, self.backlog() > 0);
        } else {
            self.rtx_at = now.saturating_add(self.tx.rtt.rto());
        }
        if self.tx.rec.watch.is_some() {
            self.watch_clean_ack(now, taken, rtt.is_some());
        }
        self.reconsider_by_ack(now);
    }

    #[inline(never)]
    #[expect(clippy::too_many_lines, reason = "the steps of an ACK in the order of the RFC")]
    fn on_other_ack(&mut self, now: Time, seg: &Segment, seq: u64, sack: &SackBlocks) -> bool {
        let una = self.tx.board.una();
        let ahead = seg.ack.wrapping_sub(self.isn.wrapping_add(una as u32)) as i32;
        let ack = una.wrapping_add_signed(i64::from(ahead));
        if self.state == State::TimeWait {
            self.answer_in_time_wait(now, seg, seq, ack);
        }
        let unsent = ahead > 0 && ack > self.tx.board.nxt().max(self.tx.probed);
        if unsent || ahead < 0 && (ack > una || self.is_too_old(ack)) {
            self.challenge(now);
            return false;
        }
        if self.ecn == Ecn::Accurate {
            self.note_accurate(seg, sack);
        }
        let (pipe_before, flight) = (self.tx.board.pipe(), self.tx.board.flight());
        let lost_before = self.tx.board.lost_total();
        let segments_before = self.counted_segments();
        let marks = seg.flags.any(Flags::ECE) && matches!(self.ecn, Ecn::Classic | Ecn::Dctcp);
        let arrived_before = if marks { self.arrived_segments() } else { 0 };
        let uneven = self.tx.grows_by_segments();
        let window_before = self.tx.window_edge;
        let disordered = self.tx.is_disordered();
        if ack >= una && !(self.accepts_as_linux() && self.keeps_window(seg, seq, ack)) {
            self.take_window(seg, seq, ack, self.tx.window_shift);
        }
        let acked = ack.saturating_sub(una);
        if self.tx.rec.watch.is_some() {
            self.watch_ack(now, seg, sack, ack);
        }
        let unmarked = !self.tx.board.is_marked();
        let cumulative = if acked > 0 { self.tx.acknowledge(ack) } else { Taken::default() };
        let sacked = if seg.sack_len > 0 { self.take_sack(seg, sack) } else { Taken::default() };
        let plain = ack == una && flight > 0 && seg.len == 0 && !seg.flags.any(Flags::FIN);
        let repeated = plain && window_before == self.tx.window_edge;
        if self.tx.rec.watch.is_some() {
            let bare = ack == una && seg.seq_len() == 0 && seg.sack_len == 0 && window_before == self.tx.window_edge;
            if unmarked {
                self.tx.board.time_unmarked(&cumulative);
            }
            self.tx.watched_ack(now, bare, acked > 0, &mut self.stats);
            self.reconsider();
        }
        self.stats.dup_acks_in += u64::from(repeated);
        let reported = self.tx.reported();
        if acked == 0 && sacked.delivered == 0 && !repeated && reported == 0 {
            if self.accecn.is_some() && ack == una {
                self.read_echo(seg, sack, 0, (0, 0));
            }
            if window_before != self.tx.window_edge {
                self.reconsider();
            }
            return true;
        }
        let mut segments = self.counted_segments() - segments_before;
        let delivered = if self.tx.linux && !self.tx.sack {
            let fresh = self.tx.count_arrived(segments, repeated, &self.options);
            self.tx.deliver(acked, &mut segments, fresh)
        } else if self.options.duplicates_deliver && !self.tx.sack {
            self.tx.count_duplicates(acked, repeated)
        } else {
            cumulative.delivered + sacked.delivered
        };
        let duplicates = reported * u64::from(self.tx.mss);
        let (delivered, segments) = (delivered + duplicates, segments + reported);
        self.tx.delivered += duplicates;
        if delivered > duplicates {
            self.progress(now);
        }
        // An acknowledgement that another has superseded says nothing of marks.
        let (echoed, ce) =
            if ack >= una { self.read_echo(seg, sack, acked, (delivered, segments)) } else { (false, 0) };
        let rtt = if self.tx.linux {
            self.measure(now, seg, flight, &cumulative.timed_with(&sacked))
        } else {
            let timed = if sacked.has_sample() && !cumulative.has_sample() { &sacked } else { &cumulative };
            self.measure(now, seg, flight, timed)
        };
        let alert = if self.tx.linux {
            Alert {
                repeated: repeated && reported == 0,
                sacked: sacked.delivered > 0,
                echoed,
                rearms: acked > 0 || rtt.is_some() && self.tx.precedes_first(sacked.first_at),
                original_at: if !self.tx.sack && cumulative.retransmitted {
                    u64::MAX
                } else {
                    cumulative.first_at.min(sacked.first_at)
                },
            }
        } else {
            Alert::default()
        };
        if self.tx.one_way && acked > 0 {
            self.measure_one_way(seg);
        }
        let event = AckEvent {
            now,
            acked,
            delivered: if uneven { segments * u64::from(self.tx.mss) } else { delivered },
            segments,
            duplicate: if self.tx.sack { sacked.delivered > 0 } else { repeated },
            pipe_before,
            lost_before,
            rtt,
            rate: self.tx.rate(now, cumulative, sacked),
            ce,
            original: cumulative.first_at.min(sacked.first_at) != u64::MAX,
            alert,
        };
        let verdict = self.tx.recover(&event, &self.options, &mut self.stats);
        if marks {
            self.count_echoed(self.arrived_segments().saturating_sub(arrived_before));
        }
        if verdict.grow && (!echoed || self.tx.linux) {
            self.tx.grow(&event, &mut self.stats);
        } else if event.delivered > 0 {
            self.tx.observe(&event);
        }
        if self.options.cwnd_moderation && (disordered || event.duplicate) {
            self.tx.moderate(&mut self.stats);
        }
        if echoed && !self.tx.linux {
            self.on_echo(flight, &event);
        }
        if self.tx.board.flight() == 0 {
            self.rtx_at = Time::NEVER;
            self.progress_at = Time::NEVER;
            self.persist = false;
            self.note_busy(now, self.backlog() > 0);
        } else if verdict.restart_timer && !self.tx.linux {
            self.rtx_at = now.saturating_add(self.tx.rtt.rto());
        }
        if self.tx.rec.watch.is_some() {
            self.watch_timer(now, verdict.restart_timer, acked > 0, rtt.is_some());
        }
        self.reconsider_by_ack(now);
        if self.fin_sent && self.tx.board.una() == self.total + 2 {
            self.on_fin_acked(now);
        }
        true
    }

    /// Segments that have arrived at the peer. Without SACK a duplicate ACK stands for one (Linux `tcp_add_reno_sack`).
    pub(super) fn arrived_segments(&self) -> u64 {
        let counts = self.tx.board.counts();
        let duplicates = if self.tx.linux { self.tx.presumed() } else { self.tx.duplicates() };
        let duplicates = duplicates.min(counts.out.saturating_sub(counts.lost).saturating_sub(1));
        self.tx.board.delivered_segments() + if self.tx.sack { 0 } else { duplicates }
    }

    /// Segments that have arrived at the peer, where somebody counts them.
    #[inline]
    fn counted_segments(&self) -> u64 {
        let accurate = self.accecn.is_some() && self.options.accecn_rule == AccEcnRule::Linux;
        if accurate || self.tx.counts_segments() { self.tx.board.delivered_segments() } else { 0 }
    }

    /// Whether an acknowledgement is older than any segment that the peer can have sent (RFC 5961 section 5.2; Linux `tcp_ack` looks at
    /// the bytes that it has sent as well).
    #[cold]
    fn is_too_old(&self, ack: u64) -> bool {
        let una = self.tx.board.una();
        let most = if self.accepts_as_linux() { self.tx.window_max.min(una) } else { self.tx.window_max };
        ack < una.saturating_sub(most)
    }

    /// Linux `tcp_may_update_window`: a window that is said again may grow or close, not shrink.
    #[cold]
    fn keeps_window(&self, seg: &Segment, seq: u64, ack: u64) -> bool {
        let smaller = u64::from(seg.window) << self.tx.window_shift <= self.tx.window;
        ack == self.tx.board.una() && seq == self.tx.wl1 && smaller && seg.window != 0
    }

    /// Something was newly acknowledged.
    #[inline]
    fn progress(&mut self, now: Time) {
        let gap = now.since(self.progress_at);
        if gap > Span::from_us(u64::from(self.stall_us) + 1) {
            self.stall_us = u32::try_from(gap.0 / Span::from_us(1).0).unwrap_or(u32::MAX);
        }
        self.progress_at = now;
    }

    /// The window field (RFC 9293 section 3.10.7.4): of the newest segment only.
    #[inline]
    pub(super) fn take_window(&mut self, seg: &Segment, seq: u64, ack: u64, shift: u8) {
        let tx = &mut self.tx;
        if tx.wl1 > seq || (tx.wl1 == seq && tx.wl2 > ack) {
            return;
        }
        (tx.wl1, tx.wl2) = (seq, ack);
        self.stats.zero_rwin_rcvd += u64::from(seg.window == 0 && tx.window_field != 0);
        tx.window_field = seg.window;
        tx.window = u64::from(seg.window) << shift;
        tx.window_edge = ack + tx.window;
        tx.window_max = tx.window_max.max(tx.window);
    }

    #[inline(never)]
    fn take_sack(&mut self, seg: &Segment, sack: &SackBlocks) -> Taken {
        if !self.tx.sack {
            return Taken::default();
        }
        self.stats.sacks_rcvd += 1;
        self.stats.sack_blocks_rcvd += u64::from(seg.sack_len);
        self.tx.take_sack(sack, seg.sack_len, self.isn)
    }

    /// Samples the round-trip time; returns what the congestion control is told.
    ///
    /// Karn: an ACK that covers anything sent twice gives no sample by transmission times; the echoed timestamp does.
    #[inline]
    fn measure(&mut self, now: Time, seg: &Segment, flight: u64, taken: &Taken) -> Option<Span> {
        if taken.has_sample() {
            let (oldest, newest) = (now.since(Time(taken.first_at)), now.since(Time(taken.last_at)));
            self.tx.min_rtt = self.tx.min_rtt.min(newest);
            self.sample(now, oldest, flight);
            return Some(newest);
        }
        self.measure_by_echo(now, seg, flight, taken)
    }

    #[inline(never)]
    fn measure_by_echo(&mut self, now: Time, seg: &Segment, flight: u64, taken: &Taken) -> Option<Span> {
        if taken.delivered == 0 || !self.timestamps || seg.tsecr == 0 {
            return None;
        }
        let rtt = self.echoed_rtt(now, seg.tsecr);
        self.sample(now, rtt, flight);
        Some(rtt)
    }

    /// The one-way delay: the peer's clock when it sent this ACK less the own when the segment that it echoes was sent, and a tick, so
    /// that it is not nothing. Ticks of the peer are taken to be as long as the own (RFC 7323 section 5.4: nobody says).
    #[cold]
    fn measure_one_way(&mut self, seg: &Segment) {
        if self.timestamps && seg.tsecr != 0 {
            let ticks = (i64::from(seg.tsval.wrapping_sub(seg.tsecr) as i32) + 1).max(0) as u64;
            self.tx.cc.on_one_way_delay(Span(self.options.timestamp_granularity.0.saturating_mul(ticks)));
        }
    }

    #[inline]
    fn sample(&mut self, now: Time, rtt: Span, flight: u64) {
        match self.options.rtt_sampling {
            RttSampling::EveryAck => {
                // RFC 7323 appendix G: ExpectedSamples = ceiling(FlightSize / (SMSS * 2)).
                let expected = (flight as u32).div_ceil(2 * self.tx.mss).max(1);
                self.tx.sampled(now, rtt, f64::from(expected));
            }
            RttSampling::OncePerWindow => {
                if self.tx.board.una() >= self.tx.sample_at {
                    self.tx.sample_at = self.tx.board.nxt() + 1;
                    self.tx.sampled(now, rtt, 1.0);
                }
            }
        }
        if self.tx.after_signal {
            self.tx.after_signal = false;
            let rare = self.stats.rare();
            rare.post_cong_sum_rtt_ns += rtt.0 / 1000;
            rare.post_cong_count_rtt += 1;
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
