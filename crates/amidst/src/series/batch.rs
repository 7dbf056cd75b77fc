//! A batch: rows that come and rows that go, all of them or none.

use amidst_core::feasibility;
use amidst_core::series::{Maintained, UNPLACED, maintain};
use amidst_io::ReadOptions;
use rusqlite::{OptionalExtension, params};
use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Value, json};

use super::state::{Person, State, kept};
use super::store::{Work, unpack};
use super::{Mode, Series, compose};
use crate::Failure;
use crate::anonymize::{Job, task};
use crate::policy::{Policy, Role};
use crate::prepare::{LoadOptions, PrepareError, Prepared};

/// The files of a batch.
#[derive(Debug, Clone, Default)]
pub struct Batch {
    /// New rows, with the columns of the first table.
    pub insert: Option<String>,
    /// Rows to delete: a table with the key column; its other columns are not looked at.
    pub delete: Option<String>,
}

/// What a batch did.
#[derive(Debug, Clone, PartialEq)]
pub struct Applied {
    /// The number of the batch.
    pub batch: u64,
    /// Rows that came.
    pub inserted: u64,
    /// Rows that went.
    pub deleted: u64,
    /// Rows that did not come, because a value is unknown.
    pub dropped: u64,
    /// Rows of the series now.
    pub rows: u64,
    /// What it did to the classes.
    pub maintained: Maintained,
}

impl Applied {
    /// What the command prints with `--json`.
    pub fn to_json(&self) -> Value {
        json!({
            "batch": self.batch, "inserted": self.inserted, "deleted": self.deleted,
            "rows_dropped_missing": self.dropped, "rows": self.rows, "classes": self.maintained.classes,
            "dissolved": self.maintained.dissolved, "moved": self.maintained.moved, "splits": self.maintained.splits,
            "information_loss": crate::json::number(self.maintained.loss),
        })
    }
}

impl Series {
    /// Applies a batch: deletes, inserts, and brings the classes up to date.
    ///
    /// # Errors
    /// When a file does not fit, a key is there already or is not there, or the policy becomes impossible; then the
    /// series is as it was.
    pub fn apply(&mut self, batch: &Batch, job: &Job<'_>) -> Result<Applied, Failure> {
        let key = key_column(&self.policy)?.to_string();
        let names = kept(&self.policy, &self.header);
        // The lock first: what is read below must still be true when it is written.
        let work = self.store.write()?;
        let mut state = State::load(&work, names)?;
        let gone = match &batch.delete {
            Some(file) => departures(&work, &key, file, &state)?,
            None => FxHashSet::default(),
        };
        state.remove(|person| gone.contains(&person));
        let survivors = state.rows();
        let dropped = match &batch.insert {
            Some(file) => arrivals(&work, &self.policy, &self.header, &key, file, &mut state, job)?,
            None => 0,
        };
        let before = state.classes.clone();
        let maintained = update(&self.policy, self.mode, &mut state, job)?;

        for &person in &gone {
            let delete = work.transaction.execute("DELETE FROM record WHERE person = ?1", [person]);
            delete.map_err(|e| work.fail(e))?;
        }
        state.store_values(&work)?;
        store_moves(&work, &state, &before[..survivors]).map_err(|e| work.fail(e))?;
        state.store_rows(&work, survivors)?;
        let inserted = (state.rows() - survivors) as u64;
        let applied = Applied {
            batch: work.number("SELECT COALESCE(MAX(number), 0) + 1 FROM batch")?,
            inserted,
            deleted: gone.len() as u64,
            dropped,
            rows: state.rows() as u64,
            maintained,
        };
        note(&work, &applied).map_err(|e| work.fail(e))?;
        work.commit()?;
        Ok(applied)
    }
}

