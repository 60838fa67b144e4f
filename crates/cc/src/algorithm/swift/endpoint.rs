//! Swift's two windows (Kumar et al. 2020, section 3.3): one for the delay of the fabric, one for that of the end hosts.
//!
//! Both follow algorithm 1, each with a delay and a target of its own, and the smaller one holds:
//!
//! ```text
//! endpoint delay = what the receiver's host held the segment + what the sender's host held the ACK
//! fabric:    delay = RTT - endpoint delay,                                     target scaled by hops and window
//! endpoint:  delay = (1 - weight) delay + weight (endpoint delay),             target = endpoint_target
//! cwnd = min(fcwnd, ecwnd);    neither is above CEILING times the smaller
//! ```

use elephan_units::{Span, Time};

/// How many times the smaller window the other may be \[assumed: the paper has a ceiling and no number].
const CEILING: f64 = 2.0;

/// Both windows and what they follow.
#[derive(Clone, Debug)]
pub(super) struct Windows {
    target_s: f64,
    weight: f64,
    /// The last delay of the end hosts, until an ACK takes it; and the moving mean of them.
    last: Option<Span>,
    pub(super) mean_s: Option<f64>,
    /// The windows in segments, the fabric's first; 0 before the first event.
    pub(super) sizes: [f64; 2],
    /// What they were before the last event.
    prior: [f64; 2],
    rests_until: [Time; 2],
}

/// What one ACK says.
pub(super) struct Seen {
    pub now: Time,
    /// Segments acknowledged; 0 if the window may not grow.
    pub acked: f64,
    pub rtt: Span,
    /// Seconds.
    pub fabric_target: f64,
}

/// What a delay does to a window of so many segments: the growth of an ACK below the target, or the share that is left above it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    pub ai: f64,
    pub beta: f64,
    pub max_mdf: f64,
    pub least: f64,
}

impl Rules {
    pub(super) fn left(&self, delay: f64, target: f64) -> f64 {
        (1.0 - self.beta * (delay - target) / delay).max(1.0 - self.max_mdf)
    }

    fn grown(&self, segments: f64, acked: f64) -> f64 {
        match segments < 1.0 {
            true => (segments + self.ai * acked).min(2.0),
            false => segments + (self.ai * acked / segments).min(acked),
        }
    }
}

impl Windows {
    pub(super) fn new(target: Span, weight: f64) -> Windows {
        let (sizes, rests_until) = ([0.0; 2], [Time::ZERO; 2]);
        Windows { target_s: target.seconds(), weight, last: None, mean_s: None, sizes, prior: sizes, rests_until }
    }

    pub(super) fn on_endpoint_delay(&mut self, delay: Span) {
        let mean = self.mean_s.get_or_insert(delay.seconds());
        *mean += self.weight * (delay.seconds() - *mean);
        self.last = Some(delay);
    }

    /// Sets both windows.
    pub(super) fn both(&mut self, segments: f64) {
        self.sizes = [segments; 2];
    }

    /// Sets both windows to that of the sender if it is in slow start, or at the first event.
    pub(super) fn join(&mut self, segments: f64, in_slow_start: bool) {
        if in_slow_start || self.sizes[0] == 0.0 {
            self.both(segments);
        }
    }

    /// An event begins, which may be undone.
    pub(super) fn keep(&mut self) {
        self.prior = self.sizes;
    }

    /// The last event is undone.
    pub(super) fn undo(&mut self) {
        self.sizes = self.prior;
    }

    /// What is left of the round-trip time for the fabric, in seconds, and whether a delay is at its target or above.
    pub(super) fn delays(&mut self, seen: &Seen) -> ([f64; 2], [f64; 2], bool) {
        let held = self.last.take().unwrap_or(Span::ZERO).seconds();
        let delays = [(seen.rtt.seconds() - held).max(1e-9), self.mean_s.unwrap_or(0.0)];
        let targets = [seen.fabric_target, self.target_s];
        (delays, targets, delays[0] >= targets[0] || delays[1] >= targets[1])
    }

    /// Grows or cuts each window by its delay. Returns the smaller one.
    pub(super) fn follow(&mut self, rules: &Rules, seen: &Seen, (delays, targets): ([f64; 2], [f64; 2])) -> f64 {
        for i in 0..2 {
            if delays[i] < targets[i] {
                self.sizes[i] = rules.grown(self.sizes[i], seen.acked);
            } else {
                self.cut(i, rules, (seen.now, seen.rtt), rules.left(delays[i], targets[i]));
            }
        }
        self.smaller()
    }

    /// Leaves a share of both windows. Returns the smaller one.
    pub(super) fn cut_both(&mut self, rules: &Rules, at: (Time, Span), share: f64) -> f64 {
        (0..2).for_each(|i| self.cut(i, rules, at, share));
        self.smaller()
    }

    /// Leaves a share of a window, once a round trip.
    fn cut(&mut self, i: usize, rules: &Rules, (now, rtt): (Time, Span), share: f64) {
        if now >= self.rests_until[i] {
            self.sizes[i] = (self.sizes[i] * share).max(rules.least);
            self.rests_until[i] = now.saturating_add(if rtt == Span::MAX { Span::ZERO } else { rtt });
        }
    }

    fn smaller(&mut self) -> f64 {
        let least = self.sizes[0].min(self.sizes[1]);
        self.sizes = self.sizes.map(|size| size.min(CEILING * least));
        least
    }
}
