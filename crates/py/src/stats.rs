//! Statistics of repeated runs, which the page of `elephan explore` has from the same crate.

use elephan_stats::{Quantity, interval};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::ScenarioError;

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(intervals, module)?)?;
    module.add_function(wrap_pyfunction!(differences, module)?)?;
    module.add_function(wrap_pyfunction!(student, module)?)?;
    module.add_function(wrap_pyfunction!(detectable_difference, module)?)?;
    module.add_function(wrap_pyfunction!(bounds, module)?)?;
    module.add_function(wrap_pyfunction!(flow_names, module)?)
}

fn numbers(bytes: &[u8]) -> Vec<f64> {
    let one = |b: &[u8]| f64::from_bits(b.iter().rev().fold(0, |bits, &byte| bits << 8 | u64::from(byte)));
    bytes.chunks_exact(8).map(one).collect()
}

fn bytes<'py>(py: Python<'py>, numbers: impl Iterator<Item = f64>) -> Bound<'py, PyBytes> {
    PyBytes::new(py, &numbers.flat_map(f64::to_le_bytes).collect::<Vec<u8>>())
}

/// Means of rows of `columns` values with their intervals, as bytes of doubles. `low` and `top` are the bounds of each row. Answers 8
/// doubles a row: number of values, mean, low, high, least, most, spread, and 1 if the interval leaves out 0.
#[pyfunction]
fn intervals<'py>(
    py: Python<'py>,
    values: &[u8],
    columns: usize,
    low: &[u8],
    top: &[u8],
    level: f64,
) -> PyResult<Bound<'py, PyBytes>> {
    let (values, low, top) = (numbers(values), numbers(low), numbers(top));
    if values.len() != low.len() * columns || low.len() != top.len() {
        return Err(ScenarioError::new_err("a row of values has its bounds, low and top"));
    }
    let found = py.detach(|| {
        let row = |i: usize| interval(&values[i * columns..(i + 1) * columns], level, (low[i], top[i])).row();
        (0..low.len()).flat_map(row).collect::<Vec<f64>>()
    });
    Ok(bytes(py, found.into_iter()))
}

/// `a - b` of runs with the same seeds, as bytes of doubles; 0 where both are equal but for rounding.
#[pyfunction]
fn differences<'py>(py: Python<'py>, a: &[u8], b: &[u8]) -> Bound<'py, PyBytes> {
    bytes(py, elephan_stats::differences(&numbers(a), &numbers(b)).into_iter())
}

/// How many standard errors half of a t interval is; NaN for what is no number of degrees of freedom or no level.
#[pyfunction]
fn student(freedom: f64, level: f64) -> f64 {
    elephan_stats::student(freedom, level)
}

/// The smallest mean difference that a paired t test of as many pairs finds with probability `power`.
#[pyfunction]
fn detectable_difference(differences: &[u8], power: f64, level: f64) -> f64 {
    elephan_stats::detectable(&numbers(differences), power, level)
}

/// The smallest and the largest value of a `kind` of quantity, or of the difference of two.
#[pyfunction]
#[pyo3(signature = (kind, flows=0, difference=false))]
fn bounds(kind: &str, flows: u64, difference: bool) -> PyResult<(f64, f64)> {
    let found = Quantity::named(kind, flows);
    let kind = found.ok_or_else(|| ScenarioError::new_err(format!("no kind of quantity {kind:?}")))?;
    Ok(if difference { kind.bounds_of_difference() } else { kind.bounds() })
}

/// What a reader would call each flow, by its traffic entry, its ends and its congestion control (empty without one).
#[pyfunction]
fn flow_names(
    traffic: Vec<String>,
    source: Vec<String>,
    destination: Vec<String>,
    control: Vec<String>,
) -> Vec<String> {
    elephan_explore::flow_names(&traffic, &source, &destination, &control)
}
