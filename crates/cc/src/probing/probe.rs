//! A probe: the delays of one train of packets, and whether the path has the rate at which it was sent.

use crate::train::{Arrival, Train};
use elephan_units::{Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A least-squares line, kept as sums relative to the first point.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Line {
    points: u32,
    origin: (f64, f64),
    x: f64,
    y: f64,
    xx: f64,
    xy: f64,
    yy: f64,
}

impl Line {
    pub fn add(&mut self, x: f64, y: f64) {
        if self.points == 0 {
            self.origin = (x, y);
        }
        let (x, y) = (x - self.origin.0, y - self.origin.1);
        self.points += 1;
        self.x += x;
        self.y += y;
        self.xx += x * x;
        self.xy += x * y;
        self.yy += y * y;
    }

    /// Slope and its standard error, which needs three points; nothing without two different `x`.
    pub fn slope(&self) -> Option<(f64, Option<f64>)> {
        let n = f64::from(self.points);
        let xx = self.xx - self.x * self.x / n;
        if self.points < 2 || xx <= 0.0 {
            return None;
        }
        let xy = self.xy - self.x * self.y / n;
        let slope = xy / xx;
        let squares = (self.yy - self.y * self.y / n - slope * xy).max(0.0);
        let error = (self.points > 2).then(|| (squares / (n - 2.0) / xx).sqrt());
        Some((slope, error))
    }
}

/// How the slope of the delays is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Test {
    /// Below the threshold and the standard error.
    Hard,
    /// With the probability that the true slope is below the threshold.
    Prob,
}

/// The numbers of the test.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Judge {
    pub test: Test,
    /// Slope that is still flat.
    pub threshold: f64,
    /// Largest standard error that counts (hard) and smallest (prob).
    pub error_max: f64,
    pub error_min: f64,
    /// Two packets pass with so much of a rise, in seconds.
    pub pair_rise_s: f64,
}

impl Judge {
    /// Whether delays that rise by `line` a packet are flat for packets `gap_s` apart; `uniform` is on [0, 1). A single
    /// packet says nothing.
    pub fn accepts(&self, line: &Line, gap_s: f64, uniform: f64) -> Option<bool> {
        let (rise_s, error_s) = line.slope()?;
        let slope = rise_s / gap_s;
        let Some(error_s) = error_s else {
            return Some(slope <= self.threshold || rise_s < self.pair_rise_s);
        };
        let error = error_s / gap_s;
        Some(match self.test {
            Test::Hard => slope <= self.threshold + error.min(self.error_max),
            Test::Prob => uniform < normal((self.threshold - slope) / error.max(self.error_min)),
        })
    }
}

/// The standard normal distribution function.
fn normal(z: f64) -> f64 {
    0.5 * libm::erfc(-z * std::f64::consts::FRAC_1_SQRT_2)
}

/// A probe that is under way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Probe {
    pub train: Train,
    /// The tested increase, bit/s.
    pub rate_bps: f64,
    /// When it is given up.
    pub deadline: Time,
    came: u32,
    line: Line,
    missing: bool,
}

impl Probe {
    pub fn new(train: Train, rate_bps: f64, deadline: Time) -> Probe {
        Probe { train, rate_bps, deadline, came: 0, line: Line::default(), missing: false }
    }

    /// Takes in what came of any packet. One of the train that is passed by another packet is lost or reordered.
    pub fn add(&mut self, arrival: &Arrival) {
        let d = &arrival.departure;
        if d.train != self.train.id {
            return;
        }
        if d.in_train && d.sent == self.came + 1 {
            self.line.add(f64::from(self.came), arrival.delay_s());
            self.came = d.sent;
        } else if d.sent > self.came {
            self.missing = true;
        }
    }

    /// Only `packets` were sent.
    pub fn cut(&mut self, packets: u32) {
        self.train.packets = packets;
    }

    /// All that is to come has come.
    pub fn is_over(&self) -> bool {
        self.missing || self.came >= self.train.packets
    }

    /// Whether it has succeeded, once it is over; nothing if it says nothing.
    pub fn judge(&self, judge: &Judge, uniform: f64) -> Option<bool> {
        if self.missing {
            return Some(false);
        }
        judge.accepts(&self.line, self.train.gap.seconds(), uniform)
    }
}

