//! `onoff`: self-similar background, a superposition of on/off sources with Pareto periods in one UDP stream.
//!
//! Each source is ON for a Pareto time (shape a, scale m = mean (a - 1) / a) and sends packets at its peak rate, then OFF for
//! a Pareto time. Many of them have long-range dependent counts with Hurst parameter H = (3 - a) / 2, 1 < a < 2 (Taqqu,
//! Willinger and Sherman 1997). With mean ON time T and duty d
//!
//! ```text
//! load = sources * peak * d,     mean OFF = T (1 - d) / d
//! ```
//!
//! Sources begin in their stationary state, so that no warm-up is needed: ON with probability d, for the residual of a Pareto
//! period, which with U, V uniform is exactly
//!
//! ```text
//! U < (a - 1) / a:  m V,      else  m (1 - V)^(-1 / (a - 1))
//! ```
//!
//! (the density of a residual is P(X > x) / mean: flat up to m, then a Pareto tail of shape a - 1). A period is capped at
//! `cap` means, which bounds how far one run differs from another. Packets of an ON period are evenly spaced from a random
//! phase, so that their mean number is its length over the spacing. Each source has its own random stream.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use elephan_random::Stream;
use elephan_units::{Bytes, InvalidParameter, PS_PER_S, Rate, Span, stop};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::kind::UDP_HEADERS_BYTES;
use crate::{Carrier, Generate, Offer, Setting, Spec};

/// RFC 768 and RFC 791: 65,535 less 20 bytes of IP and 8 of UDP.
const PAYLOAD_MAX_BYTES: u64 = 65_507;
const SOURCES_MAX: u32 = 100_000;
/// Periods are drawn until one has room for a packet: beyond so many for each packet, or for the first of all sources, a run seems to
/// stand still.
const PERIODS_MAX: f64 = 100_000.0;
const FIRST_PERIODS_MAX: f64 = 1e6;

/// Keys of `kind = "onoff"`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Onoff {
    /// Mean rate on the wire of all sources together, headers and framing of the first link included.
    pub load: Rate,
    /// Superposed sources.
    #[serde(default = "sources")]
    #[schemars(range(min = 1))]
    pub sources: u32,
    /// Shape of the Pareto ON and OFF times, above 1 and below 2; the Hurst parameter is (3 - shape) / 2. \[assumed: H = 0.8]
    #[serde(default = "shape")]
    pub shape: f64,
    /// Mean length of an ON period. \[assumed]
    #[serde(default = "on")]
    pub on: Span,
    /// Share of the time that a source is ON. \[assumed]
    #[serde(default = "duty")]
    pub duty: f64,
    /// Longest period in means. \[assumed]
    #[serde(default = "cap")]
    pub cap: f64,
    /// UDP payload of a packet; the default makes an IP packet of 1500 bytes.
    #[serde(default = "packet_size")]
    pub packet_size: Bytes,
}

fn sources() -> u32 {
    100
}

fn shape() -> f64 {
    1.4
}

fn on() -> Span {
    Span::from_ms(50)
}

fn duty() -> f64 {
    0.2
}

fn cap() -> f64 {
    1e4
}

/// 1500 less 20 bytes of IP and 8 of UDP.
fn packet_size() -> Bytes {
    Bytes(1472)
}

impl Onoff {
    /// Rate of a source that is ON, in bit/s.
    fn peak(&self) -> f64 {
        self.load.0 as f64 / (f64::from(self.sources) * self.duty)
    }
}

/// A Pareto distribution by its mean, capped.
#[derive(Clone, Copy, Debug)]
struct Period {
    shape: f64,
    scale: f64,
    longest: f64,
}

impl Period {
    fn new(mean: f64, spec: &Onoff) -> Period {
        Period { shape: spec.shape, scale: mean * (spec.shape - 1.0) / spec.shape, longest: mean * spec.cap }
    }

    fn draw(&self, stream: &mut Stream) -> f64 {
        stream.pareto(self.shape, self.scale).min(self.longest)
    }

