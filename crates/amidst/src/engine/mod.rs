//! Where the work on rows is done: the seam between a policy and the machines that hold the table.
//!
//! A search looks at the frequency set only, so an engine has little to do: it [reads](Engine::read) a source into a
//! frequency set, and it [writes](Engine::write) what a recoding makes of the rows. The [search](Engine::search)
//! between them happens in this process, unless the table is too large to be gathered: then the engine helps
//! ([`core::internal::partial`](amidst_core::internal::partial)). [`Local`] is what `amidst anonymize` uses; a cluster
//! counts with a GROUP BY and recodes with joins, and everything else, from the choice of the algorithm to the
//! certificate, is the same code.
//!
//! May use: `policy`, `prepare`, `plan`, `search`, `release`; core and `amidst-io`.

mod local;
mod parts;
#[cfg(test)]
mod remote_tests;

use std::path::Path;

use amidst_core::algorithm;
use amidst_core::internal::partial::{self, DivisibleTable};
use amidst_core::recoding::Recoding;
use amidst_core::search::Found;

use crate::Failure;
use crate::job::Job;
use crate::plan::algorithm_of;
use crate::policy::Policy;
use crate::prepare::{LoadOptions, Prepared};
use crate::release::{Joined, Released};
use crate::search::{Chosen, Compared, accepted, search_with_joiners};

pub use local::Local;
pub use parts::of_parts;

/// Does the work on rows.
pub trait Engine {
    /// What the engine itself knows of a table that it has read, handed on from step to step.
    type Rows<'a>
    where
        Self: 'a;

    /// How a release of this engine is laid out.
    fn layout(&self) -> Layout;

    /// Reads the source into a frequency set and everything else that a search needs; of a table that is too large to
    /// be gathered, rolled up to a single tuple.
    ///
    /// # Errors
    /// Whatever is wrong with the source, or does not fit the policy.
    fn read<'a>(&'a self, policy: &'a Policy, options: &LoadOptions<'a>)
    -> Result<(Prepared, Self::Rows<'a>), Failure>;

    /// Finds what becomes of the rows; by default in this process.
    ///
    /// # Errors
    /// When no recoding satisfies the policy, or when that cannot be found out.
    fn search<'a>(
        &'a self,
        policy: &'a Policy,
        prepared: Prepared,
        rows: Self::Rows<'a>,
        job: &Job<'_>,
    ) -> Result<Solved<Self::Rows<'a>>, Failure> {
        Solved::here(policy, prepared, rows, job)
    }

    /// Writes what a recoding makes of the rows into `folder`, which others cannot read yet.
    ///
    /// # Errors
    /// Whatever keeps the release from being written whole.
    fn write(
        &self,
        recoded: &Recoded<'_>,
        rows: &Self::Rows<'_>,
        folder: &Path,
        job: &Job<'_>,
    ) -> Result<Written, Failure>;
}

/// A table, and what was found for it.
pub struct Solved<R> {
    /// The table that it was found in.
    pub prepared: Prepared,
    /// What the engine knows of the rows.
    pub rows: R,
    /// The algorithm that found it.
    pub algorithm: &'static algorithm::Entry,
    /// What its rows become.
    pub found: Found,
    /// Rows that waived protection and joined the classes of others.
    pub joined: Option<Joined>,
    /// What every algorithm that competed would have cost; nothing where the policy names one.
    pub compared: Option<Compared>,
}

impl<R> Solved<R> {
    /// Searches a table that was gathered.
    ///
    /// # Errors
    /// When no recoding satisfies the policy.
    pub fn here(policy: &Policy, prepared: Prepared, rows: R, job: &Job<'_>) -> Result<Self, Failure> {
        let (prepared, chosen) = search_with_joiners(policy, prepared, job);
        let Chosen { entry: algorithm, found, joined, compared } = chosen?;
        Ok(Solved { prepared, rows, algorithm, found, joined, compared })
    }

    /// Searches a table that stays with its engine; at most `most` combinations of quasi and sensitive values are
    /// gathered at a time. `top` is the table rolled up to a single tuple.
    ///
    /// # Errors
    /// When no recoding satisfies the policy, when that cannot be found out, and whatever the engine fails with.
    pub fn remote<T>(
        policy: &Policy,
        top: Prepared,
        remote: &T,
        most: u64,
        rows: R,
        job: &Job<'_>,
    ) -> Result<Self, Failure>
    where
        T: DivisibleTable<Gathered = Prepared, Error = Failure>,
    {
        let algorithm = algorithm_of(policy, &top)?;
        let (prepared, found) = partial::search_remote(remote, algorithm, top, most, job)?;
        let Some(found) = found else { return Self::here(policy, prepared, rows, job) };
        let found = accepted(policy, &prepared, found, job)?;
        Ok(Solved { prepared, rows, algorithm, found, joined: None, compared: None })
    }
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
