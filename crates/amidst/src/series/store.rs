//! The private state of a series, in SQLite.
//!
//! The file says by its `user_version` which steps of [`MIGRATIONS`] it has seen; opening it runs the others. Writers
//! take the lock when they begin, so that two of them never work on the same rows; readers never wait.
//!
//! A state that is damaged is refused as a whole, by its [`seal`] and by the number of the last change, which a file
//! beside it repeats: SQLite takes a log that is damaged or missing for one that ends earlier, and goes on with an
//! older state.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OptionalExtension, Transaction, TransactionBehavior, params};

use super::packed::unpack;
use super::seal::{self, ChangeLog, NAME, SMALL, Sums, TABLES};
use super::state_files::{check_head, close_to_others, damaged, files_beside, read_head, restored, write_head};
use crate::{Failure, files};

/// The name of the file.
pub const FILE: &str = "state.sqlite";

/// The fact about the series that holds the digest of its policy and hierarchies, which stay what they were.
const FILES: &str = "files";

/// States up to this size are checked as a whole whenever they are opened: 8 MiB.
const QUICKLY_CHECKED: u64 = 8 << 20;

/// The first version of the file that has a seal.
const SEALED: u32 = 7;

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
    // Which values of several sensitive columns stand together; and whose values a batch has changed.
    "ALTER TABLE history ADD COLUMN tuples BLOB;
     CREATE TABLE changed (person INTEGER NOT NULL, batch INTEGER NOT NULL, PRIMARY KEY (person, batch)) WITHOUT ROWID;",
    // What reverts the batches that no version holds yet.
    "CREATE TABLE undo (step INTEGER PRIMARY KEY, batch INTEGER NOT NULL, sql TEXT NOT NULL);",
    // The seal, and the rows that have each value, in every mode; both are counted when this step has run.
    "ALTER TABLE value ADD COLUMN uses INTEGER NOT NULL DEFAULT 0;",
    // What stands beside the sensitive values that were published, and who kept those but not what stands beside them.
    "ALTER TABLE history ADD COLUMN beside BLOB;
     ALTER TABLE changed ADD COLUMN beside INTEGER NOT NULL DEFAULT 0;",
];

/// An open state.
#[derive(Debug)]
pub struct Store {
    pub(super) connection: Connection,
    path: PathBuf,
    /// Where it is, for messages.
    place: String,
    ledger: ChangeLog,
    /// The columns whose values stay when nobody has them any more; all of them until it is told.
    lasting: Option<Vec<usize>>,
}

impl Store {
    /// Opens the state, or makes an empty one, brings it up to date, and checks it as far as that is quick.
    pub fn open(path: &Path) -> Result<Store, Failure> {
        Store::open_within(path, QUICKLY_CHECKED)
    }

