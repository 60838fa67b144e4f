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
//! TR may pass the line rate C, CR may not; the limiter is gone when CR is C. Where there is no timer its cycles are counted
//! as one of 10 ms and 100 frames each, for hyper-active increase only.
//!
//! Sources: 802.1Qau-2010's managed objects for the defaults; "TCP scenarios with QCN/ECM" (Geisler and Wadekar, IEEE 802.1,
//! November 2007) for those of `seed-2007`, whose Qeq of 409 is 26 176 bytes in pages of 64 \[assumed]; the order of steps
//! follows Tam's ns-3 model (2009, after pseudo-code 2.2). Published readings differ where [`Qcn`] has a switch.

use elephan_random::Stream;
use elephan_units::{Bytes, Rate, Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::fair::Fairness;
use super::{FEEDBACK_MAX, Problem, above_zero, jittered, pages, period, six_bits, some_rate};

/// Bytes between samples for each eighth of the feedback, with a sample base of 150 000.
const TABLE: [f64; 8] = [150_000.0, 75_000.0, 50_000.0, 37_500.0, 30_000.0, 25_000.0, 21_500.0, 18_500.0];
const TABLE_BASE: f64 = 150_000.0;
/// A cycle of the timer that is not there.
const HYPERACTIVE_SPAN: Span = Span::from_ms(10);
const HYPERACTIVE_FRAMES: u64 = 100;

/// How the distance to the next sample follows from the feedback.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Sampling {
    /// 802.1Qau's table of eight distances.
    Table,
    /// A probability for a frame of 1500 bytes that rises with the feedback, as a count of bytes.
    Probability,
    /// The same, drawn for each frame.
    Bernoulli,
}

/// Which cycles are half as long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HalfCycles {
    /// All after fast recovery.
    AfterFastRecovery,
    /// Those of hyper-active increase only.
    HyperActive,
}

