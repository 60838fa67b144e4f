//! `bulk`: one stream of bytes as fast as TCP takes it, endless or of a given size.

use elephan_units::{Bytes, InvalidParameter, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Carrier, Generate, Offer, Setting, Spec};

/// Keys of `kind = "bulk"`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bulk {
    /// Bytes to send on each connection, which then closes. Without it the stream is endless.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Bytes")]
    pub size: Option<Bytes>,
}

/// One offer, at the start.
#[derive(Clone, Debug)]
pub struct Source {
    bytes: Option<u64>,
}

impl Spec for Bulk {
    type Source = Source;

    fn validate(&self) -> Result<(), InvalidParameter> {
        match self.size {
            Some(Bytes(0)) => {
                Err(InvalidParameter::new("size", "must be at least 1 byte; leave it out for an endless stream"))
            }
            _ => Ok(()),
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
        Source { bytes: Some(self.flow_bytes().unwrap_or(u64::MAX)) }
    }

    fn flow_bytes(&self) -> Option<u64> {
        self.size.map(Bytes::get)
    }
}

impl Generate for Source {
    fn next_offer(&mut self) -> Option<Offer> {
        self.bytes.take().map(|bytes| Offer { gap: Span::ZERO, bytes, pair: 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind;

    #[test]
    fn one_offer() {
        let setting = Setting {
            part: crate::Part::Whole,
            stream: &|p| elephan_random::Stream::new(1, "bulk", p),
            pairs: 1,
            wire_bytes: &|b| b,
            full_wire_bytes: 1538,
            rate: elephan_units::Rate(10_000_000_000),
            lasts: Span::MAX,
        };
        let mut endless = Bulk::default().source(&setting);
        assert_eq!(endless.next_offer(), Some(Offer { gap: Span::ZERO, bytes: u64::MAX, pair: 0 }));
        assert_eq!(endless.next_offer(), None);

        let kind: Kind = serde_json::from_str(r#"{"kind": "bulk", "size": "1 MB"}"#).unwrap();
        assert_eq!((kind.carrier(), kind.flow_bytes()), (Carrier::Stream, Some(1_000_000)));
        let mut finite = kind.source(&setting);
        assert_eq!(finite.next_offer(), Some(Offer { gap: Span::ZERO, bytes: 1_000_000, pair: 0 }));
        assert_eq!(finite.next_offer(), None);
    }

    #[test]
    fn no_bytes() {
        let error = Bulk { size: Some(Bytes(0)) }.validate().unwrap_err();
        assert_eq!(error.to_string(), "size: must be at least 1 byte; leave it out for an endless stream");
    }
}
