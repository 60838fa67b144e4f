//! Sending: which segment goes out next, and its header.
//!
//! New data follows RFC 9293 section 3.8.6.2.1: a full segment, or the last of what the application has written, or
//! half of the largest window seen; Nagle (section 3.7.4) when asked for. A writer that is blocked on the send buffer
//! has not pushed, so a part of a segment waits for the rest.

use super::ecn::OPTIONS_BYTES;
use super::{Endpoint, State, work};
use crate::options::{NagleRule, TIMESTAMPS_BYTES, WindowProbe};
use crate::recovery::{Alarm, Resend};
use crate::scoreboard::{FIN, PUSH};
use crate::segment::{ACCECN_MAX_BYTES, Flags, OPTION_TIMESTAMPS, SackBlocks, Segment};
use crate::stats::Limit;
use elephan_units::{PS_PER_S, Span, Time};

const PS_PER_NS: u64 = 1000;

/// Data to go out: where, how much, and whether the FIN goes with it.
#[derive(Clone, Copy)]
pub(super) struct Piece {
    seq: u64,
    len: u32,
    fin: bool,
}

impl Piece {
    /// Sequence numbers that it takes.
    pub(super) fn sequence_len(&self) -> u64 {
        u64::from(self.len) + u64::from(self.fin)
    }
}

impl Endpoint {
    /// Returns whether [`Endpoint::poll_transmit`] may have a segment.
    #[inline]
    pub fn may_transmit(&self) -> bool {
        self.work != 0 || self.quota >= u64::from(self.tx.mss)
    }

    /// Writes the next segment to send into `seg` and returns `true`, or returns `false` if there is none. Call it until it returns `false`. It
    /// writes `sack` only if `seg.sack_len` is above 0 afterwards.
    #[inline]
    pub fn poll_transmit(&mut self, now: Time, seg: &mut Segment, sack: &mut SackBlocks) -> bool {
        if self.work == work::ACK {
            self.emit_ack(now, seg, sack);
            return true;
        }
        if self.quota >= u64::from(self.tx.mss) {
            self.emit_next(now, seg, sack);
            return true;
        }
        self.work != 0 && self.emit(now, seg, sack)
    }

    pub(super) fn emit_ack(&mut self, now: Time, seg: &mut Segment, sack: &mut SackBlocks) {
        let seq = self.tx.board.nxt().max(1);
        self.fill(now, seg, sack, seq, 0, Flags::ACK);
        self.mark_ack(seg);
    }

    #[inline(never)]
    fn emit(&mut self, now: Time, seg: &mut Segment, sack: &mut SackBlocks) -> bool {
        if self.work & (work::CONTROL | work::RESETS) != 0 {
            return self.emit_control(now, seg, sack);
        }
        if self.work & work::EARLY_ACK != 0 {
            self.emit_early_ack(now, seg, sack);
            return true;
        }
        if self.state < State::Established && !self.sends_early() {
            // In a handshake there are only answers to what is not acceptable.
            let due = self.work & work::ACK != 0;
            if due {
                self.emit_ack(now, seg, sack);
            }
            return due;
        }
        if let Some(accecn) = &mut self.accecn {
            accecn.set_time(now);
        }
        // How the SYN-ACK was marked is said by a pure ACK (RFC 9768 section 3.2.2.1).
        let answers_syn = self.work & work::ACK != 0 && self.accecn.as_ref().is_some_and(|accecn| accecn.answers_syn());
        if self.work & work::DATA != 0 && !answers_syn {
            let sent = self.emit_data(now, seg, sack);
            // What paces sends a burst at a time; to be asked again would only tell it so.
            if !sent || self.is_held(now) {
                self.work &= !work::DATA;
            }
            if sent {
                return true;
            }
        }
        if self.work & work::ACK != 0 {
            self.emit_ack(now, seg, sack);
            return true;
        }
        false
    }

    #[cold]
    #[inline(never)]
    fn emit_control(&mut self, now: Time, seg: &mut Segment, sack: &mut SackBlocks) -> bool {
        if self.work & work::ABORT != 0 {
            self.emit_abort(now, seg, sack);
            return true;
        }
        if self.work & work::RESETS != 0 {
            self.emit_reset(now, seg);
            return true;
        }
        self.work &= !work::CONTROL;
        if self.state < State::Established {
            self.emit_syn(now, seg, sack);
        } else {
            self.emit_probe(now, seg, sack);
        }
        true
    }

