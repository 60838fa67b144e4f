//! A series of bounded length: intervals of equal width that double when there are too many.
//!
//! A silence takes the place of one interval, however long it is, so an idle hour leaves the resolution of what came before it as
//! it was.

/// Intervals of a series, at most.
const BINS_MAX: usize = 2048;
/// Width at first: 1 ms.
const WIDTH_NS: u64 = 1_000_000;
/// Intervals of a given width, at most.
const GIVEN_MAX: usize = 1 << 20;

/// What happened in an interval, and the state at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bin {
    pub octets: u64,
    pub again: u64,
    pub inflight_max: u64,
    pub state: State,
    rtt_sum: u64,
    rtt_min: u64,
    rtt_count: u32,
    pub dup_acks: u32,
    pub burst_max: u32,
}

/// What a direction has come to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct State {
    pub sent: u64,
    pub acked: u64,
    pub window: u64,
}

impl Bin {
    /// Nothing has happened in it yet.
    fn after(state: State) -> Bin {
        Bin {
            octets: 0,
            again: 0,
            inflight_max: state.sent.saturating_sub(state.acked),
            state,
            rtt_sum: 0,
            rtt_min: u64::MAX,
            rtt_count: 0,
            dup_acks: 0,
            burst_max: 0,
        }
    }

    /// What this one and the one after it are together.
    fn with(self, next: Bin) -> Bin {
        Bin {
            octets: self.octets + next.octets,
            again: self.again + next.again,
            inflight_max: self.inflight_max.max(next.inflight_max),
            state: next.state,
            rtt_sum: self.rtt_sum + next.rtt_sum,
            rtt_min: self.rtt_min.min(next.rtt_min),
            rtt_count: self.rtt_count + next.rtt_count,
            dup_acks: self.dup_acks + next.dup_acks,
            burst_max: self.burst_max.max(next.burst_max),
        }
    }

    pub fn add_rtt(&mut self, rtt: u64) {
        self.rtt_count += 1;
        self.rtt_sum += rtt;
        self.rtt_min = self.rtt_min.min(rtt);
    }

    /// Least and mean of the round-trip times sampled in it.
    pub fn rtts(&self) -> Option<(u64, u64)> {
        (self.rtt_count > 0).then(|| (self.rtt_min, self.rtt_sum / u64::from(self.rtt_count)))
    }
}

/// The intervals of one direction.
#[derive(Clone, Debug)]
pub struct Bins {
    origin: u64,
    width: u64,
    most: usize,
    /// Intervals in which something happened, by their place from the origin on.
    bins: Vec<(u64, Bin)>,
    /// Silences between them.
    silences: usize,
}

impl Bins {
    /// From `now` on; `every` is the width if it is given.
    pub fn new(now: u64, every: Option<u64>) -> Bins {
        let width = every.unwrap_or(WIDTH_NS).max(1);
        let most = if every.is_some() { GIVEN_MAX } else { BINS_MAX };
        Bins { origin: now - now % width, width, most, bins: Vec::new(), silences: 0 }
    }

    /// The interval of `now`, which never runs backwards.
    pub fn at(&mut self, now: u64) -> &mut Bin {
        let place = now.saturating_sub(self.origin) / self.width;
        if self.bins.last().is_none_or(|(last, _)| place > *last) {
            if !self.has_room(place) {
                self.double();
                return self.at(now);
            }
            self.push(place);
        }
        let last = self.bins.len() - 1;
        &mut self.bins[last].1
    }

    /// Whether the rows stay few enough with an interval at `place`.
    fn has_room(&self, place: u64) -> bool {
        let silent = self.bins.last().is_some_and(|(last, _)| place > last + 1);
        place < self.most as u64 || self.bins.len() + self.silences + 1 + usize::from(silent) <= self.most
    }

    #[inline(never)]
    fn push(&mut self, place: u64) {
        let state = self.bins.last().map_or(State::default(), |(_, bin)| bin.state);
        self.silences += usize::from(self.bins.last().is_some_and(|(last, _)| place > last + 1));
        self.bins.push((place, Bin::after(state)));
    }

