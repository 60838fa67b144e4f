//! Pause intervals of all ports, by the port where congestion began: what the records of single ports share.
//! `net/pause_intervals.rs` has the words.

use std::collections::BTreeMap;

use crate::ids::LinkId;
use elephan_units::{Span, Time};

/// What the next pause interval of a port will be due to.
#[derive(Clone, Copy)]
pub struct Cause {
    pub port: LinkId,
    pub parent: Option<Parent>,
}

/// A pause interval; `end` is when it will be over unless something else comes.
#[derive(Clone, Copy)]
pub struct PauseInterval {
    pub me: Parent,
    pub parent: Option<u32>,
    pub cause: LinkId,
    pub priority: Option<u8>,
    pub begin: Time,
    pub end: Time,
    pub refreshes: u32,
    pub packets: u64,
    pub bytes: u64,
}

/// Pause intervals of one root further apart are two episodes: a hundred round trips of a data centre.
const EPISODE_GAP: Span = Span::from_ms(1);

/// What made a switch send a PAUSE.
#[derive(Clone, Copy, Debug)]
pub enum Blame {
    /// The buffer of this link's port.
    Egress(LinkId),
    /// What came in through the port that is told to pause.
    Ingress,
    /// The memory that all ports share.
    Memory,
}

/// A pause interval as its children know it.
#[derive(Clone, Copy)]
pub struct Parent {
    pub id: u32,
    pub root: LinkId,
    pub depth: u32,
    pub episode: u32,
}

/// A pause interval that is over, or that the end of the run cuts off.
#[derive(Clone, Copy)]
pub struct Paused {
    pub pause: u32,
    pub port: LinkId,
    pub priority: Option<u8>,
    pub begin: Time,
    pub end: Time,
    pub over: bool,
    pub refreshes: u32,
    /// What waited behind it at any time.
    pub packets: u64,
    pub bytes: u64,
    pub cause: LinkId,
    pub parent: Option<u32>,
    pub root: LinkId,
    pub depth: u32,
    pub episode: u32,
}

/// A port where congestion began.
#[derive(Clone)]
struct Root {
    episode: u32,
    /// Pause intervals that nobody has closed, each with its end as far as it is known. Some may have run out unseen.
    open: Vec<(u32, Time)>,
    /// The latest end of those that were closed.
    last: Time,
}

impl Root {
    /// Whether a pause interval that begins at `begin`, and is decided at `now`, belongs to the episode of those before.
    fn goes_on(&self, now: Time, begin: Time) -> bool {
        let is_near = |end: Time| end > now || end.saturating_add(EPISODE_GAP) >= begin;
        is_near(self.last) || self.open.iter().any(|&(_, end)| is_near(end))
    }
}

/// What the ports' records share.
#[derive(Clone, Default)]
pub struct PauseIntervals {
    next: u32,
    episodes: u32,
    roots: BTreeMap<LinkId, Root>,
    /// Rows to write.
    pub done: Vec<Paused>,
}

impl PauseIntervals {
    /// A pause interval that lasts from `begin` to `end` for now, decided at `now`.
    pub fn begin(&mut self, now: Time, (begin, end): (Time, Time), cause: Cause) -> Parent {
        let id = self.next;
        self.next += 1;
        let me = match cause.parent {
            Some(parent) => Parent { id, depth: parent.depth + 1, ..parent },
            None => {
                let known = self.roots.get(&cause.port).filter(|root| root.goes_on(now, begin));
                let episode = known.map_or(self.episodes + 1, |root| root.episode);
                self.episodes = self.episodes.max(episode);
                let root = self.roots.entry(cause.port).or_insert(Root { episode, open: Vec::new(), last: now });
                root.episode = episode;
                Parent { id, root: cause.port, depth: 1, episode }
            }
        };
        if let Some(root) = self.roots.get_mut(&me.root) {
            root.open.push((id, end));
        }
        me
    }

    /// A pause interval ends at another time.
    pub fn prolong(&mut self, me: Parent, end: Time) {
        let root = self.roots.get_mut(&me.root);
        if let Some((_, known)) = root.and_then(|root| root.open.iter_mut().find(|(id, _)| *id == me.id)) {
            *known = end;
        }
    }

    pub fn end(&mut self, port: LinkId, interval: PauseInterval, end: Time, over: bool) {
        let PauseInterval { me, parent, cause, priority, begin, refreshes, packets, bytes, .. } = interval;
        if let Some(root) = self.roots.get_mut(&me.root) {
            root.open.retain(|(id, _)| *id != me.id);
            root.last = root.last.max(end);
        }
        if begin < end {
            let Parent { id: pause, root, depth, episode } = me;
            self.done.push(Paused {
                pause,
                port,
                priority,
                begin,
                end,
                over,
                refreshes,
                packets,
                bytes,
                cause,
                parent,
                root,
                depth,
                episode,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pause intervals of one root, "each at most 1 ms after the end of those before" (docs/models/spreading.md): one begins 1 ms after
    /// the first has run out, the next 2 ms after that one. Nobody has looked at their ports meanwhile.
    #[test]
    fn a_pause_that_has_run_out_unseen_ends_its_episode() {
        let ms = |ms| Time::ZERO + Span::from_ms(ms);
        let mut intervals = PauseIntervals::default();
        let cause = Cause { port: LinkId(0), parent: None };
        let mut episode = |begin, end| intervals.begin(ms(begin), (ms(begin), ms(end)), cause).episode;
        assert_eq!([episode(0, 2), episode(3, 4), episode(6, 9), episode(7, 8)], [1, 1, 2, 2]);
    }

    /// A pause interval that a later PAUSE has prolonged is not over, and one that a resumption has ended early is.
    #[test]
    fn an_episode_goes_by_the_ends_that_are_known() {
        let ms = |ms| Time::ZERO + Span::from_ms(ms);
        let mut intervals = PauseIntervals::default();
        let cause = Cause { port: LinkId(0), parent: None };
        let me = intervals.begin(ms(0), (ms(0), ms(2)), cause);
        intervals.prolong(me, ms(9));
        assert_eq!(intervals.begin(ms(8), (ms(8), ms(20)), cause).episode, 1);
        let (parent, priority, end) = (None, None, ms(20));
        let second = PauseInterval {
            me: Parent { id: 1, ..me },
            parent,
            cause: LinkId(0),
            priority,
            begin: ms(8),
            end,
            refreshes: 0,
            packets: 0,
            bytes: 0,
        };
        intervals.end(LinkId(1), second, ms(10), true);
        assert_eq!(intervals.begin(ms(12), (ms(12), ms(13)), cause).episode, 2);
    }
}
