//! Loss detection by time (RFC 8985 sections 6.2 and 6.3) on the scoreboard: which segments were sent before the
//! latest delivered one (`RACK.segment`) and are overdue.
//!
//! RACK asks it of every segment in flight at every ACK. Here a segment costs a constant amount of work over its life:
//!
//! - segments sent once are in the order of sending as they are in sequence, so `reach` separates those sent before
//!   `RACK.segment`, which only moves forward in time, from the others, and the loss cursor the overdue ones from the rest;
//! - a retransmitted segment counts as sent a picosecond after what left at the same instant before it, so that the order of
//!   sending is exact where RFC 8985 falls back on the sequence;
//! - retransmitted segments are in a log in the order of sending; an entry whose segment was delivered, lost again or sent
//!   once more since is stale and is passed over;
//! - of both the last that is still out tells how long the reordering timer runs; it is kept, and looked for again,
//!   backward from where it was, only when it has gone.

use super::marks::{Marks, Word};
use super::reorder::Reordering;
use super::{LEN, RETRANSMITTED, Range, Scoreboard, Sent, Taken, Timed};
use std::collections::VecDeque;

/// The last of the segments sent before `RACK.segment` that is still out, among those below `reach`.
#[derive(Clone, Copy, Debug, Default)]
struct Last {
    reach: u64,
    /// The position after it; at or below the floor if there is none.
    end: u64,
}

impl Last {
    /// `reach` has moved on and what is below `floor` has gone; `find` gives the last position out in a range.
    fn advance(&mut self, floor: u64, reach: u64, find: impl Fn(u64, u64) -> Option<u64>) -> Option<u64> {
        let fresh = find(self.reach.max(floor), reach);
        let found = fresh.or_else(|| if self.end > floor { find(floor, self.end) } else { None });
        self.reach = reach;
        self.end = found.map_or(floor, |at| at + 1);
        found
    }
}

/// What RACK keeps beside the scoreboard. Times are ps.
#[derive(Clone, Debug, Default)]
pub(super) struct Times {
    /// A retransmitted segment at or after these is not taken for delivered by a SACK, by a cumulative ACK.
    doubt_sacked: u64,
    doubt_acked: u64,
    /// RACK.fack when this ACK came, as the ordinal after it.
    fack: u64,
    /// When the latest segment that this ACK delivered was sent, and where it ends; zero if none.
    newest: (u64, u64),
    /// Where the segment stands that Linux looks at last on this ACK, and when it was sent; zero if none. RACK.rtt is of it if
    /// `by_sequence`.
    last: (u64, u64),
    by_sequence: bool,
    /// RACK.xmit_ts and RACK.end_seq.
    latest: (u64, u64),
    /// RACK.rtt.
    rtt: u64,
    /// Something was delivered since losses were last looked for.
    advanced: bool,
    /// RACK.segs_sacked.
    pub(super) sacked: u64,
    /// RACK.reordering_seen, and how far segments were displaced.
    pub(super) reordered: bool,
    pub(super) reordering: Reordering,
    once: Last,
    again: Last,
    /// Retransmitted segments and when, in that order; the position of the first entry.
    log: VecDeque<(u64, u64)>,
    log_start: u64,
    /// When the last segment was retransmitted.
    again_at: u64,
    /// Segments whose retransmission was lost.
    lost_again: VecDeque<u64>,
}

/// What a look at the clock found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Overdue {
    /// When the last of the segments sent before `RACK.segment` will be overdue.
    pub deadline: Option<u64>,
    /// When the latest of the retransmissions now found lost had been sent.
    pub lost_again: Option<u64>,
}

/// Linux looks at what is SACKed first, each in the order of sequence (`tcp_sacktag_walk`, `tcp_clean_rtx_queue`).
const ACKNOWLEDGED: u64 = 1 << 63;

/// Segments sent once and still out.
fn out(word: Word) -> u64 {
    !(word.sacked | word.lost | word.resent | word.hidden)
}

impl Times {
    /// A segment that ends at offset `end` was delivered, by a SACK or cumulatively.
    #[inline]
    pub(super) fn delivered(&mut self, sent: &Sent, ordinal: u64, end: u64, sacked: bool) {
        if sent.meta & RETRANSMITTED == 0 {
            if ordinal + 1 < self.fack {
                self.reordered = true;
                self.reordering.note(end - u64::from(sent.meta & LEN), sacked);
            }
        } else if sent.at >= if sacked { self.doubt_sacked } else { self.doubt_acked } {
            return;
        }
        self.newest = self.newest.max((sent.at, end));
        self.last = self.last.max((if sacked { ordinal } else { ordinal | ACKNOWLEDGED }, sent.at));
    }

