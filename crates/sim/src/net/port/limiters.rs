//! Limiters in a host's port: a queue for each pair of hosts (or each flow) that notifications of congestion are about, behind
//! its reaction point. What no notification is about waits in the port's ordinary queue.
//!
//! ```text
//! next frame of a limiter not before   max(its turn before, start of the last - L / CR) + L / CR      L: wire bytes of the last
//! ```
//!
//! A frame that the port sends late leaves credit for one frame. The ordinary queue and the limiters whose time has come
//! take turns, a frame each. A limiter whose rate is the line's again is gone as soon as nothing waits behind it; until then it
//! goes on at the line's rate, so that no frame overtakes another. Frames of a new limiter that wait in an ordinary FIFO (or in
//! FIFOs by priority or class) move behind it; in other disciplines they stay and may be overtaken.

use std::collections::VecDeque;

use elephan_engine::Alarm;
use elephan_link::congestion::{Feedback, Reaction};
use elephan_link::queue::{Discarded, Discipline, Item, Limit, Queue, Verdict};
use elephan_units::{Bytes, PS_PER_S, Rate, Size, Span, Time};

use super::nic::Handed;

/// What a limiter is for: the node of the destination, or the flow.
pub type Key = u32;

/// The limiters of one port of a host.
#[derive(Clone)]
pub struct Limiters {
    line: Rate,
    stop_at: Bytes,
    /// Most behind one limiter of what cannot be stopped; the limit of the port's queue if there is none.
    limit: Option<Limit>,
    /// In the order of their keys.
    all: Vec<Limiter>,
    /// The limiter that sent last; none if that was the ordinary queue.
    last: Option<Key>,
    /// Priorities that are paused, a bit each: no limiter sends them.
    pub paused: u8,
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
#[derive(Clone)]
pub struct Limiter {
    pub key: Key,
    pub reaction: Reaction,
    queue: VecDeque<Item>,
    pub bytes: u64,
    /// What the interface has handed over of what waits.
    pub handed: Handed,
    /// The next frame may start when `bits` have passed at the limiter's rate since then.
    base: Time,
    bits: u64,
    /// It has been full and not yet drained: senders are stopped.
    holding: bool,
    /// Sockets that have stopped for it, first come first, and the one that goes on just now.
    stopped: VecDeque<u32>,
    going: Option<u32>,
}

impl Limiter {
    fn new(now: Time, key: Key, reaction: Reaction) -> Limiter {
        Limiter {
            key,
            reaction,
            queue: VecDeque::new(),
            bytes: 0,
            handed: Handed::default(),
            base: now,
            bits: 0,
            holding: false,
            stopped: VecDeque::new(),
            going: None,
        }
    }

    fn rate(&self, line: Rate) -> f64 {
        self.reaction.rate().unwrap_or(line.0 as f64)
    }

    /// When the next frame may start, for all that the limiter says; never if none waits or its priority is paused.
    fn next_at(&self, line: Rate, paused: u8) -> Time {
        if self.may_send(paused) { self.ready_at(line) } else { Time::NEVER }
    }

    /// When the next frame may start, for all that its rate says.
    fn ready_at(&self, line: Rate) -> Time {
        let paced = self.base.saturating_add(passing(self.bits, self.rate(line)));
        paced.max(self.reaction.stopped_until())
    }

