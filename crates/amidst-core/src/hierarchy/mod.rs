//! Generalization hierarchies: how a value becomes less precise, level by level, up to one single top.
//!
//! A [`Hierarchy`] is a tree of labels, made by one of the [`BUILDERS`]. A [`Generalization`] is that tree bound to the
//! values a column really has; searches work on it, in codes.
//!
//! May use: `exact`, `parameter`, `table`, and what those use.

mod builder;
mod error;
mod generalization;
mod guess;
mod line;
mod recipe;
mod separated;
#[cfg(test)]
mod tests;
mod tree;

pub use builder::{
    BUILDERS, Builder, TAXONOMY, build, builder_of, implied_order, is_by_value, is_numeric, reads_file, remarks,
};
pub use error::{Defect, HierarchyError};
pub use generalization::{Cell, Generalization, Generalize, GeneralizedLevel};
pub use guess::{Suggestion, guess, guess_code, guess_counted};
pub use recipe::Recipe;
pub use tree::{Hierarchy, Level, TOP};
