//! Policy in, release and report out: what the command line, the Python package and the studio share.
//!
//! A [`policy::Policy`] says what a table's columns are and what a release must satisfy.

pub mod policy;
