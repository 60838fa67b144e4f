//! Ethernet Congestion Management (Bergamasco, IEEE 802.1 2005 to 2007; before that Backward Congestion Notification).
//!
//! Congestion point, one for each egress queue: one in `sample_bytes` of the bytes that come to it is sampled, with q the queue
//! and q_old that of the last sample, in pages:
//!
//! ```text
//! Fb = clamp(Qeq - q, -Qeq, Qeq) - W clamp(q - q_old, -2 Qeq, 2 Qeq)              |Fb| <= (1 + 2 W) Qeq
//! Fb < 0: a notification to the frame's source
//! Fb > 0: one too, if the frame says that its source is limited by this very congestion point
//! ```
//!
//! Reaction point, one for each flow of a source:
//!
//! ```text
//! Fb < 0: CR = max(Rmin, CR max(1/2, 1 - Gd q6)),    q6 = |Fb| in six bits;   remembers the congestion point
//! Fb > 0: CR = min(C, CR + Gi Fb Ru)                  from the remembered one only
//! every Td: CR = min(C, CR + Rd);                     at CR = C the limiter is gone
//! ```
//!
//! The units are not stated: Gd = 1/128 halves the rate at most if the decrease counts in six bits, Gi = 0.53333 gives a tenth
//! of 10 Gb/s at most if the increase counts pages \[assumed: `gi_unit`]. Three options, off by default and in the
//! simulations of 2007: above `max_above` every sample counts as the most negative feedback (ECM-MAX), above `zero_above` it
//! stops the source for a while, which starts again at Rmin (ECM(0,0)), above `oversample_above` samples are closer.
//!
//! Sources: "TCP scenarios with QCN/ECM" (Geisler and Wadekar, IEEE 802.1, November 2007) for the values; Lu, Pan, Prabhakar and
//! Bergamasco 2006 and Ren and Jiang 2010 for the equations \[from memory]; thresholds of the options are assumed.

use elephan_random::Stream;
use elephan_units::{Bytes, InvalidParameter, Rate, Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{above_zero, pages, period, six_bits, some_rate, start_rate};

/// In which unit an increase counts its feedback.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GainUnit {
    /// Pages.
    Raw,
    /// Six bits, as the decrease.
    Q6,
}

/// When a positive notification is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PositiveWhen {
    /// The feedback is positive.
    Feedback,
    /// The queue is below its set point, too.
    BelowSetPoint,
}

/// Parameters of both ends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Ecm {
    /// Set point of the queue (Qeq).
    #[schemars(extend("x-source" = "Geisler and Wadekar 2007"))]
    pub set_point: Bytes,
    /// Unit in which the queue is counted, rounded down.
    #[schemars(extend("x-source" = "assumed: pages of 64 bytes"))]
    pub page: Bytes,
    /// Weight of the change of the queue (W).
    #[schemars(extend("x-source" = "Geisler and Wadekar 2007"), range(min = 0, max = 64))]
    pub weight: f64,
    /// Bytes between samples.
    #[schemars(extend("x-source" = "Geisler and Wadekar 2007"))]
    pub sample_bytes: Bytes,
    /// Increase for a unit of feedback, in `rate_unit` (Gi).
    #[schemars(extend("x-source" = "Geisler and Wadekar 2007"), range(min = 0, max = 1000))]
    pub increase_gain: f64,
    /// What an increase counts.
    pub gi_unit: GainUnit,
    /// When a positive notification is sent.
    pub positive_when: PositiveWhen,
    /// Decrease for a unit of feedback in six bits (Gd).
    #[schemars(extend("x-source" = "Geisler and Wadekar 2007"), range(min = 0, max = 1))]
    pub decrease_gain: f64,
    /// Unit of increases (Ru).
    #[schemars(extend("x-source" = "Geisler and Wadekar 2007"))]
    pub rate_unit: Rate,
    /// Least rate of a limiter (Rmin).
    #[schemars(extend("x-source" = "Geisler and Wadekar 2007"))]
    pub rate_min: Rate,
    /// Rate at which a limiter starts, before the cut of its first notification; the line rate unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-source" = "assumed"))]
    pub start_rate: Option<Rate>,
    /// Increase by itself (Rd), every `drift_period`.
    #[schemars(extend("x-source" = "Geisler and Wadekar 2007"))]
    pub drift: Rate,
    /// Td; 0 s is never.
    #[schemars(extend("x-source" = "Geisler and Wadekar 2007"))]
    pub drift_period: Span,
    /// A queue above this gives the most negative feedback.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_above: Option<Bytes>,
    /// A queue above this stops sources.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zero_above: Option<Bytes>,
    /// A stopped source waits for a time drawn uniformly up to this.
    #[schemars(extend("x-source" = "assumed"))]
    pub zero_time: Span,
    /// A queue above this is sampled every `oversample_bytes`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oversample_above: Option<Bytes>,
    /// See `oversample_above`.
    #[schemars(extend("x-source" = "assumed"))]
    pub oversample_bytes: Bytes,
}

