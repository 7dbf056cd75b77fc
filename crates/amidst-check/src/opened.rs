//! Checks opened rows, rows of the input that the owner discloses to an auditor, against the commitment and the
//! release.
//!
//! Two questions: was the row in the table when the release was made, and does the release cover it? The Merkle tree
//! decides the first. The cells decide the second: what `*`, ranges of numbers and dates, sets and plain values cover
//! is decided here; what a label of a hierarchy covers is claimed by the owner. The policy of the certificate decides
//! such a claim where it describes the hierarchy; every other one is listed for the auditor. All opened rows are
//! matched together, so that no released row covers two of them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::certificate::{Certificate, SuppressedAs};
use crate::commitment::{Commitment, SCHEME, block, cells_cover};
use crate::content::{Content, Location};
use crate::cover::{Column, Tuples};
use crate::files::content;
use crate::matching::most_pairs;
use crate::opening::{LabelSaid, Opened, OpenedRow, Opening};
use crate::options::ColumnLabels;
use crate::original::{coded, groups, selection, sets};
use crate::policy::PolicySaid;
use crate::problem::{Problem, ProblemKind};
use crate::reader::key::{cells, key_of};
use crate::reader::{self, Reading, Selection, format_of};

fn wrong(what: impl Into<String>) -> Problem {
    Problem::violation(ProblemKind::Opening, what)
}

/// Checks an opening against a certificate and the tables of its release, whose columns are `columns`.
pub(crate) fn opened(
    opening: &Opening,
    certificate: &Certificate,
    tables: &[Content],
    columns: &[String],
) -> (Opened, Vec<Problem>) {
    let mut found = Opened::default();
    let commitment = match belongs(opening, certificate) {
        Ok(commitment) => commitment,
        Err(problem) => return (found, vec![problem]),
    };
    let members: Vec<bool> = opening.rows.iter().map(|row| member(commitment, row)).collect();
    let mut problems: Vec<Problem> = members
        .iter()
        .enumerate()
        .filter(|(_, held)| !**held)
        .map(|(at, _)| wrong(format!("opened row {} is not in the table that the certificate commits to", at + 1)))
        .collect();
    let policy = PolicySaid::parse(&certificate.policy).ok();
    let claims = |row| claims(policy.as_ref(), certificate, commitment, row);
    problems.extend(opening.rows.iter().enumerate().filter_map(|(at, row)| refuted(at, claims(row))));
    found.rows = members.iter().filter(|held| **held).count() as u64;
    if !problems.is_empty() {
        return (found, problems);
    }
    let words = opening.rows.iter().flat_map(claims).filter(|(_, holds)| holds.is_none()).map(|(said, _)| said);
    found.labels = words.collect::<BTreeSet<_>>().into_iter().collect();
    if !cells_cover(&certificate.policy) {
        let what =
            "the cells of this release stand for classes and cover no originals, so opened rows are not looked for";
        return (found, vec![Problem::note(ProblemKind::NotVerifiable, what)]);
    }
    match covered(certificate, commitment, tables, columns, &opening.rows) {
        Ok(covered) => {
            found.covered = Some(covered);
            let missing = found.rows - covered;
            let most = match certificate.suppressed_as {
                SuppressedAs::Drop => certificate.suppressed,
                SuppressedAs::Mask => 0,
            };
            if missing > most {
                problems.push(wrong(format!(
                    "{missing} of {} opened rows are covered by no row of the release, but only {most} were left out",
                    found.rows
                )));
            }
        }
        Err(problem) => problems.push(problem),
    }
    (found, problems)
}

/// The commitment that an opening refers to; an error when they do not belong together or rows are not ascending.
fn belongs<'a>(opening: &Opening, certificate: &'a Certificate) -> Result<&'a Commitment, Problem> {
    let Some(commitment) = &certificate.commitment else {
        return Err(wrong("the certificate does not commit to the rows of the input, so none can be opened"));
    };
    if opening.scheme != SCHEME || commitment.scheme != SCHEME {
        return Err(wrong(format!("the opening follows another scheme than \"{SCHEME}\"")));
    }
    if opening.certificate != certificate.digest {
        return Err(wrong("the opening is of another certificate than this one"));
    }
    if opening.rows.is_empty() {
        return Err(wrong("the opening shows no row"));
    }
    if !opening.rows.is_sorted_by(|a, b| a.leaf < b.leaf) {
        return Err(wrong("the opening shows a row twice, or its rows out of order"));
    }
    Ok(commitment)
}