/// Writes down what a batch did.
pub(super) fn note(work: &Work<'_>, a: &Applied) -> rusqlite::Result<()> {
    let m = &a.maintained;
    work.transaction
        .execute(
            "INSERT INTO batch (number, inserted, deleted, dropped, dissolved, splits, classes)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            params![
                a.batch as i64,
                a.inserted as i64,
                a.deleted as i64,
                a.dropped as i64,
                m.dissolved as i64,
                m.splits as i64,
                m.classes as i64
            ],
        )
        .map(|_| ())
}

/// Brings the classes of a state up to date, or shows that the policy cannot be satisfied any more.
pub(super) fn update(policy: &Policy, mode: Mode, state: &mut State, job: &Job<'_>) -> Result<Maintained, Failure> {
    if mode == Mode::MInvariant {
        // Classes are made when a version is published; here it is only shown that they can be.
        let composed = compose::compose(policy, mode, state, job.cancel)?;
        state.classes.fill(0);
        return Ok(Maintained { classes: composed.judged.class_count(), ..Maintained::default() });
    }
    let prepared = compose::prepare(policy, mode, state, job.cancel)?;
    let search = task(policy, &prepared, job.cancel, &|_| ())?;
    if let Some(impossible) = feasibility::impossible(&search) {
        return Err(Failure::Impossible(format!("{}; the series is as it was", impossible.message)));
    }
    Ok(maintain(&search, &prepared.entry_of_row, &mut state.classes)?)
}

fn store_moves(work: &Work<'_>, state: &State, before: &[u32]) -> rusqlite::Result<()> {
    let mut update = work.transaction.prepare("UPDATE record SET class = ?2 WHERE person = ?1")?;
    for ((&person, &now), &then) in state.persons.iter().zip(&state.classes).zip(before) {
        if now != then {
            update.execute(params![person, now])?;
        }
    }
    Ok(())
}

/// The name of the key column, which a series needs.
pub(super) fn key_column(policy: &Policy) -> Result<&str, Failure> {
    policy.with_role(Role::Key).next().ok_or_else(|| {
        Failure::Usage(
            "a series must tell persons apart from version to version: give one column the role \"key\" in the policy"
                .into(),
        )
    })
}

/// Who is to be deleted.
fn departures(work: &Work<'_>, key: &str, file: &str, state: &State) -> Result<FxHashSet<Person>, Failure> {
    let keep = |name: &str| name == key;
    let input = amidst_io::read(file, &ReadOptions { keep: Some(&keep), ..ReadOptions::default() })
        .map_err(PrepareError::from)?;
    let Some(column) = input.table.column(key) else {
        return Err(Failure::Usage(format!("{file} has no column `{key}`, which tells whom to delete")));
    };
    let present: FxHashSet<Person> = state.persons.iter().copied().collect();
    let mut gone = FxHashSet::default();
    let mut find = work.transaction.prepare("SELECT id FROM person WHERE key = ?1").map_err(|e| work.fail(e))?;
    for row in 0..input.table.rows {
        let found: Option<Person> =
            find.query_row([column.value(row)], |r| r.get(0)).optional().map_err(|e| work.fail(e))?;
        let place = place(&input, row);
        match found.filter(|p| present.contains(p)) {
            None => return Err(Failure::Usage(format!("the key {place} is not in the series; nothing was deleted"))),
            Some(person) if !gone.insert(person) => {
                return Err(Failure::Usage(format!("the key {place} is listed twice; nothing was deleted")));
            }
            Some(_) => {}
        }
    }
    Ok(gone)
}

/// "on line 7 of rows.csv".
fn place(input: &amidst_io::Input, row: usize) -> String {
    let file = input.file_of(row).map(|f| f.display().to_string()).unwrap_or_default();
    match input.line_of(row) {
        Some(line) => format!("on line {line} of {file}"),
        None => format!("in row {} of {file}", row + 1),
    }
}

