//! BLUE (Feng, Shin, Kandlur and Saha, IEEE/ACM ToN 2002): a FIFO that drops or marks at arrival with a probability that
//! losses raise and an idle link lowers.
//!
//! ```text
//! a packet finds the queue full (or more than threshold waiting):  p += increment
//! the link has nothing to send:                                    p -= decrement
//! ```
//!
//! each only if longer than `freeze_time` has passed since p last changed; 0 <= p <= 1. Defaults: increment 0.02, decrement
//! 0.002, freeze_time 100 ms, no threshold; limit 1000 packets and no ECN as Linux's other disciplines (it has no blue). A
//! time of idleness is one event, at its beginning, as in the paper. Left out: Stochastic Fair BLUE.

use elephan_random::Stream;
use elephan_units::{Size, Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::part::can_mark;
use super::part::store::Store;
use super::{Answers, Discarded, Discipline, Item, Limit, Parameters, Verdict};

const REASON: &str = "blue";

/// Parameters of `blue`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BlueSpec {
    /// Most that may wait, in bytes ("2 MB"), packets ("100 p") or bandwidth-delay products ("1 bdp").
    pub limit: Size,
    /// The probability also grows while more than this waits; without it only when packets are lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threshold: Option<Size>,
    /// By how much the probability grows (delta1).
    #[schemars(extend("x-source" = "Feng et al. 2002"), range(min = 0, max = 1))]
    pub increment: f64,
    /// By how much it falls (delta2).
    #[schemars(extend("x-source" = "Feng et al. 2002"), range(min = 0, max = 1))]
    pub decrement: f64,
    /// Time for which the probability stays after a change.
    #[schemars(extend("x-source" = "Feng et al. 2002"))]
    pub freeze_time: Span,
    /// Whether ECN-capable packets are marked instead of dropped.
    pub ecn: bool,
}

impl Default for BlueSpec {
    fn default() -> BlueSpec {
        BlueSpec {
            limit: Size::Packets(1000),
            threshold: None,
            increment: 0.02,
            decrement: 0.002,
            freeze_time: Span::from_ms(100),
            ecn: false,
        }
    }
}

impl Parameters for BlueSpec {
    type Queue = Blue;

    fn answers(&self) -> Answers {
        Answers { is_random: true, ..Answers::default() }
    }

    fn build(&self, bdp_bytes: u64) -> Blue {
        Blue {
            limit: Limit::of(Some(self.limit), bdp_bytes),
            threshold: Limit::of(self.threshold, bdp_bytes),
            spec: self.clone(),
            probability: 0.0,
            changed: None,
            store: Store::default(),
            stream: Stream::new(0, "", ""),
        }
    }
}

/// The queue and its probability.
#[derive(Clone, Debug)]
pub struct Blue {
    limit: Limit,
    threshold: Limit,
    spec: BlueSpec,
    probability: f64,
    /// When it last changed.
    changed: Option<Time>,
    store: Store,
    stream: Stream,
}

impl Blue {
    fn change(&mut self, now: Time, by: f64) {
        if self.changed.is_none_or(|last| now.since(last) > self.spec.freeze_time) {
            self.probability = (self.probability + by).clamp(0.0, 1.0);
            self.changed = Some(now);
        }
    }
}

impl Discipline for Blue {
    fn enqueue(&mut self, now: Time, item: Item, _discarded: &mut Discarded) -> Verdict {
        let (bytes, packets) = (self.store.bytes(), self.store.packets());
        let full = !self.limit.admits(bytes, packets, item.bytes);
        if full || self.threshold.is_exceeded(bytes, packets) {
            self.change(now, self.spec.increment);
        }
        if full {
            return Verdict::Dropped("queue_full");
        }
        let picked = self.probability > 0.0 && self.stream.bernoulli(self.probability);
        let marked = picked && can_mark(self.spec.ecn, &item);
        if picked && !marked {
            return Verdict::Dropped(REASON);
        }
        self.store.push(item);
        if marked { Verdict::Marked } else { Verdict::Accepted }
    }

    fn dequeue(&mut self, now: Time, _discarded: &mut Discarded) -> Option<(Item, bool)> {
        let item = self.store.pop();
        if item.is_none() {
            self.change(now, -self.spec.decrement);
        }
        item.map(|item| (item, false))
    }

    fn bytes(&self) -> u64 {
        self.store.bytes()
    }

    fn packets(&self) -> u64 {
        self.store.packets()
    }

    fn minds_idle(&self) -> bool {
        true
    }

    fn set_stream(&mut self, stream: Stream) {
        self.stream = stream;
    }

    fn limit(&self) -> Limit {
        self.limit
    }

    fn set_limits(&mut self, limit: Option<Limit>, _mark_above: Option<Limit>) {
        self.limit = limit.unwrap_or(self.limit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at_ms(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    fn queue(spec: &BlueSpec) -> Blue {
        let mut q = spec.build(0);
        q.set_stream(Stream::new(1, "test", "queue"));
        q
    }

    fn near(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-12, "{value} is not {expected}");
    }

    /// Losses at 10, 60, 110, 111 and 250 ms: those at 60 and 110 ms come within 100 ms of the change at 10 ms. Then the link
    /// is idle at 300 (frozen), 351 and 500 ms: 0.06 - 0.004.
    #[test]
    fn losses_raise_and_idleness_lowers() {
        let mut q = queue(&BlueSpec { limit: Size::Packets(0), ..BlueSpec::default() });
        for (ms, expected) in [(10, 0.02), (60, 0.02), (110, 0.02), (111, 0.04), (250, 0.06)] {
            assert_eq!(q.enqueue(at_ms(ms), Item::default(), &mut Vec::new()), Verdict::Dropped("queue_full"));
            near(q.probability, expected);
        }
        for (ms, expected) in [(300, 0.06), (351, 0.058), (500, 0.056)] {
            assert_eq!(q.dequeue(at_ms(ms), &mut Vec::new()), None);
            near(q.probability, expected);
        }
        (6..100).for_each(|n| assert_eq!(q.dequeue(at_ms(n * 101), &mut Vec::new()), None));
        assert_eq!(q.probability, 0.0);
    }

    /// With a threshold of one packet the third that comes raises the probability, without a loss.
    #[test]
    fn a_threshold_raises_before_packets_are_lost() {
        let mut q = queue(&BlueSpec { threshold: Some(Size::Packets(1)), ..BlueSpec::default() });
        for expected in [0.0, 0.0, 0.02] {
            q.enqueue(at_ms(1), Item::default(), &mut Vec::new());
            near(q.probability, expected);
        }
    }

    /// p = 0.3 of 10 000 packets, four standard errors 0.0184; marked if they can be.
    #[test]
    fn packets_are_picked_with_the_probability() {
        for (ecn, codepoint, expected) in
            [(false, 2, Verdict::Dropped("blue")), (true, 2, Verdict::Marked), (true, 0, Verdict::Dropped("blue"))]
        {
            let mut q = queue(&BlueSpec { ecn, limit: Size::Packets(20_000), ..BlueSpec::default() });
            q.probability = 0.3;
            let item = Item { ecn: codepoint, ..Item::default() };
            let picked = (0..10_000).filter(|_| q.enqueue(at_ms(0), item, &mut Vec::new()) == expected).count();
            assert!((picked as f64 / 1e4 - 0.3).abs() < 0.0184, "{picked}");
        }
    }
}
