//! The difference attack on a table that is published again and again.
//!
//! **Assumes** that the adversary knows who is in which class of each version (from their quasi values and from when
//! they came and went), and that a person's sensitive value stays the same.
//!
//! **Succeeds** by subtracting: if class a of one version and class b of a later one share persons, then the counts of
//! b minus those of a are the values of b's other persons minus those of a's other persons. What comes out positive
//! must be had by the former, what comes out negative by the latter. A person inserted alone into a published class is
//! the plain case: the one count that grew is theirs. The same subtraction is done for the smallest unions of classes
//! that contain the same persons in both versions but for those who joined and those who left. A group is hit when one
//! value is sure for at least `threshold` of it, and surer than its own version tells.
//!
//! What is certain of some may be taken off other classes, from version to version: who is certain in the end is looked
//! for in the possible worlds (`worlds`) of all versions, and counts as hit, too.
//!
//! Counterfeit rows, which a version publishes as such, may account for some of a difference: as many as the class has
//! are taken off every count.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::{FxHashMap, FxHashSet};

use super::view::worst;
use super::{Attack, AttackError, Entry, Extra, Findings, Knowledge, Target, share_or};
use crate::exact::Rational;
use crate::parameter::{Kind, Parameter, Parameters};
use crate::worlds::{Compact, Effort, History, Version};

pub(super) const ENTRY: Entry = Entry {
    id: "difference",
    title: "difference attack",
    assumes: "who is in which class of each version of the release",
    definition: "what a class has more or less than a class of another version is known about those who differ, and \
                 what then is certain of them may be taken off further classes",
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
    let versions: Vec<Compact> = versions.iter().map(Compact::of).collect();
    let mut found = BTreeSet::new();
    for (number, a) in versions.iter().enumerate() {
        let earlier = Earlier::new(number, a);
        for (later, b) in versions.iter().enumerate().skip(number + 1) {
            found.append(&mut earlier.against(later, b, threshold));
        }
    }
    found.into_iter().collect()
}

/// A version from which later ones are subtracted.
#[derive(Debug)]
pub struct Earlier<'v> {
    number: usize,
    version: &'v Compact,
    class_of: FxHashMap<u32, u32>,
}

impl<'v> Earlier<'v> {
    /// The version with this number.
    pub fn new(number: usize, version: &'v Compact) -> Self {
        let classes = (0u32..).zip(0..version.len());
        let class_of = classes.flat_map(|(c, class)| version.persons(class).iter().map(move |&p| (p, c))).collect();
        Earlier { number, version, class_of }
    }

    /// What subtracting a later version reveals, to at least `threshold` of a group.
    pub fn against(&self, later: usize, b: &Compact, threshold: &Rational) -> BTreeSet<Revealed> {
        let a = self.version;
        let mut pair = Pair { earlier: self.number, later, threshold, found: BTreeSet::new() };
        let mut unions = Unions::new(a.len() + b.len());
        let mut met: Vec<u32> = Vec::new();
        for class in 0..b.len() {
            met.clear();
            met.extend(b.persons(class).iter().filter_map(|p| self.class_of.get(p)));
            met.sort_unstable();
            met.dedup();
            for &other in &met {
                unions.join(other as usize, a.len() + class);
                pair.compare(&Side::class(a, other as usize), &Side::class(b, class));
            }
        }
        let mut members: Vec<(usize, usize)> = (0..a.len() + b.len()).map(|at| (unions.root(at), at)).collect();
        members.sort_unstable();
        // Of one class on each side, the pair was compared already.
        for union in members.chunk_by(|x, y| x.0 == y.0).filter(|union| union.len() > 2) {
            let (old, new) = union.split_at(union.partition_point(|member| member.1 < a.len()));
            let (old, new) = (Sum::of(a, old, 0), Sum::of(b, new, a.len()));
            pair.compare(&old.side(), &new.side());
        }
        pair.found
    }
}

/// Two versions, and what was found in them.
struct Pair<'a> {
    earlier: usize,
    later: usize,
    threshold: &'a Rational,
    found: BTreeSet<Revealed>,
}

