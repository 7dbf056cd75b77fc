//! Precision, as a loss.
//!
//! **Definition.** Sweeney's Prec = 1 − Σ over cells of (level of the cell / height of its hierarchy) / number of
//! cells. Metrics here are losses, so this one is 1 − Prec: the average of level/height, 0 for the input, 1 for
//! everything suppressed. A cell that is called like the top is at the top, of whichever level it is. A range or set is
//! as high as the lowest node of the hierarchy that covers it. A suppressed row counts 1 in every column. Columns are
//! not weighted.
//!
//! **Source.** Sweeney 2002, "Achieving k-anonymity privacy protection using generalization and suppression", §4.

use super::full_domain::averaged;
use super::{CellCosts, Entry, Input, Metric, NodeCost, Release};
use crate::hierarchy::{Cell, Generalization};

pub(super) const ENTRY: Entry = Entry {
    id: "precision",
    title: "precision lost (1 − Prec)",
    definition: "level of the cell / height of its hierarchy, averaged over rows and quasi columns; a suppressed row \
                 counts 1",
    citation: "Sweeney 2002",
    metric: &Precision,
};

#[derive(Debug)]
struct Precision;

impl Metric for Precision {
    fn loss(&self, release: &Release<'_>) -> Option<f64> {
        averaged::loss(release, cell_loss)
    }

    fn nodes<'a>(&self, input: &Input<'a>) -> Option<Box<dyn NodeCost + 'a>> {
        averaged::nodes(input, cell_loss)
    }

    fn cells<'a>(&self, input: &Input<'a>) -> Option<CellCosts<'a>> {
        averaged::cells(input, cell_loss)
    }
}

fn cell_loss(g: &Generalization, cell: &Cell) -> f64 {
    let node = match cell {
        Cell::Node { level, value } => g.level_said(*level, *value),
        Cell::Range { low, high } => level_of(g, g.lowest_common_node(*low..=*high)),
        Cell::Set(codes) => level_of(g, g.lowest_common_node(codes.iter().copied())),
    };
    if g.height() == 0 { 0.0 } else { f64::from(node) / g.height() as f64 }
}

fn level_of(g: &Generalization, node: Cell) -> u32 {
    match node {
        Cell::Node { level, value } => g.level_said(level, value),
        Cell::Range { .. } | Cell::Set(_) => g.height() as u32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::fixture::{agrees, cases, covered};

    #[test]
    fn levels_are_averaged_row_by_row() {
        // The level of a cell: the lowest at which all that it covers, and nothing less, has one value.
        let cell = |g: &Generalization, cell: &Cell, code: u32| match cell {
            Cell::Node { level, .. } => f64::from(*level) / g.height() as f64,
            _ => {
                let one = |l: &usize| {
                    covered(g, cell).iter().all(|&c| g.levels[*l].of[c as usize] == g.levels[*l].of[code as usize])
                };
                (0..=g.height()).find(one).unwrap() as f64 / g.height() as f64
            }
        };
        agrees(&Precision, |case| Some(case.sum_cells(cell, |_, _| 1.0) / 30.0));
        // Ten rows at levels 1 of 2, 1 of 3, 0 of 1.
        let loss = Precision.loss(&cases()[1].release()).unwrap();
        assert!((loss - (0.5 + 1.0 / 3.0) / 3.0).abs() < 1e-12);
    }
}
