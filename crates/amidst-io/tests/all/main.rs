//! Tests of the crate from outside, in one program so that the formats are linked once.

mod bad_input;
mod csv;
mod formats;
