//! Stretches of time with one owner each, of bounded number: when there are too many, short ones join.

use crate::division::Owner;

/// Stretches that are kept, at most.
const MOST: usize = 512;
/// The least grain to which they are joined: 1 ms.
const GRAIN_NS: u64 = 1_000_000;

/// A stretch of time: begin, end, owner.
pub type Stretch = (u64, u64, Owner);

/// Stretches that follow each other.
#[derive(Clone, Debug, Default)]
pub struct Stretches {
    kept: Vec<Stretch>,
    grain: u64,
}

impl Stretches {
    /// Time from `begin` to `end`, which follows what was added before.
    pub fn add(&mut self, begin: u64, end: u64, owner: Owner) {
        if let Some(last) = self.kept.last_mut().filter(|last| last.2 == owner) {
            last.1 = end;
            return;
        }
        self.kept.push((begin, end, owner));
        if self.kept.len() >= MOST {
            self.join();
        }
    }

    /// What is `from`'s between two times is `to`'s.
    pub fn rename(&mut self, (since, until): (u64, u64), from: Owner, to: Owner) {
        let first = self.kept.partition_point(|stretch| stretch.1 <= since);
        for (begin, end, owner) in self.kept.split_off(first) {
            let (low, high) = (since.clamp(begin, end), until.clamp(begin, end));
            for (begin, end, is_within) in [(begin, low, false), (low, high, true), (high, end, false)] {
                if begin < end {
                    self.add(begin, end, if is_within && owner == from { to } else { owner });
                }
            }
        }
    }

    /// Nothing counts that came after `end`.
    pub fn finish(&mut self, end: u64) {
        self.kept.retain(|stretch| stretch.0 < end);
        if let Some(last) = self.kept.last_mut() {
            last.1 = last.1.min(end);
        }
    }

    pub fn all(&self) -> &[Stretch] {
        &self.kept
    }

    /// The time of `owner` between `begin` and `end`.
    pub fn within(&self, owner: Owner, begin: u64, end: u64) -> u64 {
        let own = self.kept.iter().filter(|stretch| stretch.2 == owner);
        own.map(|stretch| stretch.1.min(end).saturating_sub(stretch.0.max(begin))).sum()
    }

    #[inline(never)]
    fn join(&mut self) {
        // The present grain first: it becomes coarser only where that does not do.
        self.grain = self.grain.max(GRAIN_NS);
        loop {
            self.kept = joined(&self.kept, self.grain);
            if self.kept.len() <= MOST / 2 {
                return;
            }
            self.grain = self.grain.saturating_mul(2);
        }
    }
}

/// Each cell of `grain` nanoseconds gets the owner of most of its time; what is longer than a cell stays as it is.
fn joined(kept: &[Stretch], grain: u64) -> Vec<Stretch> {
    let mut found: Vec<Stretch> = Vec::new();
    let mut put = |begin: u64, end: u64, owner: Owner| match found.last_mut() {
        _ if begin >= end => {}
        Some(last) if last.2 == owner => last.1 = end,
        _ => found.push((begin, end, owner)),
    };
    // The cell under construction: where it begins, and what its time was.
    let mut cell: Option<(u64, [u64; 8])> = None;
    let mut close = |cell: &mut Option<(u64, [u64; 8])>, end: u64| {
        if let Some((begin, times)) = cell.take() {
            let most = Owner::ALL.into_iter().max_by_key(|&owner| times[owner as usize]);
            put(begin, end, most.unwrap_or(Owner::Unknown));
        }
    };
    for &(begin, end, owner) in kept {
        if end - begin >= grain {
            close(&mut cell, begin);
            let mut times = [0; 8];
            times[owner as usize] = end - begin;
            cell = Some((begin, times));
            close(&mut cell, end);
            continue;
        }
        let (from, times) = cell.get_or_insert((begin, [0; 8]));
        times[owner as usize] += end - begin;
        if end - *from >= grain {
            close(&mut cell, end);
        }
    }
    if let Some(&(_, end, _)) = kept.last() {
        close(&mut cell, end);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_time_is_lost_when_stretches_join() {
        let mut stretches = Stretches::default();
        for i in 0..100_000u64 {
            stretches.add(i * 10_000, i * 10_000 + 7000, Owner::Path);
            stretches.add(i * 10_000 + 7000, (i + 1) * 10_000, Owner::Application);
        }
        stretches.add(1_000_000_000, 9_000_000_000, Owner::Timer);
        for i in 900_000..1_000_000u64 {
            stretches.add(i * 10_000, i * 10_000 + 7000, Owner::Path);
            stretches.add(i * 10_000 + 7000, (i + 1) * 10_000, Owner::Application);
        }
        let all = stretches.all();
        assert!(all.len() <= MOST, "{}", all.len());
        assert!(all.windows(2).all(|pair| pair[0].1 == pair[1].0 && pair[0].2 != pair[1].2));
        // 70 % of the first and of the last second is the path's, and the eight seconds between them stay as they are. Up to
        // half of what is kept came after the last join.
        assert_eq!(all.first(), Some(&(0, 1_000_000_000, Owner::Path)));
        assert!(all.contains(&(1_000_000_000, 9_000_000_000, Owner::Timer)));
        let after = all.iter().find(|stretch| stretch.0 == 9_000_000_000).copied();
        assert!(after.is_some_and(|(_, end, owner)| owner == Owner::Path && end >= 9_997_000_000), "{after:?}");
        assert_eq!(all.last().map(|stretch| stretch.1), Some(10_000_000_000));
    }
}
