//! Annealing: classes are improved for as long as there is time, by steps that may also lose at first.
//!
//! A row moves to the class of a row near it, or changes places with one of that class; a class is divided, dissolved
//! among its neighbours, or founded from what neighbours can spare. A step that adds Δ to the loss is taken with
//! probability e^(−Δ/T); the temperature T falls with the time that is spent, from where most small losses are taken to
//! where none is. Every class satisfies the policy after every step, so that the search can be ended at any moment, and
//! what is returned is the best that was seen: never worse than what was given.
//!
//! Neighbours are looked for once, among the tuples: for each a few that are near it.

mod neighbours;

use rayon::prelude::*;

use crate::local::class::{Cluster, Tally, World, cluster};
use crate::local::shape::ShapeWord;
use crate::random::Random;
use crate::search::{Search, SearchError};
use neighbours::near;

/// Tuples near each that rows look for a class among.
const NEAR: usize = 24;

/// Classes of more rows than this stay as they are: looking at all of their rows at each step would take too long.
const LARGE: usize = 96;

/// More rows than this are not annealed.
const MANY: u64 = 4_000_000;

/// The temperature at first and at last, as shares of what a class loses on average.
const HOT: f64 = 0.25;
const COLD: f64 = 0.01;
/// The share of the time at which losses are no longer taken.
const FROZEN: f64 = 0.97;

/// Steps between two looks at the clock.
const ROUND: u64 = 2_000;

/// Improves classes that satisfy the policy until `spent` says 1: the share of the time that is gone. `told` is told
/// the loss now and then.
pub fn anneal(
    world: &World<'_>,
    search: &Search<'_>,
    clusters: Vec<Cluster>,
    spent: &dyn Fn() -> f64,
    told: &dyn Fn(f64),
) -> Result<Vec<Cluster>, SearchError> {
    let suits = !world.set.persons && !world.judge.needs_population() && world.set.rows <= MANY;
    if !suits || clusters.len() < 2 || cluster::total(&clusters) <= 0.0 || spent() >= 1.0 {
        return Ok(clusters);
    }
    let mut state = State::new(world, &clusters, search.seed);
    let mean = state.total / clusters.len() as f64;
    let mut best = (state.total, None);
    let mut rounds = 0u64;
    loop {
        search.checkpoint()?;
        let share = spent();
        if share >= FROZEN || search.control.content() {
            break;
        }
        state.temperature = mean * HOT * (COLD / HOT).powf(share);
        for _ in 0..ROUND {
            state.step();
        }
        rounds += 1;
        if rounds.is_multiple_of(256) {
            told(state.total.min(best.0));
            // Copies are dear, so the best is kept only now and then; the last is mostly the best.
            if state.total < best.0 * 0.998 {
                best = (state.total, Some(state.clusters()));
            }
        }
    }
    state.temperature = 0.0;
    let rounds = (4 * state.entry_of.len().min(2_000_000) as u64).div_ceil(ROUND);
    for _ in (0..rounds).take_while(|_| spent() < 1.0) {
        search.checkpoint()?;
        (0..ROUND).for_each(|_| state.step());
    }
    let last = state.clusters();
    let better = cluster::total(&last) < best.0;
    Ok(if better { last } else { best.1.unwrap_or(clusters) })
}

/// A class under change.
#[derive(Debug, Clone, Default)]
struct AnnealedClass {
    units: Vec<u32>,
    shape: Vec<ShapeWord>,
    cost: f64,
    /// What the rows count; empty where sizes alone do.
    tally: Tally,
}

impl AnnealedClass {
    fn loss(&self) -> f64 {
        self.cost * self.units.len() as f64
    }
}

/// All rows, each a unit of its own, and their classes.
struct State<'a> {
    world: &'a World<'a>,
    /// The entry of each unit; the units of a tuple stand side by side.
    entry_of: Vec<u32>,
    /// The tuple of each unit, and where the units of each tuple begin.
    tuple_of: Vec<u32>,
    first: Vec<u32>,
    class_of: Vec<u32>,
    /// Where each unit stands in its class.
    place: Vec<u32>,
    classes: Vec<AnnealedClass>,
    /// Classes without rows.
    free: Vec<u32>,
    /// Tuples near each, `NEAR` of them at the most.
    near: Vec<Vec<u32>>,
    least: usize,
    total: f64,
    temperature: f64,
    random: Random,
    /// Shapes to work on.
    spare: [Vec<ShapeWord>; 2],
    /// Classes as they were before the step, and where units came from.
    saved: Vec<Saved>,
    moved: Vec<(u32, u32)>,
}

