//! Congestion and reaction points without a network: the stepping classes behind `elephan.l2`.

use elephan_link::CongestionManagement;
use elephan_link::congestion::ecm::Notification;
use elephan_link::congestion::fair::Source;
use elephan_link::congestion::{Feedback, Point, Reaction};
use elephan_random::Stream;
use elephan_units::{Rate, Time};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{ScenarioError, guard, scenario_errors};
use crate::{json, number};

/// Returns the congestion management of this kind; `name` is what errors call it.
fn management(name: &str, kind: &str, params: Option<&Bound<'_, PyDict>>) -> PyResult<CongestionManagement> {
    let table = params.map(json::table).transpose()?.unwrap_or_default();
    guard(|| elephan_scenario::congestion_management(name, kind, table).map_err(scenario_errors))
}

fn kind_of(management: &CongestionManagement) -> &'static str {
    match management {
        CongestionManagement::None => "none",
        CongestionManagement::Qcn(_) => "qcn",
        CongestionManagement::Ecm(_) => "ecm",
    }
}

fn parameters(management: &CongestionManagement) -> PyResult<String> {
    match management {
        CongestionManagement::None => Ok("{}".to_owned()),
        CongestionManagement::Qcn(words) => json::text(&words.parameters),
        CongestionManagement::Ecm(words) => json::text(&words.parameters),
    }
}

fn no_such(kind: &str) -> PyErr {
    ScenarioError::new_err(format!("there are congestion points of qcn and ecm, not of {kind}"))
}

/// Bytes of a frame.
fn frame(name: &str, bytes: &Bound<'_, PyAny>) -> PyResult<u32> {
    let bytes = number::real(name, bytes, "bytes")?;
    let whole = number::bytes(name, bytes)?;
    u32::try_from(whole).map_err(|_| ScenarioError::new_err(format!("{name} must be a frame's bytes, not {bytes}")))
}

/// The number of a source or of a congestion point.
fn whole(name: &str, value: &Bound<'_, PyAny>) -> PyResult<u32> {
    number::whole(name, value, u64::from(u32::MAX)).map(|number| number as u32)
}

fn later(before: &mut Time, now: &Bound<'_, PyAny>) -> PyResult<Time> {
    number::later(before, number::real("now", now, "seconds")?)
}

/// The congestion point of one queue, stepped by hand.
#[pyclass(module = "elephan._core")]
pub struct CongestionPoint {
    management: CongestionManagement,
    point: Point,
    now: Time,
    told: Vec<(Source, Feedback)>,
}

#[pymethods]
impl CongestionPoint {
    #[new]
    #[pyo3(signature = (kind, seed=1, **params))]
    fn new(kind: &str, seed: u64, params: Option<&Bound<'_, PyDict>>) -> PyResult<CongestionPoint> {
        let management = management("CongestionPoint", kind, params)?;
        let point = management.point(Stream::new(seed, "l2", "congestion point")).ok_or_else(|| no_such(kind))?;
        Ok(CongestionPoint { management, point, now: Time::ZERO, told: Vec::new() })
    }

    /// `qcn` or `ecm`.
    #[getter]
    fn kind(&self) -> &'static str {
        kind_of(&self.management)
    }

    /// The parameters, as a scenario writes them, as JSON.
    fn parameters(&self) -> PyResult<String> {
        parameters(&self.management)
    }

    /// A frame of `size` bytes is accepted; `queue_bytes` wait then, it among them. What its source is told, or None.
    #[pyo3(signature = (now, size, queue_bytes, source=None, tagged=false))]
    fn enqueue(
        &mut self,
        now: &Bound<'_, PyAny>,
        size: &Bound<'_, PyAny>,
        queue_bytes: &Bound<'_, PyAny>,
        source: Option<&Bound<'_, PyAny>>,
        tagged: bool,
    ) -> PyResult<Option<f64>> {
        let waiting = number::bytes("queue_bytes", number::real("queue_bytes", queue_bytes, "bytes")?)?;
        let (bytes, source) = (frame("size", size)?, source.map_or(Ok(0), |source| whole("source", source))?);
        later(&mut self.now, now)?;
        let CongestionPoint { point, told, .. } = self;
        told.clear();
        let from = || Source { port: 0, key: source, flow: source };
        guard(|| {
            point.on_frame((bytes, waiting), tagged, from, told);
            Ok(())
        })?;
        Ok(self.told.iter().find(|(of, _)| of.key == source).map(|(_, feedback)| feedback.value()))
    }

    /// Whom the last frame made it tell, and what: (source, feedback).
    #[getter]
    fn told(&self) -> Vec<(u32, f64)> {
        self.told.iter().map(|(source, feedback)| (source.key, feedback.value())).collect()
    }

    fn __repr__(&self) -> String {
        format!("<congestion point of {}>", self.kind())
    }
}

