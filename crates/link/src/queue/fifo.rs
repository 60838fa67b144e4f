//! FIFO with drop-tail: a packet is dropped when the waiting bytes and its own, or the waiting packets and one, exceed
//! the limit. The frame on the wire does not count (design rule 5).
//!
//! [`Limit`] is shared with the fast path of the simulator, which keeps no queue but the times of the waiting packets.

use std::collections::VecDeque;

use elephan_units::{Size, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Answers, Discarded, Discipline, Item, Parameters, Verdict, is_ect};

/// Parameters of `fifo`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FifoSpec {
    /// Most that may wait, in bytes ("2 MB"), packets ("100 p") or bandwidth-delay products ("1 bdp"); without it nothing is dropped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<Size>,
    /// An ECN-capable packet that finds more than this waiting is marked (step marking, as DCTCP's K); without it nothing is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mark_above: Option<Size>,
}

/// A limit in its two countable units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    pub bytes: u64,
    pub packets: u64,
}

impl Limit {
    /// No limit.
    pub const NONE: Limit = Limit { bytes: u64::MAX, packets: u64::MAX };

    /// Returns the limit that a scenario asks for. `bdp_bytes` is one bandwidth-delay product; without a size there is no limit.
    pub fn of(size: Option<Size>, bdp_bytes: u64) -> Limit {
        match size {
            None => Limit::NONE,
            Some(Size::Bytes(b)) => Limit { bytes: b, packets: u64::MAX },
            Some(Size::Packets(p)) => Limit { bytes: u64::MAX, packets: p },
            Some(Size::NanoBdp(nano)) => Limit { bytes: Size::of_bdp(nano, bdp_bytes), packets: u64::MAX },
        }
    }

    /// Returns whether more than this waits.
    #[inline]
    pub fn is_exceeded(&self, waiting_bytes: u64, waiting_packets: u64) -> bool {
        waiting_bytes > self.bytes || waiting_packets > self.packets
    }

    /// Returns whether one more packet of `bytes` fits beside what waits.
    #[inline]
    pub fn admits(&self, waiting_bytes: u64, waiting_packets: u64, bytes: u32) -> bool {
        waiting_bytes + u64::from(bytes) <= self.bytes && waiting_packets < self.packets
    }
}

impl Parameters for FifoSpec {
    type Queue = Fifo;

    fn answers(&self) -> Answers {
        Answers { is_drop_tail: true, ..Answers::default() }
    }

    fn build(&self, bdp_bytes: u64) -> Fifo {
        let mark_above = Limit::of(self.mark_above, bdp_bytes);
        Fifo { limit: Limit::of(self.limit, bdp_bytes), mark_above, waiting: VecDeque::new(), bytes: 0 }
    }
}

/// The waiting packets.
#[derive(Clone, Debug)]
pub struct Fifo {
    limit: Limit,
    mark_above: Limit,
    waiting: VecDeque<Item>,
    bytes: u64,
}

impl Fifo {
    /// Returns what must wait for a packet to be marked.
    #[inline]
    pub fn mark_above(&self) -> Limit {
        self.mark_above
    }

    /// Returns the packet that leaves next.
    pub fn first(&self) -> Option<&Item> {
        self.waiting.front()
    }
}

impl Discipline for Fifo {
    #[inline]
    fn enqueue(&mut self, _now: Time, item: Item, _discarded: &mut Discarded) -> Verdict {
        if !self.limit.admits(self.bytes, self.waiting.len() as u64, item.bytes) {
            return Verdict::Dropped("queue_full");
        }
        let marked = is_ect(item.ecn) && self.mark_above.is_exceeded(self.bytes, self.waiting.len() as u64);
        self.bytes += u64::from(item.bytes);
        self.waiting.push_back(item);
        if marked { Verdict::Marked } else { Verdict::Accepted }
    }

    #[inline]
    fn dequeue(&mut self, _now: Time, _discarded: &mut Discarded) -> Option<(Item, bool)> {
        let item = self.waiting.pop_front()?;
        self.bytes -= u64::from(item.bytes);
        Some((item, false))
    }

