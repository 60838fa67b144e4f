//! What became of each transmission of one direction of a captured connection, as arrays for NumPy.

use std::path::PathBuf;
use std::sync::atomic::Ordering;

use elephan_trace::{Error, Fate, Fates, Options, Place, Progress, Vantage, listen};
use elephan_units::stop;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::errors::{Cancelled, guard_long, output_error, scenario_error};
use crate::memory;
use crate::watcher::Cancel;

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(fates, module)?)
}

/// Reads a capture again for one row of its connections; `most` is the payload of a full segment. Answers two dicts of arrays of f64 as
/// bytes: of transmissions `time_ns`, `begin`, `end`, `again`, `marked`, `covered_ns` (NaN: never) and `fate` (0 arrived, 1 lost, 2
/// unknown), and of answers `time_ns`, `ack`, `window`, `bytes`, `pieces`, `rtt_ns` (NaN: none), `sacked` and `marks`.
#[pyfunction]
#[pyo3(signature = (paths, connection, most, vantage=None, cancel=None))]
fn fates<'py>(
    py: Python<'py>,
    paths: Vec<PathBuf>,
    connection: i64,
    most: u32,
    vantage: Option<&str>,
    cancel: Option<&Bound<'_, Cancel>>,
) -> PyResult<(Bound<'py, PyDict>, Bound<'py, PyDict>)> {
    let options = Options { vantage: vantage.and_then(Vantage::named), ..Options::default() };
    let flag = cancel.map(|cancel| cancel.get().flag());
    let stop = flag.clone();
    let mut short = false;
    let mut watch = |_: &Progress| {
        short = stop::memory_is_short();
        !short && !stop.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed))
    };
    let read = py.detach(|| {
        guard_long(flag, || {
            let places: Vec<_> = paths.into_iter().map(Place::File).collect();
            let mut fates = Fates::new(most);
            let heard = listen(&places, &options, connection, &mut |heard| fates.heard(heard), &mut watch);
            Ok(heard.map(|()| fates.finish()))
        })
    })?;
    let (sent, answers) = read.map_err(|error| match error {
        Error::Stopped if short => memory::error(),
        Error::Stopped => Cancelled::new_err(error.to_string()),
        Error::Input(_) => scenario_error(error.to_string()),
        Error::Record(_) => output_error(error),
    })?;
    let fate = |fate| match fate {
        Fate::Arrived => 0.0,
        Fate::Lost => 1.0,
        Fate::Unknown => 2.0,
    };
    let time = |time: Option<u64>| time.map_or(f64::NAN, |time| time as f64);
    let told = [PyDict::new(py), PyDict::new(py)];
    let [of_sent, of_answers] = &told;
    let column = |of: &Bound<'py, PyDict>, name: &str, values: Vec<f64>| {
        let bytes: Vec<u8> = values.into_iter().flat_map(f64::to_le_bytes).collect();
        of.set_item(name, PyBytes::new(py, &bytes))
    };
    column(of_sent, "time_ns", sent.iter().map(|one| one.time_ns as f64).collect())?;
    column(of_sent, "begin", sent.iter().map(|one| one.begin as f64).collect())?;
    column(of_sent, "end", sent.iter().map(|one| one.end as f64).collect())?;
    column(of_sent, "again", sent.iter().map(|one| f64::from(u8::from(one.again))).collect())?;
    column(of_sent, "marked", sent.iter().map(|one| f64::from(u8::from(one.marked))).collect())?;
    column(of_sent, "covered_ns", sent.iter().map(|one| time(one.covered_ns)).collect())?;
    column(of_sent, "fate", sent.iter().map(|one| fate(one.fate)).collect())?;
    column(of_answers, "time_ns", answers.iter().map(|one| one.time_ns as f64).collect())?;
    column(of_answers, "ack", answers.iter().map(|one| one.ack as f64).collect())?;
    column(of_answers, "window", answers.iter().map(|one| one.window as f64).collect())?;
    column(of_answers, "bytes", answers.iter().map(|one| one.bytes as f64).collect())?;
    column(of_answers, "pieces", answers.iter().map(|one| one.pieces as f64).collect())?;
    column(of_answers, "rtt_ns", answers.iter().map(|one| time(one.rtt_ns)).collect())?;
    column(of_answers, "sacked", answers.iter().map(|one| f64::from(u8::from(one.sacked))).collect())?;
    column(of_answers, "marks", answers.iter().map(|one| one.marks as f64).collect())?;
    let [sent, answers] = told;
    Ok((sent, answers))
}
