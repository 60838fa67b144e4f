//! Queues of flows and deficit round robin over them (Shreedhar and Varghese, SIGCOMM 1995; RFC 8290 sections 4.1 and 4.2).
//!
//! A packet's queue is the hash of its flow and a perturbation, `buckets` of them, or its flow has a queue of its own. Each
//! queue has its bytes, a deficit in bytes and the state `S` of whoever manages it (a CoDel of FQ-CoDel, say). A queue that
//! takes part in the round stands in one of two lists:
//!
//! ```text
//! turn:   the first queue of the new list, else of the old list; one whose deficit is spent (<= 0) gets a quantum, goes
//!         to the end of the old list, and the next is looked at
//! sent:   deficit -= bytes
//! empty:  from the new list to the end of the old list; from the old list out of the round
//! ```
//!
//! Plain round robin uses the old list only. [`FlowQueues::fitting`] is the turn of the original DRR: a queue gets its
//! quantum as its turn begins and sends while its first packet is not larger than the deficit.

use std::collections::VecDeque;

use super::index::{FlowIndex, spread};
use crate::queue::{Discarded, Item, Limit, Verdict};

/// How packets find their queue.
#[derive(Clone, Debug)]
enum Sorting {
    Hashed { buckets: u32, perturbation: u64 },
    PerFlow(FlowIndex),
}

/// The list in which a queue stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum List {
    #[default]
    None,
    New,
    Old,
}

/// One queue.
#[derive(Clone, Debug, Default)]
pub struct FlowQueue<S> {
    items: VecDeque<Item>,
    bytes: u64,
    /// Whose it is, if each flow has its own.
    flow: u32,
    list: List,
    /// When its length last changed, in changes.
    changed: u64,
    pub deficit: i64,
    pub state: S,
}

impl<S> FlowQueue<S> {
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    pub fn packets(&self) -> u64 {
        self.items.len() as u64
    }

    pub fn list(&self) -> List {
        self.list
    }

    /// The packet that leaves next.
    pub fn first(&self) -> Option<&Item> {
        self.items.front()
    }
}

/// All queues of a port.
#[derive(Clone, Debug)]
pub struct FlowQueues<S> {
    sorting: Sorting,
    queues: Vec<FlowQueue<S>>,
    new: VecDeque<u32>,
    old: VecDeque<u32>,
    /// The first queue of the old list has had its quantum in the turn of [`FlowQueues::fitting`].
    granted: bool,
    quantum: i64,
    bytes: u64,
    packets: u64,
    changes: u64,
}

impl<S: Default> FlowQueues<S> {
    fn new(sorting: Sorting, queues: u32, quantum: u64) -> FlowQueues<S> {
        let queues = (0..queues).map(|_| FlowQueue::default()).collect();
        let quantum = i64::try_from(quantum).unwrap_or(i64::MAX >> 16).max(1);
        FlowQueues {
            sorting,
            queues,
            new: VecDeque::new(),
            old: VecDeque::new(),
            granted: false,
            quantum,
            bytes: 0,
            packets: 0,
            changes: 0,
        }
    }

    /// So many queues, to which flows are hashed.
    pub fn hashed(buckets: u32, quantum: u64) -> FlowQueues<S> {
        FlowQueues::new(Sorting::Hashed { buckets, perturbation: 0 }, buckets, quantum)
    }

    /// A queue for each flow that is in the round.
    pub fn per_flow(quantum: u64) -> FlowQueues<S> {
        FlowQueues::new(Sorting::PerFlow(FlowIndex::default()), 0, quantum)
    }

    /// Hashes with another perturbation from now on; what waits stays where it is.
    pub fn perturb(&mut self, word: u64) {
        if let Sorting::Hashed { perturbation, .. } = &mut self.sorting {
            *perturbation = word;
        }
    }

    /// The queue of a flow. A flow with a queue of its own must put a packet there and join a list, or the queue is lost.
    #[inline]
    pub fn queue_of(&mut self, flow: u32) -> u32 {
        match &mut self.sorting {
            Sorting::Hashed { buckets, perturbation } => {
                let hash = spread(u64::from(flow) ^ *perturbation) >> 32;
                ((hash * u64::from(*buckets)) >> 32) as u32
            }
            Sorting::PerFlow(index) => {
                let (slot, new) = index.enter(flow);
                if slot as usize == self.queues.len() {
                    self.queues.push(FlowQueue::default());
                }
                if new {
                    let queue = &mut self.queues[slot as usize];
                    (queue.flow, queue.deficit, queue.state) = (flow, 0, S::default());
                }
                slot
            }
        }
    }

