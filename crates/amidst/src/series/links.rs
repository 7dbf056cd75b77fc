//! What insensitive columns tell of a series: rows of different versions that are the same row.
//!
//! Insensitive cells are published as they are, in every version. A person who keeps the sensitive value keeps these,
//! too, so an adversary looks for the same cells again: the value of a person is the sensitive tuple *and* what stands
//! beside it. The state keeps a digest of the latter for each published row, not the texts: those are in the published
//! versions, and are erased from the state when no row has them any more.

use amidst_core::ids::SensitiveId;
use amidst_core::internal::series::linked;
use amidst_core::internal::worlds::Compact;
use rustc_hash::FxHashMap;
use sha2::{Digest, Sha256};

use super::domain::with_role;
use crate::policy::{Policy, Role};
use crate::prepare::Prepared;
use crate::words::grouped;

/// How many numbers a mark is made of.
pub(super) const MARK: usize = 2;

/// The mark of what stands beside the sensitive value of a row.
pub(super) type Mark = [u32; MARK];

/// With more versions than these, rows are looked for in the version before only.
const PAIRED: usize = 32;

/// The marks of all rows; `None` where nothing is published as it is.
pub(super) fn marks(prepared: &Prepared) -> Option<Vec<Mark>> {
    let columns = prepared.table.columns.iter().zip(&prepared.roles);
    let columns: Vec<_> = columns.filter(|(_, role)| **role == Role::Insensitive).map(|(column, _)| column).collect();
    let mark = |row: usize| {
        let mut digest = Sha256::new();
        for column in &columns {
            let text = column.value(row);
            digest.update((text.len() as u64).to_le_bytes());
            digest.update(text);
        }
        let digest = digest.finalize();
        let number = |at: usize| u32::from_le_bytes([digest[at], digest[at + 1], digest[at + 2], digest[at + 3]]);
        [number(0), number(4)]
    };
    (!columns.is_empty()).then(|| (0..prepared.table.rows).map(mark).collect())
}

/// Numbers for sensitive tuples with their marks, row by row; `tuples` become those that have a number.
pub(super) fn finer(
    sensitive: impl Iterator<Item = SensitiveId>,
    marks: Vec<Mark>,
    tuples: &mut Vec<Vec<u32>>,
) -> Vec<u32> {
    let coarse = std::mem::take(tuples);
    let mut known: FxHashMap<(SensitiveId, Mark), u32> = FxHashMap::default();
    let number = |(sensitive, mark): (SensitiveId, Mark)| {
        *known.entry((sensitive, mark)).or_insert_with(|| {
            tuples.push(coarse[sensitive.index()].iter().copied().chain(mark).collect());
            tuples.len() as u32 - 1
        })
    };
    sensitive.zip(marks).map(number).collect()
}

/// What is published beside the sensitive columns, in all versions.
#[derive(Debug, Clone, Default)]
pub(super) struct InsensitiveLinks {
    /// The columns.
    pub columns: Vec<String>,
    numbers: FxHashMap<(u32, Mark), u32>,
    /// The number of the sensitive tuple that each value stands for.
    pub stands_for: Vec<u32>,
    /// The versions, with the batch after which each was made.
    pub versions: Vec<(u64, Compact)>,
    /// Lives, and the batches that changed what stands beside their sensitive value, and not that.
    pub changed_cells: Vec<(u32, u64)>,
}

impl InsensitiveLinks {
    /// Nothing seen yet; `None` where the policy publishes nothing as it is.
    pub fn of(policy: &Policy, names: &[String]) -> Option<InsensitiveLinks> {
        let columns: Vec<String> =
            with_role(policy, names, Role::Insensitive).into_iter().map(|at| names[at].clone()).collect();
        (!columns.is_empty()).then(|| InsensitiveLinks { columns, ..InsensitiveLinks::default() })
    }

    /// The number of a sensitive tuple with a mark.
    pub fn number(&mut self, tuple: u32, mark: &[u32]) -> u32 {
        let mark = [0, 1].map(|at| mark.get(at).copied().unwrap_or_default());
        *self.numbers.entry((tuple, mark)).or_insert_with(|| {
            self.stands_for.push(tuple);
            self.stands_for.len() as u32 - 1
        })
    }

    /// Who was published both before and after a batch that changed what stands beside their value.
    pub fn persons_with_changed_cells(&self) -> impl Iterator<Item = u32> + '_ {
        let is_in = |version: &Compact, life: u32| {
            (0..version.len()).any(|class| version.persons(class).binary_search(&life).is_ok())
        };
        let both = move |&&(life, batch): &&(u32, u64)| {
            let (after, before): (Vec<_>, Vec<_>) = self.versions.iter().partition(|version| version.0 >= batch);
            [before, after].iter().all(|side| side.iter().any(|version| is_in(&version.1, life)))
        };
        self.changed_cells.iter().filter(both).map(|changed| changed.0)
    }

    /// How many rows of each version are linked to rows of an earlier one.
    pub fn links(&self) -> Vec<Links> {
        let mut found = Vec::new();
        for later in 1..self.versions.len() {
            let first = if self.versions.len() > PAIRED { later - 1 } else { 0 };
            for earlier in first..later {
                let (a, b) = (&self.versions[earlier].1, &self.versions[later].1);
                let meant = |value: u32| self.stands_for.get(value as usize).copied().unwrap_or(value);
                let of = (0..b.len()).flat_map(|class| b.counts(class)).map(|c| c.1).sum();
                let rows = linked(a, b, meant);
                let columns = self.columns.clone();
                found.push(Links { versions: [earlier as u64 + 1, later as u64 + 1], rows, of, columns });
            }
        }
        found.retain(|links| links.rows > 0);
        found
    }
}

/// Rows that what is published beside the sensitive values links between two versions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Links {
    /// The earlier and the later version.
    pub versions: [u64; 2],
    /// How many rows of the later one are linked to a row of the earlier one.
    pub rows: u64,
    /// How many rows the later one has.
    pub of: u64,
    /// The columns that are published as they are.
    pub columns: Vec<String>,
}

impl Links {
    /// In words.
    pub fn sentence(&self) -> String {
        let [earlier, later] = self.versions;
        let columns = self.columns.join("`, `");
        let (rows, of) = (grouped(self.rows), grouped(self.of));
        format!("{rows} of {of} rows can be linked between versions {earlier} and {later} by `{columns}`")
    }
}
