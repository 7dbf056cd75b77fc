//! Rows that the searching process holds because they are no longer in a part of the engine: rows that were pulled out
//! of a side, and the rest of a combination that rows were pulled from.

use super::{Line, PartialSearch, Summary};
use crate::ids::SensitiveId;

/// Rows of a part that are not with the others of the table any more.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct DisplacedRows {
    /// Their quasi tuple.
    pub codes: Vec<u32>,
    /// Their sensitive tuple.
    pub sensitive: SensitiveId,
    /// How many.
    pub rows: u64,
}

/// A combination whose rows do not all go where the others of their tuple go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SplitRows {
    /// The quasi tuple.
    pub codes: Vec<u32>,
    /// The sensitive tuple.
    pub sensitive: SensitiveId,
    /// How many rows go to which class: of the table in pieces, or of the release once it is assembled.
    pub runs: Vec<(u32, u64)>,
}

impl PartialSearch<'_> {
    /// Adds rows that left their part to what was summed up of it.
    pub fn add_displaced(&self, summary: &mut Summary, moved: &DisplacedRows) {
        let reach: Vec<Vec<u32>> = moved.codes.iter().map(|&code| vec![code]).collect();
        for (column, &code) in moved.codes.iter().enumerate() {
            let line = Line { column, code, sensitive: moved.sensitive, rows: moved.rows, combinations: 1 };
            self.add(summary, line, &reach);
        }
    }
}

impl SplitRows {
    /// Brings together what is known of the same combination in several parts.
    pub fn combined(mut dealt: Vec<SplitRows>) -> Vec<SplitRows> {
        dealt.sort_by(|a, b| (&a.codes, a.sensitive, &a.runs).cmp(&(&b.codes, b.sensitive, &b.runs)));
        dealt.dedup_by(|next, kept| {
            let same = (&next.codes, next.sensitive) == (&kept.codes, kept.sensitive);
            if same {
                kept.runs.append(&mut next.runs);
            }
            same
        });
        dealt
    }
}
