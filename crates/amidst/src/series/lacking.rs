//! Rows that cannot satisfy the policy, not even as one class, after others were deleted.
//!
//! Deletions are carried out all the same. The rows then wait as one class; no version can be made of them
//! except a safe one, which publishes the classes of the last version again. When others come and the rows suffice,
//! they get classes anew, as those of a first version.

use std::collections::BTreeSet;

use amidst_core::internal::series::Maintained;
use rusqlite::params;

use super::domain::Domain;
use super::draft::LACKING;
use super::init::first_classes;
use super::rows::{Row, arrive, leave};
use super::state::{Person, State};
use super::store::Work;
use crate::Failure;
use crate::job::Job;
use crate::policy::Policy;

/// A batch after which the rows lack something: they become one class.
pub(super) fn wait(
    work: &Work<'_>,
    domain: &Domain,
    gone: &BTreeSet<Person>,
    new: &[Row],
) -> Result<Maintained, Failure> {
    change(work, domain, gone, new)?;
    work.set_meta(LACKING, "1")?;
    Ok(Maintained { classes: 1, ..Maintained::default() })
}

/// A batch after which rows that lacked something suffice: they get classes anew.
pub(super) fn begin_anew(
    work: &Work<'_>,
    (policy, names): (&Policy, &[String]),
    domain: &Domain,
    gone: &BTreeSet<Person>,
    new: &[Row],
    job: &Job<'_>,
) -> Result<Maintained, Failure> {
    change(work, domain, gone, new)?;
    work.set_meta(LACKING, "0")?;
    let mut state = State::load(work, names.to_vec())?;
    let maintained = first_classes(policy, &mut state, false, job)?;
    let place = || -> rusqlite::Result<()> {
        let mut update = work.transaction.prepare("UPDATE record SET class = ?2 WHERE person = ?1")?;
        for (person, class) in state.persons.iter().zip(&state.classes) {
            update.execute(params![person, class])?;
        }
        Ok(())
    };
    place().map_err(|e| work.fail(e))?;
    Ok(maintained)
}

/// Who goes goes, and who comes is in one class with all others. What is kept of the classes is made anew from the
/// rows.
fn change(work: &Work<'_>, domain: &Domain, gone: &BTreeSet<Person>, new: &[Row]) -> Result<(), Failure> {
    leave(work, gone)?;
    arrive(work, new, |_| 0)?;
    for statement in ["UPDATE record SET class = 0", "DELETE FROM page"] {
        work.transaction.execute(statement, []).map_err(|e| work.fail(e))?;
    }
    work.set_meta("heights", "")?;
    domain.store(work)
}
