//! Information loss, IL.
//!
//! **Definition.** Σ over classes of n · (Σ over numeric columns (max − min)/(range of the column) + Σ over categorical
//! columns (height of the lowest common ancestor)/(height of the hierarchy)). It is measured on the *published cell*:
//!
//! | cell | cost |
//! | --- | --- |
//! | any cell of a column with one value in the table | 0 |
//! | node of a numeric column | (highest − lowest coordinate of the table's values it covers)/(range of coordinates) |
//! | node of another column | level/height |
//! | range | (highest − lowest coordinate)/(range of coordinates); text with an order: on ranks |
//! | set | (values in the set − 1)/(values in the table − 1) |
//!
//! Column weights multiply. They are normalized to an average of 1, so that equal weights change nothing. A suppressed
//! row counts 1 in every column.
//!
//! **Source.** Byun, Kamra, Bertino & Li 2007, "Efficient k-anonymization using clustering techniques"; systematic
//! clustering paper Equation (1); update paper Definition 4, in which the factor |cl| multiplies both sums.

use super::full_domain::{Additive, sum_cells};
use super::{Entry, Input, Metric, NodeCost, Release};
use crate::hierarchy::{Cell, Generalization};

pub(super) const ENTRY: Entry = Entry {
    id: "information-loss",
    title: "information loss (IL)",
    definition: "Σ over classes of n · (Σ numeric (max − min)/(range of the column) + Σ categorical (height of the \
                 lowest common ancestor)/(height of the hierarchy)), columns weighted; a suppressed row counts 1 in \
                 every column",
    citation: "Byun, Kamra, Bertino & Li 2007; systematic clustering paper Equation (1); update paper Definition 4",
    metric: &InformationLoss,
};

#[derive(Debug)]
struct InformationLoss;

impl Metric for InformationLoss {
    fn loss(&self, release: &Release<'_>) -> Option<f64> {
        if release.set.rows == 0 {
            return None;
        }
        let weights = column_weights(release.generalizations);
        let row: f64 = weights.iter().sum();
        Some(sum_cells(release, |column, g, cell| weights[column] * cell_loss(g, cell), row))
    }

    fn nodes<'a>(&self, input: &Input<'a>) -> Option<Box<dyn NodeCost + 'a>> {
        Some(Box::new(additive(input, 1.0)?))
    }
}

/// The information loss of nodes, times `scale`.
pub(super) fn additive(input: &Input<'_>, scale: f64) -> Option<Additive> {
    let weights = column_weights(input.generalizations);
    let row: f64 = weights.iter().sum();
    Additive::new(input, |column, g, cell| weights[column] * cell_loss(g, cell), row, 0.0, scale)
}

/// The weight of each column, normalized to an average of 1. Without a positive weight all count the same.
pub fn column_weights(generalizations: &[Generalization]) -> Vec<f64> {
    let total: f64 = generalizations.iter().map(|g| g.weight).sum();
    if total > 0.0 && total.is_finite() {
        let scale = generalizations.len() as f64 / total;
        generalizations.iter().map(|g| g.weight * scale).collect()
    } else {
        vec![1.0; generalizations.len()]
    }
}

/// What one row loses in one column, from 0 (the value itself) to 1, before weighting.
pub fn cell_loss(g: &Generalization, cell: &Cell) -> f64 {
    if g.active() <= 1 {
        return 0.0;
    }
    match cell {
        Cell::Node { level, value } if g.numeric => {
            let (low, high) = g.levels[*level as usize].extent[*value as usize];
            share(high - low, range(&g.coordinates))
        }
        Cell::Node { level, .. } => share(f64::from(*level), g.height() as f64),
        Cell::Range { low, high } => {
            share(range(&g.coordinates[*low as usize..=*high as usize]), range(&g.coordinates))
        }
        Cell::Set(codes) => share(codes.len() as f64 - 1.0, g.active() as f64 - 1.0),
    }
}

/// Highest − lowest. Codes may follow a stated order rather than the number line, so the ends need not be the extremes.
fn range(coordinates: &[f64]) -> f64 {
    let (low, high) =
        coordinates.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &x| (low.min(x), high.max(x)));
    if low <= high { high - low } else { 0.0 }
}

/// part / whole, 0 when there is nothing to lose.
fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}
