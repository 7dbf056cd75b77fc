//! A loss of 0 to 1 for each cell, averaged over the rows and quasi columns of the input: what the loss metric and
//! precision have in common. A suppressed row loses 1 in every column; columns are not weighted.

use super::super::{CellCosts, Release};
use super::{Additive, Input, NodeCost, sum_cells};
use crate::hierarchy::{Cell, Generalization};

/// What a cell of a column loses.
type CellLoss = fn(&Generalization, &Cell) -> f64;

/// The average over a release; none for an empty table.
pub(in crate::metric) fn loss(release: &Release<'_>, cell_loss: CellLoss) -> Option<f64> {
    let (columns, rows) = (release.generalizations.len() as f64, release.set.rows as f64);
    if columns == 0.0 || rows == 0.0 {
        return None;
    }
    Some(sum_cells(release, |_, g, cell| cell_loss(g, cell), columns) / (columns * rows))
}

/// The average for the nodes of a lattice.
pub(in crate::metric) fn nodes<'a>(input: &Input<'a>, cell_loss: CellLoss) -> Option<Box<dyn NodeCost + 'a>> {
    let (columns, rows) = (input.generalizations.len() as f64, input.set.rows as f64);
    if columns == 0.0 {
        return None;
    }
    let additive = Additive::new(input, |_, g, cell| cell_loss(g, cell), columns, 0.0, 1.0 / (columns * rows))?;
    Some(Box::new(additive))
}

/// The average, cell by cell.
pub(in crate::metric) fn cells<'a>(input: &Input<'a>, cell_loss: CellLoss) -> Option<CellCosts<'a>> {
    let (columns, rows) = (input.generalizations.len() as f64, input.set.rows as f64);
    let cell = Box::new(move |_: usize, g: &Generalization, cell: &Cell| cell_loss(g, cell));
    let scale = 1.0 / (columns * rows);
    scale.is_finite().then_some(CellCosts { cell, suppressed: columns, offset: 0.0, scale })
}
