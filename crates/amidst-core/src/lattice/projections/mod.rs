//! What no node costs less than, for a metric that is a sum over cells: proven from projections on some of the columns.
//!
//! The rows of a class that is too small in the projection of a node on some columns are in classes that are too small
//! in the node itself, whatever the other columns do. So these rows are suppressed there, and if they are too many the
//! node is not valid. What a node costs is a sum over columns, a suppressed row costing its share in each of them; the
//! least that disjoint sets of columns cost alone, each at levels of its own, therefore adds up to a bound for all
//! nodes.
//!
//! The larger the sets, the better the bound; with all columns in one set it is the least cost itself, as far as the
//! sizes of classes decide. So sets are merged in pairs, those first that get in each other's way, for as long as there
//! is time: each merged set is searched by branch and bound ([`prove`]), with what its parts cost as bounds.
//!
//! May use: the rest of `lattice`, and what that uses.

mod part;
mod prove;

use std::time::{Duration, Instant};

use rayon::prelude::*;

use super::find::Best;
use super::key::Key;
use super::walk::Walk;
use crate::frequency;
use crate::hierarchy::Cell;
use crate::metric::Input;
use crate::search::need::Need;
use crate::search::{Search, SearchError, Suppressed};
use part::{ColumnCosts, Field, Fields, Part, Scratch};
use prove::{Block, Proof};

/// Sets of columns that were searched.
#[derive(Debug, Clone)]
struct Group {
    /// The columns.
    members: Vec<usize>,
    /// What is known of them together, by their positions in `members`.
    block: Block,
    /// What they cost at least.
    least: f64,
    /// The levels at which they cost that, once it is exact.
    levels: Vec<usize>,
    /// By how much the bound is raised next.
    step: f64,
    /// Whether the columns alone do not cost more.
    exact: bool,
}

/// By what share of itself a bound is raised first; twice as far each time.
const FIRST_STEP: f64 = 0.02;

/// What was proven.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Proven {
    /// No node costs less; infinite where none costs less than the best that was known.
    pub bound: f64,
    /// The levels that cost least by the sizes of classes, where they are known.
    pub levels: Option<Vec<usize>>,
}

/// A bound on what any node costs, and perhaps the cheapest. `None` where the metric is no sum over cells, the policy
/// asks for nothing that sizes tell, or the table is too large for it.
pub(crate) fn prove<K: Key>(
    search: &Search<'_>,
    walk: &Walk<'_, K>,
    best: &Best<'_, '_>,
    until: Instant,
) -> Result<Option<Proven>, SearchError> {
    let Some(columns) = costs(search) else { return Ok(None) };
    let Some(least) = Need::of(search).and_then(|need| u32::try_from(need.rows).ok()) else { return Ok(None) };
    let set = search.set;
    let tuples: Vec<usize> = (0..set.len()).filter(|&t| !set.groups.get(t).is_empty()).collect();
    if set.rows > u64::from(u32::MAX) || tuples.len() * 8 * set.width > walk.budget {
        return Ok(None);
    }
    let fields = (search.generalizations.iter().zip(&columns.columns).enumerate())
        .map(|(c, (g, costs))| Field::new(g, walk.bottom[c], costs, tuples.iter().map(|&t| set.tuple(t)[c]).collect()))
        .collect();
    let rows = tuples.iter().map(|&t| frequency::rows(set.groups.get(t)) as u32).collect();
    let fields = Fields::new(fields, rows, least);
    let ceiling = (best.ceiling() - columns.offset) / columns.scale;
    let stop = || search.checkpoint().is_err();
    let merging = Merging { fields: &fields, limit: walk.judge.limit, ceiling, until, stop: &stop };
    let groups = merging.run();
    search.checkpoint()?;
    let Some(groups) = groups else { return Ok(None) };
    let sum: f64 = groups.iter().map(|g| g.least).sum();
    let mut proven = Proven { bound: columns.offset + columns.scale * (sum - 1e-10 * sum.abs()), levels: None };
    if sum >= ceiling * (1.0 - 1e-10) {
        proven.bound = f64::INFINITY;
    } else if let [group] = &groups[..]
        && group.exact
    {
        let mut levels = walk.top.clone();
        group.members.iter().zip(&group.levels).for_each(|(&c, &level)| levels[c] = level);
        proven.levels = Some(levels);
    }
    Ok(Some(proven))
}

