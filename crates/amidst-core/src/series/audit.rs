//! The cross-release audit: what all versions published so far reveal together.
//!
//! Two adversaries, both of whom know who is in which class of every version: one intersects the candidate values of a
//! person over the versions, the other subtracts the classes of two versions from each other, so that what joined and
//! what left stands out. Neither looks at how the versions were made.

use std::collections::BTreeSet;

use crate::attack::Version;
use crate::attack::difference::{Revealed, differences};
use crate::attack::intersection::candidates;
use crate::exact::Rational;

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
    /// Persons who are left with fewer values than the policy promises, because of several versions; worst first.
    pub exposed: Vec<Exposure>,
    /// Groups of persons whose values follow for certain from subtracting two versions.
    pub revealed: Vec<Revealed>,
    /// Persons in such groups.
    pub certain: usize,
}

impl Audit {
    /// Whether publishing these versions side by side reveals more than each of them.
    pub fn condemns(&self) -> bool {
        !self.exposed.is_empty() || !self.revealed.is_empty()
    }
}

/// Audits versions, the oldest first. A person is exposed who is left with fewer than `promised` values (at least two)
/// although each version by itself leaves more than all together.
pub fn audit(versions: &[Version], promised: usize) -> Audit {
    let promised = promised.max(2);
    let everyone = candidates(versions);
    let mut audit = Audit { versions: versions.len(), persons: everyone.len(), ..Audit::default() };
    for person in &everyone {
        let left = person.values.len();
        if left == 0 {
            audit.contradicted += 1;
            continue;
        }
        audit.fewest = Some(audit.fewest.map_or(left, |fewest| fewest.min(left)));
        if left < person.fewest {
            audit.narrowed += 1;
            if left < promised {
                let candidates = person.values.to_vec();
                audit.exposed.push(Exposure { person: person.person, candidates, alone: person.fewest });
            }
        }
    }
    audit.exposed.sort_by_key(|e| (e.candidates.len(), e.person));
    audit.revealed = differences(versions, &Rational::from(1));
    let certain: BTreeSet<u32> = audit.revealed.iter().flat_map(|r| r.persons.iter().copied()).collect();
    audit.certain = certain.len();
    audit
}
