//! Sources of UDP packets and raw frames, after docs/models/traffic.md: when each packet is due and what it carries.

use elephan_random::Stream;
use elephan_traffic::{GapDistribution, Kind};
use elephan_units::PS_PER_S;

use super::onoff::Onoff;

/// IP and UDP headers.
pub const UDP_HEADERS_BYTES: u64 = 28;
/// Header and check sequence of an Ethernet frame.
const FRAME_BYTES: u64 = 18;

enum Gaps {
    /// The n-th packet is due n times `wire_bits / rate` after the first, rounded down to a picosecond.
    Fixed {
        wire_bits: u64,
        rate_bps: u64,
    },
    /// A Poisson stream with this mean gap.
    Exponential {
        mean_ps: f64,
        stream: Stream,
    },
    Onoff(Box<Onoff>),
}

/// The generator of a flow.
pub struct Source {
    pub payload: u64,
    gaps: Gaps,
    start: u64,
    /// Packets so far, and how many there are at all.
    made: u64,
    packets: Option<u64>,
    due: u64,
}

/// What a source is told of its first link, of its start and of the run.
pub struct Place<'a> {
    pub wire_bytes: &'a dyn Fn(u64) -> u64,
    pub rate_bps: u64,
    pub start: u64,
    pub lasts: u64,
    pub stream: &'a dyn Fn(&str) -> Stream,
}

/// The mean gap as a real number: whole picoseconds and the rest.
fn mean_ps(wire_bits: u64, rate_bps: u64) -> f64 {
    let all = u128::from(wire_bits) * u128::from(PS_PER_S);
    let (whole, rest) = (all / u128::from(rate_bps), all % u128::from(rate_bps));
    whole as f64 + rest as f64 / rate_bps as f64
}

impl Source {
    /// Returns the generator of a flow of this kind, and whether it sends frames without IP.
    pub fn new(kind: &Kind, place: &Place<'_>) -> (Source, bool) {
        let gaps = |gaps: &GapDistribution, wire_bytes: u64, rate_bps: u64| match gaps {
            GapDistribution::Fixed => Gaps::Fixed { wire_bits: 8 * wire_bytes, rate_bps },
            GapDistribution::Exponential => {
                Gaps::Exponential { mean_ps: mean_ps(8 * wire_bytes, rate_bps), stream: (place.stream)("gaps") }
            }
            GapDistribution::Bursts(_) => panic!("the naive engine has no bursts of cbr"),
        };
        let datagram = |payload: u64| (place.wire_bytes)(payload + UDP_HEADERS_BYTES);
        let (payload, gaps, packets) = match kind {
            Kind::Cbr(cbr) => {
                let payload = cbr.packet_size.0;
                (payload, gaps(&cbr.gaps, datagram(payload), cbr.rate.0), None)
            }
            Kind::Burst(burst) => {
                let (payload, rate_bps) = (burst.packet_size.0, burst.rate.map_or(place.rate_bps, |rate| rate.0));
                (payload, gaps(&GapDistribution::Fixed, datagram(payload), rate_bps), Some(burst.packets))
            }
            Kind::Frames(frames) => {
                let (payload, rate) = (frames.frame_size.0 - FRAME_BYTES, frames.rate.expect("frames with a rate"));
                let of = frames.gaps.clone().unwrap_or(GapDistribution::Fixed);
                (payload, gaps(&of, (place.wire_bytes)(payload), rate.0), None)
            }
            Kind::Onoff(spec) => {
                let payload = spec.packet_size.0;
                (payload, Gaps::Onoff(Box::new(Onoff::new(spec, datagram(payload), place))), None)
            }
            _ => panic!("the naive engine has no such traffic"),
        };
        let source = Source { payload, gaps, start: place.start, made: 0, packets, due: place.start };
        (source, matches!(kind, Kind::Frames(_)))
    }

    /// Returns when the next packet is due, if there is one.
    pub fn next(&mut self) -> Option<u64> {
        if self.packets.is_some_and(|packets| self.made >= packets) {
            return None;
        }
        let count = self.made;
        self.made += 1;
        self.due = match &mut self.gaps {
            Gaps::Fixed { wire_bits, rate_bps } => {
                let all = u128::from(count) * u128::from(*wire_bits) * u128::from(PS_PER_S);
                self.start + (all / u128::from(*rate_bps)) as u64
            }
            Gaps::Exponential { mean_ps, stream } => self.due + ((stream.exponential(*mean_ps) + 0.5) as u64).max(1),
            Gaps::Onoff(onoff) => self.start + onoff.next(),
        };
        Some(self.due)
    }
}
