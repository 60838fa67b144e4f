//! DualPI2 (RFC 9332; Linux sch_dualpi2.c): two queues, one of low latency for scalable senders (ECT(1), as those of L4S) and a
//! classic one, coupled so that both kinds share alike. The controller is in `part/pi2.rs`.
//!
//! ```text
//! classic queue:  p_C = p'^2
//! L queue:        marked with max(p_L, k p'); p_L = 0 while no more than th_len packets are in it, the one that leaves included,
//!                 else 1 if the packet has waited for longer than step_thresh + step_range, from step_thresh on rising to that
//! delay:          of the queue whose first packet has waited longer
//! scheduler:      credit <= 0: L queue, credit += wc bytes; else classic queue, credit -= (1 - wc) bytes; kept while one is
//!                 empty, (2 wc - 1) full packets when both were found empty
//! overload:       k p' > 1: both queues drop with p'^2; with overflow nothing is dropped early and p' <= 1 / k
//! ```
//!
//! Names and defaults are those of Linux: limit 10 000 packets of both, target 15 ms, tupdate 16 ms, alpha 0.16 and beta 3.2 per
//! second, coupling_factor 2, step_thresh 1 ms, classic_protection 10 %, drops at departure and on overload. Classic
//! packets that are ECN-capable are always marked before overload. Nothing is picked while less than two full packets
//! wait behind. Preset `rfc9332`: the ramp from 0.8 to 1.2 ms and Th_len of one packet of RFC 9332 appendix A.1. On slow links, whose
//! packets take longer than the step, every packet behind another one is marked without it. Left out: the step in packets, a
//! memory limit, filters, GSO.

use std::collections::VecDeque;

use elephan_random::Stream;
use elephan_units::{InvalidParameter, Size, Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::part::MTU_BYTES;
use super::part::pi2::{Pi2 as State, Pick, REASON, Tuning};
use super::part::store::Store;
use super::{Answers, Discarded, Discipline, Item, Limit, Parameters, Verdict, at_least_1_us, is_ect};

/// A published set of parameters of `dualpi2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Dualpi2Preset {
    /// RFC 9332 appendix A.1: marks of the L queue rise from 0.8 ms to 1.2 ms of delay, and none while one packet is in it.
    #[serde(rename = "rfc9332")]
    Rfc9332,
}

/// Parameters of `dualpi2`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Dualpi2Spec {
    /// A published set that fills in the keys which are not given; without it the defaults, those of Linux.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Dualpi2Preset")]
    pub preset: Option<Dualpi2Preset>,
    /// Most that may wait in both queues, in bytes ("2 MB"), packets ("100 p") or bandwidth-delay products ("1 bdp").
    pub limit: Size,
    /// Delay that the controller holds the classic queue at.
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
    /// k: how much likelier a packet of the L queue is marked than the controller says.
    #[schemars(extend("x-source" = "RFC 9332 section 2.1"), range(min = 1, max = 255))]
    pub coupling_factor: f64,
    /// Packets of the L queue that have waited for longer are marked.
    #[schemars(extend("x-source" = "RFC 9332 appendix A.1"))]
    pub step_thresh: Span,
    /// Delay beyond `step_thresh` within which the probability of such a mark rises to 1; 0 is a step.
    #[schemars(extend("x-source" = "Linux sch_dualpi2.c; RFC 9332 appendix A.1: 400 us"))]
    pub step_range: Span,
    /// Th_len: packets in the L queue, the one that leaves included, up to which `step_thresh` is not looked at.
    #[schemars(extend("x-source" = "Linux sch_dualpi2.c; RFC 9332 appendix A.1: 1"))]
    pub th_len: u32,
    /// Waiting packets that the L queue must have when a packet comes for `step_thresh` to be looked at.
    #[schemars(extend("x-source" = "tc-dualpi2"))]
    pub min_qlen_step: u32,
    /// wc: share of the link in percent that the classic queue keeps against the L queue.
    #[schemars(extend("x-source" = "RFC 9332 section 2.5"), range(min = 0, max = 100))]
    pub classic_protection: f64,
    /// Whether packets are dropped or marked as they come instead of as they leave.
    pub drop_enqueue: bool,
    /// Whether an overload fills the queues instead of dropping early.
    pub overflow: bool,
    /// Whether all ECN-capable packets go to the L queue, instead of ECT(1) and CE.
    pub any_ect: bool,
}

impl Default for Dualpi2Spec {
    fn default() -> Dualpi2Spec {
        Dualpi2Spec {
            preset: None,
            limit: Size::Packets(10_000),
            target: Span::from_ms(15),
            tupdate: Span::from_ms(16),
            alpha: 0.16,
            beta: 3.2,
            coupling_factor: 2.0,
            step_thresh: Span::from_ms(1),
            step_range: Span::ZERO,
            th_len: 0,
            min_qlen_step: 0,
            classic_protection: 10.0,
            drop_enqueue: false,
            overflow: false,
            any_ect: false,
        }
    }
}