impl Default for Ecm {
    fn default() -> Ecm {
        Ecm {
            set_point: Bytes(375 * 64),
            page: Bytes(64),
            weight: 2.0,
            sample_bytes: Bytes(75_000),
            increase_gain: 0.53333,
            gi_unit: GainUnit::Raw,
            positive_when: PositiveWhen::Feedback,
            decrease_gain: 1.0 / 128.0,
            rate_unit: Rate(1_000_000),
            rate_min: Rate(1_000_000),
            start_rate: None,
            drift: Rate(1_000_000),
            drift_period: Span::from_ms(1),
            max_above: None,
            zero_above: None,
            zero_time: Span::from_ms(1),
            oversample_above: None,
            oversample_bytes: Bytes(15_000),
        }
    }
}

impl Ecm {
    /// What cannot be, beyond the ranges of the schema.
    pub fn problem(&self) -> Option<InvalidParameter> {
        pages(self.set_point, self.page)
            .or_else(|| above_zero("sample_bytes", self.sample_bytes))
            .or_else(|| above_zero("oversample_bytes", self.oversample_bytes))
            .or_else(|| some_rate("rate_unit", self.rate_unit))
            .or_else(|| some_rate("rate_min", self.rate_min))
            .or_else(|| start_rate(self.start_rate, self.rate_min))
            .or_else(|| period("drift_period", self.drift_period))
    }

    fn set_point_pages(&self) -> f64 {
        (self.set_point.0 / self.page.0.max(1)) as f64
    }

    /// Returns the largest |Fb|, in pages.
    pub fn most(&self) -> f64 {
        (1.0 + 2.0 * self.weight) * self.set_point_pages()
    }
}

/// What a notification says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Notification {
    /// Fb in pages.
    Feedback(f64),
    /// ECM(0,0).
    Stop,
}

/// The congestion point of one queue.
#[derive(Clone, Debug)]
pub struct CongestionPoint {
    spec: Ecm,
    /// q_old in pages.
    before: f64,
    /// Bytes until the next sample.
    left: f64,
}

impl CongestionPoint {
    /// Returns the congestion point of an empty queue.
    pub fn new(spec: &Ecm) -> CongestionPoint {
        CongestionPoint { spec: spec.clone(), before: 0.0, left: spec.sample_bytes.0 as f64 }
    }

    /// Is called when a frame of `bytes` was accepted and `queue` bytes wait with it. `tagged` says that the frame's source is limited by this
    /// congestion point. Returns what to send to the source.
    pub fn on_frame(&mut self, bytes: u32, queue: u64, tagged: bool) -> Option<Notification> {
        self.left -= f64::from(bytes);
        if self.left > 0.0 {
            return None;
        }
        let above = |limit: Option<Bytes>| limit.is_some_and(|limit| queue > limit.0);
        let spec = &self.spec;
        let distance = if above(spec.oversample_above) { spec.oversample_bytes } else { spec.sample_bytes };
        self.left = distance.0 as f64;
        let (pages, point) = ((queue / spec.page.0.max(1)) as f64, spec.set_point_pages());
        let change = (pages - self.before).clamp(-2.0 * point, 2.0 * point);
        self.before = pages;
        if above(spec.zero_above) {
            return Some(Notification::Stop);
        }
        if above(spec.max_above) {
            return Some(Notification::Feedback(-spec.most()));
        }
        let feedback = (point - pages).clamp(-point, point) - spec.weight * change;
        let below = spec.positive_when == PositiveWhen::Feedback || pages < point;
        (feedback < 0.0 || feedback > 0.0 && tagged && below).then_some(Notification::Feedback(feedback))
    }
}

