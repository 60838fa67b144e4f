//! `cbr`: UDP packets of one size. The rate is on the wire: it counts the payload, all headers, the link's framing,
//! preamble and gap, so `rate = "1 Gbps"` fills a link of 1 Gb/s; the gap is wire bytes x 8 / rate exactly.

use elephan_units::{Bytes, InvalidParameter, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Carrier, GapDistribution, Gaps, Generate, Interval, Offer, Setting, Spec};

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
    /// Distribution of the gaps between packets.
    #[serde(default = "fixed")]
    pub gaps: GapDistribution,
}

/// 1500 less 20 bytes of IP and 8 of UDP.
fn packet_size() -> Bytes {
    Bytes(1472)
}

fn fixed() -> GapDistribution {
    GapDistribution::Fixed
}

/// Equal payloads.
#[derive(Clone, Debug)]
pub struct Source {
    payload_bytes: u64,
    gaps: Gaps,
}

impl Spec for Cbr {
    type Source = Source;

    fn validate(&self) -> Result<(), InvalidParameter> {
        if self.rate.0 == 0 {
            return Err(InvalidParameter::new("rate", "a rate cannot be zero"));
        }
        if !(1..=PAYLOAD_MAX_BYTES).contains(&self.packet_size.0) {
            let message = format!("{} is not a UDP payload: 1 to {PAYLOAD_MAX_BYTES} bytes", self.packet_size);
            return Err(InvalidParameter::new("packet_size", message));
        }
        self.gaps.validate(Interval::of_bytes(self.packet_size.0, self.rate))
    }

    fn carrier(&self) -> Carrier {
        Carrier::Datagrams(self.packet_size.0)
    }

    fn pace(&self) -> Option<&'static str> {
        Some("rate")
    }

    fn is_random(&self, _pairs: u64) -> bool {
        self.gaps.is_random()
    }

    fn source(&self, setting: &Setting<'_>) -> Source {
        let payload_bytes = self.packet_size.0;
        let interval = Interval::of_bytes((setting.wire_bytes)(payload_bytes), self.rate);
        Source { payload_bytes, gaps: Gaps::new(self.gaps.clone(), interval, (setting.stream)("gaps"), setting.lasts) }
    }
}

impl Generate for Source {
    #[inline]
    fn next_offer(&mut self) -> Option<Offer> {
        Some(Offer { gap: self.gaps.next_gap(), bytes: self.payload_bytes, pair: 0 })
    }
}

#[cfg(test)]
mod tests {
    use elephan_random::Stream;
    use elephan_units::{PS_PER_S, Span};

    use super::*;
    use crate::Kind;

    fn source(text: &str, wire: u64) -> crate::Source {
        let kind: Kind = serde_json::from_str(text).unwrap();
        assert_eq!((kind.validate(), kind.carrier()), (Ok(()), Carrier::Datagrams(packet_size().0)));
        let wire_bytes = |_| wire;
        kind.source(&Setting {
            part: crate::Part::Whole,
            stream: &|p| Stream::new(5, "cbr", p),
            pairs: 1,
            wire_bytes: &wire_bytes,
            full_wire_bytes: 1538,
            rate: elephan_units::Rate(10_000_000_000),
            lasts: Span::MAX,
        })
    }

    fn gaps(source: &mut crate::Source, n: usize) -> u64 {
        (0..n).map(|_| source.next_offer().unwrap().gap.0).sum()
    }

    /// 1472 B of payload are 1538 B on Ethernet: 8 + 20 of headers, 18 of framing, 20 of preamble and gap.
    #[test]
    fn rate_on_the_wire() {
        let mut s = source(r#"{"kind": "cbr", "rate": "10 Gbps"}"#, 1538);
        assert_eq!(s.next_offer(), Some(Offer { gap: Span::ZERO, bytes: 1472, pair: 0 }));
        assert_eq!(s.next_offer(), Some(Offer { gap: Span(1_230_400), bytes: 1472, pair: 0 }));
        // 200 Mb/s: 61.52 us a packet.
        let mut s = source(r#"{"kind": "cbr", "rate": "200 Mbps"}"#, 1538);
        gaps(&mut s, 1);
        assert_eq!(s.next_offer().unwrap().gap, Span(61_520_000));
    }

    /// 1500 B at 622.08 Mb/s take 19,290,123.456... ps; 622,080 packets take 12 s to the picosecond.
    #[test]
    fn no_drift() {
        let mut s = source(r#"{"kind": "cbr", "rate": "622.08 Mbps"}"#, 1500);
        gaps(&mut s, 1);
        assert_eq!(gaps(&mut s, 1), 19_290_123);
        assert_eq!(gaps(&mut s, 622_079), 12 * PS_PER_S - 19_290_123);
        assert_eq!(gaps(&mut s, 6_220_800), 120 * PS_PER_S);
    }

    /// A Poisson stream of the same rate: mean within 4 standard errors of mean / sqrt(n).
    #[test]
    fn poisson() {
        let mut s = source(r#"{"kind": "cbr", "rate": "200 Mbps", "gaps": "exponential"}"#, 1538);
        let mean = gaps(&mut s, 100_000) as f64 / 1e5;
        assert!((mean - 61_520_000.0).abs() < 61_520_000.0 * 4.0 / 316.2, "{mean}");
    }

    #[test]
    fn refused() {
        let wrong =
            |rate, size| Cbr { rate: Rate(rate), packet_size: Bytes(size), gaps: GapDistribution::Fixed }.validate();
        assert_eq!(wrong(0, 100).unwrap_err().to_string(), "rate: a rate cannot be zero");
        let message = "packet_size: 65.508 KB is not a UDP payload: 1 to 65507 bytes";
        assert_eq!(wrong(1, 65_508).unwrap_err().to_string(), message);
        assert!(wrong(1, 0).is_err() && wrong(1, 65_507).is_ok());
    }
}
