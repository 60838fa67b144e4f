//! What the sender of a direction sent.

use super::{Context, Half, Note, OUTSTANDING_MAX, REORDERING_NS, Sent};
use crate::Vantage;
use crate::bins::State;
use crate::division::Silence;
use crate::packet::Segment;
use crate::ranges::Holes;
use crate::recovery::Again;

/// A time that is longer than the least one by less than this part of it is as short as the path's.
const HELD_BACK_PART: u64 = 64;
/// So many identifications in a row are not missing, but others.
const IDENTS_MAX: u16 = 4096;
/// The option, padded, in each segment (RFC 7323).
const TIMESTAMP_BYTES: u64 = 12;

impl Half {
    /// Its sender sent a segment; answers what was rare about it.
    pub fn sent(&mut self, context: &Context, segment: &Segment) -> [Option<Note>; 2] {
        self.counts.segs_out += 1;
        self.counts.ce_out += u64::from(segment.ce);
        self.same_idents |=
            self.last_packet.0 == segment.ident && segment.ident.is_some() && self.last_packet.1 != segment.print;
        let lost_before = self.skips_idents(segment.ident);
        self.last_packet = (segment.ident, segment.print);
        let touched = self.is_touched();
        let data_seq = segment.seq.wrapping_add(u32::from(segment.syn));
        let is_syn_again = segment.syn && self.origin.open(segment, touched);
        self.counts.syn_retrans += u64::from(is_syn_again);
        if !segment.syn {
            self.origin.goes_on(segment.seq, touched);
        }
        if self.origin.opening.is_none() && self.data_start.is_none() && segment.len > 0 {
            // The capture began later: what was in flight before was not missed.
            self.origin.begin(data_seq);
            (self.highest, self.acked, self.unseen) = (0, 0, Holes::default());
        }
        self.origin.or_begin(data_seq);
        let before = self.highest;
        let note = match u64::from(segment.len) {
            0 => self.bare(context, segment),
            len if is_syn_again => self.again_in_syn(context, len),
            len => self.data(context, data_seq, len),
        };
        let again = note.filter(|note| note.kind == "retransmission").map(|note| (note.place, note.bytes));
        // Without ECN, or with AccECN, CWR means something else.
        let said = context.ecn && segment.cwr && !segment.syn && self.highest > before;
        let cwr = said.then(|| self.highest.saturating_sub(u64::from(segment.len)));
        let cut = self.recovery.look(context, (before, self.acked), again, cwr);
        let held_back = self.division.view.drained;
        if segment.len > 0 && !is_syn_again {
            self.divide(context, segment, note, lost_before);
        }
        if let Some((_, echo)) = segment.options.timestamps.filter(|_| !segment.syn) {
            self.echoed(context, echo, held_back);
        }
        self.settle(context);
        if segment.fin && !self.fin {
            self.fin = true;
            return [note.or(Some(Note { kind: "fin", place: self.highest, bytes: 0, at: context.now })), cut];
        }
        [note, cut]
    }

    /// Whether packets before this one were lost on the way to the capture: their identifications are missing in a row.
    fn skips_idents(&mut self, ident: Option<u16>) -> bool {
        let (Some(ident), Some(last)) = (ident, self.last_packet.0) else { return false };
        let step = ident.wrapping_sub(last);
        let (ones, others) = &mut self.ident_steps;
        let in_a_row = *ones >= 10 && *ones >= 9 * *others;
        *(if step == 1 { ones } else { others }) += 1;
        in_a_row && (2..IDENTS_MAX).contains(&step)
    }

