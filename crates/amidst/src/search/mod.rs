//! Searching: the algorithm is chosen and run, and what it found is held against its own distribution. Where a policy
//! names no algorithm, several compete.
//!
//! May use: `job`, `plan`, `policy`, `prepare`, `release`, `own_distribution`, and what those use.

mod competition;
mod dividing;
mod keeping;
mod starred;

use amidst_core::algorithm;
use amidst_core::internal::{lattice, sets};
use amidst_core::metric::Release;
use amidst_core::search::own_distribution::{OwnDistributionOutcome, suppress_failing};
use amidst_core::search::{Found, Search, SearchError, feasibility};

pub use competition::{Compared, Contender};

use crate::job::{Job, in_threads};
use crate::plan::{algorithm_of, node_of, stated_algorithm, task};
use crate::policy::Policy;
use crate::prepare::Prepared;
use crate::release::{Joined, place_joiners};
use crate::words::counted;
use crate::{Failure, Remedy, own_distribution};

/// What is published, and who found it.
pub struct Chosen {
    /// The algorithm.
    pub entry: &'static algorithm::Entry,
    /// What it found.
    pub found: Found,
    /// The rows that joined, where some asked for it.
    pub joined: Option<Joined>,
    /// What every algorithm that competed would have cost; nothing where the policy names one.
    pub compared: Option<Compared>,
}

/// Runs the policy's algorithm, or those that compete where it names none, and places the rows that asked to join.
pub fn search(policy: &Policy, prepared: &Prepared, job: &Job<'_>) -> Result<Chosen, Failure> {
    let search = task(policy, prepared, job)?;
    if !prepared.sets.is_empty() {
        return in_threads(job.threads, || in_sets(policy, prepared, &search));
    }
    let entry = algorithm_of(policy, prepared)?;
    let chosen = |(found, joined)| Chosen { entry, found, joined, compared: None };
    // A table that was rolled up before it was gathered is only fit for the node that it was rolled up for.
    if stated_algorithm(policy)?.is_some() || prepared.set.rolled_up() || !policy.search.levels.is_empty() {
        return in_threads(job.threads, || run(policy, prepared, entry, &search)).map(chosen);
    }
    in_threads(job.threads, || competition::compete(policy, prepared, entry, &search))
}

/// As [`search`]. Where rows that asked to join find no place, everybody is protected alike, which is said: nobody is
/// left out of a release because they waived protection. Returns the table as it was searched in the end.
pub fn search_with_joiners(policy: &Policy, prepared: Prepared, job: &Job<'_>) -> (Prepared, Result<Chosen, Failure>) {
    match search(policy, &prepared, job) {
        Err(failure) if failure.is_impossible() && prepared.may_protect_everyone() => {
            let everyone = prepared.protecting_everyone(&failure.to_string());
            let chosen = search(policy, &everyone, job);
            (everyone, chosen)
        }
        chosen => (prepared, chosen),
    }
}

/// Searches for what satisfies the policy in every set of quasi columns: with the policy's algorithm, or with cell
/// suppression, which loses no more than whole levels do.
fn in_sets(policy: &Policy, prepared: &Prepared, search: &Search<'_>) -> Result<Chosen, Failure> {
    if prepared.waived.is_some() {
        return Err(Failure::Usage(
            "a consent column and the sets of [[quasi]] cannot be had together: whose rows stand beside which classes differs \
             from set to set; leave out one of the two"
                .to_string(),
        ));
    }
    let levels = match policy.search.levels.is_empty() {
        true => None,
        false => Some(node_of(prepared, &policy.search.levels)?),
    };
    let entry = match (stated_algorithm(policy)?, &levels) {
        (Some(entry), _) => entry,
        (None, Some(_)) => algorithm::OPTIMAL,
        (None, None) => algorithm::CELL_SUPPRESSION,
    };
    let mut found = sets::search(search, &prepared.sets, entry, levels.as_deref())?;
    let free = stated_algorithm(policy)?.is_none() && levels.is_none();
    let compared = if free { Some(whole_levels_beside(prepared, search, (entry, &found))?) } else { None };
    if let Some(compared) = &compared {
        found.notes.insert(0, format!("no algorithm is named; {}", compared.sentence()));
    }
    Ok(Chosen { entry, found, joined: None, compared })
}

