//! Where the work on rows is done: the seam between a search and the machines that hold the table.
//!
//! A search looks at the frequency set only, so an engine has little to do: it [reads](Engine::read) a source into a
//! frequency set, and it [writes](Engine::write) what a recoding makes of the rows. [`Local`] does both in this process
//! and is what `amidst anonymize` uses; a cluster counts with a GROUP BY and recodes with joins, and everything between,
//! from the choice of the algorithm to the certificate, is the same code.

mod local;
mod parts;
mod remote;

use std::path::Path;

use amidst_core::recoding::Recoding;

use crate::Failure;
use crate::job::Job;
use crate::policy::Policy;
use crate::prepare::{LoadOptions, Prepared};
use crate::release::{Joined, Released};

pub use local::Local;
pub use parts::of_parts;
pub use remote::{
    Combinations, Counts, Divided, DivisibleTable, MinimumClass, RemoteTable, Removed, TailQuery, gather_for,
};

/// Does the work on rows.
pub trait Engine {
    /// How a release of this engine is laid out.
    fn layout(&self) -> Layout;

    /// Reads the source into a frequency set and everything else that a search needs. Progress and the wish to stop are
    /// in `options`.
    ///
    /// # Errors
    /// Whatever is wrong with the source, or does not fit the policy.
    fn read(&self, policy: &Policy, options: &LoadOptions<'_>) -> Result<Prepared, Failure>;

    /// Writes what a recoding makes of the rows into `folder`, which nobody else sees yet.
    ///
    /// # Errors
    /// Whatever keeps the release from being written whole.
    fn write(&self, recoded: &Recoded<'_>, folder: &Path, job: &Job<'_>) -> Result<Written, Failure>;
}

/// How a release is laid out in its folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// One file in the format that the policy asks for.
    File,
    /// A folder `release` of Parquet files.
    Parts,
}

/// A table and what becomes of it.
pub struct Recoded<'a> {
    /// What is wanted.
    pub policy: &'a Policy,
    /// The table.
    pub prepared: &'a Prepared,
    /// What its rows become.
    pub recoding: &'a Recoding,
    /// Rows that waived protection and joined the classes of others.
    pub joined: Option<&'a Joined>,
    /// The name of the released table in its folder.
    pub name: &'a str,
}

/// What an engine wrote.
pub struct Written {
    /// The files, relative to the folder, in the order of their rows.
    pub files: Vec<String>,
    /// What is in them.
    pub released: Released,
}

impl Recoded<'_> {
    /// The class of masked rows, whose published cells are all `*`.
    pub fn masked(&self) -> Option<u32> {
        self.recoding.masked
    }
}
