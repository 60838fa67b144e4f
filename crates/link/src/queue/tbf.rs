//! Token bucket (Linux sch_tbf.c): a FIFO that sends no more than `burst + rate * t` bytes in any time t.
//!
//! ```text
//! tokens = min(tokens + rate * elapsed, burst)      a packet goes when tokens >= its bytes, and takes so many
//! peak:    the same with peak_rate and mtu: two packets are no closer than mtu / peak_rate
//! limit  = given, or rate * latency + burst  (with a peak rate at most peak_rate * latency + mtu)
//! ```
//!
//! Tokens are counted exactly, in bytes times 8 * 10^12. The bucket is full at the beginning. A packet larger than the burst (or
//! the mtu of the peak rate) can never go and is dropped. Bytes are those charged to the queue: with framing `ethernet` the
//! frame without preamble and gap, as a qdisc counts it. Rate and burst have no default in Linux; here 1 Mbit/s and 10 packets.
//! Left out: another discipline inside, `overhead` and `mpu`, splitting of offloaded segments.

use elephan_units::{Bytes, PS_PER_S, Rate, Size, Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::fifo::{Fifo, FifoSpec};
use super::part::some_bytes;
use super::{Answers, Discarded, Discipline, Item, Limit, Parameters, Verdict};

/// One byte of tokens.
const BYTE: u128 = 8 * PS_PER_S as u128;

/// Parameters of `tbf`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TbfSpec {
    /// Rate at which tokens come.
    #[schemars(extend("x-source" = "assumed"))]
    pub rate: Rate,
    /// Most tokens that the bucket holds.
    #[serde(deserialize_with = "some_bytes")]
    #[schemars(extend("x-source" = "assumed"))]
    pub burst: Bytes,
    /// Most that may wait, in bytes ("2 MB"), packets ("100 p") or bandwidth-delay products ("1 bdp"); without it by `latency`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<Size>,
    /// An ECN-capable packet that finds more than this waiting is marked (step marking, as of `fifo`); without it nothing is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mark_above: Option<Size>,
    /// Longest time that a packet may wait for tokens, in place of a limit.
    #[schemars(extend("x-source" = "Linux tc-tbf examples"))]
    pub latency: Span,
    /// Rate at which even a full bucket is emptied; without it that of the port.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak_rate: Option<Rate>,
    /// Bucket of the peak rate.
    #[serde(deserialize_with = "some_bytes")]
    #[schemars(extend("x-source" = "Linux tc-tbf: the MTU, with what Ethernet adds (the FCS too: queues are charged with it)"))]
    pub mtu: Bytes,
}

impl Default for TbfSpec {
    fn default() -> TbfSpec {
        TbfSpec {
            rate: Rate(1_000_000),
            burst: Bytes(15_140),
            limit: None,
            mark_above: None,
            latency: Span::from_ms(50),
            peak_rate: None,
            mtu: Bytes(1518),
        }
    }
}

impl Parameters for TbfSpec {
    type Queue = Tbf;

    fn answers(&self) -> Answers {
        Answers { is_drop_tail: true, ..Answers::default() }
    }

    fn depths(&self) -> Vec<(&'static str, Bytes)> {
        let peak = self.peak_rate.map(|_| ("mtu", self.mtu));
        [("burst", self.burst)].into_iter().chain(peak).collect()
    }

    fn build(&self, bdp_bytes: u64) -> Tbf {
        let by_latency = self.rate.bytes_in(self.latency).saturating_add(self.burst.0);
        let by_peak = self.peak_rate.map(|peak| peak.bytes_in(self.latency).saturating_add(self.mtu.0));
        let limit = self.limit.unwrap_or(Size::Bytes(by_latency.min(by_peak.unwrap_or(u64::MAX))));
        Tbf {
            fifo: FifoSpec { limit: Some(limit), mark_above: self.mark_above }.build(bdp_bytes),
            sustained: Bucket::new(self.rate, self.burst),
            peak: self.peak_rate.map(|peak| Bucket::new(peak, self.mtu)),
            ready: Time::NEVER,
        }
    }
}

/// One bucket of tokens.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    rate: u128,
    depth: u128,
    tokens: u128,
    at: Time,
}

impl Bucket {
    fn new(rate: Rate, depth: Bytes) -> Bucket {
        let depth = u128::from(depth.0) * BYTE;
        Bucket { rate: u128::from(rate.0), depth, tokens: depth, at: Time::ZERO }
    }