    /// The loss marks were taken back or made anew.
    pub(super) fn restart(&mut self, head: u64) {
        self.once = Last { reach: head, end: head };
        self.lost_again.clear();
    }

    /// The scan for lost segments starts anew and finds those lost again too, if they lie below the loss cursor.
    pub(super) fn rescan(&mut self, loss_cursor: u64) {
        self.lost_again.retain(|&ordinal| ordinal >= loss_cursor);
    }
}

impl Scoreboard {
    /// Times are to be kept from now on. RACK.rtt is of the last segment `by_sequence` that an ACK delivers, or of the one sent
    /// last. Reordering is taken for `degree` segments at first; it may be measured to be `most`.
    pub fn keep_times(&mut self, by_sequence: bool, degree: u32, most: u32) {
        let mut marks = self.take_marks();
        let reordering = Reordering::of(degree, most);
        marks.times = Some(Box::new(Times { by_sequence, reordering, ..Times::default() }));
        self.marks = Some(marks);
        self.timed = Timed::Yes;
    }

    pub(super) fn times(&self) -> Option<&Times> {
        self.marks.as_ref()?.times.as_deref()
    }

    pub(super) fn times_mut(&mut self) -> Option<&mut Times> {
        self.marks.as_mut()?.times.as_deref_mut()
    }

    /// Losses are detected by time.
    #[inline]
    pub fn keeps_times(&self) -> bool {
        self.timed != Timed::No
    }

    /// RACK.segs_sacked.
    pub fn segments_sacked(&self) -> u64 {
        self.times().map_or(0, |times| times.sacked)
    }

    /// RACK.reordering_seen.
    pub fn saw_reordering(&self) -> bool {
        self.times().is_some_and(|times| times.reordered)
    }

    /// When a new segment is sent that leaves at `now`: not before the last retransmission.
    #[cold]
    pub fn time_of_new(&self, now: u64) -> u64 {
        self.times().map_or(now, |times| now.max(times.again_at))
    }

    /// When a segment is retransmitted that leaves at `now`: after all others.
    pub(super) fn time_of_again(&mut self, now: u64) -> u64 {
        let newest = self.sent(self.tail - 1).at;
        match self.times_mut() {
            Some(times) => {
                times.again_at = now.max(newest + 1).max(times.again_at + 1);
                times.again_at
            }
            None => now,
        }
    }

    /// When the last segment, `ordinal`, is retransmitted as a probe: it may no longer be one sent before `RACK.segment`.
    pub(super) fn time_of_probe(&mut self, ordinal: u64, now: u64) -> u64 {
        let at = self.time_of_again(now);
        if let Some(times) = self.times_mut() {
            times.once.reach = times.once.reach.min(ordinal);
            times.once.end = times.once.end.min(ordinal);
        }
        at
    }

    /// Segment `ordinal` is retransmitted; whether it had been lost again.
    pub(super) fn log_again(&mut self, ordinal: u64, at: u64) -> bool {
        let Some(times) = self.times_mut() else { return false };
        times.log.push_back((ordinal, at));
        let lost_again = times.lost_again.front() == Some(&ordinal);
        if lost_again {
            times.lost_again.pop_front();
        }
        lost_again
    }

    /// An ACK begins. Retransmitted segments at or after `doubt_sacked` and `doubt_acked` may have been delivered by an
    /// earlier transmission, if a SACK or a cumulative ACK covers them.
    pub fn begin_ack(&mut self, doubt_sacked: u64, doubt_acked: u64) {
        let fack = self.high_sacked.max(self.head);
        if let Some(times) = self.times_mut() {
            (times.doubt_sacked, times.doubt_acked) = (doubt_sacked, doubt_acked);
            times.fack = fack;
        }
    }

    /// The ACK has been taken in: RACK.rtt and RACK.segment (RFC 8985 section 6.2, step 2). Returns when the latest segment that it
    /// delivered was sent.
    pub fn end_ack(&mut self, now: u64) -> Option<u64> {
        let times = self.times_mut().filter(|times| times.newest != (0, 0))?;
        let newest = times.newest;
        let sent = if times.by_sequence { times.last.1 } else { newest.0 };
        times.rtt = now.saturating_sub(sent);
        times.latest = times.latest.max(newest);
        times.advanced = true;
        (times.newest, times.last) = ((0, 0), (0, 0));
        Some(newest.0)
    }

