//! Releases that keep something of every column.
//!
//! The release that loses least may have a column that is `*` in every row, because others are worth more; nobody can
//! use that one. Then another is looked for in which every column tells something: among the contenders, by recoding
//! rows that differ in the column apart (`dividing`), and by running an algorithm again with the column weighing more,
//! until it is kept, and then with weights in between, as long as that loses less. What is lost is measured by the
//! policy's own weights. Weights and price are told, so that a policy can state the one or decline the other by naming
//! an algorithm alone.

use amidst_core::algorithm::{self, RecodingKind};
use amidst_core::search::{Found, Search};

use super::starred::{classes, starred};
use super::{cost, dividing, run};
use crate::Failure;
use crate::job::{Control, Stage};
use crate::policy::Policy;
use crate::prepare::Prepared;
use crate::release::Joined;

/// How often, and by how much, a column may come to weigh more, and how many weights in between are tried then.
struct Budget {
    raises: usize,
    factor: f64,
    between: usize,
}

impl Budget {
    fn of(search: &Search<'_>) -> Budget {
        match cells(search) {
            MANY_CELLS.. => Budget { raises: 2, factor: 4.0, between: 0 },
            SOME_CELLS.. => Budget { raises: 4, factor: 4.0, between: 2 },
            _ => Budget { raises: 8, factor: 2.0, between: 4 },
        }
    }

    /// The most runs it allows.
    fn runs(&self) -> usize {
        self.raises + self.between
    }
}

/// Quasi cells from which on few runs are tried.
const SOME_CELLS: u64 = 20_000;

/// Quasi cells from which on hardly any are.
const MANY_CELLS: u64 = 200_000;

/// A release that satisfies the policy.
pub(super) struct Candidate {
    pub entry: &'static algorithm::Entry,
    pub found: Found,
    pub joined: Option<Joined>,
    /// What it loses by the policy's own weights.
    pub cost: f64,
    /// The columns that are `*` in every row.
    pub starred: Vec<usize>,
    /// The columns that weigh more than the policy says, and what they weigh.
    pub weights: Vec<(String, f64)>,
    /// The columns by which rows were recoded apart.
    pub divided: Vec<usize>,
}

impl Candidate {
    /// Whether it keeps more columns than another, or as many and loses less.
    fn keeps_more(&self, other: &Candidate) -> bool {
        (self.starred.len(), self.cost) < (other.starred.len(), other.cost)
    }
}