    /// The tokens that have come by `now`.
    fn fill(&mut self, now: Time) {
        let came = u128::from(now.since(self.at).0) * self.rate;
        self.tokens = (self.tokens + came).min(self.depth);
        self.at = self.at.max(now);
    }

    /// When there are tokens for so many bytes.
    fn ready(&self, bytes: u32) -> Time {
        let missing = (u128::from(bytes) * BYTE).saturating_sub(self.tokens).div_ceil(self.rate);
        self.at.saturating_add(Span(u64::try_from(missing).unwrap_or(u64::MAX)))
    }

    fn take(&mut self, bytes: u32) {
        self.tokens -= u128::from(bytes) * BYTE;
    }
}

/// The waiting packets and the buckets.
#[derive(Clone, Debug)]
pub struct Tbf {
    fifo: Fifo,
    sustained: Bucket,
    peak: Option<Bucket>,
    /// When there are tokens for the packet that waited for them last.
    ready: Time,
}

impl Discipline for Tbf {
    fn enqueue(&mut self, now: Time, item: Item, discarded: &mut Discarded) -> Verdict {
        let needed = u128::from(item.bytes) * BYTE;
        if needed > self.sustained.depth || self.peak.is_some_and(|peak| needed > peak.depth) {
            return Verdict::Dropped("larger_than_burst");
        }
        self.fifo.enqueue(now, item, discarded)
    }

    fn dequeue(&mut self, now: Time, discarded: &mut Discarded) -> Option<(Item, bool)> {
        let Some(first) = self.fifo.first() else {
            self.ready = Time::NEVER;
            return None;
        };
        let bytes = first.bytes;
        let Tbf { sustained, peak, .. } = self;
        sustained.fill(now);
        let peak_ready = peak.as_mut().map_or(Time::ZERO, |peak| {
            peak.fill(now);
            peak.ready(bytes)
        });
        self.ready = sustained.ready(bytes).max(peak_ready);
        if self.ready > now {
            return None;
        }
        sustained.take(bytes);
        if let Some(peak) = peak {
            peak.take(bytes);
        }
        self.fifo.dequeue(now, discarded)
    }

    fn bytes(&self) -> u64 {
        self.fifo.bytes()
    }

    fn packets(&self) -> u64 {
        self.fifo.packets()
    }

    fn limit(&self) -> Limit {
        self.fifo.limit()
    }

    fn set_limits(&mut self, limit: Option<Limit>, mark_above: Option<Limit>) {
        self.fifo.set_limits(limit, mark_above);
    }

