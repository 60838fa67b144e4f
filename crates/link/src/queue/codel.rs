//! CoDel (Nichols and Jacobson 2012, RFC 8289; Linux sch_codel.c): a FIFO that drops at departure when packets have waited
//! for too long. The control law is in `part/codel.rs`.
//!
//! Defaults are those of tc-codel: limit 1000 packets, target 5 ms, interval 100 ms, no ECN, no `ce_threshold`. The largest
//! packet, of which one may wait without being late, is the largest seen but 1514 B at least; Linux takes the device's MTU.

use elephan_units::{InvalidParameter, Size, Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::part::MTU_BYTES;
use super::part::codel::{Codel as State, Selector, Tuning};
use super::part::store::Store;
use super::{Answers, Discarded, Discipline, Item, Limit, Parameters, Verdict, positive};

/// Parameters of `codel`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CodelSpec {
    /// Most that may wait, in bytes ("2 MB"), packets ("100 p") or bandwidth-delay products ("1 bdp").
    pub limit: Size,
    /// Delay that a standing queue may have.
    #[schemars(extend("x-source" = "RFC 8289 section 4.3"))]
    pub target: Span,
    /// Time for which the delay must stay above `target` before a packet is dropped; about the longest usual round-trip time.
    #[schemars(extend("x-source" = "RFC 8289 section 4.2"))]
    pub interval: Span,
    /// Whether ECN-capable packets are marked instead of dropped.
    pub ecn: bool,
    /// ECN-capable packets that have waited for longer than this are marked at once, whatever `ecn` says; without it none are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ce_threshold: Option<Span>,
}

impl Default for CodelSpec {
    fn default() -> CodelSpec {
        let (target, interval) = (Span::from_ms(5), Span::from_ms(100));
        CodelSpec { limit: Size::Packets(1000), target, interval, ecn: false, ce_threshold: None }
    }
}

impl Parameters for CodelSpec {
    type Queue = Codel;

    fn answers(&self) -> Answers {
        Answers { marks_after: self.ce_threshold.map(|span| ("ce_threshold", span)), ..Answers::default() }
    }

    fn build(&self, bdp_bytes: u64) -> Codel {
        Codel {
            limit: Limit::of(Some(self.limit), bdp_bytes),
            tuning: Tuning {
                target: self.target,
                interval: self.interval,
                ecn: self.ecn,
                ce_threshold: self.ce_threshold.unwrap_or(Span::MAX),
                ce_threshold_selector: Selector::default(),
            },
            state: State::default(),
            store: Store::default(),
            mtu_bytes: MTU_BYTES,
        }
    }

    fn problem(&self) -> Option<InvalidParameter> {
        positive("interval", self.interval)
    }
}

/// The queue and its controller.
#[derive(Clone, Debug)]
pub struct Codel {
    limit: Limit,
    tuning: Tuning,
    state: State,
    store: Store,
    mtu_bytes: u32,
}

impl Discipline for Codel {
    #[inline]
    fn enqueue(&mut self, _now: Time, item: Item, _discarded: &mut Discarded) -> Verdict {
        if !self.limit.admits(self.store.bytes(), self.store.packets(), item.bytes) {
            return Verdict::Dropped("queue_full");
        }
        self.mtu_bytes = self.mtu_bytes.max(item.bytes);
        self.store.push(item);
        Verdict::Accepted
    }

    #[inline]
    fn dequeue(&mut self, now: Time, discarded: &mut Discarded) -> Option<(Item, bool)> {
        let Codel { tuning, state, store, mtu_bytes, .. } = self;
        let pop = || store.pop().map(|item| (item, store.bytes()));
        state.dequeue(tuning, now, *mtu_bytes, pop, discarded)
    }

    fn bytes(&self) -> u64 {
        self.store.bytes()
    }

