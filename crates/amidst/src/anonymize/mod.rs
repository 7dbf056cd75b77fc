//! Anonymizing: a policy becomes a checked release in its place.
//!
//! Read, search, apply, check, publish. Rows are read and written by an [`Engine`]; the rest is here. Nothing reaches its final place before the independent checker has passed it,
//! and then everything appears together.
//!
//! May use: `engine`, `folder`, `job`, `json`, `memory`, `policy`, `population`, `prepare`, `publish`, `release`,
//! `report`, `search`, `unique`, and what those use.

mod in_memory;
mod outcome;
mod steps;

use std::path::{Path, PathBuf};
use std::time::Instant;

pub use in_memory::{Release, anonymize_batches, anonymize_input, anonymize_source, anonymize_table};
pub use outcome::{Anonymized, Seconds};

use crate::commit::{COMMITMENT, Tree};
use crate::engine::{Engine, Local, Recoded, Solved};
use crate::folder::{CERTIFICATE, INTERNAL, PUBLIC};
use crate::job::{Job, Stage, stop};
use crate::policy::Policy;
use crate::prepare::LoadOptions;
use crate::publish::{Bundle, Destination, Sealed, Staging, certificate_text, seal};
use crate::report::Policies;
use crate::search::Chosen;
use crate::unique::UniqueRows;
use crate::{Failure, files};
use steps::{Searched, admit};

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
    /// Whether the certificate commits to the rows of the input, so that the owner can open single ones later. The root is
    /// another one each time.
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
    let start = Instant::now();
    let mut policy = policy.clone();
    if let Some(seed) = options.seed {
        policy.search.seed = seed;
    }
    // A destination that cannot be used should be known before an hour of work, not after it.
    let destination = Destination::of(&policy, options.out.as_deref(), engine.layout())?;
    destination.refuse_to_overwrite_sources(&policy, options.input.as_deref())?;
    refuse_to_commit(options, &destination)?;
    let staging = Staging::begin(&destination.target, options.force)?;

    let (prepared, rows) = engine.read(&policy, &LoadOptions::of(job, options.input.clone()))?;
    admit(&policy, &prepared)?;
    let read = start.elapsed().as_secs_f64();

    let searching = Instant::now();
    let Solved { prepared, rows, algorithm, found, joined, compared } = engine.search(&policy, prepared, rows, job)?;
    let searched = Searched::of(&policy, &prepared, Chosen { entry: algorithm, found, joined, compared }, job)?;
    let search = searching.elapsed().as_secs_f64();

    let writing = Instant::now();
    let recoded = Recoded {
        policy: &policy,
        prepared: &prepared,
        recoding: &searched.found.recoding,
        joined: searched.joined.as_ref(),
        name: &destination.release,
    };
    let unwritten = |reason: String| {
        // A path in the reason would be that of the hidden folder, which nobody knows.
        Failure::Io(format!("cannot write the release to {}: {reason}", destination.target.display()))
    };
    let told = |failure: Failure| match failure {
        Failure::Io(reason) => unwritten(reason),
        other => other,
    };
    let public = staging.part(PUBLIC)?;
    let written = engine.write(&recoded, &rows, &public, job).map_err(told)?;
    let released = &written.released;
    prepared.refuse_released(&policy, released)?;
    let unique = UniqueRows::of_release(&prepared, released);
    let write = writing.elapsed().as_secs_f64();
    stop(job)?;

    let checking = Instant::now();
    job.tell(Stage::Check, 0.0);
    let policies = Policies::of(&policy, &prepared);
    let made = searched.made(&policy, &prepared, released, &policies, unique);
    let files: Vec<PathBuf> = written.files.iter().map(|name| public.join(name)).collect();
    let tree = options.commit.then(|| Tree::new(&prepared)).transpose()?;
    let commitment = tree.as_ref().map(Tree::commitment);
    let bundle = Bundle {
        files: &written.files,
        documented: destination.documented(),
        series: None,
        commitment: commitment.as_ref(),
        told: &|_| {},
    };
    let sealed = std::thread::scope(|scope| {
        // The disk is waited for while the release is checked.
        let durable = scope.spawn(|| files.iter().try_for_each(|file| std::fs::File::open(file)?.sync_all()));
        let sealed = seal(&made, &public, &bundle, &|| stop(job))?;
        let safe = durable.join().unwrap_or_else(|_| Err(std::io::Error::other("waiting for the disk failed")));
        safe.map_err(|e| unwritten(e.to_string()))?;
        Ok::<_, Failure>(sealed)
    })?;
    write_documents(&staging, &sealed, tree.as_ref(), job).map_err(told)?;
    let check = checking.elapsed().as_secs_f64();
    stop(job)?;
    let outputs = destination.publish(staging)?;

    let seconds = Seconds { read, search, check, write, total: start.elapsed().as_secs_f64() };
    Ok(searched.outcome(&policy, &prepared, released, (sealed.reports.internal, sealed.unique), seconds, outputs))
}

/// Rows are opened with a secret, which needs the internal part of a release.
fn refuse_to_commit(options: &Options, destination: &Destination) -> Result<(), Failure> {
    let what = "the secret that opens rows stays in the internal part of a release: name a folder with --out";
    match options.commit && !destination.documented() {
        true => Err(Failure::Usage(what.to_string())),
        false => Ok(()),
    }
}

/// Writes what goes with the table: reports, policies, the secret of the commitment, and the certificate last.
fn write_documents(staging: &Staging, sealed: &Sealed, tree: Option<&Tree>, job: &Job<'_>) -> Result<(), Failure> {
    let failed = |e: std::io::Error| Failure::Io(e.to_string());
    let documents = sealed.internal.iter().map(|d| (INTERNAL, d)).chain(sealed.public.iter().map(|d| (PUBLIC, d)));
    for (part, (name, bytes)) in documents {
        files::write_private(&staging.part(part)?.join(name), bytes).map_err(failed)?;
        stop(job)?;
    }
    if let Some(tree) = tree {
        let secret = serde_json::to_vec_pretty(&tree.secret()).map_err(|e| Failure::Io(e.to_string()))?;
        files::write_private(&staging.part(INTERNAL)?.join(COMMITMENT), &secret).map_err(failed)?;
    }
    staging.write(&Path::new(PUBLIC).join(CERTIFICATE), &certificate_text(&sealed.certificate)?)
}
