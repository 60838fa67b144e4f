//! Strict priority (as Linux's sch_prio.c, whose bands are FIFOs): a band is served only while all bands before it are empty.
//!
//! A packet has the priority of its traffic entry, 0 to 7 as in IEEE 802.1Q (PCP): 7 is the most urgent, 0 the default. Band 0 is
//! served first. Priority p goes to band `map[p]`; without a map to `bands - 1 - p * bands / 8`, rounded down, so that with 8
//! bands each priority has its own and with 3 priorities 6 and 7 go first, 3 to 5 second. Linux's `priomap` for the first eight
//! of its own priorities is `map = [1, 2, 2, 2, 1, 2, 0, 0]` with 3 bands. A packet in transmission is never interrupted.
//!
//! A band whose first packet has a paused priority (PFC) waits, and the bands after it are served.
//!
//! `limit` holds for each band, as txqueuelen does in Linux. Left out: filters, classes with other disciplines than FIFO; IEEE's
//! exception that PCP 1 is less urgent than 0 (write it as a map).

use elephan_units::{Size, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de};

use super::fifo::{Fifo, FifoSpec};
use super::{Discarded, Discipline, Item, Limit, Parameters, Verdict};

/// Priorities of IEEE 802.1Q.
const PRIORITIES: usize = 8;

/// Parameters of `prio`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PrioSpec {
    /// Most that may wait in each band, in bytes ("2 MB"), packets ("100 p") or bandwidth-delay products ("1 bdp"); without it nothing is dropped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<Size>,
    /// Number of bands.
    #[schemars(range(min = 1, max = 16))]
    pub bands: u8,
    /// Band of each of the eight priorities, 0 first; 0 is the band that is served first. Without it the highest priorities go to band 0.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "map")]
    #[schemars(with = "Vec<u8>", length(min = 8, max = 8), inner(range(min = 0, max = 15)))]
    pub map: Option<[u8; PRIORITIES]>,
}

impl Default for PrioSpec {
    fn default() -> PrioSpec {
        PrioSpec { limit: None, bands: PRIORITIES as u8, map: None }
    }
}

fn map<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<[u8; PRIORITIES]>, D::Error> {
    let given = Vec::<u8>::deserialize(deserializer)?;
    let count = given.len();
    given.try_into().map(Some).map_err(|_| de::Error::custom(format!("map has {count} entries: expected 8")))
}

impl Parameters for PrioSpec {
    type Queue = Prio;

    fn build(&self, bdp_bytes: u64) -> Prio {
        let last = self.bands.max(1) - 1;
        let of = |priority: usize| match self.map {
            Some(map) => map[priority].min(last),
            None => last - (priority * usize::from(self.bands) / PRIORITIES) as u8,
        };
        let band = || FifoSpec { limit: self.limit, mark_above: None }.build(bdp_bytes);
        Prio { bands: (0..=last).map(|_| band()).collect(), map: std::array::from_fn(of), paused: 0 }
    }
}

/// The bands.
#[derive(Debug)]
pub struct Prio {
    bands: Vec<Fifo>,
    map: [u8; PRIORITIES],
    /// Priorities that may not leave, a bit each.
    paused: u8,
}

impl Discipline for Prio {
    fn enqueue(&mut self, now: Time, item: Item, discarded: &mut Discarded) -> Verdict {
        let band = self.map[usize::from(item.priority) % PRIORITIES];
        self.bands[usize::from(band)].enqueue(now, item, discarded)
    }

    fn dequeue(&mut self, now: Time, discarded: &mut Discarded) -> Option<(Item, bool)> {
        let paused = |band: &Fifo| band.first().is_some_and(|first| self.paused >> (first.priority & 7) & 1 == 1);
        self.bands.iter_mut().find_map(|band| if paused(band) { None } else { band.dequeue(now, discarded) })
    }

    fn extract(&mut self, of: &mut dyn FnMut(&Item) -> bool) -> Vec<Item> {
        self.bands.iter_mut().flat_map(|band| band.extract(of)).collect()
    }

    fn has_priorities(&self) -> bool {
        true
    }

    fn set_paused(&mut self, mask: u8) {
        self.paused = mask;
    }

