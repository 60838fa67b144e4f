//! What one port knows of its pause intervals: which are open, which are over and still hold what waits, and for how long each flow was held.
//!
//! Pause intervals of one priority follow each other without overlap, and packets of one priority leave in their order. So those of one
//! priority and episode that are over stand in a line with their sums, and what a packet was held by them is the difference of two,
//! whatever their number: a port that is paused at every other frame while thousands wait has thousands of them.

use std::collections::VecDeque;

use elephan_link::queue::Item;
use elephan_units::{Span, Time};

use super::episodes::{Cause, Parent, PauseInterval, PauseIntervals};
use crate::ids::LinkId;

const PRIORITIES: usize = 8;

fn concerns(of: Option<u8>, priority: u8) -> bool {
    of.is_none_or(|own| own == priority)
}

fn meet(of: Option<u8>, priority: Option<u8>) -> bool {
    priority.is_none_or(|priority| concerns(of, priority))
}

/// What pause intervals of one episode at one port did to a flow.
#[derive(Clone, Copy)]
pub struct Held {
    pub episode: u32,
    pub flow: u32,
    pub root: LinkId,
    pub packets: u64,
    pub bytes: u64,
    pub time: Span,
    pub longest: Span,
    /// Packets whose route has the root in it.
    pub bound: u64,
    /// The departure counted last.
    departure: u64,
}

/// What waits of a priority.
#[derive(Clone, Copy, Default)]
struct Waiting {
    packets: u64,
    bytes: u64,
    /// When the packet that left last had come, or the first after none waited: what waits has come then or later.
    left: Time,
}

/// Pause intervals of one priority and episode that are over, in their order, and may still hold what waits.
#[derive(Clone)]
struct Line {
    priority: Option<u8>,
    past: VecDeque<Past>,
    /// Ordinal of the first of them.
    first: u64,
    /// Ordinals and lengths of those that no later one outlasts.
    peaks: VecDeque<(u64, Span)>,
}

/// A pause interval that is over.
#[derive(Clone, Copy)]
struct Past {
    me: Parent,
    begin: Time,
    end: Time,
    /// Time of all pause intervals of its line up to its end.
    upto: Span,
}

impl Line {
    fn push(&mut self, interval: &PauseInterval) {
        let length = interval.end.since(interval.begin);
        let before = self.past.back().map_or(Span::ZERO, |last| last.upto);
        while self.peaks.back().is_some_and(|(_, shorter)| *shorter <= length) {
            self.peaks.pop_back();
        }
        self.peaks.push_back((self.first + self.past.len() as u64, length));
        let (me, begin, end) = (interval.me, interval.begin, interval.end);
        self.past.push_back(Past { me, begin, end, upto: before + length });
    }

    fn pop(&mut self) {
        self.past.pop_front();
        self.first += 1;
        if self.peaks.front().is_some_and(|(ordinal, _)| *ordinal < self.first) {
            self.peaks.pop_front();
        }
    }

    /// For how long they have held a packet that came at `at`, and how long the longest.
    fn held(&self, at: Time) -> Option<(Span, Span)> {
        let last = self.past.back()?;
        let place = self.past.partition_point(|p| p.end <= at);
        let first = self.past.get(place)?;
        let own = first.end.since(first.begin.max(at));
        let later = Span(last.upto.0 - first.upto.0);
        let next = self.first + place as u64 + 1;
        let peak = self.peaks.get(self.peaks.partition_point(|(ordinal, _)| *ordinal < next));
        Some((own + later, own.max(peak.map_or(Span::ZERO, |(_, length)| *length))))
    }
}

/// The record of one port.
#[derive(Clone, Default)]
pub struct Watch {
    pub open: Vec<PauseInterval>,
    over: Vec<Line>,
    pub asked: Vec<(Option<u8>, Cause)>,
    waiting: [Waiting; PRIORITIES],
    /// Bytes waiting, by ingress port and priority.
    from: Vec<[u64; PRIORITIES]>,
    departures: u64,
    /// By episode and flow.
    pub held: Vec<Held>,
}