impl Pair<'_> {
    fn compare(&mut self, old: &Side<'_>, new: &Side<'_>) {
        let both = common(old.persons, new.persons);
        self.gained(old, new, new.persons.len() - both);
        self.gained(new, old, old.persons.len() - both);
    }

    /// What `whole` has more of than `other` belongs to the `size` persons of `whole` who are not in `other`.
    fn gained(&mut self, other: &Side<'_>, whole: &Side<'_>, size: usize) {
        if size == 0 || size == whole.persons.len() {
            return;
        }
        let (rows, counterfeits) = (whole.rows(), whole.counterfeits());
        let size = size as u64;
        let mut persons: Option<Vec<u32>> = None;
        let mut rest = other.counts;
        for &(value, n) in whole.counts {
            while let Some((_, after)) = rest.split_first().filter(|(first, _)| first.0 < value) {
                rest = after;
            }
            let had = rest.first().filter(|first| first.0 == value).map_or(0, |first| first.1);
            let count = n.saturating_sub(had).saturating_sub(counterfeits).min(size);
            let surer = u128::from(count) * u128::from(rows) > u128::from(n) * u128::from(size);
            if count > 0 && surer && self.threshold.compare_count(count, size).is_ge() {
                let persons = persons.get_or_insert_with(|| {
                    let own = whole.persons.iter().filter(|p| other.persons.binary_search(p).is_err());
                    own.copied().collect()
                });
                let (earlier, later, persons) = (self.earlier, self.later, persons.clone());
                self.found.insert(Revealed { earlier, later, persons, value, count });
            }
        }
    }
}

/// How many persons two ascending lists share.
fn common(a: &[u32], b: &[u32]) -> usize {
    let (few, many) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    if many.len() / 16 > few.len() {
        return few.iter().filter(|p| many.binary_search(p).is_ok()).count();
    }
    let mut rest = many;
    let mut shared = 0;
    for person in few {
        while let Some((_, after)) = rest.split_first().filter(|(first, _)| *first < person) {
            rest = after;
        }
        shared += usize::from(rest.first() == Some(person));
    }
    shared
}

/// Some classes of one version taken together.
struct Side<'s> {
    /// Ascending.
    persons: &'s [u32],
    /// By value.
    counts: &'s [(u32, u64)],
}

impl<'s> Side<'s> {
    fn class(version: &'s Compact, class: usize) -> Self {
        Side { persons: version.persons(class), counts: version.counts(class) }
    }

    fn rows(&self) -> u64 {
        self.counts.iter().map(|c| c.1).sum()
    }

    fn counterfeits(&self) -> u64 {
        self.rows().saturating_sub(self.persons.len() as u64)
    }
}

/// The sum of some classes.
struct Sum {
    persons: Vec<u32>,
    counts: Vec<(u32, u64)>,
}

impl Sum {
    /// The classes of `members`, whose numbers begin at `first`.
    fn of(version: &Compact, members: &[(usize, usize)], first: usize) -> Sum {
        let classes = || members.iter().map(|member| member.1 - first);
        let mut persons: Vec<u32> = classes().flat_map(|class| version.persons(class)).copied().collect();
        persons.sort_unstable();
        persons.dedup();
        let mut counts: BTreeMap<u32, u64> = BTreeMap::new();
        for &(value, n) in classes().flat_map(|class| version.counts(class)) {
            *counts.entry(value).or_insert(0) += n;
        }
        Sum { persons, counts: counts.into_iter().collect() }
    }