/// The reaction point of one flow of a source. Rates are bit/s.
#[derive(Clone, Debug)]
pub struct ReactionPoint {
    spec: Ecm,
    line: f64,
    current: f64,
    /// The congestion point that limits it.
    by: Option<u32>,
    /// Nothing is sent before this.
    stopped: Time,
    drift: Time,
    stream: Stream,
}

impl ReactionPoint {
    /// Returns the reaction point of a source whose port runs at `line`.
    pub fn new(spec: &Ecm, line: Rate, stream: Stream) -> ReactionPoint {
        let line = line.0 as f64;
        ReactionPoint {
            spec: spec.clone(),
            line,
            current: line,
            by: None,
            stopped: Time::ZERO,
            drift: Time::NEVER,
            stream,
        }
    }

    /// Returns the rate that the flow may send at, or `None` if it is not limited.
    pub fn rate(&self) -> Option<f64> {
        self.by.map(|_| self.current)
    }

    /// Sets the rate of the source's port. A source that was not limited sends at the new rate.
    pub fn set_line(&mut self, line: Rate) {
        self.line = line.0 as f64;
        if self.by.is_none() {
            self.current = self.line;
        }
        self.raise(0.0);
    }

    /// Returns the congestion point that frames of the flow are tagged with.
    pub fn tag(&self) -> Option<u32> {
        self.by
    }

    /// Returns the time before which the flow sends nothing.
    pub fn stopped_until(&self) -> Time {
        self.stopped
    }

    /// Returns when [`ReactionPoint::on_timer`] is due.
    pub fn next_timer(&self) -> Time {
        if self.by.is_some() { self.drift } else { Time::NEVER }
    }

    /// Is called when a notification of the congestion point `from` arrives.
    pub fn on_notification(&mut self, now: Time, from: u32, says: Notification) {
        let spec = &self.spec;
        match says {
            Notification::Feedback(feedback) if feedback > 0.0 => {
                if self.by == Some(from) {
                    let unit = match spec.gi_unit {
                        GainUnit::Raw => feedback,
                        GainUnit::Q6 => f64::from(six_bits(feedback, spec.most())),
                    };
                    self.raise(spec.increase_gain * unit * spec.rate_unit.0 as f64);
                }
                return;
            }
            Notification::Feedback(feedback) => {
                let units = f64::from(six_bits(-feedback, spec.most()));
                let factor = (1.0 - spec.decrease_gain * units).max(0.5);
                let from = match (self.by, spec.start_rate) {
                    (None, Some(start)) => (start.0 as f64).min(self.line),
                    _ => self.current,
                };
                self.current = (from * factor).max(spec.rate_min.0 as f64).min(self.line);
            }
            Notification::Stop => {
                let wait = Span::from_seconds(spec.zero_time.seconds() * self.stream.uniform());
                self.stopped = now.saturating_add(wait);
                self.current = (spec.rate_min.0 as f64).min(self.line);
            }
        }
        if self.by.is_none() {
            self.drift = match spec.drift_period {
                Span::ZERO => Time::NEVER,
                period => now.saturating_add(period),
            };
        }
        self.by = Some(from);
    }

    /// Is called at the time that [`ReactionPoint::next_timer`] returned.
    pub fn on_timer(&mut self, now: Time) {
        if self.by.is_some() && self.drift <= now {
            self.drift = now.saturating_add(self.spec.drift_period);
            self.raise(self.spec.drift.0 as f64);
        }
    }

