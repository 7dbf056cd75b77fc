//! Anonymizing: a policy becomes a checked release in its place.
//!
//! Read, search, apply, check, publish. Rows are read and written by an [`Engine`]; the rest is here. Nothing reaches its final place before the independent checker has passed it,
//! and then everything appears together.

mod outcome;

use std::path::{Path, PathBuf};
use std::time::Instant;

use amidst_core::search::Found;

pub use outcome::{Anonymized, Seconds};

use crate::engine::{Engine, Local, Recoded};
use crate::folder::{CERTIFICATE, INTERNAL, PUBLIC};
use crate::job::{Job, Stage, stop};
use crate::policy::Policy;
use crate::prepare::{LoadOptions, Prepared};
use crate::publish::{Destination, Staging, Statement, agreed, checked, sealed};
use crate::release::{Judged, warnings};
use crate::report::{Policies, write_documents};
use crate::search::search;
use crate::unique::UniqueRows;
use crate::{Failure, report, utility};

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
}

/// Anonymizes the table of `policy` in this process and publishes the release.
pub fn anonymize(policy: &Policy, options: &Options, job: &Job<'_>) -> Result<Anonymized, Failure> {
    anonymize_on(&Local, policy, options, job)
}

/// Anonymizes the table of `policy` with an engine and publishes the release.
pub fn anonymize_on(
    engine: &dyn Engine,
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
    destination.spare(&policy, options.input.as_deref())?;
    let staging = Staging::begin(&destination.target, options.force)?;

    let load = LoadOptions {
        input: options.input.clone(),
        threads: job.threads,
        cancel: Some(job.cancel),
        progress: Some(&|share| (job.progress)(Stage::Read, share)),
    };
    let prepared = engine.read(&policy, &load)?;
    prepared.refuse_raw(&policy, 0)?;
    utility::target(&policy, &prepared)?;
    let read = start.elapsed().as_secs_f64();

    let searching = Instant::now();
    let (entry, found, joined) = search(&policy, &prepared, job)?;
    let judged = Judged::of(&policy, &prepared, &found.recoding, joined.as_ref());
    let search = searching.elapsed().as_secs_f64();
    stop(job)?;

    let writing = Instant::now();
    let recoded = Recoded {
        policy: &policy,
        prepared: &prepared,
        recoding: &found.recoding,
        joined: joined.as_ref(),
        name: &destination.release,
    };
    let unwritten = |reason: String| {
        // A path in the reason would be that of the hidden folder, which nobody knows.
        Failure::Io(format!("cannot write the release to {}: {reason}", destination.target.display()))
    };
    let public = staging.part(PUBLIC)?;
    let written = engine.write(&recoded, &public, job).map_err(|failure| match failure {
        Failure::Io(reason) => unwritten(reason),
        other => other,
    })?;
    let released = &written.released;
    prepared.refuse_released(&policy, released)?;
    let unique = UniqueRows::of_release(&prepared, released);
    let write = writing.elapsed().as_secs_f64();
    stop(job)?;

    let checking = Instant::now();
    (job.progress)(Stage::Check, 0.0);
    let policies = Policies::of(&policy, &prepared);
    let names: Vec<&str> = written.files.iter().map(String::as_str).collect();
    let files: Vec<PathBuf> = names.iter().map(|name| public.join(name)).collect();
    let (reports, unique) = std::thread::scope(|scope| {
        let durable = scope.spawn(|| files.iter().try_for_each(|file| std::fs::File::open(file)?.sync_all()));
        let statement = Statement {
            policy: &policy,
            resolved: &policies.public,
            prepared: &prepared,
            judged: &judged,
            released,
            joined: joined.as_ref(),
        };
        let made = report::Made {
            policy: &policy,
            prepared: &prepared,
            algorithm: entry,
            found: &found,
            judged: &judged,
            released,
            joined: joined.as_ref(),
            policies: &policies,
            unique,
        };
        // The report says nothing about the check but the digests of what was checked, so both go on at once.
        let (checked, report) = rayon::join(|| checked(&statement, &public, &names), || report::of_release(&made));
        let checked = checked?;
        stop(job)?;
        let mut reports = report?;
        reports.public.measured(checked.requirements());
        let unique = agreed(unique, &checked, released.rows())?;
        reports.each(|report| report.tell_unique(unique));
        let digest = |file: &String| (file.clone(), checked.sha256(file).unwrap_or_default().to_string());
        let digests: Vec<(String, String)> = written.files.iter().map(digest).collect();
        reports.each(|report| report.list(digests.iter().cloned()));
        let mut further = Vec::new();
        if destination.documented() {
            let internal = staging.part(INTERNAL)?;
            write_documents(&internal, &reports.internal, &policies.internal).map_err(|e| unwritten(e.to_string()))?;
            stop(job)?;
            further =
                write_documents(&public, &reports.public, &policies.public).map_err(|e| unwritten(e.to_string()))?;
        }
        stop(job)?;
        staging.write(&Path::new(PUBLIC).join(CERTIFICATE), &sealed(checked, &further)?)?;
        let safe = durable.join().unwrap_or_else(|_| Err(std::io::Error::other("waiting for the disk failed")));
        safe.map_err(|e| unwritten(e.to_string()))?;
        Ok::<_, Failure>((reports, unique))
    })?;
    let check = checking.elapsed().as_secs_f64();
    stop(job)?;
    let rows_out = released.rows();
    let outputs = destination.publish(staging)?;

    let total = start.elapsed().as_secs_f64();
    Ok(Anonymized {
        algorithm: entry.id,
        optimal: found.optimal,
        gap: found.gap,
        warnings: warnings(&policy, &prepared, entry, &judged),
        notes: found.notes.clone(),
        levels: levels(&prepared, &found),
        rows_in: prepared.rows_in,
        rows_dropped_missing: prepared.rows_dropped_missing,
        rows_out,
        judged,
        unique,
        waived: released.waived.len() as u64,
        report: reports.internal,
        seconds: Seconds { read, search, check, write, total },
        outputs,
    })
}

/// The level of each quasi column, for full-domain releases.
fn levels(prepared: &Prepared, found: &Found) -> Option<Vec<(String, usize)>> {
    let levels = found.recoding.levels.as_ref()?;
    Some(prepared.generalizations.iter().zip(levels).map(|(g, &level)| (g.name.clone(), level)).collect())
}