/// What whole levels would have cost where sets of quasi columns are published with single cells suppressed.
fn whole_levels_beside(
    prepared: &Prepared,
    search: &Search<'_>,
    (entry, found): (&'static algorithm::Entry, &Found),
) -> Result<Compared, Failure> {
    let undefined = || format!("the metric `{}` is not defined for it", search.metric.id);
    let whole = algorithm::OPTIMAL;
    let beside = match whole.algorithm.competes(search) {
        true => match sets::search(search, &prepared.sets, whole, None) {
            Ok(found) => cost(search, &found).ok_or_else(undefined),
            Err(stopped @ SearchError::Cancelled) => return Err(stopped.into()),
            Err(error) => Err(Failure::from(error).to_string()),
        },
        false => Err("it would take too long".to_string()),
    };
    let own = cost(search, found).ok_or_else(undefined);
    let contender = |entry: &'static algorithm::Entry, cost| Contender { algorithm: entry.id, kind: entry.kind, cost };
    Ok(Compared {
        metric: search.metric.id,
        contenders: vec![contender(whole, beside), contender(entry, own)],
        published: entry.id,
        weights: Vec::new(),
        divided: Vec::new(),
        least: None,
        starred: Vec::new(),
    })
}

/// Runs one algorithm.
fn run(
    policy: &Policy,
    prepared: &Prepared,
    entry: &'static algorithm::Entry,
    search: &Search<'_>,
) -> Result<(Found, Option<Joined>), Failure> {
    if let Some(impossible) = feasibility::impossible(search).filter(|_| !entry.full_domain()) {
        // Full-domain algorithms look as well, and tell what suppression would take.
        return Err(Failure::Impossible(impossible));
    }
    entry.algorithm.supports(search)?;
    own_distribution::search(search, |narrowed| {
        let mut found = match policy.search.levels.is_empty() {
            true => entry.algorithm.search(narrowed).map_err(|error| explained(error, entry, narrowed))?,
            false => at_levels(policy, prepared, narrowed)?,
        };
        // Whatever was searched within, the policy's limit is what counts in the end.
        if suppress_failing(search, &mut found) == OwnDistributionOutcome::Never {
            return Ok(None);
        }
        let mut joined = place_joiners(prepared, narrowed, entry, &mut found)?;
        // What is proven is about the rows that were searched, within the limit that they were searched within.
        if joined.is_some() || narrowed.suppression_limit() != search.suppression_limit() {
            found.least_loss = None;
        }
        let holds = joined.as_mut().is_none_or(|joined| joined.suppress_failing(prepared, search, &mut found));
        if let Some(failure) = joined.as_ref().and_then(|joined| joined.leaves_out_too_many(search, &found)) {
            return Err(failure);
        }
        Ok(holds.then_some((found, joined)))
    })
}

/// What a release costs by the metric that decides; nothing where it is not defined.
fn cost(search: &Search<'_>, found: &Found) -> Option<f64> {
    let (set, generalizations, recoding) = (search.set, search.generalizations, &found.recoding);
    let (groups, suppressed) = recoding.groups(set);
    search.metric.metric.loss(&Release { set, generalizations, recoding, groups: &groups, suppressed, k: search.k })
}

/// The node that the policy names, its failing classes suppressed as far as the search allows.
fn at_levels(policy: &Policy, prepared: &Prepared, search: &Search<'_>) -> Result<Found, Failure> {
    let node = node_of(prepared, &policy.search.levels)?;
    if prepared.generalizations.iter().any(|g| !g.has_hierarchy) {
        return Err(Failure::Usage("`levels` needs a hierarchy for every quasi column".to_string()));
    }
    if node.iter().zip(search.set.bottom()).any(|(&level, bottom)| level < bottom) {
        return Err(Failure::Usage("`levels` needs the rows on this machine; use the local engine".to_string()));
    }
    let Some(recoding) = lattice::recoding(search, &node)? else {
        let why = lattice::why_not(search, &node)?;
        let failing: Vec<String> = (why.requirements.iter().filter(|r| !r.holds))
            .map(|r| {
                let words = feasibility::words(&search.requirements[r.requirement]);
                format!("{words} fails in {} with {}", counted(r.classes, "class"), counted(r.rows, "row"))
            })
            .collect();
        let problem = format!(
            "the levels of the policy do not satisfy it: {}; {} rows may be suppressed",
            failing.join(", "),
            why.limit
        );
        return Err(Failure::impossible(problem, Remedy::ExploreNode));
    };
    let note = "the policy names these levels; no others were looked at".to_string();
    Ok(Found { recoding, coding: None, optimal: false, gap: None, least_loss: None, notes: vec![note] })
}

/// What an engine found where its table is, held against its own distribution.
///
/// # Errors
/// When no release can satisfy the policy, or this one does not.
pub(crate) fn accepted(
    policy: &Policy,
    prepared: &Prepared,
    mut found: Found,
    job: &Job<'_>,
) -> Result<Found, Failure> {
    let search = task(policy, prepared, job)?;
    if let Some(impossible) = feasibility::impossible(&search) {
        return Err(Failure::Impossible(impossible));
    }
    match suppress_failing(&search, &mut found) {
        OwnDistributionOutcome::Never => Err(own_distribution::impossible(&search)),
        _ => Ok(found),
    }
}

/// What a search that found nothing says: a local one with the most that is possible, where the whole table tells.
/// Full-domain searches tell more themselves.
fn explained(error: SearchError, entry: &algorithm::Entry, search: &Search<'_>) -> SearchError {
    match (&error, feasibility::failing(search)) {
        (SearchError::Impossible(_), Some(failing)) if !entry.full_domain() => {
            let message = format!("{failing}, and leaving out rows within the suppression limit does not help");
            SearchError::Impossible(failing.said(message))
        }
        _ => error,
    }
}
