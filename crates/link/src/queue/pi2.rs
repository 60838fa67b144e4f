//! PI2 (De Schepper, Bondarenko, Tsang and Briscoe, CoNEXT 2016): a FIFO that drops or marks at arrival with the square of
//! what a linear controller of its delay says. The controller is in `part/pi2.rs`.
//!
//! Defaults are those of Linux's dualpi2, of which this is the classic queue alone: limit 10 000 packets, target 15 ms,
//! tupdate 16 ms, alpha 0.16 and beta 3.2 per second; no ECN, as with tc-pie. With `ecn` what is picked is marked while p'^2 is
//! 0.25 at most, where coupled scalable senders would be marked always (RFC 9332, k = 2), and dropped above. Nothing is picked
//! while less than two full packets wait. Left out: the paper's single queue for scalable senders too, which are to use `dualpi2`.

use elephan_random::Stream;
use elephan_units::{InvalidParameter, Size, Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::part::pi2::{Pi2 as State, Pick, REASON, Tuning};
use super::part::store::Store;
use super::part::{MTU_BYTES, can_mark};
use super::{Answers, Discarded, Discipline, Item, Limit, Parameters, Verdict, at_least_1_us};

/// Parameters of `pi2`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Pi2Spec {
    /// Most that may wait, in bytes ("2 MB"), packets ("100 p") or bandwidth-delay products ("1 bdp").
    pub limit: Size,
    /// Delay that the controller holds the queue at.
    #[schemars(extend("x-source" = "RFC 9332 appendix A.1"))]
    pub target: Span,
    /// Time between updates of the probability.
    #[schemars(extend("x-source" = "RFC 9332 appendix A.1"))]
    pub tupdate: Span,
    /// Gain of the distance from `target`, per second.
    #[schemars(extend("x-source" = "RFC 9332 appendix A.1"), range(min = 0, max = 1000))]
    pub alpha: f64,
    /// Gain of the change of the delay, per second.
    #[schemars(extend("x-source" = "RFC 9332 appendix A.1"), range(min = 0, max = 1000))]
    pub beta: f64,
    /// Whether ECN-capable packets are marked instead of dropped while the probability is 0.25 at most.
    pub ecn: bool,
}

impl Default for Pi2Spec {
    fn default() -> Pi2Spec {
        let (target, tupdate) = (Span::from_ms(15), Span::from_ms(16));
        Pi2Spec { limit: Size::Packets(10_000), target, tupdate, alpha: 0.16, beta: 3.2, ecn: false }
    }
}

/// k of RFC 9332.
const COUPLING_FACTOR: f64 = 2.0;

impl Parameters for Pi2Spec {
    type Queue = Pi2;

    fn answers(&self) -> Answers {
        Answers { is_random: true, ..Answers::default() }
    }

    fn build(&self, bdp_bytes: u64) -> Pi2 {
        Pi2 {
            limit: Limit::of(Some(self.limit), bdp_bytes),
            tuning: Tuning {
                target: self.target,
                alpha: self.alpha,
                beta: self.beta,
                coupling_factor: COUPLING_FACTOR,
            },
            ecn: self.ecn,
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
pub struct Pi2 {
    limit: Limit,
    tuning: Tuning,
    ecn: bool,
    state: State,
    store: Store,
    mtu_bytes: u32,
    stream: Stream,
}

impl Pi2 {
    #[inline]
    fn update(&mut self, now: Time) {
        self.state.update(&self.tuning, now, 1.0, |at| self.store.head_delay(at));
    }
}

impl Discipline for Pi2 {
    fn enqueue(&mut self, now: Time, item: Item, _discarded: &mut Discarded) -> Verdict {
        self.update(now);
        let backlog = self.store.bytes();
        if !self.limit.admits(backlog, self.store.packets(), item.bytes) {
            return Verdict::Dropped("queue_full");
        }
        self.mtu_bytes = self.mtu_bytes.max(item.bytes);
        let pick = match backlog < 2 * u64::from(self.mtu_bytes) {
            true => Pick::Passes,
            false => self.state.classic(&self.tuning, &mut self.stream, can_mark(self.ecn, &item)),
        };
        if pick == Pick::IsDropped {
            return Verdict::Dropped(REASON);
        }
        self.store.push(item);
        if pick == Pick::IsMarked { Verdict::Marked } else { Verdict::Accepted }
    }

    fn dequeue(&mut self, now: Time, _discarded: &mut Discarded) -> Option<(Item, bool)> {
        self.update(now);
        self.store.pop().map(|item| (item, false))
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

    /// p' = 0.3: a packet of a standing queue is picked with 0.09, of one below two full packets never; four standard errors
    /// of 20 000 are 0.0081.
    #[test]
    fn packets_are_picked_with_the_square() {
        for (standing, ecn, expected, share) in [
            (3, false, Verdict::Dropped("pi2"), 0.09),
            (3, true, Verdict::Marked, 0.09),
            (2, false, Verdict::Dropped("pi2"), 0.0),
        ] {
            let mut q = Pi2Spec { ecn, ..Pi2Spec::default() }.build(0);
            q.set_stream(Stream::new(1, "test", "queue"));
            q.state = State::with(0.3);
            let item = Item { bytes: 1500, ecn: 2, ..Item::default() };
            let mut picked = 0;
            for _ in 0..20_000 {
                q.store = Store::default();
                (0..standing).for_each(|_| q.store.push(item));
                picked += u32::from(q.enqueue(Time::ZERO, item, &mut Vec::new()) == expected);
            }
            let off = f64::from(picked) / 20_000.0 - share;
            assert!(off.abs() <= if share == 0.0 { 0.0 } else { 0.0081 }, "{off}");
        }
    }

    #[test]
    fn the_limit_drops_at_the_tail() {
        let mut q = Pi2Spec { limit: Size::Packets(1), ..Pi2Spec::default() }.build(0);
        assert_eq!(q.enqueue(Time::ZERO, Item::default(), &mut Vec::new()), Verdict::Accepted);
        assert_eq!(q.enqueue(Time::ZERO, Item::default(), &mut Vec::new()), Verdict::Dropped("queue_full"));
    }
}
