//! Strict priority (as Linux's sch_prio.c, whose bands are FIFOs): a band is served only while all bands before it are empty.
//!
//! A packet has the priority of its traffic entry, 0 to 7 as in IEEE 802.1Q (PCP): 7 is the most urgent, 0 the default. Band 0 is
//! served first. Priority p goes to band `map[p]`; without a map to `bands - 1 - p * bands / 8`, rounded down, so that with 8
//! bands each priority has its own and with 3 priorities 6 and 7 go first, 3 to 5 second. Linux's `priomap` for the first eight
//! of its own priorities is `map = [1, 2, 2, 2, 1, 2, 0, 0]` with 3 bands. A packet in transmission is never interrupted.
//!
//! Packets of a paused priority (PFC) wait; others of their band pass them, then the bands after it are served.
//!
//! `limit` holds for each band, as txqueuelen does in Linux. Left out: filters, classes with other disciplines than FIFO; IEEE's
//! exception that PCP 1 is less urgent than 0 (write it as a map).

use std::collections::VecDeque;

use elephan_units::{InvalidParameter, Size, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de};

use super::{Answers, Discarded, Discipline, Item, Limit, Parameters, Reads, Verdict};

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

    fn answers(&self) -> Answers {
        Answers { is_drop_tail: true, reads: vec![Reads::Priority], ..Answers::default() }
    }

    fn build(&self, bdp_bytes: u64) -> Prio {
        let last = self.bands.max(1) - 1;
        let of = |priority: usize| match self.map {
            Some(map) => map[priority].min(last),
            None => last - (priority * usize::from(self.bands) / PRIORITIES) as u8,
        };
        let map: [u8; PRIORITIES] = std::array::from_fn(of);
        let mut bands: Vec<Band> = (0..=last).map(|_| Band::default()).collect();
        map.iter().enumerate().for_each(|(priority, &band)| bands[usize::from(band)].mask |= 1 << priority);
        let waiting = std::array::from_fn(|_| VecDeque::new());
        Prio { limit: Limit::of(self.limit, bdp_bytes), bands, map, waiting, arrivals: 0, paused: 0 }
    }

    fn problem(&self) -> Option<InvalidParameter> {
        let beyond = |&(_, &band): &(usize, &u8)| band >= self.bands;
        let (priority, band) = self.map.iter().flatten().enumerate().find(beyond)?;
        let bands = self.bands;
        Some(InvalidParameter::new(
            "map",
            format!("priority {priority} goes to band {band}, and there are {bands}, numbered from 0"),
        ))
    }
}

/// The bands.
#[derive(Clone, Debug)]
pub struct Prio {
    limit: Limit,
    bands: Vec<Band>,
    map: [u8; PRIORITIES],
    /// What waits, by priority, each with the ordinal of its arrival.
    waiting: [VecDeque<(u64, Item)>; PRIORITIES],
    arrivals: u64,
    /// Priorities that may not leave, a bit each.
    paused: u8,
}

/// One band: its priorities, a bit each, and what waits of them.
#[derive(Clone, Copy, Debug, Default)]
struct Band {
    mask: u8,
    bytes: u64,
    packets: u64,
}

impl Band {
    fn remove(&mut self, item: &Item) {
        self.bytes -= u64::from(item.bytes);
        self.packets -= 1;
    }
}

impl Prio {
    /// Of these priorities the one whose packet has waited longest.
    fn eldest(&self, mask: u8) -> Option<usize> {
        let first = |p: &usize| self.waiting[*p].front().map(|(arrival, _)| *arrival);
        let among = |p: &usize| mask >> p & 1 == 1 && !self.waiting[*p].is_empty();
        (0..PRIORITIES).filter(among).min_by_key(first)
    }

    fn band_of(&self, priority: u8) -> usize {
        usize::from(self.map[usize::from(priority) % PRIORITIES])
    }
}

impl Discipline for Prio {
    fn enqueue(&mut self, _now: Time, item: Item, _discarded: &mut Discarded) -> Verdict {
        let place = self.band_of(item.priority);
        let band = &mut self.bands[place];
        if !self.limit.admits(band.bytes, band.packets, item.bytes) {
            return Verdict::Dropped("queue_full");
        }
        band.bytes += u64::from(item.bytes);
        band.packets += 1;
        self.arrivals += 1;
        self.waiting[usize::from(item.priority) % PRIORITIES].push_back((self.arrivals, item));
        Verdict::Accepted
    }

