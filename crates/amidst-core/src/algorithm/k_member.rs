//! Greedy k-member clustering.
//!
//! **Source.** Byun, Kamra, Bertino, Li, *Efficient k-Anonymization Using Clustering Techniques*, DASFAA 2007.
//!
//! **Algorithm.** From a random row, the row farthest from it begins a class; the row with which the class's
//! information loss grows least joins it, until the class has k rows; the next class begins with the row farthest from
//! where the last one began. Fewer than k rows left over join the class where the loss grows least.
//!
//! **Departures.** For a policy beyond k-anonymity a class takes only rows with which it can still satisfy the policy,
//! and leaves a remainder that can (see `assembly`). Rows are found through a k-d tree instead of a scan: O(n log n)
//! queries where the published algorithm is O(n²). Up to some five hundred distinct rows the classes are the same;
//! beyond that the tree is content with the best of its most promising leaves, because proving which of many far
//! neighbours is nearest takes most of the time and gains next to nothing. The option `exact` asks for the scan.

use super::clustering::{Clustering, EXACT};
use super::{Entry, RecodingKind, Search, SearchError, systematic};
use crate::local::build::bucket_assembly::{self, Seeds};
use crate::local::class::{Cluster, World};
use crate::random::Random;

pub(super) const ENTRY: Entry = Entry {
    id: "k-member",
    title: "k-member clustering",
    definition: "builds one class after the other, each from the row farthest from the last class's first, adding the \
                 rows with which its information loss grows least",
    citation: "Byun, Kamra, Bertino & Li, DASFAA 2007",
    kind: RecodingKind::Local,
    options: &[EXACT],
    algorithm: &Clustering { id: "k-member", clusters },
};

/// The classes that k-member finds.
pub(super) fn clusters(search: &Search<'_>, world: &World<'_>, scan: bool) -> Result<Vec<Cluster>, SearchError> {
    let first = Random::new(search.seed).below(world.set.groups.entries.len());
    match bucket_assembly::clusters(search, world, Seeds::Furthest(first), scan)? {
        Some(clusters) => Ok(clusters),
        // Persons with several rows, or a policy that no small class satisfies: the clusters of the systematic method
        // are dissolved into each other until it holds.
        None => systematic::clusters(search, world, scan),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::local::fixture::Fixture;
    use crate::parameter::Parameters;

    #[test]
    fn every_class_satisfies_the_policy() {
        Fixture::trial("k-member", &Parameters::default());
    }

    #[test]
    fn the_index_changes_nothing() {
        Fixture::compare(|search, world, scan| clusters(search, world, scan).unwrap());
    }
}
