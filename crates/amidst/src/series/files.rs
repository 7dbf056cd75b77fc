//! The files of a batch: who comes, who goes, and what is said when they do not fit.
//!
//! Messages name the line and never the key, which is private.

use std::collections::BTreeSet;

use amidst_io::{ReadError, ReadOptions, without_password};
use rusqlite::OptionalExtension;
use rustc_hash::FxHashSet;

use super::packed::unpack;
use super::state::Person;
use super::store::Work;
use crate::Failure;
use crate::job::Job;
use crate::policy::{MissingRows, Policy, nearest};
use crate::prepare::{LoadOptions, PrepareError, Prepared, read_options};

/// A person by their key: the number, the signature, and whether they are in the table now.
const PRESENT: &str = "SELECT id, signature, EXISTS (SELECT 1 FROM record WHERE record.person = person.id) FROM person
                       WHERE key = ?1";

/// Who is to be deleted.
pub(super) fn departures(work: &Work<'_>, policy: &Policy, key: &str, file: &str) -> Result<BTreeSet<Person>, Failure> {
    let keep = |name: &str| name == key;
    let input = match amidst_io::read(file, &ReadOptions { keep: Some(&keep), ..read_options(policy)? }) {
        Err(ReadError::NoRows { .. }) => return Ok(BTreeSet::new()),
        input => input.map_err(PrepareError::from)?,
    };
    let Some(column) = input.table.column(key) else {
        let near = nearest(key, input.header.iter().map(String::as_str));
        let hint = near.map(|n| format!("; is it the one called `{n}`?")).unwrap_or_default();
        let file = without_password(file);
        return Err(Failure::Usage(format!("{file} has no column `{key}`, which tells whom to delete{hint}")));
    };
    let mut gone = BTreeSet::new();
    let mut unknown: Option<String> = None;
    let mut unknowns = 0u64;
    let mut find = work.transaction.prepare(PRESENT).map_err(|e| work.fail(e))?;
    for row in 0..input.table.rows {
        known_key(policy, column.value(row), || place(&input, row))?;
        let found: Option<(Person, bool)> =
            find.query_row([column.value(row)], |r| Ok((r.get(0)?, r.get(2)?))).optional().map_err(|e| work.fail(e))?;
        match found.filter(|(_, present)| *present) {
            None => {
                unknowns += 1;
                unknown.get_or_insert_with(|| place(&input, row));
            }
            Some((person, _)) if !gone.insert(person) => {
                let place = place(&input, row);
                return Err(Failure::Usage(format!("the key {place} is listed twice; nothing was deleted")));
            }
            Some(_) => {}
        }
    }
    match unknown {
        None => Ok(gone),
        Some(place) if unknowns == 1 => {
            Err(Failure::Usage(format!("the key {place} is not in the series; nothing was deleted")))
        }
        Some(place) => Err(Failure::Usage(format!(
            "{unknowns} keys are not in the series, the first of them {place}; nothing was deleted"
        ))),
    }
}

/// "on line 7 of rows.csv".
fn place(input: &amidst_io::Input, row: usize) -> String {
    let file = input.file_of(row).map(|f| f.display().to_string()).unwrap_or_default();
    match input.line_of(row) {
        Some(line) => format!("on line {line} of {file}"),
        None => format!("in row {} of {file}", row + 1),
    }
}

/// The rows of a file, fit for the policy; none where the file has a header only.
pub(super) fn arrivals(
    policy: &Policy,
    header: &[String],
    file: &str,
    job: &Job<'_>,
) -> Result<Option<Prepared>, Failure> {
    // A stream is read only once.
    let stream = file == "-";
    if !stream {
        let own = match crate::prepare::header(file, &read_options(policy)?) {
            Err(PrepareError::Read(ReadError::NoRows { .. })) => return Ok(None),
            own => own?,
        };
        same_header(header, &own, file)?;
    }
    let options = LoadOptions { input: Some(file.to_string()), control: job.quiet() };
    let new = match Prepared::load(policy, &options) {
        Err(PrepareError::Read(ReadError::NoRows { .. })) => return Ok(None),
        new => new?,
    };
    if stream {
        same_header(header, &new.header, "standard input")?;
    }
    Ok(Some(new))
}

