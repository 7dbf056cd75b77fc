//! What every class must have, whatever else the policy asks for.

use super::Search;
use crate::class::Class;
use crate::model::Needs;
use crate::requirement::{Evaluator, Requirement};

/// Numbers that no class of a release can be below.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Need {
    /// Rows.
    pub(crate) rows: u64,
    /// Different values of a sensitive column.
    pub(crate) different: u64,
    /// That column.
    pub(crate) column: usize,
}

impl Need {
    /// `None` where the policy asks for nothing that single rows lack.
    pub(crate) fn of(search: &Search<'_>) -> Option<Need> {
        let evaluator = Evaluator::new(search.set, search.requirements);
        let mut need = Need { rows: 1, different: 1, column: 0 };
        // Where rows are left out, classes are compared with the published rows, which are not known yet.
        let whole = search.suppression_limit() == 0;
        for (r, requirement) in search.requirements.iter().enumerate() {
            for (m, model) in requirement.models.iter().enumerate() {
                if model.compares_with_table() && !whole {
                    continue;
                }
                let table = evaluator.table(r, m);
                need.rows = need.rows.max(least_of(requirement, m, &evaluator, r));
                if let (Needs::Histogram, Some(&column)) = (model.needs(), requirement.on.get(m)) {
                    let different = model.least_different(table);
                    if different > need.different {
                        (need.different, need.column) = (different, column);
                    }
                }
            }
        }
        need.rows = need.rows.max(need.different);
        (need.rows > 1).then_some(need)
    }
}

/// The fewest rows that a class needs to satisfy all requirements on classes, which are compared with the whole table:
/// each sensitive column of a requirement on several is looked at in parts of the class, none larger than it.
pub(crate) fn least_rows(requirements: &[Requirement], evaluator: &Evaluator<'_>) -> u64 {
    let of = |(r, requirement): (usize, &Requirement)| {
        (0..requirement.models.len()).map(|m| least_of(requirement, m, evaluator, r)).max().unwrap_or(1)
    };
    requirements.iter().enumerate().map(of).max().unwrap_or(1)
}

/// The fewest rows of a class that satisfies one model of a requirement.
fn least_of(requirement: &Requirement, m: usize, evaluator: &Evaluator<'_>, r: usize) -> u64 {
    let model = &requirement.models[m];
    match model.needs() {
        Needs::Size => least_size(requirement, m, evaluator, r),
        Needs::Histogram => model.least_rows(evaluator.table(r, m)),
        // Sizes of other classes, or people outside the table, may make up for this one's.
        Needs::Tuples | Needs::Release => 1,
    }
}

/// The least size that satisfies a model which looks at sizes alone. Persons are no more than rows.
fn least_size(requirement: &Requirement, m: usize, evaluator: &Evaluator<'_>, r: usize) -> u64 {
    let (model, table) = (&requirement.models[m], evaluator.table(r, m));
    let holds = |size: u64| model.holds(&Class { size, histogram: &[], tuples: &[] }, table);
    if !model.monotone() {
        return 1;
    }
    let (mut low, mut high) = (1, table.size.max(1));
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) { high = middle } else { low = middle + 1 }
    }
    low
}
