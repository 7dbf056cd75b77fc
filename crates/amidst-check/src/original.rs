//! Compares the release with the table that it was made from: every released row must cover a distinct original row.
//! Sensitive and insensitive cells must be equal, quasi cells must cover.

use std::collections::HashMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::content::Content;
use crate::cover::{Codes, Column, Tuples};
use crate::matching::most_pairs;
use crate::options::{ColumnLabels, OriginalTable};
use crate::problem::{Problem, ProblemKind};
use crate::reader::key::{cells, key_of};
use crate::reader::selection::Missing;
use crate::reader::{self, Counted, Reading, Selection};

/// Maximum number of (released tuple, original tuple) pairs; groups with more are not matched, which is reported as a
/// note.
const MOST_EDGES: usize = 100_000_000;

/// The stated numbers that the original table must confirm.
pub(crate) struct Stated {
    pub rows_in: u64,
    pub dropped: u64,
    pub counterfeits: u64,
}

/// Compares the release in `files`, whose columns are `columns`, with the original.
pub(crate) fn compare(
    files: &[Content],
    columns: &[String],
    quasi: &[String],
    stated: &Stated,
    original: &OriginalTable,
) -> Vec<Problem> {
    match find(files, columns, quasi, stated, original) {
        Ok(problems) => problems,
        Err(problem) => vec![problem],
    }
}

/// A selection whose key has the quasi columns first, then all others.
pub(crate) fn selection(columns: &[String], quasi: &[String], missing: Option<Missing>) -> Selection {
    let others = columns.iter().filter(|c| !quasi.contains(c));
    Selection { key: Some(quasi.iter().chain(others).cloned().collect()), missing, ..Selection::default() }
}

/// The keys of a count, grouped by their other cells: lists of quasi cells with the number of rows.
pub(crate) type Groups<'a> = FxHashMap<Box<[u8]>, Vec<(Vec<&'a [u8]>, u64)>>;

pub(crate) fn groups<'a>(counted: &'a Counted, quasi: usize) -> Groups<'a> {
    let mut groups: Groups<'a> = FxHashMap::default();
    for (key, &count) in counted.keys.iter().zip(&counted.sizes) {
        let mut parts = cells(key);
        let others = parts.split_off(quasi.min(parts.len()));
        groups.entry(key_of(others)).or_default().push((parts, count));
    }
    groups
}

fn find(
    files: &[Content],
    columns: &[String],
    quasi: &[String],
    stated: &Stated,
    original: &OriginalTable,
) -> Result<Vec<Problem>, Problem> {
    let violation = |message: String| Problem::violation(ProblemKind::Original, message);
    let missing = (!original.drop_missing_in.is_empty())
        .then(|| Missing { columns: original.drop_missing_in.clone(), tokens: original.missing.clone() });
    let (ours, _) = reader::count(files, &selection(columns, quasi, None), Reading::Release)?;
    let (mut theirs, _) =
        reader::count(&Content::files(&original.files), &selection(columns, quasi, missing), Reading::Source)?;
    unify(&mut theirs, columns, quasi, original);
    let mut problems = Vec::new();
    if theirs.rows != stated.rows_in {
        let message = format!("the original has {} rows, the certificate states {}", theirs.rows, stated.rows_in);
        problems.push(violation(message));
    }
    if theirs.dropped != stated.dropped {
        let message =
            format!("{} rows of the original lack a value, the certificate states {}", theirs.dropped, stated.dropped);
        problems.push(violation(message));
    }
    let width = quasi.len();
    let nothing = ColumnLabels::default();
    let mut meaning = meanings(quasi, &theirs, |name| original.labels.get(name).unwrap_or(&nothing));
    let released = groups(&ours, width);
    let mut held = groups(&theirs, width);
    let (mut unmatched, mut undecided) = (0u64, 0u64);
    for (others, rows) in released {
        let total: u64 = rows.iter().map(|r| r.1).sum();
        let Some(source) = held.remove(&others) else {
            unmatched += total;
            continue;
        };
        let tuples = Tuples::new(width, coded(&meaning, &source));
        let mut edges = Vec::with_capacity(rows.len());
        let mut size = 0;
        for (parts, _) in &rows {
            let covered = tuples.covered(&sets(&mut meaning, parts));
            size += covered.len();
            if size > MOST_EDGES {
                break;
            }
            edges.push(covered);
        }
        if size > MOST_EDGES {
            undecided += total;
            continue;
        }
        let needs: Vec<u64> = rows.iter().map(|r| r.1).collect();
        unmatched += total - most_pairs(&needs, &tuples.counts, &edges);
    }
    if unmatched > stated.counterfeits {
        let message = format!("{unmatched} rows of the release stand for no row of the original");
        problems.push(violation(message));
    }
    if undecided > 0 {
        let message = format!("{undecided} rows overlap too much to be matched with the original");
        problems.push(Problem::note(ProblemKind::NotVerifiable, message));
    }
    Ok(problems)
}

/// Replaces texts of the original by those that the release publishes for them.
fn unify(theirs: &mut Counted, columns: &[String], quasi: &[String], original: &OriginalTable) {
    if original.same.values().all(HashMap::is_empty) {
        return;
    }
    let others = columns.iter().filter(|c| !quasi.contains(c));
    let same: Vec<_> = quasi.iter().chain(others).map(|name| original.same.get(name)).collect();
    for key in &mut theirs.keys {
        let published = |(cell, same): (&'_ [u8], &Option<&HashMap<String, String>>)| -> Option<Vec<u8>> {
            let text = same.as_ref()?.get(std::str::from_utf8(cell).ok()?)?;
            Some(text.as_bytes().to_vec())
        };
        let parts = cells(key);
        let replaced: Vec<Option<Vec<u8>>> = parts.iter().copied().zip(&same).map(published).collect();
        if replaced.iter().any(Option::is_some) {
            *key = key_of(parts.iter().zip(&replaced).map(|(cell, text)| text.as_deref().unwrap_or(cell)));
        }
    }
}

/// The meaning of each quasi column for the values of a table, whose keys begin with the quasi cells.
pub(crate) fn meanings<'a>(
    quasi: &[String],
    table: &Counted,
    labels: impl Fn(&str) -> &'a ColumnLabels,
) -> Vec<Column<'a>> {
    let mut values: Vec<std::collections::BTreeSet<Vec<u8>>> = vec![Default::default(); quasi.len()];
    for key in &table.keys {
        for (column, cell) in values.iter_mut().zip(cells(key)) {
            if !column.contains(cell) {
                column.insert(cell.to_vec());
            }
        }
    }
    quasi.iter().zip(values).map(|(name, column)| Column::new(labels(name), column.into_iter().collect())).collect()
}

/// The quasi cells of rows as value numbers.
pub(crate) fn coded(meaning: &[Column<'_>], rows: &[(Vec<&[u8]>, u64)]) -> Vec<(Vec<u32>, u64)> {
    let code = |(parts, count): &(Vec<&[u8]>, u64)| {
        let codes: Option<Vec<u32>> = meaning.iter().zip(parts).map(|(column, cell)| column.code(cell)).collect();
        codes.filter(|c| c.len() == meaning.len()).map(|c| (c, *count))
    };
    rows.iter().filter_map(code).collect()
}

/// The values that each cell of a published tuple covers.
pub(crate) fn sets(meaning: &mut [Column<'_>], parts: &[&[u8]]) -> Vec<Arc<Codes>> {
    meaning.iter_mut().zip(parts).map(|(column, cell)| column.covered(cell)).collect()
}
