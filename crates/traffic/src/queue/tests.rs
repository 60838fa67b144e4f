//! A worked example by hand, and random sockets against the definitions of the module's head.

use elephan_units::Span;
use proptest::prelude::*;

use super::*;
use crate::Offer;

/// Offers from a list of (gap, bytes).
#[derive(Clone, Debug)]
struct List(std::vec::IntoIter<(u64, u64)>);

impl List {
    fn new(offers: impl Into<Vec<(u64, u64)>>) -> List {
        List(offers.into().into_iter())
    }
}

impl Generate for List {
    fn next_offer(&mut self) -> Option<Offer> {
        self.0.next().map(|(gap, bytes)| Offer { gap: Span(gap), bytes, pair: 0 })
    }
}

/// Messages of 8000 B every 10 us from 0 on, into a send buffer of 20,000 B whose capacity grows to 24,000 at 100 us,
/// 24,001 at 110 us and 40,001 at 200 us. Returns when each message entered by 215 us, and the queue.
fn example(when_full: WhenFull) -> (Vec<u64>, MessageQueue<List>) {
    let mut offers = vec![(0, 8000)];
    offers.extend([(10, 8000); 100]);
    let mut queue = MessageQueue::new(List::new(offers), when_full, Time::ZERO);
    let mut capacity = 20_000;
    for now in 0..=215 {
        for (at, grown) in [(100, 24_000), (110, 24_001), (200, 40_001)] {
            if now == at {
                capacity = grown;
                queue.pump(Time(now), capacity);
            }
        }
        while queue.next_arrival() <= Time(now) {
            queue.pump(Time(now), capacity);
        }
    }
    (queue.unfinished().map(|(enter, _)| enter.0).collect(), queue)
}

#[test]
fn block() {
    // Message 2 begins at 16,000 and hangs over the edge; 3 (24,000) needs the byte of 110; 4 (32,000) and
    // 5 (40,000) wait for 200; 6 (48,000) waits on.
    let (enters, queue) = example(WhenFull::Block);
    assert_eq!(enters, [0, 10, 20, 110, 200, 200]);
    assert_eq!((queue.offered(), queue.entered_messages(), queue.dropped_messages()), (48_000, 6, 0));
    assert_eq!(queue.next_arrival(), Time::NEVER);
}

#[test]
fn pause_clock() {
    // Message 2 is in at 100, so 3 arrives at 110 and is in at 200; 4 arrives at 210 and is in at once.
    let (enters, queue) = example(WhenFull::PauseClock);
    assert_eq!(enters, [0, 10, 20, 110, 210]);
    assert_eq!((queue.offered(), queue.next_arrival()), (40_000, Time(220)));
}

#[test]
fn drop() {
    // The arrivals of 30, 40 ... 100 find no byte; 110 enters; 120 ... 190 are dropped; 200 and 210 enter.
    let (enters, queue) = example(WhenFull::Drop);
    assert_eq!(enters, [0, 10, 20, 110, 200, 210]);
    assert_eq!((queue.dropped_messages(), queue.dropped_bytes()), (16, 128_000));
    assert_eq!(queue.next_arrival(), Time(220));
}

#[test]
fn delivery_and_end() {
    let mut queue = MessageQueue::new(List::new([(5, 100), (5, 1), (5, 200)]), WhenFull::Block, Time(1000));
    assert_eq!(queue.next_arrival(), Time(1005));
    assert_eq!(queue.pump(Time(1005), 10_000), 100);
    assert_eq!(queue.pump(Time(1010), 10_000), 101);
    assert!(!queue.ended());
    assert_eq!(queue.pump(Time(1015), 10_000), 301);
    assert!(queue.ended());
    assert_eq!(queue.next_arrival(), Time::NEVER);
    let mut seen = Vec::new();
    queue.delivered(Time(1020), 99, |m| seen.push(m));
    assert!(seen.is_empty());
    queue.delivered(Time(1030), 101, |m| seen.push(m));
    let (enter, exit) = (Time(1005), Time(1030));
    assert_eq!(seen, [Message { enter, exit, bytes: 100 }, Message { enter: Time(1010), exit, bytes: 1 }]);
    assert_eq!(seen[0].latency(), Span(25));
    assert_eq!(queue.unfinished().collect::<Vec<_>>(), [(Time(1015), 200)]);
    queue.delivered(Time(1040), 301, |m| seen.push(m));
    assert_eq!((seen.len(), queue.delivered_messages(), queue.unfinished().count()), (3, 3, 0));
}