    /// What is left of the period that is running at a random instant. It has the density P(X > x) / mean up to the cap, which is that
    /// of the distribution without one, given that it lies below.
    fn residual(&self, stream: &mut Stream) -> f64 {
        loop {
            let left = if stream.uniform() < (self.shape - 1.0) / self.shape {
                self.scale * stream.uniform()
            } else {
                stream.pareto(self.shape - 1.0, self.scale)
            };
            if left < self.longest {
                return left;
            }
        }
    }
}

/// One source: times in picoseconds since the start.
#[derive(Clone, Debug)]
struct Member {
    stream: Stream,
    /// End of the ON period that its next packet belongs to.
    on_until: f64,
    next: f64,
}

/// The superposition.
#[derive(Clone, Debug)]
pub struct Source {
    payload_bytes: u64,
    spacing: f64,
    on: Period,
    off: Period,
    members: Vec<Member>,
    /// Next packet of each member.
    due: BinaryHeap<Reverse<(u64, u32)>>,
    now: u64,
    lasts: f64,
}

impl Spec for Onoff {
    type Source = Source;

    fn validate(&self) -> Result<(), InvalidParameter> {
        let refuse = |key, message: String| Err(InvalidParameter::new(key, message));
        if self.load.0 == 0 {
            return refuse("load", "a rate cannot be zero".into());
        }
        if self.sources == 0 || self.sources > SOURCES_MAX {
            return refuse("sources", format!("must be from 1 to {SOURCES_MAX}, not {}", self.sources));
        }
        if !(self.shape > 1.0 && self.shape < 2.0) {
            return refuse("shape", format!("must be above 1 and below 2, not {}", self.shape));
        }
        if !(self.duty > 0.0 && self.duty < 1.0) {
            return refuse("duty", format!("must be above 0 and below 1, not {}", self.duty));
        }
        if !(self.cap >= 10.0 && self.cap <= 1e12) {
            return refuse("cap", format!("must be from 10 to 1e12 means, not {}", self.cap));
        }
        if self.on == Span::ZERO {
            return refuse("on", "0 s: an ON period has a length".into());
        }
        if !(1..=PAYLOAD_MAX_BYTES).contains(&self.packet_size.0) {
            let message = format!("{} is not a UDP payload: 1 to {PAYLOAD_MAX_BYTES} bytes", self.packet_size);
            return refuse("packet_size", message);
        }
        let spacing = (self.packet_size.0 + UDP_HEADERS_BYTES) as f64 * 8.0 * PS_PER_S as f64 / self.peak();
        let most = PERIODS_MAX.min(FIRST_PERIODS_MAX / f64::from(self.sources));
        if spacing > most * self.on.0 as f64 {
            let message = format!(
                "{}: too short: at its peak rate, {}, a source has a packet of {} in one of more than {most} such periods",
                self.on,
                Rate(self.peak() as u64),
                self.packet_size
            );
            return refuse("on", message);
        }
        Ok(())
    }

    fn carrier(&self) -> Carrier {
        Carrier::Datagrams(self.packet_size.0)
    }

    fn pace(&self) -> Option<&'static str> {
        Some("load")
    }

    fn is_random(&self, _pairs: u64) -> bool {
        true
    }

    fn source(&self, setting: &Setting<'_>) -> Source {
        let peak = self.peak();
        let mean_on = self.on.0 as f64;
        let mut source = Source {
            payload_bytes: self.packet_size.0,
            spacing: (setting.wire_bytes)(self.packet_size.0) as f64 * 8.0 * PS_PER_S as f64 / peak,
            on: Period::new(mean_on, self),
            off: Period::new(mean_on * (1.0 - self.duty) / self.duty, self),
            members: Vec::new(),
            due: BinaryHeap::new(),
            now: 0,
            lasts: setting.lasts.0 as f64,
        };
        for i in 0..self.sources {
            let stream = (setting.stream)(&format!("source[{i}]"));
            let member = source.begin(stream, self.duty);
            source.due.push(Reverse((member.next as u64, i)));
            source.members.push(member);
        }
        source
    }
}

