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
#[derive(Debug)]
struct Class {
    queue: Queue,
    /// Its priorities, a bit each.
    mask: u8,
    /// None: strictly before all that have one.
    weight: Option<i64>,
    credit: i64,
    paused: bool,
}

/// A class to be: its priorities, its weight unless it is strict, and its queue.
pub struct Member {
    pub mask: u8,
    pub weight: Option<i64>,
    pub queue: Queue,
}

/// All classes of a port.
#[derive(Debug)]
pub struct Classes {
    classes: Vec<Class>,
    /// The class of each priority.
    of: [u8; PRIORITIES],
    cost: Cost,
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
        let class = |Member { mask, weight, queue }| Class { queue, mask, weight, credit: 0, paused: false };
        let mut classes: Vec<Class> = members.into_iter().map(class).collect();
        let named = classes.iter().fold(0, |all, c| all | c.mask);
        if let Some(last) = classes.last_mut() {
            last.mask |= !named;
        }
        let of = |priority: usize| classes.iter().position(|c| c.mask >> priority & 1 == 1).unwrap_or(0) as u8;
        let of = std::array::from_fn(of);
        Classes { classes, of, cost, turn: 0, granted: false, sent: 0, bytes: 0, packets: 0 }
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
        sent
    }

    /// What a class has dropped of what waited.
    fn gone(&mut self, dropped: &[(Item, &'static str)]) {
        for (item, _) in dropped {
            self.bytes -= u64::from(item.bytes);
            self.packets -= 1;
        }
    }

    fn class_of(&mut self, priority: u8) -> &mut Class {
        &mut self.classes[usize::from(self.of[usize::from(priority) % PRIORITIES])]
    }

    fn may_send(&self, i: usize) -> bool {
        let class = &self.classes[i];
        !class.paused && (class.queue.packets() > 0 || class.queue.minds_idle())
    }

    fn pass_on(&mut self) {
        self.turn = (self.turn + 1) % self.classes.len();
        self.granted = false;
    }

    /// The classes that share: round after round until one sends or a whole round has found none that could.
    fn shared(&mut self, now: Time, discarded: &mut Discarded) -> Option<(Item, bool)> {
        let mut idle = 0;
        while idle < self.classes.len() {
            let i = self.turn;
            let Some(weight) = self.classes[i].weight.filter(|_| self.may_send(i)) else {
                self.forfeit(i);
                idle += 1;
                continue;
            };
            if !self.granted {
                self.classes[i].credit += weight;
                self.granted = true;
            }
            if self.classes[i].credit <= 0 {
                idle = 0;
                self.pass_on();
                continue;
            }
            match self.ask(i, now, discarded) {
                Some((item, marked)) => {
                    let cost = if self.cost == Cost::Bytes { i64::from(item.bytes) } else { 1 };
                    self.classes[i].credit -= cost;
                    return Some((item, marked));
                }
                None => {
                    self.forfeit(i);
                    idle += 1;
                }
            }
        }
        None
    }

    /// The class whose turn it is cannot use it.
    fn forfeit(&mut self, i: usize) {
        self.classes[i].credit = self.classes[i].credit.min(0);
        self.pass_on();
    }
}

impl Discipline for Classes {
    fn enqueue(&mut self, now: Time, item: Item, discarded: &mut Discarded) -> Verdict {
        let before = discarded.len();
        let verdict = self.class_of(item.priority).queue.enqueue(now, item, discarded);
        if !matches!(verdict, Verdict::Dropped(_)) {
            self.bytes += u64::from(item.bytes);
            self.packets += 1;
        }
        self.gone(&discarded[before..]);
        verdict
    }

    fn dequeue(&mut self, now: Time, discarded: &mut Discarded) -> Option<(Item, bool)> {
        for i in 0..self.classes.len() {
            if self.classes[i].weight.is_none()
                && self.may_send(i)
                && let Some(sent) = self.ask(i, now, discarded)
            {
                return Some(sent);
            }
        }
        self.shared(now, discarded)
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn packets(&self) -> u64 {
        self.packets
    }

    fn ready_at(&self) -> Time {
        let able = self.classes.iter().filter(|c| !c.paused && c.queue.packets() > 0);
        able.map(|c| c.queue.ready_at()).min().unwrap_or(Time::NEVER)
    }

    fn minds_idle(&self) -> bool {
        self.classes.iter().any(|c| c.queue.minds_idle())
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
        for class in &mut self.classes {
            class.paused = class.mask & mask != 0;
            if class.paused {
                class.credit = class.credit.min(0);
            }
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
    }

    fn extract(&mut self, of: &mut dyn FnMut(&Item) -> bool) -> Vec<Item> {
        let out: Vec<Item> = self.classes.iter_mut().flat_map(|c| c.queue.extract(of)).collect();
        self.bytes -= out.iter().map(|item| u64::from(item.bytes)).sum::<u64>();
        self.packets -= out.len() as u64;
        out
    }

    fn on_arrival(&mut self, now: Time, wire_bytes: u32, priority: u8, header: Option<&CongestionHeader>) {
        self.class_of(priority).queue.on_arrival(now, wire_bytes, priority, header);
    }

    fn on_departure(&mut self, wire_bytes: u32, header: &mut CongestionHeader) {
        self.classes[self.sent].queue.on_departure(wire_bytes, header);
    }

    fn parts(&self) -> u8 {
        self.classes.len() as u8
    }

    fn part_of(&self, priority: u8) -> (u8, u64) {
        let class = self.of[usize::from(priority) % PRIORITIES];
        (class, self.classes[usize::from(class)].queue.bytes())
    }
}