impl Parameters for Dualpi2Spec {
    type Queue = Dualpi2;

    fn answers(&self) -> Answers {
        Answers { is_random: true, marks_after: Some(("step_thresh", self.step_thresh)), ..Answers::default() }
    }

    fn build(&self, bdp_bytes: u64) -> Dualpi2 {
        let tuning =
            Tuning { target: self.target, alpha: self.alpha, beta: self.beta, coupling_factor: self.coupling_factor };
        Dualpi2 {
            limit: Limit::of(Some(self.limit), bdp_bytes),
            tuning,
            weight: self.classic_protection / 100.0,
            spec: self.clone(),
            state: State::new(self.tupdate),
            classic: Store::default(),
            low: Store::default(),
            stepped: VecDeque::new(),
            credit: 0.0,
            mtu_bytes: MTU_BYTES,
            stream: Stream::new(0, "", ""),
        }
        .reset()
    }

    fn problem(&self) -> Option<InvalidParameter> {
        at_least_1_us("tupdate", self.tupdate)
    }
}

/// The two queues and their controller.
#[derive(Clone, Debug)]
pub struct Dualpi2 {
    limit: Limit,
    tuning: Tuning,
    spec: Dualpi2Spec,
    /// wc as a share.
    weight: f64,
    state: State,
    classic: Store,
    low: Store,
    /// For each packet of the L queue whether `step_thresh` looks at it: it came when `min_qlen_step` were waiting.
    stepped: VecDeque<bool>,
    /// Bytes; the L queue goes first while it is not above zero.
    credit: f64,
    mtu_bytes: u32,
    stream: Stream,
}

impl Discipline for Dualpi2 {
    fn enqueue(&mut self, now: Time, item: Item, _discarded: &mut Discarded) -> Verdict {
        self.update(now);
        if !self.limit.admits(self.bytes(), self.packets(), item.bytes) {
            return Verdict::Dropped("queue_full");
        }
        self.mtu_bytes = self.mtu_bytes.max(item.bytes);
        let pick = if self.spec.drop_enqueue { self.pick(&item) } else { Pick::Passes };
        if pick == Pick::IsDropped {
            return Verdict::Dropped(REASON);
        }
        if self.is_low(&item) {
            self.stepped.push_back(self.low.packets() >= u64::from(self.spec.min_qlen_step));
            self.low.push(item);
        } else {
            self.classic.push(item);
        }
        if pick == Pick::IsMarked { Verdict::Marked } else { Verdict::Accepted }
    }

    fn dequeue(&mut self, now: Time, discarded: &mut Discarded) -> Option<(Item, bool)> {
        self.update(now);
        loop {
            let waiting = self.low.packets();
            let (item, low, change) = self.next()?;
            let pick = if self.spec.drop_enqueue { Pick::Passes } else { self.pick(&item) };
            let steps = low && self.stepped.pop_front().unwrap_or_default();
            if pick == Pick::IsDropped {
                discarded.push((item, REASON));
                continue;
            }
            self.credit += change;
            let looked_at = steps && pick != Pick::IsMarked && waiting > u64::from(self.spec.th_len);
            let stepped = looked_at && self.steps(now.since(item.at));
            return Some((item, pick == Pick::IsMarked || stepped));
        }
    }

    fn bytes(&self) -> u64 {
        self.classic.bytes() + self.low.bytes()
    }

