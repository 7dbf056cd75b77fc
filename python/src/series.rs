//! Tables that change: each call opens the series in its folder, does one thing, and closes it.

use std::path::Path;

use amidst::Failure;
use amidst::series::{self, Batch, Mode, Series};
use pyo3::prelude::*;

use crate::policy::Stated;
use crate::tables::Given;
use crate::worker::{Control, run, run_writing};

fn open(folder: &str) -> Result<Series, Failure> {
    Series::open(Path::new(folder))
}

/// Starts a series and publishes version 1.
#[pyfunction]
pub fn series_init(
    py: Python<'_>,
    folder: String,
    policy: Stated,
    mode: Option<String>,
    table: Option<Bound<'_, PyAny>>,
    control: Control,
) -> PyResult<String> {
    let given = Given::optional(table.as_ref(), &control)?;
    run_writing(py, &control, move |job| {
        let unknown = |mode: &str| Failure::Usage(format!("there is no mode `{mode}`; it is maintain or m-invariant"));
        let mode = mode.map(|mode| Mode::find(&mode).ok_or_else(|| unknown(&mode))).transpose()?;
        let published =
            series::init(Path::new(&folder), &policy.policy()?, mode, given.as_ref().map(Given::address), job)?;
        Ok(published.to_json().to_string())
    })
}

/// Applies a batch.
#[pyfunction]
pub fn series_apply(
    py: Python<'_>,
    folder: String,
    insert: Option<Bound<'_, PyAny>>,
    delete: Option<Bound<'_, PyAny>>,
    control: Control,
) -> PyResult<String> {
    let insert = Given::optional(insert.as_ref(), &control)?;
    let delete = Given::optional(delete.as_ref(), &control)?;
    run_writing(py, &control, move |job| {
        let address = |given: &Option<Given>| given.as_ref().map(Given::address);
        let batch = Batch { insert: address(&insert), delete: address(&delete) };
        Ok(open(&folder)?.apply(&batch, job)?.to_json().to_string())
    })
}

/// Publishes the next version.
#[pyfunction]
pub fn series_publish(
    py: Python<'_>,
    folder: String,
    safe: bool,
    allow_leak: bool,
    control: Control,
) -> PyResult<String> {
    run_writing(py, &control, move |job| {
        let mut series = open(&folder)?;
        let publish = if safe { Series::publish_safe } else { Series::publish };
        Ok(publish(&mut series, allow_leak, job)?.to_json().to_string())
    })
}

/// What publishing would do now.
#[pyfunction]
pub fn series_plan(py: Python<'_>, folder: String, control: Control) -> PyResult<String> {
    run(py, &control, move |job| Ok(open(&folder)?.plan(job)?.to_json().to_string()))
}

/// What all versions together leave.
#[pyfunction]
pub fn series_audit(py: Python<'_>, folder: String, control: Control) -> PyResult<String> {
    run(py, &control, move |job| Ok(open(&folder)?.audit(job)?.to_json().to_string()))
}

/// What happened so far.
#[pyfunction]
pub fn series_log(py: Python<'_>, folder: String, control: Control) -> PyResult<String> {
    run(py, &control, move |_| Ok(open(&folder)?.log()?.to_json().to_string()))
}

/// Lets values in that nobody had so far.
#[pyfunction]
pub fn series_extend(py: Python<'_>, folder: String, policy: Stated, control: Control) -> PyResult<String> {
    run_writing(py, &control, move |job| Ok(open(&folder)?.extend(&policy.policy()?, job)?.to_json().to_string()))
}

/// Takes the last batch back.
#[pyfunction]
pub fn series_undo(py: Python<'_>, folder: String, control: Control) -> PyResult<String> {
    run_writing(py, &control, move |_| Ok(open(&folder)?.undo()?.to_json().to_string()))
}
