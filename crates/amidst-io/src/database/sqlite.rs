//! Reads one table, view or SELECT of a SQLite database file, which is opened read-only.

use std::io::Write;
use std::path::Path;
use std::time::Duration;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::listed;
use crate::address::Wanted;
use crate::columnar::float64;
use crate::contain::contained;
use crate::error::{ReadError, shown};
use crate::merge::Merger;
use crate::rows::{Binary, Rows};
use crate::stream::{Settings, open};

/// How long to wait for another writer's lock.
const LOCK_TIMEOUT: Duration = Duration::from_secs(2);

/// Reads `wanted` from the database in `file`; `place` is its address for messages.
pub(crate) fn read(
    place: &Path,
    file: &Path,
    wanted: &Wanted,
    settings: &Settings<'_>,
    merger: &mut Merger<'_>,
) -> Result<(), ReadError> {
    // SQLite reports every failure as "cannot open the file"; the system's error says why.
    if file.is_dir() {
        return Err(wrong(place, "this is a folder, not a SQLite database".to_string()));
    }
    drop(open(file)?);
    let failed = |e: rusqlite::Error| error(place, e);
    let connection =
        Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX)
            .map_err(failed)?;
    connection.busy_timeout(LOCK_TIMEOUT).map_err(failed)?;
    connection.execute_batch("PRAGMA cell_size_check = ON;").map_err(failed)?;
    let select = select(place, &connection, wanted)?;
    let mut statement = connection.prepare(&select).map_err(failed)?;
    // The library panics on column names that are not UTF-8, which a damaged file may have.
    let header: Vec<String> = contained(|| statement.column_names().map(String::from).collect())
        .map_err(|_| wrong(place, "the database is damaged: a column's name is not UTF-8".to_string()))?;
    if header.is_empty() || !statement.readonly() {
        return Err(wrong(place, "the query is not a SELECT".to_string()));
    }
    let mut rows = Rows::begin(place, header, merger)?;
    let mut found = statement.query([]).map_err(failed)?;
    while let Some(row) = found.next().map_err(failed)? {
        let go_on = rows.push(settings, merger, |column, text| {
            // The column exists in the statement, so `get_ref` does not fail.
            match row.get_ref(column).unwrap_or(ValueRef::Null) {
                ValueRef::Null => return Ok(true),
                // Writing to memory does not fail.
                ValueRef::Integer(n) => drop(write!(text, "{n}")),
                ValueRef::Real(x) => text.extend_from_slice(float64(x).as_bytes()),
                ValueRef::Text(bytes) => text.extend_from_slice(bytes),
                ValueRef::Blob(_) => return Err(Binary),
            }
            Ok(false)
        })?;
        if !go_on {
            return Ok(());
        }
    }
    rows.finish(place, settings, merger)
}

/// The SELECT statement for `wanted`.
fn select(place: &Path, connection: &Connection, wanted: &Wanted) -> Result<String, ReadError> {
    let failed = |e: rusqlite::Error| error(place, e);
    if let Wanted::Query(query) = wanted {
        return Ok(query.clone());
    }
    let list = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' \
                ORDER BY name";
    let mut statement = connection.prepare(list).map_err(failed)?;
    let names = statement.query_map([], |row| row.get::<_, String>(0)).and_then(Iterator::collect);
    let names: Vec<String> = names.map_err(failed)?;
    let quoted = |name: &str| format!("SELECT * FROM \"{}\"", name.replace('"', "\"\""));
    match (wanted, names.as_slice()) {
        (_, []) => Err(wrong(place, "the database has no tables".to_string())),
        (Wanted::Table(name), _) => match names.iter().find(|n| n.eq_ignore_ascii_case(name)) {
            Some(name) => Ok(quoted(name)),
            None => {
                Err(wrong(place, format!("there is no table {}; the database has {}", shown(name), listed(&names))))
            }
        },
        (_, [only]) => Ok(quoted(only)),
        _ => Err(wrong(place, format!("say which table with ?table=…; the database has {}", listed(&names)))),
    }
}

fn wrong(place: &Path, reason: String) -> ReadError {
    ReadError::Database { place: place.display().to_string(), reason }
}

fn error(place: &Path, error: rusqlite::Error) -> ReadError {
    let code = error.sqlite_error_code();
    let said = match &error {
        rusqlite::Error::SqliteFailure(_, Some(message)) => message.clone(),
        // Without the text of the statement, which may be long.
        rusqlite::Error::SqlInputError { msg, .. } => msg.clone(),
        other => other.to_string(),
    };
    match code {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => ReadError::DatabaseFailed {
            place: place.display().to_string(),
            reason: "the database is locked by another program. Close it there, or read a copy".to_string(),
        },
        Some(ErrorCode::NotADatabase) => wrong(place, "the file is not a SQLite database".to_string()),
        Some(ErrorCode::DatabaseCorrupt) => wrong(place, format!("the database is damaged: {said}")),
        Some(ErrorCode::Unknown) | None => wrong(place, said),
        Some(_) => ReadError::DatabaseFailed { place: place.display().to_string(), reason: said },
    }
}
