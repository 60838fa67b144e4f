//! What each instant of a direction was spent on: one owner for each, so that the parts add up to the whole.
//!
//! The division follows what the sender knew. A capture away from the sender sees an answer before the sender does: the answer
//! counts when a round trip from the capture to the sender has passed. At the sender that round trip is zero. A silence has
//! its owner only when the next segment says what ended it: a retransmission shows that the sender waited for its timer.

use std::collections::VecDeque;

use crate::stretches::Stretches;

/// Who or what held the sender back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Owner {
    /// The receiver's window was closed.
    Closed,
    /// The receiver's window had no room for another segment.
    Window,
    /// The sender had nothing to send.
    Application,
    /// Losses were repaired.
    Recovery,
    /// The sender waited for its timer.
    Timer,
    /// The round trip was longer than its least by a queue: the link was full.
    Rate,
    /// The congestion window, the sender's own buffer or the path: a capture cannot tell these apart.
    Path,
    /// Nothing came, and nothing in the capture says why.
    Unknown,
}

impl Owner {
    pub const ALL: [Owner; 8] = [
        Owner::Closed,
        Owner::Window,
        Owner::Application,
        Owner::Recovery,
        Owner::Timer,
        Owner::Rate,
        Owner::Path,
        Owner::Unknown,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Owner::Closed => "closed",
            Owner::Window => "window",
            Owner::Application => "application",
            Owner::Recovery => "recovery",
            Owner::Timer => "timer",
            Owner::Rate => "rate",
            Owner::Path => "path",
            Owner::Unknown => "unknown",
        }
    }
}

/// Nanoseconds of each owner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shares([u64; 8]);

impl Shares {
    pub fn of(&self, owner: Owner) -> u64 {
        self.0[owner as usize]
    }

    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    fn shift(&mut self, time: u64, from: Owner, to: Owner) {
        self.0[from as usize] -= time;
        self.0[to as usize] += time;
    }
}

/// What an answer tells the sender.
#[derive(Clone, Copy, Debug, Default)]
pub struct Answer {
    pub acked: u64,
    pub window: Option<u64>,
    /// The round trip is longer than its least by a queue.
    pub queued: bool,
    /// It carries data of the peer: what follows may answer that.
    pub asks: bool,
}

/// A segment that follows an ACK within this time, and a part of the time that the ACK takes to the sender, was let out by the ACK.
const PROMPT_NS: u64 = 500_000;
const PROMPT_PART: u64 = 100;

/// What the sender knows.
#[derive(Clone, Copy, Debug, Default)]
pub struct View {
    pub highest: u64,
    /// The last answer that has reached the sender.
    pub answer: Answer,
    /// The end of what was outstanding when a loss was last repaired.
    pub recover: Option<u64>,
    /// The last new segment ended what the application had written.
    pub drained: bool,
    /// The sender has said that it is done.
    pub fin: bool,
    pub scale_known: bool,
    /// A segment: less room in the window is none.
    pub segment: u64,
    /// Away from the sender nobody knows to the segment what it had in flight when its round trip varies: so much more room is none.
    pub slack: u64,
    /// The highest end of any window, and whether the sender has gone beyond it: then windows are not what they seem.
    edge: u64,
    is_beyond: bool,
}

impl View {
    pub fn inflight(&self) -> u64 {
        self.highest.saturating_sub(self.answer.acked)
    }

    /// Whether the window has no room for a segment, and `slack` more.
    fn lacks_room(&self, slack: u64) -> bool {
        let room = self.answer.window.map(|window| window.saturating_sub(self.inflight()));
        self.scale_known && room.is_some_and(|room| room < self.segment + slack)
    }

    fn owner(&self) -> Owner {
        let inflight = self.inflight();
        let over = self.fin && inflight == 0;
        match () {
            () if self.answer.window == Some(0) && !over => Owner::Closed,
            () if self.recover.is_some_and(|recover| self.answer.acked < recover) => Owner::Recovery,
            // A sender with more to send waits for room (RFC 1122 section 4.2.3.4).
            () if inflight == 0 && (over || self.drained || self.is_beyond || !self.lacks_room(0)) => {
                Owner::Application
            }
            () if self.lacks_room(self.slack) => Owner::Window,
            () if self.drained => Owner::Application,
            () if self.answer.queued && inflight >= SEGMENTS_MIN * self.segment.min(inflight) => Owner::Rate,
            () => Owner::Path,
        }
    }
}

/// With fewer segments in flight a long round trip is a delayed ACK.
const SEGMENTS_MIN: u64 = 3;

