//! Anonymizing: a policy becomes a checked release in its place.
//!
//! Read, search, apply, check, publish. Rows are read and written by an [`Engine`]; the rest is here. Nothing reaches its final place before the independent checker has passed it,
//! and then everything appears together.

mod apply;
mod choose;
mod destination;
mod documents;
mod join;
mod outcome;
mod publish;
mod seal;
mod settling;
mod shuffle;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use amidst_core::algorithm;
use amidst_core::search::own_distribution::{Settled, settle};
use amidst_core::search::{Found, Search, SearchError, feasibility};

pub use apply::{Released, class_of_rows};
pub(crate) use choose::chosen;
pub use choose::{DEFAULT_METRIC, algorithm_of, metric_of, stated_k, unheard};
use destination::Destination;
pub(crate) use documents::{Policies, Reports, write as write_documents};
pub use join::Joined;
pub(crate) use join::place as place_joiners;
pub use outcome::{Anonymized, Judged, Outputs, Seconds};
pub use publish::Staging;
pub(crate) use seal::{Statement, TOOL, agreed, checked, sealed};

use crate::engine::{Engine, Local, Recoded};
use crate::folder::{CERTIFICATE, INTERNAL, PUBLIC};
use crate::policy::Policy;
use crate::prepare::{LoadOptions, Prepared};
use crate::unique::UniqueRows;
use crate::{Failure, report, utility};

/// How a job runs, beside what its policy says.
pub struct Job<'a> {
    /// Set from outside to stop.
    pub cancel: &'a AtomicBool,
    /// Told how far each stage is, from 0 to 1.
    pub progress: &'a (dyn Fn(Stage, f64) + Sync),
    /// The number of threads; 0 for all cores.
    pub threads: usize,
}

/// What a job is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Reading the table.
    Read,
    /// Searching a recoding.
    Search,
    /// Writing the release.
    Write,
    /// Checking it.
    Check,
}

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

/// What people should know before they use a release: what in the policy is probably not meant, and what came of it.
pub(crate) fn warnings(
    policy: &Policy,
    prepared: &Prepared,
    algorithm: &algorithm::Entry,
    judged: &Judged,
) -> Vec<String> {
    let mut warnings: Vec<String> = prepared.remarks.iter().cloned().chain(unheard(policy, algorithm)).collect();
    let rows: u64 = judged.classes.entries.iter().map(|e| e.rows).sum();
    if judged.class_count() == 1 && rows > 1 {
        warnings.push(format!(
            "all {rows} rows of the release are one class: whoever is in it looks like everybody else, and the quasi columns \
             tell next to nothing. Another algorithm, such as portfolio, a weaker requirement or a larger max_suppression may \
             give more classes"
        ));
    }
    warnings
}

/// Chooses the algorithm and runs it, and places the rows that asked to join.
pub fn search(
    policy: &Policy,
    prepared: &Prepared,
    job: &Job<'_>,
) -> Result<(&'static algorithm::Entry, Found, Option<Joined>), Failure> {
    let progress = |share| (job.progress)(Stage::Search, share);
    let search = task(policy, prepared, job.cancel, &progress)?;
    let entry = algorithm_of(policy, prepared)?;
    if let Some(impossible) = feasibility::impossible(&search).filter(|_| !entry.full_domain) {
        // Full-domain algorithms look as well, and tell what suppression would take.
        return Err(Failure::Impossible(impossible.message));
    }
    if let Some(found) = &prepared.found {
        let mut found = found.clone();
        return match settle(&search, &mut found) {
            Settled::Never => Err(settling::unsettled(&search)),
            _ => Ok((entry, found, None)),
        };
    }
    entry.algorithm.supports(&search)?;
    let (found, joined) = in_threads(job.threads, || {
        settling::settled(&search, |narrowed| {
            let mut found = entry.algorithm.search(narrowed).map_err(|error| explained(error, entry, narrowed))?;
            // Whatever was searched within, the policy's limit is what counts in the end.
            if settle(&search, &mut found) == Settled::Never {
                return Ok(None);
            }
            let mut joined = join::place(prepared, narrowed, entry, &mut found)?;
            let holds = joined.as_mut().is_none_or(|joined| joined.settle(prepared, &search, &mut found));
            Ok(holds.then_some((found, joined)))
        })
    })?;
    Ok((entry, found, joined))
}

/// What a search that found nothing says: a local one with the most that is possible, where the whole table tells.
/// Full-domain searches tell more themselves.
fn explained(error: SearchError, entry: &algorithm::Entry, search: &Search<'_>) -> SearchError {
    match (&error, feasibility::failing(search)) {
        (SearchError::Impossible(_), Some(failing)) if !entry.full_domain => SearchError::Impossible(format!(
            "{failing}, and leaving out rows within the suppression limit does not help"
        )),
        _ => error,
    }
}

/// Runs something on so many threads; 0 for all cores.
pub(crate) fn in_threads<T: Send>(
    threads: usize,
    run: impl FnOnce() -> Result<T, Failure> + Send,
) -> Result<T, Failure> {
    if threads == 0 {
        return run();
    }
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .map_err(|e| Failure::Io(format!("cannot start {threads} threads: {e}")))?;
    pool.install(run)
}

/// The search that a policy asks for.
pub fn task<'a>(
    policy: &'a Policy,
    prepared: &'a Prepared,
    cancel: &'a AtomicBool,
    progress: &'a (dyn Fn(f64) + Sync),
) -> Result<Search<'a>, Failure> {
    Ok(Search {
        set: &prepared.set,
        generalizations: &prepared.generalizations,
        requirements: &prepared.requirements,
        metric: metric_of(policy)?,
        max_suppression: policy.search.max_suppression.clone(),
        suppressed: policy.search.suppressed,
        k: stated_k(policy),
        options: &policy.search.options,
        // Where an engine counted the rows they are not at hand.
        entry_of_row: prepared.weights.is_none().then_some(&prepared.entry_of_row[..]),
        seed: policy.search.seed,
        cancel,
        progress,
        deadline: policy.search.time_limit.map(|limit| Instant::now() + limit),
    })
}

/// Fails when the job was asked to stop.
pub(crate) fn stop(job: &Job<'_>) -> Result<(), Failure> {
    if job.cancel.load(Ordering::Relaxed) { Err(Failure::Cancelled) } else { Ok(()) }
}

/// The level of each quasi column, for full-domain releases.
fn levels(prepared: &Prepared, found: &Found) -> Option<Vec<(String, usize)>> {
    let levels = found.recoding.levels.as_ref()?;
    Some(prepared.generalizations.iter().zip(levels).map(|(g, &level)| (g.name.clone(), level)).collect())
}
