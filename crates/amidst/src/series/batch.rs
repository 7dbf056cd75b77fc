//! A batch: rows that come and rows that go, all of them or none.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use amidst_core::internal::series::Maintained;
use amidst_core::search::feasibility;
use amidst_core::table::{Column, Table, ValueType};
use rusqlite::params;

use super::applied::{Applied, note};
use super::domain::{Bound, Domain, with_role};
use super::draft::{SeriesHead, lacking};
use super::extend::{advised, reasoned};
use super::files::{arrivals, departures, persons};
use super::forecast::{self, Signed};
use super::lacking::{begin_anew, wait};
use super::packed::unpack;
use super::rows::{Row, arrive, leave};
use super::snapshot::{self, Interner, SqlRows};
use super::state::{Person, State, kept};
use super::stated::key_of;
use super::store::Work;
use super::{Mode, Series, compose, replaced, undo};
use crate::Failure;
use crate::job::Job;
use crate::plan::task;
use crate::policy::{Policy, Role};

/// The files of a batch.
#[derive(Debug, Clone, Default)]
pub struct Batch {
    /// New rows, with the columns of the first table.
    pub insert: Option<String>,
    /// Rows to delete: a table with the key column; its other columns are not looked at.
    pub delete: Option<String>,
}

impl Series {
    /// Applies a batch: deletes, inserts, and brings the classes up to date.
    ///
    /// # Errors
    /// When a file does not fit, a key is there already or is not there, or the policy becomes impossible; then the
    /// series is as it was.
    pub fn apply(&mut self, batch: &Batch, job: &Job<'_>) -> Result<Applied, Failure> {
        let key = key_of(&self.policy)?.to_string();
        let names = kept(&self.policy, &self.header);
        // The lock first: what is read below must still be true when it is written.
        let work = self.store.write()?;
        let number = work.number("SELECT COALESCE(MAX(number), 0) + 1 FROM batch")?;
        undo::record(&work, number)?;
        let gone = match &batch.delete {
            Some(file) => departures(&work, &self.policy, &key, file)?,
            None => BTreeSet::new(),
        };
        let new = match &batch.insert {
            Some(file) => arrivals(&self.policy, &self.header, file, job).map_err(|e| advised(e, &self.folder))?,
            None => None,
        };
        let dropped = new.as_ref().map_or(0, |new| new.rows_dropped_missing);
        if gone.is_empty() && new.as_ref().is_none_or(|new| new.table.rows == 0) {
            // No row is inserted or deleted: there is no batch, and nothing new to publish.
            return unchanged(&work, number - 1, dropped);
        }
        let mut rows = Vec::new();
        if let (Some(file), Some(new)) = (&batch.insert, &new) {
            let mut interner = Interner::new(&work, &self.policy, &names)?;
            let columns: Vec<Option<&Column>> = names.iter().map(|name| new.table.column(name)).collect();
            for arrival in persons(&work, &self.policy, new, &key, file, &gone)? {
                let mut cells = Vec::with_capacity(names.len());
                for (position, column) in columns.iter().enumerate() {
                    let (text, kind) = column.map_or(("", ValueType::Text), |c| (c.value(arrival.row), c.kind));
                    cells.push(interner.code(position, text, kind)?);
                }
                rows.push(Row { person: arrival.person, cells, signature: arrival.signature, row: arrival.row });
            }
        }
        replaced::note(&work, &self.policy, &names, &gone, &rows).map_err(|e| work.fail(e))?;
        let table = new.as_ref().map(|new| &new.table);
        let change = Change { policy: &self.policy, names: &names, gone: &gone, new: &rows, table };
        let maintained = match self.mode {
            Mode::Maintain => maintain(&work, &change, job)?,
            Mode::MInvariant => invariant(&work, &change, job)?,
        };
        let applied = Applied {
            batch: number,
            inserted: rows.len() as u64,
            deleted: gone.len() as u64,
            dropped,
            rows: (work.number("SELECT COALESCE(SUM(inserted - deleted), 0) FROM batch")? + rows.len() as u64)
                .saturating_sub(gone.len() as u64),
            maintained,
        };
        note(&work, &applied).map_err(|e| work.fail(e))?;
        singled_out(&work, &self.policy, &names, &self.folder)?;
        // Values that no row has any more are erased here, so that undoing the batch restores them.
        work.erase()?;
        undo::stop(&work)?;
        work.commit()?;
        Ok(applied)
    }
}

