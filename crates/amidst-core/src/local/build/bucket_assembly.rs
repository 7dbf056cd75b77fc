//! Bucket-aware assembly: classes are filled value by value so that what remains stays feasible.
//!
//! Policies that bound frequencies ((α,k), recursive, entropy, tight (l,α)) fail in most halves of most cuts, so
//! dividing the table from the top collapses. Assembly goes the other way: rows stand in buckets by sensitive value; a
//! class begins with a row far from the middle of the table and takes the nearest rows of buckets with which it can
//! still be completed, until it has the least size at which the policy can hold. The *eligibility condition*
//! (Machanavajjhala et al.; Xiao & Tao's Anatomy) keeps the remainder feasible: a value of which the remainder would
//! otherwise have too much must be taken. A monotone policy needs no formula for it: the remainder, as one class, must
//! satisfy the policy.
//!
//! Policies that compare classes with the table (closeness, likeness, disclosure) want classes drawn in proportion to
//! it, as SABRE and BUREL (Cao, Karras, Kalnis & Tan) draw them: [`Draw::Proportional`]. A class may have more of a
//! value than its share of the table as long as it can still be completed, and more of what the remainder has little of
//! only while the remainder is near the table itself.
//!
//! Not an algorithm of its own but a candidate of the portfolio.
//!
//! **Cost.** One k-d tree a bucket; about O(n log n) queries.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::ids::SensitiveId;
use crate::local::build::completion::{Draw, Oracle};
use crate::local::build::place_rows;
use crate::local::class::{Cluster, Tally, World};
use crate::local::index::Tree;
use crate::local::index::kd_tree::Total;
use crate::local::shape::Hull;
use crate::local::shape::minimum::{floor, quantum};
use crate::search::{Search, SearchError};

/// More values than this share one bucket.
const BUCKETS: usize = 64;

/// The rows that are not in a class yet.
struct UnplacedRows<'a> {
    world: &'a World<'a>,
    /// Rows left of each entry.
    rows: Vec<u64>,
    /// The entries of each bucket, and an index over them.
    buckets: Vec<(Vec<u32>, Tree)>,
    /// Where each entry stands: its bucket and its place there.
    at: Vec<(u32, u32)>,
    tally: Tally,
}

impl<'a> UnplacedRows<'a> {
    fn new(world: &'a World<'a>) -> Self {
        let set = world.set;
        let values = set.sensitive.len() / set.sensitive_width.max(1);
        let many = world.judge.size_only || values > BUCKETS;
        let mut entries: Vec<Vec<u32>> = vec![Vec::new(); if many { 1 } else { values.max(1) }];
        let mut at = Vec::with_capacity(set.groups.entries.len());
        for (e, entry) in set.groups.entries.iter().enumerate() {
            let bucket = if many { 0 } else { entry.sensitive.index() };
            at.push((bucket as u32, entries[bucket].len() as u32));
            entries[bucket].push(e as u32);
        }
        let buckets = entries
            .into_iter()
            .map(|entries| {
                let codes: Vec<u32> = entries.iter().flat_map(|&e| world.codes(e)).copied().collect();
                let mut tree = Tree::new(world.space, &codes, entries.len());
                tree.patience = place_rows::PATIENCE;
                (entries, tree)
            })
            .collect();
        UnplacedRows {
            world,
            rows: set.groups.entries.iter().map(|e| e.rows).collect(),
            buckets,
            at,
            tally: world.judge.tally(set.groups.entries.iter().copied()),
        }
    }

    fn take(&mut self, entry: u32) {
        self.rows[entry as usize] -= 1;
        self.world.judge.remove(&mut self.tally, self.world.entry(entry), 1);
        if self.rows[entry as usize] == 0 {
            let (bucket, place) = self.at[entry as usize];
            self.buckets[bucket as usize].1.remove(self.world.space, place);
        }
    }

    fn give_back(&mut self, entry: u32) {
        self.rows[entry as usize] += 1;
        self.world.judge.add(&mut self.tally, self.world.entry(entry), 1);
        if self.rows[entry as usize] == 1 {
            let (bucket, place) = self.at[entry as usize];
            self.buckets[bucket as usize].1.restore(self.world.space, place);
        }
    }

