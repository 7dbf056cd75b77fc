//! The clustering algorithm of complete (α,k)-anonymity.
//!
//! **Source.** Survey §5.
//!
//! **Algorithm.** Rows that agree begin as classes of at most k. A class smaller than k is merged with its nearest
//! *compatible* class, again and again, until every class has between k and 2k − 1 rows. Compatible are classes with
//! (rule 1) |C₁| + |C₂| ≤ 2k − 1 and (rule 2), with n = max(k, |C₁ ∪ C₂|), count(x)/n ≤ αₓ for every sensitive value x.
//! Nearest is where the information loss grows least. Rows of a class without a compatible one join where the policy
//! still holds.
//!
//! **Departures.** The smallest classes do not go on until they are done but take turns, which keeps them compact. The
//! nearest class is found through a k-d tree instead of the published O(n²) scan (the option `exact` asks for it). For other models rule 2 says
//! nothing, and classes that fail the policy are dissolved at the end as in systematic clustering.
//!
//! Where rows cannot be placed by the rules the algorithm is run again as if the policy asked for more: larger k, and the
//! strictest stated share for every value, which keeps classes varied that rule 2 would let run into a dead end. The result
//! that loses least is kept, so that a weaker policy does not fare worse for being weaker.

use std::collections::VecDeque;

use super::clustering::{Clustering, EXACT, cluster_size};
use super::{Entry, RecodingKind, Search, SearchError};
use crate::local::build::place_rows::{Choice, PATIENCE, settle};
use crate::local::class::{Cluster, Tally, World, cluster};
use crate::local::index::Tree;
use crate::local::shape::least::{Least, clearly_above};

pub(super) const ENTRY: Entry = Entry {
    id: "alpha-k-clustering",
    title: "(α,k) clustering",
    definition: "merges classes smaller than k with their nearest compatible class until all have between k and 2k − 1 \
                 rows; compatible classes stay below 2k rows and within the bounds on every sensitive value. Where rows cannot \
                 be placed, stricter readings of the policy are tried too and the one that loses least is kept",
    citation: "survey §5",
    kind: RecodingKind::Local,
    options: &[EXACT],
    algorithm: &Clustering { id: "alpha-k-clustering", clusters },
};

/// How the policy is read.
#[derive(Debug, Clone, Copy)]
struct Reading {
    k: u64,
    /// Whether every value is held to the strictest share that is stated for any.
    strict: bool,
}

impl Reading {
    /// Rule 2.
    fn compatible(self, world: &World<'_>, tally: &Tally) -> bool {
        world.judge.compatible(tally, self.k) && (!self.strict || world.judge.varied(tally, self.k))
    }
}

/// Rows that agree, in classes of at most k that keep rule 2.
fn beginnings(world: &World<'_>, reading: Reading) -> Vec<Cluster> {
    let mut classes: Vec<Cluster> = Vec::new();
    for tuple in 0..world.set.len() {
        let (first, last) = (world.set.groups.offsets[tuple], world.set.groups.offsets[tuple + 1]);
        let mut left: Vec<(u32, u64)> = (first..last).map(|e| (e as u32, world.set.groups.entries[e].rows)).collect();
        let mut open: Option<Cluster> = None;
        // One of each value in turn, so that classes are as varied as the tuple allows.
        while !left.is_empty() {
            for part in &mut left {
                let step = if world.set.persons { part.1 } else { 1 };
                let fits = open.as_ref().is_some_and(|class: &Cluster| {
                    let mut tally = class.tally.clone();
                    world.judge.add(&mut tally, world.entry(part.0), step);
                    tally.rows <= reading.k && reading.compatible(world, &tally)
                });
                if !fits {
                    classes.extend(open.take());
                }
                world.add(open.get_or_insert_default(), part.0, step);
                part.1 -= step;
            }
            left.retain(|p| p.1 > 0);
        }
        classes.extend(open);
    }
    classes
}

