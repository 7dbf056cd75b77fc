//! Rows whose owner waived protection.
//!
//! Such rows stay in the table but are not counted: with `publish` they are released as they are and are in no
//! class, with `join` a local recoding places them afterwards. Their values stay in the dictionaries, so that every row
//! of a column speaks in the same codes.

use amidst_core::frequency::FrequencySet;
use amidst_core::ids::EntryId;
use amidst_core::table::Table;

use super::Prepared;
use super::columns::Layout;
use crate::policy::{Consent, ConsentMode, Policy};

/// The entry of a row that is not counted.
pub const NO_ENTRY: EntryId = EntryId(u32::MAX);

/// Rows whose owner waived protection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waived {
    /// The position of the consent column.
    pub column: usize,
    /// What becomes of the rows.
    pub mode: ConsentMode,
    /// The rows of the table, ascending.
    pub rows: Vec<u32>,
}

/// Finds the rows that waived protection; `None` when the policy has no consent column.
pub(crate) fn waived(policy: &Policy, layout: &Layout, table: &Table) -> Option<Waived> {
    let position = layout.consent?;
    let column = table.columns.get(position)?;
    let consent = policy.column(&column.name)?.consent.clone().unwrap_or_default();
    let codes: Vec<u32> = consent.waived.iter().filter_map(|value| column.dictionary.code(value)).collect();
    let mut rows = Vec::new();
    let mut row = 0;
    column.codes.for_each(|code| {
        if codes.contains(&code) {
            rows.push(row);
        }
        row += 1;
    });
    Some(Waived { column: position, mode: consent.mode, rows })
}

/// Values that would waive protection, but that no row has: a misspelt one protects somebody who did not ask for it,
/// and nobody should believe that those who waived are published.
pub(crate) fn remarks(policy: &Policy, layout: &Layout, table: &Table) -> Vec<String> {
    let Some(column) = layout.consent.and_then(|position| table.columns.get(position)) else { return Vec::new() };
    let consent = policy.column(&column.name).and_then(|c| c.consent.clone()).unwrap_or_default();
    let missing: Vec<&String> = consent.waived.iter().filter(|v| column.dictionary.code(v).is_none()).collect();
    if missing.len() == consent.waived.len() {
        return vec!["no row waives protection: see `waived` of the consent column".to_string()];
    }
    // Of the usual words for yes a table has one or two.
    if consent.waived == Consent::default().waived {
        return Vec::new();
    }
    let told = |v: &&String| format!("no row has the value `{v}` of column `{}`, named by `waived`", column.name);
    missing.iter().map(told).collect()
}

/// Counts the rows that did not waive protection. The entry of the others is [`NO_ENTRY`].
pub(crate) fn count(table: &Table, layout: &Layout, waived: Option<&Waived>) -> (FrequencySet, Vec<EntryId>) {
    match waived {
        Some(waived) if !waived.rows.is_empty() => {
            let mut keep = vec![true; table.rows];
            waived.rows.iter().for_each(|&row| keep[row as usize] = false);
            count_kept(table, &layout.quasi, &layout.sensitive, layout.key, &keep)
        }
        _ => FrequencySet::count(table, &layout.quasi, &layout.sensitive, layout.key),
    }
}

impl Prepared {
    /// Counts the rows that waived protection, in the codes of all rows. The entry of the others is [`NO_ENTRY`].
    pub fn count_waived(&self) -> (FrequencySet, Vec<EntryId>) {
        let mut keep = vec![false; self.table.rows];
        for &row in self.waived.iter().flat_map(|w| &w.rows) {
            keep[row as usize] = true;
        }
        count_kept(&self.table, &self.quasi, &self.sensitive, self.key, &keep)
    }

    /// Whether some rows asked to join the classes of others, and could be protected as those are instead. What
    /// compares classes with a population knows the tuples of the protected rows alone.
    pub fn may_protect_everyone(&self) -> bool {
        let joins = self.waived.as_ref().is_some_and(|w| w.mode != ConsentMode::Publish && !w.rows.is_empty());
        joins && self.weights.is_none() && self.requirements.iter().all(|r| r.population.is_none())
    }

    /// As if nobody had waived protection; `why` goes before what is said of it.
    pub fn protecting_everyone(mut self, why: &str) -> Prepared {
        let rows = self.waived.take().map_or(0, |waived| waived.rows.len());
        (self.set, self.entry_of_row) = FrequencySet::count(&self.table, &self.quasi, &self.sensitive, self.key);
        let theirs = match rows {
            1 => "the row whose owner waived protection is".to_string(),
            rows => format!("the {rows} rows whose owners waived protection are"),
        };
        self.remarks.push(format!("{why}; {theirs} protected like everybody else"));
        self
    }
}

/// Counts some rows of a table; the entry of the others is [`NO_ENTRY`].
fn count_kept(
    table: &Table,
    quasi: &[usize],
    sensitive: &[usize],
    key: Option<usize>,
    keep: &[bool],
) -> (FrequencySet, Vec<EntryId>) {
    let mut kept = Table { columns: Vec::new(), rows: keep.iter().filter(|&&k| k).count() };
    for &position in quasi.iter().chain(sensitive).chain(&key) {
        let mut column = table.columns[position].clone();
        column.codes.retain(keep);
        kept.columns.push(column);
    }
    if key.is_some()
        && let Some(column) = kept.columns.last_mut()
    {
        // Persons without a row here must not hide that others have several.
        column.compact();
    }
    let (q, s) = (quasi.len(), sensitive.len());
    let positions: Vec<usize> = (0..q + s).collect();
    let (set, entries) = FrequencySet::count(&kept, &positions[..q], &positions[q..], key.map(|_| q + s));
    let mut entries = entries.into_iter();
    let entry_of = keep.iter().map(|&kept| if kept { entries.next().unwrap_or(NO_ENTRY) } else { NO_ENTRY }).collect();
    (set, entry_of)
}