    /// As [`Store::open`], where a state of up to `quickly` bytes is checked as a whole.
    pub(super) fn open_within(path: &Path, quickly: u64) -> Result<Store, Failure> {
        let place = path.display().to_string();
        let fail = |e| failure(&place, e);
        check_head(path, &place)?;
        let head = read_head(path, &place)?;
        // SQLite gives its logs the rights of the file that they belong to.
        if files::create_private(path).is_err() {
            close_to_others(path);
        }
        let connection = Connection::open(path).map_err(fail)?;
        connection.busy_timeout(Duration::from_millis(100)).map_err(fail)?;
        // In this mode readers go on while somebody writes; FULL makes every commit survive a loss of power. What is
        // deleted is overwritten, since it is about people. A schema that was tampered with calls no functions.
        let _: String = connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0)).map_err(fail)?;
        let settings = "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA secure_delete = ON;
                        PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;";
        connection.execute_batch(settings).map_err(fail)?;
        let mut store =
            Store { connection, path: path.to_path_buf(), place, ledger: ChangeLog::default(), lasting: None };
        store.migrate()?;
        store.check_schema()?;
        let work = store.read()?;
        work.check_sums(0..SMALL)?;
        let changes = work.changes()?;
        if changes < head {
            return Err(damaged(&store.place, &format!("its last {} changes are lost", head - changes)));
        }
        if work.meta(FILES)?.is_some_and(|files| !restored(path, &files)) {
            return Err(damaged(&store.place, "the policy or a hierarchy beside it is not what the series began with"));
        }
        if path.metadata().is_ok_and(|found| found.len() <= quickly) {
            work.check()?;
        }
        drop(work);
        seal::watch(&store.connection, &store.ledger).map_err(|e| failure(&store.place, e))?;
        Ok(store)
    }

    /// From now on the text of a value that nobody has any more is erased, but for those of the columns `lasting`.
    pub fn erase_but(&mut self, lasting: Vec<usize>) {
        self.lasting = Some(lasting);
    }

    fn migrate(&mut self) -> Result<(), Failure> {
        let seen = |c: &Connection| c.query_row("PRAGMA user_version", [], |row| row.get::<_, u32>(0));
        let current = MIGRATIONS.len() as u32;
        let version = seen(&self.connection).map_err(|e| failure(&self.place, e))?;
        if version > current {
            return Err(Failure::Usage(format!(
                "{} was written by a newer Amidst (state version {version}, this one knows {current}), or is damaged; use \
                 that one, or restore the folder of the series from a backup",
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
        // A step may add columns, which are part of the seal; what it seals anew must be what was sealed before.
        if (SEALED..current).contains(&version) {
            let text: Option<String> = (transaction)
                .query_row("SELECT value FROM meta WHERE name = ?1", [NAME], |row| row.get(0))
                .optional()
                .map_err(fail)?;
            if text.and_then(|text| seal::read(&text)) != Some(sums(&transaction).map_err(fail)?) {
                return Err(damaged(&place, "it is not what its seal says"));
            }
        }
        for step in MIGRATIONS.iter().skip(version as usize) {
            transaction.execute_batch(step).map_err(fail)?;
        }
        if version < SEALED {
            let sealed = "SELECT EXISTS (SELECT 1 FROM meta WHERE name = ?1)";
            if transaction.query_row(sealed, [NAME], |row| row.get(0)).map_err(fail)? {
                return Err(damaged(&place, "its version and its seal contradict each other"));
            }
            count_uses(&transaction).map_err(fail)?;
        }
        if version < current {
            set_seal(&transaction).map_err(fail)?;
        }
        transaction.pragma_update(None, "user_version", current).map_err(fail)?;
        transaction.commit().map_err(fail)
    }

    /// An error unless the tables are those of [`MIGRATIONS`] and nothing else is there that would run.
    fn check_schema(&self) -> Result<(), Failure> {
        let fail = |e| failure(&self.place, e);
        if *model().map_err(fail)? != schema(&self.connection).map_err(fail)? {
            return Err(damaged(&self.place, "its tables are not those of a series"));
        }
        Ok(())
    }

    /// A fact about the series.
    pub fn meta(&self, name: &str) -> Result<String, Failure> {
        let query = self.connection.query_row("SELECT value FROM meta WHERE name = ?1", [name], |row| row.get(0));
        let found: Option<String> = query.optional().map_err(|e| failure(&self.place, e))?;
        found.ok_or_else(|| damaged(&self.place, &format!("it does not tell its {name}")))
    }

    /// Begins to read: everything read in it is of one moment.
    pub fn read(&self) -> Result<Work<'_>, Failure> {
        let transaction = self.connection.unchecked_transaction().map_err(|e| failure(&self.place, e))?;
        // There is no other writer meanwhile: what is noted was given up.
        self.ledger.take();
        Ok(Work { transaction, store: self })
    }

    /// Begins to read a state that is known to be whole.
    pub fn read_whole(&self) -> Result<Work<'_>, Failure> {
        let work = self.read()?;
        work.check()?;
        Ok(work)
    }

    /// Begins to write; fails at once when somebody else does.
    pub fn write(&mut self) -> Result<Work<'_>, Failure> {
        // Borrowed mutably above, so there is no other transaction.
        let begun = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate);
        match begun {
            Ok(transaction) => {
                self.ledger.take();
                Ok(Work { transaction, store: self })
            }
            Err(e) => Err(failure(&self.place, e)),
        }
    }
}