    /// The entry farthest from another.
    fn furthest(&self, from: u32) -> u32 {
        let space = self.world.space;
        let mut shape = space.empty();
        space.start(&mut shape, self.world.codes(from));
        let mut best: Option<(f64, u32)> = None;
        for (entries, tree) in &self.buckets {
            let found = tree.least(
                best.map_or(f64::INFINITY, |b| b.0),
                |within, _, _| -space.farthest(&shape, within),
                |_, row, _| Some(-space.cost_merged(&shape, row)),
            );
            if let Some((cost, i)) = found {
                best = Some((cost, entries[i as usize]));
            }
        }
        best.map_or(from, |b| b.1)
    }

    /// The entry nearest to a cluster, among those whose value `fits`.
    fn nearest(&self, cluster: &Cluster, order: &[u32], mut fits: impl FnMut(SensitiveId) -> bool) -> Option<u32> {
        let space = self.world.space;
        let mut best: Option<(f64, u32)> = None;
        for &bucket in order {
            let (entries, tree) = &self.buckets[bucket as usize];
            let alone = self.buckets.len() > 1;
            if tree.is_empty() || (alone && !fits(self.world.entry(entries[0]).sensitive)) {
                continue;
            }
            let found = tree.least(
                best.map_or(f64::INFINITY, |b| b.0),
                |hull, _, _| cluster.cost + space.stretch(&cluster.shape, hull),
                |i, row, _| {
                    let entry = entries[i as usize];
                    (alone || fits(self.world.entry(entry).sensitive)).then(|| space.cost_merged(&cluster.shape, row))
                },
            );
            if let Some((cost, i)) = found {
                best = Some((cost, entries[i as usize]));
            }
        }
        best.map(|b| b.1)
    }
}

/// What may come next for a growing class, the nearest first.
///
/// A class only grows, so what a row or a branch would cost only grows too: what was known of it before the last row
/// joined is still a lower bound, and it is looked at again only when it comes to the top.
#[derive(Debug, Default)]
struct Frontier {
    heap: BinaryHeap<Reverse<Near>>,
    /// Rows that came to the top but did not fit.
    aside: Vec<Near>,
    /// Branches that came to the top when patience had run out.
    later: Vec<Near>,
    /// What came to the top of each bucket while its value did not fit: as long as it does not, it is passed over.
    parked: Vec<Vec<Near>>,
    /// Whether the value of each bucket fits, as far as anybody asked since the class has grown.
    fitting: Vec<Option<bool>>,
    /// How often the class has grown.
    version: u32,
}

/// A branch or a row, with a lower bound of what the class would cost with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Near {
    cost: Total,
    /// A branch comes before a row that costs the same: it may hold a row with a lower number.
    row: bool,
    /// The turn of its bucket.
    turn: u32,
    /// The branch, or the row's place in its bucket.
    number: u32,
    version: u32,
}

impl Frontier {
    fn begin(&mut self, order: &[u32]) {
        self.heap.clear();
        self.aside.clear();
        self.later.clear();
        self.parked.iter_mut().for_each(Vec::clear);
        self.parked.resize(order.len(), Vec::new());
        self.version = 1;
        let root = |turn| Near { cost: Total(f64::NEG_INFINITY), row: false, turn: turn as u32, number: 0, version: 1 };
        self.heap.extend((0..order.len()).map(|turn| Reverse(root(turn))));
    }

    /// The class has grown.
    fn grown(&mut self) {
        self.version += 1;
        self.heap.extend(self.aside.drain(..).chain(self.later.drain(..)).map(Reverse));
    }

