//! What an adversary may know beside the release. Attacks that assume it declare it, and the caller supplies it.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

use rustc_hash::FxHashMap;

use super::{Fits, Original};
use crate::class::Population;
use crate::frequency::{Entry, FrequencySet, Groups, NOBODY};
use crate::hierarchy::Generalization;
use crate::ids::SensitiveId;
use crate::recoding::Recoding;
use crate::table::Table;
use crate::worlds::Version;

/// What an adversary knows beside the release.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Knowledge {
    /// Nothing more: an audit runs these attacks on every table.
    Release,
    /// A table of named persons with some of the quasi columns: [`Extra::external`].
    External,
    /// The joint distribution of quasi tuples and sensitive values in a population: [`Extra::population`].
    Population,
    /// The original quasi tuples of each class, and how the release was made: [`Extra::original`].
    Original,
    /// Several versions of the release, and who is in which class of each: [`Extra::versions`].
    Versions,
}

impl Knowledge {
    /// What has to be supplied, in words.
    pub fn describe(self) -> &'static str {
        match self {
            Knowledge::Release => "nothing but the release",
            Knowledge::External => "an external table that has some of the quasi columns",
            Knowledge::Population => "a population table with the quasi columns and the sensitive column",
            Knowledge::Original => "the original quasi values of the rows in each class",
            Knowledge::Versions => "two or more versions of the release, with the persons of each class",
        }
    }
}

/// What was supplied of an adversary's further knowledge.
#[derive(Debug, Clone, Copy, Default)]
pub struct Extra<'a> {
    /// For [`Knowledge::External`].
    pub external: Option<&'a External<'a>>,
    /// For [`Knowledge::Population`].
    pub population: Option<&'a PopulationKnowledge<'a>>,
    /// For [`Knowledge::Original`].
    pub original: Option<Original<'a>>,
    /// For [`Knowledge::Versions`], the oldest first.
    pub versions: Option<&'a [Version]>,
}

impl Extra<'_> {
    /// Whether `knowledge` was supplied.
    pub fn has(&self, knowledge: Knowledge) -> bool {
        match knowledge {
            Knowledge::Release => true,
            Knowledge::External => self.external.is_some(),
            Knowledge::Population => self.population.is_some(),
            Knowledge::Original => self.original.is_some(),
            Knowledge::Versions => self.versions.is_some_and(|v| v.len() > 1),
        }
    }
}

/// A table about named persons, such as a voters' list.
#[derive(Debug, Clone, Copy)]
pub struct External<'a> {
    /// One row a person. Its columns are joined with the quasi columns of the same name.
    pub table: &'a Table,
    /// What labels mean that do not say it themselves, for each quasi column of this name.
    pub covers: &'a [(String, Covers)],
}

/// What hierarchy labels mean: the original values that each of them covers.
#[derive(Debug, Clone, Default)]
pub struct Covers {
    values: FxHashMap<String, BTreeSet<String>>,
}

impl Covers {
    /// The labels of a hierarchy that is bound to a column.
    pub fn of(generalization: &Generalization) -> Self {
        let mut covers = Covers::default();
        let Some((leaves, above)) = generalization.levels.split_first() else { return covers };
        for level in above {
            for (leaf, &group) in leaves.labels.iter().zip(&level.of) {
                if let Some(label) = level.labels.get(group as usize) {
                    covers.add(label, leaf);
                }
            }
        }
        covers
    }

    /// States that `label` covers `value`.
    pub fn add(&mut self, label: &str, value: &str) {
        match self.values.get_mut(label) {
            Some(values) => {
                values.insert(value.to_string());
            }
            None => {
                self.values.insert(label.to_string(), BTreeSet::from([value.to_string()]));
            }
        }
    }

    /// The values that `label` covers, where it is known.
    pub fn get(&self, label: &str) -> Option<&BTreeSet<String>> {
        self.values.get(label)
    }
}

/// A population, and how it relates to the classes of the release.
#[derive(Debug, Clone, Copy)]
pub struct PopulationKnowledge<'a> {
    /// Counts of quasi tuples and sensitive values.
    pub people: &'a People<'a>,
    /// Which of these tuples each class covers.
    pub covered: Covering<'a>,
}

