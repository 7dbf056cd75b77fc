//! Why a node cannot be published: which requirement fails in which classes, and the rows that it would cost.

use super::by_class::ByClass;
use super::judge::Judge;
use super::key::{Key, Wide};
use super::layout::Layout;
use super::on_lattice;
use super::walk::Walk;
use crate::class::Sizes;
use crate::hierarchy::Cell;
use crate::model::{Bound, Level, Needs, Stronger};
use crate::search::{Search, SearchError};

/// What stands between a node and its publication.
#[derive(Debug, Clone, PartialEq)]
pub struct WhyNot {
    /// Whether the node satisfies the policy after all, with its failing classes suppressed.
    pub valid: bool,
    /// The number of classes of the node.
    pub classes: u64,
    /// The rows that must be suppressed: those of every class that fails some requirement.
    pub rows: u64,
    /// The number of rows that may be suppressed.
    pub limit: u64,
    /// What each requirement of the policy says, in its order.
    pub requirements: Vec<Obstacle>,
}

/// What one requirement says about a node.
#[derive(Debug, Clone, PartialEq)]
pub struct Obstacle {
    /// The requirement's position in the policy.
    pub requirement: usize,
    /// Whether every class (or the release as a whole) satisfies it with nothing suppressed.
    pub holds: bool,
    /// How many classes fail it.
    pub classes: u64,
    /// The rows that suppressing them would cost.
    pub rows: u64,
    /// The strongest parameter that every class satisfies.
    pub measured: Option<Level>,
    /// The classes that fail it most, at most five.
    pub worst: Vec<FailingClass>,
}

/// A class that fails a requirement.
#[derive(Debug, Clone, PartialEq)]
pub struct FailingClass {
    /// Its generalized tuple.
    pub cells: Vec<Cell>,
    /// Its rows.
    pub rows: u64,
    /// The strongest parameter that it satisfies.
    pub measured: Option<Level>,
}

/// How many failing classes are shown.
const SHOWN: usize = 5;

/// What keeps the node at `levels` from being published.
pub fn why_not(search: &Search<'_>, levels: &[usize]) -> Result<WhyNot, SearchError> {
    let heights: Vec<usize> = search.generalizations.iter().map(|g| g.height()).collect();
    if levels.len() != heights.len() || levels.iter().zip(&heights).any(|(l, h)| l > h) {
        return Err(SearchError::Unsupported(format!("a node has one level per quasi column, at most {heights:?}")));
    }
    let judge = Judge::new(search, false);
    on_lattice!(search, judge, true, walk => {
        let mut snapshot = walk.snapshot(levels);
        let outcome = walk.judge.judge(&mut snapshot.classes, true);
        let classes = &snapshot.classes;
        let verdicts = walk.judge.verdicts(classes);
        let by = ByClass::new(search.set, classes, walk.judge.all_tuples);
        let evaluator = &walk.judge.evaluator;
        let cells = |class: usize| -> Vec<Cell> {
            let codes = search.set.tuple(classes.first[class] as usize);
            (codes.iter().zip(search.generalizations).zip(levels))
                .map(|((&code, g), &level)| Cell::Node { level: level as u32, value: g.levels[level].of[code as usize] })
                .collect()
        };
        let requirements = search.requirements.iter().enumerate().map(|(i, r)| {
            if r.needs() == Needs::Release {
                let sizes = Sizes::collect(walk.judge.sizes(classes).into_iter().filter(|&n| n > 0));
                return Obstacle {
                    requirement: i,
                    holds: r.models.iter().all(|m| m.holds_release(&sizes)),
                    classes: 0,
                    rows: 0,
                    measured: r.models.first().and_then(|m| m.measure_release(&sizes)),
                    worst: Vec::new(),
                };
            }
            let mut measured: Option<Level> = None;
            let mut failing: Vec<(f64, usize, Option<Level>)> = Vec::new();
            for class in (0..classes.len()).filter(|&c| classes.rows[c] > 0) {
                let level = evaluator.measure_covering(i, by.entries.get(class), by.tuples(class));
                if !verdicts[i][class] {
                    failing.push((strength(level.as_ref()), class, level.clone()));
                }
                measured = match (measured, level) {
                    (Some(a), Some(b)) => Some(a.worst(b)),
                    (a, b) => a.or(b),
                };
            }
            failing.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            Obstacle {
                requirement: i,
                holds: failing.is_empty(),
                classes: failing.len() as u64,
                rows: failing.iter().map(|f| classes.rows[f.1]).sum(),
                measured,
                worst: (failing.into_iter().take(SHOWN))
                    .map(|(_, class, measured)| FailingClass { cells: cells(class), rows: classes.rows[class], measured })
                    .collect(),
            }
        }).collect();
        let any = |class: usize| verdicts.iter().any(|v| v.get(class) == Some(&false));
        Ok(WhyNot {
            valid: outcome.valid,
            classes: classes.rows.iter().filter(|&&n| n > 0).count() as u64,
            rows: (0..classes.len()).filter(|&c| any(c)).map(|c| classes.rows[c]).sum(),
            limit: walk.judge.limit,
            requirements,
        })
    })
}

/// A number that grows with the protection that a level means.
fn strength(level: Option<&Level>) -> f64 {
    match level {
        None => f64::NEG_INFINITY,
        Some(Level { bound: Bound::Never, .. }) => f64::NEG_INFINITY,
        Some(Level { bound: Bound::Always, .. }) => f64::INFINITY,
        Some(level) => match level.stronger {
            Stronger::Larger => level.bound.to_f64(),
            Stronger::Smaller => -level.bound.to_f64(),
        },
    }
}