    #[inline]
    fn emit_data(&mut self, now: Time, seg: &mut Segment, sack: &mut SackBlocks) -> bool {
        if self.tx.pacing_bps > 0.0 && self.tx.trains.is_some() {
            return self.emit_spaced(now, seg, sack);
        }
        if self.is_held(now) {
            return false;
        }
        if self.tx.board.flight() == 0 && self.backlog() > 0 {
            self.after_idle(now);
        }
        let mut budget = self.tx.budget(self.options.limited_transmit);
        let mut probe = None;
        if self.tx.rec.watch.is_some() {
            (budget, probe) = self.watch_data(budget);
        }
        if probe.is_none() && self.tx.is_plain() && self.allow(budget) {
            self.emit_next(now, seg, sack);
            return true;
        }
        self.emit_within(now, seg, sack, budget, probe)
    }

    /// Sends what goes first within `budget` bytes: `tail`, which recovery asks for, what is lost, new data, what may be sent
    /// again besides.
    #[inline]
    pub(super) fn emit_within(
        &mut self,
        now: Time,
        seg: &mut Segment,
        sack: &mut SackBlocks,
        budget: u64,
        tail: Option<Resend>,
    ) -> bool {
        if let Some(resend) = tail.or_else(|| self.tx.next_resend(budget)) {
            self.emit_again(now, seg, sack, &resend);
            return true;
        }
        let why = match self.next_piece(budget) {
            Ok(piece) => {
                self.emit_new(now, seg, sack, piece);
                return true;
            }
            Err(why) => why,
        };
        if let Some(resend) = self.tx.next_extra(budget) {
            self.emit_again(now, seg, sack, &resend);
            return true;
        }
        self.stopped(now, why);
        false
    }

    /// Whether pacing lets nothing out now. Trains have times of their own.
    #[inline]
    pub(super) fn is_early(&self, now: Time) -> bool {
        self.tx.pacing_bps > 0.0
            && now < self.pace_at
            && (self.burst_left == 0 || self.burst_at != now)
            && self.tx.trains.is_none()
    }

    /// The same, and then it wakes the endpoint when it does.
    #[inline]
    fn is_held(&mut self, now: Time) -> bool {
        self.tx.pacing_bps > 0.0 && self.is_held_by_pace(now)
    }

    #[inline(never)]
    fn is_held_by_pace(&mut self, now: Time) -> bool {
        let held = self.is_early(now);
        if self.burst_at != now {
            self.burst_left = 0;
        }
        if held {
            self.pace_wake = self.pace_at;
            if self.tx.linux && self.tx.fresh {
                self.tx.validate_new(now, Limit::Snd, &mut self.stats);
            }
            if self.tx.rec.watch.is_some() {
                self.watch_sent(now);
            }
        }
        held
    }

    /// New data that may go out now, or what keeps it.
    #[inline]
    pub(super) fn next_piece(&self, budget: u64) -> Result<Piece, Limit> {
        let seq = self.tx.board.nxt();
        let accepted = self.accepted();
        let whole = accepted == self.total;
        let waiting = (accepted + 1).saturating_sub(seq);
        let mss = self.full_segment();
        let usable = self.tx.usable();
        if waiting == 0 {
            let fin = self.closing && !self.fin_sent && whole;
            return match usable {
                _ if !fin => Err(Limit::Snd),
                0 => Err(Limit::Rwin),
                _ => Ok(Piece { seq, len: 0, fin }),
            };
        }
        let (mut len, corked) = self.shaped(seq, waiting, mss);
        if len > budget {
            return Err(Limit::Cwnd);
        }
        let held = len < mss
            && len == waiting
            && (!whole || (!self.closing && corked) || (self.options.nagle && self.waits_by_nagle()))
            && !self.tx.is_probing();
        if len > usable {
            // Linux `tcp_snd_wnd_test`: the window cuts nothing before its timer rings.
            let cuts = usable >= self.tx.window_max / 2 && !self.tx.linux;
            if held || usable == 0 || !(cuts || self.small_due || self.fills_burst()) {
                return Err(Limit::Rwin);
            }
            len = usable;
        } else if held {
            return Err(Limit::Snd);
        }
        // The FIN has a number, for which the window must have room.
        Ok(Piece { seq, len: len as u32, fin: self.closing && whole && len == waiting && len < usable })
    }

