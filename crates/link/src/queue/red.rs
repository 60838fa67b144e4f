//! RED, random early detection (Floyd and Jacobson 1993), with the gentle slope (Floyd 2000) and adaptive RED (Floyd,
//! Gummadi and Shenker 2001).
//!
//! Each packet that comes moves the average of the queue `q` that it finds, and is picked out with probability p_a:
//!
//! ```text
//! avg += weight (q - avg);   after an idle time T: avg *= (1 - weight)^(T / s),   s = avpkt / rate
//! p_b = probability (avg - min) / (max - min)                        min <= avg < max
//! p_b = probability + (1 - probability) (avg - max) / max            max <= avg < 2 max, if gentle; 1 above
//! p_a = p_b / (1 - count p_b)                                        count: packets let pass since the last one picked
//! ```
//!
//! Without `gentle`, p_b = 1 from `max` on. A packet that is picked is dropped, or with `ecn` marked if it is ECN-capable
//! (with `harddrop` not where p_b = 1). With `adaptive`, each 0.5 s (evaluated with the first packet after it, on the state of
//! that instant): above min + 0.6 (max - min) probability += min(0.01, probability / 4), below min + 0.4 (max - min)
//! probability *= 0.9, within 0.01 .. 0.5.
//!
//! The marking of switches for DCQCN (Zhu et al., SIGCOMM 2015: nothing below K_min, with a probability that rises to P_max at K_max,
//! everything above, by the queue of this instant) is `min` = K_min, `max` = K_max, `probability` = P_max, `weight = 1`, `spaced = false`,
//! `ecn` and `mark_only`: p_b alone, without the count, and no drops of what cannot be marked (acknowledgements).
//!
//! Names and defaults are those of tc-red: probability 0.02, avpkt 1000 B, max = limit / 4, min = max / 3, and neither `ecn`,
//! `harddrop`, `adaptive` nor `gentle` (Linux has no gentle slope). The weight is Floyd's 0.002, where tc derives a power of two
//! from a burst. The average counts what `max` is given in, bytes or packets. Left out: dropping in proportion to a
//! packet's size, Linux's way of spacing drops by one uniform draw for each.

use elephan_random::Stream;
use elephan_units::{Bytes, InvalidParameter, Rate, Size, Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::part::can_mark;
use super::part::store::Store;
use super::part::ticks::Ticks;
use super::{Answers, Discarded, Discipline, Item, Limit, Parameters, Verdict};

const REASON: &str = "red";
/// Interval of adaptive RED, and where it leaves the average alone (Floyd, Gummadi and Shenker 2001, section 3).
const ADAPT_EVERY: Span = Span::from_ms(500);
const ADAPT_RANGE: [f64; 2] = [0.4, 0.6];
const PROBABILITY_RANGE: [f64; 2] = [0.01, 0.5];
const PROBABILITY_STEP: f64 = 0.01;
const PROBABILITY_FACTOR: f64 = 0.9;

/// Parameters of `red`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RedSpec {
    /// Most that may wait, in bytes ("2 MB"), packets ("100 p") or bandwidth-delay products ("1 bdp").
    pub limit: Size,
    /// Average queue from which packets are picked, in the unit of `max`; without it a third of `max`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<Size>,
    /// Average queue at which `probability` is reached; without it a quarter of `limit`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<Size>,
    /// Largest probability of the slope, reached at `max`.
    #[schemars(extend("x-source" = "tc-red"), range(min = 0, max = 1))]
    pub probability: f64,
    /// Weight of a packet in the average.
    #[schemars(extend("x-source" = "Floyd and Jacobson 1993"), range(min = 0, max = 1))]
    pub weight: f64,
    /// Whether picks are spaced by the count of packets since the last one (p_a); if not, each is drawn by itself (p_b).
    #[schemars(extend("x-source" = "Floyd and Jacobson 1993"))]
    pub spaced: bool,
    /// Size of a typical packet: how fast the average falls while the link is idle.
    #[schemars(extend("x-source" = "tc-red"))]
    pub avpkt: Bytes,
    /// Whether the probability goes on to 1 at twice `max` instead of jumping to it at `max`.
    pub gentle: bool,
    /// Whether `probability` adapts to hold the average between `min` and `max`.
    pub adaptive: bool,
    /// Whether ECN-capable packets are marked instead of dropped.
    pub ecn: bool,
    /// Whether even ECN-capable packets are dropped where the probability is 1.
    pub harddrop: bool,
    /// Whether packets that cannot be marked pass, so that only a full queue drops; needs `ecn`.
    #[schemars(extend("x-source" = "Zhu et al. 2015: switches of lossless networks"))]
    pub mark_only: bool,
}

