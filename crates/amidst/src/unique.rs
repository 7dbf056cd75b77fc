//! Rows that nobody else shares, on everything that is published: what stands beside the generalized cells counts as
//! much as the cells themselves.
//!
//! Classes are groups of rows that agree in the quasi columns. A reader sees the other columns too: a release in which
//! everybody shares age and zip with four others may still have a row for each of them. This counts rows by all
//! published columns, and by the insensitive ones alone; the independent checker counts both again from the written
//! file.

use amidst_check::Accepted;
use amidst_core::internal::row_groups::RowGroups;
use amidst_core::table::Column;

use crate::policy::{Policy, Role};
use crate::prepare::Prepared;
use crate::release::Released;

/// How many rows no other row agrees with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct UniqueRows {
    /// All rows.
    pub rows: u64,
    /// Rows that are unique on all published columns.
    pub published: u64,
    /// Rows that are unique on the insensitive columns alone.
    pub insensitive: u64,
    /// The fewest rows (persons, where some have several rows) that agree in all published columns; none where nobody
    /// looked.
    pub smallest: Option<u64>,
}

impl UniqueRows {
    /// Counts the rows of a release; none where another engine holds them.
    pub fn of_release(prepared: &Prepared, released: &Released) -> Option<UniqueRows> {
        let roles = prepared.roles.iter().copied().filter(|role| role.published());
        let columns: Vec<(&Column, Role)> = released.table.columns.iter().zip(roles).collect();
        let waived = prepared.waived.as_ref().is_some_and(|w| !w.rows.is_empty());
        // Persons matter where one of them has several rows; of those who waived protection nobody asked.
        let persons = prepared.set.persons || waived;
        released.weights.is_none().then(|| count(prepared, &columns, released.table.rows, &released.left_out, persons))
    }

    /// Counts the rows of a table as it stands, on the columns that were read.
    pub fn of_table(prepared: &Prepared) -> Option<UniqueRows> {
        let columns = prepared.table.columns.iter().zip(prepared.roles.iter().copied());
        let columns: Vec<(&Column, Role)> = columns.filter(|(_, role)| role.published()).collect();
        (prepared.weights.is_none()).then(|| count(prepared, &columns, prepared.table.rows, &[], prepared.set.persons))
    }
}

fn count(prepared: &Prepared, columns: &[(&Column, Role)], rows: usize, left_out: &[u32], persons: bool) -> UniqueRows {
    let with = |wanted: &dyn Fn(Role) -> bool| -> Vec<&Column> {
        columns.iter().filter(|(_, role)| wanted(*role)).map(|&(column, _)| column).collect()
    };
    let raw = with(&|role| role == Role::Insensitive);
    let insensitive = if raw.is_empty() { 0 } else { RowGroups::of(&raw, rows).without(left_out).unique() };
    let shared = RowGroups::of(&with(&|_| true), rows).without(left_out);
    let key = prepared.key.filter(|_| persons).and_then(|key| prepared.table.columns.get(key));
    let smallest = match key {
        Some(key) => shared.persons(&key.codes, kept(rows, left_out)).smallest,
        None => shared.smallest(),
    };
    UniqueRows { rows: (rows - left_out.len()) as u64, published: shared.unique(), insensitive, smallest }
}

/// The rows that are not left out; `left_out` is ascending.
pub(crate) fn kept(rows: usize, left_out: &[u32]) -> impl Iterator<Item = u32> {
    let mut out = left_out.iter().copied().peekable();
    (0..rows as u32).filter(move |row| out.next_if_eq(row).is_none())
}

/// The columns of a policy that are published although they may single people out, each with the reason.
pub fn accepted(policy: &Policy, header: &[String]) -> Vec<Accepted> {
    let of = |name: &String| {
        let stated = policy.column(name).filter(|c| c.role == Role::Insensitive)?;
        Some(Accepted { column: name.clone(), reason: stated.accept.clone()? })
    };
    header.iter().filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_are_kept() {
        assert_eq!(kept(5, &[0, 3]).collect::<Vec<_>>(), [1, 2, 4]);
        assert_eq!(kept(2, &[]).count(), 2);
    }
}
