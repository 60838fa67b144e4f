//! Limiters in a host's port: a queue for each pair of hosts (or each flow) that notifications of congestion are about, behind
//! its reaction point. What no notification is about waits in the port's ordinary queue.
//!
//! ```text
//! next frame of a limiter not before   max(its turn before, start of the last - L / CR) + L / CR      L: wire bytes of the last
//! ```
//!
//! A frame that the port sends late leaves credit for one frame. The ordinary queue and the limiters whose time has come
//! take turns, a frame each. A limiter whose rate is the line's again is gone as soon as nothing waits behind it; until then it
//! goes on at the line's rate, so that no frame overtakes another. Frames of a new limiter that wait in an ordinary FIFO move
//! behind it; in other disciplines they stay and may be overtaken.

use std::collections::VecDeque;

use elephan_engine::Alarm;
use elephan_link::congestion::{Feedback, Reaction};
use elephan_link::queue::{Discarded, Discipline, Item, Limit, Queue, Verdict};
use elephan_units::{Bytes, PS_PER_S, Rate, Span, Time};

/// What a limiter is for: the node of the destination, or the flow.
pub type Key = u32;

/// The limiters of one port of a host.
pub struct Nic {
    line: Rate,
    stop_at: Bytes,
    /// In the order of their keys.
    limiters: Vec<Limiter>,
    /// The limiter that sent last; none if that was the ordinary queue.
    last: Option<Key>,
    /// What waits behind all of them.
    bytes: u64,
    packets: u64,
    /// Of the earliest timer of a reaction point.
    pub alarm: Alarm,
    pub notified: u64,
    /// Limiters ever made: by its number the random stream of each is named.
    pub made: u64,
}

/// One limiter: its queue and its reaction point.
pub struct Limiter {
    pub key: Key,
    pub reaction: Reaction,
    queue: VecDeque<Item>,
    pub bytes: u64,
    /// The next frame may start when `bits` have passed at the limiter's rate since then.
    base: Time,
    bits: u64,
    /// Sockets that have stopped for it, first come first.
    stopped: VecDeque<u32>,
}

impl Limiter {
    fn rate(&self, line: Rate) -> f64 {
        self.reaction.rate().unwrap_or(line.0 as f64)
    }

    /// When the next frame may start.
    fn ready_at(&self, line: Rate) -> Time {
        let paced = self.base.saturating_add(passing(self.bits, self.rate(line)));
        paced.max(self.reaction.stopped_until())
    }

    pub fn packets(&self) -> u64 {
        self.queue.len() as u64
    }
}

/// How long so many bits take at a rate, rounded up.
fn passing(bits: u64, rate: f64) -> Span {
    // The conversion saturates.
    Span((bits as f64 / rate * PS_PER_S as f64).ceil() as u64)
}

/// What a port sends next: the frame, whether it is to be marked, and the place of its limiter.
pub type Next = (Item, bool, Option<usize>);

impl Nic {
    pub fn new(line: Rate, stop_at: Bytes) -> Nic {
        Nic {
            line,
            stop_at,
            limiters: Vec::new(),
            last: None,
            bytes: 0,
            packets: 0,
            alarm: Alarm::default(),
            notified: 0,
            made: 0,
        }
    }

    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    pub fn packets(&self) -> u64 {
        self.packets
    }

    pub fn limiters(&self) -> &[Limiter] {
        &self.limiters
    }

    /// The place of the limiter for a key.
    pub fn place(&self, key: Key) -> Option<usize> {
        self.limiters.binary_search_by_key(&key, |l| l.key).ok()
    }

    fn is_full(&self, place: usize) -> bool {
        self.limiters[place].bytes > self.stop_at.0
    }

    /// A notification about `key` has come; `make` makes a reaction point if there is none and this one asks for less. Answers
    /// whether there is a new limiter.
    pub fn notify(
        &mut self,
        now: Time,
        key: Key,
        from: u32,
        says: Feedback,
        make: impl FnOnce(u64) -> Option<Reaction>,
    ) -> bool {
        self.notified += 1;
        let (place, new) = match self.limiters.binary_search_by_key(&key, |l| l.key) {
            Ok(place) => (place, false),
            Err(place) => {
                let Some(reaction) = says.slows().then(|| make(self.made)).flatten() else { return false };
                self.made += 1;
                let queue = VecDeque::new();
                let stopped = VecDeque::new();
                self.limiters.insert(place, Limiter { key, reaction, queue, bytes: 0, base: now, bits: 0, stopped });
                (place, true)
            }
        };
        self.limiters[place].reaction.on_notification(now, from, says);
        self.release(place);
        new
    }

