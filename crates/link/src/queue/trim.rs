//! A queue that trims: a packet that finds it full loses its payload, and its header goes before all data (NDP: Handley et al., SIGCOMM
//! 2017; the composite queue of `uet-htsim` at 40ccb05).
//!
//! ```text
//! data that does not fit into `limit`:   it is trimmed, or with probability 1 - `arriving` the data packet that came last
//! what has priority 7:                   trimmed headers and the control packets of Ultra Ethernet; they wait in a queue of their own,
//!                                        which goes first, up to `headers`; beyond it they are dropped
//! marks, as data leaves with q behind it:  probability (q - min) / (max - min) from min on, 1 above max
//! ```
//!
//! Only packets of `transport = "uec"` can be trimmed. Others that do not fit are dropped, the one that comes or the one that came last.

use elephan_random::Stream;
use elephan_units::{Bytes, InvalidParameter, Size, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::part::store::Store;
use super::{Answers, Discarded, Discipline, Item, Limit, Parameters, Reads, Verdict, is_ect};

/// Why a packet of data left the queue, or was not taken: it may come back as a header.
pub const TRIMMED: &str = "trimmed";

/// Priority of what is never trimmed and goes first.
pub const CONTROL_PRIORITY: u8 = 7;

/// Parameters of `trim`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TrimSpec {
    /// Most data that may wait, in bytes ("2 MB"), packets ("100 p") or bandwidth-delay products ("1 bdp").
    #[schemars(extend("x-source" = "uet-htsim 40ccb05: one bandwidth-delay product"))]
    pub limit: Size,
    /// Most that may wait of headers and control packets; without it twice `limit`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-source" = "uet-htsim 40ccb05"))]
    pub headers: Option<Size>,
    /// Size of a trimmed packet, its IP header included.
    #[schemars(extend("x-source" = "uet-htsim 40ccb05"))]
    pub trimmed: Bytes,
    /// Probability that the packet that comes is trimmed, and not the one that came last.
    #[schemars(extend("x-source" = "Handley et al. 2017; uet-htsim 40ccb05"), range(min = 0, max = 1))]
    pub arriving: f64,
    /// Waiting data from which packets are marked; without it none is.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-source" = "uet-htsim 40ccb05: 0.2 bandwidth-delay products"))]
    pub min: Option<Size>,
    /// Waiting data from which all packets are marked; without it `min`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-source" = "uet-htsim 40ccb05: 0.8 bandwidth-delay products"))]
    pub max: Option<Size>,
}

impl Default for TrimSpec {
    fn default() -> TrimSpec {
        TrimSpec {
            limit: Size::NanoBdp(1_000_000_000),
            headers: None,
            trimmed: Bytes(64),
            arriving: 0.5,
            min: None,
            max: None,
        }
    }
}

impl Parameters for TrimSpec {
    type Queue = Trim;

    fn answers(&self) -> Answers {
        Answers { is_random: true, reads: vec![Reads::Priority], once_per_priority: false, ..Answers::default() }
    }

    fn build(&self, bdp_bytes: u64) -> Trim {
        let limit = Limit::of(Some(self.limit), bdp_bytes);
        let twice = Limit { bytes: limit.bytes.saturating_mul(2), packets: limit.packets.saturating_mul(2) };
        let min = self.min.map(|min| Limit::of(Some(min), bdp_bytes));
        Trim {
            limit,
            headers_limit: self.headers.map_or(twice, |headers| Limit::of(Some(headers), bdp_bytes)),
            arriving: self.arriving,
            min,
            max: self.max.map(|max| Limit::of(Some(max), bdp_bytes)).or(min),
            data: Store::default(),
            headers: Store::default(),
            stream: Stream::new(0, "", ""),
        }
    }

