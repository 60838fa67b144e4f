//! PIE (Pan et al. 2013, RFC 8033; Linux sch_pie.c): a FIFO that drops at arrival with a probability that a controller of its
//! delay sets. The controller is in `part/pie.rs`.
//!
//! Defaults are those of tc-pie: limit 1000 packets, target 15 ms, tupdate 15 ms, alpha 2, beta 20 (in sixteenths per second),
//! neither `ecn` nor `bytemode`. ECN-capable packets are marked while the probability is 0.1 at most and dropped above. Left
//! out: `dq_rate_estimator`, the delay is always taken from timestamps.

use elephan_random::Stream;
use elephan_units::{InvalidParameter, Size, Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::part::pie::{MARK_UP_TO, Pie as State, REASON, Tuning};
use super::part::store::Store;
use super::part::{MTU_BYTES, can_mark};
use super::{Answers, Discarded, Discipline, Item, Limit, Parameters, Verdict, at_least_1_us};

/// Parameters of `pie`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PieSpec {
    /// Most that may wait, in bytes ("2 MB"), packets ("100 p") or bandwidth-delay products ("1 bdp").
    pub limit: Size,
    /// Delay that the controller holds the queue at.
    #[schemars(extend("x-source" = "RFC 8033 section 4.2"))]
    pub target: Span,
    /// Time between updates of the probability.
    #[schemars(extend("x-source" = "RFC 8033 section 4.2"))]
    pub tupdate: Span,
    /// Gain of the distance from `target`, in sixteenths per second.
    #[schemars(extend("x-source" = "tc-pie"), range(min = 0, max = 32))]
    pub alpha: f64,
    /// Gain of the change of the delay, in sixteenths per second.
    #[schemars(extend("x-source" = "tc-pie"), range(min = 0, max = 32))]
    pub beta: f64,
    /// Whether ECN-capable packets are marked instead of dropped while the probability is 0.1 at most.
    pub ecn: bool,
    /// Whether the probability of a packet is in proportion to its size.
    pub bytemode: bool,
}

impl Default for PieSpec {
    fn default() -> PieSpec {
        let (target, tupdate) = (Span::from_ms(15), Span::from_ms(15));
        let limit = Size::Packets(1000);
        PieSpec { limit, target, tupdate, alpha: 2.0, beta: 20.0, ecn: false, bytemode: false }
    }
}

impl Parameters for PieSpec {
    type Queue = Pie;

    fn answers(&self) -> Answers {
        Answers { is_random: true, ..Answers::default() }
    }

    fn build(&self, bdp_bytes: u64) -> Pie {
        Pie {
            limit: Limit::of(Some(self.limit), bdp_bytes),
            tuning: Tuning {
                target: self.target,
                alpha: self.alpha / 16.0,
                beta: self.beta / 16.0,
                ecn: self.ecn,
                mark_up_to: MARK_UP_TO,
                bytemode: self.bytemode,
            },
            state: State::new(self.tupdate),
            store: Store::default(),
            mtu_bytes: MTU_BYTES,
            stream: Stream::new(0, "", ""),
        }
    }

    fn problem(&self) -> Option<InvalidParameter> {
        at_least_1_us("tupdate", self.tupdate)
    }
}

/// The queue and its controller.
#[derive(Clone, Debug)]
pub struct Pie {
    limit: Limit,
    tuning: Tuning,
    state: State,
    store: Store,
    mtu_bytes: u32,
    stream: Stream,
}

impl Discipline for Pie {
    fn enqueue(&mut self, now: Time, item: Item, _discarded: &mut Discarded) -> Verdict {
        let backlog = self.store.bytes();
        self.state.update(&self.tuning, now, backlog);
        if !self.limit.admits(backlog, self.store.packets(), item.bytes) {
            self.state.overflow();
            return Verdict::Dropped("queue_full");
        }
        self.mtu_bytes = self.mtu_bytes.max(item.bytes);
        let picked = self.state.picks(&self.tuning, &mut self.stream, item.bytes, backlog, self.mtu_bytes);
        let marked = picked && can_mark(self.state.marks(&self.tuning), &item);
        if picked && !marked {
            return Verdict::Dropped(REASON);
        }
        self.store.push(item);
        if marked { Verdict::Marked } else { Verdict::Accepted }
    }

    fn dequeue(&mut self, now: Time, _discarded: &mut Discarded) -> Option<(Item, bool)> {
        self.state.update(&self.tuning, now, self.store.bytes());
        let item = self.store.pop()?;
        self.state.departs(now, now.since(item.at), self.store.bytes());
        Some((item, false))
    }

    fn bytes(&self) -> u64 {
        self.store.bytes()
    }

    fn packets(&self) -> u64 {
        self.store.packets()
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

    /// A queue whose controller has been fed a delay of 400 ms for two seconds: the probability is 1 or near it, above 0.1.
    fn overloaded(ecn: bool) -> Pie {
        let mut q = PieSpec { ecn, ..PieSpec::default() }.build(0);
        q.set_stream(Stream::new(1, "test", "queue"));
        for ms in 400..2400 {
            let now = Time::ZERO + Span::from_ms(ms);
            let at = Time::ZERO + Span::from_ms(ms - 400);
            while q.packets() < 10 {
                q.store.push(Item { bytes: 1500, ecn: 2, at, ..Item::default() });
            }
            q.dequeue(now, &mut Vec::new());
        }
        q
    }

    /// Linux sch_pie.c: above 0.1 even ECN-capable packets are dropped; up to 0.1 they are marked.
    #[test]
    fn ecn_marks_while_the_probability_is_small() {
        let now = Time::ZERO + Span::from_ms(2400);
        let item = Item { bytes: 1500, ecn: 2, at: now, ..Item::default() };
        let verdicts = |q: &mut Pie| (0..200).map(|_| q.enqueue(now, item, &mut Vec::new())).collect::<Vec<_>>();
        let of = verdicts(&mut overloaded(true));
        assert!(of.contains(&Verdict::Dropped("pie")) && !of.contains(&Verdict::Marked), "{of:?}");
        let mut q = PieSpec { ecn: true, ..PieSpec::default() }.build(0);
        q.set_stream(Stream::new(1, "test", "queue"));
        for ms in 100..700 {
            let now = Time::ZERO + Span::from_ms(ms);
            while q.packets() < 10 {
                q.store.push(Item { at: Time::ZERO + Span::from_ms(ms - 40), ..item });
            }
            q.dequeue(now, &mut Vec::new());
        }
        let now = Time::ZERO + Span::from_ms(700);
        let of: Vec<Verdict> = (0..900).map(|_| q.enqueue(now, Item { at: now, ..item }, &mut Vec::new())).collect();
        assert!(of.contains(&Verdict::Marked) && !of.contains(&Verdict::Dropped("pie")), "{of:?}");
    }

    #[test]
    fn the_limit_drops_at_the_tail() {
        let mut q = PieSpec { limit: Size::Packets(1), ..PieSpec::default() }.build(0);
        let item = Item { bytes: 100, ecn: 0, at: Time::ZERO, ..Item::default() };
        assert_eq!(q.enqueue(Time::ZERO, item, &mut Vec::new()), Verdict::Accepted);
        assert_eq!(q.enqueue(Time::ZERO, item, &mut Vec::new()), Verdict::Dropped("queue_full"));
    }
}