/// Refuses what publishing would refuse, once the batch is in: columns that are published as they are and single people
/// out.
fn singled_out(work: &Work<'_>, policy: &Policy, names: &[String], folder: &Path) -> Result<(), Failure> {
    let unexplained = |&at: &usize| policy.column(&names[at]).is_some_and(|c| c.accept.is_none());
    if with_role(policy, names, Role::Insensitive).iter().any(unexplained) {
        let rows = State::load(work, names.to_vec())?.table(|_| false);
        crate::raw::refuse_rows(policy, &rows).map_err(|e| reasoned(e, folder))?;
    }
    Ok(())
}

/// The answer to files without rows: the series is as it was after its last batch.
fn unchanged(work: &Work<'_>, last: u64, dropped: u64) -> Result<Applied, Failure> {
    let classes = work.number("SELECT COALESCE((SELECT classes FROM batch ORDER BY number DESC LIMIT 1), 0)")?;
    let rows = work.number("SELECT COALESCE(SUM(inserted - deleted), 0) FROM batch")?;
    let maintained = Maintained { classes, ..Maintained::default() };
    Ok(Applied { batch: last, inserted: 0, deleted: 0, dropped, rows, maintained })
}

/// What a batch changes.
#[derive(Clone, Copy)]
struct Change<'a> {
    policy: &'a Policy,
    /// The columns that are kept.
    names: &'a [String],
    /// Who leaves.
    gone: &'a BTreeSet<Person>,
    /// Who comes.
    new: &'a [Row],
    /// The table they come from, if anybody comes.
    table: Option<&'a Table>,
}

/// Brings the classes up to date; only those that are taken apart are looked at row by row.
fn maintain(work: &Work<'_>, change: &Change<'_>, job: &Job<'_>) -> Result<Maintained, Failure> {
    let Change { policy, names, gone, new, .. } = *change;
    let mut leaving: BTreeMap<u32, Vec<Person>> = BTreeMap::new();
    let domain = changed_domain(work, change, |person, class, _| {
        leaving.entry(class).or_default().push(person);
    })?;
    let bound = Bound::new(policy, names, &domain, job)?;
    let search = task(policy, &bound.prepared, &job.quiet())?;
    if let Some(impossible) = feasibility::impossible(&search) {
        // Deletions are carried out also where the other rows do not suffice for a version any more.
        if (!gone.is_empty() || lacking(work)?) && SeriesHead::load(work)?.version > 0 {
            return wait(work, &domain, gone, new);
        }
        let message = format!("{impossible}; the series is as it was");
        return Err(Failure::Impossible(impossible.said(message)));
    }
    if lacking(work)? {
        return begin_anew(work, (policy, names), &domain, gone, new, job);
    }
    let mut maintained_classes = snapshot::load(work, &search, &domain, &bound)?;
    let mut numbers = Vec::with_capacity(new.len());
    for row in new {
        let Some((codes, sensitive)) = bound.row(&domain, &row.cells) else {
            return Err(Failure::Io("the state of the series is damaged: a value has no code".into()));
        };
        numbers.push(maintained_classes.rows.push(row.person, &codes, sensitive));
    }
    let mut rows_of = SqlRows::new(work, &domain, &bound, gone)?;
    let maintained = maintained_classes.apply(&leaving, numbers, &mut rows_of)?;
    leave(work, gone)?;
    let class_of: BTreeMap<Person, u32> = maintained_classes.moves().collect();
    arrive(work, new, |person| class_of.get(&person).copied().unwrap_or(0))?;
    let fresh: BTreeSet<Person> = new.iter().map(|row| row.person).collect();
    let moved = || -> rusqlite::Result<()> {
        let mut update = work.transaction.prepare("UPDATE record SET class = ?2 WHERE person = ?1")?;
        for (&person, &class) in class_of.iter().filter(|(person, _)| !fresh.contains(person)) {
            update.execute(params![person, class])?;
        }
        Ok(())
    };
    moved().map_err(|e| work.fail(e))?;
    domain.store(work)?;
    snapshot::store(work, &maintained_classes, &bound)?;
    Ok(maintained)
}

