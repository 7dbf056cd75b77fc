//! Rows with unknown cells.

use amidst_core::table::{Column, Table};
use amidst_io::Nulls;
use rayon::prelude::*;

use super::columns::Layout;
use crate::policy::{MissingRows, Policy, Role};

/// The policy for a table in which unknown is a value of its own and some cells may be null: the empty text, as which
/// they are published, means unknown, too. `None` when the policy needs no change.
pub(super) fn amended(policy: &Policy, nulls: bool) -> Option<Policy> {
    let needed =
        policy.data.missing_rows == MissingRows::Keep && nulls && !policy.data.missing.iter().any(String::is_empty);
    needed.then(|| {
        let mut policy = policy.clone();
        policy.data.missing.push(String::new());
        policy
    })
}

/// Leaves out the rows with an unknown cell, if the policy says so; those with an unknown key always: they belong to
/// nobody, and would count as one more person. A cell is unknown when its text is listed as such, or when it is one of
/// the `nulls`; where other unknown cells are kept, a key also when it is empty. Returns which rows stayed; `None` when
/// all did.
pub(super) fn drop_rows(
    policy: &Policy,
    layout: &Layout,
    table: &mut Table,
    nulls: &[Option<Nulls>],
) -> Option<Vec<bool>> {
    let keys_only = policy.data.missing_rows == MissingRows::Keep;
    let mut keep: Option<Vec<bool>> = None;
    for (position, (column, role)) in table.columns.iter().zip(&layout.roles).enumerate() {
        if keys_only && *role != Role::Key {
            continue;
        }
        let mut unknown = codes(policy, column);
        if keys_only {
            let empty = (0u32..).zip(column.dictionary.iter()).filter(|(_, text)| text.is_empty());
            unknown.extend(empty.map(|(code, _)| code));
        }
        let nulls = nulls.get(position).and_then(Option::as_ref);
        // An unknown consent is no consent; it does not make the row unknown.
        if *role == Role::Consent || (unknown.is_empty() && nulls.is_none()) {
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
        for row in nulls.into_iter().flat_map(Nulls::rows) {
            keep[row] = false;
        }
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