impl Source {
    /// A source somewhere in its stationary life, at its first packet.
    fn begin(&self, mut stream: Stream, duty: f64) -> Member {
        let (begins, length) = if stream.uniform() < duty {
            (0.0, self.on.residual(&mut stream))
        } else {
            (self.off.residual(&mut stream), self.on.draw(&mut stream))
        };
        let next = begins + self.spacing * stream.uniform();
        let mut member = Member { stream, on_until: begins + length, next };
        member.settle(self.spacing, self.on, self.off, self.lasts);
        member
    }
}

impl Member {
    /// Moves a packet that would come after its ON period to the next that has room for one, or beyond the end of the run.
    #[inline]
    fn settle(&mut self, spacing: f64, on: Period, off: Period, lasts: f64) {
        while self.next >= self.on_until && self.on_until <= lasts {
            stop::look();
            let begins = self.on_until + off.draw(&mut self.stream);
            self.on_until = begins + on.draw(&mut self.stream);
            self.next = begins + spacing * self.stream.uniform();
        }
    }
}

impl Generate for Source {
    fn next_offer(&mut self) -> Option<Offer> {
        let Reverse((at, i)) = self.due.pop()?;
        let member = &mut self.members[i as usize];
        member.next += self.spacing;
        member.settle(self.spacing, self.on, self.off, self.lasts);
        self.due.push(Reverse((member.next as u64, i)));
        // Two sources may meet in one picosecond.
        let gap = at.saturating_sub(self.now).max(1);
        self.now += gap;
        Some(Offer { gap: Span(gap), bytes: self.payload_bytes, pair: 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind;

    fn source(text: &str, seed: u64) -> crate::Source {
        lasting(text, seed, Span::MAX)
    }

    fn lasting(text: &str, seed: u64, lasts: Span) -> crate::Source {
        let kind: Kind = serde_json::from_str(text).unwrap();
        assert_eq!((kind.validate(), kind.carrier()), (Ok(()), Carrier::Datagrams(1472)));
        kind.source(&Setting {
            part: crate::Part::Whole,
            stream: &|p| Stream::new(seed, "onoff", p),
            pairs: 1,
            wire_bytes: &|_| 1500,
            full_wire_bytes: 1538,
            rate: elephan_units::Rate(10_000_000_000),
            lasts,
        })
    }

    /// Packets in each bin of `bin_ps`.
    fn counts(source: &mut crate::Source, bin_ps: u64, bins: usize) -> Vec<f64> {
        let mut out = vec![0.0; bins];
        let mut now = 0;
        loop {
            now += source.next_offer().unwrap().gap.0;
            match out.get_mut((now / bin_ps) as usize) {
                Some(bin) => *bin += 1.0,
                None => return out,
            }
        }
    }

    /// 267 bit/s at the peak and 1500 bytes: a packet takes 45 s of ON time, which is 900 periods. In a run of a second some ten of them
    /// are looked at, and the packet that is then offered lies beyond its end.
    #[test]
    fn the_search_for_a_packet_ends_with_the_run() {
        let text = r#"{ "kind": "onoff", "load": "160 bps", "sources": 1, "duty": 0.6 }"#;
        let first = |seed: u64, lasts: Span| lasting(text, seed, lasts).next_offer().unwrap().gap;
        let run = Span::from_s(1);
        let times = (0..50).map(|seed| (first(seed, run), first(seed, Span::MAX)));
        let ended = times.filter(|(short, long)| {
            assert!(short == long || (*short > run && *long > run), "{short} {long}");
            short != long
        });
        assert!(ended.count() > 25);
    }

    fn variance_of_means(x: &[f64], m: usize) -> f64 {
        let means: Vec<f64> = x.chunks_exact(m).map(|c| c.iter().sum::<f64>() / m as f64).collect();
        let mean = means.iter().sum::<f64>() / means.len() as f64;
        means.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / means.len() as f64
    }

    /// Shape 1.4: H = 0.8. The variance of means over m bins falls as m^(2H - 2); 1000 s, from 1 s to 20 s, mean of three runs
    /// within 0.07; the load within 5 %.
    #[test]
    fn the_hurst_parameter_and_the_load_are_what_they_should_be() {
        let (mut hurst, mut load) = (0.0, 0.0);
        for seed in 0..3 {
            let mut s = source(r#"{"kind": "onoff", "load": "20 Mbps"}"#, seed);
            let x = counts(&mut s, PS_PER_S / 10, 10_000);
            let slope = libm::log(variance_of_means(&x, 200) / variance_of_means(&x, 10)) / libm::log(20.0);
            hurst += (1.0 + slope / 2.0) / 3.0;
            load += x.iter().sum::<f64>() * 1500.0 * 8.0 / 1000.0 / 3.0;
        }
        assert!((hurst - 0.8).abs() < 0.07, "{hurst}");
        assert!((load / 20e6 - 1.0).abs() < 0.05, "{load}");
    }

    /// The stationary start: the first second has the load of any other, averaged over runs.
    #[test]
    fn it_begins_in_its_stationary_state() {
        let runs = 150;
        let first: f64 =
            (0..runs).map(|i| counts(&mut source(r#"{"kind": "onoff", "load": "20 Mbps"}"#, i), PS_PER_S, 1)[0]).sum();
        let mean = first / runs as f64 * 12_000.0;
        assert!((mean / 20e6 - 1.0).abs() < 0.06, "{mean}");
    }

    /// The residual of a Pareto period of shape 1.4 and mean 1, m = 0.2857: without a cap P(R > m) = 1 / a and the median is
    /// m (2 / a)^(1 / (a - 1)) = 0.6969; given that it is below 10^4, P(R > m) = 0.7111 and P(R > 0.6969) = 0.4945.
    #[test]
    fn residuals() {
        let spec: Onoff = serde_json::from_str(r#"{"load": "1 Mbps"}"#).unwrap();
        let period = Period::new(1.0, &spec);
        let mut stream = Stream::new(3, "onoff", "residual");
        let n = 100_000;
        let draws: Vec<f64> = (0..n).map(|_| period.residual(&mut stream)).collect();
        let share = |r: f64| draws.iter().filter(|x| **x > r).count() as f64 / f64::from(n);
        assert!((share(0.285_714) - 0.7111).abs() < 0.006, "{}", share(0.285_714));
        assert!((share(0.6969) - 0.4945).abs() < 0.0064, "{}", share(0.6969));
    }

    /// Of periods capped at c = 10 means the residual has the density P(X > x) / mean up to c and no atom there: the integral
    /// of (x / m)^-a from r to c over that from 0 to c.
    #[test]
    fn residuals_of_capped_periods() {
        let spec: Onoff = serde_json::from_str(r#"{"load": "1 Mbps", "cap": 10}"#).unwrap();
        let period = Period::new(1.0, &spec);
        let mut stream = Stream::new(3, "onoff", "capped");
        let n = 100_000;
        let draws: Vec<f64> = (0..n).map(|_| period.residual(&mut stream)).collect();
        assert!(draws.iter().all(|x| *x < 10.0));
        for (r, expected) in [(0.5, 0.4817), (4.0, 0.0921)] {
            let share = draws.iter().filter(|x| **x > r).count() as f64 / f64::from(n);
            assert!((share - expected).abs() < 0.0064, "{r}: {share}");
        }
    }

    #[test]
    fn refused() {
        for (text, error) in [
            (r#""load": "1 Mbps", "shape": 2"#, "shape: must be above 1 and below 2, not 2"),
            (r#""load": "1 Mbps", "duty": 1.5"#, "duty: must be above 0 and below 1, not 1.5"),
            (r#""load": "1 Mbps", "sources": 0"#, "sources: must be from 1 to 100000, not 0"),
            (r#""load": "1 Mbps", "cap": 1"#, "cap: must be from 10 to 1e12 means, not 1"),
            (r#""load": "1 Mbps", "on": "0 s""#, "on: 0 s: an ON period has a length"),
        ] {
            let kind: Kind = serde_json::from_str(&format!(r#"{{"kind": "onoff", {text}}}"#)).unwrap();
            assert_eq!(kind.validate().unwrap_err().to_string(), error);
        }
    }
}