    /// Whether something was delivered since this was last asked.
    pub fn take_advanced(&mut self) -> bool {
        self.times_mut().is_some_and(|times| std::mem::take(&mut times.advanced))
    }

    /// Losses are to be looked for again.
    pub fn advance_again(&mut self) {
        if let Some(times) = self.times_mut() {
            times.advanced = true;
        }
    }

    /// Marks as lost what was sent before `RACK.segment` and is out for longer than RACK.rtt + `window` (step 5).
    pub fn detect_overdue(&mut self, now: u64, window: u64) -> Overdue {
        let Some(mut marks) = self.marks.take() else { return Overdue::default() };
        let mut overdue = Overdue::default();
        if let Some(mut times) = marks.times.take() {
            let wait = times.rtt.saturating_add(window);
            let late = |at: u64| at.saturating_add(wait) <= now;
            let once = self.overdue_once(&mut marks, &mut times, late);
            overdue.lost_again = self.overdue_again(&mut marks, &mut times, late);
            let again = self.last_again(&marks, &mut times);
            overdue.deadline = once.max(again).map(|at| at.saturating_add(wait));
            marks.times = Some(times);
        }
        self.marks = Some(marks);
        self.settle();
        overdue
    }

    /// Segments sent once: marks the overdue; returns when the last of the others was sent.
    fn overdue_once(&mut self, marks: &mut Marks, times: &mut Times, late: impl Fn(u64) -> bool) -> Option<u64> {
        let mut reach = times.once.reach.max(self.head);
        loop {
            reach = marks.next(reach, self.tail, out);
            if reach >= self.tail || self.key(reach) >= times.latest {
                break;
            }
            reach += 1;
        }
        loop {
            let next = marks.next(self.loss_cursor.max(self.head), reach, out);
            self.pass(marks, next);
            if next >= reach || !late(self.sent(next).at) {
                break;
            }
            self.mark_one_lost(marks, next);
            marks.word_mut(next).hidden |= 1 << (next & 63);
            self.pass(marks, next + 1);
        }
        let last = times.once.advance(self.loss_cursor, reach, |from, to| marks.last(from, to, out));
        last.map(|ordinal| self.sent(ordinal).at)
    }

    /// Retransmitted segments: marks the overdue; returns when the latest of them was sent.
    fn overdue_again(&mut self, marks: &mut Marks, times: &mut Times, late: impl Fn(u64) -> bool) -> Option<u64> {
        let mut latest = None;
        while let Some(&(ordinal, at)) = times.log.front() {
            if self.is_out_again(marks, ordinal, at) {
                if self.key(ordinal) >= times.latest || !late(at) {
                    break;
                }
                self.mark_one_lost(marks, ordinal);
                marks.word_mut(ordinal).hidden |= 1 << (ordinal & 63);
                times.lost_again.push_back(ordinal);
                latest = Some(at);
            }
            times.log.pop_front();
            times.log_start += 1;
        }
        latest
    }

    /// When the last of the retransmitted segments before `RACK.segment` and still out was sent.
    fn last_again(&self, marks: &Marks, times: &mut Times) -> Option<u64> {
        let (start, log, latest) = (times.log_start, &times.log, times.latest);
        let entry = |position: u64| log[(position - start) as usize];
        let is_out = |position: u64| {
            let (ordinal, at) = entry(position);
            self.is_out_again(marks, ordinal, at)
        };
        let mut reach = times.again.reach.max(start);
        let end = start + log.len() as u64;
        while reach < end && (!is_out(reach) || self.key(entry(reach).0) < latest) {
            reach += 1;
        }
        let last = times.again.advance(start, reach, |from, to| (from..to).rev().find(|&position| is_out(position)));
        last.map(|position| log[(position - start) as usize].1)
    }

    /// Whether the retransmission of `ordinal` at `at` is its last and still out.
    fn is_out_again(&self, marks: &Marks, ordinal: u64, at: u64) -> bool {
        ordinal >= self.head && marks.word(ordinal).resent >> (ordinal & 63) & 1 == 1 && self.sent(ordinal).at == at
    }

    /// When a segment was sent and where it ends, RFC 8985's order of sending.
    fn key(&self, ordinal: u64) -> (u64, u64) {
        (self.sent(ordinal).at, self.seq_of(ordinal) + self.len_of(ordinal))
    }