    /// The nearest row whose value `fits`; what [`UnplacedRows::nearest`] finds by looking at all. After a while the
    /// nearest of the rows that came into sight will do.
    fn next(
        &mut self,
        rest: &UnplacedRows<'_>,
        cluster: &Cluster,
        order: &[u32],
        mut fits: impl FnMut(SensitiveId) -> bool,
    ) -> Option<u32> {
        let space = rest.world.space;
        let branch = |hull: &Hull| Total(floor(cluster.cost + space.stretch(&cluster.shape, hull)));
        let row = |entry: u32| Total(quantum(space.cost_with(&cluster.shape, rest.world.codes(entry))));
        let alone = rest.buckets.len() > 1;
        let value = |turn: usize| rest.world.entry(rest.buckets[order[turn] as usize].0[0]).sensitive;
        self.fitting.clear();
        self.fitting.resize(order.len(), None);
        for turn in 0..self.parked.len() {
            if !self.parked[turn].is_empty() {
                let fits = fits(value(turn));
                self.fitting[turn] = Some(fits);
                if fits {
                    self.heap.extend(self.parked[turn].drain(..).map(Reverse));
                }
            }
        }
        let mut opened = 0;
        while let Some(Reverse(near)) = self.heap.pop().or_else(|| {
            opened = 0;
            self.heap.extend(self.later.drain(..).map(Reverse));
            self.heap.pop()
        }) {
            let (entries, tree) = &rest.buckets[order[near.turn as usize] as usize];
            if tree.is_empty() || (near.row && tree.removed(near.number)) {
                continue;
            }
            let turn = near.turn as usize;
            if alone && !*self.fitting[turn].get_or_insert_with(|| fits(value(turn))) {
                self.parked[turn].push(near);
            } else if near.version < self.version {
                let cost = if near.row { row(entries[near.number as usize]) } else { branch(tree.hull(near.number)) };
                self.heap.push(Reverse(Near { cost: cost.max(near.cost), version: self.version, ..near }));
            } else if near.row {
                let entry = entries[near.number as usize];
                self.aside.push(near);
                if alone || fits(rest.world.entry(entry).sensitive) {
                    return Some(entry);
                }
            } else if opened >= place_rows::PATIENCE {
                self.later.push(near);
            } else {
                opened += 1;
                let (heap, version) = (&mut self.heap, self.version);
                let mut halves: Vec<Near> = Vec::new();
                tree.open(
                    near.number,
                    |half, hull| halves.push(Near { cost: branch(hull), number: half, ..near }),
                    |item| {
                        let cost = row(entries[item as usize]);
                        heap.push(Reverse(Near { cost, row: true, number: item, version, ..near }));
                    },
                );
                heap.extend(halves.into_iter().map(Reverse));
            }
        }
        None
    }
}

/// Where classes begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seeds {
    /// Farthest from the middle of the table first.
    OutsideIn,
    /// Farthest from the previous class's first row, as k-member does; the first from this place in the table.
    Furthest(usize),
}

/// The classes that assembly finds; `None` when the policy or the table does not suit it. With `scan` every row is
/// looked at, as the published k-member does; the classes are the same.
pub(crate) fn clusters(
    search: &Search<'_>,
    world: &World<'_>,
    seeds: Seeds,
    scan: bool,
) -> Result<Option<Vec<Cluster>>, SearchError> {
    drawn(search, world, (seeds, Draw::Different), scan)
}

/// The same with a way to draw.
pub(crate) fn drawn(
    search: &Search<'_>,
    world: &World<'_>,
    (seeds, draw): (Seeds, Draw),
    scan: bool,
) -> Result<Option<Vec<Cluster>>, SearchError> {
    if !rows_suit(world) {
        return Ok(None);
    }
    let mut rest = UnplacedRows::new(world);
    rest.buckets.iter_mut().for_each(|b| b.1.scan = scan);
    let Some(mut oracle) = Oracle::new(world, &rest.tally, draw) else { return Ok(None) };
    // Where sizes alone count, fewer rows than a class needs can be left over; else the rest must hold as a class.
    let enough = if world.judge.size_only { oracle.target } else { 2 * oracle.target };
    let mut clusters: Vec<Cluster> = Vec::new();
    let mut order: Vec<u32> = (0..rest.buckets.len() as u32).collect();
    let mut frontier = Frontier::default();
    let mut next = |rest: &mut UnplacedRows<'_>, seed: u32| {
        let due = oracle.due(&rest.tally);
        oracle.look_at(&rest.tally);
        // On a tie the fuller bucket gives.
        order.sort_by_key(|&b| (usize::MAX - rest.buckets[b as usize].1.len(), b));
        let draw = DrawnClass { order: &order, due: &due, seed };
        fill(search, rest, &mut oracle, (!scan).then_some(&mut frontier), draw)
    };
    if let Seeds::Furthest(first) = seeds {
        let mut last = first as u32;
        while rest.tally.rows >= enough && world.judge.divisible(&rest.tally) {
            search.checkpoint()?;
            last = rest.furthest(last);
            match next(&mut rest, last)? {
                Some(cluster) => clusters.push(cluster),
                None => break,
            }
        }
    }
    // A class that is drawn leaves rows that are one too, so those that cannot be two classes are done with.
    let mut divisible = world.judge.divisible(&rest.tally);
    for seed in outside_in(world) {
        while divisible && rest.rows[seed as usize] > 0 && rest.tally.rows >= enough {
            search.checkpoint()?;
            match next(&mut rest, seed)? {
                Some(cluster) => clusters.push(cluster),
                None => break,
            }
            divisible = world.judge.divisible(&rest.tally);
        }
    }
    let left: Vec<(u32, u64)> =
        (rest.rows.iter().enumerate()).filter(|r| *r.1 > 0).map(|(e, &rows)| (e as u32, rows)).collect();
    place_rows::place(search, world, &mut clusters, left, place_rows::Choice::by_growth(scan))?;
    Ok(Some(clusters))
}

