//! `frames`: Ethernet frames of one size without IP, the workload of layer-2 studies, in which nothing retransmits.
//!
//! A frame of `frame_size` bytes has 14 of header, 4 of check sequence and carries the rest. On a link with Ethernet framing
//! it is what is charged to queues and memories, and preamble and gap are added on the wire; other framings add their own
//! bytes to what the frame carries. `rate` is on the wire; with slots (`gap = { bernoulli = ... }`) as long as a frame the
//! probability is the load of the first link.

use elephan_random::Stream;
use elephan_units::{Bytes, InvalidParameter, PS_PER_S, Rate, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Carrier, Destinations, Gap, GapDistribution, Gaps, Generate, Interval, Offer, Part, Setting, Shared, Spec,
};

/// IEEE 802.3: header and frame check sequence.
const FRAME_BYTES: u64 = 18;
/// IEEE 802.3: the shortest frame; and what a length of 16 bits can say of what a frame carries.
const FRAME_RANGE: (u64, u64) = (64, 65_535 + FRAME_BYTES);

/// Keys of `kind = "frames"`. Exactly one of `rate` and `gap`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Frames {
    /// Bytes of a frame with its Ethernet header and check sequence; the default carries 1500 bytes.
    #[serde(default = "frame_size")]
    pub frame_size: Bytes,
    /// Rate on the wire of each flow (with uniform destinations: of each sender), preamble and gap included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Rate")]
    pub rate: Option<Rate>,
    /// Time between frames: a distribution of times, or `{ bernoulli = 0.85 }`, in each slot one with this probability.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Gap")]
    pub gap: Option<Gap>,
    /// Length of a slot; without it the wire time of a frame on the sender's first link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Span")]
    pub slot: Option<Span>,
    /// Distribution of the gaps, with `rate`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "GapDistribution", extend("default" = "fixed"))]
    pub gaps: Option<GapDistribution>,
    /// Where a sender's frames go.
    #[serde(default)]
    pub destinations: Destinations,
}

fn frame_size() -> Bytes {
    Bytes(1518)
}

/// Equal frames at random times and, of a sender with uniform destinations, to random flows.
#[derive(Clone, Debug)]
pub struct Source {
    carried_bytes: u64,
    gaps: Gaps,
    flows: Option<Box<(Stream, u64)>>,
}

impl Frames {
    /// What a frame carries.
    pub fn carried_bytes(&self) -> u64 {
        self.frame_size.0 - FRAME_BYTES
    }
}

impl Spec for Frames {
    type Source = Source;

    fn validate(&self) -> Result<(), InvalidParameter> {
        let (least, most) = FRAME_RANGE;
        if !(least..=most).contains(&self.frame_size.0) {
            let message = format!("{} is not an Ethernet frame: {least} to {most} bytes", self.frame_size);
            return Err(InvalidParameter::new("frame_size", message));
        }
        match (self.rate, &self.gap) {
            (Some(Rate(0)), None) => Err(InvalidParameter::new("rate", "a rate cannot be zero")),
            (Some(rate), None) => match (self.slot, &self.gaps) {
                (Some(_), _) => Err(InvalidParameter::new("slot", "only gap = { bernoulli = ... } has slots")),
                (None, Some(distribution)) => distribution.validate(Interval::of_bytes(self.frame_size.0, rate)),
                (None, None) => Ok(()),
            },
            (None, Some(_)) if self.gaps.is_some() => {
                Err(InvalidParameter::new("gaps", "goes with rate; with gap the distribution is in gap"))
            }
            (None, Some(gap)) => gap.validate(self.slot),
            _ => Err(InvalidParameter::new("", "frames need exactly one of rate, gap")),
        }
    }

    fn carrier(&self) -> Carrier {
        Carrier::Frames(self.carried_bytes())
    }