    fn problem(&self) -> Option<InvalidParameter> {
        if !(28..=9000).contains(&self.trimmed.0) {
            let reason = format!("\"{}\": from 28 B, IPv4 and UDP, to 9 kB", self.trimmed);
            return Some(InvalidParameter::new("trimmed", reason));
        }
        if !(0.0..=1.0).contains(&self.arriving) {
            return Some(InvalidParameter::new("arriving", format!("{}: must be from 0 to 1", self.arriving)));
        }
        let (Some(min), Some(max)) = (self.min, self.max) else {
            let alone = self.max.filter(|_| self.min.is_none())?;
            return Some(InvalidParameter::new("max", format!("\"{alone}\": needs min")));
        };
        let amounts = match (min, max) {
            (Size::Bytes(min), Size::Bytes(max))
            | (Size::Packets(min), Size::Packets(max))
            | (Size::NanoBdp(min), Size::NanoBdp(max)) => (min, max),
            _ => {
                return Some(InvalidParameter::new("min", format!("\"{min}\": must be in the unit of max, \"{max}\"")));
            }
        };
        (amounts.0 > amounts.1)
            .then(|| InvalidParameter::new("min", format!("\"{min}\": must not be above max, \"{max}\"")))
    }

    fn trims_to(&self) -> Option<Bytes> {
        Some(self.trimmed)
    }
}

/// The waiting packets.
#[derive(Clone, Debug)]
pub struct Trim {
    limit: Limit,
    headers_limit: Limit,
    arriving: f64,
    min: Option<Limit>,
    max: Option<Limit>,
    data: Store,
    headers: Store,
    stream: Stream,
}

/// A limit in the unit that it is given in, and what waits in that unit.
fn amounts(limit: Limit, store: &Store) -> (u64, u64) {
    if limit.bytes == u64::MAX { (limit.packets, store.packets()) } else { (limit.bytes, store.bytes()) }
}

impl Trim {
    /// Whether a packet of data that leaves is marked.
    fn marks(&mut self, item: &Item) -> bool {
        let (Some(min), Some(max)) = (self.min, self.max) else { return false };
        let ((min, waiting), (max, _)) = (amounts(min, &self.data), amounts(max, &self.data));
        if !is_ect(item.ecn) || waiting <= min {
            return false;
        }
        waiting > max || self.stream.bernoulli((waiting - min) as f64 / (max - min) as f64)
    }
}

impl Discipline for Trim {
    fn enqueue(&mut self, _now: Time, item: Item, discarded: &mut Discarded) -> Verdict {
        if item.priority == CONTROL_PRIORITY {
            if !self.headers_limit.admits(self.headers.bytes(), self.headers.packets(), item.bytes) {
                return Verdict::Dropped("queue_full");
            }
            self.headers.push(item);
            return Verdict::Accepted;
        }
        if !self.limit.admits(self.data.bytes(), self.data.packets(), item.bytes) {
            let arriving = self.data.packets() == 0 || self.stream.bernoulli(self.arriving);
            let Some(last) = (if arriving { None } else { self.data.pop_last() }) else {
                return Verdict::Dropped(TRIMMED);
            };
            discarded.push((last, TRIMMED));
        }
        self.data.push(item);
        Verdict::Accepted
    }

    fn dequeue(&mut self, _now: Time, _discarded: &mut Discarded) -> Option<(Item, bool)> {
        if let Some(header) = self.headers.pop() {
            return Some((header, false));
        }
        let item = self.data.pop()?;
        let marked = self.marks(&item);
        Some((item, marked))
    }

    fn pass(&mut self, priority: u8, bytes: u32) -> bool {
        let limit = if priority == CONTROL_PRIORITY { self.headers_limit } else { self.limit };
        limit.admits(0, 0, bytes)
    }

    #[inline]
    fn next_handle(&self) -> Option<u32> {
        self.headers.first().or_else(|| self.data.first()).map(|item| item.handle)
    }

    fn bytes(&self) -> u64 {
        self.data.bytes() + self.headers.bytes()
    }

    fn packets(&self) -> u64 {
        self.data.packets() + self.headers.packets()
    }

