//! Every comparison that a verdict hangs on, free of rounding.
//!
//! A class sitting exactly on a bound is the normal case (k rows, l equal counts), so verdicts are decided in integers
//! and rationals here, and nowhere else. Where logarithms come in, floating point decides only what its error bound
//! covers; what is left is decided by [`logarithm::LogSum`], exactly.
//!
//! May use: `class`, and what those use.

pub mod divergence;
pub mod earth_mover;
pub mod entropy;
pub(crate) mod largest_part;
pub mod logarithm;
pub mod power;
mod rational;
pub mod recursive;
pub mod weight;

pub use rational::{Rational, RationalError};
