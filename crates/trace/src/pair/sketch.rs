//! Whether two files hold the same packets, found from a bounded sample of each.
//!
//! Of each file the segments with the smallest marks are kept (a bottom-k sketch: Cohen and Kaplan, "Summarizing data using bottom-k
//! sketches", 2007). Both files choose the same segments, since a mark depends on the segment alone. Addresses, ports and the
//! identification are not part of a mark, so the sample survives network address translation.

use std::collections::BTreeMap;

use crate::decode::decode;
use crate::file::{self, Item};
use crate::input::Place;
use crate::packet::{Decoded, End, Key, Segment};
use crate::{Error, Progress};

/// Segments of a sample, and packets of a file that are looked at, at most.
const KEPT: usize = 1 << 16;
const PACKETS_MAX: u64 = 1 << 20;
const BETWEEN_LOOKS: u64 = 1 << 14;
/// Two files with fewer segments in common than these are no pair: a number, and a share of the smaller sample.
const COMMON_MIN: usize = 3;
const COMMON_SHARE: usize = 100;
/// With other addresses or ports it takes more: a sender that begins each connection with the same numbers makes handshakes alike.
const TRANSLATED_MIN: usize = 32;

/// A segment of a sample.
#[derive(Clone, Copy, Debug)]
struct Sampled {
    /// Nanoseconds since 1970.
    time: i64,
    from: End,
    to: End,
    ident: Option<u16>,
    len: u32,
}

/// A sample of the segments of a file.
#[derive(Default)]
pub struct Sketch(BTreeMap<u64, Sampled>);

/// What two samples have in common.
pub struct Common {
    /// The clock of the second file less that of the first, halfway between both directions, in nanoseconds.
    pub offset: i64,
    /// Whether both directions of a connection are among the common segments.
    pub is_two_way: bool,
    /// Whether the sender of most data is nearer to the second file.
    pub is_swapped: bool,
    /// Whether identifications of IP headers pass unchanged.
    pub keeps_idents: bool,
    /// Whether each common segment has one and the same time in both files.
    pub is_one_capture: bool,
    /// The connection of the first file for each one of the second that has other addresses there, and whether its ends change places.
    pub translated: BTreeMap<Key, (Key, bool)>,
}

impl Sketch {
    pub fn of(place: &Place, watch: &mut dyn FnMut(&Progress) -> bool) -> Result<Sketch, Error> {
        let (mut kept, mut packets, mut stopped) = (BTreeMap::new(), 0u64, false);
        let looked = file::read(place, &mut |item, _| {
            let Item::Frame(frame) = item else { return Ok(()) };
            packets += 1;
            stopped = packets.is_multiple_of(BETWEEN_LOOKS) && !watch(&Progress { share: 0.0, packets: 0 });
            if stopped || packets > PACKETS_MAX {
                return Err(Error::Stopped);
            }
            let Some(time) = frame.time_ns else { return Ok(()) };
            if let (Decoded::Segment(segment), _) = decode(&frame) {
                let Segment { from, to, ident, len, .. } = segment;
                kept.entry(mark(&segment)).or_insert(Sampled { time: time as i64, from, to, ident, len });
                if kept.len() > KEPT {
                    kept.pop_last();
                }
            }
            Ok(())
        });
        match looked {
            Err(Error::Stopped) if !stopped => {}
            other => drop(other?),
        }
        Ok(Sketch(kept))
    }

