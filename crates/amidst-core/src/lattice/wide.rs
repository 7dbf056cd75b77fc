//! Good nodes of a lattice that is too large for the time there is: many columns, or many levels.
//!
//! Starts from both ends: columns are put down one after the other from the top, each as far as the policy allows, in
//! several orders; and from every good node a search among its neighbours goes on, one column up and one or two others
//! down, as long as that helps. Then some columns of the best are changed by chance, what no longer holds is mended by
//! going up, and the search begins again from there. Neighbours of a node are rolled up from the node just below all of
//! them, which is held, not from the finest; a neighbour whose levels alone cost too much is not counted at all.
//!
//! The sequence depends on the seed alone; how much of it is seen, on the time.

use std::time::Instant;

use rayon::prelude::*;
use rustc_hash::FxHashSet;

use super::find::Best;
use super::key::Key;
use super::price::Pricer;
use super::snapshot::Snapshot;
use super::walk::Walk;
use crate::random::Random;
use crate::search::{Search, SearchError};

/// Orders of the columns that are tried at first.
const ORDERS: usize = 6;

/// Neighbours that are counted before the best of them is taken.
const TOGETHER: usize = 8;

/// The number of new beginnings without a better node that are enough.
const IDLE: usize = 60;

/// A node with what it costs.
type Priced = (f64, Vec<usize>);

/// Offers `best` good nodes until the time is over.
pub(crate) fn improve<K: Key>(
    search: &Search<'_>,
    walk: &Walk<'_, K>,
    pricer: &Pricer<'_>,
    best: &Best<'_, '_>,
    until: Instant,
) -> Result<(), SearchError> {
    let climb = Climb { search, walk, pricer, best, until };
    let Some(top) = climb.price(&walk.base, walk.top.clone()) else { return Ok(()) };
    best.offer(top.0, &top.1);
    let mut random = Random::new(search.seed);
    let mut home = top;
    let starts: Vec<Option<Priced>> = climb.orders(&mut random).par_iter().map(|order| climb.down(order)).collect();
    for start in starts.into_iter().flatten() {
        best.offer(start.0, &start.1);
        home = if start.0 < home.0 { start } else { home };
    }
    let mut seen: FxHashSet<Vec<usize>> = FxHashSet::default();
    home = climb.descend(home, &mut seen, &mut random)?;
    let mut idle = 0;
    while !climb.over() && idle < IDLE {
        search.checkpoint()?;
        idle += 1;
        let Some(start) = climb.elsewhere(&home.1, &mut random)? else { continue };
        let found = climb.descend(start, &mut seen, &mut random)?;
        if found.0 < home.0 {
            idle = 0;
        }
        if found.0 <= home.0 {
            home = found;
        }
        // What was seen may be worth another look from elsewhere; memory is bounded.
        if seen.len() > 1 << 18 {
            seen.clear();
        }
    }
    Ok(())
}

struct Climb<'s, 'a, K> {
    search: &'s Search<'s>,
    walk: &'s Walk<'a, K>,
    pricer: &'s Pricer<'a>,
    best: &'s Best<'s, 'a>,
    until: Instant,
}

impl<K: Key> Climb<'_, '_, K> {
    fn over(&self) -> bool {
        Instant::now() >= self.until
    }

    /// What a node costs, rolled up from a finer one; `None` where it does not satisfy the policy.
    fn price(&self, source: &Snapshot<K>, levels: Vec<usize>) -> Option<Priced> {
        let mut snapshot = source.roll_up(&self.walk.layout, &levels, self.walk.judge.carry);
        let outcome = self.walk.judge.judge(&mut snapshot.classes, false);
        outcome.valid.then(|| (self.pricer.cost(&self.walk.judge, &snapshot.classes, &outcome.suppressed), levels))
    }

    /// Orders of the columns: those first that gain most by going down, those that gain least, and some by chance.
    fn orders(&self, random: &mut Random) -> Vec<Vec<usize>> {
        let top = self.pricer.lower_bound(&self.walk.top);
        let gain = |column: usize| {
            let mut levels = self.walk.top.clone();
            levels[column] = self.walk.bottom[column];
            top - self.pricer.lower_bound(&levels)
        };
        let gains: Vec<f64> = (0..self.walk.top.len()).map(gain).collect();
        let mut order: Vec<usize> = (0..gains.len()).collect();
        order.sort_by(|&a, &b| gains[b].total_cmp(&gains[a]).then(a.cmp(&b)));
        let mut orders = vec![order.clone(), order.iter().rev().copied().collect()];
        while orders.len() < ORDERS {
            random.shuffle(&mut order);
            orders.push(order.clone());
        }
        orders
    }

