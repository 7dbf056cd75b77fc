//! Joining a table that an adversary holds with the classes of a release: which classes does each of its tuples fit?
//!
//! The classes form a tree, one column a level, one label a branch. The distinct tuples of the other table come in
//! sorted order, so those with the same first values walk the first levels together. Columns whose values fit few of
//! the classes come first.

use std::sync::OnceLock;

use rayon::prelude::*;

use super::external::External;
use super::lists::{Lists, Turned};
use super::published::Published;
use super::side::Side;
use super::tree::Tree;
use crate::attack::AttackError;
use crate::frequency::{self, FrequencySet};
use crate::ids::EntryId;

/// Tuples that one task joins.
const TUPLES: usize = 1 << 13;

/// Which classes the rows of a table fit.
#[derive(Debug, Clone, Default)]
pub struct Fits {
    /// The distinct tuples of the table in the joined columns, with the sensitive values that were asked for.
    pub tuples: FrequencySet,
    /// The entry of `tuples` that each row of the table is counted in. Without sensitive columns every tuple has one
    /// entry, so this is the tuple of the row. Empty where the rows do not matter ([`fit_tuples`]).
    pub of_row: Vec<EntryId>,
    /// The columns that were joined, in the order of the codes of a tuple.
    pub columns: Vec<String>,
    /// Published labels that no value of the table fits.
    pub unused_labels: u64,
    classes: Lists,
    /// How many classes the release has.
    count: usize,
    covered: OnceLock<Turned>,
}

impl Fits {
    /// The classes that a tuple fits, ascending.
    pub fn classes(&self, tuple: usize) -> &[u32] {
        self.classes.get(tuple)
    }

    /// Counts each row of the table `weights` times, and forgets which row has which tuple.
    pub fn weigh(&mut self, weights: &[u64]) {
        self.tuples.weigh(&std::mem::take(&mut self.of_row), weights);
        self.tuples.groups = self.tuples.groups.without_nobody();
    }

    /// The same join, seen from the classes; told once for all who ask.
    pub(super) fn covered(&self) -> &Turned {
        self.covered.get_or_init(|| self.classes.turned(self.count))
    }

    /// The rows of each tuple.
    pub(super) fn rows(&self) -> impl ExactSizeIterator<Item = u64> {
        self.tuples.groups.iter().map(frequency::rows)
    }

    /// The classes of every tuple.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u32]> {
        self.classes.iter()
    }
}

/// Joins `external` with the classes of a release on the quasi columns that both have. The tuples are counted with the
/// columns `sensitive` of the external table.
///
/// # Errors
/// When there is nothing to join on.
pub fn fit(published: &Published<'_>, external: &External<'_>, sensitive: &[usize]) -> Result<Fits, AttackError> {
    let count = |columns: &[usize]| FrequencySet::count(external.table, columns, sensitive, None);
    join(published, external, count)
}

/// Faster [`fit`] that does not return row → tuple.
///
/// # Errors
/// When there is nothing to join on.
pub fn fit_tuples(
    published: &Published<'_>,
    external: &External<'_>,
    sensitive: &[usize],
) -> Result<Fits, AttackError> {
    join(published, external, |columns| (FrequencySet::tally(external.table, columns, sensitive), Vec::new()))
}

/// Joins `external`, whose columns at these positions `count` counts.
fn join(
    published: &Published<'_>,
    external: &External<'_>,
    count: impl FnOnce(&[usize]) -> (FrequencySet, Vec<EntryId>) + Send,
) -> Result<Fits, AttackError> {
    let lacks = |what: &str| AttackError::Lacks { attack: "linkage", what: what.to_string() };
    let labels = published.labels.ok_or_else(|| lacks("the published quasi labels"))?;
    // Classes without rows may have values that no label is for: they are those of a population alone.
    let classes = (0u32..).zip(published.classes.iter()).take(labels.rows);
    let filled: Vec<u32> = classes.filter(|(_, entries)| !entries.is_empty()).map(|(class, _)| class).collect();
    let sides = labels.columns.par_iter().filter_map(|column| {
        let other = external.table.position(&column.name)?;
        let covers = external.covers.iter().find(|(name, _)| *name == column.name).map(|(_, c)| c);
        Some(Side::new(column, &filled, other, &external.table.columns[other], covers))
    });
    let mut sides: Vec<Side<'_>> = sides.collect();
    if sides.is_empty() {
        return Err(lacks("an external table that has at least one quasi column under the same name"));
    }
    let unused_labels = sides.iter().map(|side| side.unused).sum();
    // Of two neighbours the one with the lesser rank is cheaper to look at first: the other is then asked for fewer
    // pairs of a value and a class.
    sides.sort_by(|a, b| a.rank.total_cmp(&b.rank));
    let columns = sides.iter().map(|side| side.own.name.clone()).collect();
    let positions: Vec<usize> = sides.iter().map(|side| side.other).collect();
    let (tree, (tuples, of_row)) = rayon::join(|| Tree::new(&filled, &sides), || count(&positions));
    let tasks = (0..tuples.len().div_ceil(TUPLES)).into_par_iter();
    let parts: Vec<(Vec<usize>, Vec<u32>)> = tasks
        .map(|task| tree.search(&sides, &tuples, task * TUPLES..((task + 1) * TUPLES).min(tuples.len())))
        .collect();
    let pairs = parts.iter().map(|part| part.1.len()).sum();
    let mut classes = Lists { offsets: Vec::with_capacity(tuples.len() + 1), members: Vec::with_capacity(pairs) };
    classes.offsets.push(0);
    for (ends, members) in parts {
        let before = classes.members.len();
        classes.offsets.extend(ends.into_iter().map(|end| before + end));
        classes.members.extend_from_slice(&members);
    }
    let count = published.classes.len();
    Ok(Fits { tuples, of_row, columns, unused_labels, classes, count, covered: OnceLock::new() })
}

