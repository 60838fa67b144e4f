//! What the peer of a direction answered.

use super::{Context, Half, Note, WINDOW_MAX};
use crate::Vantage;
use crate::division::Answer;
use crate::packet::Segment;

/// A queue of less is not told from the jitter of hosts.
const QUEUE_MIN_NS: u64 = 1_000_000;
/// What a receiver counts from (RFC 9768 section 3.2.1).
const ACE_FIRST: u8 = 5;

impl Half {
    /// The peer sent a segment: its ACK, window and SACK blocks are about this direction. `shift` scales its window,
    /// if that is known.
    pub fn answered(&mut self, context: &Context, segment: &Segment, shift: Option<u8>) -> [Option<Note>; 2] {
        let options = &segment.options;
        self.scale_known = shift.is_some();
        self.counts.segs_in += 1;
        self.marks(context, segment);
        self.counts.cut_options += u64::from(options.cut);
        self.counts.sacks_rcvd += u64::from(options.sack_blocks > 0);
        self.counts.sack_blocks_rcvd += u64::from(options.sack_blocks);
        let Some(ack) = segment.ack.filter(|_| !segment.rst) else { return [None; 2] };
        if let Some((value, _)) =
            options.timestamps.filter(|_| matches!(context.vantage, Vantage::Receiver | Vantage::Between))
        {
            self.echoes.stamped(context, value);
        }
        let touched = self.is_touched();
        self.origin.goes_on(ack, touched);
        self.origin.or_begin(ack);
        let place = u64::try_from(self.origin.place(ack, self.acked)).unwrap_or(0);
        // Before anything was sent it can only acknowledge what the peer's window has room for.
        let fresh = self.origin.opening.is_some() && !touched;
        let reach = if fresh { self.window.unwrap_or(0) } else { self.reach() };
        if self.origin.is_far_ack(place, self.highest.max(self.probed) + 1 + reach, reach) {
            self.counts.far_acks += 1;
            return [None; 2];
        }
        let window = u64::from(segment.window) << if segment.syn { 0 } else { shift.unwrap_or(0) };
        let before = self.window.replace(window);
        self.counts.max_rwin = self.counts.max_rwin.max(window);
        let needless = if options.sack_blocks > 0 { self.needless(context, segment, ack) } else { None };
        let (acked, waits) = (self.acked, self.inflight() > 0);
        self.refuse_syn_data(segment, place);
        let note = self.acknowledge(context, place, segment, before);
        (self.last_ack, self.after_syn) = (context.now, segment.syn);
        self.settle(context);
        self.learn(context, segment, acked, waits);
        let window_note = |kind| Some(Note { kind, place: self.acked, bytes: 0, at: context.now });
        let first = match before {
            Some(open) if open > 0 && window == 0 => {
                self.counts.zero_rwin_rcvd += 1;
                window_note("zero_window")
            }
            Some(0) if window > 0 => {
                self.opened_at = Some(context.now);
                window_note("window_opened")
            }
            _ => note,
        };
        [first, needless]
    }

    /// Marks of congestion that the peer reports. An ACK that others have overtaken brings an old counter (RFC 9768 section 3.2.2.5).
    fn marks(&mut self, context: &Context, segment: &Segment) {
        let is_old = segment.ack.is_some_and(|ack| self.origin.place(ack, self.acked) < self.acked as i64);
        if !context.acc_ecn {
            self.counts.ece_in += u64::from(segment.ece && !segment.syn);
        } else if !segment.syn && !segment.rst && !is_old {
            let counter = u8::from(segment.ae) << 2 | u8::from(segment.cwr) << 1 | u8::from(segment.ece);
            // The first ACK of the end that opened says how the SYN-ACK arrived.
            let says_other = self.ace.is_none() && !context.opened;
            let before = self.ace.replace(if says_other { ACE_FIRST } else { counter });
            let more = counter.wrapping_sub(before.unwrap_or(ACE_FIRST)) & 7;
            self.counts.ace_marks += if says_other { 0 } else { u64::from(more) };
        }
    }

    /// A SYN-ACK that leaves out the data of the SYN from `place` on (RFC 7413): they are sent for the first time after it.
    fn refuse_syn_data(&mut self, segment: &Segment, place: u64) {
        if segment.syn && place < self.highest && self.acked == 0 && self.counts.segs_out <= 1 + self.counts.syn_retrans
        {
            self.counts.refused_syn_bytes = self.highest - place;
            self.highest = place;
            self.outstanding.clear();
            self.division.refuse(place);
        }
    }