    #[inline(never)]
    fn double(&mut self) {
        // Pairs begin at multiples of the new width.
        let before = self.origin / self.width;
        self.width *= 2;
        self.origin -= self.origin % self.width;
        let shift = before % 2;
        let mut kept = 0;
        for i in 0..self.bins.len() {
            let (place, bin) = self.bins[i];
            let place = (place + shift) / 2;
            if kept > 0 && self.bins[kept - 1].0 == place {
                self.bins[kept - 1].1 = self.bins[kept - 1].1.with(bin);
            } else {
                self.bins[kept] = (place, bin);
                kept += 1;
            }
        }
        self.bins.truncate(kept);
        self.silences = self.bins.windows(2).filter(|pair| pair[1].0 > pair[0].0 + 1).count();
    }

    /// The end of each interval, its length, and what it holds. A silence is as many intervals as it takes while there are few
    /// enough of them, else a single long one.
    pub fn rows(&self) -> impl Iterator<Item = (u64, u64, Bin)> {
        let whole = self.bins.last().is_none_or(|(place, _)| *place < self.most as u64);
        let begin = if whole { 0 } else { self.bins.first().map_or(0, |(place, _)| *place) };
        let (mut next, mut state) = (begin, State::default());
        self.bins
            .iter()
            .flat_map(move |&(place, bin)| {
                let silence = place - next;
                let (pieces, length) = if whole { (silence, 1) } else { (u64::from(silence > 0), silence) };
                let (from, quiet) = (next, Bin::after(state));
                (next, state) = (place + 1, bin.state);
                let silent = (1..=pieces).map(move |piece| (from + piece * length, length, quiet));
                silent.chain([(place + 1, 1, bin)])
            })
            .map(|(end, length, bin)| (self.origin + end * self.width, length * self.width, bin))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_lost_when_bins_double() {
        let mut bins = Bins::new(5_500_000, None);
        for i in 0..100_000u64 {
            let bin = bins.at(5_500_000 + i * 1_000_000);
            bin.octets += i;
            bin.state.sent = i;
        }
        let rows: Vec<_> = bins.rows().collect();
        assert!(rows.len() <= BINS_MAX && rows.len() > BINS_MAX / 2, "{}", rows.len());
        assert_eq!(rows.iter().map(|(_, _, bin)| bin.octets).sum::<u64>(), 100_000 * 99_999 / 2);
        // 100 s in bins of 64 ms; each bin's octets are those of its own time.
        assert_eq!(rows[1].1, 64_000_000);
        for &(end, width, bin) in &rows[1..rows.len() - 1] {
            assert_eq!(end % width, 0);
            let first = (end - width - 5_000_000) / 1_000_000;
            assert_eq!(bin.octets, (first..first + 64).sum::<u64>(), "{end}");
            assert_eq!(bin.state.sent, first + 63);
        }
    }

    #[test]
    fn time_that_passes_in_silence_keeps_the_state() {
        let mut bins = Bins::new(0, Some(1000));
        bins.at(500).state = State { sent: 9, acked: 4, window: 7 };
        bins.at(3500).octets = 1;
        let rows: Vec<_> = bins.rows().collect();
        assert_eq!(rows.iter().map(|row| row.0).collect::<Vec<_>>(), [1000, 2000, 3000, 4000]);
        assert!(rows.iter().all(|row| row.2.state == State { sent: 9, acked: 4, window: 7 }));
        assert_eq!((rows[2].2.inflight_max, rows[2].2.octets), (5, 0));
    }

    #[test]
    fn an_idle_hour_takes_one_interval() {
        let mut bins = Bins::new(0, None);
        for i in 0..1000u64 {
            bins.at(i * 10_000_000).octets = 1;
        }
        bins.at(1_000_000 * 3_600_000).octets = 1;
        let rows: Vec<_> = bins.rows().collect();
        assert!(rows.len() <= BINS_MAX, "{}", rows.len());
        assert_eq!(rows.iter().map(|row| row.2.octets).sum::<u64>(), 1001);
        assert_eq!(rows[0].1, 1_000_000, "the resolution is that of the first ten seconds");
        let [.., before, silence, last] = rows.as_slice() else { panic!("{}", rows.len()) };
        assert_eq!((silence.1, silence.2.octets), (3_600_000_000_000 - 9_991_000_000, 0));
        assert_eq!((before.0 + silence.1, silence.0 + last.1), (silence.0, last.0), "rows follow each other");
    }
}
