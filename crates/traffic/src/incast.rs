//! `incast`: a receiver asks all its senders at once for an answer each, a round (partition and aggregate: Vasudevan and others,
//! SIGCOMM 2009; DCTCP, SIGCOMM 2010).
//!
//! Requests are not carried: the answers of a round enter TCP at the senders at the instant at which it begins, over connections
//! that stay open. A round is complete when the last answer is in. Without `every` the loop is closed: the next round begins `think`
//! after that. With it rounds begin by the clock, and answers of a round that comes too early queue behind those before. A connection
//! that is not open yet holds its answer back until it is, so the first round may have a handshake in it.

use elephan_units::{Bytes, InvalidParameter, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::quantity::Quantity;
use crate::{Carrier, Distribution, Gaps, Generate, Offer, Part, Sampler, Setting, Shared, Spec, WhenFull};

/// Keys of `kind = "incast"`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Incast {
    /// Size of each sender's answer.
    pub size: Distribution<Bytes>,
    /// Time between the beginnings of rounds; without it a round begins when the one before is complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Distribution<Span>")]
    pub every: Option<Distribution<Span>>,
    /// From the end of a round to the beginning of the next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Distribution<Span>", extend("default" = "0 s"))]
    pub think: Option<Distribution<Span>>,
    /// So many rounds; without it to the end of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64", range(min = 1))]
    pub rounds: Option<u64>,
}

/// Sizes of a sender's answers, or gaps between a receiver's rounds.
#[derive(Clone, Debug)]
pub struct Source {
    sizes: Sampler,
    stream: elephan_random::Stream,
    gaps: Option<Gaps>,
    left: u64,
}

impl Spec for Incast {
    type Source = Source;

    fn validate(&self) -> Result<(), InvalidParameter> {
        self.size.validate("size")?;
        match (&self.every, &self.think) {
            (Some(_), Some(_)) => {
                return Err(InvalidParameter::new(
                    "think",
                    "goes with rounds that wait for each other; leave out every",
                ));
            }
            (Some(every), None) => every.validate("every")?,
            (None, Some(Distribution::Fixed(Span::ZERO)) | None) => {}
            (None, Some(think)) => think.validate("think")?,
        }
        if self.rounds == Some(0) {
            return Err(InvalidParameter::new("rounds", "0: nothing would be asked"));
        }
        Ok(())
    }

    fn carrier(&self) -> Carrier {
        Carrier::Messages(WhenFull::Block)
    }

    fn pace(&self) -> Option<&'static str> {
        [("every", self.every.is_some()), ("think", self.think.is_some())]
            .into_iter()
            .find_map(|(key, given)| given.then_some(key))
    }

    fn is_random(&self, _pairs: u64) -> bool {
        self.size.is_random() || self.every.iter().chain(&self.think).any(Distribution::is_random)
    }

    fn source(&self, setting: &Setting<'_>) -> Source {
        let gaps = match (&self.every, &self.think) {
            _ if setting.part != Part::Clock => None,
            (Some(distribution), _) | (None, Some(distribution))
                if *distribution != Distribution::Fixed(Span::ZERO) =>
            {
                Some(Gaps::drawn(distribution.sampler(), (setting.stream)("gaps")))
            }
            _ => None,
        };
        let sizes = if setting.part == Part::Clock { Sampler::Fixed(1) } else { self.size.sampler() };
        let left = if setting.part == Part::Clock { self.rounds.unwrap_or(u64::MAX) } else { u64::MAX };
        Source { sizes, stream: (setting.stream)("sizes"), gaps, left }
    }

    fn shared(&self) -> Option<Shared> {
        Some(Shared::Receiver { closed: self.every.is_none() })
    }

    fn resolve(&mut self) {
        if self.every.is_none() {
            self.think.get_or_insert(Distribution::Fixed(Span::ZERO));
        }
    }
}

impl Generate for Source {
    fn next_offer(&mut self) -> Option<Offer> {
        if self.left == 0 {
            return None;
        }
        if self.left != u64::MAX {
            self.left -= 1;
        }
        let bytes = self.sizes.sample(&mut self.stream, Bytes::RANGE);
        let gap = self.gaps.as_mut().map_or(Span::ZERO, Gaps::next_gap);
        Some(Offer { gap, bytes, pair: 0 })
    }
}

#[cfg(test)]
mod tests {
    use elephan_random::Stream;
    use elephan_units::Rate;

    use super::*;
    use crate::Kind;

    fn source(text: &str, part: Part) -> (Kind, crate::Source) {
        let kind: Kind = serde_json::from_str(text).unwrap();
        assert_eq!((kind.validate(), kind.carrier()), (Ok(()), Carrier::Messages(WhenFull::Block)));
        let source = kind.source(&Setting {
            part,
            stream: &|p| Stream::new(3, "incast", p),
            pairs: 8,
            wire_bytes: &|b| b,
            full_wire_bytes: 1538,
            rate: Rate(10_000_000_000),
            lasts: Span::MAX,
        });
        (kind, source)
    }

    #[test]
    fn rounds_by_the_clock() {
        let text = r#"{"kind": "incast", "size": "32 KB", "every": "10 ms", "rounds": 3}"#;
        let (kind, mut clock) = source(text, Part::Clock);
        assert_eq!(kind.shared(), Some(Shared::Receiver { closed: false }));
        let gaps: Vec<Option<u64>> = (0..4).map(|_| clock.next_offer().map(|o| o.gap.0 / 1_000_000_000)).collect();
        assert_eq!(gaps, [Some(0), Some(10), Some(10), None]);
        let (_, mut answers) = source(text, Part::Sizes);
        assert!((0..4).all(|_| answers.next_offer().unwrap().bytes == 32_000));
    }

    #[test]
    fn a_closed_loop_may_not_think() {
        let (kind, mut clock) = source(r#"{"kind": "incast", "size": "32 KB"}"#, Part::Clock);
        assert_eq!(kind.shared(), Some(Shared::Receiver { closed: true }));
        assert!((0..100).all(|_| clock.next_offer().unwrap().gap == Span::ZERO));
    }

    #[test]
    fn refused() {
        for (text, message) in [
            (r#"{"size": "0 B"}"#, "size: a size here must be above zero"),
            (r#"{"size": "1 KB", "rounds": 0}"#, "rounds: 0: nothing would be asked"),
            (r#"{"size": "1 KB", "every": "0 s"}"#, "every: a time here must be above zero"),
            (
                r#"{"size": "1 KB", "every": "1 s", "think": "1 s"}"#,
                "think: goes with rounds that wait for each other; leave out every",
            ),
        ] {
            let spec: Incast = serde_json::from_str(text).unwrap();
            assert_eq!(spec.validate().unwrap_err().to_string(), message);
        }
    }
}
