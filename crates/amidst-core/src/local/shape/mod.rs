//! Shapes: the tightest generalized tuple over some rows, what it costs, and bounds of that.
//!
//! May use: `hierarchy`, `metric`.

pub(in crate::local) mod ancestors;
mod axis;
mod branch_bound;
mod bulk_shapes;
pub(crate) mod minimum;
pub mod space;
mod word;

pub use space::{Cuts, Space};
pub use word::{Hull, HullWord, Shape, ShapeWord};
