//! Arriving segments: which are acceptable (RFC 9293 section 3.10.7.4), timestamps and PAWS (RFC 7323), data, FIN.

use super::{Endpoint, State, work};
use crate::delayed_ack::{Arrival, QUICK_MAX, When};
use crate::receiver::Due;
use crate::segment::{Flags, OPTION_TIMESTAMPS, SackBlocks, Segment};
use elephan_units::Time;

impl Endpoint {
    /// A segment has arrived; the first `seg.sack_len` of `sack` are its SACK blocks.
    #[inline]
    pub fn on_segment(&mut self, now: Time, seg: &Segment, sack: &SackBlocks) {
        self.stats.segs_in += 1;
        if self.state >= State::SynReceived {
            return self.on_synchronised(now, seg, sack);
        }
        match self.state {
            State::Listen => self.on_listen(now, seg),
            State::SynSent => self.on_syn_sent(now, seg),
            _ => self.refuse(seg),
        }
    }

    #[inline]
    fn on_synchronised(&mut self, now: Time, seg: &Segment, sack: &SackBlocks) {
        let nxt = self.rx.nxt;
        let ahead = seg.seq.wrapping_sub(self.irs.wrapping_add(nxt as u32)) as i32;
        let seq = nxt.wrapping_add_signed(i64::from(ahead));
        if self.timestamps && seg.options & OPTION_TIMESTAMPS != 0 {
            let newer = seg.tsval.wrapping_sub(self.rx.ts_recent) as i32;
            // PAWS. A pure ACK that was overtaken is harmless and is not answered (as Linux `tcp_disordered_ack`).
            let old = newer < 0 && seg.seq_len() > 0 && !seg.flags.any(Flags::RST);
            if old && !self.has_wrapped(now) {
                self.rx.note_old(seq, u64::from(seg.len));
                self.work |= work::ACK;
                return;
            }
            if (newer >= 0 || old) && seq <= self.rx.last_ack {
                self.note_timestamp(now, seg.tsval);
            }
        }
        if seg.flags.any(Flags::SYN | Flags::RST) {
            return self.on_syn_or_rst(now, seg, seq);
        }
        if !seg.flags.any(Flags::ACK) {
            return;
        }
        if self.state == State::SynReceived {
            if seg.ack != self.isn.wrapping_add(1) {
                return;
            }
            self.establish(now, seg);
        }
        if seq > self.rx.edge {
            self.work |= work::ACK;
            return;
        }
        // Data from an end that only sends acknowledges nothing new.
        if seg.len == 0 || seg.sack_len > 0 || seg.flags.any(Flags::ECE) || !self.is_stale(seg) {
            if !self.on_ack(now, seg, seq, sack) {
                return;
            }
        } else {
            self.tx.wl1 = self.tx.wl1.max(seq);
        }
        if seg.len > 0 || seg.flags.any(Flags::FIN) {
            self.on_data(now, seg, seq);
        }
    }

    /// Makes a timestamp of the peer TS.Recent.
    #[inline]
    pub(super) fn note_timestamp(&mut self, now: Time, value: u32) {
        self.rx.ts_recent = value;
        self.heard_at = (now.0 >> 32) as u32;
    }

    /// Whether the timestamp clock may have gone half its way round since TS.Recent came, so that what looks old is not (RFC 7323
    /// section 5.5: 24 days of a clock of milliseconds).
    #[cold]
    fn has_wrapped(&self, now: Time) -> bool {
        let heard = Time(u64::from(self.heard_at) << 32);
        now.since(heard) > self.options.timestamp_granularity.saturating_mul(1 << 31)
    }

    /// Whether the acknowledgement and the window say what was known.
    #[inline]
    fn is_stale(&self, seg: &Segment) -> bool {
        seg.ack == self.isn.wrapping_add(self.tx.board.una() as u32) && seg.window == self.tx.window_field
    }

    #[inline]
    fn on_data(&mut self, now: Time, seg: &Segment, seq: u64) {
        let len = u64::from(seg.len);
        if len > 0 {
            self.stats.data_segs_in += 1;
            self.stats.data_octets_in += len;
            self.note_ce(seg, seq + len > self.rx.nxt && seq < self.rx.edge);
            let nxt = self.rx.nxt;
            match self.rx.accept(seq, len) {
                due if self.rx.adaptive.is_some() => self.adapt_ack(now, seg, seq, nxt, due),
                Due::Now => self.work |= work::ACK,
                Due::Later if self.ack_at == Time::NEVER => {
                    self.ack_at = now.saturating_add(self.options.delayed_ack_timeout);
                }
                Due::Later => {}
            }
        }
        if seg.flags.any(Flags::FIN) {
            self.rx.note_fin(seq + len);
            self.work |= work::ACK;
            if self.state == State::TimeWait {
                self.time_wait(now);
            }
        }
        if self.rx.take_fin() {
            self.on_fin(now);
        }
    }

    /// Linux's rule for the ACK of a segment at `seq` that arrived when `nxt` was expected.
    #[inline(never)]
    fn adapt_ack(&mut self, now: Time, seg: &Segment, seq: u64, nxt: u64, due: Due) {
        let len = u64::from(seg.len);
        let arrival = Arrival {
            now,
            len,
            push: seg.flags.any(Flags::PSH),
            unacked: self.rx.nxt - self.rx.last_ack,
            reads: self.rx.reads_at_once(),
            window: self.rx.edge - self.rx.nxt,
            rto: self.tx.rtt.rto(),
            srtt: self.tx.rtt.srtt(),
            timer: self.ack_at,
        };
        let Some(adaptive) = &mut self.rx.adaptive else { return };
        let when = if self.rx.nxt > nxt {
            adaptive.on_data(&arrival)
        } else if seq + len <= nxt || seq >= self.rx.edge {
            adaptive.be_quick(arrival.window, QUICK_MAX);
            When::Now
        } else {
            adaptive.on_disorder();
            When::Now
        };
        match when {
            When::At(time) if due == Due::Later => self.ack_at = time,
            _ => self.work |= work::ACK,
        }
    }
}
