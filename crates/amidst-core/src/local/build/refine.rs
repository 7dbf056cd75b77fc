//! Local search: rows move and change places between neighbouring classes as long as the policy holds and loss falls.
//!
//! Each round cuts the space at random into neighbourhoods of a few dozen classes, and improves each neighbourhood for
//! itself: a row moves to another class, two rows change places, a class is divided, or dissolved among its neighbours.
//! Neighbourhoods share nothing, so they are searched in parallel and the outcome depends on the seed alone; the next
//! round draws other borders.

mod member;

use std::time::Instant;

use rayon::prelude::*;
use rustc_hash::FxHashSet;

use crate::ids::SensitiveId;
use crate::local::class::{Cluster, Part, World, cluster};
use crate::random::Random;
use crate::search::{Search, SearchError};
use member::Member;

/// Classes in a neighbourhood, at the most.
const NEIGHBOURS: usize = 32;

/// A class of more parts than this is left alone: looking at all pairs of its rows would take too long.
const LARGE: usize = 96;

/// Changes smaller than this are rounding.
const LEAST: f64 = 1e-9;

/// More pairs of classes than this are not remembered.
const MOST_UNPROFITABLE: usize = 4_000_000;

/// Pairs of classes between which no row that moves or changes places lowers the loss, by what they hold: as long as
/// neither changes, a further round need not look at them. A class with itself is one that need not be divided.
type UnprofitablePairs = FxHashSet<u64>;

/// When to stop.
#[derive(Debug, Clone, Copy)]
pub struct Effort {
    /// The most rounds.
    pub rounds: usize,
    /// A round that gains a smaller share of the loss is the last.
    pub share: f64,
    /// No round begins after this.
    pub deadline: Option<Instant>,
}

/// Improves a partition. The classes given must satisfy the policy; so do those returned.
pub fn refine(
    world: &World<'_>,
    search: &Search<'_>,
    clusters: Vec<Cluster>,
    effort: Effort,
    random: &mut Random,
) -> Result<Vec<Cluster>, SearchError> {
    remembering(world, search, clusters, (effort, MOST_UNPROFITABLE), random)
}

/// The same, remembering at most about this number of pairs of classes.
fn remembering(
    world: &World<'_>,
    search: &Search<'_>,
    mut clusters: Vec<Cluster>,
    (effort, most): (Effort, usize),
    random: &mut Random,
) -> Result<Vec<Cluster>, SearchError> {
    let mut loss = cluster::total(&clusters);
    let mut idle = 0;
    let mut unprofitable = UnprofitablePairs::default();
    for _ in 0..effort.rounds {
        search.checkpoint()?;
        if clusters.len() < 2 && loss <= 0.0 || effort.deadline.is_some_and(|d| Instant::now() >= d) {
            break;
        }
        let blocks = neighbourhoods(world, clusters, random);
        let improved: Vec<(Vec<Cluster>, Vec<u64>)> = blocks
            .into_par_iter()
            .map(|block| {
                let late = || effort.deadline.is_some_and(|d| Instant::now() >= d) || search.checkpoint().is_err();
                Block::new(world, block, &unprofitable, &late).improve()
            })
            .collect();
        if unprofitable.len() > most {
            unprofitable.clear();
        }
        clusters = Vec::new();
        for (block, pairs) in improved {
            clusters.extend(block);
            unprofitable.extend(pairs.into_iter().take(most));
        }
        let now = cluster::total(&clusters);
        // One round that gains little may be due to where the borders of its parts lie.
        idle = if loss - now < effort.share * loss { idle + 1 } else { 0 };
        loss = now;
        if idle == 2 {
            break;
        }
    }
    search.checkpoint()?;
    Ok(clusters)
}