impl Watch {
    /// A packet waits from now on.
    #[inline]
    pub fn enter(&mut self, item: Item, ingress: Option<u32>) {
        let p = usize::from(item.priority) % PRIORITIES;
        let waiting = &mut self.waiting[p];
        if waiting.packets == 0 {
            waiting.left = item.at;
        }
        waiting.packets += 1;
        waiting.bytes += u64::from(item.bytes);
        if let Some(ingress) = ingress {
            let ingress = ingress as usize;
            match self.from.get_mut(ingress) {
                Some(from) => from[p] += u64::from(item.bytes),
                None => {
                    self.from.resize(ingress + 1, [0; PRIORITIES]);
                    self.from[ingress][p] = u64::from(item.bytes);
                }
            }
        }
        for interval in self.open.iter_mut().filter(|c| concerns(c.priority, item.priority) && c.end > item.at) {
            interval.packets += 1;
            interval.bytes += u64::from(item.bytes);
        }
    }

    /// Whether no pause interval is open, or holds what still waits: frames that do not wait are of no interest then.
    #[inline]
    pub fn is_quiet(&self) -> bool {
        self.open.len() + self.over.len() == 0
    }

    /// As [`Watch::leave`], while no pause interval is open or remembered.
    #[inline]
    pub fn leave_quietly(&mut self, item: Item, ingress: Option<u32>, sent: bool) {
        let p = usize::from(item.priority) % PRIORITIES;
        let bytes = u64::from(item.bytes);
        let waiting = &mut self.waiting[p];
        waiting.packets -= 1;
        waiting.bytes -= bytes;
        if sent {
            waiting.left = item.at;
        }
        if let Some(from) = ingress.and_then(|ingress| self.from.get_mut(ingress as usize)) {
            from[p] -= bytes;
        }
    }

    /// A packet waits no more: it leaves, or it was dropped.
    #[inline]
    pub fn leave(&mut self, now: Time, item: Item, ingress: Option<u32>, sent: bool) {
        let bytes = u64::from(item.bytes);
        self.leave_quietly(item, ingress, sent);
        // It was gone before a pause interval began whose PAUSE is here already.
        for interval in self.open.iter_mut().filter(|c| concerns(c.priority, item.priority) && c.begin > now) {
            interval.packets -= 1;
            interval.bytes -= bytes;
        }
        if !self.over.is_empty() {
            self.forget();
        }
    }

    /// Forgets pause intervals that hold nothing any more.
    fn forget(&mut self) {
        let waiting = self.waiting;
        self.over.retain_mut(|line| {
            while line.past.front().is_some_and(|first| !still_holds(&waiting, line.priority, first.end)) {
                line.pop();
            }
            !line.past.is_empty()
        });
    }

    /// The pause interval that holds what waits here, if one does.
    pub fn holding(&self, now: Time, priority: Option<u8>) -> Option<Parent> {
        let shut = |c: &&PauseInterval| meet(c.priority, priority) && c.begin <= now && now < c.end;
        let open = self.open.iter().find(shut).map(|c| c.me);
        let last = |line: &Line| line.past.back().filter(|p| still_holds(&self.waiting, line.priority, p.end)).copied();
        let over = || self.over.iter().filter(|line| meet(line.priority, priority)).filter_map(last);
        open.or_else(|| over().max_by_key(|p| p.end).map(|p| p.me))
    }

    pub fn waiting_bytes(&self, ingress: Option<u32>, priority: Option<u8>) -> u64 {
        let of = |p: usize| match ingress {
            Some(ingress) => self.from.get(ingress as usize).map_or(0, |from| from[p]),
            None => self.waiting[p].bytes,
        };
        (0..PRIORITIES).filter(|&p| priority.is_none_or(|own| usize::from(own) == p)).map(of).sum()
    }

    pub fn waits(&self, priority: Option<u8>) -> (u64, u64) {
        let of = |(p, _): &(u8, &Waiting)| priority.is_none_or(|own| own == *p);
        let add = |sum: (u64, u64), (_, w): (u8, &Waiting)| (sum.0 + w.packets, sum.1 + w.bytes);
        (0u8..).zip(&self.waiting).filter(of).fold((0, 0), add)
    }

    /// Counts how long pause intervals have held a packet that leaves at `now`; `bound` says whether it will pass a root.
    pub fn count(&mut self, now: Time, item: Item, bound: impl Fn(LinkId) -> bool) {
        self.departures += 1;
        let Watch { open, over, held, departures, .. } = self;
        let mut add = |of: Parent, time: Span, longest: Span| {
            let one = entry(held, of, item.flow);
            if one.departure != *departures {
                one.departure = *departures;
                one.packets += 1;
                one.bytes += u64::from(item.bytes);
                one.bound += u64::from(bound(one.root));
            }
            one.time = one.time + time;
            one.longest = one.longest.max(longest);
        };
        for line in over.iter().filter(|line| concerns(line.priority, item.priority)) {
            if let (Some((time, longest)), Some(last)) = (line.held(item.at), line.past.back()) {
                add(last.me, time, longest);
            }
        }
        for interval in open.iter().filter(|c| concerns(c.priority, item.priority)) {
            let (begin, end) = (interval.begin.max(item.at), interval.end.min(now));
            if begin < end {
                add(interval.me, end.since(begin), end.since(begin));
            }
        }
    }

