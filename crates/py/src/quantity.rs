//! Texts that are a number with a unit, read as the scenario language reads them.

use elephan_scenario::Quantity;
use elephan_units::parse_amount;
use pyo3::prelude::*;

use crate::errors::ScenarioError;

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(quantity, module)?)?;
    module.add_function(wrap_pyfunction!(amount, module)?)
}

/// The number that a text says in seconds, bit/s or bytes; `kind` is `time`, `rate` or `size`.
#[pyfunction]
fn quantity(kind: &str, text: &str) -> PyResult<f64> {
    let quantity =
        Quantity::named(kind).ok_or_else(|| ScenarioError::new_err(format!("no kind of quantity {kind:?}")))?;
    quantity.read(text).map_err(ScenarioError::new_err)
}

/// The number with which a text begins and what follows it; none if it begins with no number.
#[pyfunction]
fn amount(text: &str) -> Option<(f64, String)> {
    parse_amount(text)
}