#[test]
fn stopping() {
    for when_full in [WhenFull::Block, WhenFull::PauseClock, WhenFull::Drop] {
        let mut queue = MessageQueue::new(List::new([(1, 100); 9]), when_full, Time::ZERO);
        assert_eq!(queue.pump(Time(1), 50), 100);
        queue.pump(Time(5), 50);
        queue.stop();
        // What has begun to enter stays; nothing else enters, however much space there is.
        assert_eq!(queue.pump(Time(50), 10_000), 100);
        assert_eq!((queue.next_arrival(), queue.ended()), (Time::NEVER, true));
    }
}

/// Permanent overload: the queue remembers what is in TCP and nothing of what waits.
#[test]
fn a_backlog_costs_no_memory() {
    let mut queue = MessageQueue::new(List::new([(1, 100); 30_000]), WhenFull::Block, Time::ZERO);
    let mut longest = 0;
    for now in 1..20_000 {
        // 50 B leave per tick, 100 B arrive.
        queue.pump(Time(now), 1000 + 50 * now);
        queue.delivered(Time(now), 50 * now, |_| ());
        longest = longest.max(queue.in_flight.capacity());
    }
    assert!(longest <= 16, "{longest}");
    assert_eq!(queue.entered_messages(), (1000 + 50 * 19_999u64).div_ceil(100));
}

/// A socket: capacity and received bytes as staircases (time, height), times increasing.
#[derive(Debug, Clone)]
struct Socket {
    capacity: Vec<(u64, u64)>,
}

const LONG: u64 = 1_000_000;

impl Socket {
    fn at(&self, now: u64) -> u64 {
        self.capacity.iter().take_while(|s| s.0 <= now).last().map_or(0, |s| s.1)
    }
    /// When the capacity first reaches `height`.
    fn reaches(&self, height: u64) -> u64 {
        self.capacity.iter().find(|s| s.1 >= height).map_or(LONG, |s| s.0)
    }
}

/// Enter time and size of every message that enters, and the number dropped, straight from the definitions.
fn defined(offers: &[(u64, u64)], when_full: WhenFull, socket: &Socket) -> (Vec<(u64, u64)>, u64) {
    let (mut entered, mut dropped) = (Vec::new(), 0);
    let (mut clock, mut offered) = (0u64, 0u64);
    for &(gap, bytes) in offers {
        clock += gap;
        let enter = if when_full == WhenFull::Drop { clock } else { clock.max(socket.reaches(offered + 1)) };
        if clock >= LONG || enter >= LONG {
            break;
        }
        if when_full == WhenFull::Drop && socket.at(clock) <= offered {
            dropped += 1;
            continue;
        }
        offered += bytes;
        entered.push((enter, bytes));
        if when_full == WhenFull::PauseClock {
            clock = enter.max(socket.reaches(offered));
        }
    }
    (entered, dropped)
}

/// The queue driven as a simulation drives it: by its own clock and by growing space.
fn driven(offers: &[(u64, u64)], when_full: WhenFull, socket: &Socket) -> MessageQueue<List> {
    let mut queue = MessageQueue::new(List::new(offers), when_full, Time::ZERO);
    let mut steps = socket.capacity.iter().peekable();
    let mut capacity = 0;
    loop {
        let next_step = steps.peek().map_or(LONG, |s| s.0);
        let now = next_step.min(queue.next_arrival().0);
        if now >= LONG {
            return queue;
        }
        if now == next_step {
            capacity = steps.next().unwrap().1;
        }
        queue.pump(Time(now), capacity);
    }
}