impl<'a> State<'a> {
    fn new(world: &'a World<'a>, clusters: &[Cluster], seed: u64) -> Self {
        let set = world.set;
        let (mut entry_of, mut tuple_of, mut first, mut next) = (Vec::new(), Vec::new(), vec![0], Vec::new());
        for tuple in 0..set.len() {
            for e in set.groups.offsets[tuple]..set.groups.offsets[tuple + 1] {
                next.push(entry_of.len() as u32);
                for _ in 0..set.groups.entries[e].rows {
                    entry_of.push(e as u32);
                    tuple_of.push(tuple as u32);
                }
            }
            first.push(entry_of.len() as u32);
        }
        let mut state = State {
            world,
            class_of: vec![0; entry_of.len()],
            place: vec![0; entry_of.len()],
            entry_of,
            tuple_of,
            first,
            classes: Vec::with_capacity(clusters.len() * 2),
            free: Vec::new(),
            near: near(world),
            least: world.judge.least.max(1) as usize,
            total: cluster::total(clusters),
            temperature: 0.0,
            random: Random::new(seed),
            spare: [world.space.empty(), world.space.empty()],
            saved: Vec::new(),
            moved: Vec::new(),
        };
        for cluster in clusters {
            let number = state.classes.len() as u32;
            let mut class =
                AnnealedClass { shape: cluster.shape.clone(), cost: cluster.cost, ..AnnealedClass::default() };
            for &(entry, rows) in &cluster.parts {
                for _ in 0..rows {
                    let unit = next[entry as usize];
                    next[entry as usize] += 1;
                    state.class_of[unit as usize] = number;
                    state.place[unit as usize] = class.units.len() as u32;
                    class.units.push(unit);
                }
            }
            if !world.judge.size_only {
                class.tally = cluster.tally.clone();
            }
            state.classes.push(class);
        }
        state
    }

    fn clusters(&self) -> Vec<Cluster> {
        let parts = |class: &AnnealedClass| {
            let mut entries: Vec<u32> = class.units.iter().map(|&u| self.entry_of[u as usize]).collect();
            entries.sort_unstable();
            entries.chunk_by(|a, b| a == b).map(|same| (same[0], same.len() as u64)).collect()
        };
        let filled: Vec<&AnnealedClass> = self.classes.iter().filter(|c| !c.units.is_empty()).collect();
        filled.into_par_iter().map(|class| self.world.cluster(parts(class))).collect()
    }