/// What a segment shows about the silence that it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Silence {
    /// A retransmission by the timer, which waited for so long.
    Timer(u64),
    /// The application had nothing to send: it was asked meanwhile, or had come to the end of what it wrote.
    Application,
    /// Segments were lost before the capture.
    Lost,
    /// It is as short as the round trip to the sender may vary.
    Brief,
    /// Nothing says what the sender waited for.
    Unclear,
}

/// The division of one direction.
#[derive(Clone, Debug, Default)]
pub struct Division {
    /// The time up to which each instant has its owner; nothing before the first data.
    at: Option<u64>,
    owner: Option<Owner>,
    totals: Shares,
    /// The totals when the last new data was acknowledged.
    settled: Shares,
    settled_at: u64,
    settled_drained_ns: u64,
    pub view: View,
    /// When data came last, the least time that a byte took (ps), which is how a link spaces segments, and since when they have come no
    /// further apart.
    data_at: Option<u64>,
    byte_ps: Option<u64>,
    train_at: Option<u64>,
    /// The train began with what the application had just written.
    train_is_first: bool,
    /// How long the last answer takes to the sender, and when one without data last let the sender go on.
    after: u64,
    freed_at: Option<u64>,
    /// When the last new data came and, if it ended what the application wrote, the time that is the application's since then.
    drained_at: u64,
    drained_ns: u64,
    /// Answers that have not reached the sender, with the times when they will.
    pending: VecDeque<(u64, Answer)>,
    pub stretches: Stretches,
}

impl Division {
    /// A segment with data was sent at `now`; `view` is what changes by it.
    pub fn sent(&mut self, now: u64, silence: Silence, change: impl FnOnce(&mut View)) {
        self.arrive(now);
        if self.at.is_none() {
            self.at = Some(now);
        }
        match (silence, self.owner) {
            (_, None | Some(Owner::Closed)) => {}
            (Silence::Timer(quiet), _) => {
                self.own(now.saturating_sub(quiet), None);
                self.own(now, Some(Owner::Timer));
            }
            // Only a silence with nothing in flight needs an owner.
            (_, Some(Owner::Application)) if self.view.inflight() == 0 => match silence {
                Silence::Lost => self.own(now, Some(Owner::Timer)),
                Silence::Unclear => self.own(now, Some(Owner::Unknown)),
                Silence::Brief => self.own(now, Some(Owner::Path)),
                _ => {}
            },
            _ => {}
        }
        let (drained, before) = (self.view.drained, self.view.highest);
        let is_first = self.view.inflight() == 0 || drained;
        change(&mut self.view);
        if self.view.highest > before {
            self.go_on(now, drained);
        }
        self.view.is_beyond |= self.view.edge > 0 && self.view.highest > self.view.edge;
        if self.is_in_train(now, self.view.highest.saturating_sub(before), is_first) {
            match self.view.owner() {
                Owner::Window => self.own(now, Some(Owner::Window)),
                // No ACK can have let out what comes within a round trip.
                Owner::Application if self.train_is_first && self.at.is_some_and(|at| now - at <= self.after) => {
                    self.own(now, Some(Owner::Application));
                }
                _ => {}
            }
        }
        self.settle(now);
    }

    /// New data comes at `now`. If an ACK has let it out, a short segment before it was no end of what the application wrote.
    fn go_on(&mut self, now: u64, drained: bool) {
        let near = PROMPT_NS + self.after / PROMPT_PART;
        if drained && self.freed_at.is_some_and(|freed| now - freed.min(now) <= near) {
            self.totals.shift(self.drained_ns, Owner::Application, Owner::Path);
            self.stretches.rename((self.drained_at, now), Owner::Application, Owner::Path);
        }
        (self.drained_at, self.drained_ns) = (now, 0);
    }

    /// Returns whether what has no owner yet may have left together with the segment that comes at `now`: a link keeps such segments no
    /// further apart. Such a time says nothing about when the sender had room.
    fn is_in_train(&mut self, now: u64, bytes: u64, is_first: bool) -> bool {
        let gap = self.data_at.replace(now).map(|before| now - before).filter(|gap| *gap > 0);
        if let Some(byte_ps) = gap.and_then(|gap| gap.saturating_mul(1000).checked_div(bytes)) {
            let least = self.byte_ps.map_or(byte_ps, |least| least.min(byte_ps));
            self.byte_ps = Some(least);
            if byte_ps > least + least / 2 {
                self.train_at = None;
            }
        }
        if self.train_at.is_none() {
            self.train_is_first = is_first;
        }
        let train = *self.train_at.get_or_insert(now);
        self.after > 0 && self.owner == Some(Owner::Path) && self.at >= Some(train)
    }