/// The release to publish: of those `found` by algorithms that `competed` the one that loses least, if it keeps
/// something of every column, else the one that keeps most, or one that is found with other weights. Nothing where
/// nothing was found.
///
/// # Errors
/// When the search is stopped.
pub(super) fn fullest(
    policy: &Policy,
    prepared: &Prepared,
    search: &Search<'_>,
    (competed, mut found): (&[&'static algorithm::Entry], Vec<Candidate>),
    progress: &(dyn Fn(f64) + Sync),
) -> Result<Option<Candidate>, Failure> {
    let least = found.iter().map(|c| c.cost).fold(f64::INFINITY, f64::min);
    let Some(first) = found.iter().position(|c| c.cost <= least) else { return Ok(None) };
    let first = found.swap_remove(first);
    if first.starred.is_empty() || !search.metric.metric.weighted() {
        return Ok(Some(first));
    }
    if classes(&first.found.recoding).len() <= 1 {
        // Where no algorithm parts the rows, none does with other weights.
        let parted = divided(prepared, search, competed, &first)?;
        return Ok(Some(parted.filter(|parted| parted.keeps_more(&first)).unwrap_or(first)));
    }
    // The one that loses least, then local ones, which can keep a column in some rows only.
    let others = |e: &&algorithm::Entry| e.kind == RecodingKind::Local && e.id != first.entry.id;
    let entries: Vec<_> = [first.entry].into_iter().chain(competed.iter().rev().copied().filter(others)).collect();
    found.extend(divided(prepared, search, competed, &first)?);
    if found.iter().any(|c| c.starred.is_empty()) && cells(search) >= SOME_CELLS {
        return Ok(Some(
            found.into_iter().fold(first, |best, other| if other.keeps_more(&best) { other } else { best }),
        ));
    }
    let mut best = first;
    let runs = entries.len() as f64;
    for (at, entry) in entries.into_iter().enumerate() {
        let own = |share: f64| progress((at as f64 + share) / runs);
        let weighted = weighted(policy, prepared, entry, search, &best.starred, &own)?;
        best = weighted.filter(|w| w.keeps_more(&best)).unwrap_or(best);
        let kept = |c: &Candidate| c.starred.is_empty();
        if kept(&best) || found.iter().any(kept) || search.control.overdue() {
            break;
        }
    }
    Ok(Some(found.into_iter().fold(best, |best, other| if other.keeps_more(&best) { other } else { best })))
}

/// A release of the table in parts, by the best local algorithm that competed.
fn divided(
    prepared: &Prepared,
    search: &Search<'_>,
    competed: &[&'static algorithm::Entry],
    first: &Candidate,
) -> Result<Option<Candidate>, Failure> {
    let local = competed.iter().rev().copied().find(|e| e.kind == RecodingKind::Local);
    let Some(entry) = local.filter(|_| prepared.waived.is_none() && cells(search) < MANY_CELLS) else {
        return Ok(None);
    };
    let Some((found, divided)) = dividing::divided(search, entry, &first.found.recoding)? else { return Ok(None) };
    let Some(cost) = cost(search, &found) else { return Ok(None) };
    let starred = starred(search, &found.recoding);
    Ok(Some(Candidate { entry, found, joined: None, cost, starred, weights: Vec::new(), divided }))
}

/// Rows times quasi columns.
fn cells(search: &Search<'_>) -> u64 {
    search.set.rows.saturating_mul(search.generalizations.len() as u64)
}

/// The release by `entry` that keeps most columns, and of those the one that loses least, where the columns `lost`
/// weigh more than the policy says.
fn weighted(
    policy: &Policy,
    prepared: &Prepared,
    entry: &'static algorithm::Entry,
    search: &Search<'_>,
    lost: &[usize],
    progress: &(dyn Fn(f64) + Sync),
) -> Result<Option<Candidate>, Failure> {
    let budget = Budget::of(search);
    let mut best: Option<Candidate> = None;
    // The weights with which columns were lost, and those with which the fewest are.
    let mut low: Vec<f64> = search.generalizations.iter().map(|g| g.weight).collect();
    let (mut high, mut lost, mut between) = (low.clone(), lost.to_vec(), false);
    let mut factor = budget.factor;
    for round in 0..budget.runs() {
        let mut weights = high.clone();
        if between {
            weights = low.iter().zip(&high).map(|(low, high)| middle(*low, *high)).collect();
            if weights == low || weights == high {
                break;
            }
        } else if round < budget.raises {
            lost.iter().for_each(|&c| weights[c] = rounded(weights[c] * factor));
        } else {
            break;
        }
        let told = |_: Stage, share: f64| progress((round as f64 + share) / budget.runs() as f64);
        let control = Control { progress: &told, ..search.control };
        let Some(candidate) = attempt(policy, prepared, entry, &Search { control, ..search.clone() }, &weights)? else {
            break;
        };
        let kept = candidate.starred.is_empty();
        if candidate.starred.iter().any(|c| !lost.contains(c)) {
            // One column was kept at the price of another: the weights are between these and the ones before.
            factor = factor.sqrt();
        }
        match (between, kept) {
            (false, false) => (low, high, lost) = (weights.clone(), weights, candidate.starred.clone()),
            (_, true) => (high, between) = (weights, true),
            (true, false) => low = weights,
        }
        if best.as_ref().is_none_or(|best| candidate.keeps_more(best)) {
            best = Some(candidate);
        }
        if search.control.overdue() {
            break;
        }
    }
    Ok(best)
}

/// The weight in the middle of two, with two digits, so that it can be written down.
fn middle(low: f64, high: f64) -> f64 {
    if low == high { low } else { rounded((low * high).sqrt()) }
}

/// A weight with two digits.
fn rounded(weight: f64) -> f64 {
    format!("{weight:.1e}").parse().unwrap_or(weight)
}

/// Runs an algorithm with other weights; nothing where it finds no release.
fn attempt(
    policy: &Policy,
    prepared: &Prepared,
    entry: &'static algorithm::Entry,
    search: &Search<'_>,
    weights: &[f64],
) -> Result<Option<Candidate>, Failure> {
    let mut weighted = search.generalizations.to_vec();
    weighted.iter_mut().zip(weights).for_each(|(g, weight)| g.weight = *weight);
    let own = Search { generalizations: &weighted, ..search.clone() };
    let (mut found, joined) = match run(policy, prepared, entry, &own) {
        Ok(release) => release,
        Err(Failure::Impossible(_) | Failure::Usage(_) | Failure::Advised(_)) => return Ok(None),
        Err(failure) => return Err(failure),
    };
    // What was proven holds for these weights.
    (found.optimal, found.gap, found.least_loss) = (false, None, None);
    let Some(cost) = cost(search, &found) else { return Ok(None) };
    let starred = starred(search, &found.recoding);
    let changed = weighted.iter().zip(search.generalizations).filter(|(new, old)| new.weight != old.weight);
    let weights = changed.map(|(new, _)| (new.name.clone(), new.weight)).collect();
    Ok(Some(Candidate { entry, found, joined, cost, starred, weights, divided: Vec::new() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_in_between_can_be_written_down() {
        for (low, high, expected) in [(1.0, 2.0, 1.4), (2.0, 4.0, 2.8), (512.0, 1024.0, 720.0), (0.25, 0.5, 0.35)] {
            assert_eq!(middle(low, high), expected);
            assert_eq!(format!("{expected}").parse(), Ok(expected));
        }
        assert_eq!(middle(0.1 + 0.2, 0.1 + 0.2), 0.1 + 0.2);
    }
}
