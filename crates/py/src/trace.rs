//! One capture: a file in, tables out, watched from Python.

use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use elephan_record::{Tables, TraceRecorder};
use elephan_trace::{Error, Files, Filter, Offset, OneWay, Options, Pair, Progress, Summary, Vantage};
use elephan_units::stop;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::json;

use crate::errors::{Cancelled, guard_long, output_error, run_error, scenario_error};
use crate::json;
use crate::memory;
use crate::tables::Table;
use crate::watcher::Cancel;

/// Python is asked for signals, and told how far the reading is, at most so often.
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

/// Hosts, ports, from and until: what of a capture is looked at.
type Chosen = (Vec<String>, Vec<u16>, Option<u64>, Option<u64>);

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Trace>()?;
    module.add_function(wrap_pyfunction!(analyze, module)?)?;
    module.add_function(wrap_pyfunction!(empty_trace, module)?)
}

/// What a capture gave.
#[pyclass(module = "elephan._core", frozen)]
pub struct Trace {
    summary: serde_json::Value,
    tables: Py<PyDict>,
}

#[pymethods]
impl Trace {
    /// The summary as JSON.
    #[getter]
    fn summary(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| guard_long(None, || json::text(&self.summary)))
    }

    /// The tables by name, for `pyarrow.table`; empty when they were written to a folder.
    #[getter]
    fn tables(&self, py: Python<'_>) -> Py<PyDict> {
        self.tables.clone_ref(py)
    }
}

/// Reads a capture of one or several files. `filter` has hosts, ports, and times since the first packet. Tables stay in memory or, with `folder`, an existing one, stream to `<table>.parquet` in it. `progress` is
/// called with (share of the file read, packets) at most ten times a second.
#[pyfunction]
#[pyo3(signature = (paths, folder=None, burst_gap_ns=None, every_ns=None, vantage=None, filter=None, focus=None, files=None, progress=None, cancel=None))]
#[expect(clippy::too_many_arguments, reason = "the Python function names each")]
fn analyze(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    folder: Option<PathBuf>,
    burst_gap_ns: Option<u64>,
    every_ns: Option<u64>,
    vantage: Option<&str>,
    filter: Option<Chosen>,
    focus: Option<i64>,
    files: Option<&str>,
    progress: Option<Py<PyAny>>,
    cancel: Option<&Bound<'_, Cancel>>,
) -> PyResult<Trace> {
    let vantage = match vantage {
        None => None,
        Some(name) => {
            let known = Vantage::named(name);
            Some(known.ok_or_else(|| {
                scenario_error(format!("a capture is made at sender, receiver or between, not {name:?}"))
            })?)
        }
    };
    let defaults = Options::default();
    let filter = filter.map(|(hosts, ports, from_ns, until_ns)| Filter { hosts, ports, from_ns, until_ns });
    let filter = filter.unwrap_or_default();
    let files = files.and_then(Files::named).unwrap_or_default();
    let burst_gap_ns = burst_gap_ns.unwrap_or(defaults.burst_gap_ns);
    let options = Options { burst_gap_ns, every_ns, vantage, filter, focus, files };
    let flag = cancel.map(|cancel| cancel.get().flag());
    let in_folder = folder.is_some();
    let mut looked = Instant::now();
    let mut raised = None;
    let stop = flag.clone();
    let mut watch = |at: &Progress| {
        if stop.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            return false;
        }
        if stop::memory_is_short() {
            raised = Some(memory::error());
            return false;
        }
        if looked.elapsed() < BETWEEN_LOOKS {
            return true;
        }
        looked = Instant::now();
        let told = Python::attach(|py| {
            py.check_signals()?;
            progress.as_ref().map_or(Ok(()), |callback| callback.call1(py, (at.share, at.packets)).map(drop))
        });
        raised = told.err();
        raised.is_none()
    };
    let outcome: PyResult<Result<(Summary, Tables), Error>> = py.detach(|| {
        guard_long(flag, || {
            let mut read = || -> Result<(Summary, Tables), Error> {
                let mut recorder = match &folder {
                    Some(folder) => TraceRecorder::to_folder(folder)?,
                    None => TraceRecorder::memory(),
                };
                let summary = elephan_trace::analyze(&paths, &options, &mut recorder, &mut watch)?;
                Ok((summary, recorder.finish()?))
            };
            Ok(read())
        })
    });
    let (summary, data) = outcome?.map_err(|error| match error {
        Error::Stopped => raised.unwrap_or_else(|| Cancelled::new_err(error.to_string())),
        Error::Input(_) => scenario_error(error.to_string()),
        Error::Record(_) => output_error(error),
    })?;
    let tables = PyDict::new(py);
    for table in data.into_iter().filter(|_| !in_folder) {
        tables.set_item(table.name, Table(table))?;
    }
    Ok(Trace { summary: told(&summary), tables: tables.unbind() })
}

/// The tables of a trace without rows, by name, for their columns.
#[pyfunction]
fn empty_trace(py: Python<'_>) -> PyResult<Py<PyDict>> {
    let tables = PyDict::new(py);
    for table in TraceRecorder::memory().finish().map_err(run_error)? {
        tables.set_item(table.name, Table(table))?;
    }
    Ok(tables.unbind())
}

fn told(s: &Summary) -> serde_json::Value {
    json!({
        "format": s.format, "packets": s.packets, "tcp_segments": s.tcp_segments, "udp_datagrams": s.udp_datagrams,
        "fragments": s.fragments, "other": s.other, "skipped": counts(&s.skipped), "tunnels": counts(&s.tunnels), "connections": s.connections, "begin_ns": s.begin_ns, "span_ns": s.span_ns, "notes": s.notes,
        "told": by_number(&s.told), "ranks": s.ranks, "pair": s.pair.as_ref().map(pair),
    })
}

fn pair(p: &Pair) -> serde_json::Value {
    let offset = |o: &Offset| {
        json!({
            "offset_ns": o.offset, "offset_error_ns": o.error, "offset_bound_ns": o.bound, "at_ns": o.middle,
            "drift_ppm": o.drift * 1e6, "drift_error_ppm": o.drift_error * 1e6,
        })
    };
    let one_way = |d: &OneWay| json!({ "packets": d.packets, "min_ns": d.least, "median_ns": d.median, "p95_ns": d.p95, "max_ns": d.most });
    let [there, back] = p.delays.each_ref().map(|delay| delay.as_ref().map(one_way));
    json!({
        "near": p.names[0], "far": p.names[1], "matched": p.matched, "clock": p.offset.as_ref().map(offset),
        "there": there, "back": back, "retransmitted": p.retransmitted, "lost_between": p.lost_between, "lost_before": p.lost_before,
        "lost_behind": p.lost_behind, "needless": p.needless, "acks_lost": p.acks_lost, "missed_near": p.missed[0],
        "missed_far": p.missed[1], "receiver_ns": p.receiver, "sender_ns": p.sender, "told": p.lines,
    })
}

/// Sentences by the number of their connection.
fn by_number(told: &[(i64, Vec<String>)]) -> serde_json::Value {
    told.iter().map(|(number, lines)| (number.to_string(), serde_json::Value::from(lines.clone()))).collect()
}

/// Names and counts as an object.
fn counts<S: ToString>(pairs: &[(S, u64)]) -> serde_json::Value {
    pairs.iter().map(|(name, count)| (name.to_string(), serde_json::Value::from(*count))).collect()
}
