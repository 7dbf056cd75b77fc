//! What Mondrian cuts, and where.
//!
//! May use: `local::shape`, `local::class`.

pub(crate) mod cut;
pub(crate) mod items;
mod set_values;
