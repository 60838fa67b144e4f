//! What packets of one direction took between two places, in intervals of bounded number.
//!
//! A time here is the difference of two clocks: it becomes a delay when their offset is known.

use std::collections::BTreeMap;

use super::sketch::mix;

/// Intervals, at most, and their width at first: 1 ms.
const CELLS_MAX: usize = 2048;
const WIDTH_NS: i64 = 1_000_000;
/// Differences of an interval that are kept for its median.
const SAMPLE: usize = 32;

/// A difference, and when it was seen.
pub type Point = (i64, i64);

/// An interval.
#[derive(Clone, Debug)]
pub struct Cell {
    pub count: u64,
    pub least: Point,
    pub most: Point,
    sample: Vec<Point>,
}

impl Cell {
    fn take(&mut self, point: Point) {
        self.count += 1;
        self.least = std::cmp::min_by_key(self.least, point, |point| point.1);
        self.most = std::cmp::max_by_key(self.most, point, |point| point.1);
        // Each of `count` differences is kept with the same probability (Vitter's algorithm R).
        let place = (mix(self.count, point.0 as u64) % self.count) as usize;
        if self.sample.len() < SAMPLE {
            self.sample.push(point);
        } else if let Some(kept) = self.sample.get_mut(place) {
            *kept = point;
        }
    }

    fn join(&mut self, next: Cell) {
        let own = (SAMPLE as u64 * self.count).div_ceil(self.count + next.count) as usize;
        if self.sample.len() + next.sample.len() > SAMPLE {
            self.sample.truncate(own);
        }
        self.sample.extend(next.sample.into_iter().take(SAMPLE - self.sample.len().min(SAMPLE)));
        self.count += next.count;
        self.least = std::cmp::min_by_key(self.least, next.least, |point| point.1);
        self.most = std::cmp::max_by_key(self.most, next.most, |point| point.1);
    }

    /// Differences of the sample, each with how many it stands for.
    pub fn sample(&self) -> impl Iterator<Item = (Point, f64)> {
        let weight = self.count as f64 / self.sample.len() as f64;
        self.sample.iter().map(move |point| (*point, weight))
    }
}

/// The intervals of one direction.
#[derive(Clone, Debug)]
pub struct Delays {
    width: i64,
    cells: BTreeMap<i64, Cell>,
}

impl Delays {
    /// `every`: the width of an interval, if it is given.
    pub fn new(every: Option<u64>) -> Delays {
        Delays { width: every.map_or(WIDTH_NS, |every| every.max(1) as i64), cells: BTreeMap::new() }
    }

    pub fn add(&mut self, point: Point) {
        let place = point.0.div_euclid(self.width);
        let empty = Cell { count: 0, least: point, most: point, sample: Vec::new() };
        self.cells.entry(place).or_insert(empty).take(point);
        if self.cells.len() > CELLS_MAX {
            self.width *= 2;
            let before = std::mem::take(&mut self.cells);
            for (place, cell) in before {
                match self.cells.entry(place.div_euclid(2)) {
                    std::collections::btree_map::Entry::Occupied(mut kept) => kept.get_mut().join(cell),
                    std::collections::btree_map::Entry::Vacant(free) => drop(free.insert(cell)),
                }
            }
        }
    }

    pub fn cells(&self) -> impl Iterator<Item = &Cell> {
        self.cells.values()
    }

    /// The end of each interval, its length, and what is in it.
    pub fn rows(&self) -> impl Iterator<Item = (i64, i64, &Cell)> {
        self.cells.iter().map(|(place, cell)| ((place + 1) * self.width, self.width, cell))
    }

    pub fn count(&self) -> u64 {
        self.cells.values().map(|cell| cell.count).sum()
    }

    /// The extreme differences of the last `span` nanoseconds.
    pub fn recent(&self, span: i64) -> Option<(i64, i64)> {
        let (last, _) = self.cells.last_key_value()?;
        let from = last - span / self.width;
        let cells = self.cells.range(from..).map(|(_, cell)| (cell.least.1, cell.most.1));
        cells.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
    }
}
