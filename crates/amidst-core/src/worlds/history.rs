//! What an adversary has seen: who was together with whom in each version, and what was published about them.
//!
//! Persons who were in the same class in every version are one cohort: nothing tells them apart. A version refines the
//! cohorts, so each is kept as the cohort it was before and the class it went through since; a class that comes again
//! with the same persons, or some of them, and the same values tells nothing new and is not kept twice. Memory grows
//! with what changes, not with the number of versions.
//!
//! **Values that stand for others.** Columns that are published as they are stand beside the sensitive ones, and a
//! person who keeps the one keeps the other. So a value may be finer than what is asked about: [`History::stand_for`]
//! says which value each of them stands for. Worlds are worlds of the fine values; answers are about the values that
//! they stand for.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::worlds::Compact;

/// The number of a cohort in its history.
pub type Cohort = u32;

const NONE: u32 = u32::MAX;

/// A cohort: the one it was before its last class, and how many are in it now.
#[derive(Debug, Clone, Copy)]
struct Link {
    before: Cohort,
    class: u32,
    members: u32,
}

/// A class of one version, or the same class of several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SeenClass {
    /// The version in which it was first published, from 0, and its number there.
    pub version: u32,
    /// Its number among the classes of that version.
    pub number: u32,
    /// The last version in which it was published.
    pub last: u32,
    /// The persons in it.
    pub persons: u32,
    /// The rows it publishes.
    pub rows: u64,
    /// Where its counts begin.
    start: usize,
}

/// Everything published so far, the oldest version first.
#[derive(Debug, Clone, Default)]
pub struct History {
    versions: u32,
    cohort_of: FxHashMap<u32, Cohort>,
    /// The last version that each person is in.
    last_of: FxHashMap<u32, u32>,
    cohorts: Vec<Link>,
    classes: Vec<SeenClass>,
    /// Values with their counts, class by class.
    counts: Vec<(u32, u32)>,
    /// The values of each version as a whole.
    tables: Vec<Vec<(u32, u64)>>,
    /// What each value stands for; those beyond stand for themselves.
    stands_for: Vec<u32>,
    /// Persons who keep what their value stands for and not the value.
    excluded: FxHashSet<u32>,
    /// Values that persons really have, as far as the owner still knows them.
    truth: FxHashMap<u32, u32>,
}

impl History {
    /// Says what each value stands for, by value; to be said before a version with such values is seen. It may be said
    /// again with more values, and never otherwise.
    pub fn stand_for(&mut self, values: Vec<u32>) {
        self.stands_for = values;
    }

    /// What a value stands for.
    pub(super) fn meant(&self, value: u32) -> u32 {
        self.stands_for.get(value as usize).copied().unwrap_or(value)
    }

    /// Whether values stand for others.
    pub(super) fn is_finer(&self) -> bool {
        !self.stands_for.is_empty()
    }

    /// Says that somebody kept what their value stands for while the value changed. No world has room for that, so
    /// nothing is proven about those whom they have to do with.
    pub fn exclude(&mut self, person: u32) {
        self.excluded.insert(person);
    }

    /// Tells the value that somebody really has. Nothing is concluded from it: where a world must be found, it is
    /// looked for where one is, and whatever is found is held against the versions.
    pub fn know(&mut self, person: u32, value: u32) {
        self.truth.insert(person, value);
    }

    /// How many of each cohort really have each value, of those of whose persons all are known.
    pub(super) fn known_cohorts(&self) -> FxHashMap<Cohort, Vec<u32>> {
        let mut known: FxHashMap<Cohort, Vec<u32>> = FxHashMap::default();
        for (person, &value) in &self.truth {
            if let Some(&cohort) = self.cohort_of.get(person) {
                known.entry(cohort).or_default().push(value);
            }
        }
        known.retain(|&cohort, values| values.len() == self.cohorts[cohort as usize].members as usize);
        known
    }