    fn side(&self) -> Side<'_> {
        Side { persons: &self.persons, counts: &self.counts }
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

/// Persons whose value follows from all versions together, although each of their classes leaves several open: what
/// comes out of one subtraction may be taken off another class, and so on. Where that takes too long, those whom it is
/// certain of may be more.
fn certain_of_all(versions: &[Version]) -> Vec<u32> {
    let mut history = History::default();
    versions.iter().for_each(|version| history.see(&Compact::of(version)));
    let mut certain: FxHashSet<u32> = FxHashSet::default();
    history.tell(&Effort::default(), |group| {
        let single = group.lives.iter().any(|told| told.exact() && told.values().len() == 1);
        if single && history.published(group.cohort).all(|values| values.count() > 1) {
            certain.insert(group.cohort);
        }
    });
    history.everybody().filter(|(_, cohort)| certain.contains(cohort)).map(|(person, _)| person).collect()
}

#[derive(Debug)]
struct Difference;

impl Attack for Difference {
    fn run(&self, _: &Target<'_>, extra: &Extra<'_>, parameters: &Parameters) -> Result<Findings, AttackError> {
        let threshold = share_or(parameters, "threshold", Rational::from(1))?;
        let versions = extra.versions.unwrap_or_default();
        let found = differences(versions, &threshold);
        let chained = certain_of_all(versions);
        let mut persons: BTreeSet<u32> = found.iter().flat_map(|r| r.persons.iter().copied()).collect();
        persons.extend(&chained);
        let newest = versions.last().map_or([].as_slice(), |v| v.classes.as_slice());
        let hit: Vec<(f64, u64, usize)> = newest
            .iter()
            .enumerate()
            .map(|(class, content)| (class, content.persons.iter().filter(|p| persons.contains(p)).count() as u64))
            .filter(|&(_, n)| n > 0)
            .map(|(class, n)| (n as f64, n, class))
            .collect();
        let certain = found.iter().filter(|r| r.count == r.persons.len() as u64);
        let mut certain: BTreeSet<u32> = certain.flat_map(|r| r.persons.iter().copied()).collect();
        certain.extend(&chained);
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
    use super::super::view::fixture::{Fixture, figure, version};
    use super::*;
    use crate::worlds::VersionClass;
    use proptest::prelude::*;

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
    fn what_is_certain_is_taken_off_further_classes() {
        // No pair of classes tells anything; 2 and 5 have 0 and 2, so 4 has 3, and 1, 3 and 6 follow.
        let versions = [
            version(&[(&[2, 5], &[(0, 1), (2, 1)]), (&[1, 3], &[(1, 1), (3, 1)]), (&[4, 6], &[(2, 1), (3, 1)])]),
            version(&[(&[2, 3, 4, 5], &[(0, 1), (1, 1), (2, 1), (3, 1)])]),
        ];
        let extra = Extra { versions: Some(&versions), ..Extra::default() };
        let findings = ENTRY.run(&Fixture::new(&[("a", "x")]).target(), &extra, &Parameters::default()).unwrap();
        assert_eq!((findings.persons, figure(&findings, "persons_certain")), (4, 4.0));
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

    /// What [`differences`] must find, in sets and maps, pair by pair of classes and of whatever hangs together.
    fn by_sets(a: &Version, b: &Version, threshold: &Rational) -> BTreeSet<(Vec<u32>, u32, u64)> {
        type Both<'v> = (Vec<&'v VersionClass>, Vec<&'v VersionClass>);
        let shares = |x: &VersionClass, y: &VersionClass| x.persons.iter().any(|p| y.persons.contains(p));
        let mut pairs: Vec<Both<'_>> = Vec::new();
        for x in &a.classes {
            pairs.extend(b.classes.iter().filter(|y| shares(x, y)).map(|y| (vec![x], vec![y])));
            let mut union: Both<'_> = (vec![x], Vec::new());
            loop {
                let before = union.0.len() + union.1.len();
                union.1 = b.classes.iter().filter(|y| union.0.iter().any(|x| shares(x, y))).collect();
                union.0 = a.classes.iter().filter(|o| *o == x || union.1.iter().any(|y| shares(o, y))).collect();
                if union.0.len() + union.1.len() == before {
                    break;
                }
            }
            pairs.push(union);
        }
        let mut found = BTreeSet::new();
        for (old, new) in pairs {
            for (whole, other) in [(&new, &old), (&old, &new)] {
                let persons = |side: &[&VersionClass]| -> BTreeSet<u32> {
                    side.iter().flat_map(|c| c.persons.iter().copied()).collect()
                };
                let counts = |side: &[&VersionClass]| {
                    let all = side.iter().flat_map(|c| c.histogram.iter().copied());
                    all.fold(BTreeMap::new(), |mut m, (v, n)| {
                        *m.entry(v).or_insert(0) += n;
                        m
                    })
                };
                let (all, had, held) = (persons(whole), persons(other), counts(whole));
                let own: Vec<u32> = all.difference(&had).copied().collect();
                let (size, rows) = (own.len() as u64, held.values().sum::<u64>());
                if own.is_empty() || own.len() == all.len() {
                    continue;
                }
                for (&value, &n) in &held {
                    let more = n.saturating_sub(counts(other).get(&value).copied().unwrap_or(0));
                    let count = more.saturating_sub(rows.saturating_sub(all.len() as u64)).min(size);
                    if count > 0 && threshold.compare_count(count, size).is_ge() && count * rows > n * size {
                        found.insert((own.clone(), value, count));
                    }
                }
            }
        }
        found
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
            let found = differences(&versions, &threshold).into_iter().map(|r| (r.persons, r.value, r.count)).collect();
            prop_assert_eq!(by_sets(&versions[0], &versions[1], &threshold), found);
        }
    }
}
