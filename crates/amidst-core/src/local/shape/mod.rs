//! Shapes: the tightest generalized tuple over some rows, what it costs, and bounds of that.
//!
//! May use: `hierarchy`, `metric`.

pub(in crate::local) mod ancestors;
mod axis;
mod branch_bound;
mod bulk_shapes;
mod counted_sets;
pub(crate) mod minimum;
pub mod space;
mod word;

pub(crate) use counted_sets::CountedSets;
pub use space::{Cuts, Space};
pub use word::{Hull, HullWord, Shape, ShapeWord};
