//! Policy in, release and report out: what the command line, the Python package and the studio share.
//!
//! A [`policy::Policy`] says what a table's columns are and what a release must satisfy; [`prepare`] reads the table
//! and makes everything that a search needs; [`init`] drafts a policy for a table that nobody has described yet.

pub mod init;
pub mod policy;
pub mod prepare;
pub mod sample;
