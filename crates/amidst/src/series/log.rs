//! The batches and versions of a series so far.

use super::Series;
use crate::Failure;

/// Everything that happened, in order.
#[derive(Debug, Clone, Default)]
pub struct SeriesLog {
    /// The batches; the first is the table that the series began with.
    pub batches: Vec<LogBatch>,
    /// The versions that were published.
    pub versions: Vec<LogVersion>,
}

/// A batch that was applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogBatch {
    /// Its number, from 1.
    pub batch: u64,
    /// Rows that came.
    pub inserted: u64,
    /// Rows that went.
    pub deleted: u64,
    /// Classes that are maintained after it; 0 where classes are made only when a version is published. A version may
    /// have fewer: maintained classes whose cells agree are published as one.
    pub classes: u64,
}

/// A version that was published.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogVersion {
    /// Its number, from 1.
    pub version: u64,
    /// The last batch in it.
    pub batch: u64,
    /// Its rows that stand for somebody.
    pub rows: u64,
    /// Its classes.
    pub classes: u64,
    /// Its counterfeits: rows that stand for no person.
    pub counterfeits: u64,
    /// Rows that were there and had to wait, because the version would have exposed somebody with them.
    pub held_back: u64,
    /// Whether it was published although it leaks together with others.
    pub leaks: bool,
}

/// The name under which the state says how many rows a version holds back.
pub(super) fn held_back(version: u64) -> String {
    format!("held back from version {version}")
}

impl Series {
    /// What happened so far.
    ///
    /// # Errors
    /// When the state cannot be read.
    pub fn log(&self) -> Result<SeriesLog, Failure> {
        let work = self.store.read()?;
        let mut log = SeriesLog::default();
        let mut read = || -> rusqlite::Result<()> {
            let number = |row: &rusqlite::Row<'_>, at| row.get::<_, i64>(at).map(i64::unsigned_abs);
            let mut query =
                work.transaction.prepare("SELECT number, inserted, deleted, classes FROM batch ORDER BY number")?;
            let mut rows = query.query([])?;
            while let Some(row) = rows.next()? {
                log.batches.push(LogBatch {
                    batch: number(row, 0)?,
                    inserted: number(row, 1)?,
                    deleted: number(row, 2)?,
                    classes: number(row, 3)?,
                });
            }
            let mut query = work
                .transaction
                .prepare("SELECT number, batch, rows, classes, counterfeits, leaks FROM version ORDER BY number")?;
            let mut rows = query.query([])?;
            while let Some(row) = rows.next()? {
                log.versions.push(LogVersion {
                    version: number(row, 0)?,
                    batch: number(row, 1)?,
                    // Kept with the counterfeits, told without, as everywhere.
                    rows: number(row, 2)?.saturating_sub(number(row, 4)?),
                    classes: number(row, 3)?,
                    counterfeits: number(row, 4)?,
                    held_back: 0,
                    leaks: row.get(5)?,
                });
            }
            Ok(())
        };
        read().map_err(|e| work.fail(e))?;
        for version in &mut log.versions {
            version.held_back = work.meta(&held_back(version.version))?.and_then(|n| n.parse().ok()).unwrap_or(0);
        }
        Ok(log)
    }

    /// What the log knows of one version.
    ///
    /// # Errors
    /// When there is no such version.
    pub fn logged(&self, version: u64) -> Result<LogVersion, Failure> {
        let log = self.log()?;
        log.versions.iter().find(|v| v.version == version).copied().ok_or_else(|| {
            let known = match log.versions.len() {
                1 => "only version 1 is published".to_string(),
                n => format!("versions 1 to {n} are published"),
            };
            Failure::Usage(format!("there is no version {version}; {known}"))
        })
    }
}
