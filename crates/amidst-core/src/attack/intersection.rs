//! The intersection attack on a table that is published again and again.
//!
//! **Assumes** that the adversary knows a person's quasi values and in which versions the person is, so finds the class
//! of the person in each; and that the person's sensitive value stays the same.
//!
//! **Succeeds** for a person when the values that are published for all of these classes leave at most `values`
//! candidates, although each version by itself leaves more.
//!
//! **Does not see** what others have: that takes subtracting, which is the difference attack, and the audit of a
//! series.

use std::collections::BTreeSet;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::view::worst;
use super::{Attack, AttackError, Entry, Extra, Findings, Knowledge, Target};
use crate::parameter::{Kind, Parameter, Parameters};
use crate::worlds::Version;

pub(super) const ENTRY: Entry = Entry {
    id: "intersection",
    title: "intersection attack",
    assumes: "the quasi values of a person, and in which versions of the release the person is",
    definition: "the values that all of the person's classes have in common are fewer than any version leaves by itself",
    citation: "Xiao & Tao, SIGMOD 2007 (m-invariance); Byun et al., SDM 2006",
    needs: Knowledge::Versions,
    parameters: &[Parameter::optional(
        "values",
        Kind::Count,
        "how few candidate values count as a success; 1 when absent",
    )],
    attack: &Intersection,
};

/// What all versions together leave open about one person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidates {
    /// The person.
    pub person: u32,
    /// The values that all of the person's classes publish. None, when the person's value changed.
    pub values: Arc<[u32]>,
    /// The fewest values that one of the person's classes publishes.
    pub fewest: usize,
    /// The last version that the person is in, and the class there.
    pub last: (usize, usize),
}

/// The candidate values of every person in any of the versions, by person.
pub fn candidates(versions: &[Version]) -> Vec<Candidates> {
    let mut places: Vec<(u32, u32, u32)> = Vec::new();
    for (version, content) in (0u32..).zip(versions) {
        for (class, content) in (0u32..).zip(&content.classes) {
            places.extend(content.persons.iter().map(|&person| (person, version, class)));
        }
    }
    places.sort_unstable();
    places.dedup();
    // Persons who went through the same classes share their candidates.
    let mut known: FxHashMap<Vec<(u32, u32)>, Common> = FxHashMap::default();
    let mut path: Vec<(u32, u32)> = Vec::new();
    let mut found = Vec::new();
    for run in places.chunk_by(|a, b| a.0 == b.0) {
        path.clear();
        path.extend(run.iter().map(|p| (p.1, p.2)));
        let (values, fewest) = match known.get(&path) {
            Some(shared) => shared.clone(),
            None => known.entry(path.clone()).or_insert(intersect(versions, &path)).clone(),
        };
        let last = path.last().map_or((0, 0), |&(version, class)| (version as usize, class as usize));
        found.push(Candidates { person: run[0].0, values, fewest, last });
    }
    found
}

/// The values that classes have in common, and the fewest values of one of them.
type Common = (Arc<[u32]>, usize);

fn intersect(versions: &[Version], path: &[(u32, u32)]) -> Common {
    let mut common: Option<Vec<u32>> = None;
    let mut fewest = usize::MAX;
    for &(version, class) in path {
        let class = versions.get(version as usize).and_then(|v| v.classes.get(class as usize));
        let counts = class.map_or([].as_slice(), |c| c.histogram.as_slice());
        let mut values: Vec<u32> = counts.iter().filter(|c| c.1 > 0).map(|c| c.0).collect();
        values.sort_unstable();
        values.dedup();
        fewest = fewest.min(values.len());
        common = Some(match common {
            None => values,
            Some(kept) => kept.into_iter().filter(|v| values.binary_search(v).is_ok()).collect(),
        });
    }
    (common.unwrap_or_default().into(), if path.is_empty() { 0 } else { fewest })
}

#[derive(Debug)]
struct Intersection;

