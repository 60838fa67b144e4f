//! Pause intervals: which port was held when, by whose buffer, and which flows waited for it (docs/data-dictionary.md, `pauses` and
//! `holds`).

use std::collections::BTreeMap;

use elephan_record::{HoldRow, PauseRow};
use elephan_units::{Span, Time};

use super::engine::Engine;
use super::queue::Waiting;

/// Pause intervals of one root that are further apart belong to two episodes.
const EPISODE_GAP_PS: u64 = 1_000_000_000;

/// What made a switch pause a neighbour.
#[derive(Clone, Copy)]
pub enum Blame {
    /// The buffer of this port.
    Egress(usize),
    /// What came in through the port whose neighbour is paused.
    Ingress,
    /// The memory of all ports.
    Memory,
}

/// A pause interval of a port.
#[derive(Clone)]
struct Interval {
    number: usize,
    port: usize,
    begin: u64,
    /// When it ends, as far as is known.
    end: u64,
    is_open: bool,
    refreshes: u64,
    /// What waits behind it at any time.
    packets: u64,
    bytes: u64,
    cause: usize,
    parent: Option<usize>,
    root: usize,
    depth: u64,
    episode: usize,
}

/// What the pauses of an episode did to a flow at a port.
#[derive(Default)]
struct Held {
    root: usize,
    packets: u64,
    bytes: u64,
    time: u64,
    longest: u64,
    bound: u64,
}

/// All pause intervals of a run.
#[derive(Default)]
pub struct Spread {
    intervals: Vec<Interval>,
    episodes: usize,
    /// By port: what the next pause of it will be due to.
    asked: BTreeMap<usize, (usize, Option<usize>)>,
    /// By port: when the packet came that left last, or the first after none waited.
    left: BTreeMap<usize, u64>,
    /// By port, episode and flow.
    held: BTreeMap<(usize, usize, usize), Held>,
}

impl Spread {
    fn open(&mut self, port: usize) -> Option<&mut Interval> {
        self.intervals.iter_mut().find(|one| one.port == port && one.is_open)
    }

    /// Ends what has run out.
    fn expire(&mut self, now: u64) {
        self.intervals.iter_mut().filter(|one| one.end <= now).for_each(|one| one.is_open = false);
    }

    /// Returns the episode of a pause that begins at `begin` and has no parent. One that is not over may still be prolonged.
    fn episode(&mut self, root: usize, begin: u64) -> usize {
        let of_root = || self.intervals.iter().filter(|one| one.root == root);
        let goes_on = of_root().any(|one| one.is_open || one.end + EPISODE_GAP_PS >= begin);
        of_root().map(|one| one.episode).max().filter(|_| goes_on).unwrap_or_else(|| {
            self.episodes += 1;
            self.episodes
        })
    }
}

