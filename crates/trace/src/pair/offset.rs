//! How far two clocks are apart, and how fast that changes.
//!
//! The near clock shows t when the far clock shows t + θ(t), with θ(t) = a + b t. A packet that goes there is seen θ + d later by the
//! far clock, one that comes back θ − e earlier, where d and e are its one-way delays:
//!
//! ```text
//! there: y = θ(t) + d ≥ a + b t + d_min        back: y = θ(t) − e ≤ a + b t − e_min
//! ```
//!
//! So the least values of what went there, and the largest of what came back, lie on lines of slope b. The slope of one direction is
//! that of the highest line below (above) its points, the linear program of Moon, Skelly and Towsley, "Estimation and removal of clock
//! skew from network delay measurements" (INFOCOM 1999). Of the two slopes the one counts whose line more points touch: a queue that
//! grows tilts the line of its direction alone. Paxson, "On calibrating measurements of packet transit times" (SIGMETRICS 1998), compares
//! both directions in the same way. With that slope, A = min (y − b t) of what went there and B = max (y − b t) of what came back.
//!
//! Only A − B = d_min + e_min is known, the least round trip. If both are equal, a = (A + B) / 2. Whatever they are, neither is less than
//! 0, so a lies between B and A: the assumption is wrong by half the least round trip at most.

use super::delays::{Delays, Point};

/// No oscillator runs so wrong: 1000 ppm.
const DRIFT_MAX: f64 = 1e-3;
/// Steps of a search that thirds, and one that halves, its interval: both end beyond what a double can hold.
const STEPS: usize = 120;
/// Stretches in which the least delays are looked for, to see how much they vary.
const STRETCHES: usize = 8;

/// A straight line between two clocks. Times in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Offset {
    /// The far clock less the near one in the middle of the time that both have, and when that is by the near clock.
    pub offset: f64,
    pub middle: f64,
    /// How well it is known if the least delays of both directions are equal.
    pub error: f64,
    /// How wrong that assumption can make it: half the least round trip.
    pub bound: f64,
    /// Nanoseconds a nanosecond, and how well that is known.
    pub drift: f64,
    pub drift_error: f64,
}

impl Offset {
    /// The far clock less the near one at `time` by the near clock.
    pub fn at(&self, time: i64) -> f64 {
        self.offset + self.drift * (time as f64 - self.middle)
    }
}

/// What bounds the points of one direction from below; those that came back are turned over.
struct Envelope {
    points: Vec<(f64, f64)>,
    mean: f64,
    span: f64,
}

impl Envelope {
    fn new(points: &[Point], origin: Point, span: f64, sign: f64) -> Envelope {
        let from = |point: &Point| ((point.0 - origin.0) as f64, sign * (point.1 - origin.1) as f64);
        let points: Vec<(f64, f64)> = points.iter().map(from).collect();
        let mean = points.iter().map(|point| point.0).sum::<f64>() / points.len().max(1) as f64;
        Envelope { points, mean, span }
    }

    /// The height at time 0 of the highest line below all points.
    fn height(&self, slope: f64) -> f64 {
        self.points.iter().map(|(t, y)| y - slope * t).fold(f64::INFINITY, f64::min)
    }

    /// The mean height of that line, which is concave in its slope.
    fn mean_height(&self, slope: f64) -> f64 {
        self.height(slope) + slope * self.mean
    }

    fn best(&self) -> f64 {
        let (mut low, mut high) = (-DRIFT_MAX, DRIFT_MAX);
        for _ in 0..STEPS {
            let (a, b) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
            if self.mean_height(a) < self.mean_height(b) { low = a } else { high = b }
        }
        (low + high) / 2.0
    }

    /// The slopes around the best one whose lines are no more than `less` lower.
    fn slopes(&self, best: f64, less: f64) -> [f64; 2] {
        let least = self.mean_height(best) - less;
        [-DRIFT_MAX, DRIFT_MAX].map(|end| {
            let (mut inside, mut outside) = (best, end);
            for _ in 0..STEPS {
                let middle = (inside + outside) / 2.0;
                if self.mean_height(middle) >= least { inside = middle } else { outside = middle }
            }
            inside
        })
    }

    /// How far above the line the least point of a stretch of time is, in the median.
    fn jitter(&self, slope: f64) -> f64 {
        let (mut least, height) = ([f64::INFINITY; STRETCHES], self.height(slope));
        for &(t, y) in &self.points {
            let place = ((t / self.span + 0.5) * STRETCHES as f64).clamp(0.0, STRETCHES as f64 - 1.0) as usize;
            least[place] = least[place].min(y - slope * t - height);
        }
        let mut known: Vec<f64> = least.into_iter().filter(|least| least.is_finite()).collect();
        known.sort_by(f64::total_cmp);
        known.get(known.len() / 2).copied().unwrap_or(0.0)
    }
}

