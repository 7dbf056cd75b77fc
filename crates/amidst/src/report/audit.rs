//! The report of a table as it stands, Amidst's or not.

use amidst_core::attack::{Published, labels_of_table};
use amidst_core::requirement::Evaluator;

use super::content::{Audience, Report, Rows, Sides, Subject};
use super::{columns, figures, worst};
use crate::TOOL;
use crate::audit::Audit;
use crate::json::Figures;
use crate::policy::Policy;
use crate::prepare::Prepared;
use crate::unique::UniqueRows;

/// The report of an audit; `stated` is the policy that the table is held against, as it was written, where there is
/// one. Values of fewer rows, and cells of smaller classes, than `columns::RARE` are not shown: the table may be one
/// that is not protected yet.
pub fn of_audit(policy: &Policy, prepared: &Prepared, audit: &Audit, stated: Option<&Policy>) -> Report {
    let set = &prepared.set;
    let labels = labels_of_table(set, &prepared.table, &prepared.quasi);
    let published = Published::new(set, &set.groups, &prepared.domains).with_labels(&labels);
    let cells = |class: usize, size: u64| {
        let shown = size >= columns::RARE && class < labels.rows;
        shown.then(|| labels.columns.iter().map(|c| (c.name.clone(), c.value(class).to_string())).collect::<Figures>())
    };
    let evaluator = Evaluator::new(set, &prepared.requirements);
    let judged = policy.requirements.iter().zip(&audit.requirements).enumerate();
    let requirements = match audit.sets.is_empty() {
        true => judged
            .map(|(at, (stated, verdict))| worst::requirement(stated, verdict, &evaluator, at, &set.groups, cells))
            .collect(),
        false => {
            let (sets, verdicts) = ((&prepared.sets[..], &audit.sets[..]), &audit.requirements);
            worst::of_sets(policy, &prepared.generalizations, sets, verdicts, &evaluator, columns::RARE)
        }
    };
    let mut report = Report {
        tool: TOOL.to_string(),
        subject: Subject::Audit,
        audience: Audience::Owner,
        summary: Vec::new(),
        release: None,
        leading: 0,
        rows: Rows {
            input: prepared.rows_in,
            dropped_missing: prepared.rows_dropped_missing,
            suppressed: 0,
            published: audit.rows,
            waived: 0,
            joined: 0,
            counterfeits: 0,
            separate: false,
            classes: audit.classes,
            persons: set.persons,
        },
        unique_rows: unique(prepared).map(Into::into),
        accepted: Vec::new(),
        method: None,
        columns: columns::of_table(policy, prepared),
        requirements,
        risk: Sides { before: None, after: figures::risk(&audit.risk, audit.population.clone()) },
        sets: Vec::new(),
        attacks: figures::attacks(&published),
        control_group: None,
        fidelity: None,
        metrics: Vec::new(),
        utility: Vec::new(),
        partition: None,
        class_sizes: Sides { before: None, after: figures::class_sizes(&audit.risk) },
        suppression: None,
        digests: Vec::new(),
        policy: stated.map(Policy::to_toml).unwrap_or_default(),
    };
    report.summarize();
    report
}

/// Rows that no other row agrees with in what was read. Of whole rows nothing is known where columns were not.
fn unique(prepared: &Prepared) -> Option<UniqueRows> {
    let found = UniqueRows::of_table(prepared)?;
    let read = prepared.roles.iter().filter(|role| role.published()).count();
    Some(UniqueRows { smallest: found.smallest.filter(|_| read == prepared.header.len()), ..found })
}
