//! Arriving segments: the order in which they are looked at, timestamps (RFC 7323), data, FIN. Which are acceptable:
//! [`super::accept`].

use super::{Endpoint, State, work};
use crate::delayed_ack::{Arrival, QUICK_MAX, When};
use crate::options::Ecn;
use crate::receiver::{Due, Kept};
use crate::segment::{Flags, OPTION_TIMESTAMPS, SackBlocks, Segment};
use elephan_units::Time;

impl Endpoint {
    /// Is called with each segment that arrives. The first `seg.sack_len` entries of `sack` are its SACK blocks.
    #[inline]
    pub fn on_segment(&mut self, now: Time, seg: &Segment, sack: &SackBlocks) {
        self.stats.segs_in += 1;
        if self.state >= State::SynReceived {
            return self.on_synchronised(now, seg, sack);
        }
        match self.state {
            State::Listen => self.on_listen(now, seg, sack),
            State::SynSent => {
                self.on_syn_sent(now, seg, sack);
                self.hear_option(seg, sack);
            }
            _ => self.refuse(seg),
        }
    }

    #[inline]
    fn on_synchronised(&mut self, now: Time, seg: &Segment, sack: &SackBlocks) {
        const CHECKED: u8 = Flags::SYN.0 | Flags::RST.0 | Flags::ACK.0;
        let ahead = i64::from(seg.seq.wrapping_sub(self.irs.wrapping_add(self.rx.nxt as u32)) as i32);
        let stamped = self.timestamps && seg.options & OPTION_TIMESTAMPS != 0;
        let newer = if stamped { seg.tsval.wrapping_sub(self.rx.ts_recent) as i32 } else { 0 };
        // What is next to come and no older is acceptable; almost every segment is of this kind.
        let stamps = stamped == self.timestamps;
        let known = stamps && ahead == 0 && newer >= 0 && seg.flags.0 & CHECKED == Flags::ACK.0;
        let plain = known && self.state != State::SynReceived;
        if !plain && !self.admit(now, seg, ahead, newer) {
            if seg.flags.any(Flags::SYN) {
                self.hear_option(seg, sack);
            }
            return;
        }
        let seq = self.rx.nxt.wrapping_add_signed(ahead);
        // Data from an end that only sends acknowledges nothing new.
        if seg.len == 0 || seg.sack_len > 0 || seg.flags.any(Flags::ECE) || !self.is_stale(seg) {
            if !self.on_ack(now, seg, seq, sack) {
                return;
            }
        } else {
            self.tx.wl1 = self.tx.wl1.max(seq);
            if self.ecn == Ecn::Accurate {
                self.note_accurate(seg, sack);
            }
        }
        if stamped && seq <= self.rx.last_ack && (newer >= 0 || self.has_wrapped(now)) {
            self.note_timestamp(now, seg.tsval);
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
    pub(super) fn has_wrapped(&self, now: Time) -> bool {
        let heard = Time(u64::from(self.heard_at) << 32);
        now.since(heard) > self.options.timestamp_granularity.saturating_mul(1 << 31)
    }

    /// Whether the acknowledgement and the window say what was known.
    #[inline]
    pub(super) fn is_stale(&self, seg: &Segment) -> bool {
        seg.ack == self.isn.wrapping_add(self.tx.board.una() as u32) && seg.window == self.tx.window_field
    }

    #[inline]
    pub(super) fn on_data(&mut self, now: Time, seg: &Segment, seq: u64) {
        if self.rx.fin {
            return self.after_fin(now, seg, seq);
        }
        let len = u64::from(seg.len);
        if len > 0 {
            self.stats.data_segs_in += 1;
            self.stats.data_octets_in += len;
            self.note_ce(seg, seq + len > self.rx.nxt && seq < self.rx.edge);
            if self.rx.adaptive.is_some() {
                self.accept_adaptively(now, seg, seq);
            } else {
                match self.rx.accept(seq, len) {
                    Due::Now => self.work |= work::ACK,
                    Due::Later if self.ack_at == Time::NEVER => {
                        self.ack_at = now.saturating_add(self.options.delayed_ack_timeout);
                    }
                    Due::Later => {}
                }
            }
        }
        if seg.flags.any(Flags::FIN) {
            self.rx.note_fin(seq + len);
            if seq > self.rx.nxt {
                self.doubt_silence();
            }
            // In order it is acknowledged as the state has it.
            if seq + len != self.rx.nxt {
                self.work |= work::ACK;
            }
        }
        if self.rx.take_fin() {
            self.on_fin(now, seg);
        }
    }

    /// The peer has closed: text after its FIN is ignored (RFC 9293 section 3.10.7.4, seventh), what came before it is a duplicate.
    #[cold]
    fn after_fin(&mut self, now: Time, seg: &Segment, seq: u64) {
        if self.state == State::Closed {
            return;
        }
        if seg.len > 0 {
            self.stats.data_segs_in += 1;
            self.stats.data_octets_in += u64::from(seg.len);
        }
        if seq >= self.rx.nxt {
            return;
        }
        self.rx.note_old(seq, u64::from(seg.seq_len()));
        if let Some(adaptive) = &mut self.rx.adaptive {
            adaptive.be_quick(self.rx.edge - self.rx.last_ack, QUICK_MAX);
        }
        self.work |= work::ACK;
        if self.state == State::TimeWait {
            self.time_wait(now);
        }
    }

    /// What Linux's rule for ACKs looks at.
    fn arrival(&self, now: Time, seg: &Segment) -> Arrival {
        let srtt = self.tx.rtt.srtt();
        Arrival {
            now,
            len: u64::from(seg.len),
            push: seg.flags.any(Flags::PSH),
            fin: seg.flags.any(Flags::FIN),
            closes: false,
            unacked: self.rx.nxt - self.rx.last_ack,
            reads: self.rx.reads_at_once(),
            open: true,
            grows: false,
            window: self.rx.offered(),
            rto: self.tx.rtt.rto(),
            srtt,
            rtt: self.rx.account().map_or(srtt.unwrap_or_default(), |account| {
                let own = account.round_trip();
                srtt.map_or(own, |rtt| rtt.min(own))
            }),
            timer: self.ack_at,
        }
    }

    /// Takes a segment at `seq` by Linux's rule for its ACK.
    #[inline(never)]
    fn accept_adaptively(&mut self, now: Time, seg: &Segment, seq: u64) {
        let (nxt, held, unread) = (self.rx.nxt, self.rx.held(), self.rx.unread());
        self.rx.accept(seq, u64::from(seg.len));
        let end = seq + u64::from(seg.len);
        let mut arrival = self.arrival(now, seg);
        if seg.flags.any(Flags::FIN) && self.rx.nxt == end && self.state == State::Established {
            (arrival.closes, arrival.unacked) = (true, arrival.unacked + 1);
        }
        let accounts = self.rx.account().is_some();
        if accounts {
            let stamped = self.timestamps && seg.options & OPTION_TIMESTAMPS != 0 && seg.tsecr != 0;
            let echo = stamped.then(|| (seg.tsecr, self.echoed_rtt(now, seg.tsecr)));
            arrival.grows = self.rx.charge(&arrival, &Kept { seq, nxt, held, echo, unread });
        }
        let (in_order, old) = (self.rx.nxt > nxt, end <= nxt || seq >= self.rx.edge);
        let Some(adaptive) = &mut self.rx.adaptive else { return };
        if !accounts && (in_order || !old) {
            adaptive.measure(&arrival);
        }
        if in_order {
            adaptive.on_data(&arrival);
        } else if old {
            adaptive.on_old(&arrival);
        } else {
            adaptive.on_disorder(&arrival);
        }
        let over = adaptive.is_over(arrival.unacked);
        arrival.open = if accounts { !over || self.rx.room() >= arrival.window } else { self.rx.is_open() };
        let holes = self.rx.held() > 0;
        // The last hole is filled, or an ACK that waited leaves in place of this one.
        let due = held > 0 && !holes || self.rx.reports_old();
        let (hole, Some(adaptive)) = (holes.then_some(self.rx.nxt), &mut self.rx.adaptive) else { return };
        let when = if due { When::Now } else { adaptive.when(&arrival, hole) };
        self.schedule_ack(when);
        if accounts {
            if self.work & work::ACK != 0 && when != When::Read {
                self.rx.fix_field();
            }
            if self.rx.reads_at_once() {
                let taken = unread + self.rx.nxt.saturating_sub(nxt);
                self.rx.settle(now, taken, taken);
            }
        }
    }

    fn schedule_ack(&mut self, when: When) {
        match when {
            When::At(time) => self.ack_at = time,
            When::Now | When::Read => self.work |= work::ACK,
        }
    }

    /// The ACK of the peer's FIN, which has come in order and leaves this end half open. Linux waits for the application to close too.
    pub(super) fn acknowledge_fin(&mut self, now: Time, seg: &Segment) {
        if seg.len > 0 && seg.flags.any(Flags::FIN) && self.rx.adaptive.is_some() {
            // The rule has seen the FIN with the data.
            return;
        }
        let arrival = Arrival { closes: true, ..self.arrival(now, seg) };
        let over_full = self.rx.account().is_some_and(|account| account.is_over_full());
        match &mut self.rx.adaptive {
            // There is no memory for it (Linux `tcp_data_queue`: ICSK_ACK_NOW).
            _ if over_full => self.work |= work::ACK,
            Some(adaptive) if seg.len == 0 => {
                let when = adaptive.on_fin(&arrival);
                self.schedule_ack(when);
            }
            _ => self.work |= work::ACK,
        }
    }
}
