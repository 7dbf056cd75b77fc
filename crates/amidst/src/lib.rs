//! Policy in, release and report out: what the command line, the Python package and the studio share.
//!
//! A [`policy::Policy`] says what a table's columns are and what a release must satisfy; [`prepare`] reads the table
//! and makes everything that a search needs; [`init`] drafts a policy for a table that nobody has described yet;
//! [`anonymize`] finds a release, has it checked and publishes it;
//! [`series`] publishes a table that changes, version by version;
//! [`mod@attack`], [`mod@audit`], [`population`], [`mod@explore`] and [`mod@verify`] tell what tables, lattices and
//! releases are worth, and [`report`] tells it to people.

pub mod anonymize;
pub mod attack;
pub mod audit;
mod beside;
mod checkable;
pub mod engine;
pub mod explore;
mod failure;
pub mod files;
pub mod folder;
pub mod init;
pub mod job;
pub mod json;
mod labels;
mod memory;
pub mod plan;
pub mod policy;
pub mod policy_check;
pub mod population;
pub mod prepare;
pub mod publish;
mod raw;
pub mod release;
pub mod report;
pub mod sample;
pub mod sarif;
pub mod saved;
pub mod scratch;
pub mod search;
pub mod series;
mod settling;
pub mod unique;
pub mod utility;
pub mod verify;
pub mod words;

pub use amidst_check as check;
pub use amidst_core as core;
pub use amidst_io as io;
pub use failure::Failure;
pub use memory::peak_bytes as peak_memory_bytes;
pub use policy::nearest;

/// Name and version, as certificates and reports state them.
pub const TOOL: &str = concat!("amidst ", env!("CARGO_PKG_VERSION"));
