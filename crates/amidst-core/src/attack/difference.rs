//! The difference attack on a table that is published again and again.
//!
//! **Assumes** that the adversary knows who is in which class of each version (from their quasi values and from when they
//! came and went), and that a person's sensitive value stays the same.
//!
//! **Succeeds** by subtracting: if class a of one version and class b of a later one share persons, then the counts of b
//! minus those of a are the values of b's other persons minus those of a's other persons. What comes out positive must
//! be had by the former, what comes out negative by the latter. A person inserted alone into a published class is the
//! plain case: the one count that grew is theirs. The same subtraction is done for the smallest unions of classes that
//! nobody straddles, where only those who joined and those who left differ. A group is hit when one value is sure for at
//! least `threshold` of it, and surer than its own version tells.
//!
//! Counterfeit rows, which a version publishes as such, may account for some of a difference: as many as the class has
//! are taken off every count.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use super::view::worst;
use super::{Attack, AttackError, Entry, Extra, Findings, Knowledge, Target, Version, VersionClass, share_or};
use crate::exact::Rational;
use crate::parameter::{Kind, Parameter, Parameters};

pub(super) const ENTRY: Entry = Entry {
    id: "difference",
    title: "difference attack",
    assumes: "who is in which class of each version of the release",
    definition: "what a class has more or less than a class of another version is known about those who differ",
    citation: "Byun et al., SDM 2006; Fung et al., EDBT 2008",
    needs: Knowledge::Versions,
    parameters: &[Parameter::optional(
        "threshold",
        Kind::Number,
        "the share of a group that counts as known; 1 when absent",
    )],
    attack: &Difference,
};

/// Something that subtracting two versions reveals: at least `count` of `persons` have `value`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Revealed {
    /// The earlier version.
    pub earlier: usize,
    /// The later version.
    pub later: usize,
    /// The persons, ascending.
    pub persons: Vec<u32>,
    /// The value.
    pub value: u32,
    /// How many of the persons have it, at least.
    pub count: u64,
}

/// What subtracting each pair of versions reveals, to at least `threshold` of a group.
pub fn differences(versions: &[Version], threshold: &Rational) -> Vec<Revealed> {
    let mut found = BTreeSet::new();
    for (later, b) in versions.iter().enumerate() {
        for (earlier, a) in versions[..later].iter().enumerate() {
            let mut pair = Pair { earlier, later, threshold, found: &mut found };
            pair.subtract(a, b);
        }
    }
    found.into_iter().collect()
}

/// Two versions, and what was found in them.
struct Pair<'a> {
    earlier: usize,
    later: usize,
    threshold: &'a Rational,
    found: &'a mut BTreeSet<Revealed>,
}

impl Pair<'_> {
    fn subtract(&mut self, a: &Version, b: &Version) {
        let mut class_in_a: FxHashMap<u32, usize> = FxHashMap::default();
        for (class, content) in a.classes.iter().enumerate() {
            class_in_a.extend(content.persons.iter().map(|&person| (person, class)));
        }
        let mut unions = Unions::new(a.classes.len() + b.classes.len());
        for (class, content) in b.classes.iter().enumerate() {
            let met: BTreeSet<usize> = content.persons.iter().filter_map(|p| class_in_a.get(p)).copied().collect();
            for &other in &met {
                unions.join(other, a.classes.len() + class);
                self.compare(&Side::of([&a.classes[other]]), &Side::of([content]));
            }
        }
        let mut members: BTreeMap<usize, (Vec<&VersionClass>, Vec<&VersionClass>)> = BTreeMap::new();
        for (class, content) in a.classes.iter().enumerate() {
            members.entry(unions.root(class)).or_default().0.push(content);
        }
        for (class, content) in b.classes.iter().enumerate() {
            members.entry(unions.root(a.classes.len() + class)).or_default().1.push(content);
        }
        // Of one class on each side, the pair was compared already.
        for (old, new) in members.into_values().filter(|(old, new)| !old.is_empty() && old.len() + new.len() > 2) {
            self.compare(&Side::of(old), &Side::of(new));
        }
    }

    fn compare(&mut self, old: &Side, new: &Side) {
        self.gained(old, new);
        self.gained(new, old);
    }

    /// What `whole` has more of than `other` belongs to the persons of `whole` who are not in `other`.
    fn gained(&mut self, other: &Side, whole: &Side) {
        let persons: Vec<u32> =
            whole.persons.iter().filter(|p| other.persons.binary_search(p).is_err()).copied().collect();
        if persons.is_empty() || persons.len() == whole.persons.len() {
            return;
        }
        let size = persons.len() as u64;
        for (&value, &n) in &whole.counts {
            let more = n.saturating_sub(other.counts.get(&value).copied().unwrap_or(0));
            let count = more.saturating_sub(whole.counterfeits).min(size);
            let known = self.threshold.compare_count(count, size).is_ge();
            let surer = u128::from(count) * u128::from(whole.rows) > u128::from(n) * u128::from(size);
            if count > 0 && known && surer {
                let (earlier, later) = (self.earlier, self.later);
                self.found.insert(Revealed { earlier, later, persons: persons.clone(), value, count });
            }
        }
    }
}

