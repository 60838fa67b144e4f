//! The processes by which one link delays, reorders and duplicates: `net/impair.rs` says how.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use elephan_engine::Alarm;
use elephan_link::Concerned;
use elephan_random::Stream;
use elephan_scenario::{Impairments, Order};
use elephan_traffic::Sampler;
use elephan_units::{Span, Time};

use crate::net::losses::{Losses, loss};
use crate::packet::flags;
use crate::target::Then;

/// The processes of one link.
#[derive(Clone)]
pub struct Impair {
    /// Only packets that carry data are concerned.
    pub data_only: bool,
    jitter: Option<(Sampler, Stream)>,
    held: Option<Held>,
    /// Share of packets that arrive twice.
    duplicate: Option<(f64, Stream)>,
    mark: Option<Box<Losses>>,
    /// Packets under way that may overtake each other; none if the link keeps the order.
    pub late: Option<Late>,
}

/// Packets are held back with this probability for so long.
#[derive(Clone)]
struct Held {
    share: f64,
    strikes: Stream,
    extra: Sampler,
    extras: Stream,
}

/// Packets under way, by the time of their arrival.
#[derive(Clone, Default)]
pub struct Late {
    /// Arrival, place in the order of transmission, packet, where it goes from there.
    pub flying: BinaryHeap<Reverse<(Time, u64, u32, Then)>>,
    pub alarm: Alarm,
    pub sent: u64,
    /// One more than the highest place that has arrived.
    pub expected: u64,
    pub reordered: u64,
}

impl Impair {
    /// What the link called `name` does; `free` if its delay lets packets overtake each other.
    pub fn new(seed: u64, name: &str, of: &Impairments, free: bool) -> Option<Box<Impair>> {
        if of.is_none() && !free {
            return None;
        }
        let stream = |purpose: &str| Stream::new(seed, &format!("link.{name}"), purpose);
        let free = free || of.jitter.as_ref().is_some_and(|jitter| jitter.order == Order::Free);
        Some(Box::new(Impair {
            data_only: of.packets == Concerned::Data,
            jitter: of.jitter.as_ref().map(|jitter| (jitter.extra.sampler(), stream("jitter"))),
            held: of.reorder.as_ref().map(|reorder| Held {
                share: reorder.share,
                strikes: stream("reorder"),
                extra: reorder.extra.sampler(),
                extras: stream("reorder/extra"),
            }),
            duplicate: (of.duplicate > 0.0).then(|| (of.duplicate, stream("duplicate"))),
            mark: loss(seed, name, (&of.mark, of.packets), "mark").map(Box::new),
            late: (free || of.reorder.is_some()).then(Late::default),
        }))
    }

    /// How much longer the next packet takes.
    pub fn extra(&mut self) -> Span {
        let mut sum = 0u64;
        if let Some((sampler, stream)) = &mut self.jitter {
            sum = sampler.sample(stream, (0, u64::MAX));
        }
        if let Some(held) = &mut self.held
            && held.strikes.bernoulli(held.share)
        {
            sum = sum.saturating_add(held.extra.sample(&mut held.extras, (0, u64::MAX)));
        }
        Span(sum)
    }

    pub fn is_doubled(&mut self) -> bool {
        self.duplicate.as_mut().is_some_and(|(share, stream)| stream.bernoulli(*share))
    }

    /// Whether the next packet gets a mark, if it is ECN-capable.
    pub fn is_marked(&mut self, at: Time, bits: u16) -> bool {
        let (data, again) = (bits & flags::DATA != 0, bits & flags::RETRANSMISSION != 0);
        self.mark.as_mut().is_some_and(|mark| mark.strikes(at, data, again))
    }

    /// Packets on the link that are not in its ring.
    pub fn flying(&self) -> u64 {
        self.late.as_ref().map_or(0, |late| late.flying.len() as u64)
    }
}

impl Impair {
    /// The packets on the link that are not in its ring.
    pub fn in_flight(&self) -> impl Iterator<Item = u32> + '_ {
        self.late.iter().flat_map(|late| late.flying.iter().map(|Reverse((_, _, packet, _))| *packet))
    }
}
