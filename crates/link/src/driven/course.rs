//! Values over time, and a port whose rate follows them.

use std::sync::Arc;

use elephan_units::{PS_PER_S, Span, Time};

use super::words::{After, Between};

/// Values at instants. The first is at 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Course {
    /// Picoseconds, increasing.
    times: Vec<u64>,
    values: Vec<f64>,
    /// Integral from 0 to each instant, in value times seconds.
    integrals: Vec<f64>,
    after: After,
    between: Between,
}

fn seconds(ps: u64) -> f64 {
    ps as f64 / PS_PER_S as f64
}

impl Course {
    /// Returns a course; what the first value says holds from 0 on.
    pub(super) fn new(mut times: Vec<u64>, mut values: Vec<f64>, after: After, between: Between) -> Course {
        if times.first().is_some_and(|&first| first > 0) {
            times.insert(0, 0);
            values.insert(0, values[0]);
        }
        // A single instant has nothing to repeat.
        let after = if times.len() < 2 && after == After::Repeat { After::Hold } else { after };
        let mut course = Course { integrals: vec![0.0; times.len()], times, values, after, between };
        for i in 1..course.times.len() {
            course.integrals[i] = course.integrals[i - 1] + course.within(i - 1, course.times[i] - course.times[i - 1]);
        }
        course
    }

    fn last(&self) -> usize {
        self.times.len() - 1
    }

    fn period(&self) -> u64 {
        self.times[self.last()]
    }

    fn total(&self) -> f64 {
        self.integrals[self.last()]
    }

    /// By how much the value rises in a second after an instant.
    fn slope(&self, place: usize) -> f64 {
        match self.between {
            Between::Linear if place < self.last() => {
                (self.values[place + 1] - self.values[place]) / seconds(self.times[place + 1] - self.times[place])
            }
            _ => 0.0,
        }
    }

    /// The integral over the first `ps` after an instant, before the next one.
    fn within(&self, place: usize, ps: u64) -> f64 {
        let time = seconds(ps);
        time * (self.values[place] + self.slope(place) * time / 2.0)
    }

    /// The pass that an instant is in, and how long after its begin it is.
    fn pass(&self, time: Time) -> (u64, u64) {
        match self.after {
            After::Repeat => (time.0 / self.period(), time.0 % self.period()),
            After::Hold | After::End => (0, time.0),
        }
    }

    fn place(&self, ps: u64) -> usize {
        self.times.partition_point(|&at| at <= ps).saturating_sub(1)
    }

    /// Returns the value at an instant.
    pub fn at(&self, time: Time) -> f64 {
        let (_, ps) = self.pass(time);
        let place = self.place(ps);
        self.values[place] + self.slope(place) * seconds(ps - self.times[place])
    }

    /// Returns the value at an instant as a time; the values are seconds.
    pub fn span_at(&self, time: Time) -> Span {
        Span((self.at(time) * PS_PER_S as f64).round() as u64)
    }

    /// Returns the integral from 0 to an instant.
    pub fn integral(&self, time: Time) -> f64 {
        let (pass, ps) = self.pass(time);
        let ended = self.after == After::End && ps > self.period();
        let ps = if ended { self.period() } else { ps };
        let place = self.place(ps);
        pass as f64 * self.total() + self.integrals[place] + self.within(place, ps - self.times[place])
    }

    /// Returns the mean over one pass, or the value of a course with one instant.
    pub fn mean(&self) -> f64 {
        if self.period() == 0 { self.values[0] } else { self.total() / seconds(self.period()) }
    }

    /// Returns the first instant at which the integral has reached a value above 0, if it ever does.
    fn when(&self, integral: f64) -> Option<Time> {
        let total = self.total();
        if self.after == After::Repeat {
            if total <= 0.0 {
                return None;
            }
            // The end of a pass belongs to it: what it may have after its last bit is nothing.
            let pass = ((integral / total).ceil() - 1.0).max(0.0);
            let ps = self.within_pass((integral - pass * total).clamp(0.0, total));
            return Some(Time((pass as u64).saturating_mul(self.period()).saturating_add(ps)));
        }
        if integral <= total {
            return Some(Time(self.within_pass(integral)));
        }
        let rate = self.values[self.last()];
        if self.after == After::End || rate <= 0.0 {
            return None;
        }
        Some(Time(self.period().saturating_add(picoseconds((integral - total) / rate))))
    }

    /// When, after the begin of a pass, the integral has reached a value within the pass.
    fn within_pass(&self, integral: f64) -> u64 {
        let place = self.integrals.partition_point(|&upto| upto < integral).saturating_sub(1).min(self.last());
        let (rest, rate, slope) = (integral - self.integrals[place], self.values[place], self.slope(place));
        if rest <= 0.0 {
            return self.times[place];
        }
        // The root of slope/2 t^2 + rate t = rest that does not lose digits.
        let root = (rate * rate + 2.0 * slope * rest).max(0.0).sqrt();
        let end = self.times.get(place + 1).copied().unwrap_or(u64::MAX);
        self.times[place].saturating_add(picoseconds(2.0 * rest / (rate + root))).min(end)
    }
}

/// Picoseconds, to the next whole one; a whole number that a rounding has just missed stays.
fn picoseconds(seconds: f64) -> u64 {
    (seconds * PS_PER_S as f64 - 1e-3).ceil().max(0.0) as u64
}

/// A port's place in the course of its rate.
#[derive(Clone, Debug)]
pub(super) struct OfCourse {
    of: Arc<Course>,
    /// Bits that the link could have carried until the end of the last frame.
    carried: f64,
    idle: bool,
    never: Time,
}

impl OfCourse {
    pub fn new(of: Arc<Course>, never: Time) -> OfCourse {
        OfCourse { of, carried: 0.0, idle: true, never }
    }

    pub fn send(&mut self, start: Time, bytes: u32) -> Time {
        if std::mem::take(&mut self.idle) {
            self.carried = self.of.integral(start);
        }
        self.carried += 8.0 * f64::from(bytes);
        self.of.when(self.carried).map_or(self.never, |end| end.clamp(start, self.never))
    }

    pub fn idle(&mut self) {
        self.idle = true;
    }
}