/// Whether assembly can tell from numbers of rows alone what the remainder satisfies, and there are rows.
fn rows_suit(world: &World<'_>) -> bool {
    // The remainder has no cells yet, so the people whom it will match are unknown.
    !world.set.persons && world.judge.monotone && !world.judge.needs_population() && world.set.rows > 0
}

/// Whether [`drawn`] finds classes of this kind.
pub(crate) fn suits(world: &World<'_>, draw: Draw) -> bool {
    let everything = || world.judge.tally(world.set.groups.entries.iter().copied());
    rows_suit(world) && Oracle::new(world, &everything(), draw).is_some()
}

/// How a class is drawn.
struct DrawnClass<'a> {
    /// The buckets, the first to give first.
    order: &'a [u32],
    /// The values that it must take.
    due: &'a [SensitiveId],
    /// Its first row.
    seed: u32,
}

/// One class around a row; `None`, and nothing taken, when none can be completed there.
fn fill(
    search: &Search<'_>,
    rest: &mut UnplacedRows<'_>,
    oracle: &mut Oracle<'_>,
    mut frontier: Option<&mut Frontier>,
    DrawnClass { order, due, seed }: DrawnClass<'_>,
) -> Result<Option<Cluster>, SearchError> {
    let world = rest.world;
    if let Some(frontier) = &mut frontier {
        frontier.begin(order);
    }
    let mut cluster = Cluster::default();
    let mut next = Some(seed);
    while let Some(entry) = next.take() {
        search.checkpoint()?;
        world.add(&mut cluster, entry, 1);
        rest.take(entry);
        if cluster.tally.rows >= oracle.target {
            break;
        }
        let missing: Vec<SensitiveId> =
            due.iter().copied().filter(|&v| !cluster.tally.counts.iter().any(|c| c.0.0 == v)).collect();
        let forced = oracle.target - cluster.tally.rows <= missing.len() as u64;
        oracle.forget();
        let fits = |value| (!forced || missing.contains(&value)) && oracle.fits(&cluster.tally, value);
        next = match &mut frontier {
            Some(frontier) => {
                frontier.grown();
                frontier.next(rest, &cluster, order, fits)
            }
            None => rest.nearest(&cluster, order, fits),
        };
    }
    let rest_holds = world.judge.size_only || rest.tally.rows == 0 || world.judge.holds(&rest.tally);
    let holds = rest_holds && world.judge.holds(&cluster.tally);
    if !holds {
        for &(entry, rows) in &cluster.parts {
            (0..rows).for_each(|_| rest.give_back(entry));
        }
        return Ok(None);
    }
    Ok(Some(cluster))
}

/// The entries, those farthest from the middle of the table first.
fn outside_in(world: &World<'_>) -> Vec<u32> {
    let space = world.space;
    let middle: Vec<f64> = (0..space.width())
        .map(|c| {
            let total: f64 = (0..world.set.groups.entries.len() as u32)
                .map(|e| space.places[c][world.codes(e)[c] as usize] * world.entry(e).rows as f64)
                .sum();
            total / world.set.rows as f64
        })
        .collect();
    let far = |e: u32| -> f64 {
        let codes = world.codes(e);
        (0..space.width()).map(|c| (space.places[c][codes[c] as usize] - middle[c]).abs()).sum()
    };
    let mut order: Vec<u32> = (0..world.set.groups.entries.len() as u32).collect();
    order.sort_by_cached_key(|&e| (Reverse(Total(far(e))), e));
    order
}

#[cfg(test)]
mod tests;
