//! Starting a series: the first table, its classes, and version 1.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use amidst_core::algorithm;
use amidst_core::internal::series::{Maintained, UNPLACED, refine};

use super::applied::{Applied, note};
use super::choose::{Choice, choose};
use super::compose::{check_policy, compose, follows_from_m};
use super::files::{Arrival, persons};
use super::own_policy::own_policy;
use super::state::{State, kept};
use super::stated::key_of;
use super::store::{FILE, Store};
use super::{Mode, Published, Series, internal, private, snapshot, versions};
use crate::Failure;
use crate::job::Job;
use crate::plan::task;
use crate::policy::{ColumnPolicy, OutputOrder, Policy, Role};
use crate::prepare::{LoadOptions, Prepared};
use crate::publish::Staging;
use crate::release::class_of_rows;
use crate::search::search;

/// The first table of a series.
#[derive(Debug, Clone, Default)]
pub struct First {
    /// Where it is; where the policy says when absent.
    pub input: Option<String>,
    /// Whether classes stay as the policy's algorithm finds them. Otherwise those that are large enough are split, as
    /// they would be by a later batch.
    pub unsplit: bool,
    /// Whether version 1 commits to its rows ([`Series::commit_to_rows`]).
    pub commit: bool,
}

impl From<Option<String>> for First {
    fn from(input: Option<String>) -> Self {
        First { input, ..First::default() }
    }
}

/// Starts a series in `folder`, which must not exist: reads the table of the policy (or `input`), and publishes the
/// first version. Without a `mode` it gets the one whose next version can be published; why is told in
/// [`Published::chosen`].
///
/// # Errors
/// When the policy or the table cannot be used for a series; then nothing was written.
pub fn init(
    folder: &Path,
    policy: &Policy,
    mode: Option<Mode>,
    first: impl Into<First>,
    job: &Job<'_>,
) -> Result<Published, Failure> {
    let First { input, unsplit, commit } = first.into();
    // Only maintained classes are split.
    let mode = mode.or(unsplit.then_some(Mode::Maintain));
    let key = key_of(policy)?.to_string();
    refuse_existing(folder)?;
    let staging = Staging::begin(folder, false)?;
    let stated = policy;
    let mut policy = policy.clone();
    if policy.search.algorithm.is_none() {
        policy.search.algorithm = Some(algorithm::MONDRIAN.id.into());
    }
    let load = LoadOptions { input: input.clone(), control: job.quiet() };
    let first = Prepared::load(&policy, &load)?;
    first.refuse_raw(&policy, 0)?;
    let Choice { mode, mut policy, reason } = choose(policy, mode, &first);
    if mode == Mode::MInvariant {
        // Counterfeits come last in the table; its order would betray them.
        policy.output.order = OutputOrder::Shuffled;
    }
    check_policy(&policy, &first, mode)?;
    let source = crate::prepare::source(&policy, &load)?;

    let place = staging.path();
    let private = private(place);
    let unwritable = |e| Failure::Io(format!("cannot write into {}: {e}", folder.display()));
    make_private(&private).map_err(unwritable)?;
    fs::create_dir(versions(place)).map_err(unwritable)?;
    let policy = own_policy(&policy.resolved(&first), &private)?;
    let mut store = Store::open(&private.join(FILE))?;
    let work = store.write()?;
    work.set_meta("mode", mode.name())?;
    work.set_meta("header", &serde_json::to_string(&first.header).unwrap_or_default())?;
    let arrivals = persons(&work, &policy, &first, &key, &source, &BTreeSet::new())?;
    let mut state = first_state(&policy, &first, arrivals);
    let maintained = match mode {
        Mode::Maintain => first_classes(&policy, &mut state, unsplit, job)?,
        Mode::MInvariant => {
            // Classes are made when a version is published; here it is only shown that they can be.
            compose(&policy, mode, &state, job)?;
            state.classes.fill(0);
            Maintained::default()
        }
    };
    let raw = |c: &ColumnPolicy| c.role == Role::Insensitive && c.accept.is_none();
    if stated.columns.iter().chain(&stated.default).any(raw) {
        // Publishing looks at it as well, when the policy that was given cannot be pointed at any more.
        let version = compose(&policy, mode, &state, job)?;
        version.prepared.refuse_links(stated, version.counterfeits.unwrap_or(0), &version.class_of)?;
    }
    state.store_values(&work)?;
    state.store_rows(&work, 0)?;
    match mode {
        Mode::Maintain => snapshot::begin(&work, &policy, &state.names, job)?,
        // What follows from m needs no counting.
        Mode::MInvariant if follows_from_m(&policy) => {}
        Mode::MInvariant => snapshot::count_all(&work, &policy, &state.names)?,
    }
    let (rows, splits) = (state.rows() as u64, maintained.splits);
    let dropped = first.rows_dropped_missing;
    note(&work, &Applied { batch: 1, inserted: rows, deleted: 0, dropped, rows, maintained })
        .map_err(|e| work.fail(e))?;
    work.commit()?;
    let mut series = Series { folder: place.to_path_buf(), policy, mode, header: first.header, store, commit };
    let mut published = series.publish(false, job)?;
    published.chosen = reason;
    // The database must be closed before its folder moves.
    drop(series);
    staging.publish(&["versions"])?;
    let moved = versions(folder).join("1");
    let release = moved.join(published.release.file_name().unwrap_or_default());
    Ok(Published { release, folder: moved, internal: internal(folder, 1), splits, ..published })
}

fn refuse_existing(folder: &Path) -> Result<(), Failure> {
    if folder.symlink_metadata().is_err() {
        return Ok(());
    }
    let place = folder.display();
    Err(Failure::Usage(format!("{place} exists already; a series begins in a folder that does not exist yet")))
}

/// The rows that a series begins with, in no class yet.
fn first_state(policy: &Policy, first: &Prepared, arrivals: Vec<Arrival>) -> State {
    let mut state = State::empty(kept(policy, &first.header));
    let columns: Vec<usize> = state.names.iter().filter_map(|name| first.table.position(name)).collect();
    for arrival in arrivals {
        let cells = columns.iter().map(|&c| first.table.columns[c].value(arrival.row));
        state.add(arrival.person, UNPLACED, arrival.signature, cells);
    }
    state
}

/// The classes that the policy's algorithm finds, split as far as the rule of a series allows unless they are to stay
/// `unsplit`.
pub(super) fn first_classes(
    policy: &Policy,
    state: &mut State,
    unsplit: bool,
    job: &Job<'_>,
) -> Result<Maintained, Failure> {
    let prepared = super::compose::prepare(policy, Mode::Maintain, state, job)?;
    let found = search(policy, &prepared, job)?.found;
    state.classes = class_of_rows(&prepared.set, &found.recoding.assignment, &prepared.entry_of_row);
    if unsplit {
        let classes: BTreeSet<u32> = state.classes.iter().copied().collect();
        return Ok(Maintained { classes: classes.len() as u64, ..Maintained::default() });
    }
    let search = task(policy, &prepared, &job.quiet())?;
    Ok(refine(&search, &prepared.entry_of_row, &mut state.classes)?)
}

/// A folder for its owner's eyes only.
#[cfg(unix)]
fn make_private(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().mode(0o700).create(folder)
}

#[cfg(not(unix))]
fn make_private(folder: &Path) -> std::io::Result<()> {
    fs::create_dir(folder)
}