/// Some classes of one version taken together.
struct Side {
    /// Ascending.
    persons: Vec<u32>,
    counts: BTreeMap<u32, u64>,
    rows: u64,
    counterfeits: u64,
}

impl Side {
    fn of<'c>(classes: impl IntoIterator<Item = &'c VersionClass>) -> Side {
        let mut side = Side { persons: Vec::new(), counts: BTreeMap::new(), rows: 0, counterfeits: 0 };
        for class in classes {
            side.persons.extend(&class.persons);
            for &(value, n) in &class.histogram {
                *side.counts.entry(value).or_insert(0) += n;
                side.rows += n;
            }
        }
        side.persons.sort_unstable();
        side.persons.dedup();
        side.counterfeits = side.rows.saturating_sub(side.persons.len() as u64);
        side
    }
}

/// Classes that share persons, directly or through others.
struct Unions {
    parent: Vec<usize>,
}

impl Unions {
    fn new(count: usize) -> Self {
        Unions { parent: (0..count).collect() }
    }

    fn root(&mut self, mut at: usize) -> usize {
        while self.parent[at] != at {
            self.parent[at] = self.parent[self.parent[at]];
            at = self.parent[at];
        }
        at
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.parent[a.max(b)] = a.min(b);
    }
}

#[derive(Debug)]
struct Difference;

