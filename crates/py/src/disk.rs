//! A disk without a network: the stepping class behind `elephan.disk`.

use elephan_host::disk::{Disk, DiskSpec};
use elephan_units::Time;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{guard, scenario_errors};
use crate::{json, number};

/// A disk stepped by hand.
#[pyclass(module = "elephan._core")]
pub struct DiskModel {
    spec: DiskSpec,
    disk: Disk,
    now: Time,
}

#[pymethods]
impl DiskModel {
    #[new]
    #[pyo3(signature = (**params))]
    fn new(params: Option<&Bound<'_, PyDict>>) -> PyResult<DiskModel> {
        let table = params.map(json::table).transpose()?.unwrap_or_default();
        guard(|| {
            let spec = elephan_scenario::disk("Disk", table).map_err(scenario_errors)?;
            Ok(DiskModel { disk: Disk::new(&spec), spec, now: Time::ZERO })
        })
    }

    /// When `size` bytes that are asked for now are in memory.
    fn read(&mut self, now: f64, size: f64) -> PyResult<f64> {
        let (at, bytes) = (number::later(&mut self.now, now)?, number::bytes("size", size)?);
        Ok(self.disk.read(at, bytes).seconds())
    }

    /// When `size` bytes that are written now are in the cache, and when on the disk.
    fn write(&mut self, now: f64, size: f64) -> PyResult<(f64, f64)> {
        let (at, bytes) = (number::later(&mut self.now, now)?, number::bytes("size", size)?);
        let written = self.disk.write(at, bytes);
        Ok((written.cached.seconds(), written.on_disk.seconds()))
    }

    /// Bytes in the cache that are not on the disk.
    fn cached_bytes(&self, now: f64) -> PyResult<u64> {
        Ok(self.disk.cached_bytes(number::time("now", now)?))
    }

    /// Rate of sequential reads in bit/s.
    #[getter]
    fn read_rate(&self) -> f64 {
        self.disk.read_rate().bps() as f64
    }

    /// Rate of sequential writes in bit/s.
    #[getter]
    fn write_rate(&self) -> f64 {
        self.disk.write_rate().bps() as f64
    }

    /// What it is in the words of a scenario, as JSON.
    fn parameters(&self) -> PyResult<String> {
        json::text(&self.spec)
    }

    fn __repr__(&self) -> String {
        format!("<disk: reads {}, writes {}>", self.disk.read_rate(), self.disk.write_rate())
    }
}
