//! The verdict of a requirement on what all versions together tell about one person.
//!
//! The shares of the worlds in which the person has each value are given to the model as a class. A model that looks at
//! shares only gets as many rows as it needs for a verdict; one that looks at sums over rows gets no more than the
//! smallest class of the person has.
//!
//! **Bounds.** Where shares are known within bounds only, the model must be satisfied at every corner of what is
//! possible. That is enough: a model that stays satisfied when classes merge is satisfied by every mixture of
//! distributions that satisfy it, and a series keeps no other models. A model that stays satisfied whatever joins a
//! class needs to know which values are possible, and nothing more.

use crate::frequency::{Entry, FrequencySet, Groups, NOBODY};
use crate::ids::SensitiveId;
use crate::model::Needs;
use crate::requirement::{Evaluator, Requirement};
use crate::worlds::{CohortBelief, Group, History, Posterior, Range};

/// What a requirement says of somebody, the worst last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// It holds.
    Holds,
    /// It may not hold: a bound did not prove it.
    Unproven,
    /// It does not hold.
    Below,
}

/// With more values whose bounds differ than these, corners are too many to look at.
const OPEN: usize = 10;

/// The requirements of a policy, and the sensitive tuples that a history speaks of.
///
/// The values of the history are the numbers of the tuples in `set`.
#[derive(Debug)]
pub struct Judge<'a> {
    /// For each version the sensitive tuples with the counts of that version.
    evaluators: Vec<Evaluator<'a>>,
    requirements: &'a [Requirement],
    set: &'a FrequencySet,
}

/// Rows of a value of a history.
fn entry(value: u32, rows: u64) -> Entry {
    Entry { sensitive: SensitiveId(value), person: NOBODY, rows }
}

/// For each version, the tuples of `set` with the counts that the version published.
pub fn tables(history: &History, set: &FrequencySet) -> Vec<FrequencySet> {
    let table = |version: usize| {
        let counts = history.table(version).iter();
        let entries: Vec<Entry> = counts.map(|&(value, rows)| entry(value, rows)).collect();
        FrequencySet {
            rows: entries.iter().map(|e| e.rows).sum(),
            groups: Groups { offsets: vec![0, entries.len()], entries },
            sensitive: set.sensitive.clone(),
            sensitive_width: set.sensitive_width,
            sensitive_domains: set.sensitive_domains.clone(),
            ..FrequencySet::default()
        }
    };
    (0..history.versions()).map(table).collect()
}

impl<'a> Judge<'a> {
    /// A judge for `requirements`; `tables` are those of [`tables`]. A person who was last published in a version is
    /// compared with the table of that version, where a model compares classes with a table.
    pub fn new(set: &'a FrequencySet, tables: &'a [FrequencySet], requirements: &'a [Requirement]) -> Self {
        let evaluators = tables.iter().map(|table| Evaluator::new(table, requirements)).collect();
        Judge { evaluators, requirements, set }
    }

    /// The number of sensitive columns.
    pub(super) fn columns(&self) -> usize {
        self.set.sensitive_width
    }

    /// For each requirement whether it looks at values, so that there is something to apply it to.
    pub(super) fn applied(&self) -> impl Iterator<Item = bool> + '_ {
        self.requirements.iter().map(|r| r.needs() == Needs::Histogram && !r.on.is_empty())
    }

    /// Whether a requirement is one on a column.
    pub(super) fn concerns(&self, requirement: usize, column: usize) -> bool {
        self.requirements[requirement].on.contains(&column)
    }

    /// The values of a column that some tuples have, ascending.
    pub(super) fn project(&self, column: usize, tuples: impl Iterator<Item = u32>) -> Vec<u32> {
        let mut codes: Vec<u32> = tuples.map(|tuple| self.set.sensitive_code(SensitiveId(tuple), column)).collect();
        codes.sort_unstable();
        codes.dedup();
        codes
    }

    /// The share of each of some values of a column, where it is known.
    pub(super) fn shares(&self, column: usize, told: &CohortBelief, values: &[u32]) -> Vec<(u32, Option<f64>)> {
        let share = |value: u32| match told {
            CohortBelief::Bound(_) => None,
            CohortBelief::Exact(posterior) => {
                let total = posterior.spare + posterior.weights.iter().map(|w| w.1).sum::<u64>();
                let own =
                    posterior.weights.iter().filter(|w| self.set.sensitive_code(SensitiveId(w.0), column) == value);
                Some(own.map(|w| w.1).sum::<u64>() as f64 / total.max(1) as f64)
            }
        };
        values.iter().map(|&value| (value, share(value))).collect()
    }

    /// What a requirement says of what is told about a group.
    pub(super) fn verdict(&self, requirement: usize, told: &CohortBelief, group: &Group) -> Verdict {
        let r = &self.requirements[requirement];
        let evaluator = &self.evaluators[group.last];
        let models = r.models.iter().enumerate().map(|(m, model)| model.least_rows(evaluator.table(requirement, m)));
        let case = Case {
            evaluator,
            requirement,
            least: models.max().unwrap_or(1).max(1),
            whole: r.on.len() == 1,
            rows: r.models.iter().any(|m| !m.scales()).then_some(group.smallest),
        };
        let support = r.preserved_by_insertion() && case.rows.is_none();
        let proven = |holds: bool| if holds { Verdict::Holds } else { Verdict::Unproven };
        match told {
            CohortBelief::Exact(Posterior { weights, spare: 0 }) => {
                if case.holds(weights) {
                    Verdict::Holds
                } else {
                    Verdict::Below
                }
            }
            CohortBelief::Exact(posterior) if support => {
                let present: Vec<(u32, u64)> = posterior.weights.iter().map(|w| (w.0, 1)).collect();
                if case.holds(&present) { Verdict::Holds } else { Verdict::Below }
            }
            CohortBelief::Exact(posterior) => proven((0..posterior.weights.len()).all(|at| {
                let mut corner = posterior.weights.clone();
                corner[at].1 += posterior.spare;
                case.holds(&corner)
            })),
            CohortBelief::Bound(_) if support => {
                let present: Vec<(u32, u64)> = told.values().into_iter().map(|value| (value, 1)).collect();
                proven(case.holds(&present))
            }
            CohortBelief::Bound(ranges) => proven(
                corners(ranges, u64::from(group.together))
                    .is_some_and(|all| all.iter().all(|corner| case.holds(corner))),
            ),
        }
    }
}