impl Default for RedSpec {
    fn default() -> RedSpec {
        RedSpec {
            limit: Size::Packets(1000),
            min: None,
            max: None,
            probability: 0.02,
            weight: 0.002,
            spaced: true,
            avpkt: Bytes(1000),
            gentle: false,
            adaptive: false,
            ecn: false,
            harddrop: false,
            mark_only: false,
        }
    }
}

/// Whether a size counts packets.
fn is_packets(size: Size) -> bool {
    matches!(size, Size::Packets(_))
}

/// A size in its own unit.
fn count(size: Size, bdp_bytes: u64) -> f64 {
    let limit = Limit::of(Some(size), bdp_bytes);
    limit.bytes.min(limit.packets) as f64
}

impl RedSpec {
    /// `min` and `max` in the unit of `max`.
    fn thresholds(&self, bdp_bytes: u64) -> [f64; 2] {
        let max = self.max.map_or_else(|| count(self.limit, bdp_bytes) / 4.0, |max| count(max, bdp_bytes));
        [self.min.map_or(max / 3.0, |min| count(min, bdp_bytes)), max]
    }
}

impl Parameters for RedSpec {
    type Queue = Red;

    fn answers(&self) -> Answers {
        Answers { is_random: true, ..Answers::default() }
    }

    fn build(&self, bdp_bytes: u64) -> Red {
        let [min, max] = self.thresholds(bdp_bytes);
        Red {
            limit: Limit::of(Some(self.limit), bdp_bytes),
            min,
            max,
            by_packets: is_packets(self.max.unwrap_or(self.limit)),
            probability: self.probability,
            spec: self.clone(),
            packet_s: 0.0,
            average: 0.0,
            passed: 0,
            idle_since: Some(Time::ZERO),
            ticks: Ticks::every(ADAPT_EVERY),
            store: Store::default(),
            stream: Stream::new(0, "", ""),
        }
    }

    fn problem(&self) -> Option<InvalidParameter> {
        let max = self.max.unwrap_or(self.limit);
        if self.avpkt.0 == 0 {
            return Some(InvalidParameter::new("avpkt", "\"0 B\": a packet has a size"));
        }
        if self.mark_only && !self.ecn {
            return Some(InvalidParameter::new("mark_only", "true: needs ecn = true"));
        }
        let min = self.min?;
        if is_packets(min) != is_packets(max) {
            let of = if self.max.is_some() { "max" } else { "limit" };
            return Some(InvalidParameter::new("min", format!("\"{min}\": must be in the unit of {of}, \"{max}\"")));
        }
        // Of a bdp only multiples can be compared before it is known.
        let bdp_bytes = u64::from(u32::MAX);
        let [low, high] = self.thresholds(bdp_bytes);
        let same = matches!((min, max), (Size::NanoBdp(_), Size::NanoBdp(_)))
            || !matches!((min, max), (Size::NanoBdp(_), _) | (_, Size::NanoBdp(_)));
        (same && low >= high).then(|| {
            let of = self.max.map_or_else(|| format!("a quarter of limit, \"{max}\""), |max| format!("max, \"{max}\""));
            // What a step would be: RED has no slope then, and `fifo` marks at one.
            let step = if low == high { "; to mark at one size, say kind = \"fifo\" and mark_above" } else { "" };
            InvalidParameter::new("min", format!("\"{min}\": must be below {of}{step}"))
        })
    }
}

/// The queue and its average.
#[derive(Clone, Debug)]
pub struct Red {
    limit: Limit,
    spec: RedSpec,
    min: f64,
    max: f64,
    by_packets: bool,
    /// What `probability` is now.
    probability: f64,
    /// Transmission time of a typical packet.
    packet_s: f64,
    average: f64,
    /// Packets let pass since the last one picked, while the average was above `min`.
    passed: u64,
    idle_since: Option<Time>,
    ticks: Ticks,
    store: Store,
    stream: Stream,
}

/// p_a of the `count`-th packet since the last one picked.
fn spaced(p_b: f64, count: u64) -> f64 {
    let rest = 1.0 - count as f64 * p_b;
    if rest <= p_b { 1.0 } else { p_b / rest }
}

