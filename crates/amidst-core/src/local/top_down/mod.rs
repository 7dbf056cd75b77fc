//! The steps of top-down specialization.
//!
//! May use: `local::shape`, `local::class`.

pub(crate) mod plain;
pub(crate) mod specialize;