/// Parameters of both ends. The defaults are those of IEEE 802.1Qau-2010.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Qcn {
    /// Set point of the queue (Qeq).
    #[schemars(extend("x-source" = "IEEE 802.1Qau-2010, cpQSP"))]
    pub set_point: Bytes,
    /// Unit in which the queue is counted, rounded down.
    pub page: Bytes,
    /// Weight of the change of the queue (W).
    #[schemars(extend("x-source" = "IEEE 802.1Qau-2010, cpW"), range(min = 0, max = 64))]
    pub weight: f64,
    /// How the distance to the next sample follows from the feedback.
    pub sampling: Sampling,
    /// Bytes between samples of an uncongested queue, of `sampling = "table"`.
    #[schemars(extend("x-source" = "IEEE 802.1Qau-2010, cpSampleBase"))]
    pub sample_base: Bytes,
    /// Probabilities with the least and the most feedback, of the other two.
    #[schemars(extend("x-source" = "Geisler and Wadekar 2007"))]
    pub probability: [f64; 2],
    /// Distances to samples and cycles are drawn within so much of their mean.
    #[schemars(extend("x-source" = "Tam 2009"), range(min = 0, max = 1))]
    pub jitter: f64,
    /// Decrease for a unit of feedback (Gd).
    #[schemars(extend("x-source" = "IEEE 802.1Qau-2010, rpgGd"), range(min = 0, max = 1))]
    pub gain: f64,
    /// Largest decrease by one notification (d).
    #[schemars(extend("x-source" = "IEEE 802.1Qau-2010, rpgMinDecFac"), range(min = 0, max = 1))]
    pub decrease_max: f64,
    /// Least rate of a limiter (Rmin).
    #[schemars(extend("x-source" = "IEEE 802.1Qau-2010, rpgMinRate"))]
    pub rate_min: Rate,
    /// Bytes of a cycle (BC).
    #[schemars(extend("x-source" = "IEEE 802.1Qau-2010, rpgByteReset"))]
    pub cycle_bytes: Bytes,
    /// Time of a cycle (T); 0 s is none.
    #[schemars(extend("x-source" = "IEEE 802.1Qau-2010, rpgTimeReset"))]
    pub cycle_time: Span,
    /// Cycles of fast recovery (F).
    #[schemars(extend("x-source" = "IEEE 802.1Qau-2010, rpgThreshold"), range(min = 1, max = 1000))]
    pub fast_recovery: u32,
    /// Step of active increase.
    #[schemars(extend("x-source" = "IEEE 802.1Qau-2010, rpgAiRate"))]
    pub active_increase: Rate,
    /// Step of hyper-active increase.
    #[schemars(extend("x-source" = "IEEE 802.1Qau-2010, rpgHaiRate"))]
    pub hyper_active_increase: Rate,
    /// Which cycles are half as long.
    pub half_cycles: HalfCycles,
    /// A notification before the first cycle of bytes has ended leaves the target rate (extra fast recovery).
    pub keep_target: bool,
    /// Every `drift_period` (0 s is never) a limited rate is multiplied by this.
    #[schemars(extend("x-source" = "Geisler and Wadekar 2007; meaning assumed"), range(min = 1, max = 2))]
    pub drift_factor: f64,
    /// See `drift_factor`.
    pub drift_period: Span,
    /// Whether feedback goes by what each source sends.
    pub fair: Fairness,
    /// What the share of a source counts beside the queue, of `fair = "af-qcn"`.
    #[schemars(extend("x-source" = "assumed"), range(min = 0, max = 1))]
    pub fair_alpha: f64,
    /// Part of the bytes counted for each source that a sample leaves.
    #[schemars(extend("x-source" = "assumed"), range(min = 0, max = 0.999))]
    pub fair_memory: f64,
    /// "Fb hat" of 2007: taken as the quantised feedback, which both the sampling and the notification go by in any case.
    #[schemars(extend("x-source" = "Geisler and Wadekar 2007; meaning assumed"))]
    pub fbhat: bool,
    /// "EFR Max" of 2007. What it bounds is not known: without effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-source" = "Geisler and Wadekar 2007; meaning unknown"))]
    pub efr_max: Option<u64>,
}

impl Default for Qcn {
    fn default() -> Qcn {
        Qcn {
            set_point: Bytes(26_000),
            page: Bytes(1),
            weight: 2.0,
            sampling: Sampling::Table,
            sample_base: Bytes(150_000),
            probability: [0.01, 0.1],
            jitter: 0.15,
            gain: 1.0 / 128.0,
            decrease_max: 0.5,
            rate_min: Rate(5_000_000),
            cycle_bytes: Bytes(150_000),
            cycle_time: Span::from_ms(15),
            fast_recovery: 5,
            active_increase: Rate(5_000_000),
            hyper_active_increase: Rate(50_000_000),
            half_cycles: HalfCycles::AfterFastRecovery,
            keep_target: true,
            drift_factor: 1.0005,
            drift_period: Span::ZERO,
            fair: Fairness::None,
            fair_alpha: 0.5,
            fair_memory: 0.5,
            fbhat: false,
            efr_max: None,
        }
    }
}

impl Qcn {
    /// What cannot be, beyond the ranges of the schema.
    pub fn problem(&self) -> Option<Problem> {
        let [least, most] = self.probability;
        let probability =
            || ("probability", format!("[{least}, {most}]: two probabilities above 0, the smaller first"));
        pages(self.set_point, self.page)
            .or_else(|| above_zero("sample_base", self.sample_base))
            .or_else(|| (!(0.0 < least && least <= most && most <= 1.0)).then(probability))
            .or_else(|| above_zero("cycle_bytes", self.cycle_bytes))
            .or_else(|| some_rate("rate_min", self.rate_min))
            .or_else(|| period("cycle_time", self.cycle_time))
            .or_else(|| period("drift_period", self.drift_period))
    }

    /// Largest |Fb|, in pages.
    pub(super) fn most(&self) -> f64 {
        (1.0 + 2.0 * self.weight) * self.set_point_pages()
    }

