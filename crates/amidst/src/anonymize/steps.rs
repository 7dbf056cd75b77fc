//! The five steps of every anonymization: read, search, write, check, publish.
//!
//! Read and search are the engine's, with what the façade asks of a table and of what was found. Write has two forms,
//! because an engine writes into a folder and a release in memory has none. Check is [`Workspace::check`]; publishing
//! is one rename ([`Destination::publish`]), or nothing at all.

use std::sync::Arc;
use std::time::Instant;

use amidst_core::algorithm;
use amidst_core::hierarchy::Cell;
use amidst_core::search::Found;

use super::outcome::{Anonymized, Seconds};
use crate::commit::{COMMITMENT, Tree};
use crate::engine::{Engine, Recoded, Solved, Written};
use crate::folder::{INTERNAL, PUBLIC};
use crate::job::{Job, stop};
use crate::policy::Policy;
use crate::prepare::{LoadOptions, Prepared};
use crate::publish::{Bundle, Folders, Memory, Outputs, Sealed, Workspace, table_name};
use crate::release::{Joined, Judged, Released, show, warnings};
use crate::report::{Made, Policies};
use crate::search::Compared;
use crate::unique::UniqueRows;
use crate::{Failure, utility};

/// Step 1: the table, read by an engine and admitted.
pub(super) fn read<'a, E: Engine>(
    engine: &'a E,
    policy: &'a Policy,
    options: &LoadOptions<'a>,
) -> Result<(Prepared, E::Rows<'a>), Failure> {
    let (prepared, rows) = engine.read(policy, options)?;
    admit(policy, &prepared)?;
    Ok((prepared, rows))
}

/// Refuses a policy that requires nothing, and a table whose raw columns single people out or that lacks the column to
/// predict.
pub(super) fn admit(policy: &Policy, prepared: &Prepared) -> Result<(), Failure> {
    if let Some(error) = policy.requires_nothing() {
        return Err(policy.origin.errors(vec![error]).into());
    }
    prepared.refuse_raw(policy, 0)?;
    utility::target(policy, prepared)?;
    Ok(())
}

/// Step 2: what becomes of the rows, and what that satisfies.
pub(super) fn search<'a, E: Engine>(
    engine: &'a E,
    policy: &'a Policy,
    (prepared, rows): (Prepared, E::Rows<'a>),
    job: &Job<'_>,
) -> Result<Searched<E::Rows<'a>>, Failure> {
    let Solved { prepared, rows, algorithm, mut found, joined, compared } =
        engine.search(policy, prepared, rows, job)?;
    show(policy, &prepared, &mut found, joined.as_ref())?;
    let judged = Arc::new(Judged::of(policy, &prepared, &found.recoding, joined.as_ref()));
    stop(job)?;
    Ok(Searched { prepared, rows, algorithm, found, joined, judged, compared })
}

/// Step 3: the released table, written by an engine into a folder that others cannot read.
pub(super) fn write<E: Engine>(
    engine: &E,
    policy: &Policy,
    searched: &Searched<E::Rows<'_>>,
    name: &str,
    folders: &Folders,
    job: &Job<'_>,
) -> Result<Written, Failure> {
    let recoded = Recoded {
        policy,
        prepared: &searched.prepared,
        recoding: &searched.found.recoding,
        joined: searched.joined.as_ref(),
        name,
    };
    let written = engine.write(&recoded, &searched.rows, &folders.public, job).map_err(|e| folders.tell(e))?;
    searched.prepared.refuse_released(policy, &written.released)?;
    Ok(written)
}

/// Step 3 without a disk: the released table as bytes.
pub(super) fn write_in_memory(
    policy: &Policy,
    searched: &Searched<()>,
    memory: &mut Memory,
    job: &Job<'_>,
) -> Result<Written, Failure> {
    let (format, name) = table_name(policy)?;
    let Searched { prepared, found, joined, .. } = searched;
    let released = Released::of(policy, prepared, &found.recoding, joined.as_ref());
    let bytes = released.bytes(policy, format, job).map_err(|e| memory.tell(e))?;
    memory.store(PUBLIC, &name, &bytes)?;
    prepared.refuse_released(policy, &released)?;
    Ok(Written { files: vec![name], released })
}