/// One transaction. Unless it is committed, nothing of it happened.
pub struct Work<'s> {
    pub(super) transaction: Transaction<'s>,
    store: &'s Store,
}

impl Work<'_> {
    /// What an error of the database means to people.
    pub fn fail(&self, error: rusqlite::Error) -> Failure {
        failure(&self.store.place, error)
    }

    /// The error for a state whose parts do not fit together.
    pub fn damaged(&self, what: &str) -> Failure {
        damaged(&self.store.place, what)
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

    /// Says that the files beside the state are those of a digest from now on.
    pub fn seal_files(&self, digest: &str) -> Result<(), Failure> {
        self.set_meta(FILES, digest)
    }

    /// A number, such as a count.
    pub fn number(&self, query: &str) -> Result<u64, Failure> {
        let number: i64 = self.transaction.query_row(query, [], |row| row.get(0)).map_err(|e| self.fail(e))?;
        Ok(number.unsigned_abs())
    }

    /// How often the state has been changed.
    fn changes(&self) -> Result<u64, Failure> {
        let text = self.meta("changes")?.unwrap_or_else(|| "0".to_string());
        text.parse().map_err(|_| self.damaged("it does not tell how often it was changed"))
    }

    fn sums(&self) -> Result<Sums, Failure> {
        self.meta(NAME)?.and_then(|text| seal::read(&text)).ok_or_else(|| self.damaged("its seal is gone"))
    }

    /// An error unless these tables are what their seal says.
    fn check_sums(&self, tables: std::ops::Range<usize>) -> Result<(), Failure> {
        let (sums, pending) = (self.sums()?, self.store.ledger.sums());
        for number in tables {
            let sealed = sums[number].wrapping_add(pending[number]);
            if seal::sum(&self.transaction, number).map_err(|e| self.fail(e))? != sealed {
                return Err(self.damaged(&format!("the table `{}` is not what its seal says", TABLES[number])));
            }
        }
        Ok(())
    }

    /// An error unless the whole state is what it was when it was last written. Reads all of it.
    pub fn check(&self) -> Result<(), Failure> {
        let found: String =
            self.transaction.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0)).map_err(|e| self.fail(e))?;
        if found != "ok" {
            return Err(self.damaged("its pages contradict each other"));
        }
        self.check_sums(0..TABLES.len())
    }

    /// Makes everything happen.
    pub fn commit(self) -> Result<(), Failure> {
        let departed = self.erase()?;
        if self.meta(FILES)?.is_none() {
            self.set_meta(FILES, &files_beside(&self.store.path))?;
        }
        let changes = self.changes()? + 1;
        self.set_meta("changes", &changes.to_string())?;
        let mut sums = self.sums()?;
        let added = self.store.ledger.take().sums;
        sums.iter_mut().zip(added).for_each(|(sum, more)| *sum = sum.wrapping_add(more));
        self.set_meta(NAME, &seal::written(&sums))?;
        let store = self.store;
        self.transaction.commit().map_err(|e| failure(&store.place, e))?;
        // From here on it has happened; nothing below may say otherwise.
        write_head(&store.path, changes);
        if departed {
            // The log has the deleted rows as they were.
            let _ = store.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        }
        Ok(())
    }

    /// Counts the rows that have each value, and erases the texts of those that nobody has any more. Says whether rows
    /// were deleted.
    pub(super) fn erase(&self) -> Result<bool, Failure> {
        let ledger = self.store.ledger.take();
        let store = || -> rusqlite::Result<()> {
            let mut count =
                self.transaction.prepare("UPDATE value SET uses = uses + ?3 WHERE col = ?1 AND code = ?2")?;
            // A code keeps its place, so its text becomes one that no table can have.
            let mut erase = self.transaction.prepare(
                "UPDATE value SET text = char(0) || 'erased ' || code WHERE col = ?1 AND code = ?2 AND uses <= 0",
            )?;
            for (&(column, code), &by) in ledger.uses.iter().filter(|(_, by)| **by != 0) {
                count.execute(params![column as i64, code, by])?;
                if by < 0 && self.store.lasting.as_ref().is_some_and(|lasting| !lasting.contains(&column)) {
                    erase.execute(params![column as i64, code])?;
                }
            }
            Ok(())
        };
        store().map_err(|e| self.fail(e))?;
        // What has changed here is noted, too; what had changed before is added to it.
        self.store.ledger.add(ledger.sums);
        if ledger.departed {
            self.store.ledger.depart();
        }
        Ok(ledger.departed)
    }

    /// Says that rows about people were deleted, so that nothing of them stays in the log either.
    pub(super) fn depart(&self) {
        self.store.ledger.depart();
    }

    /// Leaves the counts of values as they are in the table: what took a batch back has restored them.
    pub(super) fn keep_uses(&self) {
        self.store.ledger.keep_uses();
    }
}