    fn pace(&self) -> Option<&'static str> {
        [("slot", self.slot.is_some()), ("rate", self.rate.is_some()), ("gap", self.gap.is_some())]
            .into_iter()
            .find_map(|(key, given)| given.then_some(key))
    }

    fn is_random(&self, pairs: u64) -> bool {
        let gaps = match (&self.gap, &self.gaps) {
            (Some(gap), _) => gap.is_random(),
            (None, given) => given.as_ref().is_some_and(GapDistribution::is_random),
        };
        gaps || (pairs > 1 && self.shared().is_some())
    }

    fn source(&self, setting: &Setting<'_>) -> Source {
        let carried_bytes = self.carried_bytes();
        let (stream, wire_bytes) = ((setting.stream)("gaps"), (setting.wire_bytes)(carried_bytes));
        let gaps = match (&self.gap, self.rate) {
            (Some(gap), _) => gap.gaps(setting.slot(self.slot, wire_bytes), stream),
            (None, rate) => {
                let interval = Interval::of_bytes(wire_bytes, rate.unwrap_or(Rate(1)));
                Gaps::new(self.gaps.clone().unwrap_or(GapDistribution::Fixed), interval, stream, setting.lasts)
            }
        };
        let flows = (setting.part == Part::Clock).then(|| Box::new(((setting.stream)("pairs"), setting.pairs)));
        Source { carried_bytes, gaps, flows }
    }

    fn shared(&self) -> Option<Shared> {
        self.destinations.shared()
    }

    fn resolve(&mut self) {
        if self.gap.is_none() {
            self.gaps.get_or_insert(GapDistribution::Fixed);
        }
    }

    fn offered_bps(&self) -> Option<f64> {
        let gap_ps = self.gap.as_ref()?.mean_ps(self.slot)?;
        Some(self.carried_bytes() as f64 * 8.0 * PS_PER_S as f64 / gap_ps)
    }
}

