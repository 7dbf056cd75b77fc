//! The class that comes closest to breaking a requirement.

use amidst_core::frequency::{self, Groups};
use amidst_core::model::{Level, Needs};
use amidst_core::requirement::Evaluator;

use super::content::{RequirementReport, WorstClass};
use crate::json::{Figures, RequirementVerdict};
use crate::policy::RequirePolicy;

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
        parameters: verdict.parameters.clone(),
        holds: verdict.holds,
        measured: verdict.measured.clone(),
        worst: worst(evaluator, position, classes).map(|(class, level)| {
            let size = frequency::size(classes.get(class));
            WorstClass { cells: cells(class, size), size, measured: Figures::of_level(&level) }
        }),
    }
}

/// The first class with the weakest measurement. Requirements on the whole release have no class of their own, and
/// those on tuples depend on more than the class's rows.
fn worst(evaluator: &Evaluator<'_>, position: usize, classes: &Groups) -> Option<(usize, Level)> {
    if evaluator.requirements().get(position)?.needs() > Needs::Histogram {
        return None;
    }
    evaluator.weakest(position, classes)
}
