//! A series of bounded length: bins of equal width that double when there are too many.

/// Bins of a series, at most.
const BINS_MAX: usize = 2048;
/// Width at first: 1 ms.
const WIDTH_NS: u64 = 1_000_000;
/// Bins of a given width, at most.
const GIVEN_MAX: usize = 1 << 20;

/// What happened in a bin, and the state at its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bin {
    pub octets: u64,
    pub again: u64,
    pub dup_acks: u64,
    pub burst_max: u64,
    pub rtt_sum: u64,
    pub rtt_count: u64,
    pub rtt_min: Option<u64>,
    pub inflight_max: u64,
    pub state: State,
}

/// What a direction has come to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct State {
    pub sent: u64,
    pub acked: u64,
    pub window: u64,
}

impl Bin {
    /// What this bin and the one after it are together.
    fn with(self, next: Bin) -> Bin {
        Bin {
            octets: self.octets + next.octets,
            again: self.again + next.again,
            dup_acks: self.dup_acks + next.dup_acks,
            burst_max: self.burst_max.max(next.burst_max),
            rtt_sum: self.rtt_sum + next.rtt_sum,
            rtt_count: self.rtt_count + next.rtt_count,
            rtt_min: [self.rtt_min, next.rtt_min].into_iter().flatten().min(),
            inflight_max: self.inflight_max.max(next.inflight_max),
            state: next.state,
        }
    }
}

/// The bins of one direction.
#[derive(Clone, Debug)]
pub struct Bins {
    origin: u64,
    width: u64,
    most: usize,
    bins: Vec<Bin>,
}

impl Bins {
    /// From `now` on; `every` is the width if it is given.
    pub fn new(now: u64, every: Option<u64>) -> Bins {
        let width = every.unwrap_or(WIDTH_NS).max(1);
        let most = if every.is_some() { GIVEN_MAX } else { BINS_MAX };
        Bins { origin: now - now % width, width, most, bins: Vec::new() }
    }

    /// The bin of `now`, which never runs backwards by more than the series is long; bins in between have the state of the last.
    pub fn at(&mut self, now: u64) -> &mut Bin {
        let mut place = (now.saturating_sub(self.origin) / self.width) as usize;
        while place >= self.most {
            self.double();
            place = (now.saturating_sub(self.origin) / self.width) as usize;
        }
        if place >= self.bins.len() {
            let state = self.bins.last().map_or(State::default(), |bin| bin.state);
            let inflight_max = state.sent.saturating_sub(state.acked);
            self.bins.resize(place + 1, Bin { state, inflight_max, ..Bin::default() });
        }
        &mut self.bins[place]
    }

    fn double(&mut self) {
        // Pairs begin at multiples of the new width.
        let odd = !(self.origin / self.width).is_multiple_of(2);
        self.width *= 2;
        self.origin -= self.origin % self.width;
        let mut merged = Vec::with_capacity(self.bins.len() / 2 + 1);
        let mut bins = self.bins.drain(..);
        if odd {
            merged.extend(bins.next());
        }
        while let Some(first) = bins.next() {
            merged.push(bins.next().map_or(first, |second| first.with(second)));
        }
        drop(bins);
        self.bins = merged;
    }

    /// The end of each bin, its width, and what it holds.
    pub fn rows(&self) -> impl Iterator<Item = (u64, u64, &Bin)> {
        self.bins.iter().enumerate().map(|(i, bin)| (self.origin + (i as u64 + 1) * self.width, self.width, bin))
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
}
