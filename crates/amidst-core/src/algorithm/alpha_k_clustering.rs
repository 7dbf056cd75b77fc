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
//! greedy merging may do better from another start; the result that loses least is kept, so that a weaker policy does
//! not fare worse for being weaker. Readings are tried step by step for as long as they lose hardly more, up to forty
//! in tables of up to three thousand rows; in larger ones fewer, and at least five where rows could not be placed by
//! the rules. What loses more than the best on the way is given up.

use std::collections::VecDeque;

use super::clustering::{Clustering, EXACT, cluster_size};
use super::{Entry, RecodingKind, Search, SearchError};
use crate::exact::Rational;
use crate::local::build::place_rows::{Choice, PATIENCE, dissolve_failing};
use crate::local::class::{Cluster, Judge, Tally, World, cluster};
use crate::local::index::Tree;
use crate::local::shape::ShapeWord;
use crate::local::shape::minimum::{MinimumClass, clearly_above};

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
const LOOKS: u64 = 120_000;
const READINGS: u64 = 40;
/// Readings that are tried in a table of any size where rows could not be placed by the rules.
const FEWEST: u64 = 5;

/// A reading that lost this many times as much as the best leads no further. With few classes much is chance; with many
/// it evens out.
const FAR: f64 = 1.5;
const FAR_OF_MANY: f64 = 1.1;
const MANY: u64 = 600;

/// Shares that readings hold every value to, beside those that a policy states.
const SHARES: [(u64, u64); 9] = [(4, 5), (3, 4), (2, 3), (3, 5), (1, 2), (2, 5), (1, 3), (1, 4), (1, 5)];

/// The classes, all of which hold. With `scan` every class is looked at.
pub(super) fn clusters(search: &Search<'_>, world: &World<'_>, scan: bool) -> Result<Vec<Cluster>, SearchError> {
    let k = cluster_size(search, world) as u64;
    let far = if world.set.rows <= MANY { FAR } else { FAR_OF_MANY };
    let own = Reading { k, strict: false };
    let first = merged(search, world, own, scan, f64::INFINITY)?.unwrap_or_default();
    let placed = first.iter().all(|c| c.parts.is_empty() || world.holds(c));
    let classes = dissolve_failing(search, world, first, Choice::by_growth(scan))?;
    let mut best = Best { search, scan, far, loss: cluster::total(&classes), classes };
    let strictest = world.judge.strictest_share();
    // Where rows found no place, rule 2 alone may keep classes varied, and the policy decides.
    if !placed && strictest.is_some() {
        best.attempt(world, Reading { k, strict: true })?;
    }
    let left = (LOOKS / world.set.rows.max(1)).clamp(if placed { 0 } else { FEWEST }, READINGS);
    best.stricter(world, k, &shares(world, strictest), left)?;
    // Where the rules say nothing about the policy, classes of k rows may hardly ever satisfy it.
    let mut size = 2 * k;
    while !placed && 2 * size <= world.set.rows {
        best.attempt(world, Reading { k: size, strict: false })?;
        if best.classes.len() > 1 {
            break;
        }
        size *= 2;
    }
    Ok(best.classes)
}

/// The classes that lost least so far.
struct Best<'s, 'a> {
    search: &'s Search<'a>,
    scan: bool,
    far: f64,
    classes: Vec<Cluster>,
    loss: f64,
}

impl Best<'_, '_> {
    /// Tries a reading, and keeps what it leads to where that loses less. Whether it was not far from the best.
    fn attempt(&mut self, world: &World<'_>, reading: Reading) -> Result<bool, SearchError> {
        let limit = self.far * self.loss;
        let Some(found) = merged(self.search, world, reading, self.scan, limit)? else { return Ok(false) };
        let found = dissolve_failing(self.search, world, found, Choice::by_growth(self.scan))?;
        let loss = cluster::total(&found);
        if loss < self.loss {
            (self.classes, self.loss) = (found, loss);
        }
        Ok(loss <= limit)
    }

