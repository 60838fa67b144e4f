//! Quantized Congestion Notification (IEEE 802.1Qau-2010), and as simulated in 2007 while it was a proposal.
//!
//! Congestion point, one for each egress queue: of the frames that come to it one in some 150 kB is sampled, more often the
//! more congested the queue was. With q the queue at this sample, q_old at the last, both in pages:
//!
//! ```text
//! Fb  = -((q - Qeq) + W (q - q_old)),  within [-(1 + 2 W) Qeq, 0]
//! qFb = min(63, floor(|Fb| 64 / ((1 + 2 W) Qeq)))          a notification with qFb goes to the frame's source if qFb > 0
//! next sample after U(1 - j, 1 + j) base(qFb) bytes:       150 000 / (i + 1) for qFb in [8 i, 8 i + 7], rounded (table), or
//!                                                          1500 / p, p from 1 to 10 % with qFb (probability, 2007)
//! ```
//!
//! Reaction point, one for each flow of a source: current rate CR, target rate TR, cycles of bytes and of a timer.
//!
//! ```text
//! notification: TR = CR, unless no cycle of bytes has ended since the last one;  CR = max(Rmin, CR max(1 - d, 1 - Gd qFb))
//! end of a cycle (BC bytes sent, or a time T): CR = (CR + TR) / 2 after
//!     TR = TR / 8                 in the first cycle, if TR > 10 CR
//!     TR += R_HAI (lo - F)        both counters past F cycles (hyper-active increase; lo is the smaller)
//!     TR += R_AI                  one of them (active increase; cycles are half as long)
//!     TR stays                    else (fast recovery)
//! drift (2007): every period CR *= 1.0005
//! ```
//!
//! TR may pass the line rate C, CR may not; the limiter is gone when CR is C. Without a timer its counter stays at 0, so that there is
//! no hyper-active increase. `hyper_active_span` counts time and frames instead \[assumed: the rule of 2007 was not found].
//!
//! Sources: 802.1Qau-2010's managed objects for the defaults; "TCP scenarios with QCN/ECM" (Geisler and Wadekar, IEEE 802.1,
//! November 2007) for those of `seed-2007`, whose Qeq of 409 is 26 176 bytes in pages of 64 \[assumed]; the order of steps
//! follows Tam's ns-3 model (2009, after pseudo-code 2.2). Published readings differ where [`Qcn`] has a switch.

mod parameters;

pub use parameters::{HalfCycles, Qcn, Sampling};

use elephan_random::Stream;
use elephan_units::{Rate, Span, Time};

use super::{FEEDBACK_MAX, jittered, six_bits};

/// Least bytes of a cycle that goes with the rate: a frame.
const CYCLE_LEAST: f64 = 1500.0;

/// The congestion point of one queue.
#[derive(Clone, Debug)]
pub struct CongestionPoint {
    spec: Qcn,
    /// q_old in pages.
    before: f64,
    /// The feedback of the last sample.
    feedback: u8,
    /// Bytes until the next sample.
    left: f64,
    stream: Stream,
}

impl CongestionPoint {
    /// Returns the congestion point of an empty queue. `stream` draws the distances between samples.
    pub fn new(spec: &Qcn, mut stream: Stream) -> CongestionPoint {
        let left = spec.distance(0) * jittered(&mut stream, spec.jitter);
        CongestionPoint { spec: spec.clone(), before: 0.0, feedback: 0, left, stream }
    }

    /// Is called when a frame of `bytes` was accepted and `queue` bytes wait with it. Returns the feedback to send, from 1 to 63.
    pub fn on_frame(&mut self, bytes: u32, queue: u64) -> Option<u8> {
        self.on_frame_at(bytes, queue).map(|(feedback, _)| feedback).filter(|&feedback| feedback > 0)
    }

    /// The same, answering for every sample its feedback, 0 included, and |Fb|.
    pub(super) fn on_frame_at(&mut self, bytes: u32, queue: u64) -> Option<(u8, f64)> {
        let sampled = match self.spec.sampling {
            Sampling::Bernoulli => self.stream.uniform() < self.spec.chance(self.feedback) * f64::from(bytes) / 1500.0,
            Sampling::Table | Sampling::Probability => {
                self.left -= f64::from(bytes);
                self.left <= 0.0
            }
        };
        if !sampled {
            return None;
        }
        let magnitude = self.sample(queue);
        self.feedback = six_bits(magnitude, self.spec.most());
        self.left = self.spec.distance(self.feedback) * jittered(&mut self.stream, self.spec.jitter);
        Some((self.feedback, magnitude))
    }

    /// |Fb| of a sample, 0 if it is not congestion.
    fn sample(&mut self, queue: u64) -> f64 {
        let pages = (queue / self.spec.page.0.max(1)) as f64;
        let offset = pages - self.spec.set_point_pages();
        let change = pages - self.before;
        self.before = pages;
        (offset + self.spec.weight * change).clamp(0.0, self.spec.most())
    }
}

/// The reaction point of one flow of a source. Rates are bit/s.
#[derive(Clone, Debug)]
pub struct ReactionPoint {
    spec: Qcn,
    line: f64,
    current: f64,
    target: f64,
    /// Bytes left of the running cycle, and the cycles that have ended.
    left: f64,
    byte_cycles: u32,
    timer_cycles: u32,
    timer: Time,
    drift: Time,
    limited: bool,
    /// The last notification, and the frames sent since.
    notified: Time,
    frames: u64,
    stream: Stream,
}

