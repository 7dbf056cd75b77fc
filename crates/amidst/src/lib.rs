//! Amidst publishes tables about people without publishing anyone: a table and a policy go in, a release in which every
//! person stands amidst others comes out, with a certificate that an outsider can check.
//!
//! ```
//! use amidst::prelude::*;
//!
//! let rows = [
//!     ["29", "13053", "flu"], ["28", "13068", "flu"], ["21", "13068", "cancer"], ["23", "13053", "angina"],
//!     ["50", "14853", "cancer"], ["55", "14853", "angina"], ["47", "14850", "flu"], ["49", "14850", "angina"],
//! ];
//! let table = Table::from_rows(["age", "zip", "disease"], rows);
//! let policy = Policy::builder()
//!     .quasi("age", intervals([10, 20, 40]))
//!     .quasi("zip", mask(5))
//!     .sensitive("disease")
//!     .require(k_anonymity(4))
//!     .require(distinct_l_diversity(3))
//!     .build()?;
//! let release = anonymize_table(&policy, table, &Job::default())?;
//! assert_eq!((release.outcome.rows_out, release.certificate.classes), (8, 2));
//! assert!(release.text().unwrap_or_default().starts_with("age,zip,disease"));
//! # Ok::<(), Failure>(())
//! ```
//!
//! # The main types
//!
//! - [`policy::Policy`]: what a table's columns are and what a release must satisfy; read from TOML or [built in
//!   code](policy::Policy::builder).
//! - [`prepare::Prepared`]: policy and table bound together, counted, ready to be searched.
//! - [`anonymize::Release`]: a release in memory with its certificate and reports; [`anonymize::anonymize`] publishes
//!   one into a folder instead.
//! - [`job::Job`]: how a caller stops a job, watches it, and limits its threads.
//! - [`Failure`]: why there is no result.
//!
//! [`init`] drafts a policy for a table that has none yet; [`mod@recode`] recodes further rows as a release
//! was; [`series`] publishes a table that changes, version by version; [`mod@attack`], [`mod@audit`], [`population`],
//! [`mod@explore`] and [`mod@verify`] tell what tables, lattices and releases are worth, and [`report`] tells it to
//! people. The science itself is in [`core`], the independent checker in [`check`], formats in [`io`]. The folder
//! `examples` has a short program for each.

pub mod anonymize;
pub mod attack;
pub mod audit;
mod checker_input;
pub mod commit;
pub mod control_group;
pub mod engine;
pub mod explore;
mod external;
mod failure;
pub mod files;
pub mod folder;
pub mod init;
pub mod job;
pub mod json;
pub mod json_output;
mod memory;
pub mod open;
pub mod overview;
mod own_distribution;
pub mod plan;
pub mod policy;
pub mod policy_check;
pub mod population;
pub mod prelude;
pub mod prepare;
pub mod publish;
mod raw;
pub mod recode;
pub mod release;
mod remedy;
pub mod report;
pub mod sample;
pub mod saved;
pub mod scratch;
pub mod search;
pub mod series;
pub mod sign;
pub mod unique;
pub mod utility;
pub mod verify;
pub mod words;

pub use amidst_check as check;
pub use amidst_core as core;
pub use amidst_io as io;
pub use failure::{Advised, Failure};
pub use memory::peak_bytes as peak_memory_bytes;
pub use policy::nearest;
pub use remedy::{Lacks, Remedy};

/// Name and version, as certificates and reports state them.
pub const TOOL: &str = concat!("amidst ", env!("CARGO_PKG_VERSION"));

/// The page about the library, whose programs are tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/library.md")]
pub struct LibraryPage;
