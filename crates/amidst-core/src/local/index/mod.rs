//! Indexes over shapes and people, which answer without looking at everything.
//!
//! May use: `class`, `local::shape`, and what those use.

mod ascending;
pub mod kd_tree;
pub mod population;

pub use kd_tree::Tree;
pub use population::PopulationIndex;