/// For each class the tuples of a population that its generalized tuple covers.
#[derive(Debug, Clone, Copy)]
pub enum Covering<'a> {
    /// With the persons of the class who have the tuple: 0 for one that only the population has.
    Told(&'a Tuples),
    /// How many persons of a class have which tuple is not published, so the class is taken to be spread over the
    /// tuples that it covers as the population is, in parts that add up to it.
    Spread(&'a Fits),
}

impl<'a> Covering<'a> {
    /// Shows the tuples that a class covers, ascending, each with the persons of the class who have it where that is
    /// told.
    pub(in crate::attack) fn each(self, class: usize, mut see: impl FnMut(u32, Option<u64>)) {
        match self {
            Covering::Told(tuples) => {
                tuples.class(class).iter().for_each(|&(tuple, persons)| see(tuple, Some(persons)))
            }
            Covering::Spread(fits) => {
                let covered = fits.covered();
                covered.lists.members[covered.get(class as u32)].iter().for_each(|&tuple| see(tuple, None));
            }
        }
    }

    /// The classes that cover anyone, in the order of their first tuples: those that begin with the same tuples cover
    /// much the same people, who are then still in the fastest memory.
    pub(in crate::attack) fn order(self) -> Cow<'a, [u32]> {
        match self {
            Covering::Spread(fits) => Cow::Borrowed(&fits.covered().order),
            Covering::Told(tuples) => {
                let first = |&class: &u32| tuples.class(class as usize).first().map(|tuple| tuple.0);
                let classes = 0..tuples.offsets.len().saturating_sub(1) as u32;
                let mut order: Vec<u32> = classes.filter(|class| first(class).is_some()).collect();
                order.sort_by_key(first);
                Cow::Owned(order)
            }
        }
    }
}

/// How many persons of a population with each quasi tuple have which sensitive value.
///
/// The values have numbers of their own, so that a population is taken as it was counted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct People<'a> {
    /// By tuple, for each value at least one.
    groups: Cow<'a, Groups>,
    values: usize,
    /// The number of each value that the release knows, by its code there.
    numbers: Vec<Option<SensitiveId>>,
}

impl<'a> People<'a> {
    /// The people that were counted into `set` with one sensitive column, every entry at least one; `codes` says what
    /// the release calls its values.
    pub fn of(set: &'a FrequencySet, codes: &[u32]) -> Self {
        let mut numbers = vec![None; codes.iter().max().map_or(0, |&code| code as usize + 1)];
        for number in (0..set.sensitive_count() as u32).map(SensitiveId) {
            if let Some(&code) = codes.get(set.sensitive_code(number, 0) as usize) {
                numbers[code as usize] = Some(number);
            }
        }
        People { groups: Cow::Borrowed(&set.groups), values: set.sensitive_count(), numbers }
    }

    /// Where the people of a tuple stand among [`entries`](Self::entries).
    pub(in crate::attack) fn tuple(&self, tuple: u32) -> Range<usize> {
        let offset = |at: usize| self.groups.offsets.get(at).copied().unwrap_or(self.groups.entries.len());
        offset(tuple as usize)..offset(tuple as usize + 1)
    }

    /// How many people of which tuple have which value: of a tuple each value once.
    pub(in crate::attack) fn entries(&self) -> &[Entry] {
        &self.groups.entries
    }

    /// How many values there are.
    pub(in crate::attack) fn values(&self) -> usize {
        self.values
    }

    /// The number of a value that has this code in the release; none where it does not occur in the population.
    pub(in crate::attack) fn number(&self, code: u32) -> Option<SensitiveId> {
        self.numbers.get(code as usize).copied().flatten()
    }
}

impl From<&Population> for People<'_> {
    fn from(population: &Population) -> Self {
        let parts: Vec<u128> = population.histograms.iter().flatten().map(|c| c.1).collect();
        let mut weights = narrow(&parts).into_iter();
        let mut groups = Groups { offsets: vec![0], entries: Vec::new() };
        for histogram in &population.histograms {
            let counted = histogram.iter().zip(&mut weights);
            groups.entries.extend(counted.map(|(c, rows)| Entry { sensitive: SensitiveId(c.0), person: NOBODY, rows }));
            groups.offsets.push(groups.entries.len());
        }
        let values = groups.entries.iter().map(|e| e.sensitive.0 + 1).max().unwrap_or(0);
        let groups = Cow::Owned(groups.without_nobody());
        People { groups, values: values as usize, numbers: (0..values).map(|value| Some(SensitiveId(value))).collect() }
    }
}

/// Weights for attacks, which are in proportion only: these numbers, each divided by the least power of two with which
/// all of them together fit. Whatever is not 0 stays so.
pub fn narrow(parts: &[u128]) -> Vec<u64> {
    // One bit is kept free for those that are raised to 1.
    let sum = parts.iter().fold(0u128, |sum, &n| sum.saturating_add(n));
    let shift = (u128::BITS - sum.leading_zeros()).saturating_sub(u64::BITS - 1);
    parts.iter().map(|&n| ((n >> shift) as u64).max(u64::from(n > 0))).collect()
}