    /// Who owns the time before this segment, and what it says about the time after it.
    fn divide(&mut self, context: &Context, segment: &Segment, note: Option<Note>, lost_before: bool) {
        if self.data_start.is_none() {
            return;
        }
        let (now, len) = (context.now, u64::from(segment.len));
        let again = note.filter(|note| note.kind == "retransmission");
        let timer = (again.is_some() && self.recovery.by_timer).then_some(self.quiet);
        self.division.arrive(now);
        let idle = self.division.idle_since().map(|since| now.saturating_sub(since));
        let to_sender = context.to_sender.unwrap_or(0);
        let silence = match () {
            () if timer.is_some() => Silence::Timer(self.quiet),
            () if again.is_some() => Silence::Lost,
            () if context.to_sender == Some(0) || context.asked || self.division.view.drained => Silence::Application,
            () if lost_before => Silence::Lost,
            // The answer took so much longer to the sender, or from there.
            () if idle.is_some_and(|idle| idle <= to_sender / 2) => Silence::Brief,
            () => Silence::Unclear,
        };
        if silence == Silence::Unclear
            && let Some(idle) = idle
        {
            self.signs.paused(now - idle, now, context.frame);
        }
        let is_new = note.is_none_or(|note| note.kind == "missed");
        (self.largest, self.last_len) = (self.largest.max(len), len);
        let whole = self.segment();
        let options = if segment.options.timestamps.is_some() { TIMESTAMP_BYTES } else { 0 };
        self.full = whole.saturating_sub(options).max(1);
        let unit = if self.largest <= whole { self.largest } else { self.full };
        let alone = self.highest.saturating_sub(self.acked) <= len;
        let drained = len % unit.max(1) != 0 || (segment.psh && len < whole / 2 && alone);
        let view = (self.highest, self.recovery.losing(), self.fin, self.scale_known);
        self.division.sent(now, silence, |known| {
            (known.highest, known.recover, known.fin, known.scale_known) = view;
            known.segment = whole;
            known.slack = if context.to_sender == Some(0) { 0 } else { whole };
            if is_new {
                known.drained = drained;
            }
        });
        self.signs.rounds.sent(self.division.view.inflight());
        if is_new {
            self.signs.rounds.fresh(now);
            self.signs.fresh((now, context.frame), to_sender, (alone, self.counts.segs_retrans));
        }
        if let Some(note) = again {
            let away = (context.to_sender != Some(0)).then_some(self.counts.segs_retrans - 1);
            self.signs.again((now, context.frame), (note.place, note.bytes), timer, away);
        }
    }

    /// A segment without payload: below a closed window it asks whether that is still closed (Linux `tcp_xmit_probe_skb`).
    fn bare(&mut self, context: &Context, segment: &Segment) -> Option<Note> {
        let flagged = segment.syn || segment.fin || segment.rst;
        let is_closed = self.window == Some(0);
        // A sender that still asks has not learned that the window is open.
        let is_late = self.opened_at.is_some();
        if !flagged && (is_closed || is_late) && self.origin.place(segment.seq, self.acked) + 1 == self.acked as i64 {
            self.counts.window_probes += 1;
            if is_late {
                self.division.was_closed(context.now);
            }
        }
        None
    }

    /// The data of a retransmitted SYN, which has a count of its own.
    fn again_in_syn(&mut self, context: &Context, len: u64) -> Option<Note> {
        self.count_data(context, len);
        self.outstanding.iter_mut().for_each(|sent| sent.again = true);
        None
    }

    /// A datagram of `len` bytes of payload.
    pub fn datagram(&mut self, context: &Context, len: u64) {
        self.counts.segs_out += 1;
        self.count_data(context, len);
        self.highest += len;
        self.acked = self.highest;
        self.data_end = Some(context.now);
        self.bins.at(context.now).state = State { sent: self.highest, acked: self.acked, window: 0 };
    }

    fn count_data(&mut self, context: &Context, len: u64) {
        let now = context.now;
        self.counts.data_segs_out += 1;
        self.counts.data_octets_out += len;
        self.data_start.get_or_insert(now);
        let follows = self.last_data.is_some_and(|last| now.saturating_sub(last) <= context.burst_gap);
        self.last_data = Some(now);
        self.burst = if follows { (self.burst.0 + 1, self.burst.1 + len) } else { (1, len) };
        self.bursts += u64::from(!follows);
        self.burst_max_segs = self.burst_max_segs.max(self.burst.0);
        self.burst_max_bytes = self.burst_max_bytes.max(self.burst.1);
        let bin = self.bins.at(now);
        bin.octets += len;
        bin.burst_max = bin.burst_max.max(self.burst.0 as u32);
    }

