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