/// Everything that a database declares: its type, its name and the statement that made it.
type Schema = Vec<(String, String, Option<String>)>;

fn schema(connection: &Connection) -> rusqlite::Result<Schema> {
    let mut query = connection.prepare("SELECT type, name, sql FROM sqlite_schema ORDER BY type, name")?;
    query.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?.collect()
}

/// What a state declares after all of [`MIGRATIONS`]; every process finds it out once.
fn model() -> rusqlite::Result<&'static Schema> {
    static MODEL: OnceLock<Schema> = OnceLock::new();
    if let Some(model) = MODEL.get() {
        return Ok(model);
    }
    let empty = Connection::open_in_memory()?;
    MIGRATIONS.iter().try_for_each(|step| empty.execute_batch(step))?;
    let found = schema(&empty)?;
    Ok(MODEL.get_or_init(|| found))
}

/// The sums of all tables as they are.
fn sums(transaction: &Transaction<'_>) -> rusqlite::Result<Sums> {
    let mut sums: Sums = Default::default();
    for (number, sum) in sums.iter_mut().enumerate() {
        *sum = seal::sum(transaction, number)?;
    }
    Ok(sums)
}

/// Seals all tables as they are.
fn set_seal(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    let sql = "INSERT OR REPLACE INTO meta (name, value) VALUES (?1, ?2)";
    transaction.execute(sql, params![NAME, seal::written(&sums(transaction)?)]).map(|_| ())
}

/// Counts what an older Amidst wrote, before it is sealed.
fn count_uses(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    let mut uses: BTreeMap<(usize, u32), i64> = BTreeMap::new();
    let mut query = transaction.prepare("SELECT cells FROM record")?;
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        for (column, code) in unpack(row.get_ref(0)?.as_blob()?).into_iter().enumerate() {
            *uses.entry((column, code)).or_insert(0) += 1;
        }
    }
    let mut count = transaction.prepare("UPDATE value SET uses = ?3 WHERE col = ?1 AND code = ?2")?;
    for ((column, code), rows) in uses {
        count.execute(params![column as i64, code, rows])?;
    }
    Ok(())
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
        Some(ErrorCode::SystemIoFailure) if !is_short(&error) => Failure::Io(format!(
            "the disk failed or is full, so {place} was left as it was; make room and try again ({error})"
        )),
        Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied | ErrorCode::OutOfMemory) => {
            Failure::Io(format!("cannot work on {place}, nothing was changed: {error}"))
        }
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
            damaged(place, "SQLite finds its pages malformed")
        }
        // A table that is missing, a value of another type, a row that is there twice: no state that was ever written.
        // What SQLite says may quote a value.
        _ => damaged(place, "a part of it is missing, or of another kind than it should be"),
    }
}

/// Whether a file ended before its end.
fn is_short(error: &rusqlite::Error) -> bool {
    const SHORT_READ: i32 = 10 | (2 << 8);
    matches!(error, rusqlite::Error::SqliteFailure(e, _) if e.extended_code == SHORT_READ)
}

/// Forgets what is kept of the classes and follows from the rows.
pub(super) fn forget_shapes(work: &Work<'_>) -> rusqlite::Result<()> {
    work.transaction.execute("DELETE FROM page", [])?;
    work.transaction.execute("DELETE FROM tree", [])?;
    work.transaction.execute("DELETE FROM meta WHERE name = 'heights'", []).map(|_| ())
}