    fn dequeue(&mut self, _now: Time, _discarded: &mut Discarded) -> Option<(Item, bool)> {
        let able = |place: usize| Some((place, self.eldest(self.bands[place].mask & !self.paused)?));
        let (place, priority) = (0..self.bands.len()).find_map(able)?;
        let (_, item) = self.waiting[priority].pop_front()?;
        self.bands[place].remove(&item);
        Some((item, false))
    }

    fn pass(&mut self, priority: u8, bytes: u32) -> bool {
        self.paused >> (priority & 7) & 1 == 0 && self.limit.admits(0, 0, bytes)
    }

    fn extract(&mut self, of: &mut dyn FnMut(&Item) -> bool) -> Vec<Item> {
        let mut out = Vec::new();
        for queue in &mut self.waiting {
            let (named, stay) = queue.drain(..).partition::<Vec<_>, _>(|(_, item)| of(item));
            queue.extend(stay);
            out.extend(named);
        }
        out.sort_unstable_by_key(|(arrival, _)| *arrival);
        let out: Vec<Item> = out.into_iter().map(|(_, item)| item).collect();
        for item in &out {
            let place = self.band_of(item.priority);
            self.bands[place].remove(item);
        }
        out
    }

    fn has_priorities(&self) -> bool {
        true
    }

    fn set_paused(&mut self, mask: u8) {
        self.paused = mask;
    }

    fn drain(&mut self, _now: Time, mask: u8, reason: &'static str, discarded: &mut Discarded) {
        let named = self.extract(&mut |item| mask >> (item.priority & 7) & 1 == 1);
        discarded.extend(named.into_iter().map(|item| (item, reason)));
    }

    fn bytes(&self) -> u64 {
        self.bands.iter().map(|band| band.bytes).sum()
    }

    fn packets(&self) -> u64 {
        self.bands.iter().map(|band| band.packets).sum()
    }

    fn parts(&self) -> u8 {
        self.bands.len() as u8
    }

    fn part_of(&self, priority: u8) -> (u8, u64) {
        let place = self.band_of(priority);
        (place as u8, self.bands[place].bytes)
    }

    fn limit(&self) -> Limit {
        self.limit
    }

    fn set_limits(&mut self, limit: Option<Limit>, _mark_above: Option<Limit>) {
        self.limit = limit.unwrap_or(self.limit);
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

    /// Priorities 6 and 7 share a band of three: with 7 paused 6 passes, and the order of arrival holds again afterwards.
    #[test]
    fn a_paused_priority_lets_others_pass() {
        let mut q = PrioSpec { bands: 3, ..PrioSpec::default() }.build(0);
        for priority in [7, 6, 4, 0, 6, 7] {
            q.enqueue(Time::ZERO, Item { priority, ..Item::default() }, &mut Vec::new());
        }
        q.set_paused(1 << 7);
        let next = |q: &mut Prio| q.dequeue(Time::ZERO, &mut Vec::new()).map(|(item, _)| item.priority);
        assert_eq!(next(&mut q), Some(6));
        q.set_paused(0);
        assert_eq!([next(&mut q), next(&mut q)], [Some(7), Some(6)]);
        q.set_paused(1 << 7);
        assert_eq!([next(&mut q), next(&mut q), next(&mut q)], [Some(4), Some(0), None]);
        assert_eq!((q.packets(), q.part_of(6)), (1, (0, 0)));
    }

    /// What a watchdog drops of a band is the paused priority's alone.
    #[test]
    fn a_priority_is_drained_without_its_band() {
        let mut q = PrioSpec { bands: 1, ..PrioSpec::default() }.build(0);
        for (handle, priority) in [(0, 3), (1, 2), (2, 3)] {
            q.enqueue(Time::ZERO, Item { handle, priority, bytes: 100, ..Item::default() }, &mut Vec::new());
        }
        let mut lost = Vec::new();
        q.drain(Time::ZERO, 1 << 3, "watchdog", &mut lost);
        assert_eq!(lost.iter().map(|(item, _)| item.handle).collect::<Vec<_>>(), [0, 2]);
        assert_eq!((q.bytes(), q.packets()), (100, 1));
    }

    #[test]
    fn bands_that_do_not_exist() {
        let of = |bands, map| PrioSpec { bands, map: Some(map), limit: None }.problem();
        assert_eq!(of(3, [1, 2, 2, 2, 1, 2, 0, 0]), None);
        let found = of(3, [1, 2, 2, 3, 1, 2, 0, 0]).unwrap();
        assert_eq!(found, InvalidParameter::new("map", "priority 3 goes to band 3, and there are 3, numbered from 0"));
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