/// Cuts the classes into neighbourhoods along random hyperplanes.
fn neighbourhoods(world: &World<'_>, clusters: Vec<Cluster>, random: &mut Random) -> Vec<Vec<Cluster>> {
    let width = world.space.width();
    let mut centres = vec![0.0; clusters.len() * width];
    for (centre, c) in centres.chunks_exact_mut(width.max(1)).zip(&clusters) {
        for &(entry, rows) in &c.parts {
            for (x, (places, &code)) in centre.iter_mut().zip(world.space.places.iter().zip(world.codes(entry))) {
                *x += places[code as usize] * rows as f64 / c.tally.rows as f64;
            }
        }
    }
    let mut order: Vec<u32> =
        (0..clusters.len() as u32).filter(|&c| clusters[c as usize].parts.len() <= LARGE).collect();
    let mut blocks = Vec::new();
    divide(&centres, width, &mut order, random, &mut blocks);
    let mut slots: Vec<Option<Cluster>> = clusters.into_iter().map(Some).collect();
    let mut out: Vec<Vec<Cluster>> =
        blocks.into_iter().map(|block| block.into_iter().filter_map(|c| slots[c as usize].take()).collect()).collect();
    out.extend(slots.into_iter().flatten().map(|large| vec![large]));
    out
}

fn divide(centres: &[f64], width: usize, items: &mut [u32], random: &mut Random, blocks: &mut Vec<Vec<u32>>) {
    if items.len() <= NEIGHBOURS {
        blocks.push(items.to_vec());
        return;
    }
    let at = |i: u32, c: usize| centres[i as usize * width + c];
    // A column is chosen by chance in proportion to its spread, so that borders fall differently each time.
    let spread: Vec<f64> = (0..width)
        .map(|c| {
            let n = items.len() as f64;
            let mean = items.iter().map(|&i| at(i, c)).sum::<f64>() / n;
            (items.iter().map(|&i| (at(i, c) - mean).powi(2)).sum::<f64>() / n).sqrt()
        })
        .collect();
    let mut draw = random.share() * spread.iter().sum::<f64>();
    let mut column = 0;
    while column + 1 < width && draw >= spread[column] {
        draw -= spread[column];
        column += 1;
    }
    let middle = ((items.len() as f64 * (0.3 + 0.4 * random.share())) as usize).clamp(1, items.len() - 1);
    if width > 0 {
        items.select_nth_unstable_by(middle, |&a, &b| at(a, column).total_cmp(&at(b, column)).then(a.cmp(&b)));
    }
    let (left, right) = items.split_at_mut(middle);
    divide(centres, width, left, random, blocks);
    divide(centres, width, right, random, blocks);
}

/// No row leaves, or none comes.
const NONE: SensitiveId = SensitiveId(u32::MAX);

/// What the cells over the first one, two, … of some parts cost a row.
fn costs<'p>(world: &World<'_>, parts: impl Iterator<Item = &'p Part>) -> Vec<f64> {
    let mut shape = world.space.empty();
    let with = |(i, part): (usize, &Part)| {
        match i {
            0 => world.space.start(&mut shape, world.codes(part.0)),
            _ => world.space.add(&mut shape, world.codes(part.0)),
        }
        world.space.cost(&shape)
    };
    parts.enumerate().map(with).collect()
}

struct Block<'a> {
    world: &'a World<'a>,
    unprofitable: &'a UnprofitablePairs,
    members: Vec<Member>,
    stop: bool,
    /// Whether there is no more time.
    late: &'a dyn Fn() -> bool,
    clock: u64,
}

/// A change of two classes and what it adds to the loss.
#[derive(Debug, Clone, Copy)]
struct Change {
    loss: f64,
    to: usize,
    /// The part that comes back, when rows change places.
    back: Option<usize>,
    rows: u64,
}

impl<'a> Block<'a> {
    fn new(
        world: &'a World<'a>,
        clusters: Vec<Cluster>,
        unprofitable: &'a UnprofitablePairs,
        late: &'a dyn Fn() -> bool,
    ) -> Self {
        let members = Vec::with_capacity(clusters.len());
        let mut block = Block { world, unprofitable, members, stop: late(), late, clock: 0 };
        if let [large] = &clusters[..]
            && large.parts.len() > LARGE
        {
            block.stop = true;
        }
        for cluster in clusters {
            block.members.push(Member::new(cluster));
            if !block.stop {
                block.prepare(block.members.len() - 1);
            }
        }
        block
    }