/// What cells cost, column by column: offset + scale · Σ.
struct Costs {
    columns: Vec<ColumnCosts>,
    offset: f64,
    scale: f64,
}

/// `None` where the metric is no such sum, or a suppressed row may cost less than a published one.
fn costs(search: &Search<'_>) -> Option<Costs> {
    let input = Input { set: search.set, generalizations: search.generalizations, k: search.k };
    let costs = search.metric.metric.cells(&input)?;
    let mut columns: Vec<ColumnCosts> = (search.generalizations.iter().zip(input.marginals()).enumerate())
        .map(|(column, (g, counts))| {
            let value = |level: usize, value: u32| (costs.cell)(column, g, &Cell::Node { level: level as u32, value });
            let cells: Vec<Vec<f64>> = (g.levels.iter().enumerate())
                .map(|(level, values)| (0..values.labels.len() as u32).map(|v| value(level, v)).collect())
                .collect();
            let whole = (g.levels.iter().zip(&cells))
                .map(|(level, cells)| level.of.iter().zip(&counts).map(|(&v, &n)| n as f64 * cells[v as usize]).sum())
                .collect();
            let lost = cells.iter().flatten().copied().fold(0.0, f64::max);
            ColumnCosts { cells, whole, lost }
        })
        .collect();
    let dearest: f64 = columns.iter().map(|c| c.lost).sum();
    let row = if search.suppressed == Suppressed::Mask {
        let top = |c: &ColumnCosts| c.cells.last().and_then(|cells| cells.first()).copied().unwrap_or(0.0);
        columns.iter().map(top).sum()
    } else {
        costs.suppressed
    };
    if dearest > row * (1.0 + 1e-12) || costs.scale <= 0.0 || !costs.scale.is_finite() {
        return None;
    }
    let share = (row - dearest).max(0.0) / columns.len() as f64;
    columns.iter_mut().for_each(|c| c.lost += share);
    Some(Costs { columns, offset: costs.offset, scale: costs.scale })
}

struct Merging<'s, 'a> {
    fields: &'s Fields<'a>,
    limit: u64,
    /// What the best node that is known costs.
    ceiling: f64,
    until: Instant,
    stop: &'s (dyn Fn() -> bool + Sync),
}

impl Merging<'_, '_> {
    /// Sets of columns and what each costs at least; `None` where not even single columns were searched.
    fn run(&self) -> Option<Vec<Group>> {
        let count = self.fields.fields.len();
        let mut groups: Vec<Group> = (0..count).map(|c| self.single(c)).collect::<Option<_>>()?;
        while groups.len() > 1 && self.open(&groups) {
            let mut merged: Vec<Option<Group>> = groups.iter().cloned().map(Some).collect();
            let mut next: Vec<Group> = Vec::new();
            for (a, b) in self.pairs(&groups) {
                if let (Some(a), Some(b)) = (merged[a].take(), merged[b].take()) {
                    next.push(self.together(a, b));
                }
            }
            next.extend(merged.into_iter().flatten());
            groups = next;
            self.raise_all(&mut groups);
        }
        Some(groups)
    }

