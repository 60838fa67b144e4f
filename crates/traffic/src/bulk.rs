//! `bulk`: one stream of bytes as fast as TCP takes it, endless or of a given size.

use elephan_units::{Bytes, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Carrier, Generate, Invalid, Offer, Setting, Spec};

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

    fn validate(&self) -> Result<(), Invalid> {
        match self.size {
            Some(Bytes(0)) => Err(Invalid::new("size", "must be at least 1 byte; leave it out for an endless stream")),
            _ => Ok(()),
        }
    }

    fn carrier(&self) -> Carrier {
        Carrier::Stream
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
