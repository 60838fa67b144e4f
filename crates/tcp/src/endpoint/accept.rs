//! The gate: every segment of a connection passes it before any state is taken from it.
//!
//! ```text
//! 0 timestamp  agreed and missing in what is no RST: dropped              RFC 7323 section 3.2
//! 1 PAWS       older than TS.Recent and no RST: answered by an ACK        RFC 7323 section 5.3 R1
//! 2 window     no sequence number in the window: an ACK                   RFC 9293 section 3.10.7.4, first
//! 3 RST        next to come: the end; elsewhere in the window: an ACK     RFC 5961 section 3.2
//! 4 SYN        an ACK                                                     RFC 5961 section 4.2
//! 5 ACK        without the bit: dropped; of what was never sent, or
//!              older than the largest window: an ACK                      RFC 9293, fifth; RFC 5961 section 5.2
//! 6 TS.Recent  from a segment at or before the last acknowledgement       RFC 7323 section 5.3 R3
//! ```
//!
//! The number of step 5 is checked by [`Endpoint::on_ack`], step 6 follows in its caller. In two cases the gate is wider than the
//! letter of RFC 9293. A segment without data at the right edge of the window is acceptable, unless it is a reset: two ends that have
//! filled each other's windows would otherwise answer each other for ever. A segment at the left edge is acceptable while the window is
//! closed ("special allowance" for ACKs).
//!
//! Linux (`tcp_validate_incoming`, `tcp_disordered_ack_check`) takes segments without a timestamp and timestamps that are one tick too old, measures the left edge of
//! the window by the last acknowledgement that it sent, and does not answer old pure ACKs that PAWS refuses.

use super::{Endpoint, Opening, State, work};
use crate::delayed_ack::QUICK_MAX;
use crate::options::Acceptance;
use crate::segment::{Flags, OPTION_TIMESTAMPS, Segment};
use elephan_units::Time;

/// Linux `TCP_PAWS_WINDOW`: ticks that a timestamp may be older than TS.Recent.
const LINUX_PAWS_WINDOW: i32 = 1;

impl Endpoint {
    #[inline]
    pub(super) fn accepts_as_linux(&self) -> bool {
        self.options.acceptance == Acceptance::Linux
    }

    /// Takes steps 0 to 4, and 5 but for the number, with a segment that begins `ahead` bytes after the next expected one and whose
    /// timestamp is `newer` than TS.Recent. Returns whether the acknowledgement and the text of the segment may be looked at.
    #[inline(never)]
    pub(super) fn admit(&mut self, now: Time, seg: &Segment, ahead: i64, newer: i32) -> bool {
        if self.state == State::SynReceived && self.on_handshake_syn(now, seg) {
            return false;
        }
        if self.lacks_timestamp(seg) {
            return false;
        }
        let outdated = self.is_outdated(now, seg, ahead, newer);
        let acceptable = !outdated && self.is_in_window(seg, ahead);
        if seg.flags.any(Flags::RST) {
            if acceptable || self.is_reset_at_fin(ahead) {
                self.on_rst(now, ahead);
            }
            return false;
        }
        if seg.flags.any(Flags::SYN) {
            if acceptable && self.state == State::SynReceived && self.is_passive() {
                self.on_second_syn(seg);
            } else if self.on_repeated_syn_ack(seg) {
                self.finish(now);
                self.refuse(seg);
            } else {
                self.challenge(now);
            }
            return false;
        }
        if !acceptable {
            self.note_unacceptable(now, seg, ahead);
            if seg.seq_len() > 0 {
                self.work |= work::ACK;
            } else if !(outdated && ahead < 0 && self.accepts_as_linux()) {
                self.challenge(now);
            }
            return false;
        }
        seg.flags.any(Flags::ACK) && (self.state != State::SynReceived || self.admit_third(now, seg))
    }

    /// Whether the segment lacks the timestamp that was agreed, so that it is dropped in silence (RFC 7323 section 3.2). Linux takes it.
    fn lacks_timestamp(&self, seg: &Segment) -> bool {
        let has = seg.options & OPTION_TIMESTAMPS != 0 || seg.flags.any(Flags::RST);
        self.timestamps && !has && !self.accepts_as_linux()
    }

    /// PAWS.
    fn is_outdated(&self, now: Time, seg: &Segment, ahead: i64, newer: i32) -> bool {
        let linux = self.accepts_as_linux();
        let allowed = if linux { LINUX_PAWS_WINDOW } else { 0 };
        if newer >= -allowed || seg.flags.any(Flags::RST) || self.has_wrapped(now) {
            return false;
        }
        !linux || !self.is_overtaken_duplicate(seg, ahead, newer)
    }