impl Attack for Intersection {
    fn run(&self, _: &Target<'_>, extra: &Extra<'_>, parameters: &Parameters) -> Result<Findings, AttackError> {
        let few = if parameters.get("values").is_some() { parameters.count("values")? } else { 1 };
        let versions = extra.versions.unwrap_or_default();
        let everyone = candidates(versions);
        let (mut narrowed, mut single, mut contradicted) = (0u64, 0u64, 0u64);
        let mut findings = Findings::default();
        let mut classes: BTreeSet<(usize, usize)> = BTreeSet::new();
        let mut hit: FxHashMap<usize, u64> = FxHashMap::default();
        for person in &everyone {
            let left = person.values.len();
            contradicted += u64::from(left == 0);
            single += u64::from(left == 1);
            narrowed += u64::from(left > 0 && left < person.fewest);
            if left > 0 && left < person.fewest && left as u64 <= few {
                findings.persons += 1;
                classes.insert(person.last);
                *hit.entry(person.last.1).or_insert(0) += u64::from(person.last.0 + 1 == versions.len());
            }
        }
        findings.rows = findings.persons;
        findings.classes = classes.len() as u64;
        // Only classes of the newest version have a position in the release at hand.
        let newest = classes.iter().filter(|place| place.0 + 1 == versions.len()).map(|place| place.1);
        let persons = |class: usize| hit.get(&class).copied().unwrap_or(0);
        findings.worst = worst(newest.map(|class| (persons(class) as f64, persons(class), class)));
        let figures = [
            ("persons_in_versions", everyone.len() as f64),
            ("persons_narrowed", narrowed as f64),
            ("persons_with_one_value", single as f64),
            ("persons_contradicted", contradicted as f64),
        ];
        findings.figures = figures.map(|(name, figure)| (name.to_string(), figure)).to_vec();
        Ok(findings)
    }
}

#[cfg(test)]
mod tests {
    use super::super::view::fixture::{Fixture, figure, version};
    use super::*;

    #[test]
    fn what_two_versions_have_in_common_is_left() {
        // Both versions are 2-diverse. Person 2 is in {0, 1} and then in {1, 2}: it can only be 1.
        let versions = [
            version(&[(&[1, 2], &[(0, 1), (1, 1)]), (&[3, 4], &[(0, 1), (2, 1)])]),
            version(&[(&[1, 4], &[(0, 1), (2, 1)]), (&[2, 5], &[(1, 1), (2, 1)])]),
        ];
        let found = candidates(&versions);
        let of = |person: u32| found.iter().find(|c| c.person == person).unwrap().values.to_vec();
        assert_eq!((of(1), of(2), of(3), of(4), of(5)), (vec![0], vec![1], vec![0, 2], vec![0, 2], vec![1, 2]));
        let fixture = Fixture::new(&[("a", "x")]);
        let extra = Extra { versions: Some(&versions), ..Extra::default() };
        let findings = ENTRY.run(&fixture.target(), &extra, &Parameters::default()).unwrap();
        assert_eq!((findings.persons, findings.classes, &findings.worst), (2, 2, &vec![0, 1]));
        assert_eq!(figure(&findings, "persons_narrowed"), 2.0);
    }

    #[test]
    fn constant_signatures_leave_nothing_to_intersect() {
        // m-invariance: a person who stays is with the same values again.
        let versions = [
            version(&[(&[1, 2], &[(0, 1), (1, 1)]), (&[3, 4], &[(2, 1), (3, 1)])]),
            version(&[(&[1, 5], &[(0, 1), (1, 1)]), (&[3, 6], &[(2, 1), (3, 1)])]),
        ];
        let extra = Extra { versions: Some(&versions), ..Extra::default() };
        let findings = ENTRY.run(&Fixture::new(&[("a", "x")]).target(), &extra, &Parameters::default()).unwrap();
        assert_eq!((findings.persons, figure(&findings, "persons_narrowed")), (0, 0.0));
    }

    #[test]
    fn one_version_is_not_enough() {
        let versions = [version(&[(&[1], &[(0, 1)])])];
        let extra = Extra { versions: Some(&versions), ..Extra::default() };
        let error = ENTRY.run(&Fixture::new(&[("a", "x")]).target(), &extra, &Parameters::default()).unwrap_err();
        assert!(error.to_string().contains("two or more versions"), "{error}");
        // Alone, a homogeneous class is the homogeneity attack's find, not this one's.
        assert_eq!(candidates(&versions)[0].values.len(), 1);
    }
}
