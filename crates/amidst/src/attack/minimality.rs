//! What the minimality attack is told: the requirement of the policy, and into which parts a class could have been
//! split.

use amidst_core::attack::{AttackError, Entry, Extra, Findings, Fits, Original, Target, Tuples, members};
use amidst_core::model;
use amidst_core::model::named::{
    DISTINCT_L_DIVERSITY, ENTROPY_L_DIVERSITY, GENERAL_ALPHA_K_ANONYMITY, K_ANONYMITY, P_SENSITIVE_K_ANONYMITY,
    RECURSIVE_C_L_DIVERSITY, SIMPLE_ALPHA_K_ANONYMITY,
};
use amidst_core::parameter::{Parameters, Value};
use amidst_core::table::Table;

use crate::external::bound;
use crate::policy::{Policy, RequirePolicy};
use crate::{Failure, Remedy};

/// The parameters that state a requirement.
const REQUIREMENTS: [&str; 5] = ["l", "alpha", "distinct", "entropy", "c"];

/// `stated`, with what the policy requires for `column` where nothing else is stated: an adversary who knows the
/// algorithm knows the policy, too.
pub(super) fn known(policy: &Policy, column: &str, stated: &Parameters) -> Parameters {
    let mut known = stated.clone();
    let own = REQUIREMENTS.iter().any(|key| stated.get(key).is_some());
    for requirement in &policy.requirements {
        let here = requirement.on.is_empty() || requirement.on.iter().any(|name| name == column);
        let pairs = if here { told(requirement) } else { &[] };
        for (from, to) in pairs {
            if let Some(value) = requirement.parameters.get(from).filter(|_| !own || *to == "k")
                && known.get(to).is_none()
            {
                known.set(to, value.clone());
            }
        }
    }
    known
}

/// What a requirement tells the attack: (the model's parameter, the attack's).
fn told(requirement: &RequirePolicy) -> &'static [(&'static str, &'static str)] {
    let is = |model: &model::Entry| requirement.model.is(model);
    match () {
        () if is(K_ANONYMITY) => &[("k", "k")],
        () if is(DISTINCT_L_DIVERSITY) => &[("l", "distinct")],
        () if is(ENTROPY_L_DIVERSITY) && requirement.parameters.get("dont_care").is_none() => &[("l", "entropy")],
        () if is(RECURSIVE_C_L_DIVERSITY) => &[("c", "c"), ("l", "recursive_l")],
        () if is(P_SENSITIVE_K_ANONYMITY) => &[("p", "distinct"), ("k", "k")],
        () if is(GENERAL_ALPHA_K_ANONYMITY) => &[("alpha", "alpha"), ("k", "k")],
        () if is(SIMPLE_ALPHA_K_ANONYMITY) => &[("alpha", "alpha"), ("value", "value"), ("k", "k")],
        () => &[],
    }
}

/// Runs the attack on the release of `table`, whose rows fit the classes that `fits` tells. Where classes overlap,
/// those whose rows are not certain are left out and counted as unmatched.
///
/// A full-domain release is minimal as a table: each table with one column one level less generalized fails. A local
/// recoding is minimal class by class: no class could be split by its original tuples. Which of them it is, its labels
/// tell, unless `scope` states it.
pub(super) fn run(
    entry: &Entry,
    policy: &Policy,
    target: &Target<'_>,
    table: &Table,
    fits: &Fits,
    stated: &Parameters,
) -> Result<Result<Findings, AttackError>, Failure> {
    let column = target.domain().map_or("", |d| d.name.as_str());
    let mut parameters = known(policy, column, stated);
    let classes = target.published.classes.len();
    let members = members(&target.published, fits);
    let less = match stated.get("scope") {
        None => less_generalized(policy, target, table, fits)?,
        Some(_) => None,
    };
    let Some(less) = less else {
        let original = Some(Original::Members(&members));
        return Ok(entry.run(target, &Extra { original, ..Extra::default() }, &parameters));
    };
    if members.iter().any(|(class, _)| class.is_none()) {
        // A less general table may satisfy the requirement with other rows suppressed, and was passed over because that
        // costs more: some metrics charge for suppressed rows. Then nothing follows from the release being the best.
        // And whether less general parts of the suppressed rows fail depends on unpublished values.
        let problem = "rows of the original table are in no class: with rows suppressed, a full-domain release is the best, not \
                       the least general table that satisfies the requirement, so it does not tell that less general ones \
                       fail";
        return Err(Failure::usage(problem, Remedy::ScopeOfClass));
    }
    parameters.set("scope", Value::Text("table".to_string()));
    let mut hardest: Option<Findings> = None;
    for parts in less {
        let parts = members.iter().zip(parts).filter_map(|((class, rows), part)| Some((class?, part, rows)));
        let tuples = Tuples::collect(classes, parts.collect());
        let original = Some(Original::Told(&tuples));
        let found = match entry.run(target, &Extra { original, ..Extra::default() }, &parameters) {
            Ok(found) => found,
            Err(error) => return Ok(Err(error)),
        };
        let credibility = |f: &Findings| f.figures.first().map_or(0.0, |f| f.1);
        let harder =
            |h: &Findings| found.persons.cmp(&h.persons).then(credibility(&found).total_cmp(&credibility(h))).is_gt();
        if hardest.as_ref().is_none_or(harder) {
            hardest = Some(found);
        }
    }
    Ok(Ok(hardest.unwrap_or_default()))
}

/// For a full-domain release and each column that it generalizes: the label that each original tuple has in that column
/// one level below. `None` when the release is not one of whole levels, or the policy has no hierarchies to tell.
fn less_generalized(
    policy: &Policy,
    target: &Target<'_>,
    table: &Table,
    fits: &Fits,
) -> Result<Option<Vec<Vec<u32>>>, Failure> {
    let Some(labels) = target.published.labels else { return Ok(None) };
    let mut less = Vec::new();
    for published in &labels.columns {
        let Some(column) = table.column(&published.name) else { return Ok(None) };
        let Some(Ok(generalization)) = bound(policy, column)? else { return Ok(None) };
        let names = |level: usize, label: &str| generalization.levels[level].labels.iter().any(|l| l == label);
        let all = |level: &usize| published.dictionary.iter().all(|label| names(*level, label));
        let Some(level) = (0..generalization.levels.len()).find(all) else { return Ok(None) };
        let Some(below) = level.checked_sub(1).and_then(|l| generalization.levels.get(l)) else { continue };
        let Some(at) = fits.columns.iter().position(|name| *name == column.name) else { return Ok(None) };
        let label = |tuple: usize| below.of.get(fits.tuples.tuple(tuple)[at] as usize).copied().unwrap_or(u32::MAX);
        less.push((0..fits.tuples.len()).map(label).collect());
    }
    Ok(Some(less))
}