    /// A pure duplicate ACK that was overtaken, by 1.2 timeouts at most (Linux `tcp_disordered_ack_check`, `tcp_tsval_replay`).
    fn is_overtaken_duplicate(&self, seg: &Segment, ahead: i64, newer: i32) -> bool {
        let replay = self.tx.rtt.rto().0 / 5 * 6 / self.options.timestamp_granularity.0;
        seg.seq_len() == 0 && ahead == 0 && self.is_stale(seg) && u64::from(newer.unsigned_abs()) <= replay
    }

    /// Whether a sequence number of the segment is in the window.
    fn is_in_window(&self, seg: &Segment, ahead: i64) -> bool {
        let nxt = self.rx.nxt as i64;
        let room = self.rx.edge as i64 - nxt;
        let len = i64::from(seg.seq_len());
        if ahead < -nxt {
            // It begins before the connection did.
            false
        } else if self.accepts_as_linux() {
            ahead + len >= self.rx.last_ack as i64 - nxt && ahead <= room
        } else if len == 0 {
            // A reset at the right edge is outside (RFC 5961 section 3.2).
            ahead == 0 || (0..room + i64::from(!seg.flags.any(Flags::RST))).contains(&ahead)
        } else {
            ahead == 0 || (ahead + len > 0 && ahead < room)
        }
    }

    /// What an unacceptable segment changes all the same: counters, the report of data that has come twice (Linux
    /// `tcp_send_dupack`), and how long TIME-WAIT lasts.
    fn note_unacceptable(&mut self, now: Time, seg: &Segment, ahead: i64) {
        if seg.len > 0 {
            self.stats.data_segs_in += 1;
            self.stats.data_octets_in += u64::from(seg.len);
        }
        if (-(self.rx.nxt as i64)..0).contains(&ahead) && seg.seq_len() > 0 {
            self.rx.note_old(self.rx.nxt.wrapping_add_signed(ahead), u64::from(seg.seq_len()));
            if let Some(adaptive) = &mut self.rx.adaptive {
                adaptive.be_quick(self.rx.edge - self.rx.last_ack, QUICK_MAX);
            }
        }
        // RFC 9293 has only the peer's FIN renew TIME-WAIT, Linux whatever acknowledges.
        let renews = if self.accepts_as_linux() { Flags::ACK } else { Flags::FIN };
        if self.state == State::TimeWait && seg.flags.any(renews) {
            self.time_wait(now);
        }
    }

    /// What arrives in TIME-WAIT is acknowledged (RFC 9293 section 3.10.7.4, fifth), unless it says what both ends know: else two ends
    /// in TIME-WAIT would answer each other for ever. Linux answers what is unacceptable alone.
    #[cold]
    pub(super) fn answer_in_time_wait(&mut self, now: Time, seg: &Segment, seq: u64, ack: u64) {
        let known = seg.seq_len() == 0 && seq == self.rx.nxt && ack == self.tx.board.nxt();
        if !known && !self.accepts_as_linux() {
            self.challenge(now);
        }
    }

    /// An ACK answers a segment without data of which nothing is taken, not more often than the stack allows: two ends could answer
    /// each other for ever.
    pub(super) fn challenge(&mut self, now: Time) {
        if self.rx.may_answer(now, self.options.invalid_ratelimit) {
            self.work |= work::ACK;
        }
    }

    /// A reset whose sequence number is in the window.
    fn on_rst(&mut self, now: Time, ahead: i64) {
        // Linux also believes a reset at the end of what has come out of order.
        let end = self.rx.span() as i64;
        let beyond_gap = self.accepts_as_linux() && self.tx.sack && end > 0 && ahead == end;
        if ahead != 0 && !beyond_gap && !self.is_reset_at_fin(ahead) {
            self.doubt_silence();
            self.challenge(now);
        } else if self.state == State::SynReceived && self.opening == Opening::Passive {
            self.relisten();
        } else {
            self.finish(now);
        }
    }

    /// Linux `tcp_reset_check`: the peer has closed and resets where its FIN was.
    fn is_reset_at_fin(&self, ahead: i64) -> bool {
        ahead == -1
            && self.accepts_as_linux()
            && matches!(self.state, State::CloseWait | State::LastAck | State::Closing)
    }

    /// A SYN in the window of a connection that a SYN has opened: back to LISTEN (RFC 9293 section 3.10.7.4, fourth). Linux
    /// (`tcp_check_req`) answers by a reset as well.
    fn on_second_syn(&mut self, seg: &Segment) {
        if !self.sends_early() {
            self.relisten();
        }
        if self.accepts_as_linux() || self.sends_early() {
            self.refuse(seg);
        }
    }

    /// The third segment of the handshake. A wrong acknowledgement is answered by a reset (RFC 9293 section 3.10.7.4, fifth).
    fn admit_third(&mut self, now: Time, seg: &Segment) -> bool {
        let right = self.answers_syn(seg);
        if right {
            self.establish(now, seg);
            self.after_fast_open(now, seg);
            self.take_syn_text(now);
        } else {
            self.refuse(seg);
        }
        right
    }
}