/// The classes, settled. With `scan` every class is looked at.
pub(super) fn clusters(search: &Search<'_>, world: &World<'_>, scan: bool) -> Result<Vec<Cluster>, SearchError> {
    let k = cluster_size(search, world) as u64;
    let choice = Choice::by_growth(scan);
    let first = merged(search, world, Reading { k, strict: false }, scan)?;
    let placed = first.iter().all(|c| c.parts.is_empty() || world.holds(c));
    let mut best = settle(search, world, first, choice)?;
    if placed {
        return Ok(best);
    }
    let stricter = (0..3).flat_map(|more| [false, true].map(|strict| Reading { k: k + more, strict })).skip(1);
    // Where the rules say nothing about the policy, classes of k rows may hardly ever satisfy it.
    let doubled = (1..).map_while(|times| Some(Reading { k: k.checked_shl(times)?, strict: false }));
    for (tried, reading) in stricter.chain(doubled).enumerate() {
        if 2 * reading.k > world.set.rows || (tried >= 5 && best.len() > 1) {
            break;
        }
        let other = settle(search, world, merged(search, world, reading, scan)?, choice)?;
        if cluster::total(&other) < cluster::total(&best) {
            best = other;
        }
    }
    Ok(best)
}

/// The classes that the rules lead to.
fn merged(search: &Search<'_>, world: &World<'_>, reading: Reading, scan: bool) -> Result<Vec<Cluster>, SearchError> {
    let k = reading.k;
    let mut classes = beginnings(world, reading);
    let least = |c: &Cluster| Least { rows: c.tally.rows as f64, cost: c.cost };
    let shapes: Vec<u64> = classes.iter().flat_map(|c| &c.shape).copied().collect();
    let mut tree = Tree::of_shapes(world.space, &shapes, classes.iter().map(least).collect());
    (tree.scan, tree.patience) = (scan, PATIENCE);
    let mut small: VecDeque<usize> = (0..classes.len()).filter(|&c| classes[c].tally.rows < k).collect();
    while let Some(c) = small.pop_front() {
        search.checkpoint()?;
        if tree.removed(c as u32) || classes[c].tally.rows >= k {
            continue;
        }
        tree.remove(world.space, c as u32);
        let class = std::mem::take(&mut classes[c]);
        match nearest_compatible(world, &tree, &classes, &class, reading) {
            Some(other) => {
                for (entry, rows) in class.parts {
                    world.add(&mut classes[other], entry, rows);
                }
                if classes[other].tally.rows + 1 > 2 * k - 1 {
                    // Rule 1: nothing can join it any more.
                    tree.remove(world.space, other as u32);
                } else {
                    tree.grown(world.space, other as u32, &classes[other].shape, least(&classes[other]));
                }
                tree.renew(world.space);
                if classes[other].tally.rows < k {
                    small.push_back(other);
                }
            }
            // It stays as it is; if it fails the policy its rows are placed at the end.
            None => classes[c] = class,
        }
    }
    Ok(classes)
}

fn nearest_compatible(
    world: &World<'_>,
    tree: &Tree,
    classes: &[Cluster],
    class: &Cluster,
    reading: Reading,
) -> Option<usize> {
    let (space, rows) = (world.space, class.tally.rows);
    let mut best = f64::INFINITY;
    let found = tree.least(
        f64::INFINITY,
        // Both sides pay for what lies between them.
        |hull, least, _| {
            let (forth, back) = space.gains(&class.shape, hull);
            forth * rows as f64 + back * least.rows
        },
        |c, _, _| {
            let other = &classes[c as usize];
            let together = rows + other.tally.rows;
            if together > 2 * reading.k - 1 {
                return None;
            }
            let growth = space.cost_merged(&class.shape, &other.shape) * together as f64 - class.loss() - other.loss();
            if clearly_above(growth, best) {
                return None;
            }
            let mut tally = other.tally.clone();
            world.judge.merge(&mut tally, &class.tally);
            if !reading.compatible(world, &tally) {
                return None;
            }
            best = best.min(growth);
            Some(growth)
        },
    );
    found.map(|f| f.1 as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::local::fixture::Fixture;
    use crate::parameter::Parameters;

    #[test]
    fn every_class_satisfies_the_policy() {
        Fixture::trial("alpha-k-clustering", &Parameters::default());
    }

    #[test]
    fn the_index_changes_nothing() {
        Fixture::compare(|search, world, scan| clusters(search, world, scan).unwrap());
    }
}
