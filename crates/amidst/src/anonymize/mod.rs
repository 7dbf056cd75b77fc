//! Anonymizing: a policy becomes a checked release in its place.
//!
//! Read, search, write, check, publish: one function each in `steps`. Rows are read and written by an [`Engine`]; the
//! rest is here. Nothing reaches its final place before the independent checker has passed it, and then everything
//! appears together.
//!
//! May use: `commit`, `engine`, `folder`, `job`, `policy`, `prepare`, `publish`, `release`, `report`, `search`,
//! `unique`, and what those use.

mod in_memory;
mod outcome;
mod steps;

use std::path::PathBuf;

pub use in_memory::{Candidate, Release, anonymize_batches, anonymize_input, anonymize_source, anonymize_table};
pub use outcome::{Anonymized, Seconds};

use crate::Failure;
use crate::commit::Tree;
use crate::engine::{Engine, Local};
use crate::job::Job;
use crate::policy::Policy;
use crate::prepare::LoadOptions;
use crate::publish::{Destination, Staging};
use steps::Clock;

/// What the caller decides beside the policy.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Another table than the policy's.
    pub input: Option<String>,
    /// Where the release goes: a folder, or a file when it has the ending of a table.
    pub out: Option<PathBuf>,
    /// Whether an existing release may be replaced.
    pub force: bool,
    /// Another seed than the policy's.
    pub seed: Option<u64>,
    /// Whether the certificate commits to the rows of the input, so that the owner can open single ones later. The root
    /// is another one each time.
    pub commit: bool,
}

/// Anonymizes the table of `policy` in this process and publishes the release.
pub fn anonymize(policy: &Policy, options: &Options, job: &Job<'_>) -> Result<Anonymized, Failure> {
    anonymize_on(&Local, policy, options, job)
}

/// Anonymizes the table of `policy` with an engine and publishes the release.
pub fn anonymize_on(
    engine: &impl Engine,
    policy: &Policy,
    options: &Options,
    job: &Job<'_>,
) -> Result<Anonymized, Failure> {
    let mut clock = Clock::start();
    let mut policy = policy.clone();
    if let Some(seed) = options.seed {
        policy.search.seed = seed;
    }
    // A destination that cannot be used should be known before an hour of work, not after it.
    let destination = Destination::of(&policy, options.out.as_deref(), engine.layout())?;
    destination.refuse_to_overwrite_sources(&policy, options.input.as_deref())?;
    refuse_to_commit(options, &destination)?;
    let staging = Staging::begin(&destination.target, options.force)?;
    let mut folders = destination.folders(&staging)?;

    let table = steps::read(engine, &policy, &LoadOptions::of(job, options.input.clone()))?;
    let read = clock.step();
    let searched = steps::search(engine, &policy, table, job)?;
    let search = clock.step();
    let tree = options.commit.then(|| Tree::new(&searched.prepared)).transpose()?;
    let written = steps::write(engine, &policy, &searched, &destination.release, &folders, job)?;
    let write = clock.step();
    let documented = destination.documented();
    let sealed = steps::check(&policy, &searched, &written, documented, tree.as_ref(), &mut folders, job)?;
    let check = clock.step();
    let outputs = destination.publish(staging)?;

    let seconds = Seconds { read, search, check, write, total: clock.total() };
    Ok(searched.outcome(&policy, &written.released, sealed, seconds, outputs))
}

/// Rows are opened with a secret, which needs the internal part of a release.
fn refuse_to_commit(options: &Options, destination: &Destination) -> Result<(), Failure> {
    let what =
        "the secret that opens rows stays in the internal part of a release, so it must be published into a folder";
    match options.commit && !destination.documented() {
        true => Err(Failure::Usage(what.to_string())),
        false => Ok(()),
    }
}
