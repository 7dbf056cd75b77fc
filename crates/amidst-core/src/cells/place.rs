//! Which cells become the top at one node: quickly, and never worse than leaving out the rows that fit no class.
//!
//! Units that satisfy the policy stay as they are. The patterns of stars follow, the cheapest first: of the units that
//! are left, those that agree under a pattern and satisfy the policy together are published with it. What no pattern
//! serves joins a class that is there, or is left out within the limit, or is given companions: rows of other units
//! that take the same stars, though they would not need them. Of those ways the cheapest is taken.

use rustc_hash::FxHashMap;

use super::coded::{Coded, Key, Pattern, Run};
use crate::local::class::{Judge, Tally};
use crate::search::{Search, SearchError};

/// With at most this many columns every set of them is tried as a pattern.
const ALL_PATTERNS: usize = 9;

/// The most units that are pulled along with one that has no companions.
const MOST_COMPANIONS: usize = 64;

/// Where the rows of a node's units go.
#[derive(Debug, Clone)]
pub(super) struct Placement {
    /// The stars of each unit, but for rows that `moved` names; nothing where it is left out.
    pub pattern: Vec<Option<Pattern>>,
    /// Rows that were given stars as companions: the unit, its number of rows, the pattern.
    pub moved: Vec<(u32, u64, Pattern)>,
    /// What all rows lose.
    pub cost: f64,
}

/// The patterns that are tried at a node, the cheapest first by what they cost the rows that need them.
fn patterns(coded: &Coded<'_>, bad: &[u32]) -> Vec<Pattern> {
    let columns = &coded.columns;
    let rows = |u: u32| coded.units[u as usize].rows as f64;
    let cost: Vec<f64> =
        columns.iter().map(|&c| bad.iter().map(|&u| rows(u) * coded.extra(u, c)).sum::<f64>()).collect();
    let mut sets: Vec<u64> = match columns.len() {
        n if n <= ALL_PATTERNS => (1..1u64 << n).collect(),
        n => some_sets(n, &cost),
    };
    let price = |set: u64| (0..cost.len()).filter(|i| set >> i & 1 == 1).map(|i| cost[i]).sum::<f64>();
    sets.sort_by(|&a, &b| price(a).total_cmp(&price(b)).then(a.count_ones().cmp(&b.count_ones())).then(a.cmp(&b)));
    sets.dedup();
    let spread =
        |set: u64| columns.iter().enumerate().filter(|(i, _)| set >> i & 1 == 1).fold(0, |p, (_, c)| p | 1 << c);
    sets.into_iter().map(spread).collect()
}

/// Some of the sets of many columns: one or two stars, all but one or two, and a number of the cheapest.
fn some_sets(n: usize, cost: &[f64]) -> Vec<u64> {
    let all = if n >= 64 { u64::MAX } else { (1 << n) - 1 };
    let mut sets = vec![all];
    for a in 0..n {
        sets.extend([1 << a, all & !(1 << a)]);
        sets.extend((0..a).flat_map(|b| [1 << a | 1 << b, all & !(1 << a | 1 << b)]));
    }
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&a, &b| cost[a].total_cmp(&cost[b]));
    let chain = order.iter().scan(0u64, |set, &i| {
        *set |= 1 << i;
        Some(*set)
    });
    sets.extend(chain.collect::<Vec<_>>());
    sets.retain(|&set| set != 0);
    sets.sort_unstable();
    sets.dedup();
    sets
}

/// What is left to be placed at a node, and what is placed.
struct Placing<'s, 'a> {
    coded: &'s Coded<'a>,
    judge: &'s Judge<'a>,
    placement: Placement,
    /// The tallies of units that do not satisfy the policy on their own.
    tallies: FxHashMap<u32, Tally>,
    left: Vec<u32>,
    patterns: Vec<(Pattern, Key)>,
    /// The classes with stars.
    classes: FxHashMap<Key, Tally>,
    /// Rows that may still be left out.
    limit: u64,
}

/// Units that do not satisfy the policy on their own.
pub(super) fn misfits(coded: &Coded<'_>, judge: &Judge<'_>) -> Vec<u32> {
    (0..coded.units.len() as u32).filter(|&u| !judge.holds(&coded.tally(judge, u))).collect()
}

/// The least that any placement at a node costs: where a unit's verdict cannot change by losing rows, all of its rows
/// need a star or must go, else one of them does.
pub(super) fn least(coded: &Coded<'_>, bad: &[u32], growing: bool) -> f64 {
    let star = |u: u32| coded.columns.iter().map(|&c| coded.extra(u, c)).fold(coded.dropped_extra(u), f64::min);
    let rows = |u: u32| if growing { coded.units[u as usize].rows as f64 } else { 1.0 };
    coded.prices.base(&coded.levels) + bad.iter().map(|&u| rows(u) * star(u)).sum::<f64>()
}

