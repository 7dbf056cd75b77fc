//! The `amidst` command, which comes with the package.

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs the command line; returns the exit code.
#[pyfunction]
pub fn command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| amidst_cli::main(arguments))
}