    /// Whether a burst of pacing has begun with a full segment. Linux gives its device one packet for it, which ends at the peer's window
    /// if Nagle allows (`tcp_mss_split_point`).
    fn fills_burst(&self) -> bool {
        self.burst_left > 0 && self.options.pacing_credit && !(self.options.nagle && self.waits_by_nagle())
    }

    /// Whether Nagle keeps a small segment back: while anything is unacknowledged, or by Minshall's rule anything small.
    #[cold]
    fn waits_by_nagle(&self) -> bool {
        let board = &self.tx.board;
        let blocked = match self.options.nagle_rule {
            NagleRule::Rfc9293 => board.flight() > 0,
            NagleRule::Minshall => board.flight() > 0 && self.small_end.wrapping_sub(board.una() as u32) as i32 > 0,
        };
        blocked && !self.closing
    }

    /// How many full segments of new data may go out at once, short of the last of the stream; answers whether any.
    #[inline]
    fn allow(&mut self, budget: u64) -> bool {
        let mss = u64::from(self.tx.mss);
        let usable = self.tx.usable();
        let waiting = self.accepted().saturating_sub(self.tx.board.nxt());
        let quota = budget.min(usable).min(waiting);
        if quota < mss || self.rx.has_blocks || self.shapes() || self.accecn.is_some() {
            return false;
        }
        self.quota = quota;
        // What is left at the end is less than a segment of one kind and a segment or more of the others.
        self.quota_end = if budget + mss <= usable.min(waiting) {
            Some(Limit::Cwnd)
        } else if usable + mss <= budget.min(waiting) && mss <= self.tx.window_max / 2 {
            Some(Limit::Rwin)
        } else {
            None
        };
        true
    }

    /// The next full segment of new data, allowed before.
    #[inline]
    fn emit_next(&mut self, now: Time, seg: &mut Segment, sack: &mut SackBlocks) {
        let (seq, pipe, len) = (self.tx.board.nxt(), self.tx.board.pipe(), self.tx.mss);
        self.quota -= u64::from(len);
        self.tx.board.push(len, 0, now.0);
        self.tx.note_sent(now, len, pipe);
        self.emit_payload(now, seg, sack, seq, len, Flags::ACK);
        self.mark_new(seg);
        if self.quota < u64::from(len)
            && let Some(why) = self.quota_end.take()
        {
            self.quota = 0;
            self.work &= !work::DATA;
            self.stopped(now, why);
        }
    }

    /// Payload of a full segment, less what SACK blocks and the AccECN option take in it.
    #[inline]
    fn full_segment(&self) -> u64 {
        let mss = u64::from(self.tx.mss);
        if !self.rx.has_blocks && self.accecn.is_none() {
            return mss;
        }
        let blocks = if self.rx.has_blocks && self.tx.sack { 4 + 8 * self.sack_room() as u64 } else { 0 };
        let option = if self.sends_accecn_option(false) { u64::from(ACCECN_MAX_BYTES) } else { 0 };
        let stamps = if self.timestamps { TIMESTAMPS_BYTES } else { 0 };
        mss - (blocks + option).min(u64::from(OPTIONS_BYTES) - stamps)
    }

    /// SACK blocks that fit beside the other options (RFC 2018 section 3).
    fn sack_room(&self) -> usize {
        if self.timestamps { 3 } else { 4 }
    }

    pub(super) fn emit_new(&mut self, now: Time, seg: &mut Segment, sack: &mut SackBlocks, piece: Piece) {
        let Piece { seq, len, fin } = piece;
        let pipe = self.tx.board.pipe();
        let idle = self.tx.board.flight() == 0;
        let at = if self.tx.rec.watch.is_some() { self.tx.board.time_of_new(now.0) } else { now.0 };
        let end = seq + u64::from(len);
        let last = end == self.total.saturating_add(1);
        // What is left of a write that the window has cut is pushed (Linux `tcp_write_wakeup`).
        let cut = self.small_due && self.tx.linux;
        let push = len > 0 && (if last { !self.says_more() } else { cut } || self.ends_record(end));
        if u64::from(len) < self.full_segment() {
            self.small_end = end as u32;
        }
        let marks = if fin { FIN } else { 0 } | if push { PUSH } else { 0 };
        self.tx.board.push(len + u32::from(fin), marks, at);
        self.tx.log_sent(now, self.tx.board.ordinals().1 - 1, idle);
        self.tx.sent_new(u64::from(len));
        self.tx.note_sent(now, len, pipe);
        let mut flags = Flags::ACK;
        if fin {
            flags |= Flags::FIN;
            self.fin_sent = true;
        }
        if push {
            flags |= Flags::PSH;
        }
        self.emit_payload(now, seg, sack, seq, len, flags);
        if len > 0 {
            self.mark_new(seg);
        }
    }