/// Places the rows of a node. `limit` rows may be left out. Nothing where no way was found.
pub(super) fn place(
    search: &Search<'_>,
    coded: &Coded<'_>,
    judge: &Judge<'_>,
    bad: Vec<u32>,
    limit: u64,
) -> Result<Option<Placement>, SearchError> {
    let mut pattern = vec![Some(0); coded.units.len()];
    bad.iter().for_each(|&u| pattern[u as usize] = None);
    let placement = Placement { pattern, moved: Vec::new(), cost: coded.prices.base(&coded.levels) };
    let mut placing = Placing {
        coded,
        judge,
        placement,
        tallies: bad.iter().map(|&u| (u, coded.tally(judge, u))).collect(),
        patterns: patterns(coded, &bad).into_iter().map(|p| (p, coded.stars(p))).collect(),
        left: bad,
        classes: FxHashMap::default(),
        limit,
    };
    for i in 0..placing.patterns.len() {
        if placing.left.is_empty() {
            break;
        }
        if i % 16 == 0 {
            search.checkpoint()?;
        }
        placing.together(i);
    }
    while let Some(unit) = placing.left.pop() {
        if !placing.alone(unit) {
            return Ok(None);
        }
    }
    Ok(Some(placing.placement))
}

impl Placing<'_, '_> {
    /// Publishes the units left that agree under a pattern and satisfy the policy together.
    fn together(&mut self, pattern: usize) {
        let (pattern, stars) = self.patterns[pattern];
        let mut index: FxHashMap<Key, u32> = FxHashMap::default();
        let mut rows: Vec<u64> = Vec::new();
        let group: Vec<u32> = (self.left.iter())
            .map(|&u| {
                let group = *index.entry(self.coded.starred(u, &stars)).or_insert_with(|| {
                    rows.push(0);
                    rows.len() as u32 - 1
                });
                rows[group as usize] += self.coded.units[u as usize].rows;
                group
            })
            .collect();
        let mut enough: Vec<bool> = rows.iter().map(|&n| n >= self.judge.least).collect();
        if !enough.contains(&true) {
            return;
        }
        let mut tallies: FxHashMap<u32, Tally> = FxHashMap::default();
        for (&u, &g) in self.left.iter().zip(&group).filter(|(_, g)| enough[**g as usize]) {
            self.judge.merge(tallies.entry(g).or_default(), &self.tallies[&u]);
        }
        for (&g, tally) in &tallies {
            enough[g as usize] = self.judge.holds(tally);
        }
        let left = std::mem::take(&mut self.left);
        for (u, g) in left.into_iter().zip(group) {
            if !enough[g as usize] {
                self.left.push(u);
                continue;
            }
            if let Some(tally) = tallies.remove(&g) {
                let key = self.coded.starred(u, &stars);
                self.judge.merge(self.classes.entry(key).or_default(), &tally);
            }
            self.publish(u, pattern);
        }
    }

    fn publish(&mut self, unit: u32, pattern: Pattern) {
        self.placement.pattern[unit as usize] = Some(pattern);
        let rows = self.coded.units[unit as usize].rows as f64;
        self.placement.cost += rows * self.coded.extra_of(unit, pattern);
    }

    /// Finds a place for a unit that no pattern serves: with a class that is there, left out, or with companions.
    fn alone(&mut self, unit: u32) -> bool {
        let rows = self.coded.units[unit as usize].rows;
        let tally = self.tallies[&unit].clone();
        let mut best: Option<(f64, Place)> = None;
        let offer = |best: &mut Option<(f64, Place)>, cost: f64, place: Place| {
            if best.as_ref().is_none_or(|b| cost < b.0) {
                *best = Some((cost, place));
            }
        };
        if rows <= self.limit {
            offer(&mut best, rows as f64 * self.coded.dropped_extra(unit), Place::Out);
        }
        for &(pattern, stars) in &self.patterns {
            let cost = rows as f64 * self.coded.extra_of(unit, pattern);
            if best.as_ref().is_some_and(|b| cost >= b.0) {
                continue;
            }
            if let Some(class) = self.classes.get(&self.coded.starred(unit, &stars)) {
                let mut together = class.clone();
                self.judge.merge(&mut together, &tally);
                if self.judge.holds(&together) {
                    offer(&mut best, cost, Place::Join(pattern));
                    continue;
                }
            }
            if let Some((more, companions)) = self.companions(unit, pattern, &stars, &tally) {
                offer(&mut best, cost + more, Place::With(pattern, companions));
            }
        }
        match best {
            None => return false,
            Some((cost, Place::Out)) => {
                self.limit -= rows;
                self.placement.cost += cost;
            }
            Some((_, Place::Join(pattern))) => {
                let key = self.coded.starred(unit, &self.coded.stars(pattern));
                self.judge.merge(self.classes.entry(key).or_default(), &tally);
                self.publish(unit, pattern);
            }
            Some((_, Place::With(pattern, companions))) => self.accompany(unit, pattern, tally, companions),
        }
        true
    }