    /// A packet goes to the end of this queue.
    #[inline]
    pub fn push(&mut self, queue: u32, item: Item) {
        self.changes += 1;
        let q = &mut self.queues[queue as usize];
        q.items.push_back(item);
        q.bytes += u64::from(item.bytes);
        q.changed = self.changes;
        self.bytes += u64::from(item.bytes);
        self.packets += 1;
    }

    /// A queue joins the end of a list with this deficit, unless it stands in one.
    #[inline]
    pub fn join(&mut self, queue: u32, list: List, deficit: i64) {
        let q = &mut self.queues[queue as usize];
        if q.list != List::None {
            return;
        }
        (q.list, q.deficit) = (list, deficit);
        match list {
            List::New => self.new.push_back(queue),
            List::Old => self.old.push_back(queue),
            List::None => {}
        }
    }

    /// RFC 8290 section 4.1: a packet goes to the queue of its flow, which joins the new list with a quantum if it is in none.
    pub fn enqueue_new(&mut self, item: Item) -> u32 {
        let queue = self.queue_of(item.flow);
        self.push(queue, item);
        self.join(queue, List::New, self.quantum);
        queue
    }

    /// RFC 8290 section 4.2: the queue whose turn it is; it may be empty, and then wants [`FlowQueues::retire`].
    #[inline]
    pub fn turn(&mut self) -> Option<u32> {
        loop {
            let &queue = self.new.front().or(self.old.front())?;
            let q = &mut self.queues[queue as usize];
            if q.deficit > 0 {
                return Some(queue);
            }
            q.deficit += self.quantum;
            self.rotate(queue);
        }
    }

    /// The original DRR: the queue whose first packet fits in its deficit, `quantum(state)` bytes for each turn. None of the
    /// queues that it answers is empty; whoever calls it pops a packet and charges for it.
    pub fn fitting(&mut self, quantum: impl Fn(&S) -> i64) -> Option<u32> {
        loop {
            let &queue = self.old.front()?;
            let q = &mut self.queues[queue as usize];
            let Some(first) = q.items.front() else {
                self.retire(queue);
                continue;
            };
            if !self.granted {
                q.deficit += quantum(&q.state);
                self.granted = true;
            }
            if i64::from(first.bytes) <= q.deficit {
                return Some(queue);
            }
            self.rotate(queue);
        }
    }

    /// The first queue of a list goes to the end of the old one.
    fn rotate(&mut self, queue: u32) {
        match self.queues[queue as usize].list {
            List::New => self.new.pop_front(),
            _ => self.old.pop_front(),
        };
        self.queues[queue as usize].list = List::Old;
        self.old.push_back(queue);
        self.granted = false;
    }

    /// The queue whose turn it is has nothing to send: from the new list to the old one, from the old one out of the round.
    pub fn retire(&mut self, queue: u32) {
        match self.queues[queue as usize].list {
            List::None => {}
            List::New => self.rotate(queue),
            List::Old => self.leave(queue),
        }
    }

    /// The queue whose turn it is has nothing to send and leaves the round, whichever list it is in.
    pub fn leave(&mut self, queue: u32) {
        let q = &mut self.queues[queue as usize];
        if q.list == List::New {
            self.new.pop_front();
        } else {
            self.old.pop_front();
            self.granted = false;
        }
        q.list = List::None;
        if let Sorting::PerFlow(index) = &mut self.sorting {
            index.leave(q.flow);
        }
    }

    /// Takes everything out, queue after queue in the order of the round, and leaves the round empty.
    pub fn drain(&mut self, into: &mut Vec<Item>) {
        self.granted = false;
        for list in [List::New, List::Old] {
            let mut round = std::mem::take(if list == List::New { &mut self.new } else { &mut self.old });
            for queue in round.drain(..) {
                let q = &mut self.queues[queue as usize];
                into.extend(q.items.drain(..));
                (q.bytes, q.list) = (0, List::None);
                if let Sorting::PerFlow(index) = &mut self.sorting {
                    index.leave(q.flow);
                }
            }
        }
        (self.bytes, self.packets) = (0, 0);
    }

