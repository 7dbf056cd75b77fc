//! One sensitive column of a published table, counted once for all attacks.
//!
//! Often many classes of a release look alike: the same histogram of few values. Attacks judge each look once.

use std::cmp::Reverse;
use std::hash::BuildHasher;

use hashbrown::HashTable;
use rayon::prelude::*;
use rustc_hash::FxBuildHasher;

use super::Published;
use crate::attack::Findings;
use crate::class::Histogram;
use crate::frequency::{self, NOBODY};
use crate::sensitive::SensitiveDomain;

/// How many of the worst classes findings name.
const WORST: usize = 10;

/// Classes that one task counts, or looks that it judges.
const CLASSES: usize = 1 << 12;

/// The look of an empty class.
const EMPTY: u32 = u32::MAX;

/// A sensitive column of a published table.
#[derive(Debug)]
pub struct Target<'a> {
    /// The table.
    pub published: Published<'a>,
    /// The sensitive column, by its position among the sensitive columns.
    pub column: usize,
    /// How many persons of the release have each value.
    pub histogram: Vec<(u32, u64)>,
    /// The persons of the release.
    pub size: u64,
    /// The histogram of each class, from where its entries begin.
    counts: Vec<(u32, u64)>,
    profiles: Vec<ClassProfile>,
    profile_of: Vec<u32>,
}

/// Classes that have the same size and the same histogram: all of them, or some where few look alike.
#[derive(Debug, Clone, Copy)]
pub struct ClassProfile {
    start: usize,
    end: usize,
    /// The persons of each of these classes.
    pub size: u64,
    /// How many classes look like this.
    pub classes: u64,
    /// The rows of all these classes together.
    pub rows: u64,
}

impl<'a> Target<'a> {
    /// Counts a sensitive column of `published`.
    pub fn new(published: Published<'a>, column: usize) -> Self {
        let classes = published.classes;
        // A histogram is no longer than what it was counted from, so every class has a place of its own.
        let mut counts = vec![(0u32, 0u64); classes.entries.len()];
        let mut left = counts.as_mut_slice();
        let mut tasks = Vec::new();
        for first in (0..classes.len()).step_by(CLASSES) {
            let task = first..(first + CLASSES).min(classes.len());
            let (own, others) = left.split_at_mut(classes.offsets[task.end] - classes.offsets[first]);
            tasks.push((task, own));
            left = others;
        }
        let counted: Vec<Vec<Counted>> = tasks
            .into_par_iter()
            .map(|(task, places)| {
                let (first, mut scratch) = (classes.offsets[task.start], Scratch::default());
                let place = |class: usize| classes.offsets[class] - first..classes.offsets[class + 1] - first;
                task.map(|class| scratch.count(&published, column, class, &mut places[place(class)])).collect()
            })
            .collect();
        let everyone = || counted.iter().flatten().map(|class| class.rows).sum();
        let mut target = Target {
            published,
            column,
            histogram: Vec::new(),
            size: if published.set.persons { frequency::size(&classes.entries) } else { everyone() },
            counts,
            profiles: Vec::with_capacity(CLASSES),
            profile_of: Vec::with_capacity(classes.len()),
        };
        // Where the first classes have little in common, looking for others that look alike is not worth the while.
        let (mut index, mut alike) = (HashTable::new(), true);
        for (class, counted) in counted.iter().flatten().enumerate() {
            if class == CLASSES {
                alike = target.profiles.len() < CLASSES / 2;
            }
            let profile = match counted.values {
                0 => EMPTY,
                _ if alike => target.look_alike(&mut index, class, counted),
                _ => target.profile(class, counted),
            };
            target.profile_of.push(profile);
            if let Some(profile) = target.profiles.get_mut(profile as usize) {
                profile.classes += 1;
                profile.rows += counted.rows;
            }
        }
        target.histogram = target.total();
        target
    }

    /// The look of a class that has just been counted, in case another has it.
    fn look_alike(&mut self, index: &mut HashTable<u32>, class: usize, counted: &Counted) -> u32 {
        let (counts, profiles) = (&self.counts, &self.profiles);
        let hash_of = |size: u64, histogram: &Histogram| FxBuildHasher.hash_one((size, histogram));
        let start = self.published.classes.offsets[class];
        let own = &counts[start..start + counted.values];
        let hash = hash_of(counted.size, own);
        let same = |&profile: &u32| {
            let profile = &profiles[profile as usize];
            profile.size == counted.size && counts[profile.start..profile.end] == *own
        };
        if let Some(&known) = index.find(hash, same) {
            return known;
        }
        let profile = self.profile(class, counted);
        let (counts, profiles) = (&self.counts, &self.profiles);
        index.insert_unique(hash, profile, |&profile| {
            let profile = &profiles[profile as usize];
            hash_of(profile.size, &counts[profile.start..profile.end])
        });
        profile
    }