impl Engine<'_> {
    /// Whether pause intervals are recorded.
    fn is_watched(&self) -> bool {
        self.plan.record.events
    }

    /// A switch decides that the station behind its port `out` must not send.
    pub fn asked(&mut self, node: usize, out: usize, blame: Blame) {
        let cause = match blame {
            Blame::Egress(port) => port,
            Blame::Ingress => self.fullest(node, Some(out)),
            Blame::Memory => self.fullest(node, None),
        };
        let parent = self.holding(cause);
        let paused = self.plan.links[out].reverse as usize;
        self.spread.asked.insert(paused, (cause, parent));
    }

    /// The port of a switch where most waits, of all or of what came in where `out` leaves; of two that has a frame on the wire, then
    /// the first.
    fn fullest(&self, node: usize, out: Option<usize>) -> usize {
        let Some(switch) = &self.switches[node] else { panic!("a switch") };
        let ingress = switch.egress.iter().position(|&port| Some(port) == out);
        let counts = |one: &&Waiting| ingress.is_none_or(|ingress| one.packet.ingress == ingress);
        let order = |&&port: &&usize| {
            let p = &self.ports[port];
            let bytes: u64 = p.queue.line.waiting().filter(counts).map(|one| one.bytes).sum();
            (bytes, p.sending.is_some(), std::cmp::Reverse(port))
        };
        *switch.egress.iter().max_by_key(order).expect("a port")
    }

    /// Returns the pause interval that holds a port now, or one that is over while packets wait and none that came later has left.
    fn holding(&mut self, port: usize) -> Option<usize> {
        let now = self.now;
        let holds = |one: &&Interval| one.port == port && one.begin < one.end;
        let running = self.spread.intervals.iter().filter(holds).find(|one| one.begin <= now && now < one.end);
        let over = self.spread.intervals.iter().filter(holds).filter(|one| one.end <= now).max_by_key(|one| one.end);
        let left = self.spread.left.get(&port).copied().unwrap_or(0);
        let waits = |one: &&Interval| self.ports[port].queue.packets() > 0 && left < one.end;
        running.or(over.filter(waits)).map(|one| one.number)
    }

    /// A PAUSE or a resumption has reached a port, whose gate is now closed from `begin` to `end`.
    pub fn gated(&mut self, port: usize, (begin, end): (u64, u64)) {
        let now = self.now;
        self.spread.expire(now);
        if let Some(open) = self.spread.open(port) {
            open.end = end;
            if end <= now {
                open.is_open = false;
            } else {
                open.refreshes += 1;
            }
            return;
        }
        let Some(&(cause, parent)) = self.spread.asked.get(&port) else { return };
        if begin >= end || end <= now {
            return;
        }
        let number = self.spread.intervals.len();
        let (root, depth, episode) = match parent {
            None => (cause, 1, self.spread.episode(cause, begin)),
            Some(parent) => {
                let parent = &self.spread.intervals[parent];
                (parent.root, parent.depth + 1, parent.episode)
            }
        };
        let queue = &self.ports[port].queue;
        let (packets, bytes) = (queue.packets(), queue.bytes());
        self.spread.intervals.push(Interval {
            number,
            port,
            begin,
            end,
            is_open: true,
            refreshes: 0,
            packets,
            bytes,
            cause,
            parent,
            root,
            depth,
            episode,
        });
    }

    /// A packet of so many bytes waits at a port from now on.
    pub fn waits_from_now(&mut self, port: usize, bytes: u64) {
        let now = self.now;
        if self.ports[port].queue.packets() == 1 {
            self.spread.left.insert(port, now);
        }
        if let Some(open) = self.spread.open(port).filter(|open| open.end > now) {
            (open.packets, open.bytes) = (open.packets + 1, open.bytes + bytes);
        }
    }

    /// A packet waits no more: it leaves, or is dropped.
    pub fn waits_no_more(&mut self, port: usize, waiting: &Waiting, is_sent: bool) {
        if is_sent {
            self.count_held(port, waiting);
            self.spread.left.insert(port, waiting.since);
        }
        // It is gone before a pause begins whose PAUSE is here already.
        let now = self.now;
        if let Some(open) = self.spread.open(port).filter(|open| open.begin > now) {
            (open.packets, open.bytes) = (open.packets - 1, open.bytes - waiting.bytes);
        }
    }

    /// Counts for how long pauses have held a packet that waits until now.
    fn count_held(&mut self, port: usize, waiting: &Waiting) {
        let (now, flow) = (self.now, waiting.packet.flow);
        let Spread { intervals, held, .. } = &mut self.spread;
        let mut counted = Vec::new();
        for one in intervals.iter().filter(|one| one.port == port) {
            let time = one.end.min(now).saturating_sub(one.begin.max(waiting.since));
            if time == 0 {
                continue;
            }
            let held = held.entry((port, one.episode, flow)).or_insert(Held { root: one.root, ..Held::default() });
            if !counted.contains(&one.episode) {
                counted.push(one.episode);
                held.packets += 1;
                held.bytes += waiting.bytes;
                held.bound += u64::from(waiting.packet.route.contains(&held.root));
            }
            held.time += time;
            held.longest = held.longest.max(time);
        }
    }

    /// Writes the rows of pause intervals and of what they held; what still waits has been held until now.
    pub fn write_spread(&mut self) {
        if !self.is_watched() {
            return;
        }
        for port in 0..self.ports.len() {
            while let Some(waiting) = self.ports[port].queue.line.pop() {
                self.count_held(port, &waiting);
            }
        }
        let now = self.now;
        for one in std::mem::take(&mut self.spread.intervals) {
            let end = one.end.min(now);
            if one.begin >= end {
                continue;
            }
            let link = &self.plan.links[one.port];
            let (node, peer) = (self.node_name(link.from as usize), self.node_name(link.to as usize));
            self.recorder.pauses.push(PauseRow {
                pause: one.number as i64,
                port: one.port as i64,
                node,
                peer,
                priority: None,
                begin_ns: Time(one.begin).ns(),
                end_ns: (one.end <= now).then(|| Time(one.end).ns()),
                duration_ns: Span(end - one.begin).ns(),
                refreshes: one.refreshes as i64,
                packets: one.packets as i64,
                bytes: one.bytes as i64,
                cause: one.cause as i64,
                parent: one.parent.map(|parent| parent as i64),
                root: one.root as i64,
                depth: one.depth as i64,
                episode: one.episode as i64,
            });
        }
        for ((port, episode, flow), held) in std::mem::take(&mut self.spread.held) {
            self.recorder.holds.push(HoldRow {
                episode: episode as i64,
                root: held.root as i64,
                port: port as i64,
                flow: flow as i64,
                packets: held.packets as i64,
                bytes: held.bytes as i64,
                held_ns: Span(held.time).ns(),
                longest_ns: Span(held.longest).ns(),
                bound_packets: held.bound as i64,
            });
        }
    }
}