    fn data(&mut self, context: &Context, seq: u32, len: u64) -> Option<Note> {
        let begin = self.origin.place(seq, self.highest);
        let end = begin + len as i64;
        let quiet = context.now.saturating_sub(self.last_ack.max(self.last_data.unwrap_or(0)));
        // One byte of the past, when all is acknowledged, asks whether the peer is still there (RFC 9293 section 3.8.4).
        if len == 1 && end == self.highest as i64 && self.acked >= self.highest {
            self.counts.window_probes += u64::from(self.window == Some(0));
            return None;
        }
        self.quiet = quiet;
        self.count_data(context, len);
        let (begin, end) = (begin.max(0) as u64, end.max(0) as u64);
        // The next byte, which a closed window has no room for (RFC 9293 section 3.8.6.1).
        if len == 1 && self.acked == begin && self.window == Some(0) {
            self.counts.window_probes += 1;
            self.probed = end;
            return None;
        }
        let reach = self.reach();
        if self.origin.is_far_data(begin, self.highest.saturating_add(reach), reach) {
            return None;
        }
        if end > self.highest {
            self.advance(context, begin, end);
            return None;
        }
        let (filled, since) = self.holes.fill(begin, end);
        let soon = context.handshake_rtt.map_or(REORDERING_NS, |rtt| rtt / 2);
        let is_soon = |since: Option<u64>| since.is_some_and(|since| context.now.saturating_sub(since) < soon);
        if filled == 0 && self.is_late_in_file(context, begin, end, 2 * soon) {
            return None;
        }
        // What waited above a hole is acknowledged when the hole is filled: that says nothing about the round trip.
        let first = self.outstanding.partition_point(|sent| sent.end <= begin);
        let above = |sent: &Sent| filled > 0 || sent.begin < end;
        self.outstanding.range_mut(first..).take_while(|sent| above(sent)).for_each(|sent| sent.again = true);
        if filled > 0 && is_soon(since) && context.vantage != Vantage::Sender {
            self.counts.out_of_order += 1;
            return Some(Note { kind: "out_of_order", place: begin, bytes: len, at: context.now });
        }
        self.counts.segs_retrans += 1;
        self.counts.octets_retrans += len;
        self.bins.at(context.now).again += len;
        let (acked, highest, dup_acks) = (self.acked, self.highest, self.dup_acks);
        let rtt = self.rtts.smoothed.or(context.handshake_rtt);
        self.recovery.retransmitted(&Again { begin, end, acked, highest, quiet, rtt, dup_acks });
        Some(Note { kind: "retransmission", place: begin, bytes: len, at: context.now })
    }

    /// New data.
    fn advance(&mut self, context: &Context, begin: u64, end: u64) {
        if begin > self.highest {
            self.recovery.skipped(self.highest, begin);
            self.holes.skip(self.highest, begin, context.now);
        }
        let begin = begin.max(self.highest);
        self.highest = end;
        self.opened_at = None;
        if self.outstanding.len() < OUTSTANDING_MAX {
            self.outstanding.push_back(Sent { begin, end, at: context.now, again: !context.own_time });
        }
    }

    /// Whether the ACK of a segment stands before it in the file: it is neither missed nor retransmitted.
    fn is_late_in_file(&mut self, context: &Context, begin: u64, end: u64, soon: u64) -> bool {
        if self.unseen.youngest(begin, end).is_none_or(|since| context.now.saturating_sub(since) >= soon) {
            return false;
        }
        self.counts.missed -= self.unseen.fill(begin, end).0;
        self.counts.behind_ack += 1;
        self.data_end = Some(context.now);
        true
    }

    /// The sender echoes this TSval; `held_back`: it had come to the end of what its application wrote before.
    fn echoed(&mut self, context: &Context, echo: u32, held_back: bool) {
        let Some(at) = self.echoes.echoed(echo).filter(|_| context.own_time) else { return };
        let took = context.now.saturating_sub(at);
        // Of such a segment only as short a time as the path's is no wait of the application.
        let least = self.to_sender_and_back.min.into_iter().chain(context.to_sender).min();
        if !held_back || least.is_some_and(|least| took <= least + least / HELD_BACK_PART) {
            self.to_sender_and_back.add(took);
        }
        if context.vantage != Vantage::Between {
            self.rtt(context.now, at);
        }
    }
}