    /// A new profile, that of a class that has just been counted.
    fn profile(&mut self, class: usize, counted: &Counted) -> u32 {
        let start = self.published.classes.offsets[class];
        self.profiles.push(ClassProfile {
            start,
            end: start + counted.values,
            size: counted.size,
            classes: 0,
            rows: 0,
        });
        self.profiles.len() as u32 - 1
    }

    fn total(&self) -> Vec<(u32, u64)> {
        if self.published.set.persons {
            return frequency::histogram(self.published.set, &self.published.classes.entries, self.column);
        }
        let mut counts: Vec<u64> = Vec::new();
        for profile in &self.profiles {
            for &(value, n) in &self.counts[profile.start..profile.end] {
                if counts.len() <= value as usize {
                    counts.resize(value as usize + 1, 0);
                }
                counts[value as usize] += n * profile.classes;
            }
        }
        (0u32..).zip(counts).filter(|c| c.1 > 0).collect()
    }

    /// What is known about the sensitive column itself.
    pub fn domain(&self) -> Option<&'a SensitiveDomain> {
        self.published.sensitive.get(self.column)
    }

    /// How many persons of the release have `value`.
    pub fn count(&self, value: u32) -> u64 {
        self.histogram.binary_search_by_key(&value, |c| c.0).map_or(0, |i| self.histogram[i].1)
    }

    /// The looks of the classes, with their histograms.
    #[cfg(test)]
    fn profiles(&self) -> impl Iterator<Item = (&ClassProfile, &Histogram)> {
        self.profiles.iter().map(|profile| (profile, &self.counts[profile.start..profile.end]))
    }

    /// The size and the histogram of a class; nothing for an empty one.
    pub fn class(&self, class: usize) -> (u64, &Histogram) {
        let profile = self.profile_of.get(class).and_then(|&l| self.profiles.get(l as usize));
        profile.map_or((0, &[]), |profile| (profile.size, &self.counts[profile.start..profile.end]))
    }

    /// The classes that `judge` calls hit, by saying how hard. What it notes by the way begins with `nothing` for every
    /// few profiles, and is put together by `join`.
    pub fn hits<N: Clone + Send + Sync>(
        &self,
        nothing: N,
        judge: impl Fn(&ClassProfile, &Histogram, &mut N) -> Option<f64> + Sync,
        join: impl Fn(&mut N, N),
    ) -> (Findings, N) {
        let judged: Vec<(Vec<Option<f64>>, N)> = self
            .profiles
            .par_chunks(CLASSES)
            .map(|profiles| {
                let mut notes = nothing.clone();
                let judge =
                    |profile: &ClassProfile| judge(profile, &self.counts[profile.start..profile.end], &mut notes);
                (profiles.iter().map(judge).collect(), notes)
            })
            .collect();
        let (mut severities, mut notes) = (Vec::with_capacity(self.profiles.len()), nothing);
        for (more, noted) in judged {
            severities.extend(more);
            join(&mut notes, noted);
        }
        let mut findings = Findings::default();
        for (profile, _) in self.profiles.iter().zip(&severities).filter(|(_, s)| s.is_some()) {
            findings.classes += profile.classes;
            findings.rows += profile.rows;
            findings.persons += profile.classes * profile.size;
        }
        if findings.classes > 0 {
            let hit = |&l: &u32| Some((severities.get(l as usize).copied().flatten()?, self.profiles[l as usize].size));
            let classes = self.profile_of.iter().enumerate();
            findings.worst =
                worst(classes.filter_map(|(class, profile)| hit(profile).map(|(s, size)| (s, size, class))));
        }
        (findings, notes)
    }
}

/// A class that was counted.
struct Counted {
    size: u64,
    rows: u64,
    /// How many values its histogram has.
    values: usize,
}

/// Room to count classes in.
#[derive(Default)]
struct Scratch {
    /// (value, person, rows).
    entries: Vec<(u32, u32, u64)>,
    persons: Vec<u32>,
}

impl Scratch {
    /// Counts a class, and writes its histogram to the front of `places`.
    fn count(&mut self, published: &Published<'_>, column: usize, class: usize, places: &mut [(u32, u64)]) -> Counted {
        let (set, entries) = (published.set, published.classes.get(class));
        let rows = frequency::rows(entries);
        let nobody_twice = entries.first().is_none_or(|e| e.person == NOBODY);
        let value = |e: &frequency::Entry| set.sensitive_code(e.sensitive, column);
        places.iter_mut().zip(entries).for_each(|(place, entry)| *place = (value(entry), entry.rows));
        let (mut size, mut values) = (rows, entries.len());
        // As a rule everyone counts once, and the values stand in order.
        if !nobody_twice || !places.is_sorted_by(|a, b| a.0 < b.0) {
            self.entries.clear();
            self.entries.extend(entries.iter().map(|e| (value(e), e.person, e.rows)));
            self.entries.sort_unstable();
            if !nobody_twice {
                // A person counts once in the class, and once for each value.
                self.entries.dedup_by_key(|&mut (value, person, _)| (value, person));
                self.entries.iter_mut().for_each(|s| s.2 = 1);
                self.persons.clear();
                self.persons.extend(self.entries.iter().map(|s| s.1));
                self.persons.sort_unstable();
                self.persons.dedup();
                size = self.persons.len() as u64;
            }
            values = 0;
            for (run, place) in self.entries.chunk_by(|a, b| a.0 == b.0).zip(&mut *places) {
                *place = (run[0].0, run.iter().map(|s| s.2).sum());
                values += 1;
            }
        }
        Counted { size, rows, values }
    }
}