    /// The restart window after an idle period (RFC 5681 section 4.1).
    #[cold]
    #[inline(never)]
    fn after_idle(&mut self, now: Time) {
        self.note_busy(now, true);
        let idle = now.since(self.tx.last_sent);
        // What a controller knows that steers without slow start, as BBR does, does not grow stale with its window (Linux `cong_control`).
        if self.options.idle_restart && idle > self.tx.rtt.rto() && !self.tx.cc.steers_recovery() {
            let window = u64::from(self.options.initial_window) * u64::from(self.tx.mss);
            self.tx.restart(now, idle, window, self.options.idle_threshold, &mut self.stats);
        }
    }

    #[cold]
    #[inline(never)]
    pub(super) fn emit_again(&mut self, now: Time, seg: &mut Segment, sack: &mut SackBlocks, resend: &Resend) {
        let range = resend.range;
        let pipe = self.tx.board.pipe();
        self.tx.resend(resend, now);
        let payload = range.len - u32::from(range.fin);
        self.tx.cc.on_sent(now, u64::from(payload), pipe);
        self.stats.segs_retrans += 1;
        self.stats.octets_retrans += u64::from(payload);
        let mut flags = if range.fin { Flags::ACK | Flags::FIN } else { Flags::ACK };
        flags |= if range.push { Flags::PSH } else { Flags::NONE };
        self.emit_payload(now, seg, sack, range.seq, payload, flags);
        // Only its neighbour leaves in the same packet of several segments.
        if !self.tx.board.is_due(range.ordinal + 1) {
            self.burst_left = 0;
        }
        // RACK's timer stays (Linux `tcp_xmit_retransmit_queue`).
        let kept = self.tx.linux && self.tx.rec.alarm() == Alarm::Reordering;
        if self.options.rearm_on_retransmit && range.seq == self.tx.board.una() && !kept {
            self.rearm(now);
        }
    }

    #[inline(always)]
    fn emit_payload(&mut self, now: Time, seg: &mut Segment, sack: &mut SackBlocks, seq: u64, len: u32, flags: Flags) {
        self.fill(now, seg, sack, seq, len, flags);
        self.stats.data_segs_out += u64::from(len > 0);
        self.stats.data_octets_out += u64::from(len);
        self.tx.last_sent = now;
        if self.persist || self.rtx_at == Time::NEVER {
            self.persist = false;
            self.small_due = false;
            self.progress_at = self.progress_at.min(now);
            self.rtx_at = now.saturating_add(self.tx.rtt.rto());
            self.tx.rec.set_rto(self.rtx_at);
        }
        if self.tx.pacing_bps > 0.0 {
            self.pace(now, seg, len);
        }
    }

    /// The segment, of `len` bytes, keeps back what follows its burst. Bursts that end within the first segments of the
    /// connection keep nothing back, and late ones less with `pacing_credit` (Linux `tcp_update_skb_after_send`).
    #[inline]
    fn pace(&mut self, now: Time, seg: &Segment, len: u32) {
        if now >= self.pace_at && (self.burst_left == 0 || self.burst_at != now) {
            (self.burst_at, self.burst_left) = (now, self.tx.pacing_burst);
            let late = if self.options.pacing_credit { now.since(self.pace_at) } else { Span::ZERO };
            self.burst_late_ns = u32::try_from(late.0 / PS_PER_NS).unwrap_or(u32::MAX);
        }
        self.burst_left = if len == self.tx.mss { self.burst_left.saturating_sub(1) } else { 0 };
        let sent = self.stats.data_segs_out + u64::from(self.burst_left);
        if sent >= u64::from(self.options.unpaced_segments) {
            let bytes = if self.tx.paces_packets { seg.ip_bytes() } else { len };
            let gap = (f64::from(bytes) * 8.0 / self.tx.pacing_bps * PS_PER_S as f64) as u64;
            let credit = u64::from(self.burst_late_ns).min(gap / 2 / PS_PER_NS);
            self.burst_late_ns -= credit as u32;
            self.pace_at = now.max(self.pace_at).saturating_add(Span(gap - credit * PS_PER_NS));
        } else {
            self.pace_at = now.max(self.pace_at);
        }
        if len > 0
            && let Some(trains) = &mut self.tx.trains
        {
            trains.sent(now, seg.ip_bytes());
        }
    }

