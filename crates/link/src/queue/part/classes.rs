//! Classes of priorities, each with a queue of its own: some strictly before the others, the rest in turns by their weights.
//!
//! ```text
//! strict:  the first class of the list that has packets and is not paused
//! turn:    credit += weight;  send while credit > 0, credit -= cost of each packet (its bytes, or 1)
//! paused or empty:  credit = min(credit, 0), and the turn passes on
//! ```
//!
//! The last packet of a turn may cost more than what is left of the credit; the debt is kept. So no queue need show its next
//! packet before it gives it, and of two classes that always have packets each has been sent its weights to within one
//! packet after every round. A class loses unused credit, not its debt, when it is paused or has nothing to send.

use elephan_random::Stream;
use elephan_units::{Rate, Time};

use crate::queue::{CongestionHeader, Discarded, Discipline, Item, Limit, Queue, Verdict};

/// Priorities of IEEE 802.1Q.
pub const PRIORITIES: usize = 8;

/// What a class may send in its turn, and what a packet takes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cost {
    Bytes,
    Packets,
}

/// One class.
#[derive(Clone, Debug)]
struct Class {
    queue: Queue,
    /// Its priorities, a bit each.
    mask: u8,
    /// None: strictly before all that have one.
    weight: Option<i64>,
    credit: i64,
}

/// A class to be: its priorities, its weight unless it is strict, and its queue.
#[derive(Clone)]
pub struct Member {
    pub mask: u8,
    pub weight: Option<i64>,
    pub queue: Queue,
}

/// All classes of a port.
#[derive(Clone, Debug)]
pub struct Classes {
    classes: Vec<Class>,
    /// The class of each priority.
    of: [u8; PRIORITIES],
    cost: Cost,
    /// Classes, a bit each: those before all others, those where packets wait, those that mind an idle link, and those that are
    /// paused, by the priorities that `stopped` has.
    strict: u8,
    waiting: u8,
    minding: u8,
    paused: u8,
    stopped: u8,
    /// Whose turn it is, and whether it has had its weight.
    turn: usize,
    granted: bool,
    /// The class that has sent last.
    sent: usize,
    bytes: u64,
    packets: u64,
}

impl Classes {
    /// Priorities that no class names belong to the last one.
    pub fn new(cost: Cost, members: impl IntoIterator<Item = Member>) -> Classes {
        let class = |Member { mask, weight, queue }| Class { queue, mask, weight, credit: 0 };
        let mut classes: Vec<Class> = members.into_iter().map(class).collect();
        let named = classes.iter().fold(0, |all, c| all | c.mask);
        if let Some(last) = classes.last_mut() {
            last.mask |= !named;
        }
        let of = |priority: usize| classes.iter().position(|c| c.mask >> priority & 1 == 1).unwrap_or(0) as u8;
        let of = std::array::from_fn(of);
        let strict = bits(&classes, |c| c.weight.is_none());
        let minding = bits(&classes, |c| c.queue.minds_idle());
        let (waiting, paused, stopped) = (0, 0, 0);
        Classes {
            classes,
            of,
            cost,
            strict,
            waiting,
            minding,
            paused,
            stopped,
            turn: 0,
            granted: false,
            sent: 0,
            bytes: 0,
            packets: 0,
        }
    }

    /// Asks class `i`; what waits there may be held back by a shaper.
    fn ask(&mut self, i: usize, now: Time, discarded: &mut Discarded) -> Option<(Item, bool)> {
        let before = discarded.len();
        let sent = self.classes[i].queue.dequeue(now, discarded);
        self.gone(&discarded[before..]);
        if let Some((item, _)) = &sent {
            self.bytes -= u64::from(item.bytes);
            self.packets -= 1;
            self.sent = i;
        }
        self.look(i);
        sent
    }

    /// Looks whether packets wait in class `i`.
    fn look(&mut self, i: usize) {
        let waits = u8::from(self.classes[i].queue.packets() > 0);
        self.waiting = self.waiting & !(1 << i) | waits << i;
    }

