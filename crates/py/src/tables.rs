//! Tables for Python through the Arrow C stream interface: `pyarrow.table(obj)` copies nothing.

use arrow_array::ffi_stream::{ArrowArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::{RecordBatch, RecordBatchIterator, RecordBatchReader};
use elephan_record::TableData;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::errors::run_error;

/// A table of a run. `pyarrow.table(table)` and every other consumer of the Arrow PyCapsule interface can read it.
#[pyclass(module = "elephan._core", frozen)]
pub struct Table(pub TableData);

#[pymethods]
impl Table {
    #[getter]
    fn name(&self) -> &'static str {
        self.0.name
    }

    #[getter]
    fn num_rows(&self) -> u64 {
        self.0.rows
    }

    #[getter]
    fn column_names(&self) -> Vec<&str> {
        self.0.schema.fields().iter().map(|field| field.name().as_str()).collect()
    }

    /// The Arrow PyCapsule interface. The schema asked for is a wish that may be ignored, says the specification.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let batches = self.0.batches.clone().into_iter().map(Ok);
        let reader: Box<dyn RecordBatchReader + Send> =
            Box::new(RecordBatchIterator::new(batches, self.0.schema.clone()));
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(reader), c"arrow_array_stream")
    }

    fn __repr__(&self) -> String {
        format!("<table {}: {} rows, {} columns>", self.0.name, self.0.rows, self.0.schema.fields().len())
    }
}

/// A table of Python's, such as one of pyarrow, under the name of one of ours. Its data are shared, not copied.
pub fn read(name: &'static str, table: &Bound<'_, PyAny>) -> PyResult<TableData> {
    let stream = table.call_method0("__arrow_c_stream__")?;
    let capsule = stream.cast::<PyCapsule>()?;
    let place = capsule.pointer_checked(Some(c"arrow_array_stream"))?.cast::<FFI_ArrowArrayStream>();
    // SAFETY: a capsule of this name holds such a stream, which is taken out of it: what is left there is released already.
    let reader = unsafe { ArrowArrayStreamReader::from_raw(place.as_ptr()) }.map_err(run_error)?;
    let schema = reader.schema();
    let batches: Vec<RecordBatch> = reader.collect::<Result<_, _>>().map_err(run_error)?;
    let rows = batches.iter().map(|batch| batch.num_rows() as u64).sum();
    Ok(TableData { name, schema, batches, rows })
}
