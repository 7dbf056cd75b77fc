//! The steps of top-down specialization.
//!
//! May use: `local::shape`, `local::class`.

pub(crate) mod specialize;
