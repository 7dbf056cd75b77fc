//! Taking back a batch that was not published.
//!
//! While a batch runs, triggers write down for every changed row of the state the statement that reverts it. Undoing
//! runs these statements in reverse order. The cost of a batch grows with what it changes, not with the state.
//!
//! The statements hold the values of deleted rows, so they are erased as soon as a version is published: from then on
//! the batch cannot be taken back, and nothing but the state itself remembers it.

use super::Series;
use super::store::Work;
use super::store::forget_shapes;
use super::trigger::{self, Field, fields};
use crate::Failure;

/// The tables that a batch may change.
const TABLES: &[&str] = &["meta", "value", "person", "record", "batch", "kind", "page", "tree", "signed", "changed"];

/// A batch that was taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Undone {
    /// Its number.
    pub batch: u64,
    /// Rows that it had inserted.
    pub inserted: u64,
    /// Rows that it had deleted.
    pub deleted: u64,
    /// Rows of the series now.
    pub rows: u64,
}

/// Begins to write down what reverts the changes of batch `number`. Ends with [`stop`]; a transaction that is rolled
/// back takes the triggers with it.
pub(super) fn record(work: &Work<'_>, number: u64) -> Result<(), Failure> {
    let start = || -> rusqlite::Result<()> {
        // Rows that INSERT OR REPLACE replaces are seen, too: the connection runs triggers recursively.
        for table in TABLES {
            let columns = fields(&work.transaction, table)?;
            work.transaction.execute_batch(&triggers(table, &columns, number))?;
        }
        Ok(())
    };
    start().map_err(|e| work.fail(e))
}

/// Ends what [`record`] began.
pub(super) fn stop(work: &Work<'_>) -> Result<(), Failure> {
    let sql: String = TABLES.iter().map(|table| trigger::dropped("undo", table)).collect();
    work.transaction.execute_batch(&sql).map_err(|e| work.fail(e))
}

/// Erases what reverts batches: they are part of a version now.
pub(super) fn forget(work: &Work<'_>) -> rusqlite::Result<()> {
    work.depart();
    work.transaction.execute("DELETE FROM undo", []).map(|_| ())
}

/// The triggers of one table: each writes the statement that reverts one changed row.
fn triggers(table: &str, columns: &[Field], number: u64) -> String {
    // Literals are composed by SQLite's own quote(), which knows numbers, texts, blobs and null.
    let list = |row: &str, fields: &mut dyn Iterator<Item = &Field>, between: &str| {
        let parts: Vec<String> = fields.map(|f| format!("'{0}='||quote({row}.{0})", f.name)).collect();
        parts.join(&format!("||'{between}'||"))
    };
    let key = |row: &str| list(row, &mut columns.iter().filter(|f| f.key), " AND ");
    let names: Vec<&str> = columns.iter().map(|f| f.name.as_str()).collect();
    let values: Vec<String> = names.iter().map(|name| format!("quote(old.{name})")).collect();
    let note = |event: &str, sql: String| {
        let body = format!("INSERT INTO undo (batch, sql) VALUES ({number}, {sql});");
        trigger::after("undo", event, table, "", &body)
    };
    [
        note("INSERT", format!("'DELETE FROM {table} WHERE '||{}", key("new"))),
        note(
            "UPDATE",
            format!("'UPDATE {table} SET '||{}||' WHERE '||{}", list("old", &mut columns.iter(), ","), key("new")),
        ),
        note(
            "DELETE",
            format!("'INSERT INTO {table} ({}) VALUES ('||{}||')'", names.join(","), values.join("||','||")),
        ),
    ]
    .concat()
}

impl Series {
    /// Takes back the last batch, which must not be part of a published version.
    ///
    /// # Errors
    /// When there is no such batch; then the series is as it was.
    pub fn undo(&mut self) -> Result<Undone, Failure> {
        let work = self.store.write()?;
        let batch = work.number("SELECT COALESCE(MAX(number), 0) FROM batch")?;
        let published = work.number("SELECT COALESCE(MAX(batch), 0) FROM version")?;
        if batch <= published {
            let version = work.number("SELECT COALESCE(MAX(number), 0) FROM version")?;
            return Err(Failure::Usage(format!(
                "there is nothing to take back: every batch is part of a version, the last of version {version}, and what \
                 is published cannot be unpublished"
            )));
        }
        if work.number(&format!("SELECT EXISTS (SELECT 1 FROM undo WHERE batch = {batch})"))? == 0 {
            return Err(Failure::Usage(format!(
                "batch {batch} was applied by an older Amidst, which kept nothing to take it back with; publish it, or \
                 apply its opposite"
            )));
        }
        let undone = revert(&work, batch).map_err(|e| work.fail(e))?;
        if work.meta("extended")?.is_some() {
            // What the batch found of the classes was shaped by hierarchies that have grown since.
            forget_shapes(&work).map_err(|e| work.fail(e))?;
        }
        work.keep_uses();
        work.commit()?;
        Ok(undone)
    }
}

/// Runs what reverts a batch, last change first.
fn revert(work: &Work<'_>, batch: u64) -> rusqlite::Result<Undone> {
    let db = &work.transaction;
    let (inserted, deleted) =
        db.query_row("SELECT inserted, deleted FROM batch WHERE number = ?1", [batch as i64], |row| {
            Ok((row.get::<_, i64>(0)?.unsigned_abs(), row.get::<_, i64>(1)?.unsigned_abs()))
        })?;
    let steps: Vec<String> = {
        let mut query = db.prepare("SELECT sql FROM undo WHERE batch = ?1 ORDER BY step DESC")?;
        query.query_map([batch as i64], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?
    };
    for step in steps {
        db.execute(&step, [])?;
    }
    db.execute("DELETE FROM undo WHERE batch = ?1", [batch as i64])?;
    let rows: i64 = db.query_row("SELECT COUNT(*) FROM record", [], |row| row.get(0))?;
    Ok(Undone { batch, inserted, deleted, rows: rows.unsigned_abs() })
}
