//! The options of a connection, as a scenario writes them.

use elephan_units::{Bytes, InvalidParameter, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How packets are sprayed over paths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Spray {
    /// All entropy values in turn, in an order that is drawn anew each round.
    Oblivious,
    /// The same, but values whose packets met congestion are passed over.
    Bitmap,
    /// Values whose packets met none are used once more, others are random.
    Reps,
    /// Values whose packets met none are used once more, others are those of `bitmap`.
    #[default]
    Mixed,
}

/// Options of connections of Ultra Ethernet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Uec")]
pub struct Options {
    /// Payload of a full packet.
    #[schemars(extend("x-source" = "Ultra Ethernet specification 1.0: 4096 B"))]
    pub mtu: Bytes,
    /// Headers before the payload.
    #[schemars(extend("x-source" = "uet-htsim 40ccb05: hdr_size"))]
    pub headers: Bytes,
    /// Size of acknowledgements, NACKs, grants and requests of credit.
    #[schemars(extend("x-source" = "uet-htsim 40ccb05: ACKSIZE"))]
    pub control: Bytes,
    /// Packets for one acknowledgement; a marked packet, the first one, and one that asks for it are acknowledged at once.
    #[schemars(extend("x-source" = "uet-htsim 40ccb05: 16 KiB, four packets"), range(min = 1, max = 64))]
    pub ack_every: u32,
    /// How packets are sprayed over paths.
    #[schemars(extend("x-source" = "uet-htsim 40ccb05"))]
    pub spray: Spray,
    /// Entropy values of a connection, a power of two; 1 is one path.
    #[schemars(extend("x-source" = "uet-htsim 40ccb05"), range(min = 1, max = 32768))]
    pub entropies: u32,
    /// What a mark, a trimmed packet and a timeout add to the penalty of an entropy value; the last is the largest penalty.
    #[schemars(extend("x-source" = "uet-htsim 40ccb05"))]
    pub penalties: [u8; 3],
    /// Entropy values that `reps` keeps for use once more.
    #[schemars(extend("x-source" = "uet-htsim 40ccb05"), range(min = 1, max = 1024))]
    pub ring: u32,
    /// For how long `reps` cycles through its ring after a timeout.
    #[schemars(extend("x-source" = "uet-htsim 40ccb05"))]
    pub freeze: Span,
    /// Random entropy values that `reps` takes when it freezes no more.
    #[schemars(extend("x-source" = "uet-htsim 40ccb05"), range(max = 32768))]
    pub explore: u32,
    /// Whether receivers grant credits.
    pub credits: bool,
    /// Full packets for one grant.
    #[schemars(extend("x-source" = "uet-htsim 40ccb05: four packets"), range(min = 1, max = 64))]
    pub grant: u32,
    /// Share of the line rate that all grants of a host take together.
    #[schemars(extend("x-source" = "uet-htsim 40ccb05"), range(min = 0, max = 1))]
    pub grant_share: f64,
    /// Credit that a sender begins with, and the most that it has, in bandwidth-delay products.
    #[schemars(extend("x-source" = "uet-htsim 40ccb05"))]
    pub credit_most: f64,
    /// Least share of the rate of grants where it follows marks and trims inside the network, as where the core is slower than the
    /// hosts; without it, it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(
        with = "f64",
        extend("x-source" = "uet-htsim 40ccb05: oversubscribed_cc, 0.9 over the oversubscription"),
        range(min = 0, max = 1)
    )]
    pub grant_least: Option<f64>,
    /// A packet without an answer for so long is repeated; unless given, 15 us and six base round-trip times.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Span", extend("x-source" = "uet-htsim 40ccb05: 15 us and six queues, each of one bandwidth-delay product"))]
    pub timeout: Option<Span>,
    /// Whether data is ECN-capable.
    pub ecn: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            mtu: Bytes(4096),
            headers: Bytes(64),
            control: Bytes(64),
            ack_every: 4,
            spray: Spray::Mixed,
            entropies: 64,
            penalties: [1, 4, 15],
            ring: 8,
            freeze: Span::from_ms(10),
            explore: 16,
            credits: false,
            grant: 4,
            grant_share: 0.99,
            credit_most: 1.5,
            grant_least: None,
            timeout: None,
            ecn: true,
        }
    }
}

/// Least headers: IPv4 and UDP.
const HEADERS_MIN: u64 = 28;
/// Largest IP packet.
const IP_MAX: u64 = 65_535;
/// Times of the base round trip, and what comes to it, after which a packet without an answer is repeated.
const TIMEOUT_ROUND_TRIPS: u64 = 6;
const TIMEOUT_MORE: Span = Span::from_us(15);

impl Options {
    /// What cannot be, if anything.
    pub fn problem(&self) -> Option<InvalidParameter> {
        let of = |option: &'static str, reason: String| Some(InvalidParameter::new(option, reason));
        for (option, size) in [("headers", self.headers), ("control", self.control)] {
            if !(HEADERS_MIN..=9000).contains(&size.0) {
                return of(option, format!("\"{size}\": from {HEADERS_MIN} B, IPv4 and UDP, to 9 kB"));
            }
        }
        let most = IP_MAX - self.headers.0;
        if self.mtu.0 == 0 || self.mtu.0 > most {
            return of("mtu", format!("\"{}\": a packet holds from 1 B to {most} B", self.mtu));
        }
        let counts = [
            ("ack_every", self.ack_every, 1, 64),
            ("entropies", self.entropies, 1, 1 << 15),
            ("ring", self.ring, 1, 1024),
            ("explore", self.explore, 0, 1 << 15),
            ("grant", self.grant, 1, 64),
        ];
        if let Some((option, value, low, high)) = counts.into_iter().find(|c| !(c.2..=c.3).contains(&c.1)) {
            return of(option, format!("{value}: must be from {low} to {high}"));
        }
        if !self.entropies.is_power_of_two() {
            let (below, above) = (1 << self.entropies.ilog2(), self.entropies.next_power_of_two());
            return of("entropies", format!("{}: must be a power of two, {below} or {above}", self.entropies));
        }
        let [mark, trim, timeout] = self.penalties;
        if timeout == 0 || mark > timeout || trim > timeout {
            let reason = format!("[{mark}, {trim}, {timeout}]: the last is the largest penalty, and above 0");
            return of("penalties", reason);
        }
        if !(self.grant_share > 0.0 && self.grant_share <= 1.0) {
            return of("grant_share", format!("{}: must be above 0 and at most 1", self.grant_share));
        }
        if !(self.credit_most > 0.0 && self.credit_most <= 1000.0) {
            return of("credit_most", format!("{}: must be above 0 and at most 1000", self.credit_most));
        }
        if let Some(least) = self.grant_least {
            if !(least > 0.0 && least <= 1.0) {
                return of("grant_least", format!("{least}: must be above 0 and at most 1"));
            }
            if !self.credits {
                return of("grant_least", format!("{least}: goes with credits = true"));
            }
        }
        (self.timeout == Some(Span::ZERO))
            .then(|| InvalidParameter::new("timeout", "\"0 s\": a sender that never waits repeats itself for ever"))
    }

    /// Returns after how long a packet without an answer is repeated, on a path of this base round-trip time.
    pub fn timeout_on(&self, base_rtt: Span) -> Span {
        self.timeout.unwrap_or(Span(base_rtt.0.saturating_mul(TIMEOUT_ROUND_TRIPS)) + TIMEOUT_MORE)
    }
}