/// The reaction point of one limiter, stepped by hand.
#[pyclass(module = "elephan._core")]
pub struct ReactionPoint {
    management: CongestionManagement,
    reaction: Reaction,
    line: Rate,
    now: Time,
}

#[pymethods]
impl ReactionPoint {
    #[new]
    #[pyo3(signature = (kind, line_rate=1e10, seed=1, **params))]
    fn new(kind: &str, line_rate: f64, seed: u64, params: Option<&Bound<'_, PyDict>>) -> PyResult<ReactionPoint> {
        if !(1.0..=1e14).contains(&line_rate) {
            return Err(ScenarioError::new_err(format!("line_rate must be from 1 to 1e14 bit/s, not {line_rate}")));
        }
        let management = management("ReactionPoint", kind, params)?;
        let line = Rate(line_rate.round() as u64);
        if let Some(least) = management.rate_min().filter(|least| *least > line) {
            return Err(ScenarioError::new_err(format!("rate_min {least} is above line_rate, {line}")));
        }
        let reaction =
            management.reaction(line, Stream::new(seed, "l2", "reaction point")).ok_or_else(|| no_such(kind))?;
        Ok(ReactionPoint { management, reaction, line, now: Time::ZERO })
    }

    /// `qcn` or `ecm`.
    #[getter]
    fn kind(&self) -> &'static str {
        kind_of(&self.management)
    }

    /// The parameters, as a scenario writes them, as JSON.
    fn parameters(&self) -> PyResult<String> {
        parameters(&self.management)
    }

    /// A notification of congestion point `point` comes.
    #[pyo3(signature = (now, feedback, point=None))]
    fn notify(
        &mut self,
        now: &Bound<'_, PyAny>,
        feedback: &Bound<'_, PyAny>,
        point: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let what = if self.kind() == "qcn" { "feedback, from 0 to 63" } else { "pages" };
        let (feedback, point) =
            (number::real("feedback", feedback, what)?, point.map_or(Ok(0), |point| whole("point", point))?);
        let says = match &self.management {
            CongestionManagement::Qcn(_) if (0.0..=63.0).contains(&feedback) && feedback.fract() == 0.0 => {
                Feedback::Qcn(feedback as u8)
            }
            CongestionManagement::Ecm(_) if feedback == 0.0 => Feedback::Ecm(Notification::Stop),
            CongestionManagement::Ecm(words) if feedback.abs() <= words.parameters.most() => {
                Feedback::Ecm(Notification::Feedback(feedback))
            }
            CongestionManagement::Ecm(words) => {
                let most = words.parameters.most();
                let message =
                    format!("feedback must be from -{most} to {most} pages, (1 + 2 weight) set_point, not {feedback}");
                return Err(ScenarioError::new_err(message));
            }
            _ => {
                let message = format!("feedback must be a whole number from 0 to 63, not {feedback}");
                return Err(ScenarioError::new_err(message));
            }
        };
        let at = later(&mut self.now, now)?;
        guard(|| {
            self.reaction.on_notification(at, point, says);
            Ok(())
        })
    }

    /// A frame of `size` bytes is sent.
    fn on_sent(&mut self, now: &Bound<'_, PyAny>, size: &Bound<'_, PyAny>) -> PyResult<()> {
        let bytes = frame("size", size)?;
        let at = later(&mut self.now, now)?;
        guard(|| {
            self.reaction.on_sent(at, bytes);
            Ok(())
        })
    }

    /// The time of `next_timer()` has come.
    fn on_timer(&mut self, now: &Bound<'_, PyAny>) -> PyResult<()> {
        let at = later(&mut self.now, now)?;
        guard(|| {
            self.reaction.on_timer(at);
            Ok(())
        })
    }

    /// When `on_timer` wants to be called, or None.
    fn next_timer(&self) -> Option<f64> {
        Some(self.reaction.next_timer()).filter(|&at| at != Time::NEVER).map(|at| at.seconds())
    }

    /// Whether it limits anything now.
    #[getter]
    fn limited(&self) -> bool {
        self.reaction.rate().is_some()
    }

    /// The rate that may be sent at, in bit/s: that of the line if nothing is limited.
    #[getter]
    fn rate(&self) -> f64 {
        self.reaction.rate().unwrap_or(self.line.0 as f64)
    }

    /// The rate in bit/s that QCN returns to; None of ECM.
    #[getter]
    fn target_rate(&self) -> Option<f64> {
        self.reaction.target()
    }

    /// The congestion point that ECM's frames are tagged with, or None.
    #[getter]
    fn point(&self) -> Option<u32> {
        self.reaction.tag()
    }

    /// Nothing may be sent before this (ECM's stop).
    #[getter]
    fn stopped_until(&self) -> f64 {
        self.reaction.stopped_until().seconds()
    }

    fn __repr__(&self) -> String {
        format!("<reaction point of {}: {} bit/s>", self.kind(), self.rate())
    }
}
