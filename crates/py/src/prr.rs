//! Proportional rate reduction without a network: the stepping class behind `elephan.prr.Recovery`.

use elephan_tcp::prr::{Prr, Variant};
use pyo3::prelude::*;

use crate::errors::{ScenarioError, scenario_error};
use crate::number;

/// One fast recovery, stepped by hand. All sizes are bytes.
#[pyclass(module = "elephan._core")]
pub struct PrrRecovery {
    prr: Prr,
    mss: u64,
    started: bool,
    /// What the last ACK allowed, which is taken for sent.
    allowed: u64,
}

#[pymethods]
impl PrrRecovery {
    #[new]
    #[pyo3(signature = (mss=1448.0, variant="rfc9937"))]
    fn new(mss: f64, variant: &str) -> PyResult<PrrRecovery> {
        let known: Result<Variant, _> = serde_json::from_value(variant.into());
        let variant = known.map_err(|error| scenario_error(format!("variant: {error}")))?;
        let mss = number::bytes("mss", mss)?;
        if mss == 0 {
            return Err(ScenarioError::new_err("mss must be at least 1 byte, not 0"));
        }
        Ok(PrrRecovery { prr: Prr::new(variant), mss, started: false, allowed: 0 })
    }

    /// Recovery begins with `inflight` bytes in flight (RecoverFS) and is to end at `ssthresh`. `cwnd` is the window before.
    fn start(&mut self, cwnd: f64, ssthresh: f64, inflight: f64) -> PyResult<()> {
        number::bytes("cwnd", cwnd)?;
        self.prr.start(self.mss, number::bytes("ssthresh", ssthresh)?, number::bytes("inflight", inflight)?);
        (self.started, self.allowed) = (true, 0);
        Ok(())
    }

    /// An ACK that delivered `delivered` bytes and left `pipe` in flight; returns the bytes allowed to be sent. They count
    /// as sent unless `on_sent` says otherwise.
    #[pyo3(signature = (delivered, pipe, safe=true))]
    fn on_ack(&mut self, delivered: f64, pipe: f64, safe: bool) -> PyResult<u64> {
        if !self.started {
            return Err(ScenarioError::new_err(
                "on_ack before start: a recovery begins with start(cwnd, ssthresh, inflight)",
            ));
        }
        self.allowed = self.prr.on_ack(number::bytes("delivered", delivered)?, number::bytes("pipe", pipe)?, safe);
        self.prr.on_sent(self.allowed);
        Ok(self.allowed)
    }

    /// So many bytes were really sent after the last ACK.
    fn on_sent(&mut self, bytes: f64) -> PyResult<()> {
        let bytes = number::bytes("bytes", bytes)?;
        self.prr.take_back(self.allowed);
        self.prr.on_sent(bytes);
        self.allowed = bytes;
        Ok(())
    }
}
