//! `cbr`: UDP packets of one size. The rate is on the wire: it counts the payload, all headers, the link's framing,
//! preamble and gap, so `rate = "1 Gbps"` fills a link of 1 Gb/s; the gap is wire bytes x 8 / rate exactly.

use elephan_units::{Bytes, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Carrier, GapLaw, Gaps, Generate, Interval, Invalid, Offer, Setting, Spec};

/// RFC 768 and RFC 791: 65,535 less 20 bytes of IP and 8 of UDP.
const PAYLOAD_MAX_BYTES: u64 = 65_507;

/// Keys of `kind = "cbr"`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cbr {
    /// Rate on the wire, headers and framing of the first link included.
    pub rate: Rate,
    /// UDP payload of a packet; the default makes an IP packet of 1500 bytes.
    #[serde(default = "packet_size")]
    pub packet_size: Bytes,
    /// Law of the gaps between packets.
    #[serde(default = "fixed")]
    pub gaps: GapLaw,
}

/// 1500 less 20 bytes of IP and 8 of UDP.
fn packet_size() -> Bytes {
    Bytes(1472)
}

fn fixed() -> GapLaw {
    GapLaw::Fixed
}

/// Equal payloads.
#[derive(Clone, Debug)]
pub struct Source {
    payload_bytes: u64,
    gaps: Gaps,
}

impl Spec for Cbr {
    type Source = Source;

    fn validate(&self) -> Result<(), Invalid> {
        if self.rate.0 == 0 {
            return Err(Invalid::new("rate", "a rate cannot be zero"));
        }
        if !(1..=PAYLOAD_MAX_BYTES).contains(&self.packet_size.0) {
            let message = format!("{} is not a UDP payload: 1 to {PAYLOAD_MAX_BYTES} bytes", self.packet_size);
            return Err(Invalid::new("packet_size", message));
        }
        Ok(())
    }

    fn carrier(&self) -> Carrier {
        Carrier::Datagrams
    }

    fn source(&self, setting: &Setting<'_>) -> Source {
        let payload_bytes = self.packet_size.0;
        let interval = Interval::of_bytes((setting.wire_bytes)(payload_bytes), self.rate);
        Source { payload_bytes, gaps: Gaps::new(self.gaps, interval, (setting.stream)("gaps")) }
    }
}

impl Generate for Source {
    #[inline]
    fn next_offer(&mut self) -> Option<Offer> {
        Some(Offer { gap: self.gaps.next_gap(), bytes: self.payload_bytes, pair: 0 })
    }
}
