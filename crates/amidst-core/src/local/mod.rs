//! What the algorithms of local recoding share: the cost of a class, the test of a class, and classes as a recoding.
//!
//! Rows that agree in every quasi and sensitive column are interchangeable, so everything here works on the entries of
//! the frequency set: a class holds a number of rows of each of some entries.
//!
//! May use: `search` and everything below it. Inside, from the bottom: `shape`, `index`, `class`; then `mondrian`,
//! `top_down`, `bound` and `build` beside each other; `finish` uses all.

pub mod bound;
pub mod build;
pub mod class;
pub(crate) mod finish;
#[cfg(test)]
pub(crate) mod fixture;
pub mod index;
pub(crate) mod mondrian;
pub mod shape;
pub(crate) mod top_down;
