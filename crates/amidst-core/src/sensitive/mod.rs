//! Sensitive columns: their domains, the categories of their values, and what an adversary believes of them.
//!
//! May use: `table`, `exact`, `class`, `parameter`, `frequency`.

pub mod belief;
pub mod categories;
mod domain;

pub use domain::SensitiveDomain;