    fn packets(&self) -> u64 {
        self.classic.packets() + self.low.packets()
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

impl Dualpi2 {
    /// The credit with which a busy period begins.
    fn reset(mut self) -> Dualpi2 {
        self.credit = self.credit_initial();
        self
    }

    fn credit_initial(&self) -> f64 {
        f64::from(self.mtu_bytes) * (2.0 * self.weight - 1.0)
    }

    fn is_low(&self, item: &Item) -> bool {
        if self.spec.any_ect { is_ect(item.ecn) } else { item.ecn & 1 != 0 }
    }

    #[inline]
    fn update(&mut self, now: Time) {
        let most = if self.spec.overflow { 1.0 / self.tuning.coupling_factor } else { 1.0 };
        let (classic, low) = (&self.classic, &self.low);
        self.state.update(&self.tuning, now, most, |at| classic.head_delay(at).max(low.head_delay(at)));
    }

    /// Takes the next packet: whether it is of the L queue, and what it changes of the credit if it is sent.
    fn next(&mut self) -> Option<(Item, bool, f64)> {
        let both = self.low.packets() > 0 && self.classic.packets() > 0;
        let bytes = |item: &Item| if both { f64::from(item.bytes) } else { 0.0 };
        if self.low.packets() > 0 && (!both || self.credit <= 0.0) {
            let item = self.low.pop()?;
            return Some((item, true, self.weight * bytes(&item)));
        }
        let Some(item) = self.classic.pop() else {
            self.credit = self.credit_initial();
            return None;
        };
        Some((item, false, (self.weight - 1.0) * bytes(&item)))
    }

    /// Whether the delay of a packet of the L queue marks it, given that coupling has not: together the larger of both probabilities.
    fn steps(&mut self, delay: Span) -> bool {
        let Dualpi2Spec { step_thresh, step_range, .. } = self.spec;
        if delay <= step_thresh || step_range == Span::ZERO || delay >= step_thresh + step_range {
            return delay > step_thresh;
        }
        let native = (delay - step_thresh).seconds() / step_range.seconds();
        let coupled = self.coupled();
        native > coupled && self.stream.uniform() < (native - coupled) / (1.0 - coupled)
    }

    /// The probability with which coupling marks a packet of the L queue.
    fn coupled(&self) -> f64 {
        if self.spec.drop_enqueue || self.bytes() < 2 * u64::from(self.mtu_bytes) {
            return 0.0;
        }
        self.state.coupled(&self.tuning)
    }

    fn pick(&mut self, item: &Item) -> Pick {
        if self.bytes() < 2 * u64::from(self.mtu_bytes) {
            return Pick::Passes;
        }
        match self.is_low(item) {
            true => self.state.scalable(&self.tuning, &mut self.stream, item, !self.spec.overflow),
            false => self.state.classic(&self.tuning, &mut self.stream, is_ect(item.ecn)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOT_ECT: u8 = 0;
    const ECT_1: u8 = 1;
    const ECT_0: u8 = 2;

    fn queue(spec: &Dualpi2Spec) -> Dualpi2 {
        let mut q = spec.build(0);
        q.set_stream(Stream::new(1, "test", "queue"));
        q
    }

    fn offer(q: &mut Dualpi2, ecn: u8, packets: u32) {
        for _ in 0..packets {
            let item = Item { bytes: 1000, ecn, ..Item::default() };
            assert_eq!(q.enqueue(Time::ZERO, item, &mut Vec::new()), Verdict::Accepted);
        }
    }

    /// The L queue has the codepoint's low bit: ECT(1) and CE; with `any_ect` ECT(0) as well.
    #[test]
    fn who_goes_where() {
        for (any_ect, expected) in [(false, [false, true, false, true]), (true, [false, true, true, true])] {
            let q = queue(&Dualpi2Spec { any_ect, ..Dualpi2Spec::default() });
            assert_eq!([0, 1, 2, 3].map(|ecn| q.is_low(&Item { ecn, ..Item::default() })), expected);
        }
    }

    /// Both queues full of packets of 1000 bytes, wc = 0.1: the credit begins at 1514 * (0.1 - 0.9) = -1211.2 and gains 100 a packet
    /// of the L queue, so 13 go first (+88.8); a classic one costs 900 (-811.2), and 9 of the other follow each time.
    #[test]
    fn classic_packets_get_their_tenth() {
        let mut q = queue(&Dualpi2Spec { step_thresh: Span::MAX, ..Dualpi2Spec::default() });
        offer(&mut q, ECT_1, 100);
        offer(&mut q, NOT_ECT, 100);
        let sent: Vec<u8> = (0..44).map(|_| q.dequeue(Time::ZERO, &mut Vec::new()).unwrap().0.ecn).collect();
        let classic: Vec<usize> = (0..44).filter(|&i| sent[i] == NOT_ECT).collect();
        assert_eq!(classic, [13, 23, 33, 43]);
    }

    /// A packet of the L queue that has waited for 1 ms and a picosecond is marked, one of 1 ms not; a classic one never by that.
    #[test]
    fn the_step() {
        for (ecn, after_ps, expected) in
            [(ECT_1, 1_000_000_000, false), (ECT_1, 1_000_000_001, true), (ECT_0, 2_000_000_000, false)]
        {
            let mut q = queue(&Dualpi2Spec::default());
            offer(&mut q, ecn, 1);
            assert_eq!(q.dequeue(Time(after_ps), &mut Vec::new()).unwrap().1, expected, "{after_ps}");
        }
        // Of five that come to an empty L queue the first two find fewer than two waiting.
        let mut q = queue(&Dualpi2Spec { min_qlen_step: 2, ..Dualpi2Spec::default() });
        offer(&mut q, ECT_1, 5);
        let marks: Vec<bool> = (0..5).map(|_| q.dequeue(Time(2_000_000_000), &mut Vec::new()).unwrap().1).collect();
        assert_eq!(marks, [false, false, true, true, true]);
    }

    /// RFC 9332 appendix A.1: a packet alone in the L queue is not marked however long it waits (Th_len 1); behind another one it is
    /// not up to 0.8 ms, always from 1.2 ms on, and half of the time at 1 ms: 2000 packets, four standard errors 0.045.
    #[test]
    fn the_ramp_of_the_rfc() {
        let spec = Dualpi2Spec {
            step_thresh: Span::from_us(800),
            step_range: Span::from_us(400),
            th_len: 1,
            ..Dualpi2Spec::default()
        };
        for (packets, after_us, expected) in [(1, 50_000, false), (2, 800, false), (2, 1200, true), (2, 5000, true)] {
            let mut q = queue(&spec);
            offer(&mut q, ECT_1, packets);
            let at = Time::ZERO + Span::from_us(after_us);
            assert_eq!(q.dequeue(at, &mut Vec::new()).unwrap().1, expected, "{packets} {after_us}");
        }
        let mut q = queue(&spec);
        offer(&mut q, ECT_1, 2001);
        let at = Time::ZERO + Span::from_ms(1);
        let marks = (0..2000).filter(|_| q.dequeue(at, &mut Vec::new()).unwrap().1).count();
        assert!((marks as f64 / 2000.0 - 0.5).abs() < 0.045, "{marks}");
    }

    /// p' = 0.25: 0.5 of the L queue marked, 0.0625 of the classic queue dropped, or marked if ECN-capable: 2000 packets of each,
    /// four standard errors 0.045 and 0.022. At departure, or with `drop_enqueue` at arrival.
    #[test]
    fn coupled_probabilities() {
        let spec = Dualpi2Spec { step_thresh: Span::MAX, ..Dualpi2Spec::default() };
        for (ecn, p, four_errors) in [(ECT_1, 0.5, 0.045), (ECT_0, 0.0625, 0.022), (NOT_ECT, 0.0625, 0.022)] {
            let mut q = queue(&spec);
            q.state = State::with(0.25);
            offer(&mut q, ecn, 2004);
            let (mut marks, mut discarded) = (0, Vec::new());
            while let Some((_, marked)) = q.dequeue(Time::ZERO, &mut discarded) {
                marks += u32::from(marked);
            }
            let picked = marks as usize + discarded.len();
            assert!(marks == 0 || discarded.is_empty());
            assert!(discarded.is_empty() == (ecn != NOT_ECT));
            assert!((picked as f64 / 2000.0 - p).abs() < four_errors, "{picked}");
            let mut q = queue(&Dualpi2Spec { drop_enqueue: true, ..spec.clone() });
            q.state = State::with(0.25);
            let item = Item { bytes: 1000, ecn, ..Item::default() };
            let verdicts = (0..2000).map(|_| q.enqueue(Time::ZERO, item, &mut Vec::new()));
            let picked = verdicts.filter(|&v| v != Verdict::Accepted).count();
            assert!((picked as f64 / 2000.0 - p).abs() < four_errors, "{picked}");
        }
    }

    /// The delay is that of the older head: a classic packet that came at 0, at 16 ms: 0.16 * 0.001 + 3.2 * 0.016 = 0.05136.
    #[test]
    fn the_older_head_counts() {
        let mut q = queue(&Dualpi2Spec::default());
        offer(&mut q, NOT_ECT, 1);
        let later = Time::ZERO + Span::from_ms(10);
        q.enqueue(later, Item { ecn: ECT_1, bytes: 1000, at: later, ..Item::default() }, &mut Vec::new());
        q.update(Time::ZERO + Span::from_ms(16));
        let mut expected = State::new(Span::from_ms(16));
        expected.update(&q.tuning, Time::ZERO + Span::from_ms(16), 1.0, |_| Span::from_ms(16));
        assert_eq!(format!("{:?}", q.state), format!("{expected:?}"));
        assert!(format!("{expected:?}").contains("probability: 0.05136"), "{expected:?}");
    }

    /// With `overflow` p' stays at 1 / k: everything of the L queue is marked and nothing dropped but at the limit.
    #[test]
    fn overflow_instead_of_overload() {
        let mut q = queue(&Dualpi2Spec { overflow: true, limit: Size::Packets(10), ..Dualpi2Spec::default() });
        offer(&mut q, ECT_1, 10);
        let now = Time::ZERO + Span::from_s(10);
        assert_eq!(
            q.enqueue(now, Item { ecn: ECT_1, ..Item::default() }, &mut Vec::new()),
            Verdict::Dropped("queue_full")
        );
        let mut discarded = Vec::new();
        let marks = std::iter::from_fn(|| q.dequeue(now, &mut discarded)).filter(|(_, marked)| *marked).count();
        assert_eq!((marks, discarded.len()), (10, 0));
    }
}