    /// What a class has dropped of what waited.
    fn gone(&mut self, dropped: &[(Item, &'static str)]) {
        for (item, _) in dropped {
            self.bytes -= u64::from(item.bytes);
            self.packets -= 1;
        }
    }

    fn class_of(&self, priority: u8) -> usize {
        usize::from(self.of[usize::from(priority) % PRIORITIES])
    }

    /// The classes, a bit each, that may be asked.
    fn able(&self) -> u8 {
        (self.waiting | self.minding) & !self.paused
    }

    fn pass_on(&mut self) {
        self.turn += 1;
        if self.turn == self.classes.len() {
            self.turn = 0;
        }
        self.granted = false;
    }

    /// Which of the classes that share and may be asked, a bit each, has its turn.
    fn next_turn(&mut self, able: u8) -> Option<usize> {
        if able == 0 {
            return None;
        }
        loop {
            if able >> self.turn & 1 == 0 {
                self.forfeit();
                // Only the class whose turn it is has credit: the others on the way have none to lose.
                let from = (0xFF << self.turn) as u8;
                let next = if able & from == 0 { able } else { able & from };
                self.turn = next.trailing_zeros() as usize;
            }
            let class = &mut self.classes[self.turn];
            if !std::mem::replace(&mut self.granted, true) {
                class.credit += class.weight.unwrap_or(1);
            }
            if class.credit > 0 {
                return Some(self.turn);
            }
            self.pass_on();
        }
    }

    /// The class whose turn it is sends a packet.
    fn charge(&mut self, bytes: u32) {
        let i = self.turn;
        self.classes[i].credit -= if self.cost == Cost::Bytes { i64::from(bytes) } else { 1 };
        if self.waiting >> i & 1 == 0 {
            self.forfeit();
        }
    }

    /// The class whose turn it is cannot use it.
    fn forfeit(&mut self) {
        let class = &mut self.classes[self.turn];
        class.credit = class.credit.min(0);
        self.pass_on();
    }
}

/// The classes of which `is` holds, a bit each.
fn bits(classes: &[Class], is: impl Fn(&Class) -> bool) -> u8 {
    (0..).zip(classes).fold(0, |mask, (i, class)| mask | u8::from(is(class)) << i)
}

/// The bits of a mask, from the first.
fn each(mask: u8) -> impl Iterator<Item = usize> {
    (0..PRIORITIES).filter(move |i| mask >> i & 1 == 1)
}

impl Discipline for Classes {
    fn enqueue(&mut self, now: Time, item: Item, discarded: &mut Discarded) -> Verdict {
        let before = discarded.len();
        let i = self.class_of(item.priority);
        let verdict = self.classes[i].queue.enqueue(now, item, discarded);
        if !matches!(verdict, Verdict::Dropped(_)) {
            self.bytes += u64::from(item.bytes);
            self.packets += 1;
        }
        self.gone(&discarded[before..]);
        self.look(i);
        verdict
    }

    fn dequeue(&mut self, now: Time, discarded: &mut Discarded) -> Option<(Item, bool)> {
        let able = self.able();
        for i in each(able & self.strict) {
            if let Some(sent) = self.ask(i, now, discarded) {
                return Some(sent);
            }
        }
        let mut able = able & !self.strict;
        while let Some(i) = self.next_turn(able) {
            if let Some((item, marked)) = self.ask(i, now, discarded) {
                self.charge(item.bytes);
                return Some((item, marked));
            }
            able &= !(1 << i);
            self.forfeit();
        }
        None
    }

    fn pass(&mut self, priority: u8, bytes: u32) -> bool {
        let i = self.class_of(priority);
        let other = (self.waiting | self.minding) != 0 || self.paused >> i & 1 == 1;
        if other || !self.classes[i].queue.pass(priority, bytes) {
            return false;
        }
        if self.strict >> i & 1 == 0 && self.next_turn(1 << i).is_some() {
            self.charge(bytes);
        }
        true
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn packets(&self) -> u64 {
        self.packets
    }

    fn ready_at(&self) -> Time {
        let able = each(self.waiting & !self.paused);
        able.map(|i| self.classes[i].queue.ready_at()).min().unwrap_or(Time::NEVER)
    }

    fn minds_idle(&self) -> bool {
        self.minding != 0
    }

    fn set_stream(&mut self, mut stream: Stream) {
        for (i, class) in self.classes.iter_mut().enumerate() {
            class.queue.set_stream(Stream::new(stream.next_u64(), &format!("class.{i}"), "queue"));
        }
    }

    fn set_limits(&mut self, limit: Option<Limit>, mark_above: Option<Limit>) {
        self.classes.iter_mut().for_each(|c| c.queue.set_limits(limit, mark_above));
    }

    fn set_rate(&mut self, rate: Rate) {
        self.classes.iter_mut().for_each(|c| c.queue.set_rate(rate));
    }

    fn has_priorities(&self) -> bool {
        true
    }

    fn set_paused(&mut self, mask: u8) {
        if mask == self.stopped {
            return;
        }
        self.stopped = mask;
        self.paused = bits(&self.classes, |c| c.mask & mask != 0);
        if self.paused >> self.turn & 1 == 1 {
            self.classes[self.turn].credit = self.classes[self.turn].credit.min(0);
            self.granted = false;
        }
    }

    fn stopped_by(&self, mask: u8) -> u8 {
        self.classes.iter().filter(|c| c.mask & mask != 0).fold(0, |all, c| all | c.mask)
    }

    /// A class that has these priorities only loses all that waits in it, another what its queue can take out.
    fn drain(&mut self, now: Time, mask: u8, reason: &'static str, discarded: &mut Discarded) {
        let before = discarded.len();
        for class in self.classes.iter_mut().filter(|c| c.mask & mask != 0) {
            if class.mask & !mask != 0 {
                let named = class.queue.extract(&mut |item| mask >> (item.priority & 7) & 1 == 1);
                discarded.extend(named.into_iter().map(|item| (item, reason)));
                continue;
            }
            while let Some((item, _)) = class.queue.dequeue(now, discarded) {
                discarded.push((item, reason));
            }
        }
        self.gone(&discarded[before..]);
        self.waiting = bits(&self.classes, |c| c.queue.packets() > 0);
    }

    fn extract(&mut self, of: &mut dyn FnMut(&Item) -> bool) -> Vec<Item> {
        let out: Vec<Item> = self.classes.iter_mut().flat_map(|c| c.queue.extract(of)).collect();
        self.bytes -= out.iter().map(|item| u64::from(item.bytes)).sum::<u64>();
        self.packets -= out.len() as u64;
        self.waiting = bits(&self.classes, |c| c.queue.packets() > 0);
        out
    }

    fn on_arrival(&mut self, now: Time, wire_bytes: u32, priority: u8, header: Option<&CongestionHeader>) {
        let i = self.class_of(priority);
        self.classes[i].queue.on_arrival(now, wire_bytes, priority, header);
    }

    fn on_departure(&mut self, wire_bytes: u32, header: &mut CongestionHeader) {
        self.classes[self.sent].queue.on_departure(wire_bytes, header);
    }

    fn parts(&self) -> u8 {
        self.classes.len() as u8
    }

    fn part_of(&self, priority: u8) -> (u8, u64) {
        let i = self.class_of(priority);
        (i as u8, self.classes[i].queue.bytes())
    }
}
