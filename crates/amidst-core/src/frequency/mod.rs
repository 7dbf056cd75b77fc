//! The frequency set: the distinct (quasi tuple, sensitive tuple) combinations of a table, with their counts.
//!
//! Everything that privacy models, metrics and full-domain algorithms look at. Rows come back only when a recoding is
//! applied. May use: `ids`, `table`; `rolled` also `hierarchy`, and what that uses.

mod count;
pub(crate) mod counting;
mod groups;
pub mod rolled;
mod set;
mod tally;

pub(crate) use groups::add_up;
pub use groups::{Entry, Groups, NOBODY, rows, size};
pub use set::{FrequencySet, histogram, histogram_into};
