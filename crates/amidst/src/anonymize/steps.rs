//! What every anonymization does between reading and publishing, wherever its rows are.

use amidst_core::algorithm;
use amidst_core::search::Found;

use super::outcome::{Anonymized, Seconds};
use crate::job::{Job, stop};
use crate::policy::Policy;
use crate::prepare::Prepared;
use crate::publish::Outputs;
use crate::release::{Joined, Judged, Released, warnings};
use crate::report::{Made, Policies, Report};
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
    pub judged: Judged,
}

impl Searched {
    /// What was found, judged.
    pub fn of(
        policy: &Policy,
        prepared: &Prepared,
        (entry, found, joined): (&'static algorithm::Entry, Found, Option<Joined>),
        job: &Job<'_>,
    ) -> Result<Self, Failure> {
        let judged = Judged::of(policy, prepared, &found.recoding, joined.as_ref());
        stop(job)?;
        Ok(Searched { entry, found, joined, judged })
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
        self,
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
            levels: levels(prepared, &self.found),
            rows_in: prepared.rows_in,
            rows_dropped_missing: prepared.rows_dropped_missing,
            rows_out: released.rows(),
            judged: self.judged,
            unique,
            waived: released.waived.len() as u64,
            report,
            seconds,
            outputs,
        }
    }
}

/// The level of each quasi column, for full-domain releases.
fn levels(prepared: &Prepared, found: &Found) -> Option<Vec<(String, usize)>> {
    let levels = found.recoding.levels.as_ref()?;
    Some(prepared.generalizations.iter().zip(levels).map(|(g, &level)| (g.name.clone(), level)).collect())
}