    /// Computes what a member would cost without each of its parts.
    fn prepare(&mut self, m: usize) {
        self.clock += 1;
        self.members[m].prepare(self.world, self.clock);
    }

    /// The improved classes, and the pairs of them that need not be looked at again.
    fn improve(mut self) -> (Vec<Cluster>, Vec<u64>) {
        if !self.stop {
            for _ in 0..4 {
                let mut changed = false;
                let mut m = 0;
                while m < self.members.len() && !(self.late)() {
                    changed |= self.exchange(m);
                    changed |= self.split(m);
                    m += 1;
                }
                let mut m = 0;
                while m < self.members.len() && !(self.late)() {
                    if self.dissolve(m) {
                        changed = true;
                    } else {
                        m += 1;
                    }
                }
                if !changed {
                    break;
                }
            }
        }
        let unprofitable = self.unprofitable_pairs();
        (self.members.into_iter().map(|m| m.cluster).collect(), unprofitable)
    }

    fn unprofitable_pairs(&self) -> Vec<u64> {
        let mut pairs = Vec::new();
        for a in self.members.iter().filter(|_| !self.stop) {
            if a.undivided == a.changed {
                pairs.push(a.pair(a));
            }
            let looked = |b: &&Member| a.changed <= a.looked && b.changed <= a.looked;
            pairs.extend(self.members.iter().filter(looked).filter(|b| b.content != a.content).map(|b| a.pair(b)));
        }
        pairs
    }

    /// Moves rows out of a member, or exchanges them, as long as that lowers the loss.
    fn exchange(&mut self, a: usize) -> bool {
        let mut changed = false;
        let mut p = 0;
        let mut others = self.promising(a);
        while p < self.members[a].cluster.parts.len() {
            // Classes of many values take long.
            if (self.late)() {
                return changed;
            }
            match self.best_change(a, p, &others) {
                Some(change) => {
                    self.apply(a, p, change);
                    others = self.promising(a);
                    changed = true;
                    p = 0;
                }
                None => p += 1,
            }
        }
        self.members[a].looked = self.clock;
        changed
    }

    /// The members that a member may exchange rows with to some gain, as far as is known.
    fn promising(&self, a: usize) -> Vec<usize> {
        let from = &self.members[a];
        let open = |b: &usize| {
            let to = &self.members[*b];
            // What neither has changed since the last look is as bad as it was.
            *b != a
                && (from.changed > from.looked || to.changed > from.looked)
                // Two classes of the same rows have one name, which tells of dividing them.
                && (from.content == to.content || !self.unprofitable.contains(&from.pair(to)))
        };
        (0..self.members.len()).filter(open).collect()
    }

