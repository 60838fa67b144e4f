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
    open: u32,
    last: Time,
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
    pub fn begin(&mut self, begin: Time, cause: Cause) -> Parent {
        let id = self.next;
        self.next += 1;
        let me = match cause.parent {
            Some(parent) => Parent { id, depth: parent.depth + 1, ..parent },
            None => {
                let episodes = &mut self.episodes;
                let root = self.roots.entry(cause.port).or_insert_with(|| {
                    *episodes += 1;
                    Root { episode: *episodes, open: 0, last: begin }
                });
                if root.open == 0 && root.last.saturating_add(EPISODE_GAP) < begin {
                    self.episodes += 1;
                    root.episode = self.episodes;
                }
                Parent { id, root: cause.port, depth: 1, episode: root.episode }
            }
        };
        if let Some(root) = self.roots.get_mut(&me.root) {
            root.open += 1;
        }
        me
    }

    pub fn end(&mut self, port: LinkId, interval: PauseInterval, end: Time, over: bool) {
        let PauseInterval { me, parent, cause, priority, begin, refreshes, packets, bytes, .. } = interval;
        if let Some(root) = self.roots.get_mut(&me.root) {
            root.open -= 1;
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