/// Step 4: the release checked, reported and sealed; with a tree, its certificate commits to the rows of the input.
pub(super) fn check<R>(
    policy: &Policy,
    searched: &Searched<R>,
    written: &Written,
    documented: bool,
    tree: Option<&Tree>,
    workspace: &mut impl Workspace,
    job: &Job<'_>,
) -> Result<Sealed, Failure> {
    let prepared = &searched.prepared;
    let made = Made {
        policy,
        prepared,
        algorithm: searched.algorithm,
        found: &searched.found,
        judged: &searched.judged,
        released: &written.released,
        joined: searched.joined.as_ref(),
        policies: &Policies::of(policy, prepared),
        unique: UniqueRows::of_release(prepared, &written.released),
    };
    let commitment = tree.map(Tree::commitment);
    if let Some(tree) = tree {
        workspace.store(INTERNAL, COMMITMENT, &tree.secret().to_json()?.into())?;
    }
    let bundle =
        Bundle { files: &written.files, documented, series: None, commitment: commitment.as_ref(), told: &|_| {} };
    let sealed = workspace.check(&made, &bundle, job)?;
    stop(job)?;
    Ok(sealed)
}

/// What a search found, and what it satisfies.
pub(super) struct Searched<R> {
    pub prepared: Prepared,
    /// What the engine knows of the rows.
    pub rows: R,
    pub algorithm: &'static algorithm::Entry,
    pub found: Found,
    pub joined: Option<Joined>,
    pub judged: Arc<Judged>,
    pub compared: Option<Compared>,
}

impl<R> Searched<R> {
    /// What the caller is told.
    pub fn outcome(
        &self,
        policy: &Policy,
        released: &Released,
        sealed: Sealed,
        seconds: Seconds,
        outputs: Outputs,
    ) -> Anonymized {
        let prepared = &self.prepared;
        let mut warnings = warnings(policy, prepared, self.algorithm, &self.judged, self.joined.as_ref());
        warnings.extend(sealed.reports.internal.above_threshold());
        Anonymized {
            algorithm: self.algorithm.id,
            optimal: self.found.optimal,
            gap: self.found.gap,
            warnings,
            levels: levels(prepared, &self.found),
            suppressed_cells: suppressed_cells(prepared, &self.found),
            notes: self.found.notes.clone(),
            compared: self.compared.clone(),
            rows_in: prepared.rows_in,
            rows_dropped_missing: prepared.rows_dropped_missing,
            rows_out: released.rows(),
            judged: Arc::clone(&self.judged),
            unique: sealed.unique,
            waived: released.waived.len() as u64,
            joined: sealed.reports.internal.rows.joined,
            report: sealed.reports.internal,
            seconds,
            outputs,
        }
    }
}

/// Times the steps one after the other.
pub(super) struct Clock {
    start: Instant,
    step: Instant,
}

impl Clock {
    pub fn start() -> Self {
        let now = Instant::now();
        Clock { start: now, step: now }
    }

    /// The seconds that the step took which ends now.
    pub fn step(&mut self) -> f64 {
        let now = Instant::now();
        now.duration_since(std::mem::replace(&mut self.step, now)).as_secs_f64()
    }

    /// The seconds since the first step began.
    pub fn total(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }
}

/// The level of each quasi column, for full-domain releases; with single cells suppressed, that of the others.
fn levels(prepared: &Prepared, found: &Found) -> Option<Vec<(String, usize)>> {
    let levels = found.recoding.levels.as_ref().or(found.coding.as_ref())?;
    Some(prepared.generalizations.iter().zip(levels).map(|(g, &level)| (g.name.clone(), level)).collect())
}

/// How many cells of each quasi column are suppressed one by one, in a release that has a coding for all others.
fn suppressed_cells(prepared: &Prepared, found: &Found) -> Option<Vec<(String, u64)>> {
    let coding = found.coding.as_ref()?;
    let mut cells = vec![0; coding.len()];
    found.recoding.for_each_part(&prepared.set, |part| {
        let Some(class) = part.class.and_then(|class| found.recoding.classes.get(class.index())) else { return };
        for (((count, cell), g), &level) in cells.iter_mut().zip(class).zip(&prepared.generalizations).zip(coding) {
            let top = matches!(cell, Cell::Node { level, .. } if *level as usize == g.height());
            *count += if top && level < g.height() { part.entry.rows } else { 0 };
        }
    });
    Some(prepared.generalizations.iter().zip(cells).map(|(g, count)| (g.name.clone(), count)).collect())
}
