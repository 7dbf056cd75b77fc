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
//! nearest class is found through a k-d tree instead of the published O(n²) scan (the option `exact` asks for it). For
//! other models rule 2 says nothing, and classes that fail the policy are dissolved at the end as in systematic
//! clustering.
//!
//! The algorithm is run again as if the policy asked for more: larger k, and for every value the strictest stated
//! share, or a simple fraction below it. Rule 2 lets classes run into dead ends that a stricter policy avoids, and
//! greedy merging is sometimes lucky; the result that loses least is kept, so that a weaker policy does not fare worse
//! for being weaker. In tables of up to six hundred rows forty readings are tried, or until classes lose clearly more;
//! in larger ones fewer readings, and at least five where rows could not be placed by the rules.

use std::collections::VecDeque;

use super::clustering::{Clustering, EXACT, cluster_size};
use super::{Entry, RecodingKind, Search, SearchError};
use crate::exact::Rational;
use crate::local::build::place_rows::{Choice, PATIENCE, settle};
use crate::local::class::{Cluster, Judge, Tally, World, cluster};
use crate::local::index::Tree;
use crate::local::shape::least::{Least, clearly_above};

pub(super) const ENTRY: Entry = Entry {
    id: "alpha-k-clustering",
    title: "(α,k) clustering",
    definition: "merges classes smaller than k with their nearest compatible class until all have between k and 2k − 1 \
                 rows; compatible classes stay below 2k rows and within the bounds on every sensitive value. Stricter readings \
                 of the policy (larger k, smaller shares) are tried too, and the one that loses least is kept",
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

/// Rows that all readings together may look at, and the most readings.
const LOOKS: u64 = 24_000;
const READINGS: u64 = 40;

/// A size of classes is not raised any further once everything that it led to lost so many times as much as the best.
const FAR: f64 = 1.5;

/// Shares that readings hold every value to, beside those that a policy states.
const SHARES: [(u64, u64); 9] = [(4, 5), (3, 4), (2, 3), (3, 5), (1, 2), (2, 5), (1, 3), (1, 4), (1, 5)];

/// The classes, settled. With `scan` every class is looked at.
pub(super) fn clusters(search: &Search<'_>, world: &World<'_>, scan: bool) -> Result<Vec<Cluster>, SearchError> {
    let k = cluster_size(search, world) as u64;
    let choice = Choice::by_growth(scan);
    let first = merged(search, world, Reading { k, strict: false }, scan)?;
    let placed = first.iter().all(|c| c.parts.is_empty() || world.holds(c));
    let mut best = settle(search, world, first, choice)?;
    let mut left = (LOOKS / world.set.rows.max(1)).clamp(if placed { 0 } else { 5 }, READINGS);
    let mut keep = |found: Vec<Cluster>| {
        let loss = cluster::total(&found);
        if loss < cluster::total(&best) {
            best = found;
        }
        (loss, cluster::total(&best), best.len())
    };
    let strictest = world.judge.strictest_share();
    // Where rows found no place, rule 2 alone may keep classes varied, and the policy decides.
    if !placed && strictest.is_some() {
        keep(settle(search, world, merged(search, world, Reading { k, strict: true }, scan)?, choice)?);
    }
    let shares = shares(world, strictest);
    for size in k..=world.set.rows / 2 {
        let mut nearest = f64::INFINITY;
        for share in shares.iter().skip(usize::from(size == k)) {
            if left == 0 {
                break;
            }
            let Some(judge) = Judge::new(search)?.stricter(size, share.clone()) else { continue };
            let world = &World { judge: &judge, ..*world };
            let reading = Reading { k: size, strict: false };
            let (loss, least, _) = keep(settle(search, world, merged(search, world, reading, scan)?, choice)?);
            nearest = nearest.min(loss / least.max(f64::MIN_POSITIVE));
            left -= 1;
        }
        if left == 0 || (size > k && nearest > FAR) {
            break;
        }
    }
    // Where the rules say nothing about the policy, classes of k rows may hardly ever satisfy it.
    let mut size = 2 * k;
    while !placed && 2 * size <= world.set.rows {
        let reading = Reading { k: size, strict: false };
        let (.., classes) = keep(settle(search, world, merged(search, world, reading, scan)?, choice)?);
        if classes > 1 {
            break;
        }
        size *= 2;
    }
    Ok(best)
}

/// The shares that readings hold every value to: first none but the policy's own, then the strictest that it states,
/// then simple fractions below that, the larger first. Whoever states more or other bounds has the same fractions, so
/// that what one policy leads to a weaker one finds, too.
fn shares(world: &World<'_>, strictest: Option<Rational>) -> Vec<Option<Rational>> {
    let Some(strictest) = strictest else { return vec![None] };
    let below = SHARES.iter().map(|&(n, d)| Rational::ratio(n, d)).filter(|share| *share < strictest);
    let possible = |share: &Rational| {
        let whole = world.judge.tally(world.set.groups.entries.iter().copied());
        let most = whole.counts.iter().map(|c| c.1).max().unwrap_or(0);
        share.compare_count(most, whole.rows).is_le()
    };
    let below: Vec<Rational> = below.filter(possible).collect();
    [None, Some(strictest)].into_iter().chain(below.into_iter().map(Some)).collect()
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
    use crate::local::shape::Space;
    use crate::parameter::Parameters;

    #[test]
    fn every_class_satisfies_the_policy() {
        Fixture::trial("alpha-k-clustering", &Parameters::default());
    }

    /// A model and its parameters.
    type Stated = (&'static str, Vec<(&'static str, &'static str)>);

    /// Policies, each weaker than the one before it: every release that satisfies one satisfies those behind it.
    fn chains() -> Vec<Vec<Stated>> {
        let general = |alpha, k| ("general-alpha-k-anonymity", vec![("alpha", alpha), ("k", k)]);
        let simple = |alpha, k| ("simple-alpha-k-anonymity", vec![("alpha", alpha), ("value", "hiv"), ("k", k)]);
        let size = |k| ("k-anonymity", vec![("k", k)]);
        vec![
            vec![general("1/2", "5"), general("1/2", "4"), general("1/2", "3"), general("1/2", "2")],
            vec![
                general("1/3", "3"),
                general("2/5", "3"),
                general("1/2", "3"),
                general("2/3", "3"),
                simple("2/3", "3"),
            ],
            vec![general("2/5", "4"), simple("2/5", "4"), simple("2/5", "3"), simple("1/2", "3"), simple("1/2", "2")],
            vec![size("5"), size("4"), size("3"), size("2")],
        ]
    }

    #[test]
    fn a_weaker_policy_never_loses_more() {
        let mut compared = 0;
        for seed in 0..8 {
            let fixture = Fixture::random(seed, 40 + 15 * seed as usize, false);
            for chain in chains() {
                let mut before: Option<f64> = None;
                for (model, parameters) in chain {
                    let policy = [fixture.requirement(model, &parameters).unwrap()];
                    let loss = fixture.search(&policy, &Parameters::default(), |search| {
                        let judge = Judge::new(search)?;
                        let (space, tuple_of) = (Space::new(search.generalizations), search.set.tuple_of_entry());
                        let world = World { set: search.set, tuple_of: &tuple_of, space: &space, judge: &judge };
                        Ok::<f64, SearchError>(cluster::total(&clusters(search, &world, false)?))
                    });
                    let Ok(loss) = loss else { continue };
                    if let Some(before) = before {
                        compared += 1;
                        assert!(loss <= before + 1e-9, "seed {seed}, {model} {parameters:?}: {loss} after {before}");
                    }
                    before = Some(loss);
                }
            }
        }
        assert!(compared > 80, "{compared} pairs were compared");
    }

    #[test]
    fn the_index_changes_nothing() {
        Fixture::compare(|search, world, scan| clusters(search, world, scan).unwrap());
    }
}
