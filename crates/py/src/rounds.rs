//! Streams of one controller over one bottleneck, a round trip at a time: the stepping class behind `elephan.rounds.new`.

use elephan_cc::rounds::{self, Path, Shown};
use elephan_units::Time;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{ScenarioError, guard};
use crate::guest;
use crate::json;
use crate::number;

const STREAMS_MAX: u32 = 1000;

/// Streams of one controller that share a bottleneck. Times are seconds, sizes bytes of payload, rates bit/s of payload.
#[pyclass(module = "elephan._core")]
pub struct Rounds(rounds::Rounds);

fn from(name: &str, value: f64, least: f64, what: &str) -> PyResult<f64> {
    if value >= least && !value.is_nan() {
        return Ok(value);
    }
    Err(ScenarioError::new_err(format!("{name} must be at least {least} {what}, not {value}")))
}

fn above_zero(name: &str, value: f64, what: &str) -> PyResult<f64> {
    if value > 0.0 && value.is_finite() {
        return Ok(value);
    }
    Err(ScenarioError::new_err(format!("{name} must be above 0 {what}, not {value}")))
}

#[pymethods]
impl Rounds {
    #[new]
    #[pyo3(signature = (kind, streams, mss, rate, rtt, queue, loss, window, counted, initial_window, seed, **params))]
    #[expect(clippy::too_many_arguments, reason = "the stepping interface names each quantity")]
    fn new(
        kind: &Bound<'_, PyAny>,
        streams: u32,
        mss: u64,
        rate: f64,
        rtt: f64,
        queue: f64,
        loss: f64,
        window: f64,
        counted: f64,
        initial_window: f64,
        seed: u64,
        params: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Rounds> {
        if !(1..=STREAMS_MAX).contains(&streams) {
            return Err(ScenarioError::new_err(format!("streams must be from 1 to {STREAMS_MAX}, not {streams}")));
        }
        if !(0.0..1.0).contains(&loss) {
            return Err(ScenarioError::new_err(format!("loss must be from 0 to below 1, not {loss}")));
        }
        if !(counted > 0.0 && counted <= 1.0) {
            return Err(ScenarioError::new_err(format!("counted must be above 0 and at most 1, not {counted}")));
        }
        let mss_bytes = above_zero("mss", mss as f64, "bytes")?;
        let path = Path {
            rate_bps: above_zero("rate", rate, "bit/s")?,
            rtt_s: above_zero("rtt", rtt, "s")?,
            queue_bytes: from("queue", queue, 0.0, "bytes")?,
            loss,
            window_bytes: from("window", window, mss_bytes, "bytes")?,
            counted,
        };
        number::span("rtt", rtt)?;
        let first =
            number::bytes("initial_window", from("initial_window", initial_window, 1.0, "segments")? * mss_bytes)?;
        let table = params.map(json::table).transpose()?.unwrap_or_default();
        guard(|| {
            Ok(Rounds(rounds::Rounds::new(&guest::congestion_control(kind, &table)?, streams, mss, first, path, seed)))
        })
    }

    /// Whether rounds say anything about the controller: one that paces, probes or acts upon the delay of
    /// single packets lives by what is not in them.
    #[getter]
    fn suits(&self) -> bool {
        self.0.suits()
    }

    /// Congestion windows, bytes.
    #[getter]
    fn cwnd(&self) -> Vec<f64> {
        self.0.controllers().map(elephan_cc::Controller::window).collect()
    }

    /// Round trips so far in which the queue overflowed.
    #[getter]
    fn overflows(&self) -> u64 {
        self.0.overflows()
    }

    /// Packets that the path has taken so far.
    #[getter]
    fn taken(&self) -> u64 {
        self.0.taken()
    }

    /// Lets the controller of a stream live through what was seen of it at `times`: `acked` bytes, whether in recovery, round-trip time,
    /// whether the window was cut since the time before, and the window and threshold that it had.
    #[expect(clippy::too_many_arguments, reason = "a column of a table each")]
    fn follow(
        &mut self,
        stream: usize,
        times: Vec<f64>,
        acked: Vec<f64>,
        repairing: Vec<bool>,
        rtt: Vec<f64>,
        cut: Vec<bool>,
        cwnd: Vec<f64>,
        ssthresh: Vec<f64>,
    ) -> PyResult<()> {
        if stream >= self.0.controllers().count() {
            return Err(ScenarioError::new_err(format!("there is no stream {stream}")));
        }
        if [acked.len(), repairing.len(), rtt.len(), cut.len(), cwnd.len(), ssthresh.len()] != [times.len(); 6] {
            return Err(ScenarioError::new_err("the columns must be of one length"));
        }
        let mut before = Time::ZERO;
        let shown = (0..times.len()).map(|i| {
            above_zero("cwnd", cwnd[i], "bytes")?;
            number::bytes("cwnd", cwnd[i])?;
            from("ssthresh", ssthresh[i], 1.0, "byte")?;
            Ok(Shown {
                at: number::later(&mut before, times[i])?,
                acked: number::bytes("acked", acked[i])?,
                repairing: repairing[i],
                rtt: if rtt[i].is_nan() { None } else { Some(number::span("rtt", rtt[i])?) },
                cut: cut[i],
                cwnd: cwnd[i],
                ssthresh: ssthresh[i],
            })
        });
        let shown = shown.collect::<PyResult<Vec<_>>>()?;
        guard(|| {
            self.0.follow(stream, &shown);
            Ok(())
        })?;
        self.check()
    }

    /// Goes on until `bytes` more are delivered, for `rounds` round trips at most: seconds, bytes delivered, round trips.
    fn run(&mut self, bytes: &Bound<'_, PyAny>, rounds: &Bound<'_, PyAny>) -> PyResult<(f64, f64, u64)> {
        let bytes = from("bytes", number::real("bytes", bytes, "bytes")?, 0.0, "bytes")?;
        let rounds = number::whole("rounds", rounds, u64::MAX)?;
        let reached = guard(|| Ok(self.0.run(bytes, rounds)))?;
        self.check()?;
        Ok((reached.time_s, reached.delivered_bytes, reached.rounds))
    }
}

impl Rounds {
    fn check(&self) -> PyResult<()> {
        self.0.controllers().try_for_each(guest::raise)
    }
}