fn staircase(steps: &[(u64, u64)]) -> Vec<(u64, u64)> {
    let (mut now, mut height) = (0, 0);
    let climb = |&(dt, dh): &(u64, u64)| {
        now += dt;
        height += dh;
        (now, height)
    };
    steps.iter().map(climb).collect()
}

proptest! {
    #[test]
    fn as_defined(
        offers in prop::collection::vec((0u64..30, 1u64..40), 0..80),
        steps in prop::collection::vec((1u64..40, 0u64..60), 1..60),
    ) {
        let socket = Socket { capacity: staircase(&steps) };
        for when_full in [WhenFull::Block, WhenFull::PauseClock, WhenFull::Drop] {
            let queue = driven(&offers, when_full, &socket);
            let (entered, dropped) = defined(&offers, when_full, &socket);
            let found: Vec<(u64, u64)> = queue.unfinished().map(|(enter, bytes)| (enter.0, bytes)).collect();
            prop_assert_eq!(&found, &entered, "{:?}", when_full);
            prop_assert_eq!(queue.dropped_messages(), dropped);
            prop_assert_eq!(queue.offered(), entered.iter().map(|m| m.1).sum::<u64>());
        }
    }

    /// Each message leaves once, in order, at the first instant when its last byte has been received.
    #[test]
    fn delivered_once(
        offers in prop::collection::vec((0u64..30, 1u64..40), 1..60),
        reads in prop::collection::vec((1u64..40, 0u64..60), 1..80),
    ) {
        let mut queue = driven(&offers, WhenFull::Block, &Socket { capacity: vec![(1, u64::MAX)] });
        let all: Vec<(Time, u64)> = queue.unfinished().collect();
        let mut seen = Vec::new();
        let reads = staircase(&reads);
        for &(now, height) in &reads {
            queue.delivered(Time(now), height.min(queue.offered()), |m| seen.push(m));
        }
        let mut end = 0;
        for (i, &(enter, bytes)) in all.iter().enumerate() {
            end += bytes;
            match reads.iter().find(|r| r.1 >= end) {
                Some(&(at, _)) => prop_assert_eq!(seen[i], Message { enter, exit: Time(at), bytes }),
                None => prop_assert!(i >= seen.len()),
            }
        }
        prop_assert_eq!(queue.unfinished().count() + seen.len(), all.len());
    }
}

/// Fed at 0, 0 and 0 into a buffer of 10,000 B: the second hangs over the edge, the third waits for a byte, the fourth withdraws
/// when the queue is told to stop. Sizes are those of the source, in its order.
#[test]
fn fed() {
    let mut queue = MessageQueue::fed(List::new([(0, 8000), (0, 4000), (0, 1000), (0, 500)]), WhenFull::Block);
    assert_eq!((queue.next_arrival(), queue.pump(Time(0), 10_000)), (Time::NEVER, 0));
    (0..3).for_each(|_| queue.feed());
    assert_eq!((queue.pump(Time(0), 10_000), queue.waiting(), queue.next_arrival()), (12_000, 1, Time::NEVER));
    assert_eq!(queue.pump(Time(7), 12_000), 12_000);
    assert_eq!((queue.pump(Time(9), 12_001), queue.waiting()), (13_000, 0));
    assert_eq!(queue.unfinished().collect::<Vec<_>>(), [(Time(0), 8000), (Time(0), 4000), (Time(9), 1000)]);
    queue.feed();
    queue.feed_no_more();
    assert_eq!((queue.pump(Time(9), 13_000), queue.waiting(), queue.ended()), (13_000, 1, false));
    queue.stop();
    queue.feed();
    assert_eq!((queue.pump(Time(10), 90_000), queue.waiting(), queue.ended()), (13_000, 0, true));
}

#[test]
fn fed_and_dropped() {
    let mut queue = MessageQueue::fed(List::new([(0, 8000), (0, 4000), (0, 1000)]), WhenFull::Drop);
    (0..3).for_each(|_| queue.feed());
    queue.feed_no_more();
    assert_eq!((queue.pump(Time(0), 8000), queue.ended()), (8000, true));
    assert_eq!((queue.dropped_messages(), queue.dropped_bytes(), queue.entered_messages()), (2, 5000, 1));
}
