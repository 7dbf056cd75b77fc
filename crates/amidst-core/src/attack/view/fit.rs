//! Joining a table that an adversary holds with the classes of a release: which classes does each of its tuples fit?
//!
//! The classes form a tree, one column a level, one label a branch. The distinct tuples of the other table come in
//! sorted order, so those with the same first values walk the first levels together. Columns whose values fit few of
//! the classes come first.

use std::ops::Range;

use rayon::prelude::*;

use super::cell::{Cell, Values};
use super::{Covers, External, Published};
use crate::attack::AttackError;
use crate::frequency::FrequencySet;
use crate::table::{Column, Table};

/// Tuples that one task joins.
const TUPLES: usize = 1 << 13;

/// Up to this many bits tell of one column which value fits which label; beyond it, sorted lists do.
const BITS: usize = 1 << 28;

/// Which classes the rows of a table fit.
#[derive(Debug, Clone, Default)]
pub struct Fits {
    /// The distinct tuples of the table in the joined columns, with the sensitive values that were asked for.
    pub tuples: FrequencySet,
    /// The entry of `tuples` that each row of the table is counted in. Without sensitive columns every tuple has one
    /// entry, so this is the tuple of the row. Empty where the rows do not matter ([`fit_tuples`]).
    pub of_row: Vec<u32>,
    /// The columns that were joined, in the order of the codes of a tuple.
    pub columns: Vec<String>,
    /// Published labels that no value of the table fits.
    pub unused_labels: u64,
    classes: Lists,
}

impl Fits {
    /// The classes that a tuple fits, ascending.
    pub fn classes(&self, tuple: usize) -> &[u32] {
        self.classes.get(tuple)
    }

    /// The tuples that each of `count` classes covers, ascending: the same join, seen from the classes.
    pub(super) fn by_class(&self, count: usize) -> Lists {
        let mut offsets = vec![0usize; count + 1];
        self.classes.members.iter().for_each(|&class| offsets[class as usize + 1] += 1);
        (0..count).for_each(|class| offsets[class + 1] += offsets[class]);
        let mut next = offsets.clone();
        let mut members = vec![0; self.classes.members.len()];
        for (tuple, classes) in (0u32..).zip(self.iter()) {
            for &class in classes {
                let at = &mut next[class as usize];
                members[*at] = tuple;
                *at += 1;
            }
        }
        Lists { offsets, members }
    }

    /// The classes of every tuple, to be worked on.
    pub(super) fn lists(&self) -> Lists {
        self.classes.clone()
    }

    /// The classes of every tuple.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u32]> {
        (0..self.tuples.len()).map(|tuple| self.classes.get(tuple))
    }
}

/// Lists of numbers, one after the other.
#[derive(Debug, Clone, Default)]
pub(super) struct Lists {
    /// List `l` holds the members from `offsets[l]` to `offsets[l + 1]`.
    pub offsets: Vec<usize>,
    pub members: Vec<u32>,
}

impl Lists {
    pub fn get(&self, list: usize) -> &[u32] {
        match (self.offsets.get(list), self.offsets.get(list + 1)) {
            (Some(&start), Some(&end)) => &self.members[start..end],
            _ => &[],
        }
    }