impl Attack for Difference {
    fn run(&self, _: &Target<'_>, extra: &Extra<'_>, parameters: &Parameters) -> Result<Findings, AttackError> {
        let threshold = share_or(parameters, "threshold", Rational::from(1))?;
        let versions = extra.versions.unwrap_or_default();
        let found = differences(versions, &threshold);
        let persons: BTreeSet<u32> = found.iter().flat_map(|r| r.persons.iter().copied()).collect();
        let newest = versions.last().map_or([].as_slice(), |v| v.classes.as_slice());
        let hit: Vec<(f64, u64, usize)> = newest
            .iter()
            .enumerate()
            .map(|(class, content)| (class, content.persons.iter().filter(|p| persons.contains(p)).count() as u64))
            .filter(|&(_, n)| n > 0)
            .map(|(class, n)| (n as f64, n, class))
            .collect();
        let certain = found.iter().filter(|r| r.count == r.persons.len() as u64);
        let certain: BTreeSet<u32> = certain.flat_map(|r| r.persons.iter().copied()).collect();
        Ok(Findings {
            classes: hit.len() as u64,
            rows: persons.len() as u64,
            persons: persons.len() as u64,
            worst: worst(hit.into_iter()),
            figures: vec![
                ("persons_certain".to_string(), certain.len() as f64),
                ("differences".to_string(), found.len() as f64),
            ],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::view::fixture::{Fixture, figure};
    use super::*;
    use proptest::prelude::*;

    /// Persons and counts.
    type Class<'a> = (&'a [u32], &'a [(u32, u64)]);

    fn version(classes: &[Class<'_>]) -> Version {
        let class = |c: &Class<'_>| VersionClass { persons: c.0.to_vec(), histogram: c.1.to_vec() };
        Version { classes: classes.iter().map(class).collect() }
    }

    fn certain(versions: &[Version]) -> Vec<(Vec<u32>, u32)> {
        differences(versions, &Rational::from(1)).into_iter().map(|r| (r.persons, r.value)).collect()
    }

    #[test]
    fn a_row_inserted_alone_reveals_its_value() {
        let versions = [version(&[(&[1, 2], &[(0, 1), (1, 1)])]), version(&[(&[1, 2, 3], &[(0, 1), (1, 1), (2, 1)])])];
        assert_eq!(certain(&versions), [(vec![3], 2)]);
        // The other way round, a row deleted alone does too.
        assert_eq!(certain(&[versions[1].clone(), versions[0].clone()]), [(vec![3], 2)]);
        let extra = Extra { versions: Some(&versions), ..Extra::default() };
        let findings = ENTRY.run(&Fixture::new(&[("a", "x")]).target(), &extra, &Parameters::default()).unwrap();
        assert_eq!((findings.classes, findings.persons, findings.worst.clone()), (1, 1, vec![0]));
        assert_eq!(figure(&findings, "persons_certain"), 1.0);
    }

    #[test]
    fn a_split_is_seen_through_by_adding_up() {
        // The class of four is split in two and joined by person 5: neither half alone tells, both together do.
        let versions = [
            version(&[(&[1, 2, 3, 4], &[(0, 2), (1, 2)])]),
            version(&[(&[1, 2, 5], &[(0, 1), (1, 1), (2, 1)]), (&[3, 4], &[(0, 1), (1, 1)])]),
        ];
        assert!(certain(&versions).contains(&(vec![5], 2)));
    }

    #[test]
    fn a_counterfeit_may_be_the_difference() {
        let versions =
            [version(&[(&[1, 2], &[(0, 1), (1, 1)])]), version(&[(&[1, 2, 3], &[(0, 1), (1, 1), (2, 1), (3, 1)])])];
        assert_eq!(certain(&versions), []);
    }

    #[test]
    fn two_who_join_hide_each_other_unless_they_agree() {
        let join = |histogram: &[(u32, u64)]| {
            certain(&[version(&[(&[1, 2], &[(0, 1), (1, 1)])]), version(&[(&[1, 2, 3, 4], histogram)])])
        };
        assert_eq!(join(&[(0, 1), (1, 1), (2, 1), (3, 1)]), []);
        assert_eq!(join(&[(0, 1), (1, 1), (2, 2)]), [(vec![3, 4], 2)]);
    }

    proptest! {
        #[test]
        fn what_is_revealed_is_true(
            people in prop::collection::vec((0u32..4, 0usize..4, 0usize..4), 1..14),
            half: bool,
        ) {
            // (value, class in the first version, class in the second); class 3 is not being there.
            let publish = |class_of: &dyn Fn(&(u32, usize, usize)) -> usize| {
                let mut classes = vec![VersionClass::default(); 3];
                for (person, p) in (0u32..).zip(&people) {
                    if let Some(class) = classes.get_mut(class_of(p)) {
                        class.persons.push(person);
                        match class.histogram.iter_mut().find(|c| c.0 == p.0) {
                            Some(count) => count.1 += 1,
                            None => class.histogram.push((p.0, 1)),
                        }
                    }
                }
                Version { classes }
            };
            let versions = [publish(&|p| p.1), publish(&|p| p.2)];
            let threshold = if half { Rational::ratio(1, 2) } else { Rational::from(1) };
            for revealed in differences(&versions, &threshold) {
                let with = revealed.persons.iter().filter(|&&p| people[p as usize].0 == revealed.value).count();
                prop_assert!(with as u64 >= revealed.count);
            }
        }
    }
}
