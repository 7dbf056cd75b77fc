//! Building classes row by row: filling, placing, exchanging.
//!
//! May use: `random`, `local::shape`, `local::index`, `local::class`, and what those use.

pub mod anneal;
pub(crate) mod bucket_assembly;
pub(crate) mod completion;
pub mod join;
pub mod place_rows;
pub mod refine;