/// The classes hit hardest among (severity, size, class): the larger class first where two are hit as hard.
pub(in crate::attack) fn worst(hits: impl Iterator<Item = (f64, u64, usize)>) -> Vec<usize> {
    let mut kept: Vec<(f64, u64, usize)> = Vec::new();
    let order = |a: &(f64, u64, usize), b: &(f64, u64, usize)| {
        b.0.total_cmp(&a.0).then_with(|| (Reverse(a.1), a.2).cmp(&(Reverse(b.1), b.2)))
    };
    for hit in hits {
        if kept.len() < WORST || kept.last().is_some_and(|last| order(&hit, last).is_lt()) {
            let at = kept.partition_point(|k| order(k, &hit).is_le());
            kept.insert(at, hit);
            kept.truncate(WORST);
        }
    }
    kept.into_iter().map(|(_, _, class)| class).collect()
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{Fixture, INPATIENTS};
    use super::*;
    use crate::table::Column;
    use proptest::prelude::*;

    #[test]
    fn classes_that_look_alike_are_one_look() {
        let fixture = Fixture::new(&[("a", "x"), ("b", "x"), ("c", "y"), ("d", "x"), ("d", "x")]);
        let target = fixture.target();
        let profiles: Vec<(u64, u64, u64)> = target.profiles().map(|(l, _)| (l.size, l.classes, l.rows)).collect();
        assert_eq!(profiles, [(1, 2, 2), (1, 1, 1), (2, 1, 2)]);
        assert_eq!((target.size, target.histogram.as_slice()), (5, [(0, 4), (1, 1)].as_slice()));
    }

    #[test]
    fn what_looks_alike_only_at_last_is_counted_as_well() {
        // Classes that all look different, and then some that all look alike.
        let names: Vec<String> = (0..2 * CLASSES).map(|n| format!("{n:05}")).collect();
        let value = |n: usize| if n < CLASSES { names[n].as_str() } else { "x" };
        let rows: Vec<(&str, &str)> = names.iter().enumerate().map(|(n, name)| (name.as_str(), value(n))).collect();
        let fixture = Fixture::new(&rows);
        let target = fixture.target();
        assert_eq!(target.profiles().map(|(l, _)| l.classes).sum::<u64>(), 2 * CLASSES as u64);
        assert_eq!(target.histogram.len(), CLASSES + 1);
        assert!((0..2 * CLASSES).all(|c| target.class(c) == (1, &[(fixture.code(value(c)), 1)])));
    }

    #[test]
    fn a_person_with_two_rows_counts_once() {
        let column = |name: &str, values: [&str; 3]| Column::from_values(name, values);
        let fixture = Fixture::of(
            vec![column("q", ["a", "a", "a"])],
            column("d", ["flu", "flu", "hiv"]),
            Some(column("id", ["p", "p", "p"])),
        );
        let target = fixture.target();
        assert_eq!(target.class(0), (1, [(0, 1), (1, 1)].as_slice()));
        assert_eq!(target.profiles().next().unwrap().0.rows, 3);
    }

    #[test]
    fn the_worst_classes_come_first() {
        let target = Fixture::new(&INPATIENTS);
        let (findings, ()) = target.target().hits((), |_, h, _| Some(h.iter().map(|c| c.1).max()? as f64), |_, _| {});
        assert_eq!((findings.worst, findings.rows), (vec![2, 0, 1], 12));
    }

    proptest! {
        #[test]
        fn looks_add_up_to_the_histograms_of_the_classes(rows in prop::collection::vec((0u8..6, 0u8..4, 0u8..9), 1..60), keyed: bool) {
            let text = |pick: fn(&(u8, u8, u8)) -> u8| rows.iter().map(|r| pick(r).to_string()).collect::<Vec<_>>();
            let column = |name: &str, values: Vec<String>| Column::from_values(name, values.iter().map(String::as_str));
            let fixture = Fixture::of(
                vec![column("q", text(|r| r.0))],
                column("s", text(|r| r.1)),
                keyed.then(|| column("id", text(|r| r.2))),
            );
            let target = fixture.target();
            for (class, entries) in fixture.set.groups.iter().enumerate() {
                let (size, histogram) = target.class(class);
                prop_assert_eq!(size, frequency::size(entries));
                prop_assert_eq!(histogram.to_vec(), frequency::histogram(&fixture.set, entries, 0));
            }
            prop_assert_eq!(target.profiles().map(|(l, _)| l.rows).sum::<u64>(), rows.len() as u64);
            let all = &fixture.set.groups.entries;
            prop_assert_eq!(&target.histogram, &frequency::histogram(&fixture.set, all, 0));
        }
    }
}