    fn raise(&mut self, by: f64) {
        self.current = (self.current + by).min(self.line);
        if self.current >= self.line {
            self.by = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: Rate = Rate(10_000_000_000);

    fn source(spec: &Ecm) -> ReactionPoint {
        ReactionPoint::new(spec, LINE, Stream::new(1, "test", "ecm"))
    }

    /// The feedback of a frame with which a sample is due, in pages of 64 bytes.
    fn sampled(spec: &Ecm, queue: u64, before: u32, tagged: bool) -> Option<Notification> {
        let mut cp = CongestionPoint::new(spec);
        (cp.before, cp.left) = (f64::from(before), 1.0);
        cp.on_frame(1500, queue * 64, tagged)
    }

    /// Qeq 375, W 2: at 750 from 375 Fb = -375 - 2 * 375; the change counts up to 750, the offset up to 375: -1875 at most.
    #[test]
    fn feedback_of_the_congestion_point() {
        let spec = Ecm::default();
        let negative = |fb: f64| Some(Notification::Feedback(fb));
        assert_eq!(sampled(&spec, 750, 375, false), negative(-1125.0));
        assert_eq!(sampled(&spec, 5000, 0, false), negative(-1875.0));
        assert_eq!(sampled(&spec, 375, 375, true), None);
        // A queue that falls from 750 to 375 says +750, to those that carry the tag.
        assert_eq!(sampled(&spec, 375, 750, true), negative(750.0));
        assert_eq!(sampled(&spec, 375, 750, false), None);
        // 500 from 1000: 1000 - 125, though the queue is above its set point.
        assert_eq!(sampled(&spec, 500, 1000, true), negative(875.0));
        let below = Ecm { positive_when: PositiveWhen::BelowSetPoint, ..spec };
        assert_eq!(sampled(&below, 500, 1000, true), None);
    }

    /// 75 000 bytes are 50 frames of 1500.
    #[test]
    fn one_in_fifty_frames_is_sampled() {
        let mut cp = CongestionPoint::new(&Ecm::default());
        let sampled: Vec<u32> = (1..=150).filter(|_| cp.on_frame(1500, 1 << 20, false).is_some()).collect();
        assert_eq!(sampled, [50, 100, 150]);
    }

    /// Fb = -1875 is 63 in six bits: a factor of 1 - 63/128; +1875 is 0.53333 * 1875 Mb/s, a tenth of the line.
    #[test]
    fn decrease_and_increase() {
        let mut rp = source(&Ecm::default());
        rp.on_notification(Time::ZERO, 7, Notification::Feedback(-1875.0));
        assert_eq!((rp.rate(), rp.tag()), (Some(5.078125e9), Some(7)));
        rp.on_notification(Time::ZERO, 8, Notification::Feedback(1875.0));
        assert_eq!(rp.rate(), Some(5.078125e9), "another congestion point");
        rp.on_notification(Time::ZERO, 7, Notification::Feedback(1875.0));
        assert!((rp.rate().unwrap() - 5.078125e9 - 999.99375e6).abs() < 1.0);
        let mut rp = source(&Ecm { gi_unit: GainUnit::Q6, ..Ecm::default() });
        rp.on_notification(Time::ZERO, 7, Notification::Feedback(-1875.0));
        rp.on_notification(Time::ZERO, 7, Notification::Feedback(1875.0));
        assert!((rp.rate().unwrap() - 5.078125e9 - 33.59979e6).abs() < 1.0);
    }

    /// 1 Mb/s a millisecond is 300 Mb/s in 300 ms; the limiter is gone at the line rate.
    #[test]
    fn drift() {
        let mut rp = source(&Ecm::default());
        rp.on_notification(Time::ZERO, 1, Notification::Feedback(-1875.0));
        for period in 1..=300 {
            assert_eq!(rp.next_timer(), Time::ZERO + Span::from_ms(period));
            rp.on_timer(rp.next_timer());
        }
        assert_eq!(rp.rate(), Some(5.378125e9));
        while rp.rate().is_some() {
            rp.on_timer(rp.next_timer());
        }
        assert_eq!((rp.next_timer(), rp.tag()), (Time::NEVER, None));
    }

    #[test]
    fn the_three_options() {
        let spec = Ecm { max_above: Some(Bytes(48_000)), ..Ecm::default() };
        // 800 pages that have been 800: Fb would be -375.
        assert_eq!(sampled(&spec, 800, 800, false), Some(Notification::Feedback(-1875.0)));
        let spec = Ecm { zero_above: Some(Bytes(96_000)), ..spec };
        assert_eq!(sampled(&spec, 1501, 1501, false), Some(Notification::Stop));
        let mut rp = source(&spec);
        rp.on_notification(Time::ZERO, 1, Notification::Stop);
        assert_eq!(rp.rate(), Some(1e6));
        assert!(rp.stopped_until() > Time::ZERO && rp.stopped_until() < Time::ZERO + Span::from_ms(1));
        let mut cp = CongestionPoint::new(&Ecm { oversample_above: Some(Bytes(48_000)), ..Ecm::default() });
        let sampled: Vec<u32> = (1..=80).filter(|_| cp.on_frame(1500, 60_000, false).is_some()).collect();
        assert_eq!(sampled, [50, 60, 70, 80]);
    }
}