impl Generate for Source {
    #[inline]
    fn next_offer(&mut self) -> Option<Offer> {
        let pair = self.flows.as_mut().map_or(0, |drawn| drawn.0.index(drawn.1));
        Some(Offer { gap: self.gaps.next_gap(), bytes: self.carried_bytes, pair })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind;

    /// A frame of 1518 bytes takes 1538 on the wire, 1.2304 us at 10 Gb/s.
    fn source(text: &str, part: Part, pairs: u64) -> crate::Source {
        let kind: Kind = serde_json::from_str(text).unwrap();
        assert!(kind.validate().is_ok() && matches!(kind.carrier(), Carrier::Frames(_)));
        kind.source(&Setting {
            part,
            stream: &|p| Stream::new(3, "frames.h[0]", p),
            pairs,
            wire_bytes: &|carried| carried + 38,
            full_wire_bytes: 1538,
            rate: Rate(10_000_000_000),
            lasts: Span::MAX,
        })
    }

    #[test]
    fn constant_rate_on_the_wire() {
        let mut s = source(r#"{"kind": "frames", "rate": "10 Gbps"}"#, Part::Whole, 1);
        assert_eq!(s.next_offer(), Some(Offer { gap: Span::ZERO, bytes: 1500, pair: 0 }));
        assert_eq!(s.next_offer(), Some(Offer { gap: Span(1_230_400), bytes: 1500, pair: 0 }));
        // 64 bytes are 84 on the wire and carry 46.
        let mut s = source(r#"{"kind": "frames", "rate": "1 Gbps", "frame_size": "64 B"}"#, Part::Whole, 1);
        s.next_offer();
        assert_eq!(s.next_offer(), Some(Offer { gap: Span(672_000), bytes: 46, pair: 0 }));
    }

    /// Gaps are whole slots of 1.2304 us, 1 / 0.85 of them in the mean with variance (1 - p) / p^2: over 100,000 gaps the mean is
    /// within four standard errors, so is the share of gaps of one slot (p) and of two (p (1 - p)).
    #[test]
    fn bernoulli_slots() {
        let mut s = source(r#"{"kind": "frames", "gap": {"bernoulli": 0.85}}"#, Part::Whole, 1);
        let gaps: Vec<u64> = (0..100_000).map(|_| s.next_offer().unwrap().gap.0).collect();
        assert!(gaps.iter().all(|gap| *gap > 0 && gap % 1_230_400 == 0));
        let slots: Vec<f64> = gaps.iter().map(|gap| (gap / 1_230_400) as f64).collect();
        let mean = slots.iter().sum::<f64>() / 1e5;
        assert!((mean - 1.0 / 0.85).abs() < 4.0 * (0.15f64 / 0.7225 / 1e5).sqrt(), "{mean}");
        for (of, p) in [(1.0, 0.85f64), (2.0, 0.1275), (3.0, 0.019_125)] {
            let share = slots.iter().filter(|s| **s == of).count() as f64 / 1e5;
            assert!((share - p).abs() < 4.0 * (p * (1.0 - p) / 1e5).sqrt(), "{of}: {share}");
        }
    }

    /// In every slot one; a slot may be given.
    #[test]
    fn every_slot() {
        let mut s = source(r#"{"kind": "frames", "gap": {"bernoulli": 1}, "slot": "2 us"}"#, Part::Whole, 1);
        assert!((0..1000).all(|_| s.next_offer().unwrap().gap == Span::from_us(2)));
        let spec: Frames = serde_json::from_str(r#"{"gap": {"bernoulli": 0.5}, "slot": "1.2 us"}"#).unwrap();
        // 12,000 bits in 2.4 us.
        assert!((spec.offered_bps().unwrap() / 5e9 - 1.0).abs() < 1e-12);
    }

    /// Chi-squared of 90,000 frames over 9 receivers: 8 degrees of freedom, 20.1 at 1 %. Times do not depend on how many there are.
    #[test]
    fn uniform_over_the_flows_of_a_sender() {
        let text = r#"{"kind": "frames", "gap": {"bernoulli": 0.85}, "destinations": "uniform"}"#;
        let (mut nine, mut ten) = (source(text, Part::Clock, 9), source(text, Part::Clock, 10));
        let mut hits = [0u32; 9];
        for _ in 0..90_000 {
            let offer = nine.next_offer().unwrap();
            hits[offer.pair as usize] += 1;
            assert_eq!(offer.gap, ten.next_offer().unwrap().gap);
        }
        let chi: f64 = hits.iter().map(|&h| (f64::from(h) - 1e4).powi(2) / 1e4).sum();
        assert!(chi < 20.1, "{chi} {hits:?}");
    }

    #[test]
    fn refused() {
        for (text, message) in [
            (r#"{}"#, ": frames need exactly one of rate, gap"),
            (r#"{"rate": "1 Gbps", "gap": "1 us"}"#, ": frames need exactly one of rate, gap"),
            (r#"{"rate": "1 Gbps", "slot": "1 us"}"#, "slot: only gap = { bernoulli = ... } has slots"),
            (r#"{"gap": "1 us", "slot": "1 us"}"#, "slot: only gap = { bernoulli = ... } has slots"),
            (r#"{"gap": {"bernoulli": 0.5}, "slot": "0 s"}"#, "slot: 0 s: a slot lasts 1 ns at least"),
            (r#"{"gap": {"bernoulli": 0}}"#, "gap.bernoulli: a probability above 0, at most 1, not 0"),
            (r#"{"gap": {"bernoulli": 1.5}}"#, "gap.bernoulli: a probability above 0, at most 1, not 1.5"),
            (r#"{"gap": "1 us", "gaps": "fixed"}"#, "gaps: goes with rate; with gap the distribution is in gap"),
            (
                r#"{"rate": "1 Gbps", "frame_size": "63 B"}"#,
                "frame_size: 63 B is not an Ethernet frame: 64 to 65553 bytes",
            ),
        ] {
            let spec: Frames = serde_json::from_str(text).unwrap();
            assert_eq!(spec.validate().unwrap_err().to_string(), message);
        }
    }
}
