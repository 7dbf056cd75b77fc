//! The classes of a version as it was published: who was in each, and which sensitive tuples it has.

use super::packed::{numbers, unpack};
use super::store::Work;
use crate::Failure;

/// A class as it was published.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PastClass {
    /// Who was in it.
    pub persons: Vec<u32>,
    /// Its sensitive tuples, in the codes of the series, with the rows that have them.
    pub counts: Vec<(Vec<u32>, u64)>,
}

/// The classes of a published version, by its number from 1.
pub fn past(work: &Work<'_>, number: u64, width: usize) -> Result<Vec<PastClass>, Failure> {
    let read = || -> rusqlite::Result<Vec<PastClass>> {
        let sql = "SELECT persons, counts, tuples FROM history WHERE version = ?1 ORDER BY class";
        let mut query = work.transaction.prepare(sql)?;
        let class = |row: &rusqlite::Row<'_>| {
            // With one column the counts say it all, behind their number.
            let (counts, skip) = match row.get_ref(2)?.as_blob_or_null()? {
                Some(tuples) => (unpack(tuples), 0),
                None => (unpack(row.get_ref(1)?.as_blob()?), 1),
            };
            let tuples = counts.get(skip..).unwrap_or_default().chunks_exact(width + 1);
            let counts = tuples.map(|t| (t[..width].to_vec(), u64::from(t[width]))).collect();
            Ok(PastClass { persons: numbers(row.get_ref(0)?.as_blob()?).collect(), counts })
        };
        query.query_map([number as i64], class)?.collect()
    };
    read().map_err(|e| work.fail(e))
}
