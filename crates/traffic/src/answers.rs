//! What a kind of traffic answers about itself. Whoever must know goes by these answers, never by the kind's name, so that a new kind
//! is known everywhere as soon as it is in the registry.

use serde::Serialize;

use crate::{Carrier, Kind, Shared, Spec as _};

/// The answers of a traffic entry, from the keys that it gives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Answers {
    /// What carries it instead of connections: `UDP` or `raw Ethernet`.
    pub protocol: Option<&'static str>,
    /// Whether it opens its connections itself, so that an entry cannot say how many there are.
    pub opens_its_own: bool,
    /// IP bytes of its largest packet, or what its largest frame carries; none where its connections cut the packets.
    pub packet_bytes: Option<u64>,
    /// Payload bytes of a datagram, or what a frame carries, at most.
    pub payload_bytes: Option<u64>,
    /// Payload bytes of a flow that ends by itself, if known beforehand.
    pub flow_bytes: Option<u64>,
    /// Whether a flow is one stream, which sends as fast as it can.
    pub is_stream: bool,
    /// Whether a flow has an end that can be timed.
    pub ends: bool,
    /// Whether what it sends are messages with boundaries over connections that stay open.
    pub has_messages: bool,
    /// Whether all senders to a receiver answer it at once, in rounds.
    pub has_rounds: bool,
    /// Whether its hosts are ranks that do a parallel program in iterations, and whether that is a collective operation.
    pub iterates: bool,
    pub is_collective: bool,
    /// Whether it copies from disk to disk.
    pub copies: bool,
    /// Whether a flow is a burst: a known number of datagrams, whose losses tell how much memory lies before a slower link.
    pub is_burst: bool,
    /// Whether it draws anything at random where it has several source-destination pairs.
    pub is_random: bool,
}

impl Kind {
    /// Returns what the entry answers about itself.
    ///
    /// ```
    /// use elephan_traffic::Kind;
    ///
    /// let kind: Kind = serde_json::from_str(r#"{ "kind": "onoff", "load": "1 Gbps", "packet_size": "8972 B" }"#).unwrap();
    /// let answers = kind.answers();
    /// // 8 972 B of payload, 8 of UDP and 20 of IP.
    /// assert_eq!((answers.packet_bytes, answers.is_random, answers.ends), (Some(9000), true, false));
    /// ```
    pub fn answers(&self) -> Answers {
        let carrier = self.carrier();
        let payload_bytes = match carrier {
            Carrier::Datagrams(most) | Carrier::Frames(most) => Some(most),
            _ => None,
        };
        let is_datagram = matches!(carrier, Carrier::Datagrams(_));
        Answers {
            protocol: carrier.protocol(),
            opens_its_own: carrier.arrives() || matches!(carrier, Carrier::Copy | Carrier::Ranks),
            packet_bytes: carrier.packet_bytes(),
            payload_bytes,
            flow_bytes: self.flow_bytes(),
            is_stream: carrier == Carrier::Stream,
            ends: carrier.arrives() || carrier == Carrier::Copy || self.flow_bytes().is_some(),
            has_messages: matches!(carrier, Carrier::Messages(_)),
            has_rounds: matches!(self.shared(), Some(Shared::Receiver { .. })),
            iterates: self.parallel().is_some(),
            is_collective: self.parallel().is_some_and(|parallel| parallel.operation().is_some()),
            copies: self.copy().is_some(),
            is_burst: is_datagram && self.flow_bytes().is_some(),
            is_random: self.is_random(u64::MAX),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::{Kind, Spec as _};

    #[test]
    fn the_key_that_paces_is_one_that_is_given() {
        for (words, key) in [
            (json!({ "kind": "bulk" }), None),
            (json!({ "kind": "messages", "size": "1 KB", "rate_per_s": 1e9 }), Some("rate_per_s")),
            (json!({ "kind": "messages", "size": "1 KB", "gap": { "bernoulli": 0.5 }, "slot": "1 ns" }), Some("slot")),
            (json!({ "kind": "transfers", "size": "1 KB", "arrivals_per_s": 1e9 }), Some("arrivals_per_s")),
            (json!({ "kind": "transfers", "size": "1 KB", "load": "1 Gbps" }), Some("load")),
            (json!({ "kind": "users", "size": "1 KB", "think": "1 s" }), Some("think")),
            (json!({ "kind": "cbr", "rate": "1 Gbps" }), Some("rate")),
            (json!({ "kind": "burst", "packets": 5 }), None),
            (json!({ "kind": "incast", "size": "1 KB", "every": "1 ms" }), Some("every")),
            (json!({ "kind": "onoff", "load": "1 Gbps" }), Some("load")),
        ] {
            let kind: Kind = serde_json::from_value(words.clone()).unwrap();
            assert_eq!(kind.pace(), key, "{words}");
        }
    }

    #[test]
    fn headers_are_those_of_what_carries() {
        let headers = |words| serde_json::from_value::<Kind>(words).unwrap().carrier().headers_bytes();
        // IPv4 has 20 bytes (RFC 791), UDP 8 (RFC 768); a frame here has no IP.
        assert_eq!(headers(json!({ "kind": "cbr", "rate": "1 Gbps" })), Some(20 + 8));
        assert_eq!(headers(json!({ "kind": "frames", "rate": "1 Gbps" })), Some(0));
        assert_eq!(headers(json!({ "kind": "bulk" })), None);
    }
}