    fn set_point_pages(&self) -> f64 {
        (self.set_point.0 / self.page.0.max(1)) as f64
    }

    /// Mean bytes to the next sample.
    fn distance(&self, feedback: u8) -> f64 {
        match self.sampling {
            Sampling::Table => TABLE[usize::from(feedback / 8)] * self.sample_base.0 as f64 / TABLE_BASE,
            Sampling::Probability | Sampling::Bernoulli => 1500.0 / self.chance(feedback),
        }
    }

    fn chance(&self, feedback: u8) -> f64 {
        let [least, most] = self.probability;
        least + (most - least) * f64::from(feedback) / f64::from(FEEDBACK_MAX)
    }
}

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
    pub fn new(spec: &Qcn, mut stream: Stream) -> CongestionPoint {
        let left = spec.distance(0) * jittered(&mut stream, spec.jitter);
        CongestionPoint { spec: spec.clone(), before: 0.0, feedback: 0, left, stream }
    }

    /// A frame of `bytes` has been accepted; `queue` bytes wait now, it among them. Answers the feedback to send, from 1 to 63.
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
    /// A source whose port runs at `line`.
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

    /// The rate that the flow may send at; none if it is not limited.
    pub fn rate(&self) -> Option<f64> {
        self.limited.then_some(self.current)
    }

    /// The source's port runs at another rate from now on: one that was not limited goes with it.
    pub fn set_line(&mut self, line: Rate) {
        self.line = line.0 as f64;
        if !self.limited {
            (self.current, self.target) = (self.line, self.line);
        }
        self.current = self.current.min(self.line);
        self.release();
    }

    /// The target rate.
    pub fn target(&self) -> f64 {
        self.target
    }

    /// Cycles of bytes and of the timer that have ended since the last notification.
    pub fn cycles(&self) -> (u32, u32) {
        (self.byte_cycles, self.timer_cycles)
    }

    /// When [`ReactionPoint::on_timer`] must be called.
    pub fn next_timer(&self) -> Time {
        if self.limited { self.timer.min(self.drift) } else { Time::NEVER }
    }

    /// A notification has come.
    pub fn on_feedback(&mut self, now: Time, feedback: u8) {
        let feedback = feedback.min(FEEDBACK_MAX);
        if feedback == 0 {
            return;
        }
        let spec = &self.spec;
        if !self.limited || self.byte_cycles != 0 || !spec.keep_target {
            self.target = self.current;
            self.left = spec.cycle_bytes.0 as f64;
        }
        (self.byte_cycles, self.timer_cycles) = (0, 0);
        (self.notified, self.frames) = (now, 0);
        let factor = (1.0 - spec.gain * f64::from(feedback)).max(1.0 - spec.decrease_max);
        self.current = (self.current * factor).max(spec.rate_min.0 as f64).min(self.line);
        let after = |span: Span| if span == Span::ZERO { Time::NEVER } else { now.saturating_add(span) };
        self.timer = after(spec.cycle_time);
        if !self.limited {
            self.drift = after(spec.drift_period);
        }
        self.limited = true;
    }

    /// A frame of the flow has been sent.
    pub fn on_sent(&mut self, now: Time, bytes: u32) {
        if !self.limited {
            return;
        }
        self.frames += 1;
        self.left -= f64::from(bytes);
        if self.left < 0.0 {
            self.byte_cycles = self.byte_cycles.saturating_add(1);
            self.left = self.spec.cycle_bytes.0 as f64 * self.length(self.byte_cycles);
            self.increase(now);
        }
    }

    /// The time of [`ReactionPoint::next_timer`] has come.
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
        let timer_cycles = match spec.cycle_time {
            Span::ZERO => {
                let spans = now.since(self.notified).0 / HYPERACTIVE_SPAN.0;
                1 + u32::try_from(spans.min(self.frames / HYPERACTIVE_FRAMES)).unwrap_or(u32::MAX - 1)
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