/// The original quasi tuples of each class.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tuples {
    offsets: Vec<usize>,
    tuples: Vec<(u32, u64)>,
}

impl Tuples {
    /// Collects (class, tuple, persons) for `classes` classes, adding up persons of the same class and tuple. What lies
    /// outside the classes is left out.
    pub fn collect(classes: usize, parts: Vec<(u32, u32, u64)>) -> Self {
        // Counting puts the tuples of a class side by side; only within a class is anything sorted.
        let inside = || parts.iter().filter(|p| (p.0 as usize) < classes);
        let mut offsets = vec![0usize; classes + 1];
        inside().for_each(|p| offsets[p.0 as usize + 1] += 1);
        (0..classes).for_each(|class| offsets[class + 1] += offsets[class]);
        let mut next = offsets.clone();
        let mut tuples = vec![(0u32, 0u64); offsets[classes]];
        for &(class, tuple, persons) in inside() {
            let at = &mut next[class as usize];
            tuples[*at] = (tuple, persons);
            *at += 1;
        }
        let mut kept = 0;
        for class in 0..classes {
            let (start, end) = (offsets[class], offsets[class + 1]);
            let own = &mut tuples[start..end];
            if !own.is_sorted_by_key(|t| t.0) {
                own.sort_unstable_by_key(|t| t.0);
            }
            // What stands here moves towards the front as equal tuples fall together.
            offsets[class] = kept;
            for at in start..end {
                let (tuple, persons) = tuples[at];
                if kept > offsets[class] && tuples[kept - 1].0 == tuple {
                    tuples[kept - 1].1 += persons;
                } else {
                    tuples[kept] = (tuple, persons);
                    kept += 1;
                }
            }
        }
        offsets[classes] = kept;
        tuples.truncate(kept);
        Tuples { offsets, tuples }
    }

    /// The table's own tuples in the classes of `recoding`. Rows count as persons.
    pub fn of(set: &FrequencySet, recoding: &Recoding) -> Self {
        let mut parts = Vec::new();
        recoding.for_each_part(set, |part| {
            if let Some(class) = part.class {
                parts.push((class.0, part.tuple.0, part.entry.rows));
            }
        });
        Self::collect(recoding.classes.len(), parts)
    }

    /// The (tuple, persons) of a class.
    pub fn class(&self, class: usize) -> &[(u32, u64)] {
        match (self.offsets.get(class), self.offsets.get(class + 1)) {
            (Some(&start), Some(&end)) => &self.tuples[start..end],
            _ => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hierarchy::{Hierarchy, Level};
    use crate::table::Column;

    #[test]
    fn a_hierarchy_says_what_its_labels_cover() {
        let column = Column::from_values("country", ["Canada", "USA", "India"]);
        let america = Level::by_key([true, false, true], |a| if a { "America".into() } else { "Asia".into() });
        let leaves = ["Canada", "India", "USA"].into_iter().collect();
        let hierarchy = Hierarchy { leaves, levels: vec![america, Level::top(3)] };
        let covers = Covers::of(&Generalization::bind(&column, Some(&hierarchy)).unwrap());
        assert_eq!(covers.get("America").unwrap().iter().collect::<Vec<_>>(), ["Canada", "USA"]);
        assert_eq!(covers.get("*").unwrap().len(), 3);
        assert_eq!(covers.get("Europe"), None);
    }

    #[test]
    fn weights_are_exact_while_they_fit_and_in_proportion_beyond() {
        assert_eq!(narrow(&[0, 3, 1 << 62]), [0, 3, 1 << 62]);
        let wide = [0, 1, 3 << 80, 1 << 80];
        let narrowed = narrow(&wide);
        assert_eq!((narrowed[0], narrowed[1], narrowed[2]), (0, 1, 3 * narrowed[3]));
        assert!(narrowed.iter().try_fold(0u64, |sum, &n| sum.checked_add(n)).is_some());
        assert_eq!(narrow(&[u128::MAX, u128::MAX]).len(), 2);
    }

    #[test]
    fn tuples_are_collected_by_class() {
        let tuples = Tuples::collect(4, vec![(2, 5, 1), (0, 7, 2), (2, 5, 3), (2, 4, 1), (9, 1, 1)]);
        assert_eq!(tuples.class(0), [(7, 2)]);
        assert_eq!(tuples.class(1), []);
        assert_eq!(tuples.class(2), [(4, 1), (5, 4)]);
        assert_eq!((tuples.class(3), tuples.class(4)), ([].as_slice(), [].as_slice()));
    }
}
