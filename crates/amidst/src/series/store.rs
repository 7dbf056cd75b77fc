//! The private state of a series, in SQLite.
//!
//! The file says by its `user_version` which steps of [`MIGRATIONS`] it has seen; opening it runs the others. Writers
//! take the lock when they begin, so that two of them never work on the same rows; readers never wait.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OptionalExtension, Transaction, TransactionBehavior, params};

use crate::Failure;

/// The name of the file.
pub const FILE: &str = "state.sqlite";

/// What made each version of the file out of the one before. Steps are only ever added.
pub(super) const MIGRATIONS: &[&str] = &[
    "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
     CREATE TABLE value (col INTEGER NOT NULL, code INTEGER NOT NULL, text TEXT NOT NULL,
                         PRIMARY KEY (col, code)) WITHOUT ROWID;
     CREATE TABLE person (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE);
     CREATE TABLE record (person INTEGER PRIMARY KEY REFERENCES person (id), class INTEGER NOT NULL,
                          cells BLOB NOT NULL);
     CREATE TABLE batch (number INTEGER PRIMARY KEY, inserted INTEGER NOT NULL, deleted INTEGER NOT NULL,
                         dropped INTEGER NOT NULL, dissolved INTEGER NOT NULL, splits INTEGER NOT NULL,
                         classes INTEGER NOT NULL);
     CREATE TABLE version (number INTEGER PRIMARY KEY, batch INTEGER NOT NULL, rows INTEGER NOT NULL,
                           classes INTEGER NOT NULL, counterfeits INTEGER NOT NULL, placed INTEGER NOT NULL);
     CREATE TABLE history (version INTEGER NOT NULL, class INTEGER NOT NULL, persons BLOB NOT NULL,
                           counts BLOB NOT NULL, PRIMARY KEY (version, class)) WITHOUT ROWID;",
    "ALTER TABLE person ADD COLUMN signature BLOB;
     ALTER TABLE version ADD COLUMN leaks INTEGER NOT NULL DEFAULT 0;",
    // Counts and pages follow from the rows; the first batch fills them.
    "ALTER TABLE value ADD COLUMN rows INTEGER NOT NULL DEFAULT 0;
     CREATE UNIQUE INDEX value_text ON value (col, text);
     CREATE INDEX record_class ON record (class);
     CREATE TABLE kind (id INTEGER PRIMARY KEY, codes BLOB NOT NULL UNIQUE, rows INTEGER NOT NULL);
     CREATE TABLE page (number INTEGER PRIMARY KEY, classes BLOB NOT NULL);",
    // Pages are written in another way, and with the tree over them; the next batch makes both from the rows.
    "DELETE FROM page;
     DELETE FROM meta WHERE name = 'heights';
     CREATE TABLE tree (root INTEGER PRIMARY KEY, leaves BLOB NOT NULL);
     CREATE TABLE signed (signature BLOB NOT NULL, value INTEGER NOT NULL, rows INTEGER NOT NULL,
                          PRIMARY KEY (signature, value)) WITHOUT ROWID;",
    // What reverts the batches that no version holds yet.
    "CREATE TABLE undo (step INTEGER PRIMARY KEY, batch INTEGER NOT NULL, sql TEXT NOT NULL);",
];

/// An open state.
#[derive(Debug)]
pub struct Store {
    pub(super) connection: Connection,
    /// Where it is, for messages.
    place: String,
}