/// From the first packet of a train to the last.
pub(crate) fn duration(train: &Train) -> Span {
    train.gap.saturating_mul(u64::from(train.packets.saturating_sub(1)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::Departure;

    fn judge(test: Test) -> Judge {
        Judge { test, threshold: 0.05, error_max: 0.25, error_min: 0.01, pair_rise_s: 1e-3 }
    }

    fn line(delays_ms: &[f64]) -> Line {
        let mut line = Line::default();
        for (n, ms) in delays_ms.iter().enumerate() {
            line.add(n as f64, ms * 1e-3);
        }
        line
    }

    /// By hand: 1, 3, 2 has the slope 1/2, squares of 1.5 and the standard error sqrt(1.5 / 1 / 2) = 0.866.
    #[test]
    fn a_line_by_hand() {
        let (slope, error) = line(&[1.0, 3.0, 2.0]).slope().unwrap();
        assert!((slope * 1e3 - 0.5).abs() < 1e-12 && (error.unwrap() * 1e3 - 0.75_f64.sqrt()).abs() < 1e-12);
        assert_eq!((line(&[1.0]).slope(), line(&[]).slope()), (None, None));
        assert_eq!(line(&[5.0, 5.0]).slope(), Some((0.0, None)));
    }

    /// Gaps of 1 ms. 0, 0.05, 0.1 rises by 0.05 without an error; 0, 0.06, 0.12 by too much. 0, 0.2, 0.2 rises by 0.1 with an
    /// error of sqrt(0.04 / 6 / 2) = 0.058, and 0.1 < 0.05 + 0.058; 0, 0.2, 0.3 by 0.15 with one of 0.029.
    #[test]
    fn the_hard_test_by_hand() {
        let accepts = |delays: &[f64]| judge(Test::Hard).accepts(&line(delays), 1e-3, 0.0).unwrap();
        assert!(accepts(&[9.0, 9.0, 9.0, 9.0, 9.0]) && accepts(&[9.0, 8.0, 7.0]));
        assert!(accepts(&[0.0, 0.049_999, 0.099_998]) && !accepts(&[0.0, 0.06, 0.12]));
        assert!(accepts(&[0.0, 0.2, 0.2]) && !accepts(&[0.0, 0.2, 0.3]));
        // An error of more than 0.25 counts as 0.25: a slope of 0.5 is none.
        assert!(!accepts(&[0.0, 5.0, 1.0]));
        assert_eq!(judge(Test::Hard).accepts(&line(&[1.0]), 1e-3, 0.0), None);
    }

    /// Phi(0) = 0.5 and Phi(-1) = 0.158655; an error below 0.01 counts as 0.01.
    #[test]
    fn the_test_by_chance_has_the_probability_of_a_flat_slope() {
        let accepts = |delays: &[f64], uniform: f64| judge(Test::Prob).accepts(&line(delays), 1e-3, uniform).unwrap();
        let steady = |slope: f64| [0.0, slope, 2.0 * slope];
        assert!(accepts(&steady(0.05), 0.499) && !accepts(&steady(0.05), 0.501));
        assert!(accepts(&steady(0.06), 0.1586) && !accepts(&steady(0.06), 0.1587));
        // Slope 0.1, error 0.057735: Phi(-0.866) = 0.193238.
        assert!(accepts(&[0.0, 0.2, 0.2], 0.1932) && !accepts(&[0.0, 0.2, 0.2], 0.1933));
    }

    /// Two packets have no error: 0.05 of the gap or 1 ms passes.
    #[test]
    fn two_packets() {
        for test in [Test::Hard, Test::Prob] {
            let accepts = |ms: f64, gap_ms: f64| judge(test).accepts(&line(&[0.0, ms]), gap_ms * 1e-3, 0.999).unwrap();
            assert!(accepts(0.9, 10.0) && !accepts(1.1, 10.0) && accepts(1.1, 30.0) && accepts(-5.0, 10.0));
        }
    }

    fn arrival(n: u32, delay_s: f64, in_train: bool) -> Arrival {
        let at = Time::ZERO + Span::from_us(390 * u64::from(n));
        let departure = Departure { at, train: 7, sent: n, in_train, ..Departure::default() };
        Arrival { departure, at: at + Span::from_seconds(delay_s) }
    }

    fn probe() -> Probe {
        Probe::new(Train { packets: 5, gap: Span::from_ns(390_625), id: 7 }, 25.6e6, Time::NEVER)
    }

    /// A fluid queue: 25.6 Mbit/s where 15.2 of 40 are free rise by 8 L (25.6 - 15.2) / (25.6 * 40) = 0.1016 ms a packet, a
    /// slope of 10.4 / 40 = 0.26.
    #[test]
    fn an_overloaded_queue_shows_the_overload() {
        let mut p = probe();
        for n in 1..=5 {
            assert!(!p.is_over());
            p.add(&arrival(n, 0.0125 + 1.015_625e-4 * f64::from(n - 1), true));
        }
        let slope = p.line.slope().unwrap().0 / p.train.gap.seconds();
        assert!((slope - 0.26).abs() < 1e-4, "{slope}");
        assert!(p.is_over() && p.judge(&judge(Test::Hard), 0.0) == Some(false));
    }

    /// A packet that is passed by the next one, or by a base packet after the train, is lost or reordered.
    #[test]
    fn what_is_missing_fails_the_probe() {
        for late in [arrival(3, 0.0125, true), arrival(2, 0.0125, false)] {
            let mut p = probe();
            p.add(&arrival(1, 0.0125, true));
            p.add(&arrival(1, 0.0125, false));
            assert!(!p.is_over());
            p.add(&late);
            assert!(p.is_over() && p.judge(&judge(Test::Prob), 0.0) == Some(false));
        }
        let mut p = probe();
        p.add(&Arrival { departure: Departure { train: 6, ..arrival(9, 0.0, true).departure }, at: Time::ZERO });
        p.cut(1);
        p.add(&arrival(1, 0.0125, true));
        assert!(p.is_over() && p.judge(&judge(Test::Prob), 0.0).is_none());
    }
}