    /// Takes the first packet of a queue.
    #[inline]
    pub fn pop(&mut self, queue: u32) -> Option<Item> {
        let item = self.queues[queue as usize].items.pop_front()?;
        self.taken(queue, item);
        Some(item)
    }

    /// Takes the last packet of a queue.
    pub fn pop_last(&mut self, queue: u32) -> Option<Item> {
        let item = self.queues[queue as usize].items.pop_back()?;
        self.taken(queue, item);
        Some(item)
    }

    #[inline]
    fn taken(&mut self, queue: u32, item: Item) {
        self.changes += 1;
        let q = &mut self.queues[queue as usize];
        q.bytes -= u64::from(item.bytes);
        q.changed = self.changes;
        self.bytes -= u64::from(item.bytes);
        self.packets -= 1;
    }

    /// The first packet of the queue leaves: it is charged for it, and leaves the round when it is empty.
    pub fn send(&mut self, queue: u32) -> Option<Item> {
        let item = self.pop(queue)?;
        self.charge(queue, item.bytes);
        if self.queue(queue).packets() == 0 {
            self.retire(queue);
        }
        Some(item)
    }

    /// A packet of this queue has been sent.
    #[inline]
    pub fn charge(&mut self, queue: u32, bytes: u32) {
        self.queues[queue as usize].deficit -= i64::from(bytes);
    }

    /// All of [`FlowQueues::turn`] for queues without a manager: the next packet to send.
    pub fn dequeue(&mut self) -> Option<Item> {
        loop {
            let queue = self.turn()?;
            match self.pop(queue) {
                Some(item) => {
                    self.charge(queue, item.bytes);
                    return Some(item);
                }
                None => self.retire(queue),
            }
        }
    }

    /// The queue in the round for which `length` is largest, the one that changed last if several are; none if nothing waits.
    pub fn longest(&self, length: impl Fn(&FlowQueue<S>) -> u64) -> Option<u32> {
        let key = |queue: u32| {
            let q = &self.queues[queue as usize];
            (length(q), q.changed)
        };
        let all = self.new.iter().chain(&self.old).copied();
        all.filter(|&queue| !self.queues[queue as usize].items.is_empty()).max_by_key(|&queue| key(queue))
    }

    /// Drops the last packet of the fattest queue until no more than `limit` waits, `arriving`, which has just been put in a
    /// queue, among them; the verdict on it.
    pub fn shed(&mut self, limit: Limit, arriving: Item, discarded: &mut Discarded) -> Verdict {
        let mut verdict = Verdict::Accepted;
        while limit.is_exceeded(self.bytes, self.packets)
            && let Some(item) = self.fattest().and_then(|queue| self.pop_last(queue))
        {
            if item.handle == arriving.handle {
                verdict = Verdict::Dropped("queue_full");
            } else {
                discarded.push((item, "queue_full"));
            }
        }
        verdict
    }

    /// The queue with most bytes.
    pub fn fattest(&self) -> Option<u32> {
        self.longest(FlowQueue::bytes)
    }

    #[inline]
    pub fn queue(&self, queue: u32) -> &FlowQueue<S> {
        &self.queues[queue as usize]
    }

    #[inline]
    pub fn state_mut(&mut self, queue: u32) -> &mut S {
        &mut self.queues[queue as usize].state
    }

    pub fn quantum(&self) -> i64 {
        self.quantum
    }

    /// The queue at which the next turn begins.
    pub fn front(&self) -> Option<u32> {
        self.new.front().or(self.old.front()).copied()
    }

