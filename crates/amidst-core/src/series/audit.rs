//! The cross-release audit: what all versions published so far reveal together.
//!
//! Two adversaries, both of whom know who is in which class of every version: one intersects the candidate values of a
//! person over the versions, the other subtracts the classes of two versions from each other, so that what joined and
//! what left stands out. Neither looks at how the versions were made.
//!
//! **Cost.** At most two versions are held at a time, and for every person the number of a set of candidate values, so
//! the memory does not grow with the number of versions. Every version is asked for once for each that is older.

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;

use super::narrowing::Narrowing;
use crate::attack::difference::{Earlier, Revealed};
use crate::attack::{Compact, Version};
use crate::exact::Rational;

/// How many of the worst cases are told.
const WORST: usize = 10;

/// Why somebody is exposed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exposure {
    /// The person.
    pub person: u32,
    /// The values that are still possible.
    pub candidates: Vec<u32>,
    /// How few values the weakest version by itself leaves.
    pub alone: usize,
}

/// What the versions of one sensitive column reveal together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Audit {
    /// Versions looked at.
    pub versions: usize,
    /// Persons who are in any of them.
    pub persons: usize,
    /// Persons about whom all versions together leave fewer values than each by itself.
    pub narrowed: usize,
    /// The fewest values that are left for anybody.
    pub fewest: Option<usize>,
    /// Persons for whom no value is left, because theirs changed.
    pub contradicted: usize,
    /// Persons who are left with fewer values than the policy promises, because of several versions.
    pub exposed: usize,
    /// Some of them, the worst first.
    pub exposures: Vec<Exposure>,
    /// Groups of persons whose values follow for certain from subtracting two versions.
    pub differences: usize,
    /// Some of them, the oldest first.
    pub revealed: Vec<Revealed>,
    /// Persons in such groups.
    pub certain: usize,
}

impl Audit {
    /// Whether publishing these versions side by side reveals more than each of them.
    pub fn condemns(&self) -> bool {
        self.exposed > 0 || self.differences > 0
    }
}

/// Audits versions, the oldest first. A person is exposed who is left with fewer than `promised` values (at least two)
/// although each version by itself leaves more than all together.
pub fn audit(versions: &[Version], promised: usize) -> Audit {
    let load = |number: usize| Ok::<_, std::convert::Infallible>(Compact::of(&versions[number]));
    match audit_each(versions.len(), load, promised) {
        Ok(audit) => audit,
        Err(never) => match never {},
    }
}

/// As [`audit()`], for versions that are loaded by their number, from 0, when they are needed.
///
/// # Errors
/// When one cannot be loaded.
pub fn audit_each<E>(
    versions: usize,
    mut load: impl FnMut(usize) -> Result<Compact, E>,
    promised: usize,
) -> Result<Audit, E> {
    let mut audit = Audit { versions, ..Audit::default() };
    let mut narrowing = Narrowing::default();
    let mut certain: FxHashSet<u32> = FxHashSet::default();
    let mut first: BTreeSet<Revealed> = BTreeSet::new();
    for number in 0..versions {
        let version = load(number)?;
        narrowing.see(&version);
        let earlier = Earlier::new(number, &version);
        for later in number + 1..versions {
            let mut found = earlier.against(later, &load(later)?, &Rational::from(1));
            audit.differences += found.len();
            certain.extend(found.iter().flat_map(|r| &r.persons));
            first.append(&mut found);
            while first.len() > WORST {
                first.pop_last();
            }
        }
    }
    audit.certain = certain.len();
    audit.revealed = first.into_iter().collect();
    tell(&narrowing, promised.max(2), &mut audit);
    Ok(audit)
}

/// What is left for everybody.
fn tell(narrowing: &Narrowing, promised: usize, audit: &mut Audit) {
    // By what is left, then by person: the worst are the first.
    let mut worst: BTreeSet<(usize, u32, u32)> = BTreeSet::new();
    for (person, set, candidates) in narrowing.everybody() {
        audit.persons += 1;
        let left = candidates.values.len();
        if left == 0 {
            audit.contradicted += 1;
            continue;
        }
        audit.fewest = Some(audit.fewest.map_or(left, |fewest| fewest.min(left)));
        if left < candidates.fewest {
            audit.narrowed += 1;
            if left < promised {
                audit.exposed += 1;
                worst.insert((left, person, set));
                if worst.len() > WORST {
                    worst.pop_last();
                }
            }
        }
    }
    let exposure = |(_, person, set): (usize, u32, u32)| {
        let candidates = narrowing.set(set);
        Exposure { person, candidates: candidates.values.to_vec(), alone: candidates.fewest }
    };
    audit.exposures = worst.into_iter().map(exposure).collect();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attack::VersionClass;
    use crate::attack::difference::differences;
    use crate::attack::intersection::candidates;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn one_version_at_a_time_is_as_good_as_all_at_once(
            people in prop::collection::vec((0u32..5, prop::collection::vec(0usize..5, 4)), 1..25),
            promised in 1usize..4,
        ) {
            // A value, and a class in each of four versions; class 4 is not being there.
            let publish = |version: usize| {
                let mut classes = vec![VersionClass::default(); 4];
                for (person, (value, places)) in (0u32..).zip(&people) {
                    if let Some(class) = classes.get_mut(places[version]) {
                        // Numbers need not be dense.
                        class.persons.push(person * 1_000_000);
                        class.histogram.push((*value, 1));
                    }
                }
                Version { classes }
            };
            let versions: Vec<Version> = (0..4).map(publish).collect();
            let found = audit(&versions, promised);
            let everyone = candidates(&versions);
            let revealed = differences(&versions, &Rational::from(1));
            prop_assert_eq!(found.persons, everyone.len());
            let narrowed = |c: &&crate::attack::intersection::Candidates| !c.values.is_empty() && c.values.len() < c.fewest;
            prop_assert_eq!(found.narrowed, everyone.iter().filter(narrowed).count());
            prop_assert_eq!(found.contradicted, everyone.iter().filter(|c| c.values.is_empty()).count());
            let mut exposed: Vec<Exposure> = everyone
                .iter()
                .filter(narrowed)
                .filter(|c| c.values.len() < promised.max(2))
                .map(|c| Exposure { person: c.person, candidates: c.values.to_vec(), alone: c.fewest })
                .collect();
            exposed.sort_by_key(|e| (e.candidates.len(), e.person));
            prop_assert_eq!(found.exposed, exposed.len());
            exposed.truncate(WORST);
            prop_assert_eq!(&found.exposures, &exposed);
            prop_assert_eq!(found.differences, revealed.len());
            let certain: BTreeSet<u32> = revealed.iter().flat_map(|r| r.persons.iter().copied()).collect();
            prop_assert_eq!(found.certain, certain.len());
            prop_assert_eq!(&found.revealed[..], &revealed[..revealed.len().min(WORST)]);
        }
    }
}
