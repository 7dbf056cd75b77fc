//! Every comparison that a verdict hangs on, free of rounding.
//!
//! A class sitting exactly on a bound is the normal case (k rows, l equal counts), so verdicts are decided in integers
//! and rationals here, and nowhere else.

mod rational;

pub use rational::{Rational, RationalError};
