//! What a batch changed, as it is returned and recorded.

use amidst_core::internal::series::Maintained;
use rusqlite::params;

use super::store::Work;

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
