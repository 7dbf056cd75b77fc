//! The class that comes closest to breaking a requirement.

use amidst_core::frequency::{self, Groups};
use amidst_core::hierarchy::Generalization;
use amidst_core::internal::sets::Classes;
use amidst_core::model::{Level, Needs};
use amidst_core::requirement::Evaluator;

use super::content::{RequirementReport, WorstClass};
use crate::json::{Figures, RequirementVerdict, open_bounds};
use crate::policy::{Policy, RequirePolicy};

/// One requirement with its worst class. `verdict` is what came of it; `cells` tells the published cells of a class, or
/// nothing where they must not be told.
pub fn requirement(
    stated: &RequirePolicy,
    verdict: &RequirementVerdict,
    evaluator: &Evaluator<'_>,
    position: usize,
    classes: &Groups,
    cells: impl Fn(usize, u64) -> Option<Figures>,
) -> RequirementReport {
    RequirementReport {
        model: stated.model.id.to_string(),
        title: stated.model.title.to_string(),
        definition: stated.model.definition.to_string(),
        citation: stated.model.citation.to_string(),
        on: verdict.on.clone(),
        quasi: verdict.quasi.clone(),
        parameters: verdict.parameters.clone(),
        holds: verdict.holds,
        open: open_bounds(stated.model.id, &verdict.measured),
        measured: verdict.measured.clone(),
        worst: worst(evaluator, position, classes).map(|(class, level)| {
            let size = frequency::size(classes.get(class));
            WorstClass { cells: cells(class, size), size, measured: Figures::of_level(&level) }
        }),
    }
}

/// The requirements in each set of quasi columns, set after set, as `verdicts` has them. Cells of classes with fewer
/// than `shown_from` persons are not told.
pub fn of_sets(
    policy: &Policy,
    generalizations: &[Generalization],
    (columns, sets): (&[Vec<usize>], &[Classes]),
    verdicts: &[RequirementVerdict],
    evaluator: &Evaluator<'_>,
    shown_from: u64,
) -> Vec<RequirementReport> {
    let count = policy.requirements.len().max(1);
    let of_set = |((columns, classes), verdicts): ((&Vec<usize>, &Classes), &[RequirementVerdict])| {
        let cells = |class: usize, size: u64| {
            let names = columns.iter().map(|&c| generalizations[c].name.clone());
            let cells = classes.cells.get(class).filter(|_| size >= shown_from)?;
            Some(names.zip(cells.iter().cloned()).collect::<Figures>())
        };
        let stated = policy.requirements.iter().zip(verdicts).enumerate();
        let report = |(at, (stated, verdict))| requirement(stated, verdict, evaluator, at, &classes.groups, cells);
        stated.map(report).collect::<Vec<_>>()
    };
    columns.iter().zip(sets).zip(verdicts.chunks(count)).flat_map(of_set).collect()
}

/// The first class with the weakest measurement. Requirements on the whole release have no class of their own, and
/// those on tuples depend on more than the class's rows.
fn worst(evaluator: &Evaluator<'_>, position: usize, classes: &Groups) -> Option<(usize, Level)> {
    if evaluator.requirements().get(position)?.needs() > Needs::Histogram {
        return None;
    }
    evaluator.weakest(position, classes)
}
