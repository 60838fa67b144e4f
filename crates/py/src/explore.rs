//! The desk of `elephan explore`: requests as bytes in, frames as bytes out.

use std::path::PathBuf;
use std::sync::LazyLock;
use std::time::Instant;

use elephan_explore::{Limits, Setup, Trouble};
use elephan_record::Tables;
use elephan_scenario::Source;
use elephan_trace::Place;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde_json::Value;

use crate::errors::{guard, guard_long, run_error, scenario_error};
use crate::watcher::Cancel;
use crate::{scenario, tables};

/// Answers the requests of a page; several threads may ask at once.
#[pyclass(module = "elephan._core", frozen)]
pub struct Desk(elephan_explore::Desk);

/// Where the packets of a capture are.
#[derive(FromPyObject)]
enum Packets {
    Bytes(Vec<u8>),
    File(PathBuf),
}

/// Seconds since the first call.
fn clock() -> f64 {
    static BEGIN: LazyLock<Instant> = LazyLock::new(Instant::now);
    BEGIN.elapsed().as_secs_f64()
}

#[pymethods]
impl Desk {
    /// A desk over the scenarios of a library, pairs of name and text. `limits` is a JSON object of those that differ from the defaults.
    /// With `trusted`, the path of a scenario file, code and files that scenarios name are loaded as for a run of that file; `agreed`
    /// says which.
    #[new]
    #[pyo3(signature = (library, limits="{}", trusted=None, agreed=None))]
    fn new(
        py: Python<'_>,
        library: &str,
        limits: &str,
        trusted: Option<PathBuf>,
        agreed: Option<Py<PyAny>>,
    ) -> PyResult<Desk> {
        let library = serde_json::from_str(library).map_err(scenario_error)?;
        let limits: Limits = serde_json::from_str(limits).map_err(scenario_error)?;
        let name = trusted.as_ref().map_or("scenario".to_owned(), |path| path.display().to_string());
        let admit: Box<dyn Fn(Source) -> Source + Send + Sync> = match trusted {
            None => Box::new(|source| {
                let files = "a page reads no files; start elephan explore with --trust";
                let code = "a page runs no code; start elephan explore with --trust";
                elephan_explore::without_files_and_code(source, files, code)
            }),
            Some(_) => {
                let allowed = scenario::allowed(agreed.as_ref().map(|agreed| agreed.bind(py)))?;
                Box::new(move |source| {
                    let agreed = Python::attach(|py| agreed.as_ref().map(|agreed| agreed.clone_ref(py)));
                    scenario::with_consent(source, allowed.clone(), agreed)
                })
            }
        };
        let setup = Setup { name, library, limits, clock, engine: "native", admit };
        Ok(Desk(elephan_explore::Desk::new(setup)))
    }

    /// Opens tables by name (whatever has the Arrow PyCapsule interface) of a run that is over, whose resolved scenario is `text`, or of
    /// a capture; `summary` is JSON. `capture`: the path of the capture or its bytes, for who looks at its packets. Returns the handle.
    #[pyo3(signature = (text, summary, tables, capture=None))]
    fn load(
        &self,
        py: Python<'_>,
        text: Option<&str>,
        summary: &str,
        tables: &Bound<'_, PyDict>,
        capture: Option<Packets>,
    ) -> PyResult<u64> {
        let summary: Value = serde_json::from_str(summary).map_err(run_error)?;
        let known = elephan_record::specs().into_iter().chain(elephan_record::trace_specs());
        let mut found = Tables::new();
        for spec in known {
            if let Some(table) = tables.get_item(spec.name)? {
                found.push(tables::read(spec.name, &table)?);
            }
        }
        let capture = capture.map(|packets| match packets {
            Packets::Bytes(bytes) => Place::Memory("the capture".to_owned(), bytes.into()),
            Packets::File(path) => Place::File(path),
        });
        py.detach(|| {
            guard_long(None, || {
                self.0.load(text, summary, found, capture).map_err(|trouble| scenario_error(trouble.message))
            })
        })
    }

    /// Answers a request by calls of `emit(frame)`, which returns whether anybody still waits. Whatever goes wrong is a frame too.
    fn serve(
        &self,
        py: Python<'_>,
        request: &[u8],
        payload: &[u8],
        emit: Py<PyAny>,
        cancel: &Bound<'_, Cancel>,
    ) -> PyResult<()> {
        let flag = cancel.get().flag();
        let mut give = |frame: Vec<u8>| {
            Python::attach(|py| {
                let answer = emit.call1(py, (PyBytes::new(py, &frame),));
                answer.and_then(|answer| answer.is_truthy(py)).unwrap_or(false)
            })
        };
        let stop = flag.clone();
        let mut work = || {
            self.0.serve(request, payload, &stop, &mut give);
            Ok(())
        };
        let outcome = py.detach(|| guard_long(Some(flag), &mut work));
        if let Err(error) = outcome {
            let id = serde_json::from_slice::<Value>(request).map(|request| request["id"].clone()).unwrap_or_default();
            let line = error.value(py).to_string();
            return guard(|| {
                give(Trouble::from(line).frame(&id));
                Ok(())
            });
        }
        Ok(())
    }
}
