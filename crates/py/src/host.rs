//! The models of hosts without a network: the stepping classes behind `elephan.host`.

use elephan_host::transmit::Offer;
use elephan_host::{Line, Transmit};
use elephan_units::{Rate, Time};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{ScenarioError, guard, scenario_errors};
use crate::{json, number};

/// The transmit side of a host in front of its wire, stepped by hand.
#[pyclass(module = "elephan._core")]
pub struct TransmitSide {
    words: Transmit,
    line: Line,
    now: Time,
    /// Payload offered so far: segments follow each other.
    seq: u32,
}

#[pymethods]
impl TransmitSide {
    #[new]
    #[pyo3(signature = (rate, **params))]
    fn new(rate: f64, params: Option<&Bound<'_, PyDict>>) -> PyResult<TransmitSide> {
        if !(1.0..=1e14).contains(&rate) {
            return Err(ScenarioError::new_err(format!("rate must be from 1 to 1e14 bit/s, not {rate}")));
        }
        let table = params.map(json::table).transpose()?.unwrap_or_default();
        let words = guard(|| elephan_scenario::transmit("Transmit", table).map_err(scenario_errors))?;
        Ok(TransmitSide { words, line: Line::new(&words, Rate(rate.round() as u64)), now: Time::ZERO, seq: 0 })
    }

    /// The parameters, as a scenario writes them, as JSON.
    fn parameters(&self) -> PyResult<String> {
        json::text(&self.words)
    }

    /// A packet of `wire_bytes` comes, of which `payload` continue what `flow` sends. When its first and last bit leave the host; None
    /// if it is refused.
    #[pyo3(signature = (now, wire_bytes, payload=0.0, flow=0))]
    fn offer(&mut self, now: f64, wire_bytes: f64, payload: f64, flow: u32) -> PyResult<Option<(f64, f64)>> {
        let at = number::later(&mut self.now, now)?;
        let [wire, len] = [("wire_bytes", wire_bytes), ("payload", payload)].map(|(name, value)| {
            let whole = number::bytes(name, value)?;
            u32::try_from(whole).map_err(|_| ScenarioError::new_err(format!("{name} must be a packet's, not {value}")))
        });
        let (wire, len) = (wire?, len?);
        if wire == 0 {
            return Err(ScenarioError::new_err("wire_bytes must be at least 1, not 0"));
        }
        let taken = self.line.offer(&Offer { at, flow, seq: self.seq, len }, wire);
        if taken.is_some() {
            self.seq = self.seq.wrapping_add(len);
        }
        Ok(taken.map(|(start, end)| (start.seconds(), end.seconds())))
    }

    /// Packets in the qdisc and in the ring at `now`.
    fn waiting(&mut self, now: f64) -> PyResult<(u64, u64)> {
        let at = number::later(&mut self.now, now)?;
        Ok(self.line.split(at))
    }

    /// Packets that were refused.
    #[getter]
    fn refused(&self) -> u64 {
        self.line.refused
    }

    fn __repr__(&self) -> String {
        format!("<transmit side: txqueuelen {}, ring {}>", self.words.txqueuelen, self.words.ring)
    }
}