    /// Whether something waits whose priority is not paused.
    fn may_send(&self, paused: u8) -> bool {
        self.queue.front().is_some_and(|first| paused >> (first.priority & 7) & 1 == 0)
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

impl Limiters {
    pub fn new(line: Rate, stop_at: Bytes, limit: Option<Size>) -> Limiters {
        Limiters {
            line,
            stop_at,
            limit: limit.map(|size| Limit::of(Some(size), 0)),
            all: Vec::new(),
            last: None,
            paused: 0,
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

    pub fn all(&self) -> &[Limiter] {
        &self.all
    }

    /// What the interface has handed over to the limiter at `place`.
    pub fn handed(&mut self, place: usize) -> &mut Handed {
        &mut self.all[place].handed
    }

    /// The rate of the port has changed.
    pub fn set_line(&mut self, line: Rate) {
        self.line = line;
        for place in (0..self.all.len()).rev() {
            self.all[place].reaction.set_line(line);
            self.release(place);
        }
    }

    /// The place of the limiter for a key.
    pub fn place(&self, key: Key) -> Option<usize> {
        self.all.binary_search_by_key(&key, |l| l.key).ok()
    }

    fn is_full(&self, place: usize) -> bool {
        self.all[place].bytes > self.stop_at.0
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
        let (place, new) = match self.all.binary_search_by_key(&key, |l| l.key) {
            Ok(place) => (place, false),
            Err(place) => {
                let Some(reaction) = says.slows().then(|| make(self.made)).flatten() else { return false };
                self.made += 1;
                self.all.insert(place, Limiter::new(now, key, reaction));
                (place, true)
            }
        };
        self.all[place].reaction.on_notification(now, from, says);
        self.release(place);
        new
    }

    /// Offers a frame to the limiter at `place`, which takes all of a sender that can be stopped. Of others (datagrams) it takes
    /// what its own limit admits, or else `limit`, that of the port; what waits elsewhere does not count. Counts the limiters that are full.
    pub fn offer(&mut self, place: usize, item: Item, stops: bool, limit: Limit, full: &mut u32) -> Verdict {
        let (limiter, limit) = (&self.all[place], self.limit.unwrap_or(limit));
        if !stops && !limit.admits(limiter.bytes, limiter.packets(), item.bytes) {
            return Verdict::Dropped("nic_full");
        }
        *full += u32::from(self.enqueue(place, item));
        Verdict::Accepted
    }

    /// Puts a frame behind the limiter at `place`. Answers whether it begins to hold its senders.
    pub fn enqueue(&mut self, place: usize, item: Item) -> bool {
        let limiter = &mut self.all[place];
        limiter.queue.push_back(item);
        limiter.bytes += u64::from(item.bytes);
        self.bytes += u64::from(item.bytes);
        self.packets += 1;
        let begins = self.is_full(place) && !self.all[place].holding;
        self.all[place].holding |= begins;
        begins
    }

    /// The next frame of the port at `now`: of its ordinary queue and the limiters in turn.
    pub fn dequeue(&mut self, now: Time, ordinary: &mut Queue, discarded: &mut Discarded) -> Option<Next> {
        let count = self.all.len();
        let first = self.last.map_or(0, |key| self.all.partition_point(|l| l.key <= key));
        for place in (first..=count).chain(0..first) {
            if place == count {
                if let Some((item, marked)) = ordinary.dequeue(now, discarded) {
                    self.last = None;
                    return Some((item, marked, None));
                }
                continue;
            }
            let limiter = &mut self.all[place];
            if limiter.next_at(self.line, self.paused) > now {
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

    /// When [`Limiters::dequeue`] has something to send, if nothing comes before.
    pub fn ready_at(&self) -> Time {
        self.all.iter().map(|l| l.next_at(self.line, self.paused)).min().unwrap_or(Time::NEVER)
    }

    /// All that waits goes to `out`.
    pub fn drain(&mut self, out: &mut Discarded, reason: &'static str) {
        for limiter in &mut self.all {
            limiter.handed = Handed::default();
            out.extend(limiter.queue.drain(..).map(|item| (item, reason)));
            limiter.bytes = 0;
        }
        (self.bytes, self.packets) = (0, 0);
    }

    /// The frame of `bytes`, `wire` with preamble and gap, that the limiter at `place` has given starts now.
    pub fn on_start(&mut self, now: Time, place: usize, bytes: u32, wire: u32) {
        let line = self.line;
        let limiter = &mut self.all[place];
        let (ready, bits) = (limiter.ready_at(line), u64::from(wire) * 8);
        let gap = passing(bits, limiter.rate(line));
        (limiter.base, limiter.bits) = (ready.max(Time(now.0.saturating_sub(gap.0))), bits);
        limiter.reaction.on_sent(now, bytes);
    }

    /// Whether the limiter at `place` has just fallen to what its senders may go on at; to be called after a frame of so many
    /// bytes has left it.
    pub fn has_drained(&self, place: usize, bytes: u32) -> bool {
        let (limiter, half) = (&self.all[place], self.stop_at.0 / 2);
        limiter.holding && limiter.bytes <= half && limiter.bytes + u64::from(bytes) > half
    }

    /// Takes the limiter at `place` away if it limits nothing and holds nothing.
    pub fn release(&mut self, place: usize) {
        let limiter = &self.all[place];
        if limiter.reaction.rate().is_none() && limiter.queue.is_empty() && !limiter.holding {
            self.all.remove(place);
        }
    }

    /// When [`Limiters::on_timer`] must be called.
    pub fn next_timer(&self) -> Time {
        self.all.iter().map(|l| l.reaction.next_timer()).min().unwrap_or(Time::NEVER)
    }

    pub fn on_timer(&mut self, now: Time) {
        for place in (0..self.all.len()).rev() {
            let limiter = &mut self.all[place];
            if limiter.reaction.next_timer() <= now {
                limiter.reaction.on_timer(now);
                self.release(place);
            }
        }
    }

    /// Whether a sender must not send behind the limiter for `key` now; if so it is told later. Once one has stopped all take
    /// their turns, else those whose frames wait would fill with each ACK the room that others wait for.
    pub fn stops(&mut self, key: Key, socket: u32) -> bool {
        let Some(place) = self.place(key).filter(|&place| self.all[place].holding) else { return false };
        let full = self.is_full(place);
        let limiter = &mut self.all[place];
        if !full && limiter.going == Some(socket) {
            return false;
        }
        if !limiter.stopped.contains(&socket) {
            limiter.stopped.push_back(socket);
        }
        true
    }

    /// The next of the senders that may go on. With none left and room the limiter holds nobody any more, which leaves one less in
    /// `full`.
    pub fn next_stopped(&mut self, key: Key, full: &mut u32) -> Option<u32> {
        let place = self.place(key)?;
        let has_room = !self.is_full(place);
        let limiter = &mut self.all[place];
        limiter.going = if has_room { limiter.stopped.pop_front() } else { None };
        if has_room && limiter.going.is_none() {
            *full -= u32::from(std::mem::take(&mut limiter.holding));
            self.release(place);
            return None;
        }
        limiter.going
    }
}

#[cfg(test)]
mod tests {
    use elephan_link::congestion::qcn::{Qcn, ReactionPoint};
    use elephan_link::queue::{Parameters, QueueSpec};
    use elephan_random::Stream;

    use super::*;

    const LINE: Rate = Rate(10_000_000_000);

    fn limiters() -> Limiters {
        Limiters::new(LINE, Bytes(6_000), None)
    }

    fn reaction() -> Option<Reaction> {
        let spec = Qcn { jitter: 0.0, ..Qcn::default() };
        Some(Reaction::Qcn(ReactionPoint::new(&spec, LINE, Stream::new(1, "test", "limiters"))))
    }

    fn item(handle: u32) -> Item {
        Item { handle, bytes: 1518, ..Item::default() }
    }

    /// The handles that the port sends from `now` on, each with its instant, while it is never busy.
    fn sent(limiters: &mut Limiters, ordinary: &mut Queue, mut now: Time) -> Vec<(u32, u64)> {
        let mut out = Vec::new();
        loop {
            while let Some((item, _, place)) = limiters.dequeue(now, ordinary, &mut Vec::new()) {
                out.push((item.handle, now.0));
                if let Some(place) = place {
                    limiters.on_start(now, place, item.bytes, 1538);
                }
            }
            match limiters.ready_at() {
                Time::NEVER => return out,
                ready => now = ready,
            }
        }
    }

    /// A first notification of 63 leaves 10 - 4.922 = 5.078125 Gb/s: 1538 bytes of wire in 2.4229416 us.
    #[test]
    fn a_limiter_spaces_its_frames() {
        let (mut limiters, mut ordinary) = (limiters(), QueueSpec::default().build(0));
        assert!(!limiters.notify(Time::ZERO, 7, 0, Feedback::Qcn(0), |_| reaction()), "it asks for nothing");
        assert!(limiters.notify(Time(1_000), 7, 0, Feedback::Qcn(63), |_| reaction()));
        assert!(!limiters.notify(Time(1_000), 7, 0, Feedback::Qcn(0), |_| reaction()));
        let place = limiters.place(7).unwrap();
        assert!((0..3).all(|n| !limiters.enqueue(place, item(n))));
        assert!(limiters.enqueue(place, item(3)), "6072 bytes of 6000");
        ordinary.enqueue(Time::ZERO, item(9), &mut Vec::new());
        let gap = 2_422_942;
        let expected = [(0, 1_000), (9, 1_000), (1, 1_000 + gap), (2, 1_000 + 2 * gap), (3, 1_000 + 3 * gap)];
        let found = sent(&mut limiters, &mut ordinary, Time(1_000));
        assert!(found.iter().zip(expected).all(|(a, b)| a.0 == b.0 && a.1.abs_diff(b.1) <= 3), "{found:?}");
        assert_eq!((found.len(), limiters.bytes(), limiters.packets()), (5, 0, 0));
    }

    /// The ordinary queue and two limiters whose time has come send a frame each in turn.
    #[test]
    fn turns() {
        let (mut limiters, mut ordinary) = (limiters(), QueueSpec::default().build(0));
        for key in [3, 5] {
            limiters.notify(Time::ZERO, key, 0, Feedback::Qcn(1), |_| reaction());
            let place = limiters.place(key).unwrap();
            assert!((0..2).all(|n| !limiters.enqueue(place, item(10 * key + n))));
        }
        assert!((0..2).all(|n| ordinary.enqueue(Time::ZERO, item(n), &mut Vec::new()) == Verdict::Accepted));
        // Frames are taken 10 us apart, so that every limiter is always ready.
        let order: Vec<u32> = (1..=6)
            .map(|turn| {
                let (item, _, place) =
                    limiters.dequeue(Time(turn * 10_000_000), &mut ordinary, &mut Vec::new()).unwrap();
                place.into_iter().for_each(|place| limiters.on_start(Time(turn * 10_000_000), place, 1518, 1538));
                item.handle
            })
            .collect();
        assert_eq!(order, [30, 50, 0, 31, 51, 1]);
    }

    /// A full limiter stops senders; it calls them in their order when half of its bytes are left, until it is full again.
    #[test]
    fn stopping_and_calling() {
        let (mut limiters, mut ordinary) = (limiters(), QueueSpec::default().build(0));
        limiters.notify(Time::ZERO, 7, 0, Feedback::Qcn(63), |_| reaction());
        let place = limiters.place(7).unwrap();
        assert!(!limiters.stops(7, 1), "nothing waits");
        assert_eq!((0..4).map(|n| limiters.enqueue(place, item(n))).collect::<Vec<_>>(), [false, false, false, true]);
        assert!(limiters.stops(7, 1) && limiters.stops(7, 2) && limiters.stops(7, 1) && !limiters.stops(8, 3));
        let mut full = 1;
        assert_eq!((limiters.next_stopped(7, &mut full), full), (None, 1), "it is full");
        let mut take = |limiters: &mut Limiters| {
            let now = limiters.ready_at();
            let (item, _, _) = limiters.dequeue(now, &mut ordinary, &mut Vec::new()).unwrap();
            limiters.on_start(now, place, item.bytes, 1538);
            limiters.has_drained(place, item.bytes)
        };
        // 4554, 3036 and 1518 bytes are left.
        assert_eq!([take(&mut limiters), take(&mut limiters), take(&mut limiters)], [false, false, true]);
        assert!(limiters.stops(7, 4), "it comes after those that have stopped");
        assert_eq!(limiters.next_stopped(7, &mut full), Some(1));
        assert!(!limiters.stops(7, 1) && limiters.stops(7, 2));
        let order = [(); 3].map(|()| limiters.next_stopped(7, &mut full));
        assert_eq!((order, full), ([Some(2), Some(4), None], 0));
        assert!(!limiters.stops(7, 1));
    }

    /// A limiter at the line's rate lasts until its queue is empty.
    #[test]
    fn a_limiter_that_limits_no_more_goes() {
        let mut limiters = limiters();
        limiters.notify(Time::ZERO, 7, 0, Feedback::Qcn(1), |_| reaction());
        let place = limiters.place(7).unwrap();
        limiters.enqueue(place, item(0));
        // Cycles of 150 kB raise the rate to the line's: 9.92 Gb/s, 10 - 0.08/2 ... and active increase passes it.
        (0..2_000).for_each(|n| limiters.all[place].reaction.on_sent(Time(n), 1518));
        assert_eq!(limiters.all[place].reaction.rate(), None);
        limiters.release(place);
        assert_eq!(limiters.all().len(), 1);
        let mut ordinary = QueueSpec::default().build(0);
        assert!(limiters.dequeue(Time(1), &mut ordinary, &mut Vec::new()).is_some());
        limiters.release(place);
        assert!(limiters.all().is_empty());
    }
}
