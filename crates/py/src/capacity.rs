//! What links that follow traces can carry.

use elephan_scenario::{Link, Source};
use elephan_units::Time;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{guard_long, scenario_errors};
use crate::watcher::Cancel;

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(capacities, module)?)
}

/// Reads a resolved scenario and gives for each port whose rate follows a trace the bits that it can carry from the start of the run
/// to each of these times, in nanoseconds, and by how many bytes what a packet takes of them differs from what it takes of the wire.
#[pyfunction]
#[pyo3(signature = (scenario, times_ns, cancel=None))]
fn capacities<'py>(
    py: Python<'py>,
    scenario: &str,
    times_ns: Vec<u64>,
    cancel: Option<&Bound<'_, Cancel>>,
) -> PyResult<Bound<'py, PyDict>> {
    let flag = cancel.map(|cancel| cancel.get().flag());
    let read = || elephan_scenario::read(&Source::toml("scenario.toml", scenario), &[], None);
    let resolved = py.detach(|| guard_long(flag, || read().map_err(scenario_errors)))?;
    let told = PyDict::new(py);
    for link in &resolved.plan.links {
        let Some(rate) = &link.driven.rate else { continue };
        let upto = |&ns: &u64| rate.capacity(Time::ZERO, Time(ns.saturating_mul(1000)));
        let bits: Vec<f64> = times_ns.iter().map(upto).collect();
        let more = rate.overhead().map_or(0.0, |bytes| f64::from(bytes) - f64::from(framed(link)));
        told.set_item(&link.name, (bits, more))?;
    }
    Ok(told)
}

/// What the framing of a link puts around a full packet, in bytes.
fn framed(link: &Link) -> u32 {
    const FULL: u32 = 1500;
    link.framing.cost().wire_bytes(FULL) - FULL
}