    /// What this sample has in common with that of another file; nothing if that is no more than chance.
    pub fn common(&self, other: &Sketch) -> Option<Common> {
        let pairs: Vec<(Sampled, Sampled)> =
            self.0.iter().filter_map(|(mark, own)| other.0.get(mark).map(|peer| (*own, *peer))).collect();
        let smaller = self.0.len().min(other.0.len());
        let alike = pairs.iter().filter(|(own, peer)| (own.from, own.to) == (peer.from, peer.to)).count();
        let least = if alike < COMMON_MIN { TRANSLATED_MIN } else { COMMON_MIN };
        if pairs.len() < least.max(smaller / COMMON_SHARE) {
            return None;
        }
        let mut between: BTreeMap<(End, End), Vec<i64>> = BTreeMap::new();
        for (own, peer) in &pairs {
            between.entry((own.from, own.to)).or_default().push(peer.time - own.time);
        }
        let medians: BTreeMap<(End, End), i64> =
            between.iter_mut().filter_map(|(ends, times)| Some((*ends, median(times)?))).collect();
        // Along the way a packet is later at the second file by what it takes; against it, earlier.
        let there = |from: End, to: End| {
            let (own, reverse) = (medians.get(&(from, to))?, medians.get(&(to, from))?);
            (own != reverse).then_some(own > reverse)
        };
        // A queue makes packets late: those that met none are the least there, and the largest back.
        let mut offsets: Vec<i64> = between
            .iter()
            .filter(|(ends, _)| there(ends.0, ends.1) == Some(true))
            .filter_map(|(ends, own)| {
                let (least, most) = (own.first()?, between.get(&(ends.1, ends.0))?.last()?);
                Some(least + (most - least) / 2)
            })
            .collect();
        let mut all: Vec<i64> = medians.values().copied().collect();
        let mut bytes = [0u64; 2];
        for own in self.0.values() {
            if let Some(there) = there(own.from, own.to) {
                bytes[usize::from(!there)] += u64::from(own.len);
            }
        }
        let named = pairs.iter().filter(|(own, peer)| own.ident.is_some() && peer.ident.is_some());
        let (same, all_named) =
            named.fold((0, 0), |(same, all), (own, peer)| (same + usize::from(own.ident == peer.ident), all + 1));
        Some(Common {
            is_two_way: !offsets.is_empty(),
            offset: median(&mut offsets).or_else(|| median(&mut all)).unwrap_or(0),
            is_swapped: bytes[1] > bytes[0],
            keeps_idents: 10 * same >= 9 * all_named,
            is_one_capture: pairs.iter().all(|(own, peer)| own.time == peer.time),
            translated: translated(&pairs),
        })
    }
}

impl Common {
    /// The same, seen from the second file.
    pub fn turned(self) -> Common {
        let translated = self.translated.into_iter().map(|(peer, (own, turned))| (own, (peer, turned))).collect();
        Common { offset: -self.offset, is_swapped: !self.is_swapped, translated, ..self }
    }
}

/// Connections whose addresses or ports differ between the files.
fn translated(pairs: &[(Sampled, Sampled)]) -> BTreeMap<Key, (Key, bool)> {
    let mut votes: BTreeMap<(Key, Key, bool), usize> = BTreeMap::new();
    for (own, peer) in pairs.iter().filter(|(own, peer)| (own.from, own.to) != (peer.from, peer.to)) {
        let (own, own_swapped) = key(own.from, own.to);
        let (peer, peer_swapped) = key(peer.from, peer.to);
        *votes.entry((peer, own, own_swapped != peer_swapped)).or_default() += 1;
    }
    // Ascending: of several candidates the one with most votes is written last.
    let mut ranked: Vec<_> = votes.into_iter().map(|(names, votes)| (votes, names)).collect();
    ranked.sort();
    ranked.into_iter().map(|(_, (peer, own, swapped))| (peer, (own, swapped))).collect()
}

fn key(from: End, to: End) -> (Key, bool) {
    if from > to { ((to, from, true), true) } else { ((from, to, true), false) }
}

fn median(values: &mut [i64]) -> Option<i64> {
    values.sort_unstable();
    values.get(values.len() / 2).copied()
}

/// A number for what of a segment is the same at both places.
pub fn mark(segment: &Segment) -> u64 {
    let flags = [segment.syn, segment.fin, segment.rst, segment.psh, segment.ece, segment.cwr];
    let flags = flags.iter().fold(u64::from(segment.window), |bits, &flag| bits << 1 | u64::from(flag));
    let (value, echo) = segment.options.timestamps.unwrap_or_default();
    let pair = |high: u32, low: u32| u64::from(high) << 32 | u64::from(low);
    let first = [pair(segment.seq, segment.ack.unwrap_or(0)), pair(value, echo), flags << 32 | u64::from(segment.len)];
    let blocks = segment.options.sacks.iter().take(usize::from(segment.options.sack_blocks));
    first.into_iter().chain(blocks.map(|&(left, right)| pair(left, right))).fold(0, mix)
}

/// The finaliser of splitmix64: its bits are even enough to choose by.
pub fn mix(hash: u64, value: u64) -> u64 {
    let mut z = (hash ^ value).wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