    fn set_stream(&mut self, stream: Stream) {
        self.stream = stream;
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

    fn item(handle: u32, bytes: u32) -> Item {
        Item { handle, bytes, ecn: 2, ..Item::default() }
    }

    fn header(handle: u32) -> Item {
        Item { priority: 7, ..item(handle, 64) }
    }

    fn queue(spec: TrimSpec) -> Trim {
        let mut queue = spec.build(0);
        queue.set_stream(Stream::new(1, "q", "queue"));
        queue
    }

    #[test]
    fn headers_go_first_and_have_their_own_limit() {
        let mut q =
            queue(TrimSpec { limit: Size::Bytes(8000), headers: Some(Size::Bytes(150)), ..TrimSpec::default() });
        let mut out = Vec::new();
        for (item, verdict) in [
            (item(1, 4000), Verdict::Accepted),
            (item(2, 4000), Verdict::Accepted),
            (header(3), Verdict::Accepted),
            (header(4), Verdict::Accepted),
            (header(5), Verdict::Dropped("queue_full")),
        ] {
            assert_eq!(q.enqueue(Time(0), item, &mut out), verdict);
        }
        let order: Vec<u32> =
            std::iter::from_fn(|| q.dequeue(Time(0), &mut out)).map(|(item, _)| item.handle).collect();
        assert_eq!((order, out.len(), q.bytes()), (vec![3, 4, 1, 2], 0, 0));
    }

    /// Half of the time the packet that comes, half of the time the one that came last.
    #[test]
    fn the_arriving_packet_or_the_last_is_trimmed() {
        let mut arrived = 0;
        let mut q = queue(TrimSpec { limit: Size::Packets(2), ..TrimSpec::default() });
        for n in 0..1000 {
            let mut out = Vec::new();
            (0..2).for_each(|i| assert_eq!(q.enqueue(Time(0), item(10 * n + i, 100), &mut out), Verdict::Accepted));
            match q.enqueue(Time(0), item(10 * n + 2, 100), &mut out) {
                Verdict::Dropped(reason) => assert_eq!((reason, out.len(), arrived += 1), (TRIMMED, 0, ())),
                _ => assert_eq!(
                    out.iter().map(|(item, reason)| (item.handle, *reason)).collect::<Vec<_>>(),
                    [(10 * n + 1, TRIMMED)]
                ),
            }
            assert_eq!(q.packets(), 2);
            while q.dequeue(Time(0), &mut out).is_some() {}
        }
        assert!((440..560).contains(&arrived), "{arrived}");
    }

    /// Behind the packet that leaves wait 200 B: half of the way from 100 B to 300 B.
    #[test]
    fn marks_by_what_waits_behind() {
        let spec = TrimSpec { min: Some(Size::Bytes(100)), max: Some(Size::Bytes(300)), ..TrimSpec::default() };
        let share = |waiting: u32| {
            let mut q = queue(TrimSpec { limit: Size::Bytes(1000), ..spec.clone() });
            let mut marks = 0;
            for n in 0..1000 {
                (0..=waiting)
                    .for_each(|i| assert_eq!(q.enqueue(Time(0), item(n + i, 100), &mut Vec::new()), Verdict::Accepted));
                marks += u32::from(q.dequeue(Time(0), &mut Vec::new()).unwrap().1);
                while q.dequeue(Time(0), &mut Vec::new()).is_some() {}
            }
            marks
        };
        assert_eq!([share(0), share(1), share(4)], [0, 0, 1000]);
        assert!((440..560).contains(&share(2)));
    }

    #[test]
    fn problems() {
        let problem = |spec: TrimSpec| spec.problem().map(|p| p.parameter.to_string());
        assert_eq!(problem(TrimSpec::default()), None);
        let [low, high] = [Some(Size::Packets(3)), Some(Size::Packets(9))];
        assert_eq!(problem(TrimSpec { min: low, max: high, ..TrimSpec::default() }), None);
        assert_eq!(problem(TrimSpec { min: high, max: low, ..TrimSpec::default() }).as_deref(), Some("min"));
        assert_eq!(problem(TrimSpec { max: low, ..TrimSpec::default() }).as_deref(), Some("max"));
        assert_eq!(
            problem(TrimSpec { min: low, max: Some(Size::Bytes(9)), ..TrimSpec::default() }).as_deref(),
            Some("min")
        );
        assert_eq!(problem(TrimSpec { trimmed: Bytes(20), ..TrimSpec::default() }).as_deref(), Some("trimmed"));
    }
}