    /// Tries at most `left` readings that ask for more than the policy: those that are one step stricter, then two, and
    /// so on. A step is one row more in a class, or the next of the shares. A reading is passed over when all that are
    /// one step weaker were far from the best.
    fn stricter(
        &mut self,
        world: &World<'_>,
        k: u64,
        shares: &[Option<Rational>],
        mut left: u64,
    ) -> Result<(), SearchError> {
        // Whether the readings with each share that are one step weaker were near.
        let mut weaker = vec![true];
        for steps in 1.. {
            let mut near = vec![false; shares.len().min(steps + 1)];
            for (at, share) in shares.iter().enumerate().take(steps + 1) {
                let size = k + (steps - at) as u64;
                let leads_here = |at: Option<usize>| at.and_then(|at| weaker.get(at)).is_some_and(|near| *near);
                let promising = leads_here(Some(at)) || leads_here(at.checked_sub(1));
                if left == 0 || !promising || size > world.set.rows / 2 {
                    continue;
                }
                let Some(judge) = Judge::new(self.search)?.stricter(size, share.clone()) else { continue };
                let world = &World { judge: &judge, ..*world };
                near[at] = self.attempt(world, Reading { k: size, strict: false })?;
                left -= 1;
            }
            if left == 0 || !near.contains(&true) {
                break;
            }
            weaker = near;
        }
        Ok(())
    }
}

/// The shares that readings hold every value to: first none but the policy's own, then the strictest that it states,
/// then simple fractions below that, the larger first. Policies with more or other bounds share these fractions, so
/// that a weaker policy finds what a stricter one leads to.
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

/// The classes that the rules lead to; `None` as soon as they lose more than `limit`.
fn merged(
    search: &Search<'_>,
    world: &World<'_>,
    reading: Reading,
    scan: bool,
    limit: f64,
) -> Result<Option<Vec<Cluster>>, SearchError> {
    let k = reading.k;
    // Rows that agree lose nothing, so all that is lost is what merging adds.
    let mut lost = 0.0;
    let mut classes = beginnings(world, reading);
    let least = |c: &Cluster| MinimumClass { rows: c.tally.rows as f64, cost: c.cost };
    let shapes: Vec<ShapeWord> = classes.iter().flat_map(|c| &c.shape).copied().collect();
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
            Some((growth, other)) => {
                lost += growth;
                if lost > limit {
                    return Ok(None);
                }
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
    Ok(Some(classes))
}

/// The nearest compatible class, after what is lost by merging with it.
fn nearest_compatible(
    world: &World<'_>,
    tree: &Tree,
    classes: &[Cluster],
    class: &Cluster,
    reading: Reading,
) -> Option<(f64, usize)> {
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
    found.map(|(growth, class)| (growth, class as usize))
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

    /// Holds what each policy of the chains loses against the one before it; how many pairs there were.
    fn compare(seed: u64, rows: usize) -> usize {
        let mut compared = 0;
        let fixture = Fixture::random(seed, rows, false);
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
                    let what = format!("seed {seed}, {rows} rows, {model} {parameters:?}");
                    assert!(loss <= before + 1e-9, "{what}: {loss} after {before}");
                }
                before = Some(loss);
            }
        }
        compared
    }

    #[test]
    fn a_weaker_policy_never_loses_more() {
        let compared: usize = (0..8).map(|seed| compare(seed, 40 + 15 * seed as usize)).sum();
        assert!(compared > 80, "{compared} pairs were compared");
    }

    #[test]
    fn a_weaker_policy_never_loses_more_in_larger_tables() {
        let compared = compare(8, 900) + compare(9, 1_800);
        assert!(compared > 20, "{compared} pairs were compared");
    }

    #[test]
    fn the_index_changes_nothing() {
        Fixture::compare(|search, world, scan| clusters(search, world, scan).unwrap());
    }
}
