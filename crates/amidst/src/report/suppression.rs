//! Which requirements the suppressed rows would have broken.

use amidst_core::frequency::{self, Entry, Groups};
use amidst_core::model::Needs;
use amidst_core::recoding::{Assignment, Recoding, SUPPRESSED};
use amidst_core::requirement::Evaluator;
use amidst_core::search::{MaxSuppression, Suppressed};

use super::content::{Reason, Suppression};
use crate::policy::Policy;
use crate::prepare::Prepared;
use crate::release::Released;

/// Why `rows` rows were left out of a release.
pub fn suppression(policy: &Policy, prepared: &Prepared, recoding: &Recoding, rows: u64) -> Suppression {
    let reasons = match &recoding.levels {
        Some(levels) if rows > 0 => reasons(policy, prepared, recoding, levels),
        _ => Vec::new(),
    };
    Suppression { reasons, ..stated(policy, rows) }
}

/// What a policy says of the `rows` that were left out.
pub fn stated(policy: &Policy, rows: u64) -> Suppression {
    Suppression {
        rows,
        limit: match &policy.search.max_suppression {
            MaxSuppression::Rows(rows) => format!("{rows} rows"),
            MaxSuppression::Share(share) => format!("{share} of all rows"),
        },
        treatment: match policy.search.suppressed {
            Suppressed::Drop => "drop",
            Suppressed::Mask => "mask",
        },
        reasons: Vec::new(),
    }
}

/// Whether the sensitive values of the rows that are missing may be told: none are missing, or together they satisfy
/// every requirement, as they must where they are masked.
pub fn tells_nobody(policy: &Policy, prepared: &Prepared, released: &Released, suppressed: u64) -> bool {
    if suppressed == 0 || policy.search.suppressed == Suppressed::Mask {
        return true;
    }
    let set = &prepared.set;
    let one = |&row: &u32| {
        let entry = set.groups.entries.get(prepared.entry_of_row.get(row as usize)?.index())?;
        Some((0, Entry { rows: 1, ..*entry }))
    };
    let missing: Vec<(u32, Entry)> = released.left_out.iter().filter_map(one).collect();
    if (missing.len() as u64) < suppressed {
        // Another engine left them out, and only it knows them.
        return false;
    }
    let class = Groups::collect(1, missing).entries;
    let evaluator = Evaluator::new(set, &prepared.requirements);
    (0..prepared.requirements.len()).all(|position| {
        prepared.requirements[position].needs() <= Needs::Histogram && evaluator.holds(position, &class)
    })
}

/// A full-domain release suppresses the classes of its node that break a requirement: these, counted by requirement.
///
/// The classes that are published break none, so only tuples that are not are looked at.
fn reasons(policy: &Policy, prepared: &Prepared, recoding: &Recoding, levels: &[usize]) -> Vec<Reason> {
    let masked = recoding.masked;
    let left_out = |tuple: usize| match &recoding.assignment {
        Assignment::Tuples(class_of) => class_of[tuple] == SUPPRESSED || Some(class_of[tuple]) == masked,
        Assignment::Entries { .. } => true,
    };
    let node = Recoding::full_domain_of(&prepared.set, &prepared.generalizations, levels, left_out);
    let (classes, _) = node.groups(&prepared.set);
    let evaluator = Evaluator::new(&prepared.set, &prepared.requirements);
    let mut reasons = Vec::new();
    for (position, (stated, requirement)) in policy.requirements.iter().zip(&prepared.requirements).enumerate() {
        if requirement.needs() > Needs::Histogram {
            continue;
        }
        let mut reason = Reason { model: stated.model.id.to_string(), on: stated.on.clone(), classes: 0, rows: 0 };
        for entries in classes.iter().filter(|e| !e.is_empty()) {
            if !evaluator.holds(position, entries) {
                reason.classes += 1;
                reason.rows += frequency::rows(entries);
            }
        }
        reasons.push(reason);
    }
    reasons
}
