//! Tables in and out: Arrow streams, and addresses.

use std::io::Cursor;

use amidst::Failure;
use amidst::core::table::Table;
use amidst::io::{Format, Lent, WriteOptions};
use arrow_ipc::reader::FileReader;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyString};
use pyo3_arrow::PyTable;

use crate::errors::error;

/// A table that a caller gave: an address, or rows that are lent for as long as this lives.
pub enum Given {
    /// A path, a database, …
    Address(String),
    /// Rows in memory.
    Rows(Lent),
}

impl Given {
    /// A text is an address, and whatever streams Arrow is a table.
    pub fn of(object: &Bound<'_, PyAny>) -> PyResult<Given> {
        if let Ok(address) = object.cast::<PyString>() {
            return Ok(Given::Address(address.to_string()));
        }
        let py = object.py();
        let refused = |e: PyErr| {
            // What the library of the frame says may quote a value.
            let kind = e.get_type(py).name().map(|n| n.to_string()).unwrap_or_default();
            error(
                py,
                "DataError",
                &format!("the table cannot be read as an Arrow stream ({kind}); convert its columns first"),
            )
        };
        let stream = object.call_method0("__arrow_c_stream__").map_err(refused)?;
        let capsule = stream.cast_into::<PyCapsule>().map_err(|e| refused(e.into()))?;
        let (batches, schema) = PyTable::from_arrow_pycapsule(&capsule).map_err(refused)?.into_inner();
        Ok(Given::Rows(amidst::io::lend(schema, batches)))
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
        Ok(LentTable { given: Given::of(table)? })
    }

    /// What a policy names.
    fn address(&self) -> String {
        self.given.address()
    }
}

/// A table that was written as an Arrow file.
pub fn frame(py: Python<'_>, bytes: &[u8]) -> PyResult<PyTable> {
    let failed = |e: &dyn std::fmt::Display| error(py, "Error", &format!("the release cannot be read back: {e}"));
    let reader = FileReader::try_new(Cursor::new(bytes), None).map_err(|e| failed(&e))?;
    let schema = reader.schema();
    let batches = reader.collect::<Result<Vec<_>, _>>().map_err(|e| failed(&e))?;
    PyTable::try_new(batches, schema)
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