impl ReactionPoint {
    /// Returns the reaction point of a source whose port runs at `line`.
    pub fn new(spec: &Qcn, line: Rate, stream: Stream) -> ReactionPoint {
        let line = line.0 as f64;
        ReactionPoint {
            spec: spec.clone(),
            line,
            current: line,
            target: line,
            left: spec.cycle_bytes.0 as f64,
            byte_cycles: 0,
            timer_cycles: 0,
            timer: Time::NEVER,
            drift: Time::NEVER,
            limited: false,
            notified: Time::ZERO,
            frames: 0,
            stream,
        }
    }

    /// Returns the rate that the flow may send at, or `None` if it is not limited.
    pub fn rate(&self) -> Option<f64> {
        self.limited.then_some(self.current)
    }

    /// Sets the rate of the source's port. A source that was not limited sends at the new rate.
    pub fn set_line(&mut self, line: Rate) {
        self.line = line.0 as f64;
        if !self.limited {
            (self.current, self.target) = (self.line, self.line);
        }
        self.current = self.current.min(self.line);
        self.release();
    }

    /// Returns the target rate.
    pub fn target(&self) -> f64 {
        self.target
    }

    /// Returns the cycles of bytes and of the timer that have ended since the last notification.
    pub fn cycles(&self) -> (u32, u32) {
        (self.byte_cycles, self.timer_cycles)
    }

    /// Returns when [`ReactionPoint::on_timer`] is due.
    pub fn next_timer(&self) -> Time {
        if self.limited { self.timer.min(self.drift) } else { Time::NEVER }
    }

    /// Is called when a notification arrives.
    pub fn on_feedback(&mut self, now: Time, feedback: u8) {
        let feedback = feedback.min(FEEDBACK_MAX);
        if feedback == 0 {
            return;
        }
        let spec = &self.spec;
        if !self.limited {
            self.current = spec.start_rate.map_or(self.line, |rate| (rate.0 as f64).min(self.line));
        }
        let begins = !self.limited || self.byte_cycles != 0 || !spec.keep_target;
        if begins {
            self.target = self.current;
        }
        (self.byte_cycles, self.timer_cycles) = (0, 0);
        (self.notified, self.frames) = (now, 0);
        let factor = (1.0 - spec.gain * f64::from(feedback)).max(1.0 - spec.decrease_max);
        self.current = (self.current * factor).max(spec.rate_min.0 as f64).min(self.line);
        if begins {
            self.left = self.cycle_bytes();
        }
        let after = |span: Span| if span == Span::ZERO { Time::NEVER } else { now.saturating_add(span) };
        self.timer = after(spec.cycle_time);
        if !self.limited {
            self.drift = after(spec.drift_period);
        }
        self.limited = true;
    }

    /// Is called when a frame of the flow was sent.
    pub fn on_sent(&mut self, now: Time, bytes: u32) {
        if !self.limited {
            return;
        }
        self.frames += 1;
        self.left -= f64::from(bytes);
        if self.left < 0.0 {
            self.byte_cycles = self.byte_cycles.saturating_add(1);
            self.increase(now);
            self.left = self.cycle_bytes() * self.length(self.byte_cycles);
        }
    }

    /// Is called at the time that [`ReactionPoint::next_timer`] returned.
    pub fn on_timer(&mut self, now: Time) {
        if self.limited && self.drift <= now {
            self.drift = now.saturating_add(self.spec.drift_period);
            self.current = (self.current * self.spec.drift_factor).min(self.line);
            self.target = self.target.max(self.current);
            self.release();
        }
        if self.limited && self.timer <= now {
            self.timer_cycles = self.timer_cycles.saturating_add(1);
            let cycle = self.spec.cycle_time.seconds() * self.length(self.timer_cycles);
            self.timer = now.saturating_add(Span::from_seconds(cycle));
            self.increase(now);
        }
    }

    /// Bytes of a full cycle at the rate of now.
    fn cycle_bytes(&self) -> f64 {
        let bytes = self.spec.cycle_bytes.0 as f64;
        if self.spec.cycle_by_rate { (bytes * self.current / self.line).max(CYCLE_LEAST) } else { bytes }
    }

    /// Of the cycle after `ended` ones, in full cycles.
    fn length(&mut self, ended: u32) -> f64 {
        let past = match self.spec.half_cycles {
            HalfCycles::AfterFastRecovery => ended > self.spec.fast_recovery,
            HalfCycles::HyperActive => self.byte_cycles.min(self.timer_cycles) > self.spec.fast_recovery,
        };
        jittered(&mut self.stream, self.spec.jitter) * if past { 0.5 } else { 1.0 }
    }

    fn increase(&mut self, now: Time) {
        let (spec, threshold) = (&self.spec, self.spec.fast_recovery);
        let timer_cycles = match (spec.cycle_time, spec.hyper_active_span) {
            (Span::ZERO, span) if span != Span::ZERO => {
                let spans = now.since(self.notified).0 / span.0;
                1 + u32::try_from(spans.min(self.frames / spec.hyper_active_frames.max(1))).unwrap_or(u32::MAX - 1)
            }
            _ => self.timer_cycles,
        };
        let low = self.byte_cycles.min(timer_cycles);
        let high = self.byte_cycles.max(self.timer_cycles);
        if (self.byte_cycles == 1 || self.timer_cycles == 1) && self.target > 10.0 * self.current {
            self.target /= 8.0;
        } else if low > threshold {
            self.target += spec.hyper_active_increase.0 as f64 * f64::from(low - threshold);
        } else if high > threshold {
            self.target += spec.active_increase.0 as f64;
        }
        self.current = ((self.current + self.target) / 2.0).min(self.line);
        self.release();
    }

    /// A flow at the line rate needs no limiter.
    fn release(&mut self) {
        if self.current >= self.line {
            self.limited = false;
            (self.current, self.target) = (self.line, self.line);
        }
    }
}

#[cfg(test)]
mod tests;
