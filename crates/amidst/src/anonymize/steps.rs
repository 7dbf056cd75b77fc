//! What every anonymization does between reading and publishing, wherever its rows are.

use std::sync::Arc;

use amidst_core::algorithm;
use amidst_core::hierarchy::Cell;
use amidst_core::search::Found;

use super::outcome::{Anonymized, Seconds};
use crate::job::{Job, stop};
use crate::policy::Policy;
use crate::prepare::Prepared;
use crate::publish::Outputs;
use crate::release::{Joined, Judged, Released, show, warnings};
use crate::report::{Made, Policies, Report};
use crate::search::{Chosen, Compared};
use crate::unique::UniqueRows;
use crate::{Failure, utility};

/// Refuses a table whose raw columns single people out, or that lacks the column to predict.
pub(super) fn admit(policy: &Policy, prepared: &Prepared) -> Result<(), Failure> {
    prepared.refuse_raw(policy, 0)?;
    utility::target(policy, prepared)?;
    Ok(())
}

/// What a search found, and what it satisfies.
pub(super) struct Searched {
    pub entry: &'static algorithm::Entry,
    pub found: Found,
    pub joined: Option<Joined>,
    pub judged: Arc<Judged>,
    pub compared: Option<Compared>,
}

impl Searched {
    /// What was found, judged.
    pub fn of(policy: &Policy, prepared: &Prepared, chosen: Chosen, job: &Job<'_>) -> Result<Self, Failure> {
        let Chosen { entry, mut found, joined, compared } = chosen;
        show(policy, prepared, &mut found, joined.as_ref())?;
        let judged = Arc::new(Judged::of(policy, prepared, &found.recoding, joined.as_ref()));
        stop(job)?;
        Ok(Searched { entry, found, joined, judged, compared })
    }

    /// What the report is made from.
    pub fn made<'a>(
        &'a self,
        policy: &'a Policy,
        prepared: &'a Prepared,
        released: &'a Released,
        policies: &'a Policies,
        unique: Option<UniqueRows>,
    ) -> Made<'a> {
        Made {
            policy,
            prepared,
            algorithm: self.entry,
            found: &self.found,
            judged: &self.judged,
            released,
            joined: self.joined.as_ref(),
            policies,
            unique,
        }
    }

    /// What the caller is told.
    pub fn outcome(
        &self,
        policy: &Policy,
        prepared: &Prepared,
        released: &Released,
        (report, unique): (Report, UniqueRows),
        seconds: Seconds,
        outputs: Outputs,
    ) -> Anonymized {
        Anonymized {
            algorithm: self.entry.id,
            optimal: self.found.optimal,
            gap: self.found.gap,
            warnings: warnings(policy, prepared, self.entry, &self.judged),
            notes: self.found.notes.clone(),
            compared: self.compared.clone(),
            levels: levels(prepared, &self.found),
            suppressed_cells: suppressed_cells(prepared, &self.found),
            rows_in: prepared.rows_in,
            rows_dropped_missing: prepared.rows_dropped_missing,
            rows_out: released.rows(),
            judged: Arc::clone(&self.judged),
            unique,
            waived: released.waived.len() as u64,
            report,
            seconds,
            outputs,
        }
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
        let Some(class) = found.recoding.classes.get(part.class as usize) else { return };
        for (((count, cell), g), &level) in cells.iter_mut().zip(class).zip(&prepared.generalizations).zip(coding) {
            let top = matches!(cell, Cell::Node { level, .. } if *level as usize == g.height());
            *count += if top && level < g.height() { part.entry.rows } else { 0 };
        }
    });
    Some(prepared.generalizations.iter().zip(cells).map(|(g, count)| (g.name.clone(), count)).collect())
}