    /// The segment is lost, and so is its retransmission if there was one, which counts as another loss.
    pub(super) fn mark_one_lost(&mut self, marks: &mut Marks, ordinal: u64) {
        let (len, bit) = (self.len_of(ordinal), 1 << (ordinal & 63));
        let word = marks.word(ordinal);
        let (known, again) = (word.lost & bit != 0, word.resent & bit != 0);
        self.lost_bytes += if known { 0 } else { len };
        self.lost_total += if known && !again { 0 } else { len };
        self.add_lost_ranges(u32::from((!known || again) && !self.follows_lost(marks, ordinal)));
        self.resent_bytes -= if again { len } else { 0 };
        let word = marks.word_mut(ordinal);
        word.lost |= bit;
        word.resent &= !bit;
    }

    /// Of the lost segments `base + lost` those whose last retransmission was lost: they are still to be retransmitted.
    pub(super) fn keep_lost_again(&mut self, marks: &mut Marks, base: u64, lost: u64) -> u64 {
        let mut rest = lost & !marks.word(base).resent;
        let mut kept = 0;
        while rest != 0 {
            let ordinal = base + u64::from(rest.trailing_zeros());
            if self.sent(ordinal).meta & RETRANSMITTED != 0
                && let Some(times) = &mut marks.times
            {
                kept |= 1 << (ordinal & 63);
                times.lost_again.push_back(ordinal);
                self.lost_bytes += self.len_of(ordinal);
            }
            rest &= rest - 1;
        }
        kept
    }

    /// A timeout (section 6.3): the first segment is lost, and what is out for longer than RACK.rtt + `window`.
    pub fn lose_overdue(&mut self, now: u64, window: u64) {
        if self.head == self.tail {
            return;
        }
        let Some(mut marks) = self.marks.take() else { return };
        if marks.is_sacked(self.head) {
            self.marks = Some(marks);
            return self.lose_all();
        }
        let wait = marks.times.as_ref().map_or(0, |times| times.rtt).saturating_add(window);
        let mut end = self.loss_cursor;
        for ordinal in self.head..self.tail {
            let late = ordinal == self.head || self.sent(ordinal).at.saturating_add(wait) <= now;
            if late && !marks.is_sacked(ordinal) {
                self.mark_one_lost(&mut marks, ordinal);
                end = end.max(ordinal + 1);
            }
        }
        self.pass(&marks, end);
        self.resend_cursor = self.head;
        if let Some(times) = &mut marks.times {
            times.rescan(self.loss_cursor);
        }
        self.marks = Some(marks);
        self.settle();
    }

    /// `taken` was acknowledged while nothing was marked: if the last of it was retransmitted, as a probe, and may have arrived by its
    /// first transmission, what was sent once tells.
    pub fn time_unmarked(&mut self, taken: &Taken) {
        if !self.keeps_times() || taken.newest == u64::MAX {
            return;
        }
        let (sent, ack) = (*self.sent(taken.newest), self.una);
        let Some(times) = self.times_mut() else { return };
        let doubtful = sent.meta & RETRANSMITTED != 0 && sent.at >= times.doubt_acked;
        let (at, end) = if doubtful { (taken.last_at, ack - u64::from(sent.meta & LEN)) } else { (sent.at, ack) };
        if at != u64::MAX {
            times.newest = times.newest.max((at, end));
            times.last = (ACKNOWLEDGED, at);
        }
    }

    /// Segment `ordinal` was delivered.
    pub(super) fn time(&self, marks: &mut Marks, ordinal: u64, sacked: bool) {
        if let Some(times) = &mut marks.times {
            times.sacked += u64::from(sacked);
            times.delivered(self.sent(ordinal), ordinal, self.key(ordinal).1, sacked);
        }
    }

    /// The first segment whose retransmission was lost and which was not retransmitted since.
    pub(super) fn next_lost_again(&mut self) -> Option<Range> {
        let head = self.head;
        let marks = self.marks.as_mut()?;
        while let Some(&ordinal) = marks.times.as_ref()?.lost_again.front() {
            let word = marks.word(ordinal);
            if ordinal >= head && word.lost & !word.resent & 1 << (ordinal & 63) != 0 {
                return Some(self.range(ordinal));
            }
            marks.times.as_mut()?.lost_again.pop_front();
        }
        None
    }
}
