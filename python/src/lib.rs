//! The native part of the Python package: what `amidst/*.py` calls.
//!
//! Everything that people see (classes, names, docstrings) is Python; here are only the calls into the library, with
//! tables that cross as Arrow streams and results that cross as JSON. No call holds the interpreter while it works, and
//! no panic leaves it.

mod command;
mod errors;
mod pictures;
mod policy;
mod registry;
mod release;
mod remedy;
mod series;
mod tables;
mod work;
mod worker;

use pyo3::prelude::*;

/// The native module.
#[pymodule]
mod _amidst {
    #[pymodule_export]
    use super::command::command;
    #[pymodule_export]
    use super::policy::{Document, check};
    #[pymodule_export]
    use super::registry::registries;
    #[pymodule_export]
    use super::release::{Release, anonymize, recode};
    #[pymodule_export]
    use super::series::{
        series_apply, series_audit, series_extend, series_init, series_log, series_plan, series_publish, series_undo,
    };
    #[pymodule_export]
    use super::tables::{LentTable, table_of};
    #[pymodule_export]
    use super::work::{attack, audit, explore, init, sample, sample_policy, survey, verify};

    use pyo3::prelude::*;

    #[pymodule_init]
    fn initialize(module: &Bound<'_, PyModule>) -> PyResult<()> {
        // What a panic says may quote a cell of the table, so it is not shown; the caller is told that there was one.
        std::panic::set_hook(Box::new(|_| {}));
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