/// The values and their counts after the batch. `leaves` is told the class and the cells of everybody who goes.
fn changed_domain(
    work: &Work<'_>,
    change: &Change<'_>,
    mut leaves: impl FnMut(Person, u32, &[u32]),
) -> Result<Domain, Failure> {
    let Change { policy, names, gone, new, table } = *change;
    snapshot::count_all(work, policy, names)?;
    let mut domain = Domain::load(work, policy, names)?;
    let mut find = || -> rusqlite::Result<()> {
        let mut query = work.transaction.prepare("SELECT class, cells FROM record WHERE person = ?1")?;
        for &person in gone {
            let (class, cells) = query.query_row([person], |row| Ok((row.get(0)?, row.get::<_, Vec<u8>>(1)?)))?;
            let cells = unpack(&cells);
            domain.count(&cells, -1, |_| String::new());
            leaves(person, class, &cells);
        }
        Ok(())
    };
    find().map_err(|e| work.fail(e))?;
    for row in new {
        let text = |column: usize| Some(table?.column(&names[column])?.value(row.row).to_string());
        domain.count(&row.cells, 1, |column| text(column).unwrap_or_default());
    }
    Ok(domain)
}

/// In this mode classes are made when a version is published; here it is only shown that they can be.
fn invariant(work: &Work<'_>, change: &Change<'_>, job: &Job<'_>) -> Result<Maintained, Failure> {
    let Change { policy, names, gone, new, .. } = *change;
    let satisfied = match compose::follows_from_m(policy) {
        true => true,
        false => forecast_holds(work, change, job)?,
    };
    leave(work, gone)?;
    arrive(work, new, |_| 0)?;
    if work.number("SELECT EXISTS (SELECT 1 FROM record)")? == 0 {
        let message = "no row would be left, and a version needs some; nothing was changed";
        return Err(Failure::Impossible(message.into()));
    }
    if !satisfied {
        compose::compose(policy, Mode::MInvariant, &State::load(work, names.to_vec())?, job)?;
    }
    Ok(Maintained::default())
}

/// Counts the batch, and tells whether the numbers are enough to know that the next version will satisfy the policy.
fn forecast_holds(work: &Work<'_>, change: &Change<'_>, job: &Job<'_>) -> Result<bool, Failure> {
    let Change { policy, names, new, .. } = *change;
    let Some(&column) = with_role(policy, names, Role::Sensitive).first() else { return Ok(false) };
    forecast::count_all(work, column)?;
    let mut signed = Signed::default();
    let mut left = Vec::new();
    let domain = changed_domain(work, change, |person, _, cells| {
        left.push((person, cells[column]));
    })?;
    let mut find = || -> rusqlite::Result<()> {
        let mut query = work.transaction.prepare("SELECT signature FROM person WHERE id = ?1")?;
        for &(person, value) in &left {
            let signature: Option<Vec<u8>> = query.query_row([person], |row| row.get(0))?;
            signed.count(&signature.map(|s| unpack(&s)).unwrap_or_default(), value, -1);
        }
        Ok(())
    };
    find().map_err(|e| work.fail(e))?;
    new.iter().for_each(|row| signed.count(&row.signature, row.cells[column], 1));
    signed.store(work)?;
    domain.store(work)?;
    if domain.tuples.values().all(|tuple| tuple.rows <= 0) {
        return Ok(false);
    }
    forecast::satisfied(work, policy, names, &domain, job)
}