    /// Raises what groups are known to cost: always the one whose last step took the least time.
    fn raise_all(&self, groups: &mut [Group]) {
        let tables: Vec<Option<Fields<'_>>> =
            groups.iter().map(|g| (!g.exact).then(|| self.fields.project(&g.members))).collect();
        let mut took = vec![Duration::ZERO; groups.len()];
        while self.open(groups) {
            let open = (0..groups.len()).filter(|&g| !groups[g].exact).min_by_key(|&g| (took[g], g));
            let Some((at, fields)) = open.and_then(|g| Some((g, tables[g].as_ref()?))) else { return };
            let start = Instant::now();
            let others: f64 = groups.iter().map(|g| g.least).sum::<f64>() - groups[at].least;
            self.raise(&mut groups[at], fields, self.ceiling - others);
            took[at] = start.elapsed();
        }
    }

    /// Whether there is something left to prove, and time for it.
    fn open(&self, groups: &[Group]) -> bool {
        groups.iter().map(|g| g.least).sum::<f64>() < self.ceiling && Instant::now() < self.until && !(self.stop)()
    }

    fn single(&self, column: usize) -> Option<Group> {
        let block = Block::One(0);
        let fields = self.fields.project(&[column]);
        let proof = Proof::new(&fields, &block, self.limit, self.until, f64::INFINITY, self.stop);
        let (least, levels) = proof.run()??;
        Some(Group { members: vec![column], block, least, levels, step: 0.0, exact: true })
    }

    /// Groups in pairs: those first that cannot both have the levels at which each costs least.
    fn pairs(&self, groups: &[Group]) -> Vec<(usize, usize)> {
        let fix = |part: &mut Part, group: &Group, scratch: &mut Scratch| {
            for (&column, &level) in group.members.iter().zip(&group.levels) {
                *part = self.fields.split(part, column, level, scratch);
            }
        };
        let of_one = |a: usize| {
            let mut scratch = Scratch::default();
            let mut part = self.fields.whole();
            fix(&mut part, &groups[a], &mut scratch);
            let beside = |b: usize| {
                let mut both = part.clone();
                fix(&mut both, &groups[b], &mut scratch);
                (both.lost, both.classes(), a, b)
            };
            (a + 1..groups.len()).map(beside).collect::<Vec<_>>()
        };
        let mut scores: Vec<(u64, usize, usize, usize)> =
            (0..groups.len()).into_par_iter().flat_map_iter(of_one).collect();
        scores.sort_by_key(|&(lost, classes, a, b)| (std::cmp::Reverse((lost, classes)), a, b));
        let mut taken = vec![false; groups.len()];
        let mut pairs = Vec::new();
        for (_, _, a, b) in scores {
            if !taken[a] && !taken[b] {
                (taken[a], taken[b]) = (true, true);
                pairs.push((a, b));
            }
        }
        pairs
    }

    /// Two groups as one.
    fn together(&self, a: Group, b: Group) -> Group {
        let least = a.least + b.least;
        let share = (a.members.len() + b.members.len()) as f64 / self.fields.fields.len() as f64;
        let shifted = Box::new(b.block.shifted(a.members.len()));
        Group {
            members: a.members.into_iter().chain(b.members).collect(),
            block: Block::Both(Box::new(a.block), shifted, least),
            least,
            levels: a.levels.into_iter().chain(b.levels).collect(),
            step: FIRST_STEP * least.abs().max(0.5 * self.ceiling.abs() * share),
            exact: false,
        }
    }

    /// Raises what a group is known to cost by a step, or finds out what it costs; unless the time is over before.
    /// More than `enough` is of no use.
    fn raise(&self, group: &mut Group, fields: &Fields<'_>, enough: f64) {
        let threshold = (group.least + group.step).min(enough);
        let proof = Proof::new(fields, &group.block, self.limit, self.until, threshold, self.stop);
        let Some(found) = proof.run() else { return };
        group.least = found.as_ref().map_or(threshold, |(cost, _)| *cost);
        group.step *= 2.0;
        if let Block::Both(.., together) = &mut group.block {
            *together = group.least;
        }
        if let Some((_, levels)) = found {
            group.levels = levels;
            group.exact = true;
        }
    }
}

#[cfg(test)]
mod tests;
