//! The parameters of QCN, its published readings among them.

use elephan_units::{Bytes, InvalidParameter, Rate, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::fairness::Fairness;
use super::super::{FEEDBACK_MAX, above_zero, pages, period, some_rate, start_rate};

/// Bytes between samples for each eighth of the feedback, with a sample base of 150 000.
const TABLE: [f64; 8] = [150_000.0, 75_000.0, 50_000.0, 37_500.0, 30_000.0, 25_000.0, 21_500.0, 18_500.0];
const TABLE_BASE: f64 = 150_000.0;

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
    /// Whether the bytes of a cycle go with the rate: `cycle_bytes` times current rate over line rate, 1500 at least.
    #[schemars(extend("x-source" = "assumed: 802.1Qau has the same bytes at every rate"))]
    pub cycle_by_rate: bool,
    /// Cycles of fast recovery (F).
    #[schemars(extend("x-source" = "IEEE 802.1Qau-2010, rpgThreshold"), range(min = 1, max = 1000))]
    pub fast_recovery: u32,
    /// Step of active increase.
    #[schemars(extend("x-source" = "IEEE 802.1Qau-2010, rpgAiRate"))]
    pub active_increase: Rate,
    /// Step of hyper-active increase.
    #[schemars(extend("x-source" = "IEEE 802.1Qau-2010, rpgHaiRate"))]
    pub hyper_active_increase: Rate,
    /// Without a timer (`cycle_time` 0 s): time that counts as one of its cycles for hyper-active increase, with
    /// `hyper_active_frames` frames sent; 0 s is no such increase.
    #[schemars(extend("x-source" = "assumed: the rule of 2007 was not found; 10 ms and 100 frames are those of Tam 2009, beside a timer"))]
    pub hyper_active_span: Span,
    /// See `hyper_active_span`.
    #[schemars(extend("x-source" = "assumed"), range(min = 1))]
    pub hyper_active_frames: u64,
    /// Rate at which a limiter starts, before the cut of its first notification; the line rate unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-source" = "assumed"))]
    pub start_rate: Option<Rate>,
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
            cycle_by_rate: false,
            fast_recovery: 5,
            active_increase: Rate(5_000_000),
            hyper_active_increase: Rate(50_000_000),
            hyper_active_span: Span::ZERO,
            hyper_active_frames: 100,
            start_rate: None,
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
    pub fn problem(&self) -> Option<InvalidParameter> {
        let [least, most] = self.probability;
        let probability = || {
            InvalidParameter::new(
                "probability",
                format!("[{least}, {most}]: two probabilities above 0, the smaller first"),
            )
        };
        pages(self.set_point, self.page)
            .or_else(|| above_zero("sample_base", self.sample_base))
            .or_else(|| (!(0.0 < least && least <= most && most <= 1.0)).then(probability))
            .or_else(|| above_zero("cycle_bytes", self.cycle_bytes))
            .or_else(|| some_rate("rate_min", self.rate_min))
            .or_else(|| start_rate(self.start_rate, self.rate_min))
            .or_else(|| period("cycle_time", self.cycle_time))
            .or_else(|| period("drift_period", self.drift_period))
            .or_else(|| period("hyper_active_span", self.hyper_active_span))
    }

    /// Largest |Fb|, in pages.
    pub(in super::super) fn most(&self) -> f64 {
        (1.0 + 2.0 * self.weight) * self.set_point_pages()
    }

    pub(super) fn set_point_pages(&self) -> f64 {
        (self.set_point.0 / self.page.0.max(1)) as f64
    }

    /// Mean bytes to the next sample.
    pub(super) fn distance(&self, feedback: u8) -> f64 {
        match self.sampling {
            Sampling::Table => TABLE[usize::from(feedback / 8)] * self.sample_base.0 as f64 / TABLE_BASE,
            Sampling::Probability | Sampling::Bernoulli => 1500.0 / self.chance(feedback),
        }
    }

    pub(super) fn chance(&self, feedback: u8) -> f64 {
        let [least, most] = self.probability;
        least + (most - least) * f64::from(feedback) / f64::from(FEEDBACK_MAX)
    }
}