/// The line between two clocks; `tick` is the resolution of their times. Nothing if a direction is missing, or if no line fits.
pub fn offset(there: &Delays, back: &Delays, tick: f64) -> Option<Offset> {
    let there: Vec<Point> = there.cells().map(|cell| cell.least).collect();
    let back: Vec<Point> = back.cells().map(|cell| cell.most).collect();
    if there.is_empty() || back.is_empty() {
        return None;
    }
    let times = || there.iter().chain(&back).map(|point| point.0);
    let (first, last) = (times().min()?, times().max()?);
    let origin = (first + (last - first) / 2, there[0].1);
    let span = ((last - first) as f64).max(1.0);
    let there = Envelope::new(&there, origin, span, 1.0);
    let back = Envelope::new(&back, origin, span, -1.0);
    // The line of the direction whose least delays vary less; of two alike the one of the clocks that differ less.
    let candidates = [(&there, there.best(), 1.0), (&back, back.best(), -1.0)];
    let ranked = candidates.map(|(envelope, slope, sign)| {
        let jitter = envelope.jitter(slope) + tick;
        (envelope, slope, sign, jitter)
    });
    let [one, other] = ranked;
    let is_first = if (one.3 - other.3).abs() <= tick { one.1.abs() <= other.1.abs() } else { one.3 < other.3 };
    let (envelope, slope, sign, jitter) = if is_first { one } else { other };
    let [low, high] = envelope.slopes(slope, jitter);
    let drift = sign * (low + high) / 2.0;
    let heights = |drift: f64| [there.height(drift), -back.height(-drift)];
    let middle = |drift: f64| heights(drift).iter().sum::<f64>() / 2.0;
    let [above, below] = heights(drift);
    (above >= below).then(|| Offset {
        offset: middle(drift) + origin.1 as f64,
        middle: origin.0 as f64,
        error: jitter / 2.0 + (middle(sign * low) - middle(sign * high)).abs() / 2.0,
        bound: (above - below) / 2.0,
        drift,
        drift_error: (high - low) / 2.0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Differences of clocks 5 s and 20 ppm apart. Each tenth packet there and each seventh back finds no queue: 10 ms and 30 ms.
    fn made(seconds: i64) -> (Delays, Delays) {
        let (mut there, mut back) = (Delays::new(None), Delays::new(None));
        for i in 0..seconds * 100 {
            let t = i * 10_000_000;
            let clocks = 5_000_000_000 + t / 50_000;
            there.add((t, clocks + 10_000_000 + if i % 10 == 3 { 0 } else { i % 17 * 1_000_000 }));
            back.add((t, clocks - 30_000_000 - if i % 7 == 5 { 0 } else { i % 13 * 1_000_000 }));
        }
        (there, back)
    }

    #[test]
    fn the_offset_is_wrong_by_half_the_asymmetry_and_the_drift_is_right() {
        let (there, back) = made(100);
        let Some(found) = offset(&there, &back, 1.0) else { panic!("a line fits") };
        // (10 ms − 30 ms) / 2 is what the assumption of equal least delays costs; half of 40 ms bounds it.
        assert!((found.at(0) - (5e9 - 10e6)).abs() < 10.0, "{found:?}");
        assert!((found.drift - 20e-6).abs() <= found.drift_error && found.drift_error < 1e-9, "{found:?}");
        assert!((found.bound - 20e6).abs() < 10.0 && found.error < 10.0, "{found:?}");
    }

    /// The first packet there is 0.6 ms faster than all others, as a SYN is: what came back says that the clocks do not drift.
    #[test]
    fn one_fast_packet_is_no_drift() {
        let (mut there, mut back) = (Delays::new(None), Delays::new(None));
        for i in 0..400 {
            let t = i * 10_000_000;
            there.add((t, 10_000_000 + if i == 0 { 0 } else { 600_000 }));
            back.add((t, -30_000_000));
        }
        let Some(found) = offset(&there, &back, 1.0) else { panic!("a line fits") };
        assert!((found.offset + 10e6).abs() < 10.0 && found.drift.abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn clocks_that_no_line_joins_have_no_offset() {
        let (mut there, mut back) = made(10);
        there.add((11_000_000_000, 4_000_000_000));
        back.add((5_000_000_000, 6_000_000_000));
        assert_eq!(offset(&there, &back, 1.0), None);
        assert_eq!(offset(&there, &Delays::new(None), 1.0), None, "one direction");
    }
}