/// One requirement, and how many rows it is to be shown.
struct Case<'a> {
    evaluator: &'a Evaluator<'a>,
    requirement: usize,
    /// The fewest rows of which it says anything.
    least: u64,
    /// Whether the class is judged in one piece.
    whole: bool,
    /// The rows that there are, where the model does not look at shares only.
    rows: Option<u64>,
}

impl Case<'_> {
    fn holds(&self, weights: &[(u32, u64)]) -> bool {
        let total: u64 = weights.iter().map(|w| w.1).sum();
        if total == 0 {
            return false;
        }
        let scaled = |n: u64| match self.rows {
            None if self.whole => n * self.least.div_ceil(total),
            None => n * self.least,
            Some(rows) if total <= rows => n * (rows / total),
            Some(rows) => (u128::from(n) * u128::from(rows) / u128::from(total)) as u64,
        };
        let entries: Vec<Entry> =
            weights.iter().map(|&(value, n)| entry(value, scaled(n))).filter(|e| e.rows > 0).collect();
        !entries.is_empty() && self.evaluator.holds(self.requirement, &entries)
    }
}

/// The corners of all ways to share out `size` within the ranges; `None` when there are too many, or none.
///
/// At a corner all values but one have the least or the most that they can, and that one has the rest.
fn corners(ranges: &[Range], size: u64) -> Option<Vec<Vec<(u32, u64)>>> {
    let open: Vec<usize> = (0..ranges.len()).filter(|&at| ranges[at].low < ranges[at].high).collect();
    if open.len() > OPEN {
        return None;
    }
    let mut found = Vec::new();
    for choice in 0..1u32 << open.len() {
        let mut corner: Vec<(u32, u64)> = ranges.iter().map(|r| (r.value, u64::from(r.low))).collect();
        let chosen = |at: usize| choice >> at & 1 == 1;
        let taken = (0..open.len()).filter(|&at| chosen(at));
        taken.for_each(|at| corner[open[at]].1 = u64::from(ranges[open[at]].high));
        let total: u64 = corner.iter().map(|c| c.1).sum();
        if total == size {
            found.push(corner);
        } else if total < size {
            // One more value takes the rest, which must be less than all that it can have.
            for at in (0..open.len()).filter(|&at| !chosen(at)) {
                let range = ranges[open[at]];
                if size - total < u64::from(range.high - range.low) {
                    let mut corner = corner.clone();
                    corner[open[at]].1 += size - total;
                    found.push(corner);
                }
            }
        }
    }
    found.iter_mut().for_each(|corner| corner.retain(|c| c.1 > 0));
    (!found.is_empty()).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Every way to share out lies between the corners: no sum over values is larger than at one of them.
    #[test]
    fn nothing_lies_beyond_the_corners() {
        let mut random = Random::new(5);
        for _ in 0..400 {
            let ranges: Vec<Range> = (0..4)
                .map(|value| {
                    let low = random.below(3) as u32;
                    Range { value, low, high: low + random.below(4) as u32, possible: true }
                })
                .collect();
            let weights: Vec<u64> = (0..4).map(|_| random.below(9) as u64).collect();
            let size = random.below(14) as u64;
            let sum = |way: &[(u32, u64)]| way.iter().map(|w| weights[w.0 as usize] * w.1).sum::<u64>();
            let mut most = None;
            let of = |at: usize| u64::from(ranges[at].low)..=u64::from(ranges[at].high);
            for a in of(0) {
                for b in of(1) {
                    for c in of(2) {
                        for d in of(3).filter(|d| a + b + c + d == size) {
                            most = most.max(Some(sum(&[(0, a), (1, b), (2, c), (3, d)])));
                        }
                    }
                }
            }
            let found = corners(&ranges, size);
            assert_eq!(found.and_then(|all| all.iter().map(|corner| sum(corner)).max()), most, "{ranges:?} {size}");
        }
    }
}