    fn best_change(&self, a: usize, p: usize, others: &[usize]) -> Option<Change> {
        let (world, space, words) = (self.world, self.world.space, self.world.space.words());
        let from = &self.members[a];
        let (r, held) = from.cluster.parts[p];
        let (na, la) = (from.cluster.tally.rows, from.cluster.loss());
        let codes = world.codes(r);
        let one = if world.set.persons { held } else { 1 };
        let without = &from.without[p * words..(p + 1) * words];
        let can_leave = na > one && self.holds(a, Some(r), None, one);
        // What the class saves when the row leaves, and when another takes its place.
        let saved_leaving = la - (na - one) as f64 * from.cost[p];
        let saved_swapping = la - na as f64 * from.cost[p];
        let mut best = Change { loss: -LEAST, to: 0, back: None, rows: 0 };
        for (b, to) in others.iter().map(|&b| (b, &self.members[b])) {
            let (nb, lb) = (to.cluster.tally.rows, to.cluster.loss());
            if can_leave {
                let loss = (nb + one) as f64 * space.cost_with(&to.cluster.shape, codes) - lb - saved_leaving;
                if loss < best.loss && self.holds(b, None, Some(r), one) {
                    best = Change { loss, to: b, back: None, rows: one };
                }
            }
            if world.set.persons || to.cluster.parts.len() > LARGE {
                continue;
            }
            // Whatever row comes back, both classes cost at least this; most are ruled out here.
            let grown = nb as f64 * to.least_with(world, codes) - lb;
            if grown - saved_swapping >= best.loss + LEAST
                || grown - saved_swapping + na as f64 * to.least_stretch(world, without) >= best.loss + LEAST
            {
                continue;
            }
            for (q, &(s, _)) in to.cluster.parts.iter().enumerate() {
                let saved = lb - nb as f64 * to.cost[q];
                if -saved_swapping - saved >= best.loss || s == r {
                    continue;
                }
                let other = &to.without[q * words..(q + 1) * words];
                // What costs more than this loses more than the best, whatever the other class saves.
                let most = (best.loss + saved_swapping + lb) / nb as f64 + LEAST;
                let Some(with) = space.cost_with_up_to(other, codes, most) else { continue };
                let grown = nb as f64 * with - lb;
                if grown - saved_swapping >= best.loss {
                    continue;
                }
                let loss = grown + na as f64 * space.cost_with(without, world.codes(s)) - la;
                if loss < best.loss && self.can_swap(a, r, b, s) {
                    best = Change { loss, to: b, back: Some(q), rows: 1 };
                }
            }
        }
        (best.rows > 0).then_some(best)
    }

    fn can_swap(&self, a: usize, r: u32, b: usize, s: u32) -> bool {
        let world = self.world;
        let alike = world.entry(r).sensitive == world.entry(s).sensitive && !world.judge.needs_population();
        alike || self.holds(a, Some(r), Some(s), 1) && self.holds(b, Some(s), Some(r), 1)
    }

    /// Whether a member satisfies the policy once a number of rows of one entry leave and of another come.
    fn holds(&self, m: usize, out: Option<u32>, into: Option<u32>, rows: u64) -> bool {
        let (world, cluster) = (self.world, &self.members[m].cluster);
        let left = cluster.tally.rows - out.map_or(0, |_| rows) + into.map_or(0, |_| rows);
        if world.judge.size_only || left < world.judge.least {
            return left >= world.judge.least;
        }
        let value = |entry: Option<u32>| entry.map_or(NONE, |e| world.entry(e).sensitive);
        let key = (value(out), value(into));
        // Where persons repeat or a population counts, rows with the same sensitive values differ.
        let alike = !world.set.persons && !world.judge.needs_population();
        if let Some(&known) = self.members[m].verdicts.borrow().get(&key).filter(|_| alike) {
            return known;
        }
        let mut tally = cluster.tally.clone();
        out.into_iter().for_each(|e| world.judge.remove(&mut tally, world.entry(e), rows));
        into.into_iter().for_each(|e| world.judge.add(&mut tally, world.entry(e), rows));
        let holds = world.judge.holds_over(&tally, || {
            let stays = |&(e, n): &Part| Some(e) != out || n > rows;
            let rest = cluster.parts.iter().copied().filter(stays).chain(into.map(|e| (e, rows)));
            Some(world.space.cells(&world.shape(&rest.collect::<Vec<Part>>())))
        });
        if alike {
            self.members[m].verdicts.borrow_mut().insert(key, holds);
        }
        holds
    }

    fn apply(&mut self, a: usize, p: usize, change: Change) {
        let world = self.world;
        let r = self.members[a].cluster.parts[p].0;
        let back = change.back.map(|q| self.members[change.to].cluster.parts[q].0);
        world.take(&mut self.members[a].cluster, r, change.rows);
        world.add(&mut self.members[change.to].cluster, r, change.rows);
        if let Some(s) = back {
            world.take(&mut self.members[change.to].cluster, s, 1);
            world.add(&mut self.members[a].cluster, s, 1);
        }
        for m in [a, change.to] {
            world.reshape(&mut self.members[m].cluster);
            self.prepare(m);
        }
    }

