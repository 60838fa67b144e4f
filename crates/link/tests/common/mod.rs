//! A link that serves a queue, for tests of schedulers.

use elephan_link::queue::{Discipline, Item, Queue, Verdict};
use elephan_units::{Rate, Span, Time};

/// 8 Gb/s: a byte takes 1 ns.
pub const RATE: Rate = Rate(8_000_000_000);
pub const BYTE_PS: u64 = 1000;

/// A packet to come: when in ns, its flow, weight and bytes.
#[derive(Clone, Copy, Debug)]
pub struct Offer {
    pub at_ns: u64,
    pub flow: u32,
    pub weight: u16,
    pub bytes: u32,
}

/// Begin and end of service of each packet, in the order of service; `offers` by time.
pub fn serve(queue: &mut Queue, offers: &[Offer]) -> Vec<(Item, Time, Time)> {
    let mut served = Vec::new();
    // Until when the link is busy; nothing begins before what has already come.
    let mut free = Time::ZERO;
    let mut next = offers.iter().enumerate().peekable();
    queue.set_rate(RATE);
    loop {
        let arrival = next.peek().map_or(Time::NEVER, |(_, offer)| Time::ZERO + Span::from_ns(offer.at_ns));
        // What comes at the instant at which a service ends is seen by the choice.
        if queue.packets() == 0 || arrival <= free {
            let now = arrival;
            let Some((n, offer)) = next.next() else { return served };
            let item = Item {
                handle: n as u32,
                flow: offer.flow,
                weight: offer.weight,
                bytes: offer.bytes,
                at: now,
                ..Item::default()
            };
            free = free.max(now);
            queue.on_arrival(now, offer.bytes, 0, None);
            assert_eq!(queue.enqueue(now, item, &mut Vec::new()), Verdict::Accepted);
            continue;
        }
        let begin = free;
        let Some((item, _)) = queue.dequeue(begin, &mut Vec::new()) else { unreachable!("packets wait") };
        free = begin + Span(u64::from(item.bytes) * BYTE_PS);
        served.push((item, begin, free));
    }
}
