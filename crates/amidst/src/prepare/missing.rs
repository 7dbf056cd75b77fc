//! Rows with unknown cells.

use amidst_core::table::{Column, Table};
use rayon::prelude::*;

use super::columns::Layout;
use crate::policy::{MissingRows, Policy, Role};

/// Leaves out the rows with an unknown cell, if the policy says so. Returns which rows stayed; `None` when all did.
pub(super) fn drop_rows(policy: &Policy, layout: &Layout, table: &mut Table) -> Option<Vec<bool>> {
    if policy.data.missing_rows == MissingRows::Keep {
        return None;
    }
    let mut keep: Option<Vec<bool>> = None;
    for (column, role) in table.columns.iter().zip(&layout.roles) {
        let unknown = codes(policy, column);
        // An unknown consent is no consent; it does not make the row unknown.
        if *role == Role::Consent || unknown.is_empty() {
            continue;
        }
        let keep = keep.get_or_insert_with(|| vec![true; table.rows]);
        let mut row = 0;
        column.codes.for_each(|code| {
            if unknown.contains(&code) {
                keep[row] = false;
            }
            row += 1;
        });
    }
    let keep = keep?;
    table.columns.par_iter_mut().for_each(|column| {
        column.codes.retain(&keep);
        column.compact();
    });
    table.rows = keep.iter().filter(|&&k| k).count();
    Some(keep)
}

/// The codes that mean "unknown" in a column.
pub(super) fn codes(policy: &Policy, column: &Column) -> Vec<u32> {
    policy.data.missing.iter().filter_map(|token| column.dictionary.code(token)).collect()
}