    /// From the top, the columns put down in this order, each as far as the policy allows.
    fn down(&self, order: &[usize]) -> Option<Priced> {
        let mut here = self.price(&self.walk.base, self.walk.top.clone())?;
        for &column in order {
            // The lowest first: whether a level holds, its neighbours do not tell for sure.
            for level in self.walk.bottom[column]..here.1[column] {
                if self.over() {
                    return Some(here);
                }
                let mut levels = here.1.clone();
                levels[column] = level;
                if self.pricer.lower_bound(&levels) >= here.0 {
                    continue;
                }
                if let Some(found) = self.price(&self.walk.base, levels).filter(|f| f.0 < here.0) {
                    here = found;
                    break;
                }
            }
        }
        Some(here)
    }

    /// The best node that steps among neighbours lead to.
    fn descend(
        &self,
        start: Priced,
        seen: &mut FxHashSet<Vec<usize>>,
        random: &mut Random,
    ) -> Result<Priced, SearchError> {
        let mut here = start;
        loop {
            self.search.checkpoint()?;
            let below: Vec<usize> =
                here.1.iter().zip(&self.walk.bottom).map(|(&l, &b)| l.saturating_sub(1).max(b)).collect();
            let source = self.walk.base.roll_up(&self.walk.layout, &below, self.walk.judge.carry);
            let mut neighbours = self.neighbours(&here, seen);
            random.shuffle(&mut neighbours);
            let mut better = None;
            for together in neighbours.chunks(TOGETHER) {
                if self.over() {
                    return Ok(here);
                }
                let price = |levels: &Vec<usize>| self.price(&source, levels.clone());
                let found: Vec<Option<Priced>> = together.par_iter().map(price).collect();
                seen.extend(together.iter().cloned());
                better = found
                    .into_iter()
                    .flatten()
                    .filter(|f| f.0 < here.0)
                    .min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
                if better.is_some() {
                    break;
                }
            }
            let Some(found) = better else { return Ok(here) };
            self.best.offer(found.0, &found.1);
            here = found;
        }
    }

    /// One column down; or one up and one or two others down. Only what may cost less and was not looked at.
    fn neighbours(&self, (cost, levels): &Priced, seen: &FxHashSet<Vec<usize>>) -> Vec<Vec<usize>> {
        let columns = levels.len();
        let mut found = Vec::new();
        let mut consider = |levels: Vec<usize>| {
            if self.pricer.lower_bound(&levels) < *cost && !seen.contains(&levels) {
                found.push(levels);
            }
        };
        let moved = |levels: &[usize], column: usize, up: bool| {
            let mut levels = levels.to_vec();
            let room =
                if up { levels[column] < self.walk.top[column] } else { levels[column] > self.walk.bottom[column] };
            room.then(|| {
                levels[column] = if up { levels[column] + 1 } else { levels[column] - 1 };
                levels
            })
        };
        for down in 0..columns {
            moved(levels, down, false).into_iter().for_each(&mut consider);
        }
        for up in 0..columns {
            let Some(raised) = moved(levels, up, true) else { continue };
            for down in (0..columns).filter(|&c| c != up) {
                let Some(lowered) = moved(&raised, down, false) else { continue };
                for again in down + 1..columns {
                    if again != up {
                        moved(&lowered, again, false).into_iter().for_each(&mut consider);
                    }
                }
                consider(lowered);
            }
        }
        found
    }

    /// A node some way off, mended by going up until it satisfies the policy.
    fn elsewhere(&self, home: &[usize], random: &mut Random) -> Result<Option<Priced>, SearchError> {
        let mut levels = home.to_vec();
        let columns = levels.len();
        for _ in 0..1 + random.below(3) {
            let column = random.below(columns);
            levels[column] = self.walk.top[column].min(levels[column] + 1 + random.below(2));
        }
        for _ in 0..1 + random.below(3) {
            let column = random.below(columns);
            levels[column] = self.walk.bottom[column].max(levels[column].saturating_sub(1 + random.below(2)));
        }
        loop {
            self.search.checkpoint()?;
            if self.over() {
                return Ok(None);
            }
            if let Some(found) = self.price(&self.walk.base, levels.clone()) {
                self.best.offer(found.0, &found.1);
                return Ok(Some(found));
            }
            let open: Vec<usize> = (0..columns).filter(|&c| levels[c] < self.walk.top[c]).collect();
            let Some(&column) = open.get(random.below(open.len())) else { return Ok(None) };
            levels[column] += 1;
        }
    }
}
