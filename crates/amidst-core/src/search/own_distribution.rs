//! Making a release hold against its own distribution.
//!
//! Some requirements compare a class with the whole table (`PrivacyModel::compares_with_table`). Searches compare with
//! the table that they were given. A recipient has only the release, and once rows are left out its
//! distribution is another one: the claim must hold against that one too, or it could not be checked without knowing
//! what the left-out rows had. [`suppress_failing`] leaves out the classes that fail there, which changes the
//! distribution again, until all that is left holds.

use crate::frequency::{self, FrequencySet, Groups};
use crate::model::Needs;
use crate::recoding::{Assignment, Recoding, SUPPRESSED};
use crate::requirement::{Evaluator, Requirement};
use crate::search::{Found, Search};

/// What became of a recoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnDistributionOutcome {
    /// It held as it was.
    Held,
    /// It holds with this number of further rows left out.
    After(u64),
    /// Leaving out as many rows as may be left out does not make it hold.
    Never,
}

/// Leaves out of `found` the classes that break a requirement against the release's own distribution.
pub fn suppress_failing(search: &Search<'_>, found: &mut Found) -> OwnDistributionOutcome {
    if !search.requirements.iter().any(compares) {
        return OwnDistributionOutcome::Held;
    }
    let (groups, suppressed) = found.recoding.groups(search.set);
    if suppressed == 0 {
        // All rows are published, masked ones included: the two distributions are one.
        return OwnDistributionOutcome::Held;
    }
    let limit = search.suppression_limit().saturating_sub(suppressed);
    let Some((gone, rows)) = failing(search.set, search.requirements, groups, limit) else {
        return OwnDistributionOutcome::Never;
    };
    if gone.is_empty() {
        return OwnDistributionOutcome::Held;
    }
    leave_out(&mut found.recoding, &gone);
    // Another node, or other classes, might have lost less.
    found.optimal = false;
    found.notes.push(format!(
        "{rows} more rows are left out, so that every class also holds against the distribution of the release itself."
    ));
    OwnDistributionOutcome::After(rows)
}

/// Whether a requirement compares classes with the whole table.
pub fn compares(requirement: &Requirement) -> bool {
    requirement.models.iter().any(|model| model.compares_with_table())
}

/// The classes that must go, ascending, until all others satisfy every requirement against what is left, and how many
/// rows they have; nothing where that takes more than `limit` rows, or all of them.
pub fn failing(
    set: &FrequencySet,
    requirements: &[Requirement],
    mut groups: Groups,
    limit: u64,
) -> Option<(Vec<u32>, u64)> {
    let (mut gone, mut rows) = (Vec::new(), 0);
    loop {
        let evaluator = Evaluator::of_release(set, requirements, &groups);
        let breaks = |class: usize| !evaluator.holds_compared(groups.get(class));
        let now: Vec<u32> = (0..groups.len()).filter(|&class| breaks(class)).map(|class| class as u32).collect();
        if now.is_empty() {
            // What a requirement says of the release as a whole may have held only with the classes that are gone.
            let whole = |r: usize| requirements[r].needs() != Needs::Release || evaluator.judge(r, &groups).0;
            gone.sort_unstable();
            return (gone.is_empty() || (0..requirements.len()).all(whole)).then_some((gone, rows));
        }
        rows += now.iter().map(|&class| frequency::rows(groups.get(class as usize))).sum::<u64>();
        if rows > limit {
            return None;
        }
        let mut pairs = Vec::with_capacity(groups.entries.len());
        let kept = (0u32..).zip(groups.iter()).filter(|(class, _)| now.binary_search(class).is_err());
        kept.for_each(|(class, entries)| pairs.extend(entries.iter().map(|&entry| (class, entry))));
        if pairs.is_empty() {
            return None;
        }
        groups = Groups::collect(groups.len(), pairs);
        gone.extend(now);
    }
}

/// Suppresses whole classes, ascending.
pub fn leave_out(recoding: &mut Recoding, gone: &[u32]) {
    let is_gone = |class: u32| gone.binary_search(&class).is_ok();
    match &mut recoding.assignment {
        Assignment::Tuples(class_of) => {
            class_of.iter_mut().filter(|class| is_gone(**class)).for_each(|class| *class = SUPPRESSED);
        }
        Assignment::Entries { runs, .. } => {
            runs.iter_mut().filter(|(class, _)| is_gone(*class)).for_each(|(class, _)| *class = SUPPRESSED);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frequency::{Entry, NOBODY};
    use crate::ids::SensitiveId;
    use crate::model;
    use crate::parameter::{Parameters, Value};
    use crate::sensitive::SensitiveDomain;

    /// Classes as histograms over three values.
    fn world(classes: &[[u64; 3]]) -> (FrequencySet, Groups) {
        let mut set = FrequencySet { width: 1, sensitive_width: 1, sensitive: vec![0, 1, 2], ..Default::default() };
        set.sensitive_domains = vec![3];
        let entry = |(value, &rows): (u32, &u64)| Entry { sensitive: SensitiveId(value), person: NOBODY, rows };
        let pairs = (0u32..).zip(classes).flat_map(|(class, counts)| {
            (0u32..).zip(counts).filter(|c| *c.1 > 0).map(move |c| (class, entry(c))).collect::<Vec<_>>()
        });
        let groups = Groups::collect(classes.len(), pairs.collect());
        set.groups = groups.clone();
        (set, groups)
    }

    fn closeness(t: &str) -> Vec<Requirement> {
        let domain = SensitiveDomain { dictionary: ["a", "b", "c"].into_iter().collect(), ..Default::default() };
        let parameters = Parameters::from_pairs([("t", Value::Text(t.into()))]);
        vec![Requirement::new(model::find("t-closeness").unwrap(), parameters, vec![0], &[domain]).unwrap()]
    }

    #[test]
    fn classes_go_until_the_rest_holds_against_itself() {
        // Against all: q = (7, 7, 6)/20. The third class is half a, half b and is far from c.
        let (set, groups) = world(&[[2, 2, 2], [2, 2, 2], [3, 3, 0], [0, 0, 2]]);
        let requirements = closeness("0.2");
        let (gone, rows) = failing(&set, &requirements, groups.clone(), 8).unwrap();
        assert_eq!((gone.clone(), rows), (vec![2, 3], 8));
        assert_eq!(failing(&set, &requirements, groups.clone(), 7), None);
        // What is left holds, by the model's own word, and nothing more goes.
        let left: Vec<(u32, Entry)> = (0..2).flat_map(|c| groups.get(c).iter().map(move |&e| (c as u32, e))).collect();
        let left = Groups::collect(4, left);
        let evaluator = Evaluator::of_release(&set, &requirements, &left);
        assert!(evaluator.judge(0, &left).0);
        assert_eq!(failing(&set, &requirements, left, 0), Some((vec![], 0)));
    }

    #[test]
    fn a_release_is_never_emptied() {
        let (set, groups) = world(&[[5, 0, 0], [0, 5, 0]]);
        assert_eq!(failing(&set, &closeness("0.1"), groups, 100), None);
    }
}
