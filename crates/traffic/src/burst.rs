//! `burst`: so many UDP packets of one size, one right behind the other.
//!
//! Without a `rate` they leave at the line rate of the sender's link: packet k at k L / f, with L the bytes of a packet on the wire
//! (headers, framing, preamble and gap) and f the rate of the first link. What a burst loses behind a slower link of rate s
//! tells how much memory lies before it: the first packet lost is number n = M / (B (1 - s / f)), with B the bytes that a packet
//! takes of the memory M (Meijer, de Laat and others at Amsterdam, 2002 and 2003, sent 45 000 of 1 kB).

use elephan_units::{Bytes, InvalidParameter, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Carrier, GapDistribution, Gaps, Generate, Interval, Offer, Setting, Spec};

/// RFC 768 and RFC 791: 65,535 less 20 bytes of IP and 8 of UDP.
const PAYLOAD_MAX_BYTES: u64 = 65_507;

/// Sequence numbers of datagrams have 32 bits, compared as RFC 1982 does.
const PACKETS_MAX: u64 = 1 << 31;

/// Keys of `kind = "burst"`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Burst {
    /// How many packets.
    pub packets: u64,
    /// UDP payload of a packet.
    #[serde(default = "packet_size")]
    pub packet_size: Bytes,
    /// Rate on the wire, headers and framing of the first link included. Without it that of the first link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Rate")]
    pub rate: Option<Rate>,
}

/// The "1 kByte" of the Amsterdam tests.
fn packet_size() -> Bytes {
    Bytes(1000)
}

/// Equal payloads, as many as are left.
#[derive(Clone, Debug)]
pub struct Source {
    payload_bytes: u64,
    left: u64,
    gaps: Gaps,
}

impl Spec for Burst {
    type Source = Source;

    fn validate(&self) -> Result<(), InvalidParameter> {
        if !(1..=PACKETS_MAX).contains(&self.packets) {
            return Err(InvalidParameter::new(
                "packets",
                format!("a burst has 1 to {PACKETS_MAX} packets, not {}", self.packets),
            ));
        }
        if !(1..=PAYLOAD_MAX_BYTES).contains(&self.packet_size.0) {
            let message = format!("{} is not a UDP payload: 1 to {PAYLOAD_MAX_BYTES} bytes", self.packet_size);
            return Err(InvalidParameter::new("packet_size", message));
        }
        match self.rate {
            Some(Rate(0)) => Err(InvalidParameter::new("rate", "a rate cannot be zero")),
            _ => Ok(()),
        }
    }

    fn carrier(&self) -> Carrier {
        Carrier::Datagrams(self.packet_size.0)
    }

    fn pace(&self) -> Option<&'static str> {
        self.rate.is_some().then_some("rate")
    }

    fn is_random(&self, _pairs: u64) -> bool {
        false
    }

    fn source(&self, setting: &Setting<'_>) -> Source {
        let payload_bytes = self.packet_size.0;
        let rate = self.rate.unwrap_or(setting.rate);
        let interval = Interval::of_bytes((setting.wire_bytes)(payload_bytes), rate);
        let gaps = Gaps::new(GapDistribution::Fixed, interval, (setting.stream)("gaps"), setting.lasts);
        Source { payload_bytes, left: self.packets, gaps }
    }

    fn flow_bytes(&self) -> Option<u64> {
        Some(self.packets * self.packet_size.0)
    }
}

impl Generate for Source {
    #[inline]
    fn next_offer(&mut self) -> Option<Offer> {
        self.left = self.left.checked_sub(1)?;
        Some(Offer { gap: self.gaps.next_gap(), bytes: self.payload_bytes, pair: 0 })
    }
}

#[cfg(test)]
mod tests {
    use elephan_random::Stream;
    use elephan_units::Span;

    use super::*;
    use crate::Kind;

    fn offers(text: &str) -> Vec<Offer> {
        let kind: Kind = serde_json::from_str(text).unwrap();
        assert!(kind.validate().is_ok() && matches!(kind.carrier(), Carrier::Datagrams(_)));
        let mut source = kind.source(&Setting {
            part: crate::Part::Whole,
            stream: &|p| Stream::new(5, "burst", p),
            pairs: 1,
            wire_bytes: &|payload| payload + 66,
            full_wire_bytes: 1538,
            rate: Rate(1_000_000_000),
            lasts: Span::MAX,
        });
        std::iter::from_fn(|| source.next_offer()).collect()
    }

    /// 1000 B of payload are 1066 B on Ethernet, 8.528 us at 1 Gb/s; the first leaves at once, and there is no 45,001st.
    #[test]
    fn back_to_back() {
        let all = offers(r#"{"kind": "burst", "packets": 45000}"#);
        assert_eq!(all.len(), 45_000);
        assert_eq!(all[0], Offer { gap: Span::ZERO, bytes: 1000, pair: 0 });
        assert!(all[1..].iter().all(|offer| *offer == Offer { gap: Span(8_528_000), bytes: 1000, pair: 0 }));
    }

    /// 1500 + 66 B at 622.08 Mb/s are 20,138,888.88... ps: nine of them 181,250,000 ps.
    #[test]
    fn at_a_rate() {
        let text = r#"{"kind": "burst", "packets": 10, "packet_size": "1500 B", "rate": "622.08 Mbps"}"#;
        assert_eq!(offers(text).iter().map(|offer| offer.gap.0).sum::<u64>(), 181_250_000);
        let kind: Kind = serde_json::from_str(text).unwrap();
        assert_eq!(kind.flow_bytes(), Some(15_000));
    }

    #[test]
    fn refused() {
        for (text, message) in [
            (r#"{"packets": 0}"#, "packets: a burst has 1 to 2147483648 packets, not 0"),
            (r#"{"packets": 2147483649}"#, "packets: a burst has 1 to 2147483648 packets, not 2147483649"),
            (
                r#"{"packets": 1, "packet_size": "65508 B"}"#,
                "packet_size: 65.508 KB is not a UDP payload: 1 to 65507 bytes",
            ),
        ] {
            let spec: Burst = serde_json::from_str(text).unwrap();
            assert_eq!(spec.validate().unwrap_err().to_string(), message);
        }
        let still = Burst { packets: 1, packet_size: Bytes(1), rate: Some(Rate(0)) };
        assert_eq!(still.validate().unwrap_err().to_string(), "rate: a rate cannot be zero");
    }
}