    /// An answer was seen at `now` that reaches the sender `after` nanoseconds later.
    pub fn answered(&mut self, now: u64, after: u64, answer: Answer) {
        self.arrive(now);
        self.after = after;
        self.view.edge = self.view.edge.max(answer.acked + answer.window.unwrap_or(0));
        if after == 0 && self.pending.is_empty() {
            self.take(now, answer);
        } else {
            // Answers do not overtake each other.
            let due = self.pending.back().map_or(0, |(due, _)| *due).max(now + after);
            self.pending.push_back((due, answer));
        }
    }

    /// Takes the answers that have reached the sender by `now`.
    pub fn arrive(&mut self, now: u64) {
        while let Some(&(due, answer)) = self.pending.front().filter(|(due, _)| *due <= now) {
            self.pending.pop_front();
            self.take(due, answer);
        }
    }

    /// Since when nothing is in flight, as far as the sender knows.
    pub fn idle_since(&self) -> Option<u64> {
        self.at.filter(|_| self.owner == Some(Owner::Application) && self.view.inflight() == 0)
    }

    /// The peer has sent data. Returns since when nothing is in flight, if all that the application wrote was sent: what was on its way
    /// before was the path's.
    pub fn asked(&mut self) -> Option<u64> {
        let idle = self.idle_since()?;
        if !self.view.drained {
            return Some(idle);
        }
        self.totals.shift(self.drained_ns, Owner::Application, Owner::Path);
        self.settled.shift(self.settled_drained_ns, Owner::Application, Owner::Path);
        self.stretches.rename((self.drained_at, idle), Owner::Application, Owner::Path);
        (self.drained_ns, self.settled_drained_ns) = (0, 0);
        Some(idle)
    }

    /// A probe shows at `now` that the sender still takes the window for closed.
    pub fn was_closed(&mut self, now: u64) {
        self.arrive(now);
        self.own(now, Some(Owner::Closed));
    }

    /// The data of the SYN does not count from `place` on.
    pub fn refuse(&mut self, place: u64) {
        (self.at, self.owner, self.view.highest) = (None, None, place);
    }

    fn take(&mut self, now: u64, answer: Answer) {
        let opens = self.owner == Some(Owner::Closed) && answer.window != Some(0);
        let news = answer.acked > self.view.answer.acked || opens;
        self.view.answer = answer;
        self.freed_at = if news { Some(now).filter(|_| !answer.asks) } else { self.freed_at };
        self.settle(now);
        if news && self.at.is_some() {
            self.own(now, None);
            self.keep(now);
        }
    }

    fn keep(&mut self, now: u64) {
        (self.settled, self.settled_at, self.settled_drained_ns) = (self.totals, now, self.drained_ns);
    }

    /// The state may have changed at `now`.
    fn settle(&mut self, now: u64) {
        let owner = self.view.owner();
        if self.at.is_some() && self.owner != Some(owner) {
            self.own(now, None);
            self.owner = Some(owner);
        }
    }

    /// Gives the time up to `until` to `owner`, or to the one that the state says.
    fn own(&mut self, until: u64, owner: Option<Owner>) {
        let (Some(at), Some(owner)) = (self.at, owner.or(self.owner)) else { return };
        if until > at {
            self.totals.0[owner as usize] += until - at;
            if owner == Owner::Application && self.view.drained {
                self.drained_ns += until.saturating_sub(at.max(self.drained_at));
            }
            self.stretches.add(at, until, owner);
            self.at = Some(until);
        }
    }

    /// The shares up to the last ACK of new data or, if something was outstanding or the window closed at the end, up to `end`.
    pub fn finish(&mut self, end: u64) -> Shares {
        let last = self.pending.back().map_or(end, |(due, _)| *due).max(end);
        self.arrive(last);
        let open = self.view.inflight() > 0 || self.owner == Some(Owner::Closed);
        if open {
            self.own(last, None);
            self.keep(last);
        }
        // The last data of all was on its way: no application could have been faster.
        self.settled.shift(self.settled_drained_ns, Owner::Application, Owner::Path);
        if self.settled_drained_ns > 0 {
            self.stretches.rename((self.drained_at, self.settled_at), Owner::Application, Owner::Path);
        }
        self.stretches.finish(self.settled_at);
        self.settled
    }
}

#[cfg(test)]
mod tests;