    /// The members of each of `count` lists, from (list, member) pairs; members keep the order of the pairs.
    fn collect(count: usize, pairs: impl Iterator<Item = (u32, u32)> + Clone) -> Lists {
        let mut offsets = vec![0usize; count + 1];
        pairs.clone().for_each(|(list, _)| offsets[list as usize + 1] += 1);
        (0..count).for_each(|list| offsets[list + 1] += offsets[list]);
        let mut next = offsets.clone();
        let mut members = vec![0; offsets[count]];
        for (list, member) in pairs {
            let at = &mut next[list as usize];
            members[*at] = member;
            *at += 1;
        }
        Lists { offsets, members }
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

/// The same for whoever does not ask which row of the table has which tuple, in less time.
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
    count: impl FnOnce(&[usize]) -> (FrequencySet, Vec<u32>),
) -> Result<Fits, AttackError> {
    let lacks = |what: &str| AttackError::Lacks { attack: "linkage", what: what.to_string() };
    let labels = published.labels.ok_or_else(|| lacks("the published quasi labels"))?;
    // Classes of nobody may have values that no label is for: they are those of a population alone.
    let classes = (0u32..).zip(published.classes.iter()).take(labels.rows);
    let filled: Vec<u32> = classes.filter(|(_, entries)| !entries.is_empty()).map(|(class, _)| class).collect();
    let mut own = Table { columns: Vec::new(), rows: filled.len() };
    let mut sides: Vec<Side> = Vec::new();
    for column in &labels.columns {
        let Some(other) = external.table.position(&column.name) else { continue };
        let covers = external.covers.iter().find(|(name, _)| *name == column.name).map(|(_, c)| c);
        let mut cells = Column { dictionary: column.dictionary.clone(), ..Column::new(column.name.clone()) };
        filled.iter().for_each(|&class| cells.codes.push(column.codes.get(class as usize)));
        sides.push(Side::new(own.columns.len(), &cells, other, &external.table.columns[other], covers));
        own.columns.push(cells);
    }
    if sides.is_empty() {
        return Err(lacks("an external table that has at least one quasi column under the same name"));
    }
    let unused_labels = sides.iter().map(|side| side.unused).sum();
    // Of two neighbours the one with the lesser rank is cheaper to look at first: the other is then asked for fewer
    // pairs of a value and a class.
    sides.sort_by(|a, b| a.rank.total_cmp(&b.rank));
    let columns = sides.iter().map(|side| own.columns[side.own].name.clone()).collect();
    let tree = Tree::new(&own, &filled, &sides);
    let positions: Vec<usize> = sides.iter().map(|side| side.other).collect();
    let (tuples, of_row) = count(&positions);
    let tasks = (0..tuples.len().div_ceil(TUPLES)).into_par_iter();
    let parts: Vec<(Vec<usize>, Vec<u32>)> = tasks
        .map(|task| tree.search(&sides, &tuples, task * TUPLES..((task + 1) * TUPLES).min(tuples.len())))
        .collect();
    let mut classes = Lists { offsets: Vec::with_capacity(tuples.len() + 1), members: Vec::new() };
    classes.offsets.push(0);
    for (ends, members) in parts {
        let before = classes.members.len();
        classes.offsets.extend(ends.into_iter().map(|end| before + end));
        classes.members.extend(members);
    }
    Ok(Fits { tuples, of_row, columns, unused_labels, classes })
}

/// A column of both tables.
struct Side {
    /// Its position among the published columns that both have.
    own: usize,
    /// Its position in the other table.
    other: usize,
    /// For each value the labels that it fits, ascending.
    labels: Lists,
    /// The same as bits, so many words a value.
    bits: Vec<u64>,
    words: usize,
    /// Labels that no value fits.
    unused: u64,
    /// How early the column should be looked at.
    rank: f64,
}

impl Side {
    fn new(own: usize, labels: &Column, other: usize, values: &Column, covers: Option<&Covers>) -> Side {
        let sorted = Values::of(values, covers);
        let (mut pairs, mut found, mut unused) = (Vec::new(), Vec::new(), 0);
        for (label, text) in (0u32..).zip(labels.dictionary.iter()) {
            sorted.covered_by(&Cell::parse(text, covers), &mut found);
            unused += u64::from(found.is_empty());
            pairs.extend(found.iter().map(|&value| (value, label)));
        }
        let (count, words) = (sorted.len(), labels.dictionary.len().div_ceil(64));
        let mut bits = Vec::new();
        if count.saturating_mul(words).saturating_mul(64) <= BITS {
            bits = vec![0u64; count * words];
            pairs
                .iter()
                .for_each(|&(value, label)| bits[value as usize * words + label as usize / 64] |= 1 << (label % 64));
        }
        // The share of the classes that a value fits, against what it is where every class has one value.
        let classes = labels.counts();
        let fitting: u64 = pairs.iter().map(|&(_, label)| classes[label as usize]).sum();
        let (values, rows) = (count.max(1) as f64, labels.codes.len().max(1) as f64);
        let rank = fitting as f64 / (values * rows) - 1.0 / values;
        let labels = Lists::collect(count, pairs.iter().copied());
        Side { own, other, labels, bits, words, unused, rank }
    }

    /// What `value` fits.
    fn fitting(&self, value: u32) -> Fitting<'_> {
        let start = value as usize * self.words;
        Fitting { labels: self.labels.get(value as usize), bits: self.bits.get(start..start + self.words) }
    }
}

/// The labels that a value fits.
#[derive(Clone, Copy)]
struct Fitting<'a> {
    /// Ascending.
    labels: &'a [u32],
    /// The same as bits, where there are not too many.
    bits: Option<&'a [u64]>,
}

impl Fitting<'_> {
    /// Calls `found` with the position of every one of `labels`, which are ascending, that the value fits.
    fn among(&self, labels: &[u32], mut found: impl FnMut(usize)) {
        match self.bits {
            Some(bits) if self.labels.len() * 8 >= labels.len() => {
                for (at, &label) in labels.iter().enumerate() {
                    if bits[label as usize / 64] >> (label % 64) & 1 == 1 {
                        found(at);
                    }
                }
            }
            _ => {
                // Few labels among many: look each of them up.
                let mut from = 0;
                for label in self.labels {
                    from += labels[from..].partition_point(|l| l < label);
                    if labels.get(from) == Some(label) {
                        found(from);
                    }
                }
            }
        }
    }
}