#[cfg(test)]
mod tests {
    use super::super::cell::Cell;
    use super::super::fixture::Fixture;
    use super::*;
    use crate::table::{Column, Table};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_tree_finds_what_comparing_everyone_finds(
            rows in prop::collection::vec((0usize..6, 0usize..5, 0usize..3), 1..60),
            persons in prop::collection::vec((0u8..40, 0u8..4), 1..30),
        ) {
            let ages = ["[0-9]", "[5-20]", "1*", "*", ">30", "7"];
            let codes = ["{0,1}", "{1,2}", "3", "*", "2"];
            let pick = |f: &dyn Fn(&(usize, usize, usize)) -> &'static str| {
                Column::from_values("", rows.iter().map(f))
            };
            let named = |name: &str, column: Column| Column { name: name.to_string(), ..column };
            let fixture = Fixture::of(
                vec![named("age", pick(&|r| ages[r.0])), named("code", pick(&|r| codes[r.1]))],
                named("s", pick(&|r| ["x", "y", "z"][r.2])),
                None,
            );
            let text = |f: &dyn Fn(&(u8, u8)) -> u8| persons.iter().map(|p| f(p).to_string()).collect::<Vec<_>>();
            let (age, code) = (text(&|p| p.0), text(&|p| p.1));
            let table = Table {
                columns: vec![
                    Column::from_values("code", code.iter().map(String::as_str)),
                    Column::from_values("age", age.iter().map(String::as_str)),
                ],
                rows: persons.len(),
            };
            let external = External { table: &table, covers: &[] };
            let found = fit(&fixture.published(), &external, &[]).unwrap();
            let without_rows = fit_tuples(&fixture.published(), &external, &[]).unwrap();
            prop_assert!(without_rows.iter().eq(found.iter()));
            prop_assert_eq!(&without_rows.tuples.tuples, &found.tuples.tuples);
            prop_assert_eq!(&without_rows.tuples.groups, &found.tuples.groups);
            for row in 0..persons.len() {
                let fits = |label: &str, value: &str| Cell::parse(label, None).meets(&Cell::parse(value, None));
                let class = |&c: &u32| {
                    let label = |column: usize| fixture.labels.columns[column].value(c as usize);
                    fits(label(0), &age[row]) && fits(label(1), &code[row])
                };
                let expected: Vec<u32> = (0..fixture.labels.rows as u32).filter(class).collect();
                prop_assert_eq!(found.classes(found.of_row[row].index()), &expected[..]);
            }
        }
    }

    #[test]
    fn classes_of_nobody_fit_nobody() {
        let mut fixture = Fixture::new(&[("1", "flu"), ("2", "flu")]);
        // A tuple of a population alone: no entries, and a code that the column has no label for.
        fixture.set.groups.offsets.push(2);
        fixture.labels.columns[0].codes.push(2);
        fixture.labels.rows = 3;
        let table = Table { columns: vec![Column::from_values("class", ["1", "2", "3", ""])], rows: 4 };
        let found = fit(&fixture.published(), &External { table: &table, covers: &[] }, &[]).unwrap();
        let classes = |row: usize| found.classes(found.of_row[row].index()).to_vec();
        assert_eq!([classes(0), classes(1), classes(2), classes(3)], [vec![0], vec![1], vec![], vec![0, 1]]);
    }
}