    /// Offers a frame to the limiter at `place`, which takes all of a sender that can be stopped, and of others (datagrams) what
    /// is within `limit`. Counts the limiters that are full.
    pub fn offer(&mut self, place: usize, item: Item, stops: bool, limit: Limit, full: &mut u32) -> Verdict {
        if !stops && !limit.admits(self.bytes, self.packets, item.bytes) {
            return Verdict::Dropped("nic_full");
        }
        *full += u32::from(self.enqueue(place, item));
        Verdict::Accepted
    }

    /// Puts a frame behind the limiter at `place`. Answers whether that has become full.
    pub fn enqueue(&mut self, place: usize, item: Item) -> bool {
        let before = self.is_full(place);
        let limiter = &mut self.limiters[place];
        limiter.queue.push_back(item);
        limiter.bytes += u64::from(item.bytes);
        self.bytes += u64::from(item.bytes);
        self.packets += 1;
        !before && self.is_full(place)
    }

    /// The next frame of the port at `now`: of its ordinary queue and the limiters in turn.
    pub fn dequeue(&mut self, now: Time, ordinary: &mut Queue, discarded: &mut Discarded) -> Option<Next> {
        let count = self.limiters.len();
        let first = self.last.map_or(0, |key| self.limiters.partition_point(|l| l.key <= key));
        for place in (first..=count).chain(0..first) {
            if place == count {
                if let Some((item, marked)) = ordinary.dequeue(now, discarded) {
                    self.last = None;
                    return Some((item, marked, None));
                }
                continue;
            }
            let limiter = &mut self.limiters[place];
            if limiter.queue.is_empty() || limiter.ready_at(self.line) > now {
                continue;
            }
            if let Some(item) = limiter.queue.pop_front() {
                limiter.bytes -= u64::from(item.bytes);
                self.bytes -= u64::from(item.bytes);
                self.packets -= 1;
                self.last = Some(limiter.key);
                return Some((item, false, Some(place)));
            }
        }
        None
    }

    /// When [`Nic::dequeue`] has something to send, if nothing comes before.
    pub fn ready_at(&self) -> Time {
        let waiting = self.limiters.iter().filter(|l| !l.queue.is_empty());
        waiting.map(|l| l.ready_at(self.line)).min().unwrap_or(Time::NEVER)
    }

    /// The frame of `bytes`, `wire` with preamble and gap, that the limiter at `place` has given starts now.
    pub fn on_start(&mut self, now: Time, place: usize, bytes: u32, wire: u32) {
        let line = self.line;
        let limiter = &mut self.limiters[place];
        let (ready, bits) = (limiter.ready_at(line), u64::from(wire) * 8);
        let gap = passing(bits, limiter.rate(line));
        (limiter.base, limiter.bits) = (ready.max(Time(now.0.saturating_sub(gap.0))), bits);
        limiter.reaction.on_sent(now, bytes);
    }

    /// Whether the limiter at `place` has just fallen to what its senders may go on at, having been full; to be called after a
    /// frame of so many bytes has left it.
    pub fn has_drained(&self, place: usize, bytes: u32) -> bool {
        let (now, half) = (self.limiters[place].bytes, self.stop_at.0 / 2);
        now <= half && now + u64::from(bytes) > half
    }

    /// Whether the limiter at `place` has just ceased to be full.
    pub fn has_room(&self, place: usize, bytes: u32) -> bool {
        !self.is_full(place) && self.limiters[place].bytes + u64::from(bytes) > self.stop_at.0
    }

    /// Takes the limiter at `place` away if it limits nothing and holds nothing.
    pub fn release(&mut self, place: usize) {
        let limiter = &self.limiters[place];
        if limiter.reaction.rate().is_none() && limiter.queue.is_empty() && limiter.stopped.is_empty() {
            self.limiters.remove(place);
        }
    }

    /// When [`Nic::on_timer`] must be called.
    pub fn next_timer(&self) -> Time {
        self.limiters.iter().map(|l| l.reaction.next_timer()).min().unwrap_or(Time::NEVER)
    }

    pub fn on_timer(&mut self, now: Time) {
        for place in (0..self.limiters.len()).rev() {
            let limiter = &mut self.limiters[place];
            if limiter.reaction.next_timer() <= now {
                limiter.reaction.on_timer(now);
                self.release(place);
            }
        }
    }

    /// Whether a sender must not send behind the limiter for `key` now; if so it is told later.
    pub fn stops(&mut self, key: Key, socket: u32) -> bool {
        let Some(place) = self.place(key).filter(|&place| self.is_full(place)) else { return false };
        let stopped = &mut self.limiters[place].stopped;
        if !stopped.contains(&socket) {
            stopped.push_back(socket);
        }
        true
    }

    /// The next of the sockets that may go on.
    pub fn next_stopped(&mut self, key: Key) -> Option<u32> {
        let place = self.place(key).filter(|&place| !self.is_full(place))?;
        let socket = self.limiters[place].stopped.pop_front();
        if socket.is_none() {
            self.release(place);
        }
        socket
    }
}
