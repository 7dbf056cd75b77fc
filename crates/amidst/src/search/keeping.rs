//! Releases that keep something of every column.
//!
//! The release that loses least may have a column that is `*` in every row, because others are worth more; nobody can
//! use that one. Then the same algorithm runs again with the column weighing twice as much, and again, until every
//! column tells something. What is lost is measured by the policy's own weights, and must not be much more. The weights
//! are told, so that a policy can state them.

use amidst_core::algorithm;
use amidst_core::hierarchy::{Generalization, TOP};
use amidst_core::recoding::Recoding;
use amidst_core::search::{Found, Search};

use super::{cost, run};
use crate::Failure;
use crate::job::{Control, Stage};
use crate::policy::Policy;
use crate::prepare::Prepared;
use crate::release::Joined;

/// The loss that is accepted for it, as a multiple of the least.
const MOST_LOSS: f64 = 1.25;

/// How often a column may weigh twice as much.
const ROUNDS: usize = 6;

/// Quasi cells from which on one more run is all that the budget allows.
const MANY_CELLS: u64 = 200_000;

/// A release that keeps more columns than the one that loses least.
pub(super) struct Kept {
    pub found: Found,
    pub joined: Option<Joined>,
    pub cost: f64,
    /// The columns that weigh more than the policy says, and what they weigh.
    pub weights: Vec<(String, f64)>,
}

/// The columns that are `*` in every class, although people differ in them. Where all rows are one class nothing else
/// can be.
pub(super) fn starred(search: &Search<'_>, recoding: &Recoding) -> Vec<usize> {
    let masked = recoding.masked.map(|class| class as usize);
    let classes: Vec<usize> = (0..recoding.classes.len()).filter(|class| Some(*class) != masked).collect();
    let lost = |&(c, g): &(usize, &Generalization)| {
        g.active() > 1 && classes.iter().all(|&class| recoding.label(class, c, g) == TOP)
    };
    match classes.len() {
        0 | 1 => Vec::new(),
        _ => search.generalizations.iter().enumerate().filter(lost).map(|(c, _)| c).collect(),
    }
}

/// Looks for a release by `entry` that keeps more columns than `recoding`, which loses `least`.
///
/// # Errors
/// When the search is stopped.
pub(super) fn keeping_more(
    policy: &Policy,
    prepared: &Prepared,
    entry: &'static algorithm::Entry,
    search: &Search<'_>,
    (least, recoding): (f64, &Recoding),
    progress: &(dyn Fn(f64) + Sync),
) -> Result<Option<Kept>, Failure> {
    let mut lost = starred(search, recoding);
    if lost.is_empty() || !search.metric.metric.weighted() {
        return Ok(None);
    }
    let cells = search.set.rows.saturating_mul(search.generalizations.len() as u64);
    let rounds = if cells >= MANY_CELLS { 1 } else { ROUNDS };
    let mut weighted = search.generalizations.to_vec();
    let mut best: Option<Kept> = None;
    let mut fewest = lost.len();
    for round in 0..rounds {
        lost.iter().for_each(|&c| weighted[c].weight *= 2.0);
        let told = |_: Stage, share: f64| progress((round as f64 + share) / rounds as f64);
        let control = Control { progress: &told, ..search.control };
        let own = Search { generalizations: &weighted, control, ..search.clone() };
        let (mut found, joined) = match run(policy, prepared, entry, &own) {
            Ok(release) => release,
            Err(Failure::Impossible(_) | Failure::Usage(_) | Failure::Advised(_)) => break,
            Err(failure) => return Err(failure),
        };
        // What was proven holds for these weights.
        (found.optimal, found.gap, found.least_loss) = (false, None, None);
        lost = starred(search, &found.recoding);
        let Some(cost) = cost(search, &found).filter(|cost| *cost <= least * MOST_LOSS) else { break };
        if lost.len() < fewest {
            fewest = lost.len();
            let changed = weighted.iter().zip(search.generalizations).filter(|(new, old)| new.weight != old.weight);
            let weights = changed.map(|(new, _)| (new.name.clone(), new.weight)).collect();
            best = Some(Kept { found, joined, cost, weights });
        }
        if lost.is_empty() || search.control.overdue() {
            break;
        }
    }
    Ok(best)
}