    /// One byte beyond a closed window (RFC 9293 section 3.8.6.1). It is not in the scoreboard: if the window has
    /// opened meanwhile the peer's acknowledgement brings it in. Linux sends an old number without data, which is answered too, as
    /// does here every stack that has nothing left but the FIN.
    fn emit_probe(&mut self, now: Time, seg: &mut Segment, sack: &mut SackBlocks) {
        if self.options.window_probe == WindowProbe::Old || self.backlog() == 0 {
            self.fill(now, seg, sack, self.tx.board.una().saturating_sub(1), 0, Flags::ACK);
            return;
        }
        let seq = self.tx.board.nxt();
        self.fill(now, seg, sack, seq, 1, Flags::ACK);
        if let Some(trains) = &mut self.tx.trains {
            trains.sent(now, seg.ip_bytes());
        }
        self.stats.data_segs_out += 1;
        self.stats.data_octets_out += 1;
        self.tx.probed = seq + 1;
    }

    /// Writes a segment that acknowledges.
    #[inline(always)]
    pub(super) fn fill(
        &mut self,
        now: Time,
        seg: &mut Segment,
        sack: &mut SackBlocks,
        seq: u64,
        len: u32,
        flags: Flags,
    ) {
        let (options, tsval, tsecr) =
            if self.timestamps { (OPTION_TIMESTAMPS, self.ts_now(now), self.rx.ts_recent) } else { (0, 0, 0) };
        let sack_len = if self.rx.has_blocks { self.fill_sack(len, sack) } else { 0 };
        *seg = Segment {
            seq: self.isn.wrapping_add(seq as u32),
            ack: self.irs.wrapping_add(self.rx.nxt as u32),
            len,
            tsval,
            tsecr,
            window: self.rx.offer(false),
            flags,
            sack_len,
            options: options | self.ip,
            ..Segment::default()
        };
        if self.echo {
            self.write_echo(now, seg, sack);
        }
        self.rx.acked(now, len > 0);
        self.work &= !work::ACK;
        self.ack_at = Time::NEVER;
        self.stats.segs_out += 1;
    }

    /// SACK blocks for a segment of `len`: those that fit beside a full segment that is retransmitted are few or none.
    #[cold]
    #[inline(never)]
    fn fill_sack(&mut self, len: u32, sack: &mut SackBlocks) -> u8 {
        // Of TIME-WAIT nothing but the numbers is left (Linux tcp_v4_timewait_ack).
        if !self.tx.sack || self.state == State::TimeWait {
            return self.rx.drop_duplicate();
        }
        let free = self.tx.mss.saturating_sub(len + 4) as usize / 8;
        let room = if len == 0 { self.sack_room() } else { self.sack_room().min(free) };
        if room == 0 { 0 } else { self.rx.blocks(room, self.irs, sack) }
    }

    /// The timestamp clock: ticks since the start, from 1 (0 says "no echo").
    #[inline]
    pub(super) fn ts_now(&mut self, now: Time) -> u32 {
        if now >= self.ts_until {
            let tick = self.options.timestamp_granularity.0;
            let ticks = now.0 / tick;
            self.ts_value = (ticks as u32).wrapping_add(1);
            self.ts_until = Time((ticks + 1).saturating_mul(tick));
        }
        self.ts_value
    }

    /// Nothing more can be sent, for `why`.
    #[inline]
    pub(super) fn stopped(&mut self, now: Time, why: Limit) {
        self.tx.stopped(now, why, &mut self.stats);
        if self.clock.set(now, why, self.stats.data_octets_out) {
            self.note_blocked(now, why == Limit::Snd && self.accepted() < self.total);
        }
        if self.tx.rec.watch.is_some() {
            self.watch_sent(now);
        }
        let waits = why == Limit::Rwin || (self.shapes() && self.backlog() > 0);
        if waits && self.tx.board.flight() == 0 && !self.persist && !self.sends_early() {
            self.persist = true;
            self.backoffs = 0;
            self.rtx_at = now.saturating_add(self.tx.rtt.rto());
        }
    }
}
