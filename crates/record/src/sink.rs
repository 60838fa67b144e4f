//! Where sealed batches go: memory, or one Parquet file.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::RecordBatch;
use arrow_schema::{DataType, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding};
use parquet::errors::ParquetError;
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::schema::types::ColumnPath;

use crate::Error;
use crate::spec::Spec;
use crate::table::ROW_GROUP_ROWS;

/// The author in the footer; the version of the library would make equal tables differ from release to release.
const CREATED_BY: &str = "elephan";

/// Where the batches of a table go.
pub(crate) enum Sink {
    Memory(Vec<RecordBatch>),
    File(Box<FileSink>),
}

/// A Parquet file being written.
pub(crate) struct FileSink {
    path: String,
    writer: ArrowWriter<Latch>,
    failure: Arc<Mutex<Option<String>>>,
}

impl Sink {
    /// The file of a table in an existing folder.
    pub(crate) fn in_folder(folder: &Path, spec: &Spec) -> Result<Sink, Error> {
        Sink::file(&folder.join(format!("{}.parquet", spec.name)), spec.schema())
    }

    fn file(path: &Path, schema: SchemaRef) -> Result<Sink, Error> {
        let named = |error: io::Error| Error { path: path.display().to_string(), reason: error.to_string() };
        let file = File::create(path).map_err(named)?;
        Sink::writer(path, schema, Box::new(BufWriter::with_capacity(1 << 18, file)))
    }

    pub(crate) fn writer(path: &Path, schema: SchemaRef, inner: Box<dyn Write + Send>) -> Result<Sink, Error> {
        let path = path.display().to_string();
        let failure = Arc::new(Mutex::new(None));
        let latch = Latch { inner, failure: failure.clone() };
        let properties = properties(&schema);
        match ArrowWriter::try_new(latch, schema, Some(properties)) {
            Ok(writer) => Ok(Sink::File(Box::new(FileSink { path, writer, failure }))),
            Err(error) => Err(Error { path, reason: reason(&failure, &error) }),
        }
    }

    pub(crate) fn store(&mut self, batch: RecordBatch) -> Result<(), Error> {
        match self {
            Sink::Memory(batches) => {
                batches.push(batch);
                Ok(())
            }
            Sink::File(file) => {
                file.writer.write(&batch).and_then(|()| file.writer.flush()).map_err(|e| file.error(&e))
            }
        }
    }

    /// What is in memory.
    pub(crate) fn batches(&self) -> &[RecordBatch] {
        match self {
            Sink::Memory(batches) => batches,
            Sink::File(_) => &[],
        }
    }

    pub(crate) fn finish(self) -> Result<Vec<RecordBatch>, Error> {
        match self {
            Sink::Memory(batches) => Ok(batches),
            Sink::File(mut file) => {
                let written = file.writer.finish().map(|_| ());
                let flushed = written.and_then(|()| file.writer.inner_mut().flush().map_err(ParquetError::from));
                flushed.map(|()| Vec::new()).map_err(|error| file.error(&error))
            }
        }
    }
}

impl FileSink {
    fn error(&self, error: &ParquetError) -> Error {
        Error { path: self.path.clone(), reason: reason(&self.failure, error) }
    }
}

/// What the system said when the writer failed, else what the Parquet library said.
fn reason(failure: &Mutex<Option<String>>, error: &ParquetError) -> String {
    let latched = failure.lock().unwrap_or_else(PoisonError::into_inner).clone();
    latched.unwrap_or_else(|| error.to_string())
}

/// Integers are kept as differences: half the time and less space than a dictionary first, since times, identifiers and
/// cumulative counters change by little from row to row. Text and floats keep the dictionary.
fn properties(schema: &Schema) -> WriterProperties {
    let integers = schema.fields().iter().filter(|field| field.data_type() == &DataType::Int64);
    let paths = integers.map(|field| ColumnPath::new(vec![field.name().clone()]));
    let common = WriterProperties::builder()
        .set_created_by(CREATED_BY.to_string())
        .set_writer_version(WriterVersion::PARQUET_2_0)
        .set_compression(Compression::SNAPPY)
        .set_max_row_group_row_count(Some(ROW_GROUP_ROWS));
    paths
        .fold(common, |properties, path| {
            properties
                .set_column_dictionary_enabled(path.clone(), false)
                .set_column_encoding(path, Encoding::DELTA_BINARY_PACKED)
        })
        .build()
}

/// Passes writes on and keeps the first failure in the system's own words, which the Parquet library would wrap.
struct Latch {
    inner: Box<dyn Write + Send>,
    failure: Arc<Mutex<Option<String>>>,
}

impl Latch {
    fn keep<T>(&self, result: io::Result<T>) -> io::Result<T> {
        if let Err(error) = &result
            && error.kind() != io::ErrorKind::Interrupted
        {
            let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
            failure.get_or_insert_with(|| error.to_string());
        }
        result
    }
}

impl Write for Latch {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let result = self.inner.write(bytes);
        self.keep(result)
    }

    fn flush(&mut self) -> io::Result<()> {
        let result = self.inner.flush();
        self.keep(result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::Names;
    use crate::rows::MessageRow;
    use crate::table::{Row, Table};

    /// Multiplier of Knuth's MMIX generator: its sequence does not compress, nor do its differences.
    const MMIX: i64 = 6_364_136_223_846_793_005;

    /// A disk with room for `left` bytes.
    struct SmallDisk {
        left: usize,
    }

    impl Write for SmallDisk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let taken = bytes.len().min(self.left);
            self.left -= taken;
            if taken == 0 { Err(io::ErrorKind::StorageFull.into()) } else { Ok(taken) }
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn fill(room: usize, rows: i64) -> Result<(), Error> {
        let disk = Box::new(SmallDisk { left: room });
        let sink = Sink::writer(Path::new("results/x/messages.parquet"), MessageRow::SPEC.schema(), disk)?;
        let mut table: Table<MessageRow> = Table::new(Names::shared(), sink);
        let mut size_bytes = 1;
        for _ in 0..rows {
            size_bytes = MMIX.wrapping_mul(size_bytes).wrapping_add(1_442_695_040_888_963_407);
            table.push(MessageRow { size_bytes, ..MessageRow::default() });
        }
        let checked = table.check();
        let finished = table.finish().map(|_| ());
        assert!(checked.is_ok() || finished == checked, "finish repeats the first error");
        finished
    }

    #[test]
    fn a_full_disk_is_an_error_wherever_it_strikes() {
        let expected = Error {
            path: "results/x/messages.parquet".to_string(),
            reason: io::Error::from(io::ErrorKind::StorageFull).to_string(),
        };
        // In the magic number, in the first row group, in a later one.
        for room in [0, 3, 100, 50_000, 1_000_000] {
            assert_eq!(fill(room, 200_000), Err(expected.clone()), "{room} bytes free");
        }
        assert_eq!(fill(4, 0), Err(expected), "in the footer");
        assert_eq!(fill(usize::MAX, 200_000), Ok(()));
    }
}
