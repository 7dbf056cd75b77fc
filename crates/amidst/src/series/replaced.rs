//! Whose values are others than they were: what was published about them before says nothing about what they have now.
//!
//! The public sees versions, not batches: somebody whose row is replaced in one batch, and somebody who leaves in one
//! batch and comes back in a later one before the next version, are the same to them. So the digest of what a person
//! had is kept from their leaving until the next version, when it is erased with whatever takes batches back.

use std::collections::BTreeSet;

use rusqlite::{OptionalExtension, params};
use sha2::{Digest, Sha256};

use super::domain::with_role;
use super::packed::unpack;
use super::rows::Row;
use super::state::Person;
use super::store::Work;
use crate::policy::{Policy, Role};

/// What the names of such facts about the series begin with.
const DEPARTED: &str = "departed:";

/// Notes who has other sensitive values than before, and whose insensitive cells alone are others: what was published
/// says more than it seems to then. Also what those have who go.
pub(super) fn note(
    work: &Work<'_>,
    policy: &Policy,
    names: &[String],
    gone: &BTreeSet<Person>,
    new: &[Row],
) -> rusqlite::Result<()> {
    let columns = [Role::Sensitive, Role::Insensitive].map(|role| with_role(policy, names, role));
    let mut known = work.transaction.prepare("SELECT cells FROM record WHERE person = ?1")?;
    let mut keep = work.transaction.prepare("INSERT OR REPLACE INTO meta (name, value) VALUES (?1, ?2)")?;
    for person in gone {
        let cells: Vec<u8> = known.query_row([person], |found| found.get(0))?;
        let digests = digests(work, &columns, &unpack(&cells))?;
        keep.execute(params![format!("{DEPARTED}{person}"), digests.join(" ")])?;
    }
    let mut find = work.transaction.prepare("SELECT value FROM meta WHERE name = ?1")?;
    let mut clear = work.transaction.prepare("DELETE FROM meta WHERE name = ?1")?;
    let mut note = work.transaction.prepare(
        "INSERT OR IGNORE INTO changed (person, batch, beside)
         VALUES (?1, (SELECT COALESCE(MAX(number), 0) + 1 FROM batch), ?2)",
    )?;
    for row in new {
        let name = format!("{DEPARTED}{}", row.person);
        let had: Option<String> = find.query_row([&name], |found| found.get(0)).optional()?;
        let Some(had) = had else { continue };
        let has = digests(work, &columns, &row.cells)?;
        let same: Vec<bool> = had.split(' ').zip(&has).map(|(had, has)| had == has).collect();
        if same.contains(&false) {
            note.execute(params![row.person, same.first() == Some(&true)])?;
        }
        clear.execute([&name])?;
    }
    Ok(())
}

/// Forgets the digests of persons who left before a version: one who comes back later was absent from it.
pub(super) fn forget(work: &Work<'_>) -> rusqlite::Result<()> {
    work.transaction
        .execute("DELETE FROM meta WHERE substr(name, 1, ?1) = ?2", params![DEPARTED.len() as i64, DEPARTED])?;
    Ok(())
}

/// A digest of a row's cells in each of some lists of columns.
fn digests(work: &Work<'_>, lists: &[Vec<usize>; 2], cells: &[u32]) -> rusqlite::Result<[String; 2]> {
    let mut find = work.transaction.prepare("SELECT text FROM value WHERE col = ?1 AND code = ?2")?;
    let mut digests = [String::new(), String::new()];
    for (columns, digest) in lists.iter().zip(&mut digests) {
        let mut hasher = Sha256::new();
        for &column in columns {
            let text: String = find.query_row(params![column as i64, cells.get(column)], |found| found.get(0))?;
            hasher.update((text.len() as u64).to_be_bytes());
            hasher.update(text);
        }
        *digest = hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    }
    Ok(digests)
}