impl Discipline for Red {
    fn enqueue(&mut self, now: Time, item: Item, _discarded: &mut Discarded) -> Verdict {
        self.adapt(now);
        let was_idle = self.idle_since.is_some();
        self.move_average(now);
        let verdict = self.judge(&item);
        if !matches!(verdict, Verdict::Dropped(_)) {
            self.store.push(item);
        } else if was_idle {
            // The link still has nothing to send.
            self.idle_since = Some(now);
        }
        verdict
    }

    fn dequeue(&mut self, now: Time, _discarded: &mut Discarded) -> Option<(Item, bool)> {
        self.adapt(now);
        let item = self.store.pop();
        if item.is_none() && self.idle_since.is_none() {
            self.idle_since = Some(now);
        }
        item.map(|item| (item, false))
    }

    fn pass(&mut self, _priority: u8, bytes: u32) -> bool {
        let passes = !self.minds_idle() && self.min > 0.0 && self.limit.admits(0, 0, bytes);
        if passes {
            (self.average, self.passed) = (0.0, 0);
        }
        passes
    }

    fn bytes(&self) -> u64 {
        self.store.bytes()
    }

    fn packets(&self) -> u64 {
        self.store.packets()
    }

    /// With a weight of 1 the average is what waits, whenever that came.
    fn minds_idle(&self) -> bool {
        self.spec.weight < 1.0 || self.spec.adaptive
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

    fn set_rate(&mut self, rate: Rate) {
        self.packet_s = self.spec.avpkt.0 as f64 * 8.0 / rate.0 as f64;
    }
}

impl Red {
    /// What becomes of the packet that comes.
    fn judge(&mut self, item: &Item) -> Verdict {
        if !self.limit.admits(self.store.bytes(), self.store.packets(), item.bytes) {
            self.passed = 0;
            return Verdict::Dropped("queue_full");
        }
        let p_b = self.base_probability();
        let picked = p_b > 0.0 && (p_b >= 1.0 || self.stream.bernoulli(self.chance(p_b)));
        self.passed = if picked || p_b == 0.0 { 0 } else { self.passed + 1 };
        let marked = picked && !(self.spec.harddrop && p_b >= 1.0) && can_mark(self.spec.ecn, item);
        match (picked, marked) {
            (_, true) => Verdict::Marked,
            (true, false) if !self.spec.mark_only => Verdict::Dropped(REASON),
            _ => Verdict::Accepted,
        }
    }

    /// With which the packet that comes is picked.
    fn chance(&self, p_b: f64) -> f64 {
        if self.spec.spaced { spaced(p_b, self.passed) } else { p_b }
    }

    /// The average at `now`, if the link has been idle since `since`.
    fn idle_average(&self, now: Time, since: Time) -> f64 {
        if self.average == 0.0 || self.spec.weight >= 1.0 {
            return 0.0;
        }
        self.average * libm::pow(1.0 - self.spec.weight, now.since(since).seconds() / self.packet_s)
    }

    /// A packet comes.
    fn move_average(&mut self, now: Time) {
        if let Some(since) = self.idle_since.take() {
            self.average = self.idle_average(now, since);
            return;
        }
        let waiting = if self.by_packets { self.store.packets() } else { self.store.bytes() };
        self.average += self.spec.weight * (waiting as f64 - self.average);
    }

    /// p_b.
    fn base_probability(&self) -> f64 {
        let (average, min, max) = (self.average, self.min, self.max);
        if average < min {
            0.0
        } else if average < max {
            self.probability * (average - min) / (max - min)
        } else if self.spec.gentle && average < 2.0 * max {
            self.probability + (1.0 - self.probability) * (average - max) / max
        } else {
            1.0
        }
    }

    /// The steps of adaptive RED that have come due.
    fn adapt(&mut self, now: Time) {
        if !self.spec.adaptive {
            return;
        }
        while let Some(due) = self.ticks.due(now) {
            let average = self.idle_since.map_or(self.average, |since| self.idle_average(due, since));
            let [low, high] = ADAPT_RANGE.map(|share| self.min + share * (self.max - self.min));
            let [least, most] = PROBABILITY_RANGE;
            if average > high && self.probability < most {
                let step = PROBABILITY_STEP.min(self.probability / 4.0);
                self.probability = (self.probability + step).min(most);
            } else if average < low && self.probability > least {
                self.probability = (self.probability * PROBABILITY_FACTOR).max(least);
            } else if average < low {
                // Nothing can change before the next packet comes.
                self.ticks.skip(now);
            }
        }
    }
}

#[cfg(test)]
mod tests;