    fn codes(&self, unit: u32) -> &'a [u32] {
        self.world.set.tuple(self.tuple_of[unit as usize] as usize)
    }

    /// A random unit of a tuple near a unit's own; the nearer the likelier.
    fn neighbour(&mut self, unit: u32) -> Option<u32> {
        let tuple = self.tuple_of[unit as usize];
        let near = &self.near[tuple as usize];
        let share = self.random.share();
        let other = *near.get((share * share * near.len() as f64) as usize)?;
        let (from, to) = (self.first[other as usize], self.first[other as usize + 1]);
        Some(from + self.random.below((to - from) as usize) as u32)
    }

    /// Tries one step.
    fn step(&mut self) {
        let unit = self.random.below(self.entry_of.len()) as u32;
        let Some(other) = self.neighbour(unit) else { return };
        let (a, b) = (self.class_of[unit as usize] as usize, self.class_of[other as usize] as usize);
        let sizes = (self.classes[a].units.len(), self.classes[b].units.len());
        if sizes.0 > LARGE || sizes.1 > LARGE {
            return;
        }
        let kind = self.random.below(64);
        match kind {
            0 => self.found(unit),
            1 if sizes.0 < 2 * self.least + 2 => self.dissolve(a),
            2 if sizes.0 >= 2 * self.least => self.divide(a),
            _ if a == b => {}
            _ if kind.is_multiple_of(2) && sizes.0 > self.least => self.shift(unit, a, b),
            _ => self.swap(unit, a, b),
        }
    }

    /// What a step may add to the loss.
    fn allowance(&mut self) -> f64 {
        if self.temperature > 0.0 { -self.temperature * (1.0 - self.random.share()).ln() } else { -1e-12 }
    }

    /// The shape of a class without a unit, in `spare`; what it costs.
    fn without(&mut self, class: usize, unit: u32, spare: usize) -> f64 {
        let space = self.world.space;
        let tuple = self.tuple_of[unit as usize];
        let units = std::mem::take(&mut self.classes[class].units);
        let mut shape = std::mem::take(&mut self.spare[spare]);
        let twin = units.iter().any(|&u| u != unit && self.tuple_of[u as usize] == tuple);
        let cost = if twin {
            shape.copy_from_slice(&self.classes[class].shape);
            self.classes[class].cost
        } else {
            let mut others = units.iter().filter(|&&u| u != unit);
            if let Some(&first) = others.next() {
                space.start(&mut shape, self.codes(first));
                others.for_each(|&u| space.add(&mut shape, self.codes(u)));
            }
            space.cost(&shape)
        };
        self.classes[class].units = units;
        self.spare[spare] = shape;
        cost
    }

    /// Moves a unit to another class.
    fn shift(&mut self, unit: u32, a: usize, b: usize) {
        let allowed = self.allowance();
        let codes = self.codes(unit);
        let (from, to) = (&self.classes[a], &self.classes[b]);
        let before = from.loss() + to.loss();
        let grown = self.world.space.cost_with(&to.shape, codes) * (to.units.len() + 1) as f64;
        if grown - before > allowed {
            return;
        }
        let left = (self.classes[a].units.len() - 1) as f64;
        let change = self.without(a, unit, 0) * left + grown - before;
        if change <= allowed {
            self.begin();
            self.relocate(unit, b as u32);
            self.reshape(a);
            self.finish(true);
        }
    }

    /// Lets a unit change places with one of another class.
    fn swap(&mut self, unit: u32, a: usize, b: usize) {
        let allowed = self.allowance();
        let (na, nb) = (self.classes[a].units.len(), self.classes[b].units.len());
        let back = self.classes[b].units[self.random.below(nb)];
        if self.tuple_of[back as usize] == self.tuple_of[unit as usize] {
            return;
        }
        let before = self.classes[a].loss() + self.classes[b].loss();
        let space = self.world.space;
        self.without(b, back, 1);
        let to = space.cost_with(&self.spare[1], self.codes(unit)) * nb as f64;
        if to - before > allowed {
            return;
        }
        self.without(a, unit, 0);
        let from = space.cost_with(&self.spare[0], self.codes(back)) * na as f64;
        if from + to - before <= allowed {
            self.begin();
            self.relocate(unit, b as u32);
            self.relocate(back, a as u32);
            self.reshape(a);
            self.reshape(b);
            self.finish(true);
        }
    }

    /// Divides a class along a column by chance.
    fn divide(&mut self, a: usize) {
        let allowed = self.allowance();
        let column = self.random.below(self.world.space.width());
        let places = &self.world.space.places[column];
        let mut units = self.classes[a].units.clone();
        units.sort_by(|&x, &y| {
            let place = |u: u32| places[self.codes(u)[column] as usize];
            place(x).total_cmp(&place(y)).then(x.cmp(&y))
        });
        let cut = self.least + self.random.below(units.len() - 2 * self.least + 1);
        self.begin();
        let new = self.vacant();
        units[cut..].iter().for_each(|&u| self.relocate(u, new));
        self.reshape(a);
        self.finish(self.change() <= allowed);
    }

    /// Spreads a class over the classes near its rows.
    fn dissolve(&mut self, a: usize) {
        let allowed = self.allowance();
        self.begin();
        let units = self.classes[a].units.clone();
        let mut accepted = true;
        for unit in units {
            let codes = self.codes(unit);
            let mut best: Option<(f64, u32)> = None;
            for &tuple in &self.near[self.tuple_of[unit as usize] as usize] {
                let other = self.first[tuple as usize];
                let class = self.class_of[other as usize];
                let to = &self.classes[class as usize];
                if class as usize == a || to.units.len() > LARGE || to.units.is_empty() {
                    continue;
                }
                let growth = self.world.space.cost_with(&to.shape, codes) * (to.units.len() + 1) as f64 - to.loss();
                if best.is_none_or(|b| growth < b.0) {
                    best = Some((growth, class));
                }
            }
            match best {
                Some((_, class)) => self.relocate(unit, class),
                None => accepted = false,
            }
            // What is left of the class saves no more than what it still costs.
            accepted &= self.change() - self.classes[a].loss() <= allowed;
            if !accepted {
                break;
            }
        }
        self.finish(accepted && self.change() <= allowed);
    }

    /// Makes a class of a unit and of units near it that their classes can spare.
    fn found(&mut self, unit: u32) {
        let allowed = self.allowance();
        if self.classes[self.class_of[unit as usize] as usize].units.len() <= self.least {
            return;
        }
        self.begin();
        let new = self.vacant();
        let mut sources = vec![self.class_of[unit as usize]];
        self.relocate(unit, new);
        for at in 0..self.near[self.tuple_of[unit as usize] as usize].len() {
            let tuple = self.near[self.tuple_of[unit as usize] as usize][at] as usize;
            for other in self.first[tuple]..self.first[tuple + 1] {
                let from = self.class_of[other as usize];
                let size = self.classes[from as usize].units.len();
                if from != new
                    && size > self.least
                    && size <= LARGE
                    && self.classes[new as usize].units.len() < self.least
                {
                    self.relocate(other, new);
                    sources.push(from);
                }
            }
        }
        sources.sort_unstable();
        sources.dedup();
        sources.iter().for_each(|&class| self.reshape(class as usize));
        let enough = self.classes[new as usize].units.len() >= self.least;
        self.finish(enough && self.change() <= allowed);
    }

    /// A class without rows.
    fn vacant(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.classes.push(AnnealedClass { shape: self.world.space.empty(), ..AnnealedClass::default() });
            self.classes.len() as u32 - 1
        })
    }

    /// Begins a step that may be taken back.
    fn begin(&mut self) {
        self.saved.clear();
        self.moved.clear();
    }

    fn save(&mut self, class: u32) {
        if self.saved.iter().all(|s| s.class != class) {
            let c = &self.classes[class as usize];
            self.saved.push(Saved { class, shape: c.shape.clone(), cost: c.cost, loss: c.loss() });
        }
    }

    /// What the step has added to the loss so far.
    fn change(&self) -> f64 {
        self.saved.iter().map(|s| self.classes[s.class as usize].loss() - s.loss).sum()
    }

    /// Puts a unit into a class, whose shape grows; that of the class it leaves stays as it is.
    fn relocate(&mut self, unit: u32, to: u32) {
        let from = self.class_of[unit as usize];
        self.save(from);
        self.save(to);
        self.moved.push((unit, from));
        let codes = self.codes(unit);
        let class = &mut self.classes[to as usize];
        match class.units.is_empty() {
            true => self.world.space.start(&mut class.shape, codes),
            false => self.world.space.add(&mut class.shape, codes),
        }
        class.cost = self.world.space.cost(&class.shape);
        self.carry(unit, from, to);
    }

    /// Moves a unit from one list to another, with what it counts.
    fn carry(&mut self, unit: u32, from: u32, to: u32) {
        let old = &mut self.classes[from as usize];
        let at = self.place[unit as usize] as usize;
        old.units.swap_remove(at);
        if let Some(&moved) = old.units.get(at) {
            self.place[moved as usize] = at as u32;
        }
        let new = &mut self.classes[to as usize];
        self.place[unit as usize] = new.units.len() as u32;
        new.units.push(unit);
        self.class_of[unit as usize] = to;
        if !self.world.judge.size_only {
            let entry = self.world.entry(self.entry_of[unit as usize]);
            self.world.judge.remove(&mut self.classes[from as usize].tally, entry, 1);
            self.world.judge.add(&mut self.classes[to as usize].tally, entry, 1);
        }
    }

    /// Computes the shape of a class anew, after rows have left.
    fn reshape(&mut self, class: usize) {
        let mut shape = std::mem::take(&mut self.classes[class].shape);
        for (i, &unit) in self.classes[class].units.iter().enumerate() {
            match i {
                0 => self.world.space.start(&mut shape, self.codes(unit)),
                _ => self.world.space.add(&mut shape, self.codes(unit)),
            }
        }
        let empty = self.classes[class].units.is_empty();
        self.classes[class].cost = if empty { 0.0 } else { self.world.space.cost(&shape) };
        self.classes[class].shape = shape;
    }

    /// Ends a step: keeps it if it is accepted and every class still satisfies the policy, else takes it back.
    fn finish(&mut self, accepted: bool) {
        let holds = |class: &AnnealedClass| {
            class.units.is_empty()
                || class.units.len() >= self.least
                    && (self.world.judge.size_only || self.world.judge.holds(&class.tally))
        };
        let keep = accepted && self.saved.iter().all(|s| holds(&self.classes[s.class as usize]));
        let saved = std::mem::take(&mut self.saved);
        if keep {
            self.total += saved.iter().map(|s| self.classes[s.class as usize].loss() - s.loss).sum::<f64>();
        } else {
            let moved = std::mem::take(&mut self.moved);
            for &(unit, from) in moved.iter().rev() {
                self.carry(unit, self.class_of[unit as usize], from);
            }
            self.moved = moved;
        }
        for Saved { class, shape, cost, .. } in saved {
            let c = &mut self.classes[class as usize];
            if !keep {
                (c.shape, c.cost) = (shape, cost);
            }
            if c.units.is_empty() {
                self.free.push(class);
            }
        }
    }
}

/// A class as it was before a step.
struct Saved {
    class: u32,
    shape: Vec<ShapeWord>,
    cost: f64,
    loss: f64,
}

#[cfg(test)]
mod tests;