    fn packets(&self) -> u64 {
        self.store.packets()
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

    const NOT_ECT: u8 = 0;
    const ECT_0: u8 = 2;

    fn at_us(us: u64) -> Time {
        Time::ZERO + Span::from_us(us)
    }

    /// Packets of 1500 bytes leave a queue of 20, one a `step_us` from `from_us` to `to_us`, each `delay_us` and up to 20 steps
    /// after it came; the times in microseconds at which one was dropped or marked.
    fn picked(q: &mut Codel, ecn: u8, (from_us, to_us, step_us): (u64, u64, u64), delay_us: u64) -> Vec<u64> {
        let mut times = Vec::new();
        let mut discarded = Vec::new();
        for now in (from_us..to_us).step_by(step_us as usize) {
            while q.packets() < 20 {
                let item = Item { bytes: 1500, ecn, at: at_us(now - delay_us), ..Item::default() };
                assert_eq!(q.enqueue(at_us(now), item, &mut discarded), Verdict::Accepted);
            }
            let (_, marked) = q.dequeue(at_us(now), &mut discarded).unwrap();
            times.extend((0..discarded.drain(..).count() + usize::from(marked)).map(|_| now));
        }
        times
    }

    /// RFC 8289 section 3: late from t = 1 s on, the first drop after 100 ms, then after 100 / sqrt(1), 100 / sqrt(2) = 70.71,
    /// 57.74, 50, 44.72 and 40.82 ms. A packet leaves each 10 us, so the first comes with the packet after 1.1 s.
    #[test]
    fn drops_come_by_the_inverse_root() {
        let mut q = CodelSpec::default().build(0);
        let times = picked(&mut q, NOT_ECT, (1_000_000, 1_470_000, 10), 6_000);
        let first = 1_100_010;
        let expected = [0.0, 100_000.0, 170_710.7, 228_445.7, 278_445.7, 323_167.1, 363_991.9];
        assert_eq!(times.len(), 7, "{times:?}");
        for (time, after) in times.iter().zip(expected) {
            let off = *time as f64 - (f64::from(first) + after);
            assert!((0.0..10.0).contains(&off), "{time} is not {first} + {after}");
        }
    }

    /// Seven drops from a first count of 1 leave count = 7, last_count = 1. In time again, then late within 16 intervals: the
    /// next state begins with count = 6, its second drop 100 / sqrt(6) = 40.82 ms after the first, the third 100 / sqrt(7) = 37.80.
    #[test]
    fn a_state_that_comes_back_soon_goes_on_with_its_rate() {
        for (pause_us, gaps) in [(500_000, [40_825, 37_796]), (1_700_000, [100_000, 70_711])] {
            let mut q = CodelSpec::default().build(0);
            assert_eq!(picked(&mut q, NOT_ECT, (1_000_000, 1_470_000, 10), 6_000).len(), 7);
            assert!(picked(&mut q, NOT_ECT, (1_470_000, 1_480_000, 10), 4_700).is_empty());
            let begin = 1_480_000 + pause_us;
            let times = picked(&mut q, NOT_ECT, (begin, begin + 300_000, 10), 5_000);
            assert_eq!(times[0], begin + 100_010);
            for (gap, pair) in gaps.into_iter().zip(times.windows(2)) {
                let off = (pair[1] - pair[0]) as i64 - gap;
                assert!((-10..=10).contains(&off), "{times:?}");
            }
        }
    }

    /// With ECN what would have been dropped is marked, at the same times, and nothing is dropped.
    #[test]
    fn marks_take_the_place_of_drops() {
        let mut drops = CodelSpec::default().build(0);
        let mut marks = CodelSpec { ecn: true, ..CodelSpec::default() }.build(0);
        let span = (1_000_000, 1_470_000, 10);
        assert_eq!(picked(&mut marks, ECT_0, span, 6_000), picked(&mut drops, ECT_0, span, 6_000));
        let mut not_capable = CodelSpec { ecn: true, ..CodelSpec::default() }.build(0);
        assert_eq!(picked(&mut not_capable, NOT_ECT, span, 6_000).len(), 7);
    }

    /// Below target, or with one packet left behind the one that leaves, nothing is dropped however long it takes.
    #[test]
    fn a_short_queue_is_never_late() {
        let mut q = CodelSpec::default().build(0);
        assert!(picked(&mut q, NOT_ECT, (1_000_000, 2_000_000, 10), 4_799).is_empty());
        let mut q = CodelSpec::default().build(0);
        let mut discarded = Vec::new();
        for now in (1_000_000..2_000_000).step_by(1000) {
            let item = Item { bytes: 1514, ecn: NOT_ECT, at: at_us(now - 50_000), ..Item::default() };
            while q.packets() < 2 {
                q.enqueue(at_us(now), item, &mut discarded);
            }
            q.dequeue(at_us(now), &mut discarded);
        }
        assert!(discarded.is_empty());
    }

    /// `ce_threshold` marks what has waited for longer, at once and without `ecn`.
    #[test]
    fn a_threshold_marks_at_once() {
        let mut q = CodelSpec { ce_threshold: Some(Span::from_ms(1)), ..CodelSpec::default() }.build(0);
        for (ecn, waited_us, expected) in [(ECT_0, 1000, false), (ECT_0, 1001, true), (NOT_ECT, 1001, false)] {
            let item = Item { bytes: 1500, ecn, at: at_us(5000), ..Item::default() };
            q.enqueue(item.at, item, &mut Vec::new());
            let (_, marked) = q.dequeue(at_us(5000 + waited_us), &mut Vec::new()).unwrap();
            assert_eq!(marked, expected, "{waited_us}");
        }
    }

    #[test]
    fn the_limit_drops_at_the_tail() {
        let mut q = CodelSpec { limit: Size::Packets(2), ..CodelSpec::default() }.build(0);
        let item = Item { bytes: 100, ecn: NOT_ECT, at: Time::ZERO, ..Item::default() };
        let verdicts = [(); 3].map(|()| q.enqueue(Time::ZERO, item, &mut Vec::new()));
        assert_eq!(verdicts, [Verdict::Accepted, Verdict::Accepted, Verdict::Dropped("queue_full")]);
        q.set_limits(Some(Limit { bytes: 300, packets: u64::MAX }), None);
        assert_eq!(q.enqueue(Time::ZERO, item, &mut Vec::new()), Verdict::Accepted);
        assert_eq!(q.enqueue(Time::ZERO, item, &mut Vec::new()), Verdict::Dropped("queue_full"));
    }
}