    fn drain(&mut self, now: Time, mask: u8, reason: &'static str, discarded: &mut Discarded) {
        for (band, fifo) in (0u8..).zip(&mut self.bands) {
            let concerned = (0..PRIORITIES).any(|p| mask >> p & 1 == 1 && self.map[p] == band);
            while concerned && let Some((item, _)) = fifo.dequeue(now, discarded) {
                discarded.push((item, reason));
            }
        }
    }

    fn bytes(&self) -> u64 {
        self.bands.iter().map(Fifo::bytes).sum()
    }

    fn packets(&self) -> u64 {
        self.bands.iter().map(Fifo::packets).sum()
    }

    fn set_limits(&mut self, limit: Option<Limit>, mark_above: Option<Limit>) {
        self.bands.iter_mut().for_each(|band| band.set_limits(limit, mark_above));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bands(spec: &PrioSpec) -> [u8; 8] {
        spec.build(0).map
    }

    #[test]
    fn bands_of_priorities() {
        assert_eq!(bands(&PrioSpec::default()), [7, 6, 5, 4, 3, 2, 1, 0]);
        assert_eq!(bands(&PrioSpec { bands: 1, ..PrioSpec::default() }), [0; 8]);
        assert_eq!(bands(&PrioSpec { bands: 2, ..PrioSpec::default() }), [1, 1, 1, 1, 0, 0, 0, 0]);
        assert_eq!(bands(&PrioSpec { bands: 3, ..PrioSpec::default() }), [2, 2, 2, 1, 1, 1, 0, 0]);
        // Linux's prio_priomap.
        let linux = Some([1, 2, 2, 2, 1, 2, 0, 0]);
        assert_eq!(bands(&PrioSpec { bands: 3, map: linux, limit: None }), [1, 2, 2, 2, 1, 2, 0, 0]);
    }

    /// A full band drops its own packets only.
    #[test]
    fn each_band_has_its_limit() {
        let mut q = PrioSpec { limit: Some(Size::Packets(1)), ..PrioSpec::default() }.build(0);
        let mut offer = |priority| q.enqueue(Time::ZERO, Item { priority, ..Item::default() }, &mut Vec::new());
        assert_eq!([0, 0, 7, 7].map(&mut offer).map(|v| v == Verdict::Accepted), [true, false, true, false]);
    }

    /// Priorities 6 and 7 share a band of three; 7 is paused and stands before 6.
    #[test]
    fn a_paused_band_lets_others_pass() {
        let mut q = PrioSpec { bands: 3, ..PrioSpec::default() }.build(0);
        for priority in [7, 6, 4, 0] {
            q.enqueue(Time::ZERO, Item { priority, ..Item::default() }, &mut Vec::new());
        }
        q.set_paused(1 << 7);
        let next = |q: &mut Prio| q.dequeue(Time::ZERO, &mut Vec::new()).map(|(item, _)| item.priority);
        assert_eq!([next(&mut q), next(&mut q), next(&mut q)], [Some(4), Some(0), None]);
        q.set_paused(0);
        assert_eq!([next(&mut q), next(&mut q)], [Some(7), Some(6)]);
    }

    proptest! {
        /// No packet leaves while one of higher priority waits, and within a priority they leave as they came.
        #[test]
        fn never_inverted(steps in prop::collection::vec(prop::option::of(0u8..8), 1..300)) {
            let mut q = PrioSpec::default().build(0);
            let mut waiting: Vec<(u8, u32)> = Vec::new();
            for (n, step) in steps.into_iter().enumerate() {
                match step {
                    Some(priority) => {
                        let item = Item { handle: n as u32, priority, ..Item::default() };
                        q.enqueue(Time::ZERO, item, &mut Vec::new());
                        waiting.push((priority, n as u32));
                    }
                    None => {
                        let expected = waiting.iter().copied().min_by_key(|&(p, n)| (7 - p, n));
                        waiting.retain(|&packet| Some(packet) != expected);
                        let sent = q.dequeue(Time::ZERO, &mut Vec::new()).map(|(item, _)| (item.priority, item.handle));
                        prop_assert_eq!(sent, expected);
                    }
                }
            }
        }
    }
}