    /// Ends what has run out.
    pub fn expire(&mut self, now: Time, link: LinkId, intervals: &mut PauseIntervals) {
        while let Some(place) = self.open.iter().position(|c| c.end <= now) {
            let interval = self.open.remove(place);
            self.close(interval, interval.end, true, link, intervals);
        }
    }

    /// A pause interval is over, or the run is.
    pub fn close(
        &mut self,
        interval: PauseInterval,
        end: Time,
        over: bool,
        link: LinkId,
        intervals: &mut PauseIntervals,
    ) {
        intervals.end(link, interval, end, over);
        let interval = PauseInterval { end, ..interval };
        let PauseInterval { me, priority, .. } = interval;
        if interval.begin >= end || !still_holds(&self.waiting, priority, end) {
            return;
        }
        let same =
            |line: &Line| line.priority == priority && line.past.back().is_some_and(|p| p.me.episode == me.episode);
        let place = self.over.iter().position(same).unwrap_or_else(|| {
            self.over.push(Line { priority, past: VecDeque::new(), first: 0, peaks: VecDeque::new() });
            self.over.len() - 1
        });
        self.over[place].push(&interval);
    }
}

/// Whether what came before the end of a pause interval may still wait.
fn still_holds(waiting: &[Waiting; PRIORITIES], priority: Option<u8>, end: Time) -> bool {
    let of = |(p, w): (u8, &Waiting)| concerns(priority, p) && w.packets > 0 && w.left < end;
    (0u8..).zip(waiting).any(of)
}

/// The place of a flow in an episode's account.
fn entry(held: &mut Vec<Held>, of: Parent, flow: u32) -> &mut Held {
    let place = held.partition_point(|h| (h.episode, h.flow) < (of.episode, flow));
    if held.get(place).is_none_or(|h| (h.episode, h.flow) != (of.episode, flow)) {
        let (episode, root) = (of.episode, of.root);
        let none = Span::ZERO;
        let new = Held { episode, flow, root, packets: 0, bytes: 0, time: none, longest: none, bound: 0, departure: 0 };
        held.insert(place, new);
    }
    &mut held[place]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Frames that a pause held back have left once none waits (docs/models/spreading.md): what comes after its end, at 20, was not held.
    #[test]
    fn what_comes_to_an_empty_queue_was_not_held() {
        let mut watch = Watch::default();
        let item = |at| Item { at: Time(at), ..Item::default() };
        watch.enter(item(10), None);
        assert!(still_holds(&watch.waiting, None, Time(20)));
        watch.leave_quietly(item(10), None, true);
        watch.enter(item(30), None);
        assert!(!still_holds(&watch.waiting, None, Time(20)));
        assert!(still_holds(&watch.waiting, None, Time(40)));
    }

    proptest! {
        /// Any line of pause intervals, of which the first may be forgotten, against the sum over all of them.
        #[test]
        fn sums_over_a_line(
            steps in prop::collection::vec((0u64..50, 1u64..50), 1..60), forgotten in 0usize..40, at in 0u64..3000,
        ) {
            let me = Parent { id: 0, root: LinkId(0), depth: 1, episode: 1 };
            let mut line = Line { priority: None, past: VecDeque::new(), first: 0, peaks: VecDeque::new() };
            let (mut now, mut all) = (0, vec![]);
            for (gap, length) in steps {
                let (begin, end) = (Time(now + gap), Time(now + gap + length));
                now = end.0;
                all.push((begin, end));
                let (cause, priority, parent) = (LinkId(0), None, None);
                line.push(&PauseInterval { me, parent, cause, priority, begin, end, refreshes: 0, packets: 0, bytes: 0 });
            }
            // What is forgotten was over when the packet came.
            let at = Time(at);
            let gone = all.iter().take(forgotten).take_while(|(_, end)| *end <= at).count();
            (0..gone).for_each(|_| line.pop());
            let parts = all.iter().filter(|(_, end)| *end > at).map(|&(begin, end)| end.since(begin.max(at)));
            let expected = parts.clone().max().map(|longest| (parts.fold(Span::ZERO, |sum, part| sum + part), longest));
            prop_assert_eq!(line.held(at), expected);
        }
    }
}