    /// The cohorts of those who were [excluded](History::exclude).
    pub(super) fn excluded(&self) -> impl Iterator<Item = Cohort> + '_ {
        self.excluded.iter().filter_map(|person| self.cohort_of.get(person).copied())
    }

    /// Sees one more version.
    pub fn see(&mut self, version: &Compact) {
        let mut table: FxHashMap<u32, u64> = FxHashMap::default();
        // What the class makes of each cohort that comes to it.
        let mut made: FxHashMap<Cohort, Cohort> = FxHashMap::default();
        for class in 0..version.len() {
            let (persons, counts) = (version.persons(class), version.counts(class));
            self.last_of.extend(persons.iter().map(|&person| (person, self.versions)));
            counts.iter().for_each(|&(value, n)| *table.entry(self.meant(value)).or_insert(0) += n);
            if persons.is_empty() || self.implied(persons, counts) {
                continue;
            }
            let id = self.classes.len() as u32;
            self.keep(class as u32, persons.len() as u32, counts);
            made.clear();
            for &person in persons {
                let before = self.cohort_of.get(&person).copied().unwrap_or(NONE);
                let after = *made.entry(before).or_insert_with(|| {
                    self.cohorts.push(Link { before, class: id, members: 0 });
                    self.cohorts.len() as u32 - 1
                });
                if let Some(left) = self.cohorts.get_mut(before as usize) {
                    left.members -= 1;
                }
                self.cohorts[after as usize].members += 1;
                self.cohort_of.insert(person, after);
            }
        }
        let mut table: Vec<(u32, u64)> = table.into_iter().collect();
        table.sort_unstable();
        self.tables.push(table);
        self.versions += 1;
    }

    /// Whether a class tells nothing that is not known: its persons were last published in one class, which had the
    /// same values. A person of that class who is lacking now has one of the values all the same, which counterfeits
    /// publish; so every world that fits the class as it was fits it as it is.
    fn implied(&mut self, persons: &[u32], counts: &[(u32, u64)]) -> bool {
        let Some(class) = persons.first().and_then(|&person| self.last_class(person)) else { return false };
        let known = self.classes[class as usize];
        if persons.len() as u32 > known.persons || known.version == self.versions {
            return false;
        }
        let same = counts.iter().filter(|c| c.1 > 0).map(|&(value, n)| (value, u64::from(short(n))));
        if !same.eq(self.counts(class).iter().map(|&(value, n)| (value, u64::from(n))))
            || !persons.iter().all(|&person| self.last_class(person) == Some(class))
        {
            return false;
        }
        self.classes[class as usize].last = self.versions;
        true
    }

    /// The class that last told something about a person: one that was published again since, with the same values and
    /// no person who was not in it, is the same.
    pub fn last_class(&self, person: u32) -> Option<u32> {
        self.cohort_of.get(&person).map(|&cohort| self.cohorts[cohort as usize].class)
    }

    fn keep(&mut self, number: u32, persons: u32, counts: &[(u32, u64)]) {
        let start = self.counts.len();
        let present = counts.iter().filter(|c| c.1 > 0);
        self.counts.extend(present.map(|&(value, n)| (value, short(n))));
        let rows = self.counts[start..].iter().map(|c| u64::from(c.1)).sum();
        let version = self.versions;
        self.classes.push(SeenClass { version, number, last: version, persons, rows, start });
    }

    /// The number of versions.
    pub fn versions(&self) -> usize {
        self.versions as usize
    }

    /// The number of persons in any of them.
    pub fn persons(&self) -> usize {
        self.cohort_of.len()
    }

    /// The last version that somebody is in.
    pub fn last_of(&self, person: u32) -> usize {
        self.last_of.get(&person).copied().unwrap_or(0) as usize
    }

    /// Everybody with their cohort, in no order.
    pub fn everybody(&self) -> impl Iterator<Item = (u32, Cohort)> + '_ {
        self.cohort_of.iter().map(|(&person, &cohort)| (person, cohort))
    }

    /// How often each value that is asked about was published in a version.
    pub fn table(&self, version: usize) -> &[(u32, u64)] {
        self.tables.get(version).map_or(&[], Vec::as_slice)
    }

    /// The cohorts that somebody is in.
    pub(super) fn inhabited(&self) -> impl Iterator<Item = (Cohort, u32)> + '_ {
        (0u32..).zip(&self.cohorts).filter(|(_, link)| link.members > 0).map(|(cohort, link)| (cohort, link.members))
    }

    /// The classes that a cohort went through, the oldest first.
    pub(super) fn path(&self, mut cohort: Cohort, path: &mut Vec<u32>) {
        path.clear();
        while let Some(link) = self.cohorts.get(cohort as usize) {
            path.push(link.class);
            cohort = link.before;
        }
        path.reverse();
    }

    pub(super) fn classes(&self) -> &[SeenClass] {
        &self.classes
    }

    /// The values of a class with their counts, by value.
    pub(super) fn counts(&self, class: u32) -> &[(u32, u32)] {
        let end = self.classes.get(class as usize + 1).map_or(self.counts.len(), |next| next.start);
        &self.counts[self.classes[class as usize].start..end]
    }
}

fn short(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