/// Whether a row is in the committed table.
fn member(commitment: &Commitment, row: &OpenedRow) -> bool {
    let path: Option<Vec<_>> = row.path.iter().map(|digest| block(digest)).collect();
    match (block(&row.salt), path) {
        (Some(salt), Some(path)) => commitment.holds(row.leaf, &salt, &row.cells, &path),
        _ => false,
    }
}

/// The cell of an opened row in a column.
fn cell<'a>(commitment: &Commitment, row: &'a OpenedRow, column: &str) -> Option<&'a str> {
    let at = commitment.columns.iter().position(|name| name == column)?;
    row.cells.get(at).map(String::as_str)
}

/// What the owner claims about the labels of a row, and whether the policy says the same; `None` where it cannot tell.
fn claims<'a>(
    policy: Option<&'a PolicySaid>,
    certificate: &'a Certificate,
    commitment: &'a Commitment,
    row: &'a OpenedRow,
) -> impl Iterator<Item = (LabelSaid, Option<bool>)> {
    row.labels.iter().flat_map(move |(column, labels)| {
        let value = cell(commitment, row, column).filter(|_| certificate.quasi.contains(column));
        labels.iter().map(move |label| {
            let said = |value: &str| LabelSaid { column: column.clone(), value: value.into(), label: label.clone() };
            match value {
                Some(value) => (said(value), policy.and_then(|policy| policy.covers(column, value, label))),
                // Only quasi columns have labels.
                None => (said(""), Some(false)),
            }
        })
    })
}

/// The first claim of the owner about a row that is false.
fn refuted<'a>(at: usize, mut claims: impl Iterator<Item = (LabelSaid, Option<bool>)> + 'a) -> Option<Problem> {
    let (said, _) = claims.find(|(_, holds)| *holds == Some(false))?;
    let LabelSaid { column, label, .. } = said;
    let message = format!(
        "opened row {} is said to lie in {label} of \"{column}\", and by the certificate's policy it does not",
        at + 1
    );
    Some(wrong(message))
}

/// How often each tuple of raw cells occurs.
type Held<'a> = BTreeMap<Vec<&'a [u8]>, u64>;

/// Number of opened rows that can be matched to distinct rows of the release that cover them.
fn covered(
    certificate: &Certificate,
    commitment: &Commitment,
    tables: &[Content],
    columns: &[String],
    rows: &[OpenedRow],
) -> Result<u64, Problem> {
    let quasi = &certificate.quasi;
    let chosen = selection(columns, quasi, None);
    let order: Vec<&str> = chosen.key.iter().flatten().map(String::as_str).collect();
    let (released, _) = reader::count(tables, &chosen, Reading::Release)?;
    let released = groups(&released, quasi.len());
    let policy = PolicySaid::parse(&certificate.policy).ok();
    let labels: Vec<ColumnLabels> = quasi.iter().map(|name| stated(policy.as_ref(), commitment, rows, name)).collect();
    let mut values: Vec<BTreeSet<Vec<u8>>> = vec![BTreeSet::new(); quasi.len()];
    let mut held: HashMap<Box<[u8]>, Held<'_>> = HashMap::new();
    for row in rows {
        let mut parts: Vec<&[u8]> =
            order.iter().map(|name| cell(commitment, row, name).unwrap_or_default().as_bytes()).collect();
        let others = parts.split_off(quasi.len().min(parts.len()));
        for (column, part) in values.iter_mut().zip(&parts) {
            column.insert(part.to_vec());
        }
        *held.entry(key_of(others)).or_default().entry(parts).or_default() += 1;
    }
    let columns = labels.iter().zip(values).map(|(labels, values)| Column::new(labels, values.into_iter().collect()));
    let mut meaning: Vec<Column<'_>> = columns.collect();
    let mut pairs = 0;
    for (others, source) in held {
        let Some(over) = released.get(&others) else { continue };
        let source: Vec<(Vec<&[u8]>, u64)> = source.into_iter().collect();
        let tuples = Tuples::new(quasi.len(), coded(&meaning, &source));
        let edges: Vec<Vec<u32>> = over.iter().map(|(parts, _)| tuples.covered(&sets(&mut meaning, parts))).collect();
        let needs: Vec<u64> = over.iter().map(|row| row.1).collect();
        pairs += most_pairs(&needs, &tuples.counts, &edges);
    }
    Ok(pairs)
}