    #[inline]
    fn pass(&mut self, _priority: u8, bytes: u32) -> bool {
        self.limit.admits(0, 0, bytes) && !self.mark_above.is_exceeded(0, 0)
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn packets(&self) -> u64 {
        self.waiting.len() as u64
    }

    fn extract(&mut self, of: &mut dyn FnMut(&Item) -> bool) -> Vec<Item> {
        let (out, stay) = self.waiting.drain(..).partition::<Vec<Item>, _>(|item| of(item));
        self.waiting.extend(stay);
        self.bytes -= out.iter().map(|item| u64::from(item.bytes)).sum::<u64>();
        out
    }

    #[inline]
    fn limit(&self) -> Limit {
        self.limit
    }

    fn set_limits(&mut self, limit: Option<Limit>, mark_above: Option<Limit>) {
        self.limit = limit.unwrap_or(self.limit);
        self.mark_above = mark_above.unwrap_or(self.mark_above);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(handle: u32, bytes: u32) -> Item {
        Item { handle, bytes, ..Item::default() }
    }

    #[test]
    fn drop_tail_by_bytes_and_packets() {
        let mut q = FifoSpec { limit: Some(Size::Bytes(3000)), mark_above: None }.build(0);
        assert_eq!(q.enqueue(Time(0), item(1, 1500), &mut Vec::new()), Verdict::Accepted);
        assert_eq!(q.enqueue(Time(0), item(2, 1500), &mut Vec::new()), Verdict::Accepted);
        assert_eq!(q.enqueue(Time(0), item(3, 1), &mut Vec::new()), Verdict::Dropped("queue_full"));
        assert_eq!(q.dequeue(Time(0), &mut Vec::new()).unwrap().0.handle, 1);
        assert_eq!(q.enqueue(Time(0), item(4, 64), &mut Vec::new()), Verdict::Accepted);
        assert_eq!((q.bytes(), q.packets()), (1564, 2));
        let mut q = FifoSpec { limit: Some(Size::Packets(1)), mark_above: None }.build(0);
        assert_eq!(q.enqueue(Time(0), item(1, 9000), &mut Vec::new()), Verdict::Accepted);
        assert_eq!(q.enqueue(Time(0), item(2, 1), &mut Vec::new()), Verdict::Dropped("queue_full"));
    }

    /// What waits beyond a lowered limit stays, and nothing more comes in until it has left.
    #[test]
    fn a_lowered_limit_drops_nothing_that_waits() {
        let mut q = FifoSpec { limit: Some(Size::Packets(4)), mark_above: None }.build(0);
        (0..4).for_each(|i| assert_eq!(q.enqueue(Time(0), item(i, 100), &mut Vec::new()), Verdict::Accepted));
        q.set_limits(Some(Limit { bytes: u64::MAX, packets: 2 }), None);
        assert_eq!(q.packets(), 4);
        let full = Verdict::Dropped("queue_full");
        assert_eq!(q.enqueue(Time(0), item(4, 100), &mut Vec::new()), full);
        (0..2).for_each(|_| assert!(q.dequeue(Time(0), &mut Vec::new()).is_some()));
        assert_eq!(q.enqueue(Time(0), item(5, 100), &mut Vec::new()), full);
        assert!(q.dequeue(Time(0), &mut Vec::new()).is_some());
        assert_eq!(q.enqueue(Time(0), item(6, 100), &mut Vec::new()), Verdict::Accepted);
    }

    #[test]
    fn limit_in_bdp() {
        // 1 Gb/s x 196 ms = 24.5 MB; a quarter of it 6.125 MB.
        assert_eq!(Limit::of(Some(Size::NanoBdp(250_000_000)), 24_500_000).bytes, 6_125_000);
    }

    /// A packet that finds more than two waiting is marked, if it is ECN-capable.
    #[test]
    fn step_marking() {
        let mut q = FifoSpec { limit: None, mark_above: Some(Size::Packets(2)) }.build(0);
        let verdicts: Vec<Verdict> =
            (0..5).map(|i| q.enqueue(Time(0), Item { ecn: 2, ..item(i, 100) }, &mut Vec::new())).collect();
        assert_eq!(verdicts, [[Verdict::Accepted; 3].as_slice(), &[Verdict::Marked; 2]].concat());
        assert_eq!(q.enqueue(Time(0), item(9, 100), &mut Vec::new()), Verdict::Accepted);
    }
}