/// The classes by their labels, a level for each column.
struct Tree {
    levels: Vec<Nodes>,
    /// The classes of each node of the last level.
    classes: Lists,
}

/// The nodes of a level.
#[derive(Default)]
struct Nodes {
    /// The label of each node, ascending among the nodes of one parent.
    labels: Vec<u32>,
    /// Where the children of each node begin in the next level.
    children: Vec<usize>,
}

impl Tree {
    fn new(labels: &Table, classes: &[u32], sides: &[Side]) -> Tree {
        let own: Vec<usize> = sides.iter().map(|side| side.own).collect();
        let (leaves, leaf_of) = FrequencySet::count(labels, &own, &[], None);
        let mut levels: Vec<Nodes> = sides.iter().map(|_| Nodes::default()).collect();
        for leaf in 0..leaves.len() {
            let tuple = leaves.tuple(leaf);
            let same = match leaf {
                0 => 0,
                _ => tuple.iter().zip(leaves.tuple(leaf - 1)).take_while(|(a, b)| a == b).count(),
            };
            for depth in same..sides.len() {
                let below = levels.get(depth + 1).map_or(0, |nodes| nodes.labels.len());
                levels[depth].labels.push(tuple[depth]);
                levels[depth].children.push(below);
            }
        }
        for depth in 0..levels.len() {
            let end = levels.get(depth + 1).map_or(0, |nodes| nodes.labels.len());
            levels[depth].children.push(end);
        }
        let pairs = leaf_of.iter().copied().zip(classes.iter().copied());
        Tree { levels, classes: Lists::collect(leaves.len(), pairs) }
    }

    /// The classes that the tuples of `range` fit, one tuple after the other, and where those of each end.
    fn search(&self, sides: &[Side], tuples: &FrequencySet, range: Range<usize>) -> (Vec<usize>, Vec<u32>) {
        let (mut ends, mut found) = (Vec::with_capacity(range.len()), Vec::with_capacity(range.len()));
        // The nodes of each level that the first values of the current tuple fit.
        let mut paths: Vec<Vec<u32>> = vec![Vec::new(); sides.len()];
        let mut last: Option<&[u32]> = None;
        for at in range {
            let tuple = tuples.tuple(at);
            let same = last.map_or(0, |last| tuple.iter().zip(last).take_while(|(a, b)| a == b).count());
            last = Some(tuple);
            for depth in same..sides.len() {
                let (above, below) = paths.split_at_mut(depth);
                let Some(path) = below.first_mut() else { continue };
                path.clear();
                let fitting = sides[depth].fitting(tuple[depth]);
                let labels = &self.levels[depth].labels;
                match above.last() {
                    None => fitting.among(labels, |at| path.push(at as u32)),
                    Some(parents) => {
                        let children = &self.levels[depth - 1].children;
                        for &parent in parents {
                            let own = children[parent as usize]..children[parent as usize + 1];
                            let first = own.start;
                            fitting.among(&labels[own], |at| path.push((first + at) as u32));
                        }
                    }
                }
            }
            let start = found.len();
            for &leaf in paths.last().into_iter().flatten() {
                found.extend_from_slice(self.classes.get(leaf as usize));
            }
            found[start..].sort_unstable();
            ends.push(found.len());
        }
        (ends, found)
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;
    use super::*;
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
                prop_assert_eq!(found.classes(found.of_row[row] as usize), &expected[..]);
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
        let classes = |row: usize| found.classes(found.of_row[row] as usize).to_vec();
        assert_eq!([classes(0), classes(1), classes(2), classes(3)], [vec![0], vec![1], vec![], vec![0, 1]]);
    }

    #[test]
    fn without_bits_the_lists_tell_the_same() {
        let labels = Column::from_values("age", ["[0-9]", "[5-20]", "7", "*"]);
        let values = Column::from_values("age", ["3", "7", "15", "30"]);
        let mut side = Side::new(0, &labels, 0, &values, None);
        let ask = |side: &Side| {
            let mut found = Vec::new();
            (0..4).for_each(|value| side.fitting(value).among(&[0, 1, 2, 3], |at| found.push((value, at))));
            found
        };
        let with = ask(&side);
        side.bits.clear();
        assert_eq!(ask(&side), with);
        assert_eq!(with.len(), 2 + 2 + 1 + 4);
    }
}