/// How cells of a column are read without its hierarchy.
fn reading(policy: Option<&PolicySaid>, column: &str) -> ColumnLabels {
    policy.map(|policy| policy.reading(column)).unwrap_or_default()
}

/// The owner's claims about the labels of a column, in the form in which the checker reads labels. A label that is
/// claimed for one value covers the others that need no claim, too.
fn stated(policy: Option<&PolicySaid>, commitment: &Commitment, rows: &[OpenedRow], column: &str) -> ColumnLabels {
    let reading = reading(policy, column);
    let claimed: BTreeSet<&String> = rows.iter().filter_map(|row| row.labels.get(column)).flatten().collect();
    let mut paths: HashMap<String, BTreeSet<&String>> = HashMap::new();
    for row in rows {
        let Some(value) = cell(commitment, row, column) else { continue };
        let path = paths.entry(value.to_string()).or_insert_with(|| {
            let mut read = Column::new(&reading, vec![value.as_bytes().to_vec()]);
            claimed.iter().copied().filter(|label| read.covered(label.as_bytes()).contains(0)).collect()
        });
        path.extend(row.labels.get(column).into_iter().flatten());
    }
    let paths = paths.into_iter().map(|(value, path)| (value, path.into_iter().cloned().collect()));
    ColumnLabels { paths: paths.collect(), ..reading }
}

/// Writes into opened rows which published labels cover their values by the owner's hierarchies, where the cells alone
/// do not decide it. Only labels that occur in the release are listed.
///
/// # Errors
/// When the release cannot be read.
pub fn explain_labels(
    release: &Location,
    certificate: &Certificate,
    labels: &HashMap<String, ColumnLabels>,
    rows: &mut [OpenedRow],
) -> Result<(), Problem> {
    let Some(commitment) = &certificate.commitment else { return Ok(()) };
    let mut tables = Vec::new();
    for output in &certificate.outputs {
        let file = content(release, &output.file)?;
        tables.extend(format_of(&file).is_some().then_some(file));
    }
    let chosen = Selection { key: Some(certificate.quasi.clone()), ..Selection::default() };
    let (released, _) = reader::count(&tables, &chosen, Reading::Release)?;
    let mut published: Vec<BTreeSet<&[u8]>> = vec![BTreeSet::new(); certificate.quasi.len()];
    for key in &released.keys {
        for (column, cell) in published.iter_mut().zip(cells(key)) {
            column.insert(cell);
        }
    }
    let policy = PolicySaid::parse(&certificate.policy).ok();
    let plain = ColumnLabels::default();
    for row in rows {
        for (name, published) in certificate.quasi.iter().zip(&published) {
            let Some(value) = cell(commitment, row, name).map(|text| text.as_bytes().to_vec()) else { continue };
            let mut by_owner = Column::new(labels.get(name).unwrap_or(&plain), vec![value.clone()]);
            let reading = reading(policy.as_ref(), name);
            let mut by_all = Column::new(&reading, vec![value]);
            let word = |cell: &&&[u8]| by_owner.covered(cell).contains(0) && !by_all.covered(cell).contains(0);
            let words: Vec<String> =
                published.iter().filter(word).map(|cell| String::from_utf8_lossy(cell).into_owned()).collect();
            if !words.is_empty() {
                row.labels.insert(name.clone(), words);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_that_is_claimed_for_one_value_covers_the_others_that_it_holds() {
        let row = |value: &str, labels: &[&str]| OpenedRow {
            leaf: 0,
            salt: String::new(),
            cells: vec![value.into()],
            labels: [("kg".to_string(), labels.iter().map(|label| label.to_string()).collect())].into(),
            path: Vec::new(),
        };
        let commitment = Commitment { scheme: SCHEME.into(), columns: vec!["kg".into()], rows: 3, root: String::new() };
        // 29.95 is rounded down into the range, so only a claim says that it is in it; 10 is in it for everybody.
        let rows = [row("29.95", &["[10.0-29.9]"]), row("10", &[]), row("77", &[])];
        let labels = stated(None, &commitment, &rows, "kg");
        let values: Vec<Vec<u8>> = ["10", "29.95", "77"].map(|value| value.as_bytes().to_vec()).into();
        let covered = Column::new(&labels, values).covered(b"[10.0-29.9]");
        assert_eq!([0, 1, 2].map(|code| covered.contains(code)), [true, true, false]);
    }
}
