//! The round-trip estimator without a network: the stepping class behind `elephan.rtt.Estimator`.

use elephan_tcp::options::RtoRule;
use elephan_tcp::rtt::Estimator;
use elephan_tcp::{Overrides, stack};
use elephan_units::{Span, parse_span};
use pyo3::prelude::*;

use crate::errors::{ScenarioError, guard, scenario_error};
use crate::number;

/// A time option: seconds, or text with a unit.
#[derive(FromPyObject)]
enum Quantity {
    Seconds(f64),
    Text(String),
}

impl Quantity {
    fn span(self, name: &str) -> PyResult<Span> {
        match self {
            Quantity::Seconds(seconds) => number::span(name, seconds),
            Quantity::Text(text) => {
                parse_span(&text).map_err(|error| ScenarioError::new_err(format!("{name}: {error}")))
            }
        }
    }
}

/// SRTT, RTTVAR and RTO (RFC 6298 and Linux's rule), stepped by hand. Times are seconds.
#[pyclass(module = "elephan._core")]
pub struct RttEstimator(Estimator);

#[pymethods]
impl RttEstimator {
    #[new]
    #[pyo3(signature = (
        stack="rfc", *, rto_rule=None, rto_initial=None, rto_min=None, rto_max=None, clock_granularity=None
    ))]
    fn new(
        stack: &str,
        rto_rule: Option<&str>,
        rto_initial: Option<Quantity>,
        rto_min: Option<Quantity>,
        rto_max: Option<Quantity>,
        clock_granularity: Option<Quantity>,
    ) -> PyResult<RttEstimator> {
        let span = |name, value: Option<Quantity>| value.map(|quantity| quantity.span(name)).transpose();
        let overrides = Overrides {
            rto_rule: rto_rule.map(rule).transpose()?,
            rto_initial: span("rto_initial", rto_initial)?,
            rto_min: span("rto_min", rto_min)?,
            rto_max: span("rto_max", rto_max)?,
            clock_granularity: span("clock_granularity", clock_granularity)?,
            ..Overrides::default()
        };
        guard(|| {
            let known = || elephan_tcp::stacks().iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
            let unknown = || scenario_error(format!("unknown stack `{stack}`; known: {}", known()));
            let mut options = self::stack(stack).ok_or_else(unknown)?;
            options
                .apply(&overrides)
                .map_err(|invalid| scenario_error(format!("{} {}", invalid.parameter, invalid.reason)))?;
            Ok(RttEstimator(Estimator::of(&options)))
        })
    }

    /// A round-trip time measured at `now`.
    fn sample(&mut self, now: f64, rtt: f64) -> PyResult<()> {
        let (now, rtt) = (number::time("now", now)?, number::span("rtt", rtt)?);
        guard(|| {
            self.0.sample(now, rtt);
            Ok(())
        })
    }

    /// The retransmission timer expired.
    fn backoff(&mut self) -> PyResult<()> {
        guard(|| {
            self.0.backoff();
            Ok(())
        })
    }

    /// Smoothed round-trip time; None before the first sample.
    #[getter]
    fn srtt(&self) -> Option<f64> {
        self.0.srtt().map(|span| span.seconds())
    }

    /// Round-trip time variation; None before the first sample.
    #[getter]
    fn rttvar(&self) -> Option<f64> {
        self.0.rttvar().map(|span| span.seconds())
    }

    /// Retransmission timeout in force, back-off included.
    #[getter]
    fn rto(&self) -> f64 {
        self.0.rto().seconds()
    }

    fn __repr__(&self) -> String {
        let shown = |value: Option<f64>| value.map_or("none".to_string(), |seconds| format!("{seconds} s"));
        format!("<RTT estimator srtt={} rttvar={} rto={} s>", shown(self.srtt()), shown(self.rttvar()), self.rto())
    }
}

fn rule(name: &str) -> PyResult<RtoRule> {
    serde_json::from_value(name.into()).map_err(|error| ScenarioError::new_err(format!("rto_rule: {error}")))
}
