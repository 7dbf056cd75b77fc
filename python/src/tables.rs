//! Tables in and out: Arrow streams, and addresses.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use amidst::Failure;
use amidst::core::table::Table;
use amidst::io::arrow_array::{RecordBatch, RecordBatchReader};
use amidst::io::arrow_schema::{ArrowError, SchemaRef};
use amidst::io::{Format, Lent, WriteOptions};
use arrow_buffer::Buffer;
use arrow_ipc::convert::fb_to_schema;
use arrow_ipc::reader::{FileDecoder, read_footer_length};
use arrow_ipc::{Block, root_as_footer};
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError, PySystemExit};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyString};
use pyo3_arrow::{PyRecordBatchReader, PyTable};

use crate::errors::{defect, error};
use crate::worker::{Control, run};

/// A table that a caller gave: an address, or rows that are lent for as long as this lives.
pub enum Given {
    /// A path, a database, …
    Address(String),
    /// Rows in memory.
    Rows(Lent),
}

impl Given {
    /// A text is an address, and whatever streams Arrow is a table, as is the capsule of a stream: nobody else holds
    /// what comes out of it, so its memory is free as soon as this is dropped.
    pub fn of(object: &Bound<'_, PyAny>, control: &Control) -> PyResult<Given> {
        if let Ok(address) = object.cast::<PyString>() {
            return Ok(Given::Address(address.to_string()));
        }
        let py = object.py();
        let reader = catch_unwind(AssertUnwindSafe(|| stream(object))).unwrap_or_else(|_| Err(defect(py)))?;
        // A stream may be a query that takes its time, or ask the interpreter for its rows.
        let drained = run(py, control, move |job| {
            let schema = reader.schema();
            let batches = reader.take_while(|_| !job.cancel.load(Ordering::Relaxed));
            Ok(batches.collect::<Result<Vec<_>, _>>().map(|batches| (schema, batches)))
        })?;
        let (schema, batches) = drained.map_err(|_| unreadable(py, "its stream broke off"))?;
        if schema.fields().is_empty() {
            return Err(error(py, "DataError", "the table has no columns; give one that has"));
        }
        // The thread that gives a table back may wait for the interpreter.
        Ok(Given::Rows(py.detach(move || amidst::io::lend(schema, batches))))
    }

    /// The same for a table that may be absent.
    pub fn optional(object: Option<&Bound<'_, PyAny>>, control: &Control) -> PyResult<Option<Given>> {
        object.map(|object| Given::of(object, control)).transpose()
    }

    /// What to name as a source.
    pub fn address(&self) -> String {
        match self {
            Given::Address(address) => address.clone(),
            Given::Rows(lent) => lent.address(),
        }
    }
}

/// A table in memory that policies can name by its address for as long as this lives.
#[pyclass(module = "amidst._amidst", frozen)]
pub struct LentTable {
    given: Given,
}

#[pymethods]
impl LentTable {
    #[new]
    fn new(table: &Bound<'_, PyAny>) -> PyResult<LentTable> {
        Ok(LentTable { given: Given::of(table, &Control::default())? })
    }

    /// What a policy names.
    fn address(&self) -> String {
        self.given.address()
    }
}

/// The stream of a table, or of its capsule.
fn stream(object: &Bound<'_, PyAny>) -> PyResult<Box<dyn RecordBatchReader + Send>> {
    let py = object.py();
    // What the library of the frame says may quote a value, and may be a panic. An interrupt is no failure of it.
    let refused = |e: PyErr| match interrupt(py, e) {
        Ok(interrupt) => interrupt,
        Err(e) => unreadable(py, &e.get_type(py).name().map(|n| n.to_string()).unwrap_or_default()),
    };
    let capsule = match object.cast::<PyCapsule>() {
        Ok(capsule) => capsule.clone(),
        Err(_) => {
            let made = object.call_method0("__arrow_c_stream__").map_err(refused)?;
            made.cast_into::<PyCapsule>().map_err(|e| refused(e.into()))?
        }
    };
    PyRecordBatchReader::from_arrow_pycapsule(&capsule).map_err(refused)?.into_reader()
}

/// The interrupt that an exception is, or stands for: a query of DuckDB that is interrupted fails with one of its own.
fn interrupt(py: Python<'_>, e: PyErr) -> Result<PyErr, PyErr> {
    if e.is_instance_of::<PyKeyboardInterrupt>(py) || e.is_instance_of::<PySystemExit>(py) {
        return Ok(e);
    }
    let named = e.get_type(py).name().is_ok_and(|name| name == "InterruptException");
    let told = e.is_instance_of::<PyRuntimeError>(py) && e.value(py).to_string() == "Query interrupted";
    if named || told { Ok(PyKeyboardInterrupt::new_err(())) } else { Err(e) }
}

fn unreadable(py: Python<'_>, why: &str) -> PyErr {
    let text = format!(
        "the table cannot be read as an Arrow stream ({why}); convert its columns first, e.g. to numbers or texts; \
         pyarrow.table(…) of it shows what its library says"
    );
    error(py, "DataError", &text)
}

/// A table that was written as an Arrow file. Its columns are the bytes of the file where they lie.
pub fn frame(py: Python<'_>, file: impl Into<Buffer>) -> PyResult<PyTable> {
    let read = batches(&file.into());
    let (schema, batches) = read.map_err(|e| error(py, "Error", &format!("the release cannot be read back: {e}")))?;
    PyTable::try_new(batches, schema)
}

fn batches(file: &Buffer) -> Result<(SchemaRef, Vec<RecordBatch>), ArrowError> {
    /// The length of the footer's length and of the word that ends a file.
    const TRAILER: usize = 10;
    let broken = || ArrowError::IpcError("the file is broken".into());
    let end = file.len().checked_sub(TRAILER).ok_or_else(broken)?;
    let length = read_footer_length(file[end..].try_into().map_err(|_| broken())?)?;
    let footer = file.get(end.checked_sub(length).ok_or_else(broken)?..end).ok_or_else(broken)?;
    let footer = root_as_footer(footer).map_err(|_| broken())?;
    let schema = Arc::new(fb_to_schema(footer.schema().ok_or_else(broken)?));
    let mut decoder = FileDecoder::new(Arc::clone(&schema), footer.version());
    let part = |block: &Block| {
        let length = i64::from(block.metaDataLength()).checked_add(block.bodyLength());
        let length = length.and_then(|length| usize::try_from(length).ok()).ok_or_else(broken)?;
        let start = usize::try_from(block.offset()).map_err(|_| broken())?;
        let inside = start.checked_add(length).is_some_and(|end| end <= file.len());
        if inside { Ok(file.slice_with_length(start, length)) } else { Err(broken()) }
    };
    for block in footer.dictionaries().iter().flatten() {
        decoder.read_dictionary(block, &part(block)?)?;
    }
    let mut batches = Vec::new();
    for block in footer.recordBatches().iter().flatten() {
        batches.extend(decoder.read_record_batch(block, &part(block)?)?);
    }
    Ok((schema, batches))
}

/// The table of an Arrow file.
#[pyfunction]
pub fn table_of(py: Python<'_>, bytes: &[u8]) -> PyResult<PyTable> {
    frame(py, bytes)
}

/// A table of codes as an Arrow file.
pub fn written(table: &Table) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    amidst::io::write_to(table, None, &mut bytes, Format::Arrow, &WriteOptions::default())
        .map_err(|e| Failure::Io(format!("cannot hand the table over: {e}")))?;
    Ok(bytes)
}