    /// Waiting bytes and packets of all queues.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    pub fn packets(&self) -> u64 {
        self.packets
    }

    /// Queues in the round.
    pub fn listed(&self) -> usize {
        self.new.len() + self.old.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(flow: u32, bytes: u32) -> Item {
        Item { flow, bytes, ..Item::default() }
    }

    fn sent(queues: &mut FlowQueues<()>, packets: usize) -> Vec<u32> {
        (0..packets).filter_map(|_| queues.dequeue()).map(|item| item.flow).collect()
    }

    /// RFC 8290 section 4.2: a new queue goes before the old ones for a quantum; having spent it, it is an old one. Two flows
    /// of 500-byte packets and a quantum of 1000: two packets each turn. Flow 2 comes when the others are old.
    #[test]
    fn new_queues_go_first() {
        let mut queues = FlowQueues::<()>::per_flow(1000);
        for flow in [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1] {
            queues.enqueue_new(item(flow, 500));
        }
        assert_eq!(sent(&mut queues, 5), [0, 0, 1, 1, 0]);
        for _ in 0..3 {
            queues.enqueue_new(item(2, 500));
        }
        assert_eq!(sent(&mut queues, 10), [2, 2, 0, 1, 1, 2, 0, 0, 1, 1]);
        assert_eq!((queues.dequeue(), queues.bytes(), queues.packets(), queues.listed()), (None, 0, 0, 0));
    }

    /// RFC 8290 section 4.2: an emptied new queue goes to the end of the old list, so that a flow that comes back at once does
    /// not starve the old ones.
    #[test]
    fn an_emptied_new_queue_does_not_starve_the_old_ones() {
        let mut queues = FlowQueues::<()>::per_flow(1500);
        for _ in 0..4 {
            queues.enqueue_new(item(0, 1500));
        }
        assert_eq!(sent(&mut queues, 1), [0]);
        let mut order = Vec::new();
        for _ in 0..3 {
            queues.enqueue_new(item(1, 100));
            order.extend(sent(&mut queues, 2));
        }
        assert_eq!(order, [1, 0, 1, 0, 1, 0]);
    }

    /// A queue that loses its last packets stays in the round until its turn; the longest is by whatever is asked for, and of
    /// several the one that changed last.
    #[test]
    fn the_longest_queue() {
        let mut queues = FlowQueues::<()>::per_flow(1500);
        for (flow, bytes) in [(7, 1500), (8, 500), (8, 500), (9, 1500)] {
            queues.enqueue_new(item(flow, bytes));
        }
        let flow = |queues: &FlowQueues<()>, queue: Option<u32>| queues.queue(queue.unwrap()).first().unwrap().flow;
        assert_eq!(flow(&queues, queues.fattest()), 9);
        assert_eq!(flow(&queues, queues.longest(FlowQueue::packets)), 8);
        let fattest = queues.fattest().unwrap();
        assert_eq!(queues.pop_last(fattest), Some(item(9, 1500)));
        assert_eq!(flow(&queues, queues.fattest()), 7);
        assert_eq!((queues.bytes(), queues.packets(), queues.listed()), (2500, 3, 3));
        assert_eq!(sent(&mut queues, 9), [7, 8, 8]);
        assert_eq!((queues.fattest(), queues.listed()), (None, 0));
    }

    /// Queues of flows that are gone are used again.
    #[test]
    fn slots_are_used_again() {
        let mut queues = FlowQueues::<u32>::per_flow(1500);
        for flow in 0..10_000 {
            let queue = queues.enqueue_new(item(flow, 100));
            assert_eq!((queue, *queues.state_mut(queue)), (0, 0));
            *queues.state_mut(queue) = 1;
            assert!(queues.dequeue().is_some() && queues.dequeue().is_none());
        }
    }

    /// 100 000 flows over 1024 buckets, 97.66 each with a standard deviation of 9.88 (binomial): none is beyond six of them,
    /// and another perturbation moves all but about one in 1024.
    #[test]
    fn hashes_spread_and_perturbations_differ() {
        let mut queues = FlowQueues::<()>::hashed(1024, 1500);
        let before: Vec<u32> = (0..100_000).map(|flow| queues.queue_of(flow)).collect();
        let mut count = vec![0u32; 1024];
        before.iter().for_each(|&queue| count[queue as usize] += 1);
        assert!(count.iter().all(|&n| (39..=156).contains(&n)), "{count:?}");
        queues.perturb(1);
        let same = before.iter().enumerate().filter(|&(flow, &queue)| queues.queue_of(flow as u32) == queue).count();
        assert!((39..=156).contains(&same), "{same}");
    }
}