/// Fails where a row of a file was left out because it has no key: in a series it would belong to no person. Rows that
/// are left out by the policy's own tokens are left out.
fn refuse_nobody(policy: &Policy, key: &str, file: &str, left_out: u64) -> Result<(), Failure> {
    // A stream cannot be read again.
    if left_out == 0 || file == "-" {
        return Ok(());
    }
    let keep = |name: &str| name == key;
    let input = amidst_io::read(file, &ReadOptions { keep: Some(&keep), ..read_options(policy)? });
    let Ok(input) = input else { return Ok(()) };
    let Some(column) = input.table.column(key) else { return Ok(()) };
    let dropped = |value: &str| {
        policy.data.missing_rows == MissingRows::Drop && policy.data.missing.iter().any(|token| token == value)
    };
    for row in (0..input.table.rows).filter(|&row| !dropped(column.value(row))) {
        known_key(policy, column.value(row), || place(&input, row))?;
    }
    Ok(())
}

/// Fails where a key is empty or means "unknown": such a row belongs to no person.
fn known_key(policy: &Policy, value: &str, place: impl FnOnce() -> String) -> Result<(), Failure> {
    if !value.trim().is_empty() && !policy.data.missing.iter().any(|token| token == value) {
        return Ok(());
    }
    Err(Failure::Usage(format!(
        "the key {} is empty or unknown, so the row belongs to no person; give it a key or leave it out. Nothing was changed",
        place()
    )))
}

/// A row that comes.
pub(super) struct Arrival {
    /// Who it is about.
    pub person: Person,
    /// The signature under which they were published before; empty when they were not.
    pub signature: Vec<u32>,
    /// The row of the table.
    pub row: usize,
}

/// Finds the person of each row, all of whom must be new or leave in the same batch.
pub(super) fn persons(
    work: &Work<'_>,
    policy: &Policy,
    new: &Prepared,
    key: &str,
    file: &str,
    gone: &BTreeSet<Person>,
) -> Result<Vec<Arrival>, Failure> {
    refuse_nobody(policy, key, file, new.rows_dropped_missing)?;
    let Some(keys) = new.table.column(key) else {
        let file = without_password(file);
        return Err(Failure::Usage(format!("{file} has no column `{key}`, the key of the series")));
    };
    let fail = |e| work.fail(e);
    let db = &work.transaction;
    let mut find = db.prepare(PRESENT).map_err(fail)?;
    let mut add = db.prepare("INSERT INTO person (key) VALUES (?1)").map_err(fail)?;
    let mut seen = FxHashSet::default();
    let mut arrivals = Vec::with_capacity(new.table.rows);
    for row in 0..new.table.rows {
        let value = keys.value(row);
        known_key(policy, value, || place_of_key(key, file, value, Which::First))?;
        let found: Option<(Person, Option<Vec<u8>>, bool)> =
            find.query_row([value], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?))).optional().map_err(fail)?;
        let (person, signature, present) = match found {
            Some((person, signature, present)) => {
                (person, signature.map(|s| unpack(&s)).unwrap_or_default(), present && !gone.contains(&person))
            }
            None => {
                add.execute([value]).map_err(fail)?;
                let id = Person::try_from(db.last_insert_rowid());
                (id.map_err(|_| Failure::Io("the series has too many persons".into()))?, Vec::new(), false)
            }
        };
        if !seen.insert(person) {
            return Err(Failure::Usage(format!(
                "the key {} is in the file already: a person is in a series once. Nothing was inserted",
                place_of_key(key, file, value, Which::Last)
            )));
        }
        if present {
            return Err(Failure::Usage(there_already(key, file, value)));
        }
        arrivals.push(Arrival { person, signature, row });
    }
    Ok(arrivals)
}

/// What is said of a key that is in the series already.
fn there_already(key: &str, file: &str, value: &str) -> String {
    format!(
        "the key {} is there already: a person is in a series once; delete the old row in the same batch to replace it. \
         Nothing was inserted",
        place_of_key(key, file, value, Which::Last)
    )
}

/// Which of the rows with a key is meant.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Which {
    First,
    Last,
}

/// Where a key stands in a file. The key itself is not said: it is private.
fn place_of_key(key: &str, file: &str, value: &str, which: Which) -> String {
    let keep = |name: &str| name == key;
    // A stream cannot be read again.
    let again =
        (file != "-").then(|| amidst_io::read(file, &ReadOptions { keep: Some(&keep), ..ReadOptions::default() }));
    let found = again.and_then(Result::ok).and_then(|input| {
        let column = input.table.column(key)?;
        let mut rows = (0..input.table.rows).filter(|&row| column.value(row) == value);
        let row = if which == Which::First { rows.next() } else { rows.next_back() }?;
        Some(place(&input, row))
    });
    found.unwrap_or_else(|| match file {
        "-" => "of a row of standard input".to_string(),
        file => format!("of a row of {}", without_password(file)),
    })
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
        "{} has another header than the series: {}; nothing was inserted",
        without_password(file),
        parts.join("; ")
    )))
}
