//! `writes`: what an application wrote and when, such as a capture shows it.
//!
//! Each write lengthens the stream of one connection, which closes after the last one.

use elephan_units::{Bytes, InvalidParameter, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Carrier, Generate, Offer, Setting, Spec};

/// Keys of `kind = "writes"`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Writes {
    /// When the application writes, counted from `start`, in ascending order.
    pub at: Vec<Span>,
    /// How much it writes each time: as many sizes as times.
    pub size: Vec<Bytes>,
}

/// Gaps and sizes, the next one last.
#[derive(Clone, Debug)]
pub struct Source {
    left: Vec<(Span, u64)>,
}

impl Spec for Writes {
    type Source = Source;

    fn validate(&self) -> Result<(), InvalidParameter> {
        let wrong = |key: &str, message: String| Err(InvalidParameter::new(key.to_owned(), message));
        if self.at.is_empty() {
            return wrong("at", "needs at least one time".to_owned());
        }
        if self.at.len() != self.size.len() {
            return wrong(
                "size",
                format!("{} sizes for {} times: each write needs both", self.size.len(), self.at.len()),
            );
        }
        if let Some(pair) = self.at.windows(2).find(|pair| pair[1] < pair[0]) {
            return wrong("at", format!("{} comes after {}: write times in ascending order", pair[1], pair[0]));
        }
        match self.size.iter().position(|size| size.0 == 0) {
            Some(place) => wrong(&format!("size[{place}]"), "a write has at least 1 byte".to_owned()),
            None => Ok(()),
        }
    }

    fn carrier(&self) -> Carrier {
        Carrier::Stream
    }

    fn pace(&self) -> Option<&'static str> {
        None
    }

    fn is_random(&self, _pairs: u64) -> bool {
        false
    }

    fn source(&self, _: &Setting<'_>) -> Source {
        let before = std::iter::once(Span::ZERO).chain(self.at.iter().copied());
        let gaps = self.at.iter().zip(before).map(|(&at, before)| Span(at.0 - before.0));
        let mut left: Vec<(Span, u64)> = gaps.zip(self.size.iter().map(|size| size.0)).collect();
        left.reverse();
        Source { left }
    }

    fn flow_bytes(&self) -> Option<u64> {
        Some(self.size.iter().fold(0, |sum, size| sum.saturating_add(size.0)))
    }
}

impl Generate for Source {
    fn next_offer(&mut self) -> Option<Offer> {
        self.left.pop().map(|(gap, bytes)| Offer { gap, bytes, pair: 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind;

    #[test]
    fn offers_come_when_they_are_listed() {
        let setting = Setting {
            part: crate::Part::Whole,
            stream: &|purpose| elephan_random::Stream::new(1, "writes", purpose),
            pairs: 1,
            wire_bytes: &|bytes| bytes,
            full_wire_bytes: 1538,
            rate: elephan_units::Rate(10_000_000_000),
            lasts: Span::MAX,
        };
        let text = r#"{"kind": "writes", "at": ["10 ms", "10 ms", "1 s"], "size": ["1 KB", "3 B", "2 KB"]}"#;
        let kind: Kind = serde_json::from_str(text).unwrap();
        assert_eq!(kind.validate(), Ok(()));
        let mut source = kind.source(&setting);
        let offers: Vec<_> = std::iter::from_fn(|| source.next_offer()).map(|offer| (offer.gap, offer.bytes)).collect();
        assert_eq!(offers, [(Span::from_ms(10), 1000), (Span::ZERO, 3), (Span::from_ms(990), 2000)]);
        assert_eq!(kind.flow_bytes(), Some(3003));
    }

    #[test]
    fn refused() {
        for (text, message) in [
            (r#"{"at": [], "size": []}"#, "at: needs at least one time"),
            (r#"{"at": ["1 s"], "size": []}"#, "size: 0 sizes for 1 times: each write needs both"),
            (
                r#"{"at": ["2 s", "1 s"], "size": ["1 B", "1 B"]}"#,
                "at: 1 s comes after 2 s: write times in ascending order",
            ),
            (r#"{"at": ["1 s"], "size": ["0 B"]}"#, "size[0]: a write has at least 1 byte"),
        ] {
            let spec: Writes = serde_json::from_str(text).unwrap();
            assert_eq!(spec.validate().unwrap_err().to_string(), message);
        }
    }
}