    /// Rows of other units, published as they are so far, with which a unit satisfies the policy under a pattern, and
    /// what the stars cost them. Where the policy counts rows alone, those that their own classes can spare; else whole
    /// units.
    fn companions(&self, unit: u32, pattern: Pattern, stars: &Key, tally: &Tally) -> Option<(f64, Vec<(u32, u64)>)> {
        let key = self.coded.starred(unit, stars);
        let plain = |u: &u32| self.placement.pattern[*u as usize] == Some(0) && self.coded.starred(*u, stars) == key;
        let mut found: Vec<(u32, u64)> =
            (0..self.coded.units.len() as u32).filter(plain).map(|u| (u, self.available(u))).collect();
        let mut together = tally.clone();
        if let Some(class) = self.classes.get(&key) {
            self.judge.merge(&mut together, class);
        }
        let (mut taken, mut cost) = (Vec::new(), 0.0);
        if self.judge.size_only {
            let mut wanted = self.judge.least.saturating_sub(together.rows);
            let spare = |rows: u64| rows.saturating_sub(self.judge.least);
            found.sort_by_key(|&(u, rows)| (std::cmp::Reverse(spare(rows)), u));
            for &(u, rows) in &found {
                let rows = spare(rows).min(wanted);
                if rows > 0 {
                    wanted -= rows;
                    cost += rows as f64 * self.coded.extra_of(u, pattern);
                    taken.push((u, rows));
                }
            }
            if wanted == 0 {
                return Some((cost, taken));
            }
            (taken, cost) = (Vec::new(), 0.0);
        }
        found.sort_by_key(|&(u, rows)| (rows, u));
        for &(u, rows) in found.iter().take(MOST_COMPANIONS) {
            if rows != self.coded.units[u as usize].rows {
                continue;
            }
            self.judge.merge(&mut together, &self.coded.tally(self.judge, u));
            cost += rows as f64 * self.coded.extra_of(u, pattern);
            taken.push((u, rows));
            if self.judge.holds(&together) {
                return Some((cost, taken));
            }
        }
        None
    }

    /// The rows of a unit that are still published as they are.
    fn available(&self, unit: u32) -> u64 {
        let gone: u64 = self.placement.moved.iter().filter(|m| m.0 == unit).map(|m| m.1).sum();
        self.coded.units[unit as usize].rows - gone
    }

    fn accompany(&mut self, unit: u32, pattern: Pattern, tally: Tally, companions: Vec<(u32, u64)>) {
        let key = self.coded.starred(unit, &self.coded.stars(pattern));
        let mut together = tally;
        for (u, rows) in companions {
            if rows == self.coded.units[u as usize].rows {
                self.judge.merge(&mut together, &self.coded.tally(self.judge, u));
                self.publish(u, pattern);
            } else {
                // The policy counts rows alone, so it does not matter which.
                together.rows += rows;
                self.placement.cost += rows as f64 * self.coded.extra_of(u, pattern);
                self.placement.moved.push((u, rows, pattern));
            }
        }
        self.judge.merge(self.classes.entry(key).or_default(), &together);
        self.publish(unit, pattern);
    }
}

/// A way to place a unit.
enum Place {
    /// It is left out.
    Out,
    /// It joins the class that is there under a pattern.
    Join(Pattern),
    /// It is published under a pattern with this number of rows of others.
    With(Pattern, Vec<(u32, u64)>),
}

impl Placement {
    /// The rows of every entry with their patterns.
    pub fn runs(&self, coded: &Coded<'_>) -> Vec<Run> {
        let mut moved: FxHashMap<u32, Vec<(u64, Pattern)>> = FxHashMap::default();
        for &(unit, rows, pattern) in &self.moved {
            moved.entry(unit).or_default().push((rows, pattern));
        }
        let mut runs = Vec::with_capacity(coded.set.groups.entries.len());
        for (tuple, &unit) in coded.unit_of_tuple.iter().enumerate() {
            let first = coded.set.groups.offsets[tuple];
            for (i, entry) in coded.set.groups.get(tuple).iter().enumerate() {
                let mut left = entry.rows;
                let run = |rows, pattern| Run { entry: (first + i) as u32, unit, rows, pattern };
                for (wanted, pattern) in moved.get_mut(&unit).into_iter().flatten().filter(|m| m.0 > 0) {
                    let rows = left.min(*wanted);
                    *wanted -= rows;
                    left -= rows;
                    if rows > 0 {
                        runs.push(run(rows, Some(*pattern)));
                    }
                }
                if left > 0 {
                    runs.push(run(left, self.pattern[unit as usize]));
                }
            }
        }
        runs
    }
}
