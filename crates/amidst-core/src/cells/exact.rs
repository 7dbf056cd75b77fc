//! The least cost at one node, proven, for tables of few rows: every row takes every pattern in turn, and what cannot
//! become cheaper than the best so far is left out.

use super::coded::{Coded, Key, Pattern, Run};
use crate::frequency::Entry;
use crate::local::class::{Judge, Tally};

/// With more rows there is no hope to be through.
pub(super) const MOST_ROWS: u64 = 24;

/// With more columns there are too many patterns.
pub(super) const MOST_COLUMNS: usize = 5;

/// A gain below this is rounding.
const ROUNDING: f64 = 1e-9;

/// The steps were not enough.
#[derive(Debug)]
pub(super) struct Unfinished;

/// A row and what may become of it.
struct Row {
    entry: u32,
    unit: u32,
    /// What it costs more, and the pattern; without one the row is left out. The cheapest first.
    ways: Vec<(f64, Option<Pattern>, Key)>,
}

/// The search at one node.
struct Tree<'s, 'a> {
    coded: &'s Coded<'a>,
    judge: &'s Judge<'a>,
    rows: Vec<Row>,
    /// What the rows from each on cost at least.
    rest: Vec<f64>,
    taken: Vec<usize>,
    best: f64,
    found: Option<Vec<usize>>,
    steps: &'s mut u64,
}

/// The cheapest placement at a node that costs less than `ceiling`, with its cost.
pub(super) fn cheapest(
    coded: &Coded<'_>,
    judge: &Judge<'_>,
    limit: u64,
    ceiling: f64,
    steps: &mut u64,
) -> Result<Option<(f64, Vec<Run>)>, Unfinished> {
    let patterns: Vec<Pattern> = (0..1u64 << coded.columns.len())
        .map(|set| coded.columns.iter().enumerate().filter(|(i, _)| set >> i & 1 == 1).fold(0, |p, (_, c)| p | 1 << c))
        .collect();
    let stars: Vec<Key> = patterns.iter().map(|&p| coded.stars(p)).collect();
    let mut rows: Vec<Row> = Vec::new();
    for (tuple, &unit) in coded.unit_of_tuple.iter().enumerate() {
        let mut ways: Vec<(f64, Option<Pattern>, Key)> = (patterns.iter().zip(&stars))
            .map(|(&pattern, stars)| (coded.extra_of(unit, pattern), Some(pattern), coded.starred(unit, stars)))
            .filter(|way| {
                let stars = coded.stars(way.1.unwrap_or_default());
                let alike = (0..coded.units.len() as u32).filter(|&u| coded.starred(u, &stars) == way.2);
                alike.map(|u| coded.units[u as usize].rows).sum::<u64>() >= judge.least
            })
            .collect();
        if limit > 0 {
            ways.push((coded.dropped_extra(unit), None, Key::default()));
        }
        ways.sort_by(|a, b| a.0.total_cmp(&b.0));
        let first = coded.set.groups.offsets[tuple];
        for (i, entry) in coded.set.groups.get(tuple).iter().enumerate() {
            let row = || Row { entry: (first + i) as u32, unit, ways: ways.clone() };
            rows.extend((0..entry.rows).map(|_| row()));
        }
    }
    let base = coded.prices.base(&coded.levels);
    let mut rest = vec![0.0; rows.len() + 1];
    for i in (0..rows.len()).rev() {
        rest[i] = rest[i + 1] + rows[i].ways.first().map_or(f64::INFINITY, |way| way.0);
    }
    let mut tree =
        Tree { coded, judge, rows, rest, taken: Vec::new(), best: ceiling - base - ROUNDING, found: None, steps };
    tree.descend(0.0, limit)?;
    let Some(found) = tree.found else { return Ok(None) };
    let run = |(row, way): (&Row, usize)| Run { entry: row.entry, unit: row.unit, rows: 1, pattern: row.ways[way].1 };
    Ok(Some((tree.best + base, tree.rows.iter().zip(found).map(run).collect())))
}

impl Tree<'_, '_> {
    fn descend(&mut self, cost: f64, limit: u64) -> Result<(), Unfinished> {
        let at = self.taken.len();
        if cost + self.rest[at] >= self.best {
            return Ok(());
        }
        *self.steps = self.steps.checked_sub(1).ok_or(Unfinished)?;
        if at == self.rows.len() {
            if self.holds() {
                (self.best, self.found) = (cost - ROUNDING, Some(self.taken.clone()));
            }
            return Ok(());
        }
        // Rows of one entry are interchangeable.
        let from = match at.checked_sub(1) {
            Some(before) if self.rows[before].entry == self.rows[at].entry => self.taken[before],
            _ => 0,
        };
        for way in from..self.rows[at].ways.len() {
            let (more, pattern, _) = self.rows[at].ways[way];
            let limit = match (pattern, limit) {
                (None, 0) => continue,
                (None, limit) => limit - 1,
                (Some(_), limit) => limit,
            };
            self.taken.push(way);
            let done = self.descend(cost + more, limit);
            self.taken.pop();
            done?;
        }
        Ok(())
    }

    /// Whether the classes that all rows together make satisfy the policy.
    fn holds(&self) -> bool {
        let mut published: Vec<(Key, u32)> = (self.rows.iter().zip(&self.taken))
            .filter(|(row, way)| row.ways[**way].1.is_some())
            .map(|(row, &way)| (row.ways[way].2, row.entry))
            .collect();
        published.sort_unstable();
        published.chunk_by(|a, b| a.0 == b.0).all(|class| {
            let entry = |&(_, e): &(Key, u32)| Entry { rows: 1, ..self.coded.set.groups.entries[e as usize] };
            let tally: Tally = self.judge.tally(class.iter().map(entry));
            self.judge.holds(&tally)
        })
    }
}