impl Store {
    /// Opens the state, or makes an empty one, and brings it up to date.
    pub fn open(path: &Path) -> Result<Store, Failure> {
        let place = path.display().to_string();
        let fail = |e| failure(&place, e);
        let connection = Connection::open(path).map_err(fail)?;
        connection.busy_timeout(Duration::from_millis(100)).map_err(fail)?;
        // In this mode readers go on while somebody writes; FULL makes every commit survive a loss of power.
        let _: String = connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0)).map_err(fail)?;
        connection.execute_batch("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;").map_err(fail)?;
        let mut store = Store { connection, place };
        store.migrate()?;
        Ok(store)
    }

    fn migrate(&mut self) -> Result<(), Failure> {
        let seen = |c: &Connection| c.query_row("PRAGMA user_version", [], |row| row.get::<_, u32>(0));
        let current = MIGRATIONS.len() as u32;
        let version = seen(&self.connection).map_err(|e| failure(&self.place, e))?;
        if version > current {
            return Err(Failure::Usage(format!(
                "{} was written by a newer Amidst (state version {version}, this one knows {current}); use that one",
                self.place
            )));
        }
        if version == current {
            return Ok(());
        }
        let place = self.place.clone();
        let fail = |e| failure(&place, e);
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(fail)?;
        // Somebody else may have been quicker.
        let version = seen(&transaction).map_err(fail)?;
        for step in MIGRATIONS.iter().skip(version as usize) {
            transaction.execute_batch(step).map_err(fail)?;
        }
        transaction.pragma_update(None, "user_version", current).map_err(fail)?;
        transaction.commit().map_err(fail)
    }

    /// A fact about the series.
    pub fn meta(&self, name: &str) -> Result<String, Failure> {
        let query = self.connection.query_row("SELECT value FROM meta WHERE name = ?1", [name], |row| row.get(0));
        let found: Option<String> = query.optional().map_err(|e| failure(&self.place, e))?;
        found.ok_or_else(|| {
            Failure::Io(format!("{} is damaged or no state of a series: it does not tell its {name}", self.place))
        })
    }

    /// Begins to read: everything read in it is of one moment.
    pub fn read(&self) -> Result<Work<'_>, Failure> {
        let transaction = self.connection.unchecked_transaction().map_err(|e| failure(&self.place, e))?;
        Ok(Work { transaction, place: &self.place })
    }

    /// Begins to write; fails at once when somebody else does.
    pub fn write(&mut self) -> Result<Work<'_>, Failure> {
        let begun = self.connection.transaction_with_behavior(TransactionBehavior::Immediate);
        match begun {
            Ok(transaction) => Ok(Work { transaction, place: &self.place }),
            Err(e) => Err(failure(&self.place, e)),
        }
    }
}

/// One transaction. Unless it is committed, nothing of it happened.
pub struct Work<'s> {
    pub(super) transaction: Transaction<'s>,
    place: &'s str,
}

impl Work<'_> {
    /// What an error of the database means to people.
    pub fn fail(&self, error: rusqlite::Error) -> Failure {
        failure(self.place, error)
    }

    /// A fact about the series, if it is known.
    pub fn meta(&self, name: &str) -> Result<Option<String>, Failure> {
        let query = self.transaction.query_row("SELECT value FROM meta WHERE name = ?1", [name], |row| row.get(0));
        query.optional().map_err(|e| self.fail(e))
    }

    /// States a fact about the series.
    pub fn set_meta(&self, name: &str, value: &str) -> Result<(), Failure> {
        let sql = "INSERT OR REPLACE INTO meta (name, value) VALUES (?1, ?2)";
        let set = self.transaction.execute(sql, params![name, value]);
        set.map(|_| ()).map_err(|e| self.fail(e))
    }

    /// A number, such as a count.
    pub fn number(&self, query: &str) -> Result<u64, Failure> {
        let number: i64 = self.transaction.query_row(query, [], |row| row.get(0)).map_err(|e| self.fail(e))?;
        Ok(number.unsigned_abs())
    }

    /// Makes everything happen.
    pub fn commit(self) -> Result<(), Failure> {
        let place = self.place;
        self.transaction.commit().map_err(|e| failure(place, e))
    }
}

fn failure(place: &str, error: rusqlite::Error) -> Failure {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Failure::Io(format!(
            "{place} is locked: another amidst is working on this series; nothing was changed, try again when it is done"
        )),
        Some(ErrorCode::DiskFull) => {
            Failure::Io(format!("the disk is full, so {place} was left as it was; make room and try again"))
        }
        Some(ErrorCode::ReadOnly) => Failure::Io(format!(
            "{place} cannot be written, which is needed even to look into it; work as the owner of the series, or on a copy"
        )),
        Some(ErrorCode::SystemIoFailure) => Failure::Io(format!(
            "the disk failed or is full, so {place} was left as it was; make room and try again ({error})"
        )),
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
            Failure::Io(format!("{place} is damaged or no state of a series: {error}"))
        }
        _ => Failure::Io(format!("cannot work on {place}, nothing was changed: {error}")),
    }
}

/// Numbers as bytes.
pub fn pack(numbers: impl IntoIterator<Item = u32>) -> Vec<u8> {
    numbers.into_iter().flat_map(u32::to_le_bytes).collect()
}

/// Bytes as numbers; a damaged tail is left out.
pub fn unpack(bytes: &[u8]) -> Vec<u32> {
    numbers(bytes).collect()
}

/// Bytes as numbers, one by one.
pub fn numbers(bytes: &[u8]) -> impl Iterator<Item = u32> {
    bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
}