    fn ready_at(&self) -> Time {
        self.ready
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn item(handle: u32, bytes: u32) -> Item {
        Item { handle, bytes, ..Item::default() }
    }

    fn us(us: u64) -> Time {
        Time::ZERO + Span::from_us(us)
    }

    /// 8 Mbit/s is a byte a microsecond. A burst of 3000 bytes: two of 1500 go at once, the third at 1500 us, and after 10 ms
    /// without packets the bucket has 3000 again, not 10 000.
    #[test]
    fn a_burst_then_the_rate() {
        let spec = TbfSpec { rate: Rate(8_000_000), burst: Bytes(3000), ..TbfSpec::default() };
        let mut q = spec.build(0);
        (0..4).for_each(|n| assert_eq!(q.enqueue(us(0), item(n, 1500), &mut Vec::new()), Verdict::Accepted));
        let at = |q: &mut Tbf, time| q.dequeue(us(time), &mut Vec::new()).map(|(item, _)| item.handle);
        assert_eq!((at(&mut q, 0), at(&mut q, 0), at(&mut q, 0), q.ready_at()), (Some(0), Some(1), None, us(1500)));
        assert_eq!((at(&mut q, 1499), q.ready_at()), (None, us(1500)));
        assert_eq!((at(&mut q, 1500), at(&mut q, 1500), q.ready_at()), (Some(2), None, us(3000)));
        assert_eq!((at(&mut q, 3000), at(&mut q, 3000), q.ready_at()), (Some(3), None, Time::NEVER));
        (4..7).for_each(|n| assert_eq!(q.enqueue(us(13_000), item(n, 1500), &mut Vec::new()), Verdict::Accepted));
        assert_eq!((at(&mut q, 13_000), at(&mut q, 13_000), at(&mut q, 13_000)), (Some(4), Some(5), None));
        assert_eq!(q.ready_at(), us(14_500));
    }

    /// tc-tbf: limit = rate * latency + burst: 8 Mbit/s, 10 ms, 3000 bytes: 13 000. With a peak of 16 Mbit/s and an mtu of
    /// 1500 it is the smaller of that and 20 000 + 1500. What is larger than the burst is dropped.
    #[test]
    fn the_limit_follows_from_the_latency() {
        let (rate, burst, latency) = (Rate(8_000_000), Bytes(3000), Span::from_ms(10));
        let spec = TbfSpec { rate, burst, latency, mtu: Bytes(1500), ..TbfSpec::default() };
        for (peak_rate, room) in [(None, 13), (Some(Rate(16_000_000)), 13), (Some(Rate(8_000_000)), 11)] {
            let mut q = TbfSpec { peak_rate, ..spec.clone() }.build(0);
            let verdicts: Vec<Verdict> = (0..20).map(|n| q.enqueue(us(0), item(n, 1000), &mut Vec::new())).collect();
            assert_eq!(verdicts.iter().filter(|&&v| v == Verdict::Accepted).count(), room);
        }
        let mut q = spec.build(0);
        assert_eq!(q.enqueue(us(0), item(0, 3001), &mut Vec::new()), Verdict::Dropped("larger_than_burst"));
    }

    /// Peak 16 Mbit/s, half a microsecond a byte: a full bucket is emptied at that rate, 750 us a packet, and then at 8 Mbit/s.
    /// Tokens of the sustained rate at 0: 4500; they last until 4500 + t = 1500 n at t = 750 (n - 1), so for n = 5 at 3000 us;
    /// the sixth needs 9000 - 4500 = 4500 us.
    #[test]
    fn a_peak_rate() {
        let (rate, burst, peak_rate) = (Rate(8_000_000), Bytes(4500), Some(Rate(16_000_000)));
        let mut q = TbfSpec { rate, burst, peak_rate, mtu: Bytes(1500), ..TbfSpec::default() }.build(0);
        (0..7).for_each(|n| assert_eq!(q.enqueue(us(0), item(n, 1500), &mut Vec::new()), Verdict::Accepted));
        let (mut now, mut times) = (us(0), Vec::new());
        while q.packets() > 0 {
            match q.dequeue(now, &mut Vec::new()) {
                Some(_) => times.push(now.0 / 1_000_000),
                None => now = q.ready_at(),
            }
        }
        assert_eq!(times, [0, 750, 1500, 2250, 3000, 4500, 6000]);
    }

    proptest! {
        /// Over any interval no more than burst + rate * t leaves, and no more than mtu + peak_rate * t; and asking at `ready_at`
        /// everything leaves in the end.
        #[test]
        fn conformance(
            offers in prop::collection::vec((0u64..5_000_000_000, 40u32..=1500), 1..80),
            rate in 100_000u64..50_000_000,
            burst in 1500u64..20_000,
            peak in prop::option::of(2u64..5),
        ) {
            let peak_rate = peak.map(|times| Rate(times * rate));
            let limit = Some(Size::Packets(1000));
            let spec = TbfSpec { rate: Rate(rate), burst: Bytes(burst), limit, peak_rate, mtu: Bytes(1500), ..TbfSpec::default() };
            let mut q = spec.build(0);
            let (mut sent, mut now) = (Vec::new(), Time::ZERO);
            for (n, (gap, bytes)) in offers.iter().enumerate() {
                let arrival = now + Span(*gap);
                drain(&mut q, now, arrival, &mut sent);
                now = arrival;
                prop_assert_eq!(q.enqueue(now, item(n as u32, *bytes), &mut Vec::new()), Verdict::Accepted);
            }
            drain(&mut q, now, Time::NEVER, &mut sent);
            prop_assert_eq!(sent.len(), offers.len());
            for i in 0..sent.len() {
                let mut bytes = 0u128;
                for &(at, of) in &sent[i..] {
                    bytes += u128::from(of);
                    let ps = u128::from((at - sent[i].0).0);
                    prop_assert!(bytes * BYTE <= u128::from(burst) * BYTE + u128::from(rate) * ps);
                    if let Some(peak) = peak_rate {
                        prop_assert!(bytes * BYTE <= 1500 * BYTE + u128::from(peak.0) * ps);
                    }
                }
            }
        }
    }

    /// What leaves from `now` to before `end` if the port asks whenever the queue says.
    fn drain(q: &mut Tbf, mut now: Time, end: Time, sent: &mut Vec<(Time, u32)>) {
        while q.packets() > 0 && now < end {
            match q.dequeue(now, &mut Vec::new()) {
                Some((item, _)) => sent.push((now, item.bytes)),
                None => now = q.ready_at(),
            }
        }
    }
}
