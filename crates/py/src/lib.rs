//! `elephan._core`: the Rust side of the Python package, conversions only.
//!
//! The rule of this layer: nothing is simulated, checked or decided here. Text, numbers and Arrow data cross in both
//! directions; the interpreter lock is released while Rust works; an error becomes a Python exception with one line, and a
//! panic is an error like any other (`errors::guard`).

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "conversions wait for threads and clocks of a caller"
)]

mod branch;
mod capacity;
mod cc;
mod disk;
#[cfg(unix)]
mod ends;
mod errors;
mod explore;
mod fates;
mod guest;
mod host;
mod json;
mod l2;
mod listing;
mod memory;
mod network;
mod number;
mod outcome;
mod packetdrill;
mod prr;
mod quantity;
mod queue;
mod ranks;
mod receive;
mod rounds;
mod rtt;
mod run;
mod scenario;
mod stats;
mod tables;
mod tcp;
mod toml;
mod trace;
mod watcher;

use pyo3::prelude::*;

/// The compiled core of elephan.
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    errors::register(module)?;
    #[cfg(unix)]
    ends::register(module)?;
    guest::register(module)?;
    listing::register(module)?;
    quantity::register(module)?;
    ranks::register(module)?;
    scenario::register(module)?;
    stats::register(module)?;
    toml::register(module)?;
    watcher::register(module)?;
    outcome::register(module)?;
    run::register(module)?;
    branch::register(module)?;
    network::register(module)?;
    capacity::register(module)?;
    trace::register(module)?;
    fates::register(module)?;
    packetdrill::register(module)?;
    module.add_class::<cc::Cc>()?;
    module.add_function(wrap_pyfunction!(cc::check_built_in, module)?)?;
    module.add_class::<disk::DiskModel>()?;
    module.add_class::<explore::Desk>()?;
    module.add_class::<host::TransmitSide>()?;
    module.add_class::<receive::ReceiveSide>()?;
    module.add_class::<receive::SackWalker>()?;
    module.add_class::<l2::CongestionPoint>()?;
    module.add_class::<l2::ReactionPoint>()?;
    module.add_class::<prr::PrrRecovery>()?;
    module.add_class::<queue::PyQueue>()?;
    module.add_class::<rounds::Rounds>()?;
    module.add_class::<rtt::RttEstimator>()?;
    module.add_class::<tables::Table>()?;
    module.add_class::<tcp::TcpEndpoint>()?;
    Ok(())
}