/// Adds the rows of a file to the state. Returns how many were dropped because a value is unknown.
fn arrivals(
    work: &Work<'_>,
    policy: &Policy,
    header: &[String],
    key: &str,
    file: &str,
    state: &mut State,
    job: &Job<'_>,
) -> Result<u64, Failure> {
    let first = ReadOptions { max_rows: Some(1), threads: 1, ..ReadOptions::default() };
    let start = amidst_io::read(file, &first).map_err(PrepareError::from)?;
    same_header(header, &start.header, file)?;
    let options =
        LoadOptions { input: Some(file.to_string()), threads: job.threads, cancel: Some(job.cancel), progress: None };
    let new = Prepared::load(policy, &options)?;
    insert(work, &new, key, file, state)?;
    Ok(new.rows_dropped_missing)
}

/// Adds prepared rows to the state, each with its person.
pub(super) fn insert(work: &Work<'_>, new: &Prepared, key: &str, file: &str, state: &mut State) -> Result<(), Failure> {
    let Some(keys) = new.table.column(key) else {
        return Err(Failure::Usage(format!("{file} has no column `{key}`, the key of the series")));
    };
    let position = |name: &String| new.table.position(name);
    let columns: Vec<usize> = state.names.iter().filter_map(position).collect();
    let mut present: FxHashMap<Person, ()> = state.persons.iter().map(|&p| (p, ())).collect();
    let fail = |e| work.fail(e);
    let db = &work.transaction;
    let mut find = db.prepare("SELECT id, signature FROM person WHERE key = ?1").map_err(fail)?;
    let mut add = db.prepare("INSERT INTO person (key) VALUES (?1)").map_err(fail)?;
    for row in 0..new.table.rows {
        let value = keys.value(row);
        let found: Option<(Person, Option<Vec<u8>>)> =
            find.query_row([value], |r| Ok((r.get(0)?, r.get(1)?))).optional().map_err(fail)?;
        let (person, signature) = match found {
            Some((person, signature)) => (person, signature.map(|s| unpack(&s)).unwrap_or_default()),
            None => {
                add.execute([value]).map_err(fail)?;
                let id = Person::try_from(db.last_insert_rowid());
                (id.map_err(|_| Failure::Io("the series has too many persons".into()))?, Vec::new())
            }
        };
        if present.insert(person, ()).is_some() {
            return Err(Failure::Usage(twice(key, file, value)));
        }
        state.add(person, UNPLACED, signature, columns.iter().map(|&c| new.table.columns[c].value(row)));
    }
    Ok(())
}

/// Where a key stands that is in the series already, or in the file before. The key itself is not said: it is private.
fn twice(key: &str, file: &str, value: &str) -> String {
    let keep = |name: &str| name == key;
    let help = "a person is in a series once; delete the old row in the same batch to replace it. Nothing was inserted";
    let input = amidst_io::read(file, &ReadOptions { keep: Some(&keep), ..ReadOptions::default() });
    let place = input.ok().and_then(|input| {
        let column = input.table.column(key)?;
        let row = (0..input.table.rows).rev().find(|&row| column.value(row) == value)?;
        Some(place(&input, row))
    });
    match place {
        Some(place) => format!("the key {place} is there already: {help}"),
        None => format!("a key of {file} is there already: {help}"),
    }
}

/// Every file of a series has the columns of the first.
fn same_header(header: &[String], other: &[String], file: &str) -> Result<(), Failure> {
    let lacks = |a: &[String], b: &[String]| -> Vec<String> {
        a.iter().filter(|n| !b.contains(n)).map(|n| format!("`{n}`")).collect()
    };
    let (missing, strange) = (lacks(header, other), lacks(other, header));
    if missing.is_empty() && strange.is_empty() {
        return Ok(());
    }
    let mut parts = Vec::new();
    if !missing.is_empty() {
        parts.push(format!("it lacks {}", missing.join(", ")));
    }
    if !strange.is_empty() {
        parts.push(format!("the series does not know {}", strange.join(", ")));
    }
    Err(Failure::Usage(format!(
        "{file} has another header than the series: {}; nothing was inserted",
        parts.join("; ")
    )))
}
