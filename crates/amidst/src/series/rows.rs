//! The rows of the state that come and go with a batch.

use std::collections::BTreeSet;

use rusqlite::params;

use super::packed::pack;
use super::state::Person;
use super::store::Work;
use crate::Failure;

/// A row that comes.
pub(super) struct Row {
    pub person: Person,
    /// Its cells, in the codes of the series.
    pub cells: Vec<u32>,
    /// The signature under which the person was published before; empty when they were not.
    pub signature: Vec<u32>,
    /// Where it stands in the table that was read.
    pub row: usize,
}

/// Takes the rows of persons out of the table.
pub(super) fn leave(work: &Work<'_>, gone: &BTreeSet<Person>) -> Result<(), Failure> {
    let leave = || -> rusqlite::Result<()> {
        let mut delete = work.transaction.prepare("DELETE FROM record WHERE person = ?1")?;
        gone.iter().try_for_each(|person| delete.execute([person]).map(|_| ()))
    };
    leave().map_err(|e| work.fail(e))
}

/// Puts rows into the table, each in its class.
pub(super) fn arrive(work: &Work<'_>, new: &[Row], class_of: impl Fn(Person) -> u32) -> Result<(), Failure> {
    let arrive = || -> rusqlite::Result<()> {
        let mut insert = work.transaction.prepare("INSERT INTO record (person, class, cells) VALUES (?1, ?2, ?3)")?;
        for row in new {
            insert.execute(params![row.person, class_of(row.person), pack(row.cells.iter().copied())])?;
        }
        Ok(())
    };
    arrive().map_err(|e| work.fail(e))
}