    /// Divides a member in two along one column, when both halves hold.
    fn split(&mut self, m: usize) -> bool {
        let world = self.world;
        let cluster = &self.members[m].cluster;
        let member = &self.members[m];
        let known = member.undivided == member.changed || self.unprofitable.contains(&member.pair(member));
        if known || cluster.tally.rows < 2 * world.judge.least || cluster.cost <= 0.0 || cluster.parts.len() < 2 {
            return false;
        }
        let mut best: Option<(f64, Cluster, Cluster)> = None;
        for c in 0..world.space.width() {
            let mut parts = cluster.parts.clone();
            let place = |e: u32| world.space.places[c][world.codes(e)[c] as usize];
            parts.sort_by(|a, b| place(a.0).total_cmp(&place(b.0)).then(a.0.cmp(&b.0)));
            let (below, above) = (costs(world, parts.iter()), costs(world, parts.iter().rev()));
            let mut rows = 0;
            for at in 1..parts.len() {
                rows += parts[at - 1].1;
                let others = cluster.tally.rows - rows;
                if rows < world.judge.least || others < world.judge.least {
                    continue;
                }
                let loss = below[at - 1] * rows as f64 + above[parts.len() - at - 1] * others as f64 - cluster.loss();
                if loss < best.as_ref().map_or(-LEAST, |b| b.0) {
                    let (left, right) = (world.cluster(parts[..at].to_vec()), world.cluster(parts[at..].to_vec()));
                    if world.holds(&left) && world.holds(&right) {
                        best = Some((loss, left, right));
                    }
                }
            }
        }
        let Some((_, left, right)) = best else {
            self.members[m].undivided = self.members[m].changed;
            return false;
        };
        self.members[m].cluster = left;
        self.prepare(m);
        self.members.push(Member::new(right));
        self.prepare(self.members.len() - 1);
        true
    }

    /// Spreads a member's rows over its neighbours, when that lowers the loss.
    fn dissolve(&mut self, m: usize) -> bool {
        let world = self.world;
        if self.members.len() < 2 || self.members[m].cluster.cost <= 0.0 || world.set.persons {
            return false;
        }
        let saved = self.members[m].cluster.loss();
        let mut paid = 0.0;
        let mut touched: Vec<(usize, Cluster)> = Vec::new();
        for &(r, rows) in &self.members[m].cluster.parts {
            for _ in 0..rows {
                let mut best: Option<(f64, usize)> = None;
                for (b, member) in self.members.iter().enumerate().filter(|&(b, _)| b != m) {
                    let cluster = touched.iter().find(|t| t.0 == b).map_or(&member.cluster, |t| &t.1);
                    let most = best.map_or(saved - paid - LEAST, |x| x.0);
                    let rows = (cluster.tally.rows + 1) as f64;
                    // Some columns may tell that it costs too much.
                    let enough = (most + cluster.loss()) / rows + LEAST;
                    let Some(cost) = world.space.cost_with_up_to(&cluster.shape, world.codes(r), enough) else {
                        continue;
                    };
                    let growth = cost * rows - cluster.loss();
                    if growth < most && world.holds_with(cluster, r, 1) {
                        best = Some((growth, b));
                    }
                }
                let Some((growth, b)) = best else { return false };
                paid += growth;
                let at = touched.iter().position(|t| t.0 == b).unwrap_or_else(|| {
                    touched.push((b, self.members[b].cluster.clone()));
                    touched.len() - 1
                });
                world.add(&mut touched[at].1, r, 1);
            }
        }
        for (b, cluster) in touched {
            self.members[b].cluster = cluster;
            self.prepare(b);
        }
        self.members.remove(m);
        true
    }
}

#[cfg(test)]
mod tests;