    /// What an answer tells the sender, and what it hints at; `acked` before it, and whether something was outstanding.
    fn learn(&mut self, context: &Context, segment: &Segment, acked: u64, waits: bool) {
        let now = context.now;
        self.is_between = context.vantage == Vantage::Between;
        let back = Some(&self.to_sender_and_back).filter(|back| self.is_between && back.count > 0);
        let queued = self.rtts.recent().is_some_and(|recent| {
            let base = self.rtts.min.into_iter().chain(context.handshake_rtt).min().unwrap_or(recent);
            let (recent, base) = match back {
                Some(back) => (recent + back.recent().unwrap_or(0), self.rtts.min.unwrap_or(0) + back.min.unwrap_or(0)),
                None => (recent, base),
            };
            base > 0 && recent > base + (base / 4).max(QUEUE_MIN_NS)
        });
        let recent = match context.vantage {
            Vantage::Receiver | Vantage::Between => self.to_sender_and_back.recent(),
            _ => None,
        };
        let to_sender = recent.or(context.to_sender).unwrap_or(0);
        let answer = Answer { acked: self.acked, window: self.window, queued, asks: segment.len > 0 };
        self.division.view.recover = self.recovery.losing();
        self.division.answered(now, to_sender, answer);
        let view = self.division.view;
        self.signs.rounds.acked(now, (view.answer.acked, view.highest), self.segment());
        self.signs.answer((now, context.frame), self.counts.segs_retrans, (!self.recovery.is_on(self.acked), waits));
        if segment.len > 0 {
            self.signs.asked(self.division.asked(), now + to_sender);
        } else if self.acked > acked && self.acked == self.highest && self.last_len < self.full {
            let wait = now.saturating_sub(self.last_data.unwrap_or(now));
            self.signs.late(now, wait, context.to_receiver.unwrap_or(0));
        }
    }

    fn acknowledge(&mut self, context: &Context, place: u64, segment: &Segment, before: Option<u64>) -> Option<Note> {
        let fin = u64::from(self.fin);
        // What was sent into a closed window was taken after all.
        if place > self.highest && place <= self.probed {
            self.highest = place;
        }
        // The FIN takes a place of its own; what was never seen was lost by the capture.
        let edge = place.min(self.highest.max(place.saturating_sub(fin)));
        if edge > self.acked || !self.acked_once {
            self.acked_once = true;
            let mut missed = self.holes.move_below(edge, &mut self.unseen);
            if edge > self.highest {
                missed += edge - self.highest;
                self.unseen.skip(self.highest, edge, context.now);
                self.highest = edge;
            }
            self.sample(context, edge);
            if edge > self.acked && self.data_start.is_some() {
                self.data_end = Some(context.now);
            }
            (self.acked, self.dup_acks) = (edge, 0);
            self.counts.missed += missed;
            let note = Note { kind: "missed", place: edge - missed, bytes: missed, at: context.now };
            return (missed > 0).then_some(note);
        }
        let outstanding = self.highest + fin > self.acked;
        let bare = segment.len == 0 && !segment.syn && !segment.fin;
        // Nothing can have come out of order yet, or it answers a probe of a closed window.
        let other = (self.after_syn && self.counts.data_segs_out < 2) || self.window == Some(0);
        if edge == self.acked && place <= self.acked && outstanding && bare && !other && before == self.window {
            self.counts.dup_acks_in += 1;
            self.dup_acks += 1;
            self.bins.at(context.now).dup_acks += 1;
            if self.dup_acks == 3 {
                return Some(Note { kind: "dup_acks", place: self.acked, bytes: 0, at: context.now });
            }
        }
        None
    }

    /// Whether the first SACK block reports what the receiver had before (RFC 2883 section 4): below the ACK, or within the second.
    fn needless(&mut self, context: &Context, segment: &Segment, ack: u32) -> Option<Note> {
        let [(begin, end), (outer_begin, outer_end), ..] = segment.options.sacks;
        let at_most = |a: u32, b: u32| b.wrapping_sub(a) as i32 >= 0;
        let within = segment.options.sack_blocks > 1 && at_most(outer_begin, begin) && at_most(end, outer_end);
        let bytes = u64::from(end.wrapping_sub(begin));
        let is_duplicate = (at_most(end, ack) || within) && bytes < WINDOW_MAX;
        if !is_duplicate || !self.recovery.duplicate(bytes, self.counts.segs_retrans) {
            return None;
        }
        let place = u64::try_from(self.origin.place(begin, self.acked)).unwrap_or(0);
        Some(Note { kind: "needless", place, bytes, at: context.now })
    }

    /// Takes out what an ACK up to `edge` covers, and the round-trip time that it shows.
    fn sample(&mut self, context: &Context, edge: u64) {
        let (mut last, mut again, mut largest) = (None, !context.own_time, 0);
        while let Some(sent) = self.outstanding.front().filter(|sent| sent.end <= edge) {
            again |= sent.again;
            largest = largest.max(sent.end - sent.begin);
            last = Some(sent.at);
            self.outstanding.pop_front();
        }
        self.signs.passed(edge, largest);
        if let (Some(at), false, true) = (last, again, context.vantage != Vantage::Receiver) {
            self.rtt(context.now, at);
        }
    }
}
